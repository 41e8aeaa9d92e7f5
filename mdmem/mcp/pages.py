"""Answers page by page: the cursor of a page carries all that leads to the next, and nothing is kept between calls."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.errors import UsageError
from mdmem.mcp.session import Given
from mdmem.render.characters import escaped

# The one key that says in another form what the others say.
VIEW = "markdown"
_STALE = "`cursor` is of another call, or the memory changed since: call again without it"
# Bytes that the marks of a cut page take.
_MARKS = 200
# A member of a list that has such a list is the head of a group; the members of that list are paged.
_GROUPED = "items"
# Binding invariants are found here; one that is only proposed, omitted or linked is not counted.
_BINDING = ("items", "sections")
# Fields that each part of a cut member repeats.
_NAMES = ("address", "id", "title", "name", "type", "path", "code", "facet")
# The index may be complete before the next page is asked for: it is the same answer.
_MEANS = ("degraded", "why_degraded", "source", "usage_hint")

Facts = dict[str, Any]


class Page(Struct, frozen=True):
    """One page of an answer: its text, its structure where a contract fixes one, and the entries that it gave."""

    text: str
    facts: Facts | None = None
    is_last: bool = True
    is_error: bool = False
    gave: Given = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return the bytes of the larger form, since a client hands one of them to its model."""
        facts = {name: value for name, value in (self.facts or {}).items() if name != VIEW}
        return max(bytes_of(self.text), bytes_of(json_line(facts)))


class _Piece(Struct, frozen=True):
    """One member of a list of the answer or one section of its text, or a part of it; `of` numbers the members."""

    value: Any
    size: int
    of: int
    binds: bool
    path: tuple[str, ...] = ()
    group: Facts | None = None


def json_line(value: Any) -> str:
    """Return a value as JSON on one line; characters that a terminal would obey are escaped."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return line if line.isprintable() else escaped(line)


def bytes_of(text: str) -> int:
    """Return the size of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def mark_line(facts: Mapping[str, Any]) -> str:
    """Return the marks of a cut answer as one line; empty for a whole one."""
    names = ("truncated", "cursor", "invariants_remaining", "remaining")
    return "; ".join(f"{name}: {str(facts[name]).lower()}" for name in names if name in facts)


def page_of(
    facts: Facts,
    *,
    limit: int,
    show: Callable[[Facts], Page],
    asked: str = "",
    cursor: str | None = None,
    binds: Callable[[Any], bool] = lambda _: False,
    has_more: bool = True,
) -> Page:
    """Return one page of a structure: its scalars, and as many members of its lists as `limit` bytes have room for.

    `asked` is the call without its cursor. Without `has_more`, the rest is counted but cannot be asked for.
    Raises UsageError for a cursor of another call, or of an answer that has changed.
    """
    # A file that cannot be read may bind.
    facts = {"problems": facts["problems"]} | facts if facts.get("problems") else facts
    if cursor is None and bytes_of(json_line(facts)) <= limit:
        whole = show(facts)
        if whole.size <= limit:
            return whole
    longest = limit
    while bytes_of(json_line(head := _head(facts, longest))) > limit // 3 and longest > 40:
        longest //= 2
    pieces = list(_members(facts, head, limit - _MARKS, show, binds))
    rank = {"problems": 0, "conflicts": 2}
    pieces.sort(key=lambda piece: 1 if piece.binds else rank.get(".".join(piece.path), 3))

    def render(start: int, end: int, marks: Facts) -> Page:
        here = {piece.path for piece in pieces[start:end]}
        elsewhere = dict.fromkeys(".".join(piece.path) for piece in pieces if piece.path not in here)
        more = {"on_other_pages": list(elsewhere)} if elsewhere else {}
        return show(marks | more | _filled(head, pieces[start:end]))

    told = json_line({name: value for name, value in facts.items() if name not in _MEANS})
    seal = _hash(asked) + _hash(told)
    return _page(pieces, render, limit=limit, seal=seal, cursor=cursor, has_more=has_more)


