"""Build fixes: deprecate an entry or make it active again, correct a link, and move files with the links to them."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property
from itertools import count
from typing import Any
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.checks.case import Case, Link, written_links
from mdmem.checks.check import LateFix
from mdmem.checks.prose import written_items
from mdmem.markdown.layout import UnpatchableError, replace_in_body
from mdmem.markdown.parse import BodyLink, Document, body_links, image_links, parse_document, without_code
from mdmem.markdown.patch import remove_item, replace_items, replace_relations, set_fields
from mdmem.model.entry import REVIEW_REASON, Entry, Status
from mdmem.model.fields import KNOWN_FIELDS, ORIGIN
from mdmem.model.finding import Edit, Finding, Fix
from mdmem.model.text import shell_word
from mdmem.store.catalog.addresses import full_address, is_entry_place
from mdmem.store.catalog.links import Reference
from mdmem.store.tree import FileKind


def with_fix(
    finding: Finding, title: str, patch: Callable[..., Iterable[Edit]], *given: object, is_safe: bool = True
) -> Finding:
    """Return a finding with a fix, or without one if the file cannot be patched; `patch(*given)` makes the edits later.

    A fix with `is_safe=False` makes a decision that a person should confirm.
    """

    def make() -> Fix | None:
        with suppress(UnpatchableError):
            edits = tuple(patch(*given))
            return Fix(title, edits, is_safe) if edits else None
        return None

    return replace(finding, fix=LateFix("", (), make=make))


def fields_of(document: Document) -> Mapping[str, Any]:
    """Return the fields of a document; empty if they cannot be parsed."""
    return document.fields or {}


def line_end(document: Document) -> str:
    """Return the line ending of most lines in a file: CRLF or LF."""
    return "\r\n" if document.text.count("\r\n") * 2 > document.text.count("\n") else "\n"


def is_typo(written: str, meant: str) -> bool:
    """Return whether two words are equal, or differ by one character too many, missing or wrong, or two swapped."""
    if abs(len(written) - len(meant)) > 1:
        return False
    pairs = zip(written, meant, strict=False)
    first = next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(written), len(meant)))
    rest, wanted = written[first:], meant[first:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    return rest == wanted or wanted in (rest[1:], swapped) or wanted[1:] in (rest, rest[1:])


def is_only_cause(document: Document, name: str) -> bool:
    """Return whether the field `name` is the only reason for a deprecation: a single link in `superseded_by`."""
    fields = fields_of(document)
    if name != "superseded_by" or fields.get("deprecated_reason") or fields.get("reason"):
        return False
    return fields.get("status") == Status.DEPRECATED.value and len(list(written_items(document, name))) <= 1


Values = dict[str, "str | Sequence[str] | None"]
_SUPERSEDES = ("supersed", "replac", "obsolet")
_IN_PART = re.compile(r"\b(?:in part|partly|partially)\b|\([^()\n]*\bonly\)", re.IGNORECASE)


def deprecation_fields(entry: Entry, today: date, *, by: Sequence[str] = ()) -> Values:
    """Return the fields that deprecate an entry today; `by` are all its successors, or empty to keep those it has."""
    values: Values = {"superseded_by": list(by)} if by else {}
    if entry.status is not Status.DEPRECATED:
        values |= {"status": Status.DEPRECATED.value, "deprecated_at": today.isoformat(), REVIEW_REASON: None}
    return values


def supersede_command(old: str, new: Entry) -> str:
    """Return the command that makes `new` supersede `old`, an address that is already quoted for a shell."""
    return f"mdmem supersede {old} --by {shell_word(new.address)}{'' if new.reason else ' --reason TEXT'}"


def deprecation_edits(case: Case, entry: Entry, *successors: str) -> tuple[Edit, ...]:
    """Return the edits that deprecate an entry today and link its successors; an existing date is kept."""
    document = case.catalog.document(entry.path)
    links = [*written_links(document, "superseded_by"), *successors] if successors else []
    values = deprecation_fields(entry, case.today, by=links)
    if entry.deprecated_at is not None or "deprecated_at" in entry.unread:
        values.pop("deprecated_at", None)
    return set_fields(document, values)


def reactivation_edits(case: Case, old: str, new: str, *links: tuple[str, str, str]) -> Iterator[Edit]:
    """Yield the edits that make an entry active again, without its link to a successor, and that remove `links`."""
    entry, document = case.catalog.entries[old], case.catalog.document(f"{old}.md")
    item = _item_of(case, old, "superseded_by", new)
    left = [link for place, link in written_items(document, "superseded_by") if place != item]
    values: Values = {"superseded_by": left}
    if entry.status is Status.DEPRECATED:
        values |= {"status": Status.ACTIVE.value, "deprecated_at": None}
    yield from set_fields(document, values)
    yield from link_removals(case, *links)


def link_removals(case: Case, *links: tuple[str, str, str]) -> Iterator[Edit]:
    """Yield the edits that remove links, each given by its entry, field and target; none for a missing link."""
    for address, field_, target in links:
        item = _item_of(case, address, field_, target)
        if item is not None:
            yield from remove_item(case.catalog.document(f"{address}.md"), field_, item)


def _item_of(case: Case, address: str, field: str, target: str) -> int | None:
    written = written_items(case.catalog.document(f"{address}.md"), field)
    return next((item for item, link in written if full_address(link, address, case.catalog.addresses) == target), None)


def may_deprecate(case: Case, old: str, *, named_by: str, field: str, target: str) -> bool:
    """Return whether a safe fix may deprecate the entry `old`: it is not current, or the current change added the link.

    It may not if `old` is new or imported, since nobody has decided then that the rule no longer applies.
    """
    if not case.catalog.entries[old].is_in_force:
        return True
    if (case.base is None and case.facts is None) or is_imported(case, old) or _before(case, old) is None:
        return False
    was = _before(case, named_by)
    if was is None:
        return True
    if was.fields is None:
        return False
    # A draft supersedes nothing yet.
    if field == "supersedes" and was.fields.get("status") == Status.DRAFT.value:
        return True
    # A mention of the entry in whatever spelling, also in an unknown field, may have become a link by another fix.
    stated = (str(value) for key, value in was.fields.items() if key == field or key not in KNOWN_FIELDS)
    return not any(target.rpartition("/")[2] in value for value in stated)


def is_imported(case: Case, address: str) -> bool:
    """Return whether an entry was imported from another tool's file."""
    return ORIGIN in case.file_facts(f"{address}.md").places


