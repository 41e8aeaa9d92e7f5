"""The memories that an editor uses: the files on disk, the unsaved texts of open documents, and the findings."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types
from msgspec import Struct
from msgspec.structs import replace
from pygls.capabilities import get_capability
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec
from pygls.workspace import Workspace as EditorWorkspace

from mdmem import SETTINGS_NAME
from mdmem.checks.baseline import without_known
from mdmem.checks.case import Case, GitFacts
from mdmem.checks.check import chosen_codes, require_known_wings
from mdmem.checks.engine import FileCache, run_checks
from mdmem.checks.run import facts_of
from mdmem.errors import MdmemError, SettingsError, shown_message
from mdmem.lsp.tokens import ParsedText, Token, TokenKind, parse_text
from mdmem.markdown.parse import BodyLink
from mdmem.model.entry import Entry
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.catalog.addresses import full_address, is_entry_place
from mdmem.store.catalog.links import reference_of
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.process import stamp_of
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind, TreeView, Unreadable, read_one, settings_of
from mdmem.store.workspace.location import Location, locate
from mdmem.store.workspace.workspace import Workspace

# The line endings of LSP. `splitlines` would split at six more characters.
_LINE_END = re.compile("\r\n|\n|\r")
_BOM = "\ufeff"
# A path in code, which may be the address of an entry. A line may be very long, and most parts are never given back.
_PATH_IN_CODE = re.compile(r"(?<![\w./-])(?:\.{0,2}/)*[\w-][\w.-]*+(?:/[\w.-]++){2,}")
_LONGEST_CODE = 2_000_000
START = types.Range(types.Position(0, 0), types.Position(0, 0))
SETTINGS_CODE = "settings"


class Capabilities(Struct, frozen=True):
    """The features for completion, hover texts and edits that an editor supports."""

    snippets: bool = True
    markdown: bool = True
    versioned_edits: bool = True
    creates_files: bool = True
    renames_files: bool = True


def capabilities_of(capabilities: types.ClientCapabilities) -> Capabilities:
    """Return the features that an editor says it supports."""
    formats = get_capability(capabilities, "text_document.hover.content_format") or ()
    operations = get_capability(capabilities, "workspace.workspace_edit.resource_operations") or ()
    has_versions = get_capability(capabilities, "workspace.workspace_edit.document_changes") is True
    snippets = get_capability(capabilities, "text_document.completion.completion_item.snippet_support")
    return Capabilities(
        snippets=snippets is True,
        markdown=types.MarkupKind.Markdown in formats,
        # Neovim only says that it can move files, but that also means that it accepts versioned edits.
        versioned_edits=bool(operations) or has_versions,
        creates_files=types.ResourceOperationKind.Create in operations,
        renames_files=types.ResourceOperationKind.Rename in operations,
    )


class Document(Struct, frozen=True, dict=True):
    """One version of a text in an editor.

    `path` is relative to the memory's root, or None for a file outside it. `code_path` is relative to the top of the
    repository, as in `applies_to`. `saved` are the bytes on disk if the text is unchanged, else None. The
    editor's text may lack a byte order mark and bytes that are not UTF-8, and have other line endings.
    """

    memory: OpenMemory
    uri: str
    path: str | None
    text: str
    version: int | None = None
    code_path: str | None = None
    saved: bytes | None = None
    has_bom: bool = False

    @property
    def data(self) -> bytes:
        """Return the bytes that the editor would write when it saves."""
        if self.saved is not None:
            return self.saved
        text = f"{_BOM}{self.text}" if self.has_bom else self.text
        return text.encode("utf-8", "surrogatepass")

    def compared_with(self, on_disk: bytes | None) -> Document:
        """Return the document with `saved` set to the bytes on disk, or to None if the text differs from the file."""
        if on_disk is None:
            return replace(self, saved=None)
        content = on_disk.decode("utf-8", "replace")
        has_bom = content.startswith(_BOM) and not self.text.startswith(_BOM)
        is_same = _LINE_END.sub("\n", content.removeprefix(_BOM)) == _LINE_END.sub("\n", self.text.removeprefix(_BOM))
        return replace(self, saved=on_disk if is_same else None, has_bom=has_bom)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @cached_property
    def _place_starts(self) -> list[int]:
        # In places of findings, only a line feed ends a line.
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line(self, number: int) -> str:
        """Return a line without its ending; the first line is 0, and lines beyond the last are empty."""
        if not 0 <= number < len(self._line_starts):
            return ""
        end = self._line_starts[number + 1] if number + 1 < len(self._line_starts) else len(self.text)
        return self.text[self._line_starts[number] : end].rstrip("\r\n")

    def offset_at(self, position: types.Position) -> int:
        """Return the offset of an LSP position; a position beyond the end of a line or of the text means that end."""
        if position.line >= len(self._line_starts):
            return len(self.text)
        line, start = self.line(position.line), self._line_starts[position.line]
        if line.isascii():
            return start + min(position.character, len(line))
        units = min(position.character, self.memory.codec.client_num_units(line))
        return start + self.memory.codec.position_from_client_units([line], types.Position(0, units)).character

    def position_at(self, offset: int) -> types.Position:
        """Return the LSP position of an offset."""
        offset = max(0, min(offset, len(self.text)))
        number = bisect_right(self._line_starts, offset) - 1
        before = self.text[self._line_starts[number] : offset]
        return types.Position(number, len(before) if before.isascii() else self.memory.codec.client_num_units(before))

    def range_of(self, start: int, end: int) -> types.Range:
        """Return the LSP range between two offsets."""
        return types.Range(self.position_at(start), self.position_at(end))

    def range_of_token(self, token: Token) -> types.Range:
        """Return the LSP range of a token."""
        return self.range_of(token.start, token.end)

    def range_of_place(self, place: Place) -> types.Range:
        """Return the LSP range of a finding's place; a place without a width reaches to the end of the line."""
        line = self._place_starts[min(place.line, len(self._place_starts)) - 1]
        start = min(line + place.column - 1, len(self.text))
        if place.width:
            return self.range_of(start, start + place.width)
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        return self.range_of(start, start + len(self.text[start:end].removesuffix("\r")))

    @property
    def address(self) -> str | None:
        """Return the address of the file, or None if its path is not an entry's."""
        return self.path.removesuffix(".md") if self.path is not None and is_entry_place(self.path) else None

    @property
    def wing(self) -> str | None:
        """Return the wing that contains the file, or None."""
        return self.path.split("/")[0] if self.path is not None and "/" in self.path else None

    @property
    def source(self) -> str:
        """Return the address from which short links are resolved; `WING/-/-` or `-/-/-` for a file with no address."""
        return self.address or f"{self.wing or '-'}/-/-"

    @property
    def entry(self) -> Entry | None:
        """Return the entry in the file, or None if the file has no valid entry."""
        return self.memory.catalog.entries.get(self.address) if self.address else None

    @property
    def is_code(self) -> bool:
        """Return whether the file is not part of the memory, but code of the project."""
        if self.path is None or not (self.path.endswith(".md") or self.path == SETTINGS_NAME):
            return True
        return "/" in self.path and not self.memory.location.under and self.wing not in self.memory.catalog.wings

    @cached_property
    def parsed(self) -> ParsedText:
        """Return the tokens of the text; in code, these are only the addresses of existing entries."""
        if not self.is_code:
            return parse_text(self.text)
        links = []
        for found in _PATH_IN_CODE.finditer(self.text) if len(self.text) <= _LONGEST_CODE else ():
            named = found.group().rstrip(".").removesuffix(".md")
            address = named.lstrip("./").removeprefix(self.memory.location.prefix)
            if address in self.memory.catalog.entries:
                start = found.start() + len(named) - len(address)
                links.append(Token(TokenKind.ADDRESS, start, start + len(address), address))
        return ParsedText(links=tuple(links))

    def token_at(self, position: types.Position) -> Token | None:
        """Return the token at a position, or None."""
        return self.parsed.token_at(self.offset_at(position))

    def resolve(self, token: Token | None) -> str | None:
        """Return the address of the entry that a token means, or None."""
        entries = self.memory.catalog.entries
        if token is None or token.kind is not TokenKind.ADDRESS:
            return None
        if token.key:
            return full_address(token.text, self.source, entries)
        link = BodyLink(token.text, token.start, token.end - token.start, is_path=token.is_path)
        return reference_of(link, self.source, entries).target

    def address_at(self, position: types.Position) -> str | None:
        """Return the entry that an address at a position means, or None; elsewhere, the file's own entry, if any."""
        token = self.token_at(position)
        if token is not None and token.kind is TokenKind.ADDRESS:
            return self.resolve(token)
        return self.address if self.entry is not None else None


