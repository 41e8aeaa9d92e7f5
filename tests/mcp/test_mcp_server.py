"""Test the server with a real client in memory, with both versions of the protocol."""

import asyncio
import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, make_repository, make_root, write, write_entry
from clients import (
    ASKING,
    ERAS,
    OpenedProvider,
    StillLoop,
    asked,
    call,
    error,
    facts,
    opened_apart,
    server_over,
    text,
    with_client,
)
from mcp import Client
from mcp.shared.exceptions import MCPError

from mdmem.errors import EnvironmentFaultError
from mdmem.mcp import server as warmup
from mdmem.mcp.server import MemoryServer
from mdmem.mcp.tools import PROFILES, TOOLS
from mdmem.mcp.workspaces import Provider
from mdmem.store.settings import Profile, Settings

EXAMPLE_WINGS = Path(__file__).parents[2] / "example-wings"


@pytest.mark.parametrize("mode", ERAS)
def test_tools_are_listed_with_their_hints(root: Path, mode: str) -> None:
    listed = with_client(server_over(root), lambda client: client.list_tools(), mode=mode)
    hints = {tool.name: tool.annotations for tool in listed.tools}
    assert set(hints) == set(TOOLS)
    assert hints["retrieve"].read_only_hint is True
    saving = hints["save_context"]
    assert [saving.read_only_hint, saving.idempotent_hint, saving.destructive_hint] == [False] * 3


def test_answer_without_a_contract_is_text_or_json_without_noise(root: Path) -> None:
    answer = call(server_over(root), "retrieve", query="threads")
    assert answer.structured_content is None
    said = text(answer)
    assert said.index("### invariant: ") < said.index("### decision: Use two threads")
    assert "\n> A callback must not block its executor.\n" in said
    answer = call(server_over(root), "retrieve", query="threads", format="json")
    assert answer.structured_content is None
    invariant, decision = facts(answer)["items"]
    assert (invariant["address"], decision["address"]) == ("nav/rules/callbacks", "nav/architecture/threads")
    assert {"via", "overrides", "standing", "form", "score", "status"}.isdisjoint(decision)


@pytest.mark.parametrize("budget", [200, 500, 1_500])
def test_budget_limits_everything_but_invariants_and_one_line(tmp_path: Path, budget: int) -> None:
    server = server_over(shutil.copytree(EXAMPLE_WINGS, tmp_path / "memory"))
    asked = {"query": "retry order submission", "wing": "myapp", "budget": budget}
    said = text(call(server, "retrieve", **asked))
    sections = said.rpartition("\n\n_")[0].split("\n\n### ")
    beside = [section for section in sections if not section.startswith("invariant")]
    assert len("\n\n### ".join(beside).encode()) <= 4 * budget + 250
    found = json.loads(text(call(server, "retrieve", **asked, format="json")))
    counted = [*(one for one in found["items"] if one["type"] != "invariant"), *found.get("omitted", ())]
    assert len(json.dumps(counted, ensure_ascii=False).encode()) <= 4 * budget + 250
    assert [item["address"] for item in found["items"] if f"`{item['address']}`" not in said] == []


def test_why_shows_the_chain_and_check_the_findings(root: Path) -> None:
    write_entry(root, "nav/rules/broken", see=["nav/rules/gone"])
    server = server_over(root)
    (link,) = asked(server, "why", address="threads")["chain"]
    assert link["address"] == "nav/architecture/threads"
    for paths in ([], ["nav/rules/broken.md"], ["memory/nav/rules/broken.md"]):
        found = asked(server, "check", select="dangling-link", paths=paths)["findings"]
        assert [one["code"] for one in found] == ["dangling-link"]


def test_propose_needs_a_full_address_and_leaves_the_old_file_alone(root: Path) -> None:
    before = (root / "nav/architecture/threads.md").read_bytes()
    stated = {"title": "Use one thread", "body": "One.\n\nRationale: two were too many.\n", "reason": "measured again"}
    refused = error(call(server_over(root), "propose", supersedes="threads", **stated))
    assert refused.startswith("propose: write one full address (wing/room/entry-id) in `supersedes`; ")
    found = asked(server_over(root), "propose", supersedes="nav/architecture/threads", **stated)
    assert found["supersedes"] == ["nav/architecture/threads"]
    assert (root / "nav/architecture/threads.md").read_bytes() == before


