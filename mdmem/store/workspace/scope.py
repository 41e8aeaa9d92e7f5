"""Choose the wings and entries that a question reads."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from mdmem.errors import SettingsError, UsageError
from mdmem.model.access import AccessDeniedError
from mdmem.model.entry import Entry, EntryType, Status, Wing
from mdmem.model.globs import any_match
from mdmem.model.text import first_of
from mdmem.store.catalog.addresses import MANIFEST
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind


class AmbiguousWingError(UsageError):
    """There are several project wings, and neither an option nor the settings say which one is active."""


class Filters(Struct, frozen=True, kw_only=True):
    """The filters of a question; an empty tuple means no filter, and a focus is the topic of an agent's session."""

    wings: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    types: tuple[EntryType, ...] = ()
    statuses: tuple[Status, ...] = ()
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    focuses: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    all_wings: bool = False
    include_deprecated: bool = False
    include_drafts: bool = False

    @property
    def includes_ended(self) -> bool:
        """Return whether the question includes entries that are not current."""
        return self.include_deprecated or Status.DEPRECATED in self.statuses

    def matches_entry(self, entry: Entry) -> bool:
        """Return whether an entry passes the filters on type, label, tag and owner."""
        return (
            (not self.types or entry.type in self.types)
            and (not self.labels or entry.label in self.labels)
            and (not self.tags or not set(self.tags).isdisjoint(entry.tags))
            and (not self.owners or entry.owner in self.owners)
        )


class ScopeState(StrEnum):
    """How certain a scope is: its wing and focus exist (RESOLVED), one does not, or there is no wing (UNRESOLVED)."""

    RESOLVED = "resolved"
    UNCERTAIN = "uncertain"
    UNRESOLVED = "unresolved"


class Scope(Struct, frozen=True, kw_only=True):
    """The wings that a question reads, with the active wing first, and the filters on rooms and on the focus.

    The invariants of `binding_wings` always apply, also in other rooms. With `starts_shared`, shared entries come
    first, and an override by a project does not remove them.
    """

    wing: str | None
    wings: tuple[str, ...]
    shared_wings: tuple[str, ...] = ()
    binding_wings: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    focus: str | None = None
    state: ScopeState = ScopeState.RESOLVED
    starts_shared: bool = False

    def contains(self, address: str) -> bool:
        """Return whether an address is in the wings and rooms of this scope."""
        wing, room, _ = address.split("/", 2)
        return wing in self.wings and (not self.rooms or room in self.rooms)

    def always_applies(self, entry: Entry) -> bool:
        """Return whether an entry is an invariant of a wing in `binding_wings`, which applies in every room."""
        return entry.type is EntryType.INVARIANT and entry.wing in self.binding_wings

    def reads(self, entry: Entry) -> bool:
        """Return whether an entry is in this scope, or is an invariant that always applies."""
        return self.contains(entry.address) or self.always_applies(entry)

    def read(self, catalog: Catalog, *, unasked: bool = True) -> Collection[str]:
        """Return the addresses of the entries in this scope; `unasked` adds the invariants that always apply."""
        whole = [self.contains(f"{room}/") for room in catalog.derived.rooms]
        if all(whole):
            return catalog.everything
        found: list[str] = []
        for is_whole, members in zip(whole, catalog.derived.rooms.values(), strict=True):
            chosen = (one for one in members if unasked and self.always_applies(catalog.entries[one]))
            found += members if is_whole else chosen
        return found


def find_wing(name: str, wings: Mapping[str, Wing]) -> str | None:
    """Return the wing that a name means, or None: by `project_id`, else by its name, else by the folded name.

    A folded name is in lower case with `_` for other characters; a wing with another `project_id` does not count.
    """
    by_id = [wing.name for wing in wings.values() if wing.project_id == name]
    if by_id or name in wings:
        return by_id[0] if by_id else name
    folded = "".join(character if character.isalnum() else "_" for character in name.casefold())
    wing = wings.get(folded)
    return folded if wing is not None and wing.project_id in (None, name) else None


def get_wing(name: str, wings: Mapping[str, Wing]) -> str:
    """Return the wing that a name means, as `find_wing` does; raises UsageError that suggests similar names."""
    found = find_wing(name, wings)
    if found is None:
        raise UsageError(unknown_name("wing", name, wings))
    return found


