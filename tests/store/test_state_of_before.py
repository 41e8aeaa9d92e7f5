"""Test state and caches of earlier versions: commands read or rebuild them, and nothing is lost."""

import json
import pickle
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders import Capture, commit_all, git, make_repository, run_here, write

from mdmem.store.state.tokens import BearerTokens

from .index_builders import Planted

DATA = Path(__file__).parents[1] / "data"
# When each version wrote its state, less than a minute before its one-time token expires, and the text of that token.
WRITTEN = {"0_1": datetime(2026, 11, 21, 12, tzinfo=UTC), "61caf593": datetime(2026, 11, 23, 20, 41, 53, tzinfo=UTC)}
TOKENS = {"0_1": "the approver's token", "61caf593": "NR_WLqX0e7D4eVwFzgZFGhhLchp5hK8aNAYdarIlxdE"}
MOMENT = re.compile(r"20\d\d-\d\d-\d\dT[\d:.]+\+00:00")
BOTH = pytest.mark.parametrize("version", WRITTEN)


def left(version: str, folder: Path) -> Path:
    """Return a repository with the memory and the state of a version, written a moment ago, and 0.1's cache."""
    made, data = make_repository(folder / "p"), DATA / f"state_of_{version}"
    shutil.copytree(data / "memory", made / "memory")
    write(made, "memory/mdmem.toml")
    write(made, "src/nav/a.py")
    commit_all(made)
    if version == "0_1":
        shutil.copytree(data / "mdmem/cache", made / ".git/mdmem/cache")
    passed, state = datetime.now(UTC) - WRITTEN[version], data / ("mdmem/state/memory" if version == "0_1" else "state")
    for file in sorted(state.rglob("*")):
        if file.is_file():
            content = MOMENT.sub(lambda at: (datetime.fromisoformat(at[0]) + passed).isoformat(), file.read_text())
            write(made / ".git/mdmem/state/memory", str(file.relative_to(state)), content)
    return made


def save(folder: Path, capsys: Capture, kind: str, record: dict[str, Any], *options: str) -> dict[str, Any]:
    file = write(folder.parent, "record.json", json.dumps(record))
    line = ("save", kind, "--project", "nav", "--json", str(file), *options)
    answer: dict[str, Any] = json.loads(run_here(capsys, *line, cwd=folder).out)
    return answer


@pytest.mark.parametrize(
    ("version", "command", "shown"),
    [
        ("0_1", "list", "decision   active        nav/architecture/worda    worda\n"),
        ("0_1", "search threads", "[decision] nav/architecture/threads\n"),
        ("0_1", "status", "wing     nav     project (active): 2 decisions, 1 invariant; 3 active\n"),
        ("0_1", "status", "hygiene  last on 2026-11-21\n"),
        ("0_1", "hygiene", "cff68465a827  save_decision `Clocks show UTC`, 1 attempt since 20"),
        ("0_1", "save --waiting", "cff68465a827  save_decision `Clocks show UTC`, 1 attempt since 20"),
        ("0_1", "token list", "reader: reads nav, writes nothing, since 20"),
        ("0_1", "status --audit", "owner  context: threads → 2 entries"),
        ("0_1", "check", "3 entries checked in the working tree: no findings\n"),
        ("0_1", "status --rebuild", "the index is built again: 3 entries\n"),
        ("61caf593", "token list", "reader: reads nav, writes nothing, since 20"),
        ("61caf593", "save --waiting", "af6306b98572  save_decision `Clocks show UTC`, 1 attempt since 20"),
        ("61caf593", "save --waiting", "decision `worda`, since 20"),
        ("61caf593", "save --waiting", "nav/architecture/worda is similar"),
        ("61caf593", "status --audit", "owner  context: block a callback → 1 entry"),
        ("61caf593", "status", "hygiene  last on 2026-11-21"),
        ("61caf593", "status", "1 entry shown 1 time in 30 days, last on "),
    ],
)
def test_command_lists_it(tmp_path: Path, capsys: Capture, version: str, command: str, shown: str) -> None:
    ran = run_here(capsys, *command.split(), cwd=left(version, tmp_path))
    assert (ran.code, ran.err, shown in ran.out) == (0, "", True), ran


