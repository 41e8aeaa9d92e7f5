"""Where an answer comes from when the memory cannot be read: docs, README, then the workspace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from mdmem.disk import read_regular
from mdmem.errors import GitError
from mdmem.git import Repository, find_repository, search_lines
from mdmem.retrieval.pack import Pack
from mdmem.retrieval.question import AnswerBasis, Passage, Question
from mdmem.settings import Settings
from mdmem.state import leads_away
from mdmem.workspace.scope import Scope, ScopeState

LIMIT = 20
_WIDTH = 240
# What is read where there is no memory.
NO_SCOPE = Scope(wing=None, wings=(), state=ScopeState.UNRESOLVED)
# Markdown that carries no statement: fences, rules, table borders.
_NO_TEXT = re.compile(r"^[\s`~|=*_-]*$")

# Returns path, line and text of workspace lines that hold any of the words; the number is the limit.
SearchLines = Callable[[Sequence[str], int], list[tuple[str, int, str]]]


def fall_back(base: Path, words: Sequence[str], *, search_lines: SearchLines) -> tuple[str, tuple[Passage, ...]]:
    """Return the first source that has something to say (docs, readme, workspace) and its passages.

    Without words a document answers with its first lines; the workspace is searched for words only.
    """
    for source, path in (("docs", "docs/architecture.md"), ("readme", "README.md")):
        passages = tuple(_passages(base, path, words))[:LIMIT]
        if passages:
            return source, passages
    found = search_lines(words, LIMIT) if words else []
    return "workspace", tuple(Passage(path, line, _short(text)) for path, line, text in found)


def _passages(base: Path, path: str, words: Sequence[str]) -> Iterator[Passage]:
    place = base / path
    if leads_away(base, path):
        return
    try:
        # A link may lead out of the repository.
        text = read_regular(place, follow=False).decode("utf-8", "replace")
    except OSError:
        return
    wanted = [word.casefold() for word in words]
    for number, line in enumerate(text.splitlines(), 1):
        if _NO_TEXT.match(line):
            continue
        if not wanted or any(word in line.casefold() for word in wanted):
            yield Passage(path, number, _short(line))


def search_files(base: Path, words: Sequence[str], limit: int) -> list[tuple[str, int, str]]:
    """Return matching lines of the Markdown and text files below a folder that is in no repository."""
    found: list[tuple[str, int, str]] = []
    for suffix in ("*.md", "*/*.md", "*.txt", "*.rst"):
        for path in sorted(base.glob(suffix)):
            name = path.relative_to(base).as_posix()
            found += [(passage.path, passage.line, passage.text) for passage in _passages(base, name, words)]
            if len(found) >= limit:
                return found[:limit]
    return found


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1].rstrip() + "…"


def retrieve_without_root(cwd: Path, question: Question, *, why: str, budget: int | None) -> Pack:
    """Return the answer of docs, README or workspace where there is no memory to ask."""
    limit = Settings().budget if budget is None else budget
    return Pack(scope=NO_SCOPE, budget=limit, basis=basis_without_root(cwd, question.words, why=why))


def basis_without_root(cwd: Path, words: str, *, why: str) -> AnswerBasis:
    """Return the basis of an answer of docs, README or workspace where there is no memory to ask."""
    try:
        repository = find_repository(cwd)
    except GitError:
        repository = None
    base = repository.top if repository is not None else cwd
    source, passages = answer_elsewhere(base, repository, words)
    return AnswerBasis(degraded=True, why_degraded=why, source=source, fallback=passages)


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
