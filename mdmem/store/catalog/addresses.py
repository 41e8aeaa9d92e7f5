"""Recognise entries, manifests and misplaced files by their paths, complete short addresses, and load single files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from mdmem.markdown.parse import Document, first_heading, parse_document
from mdmem.model.entry import Entry, Flaw, Wing
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding, Place, fault
from mdmem.record import StoredRecord
from mdmem.store.tree import FileKind, Tree, TreeFile, Unreadable

_WORDS = {"wing": re.compile(r"[^\W_]+(?:_[^\W_]+)*\Z"), "room": re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")}
# A dot may only be between digits, as in `python-3.12`. If `x.md` were a valid entry-id, `x.md` could mean two files.
_WORDS["entry"] = re.compile(r"[^\W_]+(?:(?:[-_]|(?<=[0-9])\.(?=[0-9]))[^\W_]+)*\Z")
_JOINED_BY = {"wing": "_", "room": "-", "entry": "-"}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FORBIDDEN = re.compile(r'[<>:"|?*\\]')
_DEVICE = r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9¹²³])"
_RESERVED = re.compile(rf"{_DEVICE}(?:\.|\Z)", re.IGNORECASE)


def is_well_formed(kind: str, name: str) -> bool:
    """Return whether the name of a wing, room or entry is in lower case, with only allowed characters between words."""
    return name == name.lower() and _WORDS[kind].match(name) is not None


def well_formed(kind: str, name: str) -> str | None:
    """Return a name changed to the valid form for a `wing`, `room` or `entry`; None if it has no letter or digit."""
    words = re.findall(r"[^\W_]+", _HUMP.sub(" ", name).lower())
    return _JOINED_BY[kind].join(words) or None


def why_not_on_windows(name: str) -> str | None:
    """Return why Windows cannot check out a file or folder with this name, as the end of a sentence; None if it can."""
    if _RESERVED.match(name):
        return "is the name of a device"
    if found := _FORBIDDEN.search(name):
        return f"contains `{found.group()}`"
    if name.endswith((".", " ")):
        return "ends in a dot" if name.endswith(".") else "ends in a space"
    if any("\udc80" <= character <= "\udcff" for character in name):
        return "is not UTF-8"
    return None


MANIFEST = "README.md"
# Matches names such as `CHANGELOG` and `CODE_OF_CONDUCT`, but not `ADR-12`, which is a decision record.
_PROSE = re.compile(r"[A-Z]+(?:[_-][A-Z]+)*\Z")
# Match `4`, `0004`, `ADR-4` and `KEP 1287`, and ids that begin with such a number. Longer numbers are dates.
_NUMBER = re.compile(r"(?:([a-z]{2,12})[-_ ]?)?0*([0-9]{1,6})\Z", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:([a-z]{2,12})[-_]?)?0*([0-9]{1,6})(?:-|\Z)", re.IGNORECASE)
# The kinds of records that a number alone may mean: ADR, RFC, KEP, PEP, BIP and so on.
_RECORD = re.compile(r"m?adr|[a-z]?dr|ad|rfc|[a-z]ep|[be]ip|decision|record")
# Line breaks, control characters and marks of text direction: in a name they would spoil every answer.
_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def is_entry_place(path: str) -> bool:
    """Return whether a path is that of an entry: `wing/room/entry-id.md`, no README, no control characters."""
    is_place = path.count("/") == 2 and path.endswith(".md") and not path.endswith(f"/{MANIFEST}")
    return is_place and not is_misnamed(path)


def is_misnamed(path: str) -> bool:
    """Return whether a path contains a line break, a control character, or a mark of text direction."""
    return find_unsafe_character(path) is not None


def find_unsafe_character(path: str) -> str | None:
    """Return the first line break, control character or mark of text direction in a path, or None."""
    found = None if path.isprintable() else _ACTING.search(path)
    return found[0] if found else None


def is_manifest(file: TreeFile) -> bool:
    """Return whether a file is the manifest of a wing, its `README.md`."""
    is_readme = file.path.count("/") == 1 and file.path.endswith(f"/{MANIFEST}") and file.kind is FileKind.FILE
    return is_readme and not is_misnamed(file.path)


def full_address(link: str, source: str, addresses: Collection[str]) -> str | None:
    """Return the address of the entry that a link leads to, or None. Short links and paths are relative to `source`."""
    if link in addresses:
        return link
    plain = link.removeprefix("./").removesuffix(".md").strip("/")
    wing, room, _ = source.split("/", 2)
    if plain.startswith("../"):
        plain = posixpath.normpath(f"{wing}/{room}/{plain}")
    tried = (plain, f"{wing}/{plain}", f"{wing}/{room}/{plain}")
    return next((address for address in tried if address in addresses and address.count("/") == 2), None)


def number_in(handle: str) -> str | None:
    """Return the number of a record with its kind, such as `adr 4` for `ADR-0004`, or `4`; None without a number."""
    found = _NUMBER.match(handle)
    return f"{(found[1] or '').casefold()} {found[2]}".lstrip() if found else None


def by_number(addresses: Iterable[str]) -> dict[str, list[str]]:
    """Return the addresses of numbered records, by number (`4`) and by kind and number (`adr 4`).

    An entry-id begins with the number. A record without a kind, such as `0004-use-utc`, is an ADR. `python-3-only` has
    no number.
    """
    found: dict[str, list[str]] = {}
    for address in addresses:
        if its := _NUMBERED.match(address.rpartition("/")[2]):
            kind = (its[1] or "adr").casefold()
            for number in (f"{kind} {its[2]}", *([its[2]] if _RECORD.fullmatch(kind) else [])):
                found.setdefault(number, []).append(address)
    return found


def has_short_links(entry: Entry) -> bool:
    """Return whether an entry has a link that is not a full address, so that its meaning depends on other files."""
    return any(not is_plain_address(link) for name in LINK_FIELDS for link in entry.links(name))


def is_plain_address(link: str) -> bool:
    """Return whether a link is written as a full address."""
    return link.count("/") == 2 and not (link.startswith(("/", "./", "../")) or link.endswith(("/", ".md")))


def with_full_links(entry: Entry, addresses: Collection[str]) -> Entry:
    """Return the entry with each short link replaced by the full address, if that address exists."""
    links = {name: entry.links(name) for name in LINK_FIELDS}
    source = entry.address
    full = {name: tuple(full_address(one, source, addresses) or one for one in found) for name, found in links.items()}
    return replace(entry, **full)


def is_prose(path: str) -> bool:
    """Return whether a file's name, such as README, shows that it describes a folder and is no entry."""
    stem = path.rsplit("/", 1)[-1].split(".", 1)[0]
    return stem.lower() == "readme" or _PROSE.match(stem) is not None


