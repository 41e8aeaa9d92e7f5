"""What packs at the default budget hold and take: own titles, heads of the superseded, judged and lookup questions.

Titles and heads are those of PEPs and KEPs; the judged questions are Cranfield's, whose documents get types at random,
so that a type says nothing of relevance; the lookups are in words that are not the titles'.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from builders import make_root, open_root, write
from index_quality import cranfield_documents, cranfield_questions

from mdmem.ask.pack import Pack
from mdmem.ask.question import Question
from mdmem.ask.retrieve import reading_of, retrieve
from mdmem.model.entry import EntryType
from mdmem.render.ink import Ink
from mdmem.render.retrieval import pack_text, text_size
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.settings import Settings
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace

SHARED = Path(__file__).resolve().parents[3] / "shared"
LOOKUPS = {
    "peps": (
        ("when annotations of functions are evaluated", "749 649"),
        ("the file name and layout of built binary distributions", "427"),
        ("which version numbers of a distribution are valid and how they compare", "440"),
        ("expressions inside of string literals", "701 498"),
        ("binding a name in the middle of an expression", "572"),
        ("running threads in parallel without the interpreter lock", "703 779"),
        ("several interpreters in one process from Python code", "734"),
        ("where a project states its name, version and dependencies", "621"),
        ("tokens and passwords that cannot be guessed", "506"),
        ("a class fits a type by its methods without inheriting", "544"),
    ),
    "keps": (
        ("containers that start before and outlive the main container of a pod", "753"),
        ("pods end in order when the machine is switched off", "2000"),
        ("rules over several fields of custom resources without a webhook", "2876"),
        ("a service with IPv4 and IPv6 addresses", "563"),
        ("who owns a field when several clients apply one object", "555"),
        ("change cpu and memory of a pod that runs without a restart", "1287"),
        ("encrypt secrets at rest with a key from outside the cluster", "3299"),
        ("requests that overload the API server are queued by priority", "1040"),
        ("the container runtime Docker is no longer supported by the kubelet", "2221"),
        ("delete finished jobs after a time", "592"),
    ),
}


def make_corpus(name: str, folder: Path) -> Workspace:
    """Return a corpus as a memory with an index."""
    converter, corpus = SHARED / "tools" / "corpus_to_wings.py", SHARED / "corpora" / f"{name}.jsonl.gz"
    subprocess.run([sys.executable, converter, corpus, folder / name], check=True, capture_output=True)
    return open_root(folder / name).with_index(FullTextIndex(folder / f"{name}.index"))


def ask(workspace: Workspace, words: str) -> Pack:
    """Return the pack for some words as the command line prints it."""
    return retrieve(workspace, Question(words=words), printed=text_size)


def addresses(pack: Pack) -> list[str]:
    """Return what is in a pack, in a line or with its content."""
    return [one.item.entry.address for one in pack.items]


def measure_titles(workspace: Workspace) -> Iterator[str]:
    """Yield how many current records are in the pack for their own title, and how many heads for an old one's."""
    catalog, own, heads, sizes = workspace.catalog, [], [], []
    for entry in catalog.entries.values():
        lineage_heads = catalog.lineage.heads(entry.address)
        if not lineage_heads or entry.status == "draft":
            continue
        pack = ask(workspace, entry.title)
        sizes.append(len(pack_text(pack, ink=Ink()).encode()))
        given = {one.item.entry.address for one in pack.items if not one.form.is_line}
        found = not given.isdisjoint(lineage_heads)
        (own if catalog.lineage.is_current(entry.address) else heads).append((entry.address, found))
    for what, results in (("own titles", own), ("heads of superseded", heads)):
        lost = [address for address, found in results if not found]
        yield f"{what}: {len(results) - len(lost)} of {len(results)}; lost {' '.join(lost[:5])}"
    yield f"bytes: {sum(sizes) / len(sizes):.0f} on average, {max(sizes)} at most"


def measure_lookups(workspace: Workspace, name: str) -> Iterator[str]:
    """Yield, for each lookup, its size and the rank of the governing record by score."""
    for words, governing in LOOKUPS[name]:
        pack = ask(workspace, words)
        ranked = sorted(pack.items, key=lambda one: -one.item.score)
        wanted = [f"{name.removesuffix('s')}-{number}" for number in governing.split()]
        places = [n for n, one in enumerate(ranked, 1) if one.item.entry.address.rpartition("/")[2] in wanted]
        forms = [one.form.value for one in ranked if one.item.entry.address.rpartition("/")[2] in wanted]
        size = len(pack_text(pack, ink=Ink()).encode())
        yield f"{size:6} bytes, {len(pack.items):2} entries, governing at {places} {forms}: {words}"


def measure_cranfield(folder: Path, budget: int | None = None) -> Iterator[str]:
    """Yield how often a relevant document is in the pack, and how often by score alone within the same bytes."""
    drawn = random.Random(1)
    root = make_root(folder / "cranfield", 'default_wing = "w"\n')
    kinds = [kind.value for kind in EntryType if kind is not EntryType.INVARIANT]
    for document in cranfield_documents():
        head = f"type: {drawn.choice(kinds)}\nstatus: active\ncreated_at: 2026-01-01"
        title = json.dumps(document.fields["title"][0])
        write(root, f"w/r/d{document.key}.md", f"---\n{head}\ntitle: {title}\n---\n\n{document.body}\n")
    workspace = open_root(root).with_index(FullTextIndex(folder / "cranfield.index"))
    reading, packed, scored, ranked = reading_of(workspace), 0, 0, 0
    questions = cranfield_questions()
    for words, relevant in questions:
        wanted = {f"w/r/d{key}" for key in relevant}
        pack = retrieve(workspace, Question(words=words), printed=text_size, budget=budget)
        packed += not wanted.isdisjoint(one.item.entry.address for one in pack.items if not one.form.is_line)
        found = reading.retrieve(
            resolve_scope(reading.catalog, Settings(), Filters(wings=("w",))), Question(words=words)
        )
        by_score = sorted(found.items, key=lambda item: -item.score)
        given = sum(not one.form.is_line for one in pack.items)
        ranked += not wanted.isdisjoint(item.entry.address for item in by_score[:10])
        scored += not wanted.isdisjoint(item.entry.address for item in by_score[:given])
    by_score = f"as many by score {scored}, ten by score {ranked}"
    yield f"a relevant one with content: pack {packed}, {by_score} of {len(questions)}"


def main() -> None:
    """Print the figures."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for corpus in ("peps", "keps"):
            workspace = make_corpus(corpus, folder)
            for line in measure_lookups(workspace, corpus):
                print(f"{corpus:5}", line, flush=True)
            for line in () if "short" in sys.argv else measure_titles(workspace):
                print(f"{corpus:5}", line, flush=True)
        for line in measure_cranfield(folder):
            print("cranfield", line)


if __name__ == "__main__":
    main()
