"""Several questions in one call: a short answer each, what they share once."""

import json
from pathlib import Path

import pytest
from builders import commit_all, memory, run_here, write, write_entry

Capture = pytest.CaptureFixture[str]
RULE, CHOICE, LIMIT = "nav/rules/callbacks", "nav/architecture/threads", "nav/architecture/speed"
ASKED = ("--ask", "which threads has navigation?", "--ask", "which speed?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = memory(tmp_path)
    write_entry(folder / "memory", LIMIT, "The speed is 1.2 m/s at most.\n", title="A speed limit")
    commit_all(folder)
    return folder


def test_each_question_has_its_answer_and_invariants_stand_once(folder: Path, capsys: Capture) -> None:
    said = run_here(capsys, "retrieve", *ASKED, cwd=folder).out
    first, second = said.split("\n\n2. ")
    assert first.startswith(
        f"1. which threads has navigation?\n[invariant] {RULE}: A callback must not block its executor.\n"
    )
    assert f"[decision] {CHOICE}: Use two threads\n  Navigation uses two threads." in first
    assert second.startswith(f"which speed?\n[decision] {LIMIT}: A speed limit\n  The speed is 1.2 m/s")
    assert RULE not in second


def test_work_at_hand_comes_first_and_what_it_gave_is_a_line(folder: Path, capsys: Capture) -> None:
    said = run_here(capsys, "retrieve", "a second thread", "--path", "src/a.py", *ASKED[:2], cwd=folder).out
    assert said.startswith("2 entries in nav")
    given = f"[decision] {CHOICE} (given before)\n"
    rest = "Each leaves out up to 1 weaker match; read from the index\n"
    assert said.endswith(f"\n\n1. which threads has navigation?\n{given}\n{rest}")


def test_decisions_for_any_file_that_share_no_word_are_named_once_and_other_words_bring_no_more(
    folder: Path, capsys: Capture
) -> None:
    root = folder / "memory"
    for name, paths in {"here": ["src/**"], "aside": ["lib/**"]}.items():
        write_entry(root, f"nav/architecture/{name}", f"Belts {name}.\n", title=name, applies_to=paths)
    write_entry(root, "nav/rooms/any", "Any belt.\n", title="any")
    commit_all(folder)
    asked = ("retrieve", "navigation", "--path", "src/a.py", "--session", "one")
    told = [run_here(capsys, *asked, cwd=folder).out.split("Left out: ")[1] for _ in range(2)]
    final = "Beside these, other words bring no more that binds on this file. "
    aside = "1 decision (applies elsewhere); 2 decisions (shares no word or path"
    assert told[0].startswith(f"{aside}: speed, any). {final}")
    assert told[1].startswith(f"{aside}). {final}")


def test_some_of_many_decisions_that_share_no_word_are_said_to_be_among_them(folder: Path, capsys: Capture) -> None:
    for number in range(8):
        write_entry(folder / "memory", f"nav/rooms/r{number}", "Any belt.\n", title="any")
    commit_all(folder)
    told = run_here(capsys, "retrieve", "navigation", "--path", "src/a.py", cwd=folder).out
    assert "9 decisions (shares no word or path: among them speed, r0, r1, r2, r3, r4, r5, r6)" in told


def test_other_words_bring_no_more_on_a_file_unless_something_may_hide_it(folder: Path, capsys: Capture) -> None:
    final = "Other words bring no more that binds on this file."
    asked = ("retrieve", "threads speed", "--path", "src/a.py")
    assert final in run_here(capsys, *asked, cwd=folder).out
    for narrow in (("--type", "decision"), ("--room", "rules")):
        assert "that binds on" not in run_here(capsys, *asked, *narrow, cwd=folder).out
    root = folder / "memory"
    write_entry(root, "shop/rules/belts", "Belts must stop.\n", type="invariant", title="Belts stop")
    assert "that binds on" not in run_here(capsys, *asked, "--all-wings", "--wing", "nav", cwd=folder).out
    write_entry(root, "nav/architecture/lamps", "Lamps.\n", title="Lamps" * 99, applies_to=["src/**"])
    commit_all(folder)
    left = "Left out: nav/architecture/lamps (over the budget). Beside these, other words"
    assert left in run_here(capsys, *asked, "--wing", "nav", "--budget", "120", cwd=folder).out
    write(folder, "memory/nav/rules/torn.md", "no front matter\n")
    assert "that binds on" not in run_here(capsys, *asked, "--wing", "nav", cwd=folder).out


def test_what_applies_to_other_files_than_those_at_hand_is_short(folder: Path, capsys: Capture) -> None:
    long = " ".join(f"Lamp {number} goes off with its neighbour." for number in range(30))
    write_entry(folder / "memory", "nav/architecture/lamps", f"{long}\n", title="Lamps in pairs", applies_to=["lib/**"])
    commit_all(folder)
    asked = ("retrieve", "--ask", "lamps in pairs")
    assert long in run_here(capsys, *asked, cwd=folder).out
    told = run_here(capsys, *asked, "--path", "src/a.py", cwd=folder).out.split("1. lamps in pairs\n")[1]
    assert told.startswith(
        "[decision] nav/architecture/lamps: Lamps in pairs (shortened; of other files)\n  Lamp 0 goes off"
    )
    assert len(told) < 600


def test_session_holds_for_the_answers_of_a_call(folder: Path, capsys: Capture) -> None:
    calls = [run_here(capsys, "retrieve", *ASKED, "--session", "one", cwd=folder).out for _ in range(2)]
    assert ["Navigation uses two threads" in said for said in calls] == [True, False]


def test_session_knows_the_work_at_hand(folder: Path, capsys: Capture) -> None:
    rule = "nav/rules/dialogs"
    write_entry(folder / "memory", rule, "Dialogs must trap focus.\n", type="invariant", applies_to=["src/ui/**"])
    commit_all(folder)
    asked = ("retrieve", "--session", "one", *ASKED[2:])
    run_here(capsys, "retrieve", "--session", "one", "--path", "src/a.py", cwd=folder)
    said = run_here(capsys, *asked, cwd=folder).out
    assert rule not in said
    assert said.endswith("; the file at hand had its own answer before\n")
    # The latest files are the work, whatever came before.
    for wing in ("nav", "shop"):
        write(folder, f"memory/{wing}/README.md", f"---\nkind: project\napplies_to: [{wing}/**]\n---\n")
    write_entry(folder / "memory", "shop/rules/belt", "The belt runs at one speed.\n", title="One speed")
    commit_all(folder)
    for path in ("nav/a.py", "shop/b.py"):
        run_here(capsys, "retrieve", "--session", "two", "--path", path, "belts", cwd=folder)
    assert "shop/rules/belt" in run_here(capsys, "retrieve", "--session", "two", *ASKED[2:], cwd=folder).out


def test_unknown_words_and_what_nothing_covers_are_said_for_each(folder: Path, capsys: Capture) -> None:
    said = run_here(capsys, "retrieve", "--ask", "zebra", "--ask", "threads", cwd=folder).out
    assert said.startswith("1. zebra\nNothing binding covers this.\nIn no entry of nav: zebra.\n")
    assert said.count("Nothing") == 1


def test_file_that_cannot_be_read_is_named_once(folder: Path, capsys: Capture) -> None:
    (folder / "memory/nav/rules/torn.md").write_text("no front matter\n")
    said = run_here(capsys, "retrieve", *ASKED, cwd=folder).out
    assert (said.count("nav/rules/torn.md"), said.index("torn.md") < said.index("1. which")) == (1, True)


def test_json_lists_the_answers(folder: Path, capsys: Capture) -> None:
    said = json.loads(run_here(capsys, "retrieve", *ASKED, "--format", "json", cwd=folder).out)
    assert [one["query"] for one in said["answers"]] == list(ASKED[1::2])
    assert [one["items"][-1]["address"] for one in said["answers"]] == [CHOICE, LIMIT]


def test_markdown_gives_each_question_a_heading(folder: Path, capsys: Capture) -> None:
    said = run_here(capsys, "retrieve", *ASKED, "--format", "markdown", cwd=folder).out
    assert [line for line in said.splitlines() if line.startswith("## ")] == [
        "## 1. which threads has navigation?",
        "## 2. which speed?",
    ]


def test_short_answer_keeps_to_its_budget_and_names_the_next_by_title(tmp_path: Path, capsys: Capture) -> None:
    root = memory(tmp_path) / "memory"
    for number in range(6):
        words = "conveyor belts stop " * (7 - number)
        write_entry(root, f"nav/architecture/b{number}", f"{words}.\n\n" + "Belts are long. " * 200, title=f"B{number}")
    said = run_here(capsys, "retrieve", "--ask", "when do conveyor belts stop?", cwd=tmp_path).out
    rule = "[invariant] nav/rules/callbacks: Callbacks do not block\n  A callback must not block its executor.\n"
    assert len(said.encode()) <= 400 * 4 + len(rule) + 120
    assert said.count("\n[decision] ") >= 3
    assert said.count("(shortened") <= 2


def test_short_answer_tells_the_best_match_of_any_type_and_names_what_holds_little(
    tmp_path: Path, capsys: Capture
) -> None:
    root = memory(tmp_path) / "memory"
    write_entry(root, "nav/log/docks", "The beacon failed, so docking was tried twice.\n", type="note", title="Twice")
    write_entry(root, "nav/architecture/lamp", "Each lamp is switched off once.\n", title="Docking lamps")
    commit_all(tmp_path)
    asked = ("--ask", "why was docking tried twice, beacon?", "--ask", "lamp voltage gauge fuse?")
    first, second = run_here(capsys, "retrieve", *asked, cwd=tmp_path).out.split("\n\n2. ")
    # A title that is far from the best is chaff.
    assert ("The beacon failed" in first, "Docking lamps" in first) == (True, False)
    assert "[decision] nav/architecture/lamp: Docking lamps (holds lamp)\n" in second


def test_title_and_contradiction_are_told_once_where_they_count(tmp_path: Path, capsys: Capture) -> None:
    root, (on, off) = memory(tmp_path) / "memory", ("nav/architecture/lamp-on", "nav/architecture/lamp-off")
    write_entry(root, on, "Each lamp stays lit, docking or not.\n", title="Lamps on", conflicts_with=[off])
    write_entry(root, off, "Each lamp is put out.\n", title="Lamps off")
    for number in range(3):
        text = f"Docking is tried with a beacon, the beacon first, part{number}.\n"
        write_entry(root, f"nav/log/d{number}", text, type="note", title=f"Docking {number}")
    commit_all(tmp_path)
    asked = (
        "--ask",
        "which docking beacon first?",
        "--ask",
        "docking with a beacon tried part1?",
        "--ask",
        "lamp lit or put out?",
    )
    said = run_here(capsys, "retrieve", *asked, cwd=tmp_path).out
    first, second, third = said.split("\n\n")[:3]
    # What a later answer tells is no title in an earlier one.
    assert [on in one for one in (first, second, third)] == [False, False, True]
    assert ["Contradictions" in one for one in (first, second, third)] == [False, False, True]
    assert [one.count("nav/log/d2") for one in (first, second)] == [1, 0]
    # Two titles that the question is about, and that contradict each other, would be asked about next: what they rule.
    (titles,) = run_here(capsys, "retrieve", "--ask", "lamps quasar nebula pulsar comet?", cwd=tmp_path).out.split(
        "\n\n"
    )[:1]
    told = [f"{on}: Each lamp stays lit", f"{off}: Each lamp is put out", "  lamp-off against lamp-on: declared"]
    assert [one in titles for one in told] == [True, True, True]


def test_help_fits_a_glance(tmp_path: Path, capsys: Capture) -> None:
    said = run_here(capsys, "retrieve", "--help", cwd=tmp_path).out
    assert (len(said) < 1200, "--ask QUESTION" in said, "--include-deprecated" in said) == (True, True, True)


def test_invariant_that_nothing_touches_is_named_once_and_given_with_the_work(folder: Path, capsys: Capture) -> None:
    def said(*asked: str) -> str:
        return run_here(capsys, "retrieve", "--session", "one", *asked, cwd=folder).out

    first, second = said(*ASKED[2:]), said(*ASKED[2:])
    assert (f"{RULE}: A callback must not block its executor.\n[decision]" in first, RULE in second) == (True, False)
    # Who names a wing asks what binds there.
    whole = "\n  A callback must not block"
    assert whole in said(*ASKED[2:], "--wing", "nav")
    assert whole in run_here(capsys, "retrieve", "--ask", "what do callbacks block?", cwd=folder).out
    assert whole in run_here(capsys, "retrieve", "which speed?", cwd=folder).out


@pytest.mark.parametrize("how", [(), ("--ask",)])
def test_nearer_entry_of_a_wing_that_was_not_read_is_named(folder: Path, capsys: Capture, how: tuple[str, ...]) -> None:
    write_entry(folder / "memory", "arm/rules/grip", "The claw grips gently.\n", title="Grip")
    write_entry(folder / "memory", LIMIT, "Gently raise it to 1.2 m/s.\n", title="A speed limit")
    (folder / "memory/mdmem.toml").write_text('default_wing = "nav"\n')
    commit_all(folder)

    def said(asked: str, *more: str) -> str:
        return run_here(capsys, "retrieve", *how, asked, *more, cwd=folder).out

    line = "Not read, and nearer to this: arm/rules/grip: Grip (--wing arm)\n"
    answer = said("how gently does the claw grip?")
    assert (line in answer, "\n  A callback" in answer, "1.2 m/s" in answer) == (True, False, False)
    assert f"[invariant] {RULE}: A callback must not block its executor.\n" in answer
    named = [("how gently does the claw grip?", "--wing", "nav"), ("which speed limit?",)]
    assert [line in said(*one) for one in named] == [False, False]


def test_other_projects_that_were_not_asked_are_named(folder: Path, capsys: Capture) -> None:
    write_entry(folder / "memory", "arm/rules/grip", "Grip gently.\n", title="Grip")
    (folder / "memory/mdmem.toml").write_text('default_wing = "nav"\n')
    said = [run_here(capsys, "retrieve", *ASKED, *more, cwd=folder).out for more in ((), ("--wing", "nav"))]
    assert ["; not read: arm (--wing, --all-wings)\n" in one for one in said] == [True, False]
