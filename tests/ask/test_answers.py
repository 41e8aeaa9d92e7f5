"""Test several questions in one call: a short answer for each, and no passage twice without need."""

import json
import re
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest
from builders import Run, commit_all, memory, write, write_entry

RULE, CHOICE, LIMIT = "nav/rules/callbacks", "nav/architecture/threads", "nav/architecture/speed"
ASKED = ("--ask", "which threads has navigation?", "--ask", "which speed?")


def put(folder: Path, address: str, body: str, **fields: object) -> None:
    """Write and commit one entry."""
    write_entry(folder / "memory", address, body, **fields)
    commit_all(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = memory(tmp_path)
    put(folder, LIMIT, "The speed is 1.2 m/s at most.\n", title="A speed limit")
    return folder


def test_each_question_has_its_answer_and_invariants_come_once(folder: Path, run: Run) -> None:
    first, second = run("retrieve", *ASKED).out.split("\n\n2. ")
    rule = f"[invariant] {RULE}: Callbacks do not block\n  A callback must not block its executor.\n"
    assert first.startswith(f"1. which threads has navigation?\n{rule}")
    assert f"[decision] {CHOICE}: Use two threads\n  Navigation uses two threads." in first
    assert f"[decision] {LIMIT}: A speed limit\n  The speed is 1.2 m/s" in second
    assert RULE not in second


def test_twelve_questions_find_what_each_finds_alone(folder: Path, run: Run) -> None:
    for number in range(12):
        text = f"Belt {number} carries parcels of colour c{number}.\n\n" + "It is long. " * 99
        put(folder, f"nav/belts/b{number}", text, title=f"Colour c{number} on a belt")
    asked = [one for number in range(12) for one in ("--ask", f"which belt carries parcels of colour c{number}?")]
    answers = json.loads(run("retrieve", *asked, "--format", "json").out)["answers"]
    for number, answer in enumerate(answers):
        best = next(one for one in answer["items"] if one["type"] == "decision")
        assert (best["address"], best["form"]) == (f"nav/belts/b{number}", "summary")


def test_best_match_has_text_however_much_mentions_it(folder: Path, run: Run) -> None:
    long = "\n\n".join(f"Belt number {number} carries parcels. " + "It is long. " * 9 for number in range(9))
    write_entry(folder / "memory", "nav/belts/adr-0007-belts", long, title="Belts carry parcels")
    for number in range(8, 14):
        said = f"This amends ADR-0007 in its part {number}, " + "and so on, " * 18 + "as it must."
        put(folder, f"nav/belts/adr-{number:04}-other", f"Other.\n\n{said}\n", title=f"Part {number}")
    asked = ("--ask", "which belt number carries parcels?", "--ask", "which threads?")
    answers = json.loads(run("retrieve", *asked, "--format", "json").out)["answers"]
    best = next(one for one in answers[0]["items"] if one["address"].endswith("adr-0007-belts"))
    assert (best["form"], "Belt number" in best["content"]) == ("summary", True)


def test_work_at_hand_comes_first_and_its_entries_are_already_shown(folder: Path, run: Run) -> None:
    out = run("retrieve", "a second thread", "--path", "src/a.py", *ASKED[:2]).out
    last = out.split("\n\n1. which threads has navigation?\n")[1]
    assert last.startswith("Already shown: nav/architecture/threads")
    assert "\n\nOmitted from each" in last or "\n\nSource: the index" in last


def test_files_at_hand_decide_which_invariants_apply_to_every_question(folder: Path, run: Run) -> None:
    rule = "nav/rules/dialogs"
    put(folder, rule, "Dialogs must trap focus.\n", type="invariant", applies_to=["src/ui/**"])
    run("retrieve", "--session", "one", "--path", "src/a.py")
    assert rule not in run("retrieve", "--session", "one", *ASKED[2:]).out
    assert rule in run("retrieve", "--path", "src/ui/a.py", *ASKED[2:]).out


def test_all_rules_for_a_file_are_said_to_be_all_unless_something_may_hide_one(folder: Path, run: Run) -> None:
    asked = ("retrieve", "threads speed", "--path", "src/a.py")
    assert "No rule's `applies_to` matches this file." in run(*asked).out
    for narrow in (("--type", "decision"), ("--room", "rules")):
        assert "matches this file" not in run(*asked, *narrow).out
    put(folder, "nav/architecture/speed", "Speed.\n", title="Speed", status="draft", applies_to=["src/**"])
    assert "No other rule's `applies_to` matches this file." in run(*asked).out
    put(folder, "nav/architecture/lamps", "Lamps. " * 99, title="Lamps" * 99, applies_to=["src/**"])
    out = run(*asked, "--budget", "120").out
    assert ("1 decision (over the budget)" in out, "matches this file" in out) == (True, False)
    write(folder, "memory/nav/rules/torn.md", "no front matter\n")
    assert "matches this file" not in run(*asked).out


def test_session_shows_only_new_paragraphs_of_a_long_entry_after_its_decision(folder: Path, run: Run) -> None:
    belts = "\n\n".join(f"Belt b{number} runs at speed s{number}. " + "It is long. " * 60 for number in range(9))
    put(folder, "nav/architecture/belts", f"Belts run.\n\n{belts}\n", title="Belts")
    first, second = (run("retrieve", f"belt {belt} speed", "--session", "one").out for belt in ("b3", "b7"))
    assert ("Belts run." in first, "speed s3" in first) == (True, True)
    assert ("Belts run." in second, "speed s3" in second, "speed s7" in second) == (True, False, True)


def test_new_passage_comes_with_its_heading_and_in_a_new_call_with_the_decision(folder: Path, run: Run) -> None:
    long = "\n\n".join("Nothing else is said here. " * 30 for _ in range(4))
    job, clock, log = "A job fails if its runner is cancelled.", "The clock is off.", "A log is lost on a full disk."
    parts = ("## Context", log, long, job, long, clock, long, "## Decision", "The gate is advisory.")
    put(folder, "nav/architecture/gate", "\n\n".join(parts), title="Gate")
    asked = ("is the gate advisory", "what if the runner is cancelled", "runner cancelled, clock", "log disk, runner")
    calls = [run("retrieve", "--session", "one", "--ask", one).out for one in asked]
    out = run("retrieve", *(part for one in asked for part in ("--ask", one))).out
    first, *answers = re.split(r"\n\n\d\. ", out)
    assert ("advisory.\n" in first, out.count("advisory.\n"), first.count("excerpt)")) == (True, 1, 1)
    for call, answer, new in zip(calls[1:], answers, (job, clock, log), strict=True):
        assert call.index("The gate is advisory.") < call.index(f"… under “Context”: {new}\n")
        assert f": Gate (excerpt; shown above in part)\n  … under “Context”: {new}\n" in answer
        for text in (call, answer):
            assert [one for one in (log, job, clock) if one in text] == [new]


def test_amended_entry_shows_a_sentence_of_the_amendment(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/architecture/0003-host", "The package is hosted here.\n", title="Host")
    amending = "Amends: [ADR-0003](0003-host.md)\n\nThe package moves to a repository of its own.\n"
    put(folder, "nav/architecture/0044-move", amending, title="Move it", amends=["nav/architecture/0003-host"])
    out = run("retrieve", "hosted package").out
    assert "amended by 0044-move" in out or "amended by nav/architecture/0044-move" in out
    assert "“The package moves to a repository of its own." in out


def test_session_takes_no_title_for_a_text_that_was_shown(folder: Path, run: Run) -> None:
    put(folder, "nav/architecture/belts", "Belts run. " * 60, title="Belts", applies_to=["src/b/**"])
    asked = ("retrieve", "--path", "src/b/a.py", "--session", "one")
    small, large = (run(*asked, "--budget", budget).out for budget in ("120", "1500"))
    assert ("nav/architecture/belts" in small, "Belts run." in small, "Belts run." in large) == (True, False, True)


def put_belts(folder: Path, room: str = "belts", *, more: str = "It is long. " * 99) -> None:
    """Write five decisions about belts; the first two fit best, and nearly alike."""
    for number, times in enumerate((5, 5, 2, 2, 2)):
        text = f"Belt {number} runs. " + "The belt carries parcels. " * times + more
        put(folder, f"nav/{room}/b{number}", text, title=f"Belt {number}")


def test_second_match_has_a_short_excerpt_and_the_others_are_titles(folder: Path, run: Run) -> None:
    put_belts(folder)
    asked = ("--type", "decision", "--ask", "belt carries parcels", "--format", "json")
    (answer,) = json.loads(run("retrieve", *asked).out)["answers"]
    best, second, *others = sorted(answer["items"], key=lambda one: -one["score"])
    assert ("Belt" in best["content"], "Belt" in second["content"]) == (True, True)
    assert (len(second["content"]) <= 400, {one["form"] for one in others}) == (True, {"line"})


def test_title_far_below_the_best_is_counted_in_a_short_answer(folder: Path, run: Run) -> None:
    put_belts(folder)
    write_entry(folder / "memory", "nav/belts/gauge", "The gauge shows the voltage of each belt.\n", title="Gauge")
    put(folder, "nav/belts/idea", "A belt has a voltage.\n", title="Idea", status="draft")
    asked = ("--type", "decision", "--ask", "gauge voltage belt", "--format", "json")
    (answer,) = json.loads(run("retrieve", *asked).out)["answers"]
    assert [one["address"] for one in (*answer["items"], *answer.get("proposed", ()))] == ["nav/belts/gauge"]
    assert sum(one["count"] for one in answer["omitted_counts"]) + len(answer["omitted"]) >= 5


def test_entries_already_shown_take_the_place_of_no_new_one(folder: Path, run: Run) -> None:
    put_belts(folder, more="")
    asked = ("--type", "decision", "--session", "one", "--ask", "belt carries parcels", "--format", "json")
    texts: list[str] = []
    for _ in range(2):
        (answer,) = json.loads(run("retrieve", *asked).out)["answers"]
        texts += [one["address"] for one in answer["items"] if one["content"]]
    given = [one["address"] for one in answer["items"] if one["form"] == "given"]
    assert (len(texts), len(set(texts)), set(given)) == (4, 4, set(texts[:2]))


def test_json_and_markdown_have_one_answer_a_question(folder: Path, run: Run) -> None:
    stated = json.loads(run("retrieve", *ASKED, "--format", "json").out)
    assert [one["query"] for one in stated["answers"]] == list(ASKED[1::2])
    out = run("retrieve", *ASKED, "--format", "markdown").out
    headings = [line for line in out.splitlines() if line.startswith("## ")]
    assert headings == ["## 1. which threads has navigation?", "## 2. which speed?"]


@pytest.mark.parametrize("how", [(), ("--ask",)])
def test_better_match_in_a_wing_that_was_not_read_is_named(folder: Path, run: Run, how: tuple[str, ...]) -> None:
    write_entry(folder / "memory", "arm/rules/grip", "The claw grips gently.\n", title="Grip")
    write_entry(folder / "memory", LIMIT, "Gently raise it to 1.2 m/s.\n", title="A speed limit")
    (folder / "memory/mdmem.toml").write_text('default_wing = "nav"\n')
    commit_all(folder)

    def asked(words: str, *more: str) -> str:
        return run("retrieve", *how, words, *more).out

    line = "Not read, and a better match: arm/rules/grip: Grip (--wing arm)\n"
    answer = asked("how gently does the claw grip?")
    # The name of a folder must not become part of a command.
    put(folder, "x;id/rules/claw", "The claw grips gently, very gently.\n", title="Claw grips")
    assert "Claw grips (--wing 'x;id')" in asked("how gently does the claw grip?")
    # Another wing never shortens an invariant.
    assert (line in answer, "\n  A callback" in answer) == (True, True)
    assert answer.endswith("; not read: arm (--all-wings)\n") == bool(how)
    assert line not in asked("how gently does the claw grip?", "--wing", "nav")


def test_wings_of_other_projects_that_were_not_read_are_named(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "arm/rules/grip", "Grip gently.\n", title="Grip")
    (folder / "memory/mdmem.toml").write_text('default_wing = "nav"\n')
    out = [run("retrieve", *ASKED, *more).out for more in ((), ("--wing", "nav"))]
    assert ["; not read: arm (--wing, --all-wings)\n" in one for one in out] == [True, False]


def test_help_fits_a_glance(tmp_path: Path, run: Run) -> None:
    out = run("retrieve", "--help", cwd=tmp_path).out
    assert (len(out) < 1200, "--ask QUESTION" in out, "--include-deprecated" in out) == (True, True, True)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_may_be_characters_of_their_own(folder: Path, run: Run, form: Literal["NFC", "NFD"]) -> None:
    long = "\n\n".join("Rien d'autre n'est dit ici. " * 30 for _ in range(4))
    body = normalize(form, f"Une règle.\n\n{long}\n\nLe débit mesuré près de l'échelle dépasse le seuil.\n")
    put(folder, "nav/architecture/debit", body, title="Mesures")
    answer = json.loads(run("retrieve", "débit mesuré échelle", "--format", "json").out)
    best = next(one for one in answer["items"] if one["address"] == "nav/architecture/debit")
    assert (answer["coverage"], "le débit mesuré" in best["content"].lower()) == ("full", True)


def test_best_omitted_matches_are_named_and_a_larger_budget_shows_more(folder: Path, run: Run) -> None:
    for number in range(20):
        text = f"Belts carry parcels.\n\n{'A belt is long. ' * 99}\n\n{'Words of others. ' * number * 9}\n"
        put(folder, f"nav/belts/belt-{number:02}", text, title="Carry parcels" if number else "Belts")
    usual, large = (run("retrieve", "long belt", "--budget", size).out for size in ("1500", "9000"))
    named = usual.partition("Next best: ")[2].partition(". ")[0].split(", ")
    assert (len(named), len(set(named))) == (5, 5)
    assert not any(f"{one}:" in usual for one in named)
    assert len(large) > 2 * len(usual)
