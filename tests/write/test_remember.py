"""Test `remember`: word for word, in the right place, and without exceptions."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from ask.context_builders import again, context, ids, make_memory, workspace
from builders import commit_all, git, make_repository, snapshot, write, write_entry
from processes import run_at_once

from mdmem.ask.context import ContextRequest, compile_context, items_of
from mdmem.model.access import Access
from mdmem.write.remember import RememberResult, remember

NOW = datetime(2026, 11, 21, 9, 30, 15, tzinfo=UTC)
OWN = "data/mdmem/private/own/private"
KEY = "The key is AKIA" + "IOSFODNN7EXAMPLA."


def kept(root: Path, /, *, access: Access | None = None, **stated: object) -> RememberResult:
    """Remember something at the time `NOW`."""
    return remember(workspace(root, access=access), stated, now=lambda: NOW)


def text_of(root: Path, result: RememberResult) -> str:
    """Return the text of the file with a memory."""
    assert result.id is not None, result.message
    if result.id.startswith("private:"):
        return (root.parent / OWN / f"{result.id.removeprefix('private:')}.md").read_bytes().decode()
    return (root / f"{result.id}.md").read_bytes().decode()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_memory(tmp_path)


def test_answer_has_the_shape_of_the_contract(root: Path) -> None:
    result = kept(root, title="A zebra", content="It is striped.", project="app-1")
    assert result.as_json() == {
        "success": True,
        "id": "app/context/a-zebra",
        "message": "app/context/a-zebra is saved",
        "timestamp": "2026-11-21T09:30:15+00:00",
        "conflicts": [],
    }


@pytest.mark.parametrize(
    ("kind", "place", "fields"),
    [
        ("decision", "architecture", "type: decision\nstatus: draft\n"),
        ("rule", "architecture", "type: invariant\nstatus: draft\n"),
        ("pattern", "conventions", "type: pattern\nstatus: active\n"),
        ("procedure", "conventions", "type: pattern\nstatus: active\n"),
        ("session", "sessions", "type: note\nstatus: active\n"),
        ("idea", "context", "type: note\nstatus: active\n"),
    ],
)
def test_kind_gives_type_status_and_room(root: Path, kind: str, place: str, fields: str) -> None:
    result = kept(root, title="A zebra", content="It is striped.", kind=kind, project="app")
    assert result.id == f"app/{place}/a-zebra"
    assert text_of(root, result).startswith(f"---\n{fields}created_at: 2026-11-21T09:30:15+00:00\ntitle: A zebra\n")


def test_everything_stated_is_in_the_file(root: Path) -> None:
    result = kept(
        root,
        title="A zebra",
        content="It is striped.",
        domain="zoo",
        project="app",
        tags=["one", "two", "one"],
        related_to=["app/rules/pool", "pool-size", "nothing"],
        metadata={"b": [1], "a": "ü"},
        agent="bot",
    )
    assert text_of(root, result) == (
        "---\ntype: note\nstatus: active\ncreated_at: 2026-11-21T09:30:15+00:00\ntitle: A zebra\nlabel: episode\n"
        "topic: zoo\nagent: bot\ntags:\n  - one\n  - two\nsee:\n  - app/rules/pool\n"
        'x-metadata: "{\\"a\\": \\"ü\\", \\"b\\": [1]}"\nx-related-to:\n  - pool-size\n  - nothing\n---\n\n'
        "It is striped.\n"
    )
    assert "`pool-size`, `nothing` of `related_to` is not an entry here" in result.message


@pytest.mark.parametrize(
    "content", ["  a\n\tb\n\n\n", "# T\n\n- x\n", "a\r\nb\r\n", "no end", "---\nx\n---\n", "ü — “”"]
)
def test_content_is_kept_word_for_word(root: Path, content: str) -> None:
    stored = text_of(root, kept(root, title="Z", content=content, project="app"))
    assert stored.replace("\r\n", "\n").split("\n---\n\n", 1)[1] == content.replace("\r\n", "\n") + (
        "" if content.endswith("\n") else "\n"
    )
    assert ("\r\n" in stored) is ("\r\n" in content)


def own(root: Path, /, *, access: Access | None = None, **stated: object) -> RememberResult:
    """Remember something in the caller's private memory."""
    return kept(root, access=access, project="private", **stated)


