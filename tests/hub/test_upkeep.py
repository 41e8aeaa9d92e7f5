"""Test the commands of an operator, the tables of a hub, the guide, and a failing server: nothing is lost."""

import json
import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

import psycopg
import pytest
from builders import commit_all, git, memory, open_root, run_here, write_entry
from guide.transcripts import Reader, pattern_of, transcripts
from pushes import Typed, pushed, rows, state

import mdmem.guide
from mdmem.errors import LostRaceError, NotFoundError, UsageError
from mdmem.hub.connection import EXPECTED, HubError, Limits, connected, init, open_hub
from mdmem.hub.push import Succession, push, verify
from mdmem.hub.repositories import forget, grant, grants, make_token, rename, status


def found(dsn: str, root: Path) -> list[tuple[str, str]]:
    with connected(dsn) as connection:
        report = verify(open_root(root), connection)
    return [(finding.code, finding.place.path) for finding in report.findings]


def change(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, options="-c search_path=mdmem_hub") as connection:
        assert connection.execute(statement).rowcount, statement


def test_whatever_differs_is_found_and_made_anew(dsn: str, tmp_path: Path, typed: Typed) -> None:
    root = memory(tmp_path / "shop") / "memory"
    git(root, "config", "remote.origin.url", "https://git.example.org/shop")
    write_entry(root, "dock/rules/one", see="[nav/rules/callbacks]")
    write_entry(root, "dock/rules/two")
    commit_all(root)
    pushed(dsn, root)
    before = state(dsn)
    assert found(dsn, root) == []
    change(dsn, "UPDATE file SET content = 'x', words = '' WHERE path = 'rules/callbacks.md'")
    change(dsn, "DELETE FROM link")
    change(dsn, "DELETE FROM file WHERE path = 'rules/two.md'")
    change(dsn, "INSERT INTO file (wing_id, path) SELECT id, 'rules/odd.md' FROM wing WHERE name = 'nav'")
    change(dsn, "INSERT INTO wing (repository_id, name) SELECT id, 'odd' FROM repository")
    change(dsn, "UPDATE wing SET documents = 7 WHERE name = 'nav'")
    # No manifest of this wing puts anything in its place.
    change(dsn, "UPDATE wing SET is_shared = true, owners = '{x}' WHERE name = 'dock'")
    change(dsn, "UPDATE repository SET settings = 'x', narrow_settings = 'x', root = 'x', url = 'x', tracked = '{x}'")
    assert found(dsn, root) == [
        ("row-differs", "."),
        ("figures-differ", "dock"),
        ("row-differs", "dock/rules/one.md"),
        ("row-missing", "dock/rules/two.md"),
        ("row-differs", "mdmem.toml"),
        ("figures-differ", "nav"),
        ("row-differs", "nav/rules/callbacks.md"),
        ("row-left-over", "nav/rules/odd.md"),
        ("wing-left-over", "odd"),
    ]
    shown = typed("hub", "verify", cwd=root)
    assert shown.code == 1
    assert "nav/rules/callbacks.md: row-differs the row differs from the file\n" in shown.out
    assert "5 files of shop compared" in shown.out
    assert typed("hub", "rebuild", cwd=root).code == 0
    assert typed("hub", "verify", cwd=root).out.startswith("5 files of shop compared at ")
    assert state(dsn) == before


def test_old_names_go_on_working_and_what_is_forgotten_is_gone(dsn: str, tmp_path: Path) -> None:
    root = memory(tmp_path / "shop") / "memory"
    pushed(dsn, root)
    pushed(dsn, root, repository="fork")
    with connected(dsn) as connection:
        assert rename(connection, "shop", "team/shop") == "shop"
        assert pushed(dsn, root).repository == "team/shop"
        for taken, said in (("fork", "is another repository"), ("shop", "is a former name of `team/shop`")):
            with pytest.raises(UsageError, match=said):
                rename(connection, "team/shop" if taken == "fork" else "fork", taken)
        # And back again.
        assert rename(connection, "shop", "shop") == "team/shop"
        assert rows(dsn, "SELECT name FROM former_name") == [("team/shop",)]
        assert forget(connection, "team/shop").name == "shop"
        with pytest.raises(NotFoundError, match="hub status"):
            forget(connection, "shop")
        with pytest.raises(NotFoundError, match="has no copy of `shop`"):
            verify(open_root(root), connection)
        forget(connection, "fork")
    assert {name for name, held in state(dsn).items() if held} == set()


