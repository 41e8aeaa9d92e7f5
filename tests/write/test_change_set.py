"""Test writing a plan: files are compared first, and texts that others save are never overwritten."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import git, make_repository, snapshot, write
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mdmem.errors import EnvironmentFaultError, KeptAsideError, LostRaceError
from mdmem.store.state import files as swap
from mdmem.store.state.files import BusyError, write_lock
from mdmem.write import apply as writing
from mdmem.write.apply import FileTransaction, group_renames, write_changes, writers_lock
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction, commit_message, subject_of

Patch = pytest.MonkeyPatch
A, B, NEW, MOVED = "app/rules/a.md", "app/rules/b.md", "app/new/c.md", "app/other/c.md"
CHANGES_A, CHANGES_B = Change(A, A, b"old a\n", b"new a\n"), Change(B, B, b"old b\n", b"new b\n")
CREATES, MOVES = Change(NEW, NEW, None, b"new c\n"), Change(A, MOVED, b"old a\n", b"new a\n")
BOTH = (CHANGES_A, CHANGES_B)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root with two files."""
    write(tmp_path, f"root/{A}", "old a\n")
    write(tmp_path, f"root/{B}", "old b\n")
    return tmp_path / "root"


def applied(root: Path, *changes: Change) -> None:
    with writers_lock(root.parent / "state"):
        write_changes(root, changes)


def refused(root: Path, *changes: Change, says: str, kind: type[Exception] = LostRaceError) -> str:
    """Assert that a plan is refused, and return the message."""
    with pytest.raises(kind, match=says) as told:
        applied(root, *changes)
    return str(told.value)


def contents(root: Path) -> tuple[bytes, bytes]:
    return (root / A).read_bytes(), (root / B).read_bytes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (Change(B, B, b"mine\n", b"new b\n"), r"`app/rules/b.md` changed while it was read; nothing was written"),
        (Change(NEW, NEW, b"", b"c\n"), "cannot be read any more"),
        (Change(B, B, None, b"text\n"), "app/rules/b exists already"),
        (Change(B, A, b"old b\n", b"new b\n"), r"`app/rules/a.md` exists by now; nothing was written"),
    ],
    ids=["changed", "gone", "created", "renamed"],
)
def test_plan_writes_nothing_if_one_file_changed(root: Path, change: Change, says: str) -> None:
    before = snapshot(root)
    refused(root, CHANGES_A, change, says=says)
    assert snapshot(root) == before


@pytest.mark.parametrize("linked", [A, "app/rules", "app"])
def test_plan_writes_nothing_through_a_symbolic_link(root: Path, tmp_path: Path, linked: str) -> None:
    (root / linked).rename(tmp_path / "elsewhere")
    (root / linked).symlink_to(tmp_path / "elsewhere")
    before = snapshot(tmp_path)
    refused(root, *BOTH, says="is reached through a symbolic link, so nothing was written")
    (tmp_path / "state/write.lock").unlink()
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664, 0o755])
def test_plan_keeps_the_mode_of_a_file(root: Path, mode: int) -> None:
    (root / A).chmod(mode)
    applied(root, *BOTH)
    assert (root / A).stat().st_mode & 0o777 == mode


def full_disk(patch: Patch, name: str) -> None:
    """Make one step of `FileTransaction` fail at the second file."""
    whole = getattr(FileTransaction, name)

    def failing(self: FileTransaction, path: str, *arguments: object) -> None:
        if path == B:
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(self, path, *arguments)

    patch.setattr(FileTransaction, name, failing)


@pytest.mark.parametrize("step", ["prepare", "write", "rename"])
def test_plan_that_fails_half_way_leaves_everything_as_it_was(root: Path, monkeypatch: Patch, step: str) -> None:
    before = snapshot(root)
    full_disk(monkeypatch, step)
    changes = (CHANGES_A, CREATES, Change(B, "z/b.md", b"old b\n", b"b\n"))
    says = r"cannot write .*: No space left on device; nothing was changed"
    refused(root, *changes, says=says, kind=EnvironmentFaultError)
    assert snapshot(root) == before


