"""Test that a question sees the current files, whatever happened to the index or was planted in its folder."""

import contextlib
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import Capture, commit_all, environment, git, made_once, memory, run_here, write, write_entry

from mdmem.store.index.fulltext import FOLDER, FullTextIndex
from mdmem.store.index.schema import checksum

from .index_builders import Planted, ask, kept, tree

ADDRESS = "nav/rules/crane"
CACHE = ".git/mdmem/cache/memory"
INDEX = f"{CACHE}/{FOLDER}"


class Asked:
    """Asks `search` and `retrieve` in one folder, and asserts that both have the same answer."""

    def __init__(self, capsys: Capture, folder: Path) -> None:
        self.capsys = capsys
        self.folder = folder

    def said(self, command: str) -> dict[str, Any]:
        ran = run_here(self.capsys, command, "crane", "--format", "json", cwd=self.folder)
        assert "fault of mdmem" not in ran.err
        answer: dict[str, Any] = json.loads(ran.out)
        return answer

    def titles(self) -> list[str]:
        """Return the titles of the entries that speak of cranes, by address."""
        hits, items = self.said("search")["hits"], self.said("retrieve")["items"]
        found = sorted((hit["address"], hit["title"]) for hit in hits)
        assert sorted((item["address"], item["title"]) for item in items if "crane" in item["address"]) == found
        return [title for _, title in found]


def write_crane(folder: Path, title: str, address: str = ADDRESS) -> Path:
    return write_entry(folder / "memory", address, f"The crane {title.lower()}.\n", title=title)


@made_once
def lifting(folder: Path) -> Path:
    memory(folder)
    # This test is about reading files, not about approval.
    write(folder, "memory/mdmem.toml", 'proposals = "count"\n')
    write_crane(folder, "Lifts")
    commit_all(folder, "Lifts")
    return folder


@pytest.fixture
def asked(tmp_path: Path, capsys: Capture) -> Asked:
    """Return a repository whose commit `Lifts` is indexed, and somebody to ask it."""
    who = Asked(capsys, lifting(tmp_path / "p"))
    assert who.titles() == ["Lifts"]
    return who


def crane(title: str, address: str = ADDRESS) -> Callable[[Path], object]:
    return lambda folder: write_crane(folder, title, address)


def run_git(*arguments: str) -> Callable[[Path], object]:
    return lambda folder: git(folder, *arguments)


