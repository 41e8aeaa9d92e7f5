"""A server that fails: nothing is lost or there by half, and each fault is one clear sentence."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import psycopg
import pytest
from builders import commit_all, memory, write_entry
from pushes import Typed, pushed, rows, state

from mdmem.errors import UsageError
from mdmem.hub.connection import HubError, HubRaceError, Limits, connected


@pytest.fixture(autouse=True)
def _mended_after(dsn: str) -> Iterator[None]:
    """Let no test find the faults of another."""
    yield
    mended(dsn)


@pytest.fixture
def changed(dsn: str, tmp_path: Path) -> Path:
    """Return a memory that was pushed, and changed since."""
    root = memory(tmp_path / "shop") / "memory"
    pushed(dsn, root)
    for number in range(3):
        write_entry(root, f"nav/rules/number{number}")
    commit_all(root)
    return root


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
    # The server's answer comes while more is sent: a library would print what it says of that.
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
    with pytest.raises(HubRaceError, match="try again"):
        pushed(dsn, changed)


def test_whoever_waits_too_long_for_another_push_is_told(dsn: str, changed: Path) -> None:
    with psycopg.connect(dsn, options="-c search_path=mdmem_hub") as other:
        other.execute("SELECT FROM repository FOR UPDATE")
        with pytest.raises(HubRaceError, match="another process") as raised:
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
