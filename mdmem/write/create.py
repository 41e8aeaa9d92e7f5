"""Create entries: their address, text and wing, and the entries that they supersede."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from itertools import count, zip_longest
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.case import written_links
from mdmem.checks.fixes import deprecation_fields, fields_of, supersede_command
from mdmem.checks.rules.supersession import supersession_across_types
from mdmem.disk import read_regular
from mdmem.errors import LostRaceError, UsageError, taken
from mdmem.markdown.front_matter import scalar
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import Document, parse_document, without_code
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Entry, EntryType, Status, Wing, WingKind, title_of
from mdmem.model.fields import BODIES, INHERITED, PLACEHOLDERS
from mdmem.model.text import first_of, visible
from mdmem.store.catalog.addresses import (
    MANIFEST,
    full_address,
    is_prose,
    is_well_formed,
    load_entry,
    well_formed,
    why_not_on_windows,
)
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.process import Repository, setting
from mdmem.store.index.analysis import fold
from mdmem.store.settings import Settings
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.scope import AmbiguousWingError, Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Value, Verb, WriteAction, patched
from mdmem.write.records import entry_text, read_back
from mdmem.write.write import catalog_after

_ID_LENGTH, _ID_BYTES = 60, 120
# Latin letters that Unicode normalization does not turn into ASCII letters.
_LETTERS = str.maketrans({"þ": "th", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n"})
_NAMES = (
    ("wing", "a wing", "navigation_stack"),
    ("room", "a room", "anti-patterns"),
    ("entry", "an entry-id", "blocking-callbacks"),
)
# For each type, the kind of record whose room (folder) in the settings is used.
ROOM_KINDS = {
    EntryType.INVARIANT: "decision",
    EntryType.DECISION: "decision",
    EntryType.PATTERN: "pattern",
    EntryType.NOTE: "context",
}


class Draft(Struct, frozen=True, kw_only=True):
    """The values for a new entry. An empty body means the body of the template. `fields` are more fields.

    `old` is the name of the superseded entry, if any, and `reason` says why. `new_wing` is the kind of a wing to make.
    """

    type: EntryType
    place: str
    title: str = ""
    status: Status = Status.DRAFT
    body: str = ""
    applies_to: tuple[str, ...] = ()
    fields: Mapping[str, Value] = {}
    old: str | None = None
    reason: str = ""
    new_wing: WingKind | None = None


def address_of(draft: Draft) -> str:
    """Return the address for a new entry, with an entry-id from the title if needed. Raises UsageError if invalid."""
    parts = draft.place.removesuffix(".md").strip("/").split("/")
    if len(parts) == 2 and draft.title:
        parts.append(_slug_of(draft.title))
    if len(parts) == 2:
        raise UsageError(f"the title is missing; give a title, or the full address {'/'.join(parts)}/ID")
    if len(parts) != 3:
        raise UsageError(f"`{draft.place}` is not a place for an entry; write WING/ROOM/ID, or WING/ROOM with --title")
    require_names(parts)
    return "/".join(parts)


def require_names(parts: Sequence[str], *, known: Sequence[str] = ()) -> None:
    """Raise UsageError for an invalid name of a wing, room or entry, unless it equals the old name in `known`."""
    for (kind, called, example), name, was in zip_longest(_NAMES[: len(parts)], parts, known[: len(parts)]):
        if name == was:
            continue
        if not is_well_formed(kind, name):
            better = well_formed(kind, name) or example
            raise UsageError(f"`{visible(name)}` is not a valid name for {called}; write it like `{better}`")
        if why := why_not_on_windows(name):
            raise UsageError(f"`{name}` {why}, which Windows does not allow; write another name")


def _slug_of(title: str) -> str:
    """Return a readable entry-id for a title, in ASCII if possible. Raises UsageError if it has no letter or digit."""
    plain = fold(title.casefold()).translate(_LETTERS).encode("ascii", "ignore").decode()
    slug = ""
    for word in re.findall(r"[a-z0-9]+", plain.replace("'", "")):
        if slug and len(slug) + len(word) > _ID_LENGTH:
            break
        slug = f"{slug}-{word}" if slug else word[:_ID_LENGTH]
    if not slug:
        folded = well_formed("entry", unicodedata.normalize("NFC", title).casefold()) or ""
        slug = folded.encode()[:_ID_BYTES].decode(errors="ignore").strip("-")
    if not is_well_formed("entry", slug):
        hint = "write a title with letters, or the full address WING/ROOM/ID"
        raise UsageError(f"no entry-id can be made from the title `{title}`; {hint}")
    return slug


def free_address(workspace: Workspace, wing: str, room: str, *, kind: str, title: str) -> str:
    """Return an unused address with an entry-id made from a title, or else from `kind`; a taken one gets a number."""
    try:
        name = _slug_of(title)
    except UsageError:
        name = ""
    if not name or why_not_on_windows(name) or is_prose(name):
        name = f"{kind}-{name}" if name else kind
    # On a file system that ignores case, addresses that differ only in case are the same file.
    known, files = {address.casefold() for address in workspace.catalog.addresses}, workspace.location.root
    plain = f"{wing}/{room}/{name}"
    numbered = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    return next(one for one in numbered if one.casefold() not in known and not os.path.lexists(files / f"{one}.md"))


def room_for(settings: Settings, kind: str, room: str | None) -> str:
    """Return the room for a kind of record, from the settings if none is given. Raises UsageError if it is invalid."""
    if room is None:
        return settings.rooms[kind]
    if not is_well_formed("room", room) or why_not_on_windows(room):
        raise UsageError(f"`room`: `{visible(room)}` is not a valid name for a room; write it like `anti-patterns`")
    return room


def place_of(workspace: Workspace, type_: EntryType, typed: str | None, *, is_new: bool = False) -> str:
    """Return the typed `wing/room` or address; the default is the active wing, and the room for the type.

    Raises UsageError for a wing that does not exist, unless `is_new`.
    """
    if typed is not None and "/" in typed:
        return typed
    room, wings = workspace.settings.rooms[ROOM_KINDS[type_]], workspace.catalog.wings
    if typed in wings or (typed and is_new):
        return f"{typed}/{room}"
    try:
        wing = resolve_scope(workspace.catalog, workspace.settings, Filters()).wing
    except AmbiguousWingError as error:
        listed = ", ".join(f"`{name}`" for name in wings)
        hint = "write WING/ROOM, or set `default_wing` in mdmem.toml"
        raise UsageError(f"which wing is meant? {hint}: {listed}") from error
    if wing is None:
        raise UsageError("there is no wing yet; `mdmem init --wing NAME` makes one")
    if typed is not None:
        raise UsageError(f"there is no wing `{typed}`; write the place as {wing}/{room}, or another WING/ROOM")
    return f"{wing}/{room}"


def require_wing(workspace: Workspace, place: str, new: WingKind | None = None) -> tuple[Change, ...]:
    """Return the changes that make a missing wing of kind `new`; if `new` is None, a missing wing raises UsageError."""
    wing, room, *_ = place.split("/")
    wings, root = workspace.catalog.wings, workspace.location.root
    manifest = f"{wing}/{MANIFEST}"
    if wing in wings:
        return ()
    if (root / manifest).is_file():
        refuse_missing_wing(workspace, wing)
        # Another process created the wing in the meantime. The plan depends on the manifest but does not write it.
        there = read_regular(root / manifest)
        return (Change(manifest, manifest, there, there),)
    if new is not None:
        text = manifest_text(wing, workspace.location.repository, kind=new)
        return (Change(manifest, manifest, None, text.encode()),)
    if not _is_at_top(workspace) and (root / wing).is_dir():
        return ()
    close = [f"{name}/{room}" for name in get_close_matches(wing, wings, n=3, cutoff=0.5)]
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise UsageError(f"there is no wing `{wing}`; {hint}`--new-wing` makes one")


def refuse_missing_wing(workspace: Workspace, wing: str) -> None:
    """Raise UsageError if a folder at the top of the repository has no manifest, so that it is not read as a wing."""
    if not _is_at_top(workspace) or wing in workspace.catalog.wings:
        return
    if wing not in workspace.reread().catalog.wings:
        hint = f"first write {wing}/README.md with `kind: project` between two lines of `---`"
        raise UsageError(f"the folder `{wing}` has no manifest, so it is not a wing here; {hint}")


def _is_at_top(workspace: Workspace) -> bool:
    return workspace.location.repository is not None and workspace.location.under == ""


def refuse_taken(workspace: Workspace, address: str) -> None:
    """Raise LostRaceError if a file has this address, and AccessDeniedError if the caller may not write to its wing."""
    workspace.access.require_write(address.split("/", 1)[0])
    if (workspace.location.root / f"{address}.md").exists():
        raise LostRaceError(taken(address))


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        # Bytes from the command line or a file that are not UTF-8 became lone surrogates.
        raise UsageError("the title or the text is not UTF-8; save it as UTF-8 and try again") from error


def plan_entry(workspace: Workspace, address: str, text: str, *, wing: WingKind | None = None) -> ChangeSet:
    """Return the changes that write an entry; with `wing`, a missing wing of this kind is made, too.

    Raises LostRaceError if the address is taken, and UsageError if the text or the place is invalid.
    """
    name, room, _ = address.split("/")
    refuse_taken(workspace, address)
    made = require_wing(workspace, address, wing) if wing is not None else ()
    if not made:
        refuse_missing_wing(workspace, name)
    for folder in (name, f"{name}/{room}"):
        if (workspace.location.root / folder).is_symlink():
            raise UsageError(
                f"{folder} is a symbolic link, and mdmem writes no entry through a link; choose another place"
            )
    path, content = f"{address}.md", _as_bytes(text)
    loaded = load_entry(parse_document(path, content))
    if loaded.entry is None:
        first = loaded.findings[0]
        raise UsageError(f"the entry cannot be read: line {first.place.line}: {first.message}; {first.help}")
    return ChangeSet(
        (*made, Change(path, path, None, content)),
        actions=(WriteAction(Verb.ADD, address),),
        remarks=() if (workspace.location.root / name).is_dir() else (f"`{name}` is a new wing",),
    )


def manifest_text(wing: str, repository: Repository | None, *, kind: WingKind = WingKind.PROJECT) -> str:
    """Return the text of a new wing's README.md, with git's user as the owner if git knows one."""
    name, email = (repository and setting(repository, f"user.{one}") for one in ("name", "email"))
    owners = f"owners: [{scalar(f'{name} <{email}>' if email else name)}]\n" if name else ""
    is_own = kind is WingKind.PROJECT
    about = "The rules and decisions of this project." if is_own else "Rules and decisions that all projects share."
    return f"---\nkind: {kind}\n{owners}---\n\n# {wing}\n\n{about}\n"


_SHOWN = 5


def join_addresses(addresses: Sequence[str]) -> str:
    """Return addresses as part of a sentence. Only the first five are listed."""
    if len(addresses) > _SHOWN:
        return first_of(addresses, _SHOWN)
    return " and ".join(filter(None, (", ".join(addresses[:-1]), addresses[-1])))


def refuse_unfilled(document: Document) -> None:
    """Raise UsageError if an entry still contains a placeholder of its template."""
    body = without_code(document.body)
    left = next((one for one in sorted(PLACEHOLDERS) if f"<{one}>" in body), None)
    if left is not None:
        address = document.path.removesuffix(".md")
        raise UsageError(f"{address} cannot be active yet: replace the template's `<{left}>`")


def refuse_unfit(catalog: Catalog, old: Entry, new: Entry, *, instead: str) -> None:
    """Raise UsageError if `new` cannot supersede `old`, and LostRaceError if a third entry already supersedes `old`.

    `instead` is the advice in the LostRaceError; its `{head}` becomes the address of the third entry.
    """
    lineage = catalog.lineage
    if old.address == new.address:
        raise UsageError(f"{old.address} cannot supersede itself")
    if new.address in {*old.supersedes, *lineage.linked_ancestors(old.address)}:
        raise UsageError(f"{old.address} supersedes {new.address}, so {new.address} cannot supersede {old.address}")
    if new.status is Status.DEPRECATED:
        raise UsageError(
            f"{new.address} is deprecated, so it cannot supersede anything; `mdmem why {quote(new.address)}` shows why"
        )
    if new.address in lineage.successors:
        newer = join_addresses(lineage.heads(new.address) or lineage.successors[new.address])
        raise UsageError(f"{new.address} is superseded, too; use {newer} instead")
    if old.status is new.status is Status.DRAFT:
        choice = f"type `mdmem edit {quote(old.address)}` or `mdmem deprecate {quote(old.address)} --reason TEXT`"
        raise UsageError(f"{old.address} is a draft, and a draft can supersede only current entries; {choice}")
    own, other = (catalog.wings.get(one.wing, Wing(name=one.wing)) for one in (new, old))
    if other.is_shared and not own.is_shared:
        help_ = f"write `overrides: {old.address}` and a `reason` into {new.address}"
        raise UsageError(f"{old.address} applies to other projects, too; to replace it only in {own.name}, {help_}")
    if own.name != other.name and (other.is_shared or not own.is_shared):
        hint = f"put the new entry into {other.name}" + ("" if other.is_shared else ", or into a shared wing")
        raise UsageError(f"{new.address} cannot supersede {old.address}, which is in another wing; {hint}")
    is_lost = old.type is EntryType.INVARIANT and new.type is not EntryType.INVARIANT
    if is_lost and supersession_across_types.code not in dict(new.ignore):
        meant = f"or write `ignore: {{{supersession_across_types.code}: REASON}}` into it"
        raise UsageError(
            f"a {new.type} cannot replace the invariant {old.address}; make the new entry an invariant, {meant}"
        )
    others = [address for address in lineage.successors.get(old.address, ()) if address != new.address]
    if not others:
        if one_sided := [one for one in lineage.claimed_by(old.address) if one != new.address]:
            advice = instead.replace("{head}", quote(one_sided[0]))
            raise LostRaceError(f"`supersedes` of {join_addresses(one_sided)} already contains {old.address}; {advice}")
        return
    # A link in only one of the two files is no reason to do nothing.
    is_one_sided = old.address in new.supersedes and new.address not in old.superseded_by
    if new.address in lineage.descendants(old.address) and not is_one_sided:
        raise UsageError(
            f"{new.address} supersedes {old.address} already, through {join_addresses(others)}; nothing has to be done"
        )
    heads = [head for head in lineage.heads(old.address) if head not in (old.address, new.address)]
    if not heads:
        raise UsageError(
            f"{old.address} was superseded by {join_addresses(others)}, which is deprecated now; supersede the latter"
        )
    advice = instead.replace("{head}", quote(heads[0]))
    raise LostRaceError(f"{old.address} is superseded by {join_addresses(heads)} already; {advice}")


def patch_superseded(catalog: Catalog, old: Entry, new: str, *, today: date) -> Change:
    """Return the change that deprecates an entry and links the entry at `new` as a successor."""
    links = [*written_links(catalog.document(old.path), "superseded_by"), new]
    return patched(catalog, old.path, deprecation_fields(old, today, by=() if new in old.superseded_by else links))


def plan_supersession(workspace: Workspace, name: str, *, by: str, reason: str) -> ChangeSet:
    """Return the changes by which the entry `by` supersedes another; the default reason is that of `by` itself."""
    catalog, address, by = workspace.catalog, resolve_name(workspace, name), resolve_name(workspace, by)
    old, new = catalog.entries[address], catalog.entries[by]
    why = required_reason(reason if reason.strip() else new.reason or "", "say why it is superseded")
    instead = f"nothing was written: `{supersede_command('{head}', new)}` replaces {{head}}"
    refuse_unfit(catalog, old, new, instead=instead)
    document = catalog.document(new.path)
    links, given = _links_with(catalog, document, address), fields_of(document).get("reason")
    values: dict[str, Value] = {"supersedes": links, **({} if given else {"reason": why})}
    remarks = []
    if given and given != why:
        remarks.append(f"{new.address} keeps its own reason: {new.reason or 'one that cannot be read'}")
    if passed := [link for link in written_links(document, "supersedes") if link not in links]:
        remarks.append(f"{new.address} no longer lists {join_addresses(passed)}, which {old.address} replaced")
    change = patched(catalog, new.path, values)
    change_set = _superseding(catalog, [old], new, change=change, reason=why, today=workspace.today)
    if new.status is not Status.DRAFT:
        # Entries that only `new` and `old` listed, and that `new` no longer lists, must list `old`.
        older = (catalog.entries[one] for one in catalog.lineage.predecessors.get(address, ()) if one in new.supersedes)
        left = (one for one in older if not one.superseded_by)
        ends = [patch_superseded(catalog, one, address, today=workspace.today) for one in left]
        change_set = replace(change_set, changes=(*change_set.changes, *ends))
    return replace(change_set, remarks=(*remarks, *change_set.remarks))


def _superseding(
    catalog: Catalog, olds: Sequence[Entry], new: Entry, *, change: Change, reason: str, today: date
) -> ChangeSet:
    """Return a complete supersession, including the change of the newer entry's file. A draft deprecates nothing."""
    if new.status is Status.DRAFT:
        action = WriteAction(Verb.ADD if change.before is None else Verb.UPDATE, new.address)
        until = (f"{old.address} stays as it is until `mdmem approve {quote(new.address)}`" for old in olds)
        return ChangeSet((change,), actions=(action,), reason=reason, remarks=tuple(until))
    # Write the newer file first. After a crash, `check --fix` can complete the one-sided supersession.
    return ChangeSet(
        (change, *(patch_superseded(catalog, old, new.address, today=today) for old in olds)),
        actions=tuple(WriteAction(Verb.SUPERSEDE, old.address, new.address) for old in olds),
        supersedes=tuple(old.address for old in olds),
        reason=reason,
    )


