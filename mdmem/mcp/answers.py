"""Turn answers into plain JSON and safe text, and split long ones into pages."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mdmem.errors import UsageError
from mdmem.markdown.body import size_of
from mdmem.model.text import text_hash, visible_text
from mdmem.render.text import escaped

# The most characters of an answer that all clients accept.
LARGEST = 40_000

# The default values by key, which are left out of answers.
_DEFAULTS: Mapping[str, Any] = {
    "contradictory": False,
    "current": True,
    "degraded": False,
    "form": "full",
    "new": False,
    "over_budget": False,
    "source": "index",
    "standing": "binding",
    "status": "active",
}
# The key of a file's own fields, which are returned unchanged.
_VERBATIM = "front_matter"


def without_noise(value: Any, *, kept: Collection[str] = (), noise: Collection[str] = ()) -> Any:
    """Return JSON without empty values, `_DEFAULTS` and keys in `noise`, at any depth. Keys in `kept` stay."""
    if isinstance(value, list):
        return [without_noise(one, kept=kept, noise=noise) for one in value]
    if not isinstance(value, dict):
        return value
    inner = {
        name: one if name == _VERBATIM else without_noise(one, kept=kept, noise=noise)
        for name, one in value.items()
        if name in kept or name not in noise
    }
    return {
        name: one
        for name, one in inner.items()
        if name in kept or not (one in (None, "", [], {}) or (name in _DEFAULTS and one == _DEFAULTS[name]))
    }


def json_line(value: Any) -> str:
    """Return a value as JSON on one line, with control characters escaped."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return line if line.isprintable() else escaped(line)


def safe_text(text: str) -> str:
    """Return a text in valid UTF-8, with invisible and control characters replaced by their numbers."""
    return visible_text(str(plain(text)))


