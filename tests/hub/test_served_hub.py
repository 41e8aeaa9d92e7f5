"""`mdmem mcp --hub`: a hub's copies answer a real client over pipes, and the clone where the hub is gone."""

from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import psycopg
import pytest
from builders import TODAY, commit_all, environment, memory, open_root, write_entry
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from processes import python
from pushes import state

from mdmem.ask.entries import show
from mdmem.hub import repository_copy
from mdmem.hub.connection import HubError, connected, transaction
from mdmem.hub.permissions import add_token, drop_token, grant, revoke
from mdmem.hub.push import PushRequest, push
from mdmem.hub.repositories import rename
from mdmem.hub.repository_copy import ServedHub
from mdmem.mcp.calls import Session
from mdmem.mcp.hub import HubAnswers
from mdmem.mcp.server import MemoryServer
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import Access


def pushed(dsn: str, root: Path, name: str | None = None) -> None:
    with connected(dsn) as connection:
        push(open_root(root), connection, PushRequest(repository=name))


@pytest.fixture
def clone(tmp_path: Path, dsn: str) -> Path:
    """Return a clone of which the hub has the first commit, beside another repository."""
    other = memory(tmp_path / "other") / "memory"
    write_entry(other, "nav/architecture/ferry", "A ferry carries the threads.\n", title="Ferry")
    commit_all(other.parent)
    pushed(dsn, other, "org/other")
    clone = memory(tmp_path / "here") / "memory"
    commit_all(clone.parent)
    pushed(dsn, clone)
    return clone


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no hub be given up because the machine has much to do."""
    for name in ("QUESTION_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(repository_copy, name, 60)


def over_pipes(folder: Path, dsn: str) -> StdioServerParameters:
    """Return how the server is started that a client of a folder has."""
    # A client's settings may state a token that is empty: none.
    said = environment(XDG_DATA_HOME=str(folder.parent / "data"), MDMEM_HUB_DSN=dsn, MDMEM_HUB_TOKEN="")
    return StdioServerParameters(command=python(), args=["-m", "mdmem", "mcp", "--hub"], cwd=str(folder), env=said)


def in_memory(folder: Path, dsn: str, session: Session | None = None) -> MemoryServer:
    """Return the same server, which starts in a tenth of the time."""
    said = environment(XDG_DATA_HOME=str(folder.parent / "data"))
    provider = Provider(None, environment=said, cwd=folder, today=lambda: date.fromisoformat(TODAY))
    return MemoryServer(provider, session=session, hub=HubAnswers(ServedHub(dsn, None), provider))


def asking(server: MemoryServer | StdioServerParameters, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Return what some work with a client of a server comes to."""

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
    async def work(client: Client) -> tuple[str, str, str]:
        before = await told(client, "search", query="threads")
        server.stop("fast")
        try:
            without = await told(client, "search", query="threads")
            own = {"addresses": ["here:nav/architecture/threads"]}
            others = [
                await told(client, "get_entry", **own),
                await told(client, "why", address="nav/architecture/threads", repository="*"),
                await told(client, "list"),
                await told(client, "who", query="threads"),
                await told(client, "who", query="here:nav/rules/callbacks"),
            ]
            elsewhere = await told(client, "why", address="org/other:nav/architecture/threads")
        finally:
            server.start()
        for one in others:
            assert "nav/architecture/threads" in one
            assert "Degraded: the hub does not answer: " in one
        assert "see of here:nav/architecture/threads (active)" in others[-1]
        assert elsewhere.startswith("why: the hub does not answer: ")
        return before, without, await told(client, "search", query="threads")

    write_entry(clone, "nav/architecture/threads", "We decided.\n", title="Threads", see=["nav/rules/callbacks"])
    commit_all(clone.parent)
    pushed(dsn, clone)
    before, without, after = asking(over_pipes(clone, dsn), work)
    assert "nav/architecture/threads" in before
    assert "From the hub: `here` at " in before
    assert "nav/architecture/threads" in without
    assert "From the hub" not in without
    (said,) = [line for line in without.splitlines() if line.startswith("Degraded: ")]
    assert said.startswith("Degraded: the hub does not answer: ")
    assert said.endswith("; this answer comes from the clone alone.")
    assert after == before


