"""What a new record is compared with: fingerprints of the entries by content, and the best full-text matches."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from mdmem.document.parse import without_code
from mdmem.document.rationale import rationale_span
from mdmem.entry.model import Entry, EntryType
from mdmem.similarity import CANDIDATES, Subject
from mdmem.state import read_json, write_json
from mdmem.workspace.workspace import Workspace

# Raised whenever `subject_of` or the fingerprint changes.
_VERSION, _FILE = "2", "subjects.json"
# So many unknown entries are read anew at each call rather than written down.
_WORTH_KEEPING = 32
# A long text's first words name its subject; each more costs the index a list of documents.
_WORDS = 32


def subject_of(entry: Entry, body: str) -> Subject:
    """Return what is compared of an entry, its code included, so that saving and reading agree."""
    if entry.type is EntryType.PATTERN:
        steps = (*entry.repeatable_steps, *(f"not: {one}" for one in entry.exclusions))
        return Subject(entry.trigger or entry.title, "\n".join(steps) or body)
    start, end = rationale_span(without_code(body))
    return Subject(entry.title, body[start:end].strip())


class Neighbours:
    """The entries of a workspace as a new record is compared with them."""

    def __init__(self, workspace: Workspace, seen: dict[str, str]) -> None:
        """Take the workspace, and what is known of its contents from calls before; that is added to."""
        self._workspace, self._seen = workspace, seen

    def fingerprints(self, addresses: Collection[str]) -> dict[str, str]:
        """Return the fingerprint of each entry's subject; one that went away meanwhile is left out."""
        digests = self._workspace.catalog.digests
        keys = {address: f"{digests[address]} {address}" for address in addresses if address in digests}
        if not self._seen.keys() >= set(keys.values()):
            self._learn(keys)
        return {address: self._seen[key] for address, key in keys.items() if key in self._seen}

    def similar(self, subject: Subject, among: Collection[str]) -> Iterator[tuple[str, Subject]]:
        """Yield the five best full-text matches, best first, with what is compared of them."""
        workspace = self._workspace
        words = list(dict.fromkeys(f"{subject.title}\n{subject.rationale}".split()))
        answer = workspace.find_text(" ".join(words[:_WORDS]), among)
        for match in islice(answer.matches, CANDIDATES):
            entry = workspace.catalog.entries[match.key]
            yield match.key, subject_of(entry, workspace.catalog.body(match.key))

    def _learn(self, keys: dict[str, str]) -> None:
        folder = self._workspace.cache_folder
        self._seen |= {key: str(value) for key, value in read_json(folder / _FILE, _VERSION).items()}
        missing = [address for address, key in keys.items() if key not in self._seen]
        catalog = self._workspace.catalog
        for address, body, digest in catalog.bodies(missing):
            self._seen[f"{digest} {address}"] = subject_of(catalog.entries[address], body).fingerprint
        if len(missing) >= _WORTH_KEEPING:
            write_json(folder / _FILE, _VERSION, {key: self._seen[key] for key in keys.values() if key in self._seen})
