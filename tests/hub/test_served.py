"""Test `mdmem mcp --hub`: a tool for all repositories, and the argument that asks another repository's copy."""

import sys
from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest
from builders import TODAY, commit_all, environment, memory, write_entry
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from pushes import pushed, state

from mdmem.hub.connection import Limits, connected
from mdmem.hub.repositories import drop_token, grant, make_token, revoke
from mdmem.mcp import hub as served
from mdmem.mcp.hub import HubAnswers
from mdmem.mcp.server import MemoryServer
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import Access


@pytest.fixture
def clone(tmp_path: Path, dsn: str) -> Path:
    """Return a clone; the hub has its first commit, and another repository."""
    other = memory(tmp_path / "other") / "memory"
    write_entry(other, "nav/architecture/ferry", "A ferry carries the threads.\n", title="Ferry")
    commit_all(other.parent)
    pushed(dsn, other, repository="org/other")
    clone = memory(tmp_path / "here") / "memory"
    commit_all(clone.parent)
    pushed(dsn, clone)
    return clone


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a long time limit for the hub, because the machine may be busy."""
    monkeypatch.setattr(served, "_LIMITS", Limits(60, 60, 60))


def over_pipes(folder: Path, dsn: str) -> StdioServerParameters:
    """Return how the server is started that a client of a folder has."""
    # A client's settings may state a token that is empty: none.
    said = environment(XDG_DATA_HOME=str(folder.parent / "data"), MDMEM_HUB_DSN=dsn, MDMEM_HUB_TOKEN="")
    return StdioServerParameters(
        command=sys.executable, args=["-m", "mdmem", "mcp", "--hub"], cwd=str(folder), env=said
    )


def answers_of(dsn: str, folder: Path, token: str | None = None) -> HubAnswers:
    caches = {"XDG_CACHE_HOME": str(folder.parent / "cache")}
    return HubAnswers(dsn, token, environment=caches, today=lambda: date.fromisoformat(TODAY))


def in_memory(folder: Path, dsn: str, remembers: bool = False, token: str | None = None) -> MemoryServer:
    """Return the same server, which starts in a tenth of the time."""
    said = environment(XDG_DATA_HOME=str(folder.parent / "data"))
    provider = Provider(None, environment=said, cwd=folder, today=lambda: date.fromisoformat(TODAY))
    return MemoryServer(provider, remembers=remembers, hub=answers_of(dsn, folder, token))


def asking(server: MemoryServer | StdioServerParameters, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Run a function with a client of a server, and return its result."""

    async def run() -> Any:
        with anyio.fail_after(60):
            async with Client(server) as client:
                return await work(client)

    return anyio.run(run)


async def told(client: Client, tool: str, **arguments: Any) -> str:
    """Return the text of an answer."""
    answer = await client.call_tool(tool, arguments)
    (block,) = answer.content
    return block.text


def test_the_clone_answers_while_the_hub_is_gone_and_the_hub_when_it_is_back(
    clone: Path, dsn: str, server: Any
) -> None:
    async def work(client: Client) -> list[str]:
        ferry = {"query": "ferry"}
        before = await told(client, "hub_search", **ferry)
        server.stop("fast")
        try:
            own = await told(client, "search", query="threads")
            gone = [await told(client, "hub_search", **ferry), await told(client, "search", **ferry, repository="here")]
        finally:
            server.start()
        return [before, await told(client, "hub_search", **ferry), own, *gone]

    before, after, own, *gone = asking(over_pipes(clone, dsn), work)
    assert "org/other:nav/architecture/ferry" in before
    assert after == before
    assert "nav/architecture/threads" in own
    assert all("the hub does not answer: " in one for one in gone)


