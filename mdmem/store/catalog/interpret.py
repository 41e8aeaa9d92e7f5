"""Documents to entries and wings, each with what is wrong about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from mdmem.markdown.parse import first_heading, parse_document, unreadable_document
from mdmem.model.entry import Entry, Flaw, Wing, title_of
from mdmem.model.finding import Finding, Place
from mdmem.record import StoredRecord
from mdmem.store.catalog.addresses import has_short_links, is_entry_place
from mdmem.store.tree import SETTINGS_NAME, FileKind, Tree, TreeFile, Unreadable, missing_wings

if TYPE_CHECKING:
    from mdmem.markdown.parse import Document


class LoadedFile(StoredRecord, frozen=True):
    """One file in an entry's place: the entry it holds, or None, what was wrong, and its body's size in bytes.

    `is_titled` says that the title stands in the file; else it follows from the address. `has_short_links` says that
    what one of its links means may depend on which other files are there.
    """

    path: str
    entry: Entry | None = None
    findings: tuple[Finding, ...] = ()
    size: int = 0
    is_titled: bool = True
    has_short_links: bool = False

    def at(self, path: str) -> LoadedFile:
        """Return what a file of the same content means at another path."""
        if path == self.path:
            return self
        address, entry = path.removesuffix(".md"), self.entry
        if entry is not None:
            entry = entry.with_changes(address=address, title=entry.title if self.is_titled else title_of(address))
        return self.with_changes(
            path=path, entry=entry, findings=tuple(finding.at(path, address) for finding in self.findings)
        )

    @property
    def is_closed(self) -> bool:
        """Say whether the file's bytes could not be read."""
        return any(finding.code == "unreadable" for finding in self.findings)


def interpret(document: Document) -> LoadedFile:
    """Return the entry that a document states, and everything wrong with it."""
    address = document.path.removesuffix(".md")
    findings = tuple(finding.at(document.path, address) for finding in document.findings)
    if document.fields is None:
        return LoadedFile(document.path, None, findings)
    heading, said = first_heading(document.body), document.body.strip()
    size = len(said) if said.isascii() else len(said.encode())
    entry, flaws = _entry_reader()(address, document.fields, heading)
    flawed = tuple(placed(document, address, flaw) for flaw in flaws)
    stated = (heading, document.fields.get("title"))
    is_titled = entry is not None and (entry.title in stated or entry.title != title_of(address))
    has_short = entry is not None and has_short_links(entry)
    return LoadedFile(document.path, entry, findings + flawed, size, is_titled, has_short)


@cache
def _entry_reader() -> Callable[..., Any]:
    """Import pydantic when the first file is parsed whose front matter no cache knows: it takes a tenth of a second."""
    from mdmem.model.schema import read_entry

    return read_entry


def iter_documents(tree: Tree, paths: Sequence[str]) -> Iterator[Document]:
    """Yield the documents of files, in the order asked; one that cannot be read is a document, too."""
    if not paths:
        return
    for path, content in tree.read(paths):
        if isinstance(content, Unreadable):
            yield unreadable_document(path, content.reason)
        else:
            yield parse_document(path, content)


def placed(document: Document, address: str | None, flaw: Flaw) -> Finding:
    """Return a flaw of the front matter as a finding at its place in the file."""
    place = document.place(flaw.name, flaw.item, of_key=flaw.on_key)
    return Finding(flaw.code, flaw.message, place, flaw.help, address)


_REASONS = {
    FileKind.SYMLINK: ("symlink", "a symbolic link stands where an entry belongs", "replace it by the file itself"),
    FileKind.SUBMODULE: ("submodule", "a submodule stands where an entry belongs", "move it out of the memory"),
    FileKind.UNMERGED: ("merge-marker", "the index holds the file unmerged", "`mdmem resolve` shows how to decide it"),
}


def unreadable(file: TreeFile) -> LoadedFile:
    """Return what stands for a file that was not opened: a link, a submodule, or one that refuses."""
    address = file.path.removesuffix(".md") if is_entry_place(file.path) else None
    unread = ("unreadable", f"cannot be read: {file.reason.lower()}", "make it readable, then run this again")
    code, message, help_ = _REASONS.get(file.kind, unread)
    return LoadedFile(file.path, None, (Finding(code, message, Place(file.path), help_, address),))


NOT_FETCHED = "wing-not-fetched"


def not_fetched(tree: Tree) -> list[Finding]:
    """Return one finding for each wing that lives elsewhere and is not read, where the settings name it."""
    return [Finding(NOT_FETCHED, one.message, Place(SETTINGS_NAME, one.line), one.help) for one in missing_wings(tree)]


def read_manifest(name: str, document: Document) -> tuple[Wing | None, list[Finding]]:
    """Return the wing of a manifest; a README without front matter is prose and no manifest."""
    if document.fields is None:
        prose = all(finding.code in ("front-matter-missing", "empty-file") for finding in document.findings)
        if prose:
            return None, []
        return None, [_manifest_fault(finding) for finding in document.findings]
    from mdmem.model.schema import read_wing

    wing, flaws = read_wing(name, document.fields)
    return wing, [*map(_manifest_fault, document.findings), *(placed(document, None, flaw) for flaw in flaws)]


def _manifest_fault(finding: Finding) -> Finding:
    if finding.code == "unreadable":
        return finding
    return Finding("manifest-invalid", f"{finding.message} ({finding.code})", finding.place, finding.help)
