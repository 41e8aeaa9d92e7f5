"""Answer from docs, README and the workspace, where the memory cannot be read or covers nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, islice
from pathlib import Path

from mdmem.ask.answer import Answer, AnswerBasis, Passage
from mdmem.ask.question import Question
from mdmem.disk import read_regular
from mdmem.errors import GitError
from mdmem.markdown.text import tokens_of
from mdmem.model.origin import KEY, origin_in
from mdmem.store.git.discovery import find_repository
from mdmem.store.git.process import Repository
from mdmem.store.git.status import matching_lines, search_lines
from mdmem.store.index.analysis import ask
from mdmem.store.settings import Settings
from mdmem.store.state import leads_away
from mdmem.store.workspace.scope import Scope, ScopeState
from mdmem.store.workspace.workspace import Workspace

LIMIT = 20
# The lines, tokens and seconds of a search outside the memory, where no entry covers the question.
_OUTSIDE, _TOKENS, _SECONDS = 5, 300, 0.3
# Seconds for the search of the workspace where the memory cannot be read: less than a client waits for.
_PATIENCE = 3.0
# The most lines of the workspace that are compared.
_RANKED = 2000
_DOCUMENTS = ("docs/architecture.md", "README.md")
_WIDTH = 240
_LETTERS = 2
# What is read where there is no memory.
NO_SCOPE = Scope(wing=None, wings=(), state=ScopeState.UNRESOLVED)
# Markdown that carries no statement: fences, rules, table borders.
_NO_TEXT = re.compile(r"^[\s`~|=*_-]*$")

# Files in which `mdmem init` tells agents to ask it, and how those paragraphs mention it.
_FOR_AGENTS = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", "copilot-instructions.md"})
_MDMEM = re.compile(r"`mdmem [a-z]|MCP server `mdmem`")

_Line = tuple[str, int, str]
# Returns path, line and text of workspace lines that hold any of the words; the number is the limit.
SearchLines = Callable[[Sequence[str], int], list[_Line]]


def fall_back(base: Path, words: Sequence[str], *, search_lines: SearchLines) -> tuple[str, tuple[Passage, ...]]:
    """Return the passages of docs, README and workspace, in this order, and the first source that has any.

    Without words a document answers with its first lines; the workspace is searched for words only.
    """
    held = _held(words)
    lines = search_lines(words, _RANKED) if words else []
    others = (one for one in lines if one[0] not in _DOCUMENTS and held(one[2]))
    found = {
        source: list(islice(_passages(base, path, words), LIMIT))
        for source, path in zip(("docs", "readme"), _DOCUMENTS, strict=True)
    }
    found["workspace"] = [Passage(path, line, _short(text)) for path, line, text in islice(others, LIMIT)]
    source = next((one for one, passages in found.items() if passages), "workspace")
    return source, tuple(_shared_out(list(found.values())))


def _shared_out(sources: Sequence[Sequence[Passage]]) -> Iterator[Passage]:
    """Yield passages up to the limit: each source has a third of it, and the first ones what the others leave."""
    share = LIMIT // len(sources)
    spare = LIMIT - sum(min(len(one), share) for one in sources)
    for passages in sources:
        more = min(spare, max(0, len(passages) - share))
        spare -= more
        yield from passages[: share + more]


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


def retrieve_without_root(cwd: Path, question: Question, *, why: str, budget: int | None) -> Answer:
    """Return the answer of docs, README or workspace where there is no memory to ask."""
    limit = Settings().budget if budget is None else budget
    return Answer(
        scope=NO_SCOPE, question=question, budget=limit, basis=basis_without_root(cwd, question.words, why=why)
    )


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
            is_whole = all(map(_is_letters, wanted))
            found = search_lines(repository, wanted, limit, whole=is_whole, seconds=_PATIENCE)
        except GitError:
            return search_files(base, wanted, limit)
        return list(_of_others(base, found))

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
            own_lines = _of_others(location.base, lines)
            others = (one for one in own_lines if one[0] not in _DOCUMENTS and one[0] not in imported)
            found += (Passage(path, line, _short(text)) for path, line, text in others)
    return _best_of(found, wanted)


def _of_others(base: Path, lines: Iterable[_Line]) -> Iterator[_Line]:
    """Yield the lines that do not tell agents about mdmem itself: those answer no question about the project."""
    known = dict[str, frozenset[int]]()
    for path, number, text in lines:
        if path.rpartition("/")[2] in _FOR_AGENTS:
            if path not in known:
                known[path] = frozenset(_about_mdmem(base / path))
            if number in known[path]:
                continue
        yield path, number, text


def _about_mdmem(path: Path) -> Iterator[int]:
    """Yield the numbers of the lines in the paragraphs of a file that mention mdmem's commands or its server."""
    try:
        lines = read_regular(path, follow=False).decode("utf-8", "replace").splitlines()
    except OSError:
        return
    for is_text, paragraph in groupby(enumerate(lines, 1), key=lambda one: bool(one[1].strip())):
        numbered = list(paragraph)
        if is_text and any(_MDMEM.search(line) for _, line in numbered):
            yield from (number for number, _ in numbered)


def _imported(repository: Repository, under: str) -> frozenset[str]:
    """Return the files that were imported into the memory."""
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
    found: Mapping[str, str] = ask(words).typed
    stems = (term if typed.casefold().startswith(term) else typed for term, typed in found.items())
    return list(dict.fromkeys(stems))[:16]
