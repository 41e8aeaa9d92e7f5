"""Find the files to import, and split each into front matter and body, even if its YAML is invalid."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from mdmem import SETTINGS_NAME
from mdmem.disk import read_regular
from mdmem.errors import UsageError
from mdmem.exchange.record import SourceFile, UnfitError
from mdmem.markdown.front_matter import FenceError, FrontMatterError, has_front_matter
from mdmem.markdown.parse import SIZE_LIMIT, handler
from mdmem.setup.records import instruction_files, is_record_folder, record_folders, records_in
from mdmem.store.catalog.addresses import well_formed
from mdmem.store.git.status import list_ignored, list_tracked_named
from mdmem.store.state.files import leads_away
from mdmem.store.workspace.location import Location
from mdmem.store.workspace.workspace import Workspace

# Clients read instructions with these names in any folder.
_NESTED = ("AGENTS.md", "CLAUDE.md")
_ENDINGS = (".md", ".markdown", ".mdc")
_OTHER_PATTERNS = ("*.mdc", "*.instructions.md", "*.markdown")
# Below a folder that the user gave, a name like `adr` or `decisions` is enough for a folder of records.
_RECORD_FOLDER = re.compile(r"(?:.*[\s_-])?(?:adrs?|decisions)(?:[\s_-].*)?", re.IGNORECASE)
_PAIR = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*?))?[ \t]*\r?\Z")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*?)[ \t]*\r?\Z")


class Found(Struct, frozen=True):
    """A file to read, by its path from the top of the project.

    `room` is the name of the room that its folder becomes, below the folder that the user gave.
    """

    path: str
    room: str = ""
    is_in_records: bool = False


def find_sources(workspace: Workspace, named: Sequence[str]) -> list[Found]:
    """Return the files that the user gave and the files in given folders.

    Without any, return those in the usual places. Files of the memory and files that git ignores are left out. Raises
    UsageError.
    """
    location = workspace.location
    base, repository = location.base, location.repository
    folders = record_folders(base)
    places = [] if named else [base / folder for folder in folders]
    for name in named:
        place = Path(os.path.normpath(workspace.cwd / name))
        if not os.path.lexists(place):
            raise UsageError(f"there is no `{name}`")
        if not place.resolve().is_relative_to(base.resolve()):
            copy = f"cp -r {shlex.quote(name)} {shlex.quote(os.path.relpath(base / 'docs', workspace.cwd))}"
            raise UsageError(f"`{name}` is outside of {base}; copy it into the project first: `{copy}`")
        if (place / SETTINGS_NAME).exists():
            raise UsageError(f"`{_from(base, place)}` is a memory already")
        places.append(place)
    found: dict[str, Found] = {}
    for place in places:
        for path, room in _below(base, place, folders) if place.is_dir() else ((place, ""),):
            one = _from(base, path)
            is_in_records = any(one.startswith(f"{folder}/") for folder in folders) or any(
                is_record_folder(part) or _RECORD_FOLDER.fullmatch(part) for part in one.split("/")[:-1]
            )
            found.setdefault(one, Found(one, room, is_in_records))
    if not named:
        nested = [list_tracked_named(repository, name) for name in _NESTED] if repository is not None else []
        for one in (*instruction_files(base), *(path for paths in nested for path in paths)):
            found.setdefault(one, Found(one))
    own = {in_project(location, file.path) for file in workspace.tree.files()}
    others = [one for path, one in found.items() if path not in own]
    ignored = list_ignored(repository, [one.path for one in others]) if repository is not None else ()
    return [one for one in others if one.path not in ignored]


def in_project(location: Location, path: str) -> str:
    """Convert a path relative to the root into a path relative to the top of the project."""
    under = location.root.relative_to(location.base).as_posix()
    return path if under == "." else f"{under}/{path}"


def _below(base: Path, folder: Path, record_folders: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield the files below a folder that may be records, each with the room for it."""
    homes = [folder, *(base / one for one in record_folders)]
    for path in sorted({*records_in(folder), *(path for pattern in _OTHER_PATTERNS for path in folder.rglob(pattern))}):
        # A folder of decision records is not a subject, so it does not become a room.
        home = max((one for one in homes if path.is_relative_to(one)), key=lambda one: len(one.parts))
        parts = path.parent.relative_to(home).parts
        yield path, well_formed("room", "-".join(parts)) or "" if parts else ""


def _from(base: Path, path: Path) -> str:
    return (path.parent.resolve() / path.name).relative_to(base.resolve()).as_posix()


def read_bytes(base: Path, path: str) -> bytes:
    """Return the content of a file in the project. Raises UnfitError if it cannot be imported."""
    if not path.isprintable():
        raise UnfitError("has a name that is not UTF-8, or not visible; rename it")
    if leads_away(base, path):
        raise UnfitError("is a symbolic link, or behind one; give the path of its target")
    try:
        return read_regular(base / path, follow=False)
    except OSError as error:
        raise UnfitError(f"cannot be read: {(error.strerror or str(error)).lower()}") from error


def read_source(base: Path, found: Found) -> SourceFile:
    """Return a Markdown file, split into front matter and body. Raises UnfitError if it cannot be imported."""
    if not found.path.lower().endswith(_ENDINGS):
        raise UnfitError(f"is not a Markdown file: its name ends in none of {', '.join(_ENDINGS)}")
    data = read_bytes(base, found.path)
    if len(data) > SIZE_LIMIT:
        raise UnfitError(f"has {len(data) / SIZE_LIMIT:.1f} MiB, over the limit of 1 MiB; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = f"`iconv -f CP1252 -t UTF-8 {found.path}` may read it"
        raise UnfitError(f"is not UTF-8 at byte {error.start}; save it as UTF-8: {hint}") from error
    if not text.strip():
        raise UnfitError("is empty")
    if text.startswith("Moved to [") and text.count("\n") == 1:
        raise UnfitError("only points to a moved record")
    front, body = "", text
    # Without a second fence, the file begins with a horizontal rule, not with front matter.
    with suppress(FenceError):
        front, body = handler().split(text) if has_front_matter(text) else ("", text)
    fields: Mapping[str, Any] = {}
    try:
        loaded = handler().load(front)
        # YAML reads the `#34` in `supersedes: #34` as a comment.
        lines = front.split("\n")
        cut = (_PAIR.match(lines[one.line - 1]) for one in loaded.troubles if one.code == "comment-truncates-value")
        fields = {**loaded, **{pair["key"]: pair["value"] for pair in cut if pair is not None and pair["value"]}}
    except FrontMatterError as error:
        # An entry may not have such values either.
        is_beyond = any(one.code in ("front-matter-too-large", "nested-value") for one in error.troubles)
        loose = _read_loosely(front) if not is_beyond else None
        if loose is None:
            line = error.troubles[0].line + 1
            raise UnfitError(f"has a front matter that cannot be read: line {line}: {error}") from error
        fields = loose
    newline = "\r\n" if "\r\n" in text else "\n"
    return SourceFile(found.path, data, fields, body, newline, found.room, found.is_in_records)


def _read_loosely(front: str) -> dict[str, Any] | None:
    """Return the keys of a front matter that is not valid YAML, such as Cursor's.

    Return None if a line is neither a key nor a list item.
    """
    fields: dict[str, Any] = {}
    last = ""
    for line in front.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        item, pair = _ITEM.match(line), _PAIR.match(line)
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
