"""Test pushes: the first and later ones, older commits, pinned wings, and permissions."""

import json
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
from change.pair import Two
from msgspec.structs import replace
from pushes import Typed, pushed, rows, state

from mdmem.ask.answer import Question
from mdmem.change.sync import fetch_wings
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.hub import contents
from mdmem.hub.connection import connected
from mdmem.hub.contents import narrow_settings
from mdmem.hub.push import PushResult, Succession, push
from mdmem.hub.repositories import default_names, grant, make_token, remote_place
from mdmem.hub.search import search_hub
from mdmem.store.settings import parse_settings
from mdmem.store.workspace.location import located
from mdmem.store.workspace.scope import Filters
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
    # These files are not pushed: uncommitted and private ones, state, and files outside the memory.
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
    # The URL may change without a new commit.
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
    ("remote", "name", "place"),
    [
        ("https://git.example.org/acme/shop.git", "acme/shop", "git.example.org/acme/shop"),
        ("https://somebody:secret@Git.Example.org/acme/shop/", "acme/shop", "git.example.org/acme/shop"),
        ("ssh://git@git.example.org:2222/acme/shop.git", "acme/shop", "git.example.org/acme/shop"),
        ("git.example.org:/acme/shop", "acme/shop", "git.example.org/acme/shop"),
        ("https://git.example.org/acme/shop.git?private_token=secret#more", "acme/shop", "git.example.org/acme/shop"),
        ("git@host:group/team/shop.git", "team/shop", "host/group/team/shop"),
        ("/srv/git/store.git", "store", None),
        ("file:///srv/git/store.git", "git/store", None),
        (None, "shop", None),
    ],
)
def test_a_repository_is_called_after_its_remote_else_its_folder(
    remote: str | None, name: str, place: str | None, tmp_path: Path
) -> None:
    root = make_root(make_repository(tmp_path / "shop") / "docs/memory")
    commit_all(root)
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    for one in (root, tmp_path / "linked/docs/memory"):
        assert default_names(located(one, "a test"), remote) == (name, f"{name}:docs/memory")
    assert remote_place(remote) == place
    assert remote_place("ext::sh -c secret") is None


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


@pytest.fixture
def _at_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the shared wing live where everybody finds it."""
    monkeypatch.setattr(contents, "remote_place", lambda _: "git.example.org/acme/lib")


def test_where_a_wing_lies_on_a_machine_is_told_to_nobody(dsn: str, two: Two) -> None:
    pushed(dsn, two.root)
    commit = two.opened().settings.wings["ros2"].commit or ""
    assert rows(dsn, "SELECT source FROM wing WHERE source IS NOT NULL") == [("",)]
    assert told(dsn, "choice") == {("An older choice", "app:ros2/rules/old", (("app", commit),))}


def pins(dsn: str) -> list[tuple[object, ...]]:
    return rows(
        dsn,
        "SELECT repository.name, wing.name, source_path, left(wing.commit, 10), documents FROM pin JOIN wing"
        " ON wing.id = wing_id JOIN repository ON repository.id = pin.repository_id ORDER BY 1",
    )


def told(dsn: str, words: str) -> set[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Return what is found of the shared wing: title, place, and who pins it at which commit."""
    with connected(dsn) as connection, connection.cursor() as cursor:
        found = search_hub(cursor, Question(words=words, filters=Filters(wings=("ros2",)))).entries
    return {
        (one.title, f"{one.repository}:{one.address}", tuple((pin.repository, pin.commit) for pin in one.pins))
        for one in found
    }


