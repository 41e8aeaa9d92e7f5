"""Sending a commit to the hub, with as little work as the difference to the one that it has asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.hub.connection import REBUILD, HubError, in_turn, one_row
from mdmem.hub.contents import Contents, HubWing, WingSource, narrow_settings
from mdmem.hub.names import remote_place
from mdmem.hub.repositories import HubRepository, take_repository
from mdmem.hub.rows import (
    COLUMNS,
    FORMAT,
    SCORED,
    HubFile,
    Link,
    columns_of,
    lengths_in,
    path_of,
    plain_text,
    stored_path,
    unpacked_lengths,
    words_of,
)
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Wing
from mdmem.store.catalog import interpret
from mdmem.store.catalog.addresses import MANIFEST
from mdmem.store.git import Repository, resolve
from mdmem.store.git.fetch import has_commit
from mdmem.store.git.merge import committed_at, is_ancestor, is_shallow, leading_to, led_to_any
from mdmem.store.git.process import UNSHALLOW
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection


# So many rows are sent at once.
_PORTION = 200


class ListedFile(NamedTuple):
    """What tells whether a file in the hub is the one of a commit."""

    id: int
    kind: str
    blob: str | None


class WingFigures:
    """How many entries and passages are in a wing, or come and go, and the sums of their words by scored field."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.documents = self.passages = 0
        self.lengths = [0] * len(SCORED)

    def add(self, lengths: Sequence[Sequence[int]], *, sign: int = 1) -> None:
        """Take an entry in, by the lengths of its passages; with the sign -1, out."""
        self.documents += sign
        self.passages += sign * len(lengths)
        for column, words in enumerate(map(sum, zip(*lengths, strict=True))):
            self.lengths[column] += sign * words

    def add_file(self, file: HubFile) -> None:
        """Take a file in, if it is an entry."""
        if file.passages:
            self.add(lengths_in(file.passages))


class WingRows:
    """The rows of one wing within a transaction; its figures follow at the end of it."""

    def __init__(self, cursor: Any, wing: int) -> None:
        """Take the cursor of the transaction and the wing's id."""
        self._cursor, self.id = cursor, wing
        self._figures = WingFigures()

    def listed(self) -> dict[str, ListedFile]:
        """Return the files by path."""
        rows = self._cursor.execute("SELECT path, id, kind, blob FROM file WHERE wing_id = %s", (self.id,))
        return {path_of(path): ListedFile(*rest) for path, *rest in rows}

    def clear(self) -> None:
        """Take out all there is, whatever it is packed in."""
        self._cursor.execute("DELETE FROM file WHERE wing_id = %s", (self.id,))
        self._cursor.execute(
            "UPDATE wing SET documents = 0, passages = 0, lengths = '{}', is_shared = false, owners = '{}', format = %s"
            " WHERE id = %s",
            (FORMAT, self.id),
        )

    def drop(self, ids: Sequence[int]) -> None:
        """Take files out."""
        if not ids:
            return
        gone = "DELETE FROM file WHERE id = ANY(%s) RETURNING type IS NOT NULL, lengths"
        for is_entry, packed in self._cursor.execute(gone, (ids,), binary=True):
            lengths = unpacked_lengths(packed)
            if is_entry and lengths is None:
                raise HubError(f"a row of the hub is damaged; {REBUILD}")
            if lengths is not None:
                self._figures.add(lengths, sign=-1)

    def add(self, files: Iterable[HubFile]) -> int:
        """Put files in and return their number."""
        portion: list[HubFile] = []
        number = 0
        for file in files:
            portion.append(file)
            if len(portion) == _PORTION:
                number += self._sent(portion)
                portion = []
        return number + self._sent(portion)

    def _sent(self, files: Sequence[HubFile]) -> int:
        if not files:
            return 0
        ids = []
        rows = [(self.id, *columns_of(file), words_of(file, self.id)) for file in files]
        self._cursor.executemany(_INSERT, rows, returning=True)
        while True:
            ids.append(self._cursor.fetchone()[0])
            if not self._cursor.nextset():
                break
        self.link({id_: file.links for id_, file in zip(ids, files, strict=True)})
        for file in files:
            self._figures.add_file(file)
        return len(files)

    def link(self, links: Mapping[int, Iterable[Link]], *, is_again: bool = False) -> None:
        """Put in what files link, by their ids; `is_again` says in the place of what they linked."""
        if is_again:
            self._cursor.execute("DELETE FROM link WHERE wing_id = %s AND file_id = ANY(%s)", (self.id, list(links)))
        rows = [(id_, name, plain_text(stored_path(to))) for id_, held in links.items() for name, to in sorted(held)]
        if rows:
            ids, names, targets = map(list, zip(*rows, strict=True))
            self._cursor.execute(_LINK, (self.id, ids, names, targets))

    def state(self, wing: Wing) -> None:
        """Put in what the manifest says of the wing."""
        owners = list(map(plain_text, wing.owners))
        self._cursor.execute(
            "UPDATE wing SET is_shared = %s, owners = %s WHERE id = %s", (wing.is_shared, owners, self.id)
        )

    def finish(self) -> None:
        """Bring the wing's figures up to date."""
        had = self._figures
        self._cursor.execute(_FIGURES, (had.documents, had.passages, had.lengths, self.id))


