"""Tokens: good once, for a short time, kept as a hash."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import write

from mdmem.errors import EnvironmentFaultError
from mdmem.store.state.tokens import ApprovalTokenError, request_token, use_token

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
UNKNOWN = r"^the token is unknown; `mdmem token` prints a new one$"
EXPIRED = r"^the token expired at 2026-11-21T12:01:00\+00:00; `mdmem token` prints a new one$"
USED = r"^the token was already used for another write; `mdmem token` prints a new one$"


def after(seconds: float) -> datetime:
    """Return the moment so many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


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


def test_state_that_cannot_be_written_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = request_token(tmp_path, NOON, seconds=60)

    def refuse(*_: object) -> None:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(EnvironmentFaultError, match=r"cannot be used: read-only file system$"):
        use_token(tmp_path, token.text, NOON)
