"""A repository's copy answers as the clone does at the commit that was pushed, by the same features."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from builders import TODAY, commit_all, head, make_repository, make_root, memory, open_root, write, write_entry
from msgspec.structs import replace
from pushes import pushed

from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve
from mdmem.ask.search import search, snippets
from mdmem.ask.show import in_full, list_entries, list_problems, show
from mdmem.change.history import why
from mdmem.hub.connection import connected, transaction
from mdmem.hub.copy import copy_key, load_copy, open_copy
from mdmem.hub.push import push
from mdmem.hub.repositories import grant
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.entry import EntryType, Status
from mdmem.render.json import answer_json, entries_json, search_json, why_json
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace


def full_memory(folder: Path) -> Path:
    """Return a memory with something of everything that decides what an answer contains."""
    root = make_root(make_repository(folder) / "memory")
    write(root, "app/README.md", "---\nkind: project\nowners: [app-team]\napplies_to: ['src/app/**']\n---\n\n# app\n")
    write(root, "rules/README.md", "---\nkind: shared\nowners: [platform]\n---\n\n# rules\n")
    write(root, "robots/README.md", "---\nkind: shared\napplies_to: ['firmware/**']\n---\n\n# robots\n")
    write(root.parent, "src/app/pay.py", "pay = 1\n")
    new, ended = "app/architecture/durable-queue", {"status": "deprecated", "deprecated_at": "2026-04-01"}
    tags: dict[str, Any] = {"tags": ["queue", "orders"], "title": "Orders in a durable queue"}
    link: dict[str, Any] = {"supersedes": ["app/architecture/polling-queue"], "reason": "polling lost orders"}
    for address, body, fields in (
        ("app/architecture/polling-queue", "Orders are polled.", ended | {"superseded_by": [new]}),
        (new, "Orders go through a queue.\n\n## Decision\n\nThe queue is durable.", tags | link),
        ("app/architecture/queue-retries", "Retries of the queue stop after five.", {"amends": [new]}),
        ("app/architecture/stream", "A stream may replace the queue.", {"status": "draft", "supersedes": [new]}),
        ("app/architecture/paper", "Orders on paper.", ended | {"deprecated_reason": "nobody reads paper"}),
        ("app/rules/personal-data", "Personal data never leaves the region.", {"type": "invariant"}),
        ("app/rules/narrow", "Payments are logged.", {"type": "invariant", "applies_to": ["src/app/pay.py"]}),
        ("app/notes/one-side", "A note about orders and the queue.", {"type": "note", "expires_at": "2026-06-01"}),
        ("app/notes/claim", "Another note about orders.", {"type": "note", "supersedes": ["one-side"]}),
        ("app/patterns/outbox", "See `OutboxWriter`.", {"type": "pattern", "overrides": ["rules/patterns/no-outbox"]}),
        ("rules/patterns/no-outbox", "No outbox for orders.", {"type": "pattern", "conflicts_with": [new]}),
        ("rules/security/tokens", "Tokens are never logged.", {"type": "invariant"}),
        ("robots/safety/stop", "A robot stops when orders cease.", {"type": "invariant"}),
    ):
        write_entry(root, address, f"{body}\n", **fields)
    write(root, "app/architecture/broken.md", "---\ntype: [decision\n---\n\nqueue\n")
    commit_all(folder)
    return root


ASKED = (
    ("queue", Filters()),
    ("orders queue durable", Filters(include_deprecated=True, include_drafts=True)),
    ("personal data tokens logged", Filters(types=(EntryType.INVARIANT,))),
    ("who decided on the OutboxWriter", Filters()),
    ("paper", Filters()),
    ("stream", Filters(statuses=(Status.DRAFT,))),
    ("retries stop", Filters(rooms=("architecture",))),
    ("orders", Filters(wings=("rules",), all_wings=True)),
    ("queue", Filters(tags=("queue",), owners=("app-team",))),
    ("note orders xylophone", Filters(statuses=(Status.UNDER_REVIEW,))),
    ("the of and", Filters()),
)


Both = Callable[[Access], tuple[Workspace, Workspace]]


@pytest.fixture
def both(tmp_path: Path, dsn: str) -> Iterator[Both]:
    """Return what gives the clone at the commit that was pushed, and the copy of it, as an access shows them."""
    root, role = full_memory(tmp_path / "app"), f"r{uuid4().hex}"
    clone, index = open_root(root), FullTextIndex(tmp_path / "index")
    with ExitStack() as stack:
        owner = stack.enter_context(connected(dsn))
        push(clone, owner, repository="acme/app")

        def opened(access: Access) -> tuple[Workspace, Workspace]:
            connection = owner
            if access.is_narrow:
                owner.execute(f"CREATE ROLE {role} LOGIN")
                grant(owner, role, [f"acme/app/{wing}" for wing in access.readable or ()])
                connection = stack.enter_context(connected(dsn.replace("user=postgres", f"user={role}")))
            seen = clone.at(Snapshot(revision=head(tmp_path / "app"))).with_index(index)
            copy = open_copy(connection, "acme/app", environment=caches(tmp_path), today=date.fromisoformat(TODAY))
            return replace(seen, access=access), copy

        yield opened
        stack.pop_all().close()
        with connected(dsn) as owner:
            owner.execute(f"DROP ROLE IF EXISTS {role}")


def answers(workspace: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for words, filters in ASKED:
        if not all(map(workspace.access.reads, filters.wings)):
            continue
        question, entries = Question(words=words, filters=filters), list_entries(workspace, filters)
        problems = [str(one) for one in list_problems(workspace, filters)]
        found[f"list {filters}"] = entries_json(in_full(workspace, entries)), problems
        result = search(workspace, question)
        hits = search_json(result, limit=50, snippet_of=snippets(workspace, result))
        found[f"search {words} {filters}"] = hits, result.drafts
        found[f"retrieve {words} {filters}"] = answer_json(retrieve(workspace, question).all[0])
    for paths in (("src/app/pay.py",), ("firmware/motor.c", "src/other.py")):
        found[f"retrieve {paths}"] = answer_json(retrieve(workspace, Question(words="orders", paths=paths)).all[0])
    for syntax in ('"durable queue"', "type:invariant AND data", "title:queue NOT retries", "que* room:notes"):
        result = search(workspace, Question(words=syntax, syntax=True))
        found[f"syntax {syntax}"] = search_json(result, limit=50, snippet_of=snippets(workspace, result))
    shown = show(workspace, ["app/", *(["rules/patterns/no-outbox"] if workspace.access.reads("rules") else [])])
    found["show"] = entries_json(shown)
    for one in shown:
        explained = why_json(why(workspace, one.entry.address))
        for link in explained["chain"]:
            # A copy has no history.
            del link["commits"]
        found[f"why {one.entry.address}"] = explained
    return found


@pytest.mark.parametrize("access", [EVERYTHING, Access.to_wings(["app"], may_write=False)], ids=["whole", "one wing"])
def test_the_copy_answers_as_the_clone(both: Both, access: Access) -> None:
    clone, copy = map(answers, both(access))
    assert clone.keys() == copy.keys()
    for question, answer in clone.items():
        assert copy[question] == _from_hub(answer), question


def _from_hub(answer: Any) -> Any:
    """Return an answer with the hub as its source, where no index was asked."""
    if isinstance(answer, dict):
        return {
            name: "hub" if (name, value) == ("source", "scan") else _from_hub(value) for name, value in answer.items()
        }
    return type(answer)(map(_from_hub, answer)) if isinstance(answer, (list, tuple)) else answer


def caches(folder: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_DATA_HOME": str(folder / "data")}


def test_a_copy_is_of_one_state_and_the_next_one_of_the_push_since(dsn: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "shop") / "memory"
    pushed(dsn, root)
    today = date.fromisoformat(TODAY)

    with connected(dsn) as connection, transaction(connection, is_snapshot=True) as cursor:
        key = copy_key(cursor, "shop")
        # A push meanwhile is for the next question.
        write_entry(root, "nav/rules/callbacks", "Callbacks may wait.\n")
        commit_all(root)
        pushed(dsn, root)
        before = load_copy(cursor, key, environment=caches(tmp_path), today=today)
    assert "must not block" in show(before, ["callbacks"])[0].body
    with connected(dsn) as connection:
        after = open_copy(connection, "shop", environment=caches(tmp_path), today=today)
    assert "Callbacks may wait." in show(after, ["callbacks"])[0].body
    # The index in the user's cache follows.
    assert (search(after, Question(words="block")).hits, after.index.state(live=after.catalog.digests).stale) == ((), 0)
    with connected(dsn) as connection, transaction(connection, is_snapshot=True) as cursor:
        assert copy_key(cursor, "shop") != key