def unknown_name(kind: str, name: str, known: Collection[str], where: str = "") -> str:
    """Return the error message for an unknown name, which suggests similar known names."""
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    listed = first_of([f"`{one}`" for one in close or sorted(known)], 12, " or " if close else ", ")
    choice = f"choose from {listed}" if known else f"there is no {kind} yet"
    hint = f"did you mean {listed}?" if close else choice
    return f"there is no {kind} `{name}`{where}; {hint}"


def shared_of(wings: Mapping[str, Wing], name: str) -> tuple[str, ...]:
    """Return the existing shared wings that a manifest lists. Without a list, a project has all, a shared wing none."""
    wing = wings.get(name, Wing(name=name))
    if wing.shared_wings is not None:
        return tuple(name for name in wing.shared_wings if name in wings and name != wing.name)
    return () if wing.is_shared else tuple(name for name, other in wings.items() if other.is_shared)


def doubtful_wings(catalog: Catalog) -> frozenset[str]:
    """Return the names of wings that may be shared, because their folder or manifest cannot be read completely."""
    faults = (one for one in catalog.findings if one.code in ("unreadable", "manifest-invalid"))
    paths = (one.place.path.partition("/") for one in (*catalog.closed, *faults))
    return frozenset(wing for wing, _, rest in paths if rest in ("", MANIFEST))


def hidden_wings(catalog: Catalog) -> tuple[str, ...]:
    """Return the sorted paths of unreadable folders and manifests, since each may be a wing with any `project_id`."""
    found = set()
    for one in catalog.findings:
        name, _, rest = one.place.path.partition("/")
        wing = catalog.wings.get(name)
        is_open = wing is None or (wing.project_id is None and not wing.is_shared)
        if rest in ("", MANIFEST) and (one.code == "unreadable" or (one.code == "manifest-invalid" and is_open)):
            found.add(one.place.path)
    return tuple(sorted(found))


def resolve_scope(
    catalog: Catalog,
    settings: Settings,
    filters: Filters,
    *,
    paths: Sequence[str] = (),
    tracked: Callable[[], Iterable[str]] | None = None,
) -> Scope:
    """Return the scope of a retrieval: the active wing, the wings in the filters, and the shared wings of all these.

    The active wing is the first wing in the filters, else the wing that applies to `paths`, else the default or only
    wing. A project's manifest lists its shared wings; without a list, all are its shared wings. The invariants of a
    shared wing always apply, unless its `applies_to` matches no tracked file. Raises UsageError for a missing wing or
    room, SettingsError for a missing default wing, and AmbiguousWingError if no wing is active and the filters do not
    ask for all wings.
    """
    wings = _wings(catalog, *filters.wings, settings.default_wing)
    if not wings and not filters.wings:
        return Scope(wing=None, wings=(), state=ScopeState.UNRESOLVED)
    named = tuple(dict.fromkeys(get_wing(name, wings) for name in filters.wings))
    doubtful = doubtful_wings(catalog) | catalog.fetched_wings
    try:
        active = named[0] if named else _active_wing(paths, wings, settings, doubtful)
    except AmbiguousWingError:
        if not filters.all_wings:
            raise
        active = None
    # If all wings are read and none is active, no project's invariants always apply.
    chosen = tuple(dict.fromkeys((active, *named))) if active is not None else ()
    of_chosen = [one for name in chosen for one in shared_of(wings, name) if one != active]
    shared = tuple(dict.fromkeys(of_chosen)) if chosen else tuple(name for name in wings if wings[name].is_shared)
    listed = [one for name in chosen for one in wings[name].shared_wings or ()]
    read = tuple(dict.fromkeys((*chosen[:1], *shared, *named, *(wings if filters.all_wings else ()))))
    always = [one for one in shared if one in listed]
    if not chosen or any(wings[name].shared_wings is None for name in chosen):
        always += _matching_tracked([one for one in shared if one not in listed], wings, tracked)
    return Scope(
        wing=active,
        wings=read if chosen else tuple(wings),
        shared_wings=shared,
        binding_wings=tuple(dict.fromkeys((*chosen, *always))),
        rooms=_rooms(catalog, filters.rooms, read),
        focus=filters.focuses[0] if filters.focuses and chosen else None,
        state=ScopeState.RESOLVED if chosen else ScopeState.UNRESOLVED,
        starts_shared=active is not None and wings[active].is_shared,
    )