def plain(value: Any) -> Any:
    """Convert a value to JSON types: enums and dates become texts, tuples become lists; surrogates are escaped."""
    if isinstance(value, str):
        text = str.__str__(value)
        return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {plain(str(name)): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return plain(value.isoformat() if hasattr(value, "isoformat") else str(value))


# The bytes that are reserved for the keys that mark an incomplete page.
_MARKS = 300
# Invariants in these lists apply; those in other lists are only proposed, omitted or linked.
_BINDING = ("items", "sections")
# If a list member is split, each part repeats these fields.
_NAMES = ("address", "id", "title", "name", "type", "path", "code", "facet")
_FIRST_LISTS = {"problems": 0, "conflicts": 2}

Facts = dict[str, Any]


class _Piece(Struct, frozen=True):
    """A member of a list, a section of a text, or a part of either.

    `number` is the index of the whole member. `invariants` is the number of invariants in the piece, and `path` are the
    keys that lead to the list.
    """

    value: Any
    size: int
    number: int
    invariants: int
    path: tuple[str, ...] = ()


def mark_line(facts: Facts) -> str:
    """Return a line with the cursor and counts of an incomplete page; empty for a complete answer."""
    names = ("truncated", "cursor", "invariants_remaining", "remaining")
    return "; ".join(f"{name}: {str(facts[name]).lower()}" for name in names if name in facts)


def page_of(
    facts: Facts, *, limit: int, request: str = "", cursor: str | None = None, has_more: bool = True
) -> tuple[Facts, bool]:
    """Return one page of an answer, and whether it is the last page; raises UsageError for a stale cursor.

    A page has all values that are not lists, and the list members that fit into `limit` bytes of JSON. `request` is
    the call without its cursor, as text. Without `has_more`, the caller cannot get further pages.
    """
    # Unreadable files come first, since they may contain rules.
    facts = {"problems": facts["problems"]} | facts if facts.get("problems") else facts
    if cursor is None and _size(facts) <= limit:
        return facts, True
    head = _without_lists(facts, limit // 30)
    left = limit - _size(head) - _MARKS
    pieces = []
    for number, (path, member) in enumerate(_listed(facts, ())):
        # Reserve bytes for the key `part`.
        parts = _split(member, left - 22)
        for at, part in enumerate(parts, 1):
            if len(parts) > 1 and isinstance(part, dict):
                part = {"part": f"{at} of {len(parts)}"} | part
            invariants = _invariants_in(part) if path[0] in _BINDING else 0
            pieces.append(_Piece(part, _size(part) + 1, number, invariants, path))
    # First unreadable files, then binding invariants, conflicts, and everything else.
    pieces.sort(key=lambda piece: 1 if piece.invariants else _FIRST_LISTS.get(".".join(piece.path), 3))
    seal = _seal(request, json_line(facts))
    on_page, marks = _cut_page(pieces, left, seal, cursor, has_more=has_more)
    here = {piece.path for piece in on_page}
    elsewhere = dict.fromkeys(".".join(piece.path) for piece in pieces if piece.path not in here)
    more = {"on_other_pages": list(elsewhere)} if elsewhere else {}
    for piece in on_page:
        members: Any = head
        for name in piece.path:
            members = members[name]
        members.append(piece.value)
    return marks | more | head, not marks


def text_page_of(text: str, *, limit: int, request: str = "", cursor: str | None = None) -> tuple[str, bool]:
    """Return one page of a text, of whole sections if they fit, and whether it is the last. See `page_of`."""
    if cursor is None and size_of(text) <= limit:
        return text, True
    left, pieces = limit - _MARKS, list[_Piece]()
    # All lines of entries are quoted, so headings and blank lines are never from an entry.
    start, *rest = re.split(r"\n\n(?=#)", text)
    may_bind = True
    for number, section in enumerate([*([start] if start.startswith("#") else start.split("\n\n")), *rest]):
        # Entries below a heading of level 2, such as that of proposed entries, are not binding.
        may_bind = may_bind and not section.startswith("## ")
        binds, line = int(may_bind and section.startswith("### invariant")), ""
        for part in [section] if size_of(section) <= left else _split(section, left - 2):
            # If a quoted line is split, both parts are quoted.
            whole = ("> " if line.startswith(">") else "") + (part if part is section else part.rstrip("\n"))
            pieces.append(_Piece(whole, size_of(whole) + 2, number, binds))
            line = "" if part.endswith("\n") else whole.rpartition("\n")[2]
    on_page, marks = _cut_page(pieces, left, _seal(request, text), cursor, has_more=True)
    lines = [mark_line(marks)] if marks else []
    return "\n\n".join([*lines, *(piece.value for piece in on_page)]), not marks


def _cut_page(
    pieces: Sequence[_Piece], limit: int, seal: str, cursor: str | None, *, has_more: bool
) -> tuple[Sequence[_Piece], Facts]:
    """Return the pieces of the page at the cursor, at least one, and the keys `truncated` and `cursor` if it is cut."""
    start = 0
    if cursor is not None:
        number, _, sealed = cursor.strip().partition("-")
        if sealed != seal or not re.fullmatch("[0-9]{1,9}", number) or int(number) >= len(pieces):
            raise UsageError("`cursor` is of another call, or the memory changed since then: call again without it")
        start = int(number)
    end = start
    while end < len(pieces) and (end == start or limit >= pieces[end].size):
        limit -= pieces[end].size
        end += 1
    rest = pieces[end:]
    marks: Facts = {}
    if rest:
        marks = {"truncated": True} | ({"cursor": f"{end}-{seal}"} if has_more else {})
        if any(piece.invariants for piece in pieces):
            marks["invariants_remaining"] = sum(piece.invariants for piece in rest)
        marks["remaining"] = len({piece.number for piece in rest})
    return pieces[start:end], marks


def _seal(request: str, text: str) -> str:
    """Return hashes of the call and of its whole answer; a cursor with other hashes is stale."""
    return "".join(text_hash(one)[:6] for one in (request, text))


def _size(value: Any) -> int:
    return size_of(json_line(value))


def _without_lists(value: Any, longest: int) -> Any:
    """Return an answer with empty lists and with its texts cut to `longest` characters."""
    if isinstance(value, dict):
        return {name: _without_lists(inner, longest) for name, inner in value.items()}
    if isinstance(value, list):
        return []
    return f"{value[:longest]}…" if isinstance(value, str) and len(value) > longest + 1 else value


def _invariants_in(member: Facts) -> int:
    named = (member.get("type"), str(member.get("label")).lower())
    return int("invariant" in named) or sum(map(_invariants_in, member.get("items") or ()))


def _listed(facts: Facts, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _listed(value, (*path, name))
        yield from (((*path, name), member) for member in (value if isinstance(value, list) else ()))


def _split(value: Any, limit: int) -> list[Any]:
    """Return a value in parts that fit the limit; the longest part of the value is halved until all fit."""
    halves = () if _size(value) <= limit else _halves(value)
    return [part for half in halves for part in _split(half, limit)] or [value]


def _halves(value: Any) -> tuple[Any, ...]:
    """Split a value into two at its longest part; return an empty tuple if it cannot be split."""
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
