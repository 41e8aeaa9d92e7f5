"""Compare recorded answers; `python -m frozen compare`, in `tests`, shows the differences."""

import shlex
from pathlib import Path

import pytest

from .__main__ import answers_of, compare
from .program import THIS_PROGRAM
from .recordings import passes_now, read_recordings
from .roots import available, unpack_inputs

# Questions whose answers no other index or order of words may change.
SAMPLE = """\
list tidewatch
list --type invariant --all-wings
show myapp/contracts/money-in-minor-units
show architecture/single-executor --format json
show no/such/entry
log react/debugging/dates-hydrate-differently
why lifecore_ros2/architecture/single-executor
why myapp/contracts/money-in-minor-units --at 2026-11-05 --format json
brief src/navigation/node.py
brief docs/nothing.md
retrieve --wing tidewatch
retrieve --path src/navigation/node.py
retrieve --wing react
retrieve --wing nowhere
check --select supersession-one-sided
"""


def test_questions_without_words_are_answered_as_recorded(tmp_path: Path) -> None:
    unpack_inputs(tmp_path)
    now = answers_of("example", THIS_PROGRAM, tmp_path, [shlex.split(line) for line in SAMPLE.splitlines()])
    recorded = read_recordings("example")
    assert now == {question: recorded[question] for question in now}


def test_refused_commit_that_passes_is_named() -> None:
    before = {"one": "exit 1\n| code a.md", "two": "exit 3", "three": "exit 0"}
    assert passes_now(before, {"one": "exit 0", "two": "exit 1", "three": "exit 0", "new": "exit 0"}) == ["one"]


@pytest.mark.long
@pytest.mark.skipif("peps" not in available(), reason="the corpora are not here")
def test_every_answer_and_every_verdict_is_as_recorded() -> None:
    assert compare(["cases", "merges", *available()], THIS_PROGRAM) == 0
