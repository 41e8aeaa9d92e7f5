"""Relate entries to others: supersessions, amendments, contradictions, and newer entries that mention them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import date
from itertools import islice, takewhile

from msgspec import Struct

from mdmem.ask.answer import DECLARED, MENTIONED, RELATED, RELATIONS, Contradiction, EndedMatch, Mention
from mdmem.ask.excerpt import NO_WEIGHTS, excerpt, mentioning_sentences, rule_of
from mdmem.ask.limits import ENDED_RANKS, MAX_MENTIONS, NEAR_SHARE, RECORD_NUMBER, SENTENCE, VERB_DISTANCE
from mdmem.markdown.body import cut_at_word
from mdmem.markdown.similarity import undeclared_overlaps
from mdmem.model.entry import REVIEW_REASON, Entry, Status, day_of, entries_with
from mdmem.store.catalog.model import Catalog
from mdmem.store.index import Match
from mdmem.store.tree import read_one
from mdmem.store.workspace.scope import Filters, Scope
from mdmem.store.workspace.workspace import Workspace


def relations_of(catalog: Catalog, entry: Entry, scope: Scope) -> dict[str, dict[str, str]]:
    """Return the relations of an item for an entry: by name, the titles of the related entries by address.

    Entries outside the scope that claim to supersede this entry, or amend it, are left out.
    """
    address, lineage, derived = entry.address, catalog.lineage, catalog.derived
    state = catalog.branch_state(address)
    proposed = state.amended_by if state is not None else ()
    claimed, claims = lineage.claimed_by(address), lineage.claims.get(address, ())
    if not (proposed or claimed or claims or address in derived.with_amendments):
        return {}
    found = {
        "claimed_by": _in_scope(claimed, scope),
        "claims": claims,
        "amended_by": _in_scope(derived.amended_by(address, project=scope.wing), scope),
        "proposed_amendments": _in_scope(proposed, scope),
        "amends": tuple(one for one in derived.amends(address) if lineage.is_current(one)),
    }
    return {name: {one: catalog.entries[one].title for one in named} for name, named in found.items() if named}


def _in_scope(addresses: Iterable[str], scope: Scope) -> tuple[str, ...]:
    return tuple(one for one in addresses if one.partition("/")[0] in scope.wings)


def claimants_in_scope(catalog: Catalog, entry: Entry, scope: Scope) -> tuple[str, ...]:
    """Return the entries of the scope that claim to supersede an entry."""
    return _in_scope(catalog.lineage.claimed_by(entry.address), scope)


def related_entries(catalog: Catalog, chosen: Collection[str], scope: Scope) -> tuple[Entry, ...]:
    """Return the entries to show together with the chosen ones, because they are related to one of them.

    They supersede a chosen entry one-sidedly, amend it, or have a declared contradiction with it.
    """
    found: dict[str, None] = {}
    for address in sorted({*catalog.lineage.claimed, *catalog.derived.with_amendments}):
        if address in chosen:
            relations = relations_of(catalog, catalog.entries[address], scope)
            found.update(dict.fromkeys((*relations.get("claimed_by", ()), *relations.get("amended_by", ()))))
    for entry in entries_with(catalog.entries, "contradicts"):
        is_current = catalog.lineage.is_current(entry.address)
        for other in (head for named in entry.contradicts if is_current for head in catalog.lineage.heads(named)):
            # A contradiction between two entries of other rooms brings neither into the answer.
            is_near = any(map(scope.contains, (entry.address, other)))
            if is_near and (entry.address in chosen) != (other in chosen):
                partner = other if entry.address in chosen else entry.address
                found.update(dict.fromkeys(_in_scope([partner], scope)))
    return tuple(catalog.entries[address] for address in found)


def doubts_of(catalog: Catalog, entry: Entry, status: Status) -> Iterator[str]:
    """Yield the reasons why the reader should confirm an entry before relying on it.

    `status` is the status of the entry today: an expired entry counts as under review.
    """
    if entry.address in catalog.lineage.contradictory:
        yield "contradictory: it and another entry supersede each other"
    if status is Status.UNDER_REVIEW:
        doubt = f"expired on {entry.expires_at}"
        if entry.status is Status.UNDER_REVIEW:
            # The cache does not have the reason. Few files have one, and only those are parsed again.
            content = read_one(catalog.tree, entry.path)
            has_reason = isinstance(content, bytes) and REVIEW_REASON.encode() in content
            fields = catalog.document(entry.path).fields if has_reason else None
            why = fields.get(REVIEW_REASON) if fields else None
            doubt = "under review"
            if isinstance(why, str):
                doubt += f" ({cut_at_word(' '.join(why.split()), SENTENCE)})"
        yield f"{doubt}: confirm before relying on it"


def ended_match(
    catalog: Catalog, matches: Sequence[Match], filters: Filters, weights: Mapping[str, float] = NO_WEIGHTS
) -> tuple[EndedMatch, ...]:
    """Return a match that is not current, as a tuple of at most one item.

    This is the best match by words, if it is not current. Otherwise it is one of the best few matches that ended
    without a successor, such as a rejected proposal, since the answer has no successor to show in its place; a weak
    match does not count. The best match without a successor has an excerpt, since it may say why something is not
    done. A draft counts only if it was superseded. The result is empty if the filters include deprecated entries
    anyway. `weights` are the terms of the question with their rarity.
    """
    lineage = catalog.lineage
    if filters.includes_ended:
        return ()
    near = takewhile(lambda match: match.score >= NEAR_SHARE * matches[0].score, matches)
    entries = (catalog.entries[match.key] for match in near)
    counted = (one for one in entries if one.status is not Status.DRAFT or lineage.heads(one.address))
    for rank, entry in enumerate(islice(filter(filters.matches_entry, counted), ENDED_RANKS)):
        heads = lineage.heads(entry.address)
        chain = lineage.descendants(entry.address) | {entry.address}
        named = {new for old in chain for new in catalog.entries[old].superseded_by}
        unread = tuple(sorted(new for new in named if f"{new}.md" in catalog.broken))
        is_shown = lineage.is_current(entry.address) or lineage.is_unresolved(entry.address)
        is_replaced = bool(heads or unread)
        if not is_shown and (rank == 0 or not is_replaced):
            quotes = rank == 0 and not is_replaced
            text = excerpt(entry, catalog.body(entry.address), 2 * SENTENCE, weights) if quotes else ""
            return (EndedMatch(entry.address, entry.title, _why_ended(catalog, entry), heads, unread, text),)
    return ()


def _why_ended(catalog: Catalog, entry: Entry) -> str | None:
    """Return the reason for each step from an entry to its current successors; None if no step states one."""
    lineage, entries = catalog.lineage, catalog.entries
    steps, seen = [entry.address], {entry.address}
    reasons = list[str | None]()
    for old in steps:
        new = [one for one in lineage.successors.get(old, ()) if one not in seen]
        steps += new
        seen.update(new)
        # The `reason` of a superseded entry itself says why that entry replaced an older one.
        reasons += [entries[old].deprecated_reason or entries[one].reason for one in new]
        if not lineage.successors.get(old):
            reasons.append(entry.why_ended if old == entry.address else entries[old].deprecated_reason)
    return "; ".join(dict.fromkeys(filter(None, reasons))) or None


def contradictions_among(catalog: Catalog, chosen: Set[str]) -> Iterator[Contradiction]:
    """Yield each contradiction that involves a chosen entry, sorted by address; each pair of entries once."""
    lineage, found = catalog.lineage, dict[tuple[str, str], str]()

    def add(a: str, b: str, why: str) -> None:
        # The strongest evidence for a pair comes first.
        found.setdefault((min(a, b), max(a, b)), why)

    for entry in entries_with(catalog.entries, "contradicts"):
        for named in entry.contradicts if lineage.is_current(entry.address) else ():
            # If the other entry was superseded, its successor inherits the contradiction until it is resolved.
            for other in lineage.heads(named):
                if other != entry.address and (entry.address in chosen or other in chosen):
                    add(entry.address, other, DECLARED if named in entry.conflicts_with else RELATED)
    # Two current entries supersede one without a reason for the split.
    for old, successors in (*lineage.successors.items(), *lineage.claimants.items()):
        current = [new for new in successors if lineage.is_current(new)] if len(successors) > 1 else []
        if not chosen.isdisjoint(current) and not catalog.entries[old].declares_split(successors):
            for other in current[1:]:
                add(current[0], other, f"both supersede {old}")
    # An entry claims to supersede one that states another successor.
    for old, others in lineage.disputes.items():
        heads = lineage.heads(old)
        for one in (head for other in others for head in lineage.heads(other) if head not in heads):
            for head in heads:
                if one in chosen or head in chosen:
                    add(head, one, f"{one} has `supersedes: {old}`, which does not link back")
    for cycle in lineage.cycles:
        if not chosen.isdisjoint(cycle):
            add(cycle[0], cycle[1], f"{len(cycle)} entries supersede one another")
    # Most memories have no shared wing. Without one, the import of the comparison of titles would double the time.
    if any(wing.is_shared for wing in catalog.wings.values()):
        binding = (catalog.entries[address] for address in chosen if address in lineage.current)
        for project, shared, why in undeclared_overlaps(binding, catalog.wings):
            add(project.address, shared.address, f"one subject, and no `overrides`: {why}")
    yield from (Contradiction(a, b, why) for (a, b), why in sorted(found.items()))


_REPLACED = 5
UNMENTIONED = "no newer entry cites its ID"
_LINK = re.compile(r"\[[^\[\]]*\]")
# Words that may precede the number of a record whose entry-id contains only the number: `ADR-0148`.
_KINDS = ("adr", "decision", "record")
# Not followed by the name of another project, as in `ADR-0148 (other-project)`.
_ELSEWHERE = r"(?! \([A-Za-z]+[-/][A-Za-z/-]+\))"
# The verbs that state a change, by their stems.
_VERBS = "amends supersedes replaces obsoletes updates extends revises modifies deprecates overrides relaxes refines"
_CHANGES = {re.sub(r"(?:ies|es|s)\Z", "", verb): verb for verb in _VERBS.split()}
_ACTIVE = re.compile(rf"\b({'|'.join(_CHANGES)})(?:s|es|ies|ing|e)?\b(?! by\b)", re.IGNORECASE)
_PASSIVE = re.compile(
    rf"\W*(?:is|are|was|were)\s+(?:\w+\s+)?({'|'.join(_CHANGES)})\w*\s+(?:by this|here)", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|without|cannot|if|whether|unless|would|could|might|reject\w*|instead)\b|n['’]t\b",
    re.IGNORECASE,
)


class Mentions(Struct, frozen=True):
    """Finds the lines to print under the entries of one answer.

    `searches` says whether the full text may be searched. If not, only links are found, and no line says that an entry
    is not mentioned.
    """

    workspace: Workspace
    searches: bool

    def of(self, entry: Entry, relations: Mapping[str, Iterable[str]]) -> tuple[Mention, ...]:
        """Return the lines under an entry: its relations, the entries that it replaced, and newer mentions of it."""
        catalog = self.workspace.catalog
        found: list[Mention] = []
        for name, address in ((name, one) for name, addresses in relations.items() for one in addresses):
            other, sentence = catalog.entries[address], ""
            if name in ("amended_by", "proposed_amendments"):
                stating = [text for text, change in self._sentences(address, entry) if change]
                sentence = stating[0] if stating else rule_of(catalog.body(address))
            found.append(Mention(RELATIONS[name], address, other.title, _day(other), sentence))
        known = {one.address for one in found}
        mentioning = [one for one in self._mentioning(entry) if one.address not in known]
        if found:
            mentioning = [one for one in mentioning if one.how != UNMENTIONED]
        olds = [catalog.entries[old] for old in sorted(catalog.lineage.ancestors(entry.address))]
        for old in sorted(olds, key=_age, reverse=True)[:_REPLACED]:
            why = entry.reason if entry.reason and old.address in entry.supersedes else ""
            # Entries have the day of their import if their records have no dates, so the same day says nothing.
            day = _day(old) if _age(old) != _age(entry) else ""
            found.append(Mention("replaces", old.address, old.title, day, cut_at_word(why, SENTENCE)))
        if len(olds) > _REPLACED:
            found.append(Mention(f"replaces {len(olds) - _REPLACED} more", ""))
        return (*found, *mentioning)

    def _mentioning(self, entry: Entry) -> Iterator[Mention]:
        """Yield the newer current entries that mention an entry; those that state a change come first.

        If there are many, a last line counts the rest. If all entries were searched and none mentions this
        one, a line says so.
        """
        catalog = self.workspace.catalog
        linking = [one for one, _ in catalog.derived.incoming.get(entry.address, ())]
        containing, name = list[str](), entry.address.rpartition("/")[2]
        if self.searches:
            spellings = {name}
            if number := RECORD_NUMBER.match(name):
                digits = number["number"]
                kinds = [number["kind"]] if number["kind"] else _KINDS
                spellings |= {f"{kind} {one}" for kind in kinds for one in (digits, digits.lstrip("0") or "0")}
                spellings |= {digits} if _has_leading_zero(number) else set()
            containing = self.workspace.index.find_containing(sorted(spellings), self.workspace.corpus)
        known = (catalog.entries[one] for one in dict.fromkeys((*linking, *containing)) if one in catalog.entries)
        newer = (one for one in known if _age(one) >= _age(entry) and one.address != entry.address)
        candidates = [one for one in newer if catalog.lineage.is_current(one.address)]
        found = [
            Mention(MENTIONED, other.address, other.title, _day(other), sentence, does)
            for other in candidates
            for sentence, does in self._sentences(other.address, entry)[:1]
        ]
        found.sort(key=lambda one: not one.does)
        yield from found[:MAX_MENTIONS]
        if rest := len(found[MAX_MENTIONS:]):
            yield Mention(f"also {MENTIONED} {rest} more", "", rest=rest)
            return
        # A body may mention the entry in a list or table of numbers, which is no sentence.
        bodies = ((one.address, catalog.body(one.address)) for one in candidates)
        if not found and self.searches and not any(_pattern_in(at, entry).search(body) for at, body in bodies):
            yield Mention(UNMENTIONED, "")

    def _sentences(self, address: str, entry: Entry) -> list[tuple[str, str]]:
        """Return the sentences at `address` that mention `entry`, each with the change that it states or an empty text.

        Sentences that state a change come first, and empty texts, for a link without a sentence, last.
        """
        pattern = _pattern_in(address, entry, is_ambiguous=self._shares_number(entry))
        found = mentioning_sentences(self.workspace.catalog.body(address), pattern)
        # A link without other text, such as `[see: ...]`, is no sentence.
        sentences = [
            (
                cut_at_word(text, SENTENCE) if _LINK.sub("", text).strip(" .;,-*") else "",
                stated_change(text, match) if match is not None else "",
            )
            for text, match in found
        ]
        return sorted(dict.fromkeys(sentences), key=lambda one: (not one[1], not one[0]))

    def _shares_number(self, entry: Entry) -> bool:
        """Return whether another entry of the room has the same record number."""
        room, _, name = entry.address.rpartition("/")
        number = RECORD_NUMBER.match(name)
        start = f"{room}/{number[0]}-" if number is not None else entry.address
        return any(one.startswith(start) and one != entry.address for one in self.workspace.catalog.entries)


def merge_mentions(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Return the lines under an entry with all plain mentions merged into one line of entry-ids.

    A plain mention states no change of the entry.
    """
    plain = [one for one in mentions if one.rest or (one.how == MENTIONED and not one.does)]
    ids = [", ".join(one.address.rpartition("/")[2] for one in plain if not one.rest)]
    ids += [f"{one.rest} more" for one in plain if one.rest]
    merged = [Mention(f"mentioned later by {' and '.join(filter(None, ids))}", "")] if plain else []
    return (*(one for one in mentions if one not in plain), *merged)


