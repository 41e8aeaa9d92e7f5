"""Trees without files on disk, and the findings of one check in a tree."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from builders import entry_text

from mdmem.checks.case import Case, GitFacts
from mdmem.checks.engine import run_checks
from mdmem.store.catalog.load import load
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import Tree, TreeFile, Unreadable, WorkingTree, digest_of


@dataclass
class ListedTree(Tree):
    """A tree of the given files, each an entry's text."""

    listed: tuple[TreeFile, ...]
    name: str = "listed"

    def files(self) -> tuple[TreeFile, ...]:
        return tuple(sorted(self.listed, key=lambda file: file.path))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        return ((path, entry_text().encode()) for path in paths)

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        return {}


def facts_with(tracked: Iterable[str], under: str = "", **more: Any) -> GitFacts:
    """Return git's facts about a repository whose index contains some paths."""
    none = dict.fromkeys(("tracked_in_repository", "ignored", "not_added"), frozenset[str]())
    facts = GitFacts(None, under, ())
    vars(facts).update(none, deleted={}, ended={}, committed=lambda _: None, is_on_disk=lambda _: False)
    vars(facts).update(more, tracked=frozenset(tracked))
    return facts


def tree_of(*paths: str) -> ListedTree:
    return ListedTree(tuple(TreeFile(path) for path in paths))


def case_of(tree: Tree | Path, settings: Settings = Settings(), **more: Any) -> Case:  # noqa: B008  # frozen
    """Return the case of a tree, or of the memory in a folder."""
    return Case(load(WorkingTree(tree) if isinstance(tree, Path) else tree), settings, date(2026, 11, 21), **more)


def found_in(tree: Tree, code: str, tracked: Iterable[str] | None = None) -> list[str]:
    case = case_of(tree, facts=facts_with(tracked) if tracked is not None else None)
    return [f"{ascii(f.place.path)[1:-1]}: {f.severity} {f.message}" for f in run_checks(case, [code])]


def meant(catalog: Catalog) -> tuple[Any, ...]:
    """Return everything in a catalog except the files that it was loaded from."""
    chains = (catalog.lineage.linked_successors, catalog.lineage.claimants, catalog.lineage.disputes)
    heads = {address: catalog.lineage.heads(address) for address in catalog.entries}
    rest = (catalog.wings, catalog.broken, catalog.findings, catalog.digests)
    return list(catalog.entries.items()), chains, heads, *rest


@dataclass
class HeldTree(Tree):
    """A tree of files held in memory, each known by its content, if it can be read."""

    content: Mapping[str, bytes | Unreadable]
    name: str = "held"

    def files(self) -> tuple[TreeFile, ...]:
        return tuple(TreeFile(path) for path in sorted(self.content))

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        for path in paths:
            yield path, self.content.get(path, Unreadable("No such file or directory"))

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:
        known = ((file.path, self.content[file.path]) for file in files)
        return {path: digest_of(content) for path, content in known if isinstance(content, bytes)}
