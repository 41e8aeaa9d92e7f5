"""`mdmem mcp --hub`: a hub's copies answer a real client over pipes, and the clone where the hub is gone."""

from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, memory, open_root, write_entry
from clients import process, text, with_client
from conftest import Server
from mcp import Client

from mdmem.hub.connection import connected
from mdmem.hub.push import PushRequest, push


def pushed(dsn: str, root: Path, name: str | None = None) -> None:
    with connected(dsn) as connection:
        push(open_root(root), connection, PushRequest(repository=name))


@pytest.fixture
def clone(tmp_path: Path, dsn: str) -> Path:
    """Return a clone of which the hub has the first commit, beside another repository."""
    other = memory(tmp_path / "other")
    write_entry(other, "nav/architecture/ferry", "A ferry carries the threads.\n", title="Ferry")
    commit_all(other)
    pushed(dsn, other, "org/other")
    clone = memory(tmp_path / "here")
    commit_all(clone)
    pushed(dsn, clone)
    return clone


def asking(clone: Path, dsn: str, work: Any) -> Any:
    return with_client(process(clone, "--hub", MDMEM_HUB_DSN=dsn), work)


async def search(client: Client, words: str, **more: Any) -> str:
    return text(await client.call_tool("search", {"query": words, **more}))


def test_the_clone_answers_while_the_hub_is_gone_and_the_hub_when_it_is_back(
    clone: Path, dsn: str, server: Server
) -> None:
    async def work(client: Client) -> tuple[str, str, str]:
        before = await search(client, "threads")
        server.stop("fast")
        try:
            without = await search(client, "threads")
        finally:
            server.start()
        return before, without, await search(client, "threads")

    before, without, after = asking(clone, dsn, work)
    assert "nav/architecture/threads" in before
    assert "From the hub: `here` at " in before
    assert "nav/architecture/threads" in without
    assert "From the hub" not in without
    (said,) = [line for line in without.splitlines() if line.startswith("Degraded: ")]
    assert said.startswith("Degraded: the hub does not answer: ")
    assert said.endswith("; this answer comes from the clone alone.")
    assert after == before
