"""Build a memory with a project wing that reads a shared wing, and ask it questions."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from builders import make_root, open_root, write, write_entry
from msgspec.structs import replace

from mdmem.ask.answer import Answer, Item, Question, SearchResult, read_request
from mdmem.ask.bundle import Bundle, BundleRequest, retrieve_context
from mdmem.ask.retrieve import reading_of
from mdmem.ask.search import search
from mdmem.store.workspace.scope import Filters, resolve_scope


def make_wings(folder: Path, *, manifest: str = "kind: project\nshared_wings: [lib]") -> Path:
    """Return a root with the active wing `app`; `lib` is shared, and `web` is another project."""
    root = make_root(folder / "memory", 'default_wing = "app"\n')
    write(root, "app/README.md", f"---\n{manifest}\n---\n")
    write(root, "lib/README.md", "---\nkind: shared\n---\n")
    write(root, "web/README.md", "---\nkind: project\n---\n")
    return root


def put(root: Path, address: str, title: str, /, body: str = "Text.\n", **fields: object) -> None:
    write_entry(root, address, body, title=title, **fields)


def found(root: Path, words: str = "", /, paths: tuple[str, ...] = (), **filters: object) -> Answer:
    """Return the answer to a question before it is cut to a budget."""
    question = Question(words=words, paths=paths, filters=Filters(**filters))
    reading = reading_of(open_root(root))
    scope = resolve_scope(reading.view.effective.catalog, reading.settings, question.filters)
    answer = reading.retrieve(scope, question)
    proposed = tuple(map(answer.describe_proposed, answer.proposed))
    return replace(answer, items=tuple(map(answer.describe, answer.items)), proposed=proposed)


def hits(root: Path, words: str, /, **filters: object) -> SearchResult:
    return search(open_root(root), Question(words=words, filters=Filters(**filters)))


def names(items: Iterable[Item]) -> list[str]:
    return [item.entry.address for item in items]


def only(retrieval: Answer, address: str) -> Item:
    return next(item for item in retrieval.items if item.entry.address == address)


def left_out(retrieval: Answer) -> dict[str, str]:
    """Return the reason for each omitted entry, by address."""
    reasons = {one.address: one.why for one in retrieval.basis.omitted}
    assert len(reasons) == len(retrieval.basis.omitted)
    return reasons


def bundle(root: Path, project_id: str | None = "app", /, paths: tuple[str, ...] = (), **asked: Any) -> Bundle:
    request = read_request(BundleRequest, {"project_id": project_id, **asked})
    return retrieve_context(open_root(root), request, paths)


def ids(items: Iterable[Bundle]) -> list[str]:
    return [item["id"] for item in items]


def item(answer: Bundle, address: str) -> Bundle:
    return next(one for one in answer["items"] if one["id"] == address)


def why_omitted(answer: Bundle) -> dict[str, str]:
    """Return the reason for each omitted entry of a bundle, by id."""
    return {one["id"]: one["why"] for one in answer["omitted"]}
