"""What a retrieval answers: its entries, each described when it is asked for, and what ranks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

from mdmem.ask.kinds import Force, Ranks
from mdmem.ask.question import AnswerBasis, AnsweredEntry, Described, Tier, likeness_key
from mdmem.model.entry import Entry, EntryType, instant_of
from mdmem.store.workspace.scope import Scope


class Retrieved(AnsweredEntry, frozen=True, kw_only=True):
    """One entry of a retrieval, with the reasons that brought it in.

    `matches` says that it holds at least half of the question's words or covers a path; `current` that it is in force;
    `overrides` are the shared rules it replaces here or in a narrower place, `overridden_by` what replaces it here.
    `terms` are those of the question that it, or what it replaced, holds; `on_path` says that its `applies_to` meets a
    given path, `is_unconditional` that it is an invariant
    which is part of every answer, `lies_aside` that it applies to other files than the work at hand. `why` gives the
    reasons in words: of thousands that match a few are told.
    """

    sort_key: SortKey
    tier: Tier
    matches: bool
    current: bool
    why: Callable[[], str]
    overrides: tuple[str, ...] = ()
    terms: frozenset[str] = frozenset()
    on_path: bool = False
    overridden_by: tuple[str, ...] = ()
    is_unconditional: bool = False
    lies_aside: bool = False

    @property
    def reason(self) -> str:
        """Return the reasons that brought it in, in words."""
        return self.why()

    @property
    def described(self) -> Retrieved:
        """Return this one."""
        return self


FitKey = tuple[tuple[float, float, float], float, str]
SortKey = tuple[int, bool, bool, int, int, tuple[float, float, float], float, str]


def sort_key_of(entry: Entry, score: float, *, force: Force) -> SortKey:
    """Order by authority, scope, certainty, score, age, address: likeness never moves an entry across types.

    What ended stands behind all of its type that is in force, and what is proposed behind what binds.
    """
    return (entry.type.rank, *force, *fit_key_of(entry, score))


def fit_key_of(entry: Entry, score: float) -> FitKey:
    """Order by score, age, address: how well an entry fits, whatever its authority."""
    made = entry.created_at
    newest = _negative(made) if isinstance(made, date) else 0.0
    return (likeness_key(entry, score), newest, entry.address)


@lru_cache(maxsize=4096)
def _negative(made: date) -> float:
    return -instant_of(made).timestamp()


class Rank(NamedTuple):
    """What ranks an entry of a retrieval: of thousands that match, a few are described."""

    force: Force
    entry: Entry
    score: float
    terms: frozenset[str]
    current: bool
    is_proposal: bool
    on_path: bool
    lies_aside: bool
    matches: bool
    describe: Callable[[Rank], Retrieved]

    @property
    def sort_key(self) -> SortKey:
        """Return where it stands among the others."""
        return sort_key_of(self.entry, self.score, force=self.force)

    @property
    def described(self) -> Retrieved:
        """Return the entry with all that is said of it."""
        return self.describe(self)


Ranked = Rank | Retrieved


class Retrieval(Struct, frozen=True, kw_only=True):
    """The answer before any budget: items in order, and drafts apart.

    `likely_room` holds most of the best matches; `terms` are those of the question, `common` those of them that say
    little, and `files` counts its paths.
    `is_brief`: it is one of several questions, and its answer is short. `names_bystanders`: no work is at hand that an
    invariant could bind, so that one which nothing of the question touches is only named. `is_indexed`: an index was
    asked, which may be asked more at little cost.
    """

    scope: Scope
    items: Sequence[Retrieved]
    proposed: Sequence[Retrieved] = ()
    searched: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    common: frozenset[str] = frozenset()
    likely_room: str | None = None
    files: int = 0
    is_brief: bool = False
    names_bystanders: bool = False
    is_indexed: bool = False
    basis: AnswerBasis = field(default_factory=AnswerBasis)

    @property
    def ranks(self) -> Ranks[Ranked]:
        """Return what ranks its items, in their order."""
        ranks = _ranks_of(self.items)
        return ranks if isinstance(ranks, Ranks) else Ranks.listed(ranks)

    @property
    def proposed_ranks(self) -> Sequence[Ranked]:
        """Return what ranks the drafts, in their order."""
        return _ranks_of(self.proposed)


def _ranks_of(items: Sequence[Retrieved]) -> Sequence[Ranked]:
    return items.ranked if isinstance(items, Described) else items


def uncovered(items: Sequence[Retrieved]) -> str:
    """Return the sentence over an answer that no rule covers: what stands below always binds, applies or is only near.

    What applies to a given path and is here is no rule, or only proposed: it is called as it is marked below. A pattern
    in force binds: with one that applies or matches, the sentence denies rules alone.
    """
    unasked = [item for item in items if item.is_unconditional and item.score <= 0]
    always = [item for item in unasked if not item.is_proposal]
    applying = [item for item in items if (item.on_path or item in unasked) and item not in always]
    fitting = [item for item in items if is_fitting(item) and item not in applying]
    near = len(items) - len(always) - len(applying) - len(fitting)
    said = [f"{len(always)} invariants always bind" if len(always) > 1 else "1 invariant always binds"] * bool(always)
    kinds = Counter(" ".join((*_proposing(item), item.entry.type)) for item in applying)
    said += [f"{of} {kind}s apply to this" if of > 1 else f"1 {kind} applies to this" for kind, of in kinds.items()]
    said += [f"{len(fitting)} patterns match this" if len(fitting) > 1 else "1 pattern matches this"] * bool(fitting)
    touched = "it" if kinds or fitting else "this"
    said += [f"{near} entries only touch {touched}" if near > 1 else f"1 entry only touches {touched}"] * bool(near)
    if not said:
        return "Nothing binding covers this."
    most, last = ", ".join(said[:-1]), said[-1]
    these = f"{most} and {last}" if most else last
    if fitting or any(map(_is_pattern, applying)):
        return f"{these}; no {'other ' * bool(always)}invariant or decision covers it."
    if not always:
        return f"{these}; nothing binding covers it."
    if kinds:
        return f"{these}; nothing else binding covers it."
    return f"{these}; nothing covers it." if near else f"{these}; nothing else covers this."


def is_fitting(item: Retrieved) -> bool:
    """Say whether an item of an answer is a pattern in force that holds at least half of the question's words."""
    return _is_pattern(item) and item.matches and item.score > 0 and not item.lies_aside


def _is_pattern(item: Retrieved) -> bool:
    return item.entry.type is EntryType.PATTERN and item.current and not item.is_proposal


def _proposing(item: Retrieved) -> list[str]:
    return [item.stance.standing] if item.stance is not None and item.is_proposal else []
