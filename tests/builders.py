"""Memories, repositories and runs of the command line for the tests; every value of an entry is the caller's to set."""

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import processes
import pytest

from mdmem.model.entry import Entry, EntryType, Status
from mdmem.store.git.process import Repository, find_repository
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.workspace.location import located
from mdmem.store.workspace.workspace import Workspace

TODAY = "2026-11-21"
# What git would do for repositories that last longer than a test.
_GIT_SETTINGS = str(Path(__file__).with_name("gitconfig"))
_FIELDS = {"type": "decision", "status": "active", "created_at": "2026-03-05"}


def environment(**extra: str) -> dict[str, str]:
    """Return the process's variables without those of a hook or of the user, and with the tests' day."""
    # What a CI sets is not for the tests: `check` is stricter there.
    foreign = ("GIT_", "MDMEM_", "GITHUB_", "CI_")
    kept = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith(foreign)}
    ours = {"MDMEM_TODAY": TODAY, "GIT_CONFIG_GLOBAL": _GIT_SETTINGS, "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1"}
    return kept | ours | extra


def entry_text(body: str = "We decided.\n\nRationale: it was tried.\n", /, **fields: object) -> str:
    """Return an entry's text; a list becomes a flow list, None leaves a default field out."""
    stated = {name: value for name, value in (_FIELDS | fields).items() if value is not None}
    lines = [f"{name}: {_value(value)}" for name, value in stated.items()]
    return "\n".join(["---", *lines, "---", "", body])


def _value(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, (list, tuple)) else str(value)


def write(root: Path, path: str, content: str | bytes = b"") -> Path:
    """Write one file below a folder, byte for byte, and return its path."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def write_entry(root: Path, address: str, body: str | None = None, /, **fields: object) -> Path:
    """Write the entry of an address and return its path."""
    text = entry_text(**fields) if body is None else entry_text(body, **fields)
    return write(root, f"{address}.md", text)


def make_root(folder: Path, settings: str = "") -> Path:
    """Return a folder that is a memory's root, made if need be."""
    write(folder, "mdmem.toml", settings)
    return folder


def app_memory(folder: Path) -> Path:
    """Return the root of an empty memory in a folder, with the wing `app`."""
    write(folder, "memory/app/README.md", "---\nkind: project\n---\n\n# app\n")
    return make_root(folder / "memory", 'default_wing = "app"\n')


@dataclass(frozen=True)
class _Template:
    """A folder to be made again and again: its folders in order, its files with bytes and `stat`, and what is given.

    The files keep their times. So git, which compares only these and the sizes here, sees no change (`gitconfig`).
    """

    folders: tuple[str, ...]
    files: Mapping[str, tuple[bytes, os.stat_result]]
    first: bytes
    given: Path

    @classmethod
    def of(cls, folder: Path, given: Path) -> "_Template":
        """Read a folder, of which a path is given to whoever wants it made."""
        found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
        files = {name: (path.read_bytes(), path.stat()) for name, path in found.items() if path.is_file()}
        first = os.fsencode(folder)
        assert [name for name, (content, _) in files.items() if first in content and not _IN_WORDS.search(name)] == []
        folders = tuple(name for name, path in found.items() if path.is_dir())
        return cls(folders, files, first, given.relative_to(folder))

    def laid_out(self, folder: Path) -> Path:
        """Make all of it in a folder, which may be there, and return what is given of it."""
        folder.mkdir(parents=True, exist_ok=True)
        here = os.fsencode(folder)
        for name in self.folders:
            # A path object for each would take as long as all the rest.
            with contextlib.suppress(FileExistsError):
                os.mkdir(f"{folder}/{name}")  # noqa: PTH102
        for name, (content, before) in self.files.items():
            file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, before.st_mode & 0o777 | 0o200)
            # What says where a clone is from says it of this one.
            os.write(file, content.replace(self.first, here))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            os.close(file)
        return folder / self.given


# Files of git in which a path may stand.
_IN_WORDS = re.compile(r"(?:^|/)(?:config|FETCH_HEAD|logs/.*)$")


