"""Answer questions: select, rank, relate and fit entries, and start again if files change while they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar
from unicodedata import category

from msgspec import Struct
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.ask.answer import (
    Answer,
    AnswerBasis,
    Answers,
    Coverage,
    Elsewhere,
    Form,
    Item,
    OmittedCount,
    Question,
    Reason,
    UnreadMatch,
)
from mdmem.ask.code_paths import absent_paths, code_path, count_elsewhere, find_mentions
from mdmem.ask.fallback import lines_outside, search_outside
from mdmem.ask.fit import NOTHING_SHOWN, Shown, fit, without_repeats
from mdmem.ask.limits import FEW_DECISIONS, LIKELY_RANKS, SHORT_BUDGET
from mdmem.ask.rank import authority_key, coverage_of, find_text, weights_of
from mdmem.ask.relate import contradictions_among, ended_match
from mdmem.ask.select import Selection
from mdmem.errors import GoneError, SettingsError
from mdmem.model.entry import EntryType
from mdmem.model.finding import Finding, Place, fault
from mdmem.model.text import first_of, shell_word, visible
from mdmem.store.catalog.addresses import find_unsafe_character, is_misnamed, is_misplaced
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind
from mdmem.store.workspace.proposals import View, view_of
from mdmem.store.workspace.scope import AmbiguousWingError, Filters, Scope, resolve_scope
from mdmem.store.workspace.workspace import Workspace

_T = TypeVar("_T")
_ONE_OF_FEW = "no match; one of few decisions"
# Keys of a session that are not addresses: the files of the current work, which later questions are about, too, and
# the reported unreadable files.
_AT_WORK, _UNREADABLE = "/", "//"


class Reading(Struct, frozen=True):
    """A workspace with its settings; `faults` are the problems of the settings that could not be read."""

    workspace: Workspace
    settings: Settings
    faults: tuple[Finding, ...]

    @property
    def view(self) -> View:
        """Return two workspaces: `checkout` has the files as they are, `effective` the versions that answers use."""
        return view_of(self.workspace)

    def retrieve(self, scope: Scope, question: Question) -> Answer:
        """Return the answer of a scope; versions that are not on the default branch are added to `proposed`."""
        view = self.view
        found = retrieve_in(view.effective, scope, question)
        if view.alternatives:
            other = _selection(view.checkout, scope, question)
            versions = [*other.select(view.alternatives), *other.propose(view.alternatives)]
            kept = [item for item in found.proposed if item.address not in view.alternatives]
            found = replace(
                found,
                proposed=tuple(sorted([*kept, *versions], key=authority_key)),
                describe_proposed=lambda item: (other if item.address in view.alternatives else found).describe(item),
            )
        return replace(found, basis=replace(found.basis, problems=(*self.faults, *found.basis.problems)))


def reading_of(workspace: Workspace) -> Reading:
    """Load the settings of a workspace; if some cannot be read, there is a fault, and their defaults apply."""
    try:
        return Reading(workspace, workspace.settings, ())
    except SettingsError as error:
        help_ = "correct the file; until then, the defaults apply"
        fault = Finding("settings-invalid", str(error), Place(SETTINGS_NAME, error.line), help_)
        return Reading(workspace, error.readable if isinstance(error.readable, Settings) else Settings(), (fault,))


def read_with_retry(workspace: Workspace, answer: Callable[[Reading], _T]) -> _T:
    """Return an answer; if files disappear meanwhile, reload the memory and try once more.

    Git removes files during a checkout, for example. An error of the second attempt is raised.
    """
    reading = reading_of(workspace)
    try:
        return answer(reading)
    except GoneError:
        return answer(reading_of(workspace.reread()))
    except AmbiguousWingError as error:
        if not reading.faults:
            raise
        # The settings that cannot be read may have the default wing.
        raise AmbiguousWingError(f"{reading.faults[0].message}; correct it, or name a wing with --wing") from error


def retrieve_in(workspace: Workspace, scope: Scope, question: Question) -> Answer:
    """Return all entries of a scope that answer a question, in the order of authority, without a budget."""
    return retrieval_of(_selection(workspace, scope, question), source=workspace.location.source)


def retrieval_of(selection: Selection, *, source: str = "scan") -> Answer:
    """Return the answer with the selected entries; `source` is its source if the question has no words."""
    catalog, scope, question, answer = selection.catalog, selection.scope, selection.question, selection.answer
    items = selection.select()
    decisions = selection.unmatched_decisions(items)
    own = [entry for entry in decisions if entry.wing == scope.wing]
    known = sum(item.entry.type is EntryType.DECISION and item.entry.wing == scope.wing for item in items)
    is_few = known + len(own) <= FEW_DECISIONS
    unmatched = [replace(selection.item(entry), reasons=(_ONE_OF_FEW,)) for entry in own] if is_few else []
    uncounted = len(decisions) - len(unmatched)
    matched = (match.terms for match in selection.matches.values())
    weights = weights_of(answer.terms, matched, len(selection.members)) if answer else {}
    proposed = selection.propose()
    rules = [item for item in items if item.entry.type.is_rule and item.current]
    coverage = _coverage(selection, [item for item in rules if not item.is_proposal], weights)
    pending = [*(item for item in rules if item.is_proposal), *(one for one in proposed if one.entry.type.is_rule)]
    pending = sorted(pending, key=lambda one: (not one.on_path, -one.score)) if coverage is Coverage.NONE else []
    covering = (one for one in pending[:LIKELY_RANKS] if _coverage(selection, [one], weights) is Coverage.FULL)
    best = next(covering, None)
    standing = best.branch_state.standing.value if best and best.branch_state and best.is_proposal else "draft"
    omitted = sorted(selection.omitted.values(), key=lambda one: (catalog.entries[one.address].type.rank, one.address))
    return Answer(
        scope=scope,
        items=tuple(items),
        proposed=tuple(proposed),
        searched=tuple(sorted(room for room in catalog.derived.rooms if scope.contains(f"{room}/"))),
        weights=weights,
        unmatched=tuple(unmatched),
        describe=selection.describe,
        describe_proposed=selection.describe,
        basis=AnswerBasis(
            problems=problems_in(catalog, scope),
            conflicts=tuple(contradictions_among(catalog, {item.address for item in items if item.current})),
            omitted=tuple(omitted),
            omitted_counts=(OmittedCount(EntryType.DECISION.value, Reason.NO_MATCH, uncounted),) if uncounted else (),
            coverage=coverage,
            pending=standing if best else "",
            uncovered_terms=selection.missing_terms(weights, of_rules=True) if coverage is Coverage.PARTIAL else (),
            elsewhere=tuple(Elsewhere(*one) for one in count_elsewhere(catalog, scope, question.paths).items()),
            unmatched_terms=selection.missing_terms(weights),
            other_wings=other_wings(catalog, scope),
            degraded=answer.degraded if answer else False,
            why_degraded=answer.why if answer else None,
            source=answer.source if answer else source,
            ended=ended_match(catalog, answer.matches, question.filters, weights) if answer else (),
        ),
    )


def _selection(workspace: Workspace, scope: Scope, question: Question) -> Selection:
    addresses = scope.read(workspace.catalog)
    answer = find_text(workspace, question, addresses) if question.words.strip() and addresses else None
    mentioning = find_mentions(workspace.catalog, question.paths, addresses)
    return Selection(workspace.catalog, scope, question, answer, workspace.today, mentioning)


def _coverage(selection: Selection, rules: Sequence[Item], weights: dict[str, float]) -> Coverage:
    """Return how far some invariants and decisions cover the question."""
    if rules and (selection.question.is_open or any(item.on_path for item in rules)):
        return Coverage.FULL
    # The matches of superseded and overridden entries count for the entry that replaces them.
    counted = {one for item in rules if item.score for one in (item.address, *item.via, *item.overrides)}
    matches = [(selection.catalog.entries[one], match) for one, match in selection.matches.items() if one in counted]
    has_unknown = bool(selection.missing_terms(weights, of_rules=True))
    found = coverage_of(weights, matches, selection.catalog.body, len(selection.members), has_unknown=has_unknown)
    # A text that mentions only the folder of a file may be about anything in it.
    named = (selection.mentioning.get(item.address, ()) for item in rules)
    if found is Coverage.NONE and any(path in selection.question.paths for paths in named for path in paths):
        return Coverage.PARTIAL
    return found


def retrieve(
    workspace: Workspace,
    main: Question | None,
    questions: Sequence[Question] = (),
    *,
    budget: int | None = None,
    shown: Shown = NOTHING_SHOWN,
) -> Answers:
    """Answer the main question, about the current work, and further questions, each with a short answer.

    `budget` is the limit of each answer, in tokens; without it, the settings limit the main answer, and each short
    answer has 640 tokens. The paths of the main question decide which invariants apply to the further questions, too.
    `shown` are the entries that the session has already seen, by address. Each becomes one line.
    """
    if main is None and not questions:
        main = Question()
    at_work = main.paths if main is not None else tuple(filter(None, shown.get(_AT_WORK, "").split("\0")))

    def read(reading: Reading) -> Answers:
        known, first, above = dict(shown), None, list[Item]()
        if main is not None:
            first, notes = _answer(reading, main, budget=budget, shown=known)
            known |= notes
            above += first.items
        short = []
        for question in questions:
            asked = replace(question, work_paths=at_work)
            answer, notes = _answer(reading, asked, budget=budget, shown=known, is_short=True)
            # Entries that were already shown and do not match by words need no line in a short answer.
            needed = (one for one in answer.items if one.score or one.form is not Form.ALREADY_SHOWN)
            items = tuple(without_repeats(one, above) for one in needed)
            short.append(replace(answer, items=items))
            above += items
            known |= notes
        unread: tuple[str, ...] = ()
        if short and not at_work and not short[0].question.filters.wings:
            wings, read_ones = reading.view.effective.catalog.wings, short[0].scope.wings
            unread = tuple(name for name in wings if not wings[name].is_shared and name not in read_ones)
        files = {_AT_WORK: "\0".join(at_work)} if at_work else {}
        new = {address: note for address, note in known.items() if shown.get(address) != note}
        return Answers(first, tuple(short), unread, {**new, **files})

    return read_with_retry(workspace, read)


def _answer(
    reading: Reading, question: Question, *, budget: int | None, shown: Shown, is_short: bool = False
) -> tuple[Answer, dict[str, str]]:
    """Return the answer to one question, and the notes for the session.

    If no entry covers the question, lines from outside the memory are added, but not to a short answer.
    """
    view, workspace = reading.view, reading.workspace
    scope = resolve_scope(
        view.effective.catalog,
        reading.settings,
        question.filters,
        paths=question.paths or question.work_paths,
        tracked=workspace.tracked_files,
    )
    found = reading.retrieve(scope, question)
    absent = absent_paths(workspace, question.paths) if question.paths else ()
    unread = _best_unread(view.effective, question, found)
    problems = "\0".join(one.place.path for one in found.basis.problems)
    repeats = problems == shown.get(_UNREADABLE)
    found = replace(found, basis=replace(found.basis, unread=unread, absent=absent, repeats_problems=repeats))
    limit = budget if budget is not None else SHORT_BUDGET if is_short else reading.settings.budget
    answer, notes = fit(found, question, limit, view=view, shown=shown, is_short=is_short)
    notes |= {_UNREADABLE: problems} if problems != shown.get(_UNREADABLE, "") else {}
    if is_short:
        return answer, notes
    is_unread = bool(answer.basis.problems) and not view.effective.catalog.entries
    basis = with_lines_outside(answer.basis, workspace, question.words, is_unread=is_unread)
    return replace(answer, basis=basis), notes


def _best_unread(workspace: Workspace, question: Question, found: Answer) -> tuple[UnreadMatch, ...]:
    """Return the best current entry outside the searched wings if it matches better than every result, else nothing.

    A question with a wing, a file or a filter states where to search, so its result is empty, too.
    """
    states_where = question.paths or question.work_paths or question.filters != Filters()
    if not question.words.strip() or states_where or found.basis.coverage is Coverage.FULL:
        return ()
    lineage, entries = workspace.catalog.lineage, workspace.catalog.entries
    others = [one for one in entries if one.partition("/")[0] not in found.scope.wings]
    answer = find_text(workspace, question, others) if others else None
    best = max((item.score for item in found.items), default=0.0)
    if answer is None:
        return ()
    for match in (one for one in answer.matches if one.score > best and 2 * len(one.terms) >= len(answer.terms)):
        for head in (match.key,) if lineage.is_current(match.key) else lineage.heads(match.key):
            if entries[head].wing not in found.scope.wings:
                return (UnreadMatch(entries[head].wing, head, entries[head].title),)
    return ()


def with_lines_outside(basis: AnswerBasis, workspace: Workspace, words: str, *, is_unread: bool = False) -> AnswerBasis:
    """Add a few lines from outside the memory if no rule covers the question and no other wing has a match.

    With `is_unread`, no entry can be read, so the answer is degraded and has more lines. A caller who may read only a
    part of the memory does not get these, since they may be from files of wings.
    """
    if is_unread and not workspace.access.is_narrow:
        source, passages = search_outside(workspace.location.base, workspace.location.repository, words)
        why = basis.why_degraded or "no entry of the memory can be read"
        return replace(basis, source=source, fallback=passages, degraded=True, why_degraded=why)
    is_answered = basis.coverage is not Coverage.NONE or basis.elsewhere or basis.unread
    return basis if is_answered or not words.strip() else replace(basis, fallback=lines_outside(workspace, words))


def with_code_paths(workspace: Workspace, question: Question, paths: Sequence[str]) -> Question:
    """Return the question with the given code paths as its paths, converted to paths from the repository's top.

    Given paths may be relative to the working directory or to the top.
    """
    return replace(question, paths=tuple(dict.fromkeys(code_path(workspace, path) for path in paths)))


# Fields that decide where an entry applies. If one of them cannot be read, the entry is shown, but is also a problem.
_DECISIVE = frozenset({"supersedes", "superseded_by", "amends", "overrides", "applies_to", "expires_at", "focus"})

_DOUBTFUL = frozenset({"unreadable", "manifest-invalid", "merge-marker"})


def problems_in(catalog: Catalog, scope: Scope) -> tuple[Finding, ...]:
    """Return one finding for each file of the scope that may contain a rule and cannot be read in full.

    Wings of other repositories that were not fetched come first, since each may be a shared wing with invariants.
    """
    not_read = [*(broken.findings[0] for broken in catalog.broken.values()), *catalog.closed]
    for file in catalog.others:
        # Files directly in the root are not entries.
        if file.kind is FileKind.FILE and "/" in file.path and is_misplaced(file.path):
            code, message = "wrong-depth", "its path is not of the form `wing/room/entry-id.md`, so it is not read"
            if (character := find_unsafe_character(file.path)) is not None:
                code = "control-characters" if category(character) == "Cc" else "invisible-characters"
                message = f"its name contains U+{ord(character):04X}, so it is not read"
            not_read.append(fault(code, message, Place(file.path), "rename it with `git mv`"))
    found = {finding.place.path: finding for finding in not_read if _concerns(finding.place.path, scope)}
    for finding in catalog.findings:
        path, message, entry = finding.place.path, finding.message, catalog.entries.get(finding.address or "")
        is_decisive = entry is not None and any(name in _DECISIVE and f"`{name}`" in message for name in entry.unread)
        if (finding.code in _DOUBTFUL and _concerns(path, scope)) or (entry and is_decisive and scope.reads(entry)):
            found.setdefault(path, finding)
    # The path and the message must be safe to print on one line.
    shown = (
        replace(one.in_one_line(), place=replace(one.place, path=visible(path))) for path, one in sorted(found.items())
    )
    return (*catalog.tree.missing_wings.values(), *shown)


def other_wings(catalog: Catalog, scope: Scope) -> str:
    """Return a sentence about the wings to ask instead if the active one has no entry yet, else an empty text."""
    sizes = Counter(address.partition("/")[0] for address in catalog.addresses)
    others = [name for name, _ in sizes.most_common() if name not in scope.wings]
    # An unreadable file or folder may be an entry.
    if scope.wing is None or scope.wing in sizes or not others or problems_in(catalog, scope):
        return ""
    listed = first_of([f"`{name}` has {sizes[name]}" for name in others], 3)
    return f"`{scope.wing}` has no entry yet; {listed}: ask with `--wing {shell_word(others[0])}`"


def _concerns(path: str, scope: Scope) -> bool:
    """Return whether a file, or a folder that cannot be listed, may contain an entry of the scope."""
    parts = path.split("/")
    if is_misnamed(parts[0]):
        return True
    # A wing's README.md says whether the wing is shared. If it is faulty, the wing may be missing from the scope.
    if len(parts) < 2 or not scope.wings or parts[1] == "README.md":
        return True
    # The room filter does not exclude invariants of binding wings, and each unreadable file may be an invariant.
    is_read = not scope.rooms or parts[1] in scope.rooms or parts[0] in scope.binding_wings
    return parts[0] in scope.wings and is_read
