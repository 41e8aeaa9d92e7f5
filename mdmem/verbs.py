"""The verbs over one opened root: each is one call, and its parts are imported when it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mdmem.entry.model import Entry, Status
from mdmem.errors import GoneError, KeptAsideError, LostRaceError, UsageError
from mdmem.finding import Finding
from mdmem.workspace.proposals import view_of
from mdmem.workspace.scope import Filters, reading_scope, resolve_scope
from mdmem.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.authoring.change_set import Intent
    from mdmem.authoring.edit import EditSession
    from mdmem.authoring.fix import FixResult
    from mdmem.authoring.new_entry import SimilarEntry
    from mdmem.authoring.successor import Successor
    from mdmem.authoring.write import WriteOptions, WriteResult
    from mdmem.checks.engine import CheckReport
    from mdmem.checks.run import CheckRequest
    from mdmem.context.pack import ContextPack
    from mdmem.context.request import ContextRequest
    from mdmem.history.log import BlameReport, LogReport
    from mdmem.history.why import WhyReport
    from mdmem.hygiene.run import HygieneReport, HygieneRequest
    from mdmem.index.protocol import RefreshResult
    from mdmem.retrieval.budget import Pack
    from mdmem.retrieval.bundle import ContextBundle
    from mdmem.retrieval.entries import Shown
    from mdmem.retrieval.question import Hit, Question, SearchResult
    from mdmem.retrieval.retrieve import TextQuery
    from mdmem.retrieval.surface import Surface
    from mdmem.saving.remember import RememberResult
    from mdmem.standing import Stance
    from mdmem.status import StatusReport
    from mdmem.sync.fetch_wings import FetchWingsResult
    from mdmem.sync.sync import SyncResult
    from mdmem.synthesis.answer import SynthesisPlan
    from mdmem.synthesis.request import SynthesisRequest
    from mdmem.workspace.scope import ScopeAnswer


class WritingVerbs(Workspace):
    """The verbs of an entry's life; each raises what `write_once` raises, and UsageError and NotFoundError for its names."""

    def _address(self, name: str) -> str:
        from mdmem.workspace.addresses import resolve_names

        return resolve_names(self, [name])[0]

    def _carried(self, plan: Callable[[Self], Intent], options: WriteOptions) -> WriteResult:
        """Plan and carry out; where somebody else wrote in between, plan once more on what is there then.

        Names mean what they mean on the files that are planned on: what they meant before may have moved.
        """
        from mdmem.authoring.write import write_once

        try:
            return write_once(self, plan, options)
        except KeptAsideError:
            raise
        except LostRaceError:
            return write_once(replace(self), plan, options)

    def plan_supersession(self, name: str, *, by: str, reason: str, options: WriteOptions) -> WriteResult:
        """Put one entry in the place of another, at once or when it is approved."""
        from mdmem.authoring.supersede import plan_supersession

        def plan(one: Self) -> Intent:
            old, new = one._address(name), one._address(by)
            return plan_supersession(one.catalog, old, by=new, reason=reason, today=one.today)

        return self._carried(plan, options)

    def successor_text(self, name: str, successor: Successor, *, reason: str) -> tuple[str, str]:
        """Return address and text of an entry that is to supersede another, before it is edited; nothing is written."""
        from mdmem.authoring.successor import successor_text

        return successor_text(self.catalog, self._address(name), successor, reason=reason, today=self.today)

    def plan_succession(self, name: str, new: str, text: str, *, reason: str, options: WriteOptions) -> WriteResult:
        """Write a new entry in the place of another."""
        from mdmem.authoring.successor import plan_succession

        def plan(one: Self) -> Intent:
            old = one._address(name)
            return plan_succession(one.catalog, old, new=new, text=text, reason=reason, today=one.today)

        return self._carried(plan, options)

    def plan_approval(self, name: str, *, by: str | None, options: WriteOptions) -> WriteResult:
        """Put a draft in force and end what it supersedes; git says who approves unless somebody is named."""
        from mdmem.authoring.approve import plan_approval

        def plan(one: Self) -> Intent:
            address, person = one._address(name), by or one._person()
            return plan_approval(one.catalog, one.settings, address, person=person, today=one.today)

        return self._carried(plan, options)

    def _person(self) -> str:
        from mdmem.git.config import identity

        found = identity(self.location.repository) if self.location.repository is not None else None
        if found is None:
            help_ = 'write --by "Name <email>", or set `user.name` and `user.email` with `git config`'
            raise UsageError(f"git does not know who approves; {help_}")
        return found

    def plan_review(self, name: str, *, reason: str, options: WriteOptions) -> WriteResult:
        """Put an entry under review."""
        from mdmem.authoring.lifecycle import plan_review

        return self._carried(lambda one: plan_review(one.catalog, one._address(name), reason=reason), options)

    def plan_end_of_review(self, name: str, *, options: WriteOptions) -> WriteResult:
        """Confirm an entry that is under review."""
        from mdmem.authoring.lifecycle import plan_end_of_review

        return self._carried(lambda one: plan_end_of_review(one.catalog, one._address(name), today=one.today), options)

    def plan_verification(self, names: Sequence[str], *, at: date | None, options: WriteOptions) -> WriteResult:
        """Say of entries that they hold, all of them or none; of a folder's entries those that are in force."""
        from mdmem.authoring.lifecycle import plan_verification
        from mdmem.workspace.addresses import resolve_names

        def plan(one: Self) -> Intent:
            addresses = resolve_names(one, [name for name in names if not name.endswith("/")])
            rooms = resolve_names(one, [name for name in names if name.endswith("/")])
            return plan_verification(one.catalog, addresses, at=at, today=one.today, rooms=rooms)

        return self._carried(plan, options)

    def plan_deprecation(self, name: str, *, reason: str, options: WriteOptions) -> WriteResult:
        """End an entry that nothing replaces."""
        from mdmem.authoring.lifecycle import plan_deprecation

        def plan(one: Self) -> Intent:
            return plan_deprecation(one.catalog, one._address(name), reason=reason, today=one.today)

        return self._carried(plan, options)

    def refuse_taken(self, address: str) -> None:
        """Raise LostRaceError where an address is taken, before anybody writes a text for it."""
        from mdmem.authoring.new_entry import refuse_taken

        refuse_taken(self, address)

    def near(self, address: str, text: str) -> tuple[SimilarEntry, ...]:
        """Return the entries that say nearly the same as a text that is to be written, the nearest first."""
        from mdmem.authoring.new_entry import find_near

        return find_near(self, address, text)

    def create(self, address: str, text: str, *, options: WriteOptions) -> WriteResult:
        """Write a new entry."""
        from mdmem.authoring.new_entry import create_entry

        return create_entry(self, address, text, options)

    def move(self, name: str, to: str, *, options: WriteOptions) -> WriteResult:
        """Move an entry, a room or a wing, and rewrite every link to what moves."""
        from mdmem.authoring.move import plan_named_move

        return self._carried(lambda one: plan_named_move(one, name, to), options)

    def open_entry(self, name: str) -> EditSession:
        """Return an entry as its file holds it, to be edited."""
        from mdmem.authoring.edit import open_entry

        return open_entry(self, name)

    def faults_of_edit(self, opening: EditSession, content: bytes) -> tuple[Finding, ...]:
        """Return the errors that a file would have with a new content and has not yet."""
        from mdmem.authoring.edit import faults_of

        return faults_of(self, opening, content)

    def save_edit(
        self, opening: EditSession, content: bytes, *, is_editorial: bool, options: WriteOptions
    ) -> WriteResult:
        """Write what was typed into an entry that was opened."""
        from mdmem.authoring.edit import save_edit

        return save_edit(self, opening, content, is_editorial=is_editorial, options=options)


