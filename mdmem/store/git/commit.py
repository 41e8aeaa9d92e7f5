"""Commit or stage given paths, even while other processes use git."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from random import uniform
from tempfile import TemporaryDirectory
from typing import TypeVar

from msgspec import Struct, field

from mdmem.disk import locked
from mdmem.errors import GitError
from mdmem.store.git.process import NotCommittedError, Repository, faults_in, pathspec, records, resolve, run_as_user
from mdmem.store.git.status import FileStatus, list_file_status

_Result = TypeVar("_Result")
# Pass the paths through standard input, because a thousand paths are too long for a command line.
_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")
_HELD = re.compile(
    r"^(?:fatal|error): (?:cannot lock ref .*?)?(?:unable to create '([^']+\.lock)': File exists|.* but expected )",
    re.MULTILINE | re.IGNORECASE,
)
_NOBODY = re.compile(r"^\*\*\* Please tell me who you are|^fatal: .*(?:empty ident name|auto-detect)", re.MULTILINE)
# The number of lines of a hook's output that are shown.
_LINES = 60


class LockHeldError(Exception):
    """Another process holds a lock of git; the argument is the lock file in git's message, or None."""


def run_exclusively(repository: Repository, attempt: Callable[[], _Result], *, wait: float) -> _Result:
    """Run a function under mdmem's own lock, and again as long as it raises LockHeldError; return its result.

    `git commit --only` reads the index before it locks it, so without our lock the second of two commits would revert
    the first. Raises NotCommittedError if git's lock stays for `wait` seconds, or mdmem's own for six times as long.
    """
    own_lock = repository.git_dir / "mdmem" / "commit.lock"
    with ExitStack() as stack:
        try:
            own_lock.parent.mkdir(exist_ok=True)
            stack.enter_context(locked(own_lock, wait=6 * wait))
        except BlockingIOError as error:
            raise NotCommittedError("other git processes keep committing; try again when they are done") from error
        except OSError:
            # If mdmem cannot write here, git cannot either, and its error message gives the reason.
            pass
        end, pause = time.monotonic() + wait, 0.01
        while True:
            try:
                return attempt()
            except LockHeldError as error:
                if time.monotonic() > end:
                    [lock] = error.args
                    doing = f"holds `{lock}`; if none runs any more, remove that file" if lock else "keeps committing"
                    raise NotCommittedError(f"another git process {doing}") from error
            time.sleep(uniform(pause / 2, pause))
            pause = min(pause * 1.5, 0.2)


def commit_paths(
    repository: Repository,
    paths: Sequence[str],
    message: str,
    *,
    before: Mapping[str, bytes | None] | None = None,
    wait: float = 5.0,
) -> str | None:
    """Commit exactly these files (paths from the top) as they are on disk; return the commit, or None for no change.

    Staged changes of other files stay staged. If one of these files has staged changes, they must equal `before`, its
    content before mdmem wrote it (None for a new file). A NotCommittedError (for example if git stays locked for `wait`
    seconds) leaves the index as before. A plain GitError means that the commit was made, but not written to the index.
    """
    commit = _Commit(repository, tuple(dict.fromkeys(paths)), message, before or {})
    try:
        return run_exclusively(repository, commit.attempt, wait=wait)
    except OSError as error:
        raise NotCommittedError(f"git could not be run: {error.strerror or error}") from error
    finally:
        # An error in this clean-up must not replace the error of the commit.
        with suppress(GitError, OSError):
            if commit.intended:
                run_exclusively(repository, commit.forget_intended, wait=wait)


def stage_paths(repository: Repository, paths: Sequence[str], *, wait: float = 5.0) -> None:
    """Stage these paths (from the top) as they are on disk, a missing file as deleted; raises GitError if git fails."""
    if paths:
        specs = _specs(tuple(dict.fromkeys(paths)))
        run_exclusively(repository, lambda: _add(repository, "--all", specs), wait=wait)


