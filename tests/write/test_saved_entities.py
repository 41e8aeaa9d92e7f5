"""Test entities, one for each name in a scope, and sessions with their decisions and patterns."""

from pathlib import Path
from typing import Any

import pytest
from builders import open_root, snapshot, write, write_entry

from mdmem.ask.context import ContextRequest, compile_context, items_of
from mdmem.ask.facets import Layer
from mdmem.model.entry import Entry, Relation
from mdmem.store.catalog.load import load
from mdmem.store.tree import WorkingTree
from mdmem.write.records import BatchSaveResult, SaveResult
from write.agents import Agent, agent, decision, entity, later, of_words, pattern, session

ARM = "nav/entities/arm"


def related(name: str, type_: str = "READS", **properties: Any) -> dict[str, Any]:
    return {"entity_id": name, "relationship_type": type_, "properties": properties}


def upsert(
    root: Path, name: str = "Arm", fact: str = "It has six joints.", *relations: object, focus: str | None = None
) -> SaveResult:
    return agent(root).upsert_entity_with_deps(entity(name, fact), list(relations), "nav", focus)


def written(root: Path, address: str = ARM) -> Entry:
    return load(WorkingTree(root)).entries[address]


def test_entity_is_a_note_with_its_name_and_fact(root: Path) -> None:
    result = upsert(root)
    assert (result.status, result.artifact_id, result.dedup_outcome) == ("saved", ARM, "new")
    assert (root / f"{ARM}.md").read_text() == (
        "---\ntype: note\nstatus: active\ncreated_at: 2026-11-21T12:00:00+00:00\n"
        "title: Arm\nlabel: entity\nentity: Arm\n---\n\n"
        "It has six joints.\n"
    )


def test_same_call_twice_changes_no_byte(root: Path, tmp_path: Path) -> None:
    upsert(root, "Base")
    upsert(root, "Arm", "It moves.", related("base", "BELONGS_TO", since=1))
    before = snapshot(tmp_path)
    result = upsert(root, "Arm", "It moves.", related("Base", "belongs_to", since=1))
    assert (result.status, result.message) == ("saved", f"{ARM} already says this; nothing was written")
    assert snapshot(tmp_path) == before


def test_each_focus_has_its_own_entity_of_a_name(root: Path) -> None:
    assert upsert(root).artifact_id == ARM
    assert upsert(root, focus="grasping").artifact_id == f"{ARM}-2"
    assert upsert(root, fact="It grasps.", focus="grasping").artifact_id == f"{ARM}-2"
    assert "It has six joints." in (root / f"{ARM}.md").read_text()


def test_entity_of_another_wing_or_deprecated_entity_is_not_updated(root: Path) -> None:
    fields = {"type": "note", "label": "entity", "entity": "Arm", "title": "Arm"}
    write_entry(root, "web/entities/arm", "Of the web.\n", **fields)
    write_entry(root, "nav/old/arm", "It was.\n", **fields, status="deprecated", deprecated_reason="sold")
    assert upsert(root).artifact_id == ARM


LIVED_IN = (
    "\ufeff---\r\n# by hand\r\nstatus: active   # still\r\ntype: 'note'\r\ncreated_at: 2026-03-05\r\n"
    'label: entity\r\nentity: "Arm"\r\nrelations: [{type: READS, to: nav/entities/base}]  # one\r\n'
    "x-mine: [1,  2]\r\n---\r\n\r\n\r\nOld fact.\r\n\r\n"
)


FENCED = "---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\nlabel: entity\nentity: Arm\n---"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LIVED_IN, LIVED_IN.replace("Old fact.", "New fact.\r\n\r\nTwo lines.")),
        (LIVED_IN.rstrip(), LIVED_IN.rstrip().replace("Old fact.", "New fact.\r\n\r\nTwo lines.")),
        (
            LIVED_IN.replace("Old fact.\r\n\r\n", ""),
            LIVED_IN.split("\r\n\r\n")[0] + "\r\n\r\nNew fact.\r\n\r\nTwo lines.\r\n",
        ),
        (FENCED, f"{FENCED}\n\nNew fact.\n\nTwo lines.\n"),
    ],
    ids=["crlf", "no-final-newline", "no-body", "fence-at-the-end"],
)
def test_update_changes_only_the_bytes_of_the_fact(root: Path, before: str, after: str) -> None:
    upsert(root, "Base")
    path = write(root, f"{ARM}.md", before.encode())
    assert upsert(root, "Arm", "New fact.\n\nTwo lines.").artifact_id == ARM
    assert path.read_bytes().decode() == after


