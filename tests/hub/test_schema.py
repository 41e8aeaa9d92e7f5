"""The tables of a hub: made once, brought up to date, refused where they are another program's."""

import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest
from builders import run_here

from mdmem.hub.connection import HubError, connected, expected, init, require
from mdmem.hub.grants import grant, grants


def test_two_make_them_at_once(empty_dsn: str) -> None:
    failed: list[HubError] = []

    def make() -> None:
        try:
            with connected(empty_dsn) as connection:
                init(connection)
        except HubError as error:
            failed.append(error)

    both = [threading.Thread(target=make) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert failed == []


@pytest.mark.parametrize(("version", "advice"), [(expected() + 1, "install a newer"), (0, "hub init")])
def test_another_version_is_refused(dsn: str, version: int, advice: str) -> None:
    with connected(dsn) as connection, connection.transaction(force_rollback=True):
        connection.execute("DELETE FROM migration")
        connection.execute("INSERT INTO migration VALUES (%s)", (version,))
        with pytest.raises(HubError, match=advice):
            require(connection)


def test_no_hub_is_said(empty_dsn: str) -> None:
    with pytest.raises(HubError, match="no hub in this database"), connected(empty_dsn) as connection:
        require(connection)


@pytest.mark.usefixtures("roles")
def test_who_may_make_no_schema_is_told_what_allows_it(empty_dsn: str) -> None:
    as_guest = empty_dsn.replace("user=postgres", "user=guest")
    with pytest.raises(HubError, match="may not create a schema") as raised, connected(as_guest) as connection:
        init(connection)
    with psycopg.connect(empty_dsn, autocommit=True) as raw:
        raw.execute(str(raised.value).split("`")[1])
    with connected(as_guest) as connection:
        assert init(connection) == (0, expected())


@pytest.mark.usefixtures("roles")
def test_a_schema_of_somebody_else_is_left_alone(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as raw:
        raw.execute("CREATE SCHEMA mdmem_hub AUTHORIZATION guest")
    with pytest.raises(HubError, match="belongs to `guest`"), connected(empty_dsn) as connection:
        init(connection)


@pytest.mark.usefixtures("roles")
def test_they_are_made_by_a_role_that_may_make_a_schema_and_no_more(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as raw:
        database = raw.info.dbname
        raw.execute(f"GRANT CREATE ON DATABASE {database} TO guest")
    with connected(empty_dsn.replace("user=postgres", "user=guest")) as connection:
        init(connection)
        grant(connection, "member", ["acme/shop"], may_push=True)
        assert [one.permissions[0].place for one in grants(connection)] == ["acme/shop"]
    with connected(empty_dsn.replace("user=postgres", "user=member")) as connection:
        assert [one.permissions[0].place for one in grants(connection)] == ["acme/shop"]


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
    with pytest.raises(HubError, match="keeps texts as LATIN1"), connected(server.dsn("latin")) as connection:
        init(connection)


def test_no_place_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run_here(capsys, "hub", "status", cwd=tmp_path)
    assert (ran.code, "give --dsn, or set MDMEM_HUB_DSN" in ran.err) == (2, True)
    assert "push" in run_here(capsys, "hub", "--help", cwd=tmp_path).out
