"""Writing a plan: all files compared first, then written in order, never through a link."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import make_root, snapshot, write

from mdmem.errors import EnvironmentFaultError, KeptAsideError, LostRaceError
from mdmem.store.state import files as swap
from mdmem.store.state.files import BusyError, write_lock
from mdmem.write import apply as writing
from mdmem.write.apply import FileTransaction, apply
from mdmem.write.change_set import Change, ChangeSet

A, B = "app/rules/a.md", "app/rules/b.md"


def two_files(root: Path) -> ChangeSet:
    """Return a plan that changes both files of a root."""
    make_root(root)
    write(root, A, "old a\n")
    write(root, B, "old b\n")
    return ChangeSet((Change(A, A, b"old a\n", b"new a\n"), Change(B, B, b"old b\n", b"new b\n")))


@pytest.fixture
def plan(tmp_path: Path) -> ChangeSet:
    return two_files(tmp_path)


def contents(root: Path) -> tuple[bytes, bytes]:
    return (root / A).read_bytes(), (root / B).read_bytes()


def test_plan_writes_nothing_where_one_file_changed_meanwhile(plan: ChangeSet, tmp_path: Path) -> None:
    write(tmp_path, B, "mine\n")
    with pytest.raises(LostRaceError, match=r"`app/rules/b.md` changed while it was read; nothing was written"):
        apply(tmp_path, plan, state=tmp_path / "state")
    assert contents(tmp_path) == (b"old a\n", b"mine\n")


def test_plan_writes_nothing_where_one_file_went_away(plan: ChangeSet, tmp_path: Path) -> None:
    (tmp_path / B).unlink()
    with pytest.raises(LostRaceError, match="cannot be read any more"):
        apply(tmp_path, plan, state=tmp_path / "state")
    assert (tmp_path / A).read_bytes() == b"old a\n"


@pytest.mark.parametrize("linked", [A, "app/rules", "app"])
def test_plan_writes_nothing_through_a_symbolic_link(tmp_path: Path, linked: str) -> None:
    root = tmp_path / "root"
    plan = two_files(root)
    (root / linked).rename(tmp_path / "elsewhere")
    (root / linked).symlink_to(tmp_path / "elsewhere")
    before = snapshot(tmp_path)
    with pytest.raises(LostRaceError, match="goes through a symbolic link; nothing was written"):
        apply(root, plan, state=tmp_path / "state")
    (tmp_path / "state/write.lock").unlink()
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664, 0o755])
def test_plan_keeps_the_mode_of_a_file(plan: ChangeSet, tmp_path: Path, mode: int) -> None:
    (tmp_path / A).chmod(mode)
    apply(tmp_path, plan, state=tmp_path / "state")
    assert (tmp_path / A).stat().st_mode & 0o777 == mode


def full_disk(monkeypatch: pytest.MonkeyPatch, name: str, *, at: str) -> None:
    """Let one step of `FileTransaction` fail at a file."""
    whole = getattr(FileTransaction, name)

    def failing(self: FileTransaction, path: str, *arguments: object) -> None:
        if path == at:
            raise OSError(28, "No space left on device")
        whole(self, path, *arguments)

    monkeypatch.setattr(FileTransaction, name, failing)


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
        apply(root, ChangeSet(changes), state=tmp_path / "state")
    assert snapshot(root) == before


def test_plan_that_cannot_be_taken_back_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = two_files(tmp_path)
    full_disk(monkeypatch, "put", at=B)
    monkeypatch.setattr(FileTransaction, "undo", lambda self: False)
    with pytest.raises(EnvironmentFaultError, match=r"could not be taken back; `mdmem check` says what is left to do"):
        apply(tmp_path, plan, state=tmp_path / "state")
    assert contents(tmp_path) == (b"new a\n", b"old b\n")


def test_plan_never_creates_over_a_file(tmp_path: Path) -> None:
    two_files(tmp_path)
    with pytest.raises(LostRaceError, match=r"app/rules/a exists already"):
        apply(tmp_path, ChangeSet((Change(A, A, None, b"text\n"),)), state=tmp_path / "state")
    assert contents(tmp_path) == (b"old a\n", b"old b\n")


def test_plan_removes_what_a_killed_writer_left(plan: ChangeSet, tmp_path: Path) -> None:
    write(tmp_path, "app/rules/.a.md.x1y2.mdmem-tmp", "half")
    write(tmp_path, "app/rules/.mine", "kept")
    apply(tmp_path, plan, state=tmp_path / "state")
    assert sorted(path.name for path in (tmp_path / "app/rules").iterdir()) == [".mine", "a.md", "b.md"]


def test_rename_removes_the_folders_it_leaves_empty(tmp_path: Path) -> None:
    write(tmp_path, A, "text\n")
    plan = ChangeSet((Change(A, "web/rules/a.md", b"text\n", b"text\n"),))
    apply(tmp_path, plan, state=tmp_path / "state")
    assert not (tmp_path / "app").exists()


def test_rename_never_replaces_a_file(tmp_path: Path) -> None:
    two_files(tmp_path)
    with pytest.raises(LostRaceError, match=r"`app/rules/b.md` exists by now; nothing was written"):
        apply(tmp_path, ChangeSet((Change(A, B, b"old a\n", b"new a\n"),)), state=tmp_path / "state")
    assert contents(tmp_path) == (b"old a\n", b"old b\n")


def test_busy_lock_is_said_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, state = two_files(tmp_path), tmp_path / "state"
    monkeypatch.setattr(writing, "write_lock", lambda folder: write_lock(folder, wait=0.05))
    with write_lock(state), pytest.raises(BusyError):
        apply(tmp_path, plan, state=state)
    assert contents(tmp_path) == (b"old a\n", b"old b\n")


def test_lock_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFaultError, match="cannot lock the memory for writing"):
        apply(tmp_path, two_files(tmp_path), state=Path(os.devnull) / "state")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def save(path: Path, text: str) -> None:
    """Save as editors do: written beside, renamed over."""
    beside = path.with_name(".swp")
    beside.write_text(text)
    beside.replace(path)


def meanwhile(
    patch: pytest.MonkeyPatch, where: Any, name: str, at: int, do: Callable[[], object], *more: Callable[[], object]
) -> None:
    """Do something right before one call of a function, counted from 1, and more before each of those after it."""
    whole, calls = getattr(where, name), iter([*[None] * (at - 1), do, *more])

    def called(*given: Any, **named: Any) -> Any:
        (next(calls, None) or (lambda: None))()
        return whole(*given, **named)

    patch.setattr(where, name, called)


SAVED = r"`app/rules/b.md` changed while it was written; nothing was written"
# Each is called after all files were compared, the last one between the last look and the step itself.
SEAMS = {"disk": (os, "fsync", 2), "look": (writing, "swap", 2), "swap": (swap, "exchange", 2)}


@pytest.mark.parametrize("seam", SEAMS)
def test_plan_never_replaces_what_is_saved_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seam: str
) -> None:
    root = tmp_path / "root"
    plan = two_files(root)
    meanwhile(monkeypatch, *SEAMS[seam], lambda: save(root / B, "mine\n"))
    with pytest.raises(LostRaceError, match=SAVED):
        apply(root, plan, state=tmp_path / "state")
    assert contents(root) == (b"old a\n", b"mine\n")
    assert names(root / "app/rules") == ["a.md", "b.md"]


def test_plan_keeps_both_of_two_saves_that_come_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    plan = two_files(root)
    saves = [lambda text=text: save(root / B, text) for text in ("first\n", "second\n")]
    meanwhile(monkeypatch, swap, "exchange", 2, *saves)
    with pytest.raises(
        KeptAsideError, match=r"changed while .*; nothing was changed; `(app/rules/b.md.\w+.kept)` keeps a text"
    ) as told:
        apply(root, plan, state=tmp_path / "state")
    assert contents(root) == (b"old a\n", b"second\n")
    kept = str(told.value).split("`")[-2]
    assert (root / kept).read_text() == "first\n"
    apply(root, ChangeSet((Change(A, A, b"old a\n", b"new a\n"),)), state=tmp_path / "state")
    assert (root / kept).exists()


def test_undo_leaves_what_was_saved_over_a_file_that_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, new = two_files(tmp_path), "app/new/c.md"
    plan = ChangeSet((Change(new, new, None, b"new c\n"), *plan.changes))

    def saved() -> None:
        for path in (new, A, B):
            save(tmp_path / path, "newer\n")

    meanwhile(monkeypatch, swap, "exchange", 2, saved)
    with pytest.raises(LostRaceError, match=SAVED):
        apply(tmp_path, plan, state=tmp_path / "state")
    assert {(tmp_path / path).read_text() for path in (new, A, B)} == {"newer\n"}


def test_plan_sees_what_an_editor_writes_into_a_file_that_it_holds_open(
    plan: ChangeSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / A).open("r+") as held:
        meanwhile(monkeypatch, swap, "exchange", 2, lambda: held.write("mine!\n") and held.flush())
        with pytest.raises(LostRaceError, match=r"`app/rules/a.md` changed while it was written"):
            apply(tmp_path, plan, state=tmp_path / "state")
    assert contents(tmp_path) == (b"mine!\n", b"old b\n")


def test_new_file_never_replaces_one_that_appears_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_root(tmp_path)
    meanwhile(monkeypatch, os, "fsync", 1, lambda: write(tmp_path, A, "mine\n"))
    with pytest.raises(LostRaceError, match=r"app/rules/a exists already"):
        apply(tmp_path, ChangeSet((Change(A, A, None, b"text\n"),)), state=tmp_path / "state")
    assert (tmp_path / A).read_text() == "mine\n"


MOVED = "app/other/c.md"


@pytest.mark.parametrize("after", [b"old a\n", b"new a\n"])
def test_rename_gives_back_what_was_saved_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bytes
) -> None:
    two_files(tmp_path)
    plan = ChangeSet((Change(B, B, b"old b\n", b"new b\n"), Change(A, MOVED, b"old a\n", after)))
    meanwhile(monkeypatch, writing, "rename_new", 1, lambda: save(tmp_path / A, "mine\n"))
    with pytest.raises(LostRaceError, match=r"changed while it was written; nothing was written"):
        apply(tmp_path, plan, state=tmp_path / "state")
    assert contents(tmp_path) == (b"mine\n", b"old b\n")
    assert not (tmp_path / "app/other").exists()


def test_rename_never_replaces_what_appears_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two_files(tmp_path)
    meanwhile(monkeypatch, writing, "rename_new", 1, lambda: write(tmp_path, MOVED, "mine\n"))
    with pytest.raises(LostRaceError, match=r"`app/other/c.md` exists by now; nothing was written"):
        apply(tmp_path, ChangeSet((Change(A, MOVED, b"old a\n", b"new a\n"),)), state=tmp_path / "state")
    assert (contents(tmp_path), (tmp_path / MOVED).read_text()) == ((b"old a\n", b"old b\n"), "mine\n")


def test_rename_that_cannot_be_taken_back_names_the_file_that_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_files(tmp_path)
    plan = ChangeSet((Change(A, MOVED, b"old a\n", b"old a\n"), Change(B, "app/other/d.md", b"old b\n", b"old b\n")))

    def saved() -> None:
        save(tmp_path / A, "mine a\n")
        save(tmp_path / B, "mine b\n")

    meanwhile(monkeypatch, writing, "rename_new", 2, saved)
    with pytest.raises(KeptAsideError, match=r"`app/other/c.md` keeps a text that was saved meanwhile"):
        apply(tmp_path, plan, state=tmp_path / "state")
    assert contents(tmp_path) == (b"mine a\n", b"mine b\n")


@pytest.mark.parametrize("is_saved", [True, False])
def test_file_is_removed_only_as_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_saved: bool) -> None:
    two_files(tmp_path)
    plan = ChangeSet((Change(A, A, b"old a\n", None), Change(B, B, b"old b\n", b"new b\n")))
    meanwhile(monkeypatch, os, "fsync", 1, lambda: save(tmp_path / (A if is_saved else B), "mine\n"))
    with pytest.raises(LostRaceError, match=r"changed while it was written; nothing was written"):
        apply(tmp_path, plan, state=tmp_path / "state")
    assert contents(tmp_path) == ((b"mine\n", b"old b\n") if is_saved else (b"old a\n", b"mine\n"))