def test_propose_needs_a_token_for_a_shared_wing(root: Path) -> None:
    write(root, "shared/README.md", "---\nkind: shared\n---\n")
    server = server_over(root)
    arguments = {"title": "A rule", "body": "X must hold.\n\nRationale: y.\n", "wing": "shared", "type": "invariant"}
    said = error(call(server, "propose", **arguments))
    assert "needs a `governance_token`; ask a person for what `mdmem token` prints" in said
    token = facts(call(server, "request_global_write_approval", content_preview="A rule"))["token"]
    assert asked(server, "propose", **arguments, governance_token=token)["address"] == "shared/architecture/a-rule"
    assert "was already used" in error(call(server, "propose", **arguments | {"title": "B"}, governance_token=token))


def test_propose_writes_a_draft_and_nothing_that_a_check_refuses(root: Path) -> None:
    torn = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    assert error(call(server_over(root), "propose", title="Keys", body=torn)).startswith("propose: nothing was written")
    assert not (root / "nav/architecture/keys.md").exists()
    stated = {"title": "Poll sensors", "body": "Sensors are polled.\n\nRationale: it was measured.\n"}
    refused = error(call(server_over(root), "propose", room="nav/rules", **stated))
    assert refused == "propose: `room`: `nav/rules` is not a valid name for a room; write it like `anti-patterns`"
    found = asked(server_over(root), "propose", room="rules/", agent="pilot", tags="a,b", **stated)
    assert (found["address"], found["entry_status"]) == ("nav/rules/poll-sensors", "draft")
    written = (root / "nav/rules/poll-sensors.md").read_text()
    assert all(f"\n{line}\n" in written for line in ("status: draft", "agent: pilot", "tags: [a, b]"))


@pytest.mark.parametrize("named", [{}, {"project_id": ""}, {"project_id": None}])
def test_call_without_a_project_is_unresolved_even_with_a_default_wing(root: Path, named: Any) -> None:
    write(root, "mdmem.toml", 'default_wing = "nav"\n')
    server, context = server_over(root), {"content": "a", "topic": "b"}
    found = facts(call(server, "get_scope_state", **named))
    assert (found["scope_state"], found["project_exists"], found["write_permitted"]) == ("unresolved", False, False)
    assert facts(call(server, "save_context", context=context, **named))["status"] == "blocked_scope"
    assert facts(call(server, "retrieve_context", scope="project", **named))["scope_state"] == "unresolved"


def test_deleted_folder_leaves_the_scope_unknown_and_a_save_says_what_to_do(root: Path) -> None:
    server, stated = server_over(root), {"context": {"content": "a", "topic": "b"}, "project_id": "nav"}
    wrong = call(server, "save_context", **stated, colour="red").structured_content
    assert (wrong["status"], wrong["next_step"]) == ("failed", "fix the call and repeat it")
    shutil.rmtree(root)
    gone = call(server, "save_context", **stated).structured_content
    advice = "the call is correct: tell a person, go on without the memory, and call again when it is repaired"
    assert (gone["status"], gone["next_step"]) == ("failed", advice)
    why = "the memory's folder was deleted after the server started; restore it, or restart the server"
    for named, state in ({}, "unresolved"), ({"project_id": "nav"}, "uncertain"):
        found = facts(call(server, "get_scope_state", **named))
        assert (found["scope_state"], found["write_permitted"], found["message"]) == (state, False, why)


def test_conflicting_entities_are_reported_in_answers_and_checks(root: Path) -> None:
    server = server_over(root)
    ledger = {"entity_name": "Ledger", "fact": "The ledger of orders keeps none.", "scope": "project"}
    queue = {"entity_name": "Queue", "fact": "The queue of orders keeps each.", "scope": "project"}
    call(server, "upsert_entity_with_deps", entity=ledger, related_entities=[], project_id="nav")
    assert facts(call(server, "retrieve_context", project_id="nav", topic="orders"))["retrieval_status"] == "succeeded"
    related = [{"entity_id": "Ledger", "relationship_type": "CONFLICTS_WITH", "properties": {}}]
    call(server, "upsert_entity_with_deps", entity=queue, related_entities=related, project_id="nav")
    commit_all(root.parent)
    bundle = facts(call(server, "retrieve_context", project_id="nav", topic="orders"))
    assert (bundle["retrieval_status"], bundle["conflicts_found"]) == ("conflicted", True)
    pair = {"a": "nav/entities/ledger", "b": "nav/entities/queue", "why": "declared by a `CONFLICTS_WITH` relation"}
    assert bundle["conflicts"] == asked(server, "retrieve", query="ledger orders")["conflicts"] == [pair]
    assert facts(call(server, "context", goal="ledger of orders"))["conflicts"] == [pair]
    found = asked(server, "check")["findings"]
    assert "conflict-unresolved" in [one["code"] for one in found]


