"""An answer page by page: what does not fit is asked for with a cursor, and nothing is kept between the calls.

A page holds the answer's scalar facts and as many members of its lists as fit. Where `binds` says so, the members that
bind come first, so that invariants fill the first pages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mdmem.errors import UsageError
from mdmem.mcp.answers import as_text, plain

# Both forms of an answer together stay below the 40,000 characters of the strictest clients.
LARGEST = 19_500
# What the facts of the page itself take in either form.
_MARKS = 200
# A scalar text is not cut below this.
_SHORTEST = 40
# The one key that repeats in another form what the others say.
VIEW = "markdown"
# A file that cannot be read may bind, and what two entries say against each other goes before what they say.
_FIRST, _SECOND = (("problems",),), (("conflicts",),)
_NAMES = ("address", "id", "title", "name", "type", "path", "code", "facet")
_STALE = "`cursor` is of another call, or the memory changed since: call again without it"


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """One member of one of an answer's lists: where the list is, and the member."""

    path: tuple[str, ...]
    member: Any
    binds: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an answer, as facts and as text."""

    facts: dict[str, Any]
    text: str


def page_of(
    answer: Mapping[str, Any],
    *,
    limit: int,
    asked: str = "",
    cursor: str | None = None,
    binds: Callable[[Any], bool] | None = None,
    has_more: bool = True,
) -> Page:
    """Return the page that a cursor means, the first without one, of `limit` bytes at most in each of its forms.

    `asked` is the call without its cursor; `has_more` says whether there is a way to the next page. Raises UsageError
    for a cursor of another call or of an answer that is another one by now.
    """
    limit = min(limit, LARGEST)
    facts = _problems_first(plain(answer))
    if cursor is None and _size(facts) <= limit:
        return Page(facts, _text(facts))
    if facts.pop(VIEW, None) is not None:
        # Each page carries a view of its own, which is as large as its text.
        limit = limit // 2
    head = _shortened(_without_lists(facts), limit // 3)
    parts = list(_parts(facts, max(_MARKS, (limit - _size(head) - _MARKS) // 2), binds))
    seal = f"{_hash(asked)}{_hash(json.dumps([[part.path, part.member] for part in parts], ensure_ascii=False))}"
    start = _start(cursor, seal, len(parts)) if cursor is not None else 0
    return _filled(head, parts, start, limit=limit, seal=seal if has_more else None)


def _problems_first(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts with the files that cannot be read before all else: each may hold what binds."""
    return {"problems": facts["problems"]} | facts if facts.get("problems") else facts


def _filled(head: dict[str, Any], parts: Sequence[AnswerPart], start: int, *, limit: int, seal: str | None) -> Page:
    """Return the page from a part on with as many as fit, but at least one."""
    room, end = limit - _size(head) - _MARKS, start
    while end < len(parts) and (end == start or room >= _size_of_part(parts[end])):
        room -= _size_of_part(parts[end])
        end += 1
    page = _page(head, parts, start, end, seal)
    while _size(page) > limit and end > start + 1:
        end -= 1
        page = _page(head, parts, start, end, seal)
    return Page(page, _text(page))


def _text(facts: Mapping[str, Any]) -> str:
    """Return the facts as text; the view that a contract asks for says nothing that they do not say."""
    return as_text({name: value for name, value in facts.items() if name != VIEW})


def _page(head: dict[str, Any], parts: Sequence[AnswerPart], start: int, end: int, seal: str | None) -> dict[str, Any]:
    marks: dict[str, Any] = {}
    if end < len(parts):
        marks = {"truncated": True} | ({"cursor": f"{end}-{seal}"} if seal is not None else {})
        binding = sum(part.binds for part in parts[end:])
        marks |= {"invariants_remaining": binding} if any(part.binds for part in parts) else {}
        marks |= {"remaining": len(parts) - end}
    page: dict[str, Any] = json.loads(json.dumps(head))
    for part in parts[start:end]:
        _list_at(page, part.path).append(part.member)
    here = {part.path for part in parts[start:end]}
    elsewhere = dict.fromkeys(".".join(part.path) for part in parts if part.path not in here)
    marks |= {"on_other_pages": list(elsewhere)} if elsewhere else {}
    return marks | page


