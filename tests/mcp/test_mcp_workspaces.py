"""Test what the calls of a server share: it is never older than the files. A deleted memory is reported."""

import re
import shutil
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import TODAY, commit_all, environment, git, make_root, memory, open_root, write, write_entry
from clients import ASKING, call, facts, server_over, text

from mdmem.mcp.server import MemoryServer
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import EVERYTHING, Access
from mdmem.store.catalog import load as loading
from mdmem.store.workspace.proposals import view_of
from mdmem.store.workspace.workspace import tally_of


@pytest.fixture
def provider(root: Path) -> Provider:
    return Provider(str(root), environment=environment(), cwd=root, today=lambda: date.fromisoformat(TODAY))


def addresses(provider: Provider, access: Access = EVERYTHING) -> list[str]:
    return list(provider.workspace(access).catalog.entries)


def edit(path: Path) -> object:
    return path.write_text(f"{path.read_text()} threads more", encoding="utf-8")


_STEPS: dict[str, Callable[[Path], object]] = {
    "an edit": lambda root: edit(root / "nav/rules/callbacks.md"),
    "a second edit": lambda root: edit(root / "nav/rules/callbacks.md"),
    "another file's": lambda root: edit(root / "nav/architecture/threads.md"),
    "one taken back": lambda root: git(root, "checkout", "-q", "--", "nav/rules/callbacks.md"),
    "a new entry": lambda root: write_entry(root, "nav/rules/new", "New threads.\n"),
    "a file moved": lambda root: (root / "nav/rules/new.md").rename(root / "nav/rules/renewed.md"),
    "one gone": lambda root: (root / "nav/architecture/threads.md").unlink(),
    "a link in its place": lambda root: (root / "nav/architecture/threads.md").symlink_to("gone.md"),
    "a commit": lambda root: commit_all(root),
    "an edit of it": lambda root: edit(root / "nav/rules/renewed.md"),
    "a stash": lambda root: git(root, "stash", "-q"),
    "the stash again": lambda root: git(root, "stash", "pop", "-q"),
    "the commit before": lambda root: git(root, "checkout", "-qf", "HEAD~1"),
    "a manifest": lambda root: edit(root / "nav/README.md"),
    "a proposal": lambda root: (
        git(root, "checkout", "-qfb", "proposal"),
        edit(root / "nav/rules/callbacks.md"),
        commit_all(root),
    ),
    "a merge of it": lambda root: git(root, "branch", "-f", "main", "HEAD"),
}


@pytest.mark.parametrize("patience", [0, 2_000_000_000])
def test_server_sees_the_same_as_a_new_one_after_each_change(
    root: Path, provider: Provider, patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "RACY_NS", patience)

    def seen(server: Provider) -> list[object]:
        view = view_of(server.workspace())
        found: list[object] = [view.overridden, view.alternatives]
        for one in (view.effective, view.checkout):
            catalog = one.catalog
            found += [match.key for match in one.find_text("threads", catalog.everything).matches]
            found += [catalog.entries, catalog.file_digests, catalog.branch_states, catalog.wings]
            found += [file.path for file in (*catalog.files, *catalog.others)]
        return found

    before = seen(provider)
    for step, change in _STEPS.items():
        change(root)
        new = Provider(str(root), environment=environment(), cwd=root, today=provider.today)
        now = seen(provider)
        assert now == seen(new), step
        assert now != before, step
        assert seen(provider) == now, step
        before = now


def test_each_caller_has_a_view_of_its_own(root: Path, provider: Provider) -> None:
    write_entry(root, "arm/rules/x")
    narrow = Access.to_wings(["arm"])
    assert addresses(provider) == ["arm/rules/x", "nav/architecture/threads", "nav/rules/callbacks"]
    assert addresses(provider, narrow) == addresses(provider, narrow) == ["arm/rules/x"]
    assert len(addresses(provider)) == 3


def test_fault_of_git_ends_when_it_is_repaired(root: Path, provider: Provider) -> None:
    settings = root.parent / ".git" / "config"
    sound = settings.read_text(encoding="utf-8")
    settings.write_text(sound + "[core]\n\tbare = true\n\tworktree = ..\n", encoding="utf-8")
    assert provider.workspace().location.git_fault
    settings.write_text(sound, encoding="utf-8")
    assert provider.workspace().location.git_fault is None


def test_time_limit_of_one_call_does_not_affect_the_next(provider: Provider) -> None:
    now = [0.0]
    late = provider.workspace().within(60, clock=lambda: now[0])
    assert late.catalog.entries
    now.append(now.pop() + 61)
    assert "executor" in provider.workspace().catalog.body("nav/rules/callbacks")


CALLS: dict[str, dict[str, object]] = {
    "retrieve": {"query": "callbacks"},
    "why": {"address": "nav/rules/callbacks"},
    "propose": {"type": "decision", "room": "rules", "title": "New", "body": "Text.\n\nRationale: so."},
}


