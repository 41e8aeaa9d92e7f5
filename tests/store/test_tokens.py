"""Test tokens, which are stored as hashes, and pending writes: one record each, tried by one process, never lost."""

import hashlib
import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import Capture, make_repository, make_root, run_here, write, write_entry
from processes import run_at_once

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.model.access import Access
from mdmem.store.state import local_records
from mdmem.store.state.local_records import PendingWrite, PendingWrites
from mdmem.store.state.tokens import ApprovalTokenError, BearerTokens, request_token, use_token

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
UNKNOWN = r"^the approval token is unknown; `mdmem token` prints a new one$"
EXPIRED = r"^the token expired at 2026-11-21T12:01:00\+00:00; `mdmem token` prints a new one$"


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
    ran = run_here(capsys, "token", "remove", "ci", cwd=folder)
    assert (ran.code, ran.err) == (1, "mdmem: there is no token `ci`; `mdmem token list` lists them\n")
    ran = run_here(capsys, "token", "list", cwd=folder)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("no client has a token; ")


FULL = "No space left on device"


def failed(
    name: str = "a", *, created: datetime = NOON, attempts: int = 1, error: str = FULL, **arguments: Any
) -> PendingWrite:
    """Return a write of a session that failed."""
    stated = {"objective": name, **arguments}
    return PendingWrite(verb="save_session", arguments=stated, created=created, attempts=attempts, error=error)


def claimed(ledger: PendingWrites, id_: str) -> PendingWrite | None:
    """Claim a write for a moment."""
    with ledger.claim(id_) as found:
        return found


def files(folder: Path) -> list[str]:
    """Return the files below a folder but for the locks."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if not name.endswith("write.lock"))


def test_keep_reads_back_in_another_process(tmp_path: Path) -> None:
    PendingWrites(tmp_path).add(failed("größe 🙂 \udce9", steps=[1, {"b": None}], intended=1.5))
    (found,) = PendingWrites(tmp_path).pending()
    assert found == failed("größe 🙂 \udce9", steps=[1, {"b": None}], intended=1.5)


def test_keep_leaves_a_token_out_of_the_file_and_the_id(tmp_path: Path) -> None:
    ledger = PendingWrites(tmp_path)
    assert ledger.add(failed(governance_token="secret")) == ledger.add(failed()) == failed().id
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "content",
    [b"", b'{"verb":"save_session","argum', b"\xff\xfe", b"[" * 100_000, b"[1]", b'{"verb":"save_session"}'],
    ids=["empty", "torn", "no-text", "deep", "list", "partial"],
)
def test_torn_record_is_named_and_stays_and_the_others_are_read(tmp_path: Path, content: bytes) -> None:
    ledger = PendingWrites(tmp_path)
    ledger.add(failed())
    torn = write(tmp_path, f"pending/{failed('b').id}.json", content)
    assert ledger.pending() == (failed(),)
    assert ledger.unreadable() == (f"pending/{torn.name}",)
    assert claimed(ledger, failed("b").id) is None
    assert torn.read_bytes() == content


def test_foreign_files_are_named_and_never_opened(tmp_path: Path) -> None:
    ledger = PendingWrites(tmp_path)
    kept = tmp_path / "pending" / f"{ledger.add(failed())}.json"
    shutil.copy(kept, tmp_path / "pending" / "copy.json")
    (tmp_path / "pending" / "link.json").symlink_to(kept)
    (tmp_path / "pending" / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pending" / "pipe.json")
    write(tmp_path, "blocked/note.txt", "mine")
    assert ledger.pending() == (failed(),)
    names = ["pending/copy.json", "pending/folder.json", "pending/link.json", "pending/pipe.json"]
    assert ledger.unreadable() == (*names, "blocked/note.txt")


def test_claim_is_for_one_and_done_removes_the_record(tmp_path: Path) -> None:
    first, second = PendingWrites(tmp_path), PendingWrites(tmp_path)
    id_ = first.add(failed())
    with first.claim(id_) as found:
        assert found == failed()
        assert claimed(second, id_) is None
        assert claimed(first, id_) is None
        assert second.pending() == (failed(),)
        first.complete(id_)
    assert (claimed(second, id_), second.pending()) == (None, ())
    assert files(tmp_path) == []


def test_keep_of_a_write_that_is_being_tried_again_makes_no_second(tmp_path: Path) -> None:
    first, second = PendingWrites(tmp_path), PendingWrites(tmp_path)
    id_ = first.add(failed())
    with first.claim(id_):
        second.add(failed(created=NOON + timedelta(hours=1), error="later"))
        assert second.pending() == (failed(),)
        first.complete(id_)
    assert second.pending() == ()


def test_lock_of_a_file_that_was_removed_meanwhile_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, acquire = tmp_path / "claim", local_records.acquire

    def acquire_late(handle: int) -> None:
        path.unlink()
        path.touch()
        acquire(handle)

    with monkeypatch.context() as patched:
        patched.setattr(local_records, "acquire", acquire_late)
        assert local_records.try_lock(path) is None
    handle = local_records.try_lock(path)
    assert handle is not None
    os.close(handle)


def keep_many(number: int, folder: str) -> None:
    ledger = PendingWrites(Path(folder))
    for turn in range(12):
        ledger.add(failed("shared"))
        ledger.add(failed(f"{number}-{turn}"))


def test_processes_lose_no_record_and_count_every_attempt(tmp_path: Path) -> None:
    assert run_at_once(keep_many, str(tmp_path)) == [None] * 4
    found = {one.arguments["objective"]: one.attempts for one in PendingWrites(tmp_path).pending()}
    assert found.pop("shared") == 48
    assert found == {f"{number}-{turn}": 1 for number in range(4) for turn in range(12)}
    assert PendingWrites(tmp_path).unreadable() == ()
