"""The answer without a memory: what the repository itself says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mdmem.budget import Pack
from mdmem.errors import GitError
from mdmem.gitrepo import Repository, find_repository, search_lines
from mdmem.retrieval.fallback import Passage, fall_back, search_files
from mdmem.retrieval.model import Question, Retrieval
from mdmem.scope import Scope, ScopeState
from mdmem.settings import Settings


def retrieve_without_root(cwd: Path, question: Question, *, why: str, budget: int | None) -> Pack:
    """Return the answer of docs, README or workspace where there is no memory to ask."""
    try:
        repository = find_repository(cwd)
    except GitError:
        repository = None
    base = repository.top if repository is not None else cwd
    source, passages = answer_elsewhere(base, repository, question.words)
    scope = Scope(wing=None, wings=(), state=ScopeState.UNRESOLVED)
    found = Retrieval(scope=scope, items=(), degraded=True, why_degraded=why, source=source)
    return Pack(
        found=found,
        items=(),
        proposed=(),
        omitted=(),
        omitted_counts=(),
        tokens=0,
        budget=Settings().budget if budget is None else budget,
        fallback=passages,
    )


def answer_elsewhere(base: Path, repository: Repository | None, words: str) -> tuple[str, tuple[Passage, ...]]:
    """Return the source outside the memory that has something to say about the words, and what it says."""

    def search(wanted: Sequence[str], limit: int) -> list[tuple[str, int, str]]:
        if repository is None:
            return search_files(base, wanted, limit)
        try:
            return search_lines(repository, wanted, limit)
        except GitError:
            return search_files(base, wanted, limit)

    return fall_back(base, _searchable(words), search_lines=search)


def _searchable(words: str) -> list[str]:
    """Return the words worth looking for literally: those the index would not stop, as stems where these begin them."""
    from mdmem.index.analysis import ask

    found: Mapping[str, str] = ask(words).typed
    stems = (term if typed.casefold().startswith(term) else typed for term, typed in found.items())
    return list(dict.fromkeys(stems))[:16]