def project_scope(
    catalog: Catalog,
    settings: Settings,
    project: str | None,
    *,
    tracked: Callable[[], Iterable[str]],
    widely: bool = False,
) -> Scope:
    """Return the wings that a question about a project reads; `widely` adds all wings if `project` is None.

    A project that does not exist yet reads only the shared wings, and none of their invariants always applies. Raises
    AccessDeniedError for a project that the caller may not read, and for a missing one if the caller sees only some
    wings.
    """
    if project is None:
        return reading_scope(catalog, settings, Filters(all_wings=widely), tracked)
    # The same error for a hidden and for a missing project, so that it does not reveal which exist.
    if catalog.access.is_narrow and find_wing(project, catalog.wings) is None:
        raise AccessDeniedError(project)
    answer = scope_state(catalog, project)
    if answer.wing is not None:
        return resolve_scope(catalog, settings, Filters(wings=(answer.wing,)), tracked=tracked)
    shared = tuple(name for name, wing in catalog.wings.items() if wing.is_shared)
    return Scope(wing=None, wings=shared, shared_wings=shared, state=ScopeState.UNCERTAIN)


def reading_scope(
    catalog: Catalog, settings: Settings, filters: Filters, tracked: Callable[[], Iterable[str]] | None = None
) -> Scope:
    """Return the scope of a list or a search: the wings in the filters, else the active scope, else all wings."""
    wings = _wings(catalog, *filters.wings)
    if filters.wings and not filters.all_wings:
        read = tuple(dict.fromkeys(get_wing(name, wings) for name in filters.wings))
        return Scope(wing=read[0], wings=read, rooms=_rooms(catalog, filters.rooms, read))
    try:
        return resolve_scope(catalog, settings, filters, tracked=tracked)
    except AmbiguousWingError:
        rooms = _rooms(catalog, filters.rooms, wings)
        return Scope(wing=None, wings=tuple(wings), rooms=rooms, state=ScopeState.UNRESOLVED)


def _active_wing(paths: Sequence[str], wings: Mapping[str, Wing], settings: Settings, doubtful: Collection[str]) -> str:
    """Return the project wing whose `applies_to` matches the most paths; of several, the default wing or the first.

    If none matches, return the default wing, else the only readable project wing of this repository, or the only wing.
    """
    count = {
        wing.name: sum(any_match(wing.applies_to, (path,)) is not None for path in paths)
        for wing in wings.values()
        if not wing.is_shared
    }
    most = max(count.values(), default=0)
    best = [name for name in count if count[name] == most > 0]
    default = find_wing(settings.default_wing, wings) if settings.default_wing is not None else None
    if best:
        return default if default in best else best[0]
    if default is not None:
        return default
    if settings.default_wing is not None:
        raise SettingsError(f"mdmem.toml: `default_wing`: {unknown_name('wing', settings.default_wing, wings)}")
    projects = [wing.name for wing in wings.values() if not wing.is_shared and wing.name not in doubtful]
    if len(projects) == 1 or len(wings) == 1:
        return projects[0] if projects else next(iter(wings))
    listed = ", ".join(f"`{name}`" for name in (projects or wings))
    raise AmbiguousWingError(
        f"which wing is active? name one with --wing, or set `default_wing` in mdmem.toml: {listed}"
    )


def _matching_tracked(
    names: Sequence[str], wings: Mapping[str, Wing], tracked: Callable[[], Iterable[str]] | None
) -> tuple[str, ...]:
    """Return the wings whose `applies_to` is empty or matches a tracked file; all wings if no tracked file is known."""
    files = tuple(tracked()) if tracked is not None and any(wings[name].applies_to for name in names) else ()
    return tuple(
        name
        for name in names
        if not (files and wings[name].applies_to) or any_match(wings[name].applies_to, files) is not None
    )


def _rooms(catalog: Catalog, rooms: Sequence[str], wings: Iterable[str]) -> tuple[str, ...]:
    if not rooms:
        return ()
    read = frozenset(wings)
    paths = (path.split("/") for path in (*catalog.addresses, *_locked(catalog)))
    known = {parts[1] for parts in paths if parts[0] in read and len(parts) > 1}
    for room in rooms:
        if room not in known:
            raise UsageError(unknown_name("room", room, known, f" in {', '.join(sorted(read))}"))
    return tuple(dict.fromkeys(rooms))


def _wings(catalog: Catalog, *named: str | None) -> dict[str, Wing]:
    """Return the wings of the catalog, and named wings that exist but cannot be listed or are not fetched."""
    locked = {path.split("/")[0] for path in _locked(catalog)} | catalog.missing_wings
    hidden = {name: Wing(name=name) for name in named if name is not None and not locked.isdisjoint({name, "."})}
    return hidden | dict(catalog.wings)


