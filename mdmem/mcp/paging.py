"""A structure page by page: its scalar facts, and as many members of its lists as fit.

What binds comes first, so that invariants fill the first pages. A member is split only where it fits no page at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from mdmem.dataclass import dataclass, replace
from mdmem.mcp.page import Page, bytes_of, json_line, marks_of, seal_of, start_of

# What the marks of a cut page take.
_MARKS = 200
# A scalar text is not cut below this.
_SHORTEST = 40
# A file that cannot be read may bind, and what two entries say against each other goes before what they say.
_FIRST, _SECOND = (("problems",),), (("conflicts",),)
# A member that holds such a list is the head of a group; those of the list are what is paged.
_GROUPED = "items"
# Where what binds is found: an invariant that is only proposed, left out or linked with binds nobody here.
_BINDING = ("items", "sections")
_NAMES = ("address", "id", "title", "name", "type", "path", "code", "facet")
# How an answer came about: the index may be done before the next page is asked for, and it is the same answer.
_MEANS = ("degraded", "why_degraded", "source", "usage_hint")

Facts = dict[str, Any]
Show = Callable[[Facts], Page]
"""Returns a page's facts in the forms in which they are sent."""


@dataclass(frozen=True)
class AnswerPart:
    """One member of one of an answer's lists, or a piece of it: where the list is, and which member it is."""

    path: tuple[str, ...]
    group: Facts | None
    member: Any
    of: int
    binds: bool

    @cached_property
    def size(self) -> int:
        """Return its bytes."""
        return bytes_of(json_line(self.member))


def page_of(
    facts: Facts,
    *,
    limit: int,
    show: Show,
    asked: str = "",
    cursor: str | None = None,
    binds: Callable[[Any], bool] | None = None,
    has_more: bool = True,
) -> Page:
    """Return the page that a cursor means, the first without one, of `limit` bytes at most in each of its forms.

    `facts` are JSON values; `asked` is the call without its cursor; `has_more` says whether there is a way to the next
    page. Raises UsageError for a cursor of another call or of an answer that is another one by now.
    """
    facts = _problems_first(facts)
    line = json_line(facts)
    # To show it takes longest, and no form of an answer is smaller than this.
    whole = show(facts) if cursor is None and bytes_of(line) <= limit else None
    if whole is not None and whole.size <= limit:
        return whole
    head = _shortened(_without_lists(facts), limit // 3)
    size_of_head = bytes_of(json_line(head))

    def fits(path: tuple[str, ...], group: Facts | None, member: Any) -> bool:
        size = bytes_of(json_line(member))
        # Neither form, nor a text within the structure, makes more of it than this.
        if 3 * size + 2 * size_of_head <= limit - _MARKS:
            return True
        alone = AnswerPart(path, group, member, of=0, binds=False)
        return size <= limit and show(_with_parts(head, [alone])).size <= limit - _MARKS

    parts = list(_parts(facts, fits, binds))
    told = json_line({name: value for name, value in facts.items() if name not in _MEANS})
    seal = seal_of(asked, f"{len(parts)} {told}")
    start = start_of(cursor, seal, len(parts))
    return _filled(head, parts, start, limit=limit, seal=seal if has_more else None, show=show)


def _problems_first(facts: Facts) -> Facts:
    """Return the facts with the files that cannot be read before all else: each may hold what binds."""
    return {"problems": facts["problems"]} | facts if facts.get("problems") else facts


def _filled(head: Facts, parts: Sequence[AnswerPart], start: int, *, limit: int, seal: str | None, show: Show) -> Page:
    """Return the page from a part on with as many as fit, but at least one."""
    least = most = min(start + 1, len(parts))
    room = limit - bytes_of(json_line(head)) - sum(part.size for part in parts[start:most])
    # No page holds more than what their JSON alone lets in.
    while most < len(parts) and (room := room - parts[most].size) >= 0:
        most += 1

    def shown(end: int) -> Page:
        return replace(show(_page(head, parts, start, end, seal)), is_last=end == len(parts))

    page = shown(most)
    if page.size <= limit:
        return page
    low, high = least, most - 1
    # What it is over by is mostly the marks, which the next shorter page has room for.
    middle = high
    while low < high:
        low, high = (middle, high) if shown(middle).size <= limit else (low, middle - 1)
        middle = (low + high + 1) // 2
    return shown(low)


def _page(head: Facts, parts: Sequence[AnswerPart], start: int, end: int, seal: str | None) -> Facts:
    marks: Facts = {}
    rest = parts[end:]
    if rest:
        binding = len({part.of for part in rest if part.binds}) if any(part.binds for part in parts) else None
        marks = marks_of(end, seal, remaining=len({part.of for part in rest}), invariants=binding)
    here = {part.path for part in parts[start:end]}
    elsewhere = dict.fromkeys(".".join(part.path) for part in parts if part.path not in here)
    marks |= {"on_other_pages": list(elsewhere)} if elsewhere else {}
    return marks | _with_parts(head, parts[start:end])


def _with_parts(head: Facts, parts: Sequence[AnswerPart]) -> Facts:
    """Return the facts of a page, each part in its list, those of one group together."""
    page: Facts = json.loads(json.dumps(head))
    last: AnswerPart | None = None
    for part in parts:
        members = _list_at(page, part.path)
        if part.group is None:
            members.append(part.member)
        elif last is not None and last.group is part.group:
            members[-1][_GROUPED].append(part.member)
        else:
            members.append({**part.group, _GROUPED: [part.member]})
        last = part
    return page


def _without_lists(facts: Mapping[str, Any]) -> Facts:
    """Return the facts with every list empty, those in lists aside."""
    head: Facts = {}
    for name, value in facts.items():
        if isinstance(value, dict):
            head[name] = _without_lists(value)
        else:
            head[name] = [] if isinstance(value, list) else value
    return head


def _shortened(head: Facts, room: int) -> Facts:
    """Return the facts with their longest texts cut where they would fill a page by themselves."""
    longest = room
    while bytes_of(json_line(head)) > room and longest > _SHORTEST:
        longest //= 2
        head = _cut(head, longest)
    return head


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, dict):
        return {name: _cut(inner, longest) for name, inner in value.items()}
    return f"{value[:longest]}…" if isinstance(value, str) and len(value) > longest + 1 else value


