"""The Whoosh schema; its classes are pickled by name into every index, which moving one makes unreadable."""

from collections.abc import Iterator, Mapping
from typing import Any

from whoosh.fields import STORED, FieldType, Schema
from whoosh.formats import Existence

from mdmem.index.terms import FIELDS


class Counted(FieldType):  # type: ignore[misc]
    """A field that is given its terms with their frequencies, analysed already.

    The frequency is stored as the posting's weight, which Whoosh keeps at less cost than a value with it.
    """

    def __init__(self) -> None:
        """Set what Whoosh asks a field for: no analyser, no stored text, no lengths."""
        super().__init__(Existence(), None)

    def index(self, value: Mapping[str, int], **_options: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Yield each term as Whoosh takes it in."""
        for text, frequency in value.items():
            yield text.encode("utf-8", "surrogatepass"), frequency, float(frequency), b""


def schema() -> Schema:
    """Return the fields of the index."""
    return Schema(key=STORED(), **{name: Counted() for name in FIELDS})
