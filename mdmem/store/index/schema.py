"""The fields of the Whoosh index, and how a document fills them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from whoosh.columns import VarBytesColumn
from whoosh.fields import FieldType, Schema
from whoosh.formats import Existence, Positions
from whoosh.util.numeric import byte_to_length, length_to_byte

from mdmem.markdown.headings import decision_sections, sections_of
from mdmem.model.entry import Searched
from mdmem.model.fields import searched_as
from mdmem.store.index.analysis import VERSION, positions_of
from mdmem.store.index.records import IndexDocument

FORMAT = f"4-{VERSION}"
"""Is part of the name of an index's folder. Raise the first number with every change of the schema or the files."""

SEARCHED = ("title", "text")
"""The fields that a word without a field is searched in; the second has the whole entry, title and tags included."""

WEIGHTS = {"title": 0.75, "text": 1.0, "decision": 0.5}
"""The fields whose scores are added, and the weight of each.

Chosen on PEPs and KEPs (88 questions, mean reciprocal rank .483 with the title at 1 and without the decision, .504 with
these; .5 to .75 for the title are alike), confirmed on decisions (25 questions, .710 and .757).
"""

WORDS = (*WEIGHTS, "tags")
"""The fields that are searched by word."""

# Characters of a decision: few are longer, and a section of many pages is no summary.
_DECISION = 4000

EXACT = ("wing", "room", *searched_as(Searched.WHOLE))
"""The fields with one value, which is compared without case."""

DATES = {name.removesuffix("_at"): name for name in searched_as(Searched.DATE)}
"""The fields with a date, and the name of each in the front matter."""

FIELDS = (*WORDS, *EXACT, *DATES)


class _PackedPositions(Positions):  # type: ignore[misc]  # Whoosh has no types
    """Positions as an array of numbers: Whoosh's own are a pickle for each posting."""

    def encode(self, places: Sequence[int]) -> bytes:
        kind = "H" if places[-1] < 1 << 16 else "I"
        return kind.encode() + array(kind, places).tobytes()

    def decode_positions(self, content: bytes) -> Sequence[int]:
        places = array("H" if content[:1] == b"H" else "I")
        places.frombytes(content[1:])
        return places

    def decode_frequency(self, content: bytes) -> int:
        return len(self.decode_positions(content))


class _Field(FieldType):  # type: ignore[misc]
    """A field whose terms are texts; a path may contain bytes that are not UTF-8."""

    def to_bytes(self, value: str | bytes) -> bytes:
        return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")

    def from_bytes(self, content: bytes) -> str:
        return to_text(content)


class Words(_Field):
    """The words of a text with their positions, as our analyser finds them."""

    def __init__(self) -> None:
        """Set the format of the postings."""
        super().__init__(_PackedPositions(), None, scorable=True)

    def index(self, value: Mapping[str, Sequence[int]], **_options: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Yield each term with its frequency, weight and positions."""
        for term, places in value.items():
            yield self.to_bytes(term), len(places), float(len(places)), self.format.encode(places)


class Values(_Field):
    """A field for exact values. It is either searchable, or a column that is read for all documents at once."""

    def __init__(self, *, is_column: bool = False) -> None:
        """Set the format of the postings, or of the column."""
        super().__init__(Existence(), None, sortable=VarBytesColumn() if is_column else None)
        self.indexed = not is_column

    def index(self, value: Sequence[str], **_options: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Yield each value once."""
        for one in dict.fromkeys(value):
            yield self.to_bytes(one), 1, 1.0, b""


def to_text(content: bytes) -> str:
    """Return the text of a term or a key of the index."""
    return bytes(content).decode("utf-8", "surrogatepass")


SCHEMA = Schema(
    row=Values(is_column=True),
    **{name: Words() for name in WORDS},
    **{name: Values() for name in (*EXACT, *DATES)},
)


def fields_of(document: IndexDocument) -> dict[str, Any]:
    """Return a document's values for Whoosh; a field without a value is left out."""
    stated = document.fields
    title = "\n".join(value for name in searched_as(Searched.TITLE) for value in stated.get(name, ()))
    tags = "\n".join(value for name in searched_as(Searched.TAG) for value in stated.get(name, ()))
    values: dict[str, tuple[str, ...]] = {"wing": (document.wing,), "room": (document.room,)}
    values |= {name: stated.get(name, ()) for name in searched_as(Searched.WHOLE)}
    values |= {name: stated.get(field, ()) for name, field in DATES.items()}
    found = {name: fold_values(one) for name, one in values.items()}
    texts = {
        "title": title,
        "text": f"{title}\n{document.body}\n{tags}",
        "decision": _decision_of(document.body),
        "tags": tags,
    }
    words = {name: positions_of(text) for name, text in texts.items()}
    lengths = (_rounded(sum(map(len, words[name].values()))) for name in WEIGHTS)
    row = " ".join([document.digest, *map(str, lengths), document.key])
    return {"row": row, **words, **{name: folded for name, folded in found.items() if folded}}


def _rounded(length: int) -> int:
    """Return a length as Whoosh reads it back, from one byte."""
    return int(byte_to_length(length_to_byte(length)))


def rows_of(reader: Any) -> list[tuple[str, tuple[int, ...], str]]:
    """Return the digest, the lengths of the fields of `WEIGHTS`, and the key of each document of a segment.

    One column has them all, since a column is read value by value.
    """
    rows = (row.split(" ", len(WEIGHTS) + 1) for row in reader.column_reader("row"))
    return [(digest, tuple(map(int, lengths)), key) for digest, *lengths, key in rows]


def _decision_of(body: str) -> str:
    """Return the section that states the decision; nothing if no heading says so."""
    return " ".join(one.text for one in decision_sections(sections_of(body)))[:_DECISION]


def fold_values(values: Iterable[str]) -> list[str]:
    """Return values in the form that is compared: in one case, with single blanks."""
    return [" ".join(value.casefold().split()) for value in values if value and value.strip()]
