"""Set up git to merge entries with mdmem, in the git directory that all worktrees share. Nothing is committed."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular
from mdmem.setup.hooks import HookState, Program, this_program
from mdmem.store.git.process import Repository
from mdmem.store.git.status import list_tracked_named
from mdmem.store.state.files import write_whole

_NAME, _COMMAND = "merge.mdmem.name", "merge.mdmem.driver"
_TITLE = "entries of mdmem, key by key"
# An exit code over 1 means that mdmem is missing or cannot merge the file. Then git merges the file as text.
_CALL = (
    "{program} merge-driver -- %O %A %B %L %P %X %Y; s=$?; test $s -le 1 && exit $s;"
    " git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
)
_HEAD = "# mdmem: entries are merged key by key; `mdmem hooks uninstall` removes these lines\n"
_BLOCK = re.compile(rb"^# mdmem: entries are merged[^\n]*\n(?:[^\n]* merge=mdmem\n)*", re.MULTILINE)


class Driver(Struct, frozen=True):
    """The merge driver of a repository: its state, the patterns of its files, and the path of the attributes file."""

    state: HookState
    patterns: tuple[str, ...]
    attributes: Path
    shown: str


def find_driver(repository: Repository, roots: Iterable[Path] = ()) -> Driver | None:
    """Return the merge driver of a repository, or None without a memory. `roots` are more memories."""
    top = repository.top.resolve()
    memories = {path.rpartition("/")[0] for path in list_tracked_named(repository, SETTINGS_NAME)}
    for root in (one.resolve() for one in roots):
        if root.is_relative_to(top):
            memories.add("" if root == top else root.relative_to(top).as_posix())
    if not memories:
        return None
    patterns = tuple(pattern for under in sorted(memories) for pattern in patterns_for(under))
    path = repository.common_dir / "info" / "attributes"
    shown = path.relative_to(repository.top).as_posix() if path.is_relative_to(repository.top) else str(path)
    printed = repository.run("config", "--local", "--get", _COMMAND, ok=(0, 1))
    command = printed.decode("utf-8", "surrogateescape").removesuffix("\n") or None
    content = _content(path)
    if command is not None and not re.search(r"\bmdmem merge-driver\b", command):
        state = HookState.FOREIGN
    elif command is None and _BLOCK.search(content) is None:
        state = HookState.ABSENT
    else:
        is_current = command in (_command(Program()), _command(this_program())) and _block(patterns) in content
        state = HookState.CURRENT if is_current else HookState.FORMER
    return Driver(state, patterns, path, shown)


def patterns_for(under: str) -> tuple[str, ...]:
    """Return the patterns in git's attributes for the entries and manifests of a memory."""
    if not under:
        # If the memory is at the top of the repository, exclude other folders and deeper files, which are not entries.
        return ("/*/*/*.md", "/*/README.md")
    literal = re.sub(r"[][*?\\!#]", r"\\\g<0>", under)
    pattern = f"/{literal}/**/*.md"
    if not re.search(r'[\s"]', pattern):
        return (pattern,)
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return (f'"{escaped}"',)


def _command(program: Program) -> str:
    """Return the command for git. If mdmem is not on the PATH, the command starts it by its interpreter."""
    words = f"{shlex.quote(program.python)} -P -m mdmem" if program.python else "mdmem"
    # git expands `%` in this command, so write it as `%%`.
    return _CALL.format(program=words.replace("%", "%%"))


def _block(patterns: Iterable[str]) -> bytes:
    return (_HEAD + "".join(f"{pattern} merge=mdmem\n" for pattern in patterns)).encode("utf-8", "surrogateescape")


def _content(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        return b""


def install_driver(repository: Repository, driver: Driver) -> str:
    """Set up the driver if needed. Return what was done: `wrote`, `replaced` or `kept`."""
    if driver.state in (HookState.CURRENT, HookState.FOREIGN):
        return "kept"
    is_in_path = shutil.which("mdmem") is not None
    repository.run("config", "--local", _NAME, _TITLE)
    repository.run("config", "--local", _COMMAND, _command(Program() if is_in_path else this_program()))
    # Write the attribute last. An attribute without its command has no effect.
    content = _BLOCK.sub(b"", _content(driver.attributes))
    gap = b"\n" if content and not content.endswith(b"\n") else b""
    driver.attributes.parent.mkdir(exist_ok=True)
    write_whole(driver.attributes, content + gap + _block(driver.patterns))
    return "wrote" if driver.state is HookState.ABSENT else "replaced"


def uninstall_driver(repository: Repository, driver: Driver) -> str:
    """Remove the driver's settings. Return what was done: `removed` or `kept`."""
    if driver.state in (HookState.ABSENT, HookState.FOREIGN):
        return "kept"
    content = _content(driver.attributes)
    rest = _BLOCK.sub(b"", content)
    if rest:
        write_whole(driver.attributes, rest)
    elif content:
        driver.attributes.unlink()
    for name in (_COMMAND, _NAME):
        # git exits with 5 if the setting does not exist.
        repository.run("config", "--local", "--unset", name, ok=(0, 5))
    return "removed"
