"""What whoever writes in the index's folder can make of its pickles: nothing but data."""

import builtins
import json
import os
import pickle
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import environment, memory
from processes import python
from whoosh.codec import whoosh3
from whoosh.filedb.structfile import StructFile

from mdmem.index.fulltext import WhooshIndex
from mdmem.index.manifest import load
from mdmem.index.storage import loads_plain as loads

from .builders import Tree, numbered, tree

QUESTION = "lock executor"


class Calls:
    """Pickles as a call of something."""

    def __init__(self, called: Callable[..., object], *arguments: object) -> None:
        self._call = called, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._call


def payloads(mark: Path) -> dict[str, object]:
    """Return what names something: to run a command, to evaluate, to reach further, to fill a class of Whoosh's."""
    return {
        "system": Calls(os.system, f"echo ran > {mark}"),
        "eval": Calls(builtins.eval, f"open({str(mark)!r}, 'w')"),
        "getattr": Calls(getattr, Calls(__import__, "os"), "system"),
        "class": whoosh3.W3Segment(whoosh3.W3Codec(), "../../../elsewhere"),
        "builtin": {"fieldmap": {"body": complex(1, 2)}},
    }


def hidden_in(place: str, monkeypatch: pytest.MonkeyPatch, payload: object) -> None:
    """Make Whoosh write the payload instead of one of its pickles."""
    hidden = pickle.dumps(payload, 2)
    if place == "extras":
        monkeypatch.setattr(StructFile, "write_pickle", lambda self, *_: self.file.write(hidden))
    elif place == "term":
        monkeypatch.setattr(whoosh3.W3TermInfo, "to_bytes", lambda _: bytes([1]).ljust(29, b"\0") + hidden)
    else:
        size = {"header": 6, "block": 3}[place]
        dumps: Any = lambda data, protocol: hidden if len(data) == size else pickle.dumps(data, protocol)  # noqa: E731
        monkeypatch.setattr(whoosh3, "dumps", dumps)


def doctored(place: str, monkeypatch: pytest.MonkeyPatch, folder: Path, payload: object) -> Tree:
    made = tree(30)
    with monkeypatch.context() as patch:
        hidden_in(place, patch, payload)
        WhooshIndex(folder).refresh(live=made.live, read=made.read)
    return made


def answered(index: WhooshIndex, made: Tree) -> str:
    """Return where the answer came from, which is the right one."""
    found = index.search(QUESTION, live=made.live, read=made.read)
    assert found.matches == WhooshIndex(None).search(QUESTION, live=made.live, read=made.read).matches != ()
    return found.source


PLACES = ["extras", "term", "header", "block"]


@pytest.mark.parametrize("named", ["system", "eval", "getattr", "class", "builtin"])
@pytest.mark.parametrize("place", PLACES)
def test_question_refuses_a_pickle_that_names_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, named: str
) -> None:
    mark, folder = tmp_path / "ran", tmp_path / "index"
    made = doctored(place, monkeypatch, folder, payloads(mark)[named])
    assert answered(WhooshIndex(folder, persist=False), made) == "scan"
    # The first that may write finds it, and it or the next writes anew.
    answered(WhooshIndex(folder), made)
    assert answered(WhooshIndex(folder), made) == "index"
    assert answered(WhooshIndex(folder, persist=False), made) == "index"
    assert not mark.exists()


@pytest.mark.parametrize("changed", [1, 12], ids=["beside it", "merged"])
@pytest.mark.parametrize("place", PLACES)
def test_writer_refuses_a_pickle_that_names_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, changed: int
) -> None:
    mark, folder = tmp_path / "ran", tmp_path / "index"
    made = doctored(place, monkeypatch, folder, payloads(mark)["system"])
    made.put(*(numbered(number, extra="again") for number in range(changed)))
    index = WhooshIndex(folder)
    assert index.state(live=made.live).stale == changed
    # A merge reads every posting, so that the writer finds all; what it only links, the first question finds.
    rebuilt = index.refresh(live=made.live, read=made.read).rebuilt
    assert rebuilt or (changed == 1 and place != "extras")
    answered(index, made)
    assert answered(WhooshIndex(folder), made) == "index"
    assert not mark.exists()


def test_table_of_contents_is_neither_written_nor_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "ran"
    made, folder = tree(30), tmp_path / "index"
    WhooshIndex(folder).refresh(live=made.live, read=made.read)
    assert list(folder.rglob("*.toc")) == []
    [generation] = folder.glob("generation-*")
    (generation / "_MAIN_1.toc").write_bytes(pickle.dumps(payloads(mark)["system"]))
    assert answered(WhooshIndex(folder), made) == "index"
    made.put(numbered(1, extra="again"))
    WhooshIndex(folder).refresh(live=made.live, read=made.read)
    assert answered(WhooshIndex(folder), made) == "index"
    assert not mark.exists()


