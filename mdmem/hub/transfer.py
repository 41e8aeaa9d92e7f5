"""Making the rows of a repository those of a commit, with as little work as the difference asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct

from mdmem.hub.connection import one_row
from mdmem.hub.contents import Contents, HubWing, WingSource
from mdmem.hub.rows import FORMAT, HubFile, path_of, stored_path
from mdmem.hub.wings import WingRows
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Wing
from mdmem.store.catalog import interpret
from mdmem.store.catalog.addresses import MANIFEST


class TransferResult(Struct, frozen=True):
    """How many files were put in, put in the place of others, and taken out, and how many pins are others.

    `kept` are the pinned wings that should be written anew and are not the pusher's to write: others read them, too.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    pins: int = 0
    kept: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Say whether anything was."""
        return any((self.added, self.changed, self.removed, self.pins))


def transfer(cursor: Any, repository: int, contents: Contents, *, is_whole: bool) -> TransferResult:
    """Make the rows of a repository those of a commit, all of them anew where `is_whole` is said.

    What is packed in another format is written anew, too.
    """
    had = cursor.execute("SELECT name, id, format FROM wing WHERE repository_id = %s", (repository,)).fetchall()
    ids, formats = ({path_of(row[0]): row[place] for row in had} for place in (1, 2))
    own = {name: wing for name, wing in contents.wings.items() if wing.source is None}
    added = changed = removed = 0
    for name in ids.keys() - own.keys():
        removed += len(WingRows(cursor, ids[name]).listed())
        cursor.execute("DELETE FROM wing WHERE id = %s", (ids[name],))
    for name, wing in own.items():
        rows = WingRows(cursor, ids[name] if name in ids else _made(cursor, repository, name))
        is_new = is_whole or formats.get(name) != FORMAT
        listed = {} if is_new else rows.listed()
        if is_new:
            rows.clear()
        other = {path for path, file in wing.files.items() if listed.get(path, ())[1:] != (file.kind, file.digest)}
        gone = listed.keys() - wing.files.keys()
        rows.drop([listed[path].id for path in gone | (other & listed.keys())])
        _fill(rows, contents, wing, other)
        if MANIFEST in gone:
            rows.state(Wing(name=name))
        added, changed = added + len(other - listed.keys()), changed + len(other & listed.keys())
        removed += len(gone)
    pins, kept = _pin(cursor, repository, contents, is_whole=is_whole)
    if added or removed or pins:
        _link_again(cursor, repository, contents)
    return TransferResult(added, changed, removed, pins, kept)


def _made(cursor: Any, repository: int, name: str) -> int:
    stored = stored_path(name)
    made = "INSERT INTO wing (repository_id, name, format) VALUES (%s, %s, %s)"
    cursor.execute(made, (repository, stored, FORMAT))
    # Whom it is for is told from the next statement on.
    asked = "SELECT id FROM wing WHERE repository_id = %s AND name = %s"
    (id_,) = one_row(cursor.execute(asked, (repository, stored)))
    return int(id_)


def _fill(rows: WingRows, contents: Contents, wing: HubWing, paths: Collection[str]) -> None:
    """Put files of a wing in, and what its manifest says if it is among them."""
    stated: list[Wing] = []

    def seen() -> Iterator[HubFile]:
        for file in contents.files(wing, paths):
            if file.path == MANIFEST:
                stated.append(file.wing or Wing(name=wing.name))
            yield file

    rows.add(seen())
    for one in stated:
        rows.state(one)
    rows.finish()


def _pin(cursor: Any, repository: int, contents: Contents, *, is_whole: bool) -> tuple[int, tuple[str, ...]]:
    """Make the pins of a repository those of a commit, and return how many are others than before, and which were kept.

    What they read is written once, by whoever pins it first or in another format, and never changes. Anew it is written
    where nobody else reads it, or the hub's owner asks.
    """
    asked = (
        "SELECT pin.name, source, source_path, commit, tree, format FROM visible_pin() AS pin"
        " JOIN wing ON wing.id = wing_id WHERE pin.repository_id = %s"
    )
    had = {
        path_of(name): (WingSource(*map(path_of, source)), tree, format_)
        for name, *source, tree, format_ in cursor.execute(asked, (repository,)).fetchall()
    }
    wanted = {wing.name: wing for wing in contents.wings.values() if wing.source is not None}
    stale = [
        name
        for name, (source, *_) in had.items()
        if (wanted[name].source != source if name in wanted else not contents.awaits(name, source))
    ]
    loosened = [*stale, *(name for name in wanted if is_whole and name in had and name not in stale)]
    if loosened:
        # A wing goes with the last that pins it, so that it is new where it is pinned again.
        cursor.execute("SELECT unpin(%s, %s)", (repository, list(map(stored_path, loosened))))
    changed = {name for name, wing in wanted.items() if had.get(name) != (wing.source, wing.tree, FORMAT)}
    kept = [
        name
        for name, wing in sorted(wanted.items(), key=lambda one: str(one[1].source))
        if (name in changed or is_whole) and not _fill_pinned(cursor, repository, contents, wing, is_whole=is_whole)
    ]
    return len(changed.union(stale)), tuple(kept) if is_whole else ()


def _fill_pinned(cursor: Any, repository: int, contents: Contents, wing: HubWing, *, is_whole: bool) -> bool:
    """Pin a wing, and return whether its files were written."""
    source = wing.source
    assert source is not None
    said = (repository, *map(stored_path, (wing.name, source.place, source.path)), source.commit, wing.tree, FORMAT)
    pinned = "SELECT id, is_new, is_owner() FROM pinned_wing(%s, %s, %s, %s, %s, %s, %s)"
    id_, is_new, is_owner = one_row(cursor.execute(pinned, said))
    if not (is_new or (is_whole and is_owner)):
        return False
    rows = WingRows(cursor, id_)
    rows.clear()
    _fill(rows, contents, wing, wing.files.keys())
    return True


def _link_again(cursor: Any, repository: int, contents: Contents) -> None:
    """Tell anew what short links mean: which files are there decides it."""
    asked = (
        "SELECT wing_id, name, file.id, path, content FROM file JOIN wing ON wing.id = wing_id"
        " WHERE repository_id = %s AND has_short_links"
    )
    for wing_id, name, id_, path, content in cursor.execute(asked, (repository,)).fetchall():
        wing = contents.wings[path_of(name)]
        loaded = interpret(parse_document(f"{wing.name}/{path_of(path)}", content))
        links, _ = contents.links(wing, loaded, content)
        WingRows(cursor, wing_id).link({id_: links}, is_again=True)
