"""Answer from `docs/architecture.md`, README and other files if the memory cannot be read or covers nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import groupby, islice
from pathlib import Path

from msgspec.structs import replace

from mdmem import EXPORT_BEGIN, EXPORT_END
from mdmem.ask.answer import Answer, AnswerBasis, Passage, Question
from mdmem.disk import read_regular
from mdmem.errors import GitError, MdmemError, RootNotFoundError
from mdmem.markdown.body import tokens_of
from mdmem.model.fields import ORIGIN, origin_in
from mdmem.model.text import cut_line
from mdmem.store.git.process import Repository, find_repository
from mdmem.store.git.status import matching_lines, search_lines
from mdmem.store.index.analysis import ask
from mdmem.store.settings import Settings
from mdmem.store.state.files import leads_away
from mdmem.store.workspace.scope import Scope, ScopeState
from mdmem.store.workspace.workspace import Workspace

LIMIT = 20
# The lines, tokens and seconds of a search outside the memory, where no entry covers the question.
_OUTSIDE, _TOKENS, _SECONDS = 5, 300, 0.3
# Seconds for the search of the workspace where the memory cannot be read: less than a client waits for.
_PATIENCE = 3.0
# The most lines of the workspace that are compared, and the most words that are searched for.
_RANKED, _WORDS = 2000, 16
_DOCUMENTS = {"docs/architecture.md": "docs", "README.md": "readme"}
_TEXT_FILES = ("*.md", "*/*.md", "*.txt", "*.rst")
_WIDTH = 240
# Lines of Markdown without text: fences, horizontal rules, table borders.
_NO_TEXT = re.compile(r"^[\s`~|=*_-]*$")
# Files in which `mdmem init` tells agents to use mdmem, and a pattern that finds these paragraphs.
_FOR_AGENTS = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", "copilot-instructions.md"})
_MDMEM = re.compile(r"`mdmem [a-z]|MCP server `mdmem`")

# The mark in a record that is a copy of one entry.
_EXPORTED_RECORD = re.compile(rf"{EXPORT_BEGIN} [0-9a-f]*: of ")

# The scope of an answer if there is a memory that cannot be read.
UNREAD = Scope(wing=None, wings=(), state=ScopeState.UNCERTAIN)


def scope_after(error: MdmemError) -> Scope:
    """Return the scope of an answer after an error: whether there is no memory, or one that cannot be read."""
    return replace(UNREAD, state=ScopeState.UNRESOLVED) if isinstance(error, RootNotFoundError) else UNREAD


def retrieve_without_root(cwd: Path, question: Question, error: MdmemError, *, budget: int | None) -> Answer:
    """Return an answer with lines from outside the memory, because no memory can be read; `error` says why.

    Without a budget (in tokens), the answer has that of the default settings.
    """
    limit = Settings().budget if budget is None else budget
    basis = basis_without_root(cwd, question.words, error)
    return Answer(scope=scope_after(error), question=question, budget=limit, basis=basis)


def basis_without_root(cwd: Path, words: str, error: MdmemError) -> AnswerBasis:
    """Return the facts about an answer with lines from outside the memory, because no memory can be read."""
    try:
        repository = find_repository(cwd)
    except GitError:
        repository = None
    base = repository.top if repository is not None else cwd
    source, passages = search_outside(base, repository, words)
    return AnswerBasis(degraded=True, why_degraded=str(error), source=source, fallback=passages)


def search_outside(base: Path, repository: Repository | None, words: str) -> tuple[str, tuple[Passage, ...]]:
    """Return the first source with matching lines, and at most 20 matching lines of all sources.

    The sources are `docs` (`docs/architecture.md`), `readme`, and `workspace` (other files). If no line matches, the
    first source is `workspace`. Without words, all lines of the first two match, and none of the workspace. Each source
    may fill a third of the result. Earlier sources also get the lines that later ones do not need.
    """
    wanted = _searchable(words)
    found = {source: list(islice(_lines_of(base, path, wanted), LIMIT)) for path, source in _DOCUMENTS.items()}
    found["workspace"] = list(islice(_workspace_lines(base, repository, wanted), LIMIT)) if wanted else []
    source = next((one for one, lines in found.items() if lines), "workspace")
    passages: list[Passage] = []
    counts = [min(len(lines), LIMIT // len(found)) for lines in found.values()]
    for at, lines in enumerate(found.values(), 1):
        passages += lines[: LIMIT - len(passages) - sum(counts[at:])]
    return source, tuple(passages)


def lines_outside(workspace: Workspace, words: str) -> tuple[Passage, ...]:
    """Return the lines outside the memory with the most words of a question that no rule covers.

    The result has at most 5 lines and 300 tokens; the search takes at most 0.3 seconds. A caller who may not see all
    wings gets no lines.
    """
    wanted = _searchable(words)
    if not wanted or workspace.access.is_narrow or not workspace.snapshot.is_working_tree:
        return ()
    location, repository = workspace.location, workspace.location.repository
    found = [line for path in _DOCUMENTS for line in _lines_of(location.base, path, wanted)]
    if repository is not None:
        own = (location.under,) if location.under else tuple(workspace.catalog.wings)
        with suppress(GitError):
            lines = search_lines(repository, wanted, _RANKED, without=own, seconds=_SECONDS)
            # Files that were imported into the memory are left out, since the memory contains their text already.
            origins = map(origin_in, matching_lines(repository, f"{ORIGIN}: ", location.under)) if lines else ()
            imported = {origin.path for origin in origins if origin is not None}
            others = (one for one in _of_others(location.base, lines) if one.path not in imported)
            found += others
    count = _counter(wanted)
    # A line with only one of several words matches by chance.
    near = [one for one in found if count(one.text) >= min(2, len(wanted))]
    best: list[Passage] = []
    left, exported = _TOKENS, cache(lambda path: _exported_lines(location.base / path))
    for one in sorted(near, key=lambda one: count(one.text), reverse=True):
        if one.line in exported(one.path):
            continue
        left -= tokens_of(len(f"{one.path}:{one.line}: {one.text}".encode("utf-8", "replace")))
        if left < 0 or len(best) == _OUTSIDE:
            break
        best.append(one)
    return tuple(best)


def _exported_lines(file: Path) -> frozenset[int]:
    """Return the numbers of the lines that an export wrote, since they are a copy of entries, perhaps an old one."""
    lines, found, is_copy = _all_lines(file), set[int](), False
    is_record = any(map(_EXPORTED_RECORD.match, lines))
    for number, line in enumerate(lines, 1):
        is_copy = is_copy or is_record or line.startswith(EXPORT_BEGIN)
        found.update([number] if is_copy else [])
        is_copy = is_copy and not line.startswith(EXPORT_END)
    return frozenset(found)


def _all_lines(file: Path) -> list[str]:
    """Return the lines of a file, or none if it cannot be read. Symbolic links are not followed."""
    with suppress(OSError):
        return read_regular(file, follow=False).decode("utf-8", "replace").splitlines()
    return []


def _searchable(words: str) -> list[str]:
    """Return the words that are not stop words; a word that begins with its stem is shortened to the stem."""
    stems = (term if typed.casefold().startswith(term) else typed for term, typed in ask(words).typed.items())
    return list(dict.fromkeys(stems))[:_WORDS]


def _counter(words: Iterable[str]) -> Callable[[str], int]:
    """Return a function that counts how many of the words a text contains; very short words only as whole words."""
    folded = {word.casefold() for word in words}
    wanted = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)" if _is_short(word) else re.escape(word)) for word in folded]
    return lambda text: sum(one.search(text.casefold()) is not None for one in wanted)


def _is_short(word: str) -> bool:
    """Return whether a word is so short that many other words contain it; other scripts are excepted."""
    return len(word) <= 2 and word.isascii()


def _lines_of(base: Path, path: str, words: Sequence[str]) -> Iterator[Passage]:
    """Yield the lines of a file that contain any of the words, or all lines if there are no words."""
    count = _counter(words)
    for number, line in enumerate([] if leads_away(base, path) else _all_lines(base / path), 1):
        if not _NO_TEXT.match(line) and (not words or count(line)):
            yield Passage(path, number, cut_line(line, _WIDTH))


def _workspace_lines(base: Path, repository: Repository | None, words: Sequence[str]) -> Iterator[Passage]:
    """Yield the lines of tracked files that contain any of the words; outside a repository, those of text files."""
    count = _counter(words)
    if repository is not None:
        with suppress(GitError):
            found = search_lines(repository, words, _RANKED, whole=all(map(_is_short, words)), seconds=_PATIENCE)
            yield from (one for one in _of_others(base, found) if count(one.text))
            return
    for path in (path for pattern in _TEXT_FILES for path in sorted(base.glob(pattern))):
        if (name := path.relative_to(base).as_posix()) not in _DOCUMENTS:
            yield from _lines_of(base, name, words)


def _of_others(base: Path, lines: Iterable[tuple[str, int, str]]) -> Iterator[Passage]:
    """Yield the found lines without those of `_DOCUMENTS` and without paragraphs that tell agents about mdmem."""
    known = dict[str, set[int]]()
    for path, number, text in lines:
        if path.rpartition("/")[2] in _FOR_AGENTS and path not in known:
            known[path] = set()
            for _, paragraph in groupby(enumerate(_all_lines(base / path), 1), key=lambda one: bool(one[1].strip())):
                numbered = dict(paragraph)
                if any(_MDMEM.search(line) for line in numbered.values()):
                    known[path].update(numbered)
        if path not in _DOCUMENTS and number not in known.get(path, ()):
            yield Passage(path, number, cut_line(text, _WIDTH))