def required_reason(reason: str, request: str) -> str:
    """Return a reason on one line. If it is empty, raises UsageError with the `request`, such as `say why`."""
    if not reason.strip():
        raise UsageError(f"{request}: --reason TEXT")
    return " ".join(reason.split())


def inherited_fields(old: Entry, type_: EntryType) -> dict[str, Value]:
    """Return the fields, such as `applies_to`, that a new entry copies from the entry that it supersedes."""
    # A label is valid only for its type.
    names = (name for name in INHERITED if name != "label" or old.type is type_)
    return {name: value for name in names if (value := getattr(old, name))}


def _links_with(catalog: Catalog, document: Document, old: str) -> list[str]:
    """Return the `supersedes` links of a newer entry with one more link, in the form in which its file writes them.

    Ancestors of the older entry are left out, unless the newer entry superseded them itself. So a draft that another
    entry overtook can come after that entry.
    """
    near = document.path.removesuffix(".md")
    passed = {one for one in catalog.lineage.ancestors(old) if near not in catalog.entries[one].superseded_by}
    meant = {link: full_address(link, near, catalog.addresses) for link in written_links(document, "supersedes")}
    kept = [link for link, address in meant.items() if address not in passed]
    return kept if old in meant.values() else [*kept, old]


_INSTEAD = (
    "nothing was written: replace that one with `mdmem supersede {head} --title TEXT --body TEXT --reason TEXT`, "
    "or add to it with `mdmem edit {head}`"
)