@pytest.mark.usefixtures("_at_a_place")
def test_a_wing_that_two_pin_is_kept_once(dsn: str, two: Two) -> None:
    other = Two(two.lib, Path(shutil.copytree(two.app, two.app.with_name("other"))))
    first = two.opened().settings.wings["ros2"].commit or ""
    assert pushed(dsn, two.root).pins == 1
    held = "SELECT file.id FROM file JOIN wing ON wing.id = wing_id WHERE source IS NOT NULL ORDER BY 1"
    ids = rows(dsn, held)
    pushed(dsn, other.root, repository="other")
    assert rows(dsn, held) == ids
    assert pins(dsn) == [(name, "ros2", "memory/ros2", first[:10], 2) for name in ("app", "other")]
    # One goes on, the other stays: two wings; then it goes on, too, and nobody reads the first.
    two.share("ros2/rules/old", body="A newer choice.\n", title="A newer choice")
    two.share("ros2/rules/new", see="[ros2/rules/callbacks]")
    fetch_wings(two.opened(), commit=True)
    assert pushed(dsn, two.root).pins == 1
    assert [documents for *_, documents in pins(dsn)] == [3, 2]
    second = two.opened().settings.wings["ros2"].commit or ""
    # An entry that is the same in both is found once, and one that differs twice.
    assert {(title, pins) for title, _, pins in told(dsn, "callbacks")} == {
        ("Callbacks do not block", (("app", second), ("other", first)))
    }
    assert told(dsn, "choice") == {
        ("A newer choice", "app:ros2/rules/old", (("app", second),)),
        ("An older choice", "other:ros2/rules/old", (("other", first),)),
    }
    fetch_wings(other.opened(), commit=True)
    pushed(dsn, other.root, repository="other")
    assert rows(dsn, "SELECT documents FROM wing WHERE source IS NOT NULL") == [(3,)]
    assert rows(
        dsn, "SELECT path FROM link JOIN file ON file.id = file_id WHERE target = 'ros2/rules/callbacks' ORDER BY 1"
    ) == [("rules/new.md",), ("rules/threads.md",), ("rules/threads.md",)]


@pytest.mark.usefixtures("_at_a_place")
def test_a_wing_that_its_own_repository_pushed_too_is_found_once(dsn: str, two: Two) -> None:
    pushed(dsn, two.root)
    pushed(dsn, two.lib / "memory", repository="acme/lib")
    with connected(dsn) as connection:
        # As of a remote that is not a folder.
        connection.execute("UPDATE repository SET url = source FROM wing WHERE source IS NOT NULL AND root <> ''")
    commit = two.opened().settings.wings["ros2"].commit or ""
    assert told(dsn, "choice") == {("An older choice", "acme/lib:ros2/rules/old", (("app", commit),))}


def test_a_wing_that_is_not_at_hand_stays_as_it_was_pinned(dsn: str, two: Two, typed: Typed) -> None:
    pushed(dsn, two.root)
    before = state(dsn)
    shutil.rmtree(two.opened().cache_folder / "wings")
    again = typed("hub", "push", "--format", "json", cwd=two.root)
    said = json.loads(again.out)
    assert (again.code, said["unchanged"], ["sync --wings" in one for one in said["missing"]]) == (3, True, [True])
    # What is not compared goes before what differs.
    for found in ([], ["row-differs"]):
        verified = typed("hub", "verify", "--format", "json", cwd=two.root)
        report = json.loads(verified.out)
        codes = [one["code"] for one in report["findings"]]
        assert (verified.code, report["missing"], codes) == (3, said["missing"], found)
        assert found or state(dsn) == before
        with connected(dsn) as connection:
            connection.execute("UPDATE repository SET settings = 'x'")


def test_a_wing_packed_in_another_format_is_written_anew_with_all_the_rest(dsn: str, two: Two) -> None:
    write(two.root, "nav/rules/notes.txt")
    pushed(dsn, two.root)
    before = state(dsn)
    rows_changed = rows(
        dsn,
        "WITH one AS (UPDATE repository SET format = 'older' RETURNING 1), two AS (UPDATE wing SET format = 'older'"
        " RETURNING 1), three AS (UPDATE file SET words = '' RETURNING 1)"
        " SELECT count(*) FROM three",
    )
    again = pushed(dsn, two.root)
    assert (again.is_unchanged, rows_changed[0][0] > 0) == (False, True)
    assert state(dsn) == before
    assert rows(dsn, "SELECT count(DISTINCT format) FROM wing") == [(1,)]
    # An outdated pinned wing is written again, and the new serial number makes cached copies stale.
    rows(dsn, "UPDATE wing SET format = 'older' WHERE source IS NOT NULL RETURNING 1")
    assert (pushed(dsn, two.root).pins, rows(dsn, "SELECT serial FROM repository")) == (1, [(3,)])
    assert state(dsn) == before


