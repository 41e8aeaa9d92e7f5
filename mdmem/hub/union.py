"""Entries of many repositories as one catalog, each wing under a label of its repository, and in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import SettingsError
from mdmem.hub.reader import PlacedRow, Reader, SeenRow, SeenWing
from mdmem.hub.repository_copy import CopiedFiles, CopyWorkspace, Origins, RecordCache, is_entry_row, workspace_over
from mdmem.hub.rows import SAMPLES, lexeme, unpacked_file
from mdmem.hub.text import EVERY_ROW, all_of, candidates, within
from mdmem.markdown.parse import parse_document
from mdmem.model.access import EVERYTHING, Access
from mdmem.model.entry import Entry, Wing, WingKind
from mdmem.model.fields import LINK_FIELDS
from mdmem.store.catalog import LoadedFile, interpret
from mdmem.store.index.protocol import FullText
from mdmem.store.settings import Settings, parse_settings
from mdmem.store.settings.model import OneSided
from mdmem.store.workspace.workspace import IndexSlot

# What decides how an entry stands; what it only names is not brought.
_DECIDING = ("supersedes", "superseded_by", "amends", "overrides", "conflicts_with")
# The best of what was found is read at once, instead of one by one as it is told.
_READ_AHEAD = 100
# So many come beside those that are asked for.
_MOST_FILES, _MOST_STEPS = 2_000, 40


class Company:
    """Some files and all that decides how they stand: what replaces, amends, overrides or contradicts which."""

    def __init__(self, reader: Reader, seeds: Iterable[int]) -> None:
        """Look until nothing more is found, in both directions; each repository speaks of its own wings alone."""
        self._reader = reader
        self._named: dict[tuple[int, str], int] = {}
        self._known: set[int] = set()
        self._own: dict[int, list[int]] = {}
        self.wings: dict[int, SeenWing] = {}
        self.rows: dict[int, SeenRow] = {}
        found = reader.files(set(seeds))
        most, steps = len(found) + _MOST_FILES, 0
        while found and steps < _MOST_STEPS and len(self.rows) <= most:
            steps += 1
            self.rows |= {row.id: row for row in found}
            self._learn({row.wing_id for row in found})
            named = reader.files_at(self._linked_by(found))
            linking = reader.files(self._linking(found))
            found = [row for row in {one.id: one for one in (*named, *linking)}.values() if row.id not in self.rows]
        self.is_cut = bool(found)

    def _learn(self, wings: Collection[int]) -> None:
        """Learn which wings the repositories of some wings read, by the names that they have there."""
        self.wings |= self._reader.wings(set(wings) - self.wings.keys())
        owners = {self.wings[one].repository_id for one in wings} - self._known - {None}
        repositories = [one for one in owners if one is not None]
        self._known.update(repositories)
        for wing in self._reader.wings_of(repositories) if repositories else ():
            self.wings[wing.id] = wing
            self._named[wing.repository_id or 0, wing.name] = wing.id
            self._own.setdefault(wing.repository_id or 0, []).append(wing.id)
        for pin in self._reader.pins_of(repositories) if repositories else ():
            self._named.setdefault((pin.repository_id, pin.name), pin.wing_id)

    def wing_named(self, wing: int, name: str) -> int | None:
        """Return the wing that a name means in a wing's repository; one that is only pinned knows itself alone."""
        reader = self.wings[wing].repository_id
        if reader is None:
            return wing if self.wings[wing].name == name else None
        return self._named.get((reader, name))

    def _linked_by(self, rows: Collection[SeenRow]) -> list[tuple[int, str]]:
        links = self._reader.links_from(rows, _DECIDING)
        places = ((self.wing_named(wing, to.partition("/")[0]), to.partition("/")[2]) for wing, to in links)
        return [(wing, f"{path}.md") for wing, path in places if wing is not None]

    def _linking(self, rows: Iterable[SeenRow]) -> set[int]:
        by_readers: dict[tuple[int, ...], list[str]] = {}
        for row in rows:
            wing = self.wings[row.wing_id]
            readers = (wing.id,) if wing.repository_id is None else tuple(self._own[wing.repository_id])
            by_readers.setdefault(readers, []).append(f"{wing.name}/{row.path.removesuffix('.md')}")
        targets = [(wing, target) for wings, held in by_readers.items() for wing in wings for target in held]
        return self._reader.links_to(targets, _DECIDING) if targets else set()


