"""What was parsed of any content, by its digest, in a folder that all worktrees share."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from mdmem import __version__
from mdmem.catalog.interpret import LoadedFile
from mdmem.entry.fields import VERSION
from mdmem.entry.model import DATE_FIELDS, Entry, Wing, parse_moment
from mdmem.record import Raw, read_texts, unpack_one
from mdmem.state import read_packed, write_packed

# The number is raised whenever what is stored of a file changes; the table of fields has a version of its own. Another
# release words its findings otherwise, and another Python has other letters.
RECORD_VERSION = f"8.{VERSION} {__version__}"
CACHE_VERSION = f"{RECORD_VERSION} {sys.version_info.major}.{sys.version_info.minor}"
# So much that nothing uses is kept in each part: what a branch or two hold.
_SPARE = 250

_Packed = dict[str, Raw]
_Wings = dict[str, Wing | None]
_WINGS = "wings"


def read_moments(files: Iterable[LoadedFile | None], wings: Iterable[Wing | None]) -> bool:
    """Put the dates of what was just read from the cache right; False where one of them is no date."""
    return read_dates([one.entry for one in files if one is not None and one.entry is not None], wings)


def read_dates(entries: Sequence[Entry], wings: Iterable[Wing | None], *, names: Sequence[str] = DATE_FIELDS) -> bool:
    """Put the dates of entries and wings right as `read_moments` does; no entry has one in fields of other names."""
    try:
        read_texts(entries, names, parse_moment)
        read_texts([wing for wing in wings if wing is not None], ("last_hygiene_at",), parse_moment)
    except ValueError:
        return False
    return True


def as_kept(one: LoadedFile) -> LoadedFile:
    """Return what a file means with its times in UTC, as they come out of the cache."""
    entry = one.entry
    stated = {name: getattr(entry, name) for name in DATE_FIELDS} if entry is not None else {}
    offset = {name: time for name, time in stated.items() if isinstance(time, datetime) and time.utcoffset()}
    if entry is None or not offset:
        return one
    return one.with_changes(entry=entry.with_changes(**{name: time.astimezone(UTC) for name, time in offset.items()}))


class ContentCache:
    """Parsed files by the digest of their content, parted by its last sign: to keep one costs a sixteenth of all."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the cache; nothing is read yet."""
        self._folder = folder / "parsed"
        # What was read is unpacked when it is asked for: whoever keeps one more passes on hundreds as they are.
        self._parts: dict[str, dict[str, Raw | LoadedFile]] = {}
        self._wings: _Wings | None = None

    @property
    def is_new(self) -> bool:
        """Say whether nothing was ever kept."""
        return not self._folder.exists()

    def files(self, digests: Mapping[str, str | None]) -> dict[str, LoadedFile]:
        """Return what contents mean in an entry's place, by path, so far as they were ever parsed."""
        kept = {digest: self._part(digest[-1]).get(digest) for digest in digests.values() if digest}
        packed = {digest: unpack_one(one, LoadedFile) for digest, one in kept.items() if isinstance(one, Raw)}
        # All dates at once: to look for those of one file takes as long as to unpack it.
        if not read_moments(packed.values(), ()):
            packed = {digest: one if read_moments((one,), ()) else None for digest, one in packed.items()}
        kept.update(packed)
        meant = ((path, kept[digest]) for path, digest in digests.items() if digest)
        return {path: one.at(path) for path, one in meant if isinstance(one, LoadedFile)}

    def _part(self, name: str) -> dict[str, Raw | LoadedFile]:
        if name not in self._parts:
            self._parts[name] = {**(read_packed(self._folder / name, CACHE_VERSION, _Packed) or {})}
        return self._parts[name]

    @property
    def wings(self) -> Mapping[str, Wing | None]:
        """Return the wings of manifests by their digests, None for prose."""
        if self._wings is None:
            found = read_packed(self._folder / _WINGS, CACHE_VERSION, _Wings)
            self._wings = found if found is not None and read_moments((), found.values()) else {}
        return self._wings

    def keep(self, learned: Mapping[str, LoadedFile], used: Collection[str] | None) -> None:
        """Remember what was parsed; what no used digest names is forgotten once it outweighs what one does.

        `used` is None for who sees a part alone, and cannot tell what is used.
        """
        for name in {digest[-1] for digest in learned}:
            known = self._part(name) | {digest: one for digest, one in learned.items() if digest[-1] == name}
            live = known.keys() if used is None else known.keys() & used
            if len(known) > 4 * len(live) + _SPARE:
                known = {digest: known[digest] for digest in live}
            self._parts[name] = known
            write_packed(self._folder / name, CACHE_VERSION, known)

    def keep_wings(self, learned: Mapping[str, Wing | None]) -> None:
        """Remember what manifests state."""
        self._wings = {**self.wings, **learned}
        write_packed(self._folder / _WINGS, CACHE_VERSION, self._wings)