def _pattern_in(address: str, entry: Entry, *, is_ambiguous: bool = False) -> re.Pattern[str]:
    is_near = address.rpartition("/")[0] == entry.address.rpartition("/")[0]
    return mention_pattern(entry, is_near=is_near and not is_ambiguous)


def mention_pattern(entry: Entry, *, is_near: bool) -> re.Pattern[str]:
    """Return a pattern that finds mentions of an entry by address, entry-id or record number.

    The group `id` is the entry-id. If it is a single word, such as `queue`, prose may use the word without meaning the
    entry. It then counts only after `room/`, in backticks, or in `queue.md`. A number counts if it follows its kind
    (`PEP 572`, `ADR-0148`). If the entry-id or the text has no kind, it counts only in texts of the same room
    (`is_near`). A number without a kind in the text also needs a leading zero (`0148`), and must not be in a list of
    numbers. `#148` is a ticket, and `ADR-0148 (other-project)` is another record; neither matches.
    """
    name = entry.address.rpartition("/")[2]
    own = rf"{re.escape(name)}(?![\w-])"
    if "-" not in name and not name.isdecimal():
        room = re.escape(entry.address.split("/")[1])
        own = rf"(?<={room}/){own}|(?<=`){own}(?=`)|{own}(?=\.md\b)"
    ways = [rf"(?P<id>{own})"]
    number = RECORD_NUMBER.match(name)
    if number is not None and (number["kind"] or is_near):
        digits = number["number"].lstrip("0") or "0"
        # The looks ahead are limited, since a long line of dots and letters would be read again for each number in it.
        kinds = "|".join([number["kind"]] if number["kind"] else _KINDS)
        ways.append(rf"(?:{kinds})s?(?:[\s_-]*#?|:`(?:[^`<]*<)?)0*{digits}(?![\w.]{{0,64}}\d)")
        if _has_leading_zero(number) and is_near:
            ways.append(rf"(?<!\d, ){number['number']}(?![\w.,:-]{{0,64}}\d)(?!-\w)(?!, \d)")
    return re.compile(rf"(?<![\w#-])(?<!\d[.,:])(?:{'|'.join(ways)}){_ELSEWHERE}", re.IGNORECASE)


def _has_leading_zero(number: re.Match[str]) -> bool:
    """Return whether the number of a record has a leading zero; a single `0` may count anything."""
    return number["number"].startswith("0") and len(number["number"]) > 1


def stated_change(sentence: str, reference: re.Match[str]) -> str:
    """Return the change that a sentence states, such as `extends it`; empty if it states none.

    `reference` is the mention of the changed entry in the sentence. An active verb must come at most 70 characters
    before the reference, in the same clause and without a negation.
    """
    before = sentence[max(0, reference.start() - VERB_DISTANCE) : reference.start()]
    clause = re.split(r"[;:.()]|\bbut\b|\bwhich\b|\bthat\b", before)[-1]
    if _NEGATION.search(clause):
        return ""
    active = list(_ACTIVE.finditer(clause))
    passive = _PASSIVE.match(sentence, reference.end())
    stem = active[-1][1] if active else passive[1] if passive else ""
    return f"{_CHANGES[stem.lower()]} it" if stem else ""


def _age(entry: Entry) -> date:
    return day_of(entry.created_at) if entry.created_at else date.min


def _day(entry: Entry) -> str:
    return day_of(entry.created_at).isoformat() if entry.created_at else ""
