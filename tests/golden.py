"""Cases as text files below tests/data: what goes in, what is done, what comes out.

    === name     starts a case; without a name, it is called by its input
    > action     what is done, where a file has several
    |line        of the input, and of the result
    -line        of the input alone
    +line        of the result alone
    ! sentence   what is said, as often as something is

`read_rows` reads what fits in a line: `input => expected`. In both, `#` starts a remark, and no line ends with a blank:
`<SP>`, `<TAB>`, `<CR>`, `<LF>`, `<BOM>`, `<U+2028>` (any character) and `<byte FF>` (no UTF-8) stand for what cannot be
seen, and `<no newline>` ends a last line that has no line break.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
_NAMED = {"SP": " ", "TAB": "\t", "CR": "\r", "LF": "\n", "BOM": "\ufeff"}
_STANDS_FOR = re.compile(r"<(?:(SP|TAB|CR|LF|BOM)|U\+([0-9A-F]{4,6})|byte ([89A-F][0-9A-F]))>")
_NO_NEWLINE = "<no newline>"
_Line = tuple[str, str]


@dataclass(frozen=True)
class GoldenCase:
    """A case, with the place it is written at."""

    place: str
    name: str
    action: str
    before: str
    after: str
    says: tuple[str, ...]


def bytes_of(text: str) -> bytes:
    """Return what a text of a case stands for, `<byte FF>` too."""
    return text.encode("utf-8", "surrogateescape")


def each_case(*files: str) -> pytest.MarkDecorator:
    """Run a test, with the argument `case`, for each case of the files below tests/data."""
    cases = [case for file in files for case in read_cases(DATA / file)]
    return pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])


def read_cases(path: Path) -> list[GoldenCase]:
    """Return the cases of a file; one that expects nothing, or that cannot be read, is a ValueError."""
    lines = [line for line in _lines(path) if line[1]]
    starts = [at for at, (_, line) in enumerate(lines) if line == "===" or line.startswith("=== ")]
    if starts[:1] != [0]:
        raise ValueError(f"{path.name}: the first case does not start with `===`")
    cases = [_case(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    names = [case.name for case in cases]
    if twice := [case.place for case in cases if names.count(case.name) > 1]:
        raise ValueError(f"{', '.join(twice)}: two cases have one name; write `=== name`")
    return cases


def read_rows(file: str) -> list[tuple[str, str]]:
    """Return the rows of a file below tests/data; one that expects nothing is a ValueError."""
    rows = []
    for place, line in _lines(DATA / file):
        given, arrow, expected = line.partition(" => ")
        if line and not (arrow and expected):
            raise ValueError(f"{place}: `input => expected` was expected")
        rows += [(_text(given.rstrip(" ")), _text(expected.strip(" ")))] if line else []
    return rows


def _lines(path: Path) -> Iterator[_Line]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line != line.rstrip():
            raise ValueError(f"{path.name}:{number}: a line ends with a blank; write <SP>, <TAB> or <CR>")
        if not line.startswith("# ") and line != "#":
            yield f"{path.name}:{number}", line


def _case(lines: list[_Line]) -> GoldenCase:
    (place, heading), *rest = lines
    done, says = ([_text(line[2:]) for _, line in rest if line.startswith(mark)] for mark in ("> ", "! "))
    before, after = (_content(rest, gutters) for gutters in ("|-", "|+"))
    if unknown := [at for at, line in rest if line[0] not in "|-+" and line[:2] not in ("> ", "! ")]:
        raise ValueError(f"{unknown[0]}: a line of a case starts with `> `, `|`, `-`, `+` or `! `")
    if before == after and not says:
        raise ValueError(f"{place}: the case expects nothing; change the text, or write what is said: `! sentence`")
    return GoldenCase(place, heading[4:] or repr(before), " ".join(done), before, after, tuple(says))


def _content(lines: Iterable[_Line], gutters: str) -> str:
    ended = (f"{line[1:]}\n" for _, line in lines if line[0] in gutters)
    return "".join(_text(line.removesuffix(f"{_NO_NEWLINE}\n")) for line in ended)


def _text(line: str) -> str:
    def meant(found: re.Match[str]) -> str:
        name, point, byte = found.groups()
        return _NAMED[name] if name else chr(int(point, 16) if point else 0xDC00 + int(byte, 16))

    return _STANDS_FOR.sub(meant, line)
