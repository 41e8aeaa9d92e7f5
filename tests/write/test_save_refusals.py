"""Test `mdmem save`: exit codes, scopes, and refusals, which are one sentence and write nothing."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from ask.context_builders import workspace
from builders import Capture, entry_text, run_here, run_mdmem, snapshot, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mdmem.render.text import dump
from mdmem.store.catalog.load import load
from mdmem.store.state.files import write_lock
from mdmem.store.state.local_records import PendingWrites
from mdmem.store.tree import WorkingTree
from mdmem.write import save as saving
from mdmem.write.records import BatchSaveResult, SaveStatus
from mdmem.write.remember import remember
from write.agents import KINDS, agent, context, decision, entity, entries, of_words, pattern, project, save, session

FILES = {
    "other/README.md": "---\nkind: project\nproject_id: Acme\n---\n",
    "ros/README.md": "---\nkind: shared\n---\n",
    "ros/rules/clock.md": entry_text(title="Clock"),
    "nav/architecture/known.md": entry_text(title="Known"),
    "nav/entities/base.md": entry_text(type="note", label="entity", entity="Base", title="Base"),
    "nav/entities/arm.md": entry_text(type="note", label="entity", entity="Arm", title="Arm"),
    "web/parts/it.md": entry_text(type="note", label="entity", entity="Zq", title="Zq"),
    "src/deep/main.py": "print()\n",
}
KEY = "AKIA" + "IOSFODNN7EXAMPLA"
SECRET = "nothing was written: this looks like an AWS access key; revoke it, then write where it is kept instead"
TYPES = (
    "`BELONGS_TO`, `CONFLICTS_WITH`, `PRODUCED`, `MERGES_INTO`, `PRODUCES`, `CONSUMES`, `READS`, `WRITES`, `INVOLVES`"
)
NO_OBJECT = "`related_entities[0].properties` must be a JSON object of plain values"
AHEAD = "2027-01-01, 41 days ahead of today"
SCOPE = "`decision.scope` must be one of `global`, `project`, `focus`"
NO_DAY = "`decision` has a date that is not a day such as 2026-04-08"
LISTED = "`related_entities` must be a list of objects with `entity_id` and `relationship_type`"
SHARED = (
    "ros/rules/clock applies to other projects, too; to replace it only in nav, "
    "write `overrides: ros/rules/clock` and a `reason` into nav/architecture/use-utc"
)
NO_WING = (
    "the folder `src` exists, but is not a wing; write `kind: project` between two lines of `---` at the top of "
    "src/README.md, or choose another name"
)


FOCUS = "`focus` is missing; give one, since the scope of this {} is `focus`"


def related(name: str = "Base", type_: str = "READS", properties: object = None) -> list[dict[str, Any]]:
    return [{"entity_id": name, "relationship_type": type_, "properties": properties or {}}]


RECORDS: list[tuple[object, str]] = [
    (None, "`decision`: expected `object`, got `null`"),
    ({"rationale": "x"}, "`decision`: object missing required field `title`"),
    ({"title": " \n", "rationale": "x"}, "`decision`: object missing required field `title`"),
    ({"title": 3}, "`decision.title`: expected `str`, got `int`"),
    ({"title": "x\x07"}, "`decision.title` contains the character U+0007, which is invisible; remove it"),
    (decision(titel="x"), "`decision`: object contains unknown field `titel`"),
    (decision(confidence=1.5), "`decision.confidence`: expected `float` <= 1.0"),
    (decision(confidence=10**5000), "`decision.confidence`: number out of range"),
    (decision(confidence=float("nan")), "`decision.confidence`: expected `float` >= 0.0"),
    (decision(confidence=True), "`decision.confidence`: expected `float | null`, got `bool`"),
    (decision(date="soon"), NO_DAY),
    (decision(date="2026-02-30"), NO_DAY),
    (decision(date="2027-01-01"), f"nothing was written: `created_at` is {AHEAD}; write the day on which it happened"),
    (decision(scope="globl"), f"{SCOPE}, found `globl`"),
    (decision(scope={}), "`decision.scope`: expected `str`, got `object`"),
    (decision(rationale=f"The key is {KEY}."), SECRET),
    (decision(supersedes="ros/rules/clock"), SHARED),
    *(
        (
            decision(**{field: named}),
            f"write one full address (wing/room/entry-id) in `{field}`; `{named}` matches nav/architecture/known",
        )
        for field in ("supersedes", "distinct_from")
        for named in ("known", "architecture/known", "nav/architecture/")
    ),
]
ARGUMENTS: list[tuple[str, object, str]] = [
    ("project_id", 5, "`project_id` must be a text"),
    ("focus", ["a"], "`focus` must be a text"),
    ("agent", "a\x00b", "`agent` contains the character U+0000, which is invisible; remove it"),
    ("room", {}, "`room` must be a text"),
    ("room", "../Up Here", "`room`: `../Up Here` is not a valid name for a room; write it like `anti-patterns`"),
    ("governance_token", 5, "`governance_token` must be a text, as `request_global_write_approval` returned it"),
]
RELATED: list[tuple[object, str]] = [
    (5, LISTED),
    ({}, LISTED),
    (["Base"], "`related_entities[0]`: expected `object`, got `str`"),
    ([{"entity_id": "Base"}], "`related_entities[0]`: object missing required field `relationship_type`"),
    (related(type_="READ"), f"`related_entities[0].relationship_type` must be one of {TYPES}, found `READ`"),
    (related(properties=[1]), "`related_entities[0].properties`: expected `object`, got `array`"),
    (related(properties={"a": float("inf")}), NO_OBJECT),
    (related(properties={"a": "\ud800"}), NO_OBJECT),
    (related("Bsae"), "there is no entity `Bsae` to relate to; save that entity first"),
    # Entities of other projects are not found by name.
    (related("Zq"), "there is no entity `Zq` to relate to; save that entity first"),
]
PROJECTS = [
    ("!!", "`!!` has no letter or digit, so no wing can have its name; choose another `project_id`"),
    ("漢" * 60, f"`{'漢' * 60}` is too long, so no wing can have its name; choose another `project_id`"),
    ("aux", "`aux` is the name of a device, which Windows does not allow for a wing; choose another name"),
    ("shared", "`shared` is the name of the shared wing; use another `project_id`"),
    ("Other", "the wing `other` belongs to the project `Acme`; use another `project_id`"),
    ("src", NO_WING),
]


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        *(("decision", {"decision": record}, message) for record, message in RECORDS),
        *(("decision", {"decision": decision(), name: value}, message) for name, value, message in ARGUMENTS),
        *(("entity", {"entity": entity(), "related_entities": value}, message) for value, message in RELATED),
        ("entity", {"entity": entity(fact=f"The key is {KEY}.")}, SECRET),
        *(("session", {"session": {"objective": "x"}, "project_id": name}, message) for name, message in PROJECTS),
        ("decision", {"decision": decision(scope="focus")}, FOCUS.format("decision")),
        ("context", {"context": context(scope="focus")}, FOCUS.format("context")),
    ],
)
def test_refused_save_says_why_and_writes_nothing(
    tmp_path: Path, kind: str, arguments: dict[str, Any], message: str
) -> None:
    root = project(tmp_path)
    for path, text in FILES.items():
        write(root, path, text)
    before = snapshot(tmp_path)
    result = agent(root).pending.save(kind, {"project_id": "nav", **arguments})
    assert (result.status, result.message) == ("failed", message)
    assert snapshot(tmp_path) == before


NO_PROJECT = ("no `project_id` is given, so no scope is known", "give a `project_id`")
NOT_THERE = (
    "there is no wing for the project `my-new-project` yet; `save_session` creates it",
    "call `save_session` with this `project_id`: it creates the project; then repeat this call",
)


@pytest.mark.parametrize(
    ("kind", "project_id", "told"),
    [
        *((kind, project_id, NO_PROJECT) for kind in KINDS for project_id in (None, "", "  ")),
        *((kind, "my-new-project", NOT_THERE) for kind in KINDS if kind != "session"),
    ],
)
def test_write_without_an_existing_project_is_blocked(
    root: Path, tmp_path: Path, kind: str, project_id: str | None, told: tuple[str, str]
) -> None:
    before = snapshot(tmp_path)
    result = save(agent(root), kind, project_id)
    assert (result.status, result.artifact_id, result.dedup_outcome) == ("blocked_scope", None, None)
    assert (result.message, result.next_step) == told
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("focus", [None, "auth-refactor"])
def test_write_to_an_existing_project_accepts_any_focus(root: Path, kind: str, focus: str | None) -> None:
    result = save(agent(root), kind, "nav", focus)
    assert result.status == "saved"
    text = (root / f"{result.artifact_id}.md").read_text()
    assert ("focus: auth-refactor\n" in text) is (focus is not None)


@pytest.mark.parametrize("project_id", ["0012", "yes", "a: b", "“Web”", "12:30", "#1", "Überwachung"])
def test_project_is_found_again_by_its_id(root: Path, project_id: str) -> None:
    made = save(agent(root), "session", project_id)
    again = save(agent(root), "decision", project_id)
    assert (made.status, again.status) == ("saved", "saved")
    assert (again.artifact_id or "").split("/")[0] == (made.artifact_id or "").split("/")[0]


def test_session_uses_empty_folders_and_writes_through_no_link(root: Path, tmp_path: Path) -> None:
    (root / "sea/sessions").mkdir(parents=True)
    assert save(agent(root), "session", "sea").status == "saved"
    (tmp_path / "elsewhere").mkdir()
    (root / "web").symlink_to(tmp_path / "elsewhere")
    assert save(agent(root), "session", "web").status == "failed"
    assert list((tmp_path / "elsewhere").iterdir()) == []


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(st.characters()),
    st.sampled_from(
        ["", " ", "\ud800", "\x00", "../x", "---\n", "nav", "global", "2026-02-30", "n/a", "\u202e", "aux"]
    ),
)
VALUES = st.recursive(
    ODD,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=6,
)
ODD_RECORDS = {
    "decision": decision(owner="Ada", date="2026-04-08", scope="project", supersedes=None, confidence=0.5),
    "pattern": pattern(exclusions=["x"], scope="project", last_validated_at=None),
    "context": context(scope="project", relevance_score=0.5),
    "session": session(actions_taken=[], decisions_made=[], open_items=[], next_actions=[], save_scope="project"),
    "entity": entity(scope="project"),
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Draw a kind of record and its arguments; one or two of them are odd."""
    kind = draw(st.sampled_from(sorted(ODD_RECORDS)))
    record = dict(ODD_RECORDS[kind])
    arguments: dict[str, Any] = {
        "project_id": "nav",
        "focus": None,
        "governance_token": None,
        "agent": None,
        "room": None,
    }
    for _ in range(draw(st.integers(1, 2))):
        if draw(st.booleans()):
            record[draw(st.sampled_from([*record, "unknown"]))] = draw(VALUES)
        else:
            arguments[draw(st.sampled_from(sorted(arguments)))] = draw(VALUES)
    given_record = draw(st.one_of(st.just(record), st.just(record), st.just(record), VALUES))
    if kind == "entity":
        item = {"entity_id": draw(VALUES), "relationship_type": draw(VALUES), "properties": draw(VALUES)}
        arguments["related_entities"] = draw(st.one_of(st.none(), VALUES, st.just([item])))
    return kind, {kind: given_record, **arguments}


