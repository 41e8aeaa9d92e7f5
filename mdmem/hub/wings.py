"""The wings of a repository in the hub, and the rows of their files: read, taken out, put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mdmem.hub.connection import REBUILD, HubError
from mdmem.hub.rows import (
    COLUMNS,
    FORMAT,
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
from mdmem.hub.scoring import SCORED
from mdmem.model.entry import Wing

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
