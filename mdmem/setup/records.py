"""Find the decision records of other tools, and files with instructions for agents, in a project."""

from __future__ import annotations

import os
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
_TRANSLATED = re.compile(r"(.+)\.[a-z]{2}(?:[-_][A-Za-z]{2,4})?\.md")
_ADR_FOLDER = re.compile(r"^[ \t]*(?:-\s*)?adrFolder:\s*[\"']?([^\"'#\n]+)", re.MULTILINE)


def record_folders(base: Path, patterns: Sequence[str] = ("*.md",)) -> tuple[str, ...]:
    """Return the folders that contain decision records, as paths relative to `base`."""
    named = (*_stated(base / ".adr-dir", re.compile(r"\A\s*(\S.*)")), *_stated(base / ".log4brains.yml", _ADR_FOLDER))
    wanted = dict.fromkeys(path.strip().removeprefix("./").rstrip("/") for path in named)
    # The outermost folders with a typical name count, but none in memories or in nested repositories.
    for folder, names, files in os.walk(base):
        path = Path(folder)
        is_own = path == base or {SETTINGS_NAME, ".git"}.isdisjoint((*names, *files))
        if is_own and path != base and is_record_folder(path.name):
            wanted[path.relative_to(base).as_posix()] = None
            is_own = False
        names[:] = sorted(one for one in names if is_own and not one.startswith(".") and one not in _PASSED_OVER)
    found: dict[Path, str] = {}
    for name in wanted:
        if name and ".." not in name.split("/") and not name.startswith("/") and not leads_away(base, name):
            # On a file system that ignores case, two names may mean the same folder.
            real = (base / name).resolve()
            if real.is_dir() and any(any(records_in(base / name, pattern)) for pattern in patterns):
                found.setdefault(real, name)
    return tuple(found.values())


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