def pushed_by(token: str, dsn: str, root: Path, **asked: object) -> PushResult:
    with connected(dsn.replace("user=postgres", "user=guest"), token=token) as connection:
        return push(open_root(root), connection, **asked)


def in_order(dsn: str) -> dict[str, list[str]]:
    """Return the rows of a hub, in an order that does not depend on the order of pushes."""
    return {name: sorted(map(repr, held)) for name, held in state(dsn).items()}


@pytest.mark.usefixtures("roles")
def test_a_token_pushes_what_its_owner_would(dsn: str, two: Two) -> None:
    other = Two(two.lib, Path(shutil.copytree(two.app, two.app.with_name("other"))))
    with connected(dsn) as owner:
        tokens = [make_token(owner, name) for name in ("app", "other")]
        for name in ("app", "other"):
            grant(owner, name, [name], may_push=True)
        grant(owner, "other", ["app"])
    pushed_by(tokens[0], dsn, two.root)
    pushed_by(tokens[1], dsn, other.root, repository="other")
    assert rows(dsn, "SELECT count(*) FROM wing WHERE source IS NOT NULL") == [(1,)]
    two.share("ros2/rules/new")
    fetch_wings(two.opened(), commit=True)
    write_entry(two.root, "nav/rules/fresh", see="[ros2/rules/new]")
    commit_all(two.app)
    result = pushed_by(tokens[0], dsn, two.root)
    assert (result.added, result.pins) == (1, 1)
    after = in_order(dsn)
    # The owner gets the same rows from a new push.
    with psycopg.connect(dsn) as raw:
        raw.execute("DELETE FROM mdmem_hub.repository")
    pushed(dsn, two.root)
    pushed(dsn, other.root, repository="other")
    assert in_order(dsn) == after


@pytest.mark.usefixtures("roles")
def test_who_may_not_push_is_told_the_same_whether_it_is_there_or_not(dsn: str, two: Two) -> None:
    pushed(dsn, two.root)
    before = state(dsn)
    with connected(dsn) as owner:
        reader, nobody = make_token(owner, "reader"), make_token(owner, "nobody")
        grant(owner, "reader", ["app"])
    said = []
    for token, name in ((reader, "app"), (nobody, "app"), (nobody, "absent")):
        with pytest.raises(UsageError) as raised:
            pushed_by(token, dsn, two.root, repository=name)
        said.append(str(raised.value).replace(name, "…"))
    assert len(set(said)) == 1
    assert "`mdmem hub grant NAME … --push`" in said[0]
    assert state(dsn) == before


@pytest.mark.usefixtures("roles")
def test_a_damaged_pinned_wing_is_written_anew_by_whom_it_is_for_alone(dsn: str, two: Two) -> None:
    with connected(dsn) as owner:
        token = make_token(owner, "app")
        grant(owner, "app", ["app"], may_push=True)
    pushed_by(token, dsn, two.root)
    before = in_order(dsn)
    damage = "UPDATE file SET title = 'x' FROM wing WHERE wing.id = wing_id AND source IS NOT NULL RETURNING 1"
    rows(dsn, damage)
    assert pushed_by(token, dsn, two.root, is_whole=True).kept == ()
    assert in_order(dsn) == before
    # A wing that another repository also pins is not sent again.
    pushed(dsn, two.root, repository="other")
    rows(dsn, damage)
    result = pushed_by(token, dsn, two.root, is_whole=True)
    assert result.kept
    assert rows(dsn, "SELECT count(*) FROM file WHERE title = 'x'") == [(3,)]
    assert pushed(dsn, two.root, repository="other", is_whole=True).kept == ()
    assert rows(dsn, "SELECT count(*) FROM file WHERE title = 'x'") == [(0,)]
