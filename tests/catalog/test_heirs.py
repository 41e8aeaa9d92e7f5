"""What a catalog takes over from the one before it is what it would find itself, whatever changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import pytest
from builders import make_root, write, write_entry

from mdmem.catalog import Catalog, load_cached
from mdmem.catalog.by_address import ByAddress
from mdmem.catalog.heirs import take_over
from mdmem.catalog.traits import Traits
from mdmem.dataclass import replace
from mdmem.standing import Stance, Standing
from mdmem.tree import WorkingTree

TRAITS = [name for name, value in vars(Traits).items() if isinstance(value, cached_property)]
ONE = "nav/rules/one"


class Told(ByAddress[tuple[object, ...]]):
    """What each entry is and how it stands."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self.catalog = catalog

    def __missing__(self, address: str) -> tuple[object, ...]:
        entry = self.catalog.entries[address]
        self[address] = (entry, self.catalog.lineage.heads(address), self.catalog.stance(address))
        return self[address]

    def anew(self, catalog: Catalog) -> Told:
        return Told(catalog)


def catalog_of(root: Path, cache: Path) -> Catalog:
    return replace(load_cached(WorkingTree(root), cache), stances={})


def known(catalog: Catalog) -> dict[str, object]:
    kept = catalog.traits.kept.setdefault("told", Told(catalog))
    found = {name: getattr(catalog.traits, name) for name in TRAITS}
    found |= {"told": dict(zip(catalog.entries, kept.of(catalog.entries), strict=True)), "digests": catalog.digests}
    links = (dict(catalog.adjacency.citing), catalog.adjacency.outgoing, sorted(catalog.amendments.named))
    return found | {"links": links, "rooms": catalog.rooms}


def was_taken(catalog: Catalog) -> Iterable[str]:
    return vars(catalog.traits).keys() & set(TRAITS) if "traits" in vars(catalog) else ()


@pytest.mark.parametrize(
    ("fields", "spared"),
    [
        ({"body": "Other words.\n"}, True),
        ({"type": "note", "relevance_score": "0.7"}, True),
        ({"type": "invariant"}, True),
        ({"status": "draft"}, False),
        ({"conflicts_with": "[two]", "overrides": "[three]"}, True),
        ({"see": "[three]", "amends": "[two]", "applies_to": "[src/**]"}, True),
        ({"expires_at": "2027-01-01"}, True),
        ({"supersedes": "[two]", "reason": "it grew"}, False),
    ],
)
def test_taken_over_is_what_is_found(tmp_path: Path, fields: Mapping[str, str], *, spared: bool) -> None:
    root, cache = make_root(tmp_path / "memory"), tmp_path / "cache"
    write(root, "nav/README.md", "---\nkind: project\n---\n")
    for name in ("one", "two", "three"):
        write_entry(root, f"nav/rules/{name}", see="two")
    before = catalog_of(root, cache)
    known(before)
    # The lineage that is the same is the very same, as where one process loads both.
    write_entry(root, ONE, **{"see": "two", **fields})
    changed = {ONE: Stance(Standing.UNCOMMITTED)}
    found = replace(catalog_of(root, cache), stances=changed)
    after = replace(found, _chains=(found.entries, before.lineage)) if spared else found
    take_over(after, before)
    assert bool(was_taken(after)) is spared
    assert known(after) == known(found)


def test_nothing_is_taken_over_where_entries_come_or_go(tmp_path: Path) -> None:
    root, cache = make_root(tmp_path / "memory"), tmp_path / "cache"
    write_entry(root, ONE)
    before = catalog_of(root, cache)
    known(before)
    write_entry(root, "nav/rules/two")
    found = catalog_of(root, cache)
    after = replace(found, _chains=(found.entries, before.lineage))
    take_over(after, before)
    assert not was_taken(after)