def test_status_shows_what_there_is(dsn: str, tmp_path: Path, typed: Typed) -> None:
    folder = memory(tmp_path / "shop")
    assert typed("hub", "status", cwd=folder).out.startswith("the hub has no repository that you may see\n")
    assert typed("hub", "push", cwd=folder / "memory").out.endswith(": 3 files added\n")
    change(dsn, "UPDATE repository SET pushed_at = now() - interval '3 days'")
    change(dsn, "INSERT INTO repository (name) VALUES ('empty')")
    change(dsn, "INSERT INTO former_name SELECT 'old', id FROM repository WHERE name = 'shop'")
    empty, shop, total = typed("hub", "status", cwd=folder).out.splitlines()
    assert empty == "empty  nothing was pushed yet"
    assert shop.startswith("shop  ")
    assert shop.endswith(", pushed 3 days ago: 2 entries; was old")
    assert total.startswith("2 repositories, 2 entries, ")
    # A clock that was set back makes nothing younger than new.
    change(dsn, "UPDATE repository SET pushed_at = now() + interval '1 day'")
    said = json.loads(typed("hub", "status", "--format", "json", cwd=folder).out)
    assert [one["age_seconds"] for one in said["repositories"]] == [0, 0]
    renamed = typed("hub", "rename", "empty", "void", "--format", "json", cwd=folder)
    assert json.loads(renamed.out) == {"schema": 1, "before": "empty", "repository": "void"}
    forgotten = typed("hub", "forget", "empty", "--format", "json", cwd=folder)
    assert json.loads(forgotten.out) == {"schema": 1, "repository": "void", "commit": None}


@pytest.mark.usefixtures("roles")
def test_who_pushes_verifies_and_rewrites_and_leaves_the_rest_to_the_owner(dsn: str, tmp_path: Path) -> None:
    folder = memory(tmp_path / "shop")
    pushed(dsn, folder / "memory")
    pushed(dsn, folder / "memory", repository="other")
    with connected(dsn) as owner:
        token = make_token(owner, "ci")
        grant(owner, "ci", ["shop"], may_push=True)
    with connected(dsn.replace("user=postgres", "user=guest"), token=token) as connection:
        git(folder, "commit", "-q", "--amend", "-m", "rewritten")
        pushed_again = push(open_root(folder / "memory"), connection, is_rewritten=True)
        assert pushed_again.succession is Succession.REWRITTEN
        assert verify(open_root(folder / "memory"), connection).findings == ()
        report = status(connection)
        assert ([one.name for one in report.repositories], report.bytes) == (["shop"], None)
        for act in (lambda: rename(connection, "shop", "mine"), lambda: forget(connection, "shop")):
            with pytest.raises(UsageError, match="only the hub's owner"):
                act()


def test_two_make_them_at_once(empty_dsn: str) -> None:
    def make(_: int) -> None:
        with connected(empty_dsn) as connection:
            init(connection)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(make, range(2))) == [None, None]


def test_a_newer_hub_and_none_are_refused(dsn: str, empty_dsn: str) -> None:
    change(dsn, f"INSERT INTO migration VALUES ({EXPECTED + 1})")
    for place, said in ((dsn, "install a newer"), (empty_dsn, "no hub in this database")):
        with pytest.raises(HubError, match=said), open_hub(place, None):
            pass
    change(dsn, f"DELETE FROM migration WHERE number > {EXPECTED}")