def test_failed_undo_is_reported(root: Path, monkeypatch: Patch) -> None:
    full_disk(monkeypatch, "write")
    monkeypatch.setattr(FileTransaction, "undo", lambda self: False)
    says = r"could not be undone; `mdmem check` says what is left to do"
    refused(root, *BOTH, says=says, kind=EnvironmentFaultError)
    assert contents(root) == (b"new a\n", b"old b\n")


def test_temporary_files_of_a_killed_writer_are_removed(root: Path) -> None:
    write(root, "app/rules/.a.md.x1y2.mdmem-tmp", "half")
    write(root, "app/rules/.mine", "kept")
    applied(root, *BOTH)
    assert names(root / "app/rules") == [".mine", "a.md", "b.md"]


def test_rename_removes_the_folders_it_leaves_empty(root: Path) -> None:
    applied(root, *(Change(path, f"web/{path}", f"old {path[-4]}\n".encode(), b"\n") for path in (A, B)))
    assert names(root) == ["web"]


def test_busy_or_impossible_lock_is_an_error(root: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(writing, "write_lock", lambda folder: write_lock(folder, wait=0.05))
    with write_lock(root.parent / "state"):
        refused(root, *BOTH, says="another process has been writing", kind=BusyError)
    assert contents(root) == (b"old a\n", b"old b\n")
    said = "cannot lock the memory for writing"
    with pytest.raises(EnvironmentFaultError, match=said), writers_lock(Path(os.devnull) / "state"):
        pass


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def save(path: Path, text: str) -> None:
    """Save as editors do: write a new file and rename it over the old one."""
    beside = path.with_name(".swp")
    beside.write_text(text)
    beside.replace(path)


def meanwhile(patch: Patch, where: Any, name: str, at: int, *do: Callable[[], object]) -> None:
    """Call functions right before the calls of a function, from call number `at` on."""
    whole, calls = getattr(where, name), iter([*[None] * (at - 1), *do])

    def called(*given: Any, **named: Any) -> Any:
        (next(calls, None) or (lambda: None))()
        return whole(*given, **named)

    patch.setattr(where, name, called)


SAVED = r"`app/rules/b.md` changed while it was written; nothing was written"
# Each runs after all files were compared; the last one runs between the last comparison and the swap.
SEAMS = {"disk": (os, "fsync", 2), "look": (writing, "swap", 2), "swap": (swap, "exchange", 2)}


@pytest.mark.parametrize("seam", SEAMS)
def test_file_saved_during_the_write_is_never_replaced(root: Path, monkeypatch: Patch, seam: str) -> None:
    meanwhile(monkeypatch, *SEAMS[seam], lambda: save(root / B, "mine\n"))
    refused(root, *BOTH, says=SAVED)
    assert contents(root) == (b"old a\n", b"mine\n")
    assert names(root / "app/rules") == ["a.md", "b.md"]


def test_both_of_two_saves_during_the_write_are_kept(root: Path, monkeypatch: Patch) -> None:
    saves = [lambda text=text: save(root / B, text) for text in ("first\n", "second\n")]
    meanwhile(monkeypatch, swap, "exchange", 2, *saves)
    says = r"changed while .*; nothing was changed; `(app/rules/b.md.\w+.kept)` keeps a text"
    kept = refused(root, *BOTH, says=says, kind=KeptAsideError).split("`")[-2]
    assert (contents(root), (root / kept).read_text()) == ((b"old a\n", b"second\n"), "first\n")
    applied(root, CHANGES_A)
    assert (root / kept).exists()


def test_undo_keeps_texts_that_were_saved_over_written_files(root: Path, monkeypatch: Patch) -> None:
    meanwhile(monkeypatch, swap, "exchange", 2, lambda: [save(root / path, "newer\n") for path in (NEW, A, B)])
    refused(root, CREATES, *BOTH, says=SAVED)
    assert {(root / path).read_text() for path in (NEW, A, B)} == {"newer\n"}


def test_write_into_an_open_file_is_noticed(root: Path, monkeypatch: Patch) -> None:
    with (root / A).open("r+") as held:
        meanwhile(monkeypatch, swap, "exchange", 2, lambda: held.write("mine!\n") and held.flush())
        refused(root, *BOTH, says=r"`app/rules/a.md` changed while it was written")
    assert contents(root) == (b"mine!\n", b"old b\n")


@pytest.mark.parametrize(
    ("change", "where", "name", "says"),
    [
        (CREATES, os, "fsync", "app/new/c exists already"),
        (MOVES, writing, "rename_new", r"`app/other/c.md` exists by now; nothing was written"),
    ],
)
def test_file_that_appears_meanwhile_is_never_replaced(
    root: Path, monkeypatch: Patch, change: Change, where: Any, name: str, says: str
) -> None:
    meanwhile(monkeypatch, where, name, 1, lambda: write(root, change.to, "mine\n"))
    refused(root, change, says=says)
    assert (contents(root), (root / change.to).read_text()) == ((b"old a\n", b"old b\n"), "mine\n")


@pytest.mark.parametrize("after", [b"old a\n", b"new a\n"])
def test_rename_is_undone_if_the_file_was_saved_before_it(root: Path, monkeypatch: Patch, after: bytes) -> None:
    meanwhile(monkeypatch, writing, "rename_new", 1, lambda: save(root / A, "mine\n"))
    refused(root, CHANGES_B, Change(A, MOVED, b"old a\n", after), says="changed while it was written; nothing was")
    assert (contents(root), (root / "app/other").exists()) == ((b"mine\n", b"old b\n"), False)


def test_failed_undo_of_a_rename_prints_the_file_that_stays(root: Path, monkeypatch: Patch) -> None:
    saved = [(root / A, "mine a\n"), (root / B, "mine b\n")]
    meanwhile(monkeypatch, writing, "rename_new", 2, lambda: [save(*one) for one in saved])
    plan = [Change(A, MOVED, b"old a\n", b"old a\n"), Change(B, "app/other/d.md", b"old b\n", b"old b\n")]
    refused(root, *plan, says=r"`app/other/c.md` keeps a text that was saved meanwhile", kind=KeptAsideError)
    assert contents(root) == (b"mine a\n", b"mine b\n")


@pytest.mark.parametrize("is_saved", [True, False])
def test_file_is_removed_only_if_it_did_not_change(root: Path, monkeypatch: Patch, is_saved: bool) -> None:
    meanwhile(monkeypatch, os, "fsync", 1, lambda: save(root / (A if is_saved else B), "mine\n"))
    says = r"changed while it was written; nothing was written"
    refused(root, Change(A, A, b"old a\n", None), CHANGES_B, says=says)
    assert contents(root) == ((b"mine\n", b"old b\n") if is_saved else (b"old a\n", b"mine\n"))


ROOM = {A: "app/laws/a.md", B: "app/laws/b.md"}


def moving(root: Path, renames: dict[str, str]) -> tuple[Change, ...]:
    return tuple(Change(old, new, (root / old).read_bytes(), old.encode()) for old, new in renames.items())


@pytest.mark.parametrize("hidden", ["", "app/rules/.gitkeep", "app/rules/more/.mine"])
def test_room_is_renamed_as_a_whole_unless_a_file_stays(root: Path, hidden: str) -> None:
    if hidden:
        write(root, hidden, "mine")
    found = [(one.old, one.new) for one in group_renames(root, ROOM)]
    assert found == (list(ROOM.items()) if hidden else [("app/rules", "app/laws")])
    # A temporary file of a killed writer does not prevent the rename of the folder.
    write(root, "app/rules/.a.md.x1y2.mdmem-tmp", "half")
    applied(root, *moving(root, ROOM))
    assert sorted(snapshot(root)) == ["app/laws/a.md", "app/laws/b.md", *([hidden] if hidden else [])]


def failing_rename(patch: Patch, fails: Callable[[Path], bool], number: int) -> None:
    whole = writing.rename_new

    def rename(old: Path, new: Path) -> None:
        if fails(old):
            raise OSError(number, os.strerror(number))
        whole(old, new)

    patch.setattr(writing, "rename_new", rename)


def test_folder_that_the_system_does_not_rename_moves_file_by_file(root: Path, monkeypatch: Patch) -> None:
    write(root, MOVED, "c\n")
    failing_rename(monkeypatch, Path.is_dir, errno.EXDEV)
    renames = {A: "web/rules/a.md", B: "web/rules/b.md", MOVED: "web/other/c.md"}
    applied(root, *moving(root, renames))
    assert sorted(snapshot(root)) == sorted(renames.values())


def test_renamed_folders_are_renamed_back_if_a_later_rename_fails(root: Path, monkeypatch: Patch) -> None:
    write(root, MOVED, "c\n")
    before = snapshot(root)
    failing_rename(monkeypatch, lambda old: old.name == "c.md", errno.EIO)
    says = r"cannot write `app/d.md`: Input/output error; nothing was changed"
    refused(root, *moving(root, {**ROOM, MOVED: "app/d.md"}), says=says, kind=EnvironmentFaultError)
    assert snapshot(root) == before


def test_subject_of_several_kinds_of_change_counts_the_entries() -> None:
    actions = [WriteAction(Verb.ADD, "a/b/c"), WriteAction(Verb.MOVE, "a/b/d", "a/b/e"), WriteAction(Verb.ADD, "a/b/f")]
    assert subject_of(actions) == "Update 3 entries"


def test_reason_is_wrapped_and_its_paragraphs_stay() -> None:
    reason = f"{'word ' * 20}\n\n\n\n- a list\n- of two\nhttps://example.org/{'x' * 80}\n\n"
    message = commit_message(ChangeSet(actions=(WriteAction(Verb.APPROVE, "a/b/c"),), reason=reason))
    assert message.split("\n")[2:9] == [
        ("word " * 14).strip(),
        ("word " * 6).strip(),
        "",
        "  - a list",
        "  - of two",
        # git would take `https` for the name of a trailer.
        f"  https://example.org/{'x' * 80}",
        "",
    ]


ADDING = ChangeSet(actions=(WriteAction(Verb.ADD, "a/b/c"),))
HOSTILE = """Mdmem-Entry: x/y/z
Signed-off-by: Bob <bob@example.org>
# a comment
; another
---
diff --git a/x b/x
From 1234
(cherry picked from commit 1234)
# ------------------------ >8 ------------------------
Mdmem-Agent: somebody"""


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("message") / "top")


