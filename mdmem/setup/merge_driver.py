"""Set up git to merge entries with mdmem: a command in the repository's configuration, and a line of attributes.

Both are in the git directory that worktrees share, so nothing is committed.
"""

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
from mdmem.store.git.process import Repository, run
from mdmem.store.git.status import list_tracked_named
from mdmem.store.state.files import write_whole

_NAME, _COMMAND = "merge.mdmem.name", "merge.mdmem.driver"
_TITLE = "entries of mdmem, key by key"
# After a status over 1, mdmem is missing or cannot merge the file, so git merges it as text.
_CALL = (
    "{program} merge-driver -- %O %A %B %L %P %X %Y; s=$?; test $s -le 1 && exit $s;"
    " git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
)
_HEAD = "# mdmem: entries are merged key by key; `mdmem hooks uninstall` removes these lines\n"
_BLOCK = re.compile(rb"^# mdmem: entries are merged[^\n]*\n(?:[^\n]* merge=mdmem\n)*", re.MULTILINE)


class Driver(Struct, frozen=True):
    """The merge driver of a repository: its state, its patterns, and the file of the attributes."""

    state: HookState
    patterns: tuple[str, ...]
    attributes: Path
    shown: str


def find_driver(repository: Repository, roots: Iterable[Path] = ()) -> Driver | None:
    """Return the merge driver of a repository; None without a memory. `roots` are memories that git may not track."""
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
    return Driver(_state(repository, path, patterns), patterns, path, shown)


def patterns_for(under: str) -> tuple[str, ...]:
    """Return the patterns of a memory's entries and manifests in git's attributes."""
    if not under:
        # The top has other folders, too, and deeper files are not entries.
        return ("/*/*/*.md", "/*/README.md")
    literal = re.sub(r"[][*?\\!#]", r"\\\g<0>", under)
    pattern = f"/{literal}/**/*.md"
    if not re.search(r'[\s"]', pattern):
        return (pattern,)
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return (f'"{escaped}"',)


def _state(repository: Repository, path: Path, patterns: tuple[str, ...]) -> HookState:
    printed = run(repository.top, "config", "--local", "--get", _COMMAND, ok=(0, 1))
    command = printed.decode("utf-8", "surrogateescape").removesuffix("\n") or None
    content = _content(path)
    if command is not None and not re.search(r"\bmdmem merge-driver\b", command):
        return HookState.FOREIGN
    if command is None and _BLOCK.search(content) is None:
        return HookState.ABSENT
    is_current = command in (_command(Program()), _command(this_program())) and _block(patterns) in content
    return HookState.CURRENT if is_current else HookState.FORMER


def _command(program: Program) -> str:
    """Return the command for git; a program that is not on the PATH is given by its interpreter."""
    words = f"{shlex.quote(program.python)} -P -m mdmem" if program.python else "mdmem"
    # git expands percent signs.
    return _CALL.format(program=words.replace("%", "%%"))


def _block(patterns: Iterable[str]) -> bytes:
    return (_HEAD + "".join(f"{pattern} merge=mdmem\n" for pattern in patterns)).encode("utf-8", "surrogateescape")


def _content(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        return b""


def install_driver(repository: Repository, driver: Driver) -> str:
    """Set up the driver if needed, and return what was done: `wrote`, `replaced`, `kept`."""
    if driver.state in (HookState.CURRENT, HookState.FOREIGN):
        return "kept"
    is_in_path = shutil.which("mdmem") is not None
    run(repository.top, "config", "--local", _NAME, _TITLE)
    run(repository.top, "config", "--local", _COMMAND, _command(Program() if is_in_path else this_program()))
    # The attribute comes last: without its command git would merge text.
    content = _BLOCK.sub(b"", _content(driver.attributes))
    gap = b"\n" if content and not content.endswith(b"\n") else b""
    driver.attributes.parent.mkdir(exist_ok=True)
    write_whole(driver.attributes, content + gap + _block(driver.patterns))
    return "wrote" if driver.state is HookState.ABSENT else "replaced"


def uninstall_driver(repository: Repository, driver: Driver) -> str:
    """Remove our settings, and return what was done: `removed` or `kept`."""
    if driver.state in (HookState.ABSENT, HookState.FOREIGN):
        return "kept"
    content = _content(driver.attributes)
    rest = _BLOCK.sub(b"", content)
    if rest:
        write_whole(driver.attributes, rest)
    elif content:
        driver.attributes.unlink()
    for name in (_COMMAND, _NAME):
        # git ends with 5 if there is no such setting.
        run(repository.top, "config", "--local", "--unset", name, ok=(0, 5))
    return "removed"
