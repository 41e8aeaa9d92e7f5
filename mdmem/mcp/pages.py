"""Split a long answer into pages; a cursor says where the next page begins, and the server remembers nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.mcp.answers import bytes_of, json_line

_STALE = "`cursor` is of another call, or the memory changed since: call again without it"
# Bytes for the keys that mark a page that was cut.
_MARKS = 300
# A list member that has a list of this name is the head of a group, and the group's members are paged.
_GROUPED = "items"
# Invariants bind when they are in one of these lists, not when they are proposed, omitted or linked.
_BINDING = ("items", "sections")
# Fields that every part of a split list member repeats.
_NAMES = ("address", "id", "title", "name", "type", "path", "code", "facet")
# The index may be complete before the next page is asked for: the answer is still the same.
_SOURCE = ("degraded", "why_degraded", "source", "usage_hint")
_FIRST_LISTS = {"problems": 0, "conflicts": 2}

Facts = dict[str, Any]


class _Piece(Struct, frozen=True):
    """A member of a list or a section of a text, or a part of one; `number` counts the members."""

    value: Any
    size: int
    number: int
    binds: bool
    path: tuple[str, ...] = ()
    group: Facts | None = None

    @property
    def rank(self) -> int:
        """Return its place in the answer: unreadable files, binding invariants, conflicts, and the rest."""
        return 1 if self.binds else _FIRST_LISTS.get(".".join(self.path), 3)


class _Cut(Struct, frozen=True):
    """The pieces of one page, and the marks of an answer that has more pages."""

    pieces: Sequence[_Piece]
    marks: Facts


def is_invariant(member: Any) -> bool:
    """Check whether a member of an answer is an invariant."""
    return isinstance(member, dict) and "invariant" in (member.get("type"), str(member.get("label")).lower())


def mark_line(facts: Facts) -> str:
    """Return the marks of a page that was cut as one line; empty for a whole answer."""
    names = ("truncated", "cursor", "invariants_remaining", "remaining")
    return "; ".join(f"{name}: {str(facts[name]).lower()}" for name in names if name in facts)


def page_of(
    facts: Facts, *, limit: int, asked: str = "", cursor: str | None = None, has_more: bool = True
) -> tuple[Facts, bool]:
    """Return one page of an answer and whether it is the last: its scalars, and the list members that fit into `limit`.

    Args:
        facts: The whole answer.
        limit: Bytes of the page as JSON.
        asked: The call without its cursor.
        cursor: Where the page begins.
        has_more: Whether further pages may be asked for.

    Raises:
        UsageError: If the cursor is of another call, or the answer has changed since.
    """
    # Files that cannot be read come first, since they may bind.
    facts = {"problems": facts["problems"]} | facts if facts.get("problems") else facts
    if cursor is None and _size(facts) <= limit:
        return facts, True
    longest = limit
    while _size(head := _without_lists(facts, longest)) > limit // 3 and longest > 40:
        longest //= 2
    room = limit - _size(head) - _MARKS
    pieces = sorted(_members(facts, room), key=lambda piece: piece.rank)
    seal = _seal(asked, json_line({name: value for name, value in facts.items() if name not in _SOURCE}))
    page = _cut_page(pieces, room, seal, cursor, has_more=has_more)
    here = {piece.path for piece in page.pieces}
    elsewhere = dict.fromkeys(".".join(piece.path) for piece in pieces if piece.path not in here)
    more = {"on_other_pages": list(elsewhere)} if elsewhere else {}
    return page.marks | more | _filled(head, page.pieces), not page.marks


def text_page_of(text: str, *, limit: int, asked: str = "", cursor: str | None = None) -> tuple[str, bool]:
    """Return one page of a text and whether it is the last: whole sections where they fit, else their lines.

    Raises UsageError as `page_of` does.
    """
    if cursor is None and bytes_of(text) <= limit:
        return text, True
    room = limit - _MARKS
    page = _cut_page(list(_sections(text, room)), room, _seal(asked, text), cursor, has_more=True)
    lines = [mark_line(page.marks)] if page.marks else []
    return "\n\n".join([*lines, *(piece.value for piece in page.pieces)]), not page.marks


def _cut_page(pieces: Sequence[_Piece], room: int, seal: str, cursor: str | None, *, has_more: bool) -> _Cut:
    """Return the page that begins at the cursor: as many pieces as fit, and at least one."""
    start = 0
    if cursor is not None:
        number, _, sealed = cursor.strip().partition("-")
        if sealed != seal or not re.fullmatch("[0-9]{1,9}", number) or int(number) >= len(pieces):
            raise UsageError(_STALE)
        start = int(number)
    end, group = start, None
    while end < len(pieces):
        piece = pieces[end]
        room -= piece.size + (_size(piece.group) if piece.group is not None and piece.group is not group else 0)
        if room < 0 and end > start:
            break
        end, group = end + 1, piece.group
    rest = pieces[end:]
    marks: Facts = {}
    if rest:
        marks = {"truncated": True} | ({"cursor": f"{end}-{seal}"} if has_more else {})
        if any(piece.binds for piece in pieces):
            marks["invariants_remaining"] = len({piece.number for piece in rest if piece.binds})
        marks["remaining"] = len({piece.number for piece in rest})
    return _Cut(pieces[start:end], marks)


def _seal(asked: str, text: str) -> str:
    """Return digests of the call and of its whole answer, by which a stale cursor is found."""
    return "".join(hashlib.sha256(one.encode("utf-8", "surrogatepass")).hexdigest()[:6] for one in (asked, text))


def _size(value: Any) -> int:
    return bytes_of(json_line(value))


def _without_lists(value: Any, longest: int) -> Any:
    """Return an answer with empty lists, and with its texts cut to a length."""
    if isinstance(value, dict):
        return {name: _without_lists(inner, longest) for name, inner in value.items()}
    if isinstance(value, list):
        return []
    return f"{value[:longest]}…" if isinstance(value, str) and len(value) > longest + 1 else value


def _filled(head: Facts, pieces: Sequence[_Piece]) -> Facts:
    """Return an answer with pieces in its lists; those of one group are together."""
    page: Facts = deepcopy(head)
    group: Facts | None = None
    for piece in pieces:
        members: Any = page
        for name in piece.path:
            members = members[name]
        if piece.group is None:
            members.append(piece.value)
        elif piece.group is group:
            members[-1][_GROUPED].append(piece.value)
        else:
            members.append({**piece.group, _GROUPED: [piece.value]})
        group = piece.group
    return page


def _members(facts: Facts, room: int) -> Iterator[_Piece]:
    """Yield the members of all lists; one that is larger than a page comes in parts."""
    for number, (path, group, member) in enumerate(_listed(facts, ())):
        binds = path[0] in _BINDING and is_invariant(member)
        # The number of a part takes some bytes, too.
        free = room - (_size(group) if group is not None else 0) - 22
        for part in _numbered(_split(member, free)):
            yield _Piece(part, _size(part) + 1, number, binds, path, group)


def _listed(facts: Facts, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Facts | None, Any]]:
    """Yield each list member with the path of its list and the head of its group."""
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _listed(value, (*path, name))
        for member in value if isinstance(value, list) else ():
            items = member.get(_GROUPED) if isinstance(member, dict) else None
            if isinstance(items, list) and items:
                group = {key: inner for key, inner in member.items() if key != _GROUPED}
                yield from (((*path, name), group, one) for one in items)
            else:
                yield (*path, name), None, member


def _numbered(parts: list[Any]) -> list[Any]:
    """Return the parts of one member, each with its number where there are several."""
    if len(parts) == 1:
        return parts
    count = len(parts)
    return [{"part": f"{n} of {count}"} | one if isinstance(one, dict) else one for n, one in enumerate(parts, 1)]


def _split(value: Any, room: int) -> list[Any]:
    """Return a value whole, or halved where it is longest until each part fits."""
    halves = () if _size(value) <= room else _halves(value)
    return [part for half in halves for part in _split(half, room)] or [value]


def _halves(value: Any) -> tuple[Any, ...]:
    """Return a value in two, cut where it is longest; nothing for one that cannot be cut."""
    if isinstance(value, str) and len(value) > 1:
        late = len(value) * 3 // 4
        middle = value.rfind("\n", 0, late) + 1 or value.find("\n", late, -1) + 1 or len(value) // 2
        return value[:middle], value[middle:]
    if isinstance(value, list) and value:
        middle = len(value) // 2
        return (value[:middle], value[middle:]) if middle else tuple([half] for half in _halves(value[0]))
    if not isinstance(value, dict) or not value:
        return ()
    longest = max(value, key=lambda name: _size(value[name]))
    halves = _halves(value[longest])
    names = {name: value[name] for name in _NAMES if name in value and _size(value[name]) < _MARKS // 2}
    return ({**value, longest: halves[0]}, {**names, longest: halves[1]}) if halves else ()


def _sections(text: str, limit: int) -> Iterator[_Piece]:
    """Yield the sections of a text: a heading with all below it, or a paragraph before the first heading.

    Every line of an entry is quoted or within a line of ours, so no heading and no blank line is an entry's own.
    """
    start, *rest = re.split(r"\n\n(?=#)", text)
    may_bind = True
    for number, section in enumerate([*([start] if start.startswith("#") else start.split("\n\n")), *rest]):
        # Below a heading of the second level, such as that of proposed entries, nothing binds.
        may_bind = may_bind and not section.startswith("## ")
        binds = may_bind and section.startswith("### invariant")
        for part in [section] if bytes_of(section) <= limit else _section_parts(section, limit):
            yield _Piece(part, bytes_of(part) + 2, number, binds)


def _section_parts(section: str, limit: int) -> Iterator[str]:
    """Yield a section in parts that fit, each below the heading; a quoted line that is cut stays quoted."""
    heading, _, body = section.partition("\n") if section.startswith("#") else ("", "", section)
    room = limit - bytes_of(heading) - 40
    parts = _split(body, room)
    line = ""
    for number, part in enumerate(parts, 1):
        quote = "> " if line.startswith(">") else ""
        again = f"{heading} (part {number} of {len(parts)})\n" if heading else ""
        yield again + quote + part.rstrip("\n")
        line = (quote + part).rpartition("\n")[2]