@pytest.mark.parametrize("named", ["../../x", "/etc/x", "0123456789ABCDEF", "terms_0123456789abcdef", 7, None])
def test_manifest_names_no_segment_elsewhere(tmp_path: Path, named: object) -> None:
    made = tree(30)
    WhooshIndex(tmp_path).refresh(live=made.live, read=made.read)
    stored = json.loads((tmp_path / "index.json").read_text())
    stored["segments"] = [[named, 30]]
    (tmp_path / "index.json").write_text(json.dumps(stored))
    assert answered(WhooshIndex(tmp_path, persist=False), made) == "scan"
    assert answered(WhooshIndex(tmp_path), made) == "index"


@pytest.mark.parametrize(
    ("column", "value"),
    [("keys", ["x"]), ("digests", {}), ("lengths", {"body": []}), ("lengths", 0.5), ("lengths", -1)],
)
def test_manifest_holds_nothing_that_a_question_cannot_count_with(tmp_path: Path, column: str, value: object) -> None:
    made = tree(30)
    WhooshIndex(tmp_path).refresh(live=made.live, read=made.read)
    stored = json.loads((tmp_path / "index.json").read_text())
    changed = stored[column]["body"] if column == "lengths" else stored[column]
    changed[3] = value
    (tmp_path / "index.json").write_text(json.dumps(stored))
    assert answered(WhooshIndex(tmp_path, persist=False), made) == "scan"
    assert answered(WhooshIndex(tmp_path), made) == "index"


@pytest.mark.parametrize(
    "data",
    [
        ((0.5,), None, None),
        ((99,), None, None),
        ((-1,), None, None),
        (("a",), None, None),
        ((), None, None),
        ((0,), (float("nan"),), None),
        ((0,), ("a",), None),
        ((0,), (-1.0,), None),
    ],
)
def test_block_holds_nothing_that_a_question_cannot_count_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: object
) -> None:
    made = tree(1)
    with monkeypatch.context() as patch:
        dumps: Any = lambda said, protocol: pickle.dumps(data if len(said) == 3 else said, protocol)  # noqa: E731
        patch.setattr(whoosh3, "dumps", dumps)
        WhooshIndex(tmp_path).refresh(live=made.live, read=made.read)
    found = WhooshIndex(tmp_path, persist=False).search("entry0", live=made.live, read=made.read)
    assert (found.source, len(found.matches)) == ("scan", 1)


def test_block_of_a_gigabyte_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tree(1)
    with monkeypatch.context() as patch:
        dumps: Any = lambda said, protocol: bytes(1 << 20) if len(said) == 3 else pickle.dumps(said, protocol)  # noqa: E731
        patch.setattr(whoosh3, "dumps", dumps)
        WhooshIndex(tmp_path).refresh(live=made.live, read=made.read)
    found = WhooshIndex(tmp_path, persist=False).search("entry0", live=made.live, read=made.read)
    assert found.why is None or "larger than any block" in found.why
    assert found.source == "scan"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_pickles_are_numbers_and_texts_of_any_protocol(protocol: int) -> None:
    data = (1, 2.5, "a", None, {"b": [True]})
    assert loads(pickle.dumps(data, protocol)) == data
    with pytest.raises(pickle.UnpicklingError, match=r"names `.*system`"):
        loads(pickle.dumps(Calls(os.system, "true"), protocol))


COMMANDS = """
import contextlib, io, json, sys
from pathlib import Path
named, ran = [], []
def hook(event, arguments):
    if event == "pickle.find_class":
        named.append(arguments)
sys.addaudithook(hook)
from mdmem.cli.main import run
DECISION = ["new", "decision", "nav/rules/queue", "--title", "Queue requests", "--body", "A. Rationale: b."]
LINES = [
    ["index"], ["search", "threads"], ["retrieve", "threads"], ["context", "use threads"], ["list"],
    ["show", "nav/architecture/threads"], ["status"], ["check"], ["why", "nav/architecture/threads"], DECISION,
    ["index"], ["search", "queue"], ["supersede", "nav/architecture/threads", "--title", "T", "--reason", "r", "--body",
    "x. Rationale: y."], ["verify", "nav/rules/callbacks"], ["mv", "nav/rules/queue", "nav/rules/line"],
    ["deprecate", "nav/rules/line", "--reason", "r"], ["search", "--query-syntax", "thr*"], ["diff"], ["hygiene"],
    ["log", "nav/architecture/threads"], ["blame", "nav/architecture/threads"], ["index", "--rebuild"],
]
for line in LINES:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        ran.append((line[0], run(line)))
print(json.dumps([named, ran]))
"""


def test_no_command_unpickles_a_class(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    command = [python(), "-c", COMMANDS]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=True)
    named, ran = json.loads(done.stdout)
    assert [line for line in ran if line[1] > 1] == []
    assert named == []


def test_index_of_before_is_written_anew(tmp_path: Path) -> None:
    made = tree(30)
    WhooshIndex(tmp_path).refresh(live=made.live, read=made.read)
    stored = json.loads((tmp_path / "index.json").read_text())
    del stored["segments"]
    (tmp_path / "index.json").write_text(json.dumps(stored | {"format": 1}))
    assert answered(WhooshIndex(tmp_path), made) == "index"
    manifest = load(tmp_path)
    assert manifest is not None
    shutil.rmtree(tmp_path / manifest.generation)
    assert answered(WhooshIndex(tmp_path), made) == "index"
