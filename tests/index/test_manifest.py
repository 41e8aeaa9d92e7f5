from pathlib import Path

import pytest

from mdmem.index.fields import SCORED
from mdmem.index.manifest import DamagedIndexError, Manifest, load, publish, stamp_of

GENERATION = "generation-0123456789abcdef"


def manifest(**pairs: str) -> Manifest:
    lengths = dict.fromkeys(SCORED, [1] * (len(pairs) + 1))
    return Manifest(GENERATION, {}, [("0" * 16, len(pairs) + 1)], [*pairs, None], [*pairs.values(), None], lengths)


def test_load_returns_what_was_published_when_the_folder_has_it(tmp_path: Path) -> None:
    publish(tmp_path, manifest(a="1", b="2"))
    assert load(tmp_path) == manifest(a="1", b="2")
    assert [path.name for path in tmp_path.iterdir()] == ["index.json"]


def test_load_returns_none_when_nothing_was_published(tmp_path: Path) -> None:
    assert load(tmp_path / "nowhere") is None
    assert stamp_of(tmp_path / "nowhere") is None


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b'{"format": 1', b"\x00", b'{"\xff": 1}'])
def test_load_raises_when_the_file_is_something_else(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "index.json").write_bytes(content)
    with pytest.raises(DamagedIndexError):
        load(tmp_path)


def test_load_raises_when_a_file_has_another_size(tmp_path: Path) -> None:
    (tmp_path / GENERATION).mkdir()
    (tmp_path / GENERATION / "x").write_bytes(b"12")
    made = Manifest(GENERATION, {"x": 2}, [], [], [], {name: [] for name in SCORED})
    publish(tmp_path, made)
    assert load(tmp_path) == made
    (tmp_path / GENERATION / "x").write_bytes(b"1")
    with pytest.raises(DamagedIndexError):
        load(tmp_path)


def test_stamp_of_changes_when_the_same_is_published_again(tmp_path: Path) -> None:
    publish(tmp_path, manifest(a="1"))
    before = stamp_of(tmp_path)
    publish(tmp_path, manifest(a="1"))
    assert stamp_of(tmp_path) != before


def test_stale_and_gone_are_sorted_when_documents_differ() -> None:
    held = manifest(a="1", d="1", c="1", b="1")
    live = {"b": "1", "z": "1", "c": "2", "y": "1"}
    assert held.stale(live) == ["c", "y", "z"]
    assert held.gone(live) == ["a", "d"]
    assert held.stale(held.digest_of) == []
