"""How far something binding covers a question: right are own titles, wrong are questions from another field.

Two collections: PEPs and KEPs. Put to each are the titles of its own decisions in force, the same wrapped in general
words, and Cranfield's questions about aerodynamics, whole and cut to a few words.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from builders import open_root

from mdmem.ask.coverage import FULL_SHARE, PARTIAL_SHARE, Hold, TermWeights, coverage_by, holds
from mdmem.ask.question import Coverage, Question
from mdmem.ask.select import Selection
from mdmem.model.entry import EntryType
from mdmem.store.index.analysis import ask
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.settings import Settings
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace

SHARED = Path(__file__).resolve().parents[3] / "shared"
FULL = (0.4, 0.5, 0.6, 0.67)
PARTIAL = (0.1, 0.15, 0.2, 0.3)


def make_root(folder: Path, name: str) -> Workspace:
    """Return a corpus as a memory with an index."""
    converter, corpus = SHARED / "tools" / "corpus_to_wings.py", SHARED / "corpora" / f"{name}.jsonl.gz"
    subprocess.run([sys.executable, converter, corpus, folder / "memory"], check=True, capture_output=True)
    return open_root(folder / "memory").with_index(FullTextIndex(folder / "text"))


def first_terms(question: str, number: int) -> str:
    """Return the first words of a question that are searched for."""
    return " ".join(list(ask(question).typed.values())[:number])


def questions(workspace: Workspace) -> Iterator[tuple[str, list[str]]]:
    """Yield each kind of question with its questions."""
    catalog = workspace.catalog
    titles = [
        entry.title
        for entry in catalog.entries.values()
        if entry.type.rank <= EntryType.DECISION.rank and catalog.lineage.is_current(entry.address)
    ]
    yield "own titles", titles
    yield "explain general TITLE behavior", [f"explain general {title} behavior" for title in titles]
    subjects = [first_terms(title, 2) for title in titles]
    yield "explain general TWO WORDS behavior", [f"explain general {words} behavior" for words in subjects]
    lines = (SHARED / "corpora" / "cranfield" / "queries.jsonl").read_text().splitlines()
    foreign = [json.loads(line)["text"] for line in lines]
    yield "foreign, whole", foreign
    for number in (6, 4, 3):
        yield f"foreign, {number} words", [first_terms(one, number) for one in foreign]


def answered(workspace: Workspace, words: str) -> tuple[TermWeights, list[Hold]]:
    """Return how the words of a question weigh, and what the sections of the best current decisions hold of them."""
    catalog, question = workspace.catalog, Question(words=words)
    scope = resolve_scope(catalog, Settings(), Filters())
    answer = workspace.index.search(words, live=catalog.digests, read=workspace.texts, among=frozenset(catalog.entries))
    selection = Selection(catalog, scope, question, answer, workspace.today)
    texts = selection.texts(selection.ranks().where(lambda kind: kind.binds and kind.type.is_rule))
    return selection.weights, list(holds(texts))


def rate(
    answers: list[tuple[TermWeights, list[Hold]]],
    wanted: Coverage,
    *,
    full: float = FULL_SHARE,
    partial: float = PARTIAL_SHARE,
) -> str:
    """Return how many questions are covered so far, in percent."""
    found = (
        {coverage_by(hold, weights, full=full, partial=partial) for hold in held} or {Coverage.NONE}
        for weights, held in answers
    )
    best = [next(one for one in Coverage if one in kinds) for kinds in found]
    return f"{best.count(wanted) / len(best):6.1%}"


def main() -> None:
    """Print the table."""
    print(" " * 46, "full at least".ljust(27), "none below")
    print(" " * 46, *(f"{share:>6}" for share in (*FULL, *PARTIAL)))
    for name in sys.argv[1:] or ("peps", "keps"):
        with TemporaryDirectory() as folder:
            workspace = make_root(Path(folder), name)
            for what, asked in questions(workspace):
                answers = [answered(workspace, words) for words in asked]
                full = [rate(answers, Coverage.FULL, full=share) for share in FULL]
                none = [rate(answers, Coverage.NONE, partial=share) for share in PARTIAL]
                print(f"{name}, {what} ({len(asked)})".ljust(46), *full, *none, flush=True)


if __name__ == "__main__":
    main()
