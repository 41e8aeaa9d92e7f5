"""Read cases from text files below tests/data: an input, an action, and the expected result.

    === name     starts a case; the default name is the input
    > action     the action, if the cases of a file have several
    |line        a line of the input and of the result
    -line        a line of the input only
    +line        a line of the result only
    ! sentence   an expected message; may be repeated

`read_rows` reads cases of one line: `input => expected`. In both, `#` starts a comment, and no line may end with a
blank. `<SP>`, `<TAB>`, `<CR>`, `<LF>`, `<BOM>`, `<U+2028>` (any character) and `<byte FF>` (not UTF-8) stand for
invisible characters, and `<no newline>` ends a last line without a line break.
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
    """A case, with its file and line."""

    place: str
    name: str
    action: str
    before: str
    after: str
    says: tuple[str, ...]


def bytes_of(text: str) -> bytes:
    """Return the bytes of a text of a case, also for `<byte FF>`."""
    return text.encode("utf-8", "surrogateescape")


def each_case(*files: str) -> pytest.MarkDecorator:
    """Run a test, with the argument `case`, for each case of the files below tests/data."""
    cases = [case for file in files for case in read_cases(DATA / file)]
    return pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])


def read_cases(path: Path) -> list[GoldenCase]:
    """Return the cases of a file; raises ValueError for a case that expects nothing or cannot be parsed."""
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
    """Return the rows of a file below tests/data; raises ValueError for a row that expects nothing."""
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
