"""What an earlier version left in a repository is read or built anew: no error, no remark, nothing lost."""

from __future__ import annotations

import json
import pickle
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, run_here, write

from mdmem.store.state.local_records import read_audit, read_times
from mdmem.store.state.pending_writes import PendingWrites
from mdmem.store.state.tokens import BearerTokens, use_token

BEFORE = Path(__file__).parents[1] / "data" / "state_of_0_1"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with the memory and the state of an earlier version."""
    folder = make_repository(tmp_path_factory.mktemp("before"))
    shutil.copytree(BEFORE / "memory", folder / "memory")
    write(folder, "memory/mdmem.toml")
    commit_all(folder)
    shutil.copytree(BEFORE / "mdmem", folder / ".git/mdmem")
    return folder


@pytest.fixture
def before(committed: Path, tmp_path: Path) -> Path:
    """Return a copy of that repository, whose state the test may change."""
    return shutil.copytree(committed, tmp_path / "p")


def state(folder: Path) -> Path:
    return folder / ".git/mdmem/state/memory"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("list",), "decision   active        nav/architecture/worda    worda\n"),
        (("search", "threads"), "[decision] nav/architecture/threads\n"),
        (("status",), "wing     nav     project (active): 2 decisions, 1 invariant; 3 active\n"),
        (("status",), "hygiene  last on 2026-11-21\n"),
        (("hygiene",), "cff68465a827  save_decision `Clocks show UTC`, 1 attempt since 2026-11-21"),
        (
            ("save", "--waiting"),
            "cff68465a827  save_decision  Clocks show UTC  (1 attempt, since 2026-11-21T12:00:00+00:00)\n",
        ),
        (("token", "list"), "reader: reads nav, writes nothing, since 2026-11-21\n"),
        (("check",), "3 entries checked in the working tree: no findings\n"),
        (("status", "--rebuild"), "the index is built again: 3 entries\n"),
    ],
)
def test_command_answers_over_what_was_left(
    before: Path, capsys: Capture, command: tuple[str, ...], shown: str
) -> None:
    ran = run_here(capsys, *command, cwd=before)
    assert (ran.code, ran.err, shown in ran.out) == (0, "", True), ran.out


def test_index_of_another_format_is_left_alone_and_none_of_it_unpickled(before: Path, capsys: Capture) -> None:
    index = before / ".git/mdmem/cache/memory/text"
    stated = json.loads((index / "index.json").read_bytes())
    old, mark = index / stated["generation"], before / "unpickled"
    for name, size in stated["files"].items():
        write(old, name, pickle.dumps(_Touches(mark)).ljust(size, b"\0"))
    ran = run_here(capsys, "search", "threads", cwd=before)
    assert (ran.code, ran.err, "nav/architecture/threads" in ran.out) == (0, "", True)
    assert not mark.exists()


class _Touches:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> object:
        return Path.touch, (self._path,)


def test_write_that_waited_is_written(before: Path, capsys: Capture) -> None:
    ran = run_here(capsys, "save", "--retry", cwd=before)
    assert ran.code == 0, ran.err
    (saved,) = git(before, "ls-files", "--others", "memory").splitlines()
    assert "title: Clocks show UTC" in (before / saved).read_text(encoding="utf-8")
    assert PendingWrites(state(before)).pending() == ()


def test_write_that_was_stopped_for_a_similar_entry_passes_with_less_confidence(before: Path, capsys: Capture) -> None:
    words = [f"word{letter}" for letter in "abcdefghijk"]

    def saved(confidence: float) -> dict[str, str]:
        stated = {"title": words[0], "rationale": " ".join(words[1:]), "confidence": confidence}
        file = write(before, "decision.json", json.dumps(stated))
        line = ("save", "decision", "--project", "nav", "--json", str(file))
        answer: dict[str, str] = json.loads(run_here(capsys, *line, cwd=before).out)
        return answer

    again = saved(0.8)
    assert (again["dedup_outcome"], again["candidate_id"]) == ("manual_review", "nav/architecture/worda")
    assert saved(0.7)["status"] == "saved"


def test_tokens_open_what_they_opened(before: Path) -> None:
    bearer = BearerTokens(state(before)).find("the reader's token")
    assert bearer is not None
    assert (bearer.name, bearer.access.readable, bearer.access.writable) == ("reader", {"nav"}, set())
    use_token(state(before), "the approver's token", NOON + timedelta(seconds=59))


def test_log_and_times_are_read_on(before: Path) -> None:
    (line,) = read_audit(state(before))
    assert (line["verb"], line["returned"]) == ("context", ["nav/rules/callbacks", "nav/architecture/threads"])
    assert str(read_times(state(before)).last("nav")) == "2026-11-21"
