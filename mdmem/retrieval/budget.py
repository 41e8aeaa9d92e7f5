"""What fits a budget, what was shortened, what was left out and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from mdmem.entry.model import EntryType
from mdmem.entry.text import content_of, summary_of, tokens_of
from mdmem.retrieval.question import AnswerBasis, Omission, Retrieval, Retrieved, count_omitted
from mdmem.workspace.scope import Scope

OMITTED_LISTED = 50
# Below this many tokens left, not even an address and a title fit.
_SMALLEST = 12
_GIVE_UP_AFTER = 40


class Form(StrEnum):
    """Whether an item is given whole or shortened."""

    FULL = "full"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """One item as it is handed over."""

    item: Retrieved
    form: Form
    content: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """The answer within a budget: what is given, what is not and why, and what it costs in `tokens`."""

    scope: Scope
    items: tuple[PackedEntry, ...] = ()
    proposed: tuple[PackedEntry, ...] = ()
    searched: tuple[str, ...] = ()
    likely_room: str | None = None
    tokens: int = 0
    budget: int
    basis: AnswerBasis

    @property
    def over_budget(self) -> bool:
        """Say whether the answer costs more than the budget, which only invariants may make it."""
        return self.tokens > self.budget


# Returns the body of an entry; asked only for entries that are about to be given.
Body = Callable[[str], str]
# Returns the size of an entry's body in bytes without reading it.
Size = Callable[[str], int]


def pack(found: Retrieval, budget: int, *, body: Body, size: Size, proposed: tuple[Body, Size] | None = None) -> Pack:
    """Return what fits the budget, in the order of the retrieval.

    Dropped first is what is no longer in force, then what is only proposed, then notes that do not match, then notes;
    then patterns are shortened and decisions that do not match trimmed; then patterns go, and decisions are shortened
    or go, the lowest rank first. Invariants in force stay, whole, whatever the budget. `proposed` are body and size of
    what is proposed, where they are others.
    """
    plan = _Plan(found.items, body, size)
    plan.reduce_to(budget)
    drafts = _Plan(found.proposed, *(proposed or (body, size)))
    drafts.fill(max(0, budget - plan.total))
    omitted = [*found.basis.omitted, *plan.omitted(), *drafts.omitted()]
    basis = replace(
        found.basis,
        conflicts=found.basis.contradictions_of(plan.forms),
        omitted=tuple(omitted[:OMITTED_LISTED]),
        omitted_counts=(*found.basis.omitted_counts, *count_omitted(omitted[OMITTED_LISTED:])),
    )
    return Pack(
        scope=found.scope,
        items=plan.packed(),
        proposed=drafts.packed(),
        searched=found.searched,
        likely_room=found.likely_room,
        tokens=plan.total + drafts.total,
        budget=budget,
        basis=basis,
    )


@dataclass(slots=True)
class _Plan:
    """Which items are given, and in which form; the cost of each is known without reading what will not be given."""

    items: Sequence[Retrieved]
    body: Body
    size: Size
    forms: dict[str, Form] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    total: int = 0
    _measured: dict[tuple[str, Form], int] = field(default_factory=dict)

    def reduce_to(self, budget: int) -> None:
        """Start with everything whole, then take away in the order of the policy until it fits."""
        for item in self.items:
            self._give(item, Form.FULL)
        self._drop((item for item in reversed(self.items) if not item.current), budget, "no longer in force")
        self._drop((item for item in reversed(self.items) if item.is_proposal), budget, "proposed, over the budget")
        lasting = [item for item in reversed(self.items) if item.current and not item.is_proposal]
        by_type = {kind: [item for item in lasting if item.entry.type is kind] for kind in EntryType}
        notes, patterns, decisions = by_type[EntryType.NOTE], by_type[EntryType.PATTERN], by_type[EntryType.DECISION]
        self._drop((note for note in notes if not note.matches), budget, "note that does not match")
        self._drop(notes, budget, "over the budget")
        self._shorten(patterns, budget)
        marginal = [decision for decision in reversed(decisions) if not decision.matches]
        if self.total > budget:
            self._take_back_all(marginal, "decision that does not match")
            self._drop((pattern for pattern in patterns if not pattern.matches), budget, "over the budget")
            self._drop(patterns, budget, "over the budget")
            self._refill([decision for decision in reversed(decisions) if decision.matches], budget)
            self._fill([pattern for pattern in reversed(patterns) if pattern.entry.address not in self.forms], budget)
            self._fill(marginal, budget, "decision that does not match")

    def _refill(self, items: Sequence[Retrieved], budget: int) -> None:
        """Where items do not fit together, give them again, the best first, and whole again while that fits."""
        if self.total > budget:
            self._take_back_all(items, "over the budget")
            self._fill(items, budget)
            self._lengthen(items, budget)

    def _lengthen(self, items: Sequence[Retrieved], budget: int) -> None:
        for item in items:
            address = item.entry.address
            more = self._cost(item, Form.FULL) - self.costs.get(address, 0)
            if self.forms.get(address) is Form.SUMMARY and self.total + more <= budget:
                self._take_back(item, "")
                self._give(item, Form.FULL)

    def fill(self, budget: int) -> None:
        """Give items in their order while they fit."""
        self._fill(self.items, budget)

    def _fill(self, items: Sequence[Retrieved], budget: int, why: str = "over the budget") -> None:
        """Give each item in turn: whole if all fit or it takes at most half of what is left, else shortened."""
        if self.total + sum(self._cost(item, Form.FULL) for item in items) <= budget:
            for item in items:
                self._give(item, Form.FULL)
            return
        misses = 0
        for item in items:
            left = budget - self.total
            # To see how short an item can be made it has to be read: past a few that do not fit, none is.
            hopeless = left < _SMALLEST or misses > _GIVE_UP_AFTER
            form = Form.FULL if hopeless else self._form(item, left)
            if hopeless or self._cost(item, form) > left:
                self.reasons[item.entry.address] = why
                misses += 1
            else:
                self._give(item, form)

    def _form(self, item: Retrieved, left: int) -> Form:
        whole = self._cost(item, Form.FULL)
        return Form.FULL if 2 * whole <= left or whole <= self._cost(item, Form.SUMMARY) else Form.SUMMARY

    def _drop(self, items: Iterable[Retrieved], budget: int, why: str) -> None:
        for item in items:
            if self.total <= budget:
                return
            if item.entry.address in self.forms:
                self._take_back(item, why)

    def _take_back_all(self, items: Iterable[Retrieved], why: str) -> None:
        for item in items:
            self._take_back(item, why)

    def _shorten(self, items: Iterable[Retrieved], budget: int) -> None:
        for item in items:
            if self.total <= budget:
                return
            if self._cost(item, Form.SUMMARY) < self._cost(item, Form.FULL):
                self._take_back(item, "")
                self._give(item, Form.SUMMARY)

    def _give(self, item: Retrieved, form: Form) -> None:
        address = item.entry.address
        self.reasons.pop(address, None)
        self.forms[address], self.costs[address] = form, self._cost(item, form)
        self.total += self.costs[address]

    def _take_back(self, item: Retrieved, why: str) -> None:
        address = item.entry.address
        self.total -= self.costs.pop(address)
        del self.forms[address]
        self.reasons[address] = why

    def _cost(self, item: Retrieved, form: Form) -> int:
        known = self._measured.get((item.entry.address, form))
        if known is None:
            known = self._measured[item.entry.address, form] = self._measure(item, form)
        return known

    def _measure(self, item: Retrieved, form: Form) -> int:
        entry = item.entry
        head = _bytes_of(f"{entry.address}\n{entry.title}\n")
        if form is Form.SUMMARY:
            return tokens_of(head + _bytes_of(summary_of(entry, self.body(entry.address))))
        fields = _bytes_of(content_of(entry, ""))
        return tokens_of(head + self.size(entry.address) + (fields + 2 if fields else 0))

    def packed(self) -> tuple[PackedEntry, ...]:
        """Return what is given, in the order of the items."""
        return tuple(self._pack(item) for item in self.items if item.entry.address in self.forms)

    def _pack(self, item: Retrieved) -> PackedEntry:
        address = item.entry.address
        text = self.body(address)
        form = self.forms[address]
        content = content_of(item.entry, text) if form is Form.FULL else summary_of(item.entry, text)
        return PackedEntry(item, form, content, self.costs[address])

    def omitted(self) -> list[Omission]:
        """Return what is not given, in the order of the items."""
        left = [item.entry for item in self.items if item.entry.address not in self.forms]
        return [Omission(entry.address, entry.type.value, self.reasons[entry.address]) for entry in left]


def _bytes_of(text: str) -> int:
    # The name of a file need not be UTF-8.
    return len(text.encode("utf-8", "surrogateescape"))