def test_another_repository_and_all_of_them_are_a_word_away(clone: Path, dsn: str) -> None:
    async def work(client: Client) -> dict[str, str]:
        listed = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
        of_clone = {name for name, takes in listed.items() if "repository" not in takes}
        assert of_clone == {"check", "propose", "remember"}
        ferry = {"addresses": ["org/other:nav/architecture/ferry"]}
        return {
            "here": await told(client, "search", query="ferry"),
            "there": await told(client, "search", query="ferry", repository="org/other"),
            "all": await told(client, "search", query="ferry", repository="*"),
            "binds": await told(client, "retrieve", query="who carries the threads", repository="*"),
            "nothing": await told(client, "retrieve", query="zeppelins", repository="*"),
            "bound": await told(client, "retrieve", query="ferry", repository="org/other"),
            "path": await told(client, "retrieve", paths=["src/a.py"], repository="org/other"),
            "whole": await told(client, "get_entry", **ferry),
            "found": await told(client, "get_entry", addresses=["nav/architecture/ferry"], repository="*"),
            "two": await told(client, "get_entry", addresses=[*ferry["addresses"], "nav/architecture/threads"]),
            "nowhere": await told(client, "search", query="ferry", repository="org/none"),
            "why": await told(client, "why", address="nav/architecture/ferry", repository="*"),
            "listed": await told(client, "list", repository="org/other"),
            "all listed": await told(client, "list", repository="*", limit=1, types=["decision"]),
            "as facts": await told(client, "list", repository="*", format="json"),
            "owned": await told(client, "who", query="nav/architecture/ferry", repository="org/other"),
            "there owned": await told(client, "who", query="org/other:nav/architecture/threads"),
            "owners": await told(client, "who", query="threads", repository="*"),
            "overview": await told(client, "context", goal="who carries the threads", repository="org/other"),
            "overviews": await told(client, "context", goal="threads", repository="*"),
            "own": await told(client, "context", goal="threads"),
            "history": await told(client, "why", address="nav/architecture/threads"),
            "none": await told(client, "get_entry", addresses=[], repository="*"),
        }

    said = asking(in_memory(clone, dsn), work)
    assert "Ferry" not in said["here"]
    assert "nav/architecture/ferry" in said["there"]
    assert "From the hub: `org/other` at " in said["there"]
    for answer in ("all", "binds"):
        assert "org/other:nav/architecture/ferry" in said[answer]
        assert "copy of " in said[answer]
    # How old a copy is would be another answer at each call, and the cursor of a page good for none.
    for answer in ("all", "binds", "listed", "all listed", "owned", "as facts"):
        assert (" old" in said[answer], "age_seconds" in said[answer], "pushed" in said[answer]) == (False, False, True)
    # What was searched is told of one memory: of all it is more than the rooms of what matches.
    assert said["nothing"].startswith("Nothing binding covers this.\n\n")
    for answer in ("binds", "bound", "path"):
        assert "; from the hub" in said[answer]
    assert "here:nav/architecture/threads" in said["binds"]
    assert "A ferry carries the threads." in said["whole"]
    assert said["found"] == said["whole"]
    for answer in ("why", "listed", "owned", "overview"):
        assert "nav/architecture/ferry" in said[answer], answer
    assert said["all listed"].startswith("decision   active        here:nav/architecture/threads")
    assert "the first 1 of about 3, by repository and address; raise `limit`" in said["all listed"]
    assert "org/other:nav/architecture/ferry" in said["owned"]
    assert "here:nav/architecture/threads" in said["owners"]
    assert "org/other:nav/architecture/threads" in said["there owned"]
    assert "here:" not in said["there owned"]
    assert "From the hub: `org/other` at " in said["overview"]
    assert "audit" not in said["overview"]
    assert said["overviews"].endswith("name it in `repository`, or call `retrieve` for all")
    for answer in ("own", "history"):
        assert "nav/architecture/threads" in said[answer]
        assert "From the hub" not in said[answer]
    assert said["none"].startswith("get_entry: name at least one entry")
    assert said["two"] == "get_entry: the addresses are of several repositories: here, org/other; ask one at a time"
    assert said["nowhere"].startswith('search: the hub has no repository "org/none"')