def test_another_repository_is_a_word_away(clone: Path, dsn: str) -> None:
    async def work(client: Client) -> dict[str, str]:
        listed = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
        of_clone = {name for name, takes in listed.items() if "repository" not in takes}
        assert of_clone == {"check", "propose", "remember"}
        ferry, there = "org/other:nav/architecture/ferry", {"repository": "org/other"}
        return {
            "here": await told(client, "search", query="ferry"),
            "search": await told(client, "search", query="ferry", **there),
            "hub_search": await told(client, "hub_search", query="ferry"),
            "one": await told(client, "hub_search", query="threads", **there),
            "nothing": await told(client, "hub_search", query="zeppelins"),
            "facts": await told(client, "hub_search", query="ferry", format="json"),
            "retrieve": await told(client, "retrieve", query="ferry", **there),
            "path": await told(client, "retrieve", paths=["src/a.py"], **there),
            "get_entry": await told(client, "get_entry", addresses=[ferry]),
            "two": await told(client, "get_entry", addresses=[ferry, "nav/architecture/threads"]),
            "nowhere": await told(client, "search", query="ferry", repository="org/none"),
            "dated": await told(client, "search", query="ferry", at="HEAD", **there),
            "why": await told(client, "why", address=ferry),
            "list": await told(client, "list", **there),
            "who": await told(client, "who", query="nav/architecture/ferry", **there),
            "who there": await told(client, "who", query="org/other:nav/architecture/threads"),
            "who words": await told(client, "who", query="threads"),
            "context": await told(client, "context", goal="who carries the threads", **there),
            "own": await told(client, "context", goal="threads"),
        }

    said = asking(in_memory(clone, dsn), work)
    assert "Ferry" not in said["here"]
    for answer in ("search", "hub_search", "retrieve", "get_entry", "why", "list", "who", "context", "facts"):
        assert "nav/architecture/ferry" in said[answer], answer
    for answer in ("search", "retrieve", "get_entry", "why", "list", "context"):
        assert "copy of org/other in the hub at " in said[answer], answer
    assert "org/other:nav/architecture/ferry" in said["hub_search"]
    assert "here:" not in said["one"]
    assert said["nothing"] == "nothing found in the repositories that you may read"
    assert said["path"].startswith("No binding rule is about this file in particular. ")
    assert "here:nav/architecture/threads" in said["who words"]
    assert "here:" not in said["who there"]
    assert "the hub" not in said["own"]
    assert said["two"].endswith("the addresses belong to several repositories; ask about one repository at a time")
    assert said["dated"] == "search: the hub has only one commit of each repository; leave out `at`"
    assert said["nowhere"].startswith("search: the hub has no repository `org/none`")


def test_a_session_remembers_entries_of_its_own_memory_alone(clone: Path, dsn: str) -> None:
    async def work(client: Client) -> list[bool]:
        known = []
        for asked in ({"repository": "org/other"}, {}, {"repository": "org/other"}, {}):
            answer = await told(client, "retrieve", query="threads", **asked)
            known.append("Navigation uses two threads." in answer)
        return known

    assert asking(in_memory(clone, dsn, remembers=True), work) == [True, True, True, False]


def test_what_is_written_goes_to_the_clone_and_never_to_the_hub(clone: Path, dsn: str) -> None:
    proposal = {"title": "Ferries", "body": "A ferry is slow.\n\nRationale: it was measured.", "wing": "nav"}
    memory_of_it = {"title": "Ferries", "content": "We timed one.", "project": "nav"}

    async def work(client: Client) -> list[str]:
        tools = {tool.name: tool.description for tool in (await client.list_tools()).tools}
        assert all("never the hub" in tools[name] for name in ("propose", "remember"))
        refused = [
            await told(client, "propose", **proposal, repository="org/other"),
            await told(client, "remember", **memory_of_it, repository="*"),
        ]
        await client.call_tool("propose", proposal)
        await client.call_tool("remember", memory_of_it)
        return refused

    before = state(dsn)
    for refused in asking(in_memory(clone, dsn), work):
        assert 'there is no parameter "repository"' in refused.replace("\\", "")
    assert len(list(clone.glob("nav/*/*ferries*.md"))) == 2
    assert state(dsn) == before


