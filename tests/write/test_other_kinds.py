"""Patterns are compared by hash alone, context and sessions not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import open_root, snapshot, write_entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.change.hygiene import run_hygiene
from mdmem.checks.run import CheckRequest, check
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.write.records import Decision, compose_record, read_request
from mdmem.write.similar import Subject, subject_of
from write.agents import Agent, agent, decision, entries, later, outcome, pattern, save, session

TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], include_characters="\n"), min_size=1)


def test_pattern_is_an_active_entry_with_its_lists(root: Path) -> None:
    stated = pattern("A test fails", "read it", "run it alone", exclusions=["it is flaky"])
    result = agent(root).save_pattern(stated | {"last_validated_at": "2026-04-08T10:00:00Z"}, "nav", agent="bot")
    assert outcome(result) == ("saved", "new", None)
    assert (root / "nav/conventions/a-test-fails.md").read_text() == (
        "---\ntype: pattern\nstatus: active\ncreated_at: 2026-04-08T10:00:00+00:00\ntitle: A test fails\n"
        "verified_at: 2026-04-08T10:00:00+00:00\nagent: bot\ntrigger: A test fails\n"
        "repeatable_steps:\n  - read it\n  - run it alone\nexclusions:\n  - it is flaky\n---\n"
    )


def test_equal_pattern_is_skipped_whatever_its_case_and_blanks(saves: Agent, tmp_path: Path) -> None:
    saves.save_pattern(pattern("A test fails", "read it"), "nav")
    before = snapshot(tmp_path)
    result = saves.save_pattern(pattern("a  TEST fails", "Read  it"), "nav")
    assert outcome(result) == ("duplicate_skip", "duplicate_skip", None)
    assert result.artifact_id == "nav/conventions/a-test-fails"
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("validated", ["2026-04-08T10:00:00Z", "2026-04-08", "2026-11-21T09:00:00Z", "2026-11-21"])
def test_pattern_that_was_validated_before_it_was_saved_passes_the_checks(root: Path, validated: str) -> None:
    result = agent(root).save_pattern(pattern(last_validated_at=validated), "nav")
    assert result.status == "saved"
    codes = {one.code for one in check(open_root(root), CheckRequest()).findings}
    assert codes <= {"link-not-tracked", "review-overdue"}
    obsolete = run_hygiene(open_root(root), "nav")["obsolete_patterns"]
    assert obsolete == (1 if validated.startswith("2026-04") else 0)


@pytest.mark.parametrize(
    ("again", "held"), [("2026-11-01", "2026-11-01"), ("2026-04-07", "2026-04-08"), (None, "2026-04-08")]
)
def test_equal_pattern_of_a_later_validation_renews_that_date_alone(root: Path, again: str | None, held: str) -> None:
    first = agent(root).save_pattern(pattern(last_validated_at="2026-04-08"), "nav")
    file = root / f"{first.artifact_id}.md"
    before = file.read_text()
    result = agent(root).save_pattern(pattern("A test fails!", last_validated_at=again), "nav")
    assert outcome(result) == ("duplicate_skip", "duplicate_skip", None)
    assert ("verified_at" in (result.message or "")) is (held == "2026-11-01")
    assert file.read_text() == before.replace("verified_at: 2026-04-08", f"verified_at: {held}")


@pytest.mark.parametrize(
    "other",
    [
        {"status": "deprecated", "deprecated_at": "2026-05-01", "deprecated_reason": "over"},
        {"type": "note"},
        {"trigger": None},
    ],
)
def test_pattern_that_ended_or_is_of_another_kind_is_no_duplicate(root: Path, other: dict[str, str]) -> None:
    stated = {"type": "pattern", "trigger": "A test fails", "repeatable_steps": ["read it"], "title": "A test fails"}
    write_entry(root, "nav/conventions/known", "", **(stated | other))
    assert save(agent(root), "pattern").dedup_outcome == "new"


CONTEXT = "label: context\ntopic: arm\nrelevance_score: 0.8\n---\n\nThe arm has six joints.\n"
SESSION = (
    "label: session\nobjective: Set up\n"
    "actions_taken:\n  - wrote it\ndecisions_made:\n  - one\nnext_actions:\n  - a\n  - b\n---\n"
)
WORK = {"actions_taken": ["wrote it"], "decisions_made": "one", "open_items": [""], "next_actions": ["a", "b"]}


@pytest.mark.parametrize(
    ("kind", "stated", "address", "title", "text"),
    [
        ("context", {"relevance_score": 0.8}, "nav/context/arm", "arm", CONTEXT),
        ("session", WORK, "nav/sessions/set-up", "Set up", SESSION),
    ],
)
def test_equal_context_and_session_are_saved_as_often_as_they_come(
    root: Path, kind: str, stated: dict[str, Any], address: str, title: str, text: str
) -> None:
    results = [save(agent(root, now=now), kind, **stated) for now in (later(0), later(301))]
    assert [(one.status, one.dedup_outcome) for one in results] == [("saved", None)] * 2
    assert entries(root) == [address, f"{address}-2"]
    head = "---\ntype: note\nstatus: active\ncreated_at: 2026-11-21T12:00:00+00:00\n"
    assert (root / f"{address}.md").read_text() == f"{head}title: {title}\n{text}"


def test_long_objective_is_kept_whole_beside_a_title_that_is_cut(root: Path) -> None:
    objective = "word " * 40
    result = agent(root).save_session(session(objective), "nav")
    text = (root / f"{result.artifact_id}.md").read_text()
    assert f"objective: {objective.strip()}\n" in text
    assert f"title: {('word ' * 20).strip()}…\n" in text


def composed(title: str, rationale: str) -> tuple[Decision, Entry, str]:
    record = read_request("decision", {"decision": decision(title, rationale)}).record
    assert isinstance(record, Decision)
    made, document = compose_record(record, "nav/rules/a", {"status": "draft", "created_at": "2026-11-21"})
    return record, made, document.body


@given(TEXT.filter(str.strip), TEXT.filter(str.strip))
def test_decision_that_was_written_is_read_back_with_its_title_and_reasons(title: str, rationale: str) -> None:
    record, made, body = composed(title, rationale)
    assert made.type is EntryType.DECISION
    assert made.title == record.title
    assert subject_of(made, body).fingerprint == Subject(record.title, record.rationale).fingerprint


@pytest.mark.parametrize(
    "rationale",
    [
        "# A heading\n\nText.",
        "Text.\n\n## Below\n\nMore.",
        "```\n# a comment\n```",
        "---\nstatus: active\n---",
        "- one\n- two",
        "`code` and ```more",
        "    indented",
        "~~~\nopen",
    ],
)
def test_reasons_are_read_back_whole_whatever_markdown_they_hold(rationale: str) -> None:
    record, made, body = composed("Use it", rationale)
    assert made.status is Status.DRAFT
    assert subject_of(made, body) == Subject("Use it", record.rationale)
