"""Files that move, and what is rewritten for it: every link to them, and every short or relative link in them."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mdmem.catalog import full_address, is_entry_place
from mdmem.checks.case import Case, Link
from mdmem.checks.layout import has_odd_extension
from mdmem.checks.references import Reference
from mdmem.checks.relinking import relative
from mdmem.document.links import BodyLink, body_links, other_file_links
from mdmem.document.parse import Document, without_code
from mdmem.document.patch import replace_in_body, replace_item
from mdmem.document.relations import replace_relation
from mdmem.finding import Edit
from mdmem.tree import FileKind


def below(case: Case, folder: str, new: str) -> dict[str, str]:
    """Return where each file of a folder moves to when the folder gets another path."""
    files = (file.path for file in (*case.catalog.files, *case.catalog.others))
    return {path: new + path.removeprefix(folder) for path in files if path.startswith(f"{folder}/")}


@dataclass(frozen=True)
class Move:
    """Files that move, by old path; `folders` are the wings and rooms that move whole, by old path.

    `under` is the root's path from the repository's top, None where it is not known.
    """

    case: Case
    moves: Mapping[str, str]
    folders: Mapping[str, str] = field(default_factory=dict)
    under: str | None = None

    @cached_property
    def _files(self) -> dict[str, FileKind]:
        return {file.path: file.kind for file in (*self.case.catalog.files, *self.case.catalog.others)}

    @property
    def unmovable(self) -> tuple[str, ...]:
        """Return the paths to move where no regular file is."""
        return tuple(path for path in self.moves if self._files.get(path) is not FileKind.FILE)

    @property
    def taken(self) -> tuple[str, ...]:
        """Return the new paths where something is, for any file system that does not tell capital letters apart."""
        counts = Counter(path.lower() for path in (*(self._files.keys() - self.moves.keys()), *self.moves.values()))
        return tuple(path for path in self.moves.values() if counts[path.lower()] > 1)

    @property
    def untold(self) -> tuple[str, ...]:
        """Return the files that stay and may hold a link to one that moves, but cannot be read."""
        names = {address.rsplit("/", 1)[-1] for address in self.addresses}
        broken = self.case.catalog.broken.keys() - self.moves.keys()
        # What is no regular file has no document, and to open a pipe would wait for ever.
        texts = ((document.path, document.text) for _, document in self.case.documents if document.path in broken)
        return tuple(path for path, text in texts if any(name in text for name in names))

    @cached_property
    def addresses(self) -> dict[str, str]:
        """Return old and new address of each file; one that is no entry yet may be named as if it were."""
        return {old.rsplit(".", 1)[0]: new.removesuffix(".md") for old, new in self.moves.items()}

    @cached_property
    def _addresses_after(self) -> frozenset[str]:
        stay = frozenset(self.case.catalog.addresses) - self.addresses.keys()
        return stay.union(new.removesuffix(".md") for new in self.moves.values() if is_entry_place(new))

    @property
    def wings(self) -> dict[str, str]:
        """Return old and new name of each wing that moves."""
        return {old: new for old, new in self.folders.items() if "/" not in old}

    def edits(self) -> Iterator[Edit]:
        """Yield what changes in the files where they are now; raises UnpatchableError."""
        yield from self._edits_of_manifests()
        for link in self.case.links:
            new = self._new_address(link.written, link.target, link.entry.path)
            if new != link.written:
                yield from replace_item(self._document(link), link.field, link.item, new)
        yield from self._edits_of_relations()
        for reference in self.case.references:
            document = self.case.catalog.document(f"{reference.address}.md")
            text = self._new_path(document, reference.link) if reference.path else self._new_reference(reference)
            yield from _replaced(document, reference.link, text)
        for address, prose in self.case.prose.items():
            document = self.case.catalog.document(f"{address}.md")
            for other in other_file_links(prose):
                yield from _replaced(document, other, self._new_path(document, other))
        yield from self._edits_of_prose()

    def _document(self, link: Link) -> Document:
        return self.case.catalog.document(link.entry.path)

    def _edits_of_manifests(self) -> Iterator[Edit]:
        for wing in self.case.catalog.wings.values() if self.wings else ():
            if not wing.shared_wings:
                continue
            document = self.case.catalog.document(f"{wing.name}/README.md")
            value = document.fields["shared_wings"] if document.fields else None
            for item, shared in enumerate(value if isinstance(value, list) else [value]):
                if shared in self.wings:
                    yield from replace_item(document, "shared_wings", item, self.wings[shared])

    def _edits_of_relations(self) -> Iterator[Edit]:
        for entry in self.case.catalog.entries.values():
            for item, relation in enumerate(entry.relations):
                target = full_address(relation.to, entry.address, self.case.catalog.addresses)
                new = self._new_address(relation.to, target, entry.path)
                if new != relation.to:
                    yield from replace_relation(self.case.catalog.document(entry.path), item, new)

    def _edits_of_prose(self) -> Iterator[Edit]:
        """Yield what changes in files that are no entries: in READMEs, and in what only becomes an entry now."""
        for file in self.case.catalog.others:
            if file.kind is not FileKind.FILE or not (file.path.endswith(".md") or has_odd_extension(file.path)):
                continue
            document = self.case.catalog.document(file.path)
            prose = without_code(document.body)
            for link in (*body_links(prose), *other_file_links(prose)):
                new = self._new_path(document, link) if link.is_path else self.addresses.get(link.target)
                yield from _replaced(document, link, new)

    def _new_address(self, written: str, target: str | None, path: str) -> str:
        """Return what a link says that is written in a file; `target` is the address it means, if it means one."""
        if target is None:
            return self.addresses.get(written.removesuffix(".md"), written)
        near, meant = self.moves.get(path, path).removesuffix(".md"), self.addresses.get(target, target)
        # A short address means another entry from another place; where both move alike, it still means the same.
        return written if full_address(written, near, self._addresses_after) == meant else meant

    def _new_reference(self, reference: Reference) -> str | None:
        written = reference.link.target
        new = self._new_address(written, reference.target, f"{reference.address}.md")
        return new if new != written else None

    def _new_path(self, document: Document, link: BodyLink) -> str | None:
        """Return a link to a file as it has to be where its own file, or what it leads to, has moved."""
        written = document.body[link.offset : link.offset + link.width]
        top = f"/{self.under}/" if self.under else "/"
        if link.target.startswith("/"):
            path = link.target.removeprefix(top)
            is_ours = self.under is not None and link.target.startswith(top)
            return top + self._moved(path) + _anchor(written) if is_ours and self._moved(path) != path else None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), link.target))
        source, target = self.moves.get(document.path, document.path), self._moved(path)
        if posixpath.normpath(posixpath.join(posixpath.dirname(source), link.target)) == target:
            return None
        return relative(target, source, written)

    def _moved(self, path: str) -> str:
        if path in self.moves:
            return self.moves[path]
        around = ((old, new) for old, new in self.folders.items() if f"{path}/".startswith(f"{old}/"))
        return next((new + path.removeprefix(old) for old, new in around), path)


def _anchor(written: str) -> str:
    _, mark, anchor = written.partition("#")
    return mark + anchor


def _replaced(document: Document, link: BodyLink, text: str | None) -> tuple[Edit, ...]:
    return () if text is None else replace_in_body(document, link.offset, link.width, text)