_FIGURES = (
    "UPDATE wing SET documents = documents + %s, passages = passages + %s, lengths = ("
    "SELECT array_agg(coalesce(had, 0) + coalesce(gained, 0) ORDER BY place)"
    " FROM unnest(wing.lengths, %s::bigint[]) WITH ORDINALITY AS one (had, gained, place)) WHERE id = %s"
)
_BINARY = ("content", "record", "lengths")
_INSERT = (
    f"INSERT INTO file (wing_id, {', '.join(COLUMNS)}, words)"
    f" VALUES (%s, {', '.join('%b' if name in _BINARY else '%s' for name in COLUMNS)}, %s::tsvector) RETURNING id"
)
_LINK = (
    "INSERT INTO link (file_id, wing_id, field, target) SELECT id, %s, field, target"
    " FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS one (id, field, target) ON CONFLICT DO NOTHING"
)


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


class Succession(StrEnum):
    """How a commit stands to the one that the hub has."""

    FIRST = "first"
    NEWER = "newer"
    SAME = "same"
    OLDER = "older"
    REWRITTEN = "rewritten"


def succession(cursor: Any, git: Repository, held: HubRepository, commit: str, *, is_rewritten: bool) -> Succession:
    """Return how a commit stands to the one that the hub has, whose place it takes without following if `is_rewritten`.

    Raises UsageError where that would be needed, or where it goes on from what the hub has left, and
    EnvironmentFaultError where too little of the history is here to tell.
    """
    had = held.commit
    if had is None:
        return Succession.FIRST
    if had == commit:
        return Succession.SAME
    if is_ancestor(git, had, commit):
        return Succession.NEWER
    cursor.execute("SELECT commit, is_left FROM push WHERE repository_id = %s", (held.id,))
    pushed = dict(cursor.fetchall())
    if commit in pushed or led_to_any(git, commit, {had, *pushed}):
        return Succession.OLDER
    named = f"`{held.name}` is at {had[:10]} in the hub"
    if is_shallow(git):
        raise EnvironmentFaultError(f"{named}, and the history here is cut off before it; {UNSHALLOW}")
    if leading_to(git, (one for one, is_left in pushed.items() if is_left), commit):
        forget = f"`mdmem hub forget {held.name}` and a push take it all the same"
        raise UsageError(f"{named}; {commit[:10]} goes on from what it was rewritten without; {forget}")
    if not is_rewritten:
        why = (
            "does not follow from it"
            if has_commit(git, had)
            else "is not known to follow from it: it is not in this clone"
        )
        raise UsageError(
            f"{named}, and {commit[:10]} {why}; fetch first, or `--rewritten` if the history was rewritten"
        )
    return Succession.REWRITTEN


