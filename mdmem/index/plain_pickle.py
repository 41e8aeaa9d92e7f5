"""Unpickling that gives numbers, texts and collections of them, and refuses to look up any class or function.

Whoosh pickles block headers, blocks and the extras of its tables.
A pickle may name whatever Python can import, and loading it calls that: whoever wrote the file would run code.
"""

from io import BytesIO
from pickle import Unpickler, UnpicklingError
from typing import IO, Any, NoReturn


class PlainUnpickler(Unpickler):
    """Loads data; a pickle that names anything is no data."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        """Refuse what a pickle names."""
        raise UnpicklingError(f"a pickle in the index names `{module}.{name}`")


def load(file: IO[bytes]) -> Any:
    """Return the object that starts where the file stands, or raise `UnpicklingError`."""
    return PlainUnpickler(file).load()


def loads(content: bytes) -> Any:
    """Return the object that these bytes hold, or raise `UnpicklingError`."""
    return load(BytesIO(content))
