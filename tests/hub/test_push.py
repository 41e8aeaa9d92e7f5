"""What a push sends: the memory at a commit, whole the first time, and then what changed."""

import shutil
from pathlib import Path

import psycopg
from builders import (
    commit_all,
    git,
    memory,
    open_root,
    write,
    write_entry,
)
from msgspec.structs import replace
from pushes import pushed, rows, state

from mdmem.hub.push import PushResult, Succession
from mdmem.store.workspace.visibility import make_own_memory


def counts(result: PushResult) -> tuple[int, int, int]:
    return result.transferred.added, result.transferred.changed, result.transferred.removed


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
