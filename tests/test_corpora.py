"""Test real records: the successor of a record answers for it, and a change of one field changes no other byte."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from builders import TODAY, environment, open_root, run_mdmem, write

from mdmem.ask.answer import Item, Question
from mdmem.ask.retrieve import retrieve, retrieve_in
from mdmem.ask.search import search
from mdmem.errors import MdmemError
from mdmem.model.entry import Status
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.lifecycle import plan_deprecation

SHARED = Path(__file__).resolve().parents[2] / "shared"
PEPS = SHARED / "corpora" / "peps.jsonl.gz"
KEPS = PEPS.with_name("keps.jsonl.gz")
CONVERTER = SHARED / "tools" / "corpus_to_wings.py"
BENCH = Path(__file__).parent / "bench"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (PEPS.exists() and CONVERTER.exists()), reason="the corpora are not here"),
]

# A broken edge gives only one finding, so its code may differ from that of the independent reader.
EDGE_CODES = {"supersession-one-sided", "two-successors", "superseded-but-active"}

# The statuses of PEPs under which a record binds, and those under which it is only proposed.
IN_FORCE = {"Active", "Final", "Accepted", "Deferred"}
PROPOSED = {"Draft", "Provisional"}


def records() -> dict[str, dict[str, object]]:
    """Return the PEPs by id."""
    with gzip.open(PEPS, "rt", encoding="utf-8") as lines:
        return {record["id"]: record for record in map(json.loads, lines)}


def claims() -> dict[str, set[str]]:
    """Return, by id, the PEPs that state that they replace a PEP."""
    peps = records()
    found: dict[str, set[str]] = {}
    for name, record in peps.items():
        for old in record["replaces"]:
            if old in peps:
                found.setdefault(old, set()).add(name)
    return found


def replaced() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield id, title and current successors of each PEP with a chain to a PEP in force.

    The successors are those that the PEP lists. If it lists none and is not in force, they are the PEPs that list it.
    """
    peps = records()
    edges = {name: set(record["superseded_by"]) for name, record in peps.items()}
    for old, names in claims().items():
        if not edges[old] and peps[old]["status"] not in IN_FORCE:
            edges[old] = names

    @cache
    def ends(name: str) -> frozenset[str]:
        known = [new for new in edges.get(name, ()) if new in peps and peps[new]["status"] not in PROPOSED]
        beyond = frozenset[str]().union(*map(ends, known))
        return beyond or (frozenset({name}) if peps[name]["status"] in IN_FORCE else frozenset())

    for name, record in peps.items():
        if ends(name) - {name}:
            yield name, str(record["title"]), ends(name)


