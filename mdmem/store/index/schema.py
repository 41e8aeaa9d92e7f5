"""Define the fields of the Whoosh index, and store its files with checksums and without arbitrary pickles."""

from __future__ import annotations

import pickle
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any
from zlib import crc32

from whoosh import columns
from whoosh.codec import whoosh3
from whoosh.columns import VarBytesColumn
from whoosh.fields import FieldType, Schema
from whoosh.filedb.filestore import FileStorage, RamStorage
from whoosh.filedb.structfile import BufferFile, StructFile
from whoosh.formats import Existence, Positions
from whoosh.util.numeric import byte_to_length, length_to_byte

from mdmem.disk import read_regular
from mdmem.markdown.body import decision_sections, sections_of
from mdmem.model.entry import Searched
from mdmem.model.fields import searched_as
from mdmem.store.index import IndexDocument
from mdmem.store.index.analysis import VERSION, positions_of

FORMAT = f"5-{VERSION}"
"""Part of the name of the index folder. Increase the first number if the schema or the format of the files changes."""

SEARCHED = ("title", "text")
"""The fields in which a word is searched by default; `text` has the whole entry with its title and tags."""

WEIGHTS = {"title": 0.75, "text": 1.0, "decision": 0.5}
"""The fields whose scores are added, and the weight of each.

The weights were chosen with 88 questions about PEPs and KEPs. The mean reciprocal rank is .504 with these weights, and
.483 with weight 1 for the title and 0 for the decision. Title weights from .5 to .75 make no difference. 25 questions
about decisions confirmed this (.757 against .710).
"""

WORDS = (*WEIGHTS, "tags")
"""The fields that are searched by word."""

# The number of characters of a decision that are indexed. Few are longer, and very long ones would not be a summary.
_DECISION = 4000

EXACT = ("wing", "room", *searched_as(Searched.WHOLE))
"""The fields with exact values, which are compared in lower case."""

DATES = {name.removesuffix("_at"): name for name in searched_as(Searched.DATE)}
"""The date fields of the index, with the name of each in the front matter."""

FIELDS = (*WORDS, *EXACT, *DATES)


class _PackedPositions(Positions):  # type: ignore[misc]  # Whoosh has no types
    """Positions stored as an array of numbers, since Whoosh's own format is a pickle for each posting."""

    def decode_positions(self, content: bytes) -> Sequence[int]:
        return array("I", content)


class _Field(FieldType):  # type: ignore[misc]
    """A field whose terms are strings; a term from a path may contain bytes that are not UTF-8."""

    def to_bytes(self, value: str | bytes) -> bytes:
        return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")

    def from_bytes(self, content: bytes) -> str:
        return to_text(content)


class Words(_Field):
    """A field for the words of a text and their positions, which `analysis` has computed."""

    def __init__(self) -> None:
        """Set the format in which positions are stored."""
        super().__init__(_PackedPositions(), None, scorable=True)

    def index(self, value: Mapping[str, Sequence[int]], **_options: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Yield each term with its frequency, weight and positions."""
        for term, places in value.items():
            content = array("I", places).tobytes()
            yield term.encode("utf-8", "surrogatepass"), len(places), float(len(places)), content


class Values(_Field):
    """A field for exact values, which is either searchable or a column that is read for all documents at once."""

    def __init__(self, *, is_column: bool = False) -> None:
        """Set the format in which the values are stored."""
        super().__init__(Existence(), None, sortable=VarBytesColumn() if is_column else None)
        self.indexed = not is_column

    def index(self, value: Sequence[str], **_options: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Yield each different value once."""
        for one in dict.fromkeys(value):
            yield self.to_bytes(one), 1, 1.0, b""


def to_text(content: bytes) -> str:
    """Return a term or a key of the index as a string."""
    return bytes(content).decode("utf-8", "surrogatepass")


SCHEMA = Schema(
    row=Values(is_column=True),
    **{name: Words() for name in WORDS},
    **{name: Values() for name in (*EXACT, *DATES)},
)


def fields_of(document: IndexDocument) -> dict[str, Any]:
    """Return a document's values for Whoosh by field; fields of exact values are left out if they are empty."""
    stated = document.fields
    title = "\n".join(value for name in searched_as(Searched.TITLE) for value in stated.get(name, ()))
    tags = "\n".join(value for name in searched_as(Searched.TAG) for value in stated.get(name, ()))
    wing, room, _ = document.key.split("/")
    values: dict[str, tuple[str, ...]] = {"wing": (wing,), "room": (room,)}
    values |= {name: stated.get(name, ()) for name in searched_as(Searched.WHOLE)}
    values |= {name: stated.get(field, ()) for name, field in DATES.items()}
    found = {name: fold_values(one) for name, one in values.items()}
    texts = {
        "title": title,
        "text": f"{title}\n{document.body}\n{tags}",
        # Only the sections whose heading announces a decision.
        "decision": " ".join(one.text for one in decision_sections(sections_of(document.body)))[:_DECISION],
        "tags": tags,
    }
    words = {name: positions_of(text) for name, text in texts.items()}
    # Round the lengths as Whoosh does to store each in one byte.
    lengths = (byte_to_length(length_to_byte(sum(map(len, words[name].values())))) for name in WEIGHTS)
    row = " ".join([document.digest, *map(str, lengths), document.key])
    return {"row": row, **words, **{name: folded for name, folded in found.items() if folded}}


def rows_of(reader: Any) -> list[tuple[str, tuple[int, ...], str]]:
    """Return the hash, the lengths of the fields in `WEIGHTS`, and the key of each document in a segment."""
    # All three are in one column, because reading three columns would take three times as long.
    rows = (row.split(" ", len(WEIGHTS) + 1) for row in reader.column_reader("row"))
    return [(digest, tuple(map(int, lengths)), key) for digest, *lengths, key in rows]


def fold_values(values: Iterable[str]) -> list[str]:
    """Return values in the form in which they are compared: in lower case, with single spaces."""
    return [" ".join(value.casefold().split()) for value in values if value and value.strip()]


_SUM_BYTES = 4


def checksum(name: str, content: bytes | memoryview) -> bytes:
    """Return the checksum of a file's name and content; it includes the name, so that exchanged files are noticed."""
    # The table of contents is written under a temporary name.
    known = "toc" if ".toc" in name else name
    return crc32(content, crc32(known.encode())).to_bytes(4, "big")


# The only names that Whoosh's own pickles contain.
_ALLOWED = {
    ("whoosh.codec.whoosh3", "W3Codec"): whoosh3.W3Codec,
    ("whoosh.codec.whoosh3", "W3Segment"): whoosh3.W3Segment,
    ("collections", "defaultdict"): defaultdict,
    ("builtins", "int"): int,
    ("builtins", "set"): set,
}


class _GuardedUnpickler(pickle.Unpickler):
    """An unpickler that refuses every name that is not in `_ALLOWED`."""

    def find_class(self, module: str, name: str, /) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"the index names {module}.{name}")
        return _ALLOWED[module, name]


