"""Real records, as their authors left them: what replaced a record answers in its stead."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from builders import environment, open_root

from mdmem.index.whoosh_index import WhooshIndex
from mdmem.retrieval.model import Question, Retrieved
from mdmem.retrieval.retrieve import retrieve
from mdmem.scope import Filters, resolve_scope
from mdmem.workspace.workspace import Workspace

SHARED = Path(__file__).resolve().parents[2] / "shared"
PEPS = SHARED / "corpora" / "peps.jsonl.gz"
CONVERTER = SHARED / "tools" / "corpus_to_wings.py"
pytestmark = pytest.mark.skipif(not (PEPS.exists() and CONVERTER.exists()), reason="the corpora are not here")

# The statuses of PEPs under which a record binds, and those under which it is only proposed.
IN_FORCE = {"Active", "Final", "Accepted", "Deferred"}
PROPOSED = {"Draft", "Provisional"}


def records() -> dict[str, dict[str, object]]:
    """Return the PEPs by id."""
    with gzip.open(PEPS, "rt", encoding="utf-8") as lines:
        return {record["id"]: record for record in map(json.loads, lines)}


def replaced() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield id, title and current successors of each PEP whose links, at either end, lead to a PEP in force."""
    peps = records()
    edges: dict[str, set[str]] = {}
    for name, record in peps.items():
        for old in record["replaces"]:
            edges.setdefault(old, set()).add(name)
        edges.setdefault(name, set()).update(record["superseded_by"])

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
    workspace = open_root(folder / "memory")
    vars(workspace)["index"] = WhooshIndex(folder / "text")
    return workspace


def ids(addresses: Iterator[str]) -> list[str]:
    """Return the entry-ids of addresses."""
    return [address.rsplit("/", 1)[1] for address in addresses]


def in_force(workspace: Workspace, question: Question) -> tuple[Retrieved, ...]:
    """Return the items of a retrieval before any budget."""
    scope = resolve_scope(workspace.catalog, workspace.settings, question.filters)
    ask = workspace._asker(question)
    return retrieve(workspace.catalog, scope, question, ask=ask, today=workspace.today).items


def test_enough_peps_were_replaced_to_show_something() -> None:
    assert len(list(replaced())) >= 30


def broken(check: Callable[[str, str, frozenset[str]], bool]) -> list[str]:
    """Return the replaced PEPs for which a check fails."""
    return [name for name, title, heads in replaced() if not check(name, title, heads)]


def test_search_with_the_title_of_a_replaced_pep_yields_what_replaced_it_alone(peps: Workspace) -> None:
    def is_right(name: str, title: str, heads: frozenset[str]) -> bool:
        found = ids(hit.entry.address for hit in peps.search(Question(words=title)).hits)
        return name not in found and heads <= set(found)

    assert broken(is_right) == []


def test_search_that_includes_what_ended_has_the_current_pep_before_the_old_one(peps: Workspace) -> None:
    def is_right(name: str, title: str, heads: frozenset[str]) -> bool:
        question = Question(words=title, filters=Filters(include_deprecated=True))
        found = ids(hit.entry.address for hit in peps.search(question).hits)
        return all(found.index(head) < found.index(name) for head in heads)

    assert broken(is_right) == []


def test_retrieve_with_the_title_of_a_replaced_pep_yields_what_replaced_it_alone(peps: Workspace) -> None:
    def is_right(name: str, title: str, heads: frozenset[str]) -> bool:
        items = in_force(peps, Question(words=title))
        found = ids(item.entry.address for item in items)
        via = {old for item in items for old in ids(iter(item.via)) if item.entry.address.rsplit("/", 1)[1] in heads}
        return name not in found and heads <= set(found) and name in via

    assert broken(is_right) == []


def test_retrieve_that_includes_what_ended_has_the_current_pep_before_the_old_one_of_its_type(peps: Workspace) -> None:
    def is_right(name: str, title: str, heads: frozenset[str]) -> bool:
        items = in_force(peps, Question(words=title, filters=Filters(include_deprecated=True)))
        found = ids(item.entry.address for item in items)
        old = items[found.index(name)]
        same = [head for head in heads if items[found.index(head)].entry.type is old.entry.type]
        return not old.current and all(found.index(head) < found.index(name) for head in same)

    assert broken(is_right) == []


def test_retrieve_within_the_default_budget_never_gives_the_replaced_pep(peps: Workspace) -> None:
    def is_right(name: str, title: str, heads: frozenset[str]) -> bool:
        pack = peps.retrieve(Question(words=title))
        found = ids(one.item.entry.address for one in pack.items)
        return name not in found and pack.tokens <= pack.budget

    assert broken(is_right) == []
