"""The fields of the Whoosh index, and what a document gives to each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from whoosh.columns import VarBytesColumn
from whoosh.fields import FieldType, Schema
from whoosh.formats import Existence, Positions

from mdmem.model.fields import searched_as
from mdmem.model.kinds import Searched
from mdmem.store.index.analysis import VERSION, positions_of
from mdmem.store.index.protocol import IndexDocument

FORMAT = f"1-{VERSION}"
"""Names the folder of an index. Raise the first number with every change of the schema or of the files."""

WORDS = ("title", "text", "tags")
"""The fields that hold words; `text` holds those of the others, too."""

EXACT = ("wing", "room", *searched_as(Searched.WHOLE))
"""The fields that hold one value, compared without case."""

DATES = {name.removesuffix("_at"): name for name in searched_as(Searched.DATE)}
"""The fields that hold a date, with the name of each in the front matter."""

FIELDS = (*WORDS, *EXACT, *DATES)


class _Places(Positions):  # type: ignore[misc]  # Whoosh states no types
    """Positions as an array: Whoosh's own are a pickle for each posting, which takes twice as long."""

    def encode(self, places: Sequence[int]) -> bytes:
        """Return the bytes of some positions."""
        kind = "H" if places[-1] < 1 << 16 else "I"
        return kind.encode() + array(kind, places).tobytes()

    def decode_positions(self, content: bytes) -> Sequence[int]:
        """Return the positions in some bytes."""
        found = array("H" if content[:1] == b"H" else "I")
        found.frombytes(content[1:])
        return found

    def decode_frequency(self, content: bytes) -> int:
        """Return how many positions there are."""
        return len(self.decode_positions(content))


class Words(FieldType):  # type: ignore[misc]
    """A text, analysed by our analyser, with the positions of its words."""

    def __init__(self) -> None:
        """Set what Whoosh asks of a field."""
        super().__init__(_Places(), None, scorable=True)

    def index(self, value: str, **_options: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Yield each term with its frequency, its weight and its positions."""
        encode = self.format.encode
        for term, places in positions_of(value).items():
            yield to_bytes(term), len(places), float(len(places)), encode(places)

    def to_bytes(self, value: str | bytes) -> bytes:
        """Return a term as the index holds it."""
        return to_bytes(value)

    def from_bytes(self, bs: bytes) -> str:
        """Return a term of the index as text."""
        return to_text(bs)


class Values(FieldType):  # type: ignore[misc]
    """Values that are compared as they are; a field with a column can be read for all documents at once."""

    def __init__(self, *, has_column: bool = False) -> None:
        """Set what Whoosh asks of a field."""
        super().__init__(Existence(), None, sortable=VarBytesColumn() if has_column else None)
        self.indexed = not has_column

    def index(self, value: Sequence[str], **_options: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Yield each value once."""
        for one in dict.fromkeys(value):
            yield to_bytes(one), 1, 1.0, b""

    def to_bytes(self, value: str | bytes) -> bytes:
        """Return a value as the index holds it."""
        return to_bytes(value)

    def from_bytes(self, bs: bytes) -> str:
        """Return a value of the index as text."""
        return to_text(bs)


def to_bytes(value: str | bytes) -> bytes:
    """Return a text as bytes; a path may hold what is no Unicode."""
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


def to_text(value: bytes) -> str:
    """Return the text of a term or a key of the index."""
    return bytes(value).decode("utf-8", "surrogatepass")


SCHEMA = Schema(
    key=Values(has_column=True),
    digest=Values(has_column=True),
    **{name: Words() for name in WORDS},
    **{name: Values() for name in (*EXACT, *DATES)},
)


def fields_of(document: IndexDocument) -> dict[str, Any]:
    """Return what Whoosh takes in of a document; a field without a value is left out."""
    given: Mapping[str, tuple[str, ...]] = document.fields
    title = "\n".join(value for name in searched_as(Searched.TITLE) for value in given.get(name, ()))
    tags = "\n".join(value for name in searched_as(Searched.TAG) for value in given.get(name, ()))
    values: dict[str, tuple[str, ...]] = {"wing": (document.wing,), "room": (document.room,)}
    values |= {name: given[name] for name in searched_as(Searched.WHOLE) if name in given}
    values |= {name: given[field] for name, field in DATES.items() if field in given}
    return {
        "key": document.key,
        "digest": document.digest,
        "title": title,
        "text": f"{title}\n{document.body}\n{tags}",
        "tags": tags,
        **{name: folded for name, one in values.items() if (folded := fold_values(one))},
    }


def fold_values(values: Iterable[str]) -> list[str]:
    """Return values as they are compared: without case, and with single blanks."""
    return [" ".join(value.casefold().split()) for value in values if value and value.strip()]