class ContractVerbs(WritingVerbs):
    """The verbs of the contracts; all but `remember` change no byte of the memory."""

    def retrieve_context(
        self,
        *,
        project_id: str | None,
        scope: str = "project",
        focus: str | None = None,
        categories: Sequence[str] | None = None,
        topic: str | None = None,
        paths: Sequence[str] = (),
        at: str | None = None,
    ) -> ContextBundle:
        """Return the memory of focus, project and shared wings, merged by authority; `at` a revision or a date.

        Raises UsageError for a scope or category that is not known, and for a revision or date that is none.
        """
        from mdmem.retrieval.retrieve_context import retrieve_context

        return retrieve_context(
            self.as_of(at),
            project_id=project_id,
            scope=scope,
            focus=focus,
            categories=categories,
            topic=topic,
            paths=paths,
        )

    def get_scope_state(self, *, project_id: str | None, focus: str | None = None) -> ScopeAnswer:
        """Return how certain the scope of a project and a focus is, and what to do where it is not."""
        from mdmem.retrieval.surface import get_scope_state

        return get_scope_state(self, project_id=project_id, focus=focus)

    def memory_surface(self, *, query: str, project_id: str | None = None, limit: int = 5) -> Surface:
        """Return the best matches of a few words in one project, or anywhere, without merging scopes."""
        from mdmem.retrieval.surface import memory_surface

        return memory_surface(self, query=query, project_id=project_id, limit=limit)

    def compile_context(self, asked: ContextRequest, *, at: str | None = None) -> ContextPack:
        """Return what matters for a goal, in facets; that it was asked for is kept in the audit log.

        With `at` it is what mattered at a revision or a date. Raises AccessDeniedError for a project that the caller
        may not read, and UsageError for a revision or date that is none.
        """
        from mdmem.context.run import compile_context

        return compile_context(self.as_of(at), asked)

    def plan_synthesis(self, asked: SynthesisRequest) -> SynthesisPlan:
        """Return the outline of a text with the sources of each section and with what they do not cover.

        Raises AccessDeniedError for a project that the caller may not read.
        """
        from mdmem.synthesis.run import plan_synthesis

        return plan_synthesis(self, asked)

    def remember(self, **given: object) -> RememberResult:
        """Keep a memory word for word, in a project's wing or for the caller alone; never raises.

        Takes `title`, `content`, `kind`, `domain`, `project`, `tags`, `related_to`, `metadata`, `agent` and `room`.
        """
        from mdmem.saving.remember import remember

        return remember(self, given)


