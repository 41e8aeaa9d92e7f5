"""What a user typed comes back in an error short, and with what does not show written out."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, make_repository, make_root, write_entry

from mdmem.errors import shown_message

LONG = "a" * 100_000
ASKED = [
    ["list", "--at", LONG],
    ["list", f"--at={LONG}"],
    ["list", "--wing", LONG],
    ["list", "--type", LONG],
    ["show", LONG],
    ["show", f"{'x ' * 50_000}y"],
    ["why", f"w/r/{LONG}"],
    ["diff", LONG],
    ["log", LONG],
    ["check", "--select", LONG],
    ["check", "--base", LONG],
    ["retrieve", "--budget", LONG],
    ["mv", LONG, "w/r/b"],
    ["save", "--retry", LONG],
    ["save", LONG],
    ["mcp", "--http", LONG],
    [f"--{LONG}"],
    [LONG],
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_root(make_repository(tmp_path_factory.mktemp("asked")) / "memory")
    write_entry(made, "w/r/a", "It holds.\n\nRationale: yes.\n")
    return made


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: " ".join(asked)[:20])
def test_long_argument_is_cut_in_the_error(root: Path, run: Run, asked: list[str]) -> None:
    done = run(*asked, cwd=root)
    assert done.code != 0
    # A check says it among its findings.
    said = done.err + done.out
    assert 10 < len(said) < 2_000, said[:300]
    assert "…" in said


def test_what_does_not_show_is_written(root: Path, run: Run) -> None:
    done = run("show", "a\x1b]0;owned\x07\u202eb", cwd=root)
    assert "\x1b" not in done.err
    assert "a<U+001B>]0;owned<U+0007><U+202E>b" in done.err


def test_lines_of_a_word_make_no_lines_of_the_message() -> None:
    assert shown_message("`a\nb` is not there", ["a\nb"]) == "`a<U+000A>b` is not there"