def is_in_part(case: Case, old: str, new: str) -> bool:
    """Return whether the text or a reason of one of two entries says that only a part was superseded."""
    entries = (case.catalog.entries[old], case.catalog.entries[new])
    reasons = (reason for one in entries for reason in (one.reason, one.deprecated_reason) if reason)
    lines = (line for one in entries for line in case.prose_of(one.address).lower().splitlines())
    replacing = (line for line in lines if any(word in line for word in _SUPERSEDES))
    return any(_IN_PART.search(text) for text in (*reasons, *replacing))


def _before(case: Case, address: str) -> Document | None:
    """Return the file of an entry in the base, or without a base in HEAD; None if it did not exist."""
    path = f"{address}.md"
    if case.base is not None:
        moved = {one.after.address: one.before.path for one in case.changes.changed}
        is_new = any(one.address == address for one in case.changes.added)
        return None if is_new else case.base.catalog.document(moved.get(address, path))
    content = case.facts.committed(path) if case.facts is not None else None
    return parse_document(path, content) if content is not None else None


# Characters that must be escaped in the path of a Markdown link.
_UNPLAIN = re.compile(r"[\s()<>\\]")
_NOWHERE = "/1/2/3/4/5/6/7/8/"


def nfc(name: str) -> str:
    """Return a name in Unicode's composed normal form, NFC."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def has_odd_extension(path: str) -> bool:
    """Return whether a Markdown file has an extension that mdmem does not read, such as `.MD` or `.markdown`."""
    markdown = (".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdwn")
    return path.lower().endswith(markdown) and not path.endswith(".md")


def with_link(finding: Finding, case: Case, link: Link | Reference, target: str, *, is_safe: bool = True) -> Finding:
    """Return a finding with the fix that changes a link to an address, or removes a link that would be repeated."""
    document = case.catalog.document(f"{link.address}.md")
    if isinstance(link, Reference):
        offset, width, text = link.link.offset, link.link.width, target
        if link.path is not None:
            text = relative(f"{target}.md", document.path, document.body[offset : offset + width])
        return with_fix(finding, f"Write `{text}`", replace_in_body, document, offset, width, text, is_safe=is_safe)
    if target == link.address:
        return finding
    if target != link.target and target in link.entry.links(link.field):
        title = f"Remove `{link.written}`"
        return with_fix(finding, title, remove_item, document, link.field, link.item, is_safe=is_safe)
    return with_fix(
        finding, f"Write `{target}`", replace_items, document, link.field, {link.item: target}, is_safe=is_safe
    )


def relative(target: str, source: str, written: str) -> str:
    """Return the relative link from one file to another, spelled like the old link: with its quoting and its anchor."""
    # Compute with an invented root, so that a path out of the root does not depend on the working directory.
    path = posixpath.relpath(f"{_NOWHERE}{target}", f"{_NOWHERE}{posixpath.dirname(source)}")
    before, mark, anchor = written.partition("#")
    path += "/" if before.endswith("/") else ""
    return (quote(path, errors="surrogateescape") if "%" in written or _UNPLAIN.search(path) else path) + mark + anchor


def below(case: Case, folder: str, new: str) -> dict[str, str]:
    """Return the new path of each file in a folder, by its old path, if the folder moves to the path `new`."""
    paths = (file.path for file in case.all_files)
    return {path: new + path.removeprefix(folder) for path in paths if path.startswith(f"{folder}/")}


class MoveFix(Struct, frozen=True, dict=True):
    """A move of files, from old to new paths, with the edits of links that it needs.

    `folders` are the wings and rooms that move as a whole, `under` is the root's path in the repository.
    """

    case: Case
    moves: Mapping[str, str]
    folders: Mapping[str, str] = field(default_factory=dict)
    under: str | None = None

    @cached_property
    def _files(self) -> dict[str, FileKind]:
        return {file.path: file.kind for file in self.case.all_files}

    @property
    def unmovable(self) -> tuple[str, ...]:
        """Return the old paths that cannot be moved, because they are not regular files."""
        return tuple(path for path in self.moves if self._files.get(path) is not FileKind.FILE)

    @property
    def taken(self) -> tuple[str, ...]:
        """Return the new paths at which a file exists already; names that differ only by case count as the same."""
        counts = Counter(path.lower() for path in (*(self._files.keys() - self.moves.keys()), *self.moves.values()))
        return tuple(path for path in self.moves.values() if counts[path.lower()] > 1)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Return the files that cannot be parsed and may have a link to a moved file."""
        names = {address.rsplit("/", 1)[-1] for address in self.addresses}
        broken = self.case.catalog.broken.keys() - self.moves.keys()
        # Only look at files with documents, since opening a pipe would wait for ever.
        texts = ((document.path, document.text) for _, document in self.case.documents if document.path in broken)
        return tuple(path for path, text in texts if any(name in text for name in names))

    @cached_property
    def addresses(self) -> dict[str, str]:
        """Return the new address of each file by its old address, also for files that are no entries yet."""
        return {old.rsplit(".", 1)[0]: new.removesuffix(".md") for old, new in self.moves.items()}

    @cached_property
    def _addresses_after(self) -> frozenset[str]:
        new = frozenset(path.removesuffix(".md") for path in self.moves.values() if is_entry_place(path))
        return new.union(self.case.catalog.addresses - self.addresses.keys())

    @property
    def wings(self) -> dict[str, str]:
        """Return the new name of each wing that moves, by its old name."""
        return {old: new for old, new in self.folders.items() if "/" not in old}

    def edits(self) -> Iterator[Edit]:
        """Yield edits of links and manifests, by paths before the move; raises UnpatchableError for an odd file."""
        yield from self._edits_of_fields()
        for reference in self.case.references:
            document, written = self.case.catalog.document(f"{reference.address}.md"), reference.link.target
            text = self._new_path(document, reference.link) if reference.path else None
            if not reference.path:
                new = self._new_address(written, reference.target, document.path)
                text = new if new != written else None
            yield from _replaced(document, reference.link, text)
        for address, document in self.case.documents:
            for image in image_links(self.case.prose_of(address)) if document.fields is not None else ():
                yield from _replaced(document, image, self._new_path(document, image))
        # Files that are not entries: READMEs, and files that only become entries by the move.
        for file in self.case.catalog.others:
            if file.kind is not FileKind.FILE or not (file.path.endswith(".md") or has_odd_extension(file.path)):
                continue
            document = self.case.catalog.document(file.path)
            prose = without_code(document.body)
            for link in (*body_links(prose), *image_links(prose)):
                moved = self._new_path(document, link) if link.is_path else self.addresses.get(link.target)
                yield from _replaced(document, link, moved)

    def _edits_of_fields(self) -> Iterator[Edit]:
        """Yield the edits of manifests, of links and of relations; all changed links of a field are in one edit."""
        catalog, changed = self.case.catalog, dict[tuple[str, str], dict[int, str]]()
        for wing in catalog.wings.values() if self.wings else ():
            path = f"{wing.name}/README.md"
            for item, shared in written_items(catalog.document(path), "shared_wings"):
                if shared in self.wings:
                    changed.setdefault((path, "shared_wings"), {})[item] = self.wings[shared]
        for link in self.case.links:
            new = self._new_address(link.written, link.target, link.entry.path)
            if new != link.written:
                changed.setdefault((link.entry.path, link.field), {})[link.item] = new
        for entry in catalog.entries.values():
            for item, relation in enumerate(entry.relations):
                target = full_address(relation.to, entry.address, catalog.addresses)
                new = self._new_address(relation.to, target, entry.path)
                if new != relation.to:
                    changed.setdefault((entry.path, "relations"), {})[item] = new
        for (path, name), texts in changed.items():
            document = catalog.document(path)
            is_relation = name == "relations"
            yield from replace_relations(document, texts) if is_relation else replace_items(document, name, texts)

    def _new_address(self, written: str, target: str | None, path: str) -> str:
        """Return the new text of a link in the file at a path; `target` is the address that the link means, or None."""
        if target is None:
            return self.addresses.get(written.removesuffix(".md"), written)
        source, meant = self.moves.get(path, path).removesuffix(".md"), self.addresses.get(target, target)
        # A short address is relative to its entry. If both entries move to the same folder, the link need not change.
        return written if full_address(written, source, self._addresses_after) == meant else meant

    def _new_path(self, document: Document, link: BodyLink) -> str | None:
        """Return the new text of a link to a file if the file with the link, or the linked file, moves; else None."""
        written = document.body[link.offset : link.offset + link.width]
        top = f"/{self.under}/" if self.under else "/"
        if link.target.startswith("/"):
            path = link.target.removeprefix(top)
            is_ours = self.under is not None and link.target.startswith(top)
            anchor = "".join(written.partition("#")[1:])
            return top + self._moved(path) + anchor if is_ours and self._moved(path) != path else None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), link.target))
        source, target = self.moves.get(document.path, document.path), self._moved(path)
        stays = posixpath.normpath(posixpath.join(posixpath.dirname(source), link.target)) == target
        return None if stays else relative(target, source, written)

    def _moved(self, path: str) -> str:
        around = (new + path.removeprefix(old) for old, new in self.folders.items() if f"{path}/".startswith(f"{old}/"))
        return self.moves.get(path) or next(around, path)


