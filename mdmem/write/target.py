"""Where a record may go: the wing that its project and scope mean, the room of its kind, and a free address."""

from __future__ import annotations

import os
import unicodedata
from itertools import count
from pathlib import Path

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.markdown.fields import scalar
from mdmem.model.entry import WingKind, visible
from mdmem.store.catalog import is_prose
from mdmem.store.catalog.addresses import MANIFEST, is_well_formed, well_formed, why_not_on_windows
from mdmem.store.settings import Settings
from mdmem.store.workspace.scope import ScopeState, is_doubtful, may_write, scope_state, wing_name_for
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.calls import SaveRequest
from mdmem.write.change_set import Change
from mdmem.write.create import slug_of
from mdmem.write.governance import needs_token
from mdmem.write.records import MemoryScope
from mdmem.write.results import SaveResult, SaveStatus


class Target(Struct, frozen=True, kw_only=True):
    """The wing that a record goes to, the manifests of wings that are made for it, and whether it needs a token."""

    wing: str
    manifests: tuple[Change, ...] = ()
    needs_token: bool = False


def find_target(workspace: Workspace, request: SaveRequest) -> Target | SaveResult:
    """Return where a record goes, or why it may not be written; raises UsageError where no wing can be made."""
    catalog, record = workspace.catalog, request.record
    project_id, focus = request.text("project_id"), request.text("focus")
    answer = scope_state(catalog, project_id, focus)
    if not may_write(answer, record.kind):
        return _blocked(answer.state, answer.message)
    if record.scope is MemoryScope.FOCUS and not focus:
        raise UsageError(f"the scope of this {record.kind} is `focus` and no `focus` is given; name one")
    shared, wing, manifests = workspace.settings.default_shared_wing, answer.wing, list[Change]()
    if wing is None:
        wing = wing_name_for(project_id or "", catalog)
        if wing == shared:
            raise UsageError(f"`{wing}` is the name of the shared wing; the project `{project_id}` needs another id")
        manifests.append(_manifest(workspace, wing, WingKind.PROJECT, project_id=project_id))
    if record.scope is MemoryScope.GLOBAL:
        wing = shared
        manifests += _shared_manifest(workspace, wing)
    return Target(
        wing=wing,
        manifests=tuple(manifests),
        needs_token=needs_token(catalog.wings.get(wing), record.scope, is_doubtful=is_doubtful(catalog, wing)),
    )


def _shared_manifest(workspace: Workspace, wing: str) -> list[Change]:
    """Return what makes the shared wing, nothing where it is there; raises UsageError where a project has its name."""
    catalog = workspace.catalog
    if wing not in catalog.wings:
        return [_manifest(workspace, wing, WingKind.SHARED)]
    if not catalog.wings[wing].is_shared and not is_doubtful(catalog, wing):
        hint = f"write `kind: shared` into {wing}/{MANIFEST}, or set `default_shared_wing` in mdmem.toml"
        raise UsageError(f"`{wing}` is no shared wing, so nothing of scope `global` goes there; {hint}")
    return []


def _blocked(state: ScopeState, why: str | None) -> SaveResult:
    unresolved = "give a `project_id`"
    uncertain = "call `save_session` with this `project_id`: it creates the project; then repeat this call"
    return SaveResult(
        status=SaveStatus.BLOCKED_SCOPE,
        message=why,
        next_step=unresolved if state is ScopeState.UNRESOLVED else uncertain,
    )


def _manifest(workspace: Workspace, wing: str, kind: WingKind, *, project_id: str | None = None) -> Change:
    path = f"{wing}/{MANIFEST}"
    if why := why_not_on_windows(wing):
        raise UsageError(f"`{wing}` {why}, which Windows does not allow for a wing; name it otherwise")
    if _is_taken(workspace.location.root / wing):
        hint = f"write `kind: {kind}` between two lines of `---` at the top of {path}"
        raise UsageError(f"the folder `{wing}` is there and is no wing; {hint}, or choose another name")
    stated = [f"kind: {kind.value}", *([f"project_id: {scalar(project_id)}"] if project_id else [])]
    return Change(path, path, None, "\n".join(["---", *stated, "---", "", f"# {wing}", ""]).encode())


_ID_BYTES = 120


def room_for(settings: Settings, kind: str, room: str | None) -> str:
    """Return the room that a record goes to; raises UsageError for a name that no room has."""
    if room is None:
        return settings.rooms[kind]
    if not is_well_formed("room", room) or why_not_on_windows(room):
        close = well_formed("room", room)
        hint = f"; did you mean `{close}`?" if close and not why_not_on_windows(close) else "; write `anti-patterns`"
        raise UsageError(f"`room`: `{visible(room)}` is no name for a room{hint}")
    return room


def _is_taken(whole: Path) -> bool:
    """Say whether anything stands at a path; a folder without a file is what git left, or a process that died."""
    is_folder = whole.is_dir() and not whole.is_symlink()
    return any(files for _, _, files in os.walk(whole)) if is_folder else os.path.lexists(whole)


def free_address(workspace: Workspace, wing: str, room: str, *, kind: str, title: str) -> str:
    """Return an address that nobody has, the entry-id from the title, with a number where that one is taken."""
    plain = f"{wing}/{room}/{entry_id_of(title, kind)}"
    # Where capital letters do not count, two addresses that differ in them alone are one file.
    known = {address.casefold() for address in workspace.catalog.addresses}
    numbered = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    files = workspace.location.root
    return next(one for one in numbered if one.casefold() not in known and not os.path.lexists(files / f"{one}.md"))


def entry_id_of(title: str, kind: str) -> str:
    """Return an entry-id that people recognise from a title, of whatever script; the kind where nothing is left."""
    try:
        name = slug_of(title)
    except UsageError:
        # A title in another script: its own letters are allowed in names, too.
        folded = well_formed("entry", unicodedata.normalize("NFC", title).casefold()) or ""
        name = folded.encode()[:_ID_BYTES].decode(errors="ignore").strip("-")
    is_fit = bool(name) and is_well_formed("entry", name) and not why_not_on_windows(name) and not is_prose(name)
    return name if is_fit else f"{kind}-{name}" if name and is_well_formed("entry", f"{kind}-{name}") else kind