@pytest.mark.usefixtures("roles")
def test_who_may_make_no_schema_is_told_what_allows_it(empty_dsn: str) -> None:
    as_guest = empty_dsn.replace("user=postgres", "user=guest")
    with pytest.raises(HubError, match="may not create a schema") as raised, connected(as_guest) as connection:
        init(connection)
    with psycopg.connect(empty_dsn, autocommit=True) as raw:
        raw.execute(str(raised.value).split("`")[1])
    # Such a role may then do all that an owner may.
    with connected(as_guest) as connection:
        assert init(connection) == (0, EXPECTED)
        grant(connection, "member", ["acme/shop"], may_push=True)
        assert [one.permissions[0].place for one in grants(connection)] == ["acme/shop"]
    with connected(empty_dsn.replace("user=postgres", "user=member")) as connection:
        assert [one.permissions[0].place for one in grants(connection)] == ["acme/shop"]


@pytest.mark.usefixtures("roles")
def test_a_schema_of_somebody_else_is_left_alone(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as raw:
        raw.execute("CREATE SCHEMA mdmem_hub AUTHORIZATION guest")
    with pytest.raises(HubError, match="belongs to the role `guest`"), connected(empty_dsn) as connection:
        init(connection)


def test_what_cannot_be_a_token_is_not_sent() -> None:
    with pytest.raises(HubError, match="has the wrong form"), connected("host=/nowhere", token="a -c role=postgres"):
        pass


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("host=/nowhere user=me password=hunter2", "the hub does not answer"),
        ("postgresql//me:hunter2@host/hub", "the DSN, of --dsn or MDMEM_HUB_DSN, cannot be read"),
        ("postgresql://me:hunter2@host/hub?odd=1", "the DSN, of --dsn or MDMEM_HUB_DSN, cannot be read"),
    ],
)
def test_no_server_is_a_sentence_without_the_password(place: str, said: str) -> None:
    with pytest.raises(HubError) as raised, connected(place):
        pass
    assert str(raised.value).startswith(said)
    assert "hunter2" not in str(raised.value)
    # The server's lines stay sentences of their own.
    assert "directory Is" not in str(raised.value)


