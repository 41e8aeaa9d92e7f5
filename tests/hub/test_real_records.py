"""Real records: a hub's copy puts them into the order of the clone."""

import random
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from builders import TODAY, commit_all, head, make_repository, open_root

from mdmem.ask.question import Question
from mdmem.ask.search import search
from mdmem.hub.connection import connected
from mdmem.hub.copy import open_copy
from mdmem.hub.push import PushRequest, push
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.workspace import Workspace

SHARED = Path(__file__).resolve().parents[3] / "shared"
CONVERTER = SHARED / "tools" / "corpus_to_wings.py"
pytestmark = [pytest.mark.long, pytest.mark.skipif(not CONVERTER.exists(), reason="the corpora are not here")]


@pytest.mark.parametrize("corpus", ["peps", "keps"])
def test_first_ten_are_those_of_the_clone(dsn: str, tmp_path: Path, corpus: str) -> None:
    folder = make_repository(tmp_path / corpus)
    records = SHARED / "corpora" / f"{corpus}.jsonl.gz"
    subprocess.run([sys.executable, CONVERTER, records, folder / "memory"], check=True, timeout=60, capture_output=True)
    commit_all(folder)
    clone = open_root(folder / "memory").at(Snapshot(revision=head(folder)))
    clone = clone.with_index(FullTextIndex(tmp_path / "index"))
    with connected(dsn) as connection:
        push(open_root(folder / "memory"), connection, PushRequest(repository=corpus))
        copy = open_copy(connection, corpus, environment={"HOME": str(tmp_path)}, today=date.fromisoformat(TODAY))
    asked = questions(clone, 100)
    assert [first_ten(copy, words) for words in asked] == [first_ten(clone, words) for words in asked]


def questions(clone: Workspace, count: int) -> list[str]:
    """Return own titles of entries, and some words of the bodies of others."""
    drawn = random.Random(1)
    entries = drawn.sample(list(clone.catalog.entries.values()), count)
    half = count // 2
    long = ([word for word in clone.catalog.body(one.address).split() if len(word) > 4] for one in entries[half:])
    return [one.title for one in entries[:half]] + [" ".join(drawn.sample(words, min(5, len(words)))) for words in long]


def first_ten(workspace: Workspace, words: str) -> list[str]:
    return [hit.entry.address for hit in search(workspace, Question(words=words)).hits[:10]]
