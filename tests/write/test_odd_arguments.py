"""No argument, however odd, raises at the caller of a verb for agents, or is written where it does not belong."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from builders import snapshot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mdmem.render.json import dump
from mdmem.store.catalog.load import load
from mdmem.store.tree import WorkingTree
from mdmem.write.records import BatchSaveResult, SaveStatus
from write.agents import agent, context, decision, entity, pattern, project, session

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
RECORDS = {
    "decision": decision(owner="Ada", date="2026-04-08", scope="project", supersedes=None, confidence=0.5),
    "pattern": pattern(exclusions=["x"], scope="project", last_validated_at=None),
    "context": context(scope="project", relevance_score=0.5),
    "session": session(actions_taken=[], decisions_made=[], open_items=[], next_actions=[], save_scope="project"),
    "entity": entity(scope="project"),
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Draw a verb with its arguments, of which one or two are odd."""
    kind = draw(st.sampled_from(sorted(RECORDS)))
    record = dict(RECORDS[kind])
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


@given(calls(), VALUES, VALUES)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_no_argument_raises_and_what_is_written_loads(
    call: tuple[str, dict[str, Any]], decisions: Any, patterns: Any
) -> None:
    kind, arguments = call
    with TemporaryDirectory() as folder:
        root = project(Path(folder))
        before = snapshot(root)
        result = agent(root).pending.save(kind, arguments)
        assert result.status in set(SaveStatus)
        assert dump(result.as_json()).encode()
        assert result.is_there or result.message
        assert "\n" not in (result.message or "")
        after = load(WorkingTree(root))
        assert (dict(after.broken), after.findings) == ({}, ())
        assert result.is_there is (result.artifact_id in after.entries)
        assert (snapshot(root) == before) is not result.is_there
        saves, learned = agent(root), {"decisions": decisions, "patterns": patterns}
        batch = saves.pending.save_with_learnings({**arguments, "session": arguments[kind], **learned})
        assert isinstance(batch, BatchSaveResult)
        assert dump(batch.as_json()).encode()
        assert dump(saves.get_save_status(arguments["project_id"])).encode()
        assert dump(saves.request_global_write_approval())
