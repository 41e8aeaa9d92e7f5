"""A new entry: where it may stand, and what is there already that says nearly the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mdmem.authoring.change_set import Intent
from mdmem.authoring.create import create
from mdmem.authoring.wings import refuse_unmade_wing
from mdmem.authoring.write import WriteOptions, WriteResult, write_once
from mdmem.catalog import interpret
from mdmem.document.parse import parse_document, without_code
from mdmem.document.rationale import rationale_of
from mdmem.entry.model import Entry, Status
from mdmem.errors import LostRaceError, UsageError, taken
from mdmem.similarity import CANDIDATES, REVIEW_FROM, Subject, jaccard, words_once
from mdmem.workspace.workspace import Workspace

# So many entries are compared one by one; with more, the index that is there is asked.
_FEW = 200
# Words of a new text that the index is asked for: more of them find the same entries, later.
_ASKED = 40


@dataclass(frozen=True, slots=True)
class SimilarEntry:
    """An entry that says nearly the same as a new one; `similarity` is the share of words they have in common."""

    entry: Entry
    similarity: float


def create_entry(workspace: Workspace, address: str, text: str, options: WriteOptions) -> WriteResult:
    """Write a new entry; raises LostRaceError where the address is taken, and what `create` and `write_once` raise."""
    return write_once(workspace, lambda one: _creation(one, address, text), options)


def _creation(workspace: Workspace, address: str, text: str) -> Intent:
    wing, room, _ = address.split("/")
    refuse_taken(workspace, address)
    refuse_unmade_wing(workspace, wing)
    root = workspace.location.root
    for folder in (wing, f"{wing}/{room}"):
        if (root / folder).is_symlink():
            raise UsageError(f"{folder} is a symbolic link; entries are written inside the root only")
    intent = create(address, text)
    is_new_wing = not (root / wing).is_dir()
    return replace(intent, remarks=(f"`{wing}` is a new wing",) if is_new_wing else ())


def refuse_taken(workspace: Workspace, address: str) -> None:
    """Raise LostRaceError where an address is taken."""
    workspace.access.require_write(address.split("/", 1)[0])
    if (workspace.location.root / f"{address}.md").exists():
        raise LostRaceError(taken(address))


def find_near(workspace: Workspace, address: str, text: str) -> tuple[SimilarEntry, ...]:
    """Return the entries that say nearly the same as a text for an address, the nearest first, at most five.

    An index that is not there, or far behind, is not built for it: then there are none.
    """
    document = parse_document(f"{address}.md", text.encode("utf-8", "surrogateescape"))
    new = interpret(document).entry
    if new is None:
        return ()
    found = []
    known = {one.address: one for one in _candidates(workspace, f"{new.title} {document.body}") if _is_alive(one)}
    for other, body, _ in workspace.catalog.bodies(tuple(known)):
        share = _similarity(new, document.body, known[other], body)
        if share >= REVIEW_FROM:
            found.append(SimilarEntry(known[other], share))
    return tuple(sorted(found, key=lambda one: (-one.similarity, one.entry.address))[:CANDIDATES])


def _is_alive(entry: Entry) -> bool:
    return entry.status is not Status.DEPRECATED


def _candidates(workspace: Workspace, text: str) -> Iterable[Entry]:
    entries = workspace.catalog.entries
    if len(entries) <= _FEW:
        return entries.values()
    state = workspace.index.state(live=workspace.catalog.digests)
    if not state.usable or state.stale > _FEW:
        return ()
    alive = frozenset(one.address for one in entries.values() if _is_alive(one))
    question = " ".join(list(dict.fromkeys(text.split()))[:_ASKED])
    answer = workspace.find_text(question, alive)
    return (entries[match.key] for match in answer.matches[:CANDIDATES])


def _similarity(new: Entry, new_body: str, old: Entry, old_body: str) -> float:
    """Compare titles and all that they say, and as saving does where both are of one kind and wing."""
    titles = jaccard(words_once(new.title), words_once(old.title))
    if (new.type, new.wing) == (old.type, old.wing):
        pairs = ((new, new_body), (old, old_body))
        one, other = (Subject(entry.title, rationale_of(without_code(body))).words for entry, body in pairs)
        return max(titles, jaccard(one, other), _of_all(new, new_body, old, old_body))
    return max(titles, _of_all(new, new_body, old, old_body))


def _of_all(new: Entry, new_body: str, old: Entry, old_body: str) -> float:
    return jaccard(words_once(f"{new.title}\n{new_body}"), words_once(f"{old.title}\n{old_body}"))


def near_remarks(near: Iterable[SimilarEntry]) -> Iterator[str]:
    """Yield the sentence that names what is near; none where nothing is."""
    told = [f"{one.entry.address} ({one.entry.type.value}, {one.similarity:.0%})".replace("%)", " %)") for one in near]
    if told:
        yield f"much the same is said by {', '.join(told)}; `mdmem show {told[0].split(' ')[0]}` shows it"
