"""Build memories and repositories for the tests, and run the command line; a caller can set every field of an entry."""

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
# Turns off what git does only for repositories that last longer than a test.
_GIT_SETTINGS = str(Path(__file__).with_name("gitconfig"))
_FIELDS = {"type": "decision", "status": "active", "created_at": "2026-03-05"}


def environment(**extra: str) -> dict[str, str]:
    """Return the process's variables without those of a hook or of the user, and with the tests' day."""
    # In CI `check` is stricter, so remove the variables that CI sets.
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
    """Make a folder the root of a memory, and return it."""
    write(folder, "mdmem.toml", settings)
    return folder


def app_memory(folder: Path) -> Path:
    """Return the root of an empty memory in a folder, with the wing `app`."""
    write(folder, "memory/app/README.md", "---\nkind: project\n---\n\n# app\n")
    return make_root(folder / "memory", 'default_wing = "app"\n')


@dataclass(frozen=True)
class _Template:
    """A folder to copy quickly: its folders in order, its files with bytes and `stat`, and the path of the result.

    The files keep their times. Git, which compares only times and sizes here (`gitconfig`), sees no change.
    """

    folders: tuple[str, ...]
    files: Mapping[str, tuple[bytes, os.stat_result]]
    first: bytes
    given: Path

    @classmethod
    def of(cls, folder: Path, given: Path) -> "_Template":
        """Read a folder; `given` is the path in it that `laid_out` returns."""
        found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
        files = {name: (path.read_bytes(), path.stat()) for name, path in found.items() if path.is_file()}
        first = os.fsencode(folder)
        assert [name for name, (content, _) in files.items() if first in content and not _IN_WORDS.search(name)] == []
        folders = tuple(name for name, path in found.items() if path.is_dir())
        return cls(folders, files, first, given.relative_to(folder))

    def laid_out(self, folder: Path) -> Path:
        """Copy everything into a folder, which may exist, and return the path of the result in it."""
        folder.mkdir(parents=True, exist_ok=True)
        here = os.fsencode(folder)
        for name in self.folders:
            # Path objects would take as long as all the rest.
            with contextlib.suppress(FileExistsError):
                os.mkdir(f"{folder}/{name}")  # noqa: PTH102
        for name, (content, before) in self.files.items():
            file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, before.st_mode & 0o777 | 0o200)
            # Replace the path of the first folder, for example in the URL of a clone's remote.
            os.write(file, content.replace(self.first, here))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            os.close(file)
        return folder / self.given


# Files of git that may contain a path.
_IN_WORDS = re.compile(r"(?:^|/)(?:config|FETCH_HEAD|logs/.*)$")


def made_once(make: Callable[..., Path]) -> Callable[..., Path]:
    """Decorate a function that makes a folder: it runs once for each set of options, and later calls copy its result.

    The options must be hashable, and the function must not make links.
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
    # A template would add sample hooks, and `git config` would take two more processes.
    git(folder, "init", "-q", "-b", "main", "--template=")
    with (folder / ".git/config").open("a", encoding="utf-8") as settings:
        settings.write("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    return folder


def git(folder: Path, *arguments: str, text_in: bytes | None = None, ends: int = 0) -> str:
    """Run git in a folder and return its output without the final newline; `ends` is the expected exit code."""
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
    """Return the commit of HEAD, from git's files if they contain it, to save a process."""
    named = _line_of(folder / ".git/HEAD") or "ref: HEAD"
    commit = _line_of(folder / ".git" / named[5:]) if named.startswith("ref: ") else named
    return commit or git(folder, "rev-parse", "HEAD")


def _line_of(file: Path) -> str:
    return file.read_text(encoding="ascii").removesuffix("\n") if file.is_file() else ""


def entry(address: str, **values: object) -> Entry:
    """Return an entry of the model, by default an active decision."""
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
    """Return the first lines of a program that give up root's rights to files; skip the test if that is impossible."""
    if os.geteuid():
        return ""
    if not sys.platform.startswith("linux"):
        pytest.skip("root reads and writes everything here")
    return _WITHOUT_RIGHTS


# Drop CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH in this process and its children.
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
    """The result of one run in this process."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the output, parsed as JSON."""
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
    """Return every path below a folder with its mode and a hash of its bytes, without mdmem's own state and cache."""
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
    # Copying one pack is faster than copying seven objects in as many folders.
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
    # At the end, reading the terminal raises an error on Linux, and returns nothing on other systems.
    with contextlib.suppress(OSError):
        while portion := os.read(ours, 65536):
            printed += portion
    os.close(ours)
    return process.wait(), printed.decode().replace("\r\n", "\n")


def open_root(root: Path) -> Workspace:
    """Return the workspace of a root on the tests' day, with a full-text index that is never written to disk."""
    said = environment(XDG_CACHE_HOME=str(root.parent / "cache"))
    workspace = Workspace(located(root, "a test"), said, root, date.fromisoformat(TODAY))
    # Writing an index to disk would take most of the time of each test.
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
    """Let a function of `os` raise PermissionError for paths that end in `end`."""
    call: Callable[..., Any] = getattr(os, name)

    def refusing(path: Any, *rest: Any, **options: Any) -> Any:
        if os.fspath(path).endswith(end):
            raise PermissionError(13, "Permission denied")
        return call(path, *rest, **options)

    monkeypatch.setattr(os, name, refusing)


def nobody(top: Path) -> None:
    write(top, ".git/config", "[core]\n\trepositoryformatversion = 0\n[user]\n\tuseConfigOnly = true\n")
