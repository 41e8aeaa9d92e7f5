"""A new entry: from its type's template, validated, where it may stand, and what says nearly the same already."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from itertools import zip_longest
from math import log

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import LostRaceError, UsageError, taken
from mdmem.markdown.fields import compose_entry
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document, rationale_of, without_code
from mdmem.markdown.patch import set_fields
from mdmem.markdown.sentences import without_comments
from mdmem.markdown.similarity import CANDIDATES, MAY_OVERLAP, REVIEW_FROM, Subject, jaccard, words_once
from mdmem.model.entry import BODIES, Entry, EntryType, Status, WingKind, of_kind, title_of, visible
from mdmem.store.catalog import interpret
from mdmem.store.catalog.addresses import is_well_formed, why_not_on_windows
from mdmem.store.index.analysis import fold, text_terms
from mdmem.store.workspace.scope import shared_of
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.message import Verb, WriteAction
from mdmem.write.place import refuse_unmade_wing, require_wing
from mdmem.write.write import WriteOptions, WriteResult, write_once

_ID_LENGTH = 60
_PARAGRAPH = "\n\n"


class Draft(Struct, frozen=True, kw_only=True):
    """An entry as somebody means to write it; an empty body stands for the template's."""

    type: EntryType
    place: str
    title: str = ""
    status: Status = Status.DRAFT
    body: str = ""
    applies_to: tuple[str, ...] = ()


def address_of(draft: Draft) -> str:
    """Return the address a draft asks for, the entry-id from its title where it names none; raises UsageError."""
    parts = draft.place.removesuffix(".md").strip("/").split("/")
    if len(parts) == 2 and draft.title:
        parts.append(slug_of(draft.title))
    if len(parts) == 2:
        raise UsageError(f"a title is missing; write one, or an entry-id: {'/'.join(parts)}/ID")
    if len(parts) != 3:
        raise UsageError(f"`{draft.place}` is no place for an entry; write WING/ROOM/ID, or WING/ROOM with --title")
    require_names(parts)
    return "/".join(parts)


def require_names(parts: Sequence[str], *, known: Sequence[str] = ()) -> None:
    """Raise UsageError for a wing, a room or an entry-id that is no good name; one that is there already may stay."""
    for (kind, called, example), name, was in zip_longest(_KINDS[: len(parts)], parts, known[: len(parts)]):
        if name == was:
            continue
        if not is_well_formed(kind, name):
            raise UsageError(f"`{visible(name)}` is no name for {called}; write it like `{example}`")
        if why := why_not_on_windows(name):
            raise UsageError(f"`{name}` {why}, which Windows does not allow; write another name")


_KINDS = (
    ("wing", "a wing", "navigation_stack"),
    ("room", "a room", "anti-patterns"),
    ("entry", "an entry-id", "blocking-callbacks"),
)