@pytest.mark.parametrize(
    ("default", "readable", "stated"),
    [("app", None, {"project": "private"}), (None, None, {}), ("lib", None, {}), ("app", {"lib"}, {})],
)
def test_memory_without_a_project_is_private(
    root: Path, tmp_path: Path, default: str | None, readable: set[str] | None, stated: dict[str, str]
) -> None:
    write(root, "mdmem.toml", f'default_wing = "{default}"\n' if default else "")
    before = snapshot(root)
    access = Access(readable=frozenset(readable)) if readable else None
    result = kept(root, access=access, title="A zebra", content="It is striped.", **stated)
    assert (result.id, result.message) == ("private:context/a-zebra", "private:context/a-zebra is saved, for you alone")
    (kept_in,) = (tmp_path / "data/mdmem/private").iterdir()
    assert (kept_in / "private/context/a-zebra.md").is_file()
    assert kept_in.stat().st_mode & 0o077 == 0
    # A caller who sees only some wings has another private memory than one who sees all.
    everybody = [Access(), Access.to_wings(["app"]), Access.to_wings(["lib"]), Access.to_wings(["app", "lib"])]
    assert [result.id in ids(context(root, "zebra", access=one)) for one in everybody] == [
        one.readable == access.readable if access else not one.is_narrow for one in everybody
    ]
    assert snapshot(root) == before


def test_private_memory_is_read_only_by_context(root: Path) -> None:
    own(root, title="A zebra", content="It is striped.")
    pack = context(root, "zebra")
    item = next(one for one in items_of(pack) if one["id"] == "private:context/a-zebra")
    assert (item["metadata"]["scope"], item["quality"]["origin"], item["quality"]["project_id"]) == (
        "private",
        "private",
        None,
    )
    found = workspace(root)
    assert not [address for address in found.catalog.entries if "zebra" in address]


def test_memory_called_readme_does_not_become_the_readme_of_its_room(root: Path) -> None:
    assert kept(root, title="README", content="It is striped.", project="app").id == "app/context/episode-readme"


def test_private_memory_has_no_history(root: Path) -> None:
    make_repository(root.parent)
    commit_all(root.parent)
    own(root, title="A zebra", content="It is striped.")
    asked = ContextRequest(goal="zebra")
    for found, is_read in ((workspace(root), True), (workspace(root).as_of("HEAD"), False)):
        assert ("private:context/a-zebra" in ids(compile_context(found, asked))) is is_read


def test_private_memory_of_a_token_is_hidden_from_others(root: Path, tmp_path: Path) -> None:
    ada, bob = Access(name="ada"), Access(name="Ada")
    own(root, access=ada, title="A zebra", content="It is striped.")
    assert "private:context/a-zebra" in ids(context(root, "zebra", access=ada))
    for other in (bob, None):
        assert "private:context/a-zebra" not in ids(context(root, "zebra", access=other))
    second = make_memory(tmp_path / "second")
    (tmp_path / "second/data").symlink_to(tmp_path / "data")
    assert "private:context/a-zebra" not in ids(context(second, "zebra", access=ada))


def test_private_rule_is_only_proposed(root: Path) -> None:
    own(root, title="Never a zebra", content="There must be no zebra.", kind="rule")
    pack = context(root, "zebra")
    assert [item["id"] for item in pack["proposed"]] == ["private:architecture/never-a-zebra"]
    assert "private:architecture/never-a-zebra" not in ids(pack)


def test_private_memories_link_to_each_other(root: Path) -> None:
    own(root, title="A zebra", content="It is striped.")
    own(root, title="Its foal", content="Small.", related_to=["private:context/a-zebra", "app/rules/pool"])
    item = next(one for one in items_of(context(root, "foal")) if one["id"] == "private:context/its-foal")
    assert [(one["id"], one["relationship"]) for one in item["related"]] == [("private:context/a-zebra", "see")]


