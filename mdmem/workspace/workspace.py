"""One opened root: each part is built once, when a verb first needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.catalog import Catalog, load, load_cached, settings_bytes
from mdmem.entry.model import Entry
from mdmem.errors import GitError, LostRaceError, SettingsError, taken
from mdmem.finding import Finding, Place
from mdmem.gitrepo import list_changed_in_index, resolve, staged_index
from mdmem.index.protocol import Answer, FullText, IndexDocument, Progress
from mdmem.scope import Filters, reading_scope, resolve_scope
from mdmem.settings import Settings, parse_settings
from mdmem.state import Places, StatCache, places
from mdmem.tree import SETTINGS_NAME, GitTree, Tree, Unreadable, WorkingTree, read_one
from mdmem.workspace.location import Location

if TYPE_CHECKING:
    from mdmem.budget import Pack
    from mdmem.checks.engine import Report
    from mdmem.index.protocol import Refreshed
    from mdmem.retrieval.model import Hit, Question, SearchResult
    from mdmem.retrieval.retrieve import Ask
    from mdmem.workspace.model import Explanation, Shown, StatusReport


@dataclass(frozen=True, slots=True)
class Moment:
    """Which state of the files is read: the working tree, git's index, or a revision."""

    revision: str | None = None
    staged: bool = False


