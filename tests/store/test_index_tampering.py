"""What whoever writes in the index's folder can do: nothing but make the next one write it anew."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from builders import environment, memory

from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.index.schema import checksum

from .index_builders import ask, kept, tree

# What Whoosh's own pickles name.
ALLOWED = {
    *(("whoosh.codec.whoosh3", "W3Codec"), ("whoosh.codec.whoosh3", "W3Segment")),
    *(("collections", "defaultdict"), ("builtins", "int"), ("builtins", "set")),
}


class Planted:
    """Runs code where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def files_of(folder: Path) -> list[str]:
    kept(tree(3), folder)
    return sorted(path.name[path.name.index(".") :] for path in folder.iterdir() if "." in path.name)


def test_planted_pickles_run_nothing(tmp_path: Path) -> None:
    """Each file of the index gives way to a pickle, as it is and with the checksum that a file of ours has."""
    made = tree(30)
    for end in files_of(tmp_path / "index"):
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
    """Whoever knows the format puts the pickle where Whoosh reads one, and sums the file anew."""
    made, folder = tree(30), tmp_path / "index"
    kept(made, folder)
    [file] = folder.glob({"segments": "*.toc", "block": "*.pst", "extras": "*.trm"}[held])
    content, planted = file.read_bytes()[:-4], pickle.dumps(Planted(tmp_path / "RAN"), 2)
    starts = [at for at in range(len(content)) if content[at : at + 2] in (b"\x80\x02", b"\x80\x04", b"\x80\x05")]
    # Where there is room before the next one: in the postings, the words that most documents hold.
    gaps = zip(starts, [*starts[1:], len(content) + len(planted)], strict=True)
    changed = content
    for at in [at for at, after in gaps if after - at > len(planted)]:
        changed = changed[:at] + planted + changed[at + len(planted) :]
    assert changed != content
    file.write_bytes(changed + checksum(file.name, changed))
    for index in (FullTextIndex(folder, persist=False), FullTextIndex(folder)):
        ask(index, made)
    assert not (tmp_path / "RAN").exists()


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


def test_no_command_unpickles_what_an_index_has_no_use_for(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    command = [sys.executable, "-c", COMMANDS]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, check=True)
    named, ran = json.loads(done.stdout)
    assert [line for line in ran if line[1] > 1] == []
    assert {tuple(one) for one in named} <= ALLOWED


def test_file_in_the_place_of_another_is_damage(tmp_path: Path) -> None:
    made, folder = tree(30), tmp_path / "index"
    kept(made, folder)
    [keys], [lengths] = folder.glob("*.row.col"), folder.glob("*_text_len.col")
    keys.write_bytes(lengths.read_bytes())
    assert FullTextIndex(folder).state(live=made.live).usable is False
    assert ask(FullTextIndex(folder), made) == ("index", False)
