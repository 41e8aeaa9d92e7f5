"""What stands under an entry in an answer: what it replaced, and the newer entries that cite it, with the sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property

from msgspec import Struct, field

from mdmem.ask.pack import CITED, Mention, Texts
from mdmem.ask.question import BEARINGS
from mdmem.ask.ranks import Retrieval, Retrieved
from mdmem.markdown.sections import citing_sentences, is_changing
from mdmem.markdown.sentences import without_targets
from mdmem.model.entry import Entry, EntryType, day_of
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import Neighbourhood
from mdmem.store.workspace.workspace import Workspace

_REPLACED, _CITING = 5, 8
_AMENDING = ("amended_by", "proposed_amendments")
# Whose text the index is asked for: more than these few are seldom given with their content.
_ASKED = 4
_BRACKETED = re.compile(r"\[[^\[\]]*\]")
# Bodies that are read for sentences, the likeliest first.
_READ = 40
# A record's number at the start of its id, behind its kind if the id has one: `0148-use-postgres`, `pep-0484-hints`.
_NUMBER = re.compile(r"(?:(adr|bip|eip|kep|pep|rfc)-)?(\d{1,6})-")
# The kind of a record whose id has a number alone.
_KIND = "adr"


def texts_of(workspace: Workspace, found: Retrieval) -> Texts:
    """Return what a pack reads of the entries of a workspace."""
    catalog = workspace.catalog
    mentions = Mentions(workspace, (lambda: found.scope.held(catalog)) if found.is_indexed else None)
    return Texts(catalog.body, catalog.sizes.__getitem__, catalog.digests.__getitem__, mentions.under, mentions.passed)


class Mentions(Struct, dict=True):
    """The entries that stand under those of one answer.

    The full text of those that `among` returns is asked for more; None where no index is at hand.
    """

    workspace: Workspace
    among: Callable[[], Collection[str]] | None
    # Of what may be asked of the index which comes when: of each once.
    _turns: dict[str, int] = field(default_factory=dict)
    _known: dict[str, tuple[Mention, ...]] = field(default_factory=dict)

    @property
    def _catalog(self) -> Catalog:
        return self.workspace.catalog

    @cached_property
    def _links(self) -> Neighbourhood:
        return Neighbourhood(self._catalog)

    def under(self, item: Retrieved) -> tuple[Mention, ...]:
        """Return what bears on an item: claims, amendments, what it replaced, the newest first, and what cites it."""
        address = item.entry.address
        if address not in self._known:
            self._known[address] = self.of(item.entry, item.bearings, is_asked=bool(item.score))
        return self._known[address]

    def passed(self, item: Retrieved) -> None:
        """Give an item its turn, though nobody asks: which ones the index is asked about hangs on no room."""
        if item.score and self._is_here(item.entry):
            self._turn_of(item.entry.address)

    def of(self, entry: Entry, bearings: Mapping[str, Sequence[str]], *, is_asked: bool) -> tuple[Mention, ...]:
        """Return what bears on an entry; what cites an invariant, and the full text, count where it `is_asked`."""
        if not self._is_here(entry):
            return ()
        bearing = tuple(self._bearing(entry, bearings))
        known = {one.address for one in bearing}
        citing = [] if entry.type is EntryType.INVARIANT and not is_asked else self._citing(entry, is_asked=is_asked)
        return (*bearing, *self._replaced(entry), *(one for one in citing if one.address not in known))

    def _is_here(self, entry: Entry) -> bool:
        # Equal, not the same: which catalogs share an entry is left to what is kept of earlier questions.
        return self._catalog.entries.get(entry.address) == entry

    def _turn_of(self, address: str) -> int:
        return self._turns.setdefault(address, len(self._turns))

    def _bearing(self, entry: Entry, bearings: Mapping[str, Sequence[str]]) -> Iterator[Mention]:
        for name, addresses in bearings.items():
            for address in addresses:
                said = self._sentence(address, _names_of(entry)) if name in _AMENDING else ""
                other = self._catalog.entries[address]
                yield Mention(BEARINGS[name], address, other.title, _day(other), said)

    def _sentence(self, address: str, names: tuple[str, ...]) -> str:
        return next((without_targets(one.said) for one in citing_sentences(self._catalog.body(address), names)), "")

    def _replaced(self, entry: Entry) -> Iterator[Mention]:
        olds = [self._catalog.entries[old] for old in sorted(self._catalog.lineage.ancestors(entry.address))]
        for old in sorted(olds, key=_age, reverse=True)[:_REPLACED]:
            yield Mention("replaces", old.address, old.title, _day(old))
        if len(olds) > _REPLACED:
            yield Mention(f"replaces {len(olds) - _REPLACED} more", "")

    def _citing(self, entry: Entry, *, is_asked: bool) -> list[Mention]:
        """Return the newer entries in force that name an entry, each with the sentence that does."""
        names, number = _names_of(entry), _number_of(entry)
        holding = self._holding(names, number) if is_asked else []
        sources = [self._catalog.entries[address] for address in self._likely(entry, holding)]
        newer = [one.address for one in sources if _age(one) >= _age(entry) and one.address != entry.address]
        found: list[Mention] = []
        for address, body in self._catalog.plain_bodies(newer):
            # A number means a record of its own room.
            is_near = address.rpartition("/")[0] == entry.address.rpartition("/")[0]
            if sentences := citing_sentences(body, (*names, *number) if is_near else names):
                citing, (said, does) = self._catalog.entries[address], sentences[0]
                # A bare `[see: …]` is no sentence.
                told = said if _BRACKETED.sub("", said).strip(" .;,-*") else ""
                found.append(Mention(CITED, address, citing.title, _day(citing), without_targets(told), does))
        # One that says what it changes says more than one that points.
        return sorted(found, key=lambda one: (not one.does, not is_changing(one.said)))[:_CITING]

    def _likely(self, entry: Entry, holding: Sequence[str]) -> list[str]:
        """Return the entries in force that link to one, and those whose text holds the words of its name."""
        is_current = self._catalog.lineage.is_current
        linking = self._links.citing(entry.address)
        return [one for one in dict.fromkeys([*linking, *holding]) if is_current(one)][:_READ]

    def _holding(self, names: tuple[str, ...], number: tuple[str, ...]) -> list[str]:
        if self.among is None or self._turn_of(names[1]) >= _ASKED:
            return []
        # Prose writes ADR 7 for what is `adr-0007`.
        written = {names[0], *(one.replace("-", " ") for one in number)}
        spellings = written | {re.sub(r"(?<!\d)0+(?=\d)", "", one) for one in written}
        return [one for one in self.workspace.find_holders(sorted(spellings)) if one in self._held]

    @cached_property
    def _held(self) -> frozenset[str]:
        return frozenset(self.among() if self.among is not None else ())


def _names_of(entry: Entry) -> tuple[str, ...]:
    """Return what other entries call one in prose: its address, its id, its number, its title."""
    name = entry.address.rpartition("/")[2]
    titles = (entry.title,) if len(entry.title.split()) > 2 else ()
    return (name, entry.address, *titles)


def _number_of(entry: Entry) -> tuple[str, ...]:
    """Return the kind and number of a record whose id begins with them, such as `adr-0148`; nothing for others."""
    found = _NUMBER.match(entry.address.rpartition("/")[2])
    return (f"{found[1] or _KIND}-{found[2]}",) if found else ()


def _age(entry: Entry) -> date:
    return day_of(entry.created_at) if entry.created_at else date.min


def _day(entry: Entry) -> str:
    return day_of(entry.created_at).isoformat() if entry.created_at else ""
