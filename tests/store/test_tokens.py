"""Tokens: for one write and a short time, and for callers, kept as a hash."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import make_repository, make_root, run_here, write, write_entry

from mdmem.errors import EnvironmentFaultError, NotFoundError, UsageError
from mdmem.model.access import Access
from mdmem.store.state.tokens import ApprovalTokenError, BearerTokens, request_token, use_token

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
UNKNOWN = r"^the approval token is unknown; `mdmem token` prints a new one$"
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


Capture = pytest.CaptureFixture[str]
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
APP = Access.to_wings(["app"], may_write=False)


def test_file_holds_the_hash_and_not_the_text(tmp_path: Path) -> None:
    text = BearerTokens(tmp_path).add("ci", APP, NOW)
    stored = (tmp_path / "bearers.json").read_text()
    assert text not in stored
    assert json.loads(stored)["bearers"][0]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (tmp_path / "bearers.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["", "x", "é", "\udcff", "0" * 43])
def test_other_text_finds_nothing(tmp_path: Path, text: str) -> None:
    own = BearerTokens(tmp_path).add("ci", APP, NOW)
    for other in (text, hashlib.sha256(own.encode()).hexdigest()):
        assert BearerTokens(tmp_path).find(other) is None


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ci", "there is a token `ci` already; `mdmem token remove ci` removes it"),
        *((odd, "is not a token name") for odd in ("", "CI", "a b", "../x", "a/b", ".hidden", "-x", "x" * 65, "é")),
    ],
)
def test_name_that_is_taken_or_odd_is_refused(tmp_path: Path, name: str, says: str) -> None:
    BearerTokens(tmp_path).add("ci", APP, NOW)
    with pytest.raises(UsageError, match=says):
        BearerTokens(tmp_path).add(name, APP, NOW)


def test_removing_an_unknown_name_is_refused(tmp_path: Path) -> None:
    BearerTokens(tmp_path).add("agent", APP, NOW)
    with pytest.raises(NotFoundError, match="there is no token `agnet`; `mdmem token list` lists them"):
        BearerTokens(tmp_path).remove("agnet")


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"{}", b'{"version":2,"bearers":[]}', b'{"version":1,"bearers":[{"name":"x"}]}'),
        b'{"version":1,"bearers":[{"name":"x","sha256":"0","readable":"app","writable":null,"created":null}]}',
    ],
)
def test_file_that_cannot_be_read_is_not_taken_for_no_tokens(tmp_path: Path, content: bytes) -> None:
    write(tmp_path, "bearers.json", content)
    with pytest.raises(EnvironmentFaultError, match=r"the tokens in .*bearers\.json cannot be read"):
        BearerTokens(tmp_path).all()
    # A link in its place is not followed.
    write(tmp_path, "elsewhere.json", b'{"version":1,"bearers":[]}')
    (tmp_path / "bearers.json").unlink()
    (tmp_path / "bearers.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(EnvironmentFaultError):
        BearerTokens(tmp_path).all()


def root(folder: Path) -> Path:
    memory = make_root(make_repository(folder) / "memory")
    write_entry(memory, "app/rules/utc")
    write(memory, "vault/README.md", "---\nkind: project\nproject_id: Vault-7\n---\n")
    return memory


def test_add_prints_the_token_once_and_list_names_it(tmp_path: Path, capsys: Capture) -> None:
    folder = root(tmp_path)
    ran = run_here(capsys, "token", "add", "ci", "--wing", "app", "--wing", "Vault-7", "--write", cwd=folder)
    text, line = ran.out.splitlines()
    assert (ran.code, ran.err, len(text)) == (0, "", 43)
    assert line.startswith("ci: reads app vault, writes app vault, since ")
    found = BearerTokens(tmp_path / ".git/mdmem/state/memory").find(text)
    assert found is not None
    assert found.access == Access("ci", frozenset({"app", "vault"}), frozenset({"app", "vault"}))
    listed = run_here(capsys, "token", "list", cwd=folder).out
    assert text not in listed
    assert listed.startswith("ci: reads app vault, writes app vault, since ")


def test_add_without_write_writes_nothing(tmp_path: Path, capsys: Capture) -> None:
    folder = root(tmp_path)
    said = json.loads(run_here(capsys, "token", "add", "ci", "--wing", "app", "--format", "json", cwd=folder).out)
    assert (said["readable"], said["writable"]) == (["app"], [])
    listed = json.loads(run_here(capsys, "token", "list", "--format", "json", cwd=folder).out)
    assert listed["tokens"] == [{name: said[name] for name in ("name", "readable", "writable", "created")}]


def test_add_for_a_wing_that_is_not_there_yet_says_so(tmp_path: Path, capsys: Capture) -> None:
    ran = run_here(capsys, "token", "add", "ci", "--wing", "New-Project", cwd=root(tmp_path))
    assert (ran.code, ran.err) == (0, "there is no wing `new_project` yet\n")
    assert "reads new_project" in ran.out


@pytest.mark.parametrize("options", [(), ("--wing", "app", "--all-wings")])
def test_add_needs_wings_or_all_of_them(tmp_path: Path, capsys: Capture, options: tuple[str, ...]) -> None:
    ran = run_here(capsys, "token", "add", "ci", *options, cwd=root(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("say which wings the token may read: --wing WING (repeatable), or --all-wings\n")


def test_remove_ends_a_token(tmp_path: Path, capsys: Capture) -> None:
    folder = root(tmp_path)
    serving = BearerTokens(tmp_path / ".git/mdmem/state/memory")
    text = run_here(capsys, "token", "add", "ci", "--all-wings", cwd=folder).out.splitlines()[0]
    assert serving.find(text) is not None
    ran = run_here(capsys, "token", "remove", "ci", cwd=folder)
    assert (ran.code, ran.out) == (0, "`ci` is no longer valid\n")
    assert serving.find(text) is None
    ran = run_here(capsys, "token", "list", cwd=folder)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("no client has a token; ")