# Replace the functions with which Whoosh unpickles postings and stored values. Whoosh has no setting for this.
whoosh3.loads = columns.loads = lambda content: _GuardedUnpickler(BytesIO(content)).load()
# Whoosh's protocol, 2, stores bytes as a function call, which needs twice the space and a third name in the allow-list.
whoosh3.dumps = lambda value, _protocol: pickle.dumps(value, 5)


class _GuardedFile(BufferFile):  # type: ignore[misc]  # Whoosh has no types
    """A file for reading, whose pickles are loaded with the guarded unpickler."""

    def read_pickle(self) -> Any:
        return _GuardedUnpickler(self.file).load()


class _SummedFile(StructFile):  # type: ignore[misc]
    """A file for writing, to which `close` appends the checksum."""

    def close(self) -> None:
        self.file.flush()
        self.file.seek(0)
        self.file.write(checksum(Path(self.file.name).name, self.file.read()))
        super().close()


class MemoryStorage(RamStorage):  # type: ignore[misc]
    """Files in memory; Whoosh's own class would put its temporary files in a shared folder on disk."""

    def temp_storage(self, name: str | None = None) -> MemoryStorage:  # noqa: ARG002  # Whoosh's name
        """Return a storage for temporary files."""
        return MemoryStorage()


class CheckedStorage(FileStorage):  # type: ignore[misc]
    """A folder of files that end with a checksum, so that a damaged file raises ValueError."""

    def __init__(self, folder: Path) -> None:
        """Take the folder."""
        super().__init__(str(folder), supports_mmap=False)
        self._path = folder
        self._written: list[_SummedFile] = []

    def create_file(self, name: str, **_options: Any) -> Any:
        """Open a file for writing."""
        self._written.append(_SummedFile((self._path / name).open("w+b"), name=name))
        return self._written[-1]

    def open_file(self, name: str, **_options: Any) -> Any:
        """Open a file for reading; raises ValueError if the checksum is wrong."""
        # Memory-mapping is not used, since a truncated file would crash the process.
        content = read_regular(self._path / name)
        body = memoryview(content)[:-_SUM_BYTES]
        if len(content) < _SUM_BYTES or checksum(name, body) != content[-_SUM_BYTES:]:
            # This error is no OSError, because Whoosh would retry after an OSError for half a second.
            raise ValueError(f"{name} is damaged")
        # Leave the checksum at the end, since nothing reads it and removing it would copy the content.
        return _GuardedFile(content, name=name)

    def file_length(self, name: str) -> int:
        """Return the length of a file in bytes, without its checksum."""
        return (self._path / name).stat().st_size - _SUM_BYTES

    temp_storage = MemoryStorage.temp_storage

    def lock(self, name: str) -> Any:  # noqa: ARG002  # Whoosh's name
        """Return a lock that is always free, since the writer has already locked the whole folder."""
        return Lock()

    def close_written(self) -> None:
        """Close the files that a failed write left open."""
        for file in self._written:
            file.file.close()
        self._written.clear()
