"""The files that are read: which ones, and each as front matter and body, however loosely it was written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import UsageError
from mdmem.exchange.record import SourceFile
from mdmem.markdown.fields import FenceError, FrontMatterError, Trouble, has_front_matter
from mdmem.markdown.parse import SIZE_LIMIT, handler
from mdmem.setup.records import instruction_files, is_record_folder, record_folders, records_in
from mdmem.store.catalog.addresses import well_formed
from mdmem.store.git import Repository, list_ignored, list_tracked_named
from mdmem.store.state import leads_away
from mdmem.store.tree import SETTINGS_NAME
from mdmem.store.workspace.location import Location
from mdmem.store.workspace.workspace import Workspace


class UnfitError(ValueError):
    """A file cannot be imported; the sentence says why, without the file's name."""


class Found(Struct, frozen=True):
    """A file to read, from the project's top, and the folder below the named one that it lies in.

    `is_in_records` says that it lies in a folder of decision records, `is_translation` that its original is beside it.
    """

    path: str
    room: str = ""
    is_in_records: bool = False
    is_translation: bool = False


# What a client reads in each folder that it works in.
_NESTED = ("AGENTS.md", "CLAUDE.md")
_ENDINGS = (".md", ".markdown", ".mdc")


def found_here(base: Path, repository: Repository | None) -> list[Found]:
    """Return what a project holds where records and instructions usually are, those of each folder that git knows."""
    folders = record_folders(base)
    records = [one for folder in folders for one in _below(base, base / folder, folders)]
    nested = (list_tracked_named(repository, name) for name in _NESTED) if repository is not None else ()
    paths = dict.fromkeys((*instruction_files(base), *(path for paths in nested for path in paths)))
    return list({one.path: one for one in (*records, *map(Found, paths))}.values())


def found_in(base: Path, cwd: Path, named: Sequence[str]) -> list[Found]:
    """Return the files that were named, and those below the folders that were, from a base; raises UsageError."""
    found: dict[str, Found] = {}
    folders = record_folders(base)
    for name in named:
        place = Path(os.path.normpath(cwd / name))
        if not os.path.lexists(place):
            raise UsageError(f"there is no `{name}`")
        if not place.resolve().is_relative_to(base.resolve()):
            raise UsageError(f"`{name}` lies outside of {base}; copy it into the project first")
        ones = _below(base, place, folders) if place.is_dir() else (_found(base, place, folders),)
        for one in ones:
            found.setdefault(one.path, one)
    return list(found.values())


def in_project(location: Location, path: str) -> str:
    """Return a path of the root as counted from the project's top."""
    under = location.root.relative_to(location.base).as_posix()
    return path if under == "." else f"{under}/{path}"


def foreign(found: Sequence[Found], workspace: Workspace) -> list[Found]:
    """Return the files that are not of the memory itself, and that git does not ignore."""
    own = {in_project(workspace.location, file.path) for file in workspace.tree.files()}
    others = [one for one in found if one.path not in own]
    repository = workspace.location.repository
    ignored = list_ignored(repository, [one.path for one in others]) if repository is not None else frozenset()
    return [one for one in others if one.path not in ignored]


_OTHERS = ("*.mdc", "*.instructions.md", "*.markdown")


def _below(base: Path, folder: Path, record_folders: Sequence[str]) -> Iterator[Found]:
    if (folder / SETTINGS_NAME).exists():
        raise UsageError(f"`{_from(base, folder)}` is a memory already")
    homes = [folder, *(base / one for one in record_folders)]
    paths = {*records_in(folder), *(path for ending in _OTHERS for path in folder.rglob(ending))}
    for path in sorted(paths):
        # A folder of records within the one that was named is no subject of theirs.
        home = max((one for one in homes if path.is_relative_to(one)), key=lambda one: len(one.parts))
        parts = path.parent.relative_to(home).parts
        room = well_formed("room", "-".join(parts)) or "" if parts else ""
        original = original_of(path.name)
        is_translation = original is not None and path.with_name(original) in paths
        found = _found(base, path, record_folders)
        yield replace(found, room=room, is_translation=is_translation)


def original_of(path: str) -> str | None:
    """Return the path of the original of a translation, `x.md` of `x.fr.md`; None for any other name."""
    found = _TRANSLATED.fullmatch(path)
    return f"{found[1]}.md" if found is not None else None