def is_misplaced(path: str) -> bool:
    """Return whether a path that is no entry's path has a file name like an entry's."""
    return path.endswith(".md") and not is_prose(path)


class LoadedFile(StoredRecord, frozen=True):
    """The result of loading one file. `entry` and `wing` are None if the file is no valid entry or manifest."""

    path: str
    entry: Entry | None = None
    findings: tuple[Finding, ...] = ()
    has_short_links: bool = False
    wing: Wing | None = None

    @property
    def is_closed(self) -> bool:
        """Return whether the file could not be opened, so that nothing is known about its content."""
        return any(finding.code == "unreadable" for finding in self.findings)


def load_entry(document: Document) -> LoadedFile:
    """Return the result of loading a document: its entry, or None if there is no valid one, and all findings."""
    address = document.path.removesuffix(".md")
    findings = tuple(finding.at(document.path, address) for finding in document.findings)
    if document.fields is None:
        return LoadedFile(document.path, None, findings)
    # Imported here, because pydantic needs a tenth of a second, and only files that are not cached need it.
    from mdmem.model.schema import read_entry

    entry, flaws = read_entry(address, document.fields, first_heading(document.body))
    findings += tuple(_placed(document, address, flaw) for flaw in flaws)
    return LoadedFile(document.path, entry, findings, entry is not None and has_short_links(entry))


def iter_documents(tree: Tree, paths: Sequence[str]) -> Iterator[Document]:
    """Yield the parsed documents of files, in the order of the paths; that of an unreadable file has only a finding."""
    if not paths:
        return
    for path, content in tree.read(paths):
        if isinstance(content, Unreadable):
            yield Document(path, b"", "", None, "", 1, (_closed(path, content.reason),))
        else:
            yield parse_document(path, content)


def _placed(document: Document, address: str | None, flaw: Flaw) -> Finding:
    place = document.place(flaw.name, flaw.item, of_key=flaw.on_key)
    found = fault(flaw.code, flaw.message, place, flaw.help, address, cause=flaw.name)
    return found if flaw.item is None else replace(found, item=flaw.item)


_REASONS = {
    FileKind.SYMLINK: ("symlink", "a symbolic link is in the place of an entry", "replace it by the file itself"),
    FileKind.SUBMODULE: ("submodule", "a submodule is in the place of an entry", "move it out of the memory"),
    FileKind.UNMERGED: (
        "merge-marker",
        "the file is unmerged in git's index",
        "`mdmem resolve` shows how to decide it",
    ),
}


def unreadable(file: TreeFile) -> LoadedFile:
    """Return the result for a file that was not opened, because it is a link, a submodule, unmerged or unreadable."""
    address = file.path.removesuffix(".md") if is_entry_place(file.path) else None
    if file.kind not in _REASONS:
        return LoadedFile(file.path, None, (_closed(file.path, file.reason, address),))
    code, message, help_ = _REASONS[file.kind]
    return LoadedFile(file.path, None, (fault(code, message, Place(file.path), help_, address),))


def _closed(path: str, reason: str, address: str | None = None) -> Finding:
    help_ = "make it readable, then run this again"
    return Finding("unreadable", f"cannot be read: {reason.lower()}", Place(path), help_, address)


def load_manifest(document: Document) -> LoadedFile:
    """Return the wing of a manifest and all findings; a README without front matter has no wing and no finding."""
    faults = tuple(
        one
        if one.code == "unreadable"
        else Finding("manifest-invalid", f"{one.message} ({one.code})", one.place, one.help)
        for one in document.findings
    )
    if document.fields is None:
        is_prose = all(finding.former in ("front-matter-missing", "empty-file") for finding in document.findings)
        return LoadedFile(document.path, findings=() if is_prose else faults)
    from mdmem.model.schema import read_wing

    wing, flaws = read_wing(document.path.split("/")[0], document.fields)
    faults += tuple(_placed(document, None, flaw) for flaw in flaws)
    return LoadedFile(document.path, findings=faults, wing=wing)
