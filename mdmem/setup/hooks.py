"""Find, write and remove git hooks."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.setup.hook_frameworks import CONFIG, Framework, find_framework
from mdmem.store.git.process import Repository, hooks_folder
from mdmem.store.state import write_new, write_whole

STAGES = ("pre-commit", "pre-merge-commit", "pre-push")
_HEAD = "#!/bin/sh\n# mdmem hook {digest}: `mdmem hooks uninstall` removes it; with any change it is yours.\n"
_SIGNED = re.compile(rb"\A#!/bin/sh\n# mdmem hook ([0-9a-f]{16}): ")
# The hook of `mdmem init` before hooks had a digest.
_UNSIGNED = re.compile(
    rb"#!/bin/sh\n# Refuses a commit that breaks the memory; written by `mdmem init`\.\n"
    rb"command -v mdmem >/dev/null 2>&1 && exec mdmem check --staged\n"
    rb"exec [^\n]+ -m mdmem check --staged\n"
)
# `-P`: no module of the repository, which is the working folder, may replace ours.
_FIND = """\
case $0 in *.legacy)
    # pre-commit and prek move a hook aside and still run it. It has nothing to do where they surely check the memory,
    # too: at this stage, and also a commit that only deletes.
    config=$(sed -n 's/.*--config=\\([^ )]*\\).*/\\1/p' "${{0%.legacy}}")
    own=$(sed -n '/^default_stages:/p; /^[^#]*mdmem[- ]check/,/^ *- /p' "${{config:-{config}}}" 2>/dev/null)
    case $own in
    *mdmem*"always_run: true"*) ;;
    *entry:*) own= ;;
    esac
    case $own in *mdmem*)
        [ -e prek.toml ] || printf '%s\\n' "$own" | grep -E 'stages:|files:|types' | grep -qv {stage} || exit 0 ;;
    esac ;;
esac
remote=$1
python={python}
package={package}
if [ -x "$python" ] && [ -f "$package" ]; then
    set -- "$python" -P -m mdmem check --staged
elif command -v mdmem >/dev/null 2>&1; then
    set -- mdmem check --staged
else
    echo "{stage}: the memory cannot be checked: mdmem is not ${{package:+at $package or }}in PATH;" \\
        'install it and type `mdmem hooks install`, or skip the check once with --no-verify' >&2
    exit 1
fi
"""
_RUN = 'exec "$@"\n'
# git writes a line for each reference: name and commit here, name and commit there; zeros mean a deletion.
_RUN_FOR_EACH = """\
status=0
seen=
while read -r ref sha _ there; do
    case $sha in *[!0]*) ;; *) continue ;; esac
    case $seen in *"$sha $there"*) continue ;; esac
    seen="$seen, $sha $there"
    git rev-parse --verify --quiet "$sha^{commit}" >/dev/null 2>&1 || continue
    PRE_COMMIT_REMOTE_NAME=$remote PRE_COMMIT_FROM_REF=$there PRE_COMMIT_TO_REF=$sha "$@" </dev/null && continue
    echo "pre-push: the memory of $ref does not pass, so nothing is pushed" >&2
    status=1
done
exit "$status"
"""


class Program(Struct, frozen=True):
    """An interpreter and the file of the package; empty for the `mdmem` on the PATH."""

    python: str = ""
    package: str = ""


def hook_text(stage: str, program: Program) -> bytes:
    """Return our hook for a stage."""
    python, package = shlex.quote(program.python), shlex.quote(program.package)
    find = _FIND.format(stage=stage, config=CONFIG, python=python, package=package)
    body = find + (_RUN_FOR_EACH if stage == "pre-push" else _RUN)
    unsigned = (_HEAD + body).replace("{digest}", "", 1).encode("utf-8", "surrogateescape")
    signature = _digest(unsigned).encode()
    return unsigned.replace(b"mdmem hook :", b"mdmem hook " + signature + b":", 1)


def is_ours(content: bytes) -> bool:
    """Say whether any version of mdmem wrote a hook, and nobody changed it since."""
    signed = _SIGNED.match(content)
    if signed is None:
        return _UNSIGNED.fullmatch(content) is not None
    unsigned = content[: signed.start(1)] + content[signed.end(1) :]
    return _digest(unsigned) == signed[1].decode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


_CALL = re.compile(rb"^[^#\n]*\bmdmem(?:\b[^#\n]*)? check\b", re.MULTILINE)
_LINE = "mdmem check --staged || exit 1"
_PUSH_LINE = (
    "while read -r _ sha _ there; do case $sha in *[!0]*) "
    "PRE_COMMIT_FROM_REF=$there PRE_COMMIT_TO_REF=$sha mdmem check --staged || exit 1 ;; esac; done"
)


class HookState(StrEnum):
    """Whose hook a stage has."""

    ABSENT = "absent"
    CURRENT = "installed"
    FORMER = "out of date"
    CALLING = "calls mdmem"
    FOREIGN = "somebody else's"


class HookPlace(StrEnum):
    """The folder of the hooks: git's own, one of the work tree, or one outside the repository."""

    GIT = "git"
    WORK_TREE = "work tree"
    ELSEWHERE = "elsewhere"


class Hook(Struct, frozen=True, kw_only=True):
    """The hook of a stage; `wanted` is the text of ours, `legacy` one of ours that a framework moved aside."""

    stage: str
    path: Path
    shown: str
    state: HookState
    where: HookPlace
    wanted: bytes
    framework: Framework | None = None
    legacy: Path | None = None

    @property
    def is_checking(self) -> bool:
        """Say whether this hook checks the memory."""
        return self.state not in (HookState.ABSENT, HookState.FOREIGN)