def _replaced(document: Document, link: BodyLink, text: str | None) -> tuple[Edit, ...]:
    return () if text is None else replace_in_body(document, link.offset, link.width, text)


def with_move(
    finding: Finding, case: Case, moves: Mapping[str, str], title: str, *, folder: tuple[str, str] | None = None
) -> Finding:
    """Return a finding with an unsafe fix that moves files or a `folder`, if all are readable and no path is taken."""
    renames = tuple(sorted(moves.items()))

    def make() -> Fix | None:
        move = MoveFix(case, moves, dict([folder]) if folder else {})
        if moves and not (move.unmovable or move.taken or move.unreadable):
            with suppress(UnpatchableError):
                return Fix(title, tuple(move.edits()), is_safe=False, renames=renames)
        return None

    return replace(finding, fix=LateFix("", (), renames=renames, make=make))


def with_name(finding: Finding, case: Case, place: str, name: str) -> Finding:
    """Return a finding with an unsafe fix that renames an entry, a room or a wing that the settings do not mention."""
    folder, _, old = place.rpartition("/")
    is_entry = place.count("/") == 2
    new = f"{folder}/{name}".lstrip("/") + (".md" if is_entry else "")
    if not folder and case.settings.source and old in case.settings.source.decode("utf-8", "replace"):
        # The settings may mention the wing, and no fix changes the settings.
        return finding
    moves = {place: new} if is_entry else below(case, place, new)
    # Offer no fix if the new folder has files already, since that would merge two folders.
    is_free = is_entry or not below(case, new, place)
    folder_moves = None if is_entry else (place, new)
    return with_move(finding, case, moves, f"Rename it to `{name}`", folder=folder_moves) if is_free else finding


def with_number(finding: Finding, case: Case, place: str) -> Finding:
    """Return a finding with an unsafe fix that adds a free number to an entry's name; no fix for any other file."""
    taken = {file.path.lower() for file in case.all_files}
    if place.count("/") != 2 or not place.endswith(".md"):
        return finding
    stem = nfc(place.removesuffix(".md")).lower()
    free = next(number for number in count(2) if f"{stem}-{number}.md" not in taken)
    name = f"{stem.rsplit('/', 1)[-1]}-{free}"
    return with_move(finding, case, {place: f"{place.rsplit('/', 1)[0]}/{name}.md"}, f"Rename it to `{name}`")
