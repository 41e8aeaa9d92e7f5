"""What people do to entries from an editor: edits over both ends, offered where they can be."""

import json

import pytest
from builders import commit_all, git, run_here, write, write_entry
from editors import Hand
from lsprotocol import types
from memories import RULE, THREADS
from pygls.exceptions import JsonRpcException

from mdmem.lsp.memory import Abilities
from mdmem.lsp.server import Server

POOL = "memory/nav/architecture/pool.md"
DRAFT = "memory/nav/architecture/draft.md"
WHOLE = ["Verify: still true today", "Put under review", "Supersede with a new draft", "Deprecate"]


@pytest.fixture
def lived(hand: Hand) -> Hand:
    """An editor of a memory with a decision that names another, and a draft."""
    root = hand.folder / "memory"
    write_entry(root, "nav/architecture/pool", title="A pool", see=["nav/architecture/threads"], approved_by="Ada")
    drafted = {"supersedes": ["nav/architecture/pool"], "reason": "it is late"}
    write_entry(root, "nav/architecture/draft", title="No pool 😀", status="draft", **drafted)
    commit_all(hand.folder)
    return hand


def offered(hand: Hand, path: str, where: int | str = 0) -> dict[str, types.CodeAction]:
    return {one.title: one for one in hand.actions(path, where, only="refactor")}


def codes(capsys: pytest.CaptureFixture[str], hand: Hand) -> list[str]:
    """Return the codes of the errors that the command finds in what is saved."""
    ran = run_here(capsys, "check", "--format", "json", cwd=hand.folder)
    return sorted({one["code"] for one in json.loads(ran.out)["findings"] if one["severity"] == "error"})


def test_what_is_offered_follows_what_an_entry_is(lived: Hand) -> None:
    for path in (POOL, DRAFT):
        lived.open(path)
    assert list(offered(lived, POOL)) == WHOLE
    assert list(offered(lived, DRAFT)) == ["Approve this draft", "Deprecate"]
    lived.type(POOL, "status: active", "status: deprecated\ndeprecated_at: 2026-03-06\ndeprecated_reason: r")
    assert not offered(lived, POOL)
    lived.type(POOL, "type: decision", "type: [")
    assert not offered(lived, POOL)
    assert not lived.actions(DRAFT, by_itself=True), "an editor that asks at each step is told fixes alone"
    lived.document(POOL)
    lived.open("memory/nav/README.md")
    assert not offered(lived, "memory/nav/README.md")