def new_text(workspace: Workspace, draft: Draft, *, today: date) -> tuple[str, str]:
    """Return address and text of a new entry, for a person to edit.

    A successor copies the fields of `inherited_fields`, except `applies_to` if the draft has its own, and `owner` if
    the successor is active at once. Raises the errors of `plan_new` that can be found before the text is edited.
    """
    address, old = address_of(draft), resolve_name(workspace, draft.old) if draft.old is not None else None
    catalog = catalog_after(workspace, require_wing(workspace, address, draft.new_wing))
    if address == old:
        raise UsageError(f"the new entry would have the address of the old one, {old}; use another --title or --place")
    refuse_taken(workspace, address)
    more = dict[str, Value]()
    if old is not None:
        entry, why = catalog.entries[old], required_reason(draft.reason, "say why it is superseded")
        meant = Entry(address=address, type=draft.type, status=draft.status, title=draft.title)
        refuse_unfit(catalog, entry, meant, instead=_INSTEAD)
        more = inherited_fields(entry, draft.type) | {"supersedes": [old], "reason": why}
        if draft.status is Status.ACTIVE:
            # Nobody else has seen the text of a new active entry, so do not name the older owner as responsible for it.
            more.pop("owner", None)
    more |= draft.fields
    if draft.applies_to:
        # An empty glob means that the entry is about no files in particular.
        more["applies_to"] = [glob for glob in draft.applies_to if glob.strip()]
    fields = {"type": draft.type.value, "status": draft.status.value, "created_at": today.isoformat()}
    fields["title"] = " ".join(draft.title.split()) or title_of(address)
    text = entry_text(fields, draft.body.strip("\n") or BODIES[draft.type])
    document = parse_document(f"{address}.md", _as_bytes(text))
    return address, apply_edits(document.data, set_fields(document, more)).decode()


