"""Compare the entries of two trees, and two bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import ne

from msgspec import Struct, field

from mdmem.markdown.parse import Document, without_code
from mdmem.model.entry import Entry, title_of
from mdmem.store.catalog.links import Reference, references_in
from mdmem.store.catalog.model import Catalog
from mdmem.store.tree import digest_of

# As for git: a file that has half of another's content was renamed.
_MOVED = 0.5


class ComparableText(Struct, frozen=True):
    """The body of an entry, with the addresses of its tree and the new addresses of moved entries."""

    address: str
    body: str
    addresses: Collection[str]
    moves: Mapping[str, str] = field(default_factory=dict)

    def references(self) -> list[Reference]:
        """Return the cross-references of the body, in order."""
        return list(references_in({self.address: without_code(self.body)}, self.addresses))

    def target(self, reference: Reference) -> str | None:
        """Return the target of a reference after the moves."""
        return self.moves.get(reference.target, reference.target) if reference.target else None


def seen_lines(body: str) -> list[str]:
    """Return the lines of a body without trailing blanks, and without blank lines at either end."""
    text = "\n".join(line.rstrip() for line in body.split("\n")).strip("\n")
    return text.split("\n") if text else []


def says_the_same(before: ComparableText, after: ComparableText) -> bool:
    """Return whether nothing changed but trailing blanks, links that follow a move, and links without a target."""
    if seen_lines(before.body) == seen_lines(after.body):
        return True
    old, new = before.references(), after.references()
    if not old or len(old) != len(new) or _masked(before.body, old) != _masked(after.body, new):
        return False
    for one, other in zip(old, new, strict=True):
        meant, means = before.target(one), after.target(other)
        is_same = meant == means if meant is not None else means is not None or one.link.target == other.link.target
        if not is_same:
            return False
    return True


def _masked(body: str, references: list[Reference]) -> list[str]:
    for reference in reversed(references):
        link = reference.link
        body = f"{body[: link.offset]}\0{body[link.offset + link.width :]}"
    return seen_lines(body)


def first_difference(before: str, after: str) -> tuple[int, str]:
    """Return the first line of the second body that differs from the first: its index, and its text.

    If lines were only removed at the end, it is the last remaining line.
    """
    old, new = seen_lines(before), seen_lines(after)
    pairs = enumerate(zip(old, new, strict=False))
    number = next((index for index, (one, other) in pairs if one != other), min(len(old), len(new)))
    number = next((index for index in range(number, len(new)) if new[index]), max(0, len(new) - 1))
    blank = next((index for index, line in enumerate(after.split("\n")) if line.strip()), 0)
    return number + blank, new[number] if new else ""


# The fields with content, besides title and links, and those that limit where an entry applies.
BINDING_FIELDS = (
    "applies_to",
    "trigger",
    "repeatable_steps",
    "exclusions",
    "objective",
    "actions_taken",
    "decisions_made",
    "open_items",
    "next_actions",
    "entity",
)


class Changed(Struct, frozen=True):
    """One entry before and after a change, at one address or two, with the bodies of its files."""

    before: Entry
    after: Entry
    body_before: str
    body_after: str
    keeps_text: bool

    @property
    def keeps_title(self) -> bool:
        """Return whether the stated title did not change; a title made from the address moves with it."""
        before, after = self.before, self.after
        is_same = before.title == after.title or _stated_title(before) == _stated_title(after)
        return is_same or "title" in after.unread

    @property
    def is_corrected(self) -> bool:
        """Return whether the change is marked as editorial."""
        at = self.after.editorial_at
        return (at is not None and at != self.before.editorial_at) or "editorial_at" in self.after.unread

    def altered(self) -> tuple[str, ...]:
        """Return the binding fields that differ, of those that can be read on both sides."""
        unread = {*self.before.unread, *self.after.unread}
        return tuple(
            name
            for name in BINDING_FIELDS
            if name not in unread and getattr(self.before, name) != getattr(self.after, name)
        )


class Changes(Struct, frozen=True):
    """The entries that a change altered or moved, those it added, and those it removed, by address."""

    changed: tuple[Changed, ...] = ()
    added: tuple[Entry, ...] = ()
    gone: tuple[Entry, ...] = ()

    def activated(self) -> Iterator[tuple[Entry | None, Entry]]:
        """Yield each entry that became active or under review, with what it was; None if it is new."""
        yield from ((None, entry) for entry in self.added if entry.is_in_force)
        for one in self.changed:
            if one.after.is_in_force and not one.before.is_in_force:
                yield one.before, one.after


def changes_between(
    before: Catalog, after: Catalog, documents: Mapping[str, Document], *, left_out: frozenset[str] = frozenset()
) -> Changes:
    """Return the changes between two trees; only entries that differ are read from the first.

    `documents` are the files of the second by address; nothing is known about the addresses of `left_out`.
    """
    digests = before.file_digests
    common = (documents.keys() & before.entries.keys() & after.entries.keys()) - left_out
    differing = sorted(one for one in common if digests.get(f"{one}.md") != digest_of(documents[one].data))
    missing = _outside_closed(before.entries.keys() - after.addresses - left_out, after)
    fresh = _outside_closed(documents.keys() - before.addresses - left_out, before)
    read = before.documents([*differing, *missing])
    bodies = {address: document.body for address, document in read if document.fields is not None}
    moves = _find_moves(before, after, documents, bodies, missing, fresh)
    changed = []
    for old, new in sorted([*((address, address) for address in differing), *moves.items()]):
        was, now = before.entries[old], after.entries.get(new)
        # Other bytes may mean the same: a comment in the front matter, or digests of another kind.
        if old not in bodies or now is None or (was == now and bodies[old] == documents[new].body):
            continue
        old_text = ComparableText(old, bodies[old], before.addresses, moves)
        new_text = ComparableText(new, documents[new].body, after.addresses)
        changed.append(Changed(was, now, old_text.body, new_text.body, says_the_same(old_text, new_text)))
    moved = set(moves.values())
    return Changes(
        tuple(changed),
        tuple(after.entries[address] for address in fresh if address in after.entries and address not in moved),
        tuple(before.entries[address] for address in missing if address not in moves),
    )


def _outside_closed(addresses: Collection[str], catalog: Catalog) -> list[str]:
    """Return, sorted, the addresses that a tree certainly does not have: those that no closed folder may hide."""
    hidden = tuple(f"{finding.place.path}/" for finding in catalog.closed)
    return sorted(address for address in addresses if not address.startswith(hidden))


def _find_moves(
    before: Catalog,
    after: Catalog,
    documents: Mapping[str, Document],
    bodies: Mapping[str, str],
    missing: Sequence[str],
    fresh: Sequence[str],
) -> dict[str, str]:
    """Return the new address of each moved entry: one with the same words, free if possible, else with half of them.

    The checks then report the difference as a change of the text, as in a file that did not move.
    """

    def has_type(address: str, moved: Entry) -> bool:
        # A file that cannot be parsed may be the entry all the same.
        entry = after.entries.get(address)
        return entry is None or entry.type is moved.type

    by_words: dict[str, list[str]] = {}
    for address in fresh if missing else ():
        words = _words(documents[address].body, after.entries.get(address))
        by_words.setdefault(words, []).append(address)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for old in missing:
        entry = before.entries[old]
        words = _words(bodies.get(old, ""), entry)
        same = [new for new in by_words.get(words, ()) if words and has_type(new, entry)]
        if same:
            # The nearest address first: that of the same name, in the same room, in the same wing.
            parts = old.split("/")[::-1]
            ordered = sorted(same, key=lambda new: ([*map(ne, parts, new.split("/")[::-1])], new))
            found[old] = next((new for new in ordered if new not in taken), ordered[0])
            taken.add(found[old])
    edited = [old for old in missing if old not in found and bodies.get(old, "").strip()]
    free = {new: Counter(documents[new].body.split()) for new in fresh if edited and new not in taken}
    for old in edited:
        was, entry, name = Counter(bodies[old].split()), before.entries[old], old.split("/")[-1]
        successors = {new for new in free if new in after.entries and old in after.entries[new].supersedes}
        may_be = [new for new in free if has_type(new, entry) and new not in successors]
        # The same name first: if a whole wing moved, not every pair has to be compared.
        for these in ([new for new in may_be if new.split("/")[-1] == name], may_be):
            nearest = max(these, key=lambda new: _likeness(was, free[new]), default=None)
            if nearest is not None and _likeness(was, free[nearest]) >= _MOVED:
                found[old] = nearest
                del free[nearest]
                break
    return found


def _words(body: str, entry: Entry | None) -> str:
    """Return the words that identify a moved entry: its body, else its fields; empty if it has none."""
    text = " ".join(body.split())
    if text or entry is None:
        return text
    stated = [(name, getattr(entry, name)) for name in BINDING_FIELDS if getattr(entry, name)]
    return f"\0{stated}" if stated else ""


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of the longer of two texts that the other has, by words."""
    longest = max(one.total(), other.total())
    # Counting common words takes ten times as long.
    is_possible = min(one.total(), other.total()) >= _MOVED * longest
    return (one & other).total() / longest if longest and is_possible else 0


def _stated_title(entry: Entry) -> str | None:
    return None if entry.title == title_of(entry.address) else entry.title