_TRANSLATED = re.compile(r"(.+)\.[a-z]{2}(?:[-_][A-Za-z]{2,4})?\.md")


# Such a name is enough where a person named the folder.
_NAMED_SO = re.compile(r"(?:.*[\s_-])?(?:adrs?|decisions)(?:[\s_-].*)?", re.IGNORECASE)


def _found(base: Path, place: Path, record_folders: Sequence[str]) -> Found:
    path = _from(base, place)
    is_stated = any(path.startswith(f"{folder}/") for folder in record_folders)
    is_called_so = any(is_record_folder(one) or _NAMED_SO.fullmatch(one) for one in path.split("/")[:-1])
    return Found(path, is_in_records=is_stated or is_called_so)


def _from(base: Path, path: Path) -> str:
    real = path.parent.resolve() / path.name
    return real.relative_to(base.resolve()).as_posix()


def read_bytes(base: Path, path: str) -> bytes:
    """Return what a file of the project holds; raises UnfitError."""
    if not path.isprintable():
        raise UnfitError("has a name that is no UTF-8, or that does not show; rename it")
    if leads_away(base, path):
        raise UnfitError("is a symbolic link, or lies behind one; name what it leads to")
    try:
        return read_regular(base / path, follow=False)
    except OSError as error:
        raise UnfitError(f"cannot be read: {(error.strerror or str(error)).lower()}") from error


def read_source(base: Path, found: Found) -> SourceFile:
    """Return a file as it was read; raises UnfitError."""
    if not found.path.lower().endswith(_ENDINGS):
        raise UnfitError(f"is no Markdown file: its name ends in none of {', '.join(_ENDINGS)}")
    data = read_bytes(base, found.path)
    if len(data) > SIZE_LIMIT:
        raise UnfitError(f"is {len(data) / SIZE_LIMIT:.1f} MiB, over the limit of 1 MiB; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = f"`iconv -f CP1252 -t UTF-8 {found.path}` may read it"
        raise UnfitError(f"is not UTF-8 at byte {error.start}; save it as UTF-8: {hint}") from error
    if not text.strip():
        raise UnfitError("is empty")
    if text.startswith("Moved to [") and text.count("\n") == 1:
        raise UnfitError("only leads to what was moved")
    fields, body = _split(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    return SourceFile(found.path, data, fields, body, newline, found.room, found.is_in_records)


def _split(text: str) -> tuple[Mapping[str, Any], str]:
    if not has_front_matter(text):
        return {}, text
    try:
        front, body = handler().split(text)
    except FenceError:
        # A rule at the top of a text that has no front matter.
        return {}, text
    try:
        fields = handler().load(front)
    except FrontMatterError as error:
        # Nothing reads it back from an entry either.
        is_beyond = any(one.code in ("front-matter-too-large", "nested-value") for one in error.troubles)
        loose = _loosely(front) if not is_beyond else None
        if loose is None:
            line = error.troubles[0].line + 1
            raise UnfitError(f"has a front matter that cannot be read: line {line}: {error}") from error
        return loose, body
    return _with_comments(fields, front, fields.troubles), body


def _with_comments(fields: Mapping[str, Any], front: str, troubles: Sequence[Trouble]) -> Mapping[str, Any]:
    """Return fields with the numbers that YAML takes for comments: `supersedes: #34`."""
    lines = front.split("\n")
    cut = (_LINE.match(lines[one.line - 1]) for one in troubles if one.code == "comment-truncates-value")
    return {**fields, **{found["key"]: found["value"] for found in cut if found is not None and found["value"]}}


_LINE = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*?))?[ \t]*\r?\Z")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*?)[ \t]*\r?\Z")


def _loosely(front: str) -> dict[str, Any] | None:
    """Return keys and values of a front matter that is no YAML, such as Cursor's; None where a line is neither."""
    fields: dict[str, Any] = {}
    last = ""
    for line in front.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item, pair = _ITEM.match(line), _LINE.match(line)
        if pair and pair["key"] not in fields:
            last = pair["key"]
            fields[last] = _unquoted(pair["value"] or "") or None
        elif item and last and not isinstance(fields[last], str):
            fields[last] = [*(fields[last] or ()), _unquoted(item["value"])]
        else:
            return None
    return fields


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