def _nowhere(_: Collection[str]) -> frozenset[str]:
    return frozenset()


class UnionWorkspace(CopyWorkspace, frozen=True, eq=False):
    """Entries of many repositories as if they lay in one root; `is_cut` says that more decides how they stand.

    `facts_among` tells in which of some wings one end of a supersession suffices, as each repository's settings say.
    """

    stated: Mapping[str, Wing] | None = None
    facts_among: Callable[[Collection[str]], frozenset[str]] = _nowhere
    is_cut: bool = False

    def _loaded(self) -> Any:
        catalog = replace(super()._loaded(), wings=dict(sorted((self.stated or {}).items())))
        lineage = catalog.lineage
        claimed = {catalog.entries[old].wing for old in (*lineage.claimants, *lineage.disputes)}
        facts = self.facts_among(claimed) if claimed else frozenset()
        return replace(catalog, one_end_suffices=facts) if facts else catalog


def union_of(
    reader: Reader, seeds: Collection[int], text: Callable[[Mapping[str, SeenRow]], FullText], *, today: date
) -> tuple[UnionWorkspace, Origins]:
    """Return some files, and what decides how they stand, as one workspace; `text` is told which files those are."""
    company = Company(reader, seeds)
    origins = Origins(reader, {row.wing_id: company.wings[row.wing_id] for row in company.rows.values()})
    rows = {
        f"{origins.address(row.wing_id, row.path)}{'.md' if row.path.endswith('.md') else ''}": row
        for row in company.rows.values()
    }
    whole = reader.read_whole(origins.repositories)
    files = {
        path: _counted(one, path, company, origins, rows[path], whole) for path, one in _meant(reader, rows).items()
    }
    cache = RecordCache(files, {})
    tree = CopiedFiles("the hub", rows, reader, held=reader.contents(list(seeds)[:_READ_AHEAD]))
    base = workspace_over(tree, cache, today=today, said="many repositories", commit="HEAD")
    stated = {
        label: Wing(
            name=label,
            kind=WingKind.SHARED if origins.wings[key].is_shared else WingKind.PROJECT,
            owners=origins.wings[key].owners,
            has_manifest=True,
        )
        for key, label in origins.labels.items()
    }
    parts = replace(base.parts, index=IndexSlot(text({path.removesuffix(".md"): row for path, row in rows.items()})))
    values = {name: getattr(base, name) for name in ("location", "environment", "cwd", "today", "snapshot", "records")}
    # What a body names is redacted as in a narrowed clone, where a wing of any of them is not seen.
    access = EVERYTHING if whole == origins.repositories.keys() else Access.to_wings(stated, may_write=False)
    union = UnionWorkspace(
        **values,
        parts=parts,
        access=access,
        stated=stated,
        facts_among=partial(_facts_among, reader, origins),
        is_cut=company.is_cut,
    )
    return union, origins


def _facts_among(reader: Reader, origins: Origins, labels: Collection[str]) -> frozenset[str]:
    """Return those of some wings whose repository says that one end of a supersession suffices."""
    owners = {label: origins.by_label[label].repository_id for label in labels if label in origins.by_label}
    stated = reader.settings_about("one_sided", [owner for owner in set(owners.values()) if owner is not None])
    facts = {id_ for id_, content in stated.items() if _settings_in(content).one_sided is OneSided.FACT}
    return frozenset(label for label, owner in owners.items() if owner in facts)


def _settings_in(content: bytes) -> Settings:
    try:
        return parse_settings(content)
    except SettingsError as error:
        return error.readable if isinstance(error.readable, Settings) else Settings()


def _meant(reader: Reader, rows: Mapping[str, SeenRow]) -> dict[str, LoadedFile]:
    """Return what the files in entries' places mean, those of another format parsed."""
    found = {path: unpacked_file(row.record) for path, row in rows.items() if is_entry_row(row)}
    unread = {path: rows[path].id for path, one in found.items() if one is None and rows[path].kind == "file"}
    contents = reader.contents(list(unread.values())) if unread else {}
    read = {path: interpret(parse_document(path, contents[key])) for path, key in unread.items() if key in contents}
    return {path: one for path, one in found.items() if one is not None} | read


