"""Limit a workspace to what its caller may see and write, and find the caller's private memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.errors import EnvironmentFaultError, UsageError, reason_of
from mdmem.markdown.parse import without_code
from mdmem.model.access import Access, AccessDeniedError
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.store.catalog.links import references_in
from mdmem.store.catalog.load import EntryCache
from mdmem.store.catalog.model import ADDRESS, Catalog
from mdmem.store.git.history import Commit
from mdmem.store.state.files import user_folder, write_new
from mdmem.store.state.local_records import PendingWrite
from mdmem.store.workspace.location import Location, Snapshot
from mdmem.store.workspace.scope import ScopeAnswer, find_wing, scope_state, wing_name_for
from mdmem.store.workspace.workspace import Workspace


def visible_findings(catalog: Catalog, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that mention no hidden wing; a fix that mentions one is removed from its finding."""
    if not catalog.access.is_narrow:
        return list(findings)
    # Find the names of hidden wings, and the addresses in them, as the visible files spell them.
    documents = [document for _, document in catalog.documents(tuple(catalog.entries))]
    prose = {document.path.removesuffix(".md"): without_code(document.body) for document in documents}
    manifests = [f"{name}/README.md" for name, wing in catalog.wings.items() if wing.has_manifest]
    hidden: set[str] = set()
    for document in (*documents, *map(catalog.document, manifests)):
        fields: Mapping[str, Any] = document.fields or {}
        texts = (text for name in (*LINK_FIELDS, "relations") for text in _texts_in(fields.get(name)))
        hidden.update(text for text in texts if catalog.names_hidden(text, document.path))
    for found in references_in(prose, catalog.addresses):
        if catalog.hides(found.target or "", found.address) or catalog.hides_path(found.path or "."):
            hidden.add(found.link.target)
    for address in {one for text in hidden for one in ADDRESS.findall(text) if catalog.hides(one)}:
        hidden |= {address, f"`{address.split('/')[0]}`"}

    def mentions_hidden(*texts: str) -> bool:
        return any(name in text for text in texts for name in hidden)

    shown = []
    for one in findings:
        if mentions_hidden(one.message, one.help):
            continue
        edits = (edit.content.decode("utf-8", "replace") for edit in one.fix.edits) if one.fix else ()
        is_hidden = one.fix is not None and mentions_hidden(one.fix.title, *edits)
        shown.append(replace(one, fix=None) if is_hidden else one)
    return shown


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        yield from (text for item in value for text in _texts_in(item))
    elif value is not None:
        yield str(value)


def visible_commits(workspace: Workspace, commits: Sequence[Commit]) -> list[Commit]:
    """Return the commits, without subjects if the caller sees only some wings: a subject may mention a hidden wing."""
    return [replace(one, subject="") for one in commits] if workspace.access.is_narrow else list(commits)


def require_writable(workspace: Workspace, project_id: str | None, *, is_global: bool = False) -> None:
    """Raise AccessDeniedError unless the caller may write. Call this first: other errors reveal which wings exist."""
    if project_id is not None and not workspace.access.writes(wing_of(workspace.catalog, project_id)):
        raise AccessDeniedError(project_id)
    if is_global:
        workspace.access.require_write(workspace.settings.default_shared_wing, named="global")


def may_write_to(workspace: Workspace, project_id: str | None) -> bool:
    """Return whether the caller and the settings allow writes to a project; false without a project."""
    if project_id is None:
        return False
    name = wing_of(workspace.catalog, project_id)
    wing = workspace.catalog.wings.get(name)
    is_open = wing is None or not wing.is_shared or workspace.settings.global_writes
    return is_open and workspace.access.writes(name)


def wing_of(catalog: Catalog, project_id: str) -> str:
    """Return the wing of a project; without one, the name that its wing would get, or else the id itself."""
    found = find_wing(project_id, catalog.wings)
    if found is not None:
        return found
    try:
        return wing_name_for(project_id, catalog)
    except UsageError:
        return project_id


def scope_seen(workspace: Workspace, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
    """Return the state of a scope; a project that the caller may not read looks the same whether it exists or not."""
    answer = scope_state(workspace.catalog, project_id, focus)
    if project_id is None or answer.wing is not None:
        return answer
    is_seen = workspace.access.reads(wing_of(workspace.catalog, project_id))
    return answer if is_seen else replace(answer, message=str(AccessDeniedError(project_id)))


def is_visible(workspace: Workspace, record: PendingWrite) -> bool:
    """Return whether a pending write is for a wing that the caller may read."""
    access, named = workspace.access, record.arguments.get("project_id")
    return not access.is_narrow or (isinstance(named, str) and access.reads(wing_of(workspace.catalog, named)))


def may_retry(workspace: Workspace, record: PendingWrite) -> bool:
    """Return whether the caller may retry a pending write."""
    access, named = workspace.access, record.arguments.get("project_id")
    if not access.is_narrow and access.writable is None:
        return True
    records = (value for value in record.arguments.values() if isinstance(value, Mapping))
    is_global = any("global" in (one.get("scope"), one.get("save_scope")) for one in records)
    try:
        require_writable(workspace, named if isinstance(named, str) else "", is_global=is_global)
    except AccessDeniedError:
        return False
    return True


# A caller's private memory is a root in the user's data folder. Only the context of this caller reads it.
_SETTINGS = """\
# The private memory of one caller; `mdmem --root` with this folder reads and changes it.
[check]
ignore = ["wing-without-owner"]
"""
WING, _MANIFEST = "private", "---\nkind: project\n---\n\n# private\n"


def find_own_memory(workspace: Workspace) -> Workspace | None:
    """Return the caller's private memory with its files as they are now, or None if it does not exist yet."""
    root = _own_root(workspace)
    return _open_own(workspace, root) if (root / SETTINGS_NAME).is_file() else None


def make_own_memory(workspace: Workspace) -> Workspace:
    """Return the caller's private memory, creating it if it is missing; raises EnvironmentFaultError if that fails."""
    root = _own_root(workspace)
    try:
        # Other users may not even list the names in this folder.
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        (root / WING).mkdir(exist_ok=True)
        for path, text in ((root / WING / "README.md", _MANIFEST), (root / SETTINGS_NAME, _SETTINGS)):
            # The file may exist already, or another process may create it at this moment.
            with suppress(FileExistsError):
                write_new(path, text.encode())
    except OSError as error:
        raise EnvironmentFaultError(f"the private memory {root} cannot be made: {reason_of(error)}") from error
    return _open_own(workspace, root)


def _own_root(workspace: Workspace) -> Path:
    """Return the root of the caller's memory: the local user has one, and each token has one for each root."""
    access, folder = workspace.access, user_folder(workspace.environment, "XDG_DATA_HOME", ".local/share")
    caller = access.name
    if caller is None and access.readable is not None:
        # A caller without a name who sees only some wings is not the user, so the memory is named by these wings.
        # The name begins with NUL, which no token's name contains.
        caller = "\0".join(("", *sorted(access.readable)))
    if caller is None:
        return folder / "mdmem/private/own"
    # Use a hash for the name, since some file systems ignore upper and lower case.
    named = os.fsencode(workspace.location.root) + b"\0" + caller.encode("utf-8", "surrogatepass")
    return folder / f"mdmem/private/token-{hashlib.sha256(named).hexdigest()[:24]}"


def _open_own(workspace: Workspace, root: Path) -> Workspace:
    """Return the private memory as a root outside git, even if a repository contains the data folder."""
    location = Location(root.resolve(), "the caller's own memory")
    return replace(workspace, location=location, access=Access(), cache=EntryCache()).at(Snapshot())