def test_update_adds_relations_to_those_that_people_wrote(root: Path) -> None:
    for name in ("Base", "Hand"):
        upsert(root, name)
    path = write(root, f"{ARM}.md", LIVED_IN.encode())
    result = upsert(root, "Arm", "Old fact.", related("Hand", "PRODUCES"), related("Base", "READS"))
    assert result.artifact_id == ARM
    assert written(root).relations == (
        Relation("READS", "nav/entities/base"),
        Relation("PRODUCES", "nav/entities/hand"),
    )
    text = path.read_bytes().decode()
    kept = ["\ufeff---\r\n# by hand\r\n", "status: active   # still\r\n", 'entity: "Arm"\r\n', "x-mine: [1,  2]\r\n"]
    assert [one for one in kept if one not in text] == []
    assert "relations: [{type: READS, to: nav/entities/base}, {type: PRODUCES, to: nav/entities/hand}]  # one" in text
    assert text.count("\n") == text.count("\r\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "relations:\n  - {type: READS, to: nav/entities/hand}\n"),
        ("relations:\n", "relations:\n  - {type: READS, to: nav/entities/hand}\n"),
        (
            "relations:\n- type: READS  # one\n  to: base\n  # below\nx-a: 1\n",
            "relations:\n- type: READS  # one\n  to: base\n- {type: READS, to: nav/entities/hand}\n  # below\nx-a: 1\n",
        ),
        (
            "relations: [\n  {type: READS, to: base},  # one\n]\n",
            "relations: [\n  {type: READS, to: base},  # one\n  {type: READS, to: nav/entities/hand},\n]\n",
        ),
    ],
)
def test_relation_is_added_in_the_style_of_the_others(root: Path, before: str, after: str) -> None:
    for name in ("Base", "Hand"):
        upsert(root, name)
    head, tail = FENCED.removesuffix("---"), "---\n\nIt moves.\n"
    path = write(root, f"{ARM}.md", head + before + tail)
    upsert(root, "Arm", "It moves.", related("Hand"))
    assert path.read_text() == head + after + tail


@pytest.mark.parametrize("type_", ["BELONGS_TO", "CONFLICTS_WITH", "PRODUCED", "MERGES_INTO", "PRODUCES"])
@pytest.mark.parametrize("named", ["Base", " base", "nav/entities/base", "entities/base", "base"])
def test_relation_finds_an_entity_by_name_or_address(root: Path, type_: str, named: str) -> None:
    upsert(root, "Base")
    assert upsert(root, "Arm", "It moves.", related(named, type_)).status == "saved"
    assert written(root).relations == (Relation(type_, "nav/entities/base"),)


def test_relation_by_name_prefers_the_own_wing(root: Path) -> None:
    write(root, "lab/README.md", "---\nkind: shared\n---\n")
    fields = {"type": "note", "label": "entity", "entity": "Base"}
    write_entry(root, "lab/entities/base", **fields)
    upsert(root, "Arm", "It moves.", related("Base"))
    upsert(root, "Base")
    upsert(root, "Hand", "It moves.", related("Base"))
    assert written(root).relations == (Relation("READS", "lab/entities/base"),)
    assert written(root, "nav/entities/hand").relations == (Relation("READS", "nav/entities/base"),)


def test_properties_are_kept_beside_the_relations(root: Path) -> None:
    for name in ("Base", "Hand"):
        upsert(root, name)
    upsert(root, "Arm", "It moves.", related("Base", "READS", rate=10, of="Überwachung"))
    upsert(root, "Arm", "It moves.", related("Hand", "WRITES", **{"a: b": [1, None]}))
    found = load(WorkingTree(root))
    assert found.document(f"{ARM}.md").fields["x-relation-properties"] == (
        '{"READS nav/entities/base": {"of": "Überwachung", "rate": 10}, '
        '"WRITES nav/entities/hand": {"a: b": [1, null]}}'
    )


