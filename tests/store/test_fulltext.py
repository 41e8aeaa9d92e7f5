import errno
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec.structs import replace

from mdmem.disk import locked
from mdmem.store.index import Corpus, fulltext
from mdmem.store.index.fulltext import LOCK, FullTextIndex

from .index_builders import Tree, ask, kept, numbered, tree


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != LOCK}


# Freshness


def test_search_takes_what_is_read_when_it_changed_just_now(tmp_path: Path) -> None:
    made = tree(20)
    index = kept(made, tmp_path)
    live = made.live | {"w/r/e1": "seen a moment ago"}
    for word in ("unheard", "later"):
        made.put(numbered(1, extra=word))
        assert len(index.search(word, Corpus(live, made.read), may_refresh=False).matches) == 1


def test_search_sees_when_another_index_wrote(tmp_path: Path) -> None:
    made = tree(20)
    index = kept(made, tmp_path)
    ask(index, made)
    made.put(numbered(3, extra="unheard"))
    kept(made, tmp_path)
    found = index.search("unheard", made)
    assert [match.key for match in found.matches] == ["w/r/e3"]
    assert made.asked == []


@pytest.mark.parametrize("folder", [None, "index"])
def test_search_leaves_no_trace_when_it_may_not_persist(tmp_path: Path, folder: str | None) -> None:
    index = FullTextIndex(tmp_path / folder if folder else None, persist=False)
    assert ask(index, tree(3)) == ("scan", False)
    assert list(tmp_path.iterdir()) == []


def test_search_uses_the_index_when_it_may_not_persist_but_there_is_one(tmp_path: Path) -> None:
    kept(tree(100), tmp_path)
    before = contents(tmp_path)
    other = Tree(*(numbered(number, extra="executor") for number in range(100)))
    assert ask(FullTextIndex(tmp_path, persist=False), other) == ("index", False)
    assert contents(tmp_path) == before


# Refresh and state


def test_folder_stays_small_when_refreshed_often(tmp_path: Path) -> None:
    made = tree(30)
    index = kept(made, tmp_path)
    for turn in range(24):
        made.put(numbered(turn % 12, extra=f"again {turn}"))
        index.refresh(made)
    assert ask(index, made, "again executor") == ("index", False)
    assert len(list(tmp_path.glob("*.toc"))) == 1
    assert len(list(tmp_path.glob("*.pst"))) <= 8


# A first index


def test_first_index_serves_others_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "_COMMIT_SECONDS", 0.0)
    made, other = tree(200), FullTextIndex(tmp_path)
    seen: list[int] = []

    def look(done: int, _total: int) -> None:
        if done % 50 == 0:
            seen.append(other.state(live=made.live).documents)

    FullTextIndex(tmp_path, progress=look).refresh(made)
    assert seen == [50, 100, 150, 200]


def with_titles(made: Tree) -> Corpus:
    return Corpus(made.live, made.read, lambda keys: (replace(one, body="") for one in made.read(keys)))


def test_question_that_cannot_wait_finds_by_titles_what_is_not_yet_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "_COMMIT_SECONDS", 0.0)
    made = tree(200)
    index = FullTextIndex(tmp_path)
    found = index.search("entry199 150", with_titles(made), is_timed=True)
    # Its title has the number, and no entry 199 is indexed yet.
    assert [match.key for match in found.matches] == ["w/r/e150"]
    assert (found.degraded, found.why) == (
        True,
        "the index is being built, so other entries were found by their titles only",
    )
    index.refresh(made)
    assert {match.key for match in index.search("entry199 150", with_titles(made), is_timed=True).matches} == {
        "w/r/e150",
        "w/r/e199",
    }


@pytest.mark.usefixtures("impatient")
def test_what_another_process_indexes_is_found_by_its_titles(tmp_path: Path) -> None:
    made = tree(200)
    with locked(tmp_path / LOCK, wait=0):
        found = FullTextIndex(tmp_path).search("150", with_titles(made))
    assert ([match.key for match in found.matches], found.source, found.degraded) == (["w/r/e150"], "scan", True)


# What can be wrong


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "_WAIT", 0.0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("is_locked", [True, False], ids=["locked", "full"])
def test_search_answers_beside_the_index_when_many_changed_and_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_locked: bool
) -> None:
    made = tree(100)
    index = kept(made, tmp_path)
    made.put(*(numbered(number, extra="executor") for number in range(80)))

    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, locked(tmp_path / LOCK, wait=0) if is_locked else nullcontext():
        patch.setattr(os, "rename", os.rename if is_locked else full)
        assert ask(index, made) == ("index", True)
    assert ask(index, made) == ("index", False)


@pytest.mark.parametrize("end", [".toc", ".trm", ".pst", ".row.col", "._text_len.col"])
@pytest.mark.parametrize("left", [0.0, 0.5, 0.97])
def test_search_builds_anew_when_a_file_is_torn(tmp_path: Path, end: str, left: float) -> None:
    made = tree(30)
    kept(made, tmp_path)
    [torn] = tmp_path.glob(f"*{end}")
    os.truncate(torn, int(torn.stat().st_size * left))
    assert FullTextIndex(tmp_path).state(live=made.live).usable is False
    assert ask(FullTextIndex(tmp_path, persist=False), made) == ("scan", False)
    assert ask(FullTextIndex(tmp_path), made) == ("index", False)


def test_open_index_answers_when_its_files_are_gone(tmp_path: Path) -> None:
    made = tree(30)
    index = kept(made, tmp_path)
    ask(index, made)
    for path in tmp_path.glob("MAIN_*"):
        path.unlink()
    assert ask(index, made, "timeout executor") == ("index", False)


# Processes

PROCESS = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from store.index_builders import numbered, tree
from mdmem.store.index import IndexBusyError
from mdmem.store.index.fulltext import FullTextIndex
index, made = FullTextIndex(Path(sys.argv[2])), tree(60)
"""

KILLED = """
import whoosh.index, whoosh.writing
def die(*_a, **_k): os.kill(os.getpid(), signal.SIGKILL)
made.put(*(numbered(n, extra="killed") for n in range(10)))
step = sys.argv[3]
if step == "reading":
    index = FullTextIndex(Path(sys.argv[2]), progress=lambda done, total: done == 5 and die())
if step == "segment":
    whoosh.writing.SegmentWriter._commit_toc = die
if step == "toc":
    whoosh.index.clean_files = die
index.refresh(made)
"""

WRITING = """
for turn in range(8):
    made.put(*(numbered(n, extra=f"turn{turn}") for n in range(turn, 60, 8)))
    found = index.search("executor lock turn7", made)
    right = FullTextIndex(None).search("executor lock turn7", made)
    assert found.matches == right.matches, turn
"""


def process(code: str, folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    tests = str(Path(__file__).resolve().parents[1])
    return subprocess.Popen([sys.executable, "-c", PROCESS + code, tests, str(folder), *arguments])


@pytest.mark.parametrize("start", ["empty", "kept"])
@pytest.mark.parametrize("step", ["reading", "segment", "toc"])
def test_index_is_usable_when_a_writer_was_killed(tmp_path: Path, start: str, step: str) -> None:
    made = tree(60)
    if start == "kept":
        kept(made, tmp_path)
    assert process(KILLED, tmp_path, step).wait() == -9
    assert ask(FullTextIndex(tmp_path), made) == ("index", False)


def test_search_is_right_when_eight_processes_write_and_ask(tmp_path: Path) -> None:
    running = [process(WRITING, tmp_path) for _ in range(8)]
    assert [each.wait() for each in running] == [0] * 8
    assert ask(FullTextIndex(tmp_path), tree(60)) == ("index", False)