@dataclass(frozen=True)
class Workspace:
    """The verbs over one root, at one moment and on one day."""

    location: Location
    environment: Mapping[str, str]
    cwd: Path
    today: date
    moment: Moment = Moment()
    progress: Progress | None = None

    @cached_property
    def tree(self) -> Tree:
        """Return the files of the moment; raises GitError where git is needed and absent."""
        if self.moment.staged or self.moment.revision is not None:
            return self._git_tree()
        location = self.location
        is_top = location.repository is not None and location.under == ""
        return WorkingTree(location.root, is_top, StatCache(self._places.index / "stat.json").load())

    def _git_tree(self) -> GitTree:
        repository = self.location.repository
        if repository is None:
            raise GitError(self.location.git_fault or f"{self.location.root} is in no git repository")
        if self.moment.revision is None:
            index = staged_index(repository, self.environment, self.cwd)
            return GitTree(repository, self.location.under, None, "git index", index)
        commit = resolve(repository, self.moment.revision)
        return GitTree(repository, self.location.under, commit, f"{self.moment.revision} ({commit[:10]})")

    @cached_property
    def settings(self) -> Settings:
        """Return the settings of the tree that is read; raises SettingsError."""
        content = settings_bytes(self.tree)
        if isinstance(content, Unreadable):
            raise SettingsError(f"{SETTINGS_NAME} cannot be read: {content.reason.lower()}")
        return parse_settings(content)

    @cached_property
    def catalog(self) -> Catalog:
        """Return the entries, through the cache of parsed ones."""
        return load_cached(self.tree, self._places.shared)

    @cached_property
    def index(self) -> FullText:
        """Return the full-text index; one of another tree than the working tree is never written."""
        from mdmem.index.whoosh_index import WhooshIndex

        return WhooshIndex(self._places.index / "text", persist=self._is_working_tree, progress=self.progress)

    @cached_property
    def _places(self) -> Places:
        return places(self.location.root, self.location.repository, self.environment)

    @property
    def _is_working_tree(self) -> bool:
        return not self.moment.staged and self.moment.revision is None

    def search(self, question: Question) -> SearchResult:
        """Return the hits for a question, superseded ones resolved to their heads."""
        from mdmem.retrieval.search import search

        scope = reading_scope(self.catalog, self.settings, question.filters)
        return search(self.catalog, scope, question, ask=self._asker(question), today=self.today)

    def retrieve(self, question: Question, *, budget: int | None = None) -> Pack:
        """Return what is binding for a question, within a budget; settings that cannot be read are a problem, no obstacle."""
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
            fault = Finding("settings-invalid", str(error), Place(SETTINGS_NAME), "mend it; the defaults hold until then")
            return Settings(), (fault,)

    def _asker(self, question: Question) -> Ask:
        def ask(addresses: Iterable[str]) -> Answer:
            return self.index.search(
                question.words, live=self.catalog.digests, read=self.texts, among=frozenset(addresses), syntax=question.syntax
            )

        return ask

    def texts(self, addresses: Sequence[str]) -> Iterator[IndexDocument]:
        """Yield what the index takes in of entries; one whose file went away meanwhile is left out."""
        known = [address for address in addresses if address in self.catalog.entries]
        for start in range(0, len(known), _PORTION):
            for address, document in self.catalog.documents(known[start : start + _PORTION], keep=False):
                if document.fields is not None:
                    yield _indexed(self.catalog.entries[address], self.catalog.digests[address], document.body)

    def with_code_paths(self, question: Question, paths: Sequence[str]) -> Question:
        """Return the question about code: each path, given from the working folder or the top, counted from the top."""
        return replace(question, paths=tuple(dict.fromkeys(self._code_path(path) for path in paths)))

    def _code_path(self, path: str) -> str:
        top = self.location.base.resolve()
        here = (self.cwd / path).resolve()
        if here.is_relative_to(top) and (here.exists() or not (top / path).exists()):
            return here.relative_to(top).as_posix()
        return Path(path).as_posix().removeprefix("./").rstrip("/")

    def snippets(self, result: SearchResult) -> Callable[[Hit], str]:
        """Return a function that gives the densest passage of a hit's entry."""
        from mdmem.index.snippet import snippet

        return lambda hit: snippet(self.catalog.body(hit.entry.address), hit.terms or result.terms)

    def line_of(self, place: Place) -> str | None:
        """Return the line of a file that a place is in, or None where the file cannot be read as text."""
        if place.path not in {file.path for file in self.tree.files()}:
            return None
        content = read_one(self.tree, place.path)
        if isinstance(content, Unreadable):
            return None
        lines = content.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
        return lines[place.line - 1] if place.line <= len(lines) else None

    def refuse_taken(self, address: str) -> None:
        """Raise LostRaceError where an address is taken, before anybody writes a text for it."""
        if (self.location.root / f"{address}.md").exists():
            raise LostRaceError(taken(address))

    def create(self, address: str, text: str) -> Path:
        """Write a new entry and return its path; raises UsageError and LostRaceError, and then nothing is written."""
        from mdmem.authoring.create import create

        return create(self.location.root, address, text)

    def entries(self, filters: Filters) -> tuple[Entry, ...]:
        """Return the entries that pass the filters, by address."""
        from mdmem.retrieval.search import is_shown, passes

        scope = reading_scope(self.catalog, self.settings, filters)
        return tuple(
            entry
            for entry in self.catalog.entries.values()
            if scope.holds(entry.address) and passes(entry, filters, self.today) and is_shown(self.catalog, entry, filters)
        )

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

    def check(self, codes: Sequence[str], *, paths: Sequence[str] = ()) -> Report:
        """Run checks on the whole tree; paths narrow what is reported, never what is read."""
        from mdmem.workspace.checking import check

        return check(self, codes, paths)

    @cached_property
    def whole_catalog(self) -> Catalog:
        """Return the entries with every file parsed, as the checks need them."""
        return load(self.tree)

    def concerns_staged(self) -> bool:
        """Say whether the commit at hand touches this root; nothing staged counts as a question about everything."""
        repository = self.location.repository
        if repository is None:
            return True
        changed = list_changed_in_index(repository, index=staged_index(repository, self.environment, self.cwd))
        under = f"{self.location.under}/" if self.location.under else ""
        return not changed or any(path.startswith(under) for path in changed)

    def status(self) -> StatusReport:
        """Return where the memory is and how it stands."""
        from mdmem.workspace.standing import report_status

        return report_status(self)

    def refresh_index(self, *, rebuild: bool = False) -> Refreshed:
        """Bring the full-text index up to date, or build it anew; raises EnvironmentFaultError."""
        from mdmem.workspace.standing import refresh_index

        return refresh_index(self, rebuild=rebuild)


# So many documents are held at once while the index is built.
_PORTION = 500


def _indexed(entry: Entry, digest: str, body: str) -> IndexDocument:
    stated = " ".join((entry.trigger or "", *entry.repeatable_steps, entry.objective or "", *entry.decisions_made))
    return IndexDocument(
        key=entry.address,
        digest=digest,
        title=entry.title,
        body=f"{body}\n\n{stated}" if stated.strip() else body,
        type=entry.type.value,
        status=entry.status.value,
        wing=entry.wing,
        room=entry.room,
        label=entry.label,
        focus=entry.focus,
        owner=entry.owner,
        topic=entry.topic,
        tags=entry.tags,
        created_at=entry.created_at.isoformat() if entry.created_at else None,
        verified_at=entry.verified_at.isoformat() if entry.verified_at else None,
    )
