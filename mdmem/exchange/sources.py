"""Find and read the files of an import. Each file becomes records with addresses, or a row with the reason why not."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from json import detect_encoding
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import replace

from mdmem import EXPORT_BEGIN, EXPORT_END, SETTINGS_NAME
from mdmem.disk import read_regular
from mdmem.errors import UsageError, reason_of
from mdmem.exchange.dialects import Outline, dialect_of, is_instructions, is_madr, read_records
from mdmem.exchange.record import WHOLE, ForeignRecord, ImportRow, Outcome, SourceError, SourceFile, number_of
from mdmem.markdown.front_matter import FrontMatterError, has_front_matter
from mdmem.markdown.parse import SIZE_LIMIT, handler, parse_document
from mdmem.model.entry import Wing, WingKind
from mdmem.model.fields import content_digest
from mdmem.record import grouped
from mdmem.setup.records import instruction_files, is_record_folder, original_of, record_folders, records_in
from mdmem.store.catalog.addresses import load_entry, load_manifest, well_formed
from mdmem.store.git.status import list_ignored, list_tracked_named
from mdmem.store.state.files import leads_away
from mdmem.store.workspace.addresses import iter_origins
from mdmem.store.workspace.location import Location
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change
from mdmem.write.create import place_of, require_names, require_wing
from mdmem.write.lifecycle import approval_remarks

_MARKER = re.compile(rf"^(?:{re.escape(EXPORT_BEGIN)} [^\n]*-->|{re.escape(EXPORT_END)})[ \t]*\r?\n?", re.MULTILINE)
_EXPORTED = re.compile(rf"^{re.escape(EXPORT_BEGIN)} [0-9a-f]*: of (\S+);", re.MULTILINE)


class ImportRequest(Struct, frozen=True, kw_only=True):
    """What to import: paths or the usual places, the dialect (None: that of each file), and the place for the entries.

    `wing` is the kind of the wing to make if the place is in none. `approved_by` is the person who approves accepted
    records. `leaves_pointer` leaves a line in each moved file.
    """

    paths: tuple[str, ...] = ()
    dialect: str | None = None
    place: str | None = None
    wing: WingKind | None = None
    approved_by: str | None = None
    moves: bool = False
    leaves_pointer: bool = False


class ImportPlan:
    """The result of reading all sources: the future entries by address, the files of exported memories, and other rows.

    `manifests` are the manifests of new wings. `contents` are the sources that are completely in the memory, or will be
    after the import. `origins` maps file and part to the address and the origin of each entry that was imported before.
    `earlier` are the records of these entries, read again because they may state relations to new records.
    """

    def __init__(self, workspace: Workspace, request: ImportRequest) -> None:
        """Read all sources. Raises UsageError if a place or path cannot be used, or the person may not approve."""
        self._workspace, self._request = workspace, request
        self.records: dict[str, ForeignRecord] = {}
        self.earlier: dict[str, ForeignRecord] = {}
        self.files: dict[str, bytes] = {}
        self.manifests: dict[str, Change] = {}
        self.rows: list[ImportRow] = []
        self.contents: dict[str, bytes] = {}
        self.remarks: dict[str, None] = {}
        # The sources of new addresses, and existing files. Keys are in lower case: some file systems ignore case.
        self._sources: dict[str, str] = {}
        self._existing = {file.path.lower(): file.path for file in workspace.tree.files()}
        origins = list(iter_origins(workspace, workspace.catalog.addresses))
        self.origins = {(origin.path, origin.part): (address, origin) for address, origin in origins}
        base = workspace.location.base
        # Entries whose source is gone. The same text in another file means that the source was renamed.
        gone = ((address, one) for address, one in origins if not os.path.lexists(base / one.path))
        self._orphans = {one.digest: (address, one.path) for address, one in gone}
        found = find_sources(workspace, request.paths)
        # An original that an earlier import moved is no longer next to its translation, but still counts.
        originals = {one.path for one in found} | {path for path, _ in self.origins}
        translations = [one.path for one in found if original_of(one.path) in originals]
        self.found = [one for one in found if original_of(one.path) not in originals]
        sources = []
        for one in self.found:
            try:
                if one.path.lower().endswith(".json"):
                    for path, text in read_document(read_bytes(base, one.path)):
                        self._add_file(one.path, path, text)
                else:
                    sources.append(read_source(base, one))
            except SourceError as error:
                self._skip(one.path, error)
        for source in mark_records(sources, is_named=bool(request.paths)):
            try:
                self._add_source(source)
            except SourceError as error:
                self._skip(source.path, error)
        # Git's user owns a new wing.
        new = (parse_document(path, one.after) for path, one in self.manifests.items() if one.after is not None)
        planned = {one.path.split("/")[0]: load_manifest(one).wing for one in new}
        for wing in sorted({address.split("/")[0] for address in self.records}) if request.approved_by else ():
            owned = workspace.catalog.wings.get(wing) or planned.get(wing) or Wing(name=wing)
            options = {"option": "--approved-by", "refused": "nothing is imported"}
            remarks = approval_remarks(workspace.settings, owned, request.approved_by or "", **options)
            self.remarks |= dict.fromkeys(remarks)
        if translations:
            some = f"{len(translations)} translation{'s' if translations[1:] else ''}"
            self.remarks[f"{some} left out, such as {translations[0]} next to its original"] = None

    def _skip(self, path: str, why: object, part: str = "", dialect: str = "") -> None:
        outcome = Outcome.SKIPPED
        self.rows.append(ImportRow(path=path, outcome=outcome, part=part, dialect=dialect, messages=[str(why)]))

    def _add_source(self, source: SourceFile) -> None:
        dialect = self._request.dialect or dialect_of(source)
        is_for_client = dialect == "instructions"
        if not is_for_client:
            exported = _EXPORTED.search(source.body)
            if exported is not None and exported[1] in self._workspace.catalog.addresses:
                raise SourceError(f"was exported by mdmem from {exported[1]}, so it needs no import")
            source = replace(source, body=_MARKER.sub("", source.body))
        records = read_records(source, dialect)
        if not records and self._request.paths:
            raise SourceError("has nothing to import: mdmem wrote its text, or it only includes other files")
        is_complete = bool(records)
        for record in records:
            record.dialect, digest = dialect, content_digest(record.content)
            if (before := self.origins.get((record.path, record.part))) is not None:
                record.address, origin = before
                outcome = Outcome.UNCHANGED if origin.digest == digest else Outcome.CHANGED
                is_complete = is_complete and outcome is Outcome.UNCHANGED
                row = ImportRow(path=record.path, outcome=outcome, part=record.part, dialect=dialect)
                row.address, self.earlier[record.address] = record.address, record
                self.rows.append(row)
                continue
            try:
                if (twin := self._orphans.get(digest)) is not None:
                    raise SourceError(f"has the text of {twin[1]}, which is already imported as {twin[0]}")
                record.address = self._address(record)
                self.records[record.address] = record
            except SourceError as error:
                self._skip(record.path, error, record.part, dialect)
                is_complete = False
        # Clients read their instructions at their old place, so these files are never moved.
        if is_complete and not is_for_client:
            self.contents[source.path] = source.data

    def _add_file(self, source: str, path: str, text: str) -> None:
        """Add a file of a whole memory, or a row with the reason why not. No existing file is overwritten."""
        address, content = path.removesuffix(".md"), text.encode()
        row = ImportRow(path=source, outcome=Outcome.IMPORTED, part=address, dialect=WHOLE, address=address)
        names, is_manifest = address.split("/"), address.endswith("/README")
        try:
            require_names(names[:1] if is_manifest else names[:3])
            if len(names) != (2 if is_manifest else 3):
                raise SourceError(f"an entry cannot be at `{path}`")
            if not (self._workspace.location.root / path).exists():
                self.files[path] = content
                self._existing[path.lower()] = path
                entry = load_entry(parse_document(path, content)).entry if not is_manifest else None
                if entry is not None:
                    row.type, row.status, row.title = entry.type, entry.status, entry.title
            elif self._workspace.bytes_of(path) == content:
                row.outcome = Outcome.UNCHANGED
            else:
                raise SourceError(f"`{address}` is there already with other content; nothing is overwritten")
            self.rows.append(row)
        except (SourceError, UsageError) as error:
            self._skip(source, error, address, WHOLE)

    def _address(self, record: ForeignRecord) -> str:
        """Return the address for a record. Raises SourceError if there is none, UsageError for an unusable place."""
        source, place = record.source, self._request.place.strip("/") if self._request.place is not None else None
        home = place_of(self._workspace, record.type, place, is_new=self._request.wing is not None)
        if home.count("/") != 1:
            raise UsageError(f"records cannot be imported to `{home}`; write WING, or WING/ROOM")
        require_names(home.split("/"))
        self.manifests |= {one.path: one for one in require_wing(self._workspace, home, self._request.wing)}
        wing, room = home.split("/")
        # The folder of a client's instructions is not a subject, so it does not become a room.
        if source.room and not record.part and (place is None or place in self._workspace.catalog.wings):
            room = source.room
        name = well_formed("entry", record.name)
        if name is None:
            raise SourceError("has a name that cannot become an entry-id; rename it")
        if max(len(one.encode()) for one in (name, room)) > _MAX_NAME:
            raise SourceError(f"has a name, or folders, of more than {_MAX_NAME} bytes; rename it")
        address = f"{wing}/{room}/{name}"
        other = self._sources.get(address.lower())
        if other is not None and "/" not in (place or "") and not record.part:
            # Each part of a project may number its records from one, so entry-ids of different folders may be the same.
            folder = well_formed("room", source.folder.replace("/", "-"))
            if folder is not None and posixpath.dirname(other) != source.folder:
                address = f"{wing}/{folder}/{name}"
        try:
            require_names(address.split("/"))
        except UsageError as error:
            raise SourceError(f"would get the address `{address}`: {error}") from error
        if (other := self._sources.get(address.lower())) is not None:
            raise SourceError(f"would get the address `{address}`, and so would `{other}`; rename one of them")
        if (there := self._existing.get(f"{address}.md".lower())) is not None:
            raise SourceError(f"would get the address `{address}`, but {there} exists already and is not overwritten")
        self._sources[address.lower()] = source.path
        return address


def mark_records(sources: Sequence[SourceFile], *, is_named: bool) -> list[SourceFile]:
    """Return the sources, and set `is_in_records` of those that are records in a folder of decision records.

    A folder that the user gave counts if half of its files look like records. If most of its files have a number, a
    file without a number is a record only if it looks like one.
    """
    folders = grouped((one.folder, one) for one in sources if not is_instructions(one))
    records: set[str] = set()
    for ones in folders.values():
        likely = []
        for one in ones:
            outline = Outline(one.body)
            has_status = "status" in one.fields or outline.status is not None
            if has_status or one.is_numbered or is_madr(one, outline):
                likely.append(one)
        if ones[0].is_in_records or (is_named and 2 * len(likely) >= len(ones)):
            are_numbered = 2 * sum(one.is_numbered for one in ones) > len(ones)
            records.update(one.path for one in (likely if are_numbered else ones))
    return [replace(one, is_in_records=one.path in records) for one in sources]


# A file system allows 255 bytes, also for the temporary name of a file while it is written.
_MAX_NAME = 200
# Clients read instructions with these names in any folder.
_NESTED = ("AGENTS.md", "CLAUDE.md")
_ENDINGS = (".md", ".markdown", ".mdc")
# Files in other formats are only listed to report that they are not imported.
_FOREIGN = ("*.rst", "*.adoc")
_OTHER_PATTERNS = ("*.mdc", "*.instructions.md", "*.markdown", *_FOREIGN)
_PAIR = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(?P<value>(?:.*[^ \t\r])?))?[ \t\r]*\Z")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>(?:.*[^ \t\r])?)[ \t\r]*\Z")


def find_sources(workspace: Workspace, named: Sequence[str]) -> list[SourceFile]:
    """Return the files that the user gave, those in given folders, or else those in the usual places.

    Raises UsageError for a path that does not exist, is outside of the project, or is a memory.
    """
    location = workspace.location
    base, repository = location.base, location.repository
    folders = record_folders(base, ("*.md", *_FOREIGN))
    places = [] if named else [base / folder for folder in folders]
    for name in named:
        place = Path(os.path.normpath(workspace.cwd / name))
        if not os.path.lexists(place):
            raise UsageError(f"there is no `{name}`")
        if not place.resolve().is_relative_to(base.resolve()):
            raise UsageError(f"`{name}` is outside of {base}; copy it into the project first")
        if (place / SETTINGS_NAME).exists():
            raise UsageError(f"`{_from(base, place)}` is a memory already")
        places.append(place)
    found: dict[str, SourceFile] = {}
    for place in places:
        others = (path for pattern in _OTHER_PATTERNS for path in place.rglob(pattern))
        # A folder of decision records is not a subject, so it does not become a room.
        homes = [*(base / one for one in folders.values()), *([place] if named else [])]
        for path in sorted({*records_in(place), *others}) if place.is_dir() else [place]:
            top = max((one for one in homes if path.is_relative_to(one)), key=lambda one: len(one.parts))
            room = well_formed("room", "-".join(path.parent.relative_to(top).parts)) if path != place else None
            one = _from(base, path)
            is_in_records = any(one.startswith(f"{folder}/") for folder in folders) or any(
                map(is_record_folder, one.split("/")[:-1])
            )
            is_record = is_in_records and number_of(path.stem) is not None
            if f"*{path.suffix}" not in _FOREIGN or is_record or path == place:
                # The folder that was given may be reached through a link.
                home = _from(base, (top if top != path else path.parent).resolve())
                found.setdefault(one, SourceFile(one, room or "", is_in_records, home=home))
    if not named:
        nested = [list_tracked_named(repository, name) for name in _NESTED] if repository is not None else []
        for one in (*instruction_files(base), *(path for paths in nested for path in paths)):
            found.setdefault(one, SourceFile(one))
    own = {f"{prefix_of(location)}{file.path}" for file in workspace.tree.files()}
    foreign = [one for path, one in found.items() if path not in own]
    ignored = list_ignored(repository, [one.path for one in foreign]) if repository is not None else ()
    return [one for one in foreign if one.path not in ignored]


def prefix_of(location: Location) -> str:
    """Return the path of the memory from the top of the project, with a slash at its end; empty for the top."""
    return location.prefix if location.repository is not None else f"{location.root.name}/"


def _from(base: Path, path: Path) -> str:
    return (path.parent.resolve() / path.name).relative_to(base.resolve()).as_posix()


def read_bytes(base: Path, path: str) -> bytes:
    """Return the content of a file in the project. Raises SourceError if it cannot be imported."""
    if not path.isprintable():
        raise SourceError("has a name that is not UTF-8, or has invisible characters; rename it")
    if leads_away(base, path):
        raise SourceError("is a symbolic link, or is reached through one; give the real path")
    try:
        return read_regular(base / path, follow=False)
    except OSError as error:
        raise SourceError(f"cannot be read: {reason_of(error)}") from error


def read_source(base: Path, found: SourceFile) -> SourceFile:
    """Return a Markdown file, split into front matter and body. Raises SourceError if it cannot be imported."""
    if not found.path.lower().endswith(_ENDINGS):
        raise SourceError(f"is not a Markdown file ({', '.join(_ENDINGS)}); convert it first")
    data = read_bytes(base, found.path)
    if len(data) > SIZE_LIMIT:
        raise SourceError(f"has {len(data) / SIZE_LIMIT:.1f} MiB, over the limit of 1 MiB; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    if not text.strip():
        raise SourceError("is empty")
    if text.startswith("Moved to [") and text.count("\n") == 1:
        raise SourceError("only points to a moved record")
    front, body = "", text
    # Without a second fence, the file begins with a horizontal rule, not with front matter.
    with suppress(FrontMatterError):
        front, body = handler().split(text) if has_front_matter(text) else ("", text)
    try:
        loaded = handler().load(front)
        fields = dict(loaded)
        # YAML reads the `#34` in `supersedes: #34` as a comment.
        for one in loaded.findings:
            cut = _PAIR.match(front.split("\n")[one.place.line - 2]) if one.code == "comment-truncates-value" else None
            if cut is not None and cut["value"]:
                fields[cut["key"]] = cut["value"]
    except FrontMatterError as error:
        # An entry may not have such values either.
        is_beyond = any(one.code in ("front-matter-too-large", "nested-value") for one in error.findings)
        loose = _read_loosely(front) if not is_beyond else None
        if loose is None:
            line = error.findings[0].place.line
            raise SourceError(f"has a front matter that cannot be read: line {line}: {error}") from error
        fields = loose
    return replace(found, data=data, fields=fields, body=body, newline="\r\n" if "\r\n" in text else "\n")


def _read_loosely(front: str) -> dict[str, Any] | None:
    """Parse front matter that is not valid YAML, such as Cursor's; None if a line is neither a key nor a list item."""
    fields: dict[str, Any] = {}
    last = ""
    for line in front.split("\n"):
        item, pair = _ITEM.match(line), _PAIR.match(line)
        if pair and pair["key"] not in fields:
            last = pair["key"]
            fields[last] = _unquoted(pair["value"] or "") or None
        elif item and last and not isinstance(fields[last], str):
            fields[last] = [*(fields[last] or ()), _unquoted(item["value"])]
        elif line.strip() and not line.lstrip().startswith("#"):
            return None
    return fields


# Only quotes around the whole value are removed, as in `title: The so-called "cache"`.
def _unquoted(value: str) -> str:
    return re.sub(r"\A([\"'])(.*)\1\Z", r"\2", value)


class _Entry(Struct):
    address: str
    head: str
    body: str


class _Document(Struct):
    schema: Literal[1]
    entries: list[_Entry]
    wings: list[dict[str, str | None]] = []


def read_document(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file in a document of `mdmem export json`; raises SourceError for another one."""
    try:
        # Windows PowerShell writes UTF-16, and some editors a byte order mark.
        stated = decode(data.decode(detect_encoding(data)), type=_Document)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"is not a document of `export json`: {error}") from error
    manifests = ((one.get("name"), one.get("readme")) for one in stated.wings)
    yield from ((f"{name}/README.md", text) for name, text in manifests if text is not None)
    yield from ((f"{one.address}.md", one.head + one.body) for one in stated.entries)