@BOTH
def test_write_that_waited_is_written(tmp_path: Path, capsys: Capture, version: str) -> None:
    folder = left(version, tmp_path)
    assert run_here(capsys, "save", "--retry", cwd=folder).code == 0
    (saved,) = git(folder, "ls-files", "--others", "memory").splitlines()
    assert "title: Clocks show UTC" in (folder / saved).read_text(encoding="utf-8")
    assert "clocks" not in run_here(capsys, "save", "--waiting", cwd=folder).out.lower()


@BOTH
def test_save_that_a_similar_entry_stopped_passes_with_less_confidence(
    tmp_path: Path, capsys: Capture, version: str
) -> None:
    folder, words = left(version, tmp_path), [f"word{letter}" for letter in "abcdefghijk"]
    stated = {"title": words[0], "rationale": " ".join(words[1:])}
    again = save(folder, capsys, "decision", {**stated, "confidence": 0.8})
    assert (again["dedup_outcome"], again["candidate_id"]) == ("manual_review", "nav/architecture/worda")
    assert save(folder, capsys, "decision", {**stated, "confidence": 0.7})["status"] == "saved"


@BOTH
def test_one_time_token_opens_a_shared_wing_once(tmp_path: Path, capsys: Capture, version: str) -> None:
    folder = left(version, tmp_path)
    pattern = {"trigger": "A test fails", "repeatable_steps": ["Run it alone."], "scope": "global"}
    first = save(folder, capsys, "pattern", pattern, "--token", TOKENS[version])
    assert first["status"] == "saved", first
    again = save(folder, capsys, "pattern", {**pattern, "trigger": "A build is slow"}, "--token", TOKENS[version])
    assert "used" in again["message"], again


def test_bearer_token_opens_what_it_opened(tmp_path: Path) -> None:
    bearer = BearerTokens(left("0_1", tmp_path) / ".git/mdmem/state/memory").find("the reader's token")
    assert bearer is not None
    assert (bearer.name, bearer.access.readable, bearer.access.writable) == ("reader", {"nav"}, set())


def test_session_knows_what_it_was_given(tmp_path: Path, capsys: Capture) -> None:
    folder, rule = left("61caf593", tmp_path), "Rationale: the robot stops."
    assert rule not in run_here(capsys, "retrieve", "callbacks", "--session", "one", cwd=folder).out
    assert rule in run_here(capsys, "retrieve", "callbacks", "--session", "another", cwd=folder).out
    assert run_here(capsys, "brief", "src/nav/a.py", "--session", "two", cwd=folder).out == ""
    assert "nav/rules/callbacks" in run_here(capsys, "brief", "src/nav/a.py", "--session", "more", cwd=folder).out


def test_save_whose_answer_was_lost_is_the_same_entry(tmp_path: Path, capsys: Capture) -> None:
    record = {"content": "The arm has six joints.", "topic": "arm"}
    assert save(left("61caf593", tmp_path), capsys, "context", record)["artifact_id"] == "nav/context/arm"


def test_index_of_another_format_is_left_alone_and_none_of_it_unpickled(tmp_path: Path, capsys: Capture) -> None:
    folder = left("0_1", tmp_path)
    index, mark = folder / ".git/mdmem/cache/memory/text", folder / "unpickled"
    stated = json.loads((index / "index.json").read_bytes())
    for name, size in stated["files"].items():
        write(index / stated["generation"], name, pickle.dumps(Planted(mark)).ljust(size, b"\0"))
    ran = run_here(capsys, "search", "threads", cwd=folder)
    assert (ran.code, ran.err, "nav/architecture/threads" in ran.out) == (0, "", True)
    assert not mark.exists()