def plan_new(workspace: Workspace, draft: Draft, address: str, text: str) -> ChangeSet:
    """Return the changes that write a draft's text, which supersedes `old` and all other entries that the text lists.

    If the draft has no `old`, no other entry changes. Raises LostRaceError if one of the others is already superseded,
    or if the address is taken. Raises UsageError if the text cannot be parsed, or if the new entry may not supersede
    one of the others.
    """
    replaced = resolve_name(workspace, draft.old) if draft.old is not None else None
    planned = plan_entry(workspace, address, text, wing=draft.new_wing)
    if replaced is None:
        return planned
    *made, created = planned.changes
    catalog, why = catalog_after(workspace, made), required_reason(draft.reason, "say why it is superseded")
    document = parse_document(created.to, created.after or b"")
    status = fields_of(document).get("status")
    if status not in (Status.DRAFT.value, Status.ACTIVE.value):
        raise UsageError(f"a new entry starts as `draft` or `active`, not as `{status}`")
    if status == Status.ACTIVE.value:
        refuse_unfilled(document)
    values: dict[str, Value] = {"supersedes": _links_with(catalog, document, replaced)}
    if not fields_of(document).get("reason"):
        values["reason"] = why
    entry, document = read_back(address, apply_edits(document.data, set_fields(document, values)), "entry")
    links = (full_address(one, address, catalog.addresses) for one in written_links(document, "supersedes"))
    olds = [catalog.entries[link] for link in dict.fromkeys(links) if link is not None and link in catalog.entries]
    for one in olds:
        refuse_unfit(catalog, one, entry, instead=_INSTEAD)
    change = Change(entry.path, entry.path, None, document.data)
    change_set = _superseding(catalog, olds, entry, change=change, reason=why, today=workspace.today)
    return replace(change_set, changes=(*made, *change_set.changes))
