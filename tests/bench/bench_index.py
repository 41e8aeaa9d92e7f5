"""What the index costs, as ratios within one run: `python tests/bench/bench_index.py [COUNT…]`."""

import cProfile
import pstats
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from index_corpus import Corpus
from msgspec.structs import replace
from whoosh.analysis import StemmingAnalyzer
from whoosh.fields import ID, KEYWORD, TEXT, Schema
from whoosh.index import create_in

from mdmem.store.index.analysis import positions_of
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.index.records import IndexDocument

QUESTIONS = 20
ROUNDS = 5

Documents = dict[str, IndexDocument]

COLD = """
import json, sys
from time import perf_counter
live = json.load(open(sys.argv[2]))
start = perf_counter()
from pathlib import Path
from mdmem.store.index.fulltext import FullTextIndex
FullTextIndex(Path(sys.argv[1])).search(sys.argv[3], live=live, read=lambda keys: ())
print(perf_counter() - start)
"""


def timed(action: Callable[[], object]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start


def stock(folder: Path, documents: Documents) -> None:
    """Build an index as Whoosh's documentation shows, but for a memory limit that does not spill."""
    analyzer = StemmingAnalyzer(cachesize=-1)
    schema = Schema(
        key=ID(stored=True, unique=True), title=TEXT(analyzer), body=TEXT(analyzer), type=ID, status=ID, tags=KEYWORD
    )
    writer = create_in(str(folder), schema).writer(limitmb=2048)
    for each in documents.values():
        stated = {name: " ".join(each.fields[name]) for name in ("title", "type", "status", "tags")}
        writer.add_document(key=each.key, body=each.body, **stated)
    writer.commit()


def ours(folder: Path, documents: Documents) -> FullTextIndex:
    index = FullTextIndex(folder)
    index.refresh(live=live(documents), read=reader(documents), rebuild=True)
    return index


def live(documents: Documents) -> dict[str, str]:
    return {key: document.digest for key, document in documents.items()}


def reader(documents: Documents) -> Callable[..., list[IndexDocument]]:
    return lambda keys: [documents[key] for key in keys]


def changed(documents: Documents, count: int) -> Documents:
    keys = list(documents)[:count]
    return documents | {
        key: replace(documents[key], digest="changed", body=documents[key].body + " new") for key in keys
    }


def asked(index: FullTextIndex, documents: Documents, questions: list[str]) -> float:
    """Return the median milliseconds of a warm question."""
    keys, read = live(documents), reader(documents)
    index.search(questions[0], live=keys, read=read)
    return 1000 * median(timed(lambda q=q: index.search(q, live=keys, read=read)) for q in questions)  # type: ignore[misc]


def cold(folder: Path, documents: Documents, question: str) -> float:
    """Return the median milliseconds of import, open and question in a new process."""
    import json

    keys = folder.parent / "live.json"
    keys.write_text(json.dumps(live(documents)))
    command = [sys.executable, "-c", COLD, str(folder), str(keys), question]
    runs = [subprocess.run(command, capture_output=True, check=True, text=True).stdout for _ in range(ROUNDS)]
    return 1000 * median(map(float, runs))


def bare() -> float:
    """Return the median milliseconds of a Python process that does nothing."""
    return 1000 * median(
        timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)) for _ in range(ROUNDS)
    )


def profile(folder: Path, documents: Documents) -> None:
    recorder = cProfile.Profile()
    recorder.runcall(ours, folder, documents)
    pstats.Stats(recorder).strip_dirs().sort_stats("tottime").print_stats(10)


def report(count: int, folder: Path) -> None:
    corpus = Corpus()
    documents = {document.key: document for document in corpus.documents(count)}
    questions = [corpus.question() for _ in range(QUESTIONS)]
    mean = sum(len(document.body) for document in documents.values()) / count
    print(f"\n== {count} entries of {mean:.0f} characters")
    (folder / "stock").mkdir()
    theirs = timed(lambda: stock(folder / "stock", documents))
    mine = timed(lambda: ours(folder / "ours", documents))
    alone = timed(lambda: [positions_of(document.body) for document in documents.values()])
    print(f"build: stock {count / theirs:.0f}/s, ours {count / mine:.0f}/s: x{mine / theirs:.2f} of the time")
    print(f"analysis alone, warm: {alone / mine:.0%} of our build")
    sizes = [sum(path.stat().st_size for path in (folder / name).rglob("*.*")) for name in ("stock", "ours")]
    print(f"bytes on disk: x{sizes[1] / sizes[0]:.2f} of stock's {sizes[0] / 1e6:.1f} MB")
    index = FullTextIndex(folder / "ours")
    fresh = asked(index, documents, questions)
    print(f"question, warm: {fresh:.1f} ms")
    for some in (1, 50):
        beside = asked(index, changed(documents, some), questions)
        print(f"question with {some} changed beside: {beside:.1f} ms, {beside - fresh:+.1f}")
    new = cold(folder / "ours", documents, questions[0])
    print(f"import, open and question: {new:.0f} ms, x{new / bare():.1f} of `python -c pass`")
    for some in (1, 100):
        other = changed(documents, some)
        took = timed(lambda other=other: index.refresh(live=live(other), read=reader(other)))  # type: ignore[misc]
        print(f"refresh of {some}: {1000 * took:.0f} ms")
    if count <= 1000:
        profile(folder / "profiled", documents)


def main() -> None:
    for count in map(int, sys.argv[1:] or ["1000", "10000"]):
        with TemporaryDirectory() as folder:
            report(count, Path(folder))


if __name__ == "__main__":
    main()
