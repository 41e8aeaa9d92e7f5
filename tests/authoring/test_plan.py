"""Writing a plan: all files compared first, then written in order, never through a link."""

import os
import threading
from pathlib import Path

import pytest
from builders import make_root, snapshot, write

from mdmem.authoring import plan as module
from mdmem.authoring.plan import Change, Plan, carry_out
from mdmem.authoring.writing import Writing
from mdmem.errors import EnvironmentFaultError, LostRaceError
from mdmem.state import BusyError, write_lock

A, B = "app/rules/a.md", "app/rules/b.md"


def two_files(root: Path) -> Plan:
    """Return a plan that changes both files of a root."""
    make_root(root)
    write(root, A, "old a\n")
    write(root, B, "old b\n")
    return Plan((Change(A, A, b"old a\n", b"new a\n"), Change(B, B, b"old b\n", b"new b\n")))


def contents(root: Path) -> tuple[bytes, bytes]:
    return (root / A).read_bytes(), (root / B).read_bytes()


def test_plan_writes_every_file(tmp_path: Path) -> None:
    carry_out(tmp_path, two_files(tmp_path), state=tmp_path / "state")
    assert contents(tmp_path) == (b"new a\n", b"new b\n")


def test_plan_writes_nothing_where_one_file_changed_meanwhile(tmp_path: Path) -> None:
    plan = two_files(tmp_path)
    write(tmp_path, B, "mine\n")
    with pytest.raises(LostRaceError, match=r"`app/rules/b.md` changed while it was looked at; nothing was written"):
        carry_out(tmp_path, plan, state=tmp_path / "state")
    assert contents(tmp_path) == (b"old a\n", b"mine\n")


def test_plan_writes_nothing_where_one_file_went_away(tmp_path: Path) -> None:
    plan = two_files(tmp_path)
    (tmp_path / B).unlink()
    with pytest.raises(LostRaceError, match="cannot be read any more"):
        carry_out(tmp_path, plan, state=tmp_path / "state")
    assert (tmp_path / A).read_bytes() == b"old a\n"


@pytest.mark.parametrize("linked", [A, "app/rules", "app"])
def test_plan_writes_nothing_through_a_symbolic_link(tmp_path: Path, linked: str) -> None:
    root = tmp_path / "root"
    plan = two_files(root)
    (root / linked).rename(tmp_path / "elsewhere")
    (root / linked).symlink_to(tmp_path / "elsewhere")
    before = snapshot(tmp_path)
    with pytest.raises(LostRaceError, match="goes through a symbolic link; nothing was written"):
        carry_out(root, plan, state=tmp_path / "state")
    (tmp_path / "state/write.lock").unlink()
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664, 0o755])
def test_plan_keeps_the_mode_of_a_file(tmp_path: Path, mode: int) -> None:
    plan = two_files(tmp_path)
    (tmp_path / A).chmod(mode)
    carry_out(tmp_path, plan, state=tmp_path / "state")
    assert (tmp_path / A).stat().st_mode & 0o777 == mode


def test_plan_leaves_no_other_file(tmp_path: Path) -> None:
    root = tmp_path / "root"
    plan = two_files(root)
    before = snapshot(root).keys()
    carry_out(root, plan, state=tmp_path / "state")
    assert snapshot(root).keys() == before


def full_disk(monkeypatch: pytest.MonkeyPatch, name: str, *, at: str) -> None:
    """Let one step of `Writing` fail at a file."""
    whole = getattr(Writing, name)

    def failing(self: Writing, path: str, *arguments: object) -> None:
        if path == at:
            raise OSError(28, "No space left on device")
        whole(self, path, *arguments)

    monkeypatch.setattr(Writing, name, failing)


@pytest.mark.parametrize("step", ["prepare", "put", "rename"])
def test_plan_that_fails_half_way_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    root, new = tmp_path / "root", "app/new/c.md"
    changes = (
        *two_files(root).changes[:1],
        Change(new, new, None, b"new c\n"),
        Change(B, "z/b.md", b"old b\n", b"b\n"),
    )
    before = snapshot(root)
    full_disk(monkeypatch, step, at=B)
    with pytest.raises(EnvironmentFaultError, match=r"cannot write .*: No space left on device; nothing was changed"):
        carry_out(root, Plan(changes), state=tmp_path / "state")
    assert snapshot(root) == before


