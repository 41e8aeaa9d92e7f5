import threading

import pytest

from mdmem.index import fork


@pytest.mark.parametrize(
    ("cores", "load", "threads", "free"),
    [(2, 0.9, 1, True), (1, 0.0, 1, False), (2, 2.1, 1, False), (2, 0.9, 2, False)],
)
def test_core_is_free_where_there_is_one_and_no_thread_holds_a_lock(
    monkeypatch: pytest.MonkeyPatch, *, cores: int, load: float, threads: int, free: bool
) -> None:
    monkeypatch.setattr(fork.sys, "platform", "linux")
    monkeypatch.setattr(fork.os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr(fork.os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(threading, "active_count", lambda: threads)
    assert fork.is_free() is free
