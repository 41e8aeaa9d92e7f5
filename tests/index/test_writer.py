from pathlib import Path

import pytest

from mdmem.index import writer
from mdmem.index.manifest import Manifest, publish
from mdmem.index.store import open_index
from mdmem.index.writer import MAX_SEGMENTS, extend, rebuild

from .builders import numbered, tree


def built(folder: Path, count: int) -> Manifest:
    made = tree(count)
    folder.mkdir(exist_ok=True)
    return rebuild(folder, sorted(made.live), made.read)


def held(folder: Path, manifest: Manifest, field: str, term: str) -> list[str]:
    """Return the keys that a published manifest gives to the documents that hold a term, in order of number."""
    publish(folder, manifest)
    opened = open_index(folder)
    assert opened is not None
    numbers = [number for numbers, _ in opened.postings.postings(field, term) for number in numbers]
    opened.close()
    return [key for number in numbers if (key := manifest.keys[number])]


def test_rebuild_numbers_documents_in_their_order(tmp_path: Path) -> None:
    manifest = built(tmp_path, 4)
    assert list(manifest.keys) == ["w/r/e0", "w/r/e1", "w/r/e2", "w/r/e3"]
    assert held(tmp_path, manifest, "body", "entry2") == ["w/r/e2"]
    assert held(tmp_path, manifest, "body", "absent") == []


def test_extend_shares_files_when_documents_are_added(tmp_path: Path) -> None:
    old = built(tmp_path, 20)
    new = extend(tmp_path, old, frozenset(["w/r/e3"]), [numbered(3, extra="fresh"), numbered(30)])
    assert set(old.files) < set(new.files)
    at = old.keys.index("w/r/e3")
    assert (new.keys[at], new.digests[at], list(new.keys[20:])) == (None, None, ["w/r/e3", "w/r/e30"])
    assert held(tmp_path, new, "body", "entry3") == ["w/r/e3"]
    assert held(tmp_path, new, "body", "fresh") == ["w/r/e3"]
    assert held(tmp_path, old, "body", "entry3") == ["w/r/e3"]


def test_extend_keeps_the_numbers_right_when_segments_are_merged(tmp_path: Path) -> None:
    manifest, keys = built(tmp_path, 40), {f"w/r/e{number}" for number in range(40)}
    for turn in range(2 * MAX_SEGMENTS):
        manifest = extend(
            tmp_path, manifest, frozenset([f"w/r/e{turn}"]), [numbered(turn, extra="fresh"), numbered(40 + turn)]
        )
        keys.add(f"w/r/e{40 + turn}")
        assert set(manifest.digest_of) == keys
        assert len([name for name in manifest.files if name.endswith(".segment")]) <= MAX_SEGMENTS
        assert all(held(tmp_path, manifest, "body", f"entry{n}") == [f"w/r/e{n}"] for n in (turn, 40 + turn, 39))


def test_many_documents_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = built(tmp_path / "one", 40)
    monkeypatch.setattr(writer, "_TOGETHER", 4)
    manifest = built(tmp_path / "parts", 40)
    assert ([count for _, count in manifest.segments], manifest.keys) == ([10, 10, 10, 10], one.keys)
    for term in ("executor", "lock", "entry39"):
        assert held(tmp_path / "parts", manifest, "body", term) == held(tmp_path / "one", one, "body", term) != []


def test_extend_leaves_large_segments_when_small_ones_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_TOGETHER", 60)
    made = tree(100)
    manifest = rebuild(tmp_path, sorted(made.live), made.read)
    large = manifest.segments
    assert [count for _, count in large] == [60, 40]
    for turn in range(2 * MAX_SEGMENTS):
        manifest = extend(tmp_path, manifest, frozenset(), [numbered(200 + turn)])
    assert list(manifest.segments[:2]) == list(large)
    assert len(manifest.segments) <= MAX_SEGMENTS


def test_extend_drops_the_dead_when_they_are_many(tmp_path: Path) -> None:
    manifest = built(tmp_path, 40)
    dead = frozenset(f"w/r/e{number}" for number in range(15))
    assert len(extend(tmp_path, manifest, dead, [numbered(50)]).keys) == 26


def test_rebuild_leaves_nothing_when_it_fails(tmp_path: Path) -> None:
    with pytest.raises(AttributeError):
        rebuild(tmp_path, ["w/r/e1"], lambda keys: [None for _ in keys])  # type: ignore[misc]
    assert list(tmp_path.iterdir()) == []