class _Commit(Struct, frozen=True):
    """One commit of some files; `intended` are new files that were added to the index only for this commit."""

    repository: Repository
    paths: tuple[str, ...]
    message: str
    before: Mapping[str, bytes | None]
    intended: set[str] = field(default_factory=set)

    def attempt(self) -> str | None:
        statuses = list_file_status(self.repository, self.paths)
        self._refuse_unseen(statuses)
        if not statuses:
            return None
        new = [one.path for one in statuses if one.code == "?"]
        if new:
            self.intended.update(new)
            _add(self.repository, "--intent-to-add", _specs(new))
        # Let git print the full hash of the new commit, since HEAD may already be another commit afterwards.
        settings = ("-c", "core.abbrev=no", "-c", "i18n.commitEncoding=UTF-8")
        with TemporaryDirectory(prefix="mdmem-") as folder:
            file = Path(folder) / "message"
            file.write_bytes(self.message.encode("utf-8", "replace"))
            # With `--only`, git keeps the index locked from before the hooks run until the branch has moved.
            options = ("--only", "--cleanup=whitespace", "-F", str(file), *_FROM_STDIN)
            specs = _specs([one.path for one in statuses])
            done = _start(self.repository, *settings, "commit", *options, text_in=specs)
        if done.returncode == 1 and done.stdout:
            # git printed the status, so there is nothing to commit: another process just committed these files.
            return None
        output = plain_text(done.stderr) if done.returncode else ""
        if "repository has been updated" in output:
            raise GitError(
                "the files are committed, but git could not write its index; free disk space, then type"
                " `git restore --staged :/`"
            )
        if _NOBODY.search(output):
            hint = "type `git config user.name NAME` and `git config user.email EMAIL`"
            raise NotCommittedError(f"git does not know who you are; {hint}")
        if output.startswith("error: pathspec"):
            # Another git process wrote back an older index, without the files that were added for this commit.
            raise LockHeldError(None)
        if done.returncode == 1:
            raise NotCommittedError("a hook refused the commit", output=output)
        _raise_failure(done)
        made = re.search(r"^\[.*? ([0-9a-f]{40,64})\] ", done.stdout, re.MULTILINE)
        return made[1] if made else resolve(self.repository, "HEAD")

    def forget_intended(self) -> None:
        """Remove from the index the new files that were added only for this commit."""
        statuses = list_file_status(self.repository, sorted(self.intended))
        left = [one.path for one in statuses if one.code == ".A"]
        if left:
            gone = b"".join(os.fsencode(path) + b"\0" for path in left)
            _start(self.repository, "update-index", "--force-remove", "-z", "--stdin", text_in=gone)

    def _refuse_unseen(self, statuses: Sequence[FileStatus]) -> None:
        """Raise NotCommittedError for a file that is ignored, in conflict, staged by a person, or invisible to git."""
        for one in statuses:
            if one.code == "!":
                raise NotCommittedError(f"git ignores `{one.path}`")
            if one.code == "u":
                raise NotCommittedError(
                    f"`{one.path}` is in conflict in git's index; `git add` or `git rm` it, then commit"
                )
            # The index has a version that differs from both HEAD and the disk.
            if one.code[0] in "MADT" and (one.code[1] != "." or one.is_untracked):
                content, stored = self.before.get(one.path), None
                if content is not None:
                    # The hash under which git stores the content, after its conversions and filters.
                    asked = ("hash-object", "--stdin", f"--path={one.path}")
                    stored = self.repository.run(*asked, text_in=content).decode().strip()
                if one.path not in self.before or one.staged != stored:
                    hint = "commit that version or unstage it (`git restore --staged`) first"
                    raise NotCommittedError(f"another version of `{one.path}` is staged; {hint}")
        rest = sorted(set(self.paths) - {one.path for one in statuses})
        there = [path for path in rest if os.path.lexists(self.repository.top / path)]
        listed = records(self.repository.run("ls-files", "-v", "-z")) if there else []
        seen = {record[2:] for record in listed if record[0] == "H"}
        for path in there:
            if path not in seen:
                why = "it lies in another repository, or is marked skip-worktree or assume-unchanged"
                raise NotCommittedError(f"git cannot see changes of `{path}`: {why}")


def _add(repository: Repository, option: str, specs: bytes) -> None:
    _raise_failure(_start(repository, "add", option, *_FROM_STDIN, text_in=specs))


def _specs(paths: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(pathspec(path)) + b"\0" for path in paths)


def _start(repository: Repository, *arguments: str, text_in: bytes) -> subprocess.CompletedProcess[str]:
    """Run a git command that writes; raises LockHeldError if another process holds git's lock."""
    done = run_as_user(repository.top, *arguments, text_in=text_in)
    held = _HELD.search(done.stderr) if done.returncode else None
    if held:
        raise LockHeldError(held[1])
    return done


def _raise_failure(done: subprocess.CompletedProcess[str]) -> None:
    """Raise NotCommittedError with git's own error message if git failed."""
    if done.returncode:
        output = plain_text(done.stderr) or plain_text(done.stdout) or f"exit code {done.returncode}"
        raise NotCommittedError(f"git refused: {', '.join(faults_in(output))}", output=output)


def plain_text(printed: str) -> str:
    """Return the last lines of a command's output, without colours, control characters and git's hints."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed).replace("\r", "\n")
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("hint: ")]
    shown = ("".join(one for one in line if one.isprintable() or one == "\t") for line in lines)
    return "\n".join(list(shown)[-_LINES:]).strip("\n")
