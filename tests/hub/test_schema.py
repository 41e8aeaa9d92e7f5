"""The tables of a hub: made once, brought up to date, refused where they are another program's."""

import threading

import psycopg
import pytest

from mdmem.hub.connection import HubError, connected
from mdmem.hub.schema import expected, init, require


def test_made_again_they_stay(empty_dsn: str) -> None:
    with connected(empty_dsn) as connection:
        first, second = init(connection), init(connection)
        require(connection)
    assert (first.before, first.after, second.before) == (0, expected(), expected())


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
    with psycopg.connect(dsn, autocommit=True) as raw:
        raw.execute("DELETE FROM mdmem_hub.migration")
        raw.execute("INSERT INTO mdmem_hub.migration VALUES (%s)", (version,))
    with pytest.raises(HubError, match=advice), connected(dsn) as connection:
        require(connection)


def test_no_hub_is_said(empty_dsn: str) -> None:
    with pytest.raises(HubError, match="no hub in this database"), connected(empty_dsn) as connection:
        require(connection)


def test_no_server_is_a_sentence_without_the_password() -> None:
    with pytest.raises(HubError) as raised, connected("host=/nowhere user=me password=hunter2"):
        pass
    assert str(raised.value).startswith("the hub does not answer")
    assert "hunter2" not in str(raised.value)
