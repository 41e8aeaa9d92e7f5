"""What the server logs acts on no terminal, whoever said it."""

from __future__ import annotations

import logging
from datetime import date
from pathlib import Path

import pytest

from mdmem.mcp.server import MemoryServer
from mdmem.mcp.workspaces import Provider
from mdmem.model.access import EVERYTHING

EVIL = "\x1b]0;owned\x07\x9b2J\u202e"
SHOWN = "<U+001B>]0;owned<U+0007><U+009B>2J<U+202E>"


def test_a_log_line_shows_what_a_client_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])
    provider = Provider(str(tmp_path), environment={}, cwd=tmp_path, today=lambda: date(2026, 11, 21))
    MemoryServer(provider, profile=None, access=lambda: EVERYTHING)
    try:
        raise LookupError(EVIL)
    except LookupError:
        logging.getLogger("uvicorn.error").exception("%s\nforged", EVIL)
    first, *rest = capsys.readouterr().err.splitlines()
    assert first == f"{SHOWN}<U+000A>forged"
    assert rest[-1] == f"LookupError: {SHOWN}"