def trailers(top: Path, message: str) -> list[str]:
    return git(top, "interpret-trailers", "--parse", text_in=message.encode()).splitlines()


def test_git_reads_our_trailers_alone_from_a_hostile_reason(top: Path) -> None:
    change_set = replace(ADDING, reason=HOSTILE, agent="planner")
    message = commit_message(replace(change_set, supersedes=("a/b/d",)))
    expected = ["Mdmem-Entry: a/b/c", "Mdmem-Supersedes: a/b/d", "Mdmem-Agent: planner"]
    assert trailers(top, message) == expected
    assert trailers(top, commit_message(ChangeSet(reason=HOSTILE), subject="Update the wing x")) == []


@pytest.mark.parametrize("cleanup", ["strip", "whitespace", "verbatim", "scissors"])
def test_no_cleanup_of_gits_changes_the_message(top: Path, cleanup: str) -> None:
    message = commit_message(replace(ADDING, reason=HOSTILE, agent="planner"))
    git(top, "commit", "-q", "--allow-empty", f"--cleanup={cleanup}", "-F", "-", text_in=message.encode())
    assert git(top, "log", "-1", "--format=%B") == message


@given(reason=st.text(max_size=300), agent=st.text(max_size=30))
def test_lines_of_any_reason_are_plain(reason: str, agent: str) -> None:
    message = commit_message(replace(ADDING, reason=reason, agent=agent))
    body, _, block = message.removeprefix("Add a/b/c\n\n").rpartition("Mdmem-Entry: a/b/c\n")
    assert block == "" or (block.startswith("Mdmem-Agent: ") and block.count("\n") == 1)
    assert all(len(line) <= 72 or " " not in line.strip() for line in body.splitlines())
    assert not any(line.startswith(("#", ";", "%", "-", "@", "Mdmem-")) for line in body.splitlines())
    assert "\n\n\n" not in message
