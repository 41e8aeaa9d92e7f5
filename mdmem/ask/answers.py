"""Several questions in one call: one answer each, short ones, and what several share is given once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.pack import NOTHING_GIVEN, PLAIN, Form, Given, Pack, Printed
from mdmem.ask.question import Contradiction, Question
from mdmem.ask.relevance import NEAR
from mdmem.ask.retrieve import Reading, read_steadily, retrieve, retrieve_from
from mdmem.model.finding import Finding
from mdmem.store.workspace.workspace import Workspace

# Twelve at this size are 20 KB; what governs and its best passages are 1,000 to 1,300 bytes of 1,600.
SHORT_BUDGET = 400
# Of what was given or named before, a line where it is among the best for the question: the rest is known by then.
_REPEATED = 2
# No address is like these: under them stand which problems were told, the files of the work at hand, and which
# decisions were named though they share nothing with it.
_PROBLEMS, _AT_HAND, _UNSHARED = "!", "/", "~"


class Answer(Struct, frozen=True):
    """One of the questions of a call, and what binds for it."""

    question: Question
    pack: Pack


class Answers(Struct, frozen=True):
    """What a call gives: the answer to the work at hand, if it was asked for, then the short ones, in their order.

    `unread` are other projects' wings, where the questions named none. `known`: its problems were told before. `paths`
    are the files of the work at hand, which later questions of the session are about, too; `unshared` are the decisions
    that were named so far though they share nothing with it.
    """

    main: Pack | None
    short: tuple[Answer, ...]
    unread: tuple[str, ...] = ()
    known: bool = False
    paths: tuple[str, ...] = ()
    unshared: tuple[str, ...] = ()

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
        files |= {_UNSHARED: "\0".join(self.unshared)} if self.unshared else {}
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
        pack = retrieve(workspace, main or Question(), budget=budget, printed=printed, given=given)
        return _naming_once(Answers(pack, (), paths=main.paths if main is not None else ()), given)

    # Of several calls with files the latest says what the work is.
    at_hand = main.paths if main is not None else tuple(filter(None, given.get(_AT_HAND, "").split("\0")))

    def read(reading: Reading) -> Answers:
        before = dict(given)
        first = None
        if main is not None:
            first = retrieve_from(reading, main, budget=budget, printed=printed, given=before)
            before |= first.gave
        short: list[Pack] = []
        for question in questions:
            room = SHORT_BUDGET if budget is None else budget
            asked = replace(question, beside=at_hand)
            pack = retrieve_from(reading, asked, budget=room, printed=printed_short, given=before, is_brief=True)
            short.append(pack)
            before |= pack.gave
        apart = tuple(map(Answer, questions, without_repeats(first, short)))
        # Files say which wing is meant, and what others rule on these is told by itself.
        answers = Answers(first, apart, () if at_hand else _unread(reading, apart[0]), paths=at_hand)
        return _naming_once(replace(answers, known=given.get(_PROBLEMS) == _digest_of(answers.problems)), given)

    return read_steadily(workspace, read)


def _naming_once(answers: Answers, given: Given) -> Answers:
    """Return answers whose first names what shares nothing with it where that is news, to the call and the session."""
    if answers.main is None:
        return answers
    before = tuple(filter(None, given.get(_UNSHARED, "").split("\0")))
    told = {*given, *before, *(one.item.entry.address for pack in answers.packs for one in pack.items)}
    new = tuple(one for one in answers.main.basis.unshared if one not in told)
    main = replace(answers.main, basis=replace(answers.main.basis, unshared=new))
    return replace(answers, main=main, unshared=(*before, *new))


def _digest_of(problems: Sequence[Finding]) -> str:
    return sha256(repr(problems).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _unread(reading: Reading, one: Answer) -> tuple[str, ...]:
    """Return the wings of other projects that questions without a wing were not put to."""
    if one.question.filters.wings:
        return ()
    wings = reading.catalog.wings
    return tuple(name for name in wings if not wings[name].is_shared and name not in one.pack.scope.wings)


def without_repeats(main: Pack | None, packs: Sequence[Pack]) -> Iterator[Pack]:
    """Yield short answers of which each tells what neither the one to the work at hand nor another one does.

    What was given or named before, or is told further down, is no line unless it is among the best for the question.
    """
    known = {one.item.entry.address for one in main.items} if main is not None else set[str]()
    settled = set(main.basis.conflicts) if main is not None else set[Contradiction]()
    homes, later = _homes(packs), Counter(address for pack in packs for address in _told(pack))
    for at, pack in enumerate(packs):
        later.subtract(_told(pack))
        best = sorted(pack.items, key=lambda one: -one.item.score)[:_REPEATED]
        items = [
            one
            for one in pack.items
            if (one in best and one.item.score > 0 and one.item.score >= NEAR * best[0].item.score)
            or not one.form.is_line
            or (one.form is Form.GIVEN and one.beneath)
            or not (one.form is Form.GIVEN or one.item.entry.address in known or later[one.item.entry.address])
        ]
        conflicts = [one for one in pack.basis.conflicts if homes[one] == at and one not in settled]
        known.update(one.item.entry.address for one in pack.items)
        yield replace(pack, items=tuple(items), basis=replace(pack.basis, conflicts=tuple(conflicts)))


def _homes(packs: Sequence[Pack]) -> dict[Contradiction, int]:
    """Return where each contradiction stands: in the first answer that tells a side of it, else in the first."""
    homes: dict[Contradiction, int] = {}
    for at, pack in reversed(list(enumerate(packs))):
        told = _told(pack)
        for one in pack.basis.conflicts:
            if one.a in told or one.b in told:
                homes[one] = at
    for at, pack in enumerate(packs):
        for one in pack.basis.conflicts:
            homes.setdefault(one, at)
    return homes


def _told(pack: Pack) -> set[str]:
    """Return the entries of which an answer gives more than a line."""
    return {one.item.entry.address for one in pack.items if not one.form.is_line}