def replaced_by_an_older_one(folder: Path) -> None:
    path = folder / f"memory/{ADDRESS}.md"
    other = path.with_name(".other")
    other.write_bytes(path.read_bytes().replace(b"Lifts", b"Drops").replace(b"lifts", b"drops"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


def changing_places(folder: Path) -> None:
    room = folder / "memory/nav/rules"
    for old, new in (("crane", "x"), ("second-crane", "crane"), ("x", "second-crane")):
        (room / f"{old}.md").rename(room / f"{new}.md")


SECOND, TOPIC = crane("Tilts", "nav/rules/second-crane"), run_git("checkout", "-q", "-b", "topic")
MAIN, BACK = run_git("checkout", "-q", "main"), run_git("checkout", "-q", "topic")
# What happens to the files, one after the other, and the titles that are found then.
CHANGES: dict[str, list[tuple[Callable[[Path], object], list[str]]]] = {
    "edited": [(crane("Swings far"), ["Swings far"])],
    "replaced by an older one of its size": [(replaced_by_an_older_one, ["Drops"])],
    "new": [(SECOND, ["Lifts", "Tilts"])],
    "gone": [(lambda folder: (folder / f"memory/{ADDRESS}.md").unlink(), [])],
    "in the place of another": [(SECOND, ["Lifts", "Tilts"]), (changing_places, ["Tilts", "Lifts"])],
    "checked out": [
        *[(TOPIC, ["Lifts"]), (crane("Drops"), ["Drops"]), (commit_all, ["Drops"])],
        *[(MAIN, ["Lifts"]), (BACK, ["Drops"]), (MAIN, ["Lifts"])],
    ],
    "rebased": [
        *[(TOPIC, ["Lifts"]), (SECOND, ["Lifts", "Tilts"]), (commit_all, ["Lifts", "Tilts"]), (MAIN, ["Lifts"])],
        *[(crane("Drops"), ["Drops"]), (commit_all, ["Drops"]), (BACK, ["Lifts", "Tilts"])],
        (run_git("rebase", "-q", "main"), ["Drops", "Tilts"]),
    ],
}


@pytest.mark.parametrize("change", CHANGES)
def test_file_is_found_as_it_is_when_it_was(change: str, asked: Asked) -> None:
    for act, found in CHANGES[change]:
        act(asked.folder)
        assert asked.titles() == found


@pytest.mark.parametrize("racy", [2_000_000_000, 0])
def test_edit_of_the_same_size_and_time_is_seen(racy: int, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without the margin the file is remembered at once, as one that lay untouched for a while is.
    monkeypatch.setattr("mdmem.store.catalog.load.RACY_NS", racy)
    path = asked.folder / f"memory/{ADDRESS}.md"
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert asked.titles() == ["Lifts"]
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Lifts", b"Drops").replace(b"lifts", b"drops"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert asked.titles() == ["Drops"]


def test_each_worktree_gets_its_own_answer(asked: Asked, tmp_path: Path) -> None:
    git(asked.folder, "worktree", "add", "-q", str(tmp_path / "second"))
    second = Asked(asked.capsys, tmp_path / "second")
    write_crane(second.folder, "Drops")
    for _ in range(2):
        assert (asked.titles(), second.titles()) == (["Lifts"], ["Drops"])


# What becomes of the index, and whether the answer that follows has to say so.


@contextlib.contextmanager
def held_lock(folder: Path) -> Iterator[None]:
    """Let another process hold the index's lock."""
    code = (
        "import sys, pathlib\nfrom mdmem.disk import locked\n"
        "with locked(pathlib.Path(sys.argv[1], 'lock'), wait=0):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    (folder / INDEX).mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", code, str(folder / INDEX)]
    with subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.communicate()


def as_answered(said: dict[str, Any]) -> tuple[bool, str]:
    return said["degraded"], said["source"]


def test_lock_that_another_process_holds_gives_the_same_answer_marked_degraded(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FullTextIndex.refresh.__kwdefaults__, "wait", 0.1)
    write_crane(folder, "Lifts")
    who = Asked(capsys, folder)
    with held_lock(folder):
        assert who.titles() == ["Lifts"]
        assert {as_answered(who.said(command)) for command in ("search", "retrieve")} == {(True, "scan")}
        text = run_here(capsys, "retrieve", "crane", cwd=folder).out
        assert text.startswith("Degraded: the index is being written")
        assert run_here(capsys, "index", cwd=folder).code == 3
    assert as_answered(who.said("search")) == (False, "index")


def test_lock_does_not_matter_where_the_index_is_up_to_date(asked: Asked) -> None:
    write_crane(asked.folder, "Drops")
    with held_lock(asked.folder):
        assert asked.titles() == ["Drops"]
        assert as_answered(asked.said("search")) == (False, "index")


def each(pattern: str, change: Callable[[Path], object]) -> Callable[[Path], object]:
    """Return what changes each file of the index that a pattern matches."""
    return lambda folder: [change(path) for path in (folder / INDEX).glob(pattern)]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "noise in the segment": each("MAIN_*.*", lambda path: path.write_bytes(os.urandom(path.stat().st_size))),
    "no segment": each("MAIN_*.*", Path.unlink),
    "no table": each("*.toc", Path.unlink),
    "no cache": lambda folder: shutil.rmtree(folder / ".git/mdmem"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_index_gives_the_same_answer_and_is_mended(damage: str, asked: Asked) -> None:
    DAMAGES[damage](asked.folder)
    assert run_here(asked.capsys, "status", cwd=asked.folder).code == 0
    with held_lock(asked.folder):
        assert asked.titles() == ["Lifts"]
        assert as_answered(asked.said("search")) == (True, "scan")
    assert asked.titles() == ["Lifts"]
    assert as_answered(asked.said("search")) == (False, "index")


def test_place_that_cannot_hold_an_index_gives_the_answer_marked_degraded(folder: Path, capsys: Capture) -> None:
    write_crane(folder, "Lifts")
    (folder / ".git/mdmem").write_text("in the way\n")
    who = Asked(capsys, folder)
    assert who.titles() == ["Lifts"]
    assert as_answered(who.said("search")) == (True, "scan")
    ran = run_here(capsys, "status", "--rebuild", cwd=folder)
    assert (ran.code, ran.err.count("the search index cannot be written: ")) == (3, 1)


def test_index_in_the_work_tree_is_never_read(asked: Asked) -> None:
    (asked.folder / INDEX).rename(asked.folder / "memory/.cache")
    commit_all(asked.folder)
    assert asked.titles() == ["Lifts"]
    assert list((asked.folder / INDEX).glob("*.toc"))


def test_planted_pickles_run_nothing(tmp_path: Path) -> None:
    """Replace each file of the index by a pickle, without and with a valid checksum."""
    made = tree(30)
    kept(tree(3), tmp_path / "index")
    for end in sorted(path.name[path.name.index(".") :] for path in (tmp_path / "index").glob("*.*")):
        for is_summed in (False, True):
            folder = tmp_path / f"index{end}{is_summed}"
            kept(made, folder)
            [file] = folder.glob(f"*{end}")
            content = pickle.dumps(Planted(tmp_path / "RAN"), 2)
            file.write_bytes(content + checksum(file.name, content) if is_summed else content)
            for index in (FullTextIndex(folder, persist=False), FullTextIndex(folder)):
                assert index.search("lock executor", made).matches
            if not is_summed:
                assert ask(FullTextIndex(folder), made) == ("index", False)
    assert not (tmp_path / "RAN").exists()


@pytest.mark.parametrize("held", ["segments", "block", "extras"])
def test_pickles_planted_inside_a_file_run_nothing(tmp_path: Path, held: str) -> None:
    """Put the pickle where Whoosh reads one, and write a valid checksum."""
    made, folder = tree(30), tmp_path / "index"
    kept(made, folder)
    [file] = folder.glob({"segments": "*.toc", "block": "*.pst", "extras": "*.trm"}[held])
    content, planted = file.read_bytes()[:-4], pickle.dumps(Planted(tmp_path / "RAN"), 2)
    starts = [at for at in range(len(content)) if content[at : at + 2] in (b"\x80\x02", b"\x80\x04", b"\x80\x05")]
    # Plant it in each gap with enough room; in the postings, these are the words of most documents.
    gaps = zip(starts, [*starts[1:], len(content) + len(planted)], strict=True)
    changed = content
    for at in [at for at, after in gaps if after - at > len(planted)]:
        changed = changed[:at] + planted + changed[at + len(planted) :]
    assert changed != content
    file.write_bytes(changed + checksum(file.name, changed))
    for index in (FullTextIndex(folder, persist=False), FullTextIndex(folder)):
        ask(index, made)
    assert not (tmp_path / "RAN").exists()
