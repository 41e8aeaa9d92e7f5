"""Several questions in one call: one answer each, short ones, and what several share is given once."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.dataclass import dataclass, replace
from mdmem.finding import Finding
from mdmem.retrieval.pack import NOTHING_GIVEN, PLAIN, Form, Given, Pack, PackedEntry, Printed
from mdmem.retrieval.question import Question
from mdmem.retrieval.retrieve import Reading, read_steadily, retrieve_from
from mdmem.workspace.workspace import Workspace

# Twelve at this size are 20 KB; what governs and its best passages are 1,000 to 1,300 bytes of 1,600.
SHORT_BUDGET = 400
# Of what was given or named before, a line where it is among the best for the question: the rest is known by then.
_REPEATED = 2
# No address is like these: under one stands which problems were told, under the other the files of the work at hand.
_PROBLEMS, _AT_HAND = "!", "/"


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the questions of a call, and what binds for it."""

    question: Question
    pack: Pack


@dataclass(frozen=True, slots=True)
class Answers:
    """What a call gives: the answer to the work at hand, if it was asked for, then the short ones, in their order.

    `unread` are other projects' wings, where the questions named none. `known`: its problems were told before. `paths`
    are the files of the work at hand, which later questions of the session are about, too.
    """

    main: Pack | None
    short: tuple[Answer, ...]
    unread: tuple[str, ...] = ()
    known: bool = False
    paths: tuple[str, ...] = ()

    @property
    def packs(self) -> tuple[Pack, ...]:
        """Return the answers in their order."""
        return (*((self.main,) if self.main is not None else ()), *(one.pack for one in self.short))

    @property
    def problems(self) -> tuple[Finding, ...]:
        """Return what could not be read for any of the questions, each file once."""
        return tuple(dict.fromkeys(problem for pack in self.packs for problem in pack.basis.problems))

    @property
    def gave(self) -> dict[str, str]:
        """Return the digest of each entry that is handed over with its content, by address, and the work at hand."""
        entries = {address: digest for pack in self.packs for address, digest in pack.gave.items()}
        files = {_AT_HAND: "\0".join(self.paths)} if self.paths else {}
        return entries | files | ({_PROBLEMS: _digest_of(self.problems)} if self.problems else {})


def answer_each(
    workspace: Workspace,
    main: Question | None,
    questions: Sequence[Question],
    *,
    budget: int | None = None,
    printed: Printed = PLAIN,
    printed_short: Printed = PLAIN,
    given: Given = NOTHING_GIVEN,
) -> Answers:
    """Return one answer for each question, all from files that stood still; the budget is that of each.

    The files of the work at hand say for each which invariants bind. What one answer gives is a line in those behind
    it, and no line where it stands there only because it always does.
    """
    if not questions:
        from mdmem.retrieval.retrieve import retrieve

        pack = retrieve(workspace, main or Question(), budget=budget, printed=printed, given=given)
        return Answers(pack, (), paths=main.paths if main is not None else ())

    # Of several calls with files the latest says what the work is.
    at_hand = main.paths if main is not None else tuple(filter(None, given.get(_AT_HAND, "").split("\0")))

    def read(reading: Reading) -> Answers:
        before = dict(given)
        first = None
        if main is not None:
            first = retrieve_from(reading, main, budget=budget, printed=printed, given=before)
            before |= first.gave
        short: list[Answer] = []
        for question in questions:
            room = SHORT_BUDGET if budget is None else budget
            asked = replace(question, beside=at_hand)
            pack = retrieve_from(reading, asked, budget=room, printed=printed_short, given=before, is_brief=True)
            short.append(Answer(question, without_repeats(pack, [first, *(one.pack for one in short)])))
            before |= pack.gave
        answers = Answers(first, tuple(short), _unread(reading, short[0]), paths=at_hand)
        return replace(answers, known=given.get(_PROBLEMS) == _digest_of(answers.problems))

    return read_steadily(workspace, read)


def _digest_of(problems: Sequence[Finding]) -> str:
    from hashlib import sha256

    return sha256(repr(problems).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _unread(reading: Reading, one: Answer) -> tuple[str, ...]:
    """Return the wings of other projects that questions without a wing were not put to."""
    if one.question.filters.wings:
        return ()
    wings = reading.catalog.wings
    return tuple(name for name in wings if not wings[name].is_shared and name not in one.pack.scope.wings)


def without_repeats(pack: Pack, earlier: Sequence[Pack | None]) -> Pack:
    """Return a short answer without contradictions that were told, and what was given or named and is not its best."""
    packs = [other for other in earlier if other is not None]
    told = {one for other in packs for one in other.basis.conflicts}
    basis = replace(pack.basis, conflicts=tuple(one for one in pack.basis.conflicts if one not in told))
    best = sorted(pack.items, key=lambda one: -one.item.score)[:_REPEATED]
    named = {one.item.entry.address for other in packs for one in other.items}

    def is_news(one: PackedEntry) -> bool:
        is_known = one.form is Form.GIVEN or one.item.entry.address in named
        return not (one.form.is_line and is_known) or (one in best and one.item.score > 0)

    kept = (one for one in pack.items if is_news(one))
    return replace(pack, items=tuple(kept), basis=basis)
