"""What fits a budget, in which form, what was left out and why."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.beneath import claims_on, fewer
from mdmem.ask.given import NAMED, WHOLE, given_of, is_given
from mdmem.ask.pack import CITED, NOTHING_GIVEN, PLAIN, Form, Given, Pack, PackedEntry, Plan, Printed, Texts
from mdmem.ask.portions import DRAFTS, HEAD, Portions
from mdmem.ask.question import Omission, count_reasons, summed
from mdmem.ask.ranks import Ranked, Retrieval, Retrieved
from mdmem.ask.relevance import Relevance, always_stands
from mdmem.ask.remainder import SHORT, Remainder
from mdmem.ask.rest import rest_of
from mdmem.markdown.passages import Find
from mdmem.markdown.sections import deciding_section, least_size, ruling, shortened
from mdmem.markdown.sentences import size_of
from mdmem.markdown.text import BYTES_A_TOKEN, content_of, tokens_of
from mdmem.model.entry import Entry, Status
from mdmem.store.index.finder import finder

OMITTED_LISTED = 50
# A small budget is context under pressure: notes come last among the best, and nothing is given as a mere line.
_PRESSURE = 1000
# In bytes: what is longer is given with the section that decides alone.
_WHOLE = 2048
# Newer entries that cite one and stand under it: under a long one, and under one that is shortened.
_MUCH, _FEWER, _FEWEST = 1000, 2, 1
_TRIES = 4
# In bytes: where less is left, no entry is read for it.
_SMALLEST, _GIVE_UP_AFTER = 100, 3


def pack(
    found: Retrieval,
    budget: int,
    *,
    texts: Texts,
    proposed: Texts | None = None,
    printed: Printed = PLAIN,
    given: Given = NOTHING_GIVEN,
) -> Pack:
    """Return what fits the budget beside the invariants in force, which stay, whole, whatever it is.

    The best matches come first, of any type, each at least shortened where it is more than touched by the question;
    then the rest by authority. What `given` names, unchanged, is one line. `proposed` are the texts of what is only
    proposed, where they are others.
    """
    packing = _Packing(found, budget, (texts, proposed or texts), printed, given)
    limit = room = budget * BYTES_A_TOKEN
    for _ in range(_TRIES):
        plan = packing.plan(room)
        answer = packing.answer(plan)
        excess = plan.used + printed.rest(answer) + packing.naming(plan) - limit
        # Contradictions and what covers a file at hand depend on what is given: what naming them takes, entries leave.
        if excess <= 0 or not plan.used:
            break
        room = min(room - excess, plan.used - 1)
    return packing.with_omissions(answer, plan, limit)


class _Packing(Struct, dict=True):
    found: Retrieval
    budget: int
    texts: tuple[Texts, Texts]
    printed: Printed
    given: Given
    _shapes: dict[tuple[int, Form], tuple[PackedEntry, int]] = field(default_factory=dict)
    _sizes: dict[int, int] = field(default_factory=dict)  # of shapes, as they are printed, by identity
    _shorts: dict[tuple[str, int], str] = field(default_factory=dict)
    _part: int = 0
    _left: int = 0  # of the part that words alone may take

    def plan(self, room: int) -> Plan:
        """Return what is given where so many bytes may stand beside the invariants.

        What no path asks for takes a part of the room alone: as small as it can govern.
        """
        plan, part = Plan(room=room), self._portions.unasked(room)
        self._part = self._left = part
        # Who cites the best match is asked before all others: of few it is asked, and that nobody does is said of it.
        for item in self._relevance.best[:1]:
            self.texts[False].beneath(item.described)
        for item in self._relevance.standing:
            form = Form.LINE if item.entry.address in self._relevance.bystanders else Form.FULL
            plan.taken[item.entry.address] = self._shape(item, form)[0]
            plan.beside += self._sizes[id(plan.taken[item.entry.address])]
        self._fill(plan, self._relevance.applying, room // 2, Form.FULL)
        self._fill(plan, self._relevance.on_path, room)
        self._fill(plan, self._portions.second, part, Form.SUMMARY)
        self._fill(plan, self._relevance.shaping[:1], self._portions.shaping(room), Form.FULL)
        self._fill(plan, self._relevance.nearest, room, Form.SUMMARY)
        self._fill(plan, self._relevance.shaping[1:], room // 2, Form.FULL)
        self._fill(plan, self._disputed(plan), room)
        if self.found.is_brief:
            self._fill_drafts(plan, room, part)
        if not self._relevance.is_pressed:
            self._fill(plan, self._relevance.next_best, part, Form.SUMMARY)
            self._fill(plan, self._disputed(plan), part)
            if self._portions.is_plain:
                # Titles have room of their own, and what has content needs none.
                self._fill(
                    plan, self._relevance.with_opponents(filter(self._relevance.counts, self._relevance.best)), part
                )
            self._fill(plan, (*self._relevance.on_path, *self._relevance.near), room, Form.LINE)
        others = self._relevance.others_while(lambda: plan.lines < self._portions.most_lines(), self.given)
        self._fill(plan, self._relevance.with_opponents(chain(self._relevance.best, others)), part)
        self._fill(plan, self._disputed(plan), room, Form.SUMMARY)
        self._fill_drafts(plan, room, part)
        return plan

    def _fill(self, plan: Plan, items: Iterable[Ranked], room: int, form: Form | None = None) -> None:
        """Give items in their order while they fit, shortened unless a form is named, or where little is held a line.

        Past a few that do not fit, none is read to see how short it gets.
        """
        misses = 0
        for item in items:
            if misses > _GIVE_UP_AFTER or room - plan.used < _SMALLEST:
                return
            is_told = self._relevance.counts(item) or self._opposes(plan, item)
            wanted = form or (Form.SUMMARY if is_told else Form.LINE)
            misses += not self._give(plan, item, wanted, room) and wanted is not Form.LINE

    def _fill_drafts(self, plan: Plan, room: int, part: int) -> None:
        # One that holds enough of the question has room of its own; more would swell the answer.
        beyond = min(room, part + self._portions.beyond) if self.found.terms else room
        for item in filter(self._is_worth, self.found.proposed_ranks[:DRAFTS]):
            form = Form.FULL if self.texts[True].size(item.entry.address) <= SHORT else Form.SUMMARY
            place = beyond if self._portions.is_draft_told(item) else part
            if not self._give(plan, item, form, place, is_draft=True) and self.found.is_brief:
                self._give(plan, item, Form.LINE, place, is_draft=True)

    def _disputed(self, plan: Plan) -> list[Ranked]:
        """Return what contradicts an invariant or what is given already: nobody decides between titles."""
        told = {address for address, one in plan.taken.items() if self._is_told(one)}
        sides = {(one.a, one.b) for one in self.found.basis.conflicts if one.is_declared}
        named = {b if a in told else a for a, b in sides if (a in told) != (b in told)}
        return [item for item in self._relevance.others(named) if item.current] if named else []

    def _is_told(self, one: PackedEntry) -> bool:
        """Say whether a reader will want to know what contradicts one: it is told, and the question is about it."""
        return not one.form.is_line and (one.item.score > 0 or not self.found.is_brief)

    def _opposes(self, plan: Plan, item: Ranked) -> bool:
        """Say whether an item contradicts one whose content is given."""
        others = (plan.taken.get(one) for one in self._relevance.against.get(item.entry.address, ()))
        return any(other is not None and not other.form.is_line for other in others)

    def _is_worth(self, draft: Ranked) -> bool:
        """Say whether a draft stands apart: one of what is written but touched, and each that changes what binds."""
        return (draft.entry.status is not Status.DRAFT and not self.found.is_brief) or self._relevance.rises(draft)

    def _give(self, plan: Plan, item: Ranked, form: Form, room: int, *, is_draft: bool = False) -> bool:
        """Give an item in a form if it fits, in place of a mere line that it has; say whether it is given."""
        into, address = plan.drafts if is_draft else plan.taken, item.entry.address
        had = into.get(address)
        if had is not None and not had.may_grow:
            return True
        self._left = (room if is_draft else self._part) - plan.used
        before = self._shape(item, Form.LINE, is_draft=is_draft)[1] if had is not None else 0
        if form is Form.SUMMARY and self._is_beyond(item, room - plan.used + before, self.texts[is_draft]):
            return False
        packed, cost = self._shape(item, form, is_draft=is_draft)
        if plan.used + cost - before > room or (packed.is_name and plan.lines >= self._portions.most_lines(item)):
            return False
        into[address] = packed
        plan.lines += packed.is_name - (had is not None and had.is_name)
        plan.used += cost - before
        return True

    @cached_property
    def _remainder(self) -> Remainder:
        return Remainder(self.found, self._relevance, self.texts)

    @cached_property
    def _relevance(self) -> Relevance:
        return Relevance(self.found, self.budget <= _PRESSURE, self.texts[False].beneath)

    @cached_property
    def _portions(self) -> Portions:
        return Portions(self.found, self._relevance, self.budget, self.printed, self._line)

    def _line(self, item: Ranked) -> int:
        return self._shape(item, Form.LINE)[1]

    @cached_property
    def _find(self) -> Find | None:
        return finder(self.found.terms) if self.found.terms else None

    def _shape(self, item: Ranked, form: Form, *, is_draft: bool = False) -> tuple[PackedEntry, int]:
        """Return an item in a form, shorter where it is long, and its bytes; what was given before keeps its room."""
        key = (id(item), form)
        if key not in self._shapes:
            made = self._made(item.described, form, self.texts[is_draft])
            size = self.printed.entry(made)
            is_known = form is not Form.LINE and (made.form is Form.GIVEN or made.goes_on)
            room = self._room(made, form, self.texts[is_draft]) if is_known else size
            shape = replace(made, tokens=tokens_of(size))
            self._shapes[key], self._sizes[id(shape)] = (shape, max(size, room)), size
        return self._shapes[key]

    def _room(self, made: PackedEntry, form: Form, texts: Texts) -> int:
        """Return the bytes that an item would take about, had nothing been given of it."""
        size = texts.size(made.item.entry.address)
        bare = replace(made, content="")
        longest = self._longest(made.item, form, texts)
        return self.printed.entry(bare) + (size if size <= (_WHOLE if form is Form.FULL else SHORT) else longest)

    def _is_beyond(self, item: Ranked, left: int, texts: Texts) -> bool:
        """Say whether an item is too much even when shortened: to find its passages, and what names it, takes long."""
        address = item.entry.address
        if left > SHORT + HEAD or (id(item), Form.SUMMARY) in self._shapes:
            return False
        # What was given in part may be little this time.
        if (known := self.given.get(address)) and is_given(known):
            return False
        bare = PackedEntry(item.described, Form.SUMMARY, "")
        enough = left - self.printed.entry(bare)
        # Where not even the heading of a long one fits, its file is not read.
        if enough < 0 and texts.size(address) > SHORT:
            return True
        body, limit = texts.body(address), self._longest(item.described, Form.SUMMARY, texts)
        if size_of(content_of(item.entry, body)) <= SHORT:
            return False
        if least_size(item.entry, body, limit) > enough:
            return True
        short = self._short(item.entry, body, limit, enough=enough)
        return self.printed.entry(replace(bare, content=short)) > left

    def _made(self, item: Retrieved, form: Form, texts: Texts) -> PackedEntry:
        address, entry = item.entry.address, item.entry
        digest = texts.digest(address)
        before = given_of(self.given.get(address, ""), digest)
        if before and (form is Form.LINE or before >= WHOLE):
            return texts.known(item, before, is_line=form is Form.LINE)
        if form is Form.LINE:
            rule = ruling(texts.body(address)) if self._relevance.is_ruled(entry) else ""
            return PackedEntry(item, form, rule, beneath=tuple(claims_on(item)), digest=digest, before=NAMED)
        body = texts.body(address)
        whole = content_of(entry, body)
        if always_stands(item) or size_of(whole) <= (_WHOLE if form is Form.FULL else SHORT):
            return self._told(item, Form.FULL, whole, texts)
        if form is Form.FULL and (item.on_path or self._find is None):
            section = deciding_section(entry, body, self._find, self._relevance.weights)
            if section:
                return self._in_part(item, Form.SECTION, section, texts, before)
        limit = self._longest(item, form, texts)
        short = self._short(entry, body, limit)
        part = self._in_part(item, Form.SUMMARY, short, texts, before)
        if part.form is not Form.GIVEN or form is not Form.FULL or self._find is None:
            return part
        # Whoever asks again has not found it in what was given.
        more = rest_of(whole, self._find, before, self._relevance.weights, room=limit)
        return self._in_part(item, Form.SUMMARY, more, texts, before)

    def _short(self, entry: Entry, body: str, limit: int, *, enough: int | None = None) -> str:
        """Return what an entry is shortened to; what takes no more than `enough` is whole, and known from then on."""
        found = self._shorts.get((body, limit))
        if found is None:
            found = shortened(entry, body, self._find, limit, self._relevance.weights, enough=enough)
            if enough is None or size_of(found) <= enough:
                self._shorts[body, limit] = found
        return found

    def _in_part(self, item: Retrieved, form: Form, content: str, texts: Texts, before: frozenset[str]) -> PackedEntry:
        """Return an item of which a part is given, where a passage of it is new; its passages count as given later."""
        told = self._told(item, form, content, texts).after(before)
        return told if told.content else texts.known(item, before)

    def _longest(self, item: Retrieved, form: Form, texts: Texts) -> int:
        """Return how many bytes a shortened entry may take."""

        def bare(most: int) -> int:
            least = self.printed.entry(PackedEntry(item, Form.SUMMARY, ""))
            if least >= most:
                # What stands beneath it takes long to find, and can only take more.
                texts.passed(item)
                return least
            told = self._told(item, Form.SUMMARY, "", texts, size=_MUCH + 1 if form is Form.FULL else 0)
            return self.printed.entry(told)

        return self._portions.longest(item, form, bare, self._left)

    def _told(self, item: Retrieved, form: Form, content: str, texts: Texts, size: int = 0) -> PackedEntry:
        beneath, size = texts.beneath(item), size or len(content)
        if size > _MUCH or form is Form.SUMMARY:
            is_best = self._relevance.is_best(item.entry) and self.found.is_indexed
            beneath = fewer(beneath, most=self._most_cited(size), is_best=is_best, is_brief=self.found.is_brief)
        beneath = tuple(one for one in beneath if one.how != CITED or one.said)
        return PackedEntry(item, form, content, beneath=beneath, digest=texts.digest(item.entry.address))

    def _most_cited(self, size: int) -> int:
        """Return how many entries that cite one may stand under so many bytes of it."""
        return (
            _FEWER if self.found.is_brief else 0 if self._relevance.is_pressed else _FEWER if size > _MUCH else _FEWEST
        )

    def answer(self, plan: Plan) -> Pack:
        """Return the pack of a plan, with the contradictions that touch what it gives."""
        ranks = self.found.ranks
        given = ranks.in_order(one for one in map(ranks.find, plan.taken) if one is not None)
        fresh = {address: one for address, one in plan.taken.items() if one.form is not Form.GIVEN}
        # Several questions name much by its title: a contradiction counts there where the question is about both.
        lines = {address for address, one in fresh.items() if self.found.is_brief and one.form is Form.LINE}
        told, matching = fresh.keys() - lines, {address for address in lines if fresh[address].item.score > 0}
        return Pack(
            scope=self.found.scope,
            items=tuple(plan.taken[one.entry.address] for one in given),
            proposed=tuple(plan.drafts.values()),
            searched=self.found.searched,
            likely_room=self.found.likely_room,
            budget=self.budget,
            basis=replace(
                self.found.basis,
                conflicts=self.found.basis.contradictions_of(told - self._relevance.bystanders, named=matching),
                omitted=(),
                omitted_counts=(),
            ),
        )

    def with_omissions(self, answer: Pack, plan: Plan, limit: int) -> Pack:
        """Return the pack with the names of what it leaves out, as many as find room, and the counts of the rest."""
        covering = frozenset(item.entry.address for item in self._remainder.covering(plan))
        left = self._remainder.first(plan, covering, most=OMITTED_LISTED)
        # What was given before has its room, and is not printed.
        printed = sum(self._sizes[id(one)] for one in (*plan.taken.values(), *plan.drafts.values())) - plan.beside
        used = printed + self.printed.rest(answer)
        omitted: list[Omission] = []
        for address, kind, why in left:
            one = Omission(address, str(kind), why)
            cost = self.printed.omission(one)
            used += cost
            if cost and used > limit:
                break
            omitted.append(one)
        rest = self._remainder.reasons(plan)
        rest.subtract((kind, why) for _, kind, why in left[: len(omitted)])
        counts = [*self.found.basis.omitted_counts, *count_reasons(+rest)]
        return replace(
            answer,
            tokens=tokens_of(min(used, limit) + plan.beside),
            basis=replace(answer.basis, omitted=tuple(omitted), omitted_counts=summed(counts), covering=covering),
        )

    def naming(self, plan: Plan) -> int:
        """Return the bytes that naming what covers a given path and is not given takes."""
        left = ((one.entry, self._remainder.why(one, plan)) for one in self._remainder.covering(plan))
        return sum(self.printed.omission(Omission(one.address, one.type, why)) for one, why in left)
