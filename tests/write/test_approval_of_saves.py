"""Test what agents may write: the status of their entries, and tokens for shared wings."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from builders import Run, open_root, snapshot, write, write_entry
from processes import run_at_once

from mdmem.mcp.tools import TOOLS
from mdmem.store.state.files import write_lock
from mdmem.store.state.local_records import PendingWrites
from mdmem.store.state.tokens import use_token
from mdmem.write.records import SaveResult
from write.agents import KINDS, NOON, Agent, agent, context, decision, entity, entries, later, pattern, project, save

SHARED = "---\nkind: shared\n---\n"
AGAIN = "call `request_global_write_approval`, then repeat this call with its token as `governance_token`"


def token_of(saves: Agent) -> str:
    token: str = saves.request_global_write_approval()["token"]
    return token


def test_status_is_what_the_settings_give_for_the_type(tmp_path: Path) -> None:
    root = project(tmp_path, '[governance.agent_status]\ndecision = "active"\npattern = "draft"\nnote = "draft"\n')
    saves = agent(root)
    saves.save_decision(decision(), "nav")
    results = [saves.save_pattern(pattern(), "nav"), saves.upsert_entity_with_deps(entity(), None, "nav")]
    assert [one.message for one in results] == [
        f"{address} is saved as a draft: it applies once a person approves it"
        for address in ("nav/conventions/a-test-fails", "nav/entities/arm")
    ]
    assert [one.next_step for one in results] == [f"`mdmem approve {one.artifact_id}`, by a person" for one in results]
    assert "status: active\n" in (root / "nav/architecture/use-utc.md").read_text()


def global_writes(saves: Agent, token: object) -> list[SaveResult]:
    scopes = {kind: "save_scope" if kind == "session" else "scope" for kind in KINDS}
    return [save(saves, kind, token=token, **{name: "global"}) for kind, name in scopes.items()]


def test_global_write_without_token_fails(root: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    results = global_writes(agent(root), None)
    assert {(one.status, one.message, one.next_step) for one in results} == {
        ("failed", "a write to the shared wing `shared` needs a `governance_token`", AGAIN)
    }
    assert snapshot(tmp_path) == before


def test_global_write_creates_the_shared_wing(saves: Agent, root: Path) -> None:
    result = saves.save_decision(decision(scope="global"), "nav", "auth", token_of(saves))
    assert (result.status, result.artifact_id) == ("saved", "shared/architecture/use-utc")
    assert (root / "shared/README.md").read_text() == "---\nkind: shared\n---\n\n# shared\n"
    assert "focus" not in (root / "shared/architecture/use-utc.md").read_text()


def test_global_write_to_a_project_of_that_name_fails(tmp_path: Path) -> None:
    root = project(tmp_path, 'default_shared_wing = "nav"\n')
    saves = agent(root)
    assert saves.save_context(context(scope="global"), "nav", None, token_of(saves)).message == (
        "`nav` is not a shared wing, so it takes no records of scope `global`; write `kind: shared` into nav/README.md,"
        " or set `default_shared_wing` in mdmem.toml"
    )


@pytest.mark.parametrize("manifest", [SHARED, "---\nkind: [\n---\n"], ids=["shared", "torn"])
def test_shared_wing_needs_a_token_whatever_the_scope_says(saves: Agent, root: Path, manifest: str) -> None:
    write(root, "ros/README.md", manifest)
    write_entry(root, "ros/rules/one")
    assert saves.save_context(context(), "ros").message == (
        "a write to the shared wing `ros` needs a `governance_token`"
    )
    assert saves.save_context(context(), "ros", None, token_of(saves)).status == "saved"


def test_token_is_good_for_one_write(saves: Agent) -> None:
    token = token_of(saves)
    records = (context(scope="global"), context(topic="leg", scope="global"))
    first, second = (saves.save_context(one, "nav", None, token) for one in records)
    assert (first.status, second.status) == ("saved", "failed")
    assert second.message == "the token was already used for another write; `mdmem token` prints a new one"
    assert second.next_step == AGAIN


@pytest.mark.parametrize(("setting", "seconds"), [("", 60), ("[governance]\ntoken_seconds = 5\n", 5)])
def test_token_expires_after_its_time(tmp_path: Path, setting: str, seconds: int) -> None:
    root = project(tmp_path, setting)
    given = agent(root).request_global_write_approval()
    assert (given["ttl_seconds"], given["expires_at"]) == (seconds, later(seconds)().isoformat())
    late = agent(root, now=later(seconds)).save_context(context(scope="global"), "nav", None, given["token"])
    assert late.status == "failed"
    assert "the token expired at 2026-11-21T12:0" in (late.message or "")
    soon = agent(root, now=later(seconds - 0.001)).save_context(context(scope="global"), "nav", None, given["token"])
    assert soon.status == "saved"


def test_token_survives_a_write_that_is_refused(saves: Agent) -> None:
    token = token_of(saves)
    refused = saves.save_decision(
        decision(rationale="x\nAKIA" + "IOSFODNN7EXAMPLA", scope="global"), "nav", None, token
    )
    assert refused.status == "failed"
    assert saves.save_decision(decision(scope="global"), "nav", None, token).status == "saved"


def test_token_is_kept_as_its_hash_alone(saves: Agent, tmp_path: Path) -> None:
    token = token_of(saves)
    saves.save_context(context(scope="global"), "nav", None, token)
    kept = [path for path in (tmp_path / ".git/mdmem").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o077 for path in kept if path.parent.name == "tokens"} == {0}
    assert not [path for path in kept if token in path.name or token.encode() in path.read_bytes()]


def write_globally(number: int, root: str, token: str) -> str:
    saves = Agent(open_root(Path(root)), now=lambda: NOON)
    return str(saves.save_context(context(f"Of process {number}.", scope="global"), "nav", None, token).status)


def test_token_lets_one_of_two_processes_write(root: Path) -> None:
    answers = run_at_once(write_globally, str(root), token_of(agent(root)), count=2)
    assert sorted(answers) == ["failed", "saved"]
    assert entries(root) == ["shared/context/arm"]


def test_settings_forbid_global_writes_even_with_a_token(saves: Agent, root: Path, tmp_path: Path, run: Run) -> None:
    token = token_of(agent(root))
    write(root, "mdmem.toml", "[governance]\nglobal_writes = false\n")
    reason = "writes to shared wings are forbidden: mdmem.toml sets `governance.global_writes = false`"
    before = snapshot(tmp_path / ".git/mdmem/state")
    ran = run("token", cwd=root)
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem: {reason}\n")
    ran = run("token", "--format", "json", cwd=root)
    assert (ran.code, ran.json) == (2, {"schema": 1, "blocked": True, "reason": reason})
    assert snapshot(tmp_path / ".git/mdmem/state") == before
    asked = TOOLS["request_global_write_approval"].call(saves.workspace, content_preview="A rule.")
    assert asked == {"blocked": True, "reason": reason}
    assert {(one.status, one.message) for one in global_writes(saves, token)} == {("failed", reason)}
    assert saves.save_context(context(), "nav").status == "saved"


def test_token_of_a_write_that_waits_is_used_up_and_not_asked_for_again(root: Path, tmp_path: Path) -> None:
    saves = agent(root)
    token = token_of(saves)
    blocked = write(root, "shared/context", "a file where the room would be")
    write(root, "shared/README.md", SHARED)
    waiting = saves.save_context(context(scope="global"), "nav", None, token)
    assert waiting.waits
    assert saves.save_context(context("Other.", scope="global"), "nav", None, token).status == "failed"
    blocked.unlink()
    ((_, retried),) = agent(root, now=later(3600)).pending.retry()
    assert (retried.status, retried.artifact_id) == ("saved", "shared/context/arm")
    assert token not in "".join(path.read_text() for path in (tmp_path / ".git/mdmem/state").rglob("*.json"))


def test_write_that_waits_without_a_token_takes_the_one_of_the_next_call(saves: Agent, tmp_path: Path) -> None:
    call = partial(saves.save_context, context(scope="global"), "nav", None)
    with write_lock(tmp_path / ".git/mdmem/state/memory/saving"):
        assert call().waits
    assert call().message == "a write to the shared wing `shared` needs a `governance_token`"
    assert call(token_of(saves)).status == "saved"
    assert PendingWrites(tmp_path / ".git/mdmem/state/memory").pending() == ()


def test_printed_token_is_good_for_one_write_and_json_says_until_when(root: Path, tmp_path: Path, run: Run) -> None:
    ran = run("token", cwd=root)
    token, expiry = ran.out.splitlines()
    assert (ran.code, ran.err) == (0, "")
    assert expiry.endswith(", in 60 s; good for one write")
    state = tmp_path / ".git/mdmem/state/memory"
    use_token(state, token, datetime.now(UTC))
    write(root, "mdmem.toml", "[governance]\ntoken_seconds = 300\n")
    said = run("token", "--format", "json", cwd=root).json
    assert (list(said), said["ttl_seconds"]) == (["schema", "token", "expires_at", "ttl_seconds"], 300)
    assert 0 < (datetime.fromisoformat(said["expires_at"]) - datetime.now(UTC)).total_seconds() <= 300
