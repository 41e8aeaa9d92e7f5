"""The verbs over one opened root: each is one call, and its parts are imported when it is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.entry.model import Entry, Status
from mdmem.errors import GoneError, SettingsError, UsageError
from mdmem.finding import Finding, Place
from mdmem.index.protocol import Answer, QuerySyntaxError
from mdmem.scope import Filters, reading_scope, resolve_scope
from mdmem.settings import Settings
from mdmem.tree import SETTINGS_NAME
from mdmem.workspace.contract_verbs import ContractVerbs

if TYPE_CHECKING:
    from mdmem.authoring.mending import Mended
    from mdmem.budget import Pack
    from mdmem.checks.engine import Report
    from mdmem.index.protocol import Refreshed
    from mdmem.retrieval.model import Hit, Question, SearchResult
    from mdmem.retrieval.retrieve import Ask
    from mdmem.workspace.checking import Asked
    from mdmem.workspace.model import Explanation, Shown, StatusReport
    from mdmem.workspace.tending import Tended, Tending


class Workspace(ContractVerbs):
    """The verbs over one opened root."""

    def search(self, question: Question) -> SearchResult:
        """Return the hits for a question, superseded ones resolved to their heads."""
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
        from mdmem.retrieval.retrieve import retrieve

        settings, faults = self._forgiving_settings()
        scope = resolve_scope(self.catalog, settings, question.filters)
        found = retrieve(self.catalog, scope, question, ask=self._asker(question), today=self.today)
        found = replace(found, problems=(*faults, *found.problems))
        limit = settings.budget if budget is None else budget
        packed = pack(found, limit, body=self.catalog.body, size=self.catalog.sizes.__getitem__)
        nothing_read = not self.catalog.entries and bool(found.problems)
        return self._with_fallback(packed, question) if nothing_read else packed

    def _with_fallback(self, packed: Pack, question: Question) -> Pack:
        from mdmem.workspace.fallback import answer_elsewhere

        source, passages = answer_elsewhere(self.location.base, self.location.repository, question.words)
        found = replace(packed.found, source=source, degraded=True, why_degraded="no entry of the memory can be read")
        return replace(packed, found=found, fallback=passages)

    def _forgiving_settings(self) -> tuple[Settings, tuple[Finding, ...]]:
        try:
            return self.settings, ()
        except SettingsError as error:
            help_ = "mend it; the defaults hold until then"
            fault = Finding("settings-invalid", str(error), Place(SETTINGS_NAME, error.line), help_)
            return error.readable if isinstance(error.readable, Settings) else Settings(), (fault,)

    def _asker(self, question: Question) -> Ask:
        def ask(addresses: Iterable[str]) -> Answer:
            try:
                return self.index.search(
                    question.words,
                    live=self.catalog.digests,
                    read=self.texts,
                    among=frozenset(addresses),
                    syntax=question.syntax,
                )
            except QuerySyntaxError as error:
                raise UsageError(str(error)) from error

        return ask

    def with_code_paths(self, question: Question, paths: Sequence[str]) -> Question:
        """Return the question about code: each path, given from the working folder or the top, counted from the top."""
        return replace(question, paths=tuple(dict.fromkeys(self._code_path(path) for path in paths)))

    def _code_path(self, path: str) -> str:
        top = self.location.base.resolve()
        # As written: where a folder is a link, the globs of `applies_to` speak of the link.
        here = Path(os.path.normpath(self.cwd.resolve() / path))
        if here.is_relative_to(top) and (here.exists() or not (top / path).exists()):
            return here.relative_to(top).as_posix()
        return Path(path).as_posix().removeprefix("./").rstrip("/")

    def snippets(self, result: SearchResult) -> Callable[[Hit], str]:
        """Return a function that gives the densest passage of a hit's entry."""
        from mdmem.index.snippet import snippet

        def of(hit: Hit) -> str:
            try:
                return snippet(self.catalog.body(hit.entry.address), hit.terms or result.terms)
            except GoneError:
                return ""

        return of

    def from_root(self, name: str) -> str:
        """Return an address, or the path of a file, as counted from the root."""
        from mdmem.workspace.naming import from_root

        return from_root(self, name)

    def entries(self, filters: Filters) -> tuple[Entry, ...]:
        """Return the entries that pass the filters, by address."""
        from mdmem.retrieval.search import is_shown, passes

        scope = reading_scope(self.catalog, self.settings, filters)
        return tuple(
            entry
            for entry in self.catalog.entries.values()
            if scope.holds(entry.address)
            and passes(entry, filters, self.today)
            and is_shown(self.catalog, entry, filters)
        )

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
        from mdmem.workspace.model import Shown

        return tuple(
            Shown(
                entry=self.catalog.entries[address],
                front_matter=dict(document.fields or {}),
                body=document.body,
                current=self.catalog.lineage.is_current(address),
                heads=self.catalog.lineage.heads(address),
            )
            for address, document in self.catalog.documents(addresses)
        )

    def why(self, name: str) -> Explanation:
        """Return the chain of an entry in both directions, with reasons, dates and commits."""
        from mdmem.workspace.explaining import explain
        from mdmem.workspace.naming import resolve_names

        return explain(self, resolve_names(self, [name])[0])

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

    def status(self) -> StatusReport:
        """Return where the memory is and how it stands."""
        from mdmem.workspace.standing import report_status

        return report_status(self)

    def refresh_index(self, *, rebuild: bool = False) -> Refreshed:
        """Bring the full-text index up to date, or build it anew; raises EnvironmentFaultError."""
        from mdmem.workspace.standing import refresh_index

        return refresh_index(self, rebuild=rebuild)