# Latin letters that have no accent to drop, and that folding leaves as they are; `ß` is `ss` in small letters.
_LETTERS = str.maketrans({"þ": "th", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n"})


def slug_of(title: str) -> str:
    """Return an entry-id that people recognise from a title; raises UsageError for one without a letter or digit."""
    plain = fold(title.casefold()).translate(_LETTERS).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.replace("'", ""))
    slug = ""
    for word in words:
        if slug and len(slug) + len(word) > _ID_LENGTH:
            break
        slug = f"{slug}-{word}" if slug else word[:_ID_LENGTH]
    if not slug:
        raise UsageError(f"no entry-id can be made from the title `{title}`; write WING/ROOM/ID")
    return slug


def compose(draft: Draft, *, today: date) -> str:
    """Return the text of the new entry's file."""
    address = address_of(draft)
    fields = {"type": draft.type.value, "status": draft.status.value, "created_at": today.isoformat()}
    fields["title"] = " ".join(draft.title.split()) or title_of(address)
    text = compose_entry(fields, draft.body.strip("\n") or BODIES[draft.type])
    globs = [glob for glob in draft.applies_to if glob.strip()]
    if not globs:
        return text
    document = parse_document(f"{address}.md", _as_bytes(text))
    return apply_edits(document.data, set_fields(document, {"applies_to": globs})).decode()


def create(address: str, text: str) -> ChangeSet:
    """Return what writes a new entry; raises UsageError for a text that does not load as one."""
    path = f"{address}.md"
    content = _as_bytes(text)
    loaded = interpret(parse_document(path, content))
    if loaded.entry is None:
        first = loaded.findings[0]
        raise UsageError(f"the entry cannot be read: line {first.place.line}: {first.message}; {first.help}")
    return ChangeSet((Change(path, path, None, content),), actions=(WriteAction(Verb.ADD, address),))


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        # Bytes that are no UTF-8 come in from the command line and from files as lone surrogates.
        raise UsageError("the title or the text is not UTF-8; save it as UTF-8 and try again") from error


# So many entries are compared one by one; with more, the index that is there is asked.
_FEW = 200
# Words of a new text that the index is asked for: more of them find the same entries, later.
_ASKED = 40
# Of what speaks of the same subject, so many are named.
_NAMED = 3


class SimilarEntry(Struct, frozen=True):
    """An entry that says nearly the same as a new one; `similarity` is the share of words they have in common."""

    entry: Entry
    similarity: float


def create_entry(
    workspace: Workspace, address: str, text: str, options: WriteOptions, *, wing: WingKind | None = None
) -> WriteResult:
    """Write a new entry; a wing of the kind `wing` is made for it unless it is there by then.

    Raises LostRaceError where the address is taken, and what `create` and `write_once` raise.
    """
    return write_once(workspace, lambda one: _creation(one, address, text, wing), options)


def _creation(workspace: Workspace, address: str, text: str, kind: WingKind | None) -> ChangeSet:
    wing, room, _ = address.split("/")
    refuse_taken(workspace, address)
    made = require_wing(workspace, address, kind) if kind is not None else ()
    if not made:
        refuse_unmade_wing(workspace, wing)
    root = workspace.location.root
    for folder in (wing, f"{wing}/{room}"):
        if (root / folder).is_symlink():
            raise UsageError(f"{folder} is a symbolic link; entries are written inside the root only")
    change_set = create(address, text)
    return replace(change_set, changes=(*made, *change_set.changes), remarks=tuple(_new_places(workspace, wing, room)))


def _new_places(workspace: Workspace, wing: str, room: str) -> Iterator[str]:
    """Yield what a new entry makes besides itself: its wing, or a room that is called nearly as another one is."""
    root = workspace.location.root
    if not (root / wing).is_dir():
        yield f"`{wing}` is a new wing"
    elif not (root / wing / room).is_dir() and room not in workspace.settings.rooms.values():
        rooms = {path.split("/")[1] for path in workspace.catalog.addresses if path.startswith(f"{wing}/")}
        for close in get_close_matches(room, sorted(rooms.union(workspace.settings.rooms.values())), 1, _NEAR_NAME):
            yield f"`{wing}/{room}` is a new room; did you mean `{wing}/{close}`?"


# How alike two rooms' names are where one is likely a slip of the pen.
_NEAR_NAME = 0.8


def refuse_taken(workspace: Workspace, address: str) -> None:
    """Raise LostRaceError where an address is taken."""
    workspace.access.require_write(address.split("/", 1)[0])
    if (workspace.location.root / f"{address}.md").exists():
        raise LostRaceError(taken(address))


def find_near(workspace: Workspace, address: str, text: str) -> tuple[SimilarEntry, ...]:
    """Return the entries that say nearly the same as a text for an address, the nearest first, at most five.

    An index that is not there, or far behind, is not built for it: then there are none.
    """
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = interpret(document).entry
    if new is None:
        return ()
    found = []
    known = {one.address: one for one in _candidates(workspace, f"{new.title} {document.body}") if _is_alive(one)}
    for other, body in workspace.catalog.plain_bodies(tuple(known)):
        share = _similarity(new, document.body, known[other], body)
        if share >= REVIEW_FROM:
            found.append(SimilarEntry(known[other], share))
    return tuple(sorted(found, key=lambda one: (-one.similarity, one.entry.address))[:CANDIDATES])


def find_on_subject(workspace: Workspace, address: str, text: str, near: Iterable[SimilarEntry]) -> tuple[Entry, ...]:
    """Return up to three more entries that speak of what a new one is about, those of its wing and its shared wings.

    They hold most of what its title says, or its title and first paragraph, each word weighed by its rarity among the
    entries that are looked at.
    """
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = interpret(document).entry
    if new is None or not text_terms(new.title):
        return ()
    lead = f"{new.title} {without_comments(document.body).strip().partition(_PARAGRAPH)[0]}"
    beside = {address, *new.supersedes, *(one.entry.address for one in near)}
    wings = (new.wing, *shared_of(workspace.catalog.wings, new.wing))
    found = {one.address: one for one in _candidates(workspace, lead) if _is_alive(one) and one.wing in wings}
    held = {
        other: text_terms(f"{found[other].title}\n{body}")
        for other, body in workspace.catalog.plain_bodies(tuple(found))
    }
    by_title, by_lead = _shares(text_terms(new.title), held), _shares(text_terms(lead), held)
    shares = {other: max(by_title[other], by_lead[other]) for other in held}
    best = sorted((-share, other) for other, share in shares.items() if share >= MAY_OVERLAP and other not in beside)
    return tuple(found[other] for _, other in best[:_NAMED])


def _shares(asked: frozenset[str], held: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Return the share of some terms that each of some texts holds, by weight."""
    counts = Counter(term for terms in held.values() for term in terms & asked)
    weights = {term: log(1 + (len(held) + 1) / (counts[term] + 1)) for term in asked}
    whole = sum(weights.values())
    return {other: sum(weights[term] for term in terms & asked) / whole for other, terms in held.items()}


def _is_alive(entry: Entry) -> bool:
    return entry.status is not Status.DEPRECATED


def _candidates(workspace: Workspace, text: str) -> Iterable[Entry]:
    entries = workspace.catalog.entries
    if len(entries) <= _FEW:
        return entries.values()
    state = workspace.index.state(live=workspace.catalog.digests)
    if not state.usable or state.stale > _FEW:
        return ()
    alive = frozenset(entries.keys() - of_kind(entries, Status.DEPRECATED))
    question = " ".join(list(dict.fromkeys(text.split()))[:_ASKED])
    answer = workspace.find_text(question, alive)
    return (entries[match.key] for match in answer.matches[:CANDIDATES])


def _similarity(new: Entry, new_body: str, old: Entry, old_body: str) -> float:
    """Compare titles and all that they say, and as saving does where both are of one kind and wing."""
    titles = jaccard(words_once(new.title), words_once(old.title))
    if (new.type, new.wing) == (old.type, old.wing):
        pairs = ((new, new_body), (old, old_body))
        one, other = (Subject(entry.title, rationale_of(without_code(body))).words for entry, body in pairs)
        return max(titles, jaccard(one, other), _of_all(new, new_body, old, old_body))
    return max(titles, _of_all(new, new_body, old, old_body))


def _of_all(new: Entry, new_body: str, old: Entry, old_body: str) -> float:
    return jaccard(words_once(f"{new.title}\n{new_body}"), words_once(f"{old.title}\n{old_body}"))


def near_remarks(near: Iterable[SimilarEntry]) -> Iterator[str]:
    """Yield the sentence that names what says nearly the same; none where nothing does."""
    told = [f"{one.entry.address} ({one.entry.type.value}, {one.similarity:.0%})".replace("%)", " %)") for one in near]
    if told:
        yield f"much the same is said by {', '.join(told)}; `mdmem show {told[0].split(' ')[0]}` shows it"


def subject_remarks(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the sentence that names what speaks of the same subject; none where nothing does."""
    if entries:
        named = ", ".join(f"{one.address} ({one.type.value})" for one in entries)
        yield f"on this subject: {named}; `mdmem show {entries[0].address}` shows it"
