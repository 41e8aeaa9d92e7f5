"""What comes back of the decisions that an agent saved: as drafts, and once they were merged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, memory, write, write_entry
from clients import call, facts, server_over

Capture = pytest.CaptureFixture[str]
# Seven decisions that have no words in common.
WORDS = ("axle", "bolt", "chain", "disc", "edge", "fork", "gear")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = memory(tmp_path / "repo") / "memory"
    write(made, "shop/README.md", "---\nkind: project\n---\n")
    return made


def save(root: Path, *words: str, **more: str) -> None:
    for word in words:
        decision = {"title": f"Use the {word}", "rationale": f"The {word} {word}s {word}ing {word}ed {word}y."}
        saved = facts(call(server_over(root), "save_decision", decision=decision, project_id="shop", **more))
        assert saved["dedup_outcome"] == "new"


def bundle(root: Path, **more: Any) -> Mapping[str, Any]:
    return facts(call(server_over(root), "retrieve_context", project_id="shop", **more))


def test_saved_decisions_come_back_as_items_once_they_are_merged(root: Path) -> None:
    save(root, *WORDS)
    commit_all(root, "seven decisions")
    found = bundle(root, categories=["Decision"])
    assert [(one["label"], one["status"], one["standing"]) for one in found["items"]] == [
        ("Decision", "draft", "merged")
    ] * 7
    assert (found["retrieval_status"], "proposed" in found) == ("succeeded", False)


def test_merged_decisions_have_room_after_patterns_and_before_notes(root: Path) -> None:
    for number in range(5):
        write_entry(root, f"shop/conventions/p{number}", "How.\n", type="pattern")
        write_entry(root, f"shop/context/n{number}", "Why.\n", type="note")
    save(root, *WORDS)
    commit_all(root, "seven decisions")
    labels = [one["label"] for one in bundle(root)["items"]]
    assert labels == ["Decision"] * 5 + ["Pattern"] * 5


def test_bundle_of_drafts_alone_says_so_and_has_all_of_the_callers_own(root: Path) -> None:
    save(root, *WORDS)
    save(root, "hub", "idler", agent="robot")
    found = bundle(root, categories=["Decision"])
    assert (found["items"], found["retrieval_status"]) == ([], "succeeded")
    assert found["message"] == (
        "only drafts were found: they are in `proposed`, and do not bind until a person approves them"
    )
    assert sorted(one["title"] for one in found["proposed"]) == [f"Use the {word}" for word in WORDS]
    assert {one["why"] for one in found["omitted"]} == {"over the 5 drafts that are shown"}
    own = [one["title"] for one in bundle(root, agent="robot", categories=["Decision"])["proposed"]]
    assert (sorted(own[:2]), len(own)) == (["Use the hub", "Use the idler"], 5)
