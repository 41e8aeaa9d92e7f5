"""Test the full-text index: up to date, usable after a crash, the same answers in each way, query language."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from bench.index_quality import CORPORA, cranfield_documents, cranfield_questions, measure, scan
from golden import read_rows
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mdmem.disk import locked
from mdmem.store.index import Corpus, IndexDocument, QuerySyntaxError, TextAnswer, fulltext
from mdmem.store.index.fulltext import LOCK, FullTextIndex

from .index_builders import WORDS, Tree, ask, document, kept, numbered, tree


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
    made, other = tree(40), FullTextIndex(tmp_path)
    seen: list[int] = []

    def look(done: int, _total: int) -> None:
        if done % 10 == 0:
            seen.append(other.state(live=made.live).documents)

    FullTextIndex(tmp_path, progress=look).refresh(made)
    assert seen == [10, 20, 30, 40]


def with_titles(made: Tree) -> Corpus:
    return Corpus(made.live, made.read, lambda keys: (replace(one, body="") for one in made.read(keys)))


def test_question_that_cannot_wait_finds_by_titles_what_is_not_yet_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "_COMMIT_SECONDS", 0.0)
    made = tree(80)
    index = FullTextIndex(tmp_path)
    found = index.search("entry79 50", with_titles(made), is_timed=True)
    # Its title has the number, and no entry 79 is indexed yet.
    assert [match.key for match in found.matches] == ["w/r/e50"]
    assert (found.degraded, found.why) == (
        True,
        "the index is being built, so other entries were found by their titles only",
    )
    index.refresh(made)
    found = index.search("entry79 50", with_titles(made), is_timed=True)
    assert {match.key for match in found.matches} == {"w/r/e50", "w/r/e79"}


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
@pytest.mark.parametrize("left", [0.0, 0.5, 0.97, None])
def test_search_builds_anew_when_a_file_is_torn_or_another_is_in_its_place(
    tmp_path: Path, end: str, left: float | None
) -> None:
    made = tree(30)
    kept(made, tmp_path)
    [torn] = tmp_path.glob(f"*{end}")
    if left is None:
        others = (path for path in tmp_path.glob("MAIN_*") if path != torn)
        torn.write_bytes(min(others, key=lambda path: path.suffix != torn.suffix).read_bytes())
    else:
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


Way = Callable[[Tree, Path], FullTextIndex]


def read_anew(_made: Tree, _folder: Path) -> FullTextIndex:
    """Never keep anything."""
    return FullTextIndex(None)


def index(made: Tree, folder: Path) -> FullTextIndex:
    """Update the index of the tree."""
    kept = FullTextIndex(folder)
    kept.refresh(made)
    return kept


def beside(made: Tree, folder: Path) -> FullTextIndex:
    """Hold another state of the tree: some documents other, or longer, some not yet there, some not any more."""
    keys = sorted(made.live)
    old = Tree(*made.read(keys))
    old.drop(*keys[::5])
    passages = "".join(f"# Queue {number}\n\n{'executor ' * 120}\n" for number in range(3))
    old.put(*(document(key, passages) for key in keys[1::4]))
    old.put(*(document(f"w/gone/e{number}", "executor lock thread retry") for number in range(9)))
    kept = index(old, folder)
    # They stand behind those that follow by key.
    old.put(*(document(key, "executor executor queue") for key in keys[2::8]))
    kept.refresh(old)
    return kept


def segments(made: Tree, folder: Path) -> FullTextIndex:
    """Hold the tree in several segments, with dead documents in them."""
    keys = sorted(made.live)
    kept = beside(made, folder)
    for end in range(0, len(keys), max(1, len(keys) // 4)):
        part = Tree(*made.read(keys[:end]), *(numbered(number) for number in range(end, end + 3)))
        kept.refresh(part)
    kept.refresh(made)
    return kept


WAYS = [read_anew, index, beside, segments]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


FAR = f"queue {'lock ' * 248}retry {'lock ' * 50}"
NEAR = f"{'lock ' * 100}queue {'lock ' * 40}retry {'lock ' * 158}"


@pytest.mark.parametrize(
    ("question", "documents", "order"),
    [
        (
            "executor",
            [document("w/r/a", "the executor", title="One"), document("w/r/b", "two", title="The executor")],
            "ba",
        ),
        # Equal scores leave the order to the keys.
        ("lock", [document(f"w/r/{name}", "lock", title="x") for name in "cab"], "abc"),
        # Words of a subject tell more than those that occur with any.
        ("build queue", [document("w/r/a", "They build it."), document("w/r/b", "They queue it.")], "ba"),
        # Two words in one passage score higher, wherever the passage begins.
        ("queue retry", [document("w/r/a", FAR), document("w/r/b", NEAR)], "ba"),
    ],
    ids=["title", "key", "subject", "passage"],
)
def test_search_ranks(way: Way, tmp_path: Path, question: str, documents: list[IndexDocument], order: str) -> None:
    made = Tree(*documents)
    found = way(made, tmp_path).search(question, made)
    assert [match.key for match in found.matches] == [f"w/r/{name}" for name in order]


def test_search_keeps_scores_when_only_some_may_match(way: Way, tmp_path: Path) -> None:
    made = tree(40)
    kept = way(made, tmp_path)
    among = {f"w/r/e{number}" for number in range(0, 40, 3)}
    every = kept.search("executor lock", made).matches
    some = kept.search("executor lock", made, among=among).matches
    assert some == [match for match in every if match.key in among] != []


@pytest.mark.parametrize(
    "question", ["", "the of", '"', "*", "AND", "id:x (", "C++", "🎉", "\x00\ud800", "lock " * 1000]
)
def test_search_does_not_raise_when_question_is_anything(way: Way, tmp_path: Path, question: str) -> None:
    made = tree(12)
    found = way(made, tmp_path).search(question, made)
    assert bool(found.matches) == ("lock" in question)


QUESTIONS = [
    ("executor lock nowhere", False),
    ("run_executor.py", False),
    ("Entry7 Entry8 merge", False),
    ("title:executor OR text:retry^3", True),
    ("lock AND NOT queue", True),
    ('"about executor" OR "queue lock"~3', True),
    ("nav* exec* created:[2026-03-05 TO 2026-03-11]", True),
    ("tags:lock type:decision", True),
]


@pytest.mark.parametrize(("question", "syntax"), QUESTIONS)
def test_search_gives_equal_bits_when_asked_in_each_way(tmp_path: Path, question: str, syntax: bool) -> None:
    made = tree(60)
    answers = [each(made, tmp_path / each.__name__).search(question, made, syntax=syntax) for each in WAYS]
    assert answers[0].matches
    assert [answer.matches for answer in answers[1:]] == [answers[0].matches] * 3
    assert [answer.source for answer in answers] == ["scan", "index", "index", "index"]


TEXTS = st.lists(st.sampled_from([*WORDS, "snake_case", "CamelCase", "猫が好き", "the", "C++"]), max_size=12).map(
    " ".join
)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Tree, Tree, str]:
    """Return the tree that is held, the tree that is asked, and a question."""
    before = draw(st.dictionaries(st.integers(0, 9), TEXTS, max_size=8))
    after = before | draw(st.dictionaries(st.integers(0, 9), TEXTS, min_size=1, max_size=4))
    for gone in draw(st.lists(st.sampled_from(sorted(before)), max_size=3)) if before else []:
        after.pop(gone, None)
    held, asked = (
        Tree(*(document(f"w/r/e{number}", text, title=text[:20]) for number, text in texts.items()))
        for texts in (before, after)
    )
    return held, asked, draw(TEXTS)


@given(trees())
def test_search_agrees_with_a_scan_when_trees_are_anything(case: tuple[Tree, Tree, str]) -> None:
    held, asked, question = case

    def answer(kept: FullTextIndex) -> TextAnswer:
        return kept.search(question, asked)

    with TemporaryDirectory() as folder:
        kept = index(held, Path(folder))
        expected = answer(FullTextIndex(None)).matches
        assert answer(kept).matches == expected
        kept.refresh(asked)
        assert answer(kept).matches == expected


TREE = Tree(
    document("ros2/rooms/a", "# Single thread\n\nThe navigation stack uses a queue.", title="Executor", owner="Team A"),
    document("ros2/rooms/b", "A queue of the stack in nav_main.py", title="Lock", tags=("local-override",)),
    document("web/pages/c", "The stack", status="draft", created_at="2026-03-31T10:00:00+02:00", focus="Build"),
    document("web/pages/d", "navigable", type="note", created_at="2026-04-01", verified_at="2026-05-01"),
)


def keys(question: str) -> str:
    found = FullTextIndex(None).search(question, TREE, syntax=True)
    return "".join(sorted(match.key[-1] for match in found.matches))


@pytest.mark.parametrize(("question", "expected"), read_rows("index/query_language.txt"))
def test_search_reads_the_language_when_asked_to(question: str, expected: str) -> None:
    assert (keys(question) or "nothing") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("colour:red", "`colour` before `:` is not a field; the fields are title, "),
        *((asked, 'each `"` and each bracket needs its partner') for asked in ('"open', "(open", "shut)", ")x(")),
        ("(" * 60 + "x" + ")" * 60, 'each `"` and each bracket needs its partner, and brackets may be 50 levels deep'),
        ("a" * 4001, "the query has more than 4000 characters; shorten it"),
    ],
)
def test_search_says_what_was_expected_when_question_cannot_be_read(question: str, expected: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        keys(question)
    assert str(caught.value).startswith(expected)


def test_search_reports_terms_when_question_is_in_the_language() -> None:
    found = FullTextIndex(None).search("type:decision AND (Queues OR nav*) NOT lock", TREE, syntax=True)
    assert found.terms == ("queue", "nav*")
    assert found.words["queue"] == "Queues"


def test_search_weighs_when_a_word_is_boosted() -> None:
    def best(question: str) -> str:
        return FullTextIndex(None).search(question, TREE, syntax=True).matches[0].key

    assert best("lock^9 executor") == "ros2/rooms/b"
    assert best("lock executor^9") == "ros2/rooms/a"


@given(st.text(alphabet="ab*?~^:\"()[]{}<>= +-\\/.'#ANDORT2é", max_size=25))
def test_search_answers_or_explains_when_question_is_anything(question: str) -> None:
    with suppress(QuerySyntaxError):
        keys(question)


@pytest.mark.long
@pytest.mark.skipif(not (CORPORA / "cranfield").is_dir(), reason="the corpora are not here")
def test_search_finds_what_is_relevant_when_questions_are_cranfields() -> None:
    found = measure(scan(cranfield_documents()), cranfield_questions())
    assert found["ndcg"] >= 0.395
    assert found["recall"] >= 0.40
