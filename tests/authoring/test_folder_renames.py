"""Many renames made as few: a folder that moves as it is gets its new name at once."""

import errno
from pathlib import Path

import pytest
from builders import snapshot, write

from mdmem.errors import EnvironmentFaultError
from mdmem.write import apply as files
from mdmem.write.apply import apply, group_renames
from mdmem.write.change_set import Change, ChangeSet


def folders(root: Path, renames: dict[str, str]) -> list[tuple[str, str]]:
    return [(one.old, one.new) for one in group_renames(root, renames)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root with two rooms in one wing."""
    for path in ("app/rules/a.md", "app/rules/b.md", "app/notes/c.md"):
        write(tmp_path, f"root/{path}", path)
    return tmp_path / "root"


ROOM = {"app/rules/a.md": "app/laws/a.md", "app/rules/b.md": "app/laws/b.md"}
WING = {f"app/{path}": f"web/{path}" for path in ("rules/a.md", "rules/b.md", "notes/c.md")}


def test_room_moves_as_one(root: Path) -> None:
    assert folders(root, ROOM) == [("app/rules", "app/laws")]


@pytest.mark.parametrize("hidden", [".gitkeep", "more/.mine"])
def test_folder_with_a_file_that_stays_moves_file_by_file(root: Path, hidden: str) -> None:
    write(root, f"app/rules/{hidden}", "mine")
    assert folders(root, ROOM) == list(ROOM.items())


def plan_of(root: Path, renames: dict[str, str]) -> ChangeSet:
    return ChangeSet(tuple(Change(old, new, (root / old).read_bytes(), old.encode()) for old, new in renames.items()))


def test_left_over_of_a_killed_writer_does_not_hold_a_folder_back(root: Path) -> None:
    write(root, "app/rules/.a.md.x1y2.mdmem-tmp", "half")
    apply(root, plan_of(root, ROOM), state=root.parent / "state")
    assert sorted(snapshot(root)) == ["app/laws/a.md", "app/laws/b.md", "app/notes/c.md"]


def test_folder_that_the_system_does_not_rename_moves_file_by_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = files.rename_new

    def rename(old: Path, new: Path) -> None:
        if old.is_dir():
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        whole(old, new)

    monkeypatch.setattr(files, "rename_new", rename)
    apply(root, plan_of(root, WING), state=root.parent / "state")
    assert sorted(snapshot(root)) == ["web/notes/c.md", "web/rules/a.md", "web/rules/b.md"]


def test_folders_that_moved_are_taken_back_where_a_later_rename_fails(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, whole = snapshot(root), files.rename_new

    def rename(old: Path, new: Path) -> None:
        if old.name == "c.md":
            raise OSError(errno.EIO, "Input/output error")
        whole(old, new)

    monkeypatch.setattr(files, "rename_new", rename)
    with pytest.raises(
        EnvironmentFaultError, match=r"cannot write `app/d.md`: Input/output error; nothing was changed"
    ):
        apply(root, plan_of(root, {**ROOM, "app/notes/c.md": "app/d.md"}), state=root.parent / "state")
    assert snapshot(root) == before