def _start(cursor: str, seal: str, count: int) -> int:
    number, _, sealed = cursor.strip().partition("-")
    if sealed != seal or not (number.isascii() and number.isdigit() and len(number) < 10):
        raise UsageError(_STALE)
    if int(number) >= count:
        raise UsageError(_STALE)
    return int(number)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _size(facts: Any) -> int:
    """Return the bytes of the larger of the two forms."""
    return max(_bytes(facts), len(as_text(facts).encode()) if isinstance(facts, dict) else 0)


def _bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def _size_of_part(part: AnswerPart) -> int:
    return _size({part.path[-1]: [part.member]})


def _without_lists(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts with every list empty, those in lists aside."""
    head: dict[str, Any] = {}
    for name, value in facts.items():
        if isinstance(value, dict):
            head[name] = _without_lists(value)
        else:
            head[name] = [] if isinstance(value, list) else value
    return head


def _shortened(head: dict[str, Any], room: int) -> dict[str, Any]:
    """Return the facts with their longest texts cut where they would fill a page by themselves."""
    longest = room
    while _size(head) > room and longest > _SHORTEST:
        longest //= 2
        head = _cut(head, longest)
    return head


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, dict):
        return {name: _cut(inner, longest) for name, inner in value.items()}
    return f"{value[:longest]}…" if isinstance(value, str) and len(value) > longest + 1 else value


def _parts(facts: Mapping[str, Any], room: int, binds: Callable[[Any], bool] | None) -> Iterator[AnswerPart]:
    """Yield the members of all lists: files that cannot be read, what binds, contradictions, the rest in its order."""
    found = [
        AnswerPart(path, piece, binds is not None and binds(member))
        for path, member in _members(facts, ())
        for piece in _pieces(member, room)
    ]
    if binds is None:
        yield from found
        return
    yield from sorted(found, key=lambda part: (part.path not in _FIRST, not part.binds, part.path not in _SECOND))


def _members(facts: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _members(value, (*path, name))
        elif isinstance(value, list):
            yield from (((*path, name), member) for member in value)


def _list_at(page: dict[str, Any], path: tuple[str, ...]) -> list[Any]:
    place: Any = page
    for name in path:
        place = place[name]
    found: list[Any] = place
    return found


def _pieces(member: Any, room: int) -> list[Any]:
    """Return a member whole, or in pieces that fit, each saying which of how many it is."""
    pieces = _halved(member, room)
    if len(pieces) == 1:
        return pieces
    of = len(pieces)
    return [
        {"part": f"{number} of {of}"} | piece if isinstance(piece, dict) else piece
        for number, piece in enumerate(pieces, 1)
    ]


def _halved(member: Any, room: int) -> list[Any]:
    if _size({"part": "10 of 10", "all": [member]}) <= room:
        return [member]
    halves = _halves(member)
    return [piece for half in halves for piece in _halved(half, room)] if halves else [member]


def _halves(value: Any) -> tuple[Any, Any] | None:
    """Return a value in two, cut where it is longest; None for one that cannot be cut."""
    if isinstance(value, str):
        middle = value.rfind("\n", len(value) // 4, len(value) * 3 // 4) + 1 or len(value) // 2
        return (value[:middle], value[middle:]) if len(value) > 1 else None
    if isinstance(value, list):
        if len(value) > 1:
            return value[: len(value) // 2], value[len(value) // 2 :]
        inner = _halves(value[0]) if value else None
        return ([inner[0]], [inner[1]]) if inner else None
    return _halves_of_mapping(value) if isinstance(value, dict) and value else None


def _halves_of_mapping(value: dict[str, Any]) -> tuple[Any, Any] | None:
    names: dict[str, Any] = {}
    for name in _NAMES:
        if name in value and _bytes({**names, name: value[name]}) <= _MARKS:
            names[name] = value[name]
    rest = {name: inner for name, inner in value.items() if name not in names}
    if not rest:
        return None
    longest = max(rest, key=lambda name: _bytes(rest[name]))
    halves = _halves(rest[longest])
    if halves is not None and 2 * _bytes(rest[longest]) >= _bytes(rest):
        return {**value, longest: halves[0]}, {**names, longest: halves[1]}
    if len(rest) == 1:
        return ({**value, longest: halves[0]}, {**names, longest: halves[1]}) if halves else None
    first = list(rest)[: len(rest) // 2]
    one = {name: inner for name, inner in value.items() if name in names or name in first}
    return one, names | {name: inner for name, inner in rest.items() if name not in first}