def text_page_of(text: str, *, limit: int, asked: str = "", cursor: str | None = None) -> Page:
    """Return one page of a text: whole sections where they fit, else their lines, each behind its quotation mark.

    Raises UsageError for a cursor of another call, or of an answer that has changed.
    """
    if cursor is None and bytes_of(text) <= limit:
        return Page(text)
    pieces = list(_sections(text, limit - _MARKS))

    def render(start: int, end: int, marks: Facts) -> Page:
        lines = [mark_line(marks)] if marks else []
        return Page("\n\n".join([*lines, *(piece.value for piece in pieces[start:end])]))

    return _page(pieces, render, limit=limit, seal=_hash(asked) + _hash(text), cursor=cursor, has_more=True)


def _page(
    pieces: Sequence[_Piece],
    render: Callable[[int, int, Facts], Page],
    *,
    limit: int,
    seal: str,
    cursor: str | None,
    has_more: bool,
) -> Page:
    """Return the page that begins at the cursor, with as many pieces as fit, but at least one."""
    start = 0
    if cursor is not None:
        number, _, sealed = cursor.strip().partition("-")
        if sealed != seal or not re.fullmatch("[0-9]{1,9}", number) or int(number) >= len(pieces):
            raise UsageError(_STALE)
        start = int(number)
    counts_invariants = any(piece.binds for piece in pieces)

    def shown(end: int) -> Page:
        rest = pieces[end:]
        if not rest:
            return render(start, end, {})
        marks: Facts = {"truncated": True} | ({"cursor": f"{end}-{seal}"} if has_more else {})
        if counts_invariants:
            marks["invariants_remaining"] = len({piece.of for piece in rest if piece.binds})
        marks["remaining"] = len({piece.of for piece in rest})
        return replace(render(start, end, marks), is_last=False)

    # No page has room for more pieces than their sizes alone allow.
    sizes = list(accumulate(piece.size for piece in pieces[start:]))
    most = start + bisect_right(sizes, limit)
    page = shown(most)
    if page.size <= limit and most > start:
        return page
    ends = range(min(start + 1, len(pieces)), max(most, start + 1))
    return shown(ends.start + max(0, bisect_right(ends, limit, key=lambda end: shown(end).size) - 1))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def _head(value: Any, longest: int) -> Any:
    """Return a structure with empty lists and with its texts cut to a length."""
    if isinstance(value, dict):
        return {name: _head(inner, longest) for name, inner in value.items()}
    if isinstance(value, list):
        return []
    return f"{value[:longest]}…" if isinstance(value, str) and len(value) > longest + 1 else value


def _filled(head: Facts, pieces: Sequence[_Piece]) -> Facts:
    """Return a structure with pieces in their lists; those of one group are together."""
    page: Facts = json.loads(json.dumps(head))
    last: _Piece | None = None
    for piece in pieces:
        members: Any = page
        for name in piece.path:
            members = members[name]
        if piece.group is None:
            members.append(piece.value)
        elif last is not None and last.group is piece.group:
            members[-1][_GROUPED].append(piece.value)
        else:
            members.append({**piece.group, _GROUPED: [piece.value]})
        last = piece
    return page


def _members(
    facts: Facts, head: Facts, limit: int, show: Callable[[Facts], Page], binds: Callable[[Any], bool]
) -> Iterator[_Piece]:
    """Yield the members of all lists; one that is larger than a page comes in parts."""
    size_of_head = bytes_of(json_line(head))
    for number, (path, group, member) in enumerate(_listed(facts, ())):

        def fits(value: Any, path: tuple[str, ...] = path, group: Facts | None = group) -> bool:
            size = bytes_of(json_line(value))
            # Neither form, nor a text within the structure, makes more of it than this.
            if 3 * size + 2 * size_of_head <= limit:
                return True
            piece = _Piece(value, size, of=0, binds=False, path=path, group=group)
            return size <= limit and show(_filled(head, [piece])).size <= limit

        is_binding = path[0] in _BINDING and binds(member)
        for part in _parts(member, fits):
            yield _Piece(part, bytes_of(json_line(part)), number, is_binding, path, group)


