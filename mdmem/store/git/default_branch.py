"""Which branch is the default one: what stands on it has been agreed upon."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from mdmem.store.git.process import Repository, records, run

SETTING = "mdmem.defaultBranch"
_BRANCHES = "refs/heads"
_USUAL = ("main", "master", "trunk")
_KEYS = (r"mdmem\.defaultbranch", r"init\.defaultbranch", r"checkout\.defaultremote", r"remote\..*\.(url|fetch)")
_READ = rf"^({'|'.join(_KEYS)})$"


class BranchRef(Struct, frozen=True):
    """A ref: the ref that it points to, empty where it names a commit itself, and whether it is checked out here."""

    points_to: str
    commit: str
    is_here: bool


class DefaultBranch(Struct, frozen=True):
    """The default branch as this repository knows it: `ref` is what was read, the branch or a remote's copy of it.

    `is_here` says that it is checked out in this work tree. `at_remote` is the commit of the remote's copy, None where
    it has none.
    """

    name: str
    ref: str
    commit: str
    is_here: bool = False
    at_remote: str | None = None


def find_default_branch(repository: Repository) -> DefaultBranch | None:
    """Return the default branch, or None where nothing tells which it is.

    In this order: git's setting `mdmem.defaultBranch`, what the remote's HEAD names, git's `init.defaultBranch`,
    `main`, `master`, `trunk`, and in a repository without a remote its only branch. Of the branch and the remote's
    copy the one that is checked out counts, else the one that has all of the other, else the remote's.
    """
    stated = _settings(repository)
    remote = _remote(stated)
    names = [stated[key] for key in (SETTING.lower(), "init.defaultbranch") if key in stated]
    refs = _refs(repository, _wanted([*names, *_USUAL], remote))
    head = refs.get(f"refs/remotes/{remote}/HEAD")
    if head is not None and head.points_to:
        named = head.points_to.removeprefix(f"refs/remotes/{remote}/")
        if named not in (*names, *_USUAL):
            refs |= _refs(repository, _wanted([named], remote))
        names.insert(1 if SETTING.lower() in stated else 0, named)
    for name in (*names, *_USUAL):
        found = _chosen(
            repository, name, refs.get(f"refs/heads/{name}"), refs.get(f"refs/remotes/{remote}/{name}"), remote
        )
        if found is not None:
            return found
    return None if remote else _only_branch(repository)


def _settings(repository: Repository) -> dict[str, str]:
    """Return git's settings by key, in small letters but for the names of remotes; the last value of a key counts."""
    printed = run(repository.top, "config", "-z", "--get-regexp", _READ, ok=(0, 1))
    pairs = (record.partition("\n") for record in records(printed))
    return {key: value for key, _, value in pairs}


def _remote(stated: Mapping[str, str]) -> str:
    """Return the remote that the others work with; empty where there is none, or several and none is preferred."""
    names = {key.removeprefix("remote.").rpartition(".")[0] for key in stated if key.startswith("remote.")}
    preferred = stated.get("checkout.defaultremote", "origin")
    for name in (preferred, "origin"):
        if name in names:
            return name
    return names.pop() if len(names) == 1 else ""


def _wanted(names: Iterable[str], remote: str) -> list[str]:
    found = [f"refs/heads/{name}" for name in names]
    if remote:
        found += [f"refs/remotes/{remote}/{name}" for name in ("HEAD", *names)]
    return found


def _refs(repository: Repository, names: Iterable[str]) -> dict[str, BranchRef]:
    """Return those of some refs that exist."""
    form = "--format=%(refname)%00%(symref)%00%(objectname)%00%(HEAD)"
    # Each of them also means what lies below a folder of the name, which is a branch of another name.
    printed = run(repository.top, "for-each-ref", form, *dict.fromkeys(names))
    rows = (line.split("\0") for line in printed.decode("utf-8", "surrogateescape").splitlines())
    return {name: BranchRef(target, commit, mark == "*") for name, target, commit, mark in rows}


def _chosen(
    repository: Repository, name: str, own: BranchRef | None, copy: BranchRef | None, remote: str
) -> DefaultBranch | None:
    if own is not None and (own.is_here or copy is None or own.commit == copy.commit):
        return DefaultBranch(name, name, own.commit, own.is_here, copy.commit if copy is not None else None)
    if copy is None:
        return None
    if own is not None and is_ancestor(repository, copy.commit, own.commit):
        return DefaultBranch(name, name, own.commit, at_remote=copy.commit)
    return DefaultBranch(name, f"{remote}/{name}", copy.commit, at_remote=copy.commit)


def _only_branch(repository: Repository) -> DefaultBranch | None:
    refs = _refs(repository, [_BRANCHES])
    if len(refs) != 1:
        return None
    [(name, ref)] = refs.items()
    name = name.removeprefix("refs/heads/")
    return DefaultBranch(name, name, ref.commit, ref.is_here)


def is_ancestor(repository: Repository, commit: str, of: str) -> bool:
    """Say whether a commit is another one or stands in its history."""
    # git ends with 1 for no, and prints nothing either way.
    counted = run(repository.top, "rev-list", "--max-count=1", commit, f"^{of}", "--")
    return not counted.strip()
