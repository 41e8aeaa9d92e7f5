"""Test whether a saved decision is new, a duplicate, a successor or for a person; and other records."""

from pathlib import Path
from typing import Any

import pytest
from builders import open_root, snapshot, write, write_entry
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from mdmem.change.hygiene import run_hygiene
from mdmem.checks.run import CheckRequest, check
from mdmem.model.entry import EntryType, Status
from mdmem.write.records import Decision, compose_record, read_request
from mdmem.write.similar import Subject, subject_of
from write.agents import (
    WORDS,
    Agent,
    agent,
    decision,
    entries,
    later,
    of_words,
    outcome,
    pattern,
    project,
    save,
    session,
)

ACTIVE = '[governance.agent_status]\ndecision = "active"\n'
NEW = ("saved", "new", None)


def review(candidate: str) -> tuple[str, str, str]:
    return ("pending_retry", "manual_review", candidate)


def with_words(root: Path, count: int = 20, address: str = "nav/architecture/known", **fields: object) -> str:
    """Write a current decision with the first of the twenty words."""
    first, *others = WORDS[:count]
    write_entry(root, address, f"Rationale: {' '.join(others)}\n", title=first, **fields)
    return address


def test_decision_is_a_draft_with_its_fields_and_its_reasons(root: Path) -> None:
    stated = decision(owner="Ada", date="2026-04-08", confidence=0.95)
    result = agent(root).save_decision(stated, "nav", agent="bot")
    assert outcome(result) == NEW
    assert result.artifact_id == "nav/architecture/use-utc"
    assert (root / "nav/architecture/use-utc.md").read_text() == (
        "---\ntype: decision\nstatus: draft\ncreated_at: 2026-04-08\ntitle: Use UTC\nowner: Ada\nagent: bot\n"
        "confidence: 0.95\n---\n\nRationale: Clocks differ.\n"
    )


@pytest.mark.parametrize("status", ["draft", "active", "under_review"])
@pytest.mark.parametrize("title", ["Use UTC", "USE  utc", "Use\u00a0UTC", "Ｕｓｅ UTC", "“Use” – (UTC)!"])
def test_equal_decision_is_skipped_whatever_its_case_blanks_and_punctuation(
    root: Path, tmp_path: Path, title: str, status: str
) -> None:
    write_entry(root, "nav/rules/utc", "Rationale: clocks\ndiffer.\n", title=title, status=status)
    before = snapshot(tmp_path)
    result = agent(root).save_decision(decision(), "nav")
    assert outcome(result) == ("duplicate_skip", "duplicate_skip", None)
    assert result.artifact_id == "nav/rules/utc"
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("shared", "expected"), [(14, "supersede"), (13, "manual_review"), (10, "manual_review"), (9, "new")]
)
def test_share_of_words_decides_at_its_edges(root: Path, shared: int, expected: str) -> None:
    # Both texts together have twenty words, so 14 are exactly .70, and 10 exactly .50.
    address = with_words(root, shared)
    result = agent(root).save_decision(of_words(20), "nav")
    assert result.dedup_outcome == expected
    assert result.candidate_id == (None if expected == "new" else address)
    assert result.status == ("pending_retry" if expected == "manual_review" else "saved")


@pytest.mark.parametrize(
    ("address", "fields"), [("web/architecture/known", {}), ("nav/architecture/known", {"type": "invariant"})]
)
def test_equal_words_of_another_wing_or_type_are_no_candidates(
    root: Path, address: str, fields: dict[str, str]
) -> None:
    with_words(root, address=address, **fields)
    assert outcome(agent(root).save_decision(of_words(20), "nav")) == NEW


@pytest.mark.parametrize("count", [20, 15, 10])
def test_match_with_a_deprecated_decision_is_for_a_person(root: Path, count: int) -> None:
    heads = {"superseded_by": ["nav/rules/head"], "deprecated_at": "2026-05-01"}
    with_words(root, count, "nav/rules/old", status="deprecated", **heads)
    write_entry(root, "nav/rules/head", "Something else.\n", title="Head", supersedes=["nav/rules/old"])
    assert outcome(agent(root).save_decision(of_words(20), "nav")) == review("nav/rules/head")


def test_current_match_takes_precedence_over_a_deprecated_one(root: Path) -> None:
    with_words(root, 19, "nav/rules/old", status="deprecated", deprecated_at="2026-05-01", deprecated_reason="over")
    assert outcome(agent(root).save_decision(of_words(20), "nav"))[1] == "manual_review"
    known = with_words(root, 15)
    assert outcome(agent(root).save_decision(of_words(20), "nav")) == ("saved", "supersede", known)