def made_once(make: Callable[..., Path]) -> Callable[..., Path]:
    """Return what makes a folder as a function does that is asked once: from its second it takes no process of git.

    The function gets the folder, and options that can be told apart; it may leave no link.
    """

    @cache
    def first(*options: object, **named: object) -> _Template:
        with TemporaryDirectory() as kept:
            folder = Path(kept).resolve()
            return _Template.of(folder, make(folder, *options, **named))

    @wraps(make)
    def laid_out(folder: Path, *options: object, **named: object) -> Path:
        return first(*options, **named).laid_out(folder)

    return laid_out


@made_once
def make_repository(folder: Path) -> Path:
    """Return a folder that is a git repository without a commit."""
    # No template and no `git config`: git's sample hooks, and two more processes.
    git(folder, "init", "-q", "-b", "main", "--template=")
    with (folder / ".git/config").open("a", encoding="utf-8") as settings:
        settings.write("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return folder


def git(folder: Path, *arguments: str, text_in: bytes | None = None, ends: int = 0) -> str:
    """Run git in a folder and return what it printed, the final newline left out; `ends` is the exit code expected."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(), input=text_in, capture_output=True, check=False)
    assert done.returncode == ends, done.stderr.decode()
    return os.fsdecode(done.stdout).removesuffix("\n")


def repository_of(folder: Path) -> Repository:
    """Return the repository of a folder, which must have one."""
    found = find_repository(folder)
    assert found is not None
    return found


def commit_all(folder: Path, message: str = "change") -> str:
    """Commit everything in a repository and return the commit."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return head(folder)


def head(folder: Path) -> str:
    """Return the commit of HEAD: from git's files where they say it, without a process."""
    named = _line_of(folder / ".git/HEAD") or "ref: HEAD"
    commit = _line_of(folder / ".git" / named[5:]) if named.startswith("ref: ") else named
    return commit or git(folder, "rev-parse", "HEAD")


def _line_of(file: Path) -> str:
    return file.read_text(encoding="ascii").removesuffix("\n") if file.is_file() else ""


def entry(address: str, **values: object) -> Entry:
    """Return an entry as the model has it: an active decision unless the values say otherwise."""
    title = address.rsplit("/", 1)[-1]
    defaults = {"type": EntryType.DECISION, "status": Status.ACTIVE, "title": title}
    return Entry(address=address, **(defaults | values))


def run_mdmem(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, text_in: str = "", first: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own; `first` is a program that the process runs before."""
    line = ["-m", "mdmem", *arguments]
    if first:
        line = ["-c", f"{first}import runpy\nrunpy.run_module('mdmem', run_name='__main__')\n", *arguments]
    return processes.run_text(*line, cwd=cwd, env=environment(**(env or {})), text_in=text_in)


def without_rights() -> str:
    """Return what a program begins with so that permissions hold for it, whoever runs it; skips where nothing does."""
    if os.geteuid():
        return ""
    if not sys.platform.startswith("linux"):
        pytest.skip("root reads and writes everything here")
    return _WITHOUT_RIGHTS


# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, for this process and for those that it starts.
_WITHOUT_RIGHTS = """\
import ctypes
libc, of_this, held = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert [libc.prctl(24, right, 0, 0, 0) for right in (1, 2)] == [0, 0]
assert libc.capget(of_this, held) == 0
held[:3] = [rights & ~0b110 for rights in held[:3]]
assert libc.capset(of_this, held) == 0
"""


@dataclass(frozen=True)
class Ran:
    """What one run in this process gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the output as the values of its JSON."""
        return json.loads(self.out)


Capture = pytest.CaptureFixture[str]
Run = Callable[..., Ran]
"""Runs a command in this process; made by the fixture `run`."""


def run_here(capsys: pytest.CaptureFixture[str], *arguments: str, cwd: Path) -> Ran:
    """Run the command line in this process, which is ten times as fast as a process of its own."""
    from mdmem.cli.main import run

    capsys.readouterr()
    with contextlib.chdir(cwd):
        code = run(arguments)
    printed = capsys.readouterr()
    return Ran(code, printed.out, printed.err)


def snapshot(folder: Path) -> dict[str, str]:
    """Return every path below a folder with its mode and a hash of its bytes; what git keeps for mdmem is left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith(".git/mdmem") or "/mdmem/cache/" in name or (path.is_dir() and not path.is_symlink()):
            continue
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        content = os.fsencode(path.readlink()) if path.is_symlink() else content
        found[name] = f"{path.lstat().st_mode:o} {hashlib.sha256(content).hexdigest()}"
    return found


def merge_conflict(folder: Path, path: str, ours: str, theirs: str) -> None:
    """Leave a repository in the middle of a merge that changes one file in two ways."""
    start = git(folder, "rev-parse", "HEAD")
    for branch, text in (("theirs", theirs), ("ours", ours)):
        git(folder, "checkout", "-q", "-B", branch, start)
        write(folder, path, text)
        commit_all(folder)
    git(folder, "merge", "-q", "theirs", ends=1)


@made_once
def memory(folder: Path) -> Path:
    """Return a repository whose `memory/` holds one project wing with an invariant and a decision, committed."""
    root = make_root(make_repository(folder) / "memory")
    write(root, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n\n# nav\n")
    rule = "A callback must not block its executor.\n\nRationale: the robot stops.\n"
    write_entry(root, "nav/rules/callbacks", rule, type="invariant", title="Callbacks do not block")
    choice = "Navigation uses two threads.\n\nRationale: it was measured.\n"
    write_entry(root, "nav/architecture/threads", choice, title="Use two threads")
    commit_all(folder, "the memory")
    # One file of objects is laid out sooner than seven in as many folders.
    git(folder, "repack", "-adq")
    return folder


def on_terminal(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run the command line on a pseudo-terminal and return its exit code and all it printed."""
    import pty

    ours, theirs = pty.openpty()
    variables = environment(TERM="xterm", **(env or {}))
    command = [sys.executable, "-m", "mdmem", *arguments]
    process = subprocess.Popen(command, cwd=cwd, env=variables, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    printed = b""
    # Linux ends a terminal that nobody holds with an error, other systems with nothing to read.
    with contextlib.suppress(OSError):
        while portion := os.read(ours, 65536):
            printed += portion
    os.close(ours)
    return process.wait(), printed.decode().replace("\r\n", "\n")


def open_root(root: Path) -> Workspace:
    """Return the workspace of a root on the tests' day; its full text is read anew and never kept."""
    said = environment(XDG_CACHE_HOME=str(root.parent / "cache"))
    workspace = Workspace(located(root, "a test"), said, root, date.fromisoformat(TODAY))
    # What an index keeps is the index's own matter, and building one for each test would take most of its time.
    return workspace.with_index(FullTextIndex(None))


def status(folder: Path) -> list[str]:
    return git(folder, "status", "--porcelain", "--untracked-files=all", "--no-renames").splitlines()


def hook(folder: Path, name: str, script: str) -> Path:
    file = write(folder, f".git/hooks/{name}", f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


SIGNED = "gpgsig -----BEGIN PGP SIGNATURE-----"


def sign(top: Path) -> None:
    """Let git sign each commit of a repository."""
    script = "#!/bin/sh\necho '[GNUPG:] SIG_CREATED ' >&2\necho '-----BEGIN PGP SIGNATURE-----'\ncat >/dev/null\n"
    write(top.parent, "gpg", script).chmod(0o755)
    for name, value in (("commit.gpgSign", "true"), ("gpg.program", str(top.parent / "gpg")), ("user.signingKey", "K")):
        git(top, "config", name, value)


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, end: str) -> None:
    """Let one call of the system refuse the paths with an end, as it does for those without permission."""
    call: Callable[..., Any] = getattr(os, name)

    def refusing(path: Any, *rest: Any, **options: Any) -> Any:
        if os.fspath(path).endswith(end):
            raise PermissionError(13, "Permission denied")
        return call(path, *rest, **options)

    monkeypatch.setattr(os, name, refusing)


def nobody(top: Path) -> None:
    write(top, ".git/config", "[core]\n\trepositoryformatversion = 0\n[user]\n\tuseConfigOnly = true\n")