def _listed(facts: Facts, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Facts | None, Any]]:
    """Yield each member of each list with the path of the list and the head of its group."""
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


def _parts(member: Any, fits: Callable[[Any], bool]) -> list[Any]:
    """Return a member whole, or cut where it is longest until each part fits; a part says its number."""
    if fits(member):
        return [member]

    def numbered(part: Any, number: object = 10, of: object = 10) -> Any:
        return {"part": f"{number} of {of}"} | part if isinstance(part, dict) else part

    def cut(value: Any) -> list[Any]:
        halves = () if fits(numbered(value)) else _halves(value)
        return [part for half in halves for part in cut(half)] or [value]

    parts = cut(member)
    return [numbered(part, number, len(parts)) for number, part in enumerate(parts, 1)]


def _halves(value: Any) -> tuple[Any, ...]:
    """Return a value in two, cut where it is longest; nothing for one that cannot be cut."""
    if isinstance(value, str) and len(value) > 1:
        late = len(value) * 3 // 4
        middle = value.rfind("\n", 0, late) + 1 or value.find("\n", late, -1) + 1 or len(value) // 2
        return value[:middle], value[middle:]
    if isinstance(value, list) and value:
        middle = len(value) // 2
        return (value[:middle], value[middle:]) if middle else tuple([half] for half in _halves(value[0]))
    if not isinstance(value, dict):
        return ()
    sizes = {name: bytes_of(json_line(inner)) for name, inner in value.items()}
    names = {name: value[name] for name in _NAMES if sizes.get(name, _MARKS) < _MARKS // 2}
    rest = sorted((name for name in value if name not in names), key=lambda name: sizes[name])
    if len(rest) > 1 and 2 * sizes[rest[-1]] < sum(sizes[name] for name in rest):
        second = rest[: len(rest) // 2]
        first = {name: inner for name, inner in value.items() if name not in second}
        return first, names | {name: value[name] for name in second}
    halves = _halves(value[rest[-1]]) if rest else ()
    return ({**value, rest[-1]: halves[0]}, {**names, rest[-1]: halves[1]}) if halves else ()


def _sections(text: str, limit: int) -> Iterator[_Piece]:
    """Yield the sections of a text: a heading with all below it, or a paragraph before the first heading.

    Every line of an entry is behind `>` or in a line of ours, so no heading and no blank line is an entry's own.
    """
    start, *rest = re.split(r"\n\n(?=#)", text)
    binds_here = True
    for number, section in enumerate([*([start] if start.startswith("#") else start.split("\n\n")), *rest]):
        # Below a heading of its own, as for entries that are only proposed, nothing binds.
        binds_here = binds_here and not section.startswith("## ")
        for part in [section] if bytes_of(section) <= limit else _section_parts(section, limit):
            yield _Piece(part, bytes_of(part) + 2, number, binds_here and section.startswith("### invariant"))


def _section_parts(section: str, limit: int) -> Iterator[str]:
    """Yield a section in parts that fit, each below the heading; a quoted line that is cut stays quoted."""
    heading, _, body = section.partition("\n") if section.startswith("#") else ("", "", section)
    room = limit - bytes_of(heading) - 40
    line = ""
    for part in _parts({"body": body}, lambda value: bytes_of(value["body"]) <= room):
        quote = "> " if line.startswith(">") else ""
        again = f"{heading} (part {part['part']})\n" if heading else ""
        yield again + quote + part["body"].rstrip("\n")
        line = (quote + part["body"]).rpartition("\n")[2]
