"""Start a memory: write the files that are missing, and report the files that exist."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, GitError, RootNotFoundError, SettingsError
from mdmem.model.text import first_of
from mdmem.setup.agents_file import (
    COMMAND_LINES,
    ROOT_LINE,
    WINGS_LINE,
    add_server_lines,
    has_lines,
    has_own_rules,
    lacks_wings_line,
    point_to_agents,
)
from mdmem.setup.clients import hook_client, join_client
from mdmem.setup.hooks import (
    CONFIG,
    LOCAL_ENTRY,
    HookState,
    find_driver,
    find_hooks,
    install_driver,
    missing_install,
    shown_from,
    write_hook,
)
from mdmem.setup.installation import this_installation
from mdmem.setup.records import instruction_files, original_of, record_folders, records_in
from mdmem.store.catalog.addresses import is_well_formed
from mdmem.store.catalog.load import load
from mdmem.store.git.process import Repository, find_repository
from mdmem.store.settings import Settings, parse_settings
from mdmem.store.state.files import leads_away, write_new
from mdmem.store.tree import WorkingTree
from mdmem.store.workspace.location import SeveralRootsError, locate, place_to_write
from mdmem.write.create import manifest_text, require_names

_STAYS = "exists and stays as it is"


def init(
    cwd: Path,
    folder: str | None,
    *,
    wing: str | None,
    hook: bool,
    clients: Sequence[str],
    client_hooks: bool,
    command: str,
) -> Iterator[str]:
    """Set up a memory: write the files that are missing, and yield a sentence for each step.

    Without `folder`, set up the memory that is found from `cwd`. For each of the `clients`, add the MCP server that
    `command` starts, and lines about its tools to AGENTS.md; with `client_hooks`, mdmem's hooks, too. Existing files
    are only extended. Raises UsageError for an invalid name of a wing.
    """
    folder = folder or _memory_for(cwd, is_server=bool(clients)) or "memory"
    here = _repository(cwd)
    root = place_to_write(cwd / folder, here.top if here is not None else cwd, here)
    repository = _repository(root)
    base = repository.top if repository is not None else cwd
    is_top = repository is not None and root == repository.top
    known = load(WorkingTree(root, is_top=is_top)).wings.values()
    wings = sorted(one.name for one in known if not one.is_shared and is_well_formed("wing", one.name))
    own = wing if wing is not None else _settings(root).default_wing
    fallback = re.sub(r"[^a-z0-9]+", "_", base.name.casefold()).strip("_") or "project"
    name = own if own is not None else next(iter(wings), fallback)
    require_names([name])
    is_joining = bool(clients) and (root / SETTINGS_NAME).exists()
    # In a memory with several projects, people choose the default wing themselves.
    is_undecided = own is None and len(wings) > 1
    settings = f"# default_wing: one of {', '.join(wings)}\n" if is_undecided else f'default_wing = "{name}"\n'
    files = {SETTINGS_NAME: settings}
    if not is_undecided:
        files[f"{name}/README.md"] = manifest_text(name, repository)

    def reported(steps: Iterable[str]) -> Iterator[str]:
        return (one for one in steps if not (is_joining and one.endswith(_STAYS)))

    if is_joining:
        yield f"the memory in `{shown_from(base, root)}` stays as it is"
    yield from reported(_write(root, path, text, base) for path, text in files.items())
    root_option = "" if _is_found(cwd, root) else f" --root {shlex.quote(folder)}"
    if clients:
        yield from _join(clients, root, base, command, has_hooks=client_hooks)
    else:
        lines = COMMAND_LINES + (WINGS_LINE if len(wings) > 1 else "")
        lines += ROOT_LINE.format(root_option.strip()) if root_option and repository is None else ""
        missing = WINGS_LINE if lacks_wings_line(base, known) else lines
        yield _write(base, "AGENTS.md", lines, base, otherwise=f"add this to it:\n{missing}")
        yield from point_to_agents(base)
    if repository is None:
        yield "not in a git repository: no hook; `git init` and run this again"
    elif hook:
        yield from reported(_install_hooks(repository, root))
    if not any(path.name != "README.md" for path in root.glob("*/*/*.md")):
        yield from _next_steps(base, name, root_option)


def _next_steps(base: Path, wing: str, root_option: str) -> Iterator[str]:
    """Yield how to import the records and rules for agents that exist, or how to write the first decision."""
    listed = [f"{_count_records(base / one)} in {one}" for one in record_folders(base)]
    rules = [one for one in instruction_files(base) if has_own_rules(base / one)]
    found = [f"decision records, {first_of(listed, 3, ' and ')}"] if listed else []
    found += [f"rules for agents in {first_of(rules, 3)}"] if rules else []
    if found:
        yield f"there are {', and '.join(found)}: `mdmem import --dry-run{root_option}` shows how to import them"
    if not listed:
        new = f'mdmem new decision {wing}/architecture "TITLE" --body "WHAT YOU DECIDED, AND WHY"{root_option}'
        yield f"next: {new}"


def _count_records(folder: Path) -> int:
    """Return the number of records of other tools in a folder. A translation counts together with its original."""
    return len({original_of(str(path)) or str(path) for path in records_in(folder)})


def _memory_for(cwd: Path, *, is_server: bool) -> str | None:
    """Return the memory that contains this folder, or for a server the memory that a server in this folder finds.

    A new memory inside another memory would be read twice. Raises SeveralRootsError for a server.
    """
    try:
        found = locate(None, {}, cwd).root
    except (RootNotFoundError, SeveralRootsError) as error:
        if is_server and isinstance(error, SeveralRootsError):
            raise
        return None
    return str(found) if is_server or cwd.resolve().is_relative_to(found) else None


def _is_found(folder: Path, root: Path) -> bool:
    """Return whether commands that run in a folder find this memory, and not a nearer one."""
    with suppress(RootNotFoundError, SeveralRootsError):
        return locate(None, {}, folder).root == root
    return False


def _join(clients: Sequence[str], root: Path, base: Path, command: str, *, has_hooks: bool) -> Iterator[str]:
    """Set up the clients for a memory of this project. A path to a memory elsewhere would work only on this machine."""
    top = base.resolve()
    if root.is_relative_to(top):
        under = "" if root == top else root.relative_to(top).as_posix()
        is_found = _is_found(base, root)
        for name in dict.fromkeys(clients):
            yield from join_client(name, base, under=under, is_found=is_found, command=command)
            if has_hooks:
                yield from hook_client(name, base, root=None if is_found else under or ".", command=command)
        yield from add_server_lines(base, profile=_settings(root).profile.value, clients=dict.fromkeys(clients))
    else:
        yield f"{root} is outside of {base}: no client is set up; run this where the memory is"
    ours = this_installation()
    if shutil.which(command) is None:
        yield (
            f"`{command}` is not on the PATH, so no client finds it: type `{ours.line_for('mcp', on_path=True)}`, "
            f"or name the one here with `--command {shlex.quote(str(ours.prefix / 'bin' / 'mdmem'))}`"
        )
    elif find_spec("mcp") is None:
        yield f"the server needs the extra `mcp`: type `{ours.line_for('mcp')}`"


def _repository(root: Path) -> Repository | None:
    try:
        return find_repository(root)
    except GitError:
        return None


def _settings(root: Path) -> Settings:
    try:
        return parse_settings(read_regular(root / SETTINGS_NAME))
    except (OSError, SettingsError):
        return Settings()


def _install_hooks(repository: Repository, root: Path) -> Iterator[str]:
    """Write the missing hooks and set up the merge driver, unless a framework runs the hooks."""
    try:
        hooks = find_hooks(repository)
    except EnvironmentFaultError as fault:
        yield str(fault)
        return
    is_ours = not any(hook.advice for hook in hooks)
    if (repository.top / CONFIG).exists():
        install = missing_install(repository.top, [hook.stage for hook in hooks if not hook.is_checking])
        is_ours = install is not None
        if install is None:
            yield f"{CONFIG} is there; add this to it:\n{LOCAL_ENTRY}"
        elif install:
            yield f"{CONFIG} has mdmem-check; to run it in this clone, type `{install}`"
        else:
            yield f"{CONFIG} {_STAYS}"
    else:
        for hook in hooks:
            # `init` changes no existing hook, not even an older hook of mdmem.
            if hook.state is HookState.FORMER:
                yield f"{hook.shown} {_STAYS}; `mdmem hooks install` brings it up to date"
            elif hook.advice or hook.state is not HookState.ABSENT:
                yield hook.advice or f"{hook.shown} {_STAYS}"
            else:
                write_hook(hook)
                yield f"wrote {hook.shown}"
    driver = find_driver(repository, [root])
    if driver is None:
        return
    if is_ours and install_driver(repository, driver) != "kept":
        yield f"git merges entries key by key from now on: {driver.shown}"
    elif not is_ours and driver.state is HookState.ABSENT:
        yield "git merges entries as text: `mdmem hooks install --driver-only` lets it merge them key by key"


def _write(folder: Path, below: str, text: str, base: Path, *, otherwise: str = "") -> str:
    path = folder / below
    name = shown_from(base, path)
    if path.exists():
        try:
            has_it = not otherwise or has_lines(read_regular(path), text)
        except OSError:
            has_it = False
        return f"{name} {_STAYS}" + ("" if has_it else f"; {otherwise}")
    if leads_away(folder, below):
        return f"{name} is behind a symbolic link and is not written"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_new(path, text.encode())
    return f"wrote {name}"
