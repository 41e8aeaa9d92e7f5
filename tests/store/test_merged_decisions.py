"""Decisions of agents that were merged into the default branch and that nobody approved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import commit_all, git, memory, run_here, snapshot, write, write_entry

from .lines import NEW, OLD, RULE, Capture, said, standings

PATTERN = "nav/conventions/pins"
DRAFT = {"status": "draft", "agent": "robot", "title": "Use four threads", "created_at": "2026-06-01"}


def merged(folder: Path, **fields: object) -> Path:
    """Return a memory in whose default branch an agent's draft is to supersede a decision."""
    memory(folder)
    write_entry(folder / "memory", PATTERN, "Pin threads.\n", type="pattern", title="Pin threads")
    changes = {"supersedes": OLD, "reason": "Two were too few.", **fields}
    write_entry(folder / "memory", NEW, "Navigation uses four threads.\n", **DRAFT, **changes)
    commit_all(folder, "a draft")
    return folder


def test_merged_decision_comes_after_those_in_force_and_before_patterns(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path)
    answer = said(capsys, "retrieve", "threads", cwd=folder)
    after = [(RULE, "binding"), (OLD, "binding"), (NEW, "merged"), (PATTERN, "binding")]
    assert (standings(answer["items"]), answer["proposed"]) == (after, [])
    printed = run_here(capsys, "retrieve", "threads", cwd=folder).out
    assert f"{NEW}: Use four threads (a draft: merged, not approved; would supersede {OLD})\n" in printed
    pack = said(capsys, "context", "use threads", cwd=folder)
    decisions = next(one["items"] for one in pack["sections"] if one["facet"] == "decisions")
    assert (standings(decisions), pack["proposed"]) == ([(OLD, "binding"), (NEW, "merged")], [])


def test_merged_decision_covers_nothing(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path, applies_to=["src/**"])
    answer = said(capsys, "retrieve", "four", "--path", "src/nav.py", cwd=folder)
    assert ((NEW, "merged") in standings(answer["items"]), answer["coverage"]) == (True, "none")
    assert (
        "No invariant or decision clearly covers this"
        in run_here(capsys, "retrieve", "--path", "src/nav.py", cwd=folder).out
    )


def test_merged_decision_overrides_and_contradicts_nothing(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    write(folder, "memory/shared/README.md", "---\nkind: shared\n---\n")
    write_entry(folder / "memory", "shared/rules/one", "One thread.\n", title="One thread")
    says = {"overrides": "shared/rules/one", "conflicts_with": OLD, "amends": OLD, "reason": "faster"}
    write_entry(folder / "memory", NEW, "Four.\n", **DRAFT, **says)
    commit_all(folder)
    answer = said(capsys, "retrieve", cwd=folder)
    items = {item["address"]: item for item in answer["items"]}
    assert ("shared/rules/one" in items, items[NEW]["overrides"], answer["conflicts"]) == (True, [], [])
    assert "amended_by" not in items[OLD]


def test_draft_on_a_branch_stays_a_proposal_until_it_is_merged(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    git(folder, "checkout", "-q", "-b", "feature")
    write_entry(folder / "memory", NEW, "Four.\n", **DRAFT)
    assert standings(said(capsys, "retrieve", cwd=folder)["proposed"]) == [(NEW, "uncommitted")]
    commit_all(folder)
    assert standings(said(capsys, "retrieve", cwd=folder)["proposed"]) == [(NEW, "proposed")]
    git(folder, "branch", "-f", "main")
    answer = said(capsys, "retrieve", cwd=folder)
    assert ((NEW, "merged") in standings(answer["items"]), answer["proposed"]) == (True, [])


@pytest.mark.parametrize("fields", [{"agent": None}, {"type": "invariant"}, {"superseded_by": OLD}])
def test_only_an_agents_decision_that_nothing_replaced_is_listed_so(
    fields: dict[str, str | None], tmp_path: Path, capsys: Capture
) -> None:
    folder = memory(tmp_path)
    stated = {name: value for name, value in {**DRAFT, **fields}.items() if value is not None}
    write_entry(folder / "memory", NEW, "Four.\n", **stated)
    commit_all(folder)
    assert standings(said(capsys, "retrieve", cwd=folder)["items"]) == [(RULE, "binding"), (OLD, "binding")]


def test_list_and_show_tell_that_it_is_merged(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path)
    assert (NEW, "merged") in standings(said(capsys, "list", cwd=folder)["entries"])
    assert "Use four threads  (merged, not approved)\n" in run_here(capsys, "list", cwd=folder).out
    assert NEW not in run_here(capsys, "list", "--status", "active", cwd=folder).out
    assert f"{NEW} (draft, merged, not approved)\n" in run_here(capsys, "show", NEW, cwd=folder).out


def test_status_counts_them(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path)
    assert said(capsys, "status", cwd=folder)["merged"] == [NEW]
    line = "merged   1 decision of agents, not approved; `mdmem approve --merged --dry-run` shows"
    assert line in run_here(capsys, "status", cwd=folder).out


def test_approve_merged_is_one_commit_that_passes_the_check(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path)
    write_entry(folder / "memory", "nav/rules/log", "Log.\n", **{**DRAFT, "title": "Log"})
    commit_all(folder, "another")
    before = snapshot(folder)
    listed = run_here(capsys, "approve", "--merged", "--dry-run", cwd=folder)
    assert listed.code == 0
    assert ("nav/rules/log.md" in listed.out, f"{NEW}.md" in listed.out) == (True, True)
    assert snapshot(folder) == before
    approved = run_here(capsys, "approve", "--merged", "--commit", "--format", "json", cwd=folder)
    changed = [one["address"] for one in json.loads(approved.out)["changed"]]
    assert sorted(changed) == [NEW, OLD, "nav/rules/log"]
    assert git(folder, "log", "--format=%s", "main~1..main").splitlines() == ["Approve 2 entries"]
    assert said(capsys, "status", cwd=folder)["merged"] == []
    assert run_here(capsys, "check", "--base", "main~1", cwd=folder).code == 0


def test_approve_merged_takes_those_that_are_named(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path)
    write_entry(folder / "memory", "nav/rules/log", "Log.\n", **{**DRAFT, "title": "Log"})
    write_entry(folder / "memory", "nav/rules/mine", "Mine.\n", status="draft")
    commit_all(folder, "another")
    assert run_here(capsys, "approve", "--merged", "nav/rules/", cwd=folder).code == 0
    assert said(capsys, "status", cwd=folder)["merged"] == [NEW]
    assert "status: draft" in (folder / "memory/nav/rules/mine.md").read_text()


def test_approve_merged_ends_a_draft_that_another_of_them_supersedes(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path)
    later = {**DRAFT, "title": "Use a pool", "supersedes": NEW, "reason": "Four were too many."}
    write_entry(folder / "memory", "nav/architecture/pool", "A pool.\n", **later)
    commit_all(folder, "a pool")
    assert run_here(capsys, "approve", "--merged", "--commit", cwd=folder).code == 0
    found = said(capsys, "show", NEW, "nav/architecture/pool", cwd=folder)["entries"]
    assert [one["front_matter"]["status"] for one in found] == ["deprecated", "active"]
    assert run_here(capsys, "check", cwd=folder).code == 0


def test_approve_merged_without_any_is_a_usage_error(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    ran = run_here(capsys, "approve", "--merged", cwd=folder)
    said_of_it = "mdmem: no merged decision of an agent lacks approval here\n"
    assert (ran.code, ran.err) == (2, said_of_it)
    assert run_here(capsys, "approve", cwd=folder).code == 2
