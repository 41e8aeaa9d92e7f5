"""Tokens: good once, for a short time, kept as a hash."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import write
from processes import run_at_once

from mdmem.errors import EnvironmentFaultError
from mdmem.store.state.tokens import ApprovalTokenError, request_token, use_token

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
UNKNOWN = r"^the token is unknown; `mdmem token` prints a new one$"
EXPIRED = r"^the token expired at 2026-11-21T12:01:00\+00:00; `mdmem token` prints a new one$"
USED = r"^the token was already used for another write; `mdmem token` prints a new one$"


def after(seconds: float) -> datetime:
    """Return the moment so many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


def test_token_is_good_once_and_expires_at_the_second(tmp_path: Path) -> None:
    token = request_token(tmp_path, NOON, seconds=60)
    assert token.expires_at == after(60)
    use_token(tmp_path, token.text, after(59.9))
    with pytest.raises(ApprovalTokenError, match=USED):
        use_token(tmp_path, token.text, after(59.95))
    with pytest.raises(ApprovalTokenError, match=EXPIRED):
        use_token(tmp_path, request_token(tmp_path, NOON, seconds=60).text, after(60))


@pytest.mark.parametrize("text", ["", " ", "nothing", "../../write.lock", "\x00", "\udce9", "a" * 100_000])
def test_token_that_was_never_given_is_unknown(tmp_path: Path, text: str) -> None:
    token = request_token(tmp_path / "other", NOON, seconds=60)
    (path,) = (tmp_path / "other/tokens").iterdir()
    for never_given in (text, token.text, path.name):
        with pytest.raises(ApprovalTokenError, match=UNKNOWN):
            use_token(tmp_path, never_given, NOON)


@pytest.mark.parametrize("content", [b"", b"{", b'{"expires_at":', b'{"expires_at":"never"}', b'{"expires_at":1}'])
def test_token_whose_file_is_torn_is_unknown(tmp_path: Path, content: bytes) -> None:
    token = request_token(tmp_path, NOON, seconds=60)
    (path,) = (tmp_path / "tokens").iterdir()
    path.write_bytes(content)
    for text in (path.name, token.text):
        with pytest.raises(ApprovalTokenError, match=UNKNOWN):
            use_token(tmp_path, text, NOON)


def test_disk_holds_the_hash_alone_for_its_owners_eyes(tmp_path: Path) -> None:
    token = request_token(tmp_path, NOON, seconds=60)
    (path,) = (tmp_path / "tokens").iterdir()
    assert re.fullmatch("[0-9a-f]{64}", path.name)
    assert path.stat().st_mode & 0o777 == 0o600
    assert token.text not in path.name + path.read_text()
    assert path.read_text() == '{"expires_at":"2026-11-21T12:01:00Z"}'


def test_tokens_that_expired_long_ago_are_removed_and_nothing_else(tmp_path: Path) -> None:
    old = request_token(tmp_path, NOON, seconds=60)
    used = request_token(tmp_path, NOON, seconds=60)
    use_token(tmp_path, used.text, NOON)
    write(tmp_path, "tokens/notes.txt", "mine")
    request_token(tmp_path, after(3600), seconds=60)
    with pytest.raises(ApprovalTokenError, match=EXPIRED):
        use_token(tmp_path, old.text, after(3600))
    request_token(tmp_path, after(2 * 86_400), seconds=60)
    left = sorted(path.name for path in (tmp_path / "tokens").iterdir())
    assert (len(left), left[-1]) == (2, "notes.txt")
    with pytest.raises(ApprovalTokenError, match=UNKNOWN):
        use_token(tmp_path, used.text, after(2 * 86_400))


def try_to_use(_: int, folder: str, tokens: list[str]) -> list[str]:
    won = []
    for text in tokens:
        try:
            use_token(Path(folder), text, NOON)
        except ApprovalTokenError as error:
            assert re.match(USED, str(error))  # noqa: PT017  # in another process
        else:
            won.append(text)
    return won


def test_processes_use_each_token_exactly_once(tmp_path: Path) -> None:
    tokens = [request_token(tmp_path, NOON, seconds=60).text for _ in range(12)]
    won = [text for found in run_at_once(try_to_use, str(tmp_path), tokens) for text in found]
    assert sorted(won) == sorted(tokens)


def test_state_that_cannot_be_written_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = write(tmp_path, "state", "a file")
    with pytest.raises(EnvironmentFaultError, match=rf"^the state in {state} cannot be used: not a directory$"):
        request_token(state, NOON, seconds=60)
    token = request_token(tmp_path, NOON, seconds=60)

    def refuse(*_: object) -> None:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(EnvironmentFaultError, match=r"cannot be used: read-only file system$"):
        use_token(tmp_path, token.text, NOON)
