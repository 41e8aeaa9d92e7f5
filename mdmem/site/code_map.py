"""Which code the rules are about: folders with their files, those under a rule, and the rules' globs for a browser."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from mdmem.model.entry import Entry
from mdmem.model.globs import script_pattern
from mdmem.site.links import page_of

# Deeper folders are counted in those above them.
DEEPEST = 4
_MOST_FOLDERS = 400


class FolderRow(Struct, frozen=True):
    """A folder with its tracked files, how many of them a rule names, and how many rules do."""

    path: str
    files: int
    ruled: int
    rules: tuple[str, ...]


class CodeMap(Struct, frozen=True):
    """The tracked files and the rules in force that name some of them, by address."""

    tracked: Sequence[str]
    met: Mapping[str, Sequence[str]]

    def folders(self) -> Iterator[FolderRow]:
        """Yield the folders from the top down, each before what lies in it."""
        files: dict[str, int] = defaultdict(int)
        for path in self.tracked:
            for folder in _above(path):
                files[folder] += 1
        rules: dict[str, set[str]] = defaultdict(set)
        ruled: dict[str, set[str]] = defaultdict(set)
        for address, paths in self.met.items():
            for path in paths:
                for folder in _above(path):
                    rules[folder].add(address)
                    ruled[folder].add(path)
        shown = sorted(files)
        if len(shown) > _MOST_FOLDERS:
            shown = [folder for folder in shown if folder.count("/") < 2 or folder in rules][:_MOST_FOLDERS]
        for folder in shown:
            yield FolderRow(folder, files[folder], len(ruled[folder]), tuple(sorted(rules[folder])))

    def unruled(self) -> Iterator[FolderRow]:
        """Yield the folders of which no file is named by a rule, without those within them."""
        above: set[str] = set()
        for row in self.folders():
            if not row.ruled and not any(one in above for one in _above(row.path.rstrip("/"))):
                above.add(row.path)
                yield row

    @property
    def ruled(self) -> int:
        """Return how many tracked files a rule names."""
        return len({path for paths in self.met.values() for path in paths})


def _above(path: str) -> Iterator[str]:
    """Yield the folders that a file lies in, each with a slash at its end; the top is a slash alone."""
    parts = path.split("/")[:-1][:DEEPEST]
    yield from ("/".join(parts[: at + 1]) + "/" for at in range(len(parts)))


def script_rules(entries: Sequence[Entry]) -> list[list[object]]:
    """Return what a page needs to say what binds a file: page, type, title, and each glob as `script_pattern`."""
    return [
        [page_of(entry.address), entry.type.value, entry.title, [script_pattern(glob) for glob in entry.applies_to]]
        for entry in entries
    ]
