"""A flow list taken apart and put together again: `[a, b]`, on one line or several, with its comments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

_LINE_REST = re.compile(r"[ \t]*(?:#[^\n]*)?\r?\n")
_COMMA = re.compile(r"(?:[ \t\r\n]|#[^\n]*\n)*,")


@dataclass(slots=True)
class _Cell:
    """One item: what stands before it, its source, what stands before its comma and, to the line's end, behind it."""

    lead: str
    source: str
    gap: str = ""
    trail: str = ""


@dataclass(slots=True)
class FlowList:
    """The source of a flow list; `head` and `tail` are what stands behind and before its brackets."""

    head: str
    cells: list[_Cell]
    tail: str
    has_last_comma: bool

    def source(self) -> str:
        """Return the list as it is written."""
        parts = ["[", self.head]
        for place, cell in enumerate(self.cells, 1):
            comma = "," if place < len(self.cells) or self.has_last_comma else ""
            parts += [cell.lead, cell.source, cell.gap, comma, cell.trail]
        return "".join((*parts, self.tail, "]"))

    def remove(self, place: int) -> None:
        """Take an item out; of comments, only one that ends its line alone goes with it."""
        starts_line = self._starts_line(place)
        cell = self.cells.pop(place)
        if not starts_line and cell.trail:
            self._trail(place, cell.trail)
        elif starts_line and cell.trail:
            self._lead(place, cell.lead[: cell.lead.rfind("\n") + 1])
        elif place < len(self.cells):
            self.cells[place].lead = cell.lead
        elif starts_line:
            self._close_up(cell.lead[: cell.lead.rfind("\n") + 1])
        self.has_last_comma = self.has_last_comma and bool(self.cells)

    def insert(self, place: int, source: str, line_break: str) -> None:
        """Put an item in, on a line of its own where the others stand so."""
        if not self.cells:
            new = self._only(source, line_break)
        elif place == len(self.cells):
            new = self._last(source, line_break)
        elif self._starts_line(place):
            new = _Cell(_indent(self.cells[place].lead), source, trail=line_break)
        else:
            new = _Cell(self.cells[place].lead, source)
            if not place:
                self.cells[0].lead = " "
        self.cells.insert(place, new)

    def _starts_line(self, place: int) -> bool:
        before = self.cells[place - 1].trail if place else self.head
        return before.endswith("\n")

    def _trail(self, place: int, trail: str) -> None:
        if place:
            self.cells[place - 1].trail = trail
        else:
            self.head = trail

    def _lead(self, place: int, comments: str) -> None:
        if place < len(self.cells):
            self.cells[place].lead = comments + self.cells[place].lead
        else:
            self.tail = comments + self.tail

    def _close_up(self, comments: str) -> None:
        """Let the bracket close the line before, as it closed that of the last item, unless a comment ends it."""
        if comments or not self.cells or self.cells[-1].trail.strip():
            self.tail = comments + self.tail
        else:
            self.cells[-1].trail = ""

    def _only(self, source: str, line_break: str) -> _Cell:
        if self.head:
            return _Cell("  ", source, trail=line_break)
        self.tail = self.tail if self.tail.strip() else ""
        return _Cell("", source)

    def _last(self, source: str, line_break: str) -> _Cell:
        last, starts_line = self.cells[-1], self._starts_line(len(self.cells) - 1)
        if not last.trail and not starts_line:
            return _Cell(last.lead if len(self.cells) > 1 else " ", source)
        if last.trail and (starts_line or last.trail.strip()):
            return _Cell(_indent(last.lead) if starts_line else "  ", source, trail=line_break)
        trail, last.trail = last.trail, ""
        return _Cell(" ", source, trail=trail)


def flow_list(front: str, node: yaml.SequenceNode) -> FlowList:
    """Return the parts of a flow list."""
    start, end = node.start_mark.index + 1, node.end_mark.index - 1
    head = _line_rest(front, start, end)
    at, cells, comma = start + len(head), [], None
    for item in node.value:
        first, behind = item.start_mark.index, item.end_mark.index
        comma = _COMMA.match(front, behind, end)
        gap = front[behind : comma.end() - 1] if comma else ""
        trail = _line_rest(front, comma.end() if comma else behind, end)
        cells.append(_Cell(front[at:first], front[first:behind], gap, trail))
        at = (comma.end() if comma else behind) + len(trail)
    return FlowList(head, cells, front[at:end], has_last_comma=comma is not None)


def narrowed(old: str, new: str) -> tuple[int, int, str]:
    """Return the part of a text that differs from another: its start and end, and what takes its place."""
    limit = min(len(old), len(new))
    start = next((at for at in range(limit) if old[at] != new[at]), limit)
    same = next((at for at in range(limit - start) if old[-1 - at] != new[-1 - at]), limit - start)
    return start, len(old) - same, new[start : len(new) - same]


def joined(sources: Sequence[str]) -> str:
    """Return a new flow list of items that are written already."""
    return f"[{', '.join(sources)}]"


def _line_rest(front: str, start: int, end: int) -> str:
    found = _LINE_REST.match(front, start, end)
    return found.group() if found else ""


def _indent(lead: str) -> str:
    return lead[lead.rfind("\n") + 1 :]