def test_a_push_and_a_revoked_permission_count_from_the_next_call_on(clone: Path, dsn: str, roles: None) -> None:
    with connected(dsn) as owner:
        token = make_token(owner, "robot")
        grant(owner, "robot", ["org/other"])
    other = clone.parent.parent / "other/memory"

    async def work(client: Client) -> list[str]:
        asked = {"query": "zeppelin", "repository": "org/other"}
        said = [await told(client, "search", **asked)]
        write_entry(other, "nav/architecture/zeppelin", "A zeppelin carries the threads.\n")
        commit_all(other.parent)
        pushed(dsn, other, repository="org/other")
        said.append(await told(client, "search", **asked))
        with connected(dsn) as owner:
            revoke(owner, "robot", ["org/other"])
        said += [await told(client, "search", **asked), await told(client, "hub_search", query="zeppelin")]
        with connected(dsn) as owner:
            drop_token(owner, "robot")
        return [*said, await told(client, "hub_search", query="zeppelin")]

    server = in_memory(clone, dsn.replace("user=postgres", "user=guest"), token=token)
    before, after, revoked, nothing, dropped = asking(server, work)
    assert ("nav/architecture/zeppelin" in before, "nav/architecture/zeppelin" in after) == (False, True)
    assert revoked.startswith("search: the hub has no repository `org/other`")
    assert nothing == "nothing found in the repositories that you may read"
    assert "does not know this token" in dropped


def test_a_hub_that_takes_too_long_is_given_up(clone: Path, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "_LIMITS", Limits(60, 1, 60))
    with connected(dsn) as owner, owner.transaction():
        owner.execute("LOCK TABLE mdmem_hub.wing")
        said = asking(in_memory(clone, dsn), lambda client: told(client, "hub_search", query="ferry"))
    assert "took longer than its time limit" in said


def test_a_caller_of_some_wings_is_told_nothing_by_the_hub(clone: Path, dsn: str) -> None:
    """The token of the HTTP server, as `--wing`, narrows: the hub is asked in the server's own name."""
    provider = Provider(clone, environment=environment(), cwd=clone, today=lambda: TODAY)
    write_entry(clone, "vault/rules/onyx", "An onyx carries the threads.\n", title="Onyx", see=["nav/rules/callbacks"])
    commit_all(clone.parent)
    pushed(dsn, clone)
    words = {"query": "threads ferry onyx"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("hub_search", words),
        ("retrieve", words | {"repository": "org/other"}),
        ("search", words | {"repository": "here"}),
        ("search", words | {"all_wings": True}),
        ("retrieve", words),
        ("get_entry", {"addresses": ["org/other:nav/architecture/ferry"]}),
        ("get_entry", {"addresses": ["here:vault/rules/onyx"], "repository": "here"}),
        ("why", {"address": "here:vault/rules/onyx"}),
        ("list", {"repository": "here"}),
        ("list", {"all_wings": True}),
        ("who", {"query": "onyx ferry"}),
        ("who", {"query": "here:vault/rules/onyx"}),
        ("context", {"goal": "threads", "repository": "org/other"}),
    ]
    # Both callers use one hub, which has loaded the copies for the other's questions.
    hub = answers_of(dsn, clone)

    def said(access: Access) -> str:
        server = MemoryServer(provider, profile="core", access=lambda: access, hub=hub)

        async def work() -> str:
            async with Client(server) as client:
                return "\n".join([(await client.call_tool(*one)).model_dump_json() for one in calls])

        return str(anyio.run(work))

    hidden = ["carries the threads", "Ferry", "copy of", "pushed", "Onyx"]
    whole, narrow = said(Access()), said(Access.to_wings(["nav"]))
    assert [one for one in hidden if one in whole] == hidden
    assert [one for one in hidden if one in narrow] == []
