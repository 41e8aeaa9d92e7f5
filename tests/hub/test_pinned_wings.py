"""Wings of other repositories are kept once for all who pin the same commit; and pushes by who does not own the hub."""

import json
import shutil
from pathlib import Path

import psycopg
import pytest
from builders import commit_all, open_root, write, write_entry
from change.pair import Two
from pushes import Typed, pushed, rows, state

from mdmem.ask.question import Question
from mdmem.change.sync import fetch_wings
from mdmem.errors import UsageError
from mdmem.hub import contents
from mdmem.hub.connection import connected
from mdmem.hub.push import PushResult, push
from mdmem.hub.repositories import grant, make_token
from mdmem.hub.search import search_hub
from mdmem.store.workspace.scope import Filters


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
    # One that was not at hand then is written when it is, and whoever keeps a copy is told by the number.
    rows(dsn, "UPDATE wing SET format = 'older' WHERE source IS NOT NULL RETURNING 1")
    assert (pushed(dsn, two.root).pins, rows(dsn, "SELECT serial FROM repository")) == (1, [(3,)])
    assert state(dsn) == before


def pushed_by(token: str, dsn: str, root: Path, **asked: object) -> PushResult:
    with connected(dsn.replace("user=postgres", "user=guest"), token=token) as connection:
        return push(open_root(root), connection, **asked)


def in_order(dsn: str) -> dict[str, list[str]]:
    """Return what a hub holds, whichever repository came first."""
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
    # The same, made anew by the owner.
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
    # And not where another repository reads it, whose it is as much.
    pushed(dsn, two.root, repository="other")
    rows(dsn, damage)
    result = pushed_by(token, dsn, two.root, is_whole=True)
    assert result.kept
    assert rows(dsn, "SELECT count(*) FROM file WHERE title = 'x'") == [(3,)]
    assert pushed(dsn, two.root, repository="other", is_whole=True).kept == ()
    assert rows(dsn, "SELECT count(*) FROM file WHERE title = 'x'") == [(0,)]