def leave_others(cursor: Any, git: Repository, held: HubRepository, commit: str) -> None:
    """Note which of the commits that the hub had do not lead to the one that takes their place."""
    cursor.execute("SELECT DISTINCT commit FROM push WHERE repository_id = %s AND NOT is_left", (held.id,))
    had = {one for (one,) in cursor.fetchall()}
    left = list(had - leading_to(git, had, commit))
    cursor.execute("UPDATE push SET is_left = true WHERE repository_id = %s AND commit = ANY(%s)", (held.id, left))


class PushRequest(Struct, frozen=True):
    """Which commit goes to the hub, under which name; None for the repository's own.

    `is_rewritten` lets a commit take the place of one that it does not follow from, `is_new` says that the hub has the
    history under another name and is to have it twice, `is_whole` that everything is sent anew.
    """

    repository: str | None = None
    commit: str = "HEAD"
    is_rewritten: bool = False
    is_new: bool = False
    is_whole: bool = False


class PushResult(Struct, frozen=True):
    """What became of a push: `commit` is the one that the hub has now, `before` the one that it had.

    `pushed` is the commit that was asked for, `brought` what was changed, `missing` the sentences about wings of other
    repositories that are not at hand.
    """

    repository: str
    pushed: str
    commit: str
    before: str | None
    succession: Succession
    brought: TransferResult
    missing: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Say whether the hub had all of it, or something newer, already."""
        is_same = self.succession is Succession.SAME and not self.brought
        return is_same or self.succession is Succession.OLDER


def push(workspace: Workspace, connection: HubConnection, request: PushRequest) -> PushResult:
    """Bring the hub to a commit of this memory, wholly or not at all; it never goes back to an older one.

    Raises UsageError, HubError, HubRaceError and what git raises.
    """
    commit = resolve(workspace.location.get_repository(), request.commit)
    contents = Contents(workspace, commit)
    return in_turn(connection, lambda cursor: _pushed(cursor, contents, request))


def _pushed(cursor: Any, contents: Contents, request: PushRequest) -> PushResult:
    location, commit = contents.workspace.location, contents.commit
    git = location.get_repository()
    held = take_repository(cursor, contents, given=request.repository, is_new=request.is_new)
    how = succession(cursor, git, held, commit, is_rewritten=request.is_rewritten)
    if how is Succession.OLDER:
        return PushResult(held.name, commit, held.commit or commit, held.commit, how, TransferResult())
    if how is Succession.REWRITTEN:
        leave_others(cursor, git, held, commit)
    brought = transfer(cursor, held.id, contents, is_whole=request.is_whole)
    result = PushResult(held.name, commit, commit, held.commit, how, brought, contents.missing_said)
    is_noted = (held.format, held.url) == (FORMAT, remote_place(contents.remote)) and not request.is_whole
    if not (result.is_unchanged and is_noted):
        _note(cursor, held, contents)
    return result


def _note(cursor: Any, held: HubRepository, contents: Contents) -> None:
    """Write which commit the hub has of a repository from now on."""
    location, commit = contents.workspace.location, contents.commit
    git = location.get_repository()
    stated = {
        "id": held.id,
        "root": location.under,
        "url": remote_place(contents.remote),
        # Where a history begins does not change.
        "roots": contents.roots if held.commit is None else None,
        "commit": commit,
        "committed": committed_at(git, commit),
        "format": FORMAT,
        "settings": contents.settings,
        "tracked": list(map(plain_text, contents.tracked)),
        "narrow": narrow_settings(contents.settings),
    }
    cursor.execute(_NOTE, stated)
    cursor.execute(_PUSH, stated)


_NOTE = (
    "UPDATE repository SET root = %(root)s, url = %(url)s, roots = coalesce(%(roots)s, roots), commit = %(commit)s,"
    " committed_at = %(committed)s, pushed_at = now(), serial = serial + 1, format = %(format)s,"
    " settings = %(settings)b, narrow_settings = %(narrow)b, tracked = %(tracked)s WHERE id = %(id)s"
)
_PUSH = "INSERT INTO push (repository_id, serial, commit) SELECT id, serial, commit FROM repository WHERE id = %(id)s"