def test_manual_review_has_the_answer_of_the_contract(root: Path, tmp_path: Path) -> None:
    with_words(root, 13)
    before = snapshot(tmp_path)
    assert agent(root).save_decision(of_words(20), "nav").as_json() == {
        "status": "pending_retry",
        "artifact_id": None,
        "dedup_outcome": "manual_review",
        "candidate_id": "nav/architecture/known",
        "message": "a similar decision (Jaccard 0.65) is nav/architecture/known; nothing was written",
        "next_step": "read `nav/architecture/known`, then call again with `supersedes` set to it, or with"
        " `distinct_from` set to it if both stay current; or let a person decide, for whom `mdmem hygiene` and"
        " `mdmem save --waiting` list it",
    }
    assert snapshot(tmp_path) == before


def confident(saves: Agent, confidence: float | None) -> tuple[str, str | None, str | None]:
    return outcome(saves.save_decision(of_words(20, confidence=confidence), "nav"))


def test_lower_confidence_passes_the_review(saves: Agent, root: Path) -> None:
    stopped = review(with_words(root, 13))
    assert [confident(saves, one) for one in (0.8, 0.8, 0.9, None)] == [stopped] * 4
    assert confident(agent(root), 0.79) == NEW


@pytest.mark.parametrize("count", [13, 16])
def test_distinct_decision_is_saved_next_to_the_other(saves: Agent, root: Path, count: int) -> None:
    address = with_words(root, count)
    if count == 13:
        assert saves.save_decision(of_words(20), "nav").is_for_a_person
        write_entry(root, "nav/rules/other", "Else.\n")
        named = of_words(20, distinct_from="nav/rules/other")
        assert outcome(saves.save_decision(named, "nav")) == review(address), "the other one is still similar"
    result = saves.save_decision(of_words(20, distinct_from=address), "nav")
    assert outcome(result) == NEW
    assert f"see:\n  - {address}\n" in (root / f"{result.artifact_id}.md").read_text()
    assert saves.get_save_status("nav")["status"] == "saved"
    assert run_hygiene(open_root(root), "nav").get("near_duplicates") is None


@pytest.mark.parametrize(("count", "status"), [(20, "duplicate_skip"), (15, "pending_retry"), (9, "saved")])
def test_decision_of_a_shared_wing_is_not_written_again(root: Path, count: int, status: str) -> None:
    write(root, "base/README.md", "---\nkind: shared\n---\n")
    address = with_words(root, count, "base/rules/known")
    result = agent(root).save_decision(of_words(20), "nav")
    assert result.status == status
    if count == 15:
        assert result.candidate_id == address
        again = f"read `{address}`, then call again with `distinct_from` set to it if both stay current; or "
        assert (result.next_step or "").startswith(again)
        assert outcome(agent(root).save_decision(of_words(20, distinct_from=address), "nav")) == NEW
    write(root, "nav/README.md", "---\nkind: project\nshared_wings: []\n---\n")
    assert agent(root).save_decision(of_words(20, confidence=0.2), "nav").artifact_id != address


def test_stated_supersession_passes_the_review(saves: Agent, root: Path) -> None:
    known = with_words(root, 13)
    before = (root / f"{known}.md").read_bytes()
    saves.save_decision(of_words(20), "nav")
    result = saves.save_decision(of_words(20, supersedes=known), "nav")
    assert outcome(result) == ("saved", "supersede", known)
    assert result.message == (
        "nav/architecture/worda is saved as a draft: it applies once a person approves it; "
        "nav/architecture/known stays as it is until then"
    )
    assert "supersedes:\n  - nav/architecture/known\n" in (root / "nav/architecture/worda.md").read_text()
    assert (root / f"{known}.md").read_bytes() == before


def test_active_successor_deprecates_the_older_one(tmp_path: Path) -> None:
    root = project(tmp_path, ACTIVE)
    known = with_words(root, 15)
    result = agent(root).save_decision(of_words(20), "nav")
    assert outcome(result) == ("saved", "supersede", known)
    assert result.message == f"nav/architecture/worda is saved and supersedes {known}, which is deprecated now"
    older = (root / f"{known}.md").read_text()
    assert "status: deprecated\n" in older
    assert "superseded_by: [nav/architecture/worda]\n" in older


def test_successor_copies_the_scope_of_the_older_one(root: Path) -> None:
    scope = {"applies_to": ["src/nav/**"], "owner": "nav-team", "focus": "docking", "tags": ["clocks"]}
    known = with_words(root, 5, **scope)
    agent(root).save_decision(decision(supersedes=known), "nav")
    agent(root).save_decision(decision("Other", supersedes=known, owner="Ada"), "nav", focus="maps")
    first, second = (open_root(root).catalog.entries[f"nav/architecture/{one}"] for one in ("use-utc", "other"))
    assert (first.applies_to, first.owner, first.focus, first.tags) == (
        ("src/nav/**",),
        "nav-team",
        "docking",
        ("clocks",),
    )
    assert (second.applies_to, second.owner, second.focus) == (("src/nav/**",), "Ada", "maps")


