"""The verbs over one opened root: each is one call, and its parts are imported when it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdmem.entry.model import Entry, Status
from mdmem.errors import GoneError
from mdmem.finding import Finding
from mdmem.scope import Filters, reading_scope, resolve_scope
from mdmem.workspace.contract_verbs import ContractVerbs
from mdmem.workspace.proposals import view_of
from mdmem.workspace.sync_verbs import SyncVerbs

if TYPE_CHECKING:
    from mdmem.authoring.mending import Mended
    from mdmem.budget import Pack
    from mdmem.checks.engine import Report
    from mdmem.index.protocol import Refreshed
    from mdmem.retrieval.model import Hit, Question, SearchResult
    from mdmem.retrieval.retrieve import Ask
    from mdmem.standing import Stance
    from mdmem.workspace.checking import Asked
    from mdmem.workspace.model import Explanation, Shown, StatusReport
    from mdmem.workspace.past import EntryBlame, EntryLog
    from mdmem.workspace.tending import Tended, Tending


class Workspace(ContractVerbs, SyncVerbs):
    """The verbs over one opened root."""

    def search(self, question: Question) -> SearchResult:
        """Return the hits for a question, superseded ones resolved to their heads."""
        from mdmem.retrieval.search import with_versions

        view = view_of(self)
        result = view.answers._hits(question)
        return with_versions(result, view.files._hits(question), view.beside) if view.beside else result

    def _hits(self, question: Question) -> SearchResult:
        from mdmem.retrieval.search import search

        scope = reading_scope(self.catalog, self.settings, question.filters)
        return search(self.catalog, scope, question, ask=self._asker(question), today=self.today)

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
        from mdmem.budget import pack
        from mdmem.workspace.asking import forgiving_settings, retrieved

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
        from mdmem.workspace.asking import answer_elsewhere

        source, passages = answer_elsewhere(self, question.words)
        found = replace(packed.found, source=source, degraded=True, why_degraded="no entry of the memory can be read")
        return replace(packed, found=found, fallback=passages)

    def _asker(self, question: Question) -> Ask:
        from mdmem.workspace.asking import asker

        return asker(self, question)

    def with_code_paths(self, question: Question, paths: Sequence[str]) -> Question:
        """Return the question about code: each path, given from the working folder or the top, counted from the top."""
        from mdmem.workspace.asking import with_code_paths

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
        from mdmem.workspace.naming import from_root

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
        from mdmem.workspace.naming import resolve_names

        return self.shown(resolve_names(self, names))

    def shown(self, addresses: Sequence[str]) -> tuple[Shown, ...]:
        """Return entries with what their files state."""
        from mdmem.workspace.showing import shown_in

        catalog = view_of(self).files.catalog
        return shown_in(catalog, [catalog.entries[address] for address in addresses])

    def in_full(self, entries: Sequence[Entry]) -> tuple[Shown, ...]:
        """Return entries that were listed with what their files state, of the default branch where they are its."""
        from mdmem.workspace.showing import shown_of

        return shown_of(self, entries)

    def stance_of(self, entry: Entry) -> Stance | None:
        """Return how an entry that was listed stands to the default branch, None where that is not known."""
        from mdmem.workspace.showing import catalog_of

        return catalog_of(self, entry).stance(entry.address)

    def why(self, name: str) -> Explanation:
        """Return the chain of an entry in both directions, with reasons, dates and commits."""
        from mdmem.workspace.explaining import explain
        from mdmem.workspace.naming import resolve_names

        return explain(self, resolve_names(self, [name])[0])

    def log(self, name: str) -> EntryLog:
        """Return the history of an entry through its moves, newest first; raises NotFoundError and GitError."""
        from mdmem.workspace.past import log_of

        return log_of(self, name)

    def blame(self, name: str) -> EntryBlame:
        """Return which commit last set each field of an entry and its body; raises NotFoundError and GitError."""
        from mdmem.workspace.past import blame_of

        return blame_of(self, name)

    def check(self, asked: Asked) -> Report:
        """Run checks on the whole tree; paths narrow what is reported, never what is read."""
        from mdmem.workspace.checking import check

        return check(self, asked)

    def mend(self, asked: Asked, *, with_unsafe: bool, is_dry: bool) -> tuple[Report, Mended]:
        """Mend what the checks find and return what is left and what was changed; a dry run writes nothing."""
        from mdmem.workspace.checking import mend

        return mend(self, asked, with_unsafe=with_unsafe, is_dry=is_dry)

    def update_baseline(self, asked: Asked) -> tuple[Path, int]:
        """Record every finding there is as known; return the file and the number of findings."""
        from mdmem.workspace.checking import update_baseline

        return update_baseline(self, asked)

    def hygiene(self, asked: Tending) -> Tended:
        """Return what needs maintenance, and keep in the state that a full run was made; entries are not changed."""
        from mdmem.workspace.tending import tend

        return tend(self, asked)

    def run_hygiene(
        self, project_id: str | None = None, scope: str | None = None, *, check_pending_only: bool = False
    ) -> dict[str, Any]:
        """Return what the contract of `run_hygiene` names, with more keys beside, and keep that a full run was made.

        Raises UsageError for a scope that is none; a project that is not there yet needs no maintenance.
        """
        from mdmem.workspace.tending import run_hygiene

        return run_hygiene(self, project_id, scope, check_pending_only=check_pending_only)

    def hygiene_due(self, project: str) -> bool:
        """Say whether a project's wing was without hygiene for 30 days; one that is not there never is."""
        from mdmem.workspace.upkeep import is_due

        return is_due(self, project)

    def status(self) -> StatusReport:
        """Return where the memory is and how it stands."""
        from mdmem.workspace.standing import report_status

        return report_status(self)

    def refresh_index(self, *, rebuild: bool = False) -> Refreshed:
        """Bring the full-text index up to date, or build it anew; raises EnvironmentFaultError."""
        from mdmem.workspace.standing import refresh_index

        return refresh_index(self, rebuild=rebuild)
