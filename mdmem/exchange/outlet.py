"""Where exported files go: whole files of ours and regions of others', never over what somebody wrote or changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.setup.client_config import MisfitError
from mdmem.setup.clients import content_to_grow, put
from mdmem.setup.seal import is_exported, is_whole, region_of, sealed


class ExportedFile(Struct, frozen=True):
    """One file to be: its path from the folder of the export, and its text; as a region it is a part of the file."""

    path: str
    text: str
    is_region: bool = False


class Outlet(Struct, frozen=True):
    """A folder to export to; files there that match `owned` and were exported before belong to the export."""

    folder: Path
    owned: tuple[str, ...] = ()

    def changes(self, files: Sequence[ExportedFile]) -> tuple[OutletChange, ...]:
        """Return what is to be written and removed, by path; raises UsageError where something of others is there."""
        found = [change for file in files if (change := self._change(file)) is not None]
        return tuple(sorted([*found, *self._stale({file.path for file in files})], key=lambda one: one.path))

    def write(self, changes: Sequence[OutletChange]) -> None:
        """Write and remove; raises EnvironmentFaultError."""
        for change in changes:
            path = self.folder / change.path
            if change.text is not None:
                put(path, change.text.encode("utf-8", "surrogateescape"), is_new=change.is_new)
            else:
                _remove(path)

    def _change(self, file: ExportedFile) -> OutletChange | None:
        before = self._before(file.path)
        if before is None:
            return OutletChange(file.path, sealed(file.text), is_new=True)
        now = _grown(file, before) if file.is_region else _replaced(file, before)
        return None if now == before else OutletChange(file.path, now)

    def _before(self, path: str) -> str | None:
        try:
            content = content_to_grow(self.folder / path, self.folder)
            return None if content is None else content.decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is there and stays as it is: it is not in UTF-8") from error
        except MisfitError as error:
            raise UsageError(f"{path} is there and stays as it is: {error}") from error

    def _stale(self, wanted: set[str]) -> Iterator[OutletChange]:
        there = {path for pattern in self.owned for path in self.folder.glob(pattern) if path.is_file()}
        for path in sorted(there):
            name = path.relative_to(self.folder).as_posix()
            text = self._before(name) if name not in wanted and not path.is_symlink() else None
            if text is not None and is_exported(text):
                if not is_whole(text):
                    raise UsageError(_edited(name))
                yield OutletChange(name, None)


class OutletChange(Struct, frozen=True):
    """One file that the export changes: its text afterwards, None where it goes."""

    path: str
    text: str | None
    is_new: bool = False


def _grown(file: ExportedFile, before: str) -> str:
    """Return a file with the region in its place, or at the end of what is there."""
    region = sealed(file.text)
    newline = "\r\n" if "\r\n" in before else "\n"
    region = region.replace("\n", newline)
    place = region_of(before)
    if place is None:
        gap = "" if not before.strip() else newline if before.endswith("\n") else 2 * newline
        return f"{before}{gap}{region}"
    start, end = place
    if not is_whole(before[start:end]):
        raise UsageError(_edited(f"what stands between the markers in {file.path}", "it with its markers"))
    return f"{before[:start]}{region}{before[end:]}"


def _replaced(file: ExportedFile, before: str) -> str:
    if not is_exported(before):
        raise UsageError(f"{file.path} is there and was not exported; it stays as it is: name another folder by --out")
    if not is_whole(before):
        raise UsageError(_edited(file.path))
    return sealed(file.text)


def _edited(what: str, removed: str = "it") -> str:
    advice = f"change the entries, remove {removed}, and export again"
    return f"{what} was changed since it was exported and stays as it is: {advice}"


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise EnvironmentFaultError(f"{path} cannot be removed: {(error.strerror or str(error)).lower()}") from error