def test_one_supersedes_another_with_both_ends(lived: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    lived.open(POOL)
    lived.open(THREADS)
    lived.type(THREADS, "measured", "measured 😀 twice")
    title = "Supersede nav/architecture/threads"
    assert title not in offered(lived, POOL, "title: A po|ol")
    lived.apply(offered(lived, POOL, "architecture/thr|eads")[title].edit)
    lived.save()
    older, newer = ((lived.folder / path).read_text(encoding="utf-8") for path in (THREADS, POOL))
    assert "supersedes: [nav/architecture/threads]\n" in newer
    assert 'reason: "<say why>"\n' in newer
    ended = ("status: deprecated\n", "superseded_by: [nav/architecture/pool]\n", "measured 😀 twice")
    assert all(one in older for one in ended)
    assert codes(capsys, lived) == ["template-leftover"], "a reason is still to be given"
    lived.type(POOL, '"<say why>"', "a pool is faster")
    lived.save()
    assert codes(capsys, lived) == []


def test_a_draft_is_approved_in_the_name_of_who_commits(lived: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    git(lived.folder, "config", "user.name", "Ada")
    git(lived.folder, "config", "user.email", "ada@example.org")
    lived.open(DRAFT)
    lived.apply(offered(lived, DRAFT)["Approve this draft"].edit)
    lived.save()
    assert "approved_by: Ada <ada@example.org>" in (lived.folder / DRAFT).read_text(encoding="utf-8")
    assert "superseded_by: [nav/architecture/draft]" in (lived.folder / POOL).read_text(encoding="utf-8")
    assert codes(capsys, lived) == []


def test_nobody_approves_the_template_or_for_a_wing_that_refuses_them(lived: Hand) -> None:
    lived.open(DRAFT)
    lived.type(DRAFT, "We decided.", "<State what was decided in one sentence.>")
    assert "Approve this draft" not in offered(lived, DRAFT)
    lived.type(DRAFT, "<State what was decided in one sentence.>", "We decided.")
    assert "Approve this draft" in offered(lived, DRAFT)
    write(lived.folder, "memory/mdmem.toml", '[governance]\napprovals = "owners"\n')
    lived.look()
    assert "Approve this draft" not in offered(lived, DRAFT)


def test_one_is_doubted_verified_and_ended(lived: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    write(lived.folder, POOL, (lived.folder / POOL).read_bytes().replace(b"\n", b"\r\n"))
    lived.open(POOL)
    lived.apply(offered(lived, POOL)["Put under review"].edit)
    document = lived.document(POOL)
    assert "status: under_review\r\n" in document.text
    assert 'x-review-reason: "<say why>"\r\n' in document.text
    lived.save()
    assert codes(capsys, lived) == ["template-leftover"]
    lived.apply(offered(lived, POOL)["Verify: still true today"].edit)
    lived.save()
    text = (lived.folder / POOL).read_bytes().decode()
    assert "verified_at: 2026-11-21\r\n" in text
    assert "x-review-reason" not in text
    assert text.count("\r\n") == text.count("\n")
    assert codes(capsys, lived) == []
    lived.apply(offered(lived, POOL)["Deprecate"].edit)
    lived.save()
    assert 'deprecated_reason: "<say why>"' in (lived.folder / POOL).read_text(encoding="utf-8")
    assert "template-leftover" in [one.code for one in lived.document(POOL).memory.findings]


def test_a_new_draft_stands_beside_what_it_is_to_replace(lived: Hand) -> None:
    lived.open(THREADS)
    write_entry(lived.folder / "memory", "nav/architecture/threads-2", title="Taken")
    lived.look()
    lived.apply(offered(lived, THREADS)["Supersede with a new draft"].edit)
    lived.save()
    new = (lived.folder / "memory/nav/architecture/threads-3.md").read_text(encoding="utf-8")
    assert "status: draft\n" in new
    assert 'supersedes: [nav/architecture/threads]\nreason: "<say why>"\n' in new
    assert "status: active" in lived.document(THREADS).text
    lived.document(THREADS).memory.abilities = Abilities(creates_files=False)
    assert "Supersede with a new draft" not in offered(lived, THREADS)


def test_what_would_break_the_memory_is_not_offered(lived: Hand) -> None:
    lived.open(THREADS)
    lived.type(THREADS, "type: decision", "type: decision\nsee: [nav/architecture/pool, nav/rules/callbacks]")
    assert "Supersede nav/architecture/pool" in offered(lived, THREADS, "architecture/po|ol")
    lost = offered(lived, THREADS, "rules/call|backs")
    assert "Supersede nav/rules/callbacks" not in lost, "an invariant would be lost"
    lived.open(POOL)
    lived.type(POOL, "see:", "supersedes:")
    assert "Supersede nav/architecture/pool" not in offered(lived, THREADS, "architecture/po|ol"), "not in a circle"


def test_a_file_that_may_not_be_written_has_no_action(lived: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    lived.open(POOL)
    monkeypatch.setattr("os.access", lambda *_: False)
    assert not offered(lived, POOL)


def test_what_cannot_be_is_refused_to_who_asked_and_is_no_fault(hand: Hand) -> None:
    hand.open(RULE)
    server = Server(hand.memories)
    params = types.RenameParams(hand.named(RULE), types.Position(0, 1), "architecture/threads")
    with pytest.raises(JsonRpcException, match="exists already"):
        server.protocol.fm.features[types.TEXT_DOCUMENT_RENAME](params)
