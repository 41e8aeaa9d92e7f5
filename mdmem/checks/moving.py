"""The fix that moves files: every link to them, and every short or relative link in them, is rewritten with it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from mdmem.checks.case import Case, Link
from mdmem.checks.fixing import with_renames
from mdmem.checks.layout import has_odd_extension
from mdmem.checks.references import Reference
from mdmem.checks.relinking import relative
from mdmem.checks.twins import composed
from mdmem.document.links import BodyLink, body_links
from mdmem.document.parse import Document, without_code
from mdmem.document.patch import replace_in_body, replace_item
from mdmem.finding import Edit, Finding
from mdmem.tree import FileKind


def with_move(finding: Finding, case: Case, moves: Mapping[str, str], title: str) -> Finding:
    """Return a finding with the fix that moves files to paths where nothing is; without one where something is."""
    move = _Move(case, moves)
    if not move.is_possible:
        return finding
    return with_renames(finding, title, moves, move.edits())


def with_name(finding: Finding, case: Case, place: str, name: str) -> Finding:
    """Return a finding with the fix that gives an entry, a room or a wing another name."""
    folder, _, old = place.rpartition("/")
    is_entry = place.count("/") == 2
    new = f"{folder}/{name}".lstrip("/") + (".md" if is_entry else "")
    if not folder and case.settings.source and old in case.settings.source.decode("utf-8", "replace"):
        # The settings may name the wing, and no fix writes them.
        return finding
    moves = {place: new} if is_entry else below(case, place, new)
    # A folder of that name has entries of its own, and to put two wings together is no renaming.
    is_free = is_entry or not below(case, new, place)
    return with_move(finding, case, moves, f"Rename it to `{name}`") if is_free else finding


def apart(finding: Finding, case: Case, place: str) -> Finding:
    """Return a finding with the fix that gives an entry a number, so that its name is no other's."""
    taken = {file.path.lower() for file in (*case.catalog.files, *case.catalog.others)}
    if place.count("/") != 2 or not place.endswith(".md"):
        return finding
    stem = composed(place.removesuffix(".md")).lower()
    free = next(number for number in range(2, len(taken) + 3) if f"{stem}-{number}.md" not in taken)
    name = f"{stem.rsplit('/', 1)[-1]}-{free}"
    return with_move(finding, case, {place: f"{place.rsplit('/', 1)[0]}/{name}.md"}, f"Rename it to `{name}`")


def below(case: Case, folder: str, new: str) -> dict[str, str]:
    """Return where each file of a folder moves to when the folder gets another path."""
    files = (file.path for file in (*case.catalog.files, *case.catalog.others))
    return {path: new + path.removeprefix(folder) for path in files if path.startswith(f"{folder}/")}


@dataclass(frozen=True)
class _Move:
    """Files that move, by old path, and what has to be rewritten for it."""

    case: Case
    moves: Mapping[str, str]

    @property
    def is_possible(self) -> bool:
        files = {file.path: file.kind for file in (*self.case.catalog.files, *self.case.catalog.others)}
        folded = {path.lower() for path in files.keys() - self.moves.keys()}
        targets = {path.lower() for path in self.moves.values()}
        movable = all(files.get(path) is FileKind.FILE for path in self.moves)
        are_free = len(targets) == len(self.moves) and folded.isdisjoint(targets)
        return bool(self.moves) and movable and are_free and not self._is_named_by_unreadable

    @property
    def _is_named_by_unreadable(self) -> bool:
        """Say whether a file whose links cannot be told may hold one to a file that moves."""
        names = {address.rsplit("/", 1)[-1] for address in self.addresses}
        broken = self.case.catalog.broken.keys() - self.moves.keys()
        # What is no regular file has no document, and to open a pipe would wait for ever.
        texts = [document.text for _, document in self.case.documents if document.path in broken]
        return any(name in text for text in texts for name in names)

    @cached_property
    def addresses(self) -> dict[str, str]:
        """Return old and new address of each file; one that is no entry yet may be named as if it were."""
        return {old.rsplit(".", 1)[0]: new.removesuffix(".md") for old, new in self.moves.items()}

    @cached_property
    def wings(self) -> dict[str, str]:
        """Return old and new name of each wing that moves as a whole; what moves inside one names it all the same."""
        pairs = {(old.split("/")[0], new.split("/")[0]) for old, new in self.moves.items()}
        return {old: new for old, new in pairs if old != new and old in self.case.catalog.wings}

    def edits(self) -> Iterator[Edit]:
        for wing in self.case.catalog.wings.values():
            for item, shared in enumerate(wing.shared_wings or ()):
                if shared in self.wings:
                    document = self.case.catalog.document(f"{wing.name}/README.md")
                    yield from replace_item(document, "shared_wings", item, self.wings[shared])
        for link in self.case.links:
            new = self._new_link(link)
            if new != link.written:
                yield from replace_item(self.case.catalog.document(link.entry.path), link.field, link.item, new)
        for reference in self.case.references:
            document = self.case.catalog.document(f"{reference.address}.md")
            text = self._new_path(document, reference.link) if reference.path else self._new_reference(reference)
            if text is not None:
                yield from replace_in_body(document, reference.link.offset, reference.link.width, text)
        yield from self._edits_of_prose()

    def _edits_of_prose(self) -> Iterator[Edit]:
        """Yield what changes in files that are no entries: in READMEs, and in what only becomes an entry now."""
        for file in self.case.catalog.others:
            if file.kind is not FileKind.FILE or not (file.path.endswith(".md") or has_odd_extension(file.path)):
                continue
            document = self.case.catalog.document(file.path)
            for link in body_links(without_code(document.body)):
                text = self._new_path(document, link) if link.is_path else None
                if text is not None:
                    yield from replace_in_body(document, link.offset, link.width, text)

    def _new_link(self, link: Link) -> str:
        if link.target is None:
            return self.addresses.get(link.written.removesuffix(".md"), link.written)
        # A short address means another entry from another place.
        moved = link.entry.path in self.moves and link.written != link.target
        return self.addresses.get(link.target, link.target if moved else link.written)

    def _new_reference(self, reference: Reference) -> str | None:
        target, written = reference.target or reference.link.target.removesuffix(".md"), reference.link.target
        if target in self.addresses:
            return self.addresses[target]
        is_short = reference.target is not None and f"{reference.address}.md" in self.moves and target != written
        return target if is_short else None

    def _new_path(self, document: Document, link: BodyLink) -> str | None:
        """Return a relative link as it has to be where its file, or what it leads to, has moved."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), link.target))
        source = self.moves.get(document.path, document.path)
        target = self.moves.get(path, path)
        if link.target.startswith("/") or path.startswith("../"):
            return None
        if target == path and posixpath.dirname(source) == posixpath.dirname(document.path):
            return None
        return relative(target, source, document.body[link.offset : link.offset + link.width])
