"""`mdmem save`, its waiting saves, and the exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders import run_here, run_mdmem, snapshot, write

from mdmem.store.state.files import write_lock
from mdmem.store.state.local_records import PendingWrites
from mdmem.write import save as saving
from write.agents import agent, context, decision, entries, of_words, pattern, project, session

Capture = pytest.CaptureFixture[str]


def said(root: Path, capsys: Capture, kind: str, stated: object, *options: str) -> tuple[int, dict[str, Any]]:
    """Save what a file holds and return the exit code with the answer."""
    write(root.parent, "stated.json", json.dumps(stated))
    ran = run_here(capsys, "save", kind, "--json", str(root.parent / "stated.json"), *options, cwd=root)
    assert ran.err == ""
    return ran.code, json.loads(ran.out)


def test_record_of_a_file_is_saved(root: Path, capsys: Capture) -> None:
    options = ("--project", "nav", "--focus", "time", "--agent", "bot", "--room", "clocks")
    assert said(root, capsys, "decision", decision(), *options) == (
        0,
        {
            "schema": 1,
            "status": "saved",
            "artifact_id": "nav/clocks/use-utc",
            "dedup_outcome": "new",
            "candidate_id": None,
            "message": "nav/clocks/use-utc is saved as a draft: it applies once a person approves it",
            "next_step": "`mdmem approve nav/clocks/use-utc`, by a person",
        },
    )
    text = (root / "nav/clocks/use-utc.md").read_text()
    assert ("focus: time\n" in text, "agent: bot\n" in text) == (True, True)


def test_record_of_standard_input_is_saved(root: Path) -> None:
    ran = run_mdmem("save", "context", "--json", "-", "-p", "nav", cwd=root, text_in="\ufeff" + json.dumps(context()))
    assert (ran.returncode, ran.stderr, json.loads(ran.stdout)["artifact_id"]) == (0, "", "nav/context/arm")


def test_arguments_may_stand_beside_the_record_and_options_win(root: Path, capsys: Capture) -> None:
    stated = {"entity": {"entity_name": "Arm", "fact": "It moves."}, "related_entities": [], "project_id": "nav"}
    assert said(root, capsys, "entity", {**stated, "room": "parts"})[1]["artifact_id"] == "nav/parts/arm"
    other = {"pattern": pattern(), "project_id": "web", "focus": None}
    assert said(root, capsys, "pattern", other, "-p", "nav")[1]["artifact_id"] == "nav/conventions/a-test-fails"


def test_session_with_decisions_beside_it_is_saved_with_them(root: Path, capsys: Capture) -> None:
    stated = {"session": session(), "decisions": [decision()], "patterns": [pattern()], "project_id": "web"}
    code, answer = said(root, capsys, "session", stated, "--agent", "bot")
    assert (code, list(answer)) == (0, ["schema", "session", "decisions", "patterns", "overall"])
    assert (answer["overall"], len(entries(root))) == ("saved", 3)
    code, answer = said(root, capsys, "session", {**stated, "decisions": [{}]})
    assert (code, answer["overall"]) == (1, "partial")
    assert said(root, capsys, "session", {**stated, "project_id": None})[0] == 2


def test_exit_code_says_what_became_of_the_write(root: Path, capsys: Capture) -> None:
    nav = ("-p", "nav")
    assert said(root, capsys, "decision", of_words(13), *nav)[0] == 0
    assert said(root, capsys, "decision", of_words(13), *nav)[1]["status"] == "duplicate_skip"
    code, answer = said(root, capsys, "decision", of_words(20), *nav)
    assert (code, answer["dedup_outcome"]) == (1, "manual_review")
    code, answer = said(root, capsys, "decision", {"title": 3}, *nav)
    assert (code, answer["status"]) == (2, "failed")
    code, answer = said(root, capsys, "decision", decision())
    assert (code, answer["status"]) == (2, "blocked_scope")
    write(root, "nav/context", "a file where the room would be")
    code, answer = said(root, capsys, "context", context(), *nav)
    assert (code, answer["status"]) == (3, "pending_retry")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"", "is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b'{"title": "\xff"}', "is not JSON: 'utf-8' codec can't decode byte 0xff in position 11: invalid start byte"),
    ],
)
def test_input_that_is_no_json_is_one_sentence(tmp_path: Path, capsys: Capture, content: bytes, message: str) -> None:
    root = project(tmp_path)
    file = write(tmp_path, "stated.json", content)
    ran = run_here(capsys, "save", "decision", "--json", str(file), cwd=root)
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem save: {file} {message}\n")


@pytest.mark.parametrize(
    ("kind", "record", "accepted"),
    [
        ("decision", {}, "decision, project_id, focus, agent, governance_token, room"),
        ("entity", {}, "entity, related_entities, project_id, focus, agent, governance_token, room"),
        ("session", {}, "session, decisions, patterns, project_id, focus, agent, governance_token, room"),
        ("session", {"decisions": []}, "session, decisions, patterns, project_id, focus, agent"),
    ],
)
def test_argument_that_is_none_is_refused_by_name(
    kind: str, record: dict[str, object], accepted: str, root: Path, tmp_path: Path, capsys: Capture
) -> None:
    file = write(tmp_path, "stated.json", json.dumps({kind: {}, "wing": "nav", **record}))
    ran = run_here(capsys, "save", kind, "--json", str(file), cwd=root)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"mdmem save: there is no argument `wing` here; write one of {accepted}\n"


def waiting(root: Path, *titles: str) -> list[str]:
    """Leave writes that wait, and return their ids."""
    state = root.parent / ".git/mdmem/state/memory"
    with write_lock(state / "saving"):
        for title in titles:
            agent(root, wait=0).save_session(session(title), "nav")
    return [one.id for one in PendingWrites(state).pending()]


def test_pending_lists_what_waits_and_why(root: Path, tmp_path: Path, capsys: Capture) -> None:
    (id_,) = waiting(root, "Set up")
    before = snapshot(tmp_path)
    ran = run_here(capsys, "save", "--waiting", cwd=root)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"{id_[:12]}  save_session `Set up`, 1 attempt since 2026-11-21: "
        "another process has been writing to the memory for 0 s; try again when it is done\n"
    )
    assert json.loads(run_here(capsys, "save", "--waiting", "--format", "json", cwd=root).out) == {
        "schema": 1,
        "pending": [
            {
                "id": id_,
                "verb": "save_session",
                "arguments": {"project_id": "nav", "session": {"objective": "Set up"}},
                "created": "2026-11-21T12:00:00+00:00",
                "attempts": 1,
                "error": "another process has been writing to the memory for 0 s; try again when it is done",
                "refused": False,
            }
        ],
        "blocked": [],
        "unreadable": [],
    }
    assert snapshot(tmp_path) == before


def test_save_that_a_similar_decision_stopped_is_listed_and_passes_as_a_distinct_one(
    root: Path, tmp_path: Path, capsys: Capture
) -> None:
    agent(root).save_decision(of_words(13), "nav")
    file = str(write(tmp_path, "stated.json", json.dumps(of_words(20))))
    save_it = ("save", "decision", "--project", "nav", "--json", file)
    assert run_here(capsys, *save_it, cwd=root).code == 1
    (stopped,) = PendingWrites(root.parent / ".git/mdmem/state/memory").blocked_writes()
    told = f"decision `worda`, since {stopped.at.date()}: nav/architecture/worda is similar\n"
    advice = "repeat the save with `supersedes` or `distinct_from`, or `mdmem save --drop ID`\n"
    assert run_here(capsys, "save", "--waiting", cwd=root).out == f"{stopped.id[:12]}  {told}next: {advice}"
    assert f"saves that a similar entry stopped (1)\n  {stopped.id[:12]}  {told}  next: {advice}" in (
        run_here(capsys, "hygiene", cwd=root).out
    )
    assert run_here(capsys, *save_it, "--distinct-from", "nav/architecture/worda", cwd=root).code == 0
    assert run_here(capsys, "save", "--waiting", cwd=root).out == ""


@pytest.mark.parametrize("arguments", [("save", "--waiting"), ("save", "--retry")])
def test_pending_says_where_nothing_waits(tmp_path: Path, capsys: Capture, arguments: tuple[str, ...]) -> None:
    ran = run_here(capsys, *arguments, cwd=project(tmp_path))
    assert (ran.code, ran.out, ran.err) == (0, "", "no write waits\n")


def test_pending_names_what_cannot_be_read(root: Path, tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, ".git/mdmem/state/memory/pending/torn.json", "{")
    ran = run_here(capsys, "save", "--waiting", cwd=root)
    assert (ran.code, ran.out) == (0, "pending/torn.json cannot be read; it may be a pending write\n")


def test_retry_says_what_became_of_each(root: Path, capsys: Capture) -> None:
    one, two = waiting(root, "One", "Two")
    ran = run_here(capsys, "save", "--retry", one[:8], cwd=root)
    (address,) = entries(root)
    assert (ran.code, ran.out) == (0, f"{one[:12]}  saved  {address} is saved\n")
    answer = json.loads(run_here(capsys, "save", "--retry", "--format", "json", cwd=root).out)
    assert [(each["id"], each["status"]) for each in answer["retried"]] == [(two, "saved")]
    assert len(entries(root)) == 2


def test_retry_ends_with_one_where_a_write_still_waits(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (id_,) = waiting(root, "Set up")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving, "write", full_disk)
    ran = run_here(capsys, "save", "--retry", cwd=root)
    assert (ran.code, ran.out) == (1, f"{id_[:12]}  pending_retry  not written yet: no space left on device\n")
    assert ", 2 attempts since " in run_here(capsys, "save", "--waiting", cwd=root).out


@pytest.mark.parametrize("prefix", ["zz", "", "../x"])
def test_id_that_means_no_write_is_one_sentence(root: Path, capsys: Capture, prefix: str) -> None:
    waiting(root, "Set up")
    for option in ("--retry", "--drop"):
        ran = run_here(capsys, "save", option, prefix, cwd=root)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == f"mdmem: no waiting write has the id `{prefix}`; `mdmem save --waiting` lists them\n"


def test_drop_gives_up_one_write_for_good(root: Path, capsys: Capture) -> None:
    one, two = waiting(root, "One", "Two")
    ran = run_here(capsys, "save", "--drop", one, "--yes", cwd=root)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.endswith(") is given up\n")
    assert waiting(root) == [two]
    assert entries(root) == []


@pytest.mark.parametrize(("typed", "code", "left"), [("n\n", 1, 1), ("y\n", 0, 0), ("", 130, 1)])
def test_drop_asks_first(root: Path, typed: str, code: int, left: int) -> None:
    (id_,) = waiting(root, "Set up")
    ran = run_mdmem("save", "--drop", id_[:6], cwd=root, text_in=typed)
    assert (ran.returncode, ran.stdout, len(waiting(root))) == (code, "", left)
    assert ran.stderr.startswith(f"give up {id_[:12]} (Set up) for good? [y/N]: ")


def test_save_without_a_record_says_what_to_give(tmp_path: Path, capsys: Capture) -> None:
    ran = run_here(capsys, "save", "decision", cwd=project(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert "give a KIND and its record with --json FILE; or --waiting, --retry or --drop" in ran.err
