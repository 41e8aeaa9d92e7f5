"""Test the cache of loaded entries against a reader that reads every byte."""

import os
import random
from pathlib import Path
from zlib import crc32

import pytest
from builders import commit_all, entry_text, git, make_repository, make_root, memory, open_root, write
from trees import meant

from mdmem.record import pack
from mdmem.store.catalog import load as loading
from mdmem.store.catalog.load import NAME as VERSION
from mdmem.store.catalog.load import EntryCache, FileRow, load
from mdmem.store.state.files import read_packed
from mdmem.store.tree import WorkingTree, digest_of

OLD = b"old bytes"


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
    monkeypatch.setattr(loading, "RACY_NS", -(10**15))


def refuse(*_: object) -> None:
    raise PermissionError


SECOND = 1_000_000_000
NOW = 1000 * SECOND


@pytest.mark.parametrize(
    ("mtime", "ctime", "written", "found"),
    [
        # A long build may take place between reading and writing.
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
    monkeypatch.setattr(loading.time, "time_ns", lambda: NOW)
    cache, stat = EntryCache(tmp_path / "table"), (NOW + mtime * SECOND, NOW + ctime * SECOND, 3, 7)
    cache.keep("e.md", stat, "digest")
    cache.save({"e.md"})
    os.utime(tmp_path / "table", ns=(NOW + written * SECOND,) * 2)
    assert EntryCache(tmp_path / "table").known({"e.md": stat}).get("e.md") == found


ROOT = {"w/README.md": "---\nkind: shared\n---\n", "w/r/e.md": entry_text(type="note")}
DIGEST = digest_of(ROOT["w/r/e.md"].encode())
ENTRY = {"address": "w/r/e", "type": "note", "status": "active", "title": "x"}
RECORDS: list[object] = [5, [], "x", {"path": 1}, {"kind": "team"}]
RECORDS += [
    {"path": "w/r/e.md", "entry": ENTRY | odd} for odd in ({"type": "law"}, {"title": [1]}, {"created_at": "soon"})
]
STORED = [{"w/r/e.md": [DIGEST, [0, 0, 0, 0], record]} for record in RECORDS]
WHOLE = pack(VERSION, {"w/r/e.md": [DIGEST, [0, 0, 0, 0], {"path": "w/r/e.md", "entry": ENTRY}]})
TORN = [WHOLE[:-1], WHOLE[:20], WHOLE + b"\0", WHOLE.replace(b"note", b"rule")]
# Text that is not UTF-8, and a list of four thousand million rows.
ODD = (b"\x81\xa1\xff\x90", b"\x81\xa1a\xdd\xff\xff\xff\xff")
TORN += [b"mdmem %s %d %08x\n" % (VERSION.encode(), len(odd), crc32(odd)) + odd for odd in ODD]


@pytest.mark.parametrize(
    "content",
    [b"", b"mdmem", b"[]", *TORN, pack("0", {}), *(pack(VERSION, rows) for rows in ({"w/r/e.md": 5}, *STORED))],
    ids=lambda _: "",
)
def test_torn_foreign_or_older_file_is_none(tmp_path: Path, content: bytes) -> None:
    root, table = make_root(tmp_path / "root"), write(tmp_path, "table", content)
    for path, text in ROOT.items():
        write(root, path, text)
    assert meant(load(WorkingTree(root), EntryCache(table))) == meant(load(WorkingTree(root)))
    assert table.read_bytes() != content


@pytest.mark.usefixtures("patient")
def test_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    root, cache = tmp_path / "root", tmp_path / "table"
    for name in ("a", "b"):
        write(root, f"w/r/{name}.md", OLD)
    digests(root, cache)
    (root / "w/r/a.md").unlink()
    digests(root, cache)
    assert list(read_packed(cache, VERSION, dict[str, FileRow]) or ()) == ["w/r/b.md"]


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


def test_two_versions_do_not_undo_each_others_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = memory(tmp_path / "repository")
    caches = folder / ".git/mdmem/cache"
    assert len(open_root(folder / "memory").catalog.entries) == 2
    (first,) = caches.rglob("snapshot*")
    kept = first.read_bytes()
    monkeypatch.setattr("mdmem.store.workspace.workspace.NAME", "snapshot-of-another-version")
    assert len(open_root(folder / "memory").catalog.entries) == 2
    assert len([*caches.rglob("snapshot*")]) == 2
    assert first.read_bytes() == kept


# The cache gives the same answers as a load that reads every file, after any change of the files.

CONTENTS = [
    *(entry_text(type="note", see=link) for link in ("e1", "w/r/e2", "r/e3", "w/s/e2", "./e1.md", "../s/e1.md")),
    *(entry_text(supersedes=old, created_at="2026-01-01T10:00:00+02:00") for old in ("w/r/e2", ["e3", "w/r/e9"], "a")),
    entry_text("# A\n", status="deprecated", superseded_by=["e1"], ignore="{expired: why}"),
    entry_text(tags=["x", "y"], verified_at="2026-03-05T10:00+02:00", version=3, confidence=0.5),
    entry_text("Größe 🙂\r\n\n", type="note", label="entity", relations="[{type: uses, to: w/r/e1}]"),
    entry_text(title='"two\\n lines"', owner="[a]", see="[n/a, e2]", verified_at="soon"),
    entry_text(type="pattern", trigger="t", repeatable_steps="[a, b]", expires_at="2020-01-01"),
    *(entry_text(status="law"), "# Prose\n", "", "\0", "---\ntype: note\n", "---\ntype: note\ntype: note\n---\n"),
    "\ufeff---\r\ntype: note\r\nstatus: active\r\ncreated_at: 2026-03-05\r\n---\r\nx\r\n",
    *("---\nkind: shared\nshared_wings: [v]\nowners: Ada\nlast_hygiene_at: 2026-03-05\n---\n", "---\nkind: x\n---\n"),
]
PLACES = [f"w/{room}/e{number}.md" for room in "rs" for number in range(4)]
PLACES += [*PLACES, "w/README.md", "v/q/e1.md", "v/README.md", "w/r/README.md", "w/x.md"]
EVENTS = [*["write"] * 3, "remove", "move", "same size and time", "link", "settings", "stash -q", "checkout -q ."]


def change(top: Path, draw: random.Random) -> str:
    """Change some file, and return how."""
    event, path, other = draw.choice(EVENTS), top / draw.choice(PLACES), draw.choice(sorted(top.glob("w/r/e*.md")))
    if event == "settings":
        write(top, "mdmem.toml", draw.choice(["", '[lineage]\none_sided = "fact"\n', "[\n"]))
    elif event == "same size and time":
        stat = other.stat()
        other.write_bytes(other.read_bytes().replace(b"note", b"Note"))
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    elif event not in ("write", "remove", "move", "link"):
        git(top, *event.split())
    elif path != other:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if event == "write":
            path.write_text(draw.choice(CONTENTS), newline="")
        elif event == "move":
            other.replace(path)
            other.write_text(entry_text(), newline="")
        elif event == "link":
            path.symlink_to(other)
    return event


@pytest.mark.parametrize("patience", [0, 2_000_000_000])
def test_load_through_the_cache_is_the_load_of_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: int
) -> None:
    monkeypatch.setattr(loading, "RACY_NS", max(patience, 20_000_000))
    top, draw, kept = make_root(make_repository(tmp_path / "top")), random.Random(3), EntryCache(tmp_path / "snapshot")
    for path in ("w/r/e1.md", "w/README.md"):
        write(top, path, CONTENTS[0] if "e1" in path else CONTENTS[-1])
    commit_all(top)
    for _ in range(80):
        event = change(top, draw)
        for cache in (kept, EntryCache(tmp_path / "snapshot")):
            found, right = load(WorkingTree(top, True, cache), cache), load(WorkingTree(top, True))
            assert meant(found) == meant(right), event
            assert (found.files, found.others, found.closed) == (right.files, right.others, right.closed)
