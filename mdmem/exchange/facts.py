"""Facts at the head of a record: lines `Key: value`, bold or in a list or a quote, and rows of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from mdmem.exchange.markers import with_whole_labels, without_comments
from mdmem.exchange.moments import WrittenDate, read_date
from mdmem.exchange.relations import kind_of_key
from mdmem.exchange.status import is_status_word, read_status

_STATUS = frozenset(
    {"status", "state", "decision status", "adr status", "current status", "record status", "document status"}
)
# The most telling first: a record is of the day on which it was decided.
_DATES = (
    *("date", "adr date", "decision date", "date of decision", "date decided", "decided on", "decided"),
    *("date accepted", "accepted on", "accepted", "date approved", "approved on", "approved", "adopted"),
    *("creation date", "date created", "created on", "created", "date proposed", "proposed on", "proposed"),
)
_OTHERS = frozenset(
    {"decider", "deciders", "decision maker", "decision makers", "author", "authors", "owner", "owners"}
    | {"tags", "categories", "consulted", "informed"}
)
_WORDS = r"[A-Za-z][A-Za-z _/-]{2,30}?"
_LINE = re.compile(
    rf"^[ \t]*(?P<quote>(?:>[ \t]?)*)(?:[-*+][ \t]+)?"
    rf"(?:[*_]{{0,3}}(?P<key>{_WORDS})[*_]{{0,3}}[ \t]*:[*_]{{0,3}}|[*_]{{2}}(?P<bold>[A-Za-z ]{{4,20}})[*_]{{2}}[ \t])"
    r"[ \t]*(?P<value>[^\n]*?)[ \t]*\\?\r?$\n?",
    re.MULTILINE,
)
# Several in one line: `**Status:** Accepted | **Date:** 2024-02-01`.
_BREAK = re.compile(
    rf"\s*(?:[|;,\xb7\u2022]|<br\s*/?>|&nbsp;)+\s*(?=[*_]{{0,3}}{_WORDS}[*_]{{0,3}}[ \t]*:)|\s*<br\s*/?>\s*\Z",
    re.IGNORECASE,
)
_FURTHER = re.compile(r"(?:[ \t]*\r?\n)?(?:[ \t]+\S[^\n]*(?:\n|\Z))+|(?:[ \t]*\r?\n)?[A-Z][A-Za-z ]{3,40}(?:\r?\n|\Z)")
_ROW = re.compile(r"^[ \t>]*[^|\n]*\|.*$", re.MULTILINE)
# Facts stand in code only as YAML.
_CODE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})(?![ \t]*ya?ml\b).*?(?:^[ \t]*(?P=fence)|\Z)", re.MULTILINE | re.DOTALL
)
_VISIBLE = re.compile(r"[^\n]")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*\Z")


class Fact(Struct, frozen=True):
    """A key and its value, with its place in the body; `is_line` says that the line has nothing else."""

    key: str
    value: str
    start: int
    end: int
    is_line: bool = True

    @property
    def is_status(self) -> bool:
        """Say whether it states how the record stands, or what it supersedes."""
        return self.key in _STATUS or kind_of_key(self.key) is not None

    @property
    def is_day_of_state(self) -> bool:
        """Say whether it is the day on which a record came to a state: `Rejected: 2024-02-01`."""
        return is_status_word(self.key) and read_date(self.value) is not None

    @property
    def is_plain(self) -> bool:
        """Say whether a field has a place for it as it is."""
        return self.key in _OTHERS

    @property
    def statement(self) -> str:
        """Return what it says as a sentence on the status."""
        return self.value if self.key in _STATUS else f"{self.key}: {self.value}"


def facts_in(text: str, offset: int) -> Iterator[Fact]:
    """Yield the facts of a part of a body that begins at an offset, in the order of their keys' places."""
    plain = _CODE.sub(lambda code: _VISIBLE.sub(" ", code[0]), with_whole_labels(without_comments(text)))
    for found in _LINE.finditer(plain):
        parts = map(_fact, _BREAK.split(f"{found['key'] or found['bold']}: {found['value']}"))
        facts = [one for one in parts if one is not None]
        start, end = offset + found.start(), offset + found.end()
        is_line = len(facts) == 1 and not found["quote"]
        for key, value in facts:
            further = _FURTHER.match(plain, found.end()) if not value and key in _STATUS else None
            if further is not None:
                yield Fact(key, further[0].strip(), start, offset + further.end(), is_line=False)
            else:
                yield Fact(key, value, start, end, is_line)
    for rows in _tables(plain):
        start, end = offset + rows[0].start(), offset + rows[-1].end()
        cells = [_cells(row[0]) for row in rows if not _RULE.match(row[0])]
        yield from (Fact(key, value, start, end, is_line=False) for key, value in _of_table(cells))


def _fact(part: str) -> tuple[str, str] | None:
    key, _, value = part.partition(":")
    name, value = _name(key), re.sub(r"^[*_]{1,3}\s+", "", value.strip())
    return (name, value) if _is_known(name) or (is_status_word(name) and read_date(value) is not None) else None


def _name(key: str) -> str:
    return " ".join(re.sub(r"[\s*_`-]+", " ", key).lower().split())


def _is_known(name: str) -> bool:
    return name in _STATUS or name in _DATES or name in _OTHERS or kind_of_key(name) is not None


def _tables(plain: str) -> Iterator[list[re.Match[str]]]:
    """Yield the rows of each table: lines that begin with a bar, or that a row of dashes is among."""
    blocks: list[list[re.Match[str]]] = []
    for row in _ROW.finditer(plain):
        if not blocks or row.start() != blocks[-1][-1].end() + 1:
            blocks.append([])
        blocks[-1].append(row)
    for rows in blocks:
        if all(row[0].lstrip("> \t").startswith("|") for row in rows) or any(_RULE.match(row[0]) for row in rows):
            yield rows


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().lstrip("> \t").strip("|"))]


def _of_table(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield keys and values of a table: of its columns where the first row has their names, else of each row."""
    names = [_name(cell) for cell in rows[0]] if rows else []
    status = next((at for at, name in enumerate(names) if name in _STATUS), None)
    is_pair = len(names) == 2 and status == 0 and read_status(rows[0][1]).status is not None
    if status is None or is_pair or len(rows) < 2:
        for row in rows:
            name = _name(row[0]).rstrip(":")
            if len(row) > 1 and (_is_known(name) or is_status_word(name)):
                yield name, row[1]
        return
    day = next((at for at, name in enumerate(names) if name in _DATES), None)
    for row in rows[1:]:
        if len(row) == len(names):
            date = row[day] if day is not None and read_date(row[day]) is not None else ""
            yield "status", f"{row[status]} {date}"
            yield from ((name, cell) for name, cell in zip(names, row, strict=True) if cell and name not in _STATUS)


def date_of(pairs: Sequence[tuple[str, str]]) -> WrittenDate | None:
    """Return the date of a record: of those that can be read the most telling, of two of a kind the first."""
    dates = {key: read for key, value in reversed(pairs) if key in _DATES and (read := read_date(value)) is not None}
    return next((dates[key] for key in _DATES if key in dates), None)
