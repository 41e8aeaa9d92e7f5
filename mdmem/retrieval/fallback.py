"""Where an answer comes from when the memory cannot be read: docs, README, then the workspace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mdmem.disk import read_regular
from mdmem.entry.origin import KEY, origin_in
from mdmem.entry.text import tokens_of
from mdmem.errors import GitError
from mdmem.git import Repository, find_repository, matching_lines, search_lines
from mdmem.regex import regex
from mdmem.retrieval.pack import Pack
from mdmem.retrieval.question import AnswerBasis, Passage, Question
from mdmem.settings import Settings
from mdmem.state import leads_away
from mdmem.workspace.scope import Scope, ScopeState
from mdmem.workspace.workspace import Workspace

LIMIT = 20
# Where nothing of the memory covers a question, a few lines beside it may.
_OUTSIDE, _TOKENS, _SECONDS = 5, 300, 0.3
# So many lines of the workspace are compared.
_RANKED = 2000
_DOCUMENTS = ("docs/architecture.md", "README.md")
_WIDTH = 240
_LETTERS = 2
# What is read where there is no memory.
NO_SCOPE = Scope(wing=None, wings=(), state=ScopeState.UNRESOLVED)
# Markdown that carries no statement: fences, rules, table borders.
_NO_TEXT = regex(r"^[\s`~|=*_-]*$")

# Returns path, line and text of workspace lines that hold any of the words; the number is the limit.
SearchLines = Callable[[Sequence[str], int], list[tuple[str, int, str]]]


def fall_back(base: Path, words: Sequence[str], *, search_lines: SearchLines) -> tuple[str, tuple[Passage, ...]]:
    """Return the first source that has something to say (docs, readme, workspace) and its passages.

    Without words a document answers with its first lines; the workspace is searched for words only.
    """
    for source, path in zip(("docs", "readme"), _DOCUMENTS, strict=True):
        passages = tuple(_passages(base, path, words))[:LIMIT]
        if passages:
            return source, passages
    held = _held(words)
    found = [one for one in search_lines(words, _RANKED) if held(one[2])] if words else []
    return "workspace", tuple(Passage(path, line, _short(text)) for path, line, text in found[:LIMIT])


def _held(words: Iterable[str]) -> Callable[[str], int]:
    """Return what counts the words that a text holds, also as parts of others but for those that are too short."""
    folded = {word.casefold(): re.escape(word.casefold()) for word in words}
    wanted = [
        re.compile(rf"(?<!\w){escaped}(?!\w)" if _is_letters(word) else escaped) for word, escaped in folded.items()
    ]
    return lambda text: sum(one.search(text.casefold()) is not None for one in wanted)


def _is_letters(word: str) -> bool:
    """Say whether a word is so short that most other words hold it; signs of other scripts are words."""
    return len(word) <= _LETTERS and word.isascii()


def _passages(base: Path, path: str, words: Sequence[str]) -> Iterator[Passage]:
    place = base / path
    if leads_away(base, path):
        return
    try:
        # A link may lead out of the repository.
        text = read_regular(place, follow=False).decode("utf-8", "replace")
    except OSError:
        return
    held = _held(words)
    for number, line in enumerate(text.splitlines(), 1):
        if _NO_TEXT.match(line):
            continue
        if not words or held(line):
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
            return search_lines(repository, wanted, limit, whole=all(map(_is_letters, wanted)))
        except GitError:
            return search_files(base, wanted, limit)

    return fall_back(base, _searchable(words), search_lines=search)


def outside(workspace: Workspace, words: str) -> tuple[Passage, ...]:
    """Return a few lines outside the memory that hold most of the words: where nothing binding covers a question.

    They are of the files at hand, take 300 tokens and a third of a second at most, and who may not see all gets none.
    """
    wanted = _searchable(words)
    if not wanted or workspace.access.is_narrow or not workspace.snapshot.is_working_tree:
        return ()
    location = workspace.location
    found = [line for path in _DOCUMENTS for line in _passages(location.base, path, wanted)]
    if location.repository is not None:
        own = (location.under,) if location.under else tuple(workspace.catalog.wings)
        with suppress(GitError):
            lines = search_lines(location.repository, wanted, _RANKED, without=own, seconds=_SECONDS)
            imported = _imported(location.repository, location.under) if lines else frozenset()
            others = (one for one in lines if one[0] not in _DOCUMENTS and one[0] not in imported)
            found += (Passage(path, line, _short(text)) for path, line, text in others)
    return _best_of(found, wanted)


def _imported(repository: Repository, under: str) -> frozenset[str]:
    """Return the files of which the memory has what they say."""
    stated = (origin_in(line) for line in matching_lines(repository, f"{KEY}: ", under))
    return frozenset(one.path for one in stated if one is not None)


def _best_of(found: Iterable[Passage], wanted: Sequence[str]) -> tuple[Passage, ...]:
    """Return the lines with most of the words, while they are few and short; one word of several is an accident."""
    of = _held(wanted)
    near = [one for one in found if of(one.text) >= min(2, len(wanted))]
    kept: list[Passage] = []
    left = _TOKENS
    for one in sorted(near, key=lambda one: of(one.text), reverse=True)[:_OUTSIDE]:
        left -= tokens_of(len(f"{one.path}:{one.line}: {one.text}".encode("utf-8", "replace")))
        if left < 0:
            break
        kept.append(one)
    return tuple(kept)


def _searchable(words: str) -> list[str]:
    """Return the words worth looking for literally: those the index would not stop, as stems where these begin them."""
    from mdmem.index.analysis import ask

    found: Mapping[str, str] = ask(words).typed
    stems = (term if typed.casefold().startswith(term) else typed for term, typed in found.items())
    return list(dict.fromkeys(stems))[:16]