def test_the_files_at_hand_are_those_of_one_repository(clone: Path, dsn: str) -> None:
    session = Session()

    async def work(client: Client) -> list[bool]:
        known = []
        for asked in ({"repository": "org/other"}, {}, {"repository": "org/other", "fresh": True}):
            await told(client, "retrieve", paths=["src/a.py"], query="threads", **asked)
            known.append("/" in session.given)
        return known

    assert asking(in_memory(clone, dsn, session), work) == [False, True, True]
    assert "nav/architecture/threads" in session.given


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


def test_what_the_clone_has_and_the_hub_never_had_is_found_in_the_clone(clone: Path, dsn: str) -> None:
    async def work(client: Client) -> tuple[str, str, str]:
        write_entry(clone, "nav/architecture/zeppelin", "A zeppelin carries the threads.\n")
        edited = await told(client, "search", query="zeppelin")
        commit_all(clone.parent)
        committed = await told(client, "search", query="zeppelin")
        pushed(dsn, clone)
        return edited, committed, await told(client, "search", query="zeppelin")

    edited, committed, pushed_too = asking(in_memory(clone, dsn), work)
    assert "nav/architecture/zeppelin" in edited
    assert "From the hub" not in edited
    assert committed == edited.replace(" (uncommitted)", "")
    assert "nav/architecture/zeppelin" in pushed_too
    assert "From the hub: `here`" in pushed_too


def test_without_a_root_all_are_asked_and_without_a_hub_there_is_a_sentence(clone: Path, dsn: str) -> None:
    nowhere = clone.parent.parent / "nowhere"
    nowhere.mkdir()

    async def work(client: Client) -> str:
        return await told(client, "search", query="ferry")

    found, without = (asking(in_memory(nowhere, place), work) for place in (dsn, f"host={nowhere}"))
    assert "org/other:nav/architecture/ferry" in found
    assert '"message":"the hub does not answer: ' in without


def test_a_copy_stays_loaded_until_the_repository_changes(clone: Path, dsn: str) -> None:
    hub = ServedHub(dsn, None)

    def asked() -> Any:
        with hub.reading() as reader:
            repository = reader.find_repository("here")
            assert repository is not None
            return hub.copy(reader, repository, today=TODAY)

    first = asked()
    assert asked() is first
    write_entry(clone, "nav/architecture/zeppelin")
    commit_all(clone.parent)
    pushed(dsn, clone)
    second = asked()
    entries = (one.workspace.catalog.entries.keys() for one in (second, first))
    assert "nav/architecture/zeppelin" in next(entries) - next(entries)
    with connected(dsn) as connection:
        rename(connection, "here", "there")
    assert asked().origins["nav"].repository == "there"


@pytest.mark.usefixtures("roles")
def test_what_is_revoked_is_gone_from_copies_that_stay_loaded(clone: Path, dsn: str) -> None:
    write_entry(clone, "nav/rules/plan", "See [see: vault/plans/zebra].\n")
    commit_all(clone.parent)
    pushed(dsn, clone)
    with connected(dsn) as owner:
        hub = ServedHub(dsn.replace("user=postgres", "user=guest"), add_token(owner, "one"))

        def asked() -> str:
            with hub.reading() as reader:
                repository = reader.find_repository("here")
                assert repository is not None
                copy = hub.copy(reader, repository, today=TODAY).workspace
                (shown,) = show(copy, ["nav/rules/plan"])
                return shown.body

        grant(owner, "one", ["here"])
        assert "zebra" in asked()
        revoke(owner, "one", ["here"])
        grant(owner, "one", ["here/nav"])
        assert "zebra" not in asked()
        drop_token(owner, "one")
        with pytest.raises(HubError, match="does not know this token"):
            asked()