class OpenMemory:
    """One memory with the unsaved texts of open documents; each part is computed on first use and then cached."""

    def __init__(self, location: Location, environment: Mapping[str, str], today: Callable[[], date]) -> None:
        """Set up the memory without reading any file."""
        self.location, self.today = location, today
        self.capabilities, self.codec = Capabilities(), PositionCodec()
        self.documents: dict[str, Document] = {}
        self.disk = Workspace(location, environment, location.root, today())
        self._overlay = TreeView(self.disk.tree, changed={})
        # Git's facts are kept until something changes on disk or in git.
        self._facts: GitFacts | None = None
        self._stamp: object = None
        self._file_cache = FileCache(self.disk.cache_folder, is_written=False)

    @cached_property
    def workspace(self) -> Workspace:
        """Return the workspace with the texts of open documents in place of their files on disk."""
        changed = {path: document.data for path, document in self.documents.items() if document.saved is None}
        return self.disk.over(replace(self._overlay, changed=changed))

    @property
    def catalog(self) -> Catalog:
        """Return the catalog of entries, including the unsaved texts of open documents."""
        return self.workspace.catalog

    @cached_property
    def settings(self) -> Settings:
        """Return the settings, with defaults for the parts that cannot be parsed."""
        return settings_of(self.workspace.tree)

    @cached_property
    def case(self) -> Case:
        """Return the input for the checks."""
        if self._facts is None:
            self._stamp = stamp_of(self.location.repository)
            self._facts = facts_of(self.workspace)
        return self._file_cache.with_facts(Case(self.catalog, self.settings, self.today(), self._facts))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings of `mdmem check`, or one about invalid settings; empty if the memory cannot be read."""
        try:
            require_known_wings(self.workspace.settings, self.catalog.wings)
            return self._findings_of(self.case)
        except SettingsError as error:
            message, _, help_ = shown_message(str(error)).partition("; ")
            place = Place(SETTINGS_NAME, error.line)
            return (Finding(SETTINGS_CODE, message, place, help_, severity=Severity.ERROR),)
        except MdmemError:
            # The folder was deleted, or git can no longer be used.
            return ()

    def findings_with(self, contents: Mapping[str, bytes]) -> tuple[Finding, ...]:
        """Return the findings that there would be if some files had other bytes."""
        if not contents:
            return self.findings
        catalog = self.workspace.over(TreeView(self.workspace.whole_tree, changed=contents)).catalog
        return self._findings_of(self._file_cache.with_facts(replace(self.case, catalog=catalog, cached={})))

    def _findings_of(self, case: Case) -> tuple[Finding, ...]:
        chosen = chosen_codes(case.settings)
        found = run_checks(case, chosen)
        if case.settings.baseline is None:
            return tuple(found)
        return tuple(without_known(self.workspace, found, chosen, None)[0])

    def linked_from(self, address: str) -> tuple[str, ...]:
        """Return the sorted addresses of the other entries that link to an entry, in a field or in their bodies."""
        in_fields = {link.entry.address for link in self.case.links if link.target == address}
        in_texts = {one.address for one in self.case.references if one.target == address}
        return tuple(sorted((in_fields | in_texts) - {address}))

    def has_file(self, address: str) -> bool:
        """Return whether an entry has a file below this root; entries of other repositories do not."""
        return address in self.catalog.entries and address.partition("/")[0] not in self.catalog.fetched_wings

    def uri_of(self, path: str) -> str:
        """Return the URI of a file; for an open file, exactly as the editor writes it."""
        if path in self.documents:
            return self.documents[path].uri
        return from_fs_path(str(self.location.root / path)) or ""

    def location_of(self, address: str) -> types.Location:
        """Return the LSP location of an entry: the start of its file."""
        return types.Location(self.uri_of(f"{address}.md"), START)

    def document(self, path: str) -> Document | None:
        """Return a file of the memory from the editor if it is open, else from the disk; None if it does not exist."""
        if path in self.documents:
            return self.documents[path]
        content = self.bytes_on_disk(path)
        if content is None:
            return None
        text = content.decode("utf-8", "replace").removeprefix("\ufeff")
        return Document(self, self.uri_of(path), path, text).compared_with(content)

    def bytes_on_disk(self, path: str) -> bytes | None:
        """Return the bytes of a file on disk, or None if it cannot be read."""
        try:
            content = read_one(self.disk.whole_tree, path)
        except (MdmemError, OSError):
            return None
        return None if isinstance(content, Unreadable) else content

    def put(self, document: Document) -> None:
        """Store the newest version of an open document."""
        if document.path is None:
            return
        stored = self.documents[document.path] = document.compared_with(self.bytes_on_disk(document.path))
        if stored.saved is None:
            self._clear_cache()

    def drop(self, path: str) -> None:
        """Remove a document that was closed, so that its file on disk is used again."""
        document = self.documents.pop(path, None)
        if document is not None and document.saved is None:
            self._clear_cache()

    @property
    def exists(self) -> bool:
        """Return whether the root still has a settings file."""
        return (self.location.root / SETTINGS_NAME).is_file()

    def refresh(self) -> bool:
        """Read changes on disk and in git, and the new date, and return whether anything changed."""
        stamp = stamp_of(self.location.repository)
        fresh = replace(self.disk.reread(), today=self.today())
        if (stamp, _state_of(fresh)) == (self._stamp, _state_of(self.disk)):
            return False
        self._stamp, self._facts = stamp, None
        self.disk, self._overlay = fresh, TreeView(fresh.tree, changed={})
        self._clear_cache()
        for path, document in self.documents.items():
            self.documents[path] = document.compared_with(self.bytes_on_disk(path))
        return True

    def _clear_cache(self) -> None:
        for name in ("workspace", "settings", "case", "findings"):
            self.__dict__.pop(name, None)


def _state_of(workspace: Workspace) -> object:
    files = workspace.tree.files()
    return workspace.today, files, workspace.tree.digests([file for file in files if file.kind is FileKind.FILE])


class Memories:
    """All memories that the files in an editor belong to; `workspace` is pygls's list of open documents and folders."""

    def __init__(self, *, environment: Mapping[str, str], today: Callable[[], date]) -> None:
        """Set up the list without reading any file."""
        self._environment, self._today = environment, today
        self.workspace = EditorWorkspace(None)
        self.capabilities = Capabilities()
        self.opened: dict[Path, OpenMemory] = {}
        self._located: dict[Path, Location | None] = {}

    def memory_of(self, file: Path) -> OpenMemory | None:
        """Return the memory that commands in a file's folder use.

        None if there is no memory, or if the file is outside the memory and its project.
        """
        if file.parent not in self._located:
            self._located[file.parent] = None
            # There may be no memory, or several are equally near, or the folder cannot be read.
            with suppress(MdmemError, OSError):
                # The top folder of the system has no parents.
                folder = next(one for one in (*file.parents, file) if one.is_dir())
                found = locate(None, self._environment, folder)
                # Test for the settings file, since git still lists it after a memory was deleted.
                self._located[file.parent] = found if (found.root / SETTINGS_NAME).is_file() else None
        location = self._located[file.parent]
        if location is None or not (file.is_relative_to(location.root) or file.is_relative_to(location.base)):
            return None
        if location.root not in self.opened:
            memory = self.opened[location.root] = OpenMemory(location, self._environment, self._today)
            memory.capabilities, memory.codec = self.capabilities, self.workspace.position_codec
        return self.opened[location.root]

    def document(self, uri: str) -> Document | None:
        """Return a file of a memory, or an open code file of its project; None for any other file."""
        file = file_of(uri)
        memory = self.memory_of(file) if file is not None else None
        if file is None or memory is None:
            return None
        path = _below(memory.location.root, file)
        opened = self.workspace.text_documents.get(unquote(uri))
        if opened is None or path in memory.documents:
            return memory.document(path) if path is not None else None
        code_path = _below(memory.location.base, file)
        return Document(memory, uri, path, opened.source, opened.version, code_path)

    def update(self, uri: str) -> OpenMemory | None:
        """Store the text that the editor now has for a file, and return the file's memory, or None without one."""
        self.close(uri)
        document = self.document(uri)
        if document is None:
            return None
        document.memory.put(document)
        return document.memory

    def close(self, uri: str) -> OpenMemory | None:
        """Remove a document that the editor closed, and return its memory, or None without one."""
        file = file_of(uri)
        memory = self.memory_of(file) if file is not None else None
        if file is not None and memory is not None and (path := _below(memory.location.root, file)) is not None:
            memory.drop(path)
        return memory

    def relocate(self) -> list[OpenMemory]:
        """Find the memory of each open document again, and return the memories that were deleted."""
        gone = [memory for memory in self.opened.values() if not memory.exists]
        for memory in gone:
            del self.opened[memory.location.root]
        self._located.clear()
        for document in list(self.workspace.text_documents.values()):
            self.update(document.uri)
        return gone


def file_of(uri: str) -> Path | None:
    """Return the path of a `file:` URI, with symbolic links in its folder resolved; None for any other URI."""
    try:
        named = to_fs_path(uri)
        if not named or "\0" in named:
            return None
        path = Path(named.removeprefix("//localhost"))
        os.fsencode(path)
        return path.parent.resolve() / path.name
    except (OSError, ValueError, RuntimeError):
        # The name is not valid for a file, or symbolic links form a circle.
        return None


def _below(folder: Path, file: Path) -> str | None:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else None
