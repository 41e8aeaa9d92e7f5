"""Whoosh's files in a folder, whose pickles are numbers, texts and collections of them: no class is looked up.

Whoosh pickles block headers, blocks and the extras of its tables.
A pickle may name whatever Python can import, and loading it calls that: whoever wrote the file would run code.
"""

from io import BytesIO
from pathlib import Path
from pickle import Unpickler, UnpicklingError
from typing import IO, Any, NoReturn

from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import StructFile


class PlainUnpickler(Unpickler):
    """Loads data; a pickle that names anything is no data."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        """Refuse what a pickle names."""
        raise UnpicklingError(f"a pickle in the index names `{module}.{name}`")


def load_plain(file: IO[bytes]) -> Any:
    """Return the object that starts where the file stands, or raise `UnpicklingError`."""
    return PlainUnpickler(file).load()


def loads_plain(content: bytes) -> Any:
    """Return the object that these bytes hold, or raise `UnpicklingError`."""
    return load_plain(BytesIO(content))


class PlainFile(StructFile):  # type: ignore[misc]
    """A file whose pickles are data: what names a class is refused."""

    def read_pickle(self) -> Any:
        """Read the pickle that starts here."""
        return load_plain(self.file)


class OwnedStorage(FileStorage):  # type: ignore[misc]
    """A folder that knows its open files: a reader or writer of Whoosh's that fails half-way closes none of its own."""

    def __init__(self, folder: Path) -> None:
        """Take the folder."""
        super().__init__(str(folder))
        self._path = folder
        self._files: list[Any] = []

    def open_file(self, name: str, **options: Any) -> Any:
        """Open a file for reading.

        It is read, not mapped: a mapped file that somebody cuts short ends the process, a read one raises.
        """
        # Closed by `release`.
        self._files.append(PlainFile((self._path / name).open("rb"), name=name, **options))
        return self._files[-1]

    def create_file(self, name: str, **options: Any) -> Any:
        """Open a file for writing."""
        self._files.append(super().create_file(name, **options))
        return self._files[-1]

    def release(self) -> None:
        """Close what is still open."""
        for file in self._files:
            if not file.is_closed:
                file.close()
        self._files.clear()
