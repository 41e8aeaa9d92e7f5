"""What whoever writes in the index's folder can do: nothing but make the next one write it anew."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from builders import environment, memory
from processes import python

from mdmem.index.fulltext import FullTextIndex
from mdmem.index.manifest import load

from .builders import Tree, tree

QUESTION = "lock executor"


def answered(index: FullTextIndex, made: Tree) -> str:
    """Return where the answer came from, which is the right one."""
    found = index.search(QUESTION, live=made.live, read=made.read)
    assert found.matches == FullTextIndex(None).search(QUESTION, live=made.live, read=made.read).matches != ()
    return found.source


@pytest.mark.parametrize("named", ["../../x", "/etc/x", "0123456789ABCDEF", "terms_0123456789abcdef", 7, None])
def test_manifest_names_no_segment_elsewhere(tmp_path: Path, named: object) -> None:
    made = tree(30)
    FullTextIndex(tmp_path).refresh(live=made.live, read=made.read)
    stored = json.loads((tmp_path / "index.json").read_text())
    stored["segments"] = [[named, 30]]
    (tmp_path / "index.json").write_text(json.dumps(stored))
    assert answered(FullTextIndex(tmp_path, persist=False), made) == "scan"
    assert answered(FullTextIndex(tmp_path), made) == "index"


@pytest.mark.parametrize(
    ("column", "value"),
    [("keys", ["x"]), ("digests", {}), ("lengths", {"body": []}), ("lengths", 0.5), ("lengths", -1)],
)
def test_manifest_holds_nothing_that_a_question_cannot_count_with(tmp_path: Path, column: str, value: object) -> None:
    made = tree(30)
    FullTextIndex(tmp_path).refresh(live=made.live, read=made.read)
    stored = json.loads((tmp_path / "index.json").read_text())
    changed = stored[column]["body"] if column == "lengths" else stored[column]
    changed[3] = value
    (tmp_path / "index.json").write_text(json.dumps(stored))
    assert answered(FullTextIndex(tmp_path, persist=False), made) == "scan"
    assert answered(FullTextIndex(tmp_path), made) == "index"


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
    FullTextIndex(tmp_path).refresh(live=made.live, read=made.read)
    stored = json.loads((tmp_path / "index.json").read_text())
    del stored["segments"]
    (tmp_path / "index.json").write_text(json.dumps(stored | {"format": 1}))
    assert answered(FullTextIndex(tmp_path), made) == "index"
    manifest = load(tmp_path)
    assert manifest is not None
    shutil.rmtree(tmp_path / manifest.generation)
    assert answered(FullTextIndex(tmp_path), made) == "index"