def _counted(
    loaded: LoadedFile, path: str, company: Company, origins: Origins, row: SeenRow, whole: Collection[int]
) -> LoadedFile:
    """Return what a file means with every address in it as it is among all.

    What an entry names is of its own repository: the name that another wing has among all is nobody's to link, and a
    link into a wing that is not seen is left out.
    """
    placed = loaded.at(path)
    entry = placed.entry
    if entry is None:
        return placed
    owner = origins.of[row.wing_id].repository_id
    is_seen = owner is None or owner in whole

    def among_all(link: str) -> str | None:
        name, slash, rest = link.partition("/")
        wing = company.wing_named(row.wing_id, name) if rest.count("/") == 1 else None
        if wing in origins.of:
            return f"{origins.labels[wing]}{slash}{rest}"
        return link if (is_seen or wing is not None) and name not in origins.by_label else None

    return placed.with_changes(entry=_with_links(entry, among_all))


def _with_links(entry: Entry, among_all: Callable[[str], str | None]) -> Entry:
    changes: dict[str, Any] = {
        name: tuple(one for one in map(among_all, entry.links(name)) if one is not None)
        for name in LINK_FIELDS
        if entry.links(name)
    }
    if entry.relations:
        targets = [(one, among_all(one.to)) for one in entry.relations]
        changes["relations"] = tuple(one.with_changes(to=to) for one, to in targets if to is not None)
    return entry.with_changes(**changes) if changes else entry


# So many are put in order by themselves; of more, wing after wing is asked for until there are enough.
_SORTED = 5_000


class OrderedRows(Struct, frozen=True):
    """Rows in order, from the first, and how many there are, about where not `is_counted`."""

    rows: tuple[PlacedRow, ...]
    origins: Origins
    count: int
    is_counted: bool

    @property
    def is_whole(self) -> bool:
        """Say whether these are all."""
        return self.is_counted and len(self.rows) == self.count


def ordered_rows(reader: Reader, level: str, wings: Collection[int] | None, *, least: int) -> OrderedRows:
    """Return what a level finds in some wings, None for all: whole where it is not too much, else so many at least."""
    ids = candidates(reader, level, wings, most=_SORTED + 1)
    if len(ids) <= _SORTED:
        rows = reader.places(ids)
        origins = Origins(reader, {row.wing_id for row in rows})
        return OrderedRows(tuple(_ordered(rows, origins)), origins, len(rows), is_counted=True)
    origins = Origins(reader, reader.visible_wings() if wings is None else wings)
    found: list[PlacedRow] = []
    for portion in _portions(origins, least):
        found += reader.places(candidates(reader, all_of((within(portion), level)), portion, most=EVERY_ROW))
        if len(found) >= least:
            mark, share = next(iter(SAMPLES.items()))
            sampled = candidates(reader, all_of((lexeme(mark), level)), wings, most=EVERY_ROW)
            count = max(_SORTED, share * len(sampled))
            return OrderedRows(tuple(_ordered(found, origins)), origins, count, is_counted=False)
    return OrderedRows(tuple(_ordered(found, origins)), origins, len(found), is_counted=True)


def _ordered(rows: Sequence[PlacedRow], origins: Origins) -> list[PlacedRow]:
    return sorted(rows, key=lambda row: (*_place(origins, row.wing_id), row.path))


def _place(origins: Origins, wing: int) -> tuple[bool, str, str, int]:
    """Order wings by repository and name, those that are only pinned behind."""
    origin = origins.of[wing]
    return origin.repository_id is None, origin.name, origin.wing, wing


def _portions(origins: Origins, least: int) -> Iterator[list[int]]:
    """Yield the wings in order, first as few as may hold enough entries, then more and more."""
    portion: list[int] = []
    wanted, held = least, 0
    for wing in sorted(origins.of, key=lambda one: _place(origins, one)):
        portion.append(wing)
        held += origins.wings[wing].documents
        if held >= wanted:
            yield portion
            portion, wanted, held = [], 2 * wanted, 0
    yield portion
