"""How often a share of a question's words in one entry says that something binding covers it, and is right.

Right are the titles of PEPs in force, of three searchable words and more; wrong are Cranfield's questions about
aerodynamics, put to the same PEPs: whole, and cut to the size of a memory's entry.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from builders import open_root

from mdmem.entry.model import EntryType
from mdmem.index.analysis import ask
from mdmem.index.fulltext import WhooshIndex
from mdmem.workspace.workspace import Workspace

SHARED = Path(__file__).resolve().parents[3] / "shared"
SHARES = (0.4, 0.5, 0.6, 0.67)
ENTRY_BYTES = 3000


def make_peps(folder: Path, *, cut: int | None) -> Workspace:
    """Return the PEPs as a memory with an index; `cut` shortens their bodies."""
    converter, corpus = SHARED / "tools" / "corpus_to_wings.py", SHARED / "corpora" / "peps.jsonl.gz"
    subprocess.run([sys.executable, converter, corpus, folder / "memory"], check=True, capture_output=True)
    for path in folder.glob("memory/*/*/*.md") if cut else ():
        head, fence, body = path.read_text(encoding="utf-8").partition("\n---\n")
        path.write_text(f"{head}{fence}{body[:cut]}\n", encoding="utf-8")
    return open_root(folder / "memory").with_index(WhooshIndex(folder / "text"))


def shares(workspace: Workspace, questions: Sequence[str]) -> list[float]:
    """Return, for each question, the share of its words that the best current invariant or decision holds."""
    catalog = workspace.catalog
    kinds = (EntryType.INVARIANT, EntryType.DECISION)
    binding = {one.address for one in catalog.entries.values() if one.type in kinds}
    binding = {address for address in binding if catalog.lineage.is_current(address)}
    found = []
    for words in questions:
        answer = workspace.index.search(words, live=catalog.digests, read=workspace.texts, among=binding)
        found.append(max((len(match.terms) / len(answer.terms) for match in answer.matches), default=0.0))
    return found


def main() -> None:
    """Print the table."""
    lines = (SHARED / "corpora" / "cranfield" / "queries.jsonl").read_text().splitlines()
    foreign = [json.loads(line)["text"] for line in lines]
    print("share of the words".ljust(34), *(f"{share:>6}" for share in SHARES))
    for name, cut in (("whole PEPs", None), (f"PEPs cut to {ENTRY_BYTES}", ENTRY_BYTES)):
        with TemporaryDirectory() as folder:
            peps = make_peps(Path(folder), cut=cut)
            current = [one for one in peps.catalog.entries.values() if peps.catalog.lineage.is_current(one.address)]
            titles = [one.title for one in current if len(ask(one.title).terms) >= 3]
            for what, questions in ((f"{len(titles)} titles", titles), (f"{len(foreign)} foreign", foreign)):
                best = shares(peps, questions)
                reached = (sum(one >= share for one in best) / len(best) for share in SHARES)
                print(f"{name}, {what}".ljust(34), *(f"{share:6.1%}" for share in reached))


if __name__ == "__main__":
    main()
