"""Bearer tokens: kept as hashes, good until they are removed, and never read as none when they cannot be read."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import make_repository, make_root, run_here, write, write_entry

from mdmem.errors import EnvironmentFaultError, NotFoundError, UsageError
from mdmem.model.access import Access
from mdmem.store.state.tokens import BearerTokens

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


def test_removed_token_is_good_no_more_for_whoever_has_the_file_open(tmp_path: Path) -> None:
    serving = BearerTokens(tmp_path)
    text = serving.add("ci", APP, NOW)
    kept = serving.add("other", APP, NOW)
    BearerTokens(tmp_path).remove("ci")
    assert serving.find(text) is None
    assert serving.find(kept) is not None


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
    assert ran.err.endswith("name what the token reads: --wing WING, repeatable, or --all-wings\n")


def test_remove_ends_a_token(tmp_path: Path, capsys: Capture) -> None:
    folder = root(tmp_path)
    text = run_here(capsys, "token", "add", "ci", "--all-wings", cwd=folder).out.splitlines()[0]
    ran = run_here(capsys, "token", "remove", "ci", cwd=folder)
    assert (ran.code, ran.out) == (0, "`ci` is no longer valid\n")
    assert BearerTokens(tmp_path / ".git/mdmem/state/memory").find(text) is None
    ran = run_here(capsys, "token", "list", cwd=folder)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("no client has a token; ")
