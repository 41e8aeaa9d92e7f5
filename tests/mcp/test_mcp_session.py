"""Within one connection an entry is given whole once; what was handed over is counted; drafts come back as drafts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, make_repository, make_root, open_root, write, write_entry
from clients import call, facts, server_over, text

from mdmem.mcp.server import MemoryServer
from mdmem.store.workspace.workspace import tally_of

RULE = "> A callback must not block its executor."


@pytest.fixture
def server(root: Path) -> MemoryServer:
    return server_over(root, remembers=True)


def retrieved(server: object, **arguments: object) -> str:
    return text(call(server, "retrieve", **{"query": "threads", **arguments}))


def test_fresh_gives_it_again_and_so_does_a_change_and_a_context(root: Path, server: MemoryServer) -> None:
    assert [RULE in retrieved(server, fresh=fresh) for fresh in (False, True, False)] == [True, True, False]
    # A context is handed on, so it is whole each time.
    assert [RULE in text(call(server, "context", goal="threads")) for _ in range(2)] == [True, True]
    write_entry(root, "nav/rules/callbacks", "Callbacks never block.\n\nRationale: x.\n", type="invariant")
    assert "> Callbacks never block." in retrieved(server)


def test_a_cut_answer_is_given_with_its_last_page(tmp_path: Path) -> None:
    root = make_root(tmp_path / "memory", "[server]\nanswer_tokens = 250\n")
    server = server_over(root, remembers=True)
    for number in range(4):
        write_entry(root, f"nav/rules/r{number}", f"X{number} must hold. {'x' * 600}\n", type="invariant")
    first = retrieved(server)
    assert retrieved(server) == first
    pages = [first]
    while cut := re.match(r"truncated: true; cursor: ([\w-]+)", pages[-1]):
        pages.append(retrieved(server, cursor=cut[1]))
    assert [number for number in range(4) if f"X{number} must hold" not in "".join(pages)] == []
    assert "must hold" not in retrieved(server)


def test_without_a_session_everything_is_given_each_time(root: Path) -> None:
    server = server_over(root)
    assert [RULE in retrieved(server) for _ in range(2)] == [True, True]


def test_several_questions_are_one_call_and_passages_another(server: MemoryServer) -> None:
    said = text(call(server, "retrieve", queries=["which threads?", "callbacks"]))
    assert [line for line in said.splitlines() if line.startswith("## ")] == ["## 1. which threads?", "## 2. callbacks"]
    assert said.count(RULE) == 1
    for words in ("what, then, was measured", ["what was measured"]):
        about = text(call(server, "get_entry", address=["threads"], about=words, fresh=True))
        assert "\n> Rationale: it was measured.\n" in about
    assert "`about` is empty" in text(call(server, "get_entry", address=["threads"], about=[""]))
    whole = [text(call(server, "get_entry", address=["threads"], **more, fresh=True)) for more in ({}, {"about": ""})]
    assert whole[0] == whole[1]
    asked = {"address": ["callbacks", "threads"], "about": ["executor", "what was measured"]}
    each = [text(call(server, "get_entry", **asked, fresh=fresh)) for fresh in (True, False)]
    assert [one.count("holds none of these words") for one in each] == [0, 0]
    assert ["it was measured" in one for one in each] == [True, False]


def test_entries_that_were_handed_over_are_counted_and_no_question_is_kept(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path) / "memory")
    write_entry(root, "shop/rules/amounts", title="Amounts are integers", type="invariant")
    server = server_over(root)
    call(server, "retrieve", query="amounts and a secret question")
    assert tally_of(open_root(root)).times == {"shop/rules/amounts": 1}
    (log,) = (tmp_path / ".git/mdmem/state").rglob("consulted.jsonl")
    assert b"secret" not in log.read_bytes()
    write(root, "mdmem.toml", "consultations = false\n")
    call(server, "retrieve", query="amounts")
    assert len(log.read_bytes().splitlines()) == 1


Capture = pytest.CaptureFixture[str]
# Seven decisions that have no words in common.
WORDS = ("axle", "bolt", "chain", "disc", "edge", "fork", "gear")


@pytest.fixture
def shop(root: Path) -> Path:
    write(root, "shop/README.md", "---\nkind: project\n---\n")
    return root


def save(root: Path, *words: str, **more: str) -> None:
    for word in words:
        decision = {"title": f"Use the {word}", "rationale": f"The {word} {word}s {word}ing {word}ed {word}y."}
        saved = facts(call(server_over(root), "save_decision", decision=decision, project_id="shop", **more))
        assert saved["dedup_outcome"] == "new"


def bundle(root: Path, **more: Any) -> Mapping[str, Any]:
    return facts(call(server_over(root), "retrieve_context", project_id="shop", **more))


def test_saved_decisions_come_back_as_items_once_they_are_merged(shop: Path) -> None:
    save(shop, *WORDS)
    commit_all(shop, "seven decisions")
    found = bundle(shop, categories=["Decision"])
    assert [(one["label"], one["status"], one["standing"]) for one in found["items"]] == [
        ("Decision", "draft", "merged")
    ] * 7
    assert (found["retrieval_status"], "proposed" in found) == ("succeeded", False)


def test_merged_decisions_have_room_after_patterns_and_before_notes(shop: Path) -> None:
    for number in range(5):
        write_entry(shop, f"shop/conventions/p{number}", "How.\n", type="pattern")
        write_entry(shop, f"shop/context/n{number}", "Why.\n", type="note")
    save(shop, *WORDS)
    commit_all(shop, "seven decisions")
    labels = [one["label"] for one in bundle(shop)["items"]]
    assert labels == ["Decision"] * 5 + ["Pattern"] * 5


def test_bundle_of_drafts_alone_says_so_and_has_all_of_the_callers_own(shop: Path) -> None:
    save(shop, *WORDS)
    save(shop, "hub", "idler", agent="robot")
    found = bundle(shop, categories=["Decision"])
    assert (found["items"], found["retrieval_status"]) == ([], "succeeded")
    assert found["message"] == (
        "only drafts were found: they are in `proposed`, and have no effect until a person approves them"
    )
    assert sorted(one["title"] for one in found["proposed"]) == [f"Use the {word}" for word in WORDS]
    assert {one["why"] for one in found["omitted"]} == {"over the 5 drafts that are shown"}
    own = [one["title"] for one in bundle(shop, agent="robot", categories=["Decision"])["proposed"]]
    assert (sorted(own[:2]), len(own)) == (["Use the hub", "Use the idler"], 5)
