"""What a push sends: the memory at a commit, whole the first time, and then what changed."""

import shutil
import tomllib
from pathlib import Path

import psycopg
import pytest
from builders import (
    commit_all,
    git,
    make_repository,
    make_root,
    memory,
    open_root,
    write,
    write_entry,
)
from msgspec.structs import replace
from pushes import pushed, rows, state

from mdmem.hub.contents import narrow_settings
from mdmem.hub.push import PushResult, Succession
from mdmem.hub.repositories import own_names, place_name, remote_place, remote_url
from mdmem.store.settings import parse_settings
from mdmem.store.workspace.location import located
from mdmem.store.workspace.visibility import make_own_memory


def counts(result: PushResult) -> tuple[int, int, int]:
    return result.added, result.changed, result.removed


def anew(dsn: str, root: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what a first push of the commit leaves."""
    with psycopg.connect(dsn) as connection:
        connection.execute("DELETE FROM mdmem_hub.repository")
    assert state(dsn)["file"] == state(dsn)["wing"] == []
    pushed(dsn, root)
    return state(dsn)


def test_a_first_push_sends_what_the_commit_holds_and_nothing_else(dsn: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "shop") / "memory"
    write_entry(
        root, "nav/rules/see", "See [see: nav/rules/callbacks], [a](../architecture/gone.md).\n", see="[callbacks]"
    )
    write(tmp_path, "shop/src/code.py", "# hidden\n")
    write(root, ".hidden/rules/one.md", "hidden")
    write(root, "nav/rules/notes.txt", "hidden, of which the name alone is sent")
    commit = commit_all(tmp_path / "shop")
    # Neither what is not committed, nor anybody's own memory, nor state, nor what lies elsewhere in the repository.
    write_entry(root, "nav/rules/uncommitted", "hidden\n")
    write_entry(root, "nav/rules/see", "hidden\n")
    git(tmp_path / "shop", "add", "-A")
    own = make_own_memory(replace(open_root(root), environment={"XDG_DATA_HOME": str(tmp_path / "data")}))
    write_entry(own.location.root, "private/rules/own", "hidden\n")
    write(open_root(root).state_folder, "pending/one.json", "hidden")
    result = pushed(dsn, root)
    assert (result.repository, result.commit, counts(result)) == ("shop", commit, (5, 0, 0))
    assert rows(dsn, "SELECT documents, owners, is_shared FROM wing") == [(3, ["Ada"], False)]
    assert rows(dsn, "SELECT field, target FROM link ORDER BY 1, 2") == [
        ("body", "nav/architecture/gone"),
        ("body", "nav/rules/callbacks"),
        ("see", "nav/rules/callbacks"),
    ]
    assert [path for (path,) in rows(dsn, "SELECT path FROM file ORDER BY 1")] == [
        "README.md",
        "architecture/threads.md",
        "rules/callbacks.md",
        "rules/notes.txt",
        "rules/see.md",
    ]
    everything = [rows(dsn, f"SELECT * FROM {table}") for table in (*state(dsn), "push", "former_name", "migration")]
    assert "A callback must not block" in str(everything)
    assert "hidden" not in str(everything)


def test_words_are_found_as_our_analyser_splits_them(dsn: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "shop") / "memory"
    write_entry(root, "nav/rules/names", "Use the `MultiThreadedExecutor` in src/nav/main.cpp.\n")
    commit_all(root)
    pushed(dsn, root)

    def found(query: str) -> list[str]:
        return [path for (path,) in rows(dsn, f"SELECT path FROM file WHERE words @@ $${query}$$::tsquery")]

    assert found("' =thread' & 'measur'") == ["architecture/threads.md"]
    for word in ("multi", "multithreadedexecutor", "main", "src/nav/main.cpp"):
        assert found(f"'{word}'") == ["rules/names.md"], word


def changes(root: Path) -> None:
    """Change, add, move and remove, so that links mean others and figures fall to nothing."""
    write_entry(root, "nav/rules/see", "See [see: threads] and [see: others].\n", see="[callbacks, fresh]", tags="[x]")
    write_entry(root, "nav/rules/fresh", "Zebra crossing.\n")
    write_entry(root, "nav/rules/others", "Others.\n")
    (root / "nav/rules/callbacks.md").rename(root / "nav/architecture/callbacks.md")
    (root / "nav/architecture/threads.md").unlink()
    write(root, "nav/README.md", "---\nkind: shared\nowners: [Bo]\n---\n")
    write_entry(root, "dock/rules/beacon", "A beacon.\n", supersedes="[nav/rules/fresh]")
    write(root, "nav/rules/broken.md", "---\ntype: [\n---\n")
    write(root, "nav/picture.png", b"\x89PNG\0")
    shutil.rmtree(root / "old")


def test_the_difference_leaves_what_a_first_push_leaves(dsn: str, tmp_path: Path) -> None:
    folder, root = tmp_path / "shop", memory(tmp_path / "shop") / "memory"
    write_entry(root, "nav/rules/see", "See [see: fresh] and [see: callbacks].\n", see="[callbacks, fresh]")
    write_entry(root, "nav/rules/odd", "See [see: architecture/threads/].\n")
    write_entry(root, "old/rules/gone", "Gone.\n")
    first = commit_all(folder)
    pushed(dsn, root)
    before = state(dsn)
    changes(root)
    commit_all(folder)
    result = pushed(dsn, root)
    assert (result.succession, result.before, counts(result)) == (Succession.NEWER, first, (6, 2, 3))
    after = state(dsn)
    again = pushed(dsn, root)
    assert (again.is_unchanged, rows(dsn, "SELECT serial FROM repository")) == (True, [(2,)])
    # Where the repository is has nothing to do with its commits.
    git(folder, "config", "remote.origin.url", "git@git.example.org:acme/shop.git")
    assert pushed(dsn, root, repository="shop").is_unchanged
    assert rows(dsn, "SELECT url, serial FROM repository") == [("git.example.org/acme/shop", 3)]
    git(folder, "config", "--unset", "remote.origin.url")
    assert anew(dsn, root) == after
    # And back by a commit that takes all of it back.
    git(folder, "revert", "--no-edit", "HEAD")
    pushed(dsn, root)
    after = state(dsn)
    assert {name: after[name] for name in after if name != "repository"} == {
        name: before[name] for name in before if name != "repository"
    }


def test_a_commit_is_what_it_is_to_everybody(dsn: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "shop") / "memory"
    write_entry(root, "nav/rules/fresh", "Another body.\n")
    first, second = (git(root, "hash-object", "-w", f"nav/rules/{name}.md").strip() for name in ("callbacks", "fresh"))
    git(root, "replace", first, second)
    pushed(dsn, root)
    ((content,),) = rows(dsn, "SELECT content FROM file WHERE path = 'rules/callbacks.md'")
    assert b"Another body." not in bytes(content)


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.org/acme/shop.git",
        "https://somebody:secret@Git.Example.org/acme/shop/",
        "ssh://git@git.example.org:2222/acme/shop.git",
        "git@git.example.org:acme/shop.git",
        "git.example.org:/acme/shop",
        "https://git.example.org/acme/shop.git?private_token=secret#more",
    ],
)
def test_a_place_is_the_same_by_every_way_to_it(url: str) -> None:
    assert place_name(url) == "git.example.org/acme/shop"


def test_a_repository_is_called_after_its_remote_else_its_folder(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path / "shop") / "docs/memory")
    location = located(root, "a test")
    assert remote_url(location.get_repository()) is None
    assert own_names(location, None) == ("shop", "shop:docs/memory")
    for url, name in (("git@host:group/team/shop.git", "team/shop"), ("/srv/git/store.git", "store")):
        git(root, "config", "remote.origin.url", url)
        assert remote_url(location.get_repository()) == url
        assert own_names(location, url)[0] == name
    for url in ("/srv/git/store.git", "ext::sh -c secret", "file:///srv/git/store.git"):
        assert remote_place(url) is None


SETTINGS = """
default_wing = "vault"
budget = 900
rooms = { decision = "ways" }
[check]
ignore = ["expired", "stale"]
severity.expired = "error"
[governance]
global_writes = false
[wings.vault]
git = "https://host/vault"
"""


def test_they_say_the_same_but_of_wings() -> None:
    narrow = narrow_settings(SETTINGS.encode())
    assert b"vault" not in narrow
    told = SETTINGS.replace('default_wing = "vault"', "").partition("[wings")[0]
    assert parse_settings(narrow) == parse_settings(told.encode())


def test_a_text_is_written_as_it_was() -> None:
    held = {"a": ['q"uote', "back\\slash", "\x7f\x01\n", "ü \U0001f600"], "b": {"c d": 1.5, "e": True}}
    content = 'a = ["q\\"uote", "back\\\\slash", "\\u007f\\u0001\\n", "ü \U0001f600"]\nb = {"c d" = 1.5, e = true}\n'
    assert tomllib.loads(content) == tomllib.loads(narrow_settings(content.encode()).decode()) == held


def test_what_cannot_be_read_is_not_told() -> None:
    assert narrow_settings(b"[wings.vault") == narrow_settings(b"\xff") == b""