def _locked(catalog: Catalog) -> list[str]:
    return [file.path for file in catalog.others if file.kind is FileKind.UNREADABLE]


def _all_wings(catalog: Catalog) -> dict[str, Wing]:
    """Return the wings of the catalog, and a wing for each unreadable folder and each wing that is not fetched."""
    names = (*(path.split("/")[0] for path in hidden_wings(catalog) if path != "."), *catalog.missing_wings)
    return {name: Wing(name=name) for name in names} | dict(catalog.wings)


class ScopeAnswer(Struct, frozen=True, kw_only=True):
    """How certain the scope of a project and a focus is, with a message for the caller, and similar names."""

    state: ScopeState
    wing: str | None = None
    focus_exists: bool | None = None
    message: str | None = None
    nearest: tuple[str, ...] = ()
    is_writable: bool = True

    def may_write(self, kind: str) -> bool:
        """Return whether a write is possible: the wing exists, or the write is a session, which creates the wing."""
        return self.wing is not None or (kind == "session" and self.state is ScopeState.UNCERTAIN)

    def as_json(self) -> dict[str, Any]:
        """Return the answer as JSON for MCP; `focus_exists` is left out if no focus was given."""
        focus = {} if self.focus_exists is None else {"focus_exists": self.focus_exists}
        return {
            "scope_state": self.state.value,
            "project_exists": self.wing is not None,
            **focus,
            "write_permitted": self.wing is not None and self.is_writable,
            "wing": self.wing,
            "message": self.message,
            "nearest": list(self.nearest),
        }


def scope_state(catalog: Catalog, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
    """Return how certain a scope is; a wing counts as existing even if its folder or manifest cannot be read."""
    if not project_id or not project_id.strip():
        return ScopeAnswer(state=ScopeState.UNRESOLVED, message="no `project_id` is given, so no scope is known")
    wing = find_wing(project_id, _all_wings(catalog))
    if wing is None:
        message = f"there is no wing for the project `{project_id}` yet; `save_session` creates it"
        try:
            wing_name_for(project_id, catalog)
        except UsageError as error:
            message = f"there is no wing for the project `{project_id}`, and `save_session` makes none: {error}"
        return ScopeAnswer(state=ScopeState.UNCERTAIN, focus_exists=False if focus else None, message=message)
    if not focus or any(entry.focus == focus for entry in catalog.entries.values() if entry.wing == wing):
        return ScopeAnswer(state=ScopeState.RESOLVED, wing=wing, focus_exists=bool(focus) or None)
    unread = any(path.split("/")[0] == wing for path in (*catalog.broken, *_locked(catalog)))
    doubt = ", though some of its files cannot be read" if unread else ""
    message = f"no entry of the wing `{wing}` has the focus `{focus}` yet{doubt}; a write with this focus creates it"
    return ScopeAnswer(state=ScopeState.UNCERTAIN, wing=wing, focus_exists=False, message=message)


def wing_name_for(project_id: str, catalog: Catalog) -> str:
    """Return the wing's name for a new project; raises UsageError if it is invalid or may be taken."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", project_id).casefold())
    name = "_".join(words)
    # Most systems allow at most 255 bytes for the name of a folder.
    if not name or len(name.encode("utf-8", "surrogateescape")) > 100:
        fault = "is too long" if name else "has no letter or digit"
        raise UsageError(f"`{project_id}` {fault}, so no wing can have its name; choose another `project_id`")
    wing = next((wing for wing in _all_wings(catalog).values() if wing.name.casefold() == name), None)
    if wing is not None and wing.project_id is not None and wing.project_id != project_id:
        owner = f"belongs to the project `{wing.project_id}`"
        raise UsageError(f"the wing `{wing.name}` {owner}; use another `project_id`")
    if wing is not None:
        raise UsageError(f"the wing `{wing.name}` exists already; to use it, write `{wing.name}` as `project_id`")
    if any(file.path.casefold() == name for file in catalog.others):
        raise UsageError(f"`{name}` exists already and is not a folder; use another `project_id`")
    hidden = hidden_wings(catalog)
    if hidden:
        listed = " and ".join(f"`{path}`" for path in hidden)
        raise UsageError(f"{listed} cannot be read, and may be the wing of `{project_id}`; make it readable first")
    return name