def test_a_connection_that_stays_open_is_held_to_the_tables_of_now(clone: Path, dsn: str) -> None:
    hub = ServedHub(dsn, None)

    def asked() -> Any:
        with hub.reading() as reader:
            return reader.find_repository("here")

    assert asked() is not None
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute("INSERT INTO mdmem_hub.migration VALUES (1000)")
        try:
            with pytest.raises(HubError, match="install a newer mdmem"):
                asked()
        finally:
            owner.execute("DELETE FROM mdmem_hub.migration WHERE number = 1000")
    assert asked() is not None


def test_an_answer_that_asks_for_too_much_is_given_up_and_the_next_is_asked_for(
    clone: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = in_memory(clone, dsn)

    async def work(client: Client) -> tuple[str, str]:
        with monkeypatch.context() as patched:
            patched.setattr(repository_copy, "ANSWER_SECONDS", -1)
            without = await told(client, "search", query="threads", repository="*")
        return without, await told(client, "search", query="threads", repository="*")

    without, after = asking(server, work)
    assert "Degraded: this takes the hub longer than -1 s; ask less at once; this answer comes from" in without
    assert "org/other:nav/architecture/threads" in after


def test_a_hub_that_takes_too_long_is_given_up_and_left_alone_for_a_while(
    clone: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository_copy, "QUESTION_SECONDS", 0.1)
    monkeypatch.setattr(repository_copy, "SLOW_SECONDS", 0.05)
    hub = ServedHub(dsn, None)

    def ask() -> None:
        with pytest.raises(HubError, match="took longer than it may"), hub.reading() as reader:
            reader.find_repository("here")

    with connected(dsn) as other, transaction(other) as cursor:
        cursor.execute("LOCK TABLE repository IN ACCESS EXCLUSIVE MODE")
        ask()
        with monkeypatch.context() as patched:
            # Whoever asked it would fail otherwise.
            patched.setattr(repository_copy, "connected", None)
            ask()
    monkeypatch.setattr(repository_copy, "monotonic", lambda: monotonic() + repository_copy.PAUSE_SECONDS)
    monkeypatch.setattr(repository_copy, "QUESTION_SECONDS", 60)
    with hub.reading() as reader:
        assert reader.find_repository("here") is not None


def test_who_sees_some_wings_of_the_clone_is_told_of_nothing_else(clone: Path, dsn: str) -> None:
    """The token of the HTTP server, as `--wing`, narrows: the hub is asked in the server's own name."""
    provider = Provider(clone, environment=environment(), cwd=clone, today=lambda: TODAY)
    write_entry(clone, "vault/rules/onyx", "An onyx carries the threads.\n", title="Onyx", see=["nav/rules/callbacks"])
    commit_all(clone.parent)
    pushed(dsn, clone)
    words = {"query": "threads ferry onyx"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", words | {"repository": "*"}),
        ("retrieve", words | {"repository": "org/other"}),
        ("search", words | {"repository": "here"}),
        ("search", words | {"all_wings": True}),
        ("retrieve", words),
        ("get_entry", {"addresses": ["org/other:nav/architecture/ferry"]}),
        ("get_entry", {"addresses": ["here:vault/rules/onyx"], "repository": "here"}),
        ("why", {"address": "here:vault/rules/onyx"}),
        ("why", {"address": "vault/rules/onyx", "repository": "*"}),
        ("list", {"repository": "*"}),
        ("list", {"all_wings": True}),
        ("who", words | {"repository": "*"}),
        ("who", {"query": "onyx ferry"}),
        ("who", {"query": "here:vault/rules/onyx"}),
        ("context", {"goal": "threads", "repository": "org/other"}),
    ]
    # Whatever somebody else's questions left loaded.
    hub = HubAnswers(ServedHub(dsn, None), provider)

    def said(access: Access) -> str:
        server = MemoryServer(provider, profile="core", access=lambda: access, hub=hub)

        async def work() -> str:
            async with Client(server) as client:
                return "\n".join([(await client.call_tool(*one)).model_dump_json() for one in calls])

        return str(anyio.run(work))

    hidden = ("carries the threads", "Ferry", "From the hub", "pushed", "Onyx", "Degraded")
    whole, narrow = said(Access()), said(Access.to_wings(["nav"]))
    assert [one for one in hidden if one in whole] == list(hidden[:5])
    assert [one for one in hidden if one in narrow] == []
