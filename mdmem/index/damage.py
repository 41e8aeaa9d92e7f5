"""What a broken index is to us, and the door where Whoosh's ways to say so become one."""

from types import TracebackType


class DamagedIndexError(Exception):
    """The index cannot be read; a scan still answers, and the next writer builds it anew."""


class reading:  # noqa: N801 - read as a word in a `with` statement
    """Turns any failure inside into `DamagedIndexError`.

    A torn file makes Whoosh fail with whatever its unpickling and unpacking run into, a bare `Exception` included.
    """

    def __enter__(self) -> None:
        """Start to read."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Raise what is ours, from what was Whoosh's."""
        if isinstance(error, Exception) and not isinstance(error, DamagedIndexError):
            raise DamagedIndexError(f"the index is damaged: {type(error).__name__}: {error}") from error
