"""The limit of time: whatever the work does, whoever waits goes on, and nothing is raised."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest
from builders import Clock

from mdmem.events import limit
from mdmem.events.limit import limited

Send = Callable[[str], None]


def run(work: Callable[[bytes, Send], None], content: bytes = b"{}", seconds: float = 5) -> str:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(content)
    try:
        return limited(work, seconds=seconds, handle=reading)
    finally:
        os.close(reading)


def test_what_is_sent_comes_back() -> None:
    assert run(lambda content, send: send(f"got {content.decode()} \u20ac")) == "got {} \u20ac"


def fail(_: bytes, __: Send) -> None:
    raise RuntimeError("a fault")


def leave(_: bytes, __: Send) -> None:
    raise SystemExit(3)


def die(_: bytes, __: Send) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def talk(_: bytes, send: Send) -> None:
    os.write(1, b"loud")
    os.write(2, b"loud")
    send("quiet")


@pytest.mark.parametrize("work", [fail, leave, die])
def test_a_fault_is_silence(work: Callable[[bytes, Send], None], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(work) == ""
    assert capfd.readouterr() == ("", "")


def test_nothing_but_what_is_sent_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(talk) == "quiet"
    assert capfd.readouterr() == ("", "")


def hang(_: bytes, __: Send) -> None:
    # In one step of the interpreter, so that no handler of a signal would run.
    pow(7, 10**9)


def note_slowly(_: bytes, send: Send) -> None:
    send("said")
    time.sleep(60)


def test_work_that_takes_too_long_is_ended() -> None:
    started = time.monotonic()
    assert run(hang, seconds=0.1) == ""
    assert time.monotonic() - started < 2


def test_who_has_said_its_word_is_waited_for_no_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(limit, "time", clock)
    assert run(note_slowly, seconds=5) == "said"
    assert 5 <= clock.now < 5.1


def test_input_that_does_not_end_or_is_too_much_is_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    assert limited(lambda _, send: send("x"), seconds=0.1, handle=reading) == ""
    os.close(writing)
    monkeypatch.setattr(limit, "MOST_BYTES", 1000)
    monkeypatch.setattr(limit, "_CHUNK", 100)
    assert run(lambda _, send: send("x"), b" " * 1000) == "x"
    assert run(lambda _, send: send("x"), b" " * 1001) == ""
    os.close(reading)
