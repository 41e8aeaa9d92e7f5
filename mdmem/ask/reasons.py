"""What an answer says of an entry: why it is there, and what bears on it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

from msgspec import Struct

from mdmem.ask.bearings import bearings_of, company_of, doubts_of
from mdmem.ask.grounds import Grounds
from mdmem.ask.path_names import few_of
from mdmem.ask.question import replaced_notes
from mdmem.ask.ranks import Rank, Retrieved
from mdmem.model.entry import Entry, Status
from mdmem.model.globs import all_matches
from mdmem.store.workspace.proposals import effects_of


class Reasons(Struct, frozen=True):
    """The reasons of one selection; `overriders` are what overrides entries of it, by their addresses."""

    grounds: Grounds
    overriders: Mapping[str, Entry]

    def described(self, rank: Rank) -> Retrieved:
        """Return an entry with all that is said of it."""
        entry, grounds = rank.entry, self.grounds
        catalog = grounds.catalog
        via = tuple(sorted(match.key for match in grounds.inherited.get(entry.address, ())))
        by = self._replacing(entry)
        return Retrieved(
            sort_key=rank.sort_key,
            entry=entry,
            status=entry.status_on(grounds.today),
            tier=grounds.tier_of(entry),
            score=rank.score,
            matches=rank.matches,
            current=rank.current,
            why=cache(partial(self._reason, entry, via)),
            via=via,
            overrides=tuple(other.address for other in grounds.overrides.overridden_by(entry)),
            terms=rank.terms,
            on_path=rank.on_path,
            overridden_by=(by.address,) if by is not None else (),
            is_unconditional=grounds.is_unconditional(entry),
            lies_aside=rank.lies_aside,
            stance=catalog.stance(entry.address),
            **bearings_of(catalog, entry, grounds.scope),
        )

    def _replacing(self, entry: Entry) -> Entry | None:
        """Return what overrides an entry wherever the question is about it."""
        by = self.overriders.get(entry.address)
        return by if by is not None and self.grounds.overrides.replaces(by, entry) else None

    def _reason(self, entry: Entry, via: tuple[str, ...]) -> str:
        parts = [*self._grounds(entry), *replaced_notes(via)]
        parts += self.grounds.overrides.notes_on(entry)
        by = self._replacing(entry)
        if by is not None:
            parts.append(f"overridden here by {by.address}")
        if not parts and not self.grounds.is_open:
            parts = company_of(self.grounds.catalog, entry, self.grounds.scope)
        return "; ".join([*parts, *self._doubts(entry)]) or "in scope"

    def _grounds(self, entry: Entry) -> list[str]:
        grounds, paths = self.grounds, self.grounds.question.paths
        parts = []
        if grounds.is_unconditional(entry):
            parts.append("invariant of the scope")
        match = grounds.matches.find(entry.address)
        if match is not None and grounds.answer is not None:
            typed = grounds.typed(term for term in grounds.answer.terms if term in match.terms)
            parts.append(f"holds {', '.join(typed)}" if typed else "matches the query")
        met = list(all_matches(entry.applies_to, paths)) if entry.applies_to else []
        if met:
            return [*parts, f"applies to {few_of(met, paths)}"]
        named = grounds.naming.get(entry.address, ())
        return [*parts, f"names {few_of(named, paths)}"] if named else parts

    def _doubts(self, entry: Entry) -> list[str]:
        catalog = self.grounds.catalog
        parts = list(doubts_of(catalog, entry, entry.status_on(self.grounds.today)))
        stance = catalog.stance(entry.address)
        note = stance.note if stance is not None else ""
        if entry.status is Status.DRAFT:
            is_merged = catalog.is_merged(entry.address)
            parts.append("a draft: merged, not approved" if is_merged else "a draft: proposed, not binding")
            note = note or "; ".join(effects_of(entry))
        is_replaced = entry.is_in_force and not catalog.lineage.is_current(entry.address)
        if is_replaced or entry.status is Status.DEPRECATED:
            parts.append(self._ended(entry))
        return [*parts, note] if note else parts

    def _ended(self, entry: Entry) -> str:
        heads = self.grounds.catalog.lineage.heads(entry.address)
        if heads:
            return f"ended: replaced by {', '.join(heads)}"
        return f"ended: {entry.why_ended}" if entry.why_ended else "ended, no reason given"
