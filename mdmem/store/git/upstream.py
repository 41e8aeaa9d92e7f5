"""The branch that is checked out, the one that it follows in another repository, and what goes to and fro."""

from __future__ import annotations

import re

from msgspec import Struct

from mdmem.errors import GitError, UsageError
from mdmem.store.git.fetch import talk, words_of
from mdmem.store.git.merge import merge_base
from mdmem.store.git.process import Repository, pathspec, records, run


class Upstream(Struct, frozen=True):
    """A branch and what it follows: the remote, the branch's ref there, and the ref here that keeps its state."""

    branch: str
    remote: str
    ref: str
    tracking: str

    @property
    def own_ref(self) -> str:
        """Return the ref of the branch itself."""
        return f"refs/heads/{self.branch}"

    @property
    def name(self) -> str:
        """Return what people call it."""
        return self.tracking.removeprefix("refs/remotes/")


def find_upstream(repository: Repository) -> Upstream:
    """Return what the branch at hand follows; raises UsageError, with what to type, where it follows nothing."""
    head = run(repository.top, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode("utf-8", "surrogateescape").strip()
    if not head:
        raise UsageError("no branch is checked out (detached HEAD); type `git switch BRANCH` first")
    branch = head.removeprefix("refs/heads/")
    form = "--format=%(refname)%00%(upstream)%00%(upstream:remotename)%00%(upstream:remoteref)"
    lines = run(repository.top, "for-each-ref", form, head).decode("utf-8", "surrogateescape").splitlines()
    # A branch whose name is a folder of other branches' names is told beside them.
    parts = next((line.split("\0") for line in lines if line.startswith(f"{head}\0")), None)
    if parts is None:
        raise UsageError(f"nothing is committed on `{branch}` yet; commit first")
    if not parts[1] and not run(repository.top, "remote").strip():
        add = "git remote add origin URL"
        raise UsageError(f"`{branch}` has nowhere to go; type `{add}`, then `{_push(branch)}`, once")
    return _checked(branch, *parts[1:])


def _push(branch: str) -> str:
    return f"git push -u origin {branch}"


def _checked(branch: str, tracking: str, remote: str, ref: str) -> Upstream:
    push = f"`{_push(branch)}`"
    if not tracking or not ref:
        raise UsageError(f"`{branch}` follows no branch of another repository; type {push} once")
    if remote == ".":
        raise UsageError(f"`{branch}` follows a branch of this repository; type {push} once")
    if ref != f"refs/heads/{branch}":
        other = tracking.removeprefix("refs/remotes/")
        hint = f"to share it under its own name type `git push -u {remote} {branch}`"
        raise UsageError(f"`{branch}` follows `{other}`, a branch of another name; {hint}")
    return Upstream(branch, remote, ref, tracking)


def fetch_upstream(repository: Repository, upstream: Upstream) -> tuple[str, str, str]:
    """Fetch what others pushed and return our commit, theirs, and the one that both come from.

    Raises GitError, of which ShallowHistoryError and NoCommonAncestorError are two.
    """
    # Nobody should wait for the tidying that a fetch may set off.
    arguments = (
        "--no-auto-maintenance",
        "--quiet",
        "--no-recurse-submodules",
        "--",
        upstream.remote,
        f"+{upstream.ref}:{upstream.tracking}",
    )
    done = talk(repository.top, "fetch", *arguments)
    if done.returncode:
        hint = f"`git fetch {upstream.remote}` shows more, and asks for a password where one is needed"
        raise GitError(f"`{upstream.remote}` cannot be asked: {words_of(done)}; {hint}")
    ours, theirs = run(repository.top, "rev-parse", upstream.own_ref, upstream.tracking).decode().split()
    bases = run(repository.top, "merge-base", ours, theirs, ok=(0, 1)).decode().split()
    # Where there is none, that function knows why.
    return ours, theirs, bases[0] if bases else merge_base(repository, upstream.own_ref, upstream.tracking)


# What a remote says where another push came first, before or while it took ours.
_OVERTAKEN = re.compile(
    r"fetch first|non-fast-forward|stale info|cannot lock ref|failed to (?:update|lock)|incorrect old value"
    r"|already exists|is at [0-9a-f]+ but expected"
)


def push(repository: Repository, upstream: Upstream, commit: str) -> bool:
    """Push a commit to the upstream branch and say whether it went there; no where others pushed first.

    Hooks run. Raises GitError, with what a hook or the remote said, where it is refused.
    """
    done = talk(repository.top, "push", "--porcelain", "--", upstream.remote, f"{commit}:{upstream.ref}")
    if not done.returncode:
        return True
    refused = [line.split("\t")[-1] for line in done.stdout.splitlines() if line.startswith("!")]
    if any(_OVERTAKEN.search(one) for one in refused) or _OVERTAKEN.search(words_of(done)):
        return False
    error = GitError(f"the push was refused: {refused[0] if refused else words_of(done)}")
    for line in [line for line in done.stderr.splitlines() if line.strip()][-_LINES:]:
        error.add_note("".join(one for one in line if one.isprintable()))
    raise error


# More than this of a hook's words fills the screen.
_LINES = 40


def count_between(repository: Repository, since: str, until: str) -> int:
    """Return how many commits a commit has that another one has not."""
    return int(run(repository.top, "rev-list", "--count", f"{since}..{until}"))


def list_uncommitted(repository: Repository, under: str) -> tuple[str, ...]:
    """Return the paths below a folder, from the top, that differ from HEAD or are in no commit, sorted."""
    options = ("--porcelain", "-z", "--no-renames", "--untracked-files=all")
    printed = run(repository.top, "status", *options, "--", pathspec(under))
    return tuple(sorted(record[3:] for record in records(printed)))