def test_a_database_of_another_encoding_is_refused(server: Any, empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as raw:
        raw.execute("DROP DATABASE IF EXISTS latin")
        raw.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(HubError, match="stores texts as LATIN1"), connected(server.dsn("latin")) as connection:
        init(connection)


def test_no_place_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run_here(capsys, "hub", "status", cwd=tmp_path)
    assert (ran.code, "give --dsn, or set MDMEM_HUB_DSN" in ran.err) == (2, True)
    assert "push" in run_here(capsys, "hub", "--help", cwd=tmp_path).out


def test_transcripts_give_what_they_show(empty_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "gitconfig"
    own.write_text("[user]\n\tname = A developer\n\temail = developer@example.org\n")
    for variable, value in (("HOME", tmp_path), ("GIT_CONFIG_GLOBAL", own), ("MDMEM_HUB_DSN", empty_dsn)):
        monkeypatch.setenv(variable, str(value))
    (tmp_path / "mdmem").mkdir()
    reader = Reader(tmp_path / "mdmem")
    for command, shown in transcripts(mdmem.guide.page("hub")):
        printed = reader.types(command)
        assert re.fullmatch(pattern_of(shown), printed), f"$ {command}\n{printed}\n{reader.said}"


def test_the_workflow_fetches_the_commits_that_are_pinned_and_no_newer_ones() -> None:
    steps = re.findall(r"run: (mdmem .*)", mdmem.guide.page("hub"))
    assert steps[:2] == ["mdmem sync --wings --pinned", "mdmem hub push"]


@pytest.fixture
def changed(dsn: str, tmp_path: Path) -> Iterator[Path]:
    """Yield a memory that changed since its push. Remove the damage of the test afterwards."""
    root = memory(tmp_path / "shop") / "memory"
    pushed(dsn, root)
    for number in range(3):
        write_entry(root, f"nav/rules/number{number}")
    commit_all(root)
    yield root
    mended(dsn)


def during_inserts(dsn: str, statement: str) -> None:
    """Have the server do something in the middle of a push: when the second row of a file is written."""
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=mdmem_hub") as connection:
        connection.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF NEW.path LIKE '%number1%' THEN {statement} END IF; RETURN NEW; END $$"
        )
        connection.execute("CREATE TRIGGER fail BEFORE INSERT ON file FOR EACH ROW EXECUTE FUNCTION fail()")


def mended(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "SET client_min_messages = warning; SET search_path = mdmem_hub;"
            " DROP FUNCTION IF EXISTS fail CASCADE; DROP SEQUENCE IF EXISTS tries"
        )


_RAISED = "RAISE EXCEPTION 'low \x1b[31m on it' USING ERRCODE = "
_FAULTS = {
    f"{_RAISED}'53100';": "no space left on its disk",
    f"{_RAISED}'53200';": "no memory left",
    f"{_RAISED}'42501';": "hub grant",
    "PERFORM pg_terminate_backend(pg_backend_pid());": "ended the connection",
    "PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(1);": "took longer than its time limit",
}


def test_a_fault_in_the_middle_leaves_the_hub_as_it_was(dsn: str, changed: Path) -> None:
    before = state(dsn)
    for statement, said in _FAULTS.items():
        during_inserts(dsn, statement)
        with pytest.raises(HubError, match=said):
            pushed(dsn, changed)
        assert state(dsn) == before, statement
        mended(dsn)
    assert (pushed(dsn, changed).added, rows(dsn, "SELECT serial FROM repository")) == (3, [(2,)])


def test_words_of_the_server_do_not_act_on_a_terminal(dsn: str, changed: Path, typed: Typed) -> None:
    # The server answers while rows are still sent, and the library would log its message.
    for number in range(20, 60):
        write_entry(changed, f"nav/rules/number{number}")
    commit_all(changed)
    during_inserts(dsn, "RAISE EXCEPTION E'odd \\x1b[31m\\u202e words' USING ERRCODE = 'P0001';")
    ran = typed("hub", "push", cwd=changed)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("mdmem: the hub refuses: odd <U+001B>[31m<U+202E> words")
    assert ran.err.count("\n") == 1


def test_a_clash_is_tried_again_and_then_another_may(dsn: str, changed: Path) -> None:
    with psycopg.connect(dsn, autocommit=True, options="-c search_path=mdmem_hub") as connection:
        connection.execute("CREATE SEQUENCE tries")
    during_inserts(dsn, "IF nextval('tries') < 3 THEN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END IF;")
    assert pushed(dsn, changed).added == 3
    assert rows(dsn, "SELECT last_value FROM tries") == [(3,)]
    write_entry(changed, "nav/rules/number10")
    commit_all(changed)
    mended(dsn)
    during_inserts(dsn, "RAISE EXCEPTION 'x' USING ERRCODE = '40001';")
    with pytest.raises(LostRaceError, match="try again"):
        pushed(dsn, changed)


def test_whoever_waits_too_long_for_another_push_is_told(dsn: str, changed: Path) -> None:
    with psycopg.connect(dsn, options="-c search_path=mdmem_hub") as other:
        other.execute("SELECT FROM repository FOR UPDATE")
        with pytest.raises(LostRaceError, match="another process") as raised:
            pushed(dsn, changed, lock_seconds=0.05)
    assert raised.value.exit_code == 4


@pytest.mark.parametrize("odd", ["a\0b", "\ud800"])
def test_what_no_hub_can_hold_is_the_fault_of_who_asks(dsn: str, odd: str) -> None:
    with pytest.raises(UsageError, match=r"the question|store"), connected(dsn) as connection:
        connection.execute("SELECT FROM repository WHERE name = %s", [odd])


def test_a_server_that_has_stopped_is_not_waited_for(dsn: str) -> None:
    stopped, began = 0, monotonic()
    try:
        in_time = pytest.raises(HubError, match="did not answer in time")
        with in_time, connected(dsn, limits=Limits(total=0.5)) as connection:
            stopped = connection.info.backend_pid
            os.kill(stopped, signal.SIGSTOP)
            connection.execute("SELECT 1")
    finally:
        os.kill(stopped, signal.SIGCONT)
    assert monotonic() - began < 5
