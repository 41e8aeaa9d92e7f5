"""The names of wings, rooms and entries: how they are written, and what no Windows can hold."""

from __future__ import annotations

import re

_WORDS = {"wing": re.compile(r"[^\W_]+(?:_[^\W_]+)*\Z"), "room": re.compile(r"[^\W_]+(?:-[^\W_]+)*\Z")}
# A dot is for versions, as in `python-3.12`: with `x.md` as an entry-id, `x.md` could mean two files.
_WORDS["entry"] = re.compile(r"[^\W_]+(?:(?:[-_]|(?<=[0-9])\.(?=[0-9]))[^\W_]+)*\Z")
_JOINED_BY = {"wing": "_", "room": "-", "entry": "-"}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FORBIDDEN = re.compile(r'[<>:"|?*\\]')
_DEVICE = r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9¹²³])"
_RESERVED = re.compile(rf"{_DEVICE}(?:\.|\Z)", re.IGNORECASE)


def is_well_formed(kind: str, name: str) -> bool:
    """Say whether the name of a wing, a room or an entry is in lower case and joined by the right sign."""
    return name == name.lower() and _WORDS[kind].match(name) is not None


def well_formed(kind: str, name: str) -> str | None:
    """Return the name written as it should be, or None where nothing is left of it."""
    words = re.findall(r"[^\W_]+", _HUMP.sub(" ", name).lower())
    return _JOINED_BY[kind].join(words) or None


# Most paths: in ASCII, well-formed in every part, and none that Windows refuses. One expression asks it all.
_PART, _LEGAL = r"[a-z0-9]+(?:{0}[a-z0-9]+)*", rf"(?!{_DEVICE}[./])"
_USUAL = re.compile(f"{_LEGAL}{_PART.format('_')}/{_LEGAL}{_PART.format('-')}/{_LEGAL}{_PART.format('-')}[.]md")


def is_usual(path: str) -> bool:
    """Say whether a path is an entry's and nothing can be wrong with any of its names; True is certain."""
    return _USUAL.fullmatch(path) is not None


def why_not_on_windows(name: str) -> str | None:
    """Return what keeps a file or folder of this name from a Windows checkout, or None."""
    if _RESERVED.match(name):
        return "is the name of a device"
    if found := _FORBIDDEN.search(name):
        return f"holds `{found.group()}`"
    if name.endswith((".", " ")):
        return "ends in a dot" if name.endswith(".") else "ends in a blank"
    if any("\udc80" <= character <= "\udcff" for character in name):
        return "is no UTF-8"
    return None
