"""Test what an answer shows within its budget: the slots by type and rank."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from builders import Run, make_root, write_entry

LONG = "The belt is long and runs through the hall. " * 60


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path / "memory")


def put(root: Path, kind: str, name: str, body: str, **fields: object) -> None:
    write_entry(root, f"app/belts/{name}", f"{body}\n", type=kind, title=fields.pop("title", name), **fields)


def text(run: Run, *words: str) -> str:
    return run("retrieve", "--root", "memory", *words).out


def ask(run: Run, *words: str) -> dict[str, Any]:
    return json.loads(text(run, *words, "--format", "json"))


def forms(answer: dict[str, Any]) -> dict[str, str]:
    return {one["address"].rpartition("/")[2]: one["form"] for one in answer["items"]}


def test_small_budget_keeps_invariants_and_decisions_whole_two_patterns_short_and_no_note(root: Path, run: Run) -> None:
    """The example of the policy: 2 invariants, 3 decisions, 6 patterns and 9 notes."""
    for number in range(2):
        put(root, "invariant", f"i{number}", f"A dock {number} must stay free.")
        put(root, "decision", f"d{number}", f"Dock {number} is entered backwards.", applies_to=["src/dock.py"])
    put(root, "decision", "d2", "Lamps are green.")
    for number in range(6):
        body = f"Retry docking {'docking ' * (6 - number)}with a timer.\n\n{LONG}"
        put(root, "pattern", f"p{number}", body)
    for number in range(9):
        put(root, "note", f"n{number}", f"Docking failed on day {number}.\n\n{LONG}")
    answer = ask(run, "retry docking", "--path", "src/dock.py", "--budget", "500")
    found = forms(answer)
    assert {name: form for name, form in found.items() if name[0] in "id" and name != "d2"} == {
        "i0": "full", "i1": "full", "d0": "full", "d1": "full"
    }  # fmt: skip
    patterns = [name for name, form in found.items() if form == "summary"]
    assert len(patterns) >= 2
    assert {name[0] for name in patterns} == {"p"}
    assert not [name for name in found if name[0] == "n"]


def test_note_has_text_only_where_no_matching_decision_is_a_line(root: Path, run: Run) -> None:
    for number in range(8):
        put(root, "decision", f"d{number}", f"The scanner reads labels {'twice ' * number}.\n\n{LONG}")
        put(root, "note", f"n{number}", f"The scanner reads labels, labels, labels {number}. Scanner labels.\n\n{LONG}")
    for budget in ("300", "700", "1200", "1500", "3000"):
        items = ask(run, "scanner reads labels", "--budget", budget)["items"]
        best = sorted(items, key=lambda one: -one["score"])[:10]
        has_line = any(one["form"] == "line" for one in best if one["type"] == "decision")
        has_note = any(one["form"] != "line" for one in best if one["type"] == "note")
        assert not (has_line and has_note)


def test_invariants_come_whole_whatever_the_budget_and_the_answer_says_so(root: Path, run: Run) -> None:
    put(root, "invariant", "law", f"A law must hold. {LONG}")
    put(root, "decision", "choice", "A scanner reads labels.")
    answer = ask(run, "scanner", "--budget", "0")
    assert forms(answer) == {"law": "full"}
    assert answer["over_budget"]
    assert "over the budget for invariants" in text(run, "scanner", "--budget", "0")


def test_invariant_for_some_files_is_a_line_where_no_path_is_given(root: Path, run: Run) -> None:
    put(root, "invariant", "law", "A dialog must trap focus.", applies_to=["src/ui/**"])
    put(root, "decision", "choice", "A scanner reads labels.")
    line = text(run, "scanner labels")
    assert "[invariant] app/belts/law: A dialog must trap focus.\n" in line
    assert forms(ask(run, "dialog focus"))["law"] == "full"
    assert forms(ask(run, "scanner", "--path", "src/ui/a.py"))["law"] == "full"


def test_everything_is_shown_named_or_counted_once(root: Path, run: Run) -> None:
    kinds = ("decision", "pattern", "note")
    for number in range(60):
        put(root, kinds[number % 3], f"e{number:02}", f"Scanner {number}. " + "labels " * number + LONG[: number * 40])
    for words in (("scanner labels",), ()):
        answer = ask(run, *words)
        counted = sum(one["count"] for one in answer["omitted_counts"])
        names = Counter([*forms(answer), *(one["address"].rpartition("/")[2] for one in answer["omitted"])])
        assert max(names.values()) == 1
        assert len(names) + counted == 60
        assert len(text(run, *words).encode()) < 1500 * 4 + 400


def test_weak_match_is_a_title_and_few_decisions_are_all_named(root: Path, run: Run) -> None:
    put(root, "decision", "scanner", "The scanner reads labels with a laser, and the laser is red.")
    put(root, "decision", "lamp", f"Lamps are green. A label says so. {LONG}")
    put(root, "decision", "other", "Doors close.")
    found = forms(ask(run, "scanner laser red labels"))
    assert found == {"scanner": "full", "lamp": "line", "other": "line"}
    out = text(run, "scanner laser red labels")
    assert "app/belts/other (no match; one of few decisions)" in out


def test_what_replaced_the_best_match_has_text_and_the_reason(root: Path, run: Run) -> None:
    ended = {"status": "deprecated", "deprecated_at": "2026-02-01", "superseded_by": "app/belts/new"}
    put(root, "decision", "old", "Jobs run in Celery.", **ended)
    put(root, "decision", "new", "A relay publishes.", supersedes="app/belts/old", reason="jobs were lost")
    (shown,) = ask(run, "celery")["items"]
    assert (shown["content"], shown["reason"]) == ("A relay publishes.", "replaces app/belts/old, which matched")
    assert "  replaces app/belts/old: “jobs were lost”\n" in text(run, "celery")


def test_answer_is_shorter_where_no_rule_covers_the_question(root: Path, run: Run) -> None:
    for number in range(5):
        put(root, "note", f"n{number}", f"The scanner reads labels {number}.\n\n{'Labels of the scanner fade. ' * 90}")
    answer = ask(run, "scanner labels fade")
    assert (answer["coverage"], answer["tokens"] < 700) == ("none", True)
    put(root, "decision", "d", "The labels of a scanner fade.")
    assert ask(run, "scanner labels fade")["tokens"] > 700


def test_items_are_in_the_order_of_authority(root: Path, run: Run) -> None:
    for kind, times in (("note", 9), ("pattern", 6), ("decision", 3), ("invariant", 1)):
        put(root, kind, kind, "scanner labels " * times)
    assert list(forms(ask(run, "scanner labels"))) == ["invariant", "decision", "pattern", "note"]


OPTIONS = "## Context\n\nBelts wear.\n\n### Option 1: Rent\n\nDear.\n\n### Option 2: Buy belts\n\nCheap.\n"


@pytest.mark.parametrize(
    ("body", "start"),
    [
        ("## Context\n\nBelts were slow.\n\n## Decision\n\nWe run belts at 2 m/s.", "We run belts at 2 m/s."),
        ("## Considered options\n\nRun belts at 9 m/s.\n\n## Outcome\n\nBelts run slowly.", "Belts run slowly."),
        ("**Status**: accepted\n\n> A banner.\n\nBelts stop at night.", "Belts stop at night."),
        ("| a | b |\n| - | - |\n| 1 | 2 |\n\nBelts are blue.", "Belts are blue."),
        # The option that was chosen by its number is quoted, unless the decision itself explains it.
        (
            f"{OPTIONS}\n## Decision\n\nWe take option 2.",
            "We take option 2.\n\nOption 2: Buy belts\n\n… under “Details",
        ),
        (
            "## Context\n\n1. Rent.\n2. Buy [belts](x.md) of the best rubber.\n\n## Decision\n\nWe take solution (2).",
            "We take solution (2).\n\nSolution 2: Buy belts of the best rubber.\n\n…",
        ),
        (f"{OPTIONS}\n## Decision\n\nWe take option 2 (to buy).", "We take option 2 (to buy).\n\n…"),
    ],
)
def test_excerpt_begins_with_the_decision(root: Path, run: Run, body: str, start: str) -> None:
    put(root, "decision", "belts", f"{body}\n\n## Details\n\n{LONG}", title="Belts")
    (item,) = ask(run, "belts")["items"]
    assert item["form"] == "summary"
    assert item["content"].startswith(start)
    assert item["content"].endswith((".", "…"))


def test_excerpt_goes_on_with_the_best_passage_and_marks_an_option(root: Path, run: Run) -> None:
    details = (
        "## Decision\n\nWe buy belts.\n\n## Details\n\n" + LONG + "\n\nThe gauge shows the voltage of each belt.\n"
    )
    put(root, "decision", "belts", f"{details}\n## Alternatives\n\nA turbine was too loud.", title="Belts")
    (item,) = ask(run, "gauge voltage of belts")["items"]
    assert item["content"].startswith("We buy belts.\n\n… ")
    assert "The gauge shows the voltage of each belt." in item["content"]
    (item,) = ask(run, "turbine")["items"]
    assert "… under “Alternatives”: A turbine was too loud." in item["content"]


def test_excerpt_ends_with_no_label_of_what_it_leaves_out(root: Path, run: Run) -> None:
    details = f"{LONG}\n\nThe gauge shows the voltage.\n\n**Risks.**\n\n{LONG}"
    put(root, "decision", "belts", f"## Decision\n\nWe buy belts.\n\n## Details\n\n{details}", title="Belts")
    (item,) = ask(run, "gauge voltage of belts")["items"]
    assert ("The gauge shows the voltage." in item["content"], "Risks" in item["content"]) == (True, False)


@pytest.mark.parametrize("mark", ["**May 2026 Update**", "UPDATE 2026-05-02:", "*Update:*", "> **Update (June 2026)**"])
def test_excerpt_has_the_last_update_of_the_record(root: Path, run: Run, mark: str) -> None:
    status = (
        f"## Status\n\nAccepted\n\n**2025 Update** We bought [more](x.md) of it.\n\n{mark} We move to [chains](x.md).\n"
    )
    put(root, "decision", "belts", f"{status}\n## Decision\n\nWe buy belts.\n\n## Details\n\n{LONG}", title="Belts")
    (item,) = ask(run, "belts")["items"]
    assert item["content"].startswith(f"We buy belts.\n\n{mark} We move to chains.\n\n")
    assert "more" not in item["content"]


def test_pros_of_an_option_are_no_decision_whatever_the_level_of_its_heading(root: Path, run: Run) -> None:
    options = "## Pros and cons of the options\n\n### Belts\n\n- Good, because cheap.\n\n"
    options += "## No motor\n\n- Good, because the motor makes no noise.\n"
    put(root, "decision", "belts", f"## Decision\n\nWe buy a motor.\n\n{options}\n## Details\n\n{LONG}", title="Belts")
    (item,) = ask(run, "noise of the motor")["items"]
    assert item["content"].startswith("We buy a motor.\n\n… under “")
    assert "under “No motor”: - Good, because the motor makes no noise." in item["content"]


def test_entry_of_few_bytes_is_whole_in_every_slot(root: Path, run: Run) -> None:
    for number in range(6):
        put(root, "decision", f"d{number}", f"Scanner labels {number}.\n\nRationale: {'x' * 560}")
    assert set(forms(ask(run, "scanner labels")).values()) == {"full"}


def test_drafts_are_apart_and_five_at_most(root: Path, run: Run) -> None:
    put(root, "decision", "law", "The scanner reads labels.")
    for number in range(7):
        put(root, "decision", f"idea{number}", f"The scanner reads labels {number}.", status="draft")
    put(root, "decision", "other", "The lamp is red. It has labels.", status="draft")
    answer = ask(run, "scanner reads labels")
    assert (list(forms(answer)), len(answer["proposed"])) == (["law"], 5)
    why = {one["address"].rpartition("/")[2]: one["why"] for one in answer["omitted"]}
    assert why.pop("other") == "proposed, weak match"
    assert {*why.values()} == {"proposed, over the 5 drafts that are shown"}


def test_draft_that_matches_far_better_than_all_rules_has_the_space_of_the_best_match(root: Path, run: Run) -> None:
    for number in range(12):
        put(root, "decision", f"lamp{number}", f"Lamp {number} is red. {LONG}")
    body = f"## Decision\n\nThe scanner reads labels.\n\n## Details\n\n{LONG}\n\nIts laser is green at night."
    put(root, "decision", "idea", body, status="draft")
    answer = ask(run, "scanner labels laser night lamp")
    (draft,) = answer["proposed"]
    assert (answer["items"], "laser is green" in draft["content"]) == ([], True)