@pytest.fixture(scope="module")
def peps(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return the workspace of all PEPs with an index that is built once."""
    folder = tmp_path_factory.mktemp("peps")
    command = [sys.executable, str(CONVERTER), str(PEPS), str(folder / "memory")]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    return open_root(folder / "memory").with_index(FullTextIndex(folder / "text"))


def ids(addresses: Iterator[str]) -> list[str]:
    """Return the entry-ids of addresses."""
    return [address.rsplit("/", 1)[1] for address in addresses]


def in_force(workspace: Workspace, question: Question) -> tuple[Item, ...]:
    """Return the items of a retrieval before any budget."""
    scope = resolve_scope(workspace.catalog, workspace.settings, question.filters)
    answer = retrieve_in(workspace, scope, question)
    return tuple(map(answer.describe, answer.items))


def broken(check: Callable[[str, str, frozenset[str]], bool]) -> list[str]:
    """Return the replaced PEPs for which a check fails."""
    found = list(replaced())
    assert len(found) >= 30, "enough to show something"
    return [name for name, title, heads in found if not check(name, title, heads)]


@pytest.mark.parametrize("ended", [False, True])
def test_search_with_the_title_of_a_replaced_pep_yields_what_replaced_it_alone_or_first(
    ended: bool, peps: Workspace
) -> None:
    def is_right(name: str, title: str, heads: frozenset[str]) -> bool:
        question = Question(words=title, filters=Filters(include_deprecated=ended))
        found = ids(hit.entry.address for hit in search(peps, question).hits)
        before = found[: found.index(name)] if ended else found
        return heads <= set(before) and name not in before

    assert broken(is_right) == []


def test_pep_in_force_that_another_claims_alone_is_shown_with_its_claimant(peps: Workspace) -> None:
    known = records()
    claimed = [old for old in claims() if known[old]["status"] in IN_FORCE and not known[old]["superseded_by"]]
    assert len(claimed) >= 4
    for old in claimed:
        items = {
            item.entry.address.rsplit("/", 1)[1]: item for item in in_force(peps, Question(words=known[old]["title"]))
        }
        assert set(ids(iter(items[old].relations.get("claimed_by", ())))) == {
            one for one in claims()[old] if known[one]["status"] in IN_FORCE
        }
        assert items.keys() >= set(ids(iter(items[old].relations.get("claimed_by", ()))))


def test_retrieve_with_the_title_of_a_replaced_pep_yields_what_replaced_it_alone(peps: Workspace) -> None:
    def is_right(name: str, title: str, heads: frozenset[str]) -> bool:
        items = in_force(peps, Question(words=title))
        found = ids(item.entry.address for item in items)
        via = {old for item in items for old in ids(iter(item.via)) if item.entry.address.rsplit("/", 1)[1] in heads}
        (answer,) = retrieve(peps, Question(words=title)).all
        within = name not in ids(one.address for one in answer.items) and answer.tokens <= answer.budget
        return name not in found and heads <= set(found) and name in via and within

    assert broken(is_right) == []


def python(*arguments: object, cwd: Path) -> str:
    """Return what a Python program prints."""
    command = [sys.executable, *map(str, arguments)]
    ours = environment(PYTHONPATH=str(BENCH.parents[1]))
    return subprocess.run(command, cwd=cwd, env=ours, check=True, capture_output=True, encoding="utf-8").stdout


@dataclass(frozen=True)
class Judged:
    """What two readers say of one corpus: (code, path) and the other end of a link, as a path where there is one."""

    found: frozenset[tuple[str, str, str]]
    errors: frozenset[tuple[str, str]]
    faults: frozenset[tuple[str, str, str]]

    def is_found(self, code: str, path: str, other: str) -> bool:
        """Say whether `check` speaks of a fault: at its file or, for an edge, with one of its codes at either end."""
        ends = {path, f"{other}.md"}
        if code not in EDGE_CODES:
            return any((code, path) == (one, where) for one, where, _ in self.found)
        said = ((one, to) for one, where, to in self.found if one in EDGE_CODES and where in ends)
        return any(one != "supersession-one-sided" or to in ends for one, to in said)

    def hides_more(self, address: str) -> bool:
        """Say whether a file has a fault that hides what else it says: an unknown status, a link that leads nowhere."""
        hiding = {"invalid-value", "template-leftover", "dangling-link"}
        return any(code in hiding and path == f"{address}.md" for code, path, _ in self.faults)


@pytest.fixture(scope="module", params=[PEPS, KEPS], ids=["peps", "keps"])
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Return what `check` and the independent reader find in one corpus."""
    root = tmp_path_factory.mktemp("judged") / "memory"
    python(CONVERTER, request.param, root, cwd=root.parent)
    said = json.loads(run_mdmem("check", "--format", "json", "--verbose", cwd=root).stdout)["findings"]
    listed = python(BENCH / "independent_faults.py", root, cwd=root).splitlines()
    return Judged(
        frozenset((one["code"], one["path"], (one["other"] or {"path": ""})["path"]) for one in said),
        frozenset((one["code"], one["path"]) for one in said if one["severity"] == "error"),
        frozenset((*line.split(" ", 2), "")[:3] for line in listed),  # type: ignore[misc]
    )


def test_check_finds_every_fault_that_a_reader_of_its_own_finds(judged: Judged) -> None:
    missed = {fault for fault in judged.faults if fault[0] != "turned-down" and not judged.is_found(*fault)}
    hidden = {fault for fault in missed if any(map(judged.hides_more, (fault[1].removesuffix(".md"), fault[2])))}
    assert len(judged.faults) >= 35
    assert missed - hidden == set()
    assert len(hidden) <= 1


def test_every_error_of_check_is_a_fault_for_a_reader_of_its_own(judged: Judged) -> None:
    # A record with its own reason for its end may never have replaced the record that it lists.
    doubtful = {("supersession-one-sided", path) for code, path, _ in judged.faults if code == "turned-down"}
    assert judged.errors - {(code, path) for code, path, _ in judged.faults} - doubtful == set()
    assert len(judged.errors) >= 30


def test_retrieve_that_includes_what_ended_has_the_current_pep_before_the_old_one_of_its_type(peps: Workspace) -> None:
    def is_right(name: str, title: str, heads: frozenset[str]) -> bool:
        items = in_force(peps, Question(words=title, filters=Filters(include_deprecated=True)))
        found = ids(item.entry.address for item in items)
        old = items[found.index(name)]
        same = [head for head in heads if items[found.index(head)].entry.type is old.entry.type]
        return not old.current and all(found.index(head) < found.index(name) for head in same)

    assert broken(is_right) == []


LINE_ENDS = (b"\n", b"\r\n", b"\n")


def as_people_leave_files(path: Path, turn: int) -> None:
    """Rewrite a file with comments, and every third one with CRLF, every third with a BOM and no final newline."""
    content = re.sub(rb"\n(status: \w+)\n", rb"\n# agreed on\n\1   # for now\n", path.read_bytes(), count=1)
    content = content.replace(b"\r\n", b"\n").replace(b"\n", LINE_ENDS[turn % 3])
    path.write_bytes(b"\xef\xbb\xbf" + content.rstrip(b"\n") if turn % 3 == 2 else content)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the root of all PEPs and all KEPs, in three kinds of bytes."""
    folder = tmp_path_factory.mktemp("corpora") / "memory"
    for corpus in (PEPS, KEPS):
        subprocess.run([sys.executable, str(CONVERTER), corpus, folder], env=environment(), check=True)
    write(folder, "mdmem.toml")
    for turn, path in enumerate(sorted(folder.glob("*/*/*.md"))):
        as_people_leave_files(path, turn)
    return folder


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.glob("*/*/*.md"))}


def without(content: bytes, *lines: str) -> bytes:
    """Return a content without some lines, and assert that it has each of them once."""
    for line in lines:
        whole = line.encode() + (b"\r\n" if b"\r\n" in content else b"\n")
        assert content.count(whole) == 1
        content = content.replace(whole, b"")
    return content


def test_verify_adds_one_line_to_each_of_a_thousand_records(root: Path) -> None:
    before = contents(root)
    done = run_mdmem("verify", "peps/", "keps/", cwd=root)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    after = contents(root)
    for path, content in before.items():
        write(root, path, content)
    changed = [path for path in before if before[path] != after[path]]
    assert before.keys() == after.keys()
    assert len(changed) >= 1000
    for path in changed:
        # The end of a review is a part of verifying.
        was = b"under_review" if b"status: under_review" in before[path] else b"active"
        kept = without(after[path], f"verified_at: {TODAY}").replace(b"status: active", b"status: " + was, 1)
        assert kept == before[path], path


def endings(root: Path) -> Iterator[tuple[bytes, bytes, Status]]:
    """Yield the bytes before and after the end of each record that can end, and its status until then."""
    workspace = open_root(root)
    for address, entry in workspace.catalog.entries.items():
        try:
            (change,) = plan_deprecation(workspace, address, reason="Nobody uses it.").changes
        except MdmemError:
            continue
        assert change.before is not None
        assert change.after is not None
        yield change.before, change.after, entry.status


def test_deprecate_changes_one_line_and_adds_two_in_each_of_a_thousand_records(root: Path) -> None:
    found = list(endings(root))
    assert len(found) >= 1000
    for before, after, status in found:
        added = (f"deprecated_at: {TODAY}", "deprecated_reason: Nobody uses it.")
        kept = without(after, *added).replace(b"status: deprecated", f"status: {status}".encode(), 1)
        assert kept == before