def test_second_successor_fails_with_the_address_of_the_first(tmp_path: Path) -> None:
    root = project(tmp_path, ACTIVE)
    saves = agent(root)
    known = with_words(root, 5)
    first = saves.save_decision(decision("One", "Because of it.", supersedes=known), "nav")
    second = saves.save_decision(decision("Other", "For no reason.", supersedes=known), "nav")
    assert (second.status, second.candidate_id) == ("failed", first.artifact_id)
    assert second.message == "nav/architecture/known is superseded by nav/architecture/one already; supersede that one"
    assert not (root / "nav/architecture/other.md").exists()


def test_difference_at_the_end_of_a_long_title_counts(saves: Agent, root: Path) -> None:
    results = [saves.save_decision(decision(f"{'Long ' * 30}{end}", "Why."), "nav") for end in ("one", "two")]
    assert [one.status for one in results] != ["saved", "duplicate_skip"]
    assert f"title: {'Long ' * 30}one\n" in (root / f"{results[0].artifact_id}.md").read_text()


def test_taken_name_gets_a_number_and_the_room_of_the_call_goes_before_the_settings(tmp_path: Path) -> None:
    root = project(tmp_path, '[rooms]\ndecision = "choices"\n')
    saves = agent(root)
    write_entry(root, "nav/choices/Use-UTC", "Something else altogether.\n", title="Else")
    assert saves.save_decision(decision(), "nav").artifact_id == "nav/choices/use-utc-2"
    assert saves.save_decision(decision("Other", "Else."), "nav", room="time").artifact_id == "nav/time/other"


def test_unwritable_index_does_not_stop_the_comparison(root: Path, tmp_path: Path) -> None:
    known = with_words(root, 13)
    write(tmp_path, ".git/mdmem/cache/memory", "a file where the index would be")
    workspace = replace(open_root(root), opened=[])
    assert outcome(Agent(workspace).save_decision(of_words(20), "nav")) == review(known)


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
    result = agent(root).save_pattern(pattern("a  TEST fails!", "Read  it", last_validated_at=again), "nav")
    assert outcome(result) == ("duplicate_skip", "duplicate_skip", None)
    assert entries(root) == [result.artifact_id] == ["nav/conventions/a-test-fails"]
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
def test_deprecated_pattern_and_other_entries_are_no_duplicates(root: Path, other: dict[str, str]) -> None:
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
def test_equal_context_and_session_are_saved_again(
    root: Path, kind: str, stated: dict[str, Any], address: str, title: str, text: str
) -> None:
    results = [save(agent(root, now=now), kind, **stated) for now in (later(0), later(301))]
    assert [(one.status, one.dedup_outcome) for one in results] == [("saved", None)] * 2
    assert entries(root) == [address, f"{address}-2"]
    head = "---\ntype: note\nstatus: active\ncreated_at: 2026-11-21T12:00:00+00:00\n"
    assert (root / f"{address}.md").read_text() == f"{head}title: {title}\n{text}"


def test_long_objective_is_kept_in_full_and_its_title_cut(root: Path) -> None:
    objective = "word " * 40
    result = agent(root).save_session(session(objective), "nav")
    text = (root / f"{result.artifact_id}.md").read_text()
    assert f"objective: {objective.strip()}\n" in text
    assert f"title: {('word ' * 20).strip()}…\n" in text


@given(TEXT.filter(str.strip), TEXT.filter(str.strip))
@example("Use it", "# A heading\n\nText.")
@example("Use it", "Text.\n\n## Below\n\nMore.")
@example("Use it", "```\n# a comment\n```")
@example("Use it", "---\nstatus: active\n---")
@example("Use it", "- one\n- two")
@example("Use it", "`code` and ```more")
@example("Use it", "    indented")
@example("Use it", "~~~\nopen")
def test_decision_that_was_written_is_read_back_with_its_title_and_reasons(title: str, rationale: str) -> None:
    record = read_request("decision", {"decision": decision(title, rationale)}).record
    assert isinstance(record, Decision)
    made, document = compose_record(record, "nav/rules/a", {"status": "draft", "created_at": "2026-11-21"})
    assert (made.type, made.status, made.title) == (EntryType.DECISION, Status.DRAFT, record.title)
    assert subject_of(made, document.body) == Subject(record.title, record.rationale)