def test_ambiguous_wing_is_asked_for_by_its_parameter_and_too_many_entries_are_refused(root: Path) -> None:
    for number in range(201):
        write_entry(root, f"arm/many/e{number}")
    assert "name one as `wing`" in error(call(server_over(root), "retrieve", query="x"))
    # Also with the former argument.
    assert "means 201 entries" in error(call(server_over(root), "get_entry", addresses="arm/many/"))


@pytest.mark.parametrize(
    "arguments",
    [{"project_id": "nav"}, {"decision": "words", "project_id": "nav"}, {"decision": {}, "project_id": "nav", "x": 1}],
    ids=["missing", "no object", "unknown"],
)
def test_saving_tool_returns_a_result_for_wrong_arguments(root: Path, arguments: Any) -> None:
    answer = call(server_over(root), "save_decision", **arguments)
    assert answer.is_error
    assert answer.structured_content["status"] == "failed"
    assert answer.structured_content["message"] in text(answer).replace('\\"', '"')


def test_each_page_of_a_context_has_its_own_markdown_and_whole_items(root: Path) -> None:
    write(root, "mdmem.toml", "[server]\nanswer_tokens = 600\n")
    for number in range(9):
        write_entry(root, f"nav/rules/r{number}", f"X{number} must hold.\n\nRationale: {'y ' * 99}\n", type="invariant")

    async def read_all(client: Client) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while not found or "cursor" in found[-1]:
            arguments = {"goal": "threads", "cursor": found[-1]["cursor"] if found else None}
            answer = await client.call_tool("context", arguments)
            found.append(facts(answer))
            assert found[-1]["markdown"] == text(answer)
        return found

    found = with_client(server_over(root), read_all)
    items = [[item for section in page["sections"] for item in section["items"]] for page in found]
    rules = sum(item["type"] == "invariant" for page in items for item in page)
    assert rules == 10
    assert found[0]["invariants_remaining"] == rules - len(items[0])
    assert [item for page in items for item in page if "part" in item] == []
    told = [[f"`{item['id']}`" in page["markdown"] for item in here] for page, here in zip(found, items, strict=True)]
    assert all(all(page) for page in told)


@pytest.mark.parametrize(
    ("tool", "arguments", "start"),
    [
        ("search", {"query": "x", "at": "\x00"}, "search: `at`: String should match pattern"),
        ("check", {"base": "\x00"}, "check: `base`: String should match pattern"),
        ("retreive", {}, 'there is no tool "retreive"; the tools are retrieve, search, '),
    ],
)
def test_null_character_and_unknown_tool_are_refused(root: Path, tool: str, arguments: Any, start: str) -> None:
    assert error(call(server_over(root), tool, **arguments)).startswith(start)


def test_prompt_is_refused_in_a_sentence(root: Path) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match='there is no prompt "onboard"; the server has only tools') as refused:
            await client.get_prompt("onboard")
        assert refused.value.code == -32602

    with_client(server_over(root), work)


def test_setting_chooses_the_profile_unless_the_option_does(root: Path) -> None:
    write(root, "mdmem.toml", '[server]\nprofile = "graphbase"\n')

    for profile, listed in ((None, Profile.SESSIONS), ("core", Profile.CORE)):
        found = with_client(server_over(root, profile=profile), lambda client: client.list_tools())
        assert {tool.name for tool in found.tools} == set(PROFILES[listed])


def test_unreadable_file_comes_first(root: Path) -> None:
    write(root, "nav/rules/torn.md", "---\ntype: invariant\n")
    assert next(iter(asked(server_over(root), "retrieve", query="zebra"))) == "problems"
    assert "nav/rules/torn.md" in text(call(server_over(root), "retrieve", query="zebra")).split("###")[0]


def test_without_a_memory_retrieve_uses_other_files_and_other_tools_fail(nowhere: Provider, tmp_path: Path) -> None:
    write(tmp_path, "README.md", "# Project\n\nThe gyroscope is polled.\n")
    found = asked(server_over(nowhere), "retrieve", query="gyroscope")
    assert (found["retrieval_status"], found["degraded"], found["source"]) == ("failed", True, "readme")
    server = server_over(nowhere)
    assert "no memory here" in error(call(server, "why", address="x"))
    assert asked(server, "search", query="x")["retrieval_status"] == "failed"
    assert facts(call(server, "retrieve_context", project_id="x"))["retrieval_status"] == "failed"


class _Waiting(OpenedProvider):
    """Calls a function before it opens the first workspace for a call, and then waits."""

    def __init__(self, root: Path, happen: Callable[[], object]) -> None:
        super().__init__(opened_apart(root))
        self._happen, self._has_begun, self.has_happened = happen, False, threading.Event()

    def workspace(self, *access: Any) -> Any:
        if access and self._has_begun:
            self.has_happened.set()
        elif access:
            self._has_begun = True
            self._happen()
            self.has_happened.wait(20)
        return super().workspace(*access)