class SyncVerbs(Workspace):
    """The verbs that are about other repositories; `sync` and `fetch_wings` alone talk to them."""

    def sync(
        self, *, draw: Callable[[], float] | None = None, sleep: Callable[[float], None] | None = None
    ) -> SyncResult:
        """Bring the branch and its upstream together; raises what `syncing.sync` raises.

        `draw` and `sleep` decide how long to wait where others push first: by chance and by the clock if not given.
        """
        import random
        import time

        from mdmem.sync.sync import sync

        return sync(self, draw=draw or random.random, sleep=sleep or time.sleep)

    def aged_wings(self) -> tuple[str, ...]:
        """Return a sentence for each wing of another repository that was not asked for in the last 30 days."""
        from mdmem.workspace.remote_wings import aged_wings

        return aged_wings(self)

    def fetch_wings(
        self, names: Sequence[str] = (), *, pinned: bool = False, commit: bool | None = None
    ) -> FetchWingsResult:
        """Fetch the wings of other repositories and pin them to what they are now; with `pinned`, fetch the pins."""
        from mdmem.sync.fetch_wings import fetch_wings

        return fetch_wings(self, names, pinned=pinned, commit=commit)


class Verbs(ContractVerbs, SyncVerbs):
    """The verbs over one opened root."""

    def search_catalog(self, question: Question) -> SearchResult:
        """Return the hits for a question, superseded ones resolved to their heads."""
        from mdmem.retrieval.search import with_versions

        view = view_of(self)
        result = view.answers._hits(question)
        return with_versions(result, view.files._hits(question), view.beside) if view.beside else result

    def _hits(self, question: Question) -> SearchResult:
        from mdmem.retrieval.search import search_catalog

        scope = reading_scope(self.catalog, self.settings, question.filters)
        return search_catalog(self.catalog, scope, question, ask=self._asker(question), today=self.today)

    def retrieve(self, question: Question, *, budget: int | None = None) -> Pack:
        """Return what is binding for a question, from files that stood still while they were read.

        Where one goes away meanwhile, as in a checkout, everything is read again, once; raises GoneError at the second.
        """
        try:
            return self._retrieve(question, budget=budget)
        except GoneError:
            return replace(self)._retrieve(question, budget=budget)

    def _retrieve(self, question: Question, *, budget: int | None) -> Pack:
        """Return what is binding for a question, within a budget.

        Settings that cannot be read are a problem in the answer, no obstacle to it.
        """
        from mdmem.retrieval.budget import pack
        from mdmem.retrieval.retrieve import forgiving_settings, retrieved

        settings, faults = forgiving_settings(self)
        catalog, files = view_of(self).answers.catalog, view_of(self).files.catalog
        scope = resolve_scope(catalog, settings, question.filters)
        found = retrieved(view_of(self), scope, question)
        found = replace(found, problems=(*faults, *found.problems))
        limit = settings.budget if budget is None else budget
        proposed = (files.body, files.sizes.__getitem__)
        packed = pack(found, limit, body=catalog.body, size=catalog.sizes.__getitem__, proposed=proposed)
        nothing_read = not catalog.entries and bool(found.problems)
        return self._with_fallback(packed, question) if nothing_read else packed

    def _with_fallback(self, packed: Pack, question: Question) -> Pack:
        if self.access.is_narrow:
            # What else lies in the repository is not the caller's to read.
            return packed
        from mdmem.retrieval.retrieve import passages_elsewhere

        source, passages = passages_elsewhere(self, question.words)
        found = replace(packed.found, source=source, degraded=True, why_degraded="no entry of the memory can be read")
        return replace(packed, found=found, fallback=passages)

    def _asker(self, question: Question) -> TextQuery:
        from mdmem.retrieval.retrieve import text_query

        return text_query(self, question)

    def with_code_paths(self, question: Question, paths: Sequence[str]) -> Question:
        """Return the question about code: each path, given from the working folder or the top, counted from the top."""
        from mdmem.retrieval.retrieve import with_code_paths

        return with_code_paths(self, question, paths)

    def snippets(self, result: SearchResult) -> Callable[[Hit], str]:
        """Return a function that gives the densest passage of a hit's entry."""
        from mdmem.index.snippet import snippet

        def of(hit: Hit) -> str:
            is_answer = view_of(self).answers.catalog.entries.get(hit.entry.address) is hit.entry
            catalog = (view_of(self).answers if is_answer else view_of(self).files).catalog
            try:
                return snippet(catalog.body(hit.entry.address), hit.terms or result.terms)
            except GoneError:
                return ""

        return of

    def from_root(self, name: str) -> str:
        """Return an address, or the path of a file, as counted from the root."""
        from mdmem.workspace.addresses import from_root

        return from_root(self, name)

    def entries(self, filters: Filters) -> tuple[Entry, ...]:
        """Return the entries that pass the filters, by address: as the files state them, else the default branch."""
        view = view_of(self)
        shown = {entry.address: entry for entry in view.answers._listed(filters)}
        if view.files is not view.answers:
            hidden = (view.files.catalog.entries.keys() - view.answers.catalog.entries.keys()) | view.replaced
            read = {entry.address: entry for entry in view.files._listed(filters)}
            shown |= {address: one for address, one in read.items() if address in view.beside or address not in hidden}
        return tuple(shown[address] for address in sorted(shown))

    def _listed(self, filters: Filters) -> Iterator[Entry]:
        from mdmem.retrieval.search import is_shown, passes

        catalog = self.catalog
        scope = reading_scope(catalog, self.settings, filters)
        for entry in catalog.entries.values():
            if scope.holds(entry.address) and passes(entry, filters, self.today) and is_shown(catalog, entry, filters):
                yield entry

    def problems(self, filters: Filters) -> tuple[Finding, ...]:
        """Return one finding for each file in the wings and rooms of the filters that cannot be read in full."""
        from mdmem.retrieval.retrieve import problems_in

        return problems_in(self.catalog, reading_scope(self.catalog, self.settings, filters))

    def count_hidden(self, filters: Filters) -> Mapping[str, int]:
        """Return how many drafts and ended entries pass the filters and are not shown under them."""
        shown = set(self.entries(filters))
        everything = self.entries(replace(filters, include_drafts=True, include_deprecated=True))
        drafts = sum(entry.status is Status.DRAFT for entry in everything if entry not in shown)
        return {"draft": drafts, "ended": len(everything) - len(shown) - drafts}

    def show(self, names: Sequence[str]) -> tuple[Shown, ...]:
        """Return the entries that names mean; raises NotFoundError and UsageError."""
        from mdmem.workspace.addresses import resolve_names

        return self.shown(resolve_names(self, names))

    def shown(self, addresses: Sequence[str]) -> tuple[Shown, ...]:
        """Return entries with what their files state."""
        from mdmem.retrieval.entries import shown_in

        catalog = view_of(self).files.catalog
        return shown_in(catalog, [catalog.entries[address] for address in addresses])

    def in_full(self, entries: Sequence[Entry]) -> tuple[Shown, ...]:
        """Return entries that were listed with what their files state, of the default branch where they are its."""
        from mdmem.retrieval.entries import in_full

        return in_full(self, entries)

    def stance_of(self, entry: Entry) -> Stance | None:
        """Return how an entry that was listed stands to the default branch, None where that is not known."""
        from mdmem.retrieval.entries import catalog_of

        return catalog_of(self, entry).stance(entry.address)

    def why(self, name: str) -> WhyReport:
        """Return the chain of an entry in both directions, with reasons, dates and commits."""
        from mdmem.history.why import why_of
        from mdmem.workspace.addresses import resolve_names

        return why_of(self, resolve_names(self, [name])[0])

    def log(self, name: str) -> LogReport:
        """Return the history of an entry through its moves, newest first; raises NotFoundError and GitError."""
        from mdmem.history.log import log_of

        return log_of(self, name)

    def blame(self, name: str) -> BlameReport:
        """Return which commit last set each field of an entry and its body; raises NotFoundError and GitError."""
        from mdmem.history.log import blame_of

        return blame_of(self, name)

    def check(self, asked: CheckRequest) -> CheckReport:
        """Run checks on the whole tree; paths narrow what is reported, never what is read."""
        from mdmem.checks.run import check

        return check(self, asked)

    def mend(self, asked: CheckRequest, *, with_unsafe: bool, is_dry: bool) -> tuple[CheckReport, FixResult]:
        """Mend what the checks find and return what is left and what was changed; a dry run writes nothing."""
        from mdmem.authoring.fix import mend

        return mend(self, asked, with_unsafe=with_unsafe, is_dry=is_dry)

    def update_baseline(self, asked: CheckRequest) -> tuple[Path, int]:
        """Record every finding there is as known; return the file and the number of findings."""
        from mdmem.checks.run import update_baseline

        return update_baseline(self, asked)

    def hygiene(self, asked: HygieneRequest) -> HygieneReport:
        """Return what needs maintenance, and keep in the state that a full run was made; entries are not changed."""
        from mdmem.hygiene.run import run

        return run(self, asked)

    def run_hygiene(
        self, project_id: str | None = None, scope: str | None = None, *, check_pending_only: bool = False
    ) -> dict[str, Any]:
        """Return what the contract of `run_hygiene` names, with more keys beside, and keep that a full run was made.

        Raises UsageError for a scope that is none; a project that is not there yet needs no maintenance.
        """
        from mdmem.hygiene.run import run_hygiene

        return run_hygiene(self, project_id, scope, check_pending_only=check_pending_only)

    def hygiene_due(self, project: str) -> bool:
        """Say whether a project's wing was without hygiene for 30 days; one that is not there never is."""
        from mdmem.workspace.freshness import is_due

        return is_due(self, project)

    def status(self) -> StatusReport:
        """Return where the memory is and how it stands."""
        from mdmem.status import report_status

        return report_status(self)

    def refresh_index(self, *, rebuild: bool = False) -> RefreshResult:
        """Bring the full-text index up to date, or build it anew; raises EnvironmentFaultError."""
        from mdmem.status import refresh_index

        return refresh_index(self, rebuild=rebuild)
