"""Test that a repository's copy gives the answers of its clone, and that odd files and names stop no push."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from builders import (
    TODAY,
    commit_all,
    entry_text,
    git,
    head,
    make_repository,
    make_root,
    memory,
    open_root,
    write,
    write_entry,
)
from msgspec.structs import replace
from pushes import Typed, pushed, rows

from mdmem.ask.answer import Question
from mdmem.ask.retrieve import retrieve
from mdmem.ask.search import in_full, list_entries, list_problems, search, show, snippets
from mdmem.change.history import why
from mdmem.errors import UsageError
from mdmem.hub.connection import connected, transaction
from mdmem.hub.contents import lexeme
from mdmem.hub.copy import copy_key, load_copy, open_copy
from mdmem.hub.push import push
from mdmem.hub.repositories import grant
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.entry import EntryType, Status
from mdmem.render.answers import answer_json
from mdmem.render.entries import entries_json, search_json
from mdmem.render.history import why_json
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
        hits = search_json(result, snippets(workspace, result, 50))
        found[f"search {words} {filters}"] = hits, result.drafts
        found[f"retrieve {words} {filters}"] = answer_json(retrieve(workspace, question).all[0])
    for paths in (("src/app/pay.py",), ("firmware/motor.c", "src/other.py")):
        found[f"retrieve {paths}"] = answer_json(retrieve(workspace, Question(words="orders", paths=paths)).all[0])
    for syntax in ('"durable queue"', "type:invariant AND data", "title:queue NOT retries", "que* room:notes"):
        result = search(workspace, Question(words=syntax, syntax=True))
        found[f"syntax {syntax}"] = search_json(result, snippets(workspace, result, 50))
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


_LONG = "x" * 5000


def odd(folder: Path, *, words: int) -> Path:
    root = make_root(make_repository(folder) / "memory")
    write_entry(
        root, "nav/rules/quotes", "O'Neil's c:\\\\path\\to and it's C++ \\'x' 'y' ::regclass.\n", title="It's \\ odd"
    )
    write_entry(root, "nav/rules/zeros", "a\0b zeros\n", title='"n\\0ul"', tags='["\\0"]')
    write_entry(root, "nav/rules/halves", title='"\\ud800 half"')
    write_entry(
        root, "nav/rules/links", f"[see: a/b/{_LONG}]\n", see=f'["a/b/{_LONG}", "a/b/\\0", "none"]', owner=_LONG
    )
    many = " ".join(f"word{number:06}_{'y' * 50}" for number in range(words))
    write_entry(root, "nav/rules/many", f"{many}\n", title="Unusual heading")
    write(root, "nav/rules/broken.md", b"---\ntype: [\n\xff\0")
    write(root, "nav/rules/empty.md")
    write(root, "nav/README.md", "---\nkind: [project\n---\n")
    write(root, "deep/a/b/c.md", "x")
    (root / "nav/rules/link.md").symlink_to("quotes.md")
    return root


@pytest.mark.parametrize("words", [150, pytest.param(15_000, marks=pytest.mark.long)])
def test_odd_files_are_pushed_and_come_back_as_they_are(
    dsn: str, tmp_path: Path, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many as there are at once: the server's own limit takes longer to reach.
    monkeypatch.setattr("mdmem.hub.contents._MAX_WORDS", 1_000_000 * words // 15_000)
    root = odd(tmp_path / "shop", words=words)
    git(root, "add", "-A")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},memory/nav/rules/module.md")
    git(root, "commit", "-q", "-m", "odd")
    pushed(dsn, root)
    held = {path: (kind, content) for path, kind, content in rows(dsn, "SELECT path, kind, content FROM file")}
    for path in ("rules/zeros.md", "rules/broken.md", "rules/many.md"):
        assert held[path] == ("file", (root / "nav" / path).read_bytes())
    titles = dict(rows(dsn, "SELECT path, title FROM file"))
    assert (titles["rules/zeros.md"], titles["rules/quotes.md"]) == ("n\ufffdul", "It's \\ odd")
    assert {held[f"rules/{name}.md"][0] for name in ("link", "module")} == {"symlink", "submodule"}

    def found(term: str) -> set[object]:
        return {path for (path,) in rows(dsn, f"SELECT path FROM file WHERE words @@ $t${lexeme(term)}$t$::tsquery")}

    # However a word is written; of a file with too many words those that fit, the title's first.
    for term in ("c++", "path\\to", "neil"):
        assert found(term) == {"rules/quotes.md"}, term
    assert found("zero") == {"rules/zeros.md"}
    assert "rules/many.md" in found("unusu") & found("word000000")
    assert "rules/many.md" not in found(f"word{words - 1:06}")
    assert rows(dsn, "SELECT count(*) FROM link WHERE length(target) > 700") == [(0,)]
    assert pushed(dsn, root).is_unchanged


def test_name_that_is_not_utf_8_is_left_out_and_that_of_an_entry_refused(dsn: str, tmp_path: Path) -> None:
    root = odd(tmp_path / "shop", words=1)
    write(root, "nav/picture-" + os.fsdecode(b"\xff.png"))
    write(root, "nav/rules/line\nbreak.md", entry_text("A break in a name.\n"))
    commit_all(tmp_path / "shop")
    pushed(dsn, root)
    assert rows(dsn, "SELECT path FROM file WHERE path ~ 'picture|break'") == [("rules/line\nbreak.md",)]
    for path in (b"nav/rules/bytes-\xff.md", b"wing-\xff/rules/one.md"):
        write(root, os.fsdecode(path), entry_text("Raw bytes in a name.\n"))
        commit_all(tmp_path / "shop")
        with pytest.raises(UsageError, match=r"cannot store the name '.*-.udcff.*', which is not UTF-8; rename it"):
            pushed(dsn, root)
        (root / os.fsdecode(path)).unlink()


def test_a_memory_without_entries_and_none_at_all(dsn: str, tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path / "shop") / "memory")
    commit_all(tmp_path / "shop")
    assert pushed(dsn, root).added == 0
    with psycopg.connect(dsn) as connection:
        connection.execute("UPDATE mdmem_hub.repository SET settings = 'x', root = 'x'")
    assert pushed(dsn, root, is_whole=True).added == 0
    settings = (root / "mdmem.toml").read_bytes()
    assert rows(dsn, "SELECT settings, root FROM repository") == [(settings, "memory")]
    (root / "mdmem.toml").unlink()
    commit_all(tmp_path / "shop")
    make_root(root)
    with pytest.raises(UsageError, match=r"has no memory at memory: there is no mdmem.toml"):
        pushed(dsn, root)
    assert rows(dsn, "SELECT name, serial FROM repository") == [("shop", 2)]


@pytest.fixture
def hub(dsn: str, tmp_path: Path) -> str:
    """Return the DSN of a hub with a good and a hostile repository."""
    forge(dsn, "ALTER TABLE repository ALTER id RESTART", "ALTER TABLE wing ALTER id RESTART")
    shop = memory(tmp_path / "shop") / "memory"
    pushed(dsn, shop, repository="acme/shop")
    write_entry(shop, "nav/architecture/ferry", "A ferry carries the threads.\n", title="Ferry")
    commit_all(shop)
    pushed(dsn, shop, repository="aa/evil")
    return dsn


def forge(dsn: str, *statements: str) -> None:
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=mdmem_hub") as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount, statement


REFUSED = (
    "UPDATE repository SET pushed_at = 'infinity'",
    "UPDATE repository SET committed_at = '4000-01-01 BC'",
    "UPDATE repository SET pushed_at = NULL",
    "UPDATE repository SET commit = '--output=x'",
    "INSERT INTO push VALUES (2, 9, E'c1\\n--all')",
    "UPDATE repository SET tracked = '{{a},{b}}'",
    "UPDATE wing SET owners = '{NULL}'",
    "UPDATE wing SET documents = -4",
    "UPDATE wing SET documents = 10000001",
    "INSERT INTO wing (repository_id, name, source, commit) VALUES (2, 'lib', 'host/acme/lib', 'c1')",
    "UPDATE file SET kind = 'odd'",
    "UPDATE file SET kind = 'symlink'",
    "UPDATE file SET title = NULL",
    "UPDATE file SET content = NULL",
)


def test_rows_that_would_end_the_questions_of_others_are_refused(hub: str) -> None:
    for statement in REFUSED:
        with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.FeatureNotSupported)):
            forge(hub, statement)


@pytest.mark.parametrize(
    "forged", ["wing SET documents = 10000000", "file SET blob = 'x'", "file SET words = $$'thread' ' =thread'$$"]
)
def test_forged_rows_change_no_answer_of_others(hub: str, forged: str, typed: Typed) -> None:
    where = "repository_id = 2" if forged.startswith("wing") else "type IS NOT NULL AND wing_id = 2"
    forge(hub, f"UPDATE {forged} WHERE {where}")
    for command in (("hub", "search", "threads"), ("retrieve", "threads", "--repository", "acme/shop")):
        ran = typed(*command)
        assert (ran.code, "nav/architecture/threads" in ran.out) == (0, True), ran.err


def test_no_name_passes_for_a_line_of_ours(hub: str, typed: Typed) -> None:
    def check(*words: str) -> None:
        ran = typed("hub", *words)
        assert (ran.code, "aa/evil" in ran.out) == (0, True), (words, ran)
        assert not re.search("(?m)^.invariant. forged|\x1b|\u202e", ran.out), words

    odd = r"E'\x1b[31m\u202eodd\n[invariant] forged'"
    forge(
        hub,
        f"UPDATE file SET title = {odd}, owner = {odd}, type = {odd} WHERE wing_id = 2 AND type <> ''",
        f"UPDATE wing SET owners = ARRAY[{odd}] WHERE repository_id = 2",
    )
    check("who", "nav/architecture/threads")
    forge(hub, f"UPDATE wing SET name = {odd} WHERE id = 2", f"UPDATE file SET path = {odd} || path WHERE wing_id = 2")
    for words in (("search", "threads"), ("status",)):
        check(*words)


def test_a_name_or_place_of_another_hides_nothing_of_it(hub: str, typed: Typed) -> None:
    forge(hub, "UPDATE repository SET url = 'acme/shop' WHERE name = 'aa/evil'")
    assert "acme/shop:nav/architecture/threads" in typed("hub", "search", "threads").out
    forge(
        hub,
        "UPDATE repository SET name = 'acme/shop:docs', url = NULL WHERE id = 1",
        "UPDATE repository SET name = 'acme/shop', url = NULL WHERE id = 2",
        "UPDATE wing SET name = 'docs:nav' WHERE repository_id = 2",
    )
    assert typed("hub", "search", "threads").out.count("acme/shop:docs:nav/architecture/threads\n") == 2
