"""Write exported files: whole files and regions of files, never over text that somebody wrote or changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.setup.client_config import MisfitError
from mdmem.setup.clients import content_to_grow, put
from mdmem.setup.seal import is_exported, is_whole, region_of, sealed


class ExportedFile(Struct, frozen=True):
    """A file to export: its path from the folder of the export, and its text, or that of a region in it."""

    path: str
    text: str
    is_region: bool = False


class OutletChange(Struct, frozen=True):
    """A file that the export changes: its new text, None if it is removed."""

    path: str
    text: str | None
    is_new: bool = False


def list_changes(folder: Path, files: Sequence[ExportedFile], owned: Sequence[str]) -> tuple[OutletChange, ...]:
    """Return the changes of an export to a folder, by path; raises UsageError where a file is somebody's own.

    Files that match the patterns `owned`, and were exported before, are removed if the export lacks them.
    """
    found: list[OutletChange] = []
    for file in files:
        before = _read(folder, file.path)
        if before is None:
            found.append(OutletChange(file.path, sealed(file.text), is_new=True))
        elif (now := _with_region(file, before) if file.is_region else _replaced(file, before)) != before:
            found.append(OutletChange(file.path, now))
    return tuple(sorted([*found, *_outdated(folder, {file.path for file in files}, owned)], key=lambda one: one.path))


def write_changes(folder: Path, changes: Sequence[OutletChange]) -> None:
    """Write and remove files; raises EnvironmentFaultError."""
    for change in changes:
        path = folder / change.path
        if change.text is not None:
            put(path, change.text.encode("utf-8", "surrogateescape"), is_new=change.is_new)
            continue
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise EnvironmentFaultError(
                f"{path} cannot be removed: {(error.strerror or str(error)).lower()}"
            ) from error


def _read(folder: Path, path: str) -> str | None:
    try:
        content = content_to_grow(folder / path, folder)
        return None if content is None else content.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is there and stays as it is: it is not in UTF-8") from error
    except MisfitError as error:
        raise UsageError(f"{path} is there and stays as it is: {error}") from error


def _outdated(folder: Path, wanted: set[str], owned: Sequence[str]) -> Iterator[OutletChange]:
    there = {path for pattern in owned for path in folder.glob(pattern) if path.is_file()}
    for path in sorted(there):
        name = path.relative_to(folder).as_posix()
        text = _read(folder, name) if name not in wanted and not path.is_symlink() else None
        if text is not None and is_exported(text):
            if not is_whole(text):
                raise UsageError(_edited(name))
            yield OutletChange(name, None)


def _with_region(file: ExportedFile, before: str) -> str:
    """Return a file with the region in its old place, or at the end."""
    newline = "\r\n" if "\r\n" in before else "\n"
    region = sealed(file.text).replace("\n", newline)
    place = region_of(before)
    if place is None:
        gap = "" if not before.strip() else newline if before.endswith("\n") else 2 * newline
        return f"{before}{gap}{region}"
    start, end = place
    if not is_whole(before[start:end]):
        raise UsageError(_edited(f"the text between the markers in {file.path}", "it with its markers"))
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
