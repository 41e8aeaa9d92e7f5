"""Find the entries that were changed, added, removed or moved between two trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter, ne

from msgspec import Struct

from mdmem.markdown.parse import Document, with_masked_targets, without_code
from mdmem.model.entry import Entry, title_of
from mdmem.model.fields import BINDING_FIELDS
from mdmem.record import grouped
from mdmem.store.catalog.links import Reference, references_in
from mdmem.store.catalog.model import Catalog
from mdmem.store.tree import digest_of

# Like git, count a file as renamed if at least half of its content is the same.
_MOVED = 0.5


class ComparableText(Struct, frozen=True):
    """The body of an entry, all addresses of its tree, and the moved entries (new address by old address)."""

    address: str
    body: str
    addresses: Collection[str]
    moves: Mapping[str, str] = {}


def significant_lines(body: str) -> list[str]:
    """Return the lines of a body without trailing spaces, and without blank lines at the beginning and the end."""
    text = "\n".join(line.rstrip() for line in body.split("\n")).strip("\n")
    return text.split("\n") if text else []


def has_same_text(before: ComparableText, after: ComparableText) -> bool:
    """Return whether two bodies differ only in trailing spaces, links to moved entries and repaired broken links."""
    if significant_lines(before.body) == significant_lines(after.body):
        return True
    texts = ({one.address: without_code(one.body)} for one in (before, after))
    old, new = (list(references_in(*one)) for one in zip(texts, (before.addresses, after.addresses), strict=True))
    if not old or len(old) != len(new) or _masked(before.body, old) != _masked(after.body, new):
        return False
    return all(
        before.moves.get(one.target, one.target) == other.target
        if one.target is not None
        else other.target is not None or one.link.target == other.link.target
        for one, other in zip(old, new, strict=True)
    )


def _masked(body: str, references: list[Reference]) -> list[str]:
    return significant_lines(with_masked_targets(body, (one.link for one in references)))


def first_difference(before: str, after: str) -> tuple[int, str]:
    """Return index and text of the first line of `after` that differs and is not blank, or else of its last line."""
    old, new = significant_lines(before), significant_lines(after)
    pairs = enumerate(zip(old, new, strict=False))
    number = next((index for index, (one, other) in pairs if one != other), min(len(old), len(new)))
    number = next((index for index in range(number, len(new)) if new[index]), max(0, len(new) - 1))
    blank = next((index for index, line in enumerate(after.split("\n")) if line.strip()), 0)
    return number + blank, new[number] if new else ""


class Changed(Struct, frozen=True):
    """One entry before and after a change, with both bodies; `keeps_text` says that only spaces and links differ."""

    before: Entry
    after: Entry
    body_before: str
    body_after: str
    keeps_text: bool

    @property
    def keeps_title(self) -> bool:
        """Return whether the title is unchanged; a title made from the address, or invalid now, counts as unchanged."""
        both = (self.before, self.after)
        stated = (None if one.title == title_of(one.address) else one.title for one in both)
        return both[0].title == both[1].title or len(set(stated)) == 1 or "title" in self.after.unread

    @property
    def is_corrected(self) -> bool:
        """Return whether the change is marked as one of wording only: `editorial_at` is new or invalid."""
        at = self.after.editorial_at
        return (at is not None and at != self.before.editorial_at) or "editorial_at" in self.after.unread

    def altered(self) -> tuple[str, ...]:
        """Return the changed fields among BINDING_FIELDS; a field that is invalid before or after is left out."""
        unread = {*self.before.unread, *self.after.unread}
        return tuple(
            name
            for name in BINDING_FIELDS
            if name not in unread and getattr(self.before, name) != getattr(self.after, name)
        )


class Changes(Struct, frozen=True):
    """The entries that were changed or moved, that were added, and that were removed, each sorted by address."""

    changed: tuple[Changed, ...] = ()
    added: tuple[Entry, ...] = ()
    gone: tuple[Entry, ...] = ()

    def activated(self) -> Iterator[tuple[Entry | None, Entry]]:
        """Yield each entry that became active or under review, after its earlier version or, if it is new, None."""
        yield from ((None, entry) for entry in self.added if entry.is_in_force)
        for one in self.changed:
            if one.after.is_in_force and not one.before.is_in_force:
                yield one.before, one.after


def changes_between(
    before: Catalog, after: Catalog, documents: Mapping[str, Document], *, left_out: frozenset[str] = frozenset()
) -> Changes:
    """Return the changes between two trees, without the addresses `left_out`; `documents` are the files of `after`.

    An entry that moved to one of these addresses is not gone, and links may follow it.
    """
    digests = before.file_digests
    common = (documents.keys() & before.entries.keys() & after.entries.keys()) - left_out
    differing = sorted(one for one in common if digests.get(f"{one}.md") != digest_of(documents[one].data))
    missing = _outside_closed(before.entries.keys() - after.addresses - left_out, after)
    fresh = _outside_closed(documents.keys() - before.addresses, before)
    read = before.documents([*differing, *missing])
    bodies = {address: document.body for address, document in read if document.fields is not None}
    gone = {address: (before.entries[address], bodies.get(address, "")) for address in missing}
    moves = _find_moves(gone, {address: (after.entries.get(address), documents[address].body) for address in fresh})
    changed = []
    for old, new in sorted([*((address, address) for address in differing), *moves.items()]):
        was, now = before.entries[old], after.entries.get(new)
        # Files with different hashes may be the same entry, for example if only a comment in the front matter differs.
        if old not in bodies or now is None or new in left_out or (was == now and bodies[old] == documents[new].body):
            continue
        old_text = ComparableText(old, bodies[old], before.addresses, moves)
        new_text = ComparableText(new, documents[new].body, after.addresses)
        changed.append(Changed(was, now, old_text.body, new_text.body, has_same_text(old_text, new_text)))
    known = left_out.union(moves.values())
    return Changes(
        tuple(changed),
        tuple(after.entries[address] for address in fresh if address in after.entries and address not in known),
        tuple(before.entries[address] for address in missing if address not in moves),
    )


def _outside_closed(addresses: Collection[str], catalog: Catalog) -> list[str]:
    """Return the sorted addresses that are certainly not in a tree, because no unreadable folder may contain them."""
    hidden = tuple(f"{finding.place.path}/" for finding in catalog.closed)
    return sorted(address for address in addresses if not address.startswith(hidden))


def _find_moves(
    missing: Mapping[str, tuple[Entry, str]], fresh: Mapping[str, tuple[Entry | None, str]]
) -> dict[str, str]:
    """Return the new address of each moved entry by its old address, from the entries and bodies on both sides.

    An entry moved to a file with the same words, else to the most similar file with half of the longer text's words.
    """

    def may_be(new: str, old: str) -> bool:
        # A file that cannot be parsed may still be the moved entry.
        entry = fresh[new][0]
        return entry is None or entry.type is missing[old][0].type

    by_words = grouped((_words(body, now), address) for address, (now, body) in fresh.items() if missing)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for old, (was, body) in missing.items():
        words, parts = _words(body, was), old.split("/")[::-1]
        same = [new for new in by_words.get(words, ()) if words and may_be(new, old)]
        # Prefer the address with the same name, then the one in the same room, then in the same wing.
        ranked = [(new in taken, [*map(ne, parts, new.split("/")[::-1])], new) for new in same]
        if ranked:
            found[old] = min(ranked)[2]
            taken.add(found[old])
    edited = [old for old, (_, body) in missing.items() if old not in found and body.strip()]
    free = {new: Counter(body.split()) for new, (_, body) in fresh.items() if edited and new not in taken}
    for old in edited:
        counts, name = Counter(missing[old][1].split()), old.split("/")[-1]
        # A successor is not the same entry at another address.
        others = [new for new in free if may_be(new, old) and old not in getattr(fresh[new][0], "supersedes", ())]
        # Compare files of the same name first. If a whole wing moved, this avoids comparing every pair.
        for these in ([new for new in others if new.split("/")[-1] == name], others):
            pairs = ((_likeness(counts, free[new]), new) for new in these)
            likeness, nearest = max(pairs, key=itemgetter(0), default=(0, ""))
            if likeness >= _MOVED:
                found[old] = nearest
                del free[nearest]
                break
    return found


def _words(body: str, entry: Entry | None) -> str:
    """Return the text by which a moved entry is recognised: its body, or without a body its fields."""
    text = " ".join(body.split())
    if text or entry is None:
        return text
    stated = [(name, getattr(entry, name)) for name in BINDING_FIELDS if getattr(entry, name)]
    return f"\0{stated}" if stated else ""


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """Return the share of words that two texts have in common, relative to the longer text; 0 if it is too small."""
    longest = max(one.total(), other.total())
    # Compare the lengths first, since counting common words takes ten times as long.
    is_possible = min(one.total(), other.total()) >= _MOVED * longest
    return (one & other).total() / longest if longest and is_possible else 0
