"""Distinguish entries, prose and misplaced files by path, and complete addresses."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from typing import Any

from mdmem.model.entry import Entry
from mdmem.model.fields import LINK_FIELDS
from mdmem.store.tree import FileKind, TreeFile

_WORDS = {"wing": re.compile(r"[^\W_]+(?:_[^\W_]+)*\Z"), "room": re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")}
# A dot is for versions, as in `python-3.12`: with `x.md` as an entry-id, `x.md` could mean two files.
_WORDS["entry"] = re.compile(r"[^\W_]+(?:(?:[-_]|(?<=[0-9])\.(?=[0-9]))[^\W_]+)*\Z")
_JOINED_BY = {"wing": "_", "room": "-", "entry": "-"}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FORBIDDEN = re.compile(r'[<>:"|?*\\]')
_DEVICE = r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9¹²³])"
_RESERVED = re.compile(rf"{_DEVICE}(?:\.|\Z)", re.IGNORECASE)


def is_well_formed(kind: str, name: str) -> bool:
    """Return whether the name of a wing, a room or an entry is in lower case and joined by the right sign."""
    return name == name.lower() and _WORDS[kind].match(name) is not None


def well_formed(kind: str, name: str) -> str | None:
    """Return the name in its correct form, or None if nothing is left of it."""
    words = re.findall(r"[^\W_]+", _HUMP.sub(" ", name).lower())
    return _JOINED_BY[kind].join(words) or None


# Most paths: in ASCII, well-formed in every part, and none that Windows refuses.
_PART, _LEGAL = r"[a-z0-9]+(?:{0}[a-z0-9]+)*", rf"(?!{_DEVICE}[./])"
_USUAL = re.compile(f"{_LEGAL}{_PART.format('_')}/{_LEGAL}{_PART.format('-')}/{_LEGAL}{_PART.format('-')}[.]md")


def is_usual(path: str) -> bool:
    """Return whether a path is an entry's and certainly has no fault in any of its names."""
    return _USUAL.fullmatch(path) is not None


def why_not_on_windows(name: str) -> str | None:
    """Return why Windows cannot check out a file or folder of this name, or None."""
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
# `CHANGELOG`, `CODE_OF_CONDUCT`; not `ADR-12`, which is a record.
_PROSE = re.compile(r"[A-Z]+(?:[_-][A-Z]+)*\Z")
_MANIFEST_BELOW = f"/{MANIFEST}"
# Line ends, terminal controls and direction marks: in a name they would act in every answer.
_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_DEPTH = 2


def is_entry_place(path: str) -> bool:
    """Return whether a path is `wing/room/entry-id.md`, no README, and not misnamed."""
    is_place = path.count("/") == _DEPTH and path.endswith(".md") and not path.endswith(_MANIFEST_BELOW)
    return is_place and not is_misnamed(path)


def is_misnamed(path: str) -> bool:
    """Return whether a path has a character that would begin a line, act on a terminal or turn text around."""
    return acting_in(path) is not None


def acting_in(path: str) -> str | None:
    """Return the first such character of a path."""
    found = None if path.isprintable() else _ACTING.search(path)
    return found[0] if found else None


def is_manifest(file: TreeFile) -> bool:
    """Return whether a file is the README of a wing."""
    is_readme = file.path.count("/") == 1 and file.path.endswith(_MANIFEST_BELOW) and file.kind is FileKind.FILE
    return is_readme and not is_misnamed(file.path)


def may_hide_entries(file: TreeFile) -> bool:
    """Return whether an unread path may be a folder of entries, or a manifest that decides how they are read."""
    is_folder = file.path.count("/") < 2 and "." not in file.path
    is_manifest = file.path.count("/") == 1 and file.path.endswith(f"/{MANIFEST}")
    return file.kind is not FileKind.FILE and (is_folder or is_manifest)


def full_address(link: str, near: str, addresses: Collection[str]) -> str | None:
    """Return the address of a link, which may be full, short, or a path; None if it leads to no entry.

    `near` is the address of the entry with the link.
    """
    if link in addresses:
        return link
    plain = link.removeprefix("./").removesuffix(".md").strip("/")
    wing, room, _ = near.split("/", 2)
    if plain.startswith("../"):
        plain = posixpath.normpath(f"{wing}/{room}/{plain}")
    tried = (plain, f"{wing}/{plain}", f"{wing}/{room}/{plain}")
    return next((address for address in tried if address in addresses and address.count("/") == 2), None)


def has_short_links(entry: Entry) -> bool:
    """Return whether an entry has a link that is not a full address: its meaning depends on which files exist."""
    return any(not is_plain_address(link) for name in LINK_FIELDS for link in entry.links(name))


def is_plain_address(link: str) -> bool:
    """Return whether a link is written as a full address."""
    return link.count("/") == 2 and not (link.startswith(("/", "./", "../")) or link.endswith(("/", ".md")))


def with_full_links(entry: Entry, addresses: Collection[str]) -> Entry:
    """Return the entry with its short links written in full where their meaning is known."""
    changes: dict[str, Any] = {}
    for name in LINK_FIELDS:
        links = entry.links(name)
        if links and not all(link in addresses for link in links):
            full = tuple(full_address(link, entry.address, addresses) or link for link in links)
            if full != links:
                changes[name] = full
    return entry.with_changes(**changes) if changes else entry


def is_prose(path: str) -> bool:
    """Return whether a file's name, such as README, is for prose about a folder."""
    stem = path.rsplit("/", 1)[-1].split(".", 1)[0]
    return stem.lower() == "readme" or _PROSE.match(stem) is not None


def is_misplaced(path: str) -> bool:
    """Return whether a path that is not an entry's place has a name like an entry's."""
    return path.endswith(".md") and not is_prose(path)
