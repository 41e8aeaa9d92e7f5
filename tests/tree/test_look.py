"""What was seen of a folder stands in for another listing of it, and never hides a change."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import make_root, write

from mdmem.tree import Looks, WorkingTree, digest_of, folder_files, look
from mdmem.tree.folder_files import FolderFiles
from mdmem.tree.look import FolderLook, column_of

ROOM = "w/r/"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_root(tmp_path)
    for name in "abc":
        write(root, f"w/r/{name}.md", f"text of {name}")
    return root


def seen(root: Path, looks: Looks) -> tuple[object, dict[str, str]]:
    """Return what a tree lists and the digests of it."""
    tree = WorkingTree(root, looks=looks)
    return tree.files(), tree.digests(tree.files())


@pytest.mark.parametrize(("patience", "is_listed"), [(0, False), (60_000_000_000, True)])
def test_room_whose_files_stand_long_as_they_are_is_not_listed_anew(
    patience: int, is_listed: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "RACY_NS", patience)
    looks = Looks()
    before, room = seen(root, looks), looks.get(ROOM)
    assert room is not None
    again = seen(root, looks)
    assert before == again
    assert (looks[ROOM] is not room) == is_listed
    assert seen(root, looks)[0] is again[0], "what stands is put in order once"


def of_equal_size_and_time(room: Path) -> None:
    file = room / "a.md"
    stat = file.stat()
    # The clock of files ticks every few milliseconds, and patience is none here.
    while file.stat().st_ctime_ns == stat.st_ctime_ns:
        file.write_text("Text of a")
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def replaced_by_a_link(room: Path) -> None:
    (room / "a.md").unlink()
    (room / "a.md").symlink_to("b.md")


def moved_away_and_another_in_its_place(room: Path) -> None:
    room.rename(room.with_name("s"))
    write(room, "a.md", "other")


def linked_from_elsewhere(room: Path) -> None:
    elsewhere = Path(f"{room.parent.parent}-elsewhere")
    room.rename(elsewhere)
    room.symlink_to(elsewhere)


CHANGES: list[Callable[[Path], object]] = [
    of_equal_size_and_time,
    replaced_by_a_link,
    moved_away_and_another_in_its_place,
    linked_from_elsewhere,
    lambda room: (room / "a.md").unlink(),
    lambda room: (room / "a.md").replace(room / "d.md"),
    lambda room: (room / ".git").mkdir(),
    lambda room: write(room, "d/e.md", "deeper"),
    lambda room: os.link(room / "a.md", room / "d.md"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_change_in_a_room_is_seen(
    change: Callable[[Path], object], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "RACY_NS", 0)
    looks = Looks()
    # From the second time on a listing stands.
    before = [seen(root, looks) for _ in range(2)][-1]
    change(root / ROOM)
    now, anew = seen(root, looks), Looks()
    assert now != before
    assert now == seen(root, anew)
    assert looks.keys() == anew.keys(), "what was seen of folders that are gone is kept"
    assert all(digest_of((root / path).read_bytes()) == digest for path, digest in now[1].items())


@pytest.mark.parametrize(("patience", "read"), [(0, "b"), (60_000_000_000, "abc")])
def test_of_a_room_what_changed_is_read_anew_and_what_may_have(
    patience: int, read: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "RACY_NS", patience)
    looks = Looks()
    seen(root, looks)
    learned: list[str] = []

    def learn(_: WorkingTree, path: str) -> str:
        learned.append(path)
        return digest_of((root / path).read_bytes())

    monkeypatch.setattr(WorkingTree, "_learn", learn)
    write(root, "w/r/b.md", "other")
    assert seen(root, looks)[1]["w/r/b.md"] == digest_of(b"other")
    assert [path for path in learned if path.startswith(ROOM)] == [f"{ROOM}{name}.md" for name in read]


def test_what_changed_beside_a_file_that_cannot_be_read_is_read_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "RACY_NS", 0)
    looks = Looks()
    # From the second time on a listing stands.
    seen(root, looks)
    seen(root, looks)
    learned: list[str] = []

    def learn(_: WorkingTree, path: str) -> str | None:
        learned.append(path)
        return None if path.endswith("c.md") else digest_of((root / path).read_bytes())

    monkeypatch.setattr(WorkingTree, "_learn", learn)
    for name in "bc":
        write(root, f"{ROOM}{name}.md", "other")
    found = [seen(root, looks)[1] for _ in range(3)]
    assert [one.get(f"{ROOM}b.md") for one in found] == [digest_of(b"other")] * 3
    assert learned.count(f"{ROOM}b.md") == 1
    assert all(f"{ROOM}c.md" not in one for one in found)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a folder's device says nothing of what it is")
@pytest.mark.parametrize("place", ["a disk", "no disk", "a disk with coarse times"])
def test_folder_that_stands_long_as_it_is_on_a_disk_is_not_listed_and_tells_a_new_name(
    place: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, is_disk = root / ROOM, place == "a disk"
    monkeypatch.setattr(folder_files, "_NO_DEVICE", os.major(room.stat().st_dev) if place == "no disk" else -1)
    if place == "a disk with coarse times":
        monkeypatch.setattr(folder_files, "_COARSE_NS", 1)
    monkeypatch.setattr(folder_files, "RACY_NS", -60_000_000_000)
    handle = os.open(room, os.O_RDONLY)
    try:
        names = FolderFiles([item.name for item in os.scandir(handle)])
        listed: list[int] = []
        with monkeypatch.context() as listing:
            listing.setattr(os, "listdir", lambda folder: [listed.append(folder), *names._names][1:])
            assert [names.are_all(handle), names.are_all(handle)] == [True, True]
        assert len(listed) == (1 if is_disk else 2)
        stat = room.stat()
        # The clock of files ticks every few milliseconds.
        while room.stat().st_mtime_ns == stat.st_mtime_ns:
            (room / "d.md").unlink(missing_ok=True)
            write(room, "d.md", "new")
        assert not names.are_all(handle)
    finally:
        os.close(handle)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a folder's device says nothing of what it is")
@pytest.mark.parametrize("is_earlier", [False, True])
def test_stored_look_lists_no_folder_that_stands_long_as_it_is_and_tells_a_new_name(
    is_earlier: bool, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, listed = root / ROOM, list[int]()
    monkeypatch.setattr(folder_files, "_NO_DEVICE", -1)
    for module in (look, folder_files):
        monkeypatch.setattr(module, "RACY_NS", -60_000_000_000)
    looks = Looks()
    seen(root, looks)
    stored = looks[ROOM].stored()
    assert stored is not None
    # What was written before that by the clock of the files was listed no later.
    again = stored.look(ROOM, at=0 if is_earlier else 1 << 62)
    assert again is not None
    with monkeypatch.context() as listing:
        names = list(again.names)
        listing.setattr(os, "listdir", lambda folder: [listed.append(folder), *names][1:])
        handle = os.open(room, os.O_RDONLY)
        holds = again._all.are_all(handle)
        os.close(handle)
    assert (holds, len(listed)) == (True, is_earlier)
    stat = room.stat()
    # The clock of files ticks every few milliseconds.
    while room.stat().st_mtime_ns == stat.st_mtime_ns:
        (room / "d.md").unlink(missing_ok=True)
        write(room, "d.md", "new")
    assert again.renewed(room) is None


@pytest.mark.parametrize(("inode", "is_stored"), [(7, True), (1 << 63, False)])
def test_look_gives_the_stats_it_took_and_stores_none_that_no_file_holds(inode: int, is_stored: bool) -> None:
    stats = [(10, 11, 12, 13), (20, 21, 22, inode)]
    paths = ["app/r/a.md", "app/r/b.md"]
    taken = FolderLook(1 << 62, ["a.md", "b.md"], (), paths, column_of(stats), dict.fromkeys(paths, "d"))
    assert taken.stats == dict(zip(paths, stats, strict=True))
    stored = taken.stored()
    assert (stored is not None) is is_stored
    if stored is not None:
        again = stored.look("app/r/", at=1 << 62)
        assert again is not None
        assert again.tells_as(taken)
