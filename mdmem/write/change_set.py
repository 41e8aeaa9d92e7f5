"""A change of several files, known to the last byte before the first is written, and what people are told about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from textwrap import wrap

from msgspec import Struct

from mdmem.errors import LostRaceError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.patch import set_fields
from mdmem.store.catalog import Catalog


class Change(Struct, frozen=True):
    """One file before and after; None where it is not there, `to` is its path afterwards where it is renamed."""

    path: str
    to: str
    before: bytes | None
    after: bytes | None


class ChangeSet(Struct, frozen=True):
    """Changes in the order in which they are written, each of a file of its own, and what they mean.

    Every rename comes after them; the renames of all that a folder holds are made as one where the system can.
    `actions` say what is done to which entry, the first one foremost; `supersedes` are the entries that end in favour
    of another; `reason` is the user's own words. `remarks` are sentences for people that belong to no file.
    `tells_faults`: it takes in what was written elsewhere, whose faults are told, and keep nothing from being written.
    """

    changes: tuple[Change, ...] = ()
    actions: tuple[WriteAction, ...] = ()
    supersedes: tuple[str, ...] = ()
    reason: str | None = None
    agent: str | None = None
    remarks: tuple[str, ...] = ()
    tells_faults: bool = False


_WIDTH = 72


class Verb(StrEnum):
    """What was done to an entry, as a subject line begins."""

    ADD = "Add"
    APPROVE = "Approve"
    DEPRECATE = "Deprecate"
    EDIT = "Edit"
    IMPORT = "Import"
    MOVE = "Move"
    REVIEW = "Review"
    SUPERSEDE = "Supersede"
    TEND = "Tend"
    UPDATE = "Update"
    VERIFY = "Verify"


_JOINING = {Verb.MOVE: "to", Verb.SUPERSEDE: "by"}


class WriteAction(Struct, frozen=True):
    """One thing done to an entry; `other` is its successor, or the address that it moved to."""

    verb: Verb
    address: str
    other: str | None = None


def subject_of(actions: Sequence[WriteAction]) -> str:
    """Return the subject of a commit, 72 characters at most: one action with its addresses, several counted."""
    if len(actions) == 1:
        return _subject_of_one(actions[0])
    verbs = {action.verb for action in actions}
    verb = verbs.pop() if len(verbs) == 1 else Verb.UPDATE
    return f"{verb} {len(actions)} entries"


def _subject_of_one(action: WriteAction) -> str:
    joining = _JOINING.get(action.verb, "with")
    addresses = [action.address, *([action.other] if action.other else [])]
    whole = f"{action.verb} {f' {joining} '.join(addresses)}"
    if len(whole) <= _WIDTH:
        return whole
    # The trailers hold the addresses; here it is for a person to recognise the entry.
    short = [address.rsplit("/", 1)[-1] for address in addresses]
    return _cut(f"{action.verb} {f' {joining} '.join(short)}")


def commit_message(
    subject: str,
    *,
    reason: str | None = None,
    entries: Iterable[str] = (),
    supersedes: Iterable[str] = (),
    agent: str | None = None,
) -> str:
    """Return the whole message: a subject of 72 characters at most, the reason wrapped at 72, the trailers sorted.

    `entries` are the addresses that were written, `supersedes` those that another one replaces. No line of the reason
    is read as a trailer, as a comment or as the start of a patch.
    """
    trailers = [
        *_trailers("Mdmem-Entry", entries),
        *_trailers("Mdmem-Supersedes", supersedes),
        *_trailers("Mdmem-Agent", [agent or ""]),
    ]
    parts = (_cut(_one_line(subject)), "\n".join(_body(reason or "")).rstrip("\n"), "\n".join(trailers))
    return "\n\n".join(part for part in parts if part) + "\n"


def _trailers(name: str, values: Iterable[str]) -> list[str]:
    return [f"{name}: {value}" for value in sorted({_one_line(value) for value in values}) if value]


def _one_line(text: str) -> str:
    return " ".join(_printable(text).split())


def _printable(text: str) -> str:
    """Replace what does not show by spaces: git refuses a NUL, and a terminal obeys the others."""
    return "".join(one if one.isprintable() else " " for one in text)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1].rstrip() + "…"


def _body(reason: str) -> Iterator[str]:
    """Yield the lines of a reason, those of the writer kept and long ones wrapped; blank lines come singly."""
    was_blank = True
    for line in reason.splitlines():
        # Two columns are kept for the mark of a line that would be read as something else.
        wrapped = wrap(_printable(line).strip(), _WIDTH - 2, break_long_words=False, break_on_hyphens=False)
        if wrapped or not was_blank:
            yield from (f"  {part}" if _READ_AS_MORE.match(part) else part for part in wrapped or [""])
        was_blank = not wrapped


# A comment's mark may be any character that is no letter; `From `, `diff ` and `---` start mails and patches.
_READ_AS_MORE = re.compile(r"[^\w\"'“„«(\[`]|[\w-]+\s*[:=#]|From |diff |\(cherry picked from")


Value = str | Sequence[str] | None


def patched(catalog: Catalog, path: str, values: Mapping[str, Value]) -> Change:
    """Return the change of a file that sets some of its fields; None removes one.

    Raises UnpatchableError, which says what to do by hand, where the change cannot be made byte by byte, and
    LostRaceError where the file is another one than the catalog's entry was read from.
    """
    document = catalog.document(path)
    # An entry may come from the cache, and its file is read only now: what was decided by the one is not for the other.
    if catalog.digests.get(path.removesuffix(".md")) not in (None, catalog.digest_of(path, document.data)):
        raise LostRaceError(f"`{path}` changed while it was looked at; nothing was written, try again")
    return Change(path, path, document.data, apply_edits(document.data, set_fields(document, values)))


def added(catalog: Catalog, address: str, field: str, link: str) -> tuple[str, ...]:
    """Return the links of a field with one more, as `patched` takes them."""
    links = catalog.entries[address].links(field)
    return links if link in links else (*links, link)