def test_plan_that_cannot_be_taken_back_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = two_files(tmp_path)
    full_disk(monkeypatch, "put", at=B)
    monkeypatch.setattr(Writing, "undo", lambda self: False)
    with pytest.raises(EnvironmentFaultError, match=r"could not be taken back; `mdmem check` says what is left to do"):
        carry_out(tmp_path, plan, state=tmp_path / "state")
    assert contents(tmp_path) == (b"new a\n", b"old b\n")


def test_plan_creates_a_file_in_a_new_folder(tmp_path: Path) -> None:
    carry_out(tmp_path, Plan((Change(A, A, None, b"text\n"),)), state=tmp_path / "state")
    assert (tmp_path / A).read_bytes() == b"text\n"


def test_plan_never_creates_over_a_file(tmp_path: Path) -> None:
    two_files(tmp_path)
    with pytest.raises(LostRaceError, match=r"app/rules/a exists already"):
        carry_out(tmp_path, Plan((Change(A, A, None, b"text\n"),)), state=tmp_path / "state")
    assert contents(tmp_path) == (b"old a\n", b"old b\n")


def test_plan_removes_what_a_killed_writer_left(tmp_path: Path) -> None:
    plan = two_files(tmp_path)
    write(tmp_path, "app/rules/.a.md.x1y2.mdmem-tmp", "half")
    write(tmp_path, "app/rules/.mine", "kept")
    carry_out(tmp_path, plan, state=tmp_path / "state")
    assert sorted(path.name for path in (tmp_path / "app/rules").iterdir()) == [".mine", "a.md", "b.md"]


def test_rename_comes_after_every_write(tmp_path: Path) -> None:
    two_files(tmp_path)
    plan = Plan((Change(A, "app/other/c.md", b"old a\n", b"new a\n"), Change(B, B, b"old b\n", b"new b\n")))
    carry_out(tmp_path, plan, state=tmp_path / "state")
    assert (tmp_path / "app/other/c.md").read_bytes() == b"new a\n"
    assert not (tmp_path / A).exists()


def test_rename_removes_the_folders_it_leaves_empty(tmp_path: Path) -> None:
    write(tmp_path, A, "text\n")
    plan = Plan((Change(A, "web/rules/a.md", b"text\n", b"text\n"),))
    carry_out(tmp_path, plan, state=tmp_path / "state")
    assert not (tmp_path / "app").exists()


def test_rename_never_replaces_a_file(tmp_path: Path) -> None:
    two_files(tmp_path)
    with pytest.raises(LostRaceError, match=r"`app/rules/b.md` exists by now; nothing was written"):
        carry_out(tmp_path, Plan((Change(A, B, b"old a\n", b"new a\n"),)), state=tmp_path / "state")
    assert contents(tmp_path) == (b"old a\n", b"old b\n")


def test_empty_plan_takes_no_lock(tmp_path: Path) -> None:
    carry_out(tmp_path, Plan(), state=tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_plan_waits_for_another_writer(tmp_path: Path) -> None:
    plan, state, order = two_files(tmp_path), tmp_path / "state", list[str]()
    with write_lock(state):
        thread = threading.Thread(target=lambda: (carry_out(tmp_path, plan, state=state), order.append("plan")))
        thread.start()
        thread.join(0.2)
        order.append("other")
    thread.join()
    assert order == ["other", "plan"]


def test_busy_lock_is_said_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, state = two_files(tmp_path), tmp_path / "state"
    monkeypatch.setattr(module, "write_lock", lambda folder: write_lock(folder, wait=0.05))
    with write_lock(state), pytest.raises(BusyError):
        carry_out(tmp_path, plan, state=state)
    assert contents(tmp_path) == (b"old a\n", b"old b\n")


def test_lock_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFaultError, match="cannot lock the memory for writing"):
        carry_out(tmp_path, two_files(tmp_path), state=Path(os.devnull) / "state")