def test_slow_reading_tool_is_tried_twice(root: Path) -> None:
    write(root, "mdmem.toml", "[server]\ntimeout_seconds = 30\n")

    def go_by() -> None:
        loop.now += 31

    async def work() -> Any:
        async with Client(server) as client:
            return facts(await client.call_tool("search", {"format": "json", "query": "threads"}))

    with asyncio.Runner(loop_factory=StillLoop) as runner:
        loop = runner.get_loop()
        server = server_over(_Waiting(root, lambda: loop.call_soon_threadsafe(go_by)))
        assert runner.run(work())["retrieval_status"] == "succeeded"


def test_timed_out_answer_has_lines_from_outside_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make_repository(tmp_path / "app")
    root = make_root(repository / "memory")
    write(repository, "README.md", "The gateway closes at night.\n")
    commit_all(repository)
    monkeypatch.setattr(OpenedProvider, "settings", lambda _: Settings(timeout_seconds=0.3))
    for module, name in (("core", "retrieve"), ("sessions", "retrieve_context")):
        monkeypatch.setattr(f"mdmem.mcp.tools.{module}.{name}", lambda *_, **__: time.sleep(0.5))
    told = facts(call(server_over(root), "retrieve", query="night gateway", format="json"))
    same = facts(call(server_over(root), "retrieve_context", project_id="nav", topic="night gateway"))
    assert told["retrieval_status"] == same["retrieval_status"] == "timed_out"
    lines = [{"path": "README.md", "line": 1, "text": "The gateway closes at night."}]
    assert told["fallback"] == same["fallback"] == lines


class _Failing(OpenedProvider):
    """Raises an exception at every call of a tool."""

    def __init__(self, root: Path, fault: BaseException) -> None:
        super().__init__(opened_apart(root))
        self.fault = fault

    def workspace(self, *access: Any) -> Any:
        if access:
            raise self.fault
        return super().workspace()


@pytest.mark.parametrize("tool", ASKING)
@pytest.mark.parametrize("fault", [EnvironmentFaultError("git is ill"), PermissionError(13, "Permission denied")])
def test_reading_tool_answers_failed_for_unreadable_files(root: Path, tool: str, fault: Exception) -> None:
    said = text(call(server_over(_Failing(root, fault)), tool, **ASKING[tool]))
    assert ('"retrieval_status":"failed"' in said) is (tool != "context")
    assert "git is ill" in said or "permission denied" in said


def test_bug_is_one_sentence_without_the_text_of_the_exception(root: Path) -> None:
    server = server_over(_Failing(root, KeyError("the secret path /home/ada")))
    said = error(call(server, "why", address="x"))
    assert said == "why: a fault of mdmem itself (KeyError); the server's log on stderr has it"
    said = error(call(server_over(_Failing(root, SystemExit(1))), "why", address="x"))
    assert said == "why: a fault of mdmem itself (SystemExit); the server's log on stderr has it"
    # A tool whose contract has no errors returns a result.
    answer = call(server, "save_context", context={"content": "a", "topic": "b"}, project_id="nav")
    assert answer.structured_content["status"] == "failed"
    assert "secret" not in text(answer)


def test_progress_of_the_index_is_reported_to_a_call_that_asks_for_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[float, float | None, str | None]] = []
    monkeypatch.setattr(warmup, "_BEAT", 0.01)
    waiting = _Waiting(root, lambda: None)
    server = MemoryServer(waiting, profile="all", is_warming=True)
    warming = server._warming
    assert warming is not None
    # This looks like a long build.
    monkeypatch.setattr(warming, "start", lambda: None)
    warming.done, warming.total = 3, 10

    async def heard(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))
        warming.ended.set()
        waiting.has_happened.set()

    asked = {"format": "json", "query": "threads"}
    facts(with_client(server, lambda client: client.call_tool("search", asked, progress_callback=heard)))
    assert told[0] == (3, 10, "the index is being built: 3 of 10 entries")


def test_first_question_waits_for_the_index_that_is_being_built(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "_PATIENCE", 30)
    order: list[str] = []

    class Watched(OpenedProvider):
        def builder(self, progress: Any) -> Any:
            order.append("built")
            return super().builder(progress)

        def workspace(self, *access: Any) -> Any:
            order.extend(["asked"] if access else [])
            return super().workspace(*access)

    call(MemoryServer(Watched(opened_apart(root)), profile="all", is_warming=True), "search", query="threads")
    assert order[:2] == ["built", "asked"]
