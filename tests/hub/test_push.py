"""What a push sends, whole the first time and then what changed; and a hub never goes back to an older commit."""

import shutil
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from builders import (
    commit_all,
    environment,
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
from pushes import pushed, rows, state

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.hub.contents import narrow_settings
from mdmem.hub.push import PushResult, Succession
from mdmem.hub.repositories import own_names, place_name, remote_place
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
    location = located(make_root(make_repository(tmp_path / "shop") / "docs/memory"), "a test")
    assert own_names(location, None) == ("shop", "shop:docs/memory")
    for url, name in (("git@host:group/team/shop.git", "team/shop"), ("/srv/git/store.git", "store")):
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


def test_settings_for_who_sees_some_wings_say_the_same_but_of_wings() -> None:
    narrow = narrow_settings(SETTINGS.encode())
    assert b"vault" not in narrow
    told = SETTINGS.replace('default_wing = "vault"', "").partition("[wings")[0]
    assert replace(parse_settings(narrow), source=told.encode()) == parse_settings(told.encode())
    held = {"a": ['q"uote', "back\\slash", "\x7f\x01\n", "ü \U0001f600"], "b": {"c d": 1.5, "e": True}}
    content = 'a = ["q\\"uote", "back\\\\slash", "\\u007f\\u0001\\n", "ü \U0001f600"]\nb = {"c d" = 1.5, e = true}\n'
    assert tomllib.loads(content) == tomllib.loads(narrow_settings(content.encode()).decode()) == held
    assert narrow_settings(b"[wings.vault") == narrow_settings(b"\xff") == b""


def committed(folder: Path, name: str) -> str:
    write_entry(folder / "memory", f"nav/rules/{name}", f"About {name}.\n")
    return commit_all(folder)


def committed_long_ago(folder: Path) -> str:
    """Commit by a clock that is wrong."""
    dated = environment(GIT_COMMITTER_DATE="2001-01-01T00:00:00Z", GIT_AUTHOR_DATE="2001-01-01T00:00:00Z")
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "dated"], cwd=folder, env=dated, check=True)
    return head(folder)


def at(dsn: str) -> list[tuple[object, ...]]:
    return rows(dsn, "SELECT name, commit, serial FROM repository ORDER BY id")


def test_what_is_older_is_passed_over(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    old, new = head(folder), committed(folder, "one")
    pushed(dsn, folder / "memory")
    before = state(dsn)
    late = pushed(dsn, folder / "memory", commit=old)
    assert (late.succession, late.commit, late.pushed, late.is_unchanged) == (Succession.OLDER, new, old, True)
    # A clone that does not have what the hub has yet.
    stale = tmp_path / "stale"
    git(tmp_path, "clone", "-q", str(folder), "stale")
    pushed(dsn, folder / "memory", commit=committed(folder, "two"))
    assert pushed(dsn, stale / "memory", repository="shop").succession is Succession.OLDER
    assert (before["repository"] != state(dsn)["repository"], at(dsn)) == (True, [("shop", head(folder), 2)])
    # No clock has a say.
    dated = pushed(dsn, folder / "memory", commit=committed_long_ago(folder))
    assert (dated.succession, rows(dsn, "SELECT extract(year FROM committed_at) FROM repository")) == (
        "newer",
        [(2001,)],
    )


def test_a_rewritten_history_needs_a_word_and_what_was_pushed_before_does_not_come_back(
    dsn: str, tmp_path: Path
) -> None:
    folder = memory(tmp_path / "shop")
    root, start = folder / "memory", head(folder)
    pushed(dsn, root)
    old = committed(folder, "one")
    pushed(dsn, root)
    git(folder, "checkout", "-q", "-b", "other", start)
    committed(folder, "other")
    with pytest.raises(UsageError, match=r"does not descend from it.*--rewritten"):
        pushed(dsn, root)
    assert at(dsn) == [("shop", old, 2)]
    assert pushed(dsn, root, is_rewritten=True).succession is Succession.REWRITTEN
    # A job of the old line that ends late.
    assert pushed(dsn, root, commit=old, is_rewritten=True).succession is Succession.OLDER
    assert pushed(dsn, root, commit=committed(folder, "two")).succession is Succession.NEWER
    assert [path for (path,) in rows(dsn, "SELECT path FROM file WHERE path LIKE 'rules/%' ORDER BY 1")] == [
        "rules/callbacks.md",
        "rules/other.md",
        "rules/two.md",
    ]


def test_a_history_that_is_cut_off_is_told_how_to_be_had(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    pushed(dsn, folder / "memory")
    committed(folder, "one")
    git(tmp_path, "clone", "-q", "--depth=1", folder.as_uri(), "cut")
    with pytest.raises(EnvironmentFaultError, match=r"does not reach back to it.*fetch-depth: 0"):
        pushed(dsn, tmp_path / "cut/memory", repository="shop")
    # The first push needs no history.
    assert pushed(dsn, tmp_path / "cut/memory", repository="cut").succession is Succession.FIRST


def test_two_memories_of_a_repository_are_two(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    write_entry(make_root(folder / "teams/web"), "web/rules/one")
    commit_all(folder)
    git(folder, "remote", "add", "origin", "https://somebody:secret@Git.Example.org/acme/shop.git")
    pushed(dsn, folder / "memory")
    assert pushed(dsn, folder / "teams/web").repository == "acme/shop:teams/web"
    assert rows(dsn, "SELECT name, root, url FROM repository ORDER BY 1") == [
        ("acme/shop", "memory", "git.example.org/acme/shop"),
        ("acme/shop:teams/web", "teams/web", "git.example.org/acme/shop"),
    ]
    with pytest.raises(UsageError, match="is another memory of this repository, at memory; choose another name"):
        pushed(dsn, folder / "teams/web", repository="acme/shop")
    with pytest.raises(UsageError, match="not a valid name for a repository"):
        pushed(dsn, folder / "teams/web", repository="a b")
    # One that moved is the same.
    git(folder, "mv", "memory", "docs")
    commit_all(folder)
    moved = pushed(dsn, folder / "docs")
    assert (moved.repository, moved.added, moved.removed) == ("acme/shop", 0, 0)


def test_twenty_at_once_leave_the_newest_once(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    commits = [committed(folder, f"number{number}") for number in range(5)]
    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(lambda commit: pushed(dsn, folder / "memory", commit=commit), commits * 4))
    (name, commit, serial), *more = at(dsn)
    assert (name, commit, more) == ("shop", commits[-1], [])
    assert serial == sum(not one.is_unchanged for one in results) == rows(dsn, "SELECT count(*) FROM push")[0][0]
    after = state(dsn)
    rows_gone = rows(dsn, "WITH gone AS (DELETE FROM repository RETURNING 1) SELECT count(*) FROM gone")
    pushed(dsn, folder / "memory")
    assert (rows_gone, state(dsn)) == ([(1,)], after)