@pytest.mark.parametrize("gone", ["repo", "repo/.git"])
def test_server_makes_no_git_directory_at_the_old_place(gone: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "repo") / "memory"
    said = environment(XDG_DATA_HOME=str(tmp_path / "data"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    server = server_over(Provider(str(root), environment=said, cwd=root, today=lambda: date.fromisoformat(TODAY)))
    call(server, "check")
    shutil.move(tmp_path / gone, tmp_path / "moved")
    answers = [text(call(server, tool, **arguments)) for tool, arguments in CALLS.items()]
    assert [answer for answer in answers if "fault of mdmem itself" in answer] == []
    assert not (tmp_path / gone).exists()


@pytest.mark.parametrize("tool", ASKING)
def test_question_to_a_deleted_memory_fails(tool: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "repo") / "memory"
    server = server_over(root)
    assert "Use two threads" in text(call(server, tool, **ASKING[tool]))
    shutil.move(root, tmp_path / "moved")
    said = text(call(server, tool, **ASKING[tool]))
    assert "deleted after the server started" in said
    assert "failed" in said or "Degraded" in said or tool == "context"
    assert "save_session" not in said
    shutil.move(tmp_path / "moved", root)
    assert "Use two threads" in text(call(server, tool, **ASKING[tool]))


def test_changed_settings_are_seen_at_the_next_call(root: Path, provider: Provider) -> None:
    assert provider.settings().answer_limit == 24_000
    write(root, "mdmem.toml", "[server]\nanswer_tokens = 500\n")
    assert provider.settings().answer_limit == 2_000
    write(root, "mdmem.toml", "[server]\nanswer_tokens = 500\nanswer_bytes = 3000\n")
    assert provider.settings().answer_limit == 3_000


RULE = "> A callback must not block its executor."


@pytest.fixture
def server(root: Path) -> MemoryServer:
    return server_over(root, remembers=True)


def retrieved(server: object, **arguments: object) -> str:
    return text(call(server, "retrieve", **{"query": "threads", **arguments}))


def test_entry_is_shown_again_with_fresh_after_a_change_and_in_a_context(root: Path, server: MemoryServer) -> None:
    assert [RULE in retrieved(server, fresh=fresh) for fresh in (False, True, False)] == [True, True, False]
    without_session = server_over(root)
    assert [RULE in retrieved(without_session) for _ in range(2)] == [True, True]
    # An agent passes a context on, so it is complete each time.
    assert [RULE in text(call(server, "context", goal="threads")) for _ in range(2)] == [True, True]
    write_entry(root, "nav/rules/callbacks", "Callbacks never block.\n\nRationale: x.\n", type="invariant")
    assert "> Callbacks never block." in retrieved(server)


def test_cut_answer_counts_as_shown_with_its_last_page(tmp_path: Path) -> None:
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


def test_several_questions_and_several_passages_fit_in_one_call(server: MemoryServer) -> None:
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


def test_shown_entries_are_counted_and_no_question_is_stored(repo: Path) -> None:
    root = make_root(repo / "memory")
    write_entry(root, "shop/rules/amounts", title="Amounts are integers", type="invariant")
    server = server_over(root)
    call(server, "retrieve", query="amounts and a secret question")
    assert tally_of(open_root(root)).times == {"shop/rules/amounts": 1}
    (log,) = (repo / ".git/mdmem/state").rglob("consulted.jsonl")
    assert b"secret" not in log.read_bytes()
    write(root, "mdmem.toml", "consultations = false\n")
    call(server, "retrieve", query="amounts")
    assert len(log.read_bytes().splitlines()) == 1


# Seven decisions without common words.
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


def test_merged_decisions_come_after_patterns_and_before_notes(shop: Path) -> None:
    for number in range(5):
        write_entry(shop, f"shop/conventions/p{number}", "How.\n", type="pattern")
        write_entry(shop, f"shop/context/n{number}", "Why.\n", type="note")
    save(shop, *WORDS)
    commit_all(shop, "seven decisions")
    assert [one["label"] for one in bundle(shop)["items"]] == ["Decision"] * 5 + ["Pattern"] * 5
    found = bundle(shop, categories=["Decision"])
    standings = [(one["label"], one["status"], one["standing"]) for one in found["items"]]
    assert standings == [("Decision", "draft", "merged")] * 7
    assert (found["retrieval_status"], "proposed" in found) == ("succeeded", False)


def test_bundle_with_only_drafts_begins_with_those_of_the_caller(shop: Path) -> None:
    save(shop, *WORDS[:5])
    save(shop, "hub", "idler", agent="robot")
    found = bundle(shop, agent="robot", categories=["Decision"])
    message = "only drafts were found; they have no effect until a person approves them"
    assert (found["items"], found["retrieval_status"], found["message"]) == ([], "succeeded", message)
    titles = [one["title"] for one in found["proposed"]]
    assert (sorted(titles[:2]), len(titles)) == (["Use the hub", "Use the idler"], 5)
