"""`mdmem token`: a token is shown once, and is refused where the settings forbid it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import Run, make_repository, make_root

from mdmem.store.state.tokens import ApprovalTokenError, use_token


def root(folder: Path, settings: str = "") -> Path:
    return make_root(make_repository(folder) / "memory", settings)


def test_text_is_a_token_that_is_good_once(tmp_path: Path, run: Run) -> None:
    folder = root(tmp_path)
    ran = run("token", "--preview", "Use UTC", cwd=folder)
    token, expiry = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "for: Use UTC\n")
    assert expiry.endswith(", in 60 s; good for one write")
    state = tmp_path / ".git/mdmem/state/memory"
    use_token(state, token, datetime.now(UTC))
    with pytest.raises(ApprovalTokenError, match="was already used"):
        use_token(state, token, datetime.now(UTC))


def test_json_has_token_expiry_and_seconds(tmp_path: Path, run: Run) -> None:
    folder = root(tmp_path, "[governance]\ntoken_seconds = 300\n")
    said = run("token", "--format", "json", cwd=folder).json
    assert (list(said), said["ttl_seconds"]) == (["schema", "token", "expires_at", "ttl_seconds"], 300)
    assert 0 < (datetime.fromisoformat(said["expires_at"]) - datetime.now(UTC)).total_seconds() <= 300


def test_token_is_refused_where_the_settings_forbid_it(tmp_path: Path, run: Run) -> None:
    folder = root(tmp_path, "[governance]\nglobal_writes = false\n")
    reason = "writes to shared wings are forbidden: mdmem.toml sets `governance.global_writes = false`"
    ran = run("token", cwd=folder)
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem: {reason}\n")
    ran = run("token", "--format", "json", cwd=folder)
    assert (ran.code, ran.json) == (2, {"schema": 1, "blocked": True, "reason": reason})
    assert not (tmp_path / ".git/mdmem/state").exists()
