"""A segment gives back what was written, or says that it is damaged."""

import zlib
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.index import segments
from mdmem.index.manifest import DamagedIndexError, reading
from mdmem.index.segments import Pool, Segment

Contents = dict[tuple[str, str], dict[int, int]]

TERMS = st.text(st.characters(exclude_characters="\n"), max_size=3)
POSTINGS = st.dictionaries(st.integers(0, 299), st.sampled_from([1, 2, 255, 256, 70_000]), min_size=1, max_size=5)
CONTENTS = st.dictionaries(st.tuples(st.sampled_from(["title", "titles", "body"]), TERMS), POSTINGS, max_size=30)


def written(folder: Path, contents: Contents, count: int = 300) -> Segment:
    pool = Pool()
    for number in sorted({number for held in contents.values() for number in held}):
        for (field, term), held in contents.items():
            if number in held:
                pool.add(number, field, {term: held[number]})
    return Segment(folder, pool.write(folder, count), count)


def read(segment: Segment) -> Contents:
    contents = segment.contents()
    return {(field, term): dict(zip(*columns, strict=True)) for field, term, columns in contents}


@given(contents=CONTENTS, leaf=st.integers(1, 4), count=st.sampled_from([300, 70_000]))
def test_segment_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, contents: Contents, leaf: int, count: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_LEAF", leaf)
        segment = written(tmp_path_factory.mktemp("s"), contents, count)
    assert read(segment) == contents
    for field in ("body", "title", "titles", "tags"):
        terms = sorted(term for held, term in contents if held == field)
        assert list(segment.lexicon(field, "")) == terms
        for prefix in {term[:1] for term in terms} | {"q"}:
            assert list(segment.lexicon(field, prefix)) == [term for term in terms if term.startswith(prefix)]
        for term in (*terms, "absent"):
            columns = segment.postings(field, term)
            assert (dict(zip(*columns, strict=True)) if columns else None) == contents.get((field, term))
    segment.close()


def test_segment_is_damaged_wherever_a_byte_was_changed(tmp_path: Path) -> None:
    contents: Contents = {("body", f"term{number}"): {number: 1, number + 1: 2} for number in range(9)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_LEAF", 4)
        written(tmp_path, contents).close()
    [path] = tmp_path.iterdir()
    content = path.read_bytes()
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(DamagedIndexError), reading(), closing(Segment(tmp_path, path.stem, 300)) as segment:
            read(segment)


@pytest.mark.parametrize("held", [{300: 1}, {3: 0}], ids=["no such document", "not at all"])
def test_postings_are_damaged_where_a_question_could_not_count_with_them(tmp_path: Path, held: dict[int, int]) -> None:
    segment = written(tmp_path, {("body", "term"): held})
    with pytest.raises(DamagedIndexError, match="documents that it does not hold"):
        segment.postings("body", "term")
    segment.close()


def test_segment_of_another_kind_of_machine_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(segments, "_ORDER", b"?")
        written(tmp_path, {("body", "term"): {1: 1}}).close()
    [path] = tmp_path.iterdir()
    with pytest.raises(DamagedIndexError, match="another kind of machine"):
        Segment(tmp_path, path.stem, 300)


def test_node_that_claims_more_than_the_file_holds_is_damaged(tmp_path: Path) -> None:
    written(tmp_path, {}).close()
    [path] = tmp_path.iterdir()
    content = path.read_bytes()
    last = (1 << 60).to_bytes(8, "little") + content[8:-4]
    path.write_bytes(last + zlib.crc32(last).to_bytes(4, "little"))
    with pytest.raises(DamagedIndexError), reading():
        Segment(tmp_path, path.stem, 300)
