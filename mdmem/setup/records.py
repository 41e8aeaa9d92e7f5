"""Find the decision records of other tools, and files with instructions for agents, in a project."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular
from mdmem.store.state.files import leads_away

# Names of folders with decision records. Blanks and underscores count as hyphens.
_FOLDER = re.compile(
    r"adrs?|rfcs?|decisions|(?:(?:architecture|architectural|design|technical)-decision|decision-(?:record|log))s?"
    r"|architectur(?:e|al)-decision-records?"
)
_PASSED_OVER = frozenset({"node_modules", "venv", "site-packages", "__pycache__"})
_INSTRUCTIONS = (
    *("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md", "QWEN.md", ".github/copilot-instructions.md"),
    *(".github/instructions/**/*.instructions.md", ".cursor/rules/**/*.mdc"),
)
# Files in such a folder that are not records.
_NO_RECORD = re.compile(
    r"(?:_?readme|_?index|changelog|contributing|(?:n{3,}|x{3,})[-_ ].*"
    r"|(?!(?:[a-z]+[-_ ]?)?0*[1-9]\d*[-_. ])(?:.*[-_. ])?template(?:[-_. ].*)?)(?:\.[a-z]{2})?\Z",
    re.IGNORECASE,
)
# A folder with another name counts if it has several pages such as `0012-x.md` and `eip-5.md`, but none with dates, and
# one of them has a status that chapters and tasks do not have: those are `final` and `implemented`, too.
_SEVERAL, _SAMPLE = 3, 50
_NUMBERED = re.compile(r"(?!\d{4}-\d\d-\d\d)(?:[a-z]{2,10}[-_ ]?\d+|\d{3,})(?=[-_. ])(?!\.\d)", re.IGNORECASE)
_DECIDED = re.compile(
    r"^[ \t>|*_#-]{0,9}status\W{1,20}(?:accepted|adopted|superseded|replaced|rejected|withdrawn)\b",
    re.IGNORECASE | re.MULTILINE,
)
_TRANSLATED = re.compile(r"(.+)\.[a-z]{2}(?:[-_][A-Za-z]{2,4})?\.md")
_ADR_FOLDER = re.compile(r"^[ \t]*(?:-\s*)?adrFolder:\s*[\"']?([^\"'#\n]+)", re.MULTILINE)


def record_folders(base: Path, patterns: Sequence[str] = ("*.md",)) -> dict[str, str]:
    """Return the folders that contain decision records, as paths relative to `base`.

    The value of each is itself if its name or a setting says so. Otherwise its name is a subject, and the value is the
    folder that contains it.
    """
    named = (*_stated(base / ".adr-dir", re.compile(r"\A\s*(\S.*)")), *_stated(base / ".log4brains.yml", _ADR_FOLDER))
    wanted = {path: path for path in (one.strip().removeprefix("./").rstrip("/") for one in named)}
    # The outermost folders with a typical name count, but none in memories or in nested repositories.
    for folder, names, files in os.walk(base):
        path = Path(folder)
        is_own = path == base or {SETTINGS_NAME, ".git"}.isdisjoint((*names, *files))
        if is_own and path != base and (is_record_folder(path.name) or _has_numbered(path, files)):
            name = path.relative_to(base).as_posix()
            wanted.setdefault(name, name if is_record_folder(path.name) else posixpath.dirname(name))
            is_own = False
        names[:] = sorted(one for one in names if is_own and not one.startswith(".") and one not in _PASSED_OVER)
    found: dict[Path, str] = {}
    for name in wanted:
        if name and ".." not in name.split("/") and not name.startswith("/") and not leads_away(base, name):
            # On a file system that ignores case, two names may mean the same folder.
            real = (base / name).resolve()
            if real.is_dir() and any(any(records_in(base / name, pattern)) for pattern in patterns):
                found.setdefault(real, name)
    return {name: wanted[name] for name in found.values()}


def _has_numbered(folder: Path, files: Sequence[str]) -> bool:
    """Return whether most pages of a folder have the number of a record, and one of the first states a decision."""
    pages = [one for one in files if one.endswith(".md") and not _NO_RECORD.match(one.removesuffix(".md"))]
    numbered = [one for one in pages if _NUMBERED.match(one)]
    is_series = len(numbered) >= _SEVERAL and 2 * len(numbered) > len(pages)
    return is_series and any(_stated(folder / one, _DECIDED) for one in sorted(numbered)[:_SAMPLE])


def is_record_folder(name: str) -> bool:
    """Return whether the name of a folder is typical for decision records."""
    return _FOLDER.fullmatch(re.sub(r"[\s_-]+", "-", name.lower())) is not None


def records_in(folder: Path, pattern: str = "*.md") -> Iterator[Path]:
    """Yield, sorted, the Markdown files below a folder that may be decision records. Skip links and hidden folders."""
    for path in sorted(folder.rglob(pattern)):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file() and not path.is_symlink() and not _NO_RECORD.match(path.stem):
            yield path


def original_of(path: str) -> str | None:
    """Return the path of the original of a translation (`x.md` for `x.fr.md`), or None."""
    found = _TRANSLATED.fullmatch(path)
    return f"{found[1]}.md" if found is not None else None


def instruction_files(base: Path) -> tuple[str, ...]:
    """Return the files with instructions for agents, as paths relative to `base`."""
    found = (path for pattern in _INSTRUCTIONS for path in sorted(base.glob(pattern)))
    return tuple(path.relative_to(base).as_posix() for path in found if path.is_file() and not path.is_symlink())


def _stated(path: Path, pattern: re.Pattern[str]) -> list[str]:
    try:
        return pattern.findall(read_regular(path, follow=False).decode("utf-8", "replace"))
    except OSError:
        return []
