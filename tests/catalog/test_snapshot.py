"""The cache of loaded entries: what it remembers is compared with what a reader of every byte finds."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, make_root, write

from mdmem.record import pack
from mdmem.store.catalog import snapshot
from mdmem.store.catalog.load import load
from mdmem.store.catalog.model import Catalog
from mdmem.store.catalog.snapshot import EntryCache, FileRow
from mdmem.store.state.files import read_packed
from mdmem.store.tree import WorkingTree, digest_of

OLD, NEW = b"old bytes", b"new bytes"


def digests(root: Path, cache: Path) -> dict[str, str]:
    """Return the digests of a tree's files through the table, as one run of mdmem does."""
    kept = EntryCache(cache)
    tree = WorkingTree(root, stats=kept)
    found = tree.digests(tree.files())
    kept.save({file.path for file in tree.files()})
    return found


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust every file at once, as if each change lay long back."""
    monkeypatch.setattr(snapshot, "RACY_NS", -(10**15))


def refuse(*_: object) -> None:
    raise PermissionError


def test_file_rewritten_in_the_same_tick_is_read_again(tmp_path: Path) -> None:
    root, cache = tmp_path / "root", tmp_path / "table"
    file = write(root, "w/r/e.md", OLD)
    for content in (OLD, NEW) * 20:
        file.write_bytes(content)
        assert digests(root, cache) == {"w/r/e.md": digest_of(content)}


SECOND = 1_000_000_000
NOW = 1000 * SECOND


@pytest.mark.parametrize(
    ("mtime", "ctime", "written", "found"),
    [
        # A long build may lie between the reading and the writing.
        (-5, -5, 60, "digest"),
        (-1, -1, 60, None),
        (-500, -1, 60, None),
        (500, -5, 60, None),
        # The clock of a file server may be behind that of the machine.
        (-5, -5, -5, None),
    ],
    ids=["quiet", "just-now", "mtime-set-back", "mtime-in-the-future", "as-the-cache-was-written"],
)
def test_file_is_remembered_only_when_it_was_quiet_as_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mtime: int, ctime: int, written: int, found: str | None
) -> None:
    monkeypatch.setattr(snapshot.time, "time_ns", lambda: NOW)
    cache, stat = EntryCache(tmp_path / "table"), (NOW + mtime * SECOND, NOW + ctime * SECOND, 3, 7)
    cache.keep("e.md", stat, "digest")
    cache.save({"e.md"})
    os.utime(tmp_path / "table", ns=(NOW + written * SECOND,) * 2)
    assert EntryCache(tmp_path / "table").known({"e.md": stat}).get("e.md") == found


@pytest.mark.parametrize("content", [b"", b"mdmem", b"[]", pack(snapshot._VERSION, {"w/r/e.md": 5}), pack("0", {})])
def test_torn_foreign_or_older_file_is_none(tmp_path: Path, content: bytes) -> None:
    root = tmp_path / "root"
    write(root, "w/r/e.md", OLD)
    write(tmp_path, "table", content)
    assert digests(root, tmp_path / "table") == {"w/r/e.md": digest_of(OLD)}
    assert (tmp_path / "table").read_bytes() != content


@pytest.mark.usefixtures("patient")
def test_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    root, cache = tmp_path / "root", tmp_path / "table"
    for name in ("a", "b"):
        write(root, f"w/r/{name}.md", OLD)
    digests(root, cache)
    (root / "w/r/a.md").unlink()
    digests(root, cache)
    assert list(read_packed(cache, snapshot._VERSION, dict[str, FileRow]) or ()) == ["w/r/b.md"]


def test_digests_are_right_when_the_cache_cannot_be_written(tmp_path: Path) -> None:
    write(tmp_path, "root/w/r/e.md", OLD)
    write(tmp_path, "cache", "a file")
    assert digests(tmp_path / "root", tmp_path / "cache" / "table") == {"w/r/e.md": digest_of(OLD)}


@pytest.mark.usefixtures("patient")
def test_file_whose_name_is_no_text_keeps_no_other_from_being_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, cache = tmp_path / "root", tmp_path / "table"
    named = {os.fsdecode(b"w/r/caf\xe9.md"), "w/r/e.md"}
    for name in named:
        write(root, name, OLD)
    assert digests(root, cache).keys() == named
    monkeypatch.setattr(WorkingTree, "_read", refuse)
    assert digests(root, cache) == {"w/r/e.md": digest_of(OLD)}


# Answers from the table are those of a load that reads every file, whatever happens to the files.


def told(catalog: Catalog) -> object:
    entries = [(entry, catalog.sizes[address]) for address, entry in catalog.entries.items()]
    chains = catalog.lineage
    heads = {address: chains.heads(address) for address in catalog.entries}
    told = (chains.linked_successors, chains.successors, chains.claimants, chains.disputes, heads)
    broken = list(catalog.broken.items())
    return entries, catalog.wings, broken, catalog.findings, catalog.digests, catalog.files, catalog.others, told


class Memory:
    """A memory in a repository, and what may happen to its files."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.top, self.draw = make_repository(folder), draw
        make_root(self.top, "")
        write(self.top, "w/README.md", "---\nkind: project\n---\n")
        for number in range(6):
            self.put(f"w/r/e{number}.md")
        commit_all(self.top)

    def path(self) -> Path:
        return self.draw.choice(self.paths())

    def paths(self) -> list[Path]:
        return sorted(path for path in self.top.glob("w/*/*.md") if not path.is_symlink())

    def put(self, path: str) -> None:
        link = self.draw.choice(["e1", "w/r/e2", "r/e3", "w/s/e4", "./e5.md", "../s/e1.md"])
        created = self.draw.choice(["2026-01-01", "2026-01-01T10:00:00+02:00", "soon"])
        title = self.draw.choice(["", "title: T\n", 'title: "two\\n lines"\n'])
        status = self.draw.choice(["active", "deprecated", "law"])
        fields = f"type: note\nstatus: {status}\ncreated_at: {created}\n{title}see: {link}"
        chain = self.draw.choice(["", "", "\nsupersedes: w/r/e2", "\nsupersedes: [e3, w/r/e9]", "\nsuperseded_by: e1"])
        write(self.top, path, f"---\n{fields}{chain}\n---\n\nWord {self.draw.randrange(9)}.\n")

    def edited(self) -> None:
        self.put(self.path().relative_to(self.top).as_posix())

    def added(self) -> None:
        path = f"w/{self.draw.choice('rs')}/e{self.draw.randrange(9)}.md"
        (self.top / path).unlink(missing_ok=True)
        self.put(path)

    def removed(self) -> None:
        if len(self.paths()) > 1:
            self.path().unlink()

    def moved(self) -> None:
        target = self.top / "w/s" / f"m{self.draw.randrange(3)}.md"
        target.parent.mkdir(exist_ok=True)
        target.unlink(missing_ok=True)
        self.path().replace(target)

    def of_equal_size_and_time(self) -> None:
        path = self.path()
        stat = path.stat()
        path.write_bytes(path.read_bytes().replace(b"type: note", b"type: Note"))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def closed(self) -> None:
        path = self.path()
        if len(self.paths()) > 1:
            path.unlink()
            path.symlink_to("e1.md")

    def torn(self) -> None:
        self.path().write_bytes(self.draw.choice([b"", b"\xff", b"---\ntype: note\n"]))

    def about_the_settings(self) -> None:
        write(self.top, "mdmem.toml", self.draw.choice(["", '[lineage]\none_sided = "fact"\n', "[\n"]))

    def stashed(self) -> None:
        git(self.top, "stash", "-q")

    def checked_out(self) -> None:
        git(self.top, "checkout", "-q", ".")

    def about_the_wing(self) -> None:
        write(
            self.top, "w/README.md", self.draw.choice(["# Prose\n", "---\nkind: shared\n---\n", "---\nkind: x\n---\n"])
        )


EVENTS = [Memory.edited, Memory.added, Memory.removed, Memory.moved, Memory.of_equal_size_and_time]
EVENTS += [
    Memory.edited,
    Memory.closed,
    Memory.torn,
    Memory.about_the_settings,
    Memory.stashed,
    Memory.checked_out,
    Memory.about_the_wing,
]


@pytest.mark.parametrize("patience", [0, 2_000_000_000])
def test_load_through_the_cache_is_the_load_of_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: int
) -> None:
    monkeypatch.setattr(snapshot, "RACY_NS", max(patience, 20_000_000))
    memory = Memory(tmp_path / "top", random.Random(3))
    kept = EntryCache(tmp_path / "snapshot")
    for event in (memory.draw.choice(EVENTS) for _ in range(40)):
        event(memory)
        for cache in (kept, EntryCache(tmp_path / "snapshot")):
            loaded = load(WorkingTree(memory.top, True, cache), cache)
            assert told(loaded) == told(load(WorkingTree(memory.top, True))), event.__name__
