"""Fit the items of a retrieval into a budget, by the table of slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, takewhile

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask.answer import (
    NO_MATCH,
    NOT_CURRENT,
    OVER_BUDGET,
    RELATIONS,
    WEAK,
    Answer,
    Form,
    Item,
    Mention,
    Omission,
    count_omitted,
    sum_counts,
)
from mdmem.ask.excerpt import excerpt, rule_of
from mdmem.ask.limits import (
    MOST_PROPOSED,
    SHORT_SLOTS,
    SHORTEST,
    SLOTS,
    SMALL_BUDGET,
    SMALL_SLOTS,
    WEAK_SHARE,
    WHOLE,
    Slots,
)
from mdmem.ask.mentions import Mentions, in_short
from mdmem.ask.question import Question
from mdmem.ask.rank import fit_key
from mdmem.ask.session import NOTHING_SHOWN, Shown, marks_of, note_of, paragraphs_of, parts_shown, unseen
from mdmem.ask.session import WHOLE as ALL
from mdmem.markdown.sentences import size_of
from mdmem.markdown.text import BYTES_A_TOKEN, content_of, tokens_of
from mdmem.model.entry import EntryType
from mdmem.store.workspace.workspace import Workspace

OMITTED_LISTED = 50
_COUNTED = (WEAK, NO_MATCH)
_BEST = 10
# Bytes around the address and the title of an entry: brackets, marks, line ends.
_AROUND = 40
# Bytes of a line, held back for each match that is yet to be placed.
_LINE = 120


class Texts(Struct, frozen=True):
    """The memory that fitting reads; `searches` says whether entries may be searched for mentions of others."""

    workspace: Workspace
    searches: bool

    def body(self, address: str) -> str:
        """Return the body of an entry."""
        return self.workspace.catalog.body(address)

    def digest(self, address: str) -> str:
        """Return the version of an entry; empty if there is none."""
        return self.workspace.catalog.digests.get(address, "")

    def mentions(self, item: Item, *, searches: bool) -> tuple[Mention, ...]:
        """Return the lines under an item; without `searches`, only links count as mentions."""
        if self.workspace.catalog.entries.get(item.address) != item.entry:
            return ()
        return Mentions(self.workspace, self.searches and searches).of(item.entry, item.relations)


def fit(
    found: Answer,
    question: Question,
    budget: int,
    *,
    texts: Texts,
    proposed: Texts | None = None,
    shown: Shown = NOTHING_SHOWN,
    is_short: bool = False,
) -> tuple[Answer, dict[str, str]]:
    """Return what fits the budget in tokens, and what to remember of it in a session.

    The unconditional invariants come whole, whatever the budget is. `proposed` are the texts of what is only proposed,
    where they differ. A `is_short` answer is one of several.
    """
    slots = SHORT_SLOTS if is_short else SMALL_SLOTS if budget <= SMALL_BUDGET else SLOTS
    fitting = _Fitting(found, question, budget * BYTES_A_TOKEN, slots, texts, shown)
    fitting.place_invariants()
    fitting.place_on_path()
    fitting.place_matches()
    fitting.place_lines()
    drafts = _Fitting(found, question, fitting.limit, slots, proposed or texts, shown, used=fitting.used)
    drafts.place_proposed()
    order = {item.address: at for at, item in enumerate(found.items)}
    items = sorted(fitting.placed.values(), key=lambda one: (one.entry.type.rank, order.get(one.address, len(order))))
    omitted = [*found.basis.omitted, *fitting.left_out(), *drafts.left_out_proposed()]

    # Weak matches may be thousands, and nobody looks for their names.
    named = sorted((one for one in omitted if one.why not in _COUNTED), key=lambda one: one.why != OVER_BUDGET)
    unnamed = [*named[OMITTED_LISTED:], *(one for one in omitted if one.why in _COUNTED)]
    counts = (*found.basis.omitted_counts, *count_omitted(unnamed))
    visible = {address for address, item in fitting.placed.items() if item.form is not Form.GIVEN}
    answer = replace(
        found,
        question=question,
        items=tuple(items),
        proposed=tuple(drafts.placed.values()),
        tokens=tokens_of(drafts.used + fitting.beyond),
        budget=budget,
        basis=replace(
            found.basis,
            conflicts=found.basis.contradictions_of(visible),
            omitted=tuple(named[:OMITTED_LISTED]),
            omitted_counts=sum_counts(counts),
        ),
    )
    return answer, fitting.notes | drafts.notes


class _Fitting(Struct, dict=True):
    """The space of one answer, and the items that have a place in it."""

    found: Answer
    question: Question
    limit: int
    slots: Slots
    texts: Texts
    shown: Shown
    placed: dict[str, Item] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    used: int = 0
    beyond: int = 0

    @cached_property
    def best(self) -> float:
        """Return the best score of all items."""
        return max((one.score for one in self.found.items), default=0.0)

    def place_invariants(self) -> None:
        """Place the unconditional invariants whole; without paths, one that applies to some files is a line."""
        for item in self.found.items:
            if item.unconditional and not item.is_proposal:
                is_elsewhere = bool(item.entry.applies_to) and not self.question.paths and self._is_weak(item)
                placed = self._line(item) if is_elsewhere else self._whole(item, searches=False)
                self.beyond += self._put(placed)

    def place_on_path(self) -> None:
        """Place the decisions and patterns that apply to a given path: whole, else as an excerpt, else as a line."""
        room = int(self.slots.path_share * self.limit)
        for item in self.found.items:
            is_rule = item.entry.type in (EntryType.INVARIANT, EntryType.DECISION, EntryType.PATTERN)
            if item.on_path and is_rule and item.address not in self.placed:
                forms = (self._whole, lambda one: self._excerpt(one, self.slots.excerpts[1]), self._line)
                self._place(room, (form(item) for form in forms))

    def place_matches(self) -> None:
        """Place the best matches by type, then score, each with the text that its rank by score allows.

        Matches that the session has seen are named, and take no rank from others.
        """
        strong = [one for one in self._strong_matches() if one.address not in self.placed]
        matches = list(islice((one for one in strong if not self._is_given(one)), _BEST))
        for item in takewhile(lambda one: one is not matches[-1], strong) if matches else strong[:_BEST]:
            if self._is_given(item):
                self._place(self.limit, [self._line(item)])
        ranks = {item.address: rank for rank, item in enumerate(matches)}
        is_rule_a_line = False
        for at, item in enumerate(
            sorted(matches, key=lambda one: (one.is_proposal, one.entry.type.rank, ranks[one.address]))
        ):
            is_note = item.entry.type is EntryType.NOTE
            lines = min(len(matches) - at - 1, self.slots.lines)
            room = self.limit - _LINE * lines
            rank, share = ranks[item.address], item.score / (matches[0].score or 1.0)
            is_text_wanted = rank < len(self.slots.excerpts) and (not rank or share >= self.slots.text_share)
            has_text = is_text_wanted and not (is_note and (is_rule_a_line or not self.slots.has_notes))
            if has_text and self._place(room, self._excerpts_of(item, rank)):
                continue
            is_rule_a_line = is_rule_a_line or not is_note
            is_named = rank < len(self.slots.excerpts) + self.slots.lines and (self.slots.has_notes or not is_note)
            if is_named and share >= self.slots.line_share:
                self._place(self.limit, [self._line(item)])

    def _excerpts_of(self, item: Item, rank: int) -> Iterator[Item]:
        """Yield the excerpts of a match, the largest first, each with its mentions, then without their sentences.

        The best match has text before its mentions have lines. Other matches name the entries that only mention them.
        """
        is_short = self.slots is SHORT_SLOTS
        for size in dict.fromkeys((*self.slots.excerpts[rank:], *([] if is_short and rank else [SHORTEST]))):
            one = self._excerpt(item, size, searches=rank < (1 if is_short else 3))
            if is_short or rank:
                one = replace(one, mentions=in_short(one.mentions))
            yield one
            one = replace(one, mentions=tuple(replace(mention, said="") for mention in one.mentions))
            yield one
        if not rank:
            yield replace(one, mentions=in_short(one.mentions))

    def place_lines(self) -> None:
        """Place the titles of the best of what is left, and of the decisions of a wing that has few."""
        rest = [item for item in self._by_fit() if item.address not in self.placed and item.current]
        least = self.slots.line_share * self.best
        rest = sorted((item for item in rest if item.score >= least), key=lambda one: one.entry.type.rank)
        room = min(self.limit, self.used + self.limit // 10)
        for item in islice((one for one in rest if not self._is_given(one)), self.slots.lines):
            if not self._place(room, [self._line(item)]):
                break
        for item in self.found.unmatched if self.slots is SLOTS else ():
            self._place(self.limit, [self._line(item, is_described=True)])

    def place_proposed(self) -> None:
        """Place the best drafts, each as a short excerpt, else as a line."""
        for item in self._nearest_proposed():
            described = self.found.describe_proposed(item)
            forms = [self._line(described, is_described=True)]
            if item.on_path or item.score >= self.slots.text_share * self._best_of_all():
                forms.insert(0, self._excerpt(described, self.slots.excerpts[-1], is_described=True))
            self._place(self.limit, forms)

    def _nearest_proposed(self) -> list[Item]:
        """Return the best drafts that are no weak match, in the order of all drafts."""
        nearest = sorted(self.found.proposed, key=fit_key)[:MOST_PROPOSED]
        least = WEAK_SHARE * self._best_of_all()
        return [
            one
            for one in self.found.proposed
            if one in nearest and (one.unconditional or one.on_path or one.score >= least)
        ]

    def _best_of_all(self) -> float:
        return max((one.score for one in (*self.found.items, *self.found.proposed)), default=0.0)

    def left_out(self) -> Iterator[Omission]:
        """Yield the items that have no place, what applies to a path first."""
        for item in sorted(self.found.items, key=lambda one: not one.on_path):
            if item.address not in self.placed:
                why = NOT_CURRENT if not item.current else WEAK if self._is_weak(item) else OVER_BUDGET
                why = f"proposed, {why}" if item.is_proposal else why
                yield Omission(item.address, item.entry.type.value, why)
        for item in self.found.unmatched:
            if item.address not in self.placed:
                yield Omission(item.address, item.entry.type.value, item.reason)

    def left_out_proposed(self) -> Iterator[Omission]:
        """Yield the drafts that have no place."""
        nearest = {one.address for one in self._nearest_proposed()}
        for item in self.found.proposed:
            if item.address not in self.placed:
                why = OVER_BUDGET if item.address in nearest else WEAK
                yield Omission(item.address, item.entry.type.value, f"proposed, {why}")

    def _by_fit(self) -> Sequence[Item]:
        """Return the items by score; without words in the order of authority."""
        return sorted(self.found.items, key=fit_key) if self.found.weights else self.found.items

    def _strong_matches(self) -> list[Item]:
        """Return the matches that are not weak, the best first, but for unconditional invariants."""
        strong = [one for one in self._by_fit() if one.current and not self._is_weak(one)]
        return [one for one in strong if not one.unconditional or one.is_proposal]

    def _is_given(self, item: Item) -> bool:
        """Return whether the session has seen the whole entry, or all that this answer would show of it."""
        known = parts_shown(self.shown.get(item.address, ""), self.texts.digest(item.address))
        if not known or known >= ALL:
            return bool(known)
        content = content_of(item.entry, body := self.texts.body(item.address))
        size = self.slots.excerpts[0]
        is_long = size_of(content) > max(WHOLE, size)
        return not unseen(excerpt(item.entry, body, size, self.found.weights) if is_long else content, known)

    def _is_weak(self, item: Item) -> bool:
        """Return whether an item only touches the question."""
        if not self.found.weights or item.on_path:
            return False
        return item.inherited or item.score < WEAK_SHARE * self.best or not item.score

    def _place(self, room: int, forms: Iterable[Item]) -> bool:
        """Place the first of some forms of an item that fits the room; say whether one did."""
        for item in forms:
            size = self._size(item)
            if self.used + size <= room:
                self.used += self._put(item)
                return True
            # Nothing of it is shown, so that there is nothing to remember.
            self.notes.pop(item.address, None)
        return False

    def _put(self, item: Item) -> int:
        self.placed[item.address] = item
        if item.form.is_line:
            # A larger form was tried, and nothing of it is shown.
            self.notes.pop(item.address, None)
        return self._size(item)

    def _whole(self, item: Item, *, searches: bool = True) -> Item:
        described = self.found.describe(item)
        content = content_of(item.entry, self.texts.body(item.address))
        return self._with_content(described, content, Form.FULL, searches=searches)

    def _excerpt(self, item: Item, size: int, *, searches: bool = False, is_described: bool = False) -> Item:
        described = item if is_described else self.found.describe(item)
        body = self.texts.body(item.address)
        content, form = content_of(item.entry, body), Form.FULL
        if size_of(content) > max(WHOLE, size):
            content, form = excerpt(item.entry, body, size, self.found.weights), Form.SUMMARY
        return self._with_content(described, content, form, searches=searches)

    def _with_content(self, item: Item, content: str, form: Form, *, searches: bool) -> Item:
        """Return an item with its content, but for the paragraphs that the session has seen."""
        digest = self.texts.digest(item.address)
        known = parts_shown(self.shown.get(item.address, ""), digest)
        fresh = unseen(content, known) if known else content
        if known and not fresh:
            return replace(item, form=Form.GIVEN)
        self.notes[item.address] = note_of(
            digest, ALL if form is Form.FULL else known | marks_of(paragraphs_of(content))
        )
        form = Form.SUMMARY if fresh != content else form
        return replace(item, content=fresh, form=form, mentions=self.texts.mentions(item, searches=searches))

    def _line(self, item: Item, *, is_described: bool = False) -> Item:
        described = item if is_described else self.found.describe(item)
        digest = self.texts.digest(item.address)
        if parts_shown(self.shown.get(item.address, ""), digest):
            return replace(described, form=Form.GIVEN)
        # No budget parts a one-sided supersession from the entry that it names.
        claims = ((how, address) for how in ("claimed_by", "claims") for address in getattr(described, how))
        mentions = tuple(Mention(RELATIONS[how], address, described.titles[address]) for how, address in claims)
        rule = rule_of(self.texts.body(item.address)) if item.unconditional else ""
        return replace(described, form=Form.LINE, content=rule, mentions=mentions)

    def _size(self, item: Item) -> int:
        """Return the bytes that an item takes as text."""
        head = size_of(f"{item.entry.type}{item.address}{item.entry.title}") + _AROUND
        content = size_of(item.content) + 2 * (item.content.count("\n") + 2) if item.content else 0
        return (
            head + content + sum(size_of(f"{one.how}{one.address}{one.title}{one.said}") + 20 for one in item.mentions)
        )


def without_repeats(items: Iterable[Item], known: Mapping[str, object]) -> tuple[Item, ...]:
    """Return the items of a short answer without the invariants and titles that the call has shown before."""
    return tuple(one for one in items if not (one.form is Form.GIVEN and not one.score and one.address in known))