MEMOS = st.fixed_dictionaries(
    {
        "title": st.text(max_size=40) | VALUES,
        "content": st.text(max_size=80) | VALUES,
        "kind": st.sampled_from(["episode", "rule", "decision"]) | VALUES,
        "project": st.sampled_from(["nav", "zoo", None]) | VALUES,
    },
    optional=dict.fromkeys(("room", "tags", "related_to", "metadata", "domain", "agent"), VALUES),
)


@given(calls(), VALUES, VALUES, MEMOS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_no_argument_raises_and_the_memory_stays_readable(
    call: tuple[str, dict[str, Any]], decisions: Any, patterns: Any, memo: dict[str, Any]
) -> None:
    kind, arguments = call
    with TemporaryDirectory() as folder:
        root = project(Path(folder))
        before = snapshot(root)
        result = agent(root).pending.save(kind, arguments)
        assert result.status in set(SaveStatus)
        assert dump(result.as_json()).encode()
        assert result.is_stored or result.message
        assert "\n" not in (result.message or "")
        after = load(WorkingTree(root))
        assert (dict(after.broken), after.findings) == ({}, ())
        assert result.is_stored is (result.artifact_id in after.entries)
        assert (snapshot(root) == before) is not result.is_stored
        saves, learned = agent(root), {"decisions": decisions, "patterns": patterns}
        batch = saves.pending.save_with_learnings({**arguments, "session": arguments[kind], **learned})
        assert isinstance(batch, BatchSaveResult)
        assert dump(batch.as_json()).encode()
        assert dump(saves.get_save_status(arguments["project_id"])).encode()
        assert dump(saves.request_global_write_approval())
        remembered = remember(workspace(root), memo)
        assert (remembered.success is (remembered.id is not None), bool(remembered.message)) == (True, True)
        assert not load(WorkingTree(root)).broken


def said(root: Path, capsys: Capture, kind: str, stated: object, *options: str) -> tuple[int, dict[str, Any]]:
    """Save the record in a file, and return the exit code and the answer."""
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


def test_options_override_arguments_in_the_file(root: Path, capsys: Capture) -> None:
    stated = {"entity": {"entity_name": "Arm", "fact": "It moves."}, "related_entities": [], "project_id": "nav"}
    assert said(root, capsys, "entity", {**stated, "room": "parts"})[1]["artifact_id"] == "nav/parts/arm"
    other = {"pattern": pattern(), "project_id": "web", "focus": None}
    assert said(root, capsys, "pattern", other, "-p", "nav")[1]["artifact_id"] == "nav/conventions/a-test-fails"


def test_session_with_decisions_beside_it_is_saved_with_them(root: Path, capsys: Capture) -> None:
    stated = {"session": session(), "decisions": [decision()], "patterns": [pattern()], "project_id": "web"}
    code, answer = said(root, capsys, "session", stated, "--agent", "bot")
    assert (code, list(answer)) == (0, ["schema", "session", "decisions", "patterns", "overall"])
    assert answer["session"]["message"].endswith(" is saved; the wing `web` is new")
    code, other = said(root, capsys, "session", {"session": session(), "project_id": "webs"})
    assert other["message"].endswith(" is saved; the wing `webs` is new, and `web` exists already")
    assert (answer["overall"], len(entries(root))) == ("saved", 4)
    code, answer = said(root, capsys, "session", {**stated, "decisions": [{}]})
    assert (code, answer["overall"]) == (1, "partial")
    assert said(root, capsys, "session", {**stated, "project_id": None})[0] == 2


def test_exit_code_shows_the_outcome(root: Path, capsys: Capture) -> None:
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
def test_invalid_json_is_one_sentence(tmp_path: Path, capsys: Capture, content: bytes, message: str) -> None:
    root = project(tmp_path)
    file = write(tmp_path, "stated.json", content)
    ran = run_here(capsys, "save", "decision", "--json", str(file), cwd=root)
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem save: {file} {message}\n")


@pytest.mark.parametrize(
    ("kind", "record", "accepted"),
    [
        ("entity", {}, "entity, related_entities, project_id, focus, agent, governance_token, room"),
        ("session", {}, "session, decisions, patterns, project_id, focus, agent, governance_token, room"),
        ("session", {"decisions": []}, "session, decisions, patterns, project_id, focus, agent"),
    ],
)
def test_unknown_argument_is_refused_by_name(
    kind: str, record: dict[str, object], accepted: str, root: Path, tmp_path: Path, capsys: Capture
) -> None:
    file = write(tmp_path, "stated.json", json.dumps({kind: {}, "wing": "nav", **record}))
    ran = run_here(capsys, "save", kind, "--json", str(file), cwd=root)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"mdmem save: there is no argument `wing` here; write one of {accepted}\n"
    bare = run_here(capsys, "save", kind, cwd=root)
    assert (bare.code, "give a KIND and its record with --json FILE; or --waiting" in bare.err) == (2, True)


def waiting(root: Path, *titles: str) -> list[str]:
    """Create waiting writes, and return their ids."""
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
    listed = run_here(capsys, "save", "--waiting", "--drop", stopped.id[:8], "--yes", cwd=root)
    assert listed.out.startswith(stopped.id[:12]), "the list changes nothing"
    assert f"saves that a similar entry stopped (1)\n  {stopped.id[:12]}  {told}  next: {advice}" in (
        run_here(capsys, "hygiene", cwd=root).out
    )
    told = "cannot be repeated, since it is too similar to nav/architecture/worda; save it again with"
    assert told in run_here(capsys, "save", "--retry", stopped.id[:8], cwd=root).err
    assert run_here(capsys, "save", "--drop", stopped.id[:8], "--yes", cwd=root).code == 0
    assert run_here(capsys, "save", "--waiting", cwd=root).out == ""
    assert run_here(capsys, *save_it, cwd=root).code == 1
    assert run_here(capsys, *save_it, "--distinct-from", "nav/architecture/worda", cwd=root).code == 0
    assert run_here(capsys, "save", "--waiting", cwd=root).out == ""


def test_waiting_lists_unreadable_files_or_says_that_no_write_waits(
    root: Path, tmp_path: Path, capsys: Capture
) -> None:
    for option in ("--waiting", "--retry"):
        ran = run_here(capsys, "save", option, cwd=root)
        assert (ran.code, ran.out, ran.err) == (0, "", "no write waits\n")
    write(tmp_path, ".git/mdmem/state/memory/pending/torn.json", "{")
    ran = run_here(capsys, "save", "--waiting", cwd=root)
    assert (ran.code, ran.out) == (0, "pending/torn.json cannot be read; it may be a pending write\n")


def test_retry_prints_the_outcome_of_each(root: Path, capsys: Capture) -> None:
    one, two = waiting(root, "One", "Two")
    ran = run_here(capsys, "save", "--retry", one[:8], cwd=root)
    (address,) = entries(root)
    assert (ran.code, ran.out) == (0, f"{one[:12]}  saved  {address} is saved\n")
    answer = json.loads(run_here(capsys, "save", "--retry", "--format", "json", cwd=root).out)
    assert [(each["id"], each["status"]) for each in answer["retried"]] == [(two, "saved")]
    assert len(entries(root)) == 2


def test_retry_exits_1_if_a_write_still_waits(root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (id_,) = waiting(root, "Set up")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving, "write", full_disk)
    ran = run_here(capsys, "save", "--retry", cwd=root)
    assert (ran.code, ran.out) == (1, f"{id_[:12]}  pending_retry  not written yet: no space left on device\n")
    assert ", 2 attempts since " in run_here(capsys, "save", "--waiting", cwd=root).out


@pytest.mark.parametrize("prefix", ["zz", "", "../x"])
def test_unknown_id_is_one_sentence(root: Path, capsys: Capture, prefix: str) -> None:
    waiting(root, "Set up")
    for option in ("--retry", "--drop"):
        ran = run_here(capsys, "save", option, prefix, cwd=root)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == f"mdmem: no waiting write has the id `{prefix}`; `mdmem save --waiting` lists them\n"


def test_drop_deletes_one_write(root: Path, capsys: Capture) -> None:
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
