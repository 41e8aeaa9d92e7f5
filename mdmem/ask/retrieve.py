"""The main job: what is binding in a scope, in order, with what contradicts it and what could not be read.

What a wing that a question was not put to holds of it: nobody named a wing, and the active one has less to say.

The decisions in force that share no word and no path with a question: they may bind all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from datetime import date
from heapq import nsmallest
from operator import attrgetter
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.bearings import ended_match
from mdmem.ask.budget import pack
from mdmem.ask.code_paths import absent_paths, code_path
from mdmem.ask.contradictions import contradictions_among
from mdmem.ask.fallback import answer_elsewhere, outside
from mdmem.ask.full_text import find_text
from mdmem.ask.grounds import MATCHING_SHARE
from mdmem.ask.mentions import texts_of
from mdmem.ask.neighbours import rules_elsewhere
from mdmem.ask.pack import NOTHING_GIVEN, PLAIN, Given, Pack, Printed
from mdmem.ask.path_names import NAMED_NOWHERE, Naming, paths_named
from mdmem.ask.problems import problems_in
from mdmem.ask.question import (
    ELSEWHERE,
    NOTHING_SHARED,
    AnswerBasis,
    Coverage,
    Described,
    OmittedCount,
    Passage,
    Question,
    UnreadMatch,
)
from mdmem.ask.ranks import Ranked, Retrieval, Retrieved
from mdmem.ask.select import Selection
from mdmem.errors import GoneError, SettingsError
from mdmem.model.entry import EntryType
from mdmem.model.finding import Finding, Place
from mdmem.store.catalog import Catalog
from mdmem.store.index.protocol import TextAnswer
from mdmem.store.settings import Settings
from mdmem.store.tree import SETTINGS_NAME
from mdmem.store.workspace.proposals import View, view_of
from mdmem.store.workspace.scope import Scope, resolve_scope
from mdmem.store.workspace.workspace import Workspace

_NAMED = 8


def unshared(selection: Selection) -> Collection[str]:
    """Return those that the filters of a question let in, by address."""
    traits, lineage, entries = selection.catalog.traits, selection.catalog.lineage, selection.catalog.entries
    others = traits.of_type[EntryType.DECISION].difference(selection.chosen, selection.omitted)
    shown = (others & lineage.current) | set(filter(lineage.is_unresolved, others & lineage.contradictory))
    if not selection.is_whole:
        shown &= selection.members
    lets_in = selection.question.filters.lets_in
    return [one for one in shown if lets_in(entries[one])] if selection.narrows else shown


def counted(selection: Selection, found: Collection[str]) -> tuple[OmittedCount, ...]:
    """Return their number as an answer tells it: those of other files apart from those that apply to any."""
    # What applies to a file at hand is chosen.
    others = len(selection.catalog.traits.bound.intersection(found)) if selection.question.paths else 0
    counts = {ELSEWHERE: others, NOTHING_SHARED: len(found) - others}
    return tuple(OmittedCount(EntryType.DECISION.value, why, count) for why, count in counts.items() if count)


def named(selection: Selection, found: Collection[str]) -> tuple[str, ...]:
    """Return a few of those that apply to any file, where files are at hand: those in the rooms of what covers these.

    Those of the project come first.
    """
    if not selection.question.paths:
        return ()
    bound, wing = selection.catalog.traits.bound, f"{selection.scope.wing}/"
    covering = filter(selection.covers_path, map(selection.catalog.entries.__getitem__, bound & selection.chosen))
    rooms = {_room_of(one.address) for one in covering}
    # Of thousands none is read for this: an address says its room.
    near = [one for one in found if one not in bound]
    return tuple(nsmallest(_NAMED, near, key=lambda one: (not one.startswith(wing), _room_of(one) not in rooms, one)))


def _room_of(address: str) -> str:
    return address.rpartition("/")[0]


def best_unread(workspace: Workspace, question: Question, found: Retrieval) -> tuple[UnreadMatch, ...]:
    """Return what is in force in a wing that is not read and matches better than all that is read, if anything does.

    Whoever names a wing or a file, or narrows the question, has said where to look.
    """
    if not question.is_plain or found.basis.coverage is Coverage.FULL:
        return ()
    catalog = workspace.catalog
    lineage, entries = catalog.lineage, catalog.entries
    rooms = catalog.rooms.items()
    others = [address for room, held in rooms if room.split("/", 1)[0] not in found.scope.wings for address in held]
    # Where nothing is read, this is the first to see that words are no query.
    answer = find_text(workspace, question, others) if others else None
    if answer is None:
        return ()
    best = max((group.scores[0] for group in found.ranks.groups), default=0.0)
    for match in answer.matches:
        if match.score <= best:
            break
        if len(match.terms) < MATCHING_SHARE * len(answer.terms):
            continue
        for head in (match.key,) if lineage.is_current(match.key) else lineage.heads(match.key):
            if entries[head].wing not in found.scope.wings:
                return (UnreadMatch(entries[head].wing, head, entries[head].title),)
    return ()


_Answer = TypeVar("_Answer")


def retrieval_of(
    catalog: Catalog,
    scope: Scope,
    question: Question,
    *,
    answer: TextAnswer | None,
    today: date,
    naming: Naming = NAMED_NOWHERE,
    source: str = "scan",
) -> Retrieval:
    """Return what the scope holds for a question, before any budget; `answer` is what the full text says of it.

    `naming` are the entries whose text names a given path; `source` is what is read without a full text.
    """
    selection = Selection(catalog, scope, question, answer, today, naming)
    ranks = selection.ranks()
    items = Described[Retrieved](ranks, attrgetter("described"))
    proposed = selection.propose()
    omitted = sorted(selection.omitted.values(), key=lambda one: (catalog.entries[one.address].type.rank, one.address))
    coverage, uncovered = selection.coverage(ranks)
    others = unshared(selection)
    basis = AnswerBasis(
        problems=problems_in(catalog, scope),
        conflicts=tuple(contradictions_among(catalog, selection.chosen)),
        omitted=tuple(omitted),
        omitted_counts=counted(selection, others),
        unshared=named(selection, others),
        # Rooms and filters keep out what binds all the same; invariants of wings only read come by words.
        settled=0 if selection.narrows or scope.rooms or not scope.binds_throughout else len(question.paths),
        coverage=coverage,
        uncovered_terms=uncovered,
        elsewhere=rules_elsewhere(catalog, scope, question.paths),
        unmatched_terms=selection.unmatched_terms(),
        degraded=answer.degraded if answer else False,
        why_degraded=answer.why if answer else None,
        source=answer.source if answer else source,
        ended=ended_match(catalog, answer.matches, question.filters) if answer else (),
    )
    searched = sorted(room for room in catalog.rooms if scope.holds(f"{room}/"))
    return Retrieval(
        scope=scope,
        items=items,
        proposed=proposed,
        searched=tuple(searched),
        likely_room=selection.likely_room(ranks),
        terms=answer.terms if answer else (),
        common=selection.weights.common,
        files=len(question.paths),
        is_indexed=answer is not None and answer.source != "scan",
        basis=basis,
    )


def with_versions(found: Retrieval, others: Iterable[Ranked], addresses: Set[str]) -> Retrieval:
    """Return a retrieval with other versions of the entries at some addresses among what is proposed."""
    kept = [item for item in found.proposed_ranks if item.entry.address not in addresses]
    ranks = sorted([*kept, *others], key=lambda item: item.sort_key)
    return replace(found, proposed=Described(ranks, attrgetter("described")))


def retrieve_in(workspace: Workspace, scope: Scope, question: Question) -> Retrieval:
    """Return what a scope holds for a question, as the files are."""
    catalog, today, source = workspace.catalog, workspace.today, workspace.location.source
    answer, naming = _said_of(workspace, scope, question)
    return retrieval_of(catalog, scope, question, answer=answer, today=today, naming=naming, source=source)


def _ranked_in(workspace: Workspace, scope: Scope, question: Question, addresses: frozenset[str]) -> Iterator[Ranked]:
    """Yield what ranks the entries at a few addresses among all that a scope holds, those that are proposed last."""
    answer, naming = _said_of(workspace, scope, question)
    selection = Selection(workspace.catalog, scope, question, answer, workspace.today, naming)
    yield from selection.ranks(addresses)
    yield from (item for item in selection.propose().ranked if item.entry.address in addresses)


def _said_of(workspace: Workspace, scope: Scope, question: Question) -> tuple[TextAnswer | None, Naming]:
    """Return what the full text says of a question, None where it has no words, and who names its paths."""
    addresses = scope.read(workspace.catalog)
    answer = None
    if question.words.strip() and addresses:
        answer = find_text(workspace, question, addresses)
    return answer, paths_named(workspace.catalog, question.paths, addresses)


class Reading(Struct, frozen=True):
    """A root as one answer reads it: its settings as far as they can be read, and what is wrong with them."""

    workspace: Workspace
    settings: Settings
    faults: tuple[Finding, ...]

    @property
    def view(self) -> View:
        """Return what answers, and the files as they are."""
        return view_of(self.workspace)

    @property
    def catalog(self) -> Catalog:
        """Return the entries that answer."""
        return self.view.effective.catalog

    def retrieve(self, scope: Scope, question: Question) -> Retrieval:
        """Return what a scope holds for a question, with the versions of its entries that are only proposed."""
        view = self.view
        found = retrieve_in(view.effective, scope, question)
        if view.alternatives:
            others = _ranked_in(view.checkout, scope, question, view.alternatives)
            found = with_versions(found, others, view.alternatives)
        return replace(found, basis=replace(found.basis, problems=(*self.faults, *found.basis.problems)))


def reading_of(workspace: Workspace) -> Reading:
    """Return a workspace as one answer reads it: settings that cannot be read are a problem of it, no obstacle."""
    return Reading(workspace, *forgiving_settings(workspace))


def read_steadily(
    workspace: Workspace,
    answer: Callable[[Reading], _Answer],
    *,
    unsettled: tuple[type[BaseException], ...] = (GoneError,),
) -> _Answer:
    """Return an answer from files that stood still while they were read.

    Where one goes away meanwhile, as in a checkout, everything is read again, once, with the index that is open; what
    is raised the second time is the caller's. `unsettled` is what is worth a second attempt.
    """
    try:
        return answer(reading_of(workspace))
    except unsettled:
        return answer(reading_of(workspace.reread()))


def forgiving_settings(workspace: Workspace) -> tuple[Settings, tuple[Finding, ...]]:
    """Return the settings as far as they can be read, and what is wrong with them."""
    try:
        return workspace.settings, ()
    except SettingsError as error:
        help_ = "mend it; the defaults hold until then"
        fault = Finding("settings-invalid", str(error), Place(SETTINGS_NAME, error.line), help_)
        return error.readable if isinstance(error.readable, Settings) else Settings(), (fault,)


def with_fallback(basis: AnswerBasis, workspace: Workspace, words: str, *, why: str) -> AnswerBasis:
    """Return the basis of an answer that comes from outside the memory, where nothing of it can be read.

    Who may not see all is told nothing: a search of the workspace finds the files of wings, too.
    """
    source, passages = "workspace", tuple[Passage, ...]()
    if not workspace.access.is_narrow:
        source, passages = answer_elsewhere(workspace.location.base, workspace.location.repository, words)
    return replace(basis, source=source, fallback=passages, degraded=True, why_degraded=why)


def with_outside(basis: AnswerBasis, workspace: Workspace, words: str) -> AnswerBasis:
    """Return the basis of an answer with a few lines from outside the memory, where nothing binding covers it.

    What another wing says, on a given path or in the words, is the better answer, and that it is there is said.
    """
    if basis.covered or basis.elsewhere or basis.unread or basis.fallback or not words.strip():
        return basis
    return replace(basis, fallback=outside(workspace, words))


def with_code_paths(workspace: Workspace, question: Question, paths: Sequence[str]) -> Question:
    """Return the question about code: each path, given from the working folder or the top, counted from the top.

    That of a folder ends in a slash.
    """
    return replace(question, paths=tuple(dict.fromkeys(code_path(workspace, path) for path in paths)))


def retrieve(
    workspace: Workspace,
    question: Question,
    *,
    budget: int | None = None,
    printed: Printed = PLAIN,
    given: Given = NOTHING_GIVEN,
) -> Pack:
    """Return what is binding for a question, from files that stood still while they were read.

    The budget counts what is `printed`; what was `given` before, by address and digest, is one line unless it changed.
    Settings that cannot be read are a problem in the answer, no obstacle to it.
    """
    return read_steadily(
        workspace, lambda reading: retrieve_from(reading, question, budget=budget, printed=printed, given=given)
    )


def retrieve_from(
    reading: Reading,
    question: Question,
    *,
    budget: int | None,
    printed: Printed,
    given: Given,
    is_brief: bool = False,
) -> Pack:
    """Return what is binding for a question in a root as one answer reads it; a brief one looks nowhere else."""
    catalog, workspace, view = reading.catalog, reading.workspace, reading.view
    scope = resolve_scope(
        catalog,
        reading.settings,
        question.filters,
        paths=question.paths or question.beside,
        tracked=workspace.tracked_files,
    )
    found = reading.retrieve(scope, question)
    unread = best_unread(view.effective, question, found)
    found = replace(
        found,
        is_brief=is_brief,
        names_bystanders=bool(unread) or (is_brief and question.is_plain),
        basis=replace(found.basis, unread=unread, absent=_absent(workspace, question.paths)),
    )
    limit = reading.settings.budget if budget is None else budget
    texts = texts_of(view.effective, found)
    proposed = texts if view.checkout is view.effective else texts_of(view.checkout, found)
    packed = pack(found, limit, texts=texts, proposed=proposed, printed=printed, given=given)
    if is_brief:
        return packed
    # What else lies in the repository is not the caller's to read where the memory is not.
    if catalog.entries or not packed.basis.problems or workspace.access.is_narrow:
        return replace(packed, basis=with_outside(packed.basis, workspace, question.words))
    why = "no entry of the memory can be read"
    return replace(packed, basis=with_fallback(packed.basis, workspace, question.words, why=why))


def _absent(workspace: Workspace, paths: Sequence[str]) -> tuple[str, ...]:
    if not paths:
        return ()
    # Most questions name no file.
    return absent_paths(workspace, paths)
