"""Build a memory with an entry for every facet, and context packs from it."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from builders import TODAY, environment, make_root, write

from ask.builders import put
from mdmem.ask.answer import read_request
from mdmem.ask.context import ContextRequest, Pack, compile_context, items_of
from mdmem.model.access import Access
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.workspace.location import located
from mdmem.store.workspace.workspace import Workspace


def make_memory(folder: Path) -> Path:
    """Return a root with the active wing `app`, which reads the shared wing `lib`; `web` is another project."""
    root = make_root(folder / "memory", 'default_wing = "app"\n')
    write(root, "app/README.md", "---\nkind: project\nproject_id: app-1\nshared_wings: [lib]\n---\n")
    write(root, "lib/README.md", "---\nkind: shared\n---\n")
    write(root, "web/README.md", "---\nkind: project\n---\n")
    put(root, "app/rules/pool", "The pool is closed at exit", type="invariant")
    put(root, "lib/rules/logs", "Logs hold no secrets", type="invariant")
    put(root, "app/architecture/pool-size", "The pool has eight threads")
    put(root, "app/conventions/grow-pool", "Grow the pool by steps", type="pattern", trigger="the pool is full")
    put(root, "app/incident-log/pool-leak", "The pool leaked threads", type="note")
    put(root, "app/validation/pool-test", "The pool is tested under load", type="note")
    put(root, "app/ideas/no-pool", "A loop instead of the pool", type="note", label="idea")
    put(root, "app/planning/pool-plan", "The pool moves to the kernel", type="note")
    put(root, "app/context/pool-words", "What a pool is here", type="note")
    put(root, "app/components/pool-object", "The pool object", type="note")
    session = {"type": "note", "label": "session", "created_at": "2026-03-09", "agent": "bot"}
    put(root, "app/sessions/last", "Sized the pool", objective="size it", open_items=["measure again"], **session)
    put(root, "web/rules/pool", "The web has no pool", type="invariant")
    return root


def workspace(root: Path, *, access: Access | None = None) -> Workspace:
    """Return the workspace of a root; the user's folders are next to it."""
    beside = root.parent
    said = environment(XDG_CACHE_HOME=str(beside / "cache"), XDG_DATA_HOME=str(beside / "data"))
    found = Workspace(located(root, "a test"), said, root, date.fromisoformat(TODAY), access=access or Access())
    return found.with_index(FullTextIndex(None))


def context(root: Path, goal: str, /, *, access: Access | None = None, **asked: object) -> Pack:
    return compile_context(workspace(root, access=access), read_request(ContextRequest, {"goal": goal, **asked}))


def again(found: Workspace) -> Workspace:
    """Return a workspace that has read its files again."""
    return found.reread().with_index(FullTextIndex(None))


def facets(pack: Pack) -> list[str]:
    return [section["facet"] for section in pack["sections"]]


def ids(pack: Pack) -> list[str]:
    return [item["id"] for item in items_of(pack)]


def of(pack: Pack, facet: str) -> Sequence[str]:
    return [item["id"] for item in items_of(pack) if item["facet"] == facet]
