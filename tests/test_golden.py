"""The case files: what stands for what, and that a case which claims nothing, or cannot be read, is refused."""

from pathlib import Path

import golden
import pytest


def cases_of(tmp_path: Path, text: str) -> list[golden.GoldenCase]:
    (tmp_path / "file.txt").write_text(text, encoding="utf-8")
    return golden.read_cases(tmp_path / "file.txt")


def test_case_says_what_goes_in_what_is_done_and_what_comes_out(tmp_path: Path) -> None:
    (case,) = cases_of(
        tmp_path, "# a remark\n\n=== a\n> do it\n|x<CR>\n-a <SP>\n+<U+2028><byte FF><no newline>\n! so\n"
    )
    assert case == golden.GoldenCase("file.txt:3", "a", "do it", "x\r\na  \n", "x\r\n\u2028\udcff", ("so",))
    assert golden.bytes_of(case.after) == "x\r\n\u2028".encode() + b"\xff"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("===\n|a\n", r"file\.txt:1: the case expects nothing"),
        ("===\n-a\n+a\n", r"file\.txt:1: the case expects nothing"),
        ("===\n|a\n! \n", r"file\.txt:3: a line ends with a blank"),
        ("===\n|a\n? b\n", r"file\.txt:3: a line of a case starts with"),
        ("===\n|a \n! b\n", r"file\.txt:2: a line ends with a blank"),
        ("=== a\n|a\n! b\n=== a\n|b\n! b\n", r"file\.txt:1, file\.txt:4: two cases have one name"),
        ("|a\n! b\n", "does not start with `===`"),
        ("# nothing\n", "does not start with `===`"),
    ],
)
def test_case_is_refused_when_it_claims_nothing_or_cannot_be_read(tmp_path: Path, text: str, refusal: str) -> None:
    with pytest.raises(ValueError, match=refusal):
        cases_of(tmp_path, text)


@pytest.mark.parametrize("row", ["a =>", "=>", "a"])
def test_row_is_refused_when_it_expects_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    monkeypatch.setattr(golden, "DATA", tmp_path)
    (tmp_path / "file.txt").write_text(f"a  => b<LF>\n => c\n{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"file\.txt:3: `input => expected` was expected"):
        golden.read_rows("file.txt")