_Fits = Callable[[tuple[str, ...], Facts | None, Any], bool]


def _parts(facts: Facts, fits: _Fits, binds: Callable[[Any], bool] | None) -> Iterator[AnswerPart]:
    """Yield the members of all lists: files that cannot be read, what binds, contradictions, the rest in its order."""
    found = [
        AnswerPart(path, group, piece, number, binds is not None and path[0] in _BINDING and binds(member))
        for number, (path, group, member) in enumerate(_members(facts, ()))
        for piece in _pieces(member, partial(fits, path, group))
    ]
    if binds is None:
        yield from found
        return
    yield from sorted(found, key=lambda part: (part.path not in _FIRST, not part.binds, part.path not in _SECOND))


def _members(facts: Facts, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Facts | None, Any]]:
    """Yield each member of each list with where the list is and the head of its group."""
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _members(value, (*path, name))
        elif isinstance(value, list):
            for member in value:
                yield from (((*path, name), group, one) for group, one in _grouped(member))


def _grouped(member: Any) -> Iterator[tuple[Facts | None, Any]]:
    items = member.get(_GROUPED) if isinstance(member, dict) else None
    if not isinstance(items, list) or not items:
        yield None, member
        return
    group = {name: value for name, value in member.items() if name != _GROUPED}
    yield from ((group, one) for one in items)


def _list_at(page: Facts, path: tuple[str, ...]) -> list[Any]:
    place: Any = page
    for name in path:
        place = place[name]
    found: list[Any] = place
    return found


def _pieces(member: Any, fits: Callable[[Any], bool]) -> list[Any]:
    """Return a member whole, or in pieces that fit, each saying which of how many it is."""
    if fits(member):
        return [member]
    pieces = _halved(member, lambda piece: fits({"part": "10 of 10"} | piece if isinstance(piece, dict) else piece))
    of = len(pieces)
    return [
        {"part": f"{number} of {of}"} | piece if isinstance(piece, dict) else piece
        for number, piece in enumerate(pieces, 1)
    ]


def _halved(member: Any, fits: Callable[[Any], bool]) -> list[Any]:
    if fits(member):
        return [member]
    halves = _halves(member)
    return [piece for half in halves for piece in _halved(half, fits)] if halves else [member]


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


def _halves_of_mapping(value: Facts) -> tuple[Any, Any] | None:
    names: Facts = {}
    for name in _NAMES:
        if name in value and bytes_of(json_line({**names, name: value[name]})) <= _MARKS:
            names[name] = value[name]
    rest = {name: inner for name, inner in value.items() if name not in names}
    if not rest:
        return None
    sizes = {name: bytes_of(json_line(inner)) for name, inner in rest.items()}
    longest = max(rest, key=lambda name: sizes[name])
    halves = _halves(rest[longest])
    if halves is not None and 2 * sizes[longest] >= sum(sizes.values()):
        return {**value, longest: halves[0]}, {**names, longest: halves[1]}
    if len(rest) == 1:
        return ({**value, longest: halves[0]}, {**names, longest: halves[1]}) if halves else None
    first = list(rest)[: len(rest) // 2]
    one = {name: inner for name, inner in value.items() if name in names or name in first}
    return one, names | {name: inner for name, inner in rest.items() if name not in first}
