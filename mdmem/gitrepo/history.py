"""What history says about files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mdmem.errors import GitError
from mdmem.gitrepo.process import SETTINGS, Repository, pathspec, records, run


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit as a reader wants it named; `when` is ISO 8601."""

    digest: str
    author: str
    when: str
    subject: str
    paths: tuple[str, ...] = ()


def list_deletions(
    repository: Repository, under: str, *, revisions: Sequence[str] = ()
) -> dict[str, tuple[str, str | None]]:
    """Return, for each path that history deleted or moved away, the newest such commit and the path it moved to.

    `revisions` are the commits to look from, HEAD where there are none.
    """
    arguments = (
        "log",
        "-z",
        "-M",
        "--diff-filter=DR",
        "--name-status",
        "--format=%x01%h",
        "--no-ext-diff",
        "--no-textconv",
    )
    try:
        printed = run(repository.top, *arguments, *revisions, "--", pathspec(under))
    except GitError:
        return {}
    return _parse_deletions(records(printed))


def _parse_deletions(records: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    gone: dict[str, tuple[str, str | None]] = {}
    commit, tokens = "", iter(records)
    for token in tokens:
        token = token.lstrip("\n")
        if token.startswith("\x01"):
            commit = token[1:]
        elif token == "D":
            gone.setdefault(next(tokens), (commit, None))
        elif token.startswith("R"):
            old, moved = next(tokens), next(tokens)
            gone.setdefault(old, (commit, moved))
    return gone


def history(repository: Repository, paths: Sequence[str], *, until: str | None = None) -> list[Commit]:
    """Return the commits that touched any of the paths, newest first, each with those it touched.

    `until` is the commit to start from, HEAD where it is None.
    """
    from git.cmd import Git
    from git.exc import CommandError

    form = "%x01%h%x02%an%x02%aI%x02%s"
    # No `Repo`: it takes a folder with `HEAD`, `objects` and `refs` for a git directory before it looks at `.git`.
    git = Git(repository.top)
    git.update_environment(**_named(repository))
    try:
        options = (f"--format={form}", "--name-only", "--no-ext-diff", "--no-textconv", "--no-show-signature", "-z")
        printed = git(c=list(SETTINGS)).log(*options, until or "HEAD", "--", *paths)
    except CommandError:
        # A repository without a commit has no history, which is no fault; neither has one that is gone.
        return []
    # A subject may hold the mark itself; what follows a real one is a digest.
    return [_commit(record) for record in re.split(r"\x01(?=[0-9a-f]{4,64}\x02)", str(printed)) if record]


def _named(repository: Repository) -> dict[str, str]:
    """Return what outweighs a hook's variables, which the library hands on."""
    named = {"GIT_DIR": str(repository.git_dir), "GIT_COMMON_DIR": str(repository.common_dir)}
    # A bare repository has no work tree.
    return named if repository.top == repository.git_dir else named | {"GIT_WORK_TREE": str(repository.top)}


def paths_of_commits(repository: Repository, digests: Sequence[str], under: str) -> dict[str, tuple[str, ...]]:
    """Return, for each commit, the paths below a folder that it touched, from the top."""
    form = ("--no-walk=unsorted", "-m", "--name-only", "--format=%x01%h", "--no-ext-diff", "--no-textconv", "-z")
    printed = run(repository.top, "log", *form, *digests, "--", pathspec(under))
    found: dict[str, tuple[str, ...]] = {}
    digest = ""
    for token in records(printed):
        name = token.lstrip("\n")
        if name.startswith("\x01"):
            digest = name[1:]
            found.setdefault(digest, ())
        elif name:
            found[digest] += (name,)
    return found


def _commit(record: str) -> Commit:
    head, _, rest = record.partition("\n")
    digest, author, when, subject = head.rstrip("\0").split("\x02", 3)
    return Commit(digest, author, when, subject.rstrip("\0"), tuple(path for path in rest.split("\0") if path))