def test_private_memory_is_not_committed(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--template=")
    write(root, "mdmem.toml", "commit = true\n")
    assert own(root, title="A zebra", content="It is striped.").success
    assert git(tmp_path, "rev-list", "--all") == ""


def test_broken_private_memory_is_a_problem(root: Path, tmp_path: Path) -> None:
    own(root, title="A zebra", content="It is striped.")
    write(tmp_path, f"{OWN}/context/broken.md", "---\ntype: [\n---\n")
    pack = context(root, "pool")
    assert [one["path"] for one in pack["problems"]] == ["private:private/context/broken.md"]
    assert "app/rules/pool" in ids(pack)


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"content": "x"}, "`remember`: object missing required field `title`"),
        ({"title": "x"}, "`remember`: object missing required field `content`"),
        ({"title": "x", "content": "a\x1bb"}, "`remember.content` contains the character U+001B"),
        ({"title": "x", "content": "y", "kind": "decison"}, "`remember.kind` must be one of"),
        ({"title": "x", "content": "y", "metadata": [1]}, "`remember.metadata`: expected `object`"),
        ({"title": "x", "content": "y", "project": "zoo"}, "there is no wing for the project `zoo`"),
        ({"title": "x", "content": "y", "project": "lib"}, "`lib` is a shared wing"),
        ({"title": "x", "content": "y", "wing": "app"}, "`remember`: object contains unknown field `wing`"),
        (
            {"title": "x", "content": "y", "project": "app", "room": "A B"},
            "`room`: `A B` is not a valid name for a room",
        ),
        ({"title": "Key", "content": KEY, "project": "app"}, "nothing was written: this looks like an AWS access key"),
    ],
)
def test_refusal_is_a_sentence_and_writes_nothing(root: Path, stated: dict[str, object], sentence: str) -> None:
    before = snapshot(root)
    result = kept(root, **stated)
    assert (result.success, result.id) == (False, None)
    assert result.message.startswith(sentence)
    assert snapshot(root) == before


def test_hidden_wing_is_refused_like_a_missing_one(root: Path) -> None:
    access = Access.to_wings(["app"], name="ci")
    for name in ("web", "zoo"):
        result = kept(root, access=access, title="x", content="y", project=name)
        assert (result.success, result.message) == (False, f"Project access denied: {name}")
    reader = Access.to_wings(["app"], name="ci", may_write=False)
    assert kept(root, access=reader, title="x", content="y", project="app").message == "Project access denied: app"


def test_similar_entry_is_reported_and_does_not_stop_the_save(root: Path) -> None:
    body = "A callback must block its executor while it waits.\n"
    write_entry(root, "app/architecture/callbacks", body, title="Callbacks and executors")
    result = kept(
        root,
        title="Callbacks and the executor",
        content="A callback must not block its executor while it waits.",
        kind="decision",
        project="app",
    )
    assert result.success
    (conflict,) = result.as_json()["conflicts"]
    assert (conflict["id"], conflict["type"], conflict["status"]) == (
        "app/architecture/callbacks",
        "decision",
        "active",
    )
    assert conflict["why"] == "it says nearly the same"
    assert conflict["similarity"] > 0.5
    # A deprecated entry is no conflict.
    write_entry(root, "app/a/old", "Zebras are striped.\n", title="Zebras", status="deprecated", deprecated_reason="no")
    assert kept(root, title="Zebras", content="Zebras are striped.", project="app").conflicts == ()


def _remember_many(writer: int, root: Path) -> list[str | None]:
    found = workspace(root)
    stated = {"title": "A zebra"}
    of_turn = [{"content": f"{writer} {number}", "project": ["app", None][number % 2]} for number in range(6)]
    return [remember(again(found), stated | one).id for one in of_turn]


def test_many_processes_lose_nothing(root: Path, tmp_path: Path) -> None:
    named = [id_ for found in run_at_once(_remember_many, root, count=3) for id_ in found]
    assert len(set(named)) == 18
    assert None not in named
    contents = [path.read_text() for path in tmp_path.rglob("a-zebra*.md")]
    assert sorted(text.splitlines()[-1] for text in contents) == sorted(f"{a} {b}" for a in range(3) for b in range(6))
