"""Files that swap their places, and names that must be free."""

import errno
import os
from pathlib import Path

import pytest
from builders import write

from mdmem.store.state import files as module
from mdmem.store.state.files import OvertakenError, exchange, has_content, rename_new, swap, take_away


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_exchange_swaps_two_files_and_leaves_no_third(tmp_path: Path) -> None:
    one, other = write(tmp_path, ".one", "1"), write(tmp_path, "other", "2")
    inodes = one.stat().st_ino, other.stat().st_ino
    exchange(one, other)
    assert (one.read_text(), other.read_text(), len(names(tmp_path))) == ("2", "1", 2)
    assert (other.stat().st_ino, one.stat().st_ino) == inodes


def test_exchange_copies_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    one, other = write(tmp_path, ".one", "1"), write(tmp_path, "other", "2")
    exchange(one, other)
    assert (one.read_text(), other.read_text(), len(names(tmp_path))) == ("2", "1", 2)


def test_exchange_of_a_file_that_is_gone_leaves_the_other(tmp_path: Path) -> None:
    one = write(tmp_path, ".one", "1")
    with pytest.raises(FileNotFoundError):
        exchange(one, tmp_path / "other")
    assert names(tmp_path) == [".one"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_rename_new_takes_only_a_free_name(tmp_path: Path, kind: str) -> None:
    old = write(tmp_path, "old/a", "1") if kind == "file" else write(tmp_path, "old/a", "1").parent
    taken = write(tmp_path, "taken", "2")
    with pytest.raises(FileExistsError):
        rename_new(old, taken)
    rename_new(old, tmp_path / "free")
    assert (taken.read_text(), old.exists(), (tmp_path / "free").is_dir()) == ("2", False, kind == "folder")


@pytest.mark.parametrize("there", ["nothing", "other", "longer", "link", "pipe", "folder"])
def test_only_a_regular_file_with_the_same_bytes_holds_them(tmp_path: Path, there: str) -> None:
    path = tmp_path / "a"
    made = {
        "nothing": lambda: None,
        "other": lambda: path.write_text("b"),
        "longer": lambda: path.write_text("ab"),
        "link": lambda: path.symlink_to(write(tmp_path, "b", "a")),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
    }
    made[there]()
    assert not has_content(path, b"a")
    assert has_content(write(tmp_path, "same", "a"), b"a")


def test_swap_leaves_a_link_that_was_put_in_the_way(tmp_path: Path) -> None:
    ours, target = write(tmp_path, ".ours.tmp", "new"), tmp_path / "target"
    target.symlink_to(write(tmp_path, "elsewhere", "old"))
    with pytest.raises(OvertakenError):
        swap(ours, target, read=b"old", written=b"new")
    assert (target.is_symlink(), target.read_text(), ours.read_text()) == (True, "old", "new")


def test_what_is_saved_in_the_moment_of_taking_away_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, aside = write(tmp_path, "a.md", "old"), tmp_path / ".a.md.x.tmp"
    looks = iter([True, False])
    monkeypatch.setattr(module, "has_content", lambda *_: next(looks))
    with pytest.raises(OvertakenError):
        take_away(target, aside, read=b"old")
    assert (target.read_text(), names(tmp_path)) == ("old", ["a.md"])