class HookStep(Struct, frozen=True):
    """A hook as it was found, what was done, and whether a hook that a framework had moved aside was removed."""

    hook: Hook
    done: str
    removed_legacy: bool = False


def this_program() -> Program:
    """Return the running program."""
    return Program(Path(sys.executable or "").as_posix(), (Path(__file__).parents[1] / "__main__.py").as_posix())


def find_hooks(repository: Repository, stages: Sequence[str] = STAGES) -> tuple[Hook, ...]:
    """Return the hooks of some stages in the order of `STAGES`.

    Raises EnvironmentFaultError if core.hooksPath is no folder.
    """
    folder = hooks_folder(repository)
    if folder.exists() and not folder.is_dir():
        raise EnvironmentFaultError(f"git runs no hooks here: core.hooksPath is {folder}, which is no folder")
    return tuple(_find_hook(repository, folder, stage) for stage in STAGES if stage in stages)


def _find_hook(repository: Repository, folder: Path, stage: str) -> Hook:
    path = folder / stage
    where = _where(repository, folder)
    # A file that others get by a commit must not depend on this machine.
    wanted = hook_text(stage, Program() if where is HookPlace.WORK_TREE else this_program())
    content = _content_of(path)
    framework = find_framework(repository.top, folder, stage, content=content or b"")
    moved = folder / f"{stage}.legacy"
    legacy = moved if framework is not None and is_ours(_content_of(moved) or b"") else None
    return Hook(
        stage=stage,
        path=path,
        shown=path.relative_to(repository.top).as_posix() if path.is_relative_to(repository.top) else str(path),
        state=_state_of(path, content, wanted=wanted, framework=framework, legacy=legacy),
        where=where,
        wanted=wanted,
        framework=framework,
        legacy=legacy,
    )


def _where(repository: Repository, folder: Path) -> HookPlace:
    real = folder.resolve()
    if any(real.is_relative_to(own.resolve()) for own in (repository.git_dir, repository.common_dir)):
        return HookPlace.GIT
    return HookPlace.WORK_TREE if real.is_relative_to(repository.top.resolve()) else HookPlace.ELSEWHERE


def _content_of(path: Path) -> bytes | None:
    """Return the content of a hook, None without one; empty if it cannot be read."""
    if not os.path.lexists(path):
        return None
    try:
        return read_regular(path)
    except OSError:
        return b""


def _state_of(
    path: Path, content: bytes | None, *, wanted: bytes, framework: Framework | None, legacy: Path | None
) -> HookState:
    if framework is not None:
        return HookState.CALLING if framework.names_mdmem or legacy is not None else HookState.FOREIGN
    if content is None:
        return HookState.ABSENT
    if is_ours(content) and not path.is_symlink():
        return HookState.CURRENT if content == wanted and os.access(path, os.X_OK) else HookState.FORMER
    return HookState.CALLING if _CALL.search(content) else HookState.FOREIGN


def install_hooks(repository: Repository, stages: Sequence[str] = STAGES) -> tuple[HookStep, ...]:
    """Write our hooks, or update older ones, and return what was done at each stage.

    Raises UsageError before anything is written if a hook is somebody else's, with the line to add to it.
    """
    hooks = find_hooks(repository, stages)
    obstacles = tuple(dict.fromkeys(found for hook in hooks if (found := advice(hook))))
    if obstacles:
        raise UsageError(f"{'; '.join(obstacles)}; nothing was written, so run this again then")
    return tuple(HookStep(hook, put(hook)) for hook in hooks)


def advice(hook: Hook) -> str:
    """Return why a hook cannot be written and what to add to it; empty if it is ours or calls mdmem."""
    line = _PUSH_LINE if hook.stage == "pre-push" else _LINE
    if hook.state in (HookState.CALLING, HookState.CURRENT):
        return ""
    if hook.framework is not None:
        return f"{hook.framework.name} runs the hooks of this repository: {hook.framework.advice}"
    if hook.where is HookPlace.ELSEWHERE:
        return f"{hook.shown} is outside this repository, set by core.hooksPath: add `{line}` to it"
    if hook.state is HookState.FOREIGN:
        return f"{hook.shown} is somebody else's and stays as it is: add `{line}` to it"
    return ""


def put(hook: Hook) -> str:
    """Write a hook if there is none, or an older one of ours; return `wrote`, `replaced` or `kept`."""
    if hook.state is HookState.ABSENT:
        hook.path.parent.mkdir(parents=True, exist_ok=True)
        write_new(hook.path, hook.wanted)
    elif hook.state is HookState.FORMER:
        write_whole(hook.path, hook.wanted)
    else:
        return "kept"
    hook.path.chmod(0o755)
    return "wrote" if hook.state is HookState.ABSENT else "replaced"


def uninstall_hooks(repository: Repository, stages: Sequence[str] = STAGES) -> tuple[HookStep, ...]:
    """Remove our unchanged hooks, moved aside or not, and return what was done at each stage."""
    return tuple(_uninstall(hook) for hook in find_hooks(repository, stages))


def _uninstall(hook: Hook) -> HookStep:
    if hook.where is HookPlace.ELSEWHERE:
        return HookStep(hook, "kept")
    if hook.legacy is not None:
        hook.legacy.unlink(missing_ok=True)
        return HookStep(hook, "kept", removed_legacy=True)
    if hook.state not in (HookState.CURRENT, HookState.FORMER):
        return HookStep(hook, "kept")
    hook.path.unlink(missing_ok=True)
    return HookStep(hook, "removed")