def test_update_ignores_older_errors(root: Path) -> None:
    write_entry(root, ARM, "Old.\n", type="note", label="entity", entity="Arm", created_at="2030-01-01")
    assert upsert(root).artifact_id == ARM


SESSION = "nav/sessions/set-up"


def statuses(batch: BatchSaveResult) -> tuple[str, list[str], list[str], str]:
    return (
        str(batch.session.status),
        [str(one.status) for one in batch.decisions],
        [str(one.status) for one in batch.patterns],
        str(batch.overall),
    )


def test_session_links_to_its_decisions_and_patterns(root: Path) -> None:
    batch = agent(root).store_session_with_learnings(
        session(), [decision(), decision("Other", "Else.")], [pattern()], "nav", agent="bot"
    )
    assert statuses(batch) == ("saved", ["saved", "saved"], ["saved"], "saved")
    learned = ("nav/architecture/use-utc", "nav/architecture/other", "nav/conventions/a-test-fails")
    assert tuple(one.artifact_id for one in (*batch.decisions, *batch.patterns)) == learned
    assert written(root, SESSION).produced == learned


def test_session_links_to_existing_entries(saves: Agent, root: Path) -> None:
    saves.save_decision(decision(), "nav")
    saves.save_pattern(pattern(), "nav")
    batch = saves.store_session_with_learnings(session(), [decision()], [pattern()], "nav")
    assert statuses(batch) == ("saved", ["duplicate_skip"], ["duplicate_skip"], "saved")
    assert written(root, SESSION).produced == ("nav/architecture/use-utc", "nav/conventions/a-test-fails")


def test_part_that_fails_stops_no_other(saves: Agent, root: Path) -> None:
    batch = saves.store_session_with_learnings({}, [decision("Other")], [], "nav")
    assert statuses(batch) == ("failed", ["saved"], [], "partial")
    batch = saves.store_session_with_learnings(session(), [{"title": 3}, decision(), None], [pattern("x"), {}], "nav")
    assert statuses(batch) == ("saved", ["failed", "saved", "failed"], ["saved", "failed"], "partial")
    batch = saves.store_session_with_learnings(session(), [decision()], [{}], "no-project", focus=3)
    assert statuses(batch) == ("failed", ["failed"], ["failed"], "failed")
    # A save for a person or with an unclear scope is not saved.
    saves.save_decision(of_words(13), "nav")
    batch = saves.store_session_with_learnings({}, [of_words(20)], [], "nav")
    assert statuses(batch) == ("failed", ["pending_retry"], [], "failed")
    batch = saves.store_session_with_learnings(session(), [decision()], [], "")
    assert statuses(batch) == ("blocked_scope", ["blocked_scope"], [], "failed")
    assert written(root, SESSION).produced == ("nav/architecture/use-utc", "nav/conventions/x")


def test_link_is_the_only_change_of_the_session(saves: Agent, root: Path) -> None:
    saves.save_session(session(open_items=["one"]), "nav")
    alone = (root / f"{SESSION}.md").read_text()
    (root / f"{SESSION}.md").unlink()
    saves.store_session_with_learnings(session(open_items=["one"]), [decision()], [], "nav")
    linked = (root / f"{SESSION}.md").read_text()
    assert linked == alone.replace("objective:", "produced: [nav/architecture/use-utc]\nobjective:")


def test_newest_session_of_a_day_is_the_active_work(root: Path) -> None:
    for hour, objective in enumerate(("Zeta first", "Alpha second", "Middle third")):
        agent(root, now=later(3600 * hour)).save_session(session(objective), "nav")
    asked = ContextRequest(goal="resume work", layer=Layer.WAKE, project="nav")
    items = items_of(compile_context(open_root(root), asked))
    assert next(item["id"] for item in items if item["id"].startswith("nav/sessions/")) == "nav/sessions/middle-third"
