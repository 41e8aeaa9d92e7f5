"""The bytes of many files from one process."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING
from weakref import finalize

from mdmem.store.git.process import SAFE, Repository, variables_for

if TYPE_CHECKING:
    import subprocess


class BlobReader:
    """One `git cat-file --batch` that answers until it is closed or forgotten; it starts with the first question."""

    def __init__(self, repository: Repository) -> None:
        """Take the repository; no process runs yet."""

        self._repository = repository
        self._git: subprocess.Popen[bytes] | None = None
        self._ended = 0
        self._closing: finalize[..., BlobReader] | None = None

    def read(self, digests: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield each blob's digest and bytes, in the order asked; None for one that is missing."""
        # Asking in portions keeps both pipes short of their limits, so that neither side waits for ever.
        for start in range(0, len(digests), _PORTION):
            portion = digests[start : start + _PORTION]
            # A portion is read to its end before any of it is handed out: the caller may stop half-way.
            yield from list(zip(portion, self._ask(portion), strict=True))

    def _ask(self, digests: Sequence[str]) -> list[bytes | None]:
        found: list[bytes | None] = []
        while len(found) < len(digests) and self._ended < _PATIENCE:
            found += self._answers(digests[len(found) :])
            if len(found) < len(digests):
                # git ends at a blob that is damaged, or that a partial clone cannot fetch: others may still be there.
                found.append(None)
                self.close()
                self._git, self._ended = None, self._ended + 1
        return found + [None] * (len(digests) - len(found))

    def _answers(self, digests: Sequence[str]) -> list[bytes | None]:
        """Return what git says of each until it ends."""
        git = self._started()
        assert git.stdin is not None
        assert git.stdout is not None
        with suppress(BrokenPipeError):
            git.stdin.write("".join(f"{digest}\n" for digest in digests).encode())
            git.stdin.flush()
        found = []
        for _ in digests:
            try:
                found.append(_read_blob(git.stdout))
            except EOFError:
                break
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._git is None:
            self._git = subprocess.Popen(
                ["git", *SAFE, "cat-file", "--batch"],
                cwd=self._repository.top,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=variables_for(None, self._repository.variables),
            )
            self._closing = finalize(self, _end, self._git)
        return self._git

    def close(self) -> None:
        """End the process, if one runs."""
        if self._closing is not None:
            self._closing()


_PORTION = 256
# Each end may be a fetch that timed out: where so many blobs cannot be had, the rest is not waited for.
_PATIENCE = 20


def _end(git: subprocess.Popen[bytes]) -> None:
    # Leaving the context closes both pipes and waits, which is what ends the process.
    with suppress(BrokenPipeError), git:
        pass


def read_blobs(repository: Repository, digests: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield each blob's digest and bytes, in the order asked, from one git process; None for one that is missing."""
    reader = BlobReader(repository)
    try:
        yield from reader.read(digests)
    finally:
        reader.close()


def _read_blob(stream: IO[bytes]) -> bytes | None:
    """Return the next blob, or None where git says that it is missing; raises EOFError where git ended."""
    header = stream.readline()
    if header.endswith(b" missing\n"):
        return None
    size = int(header.split(b" ")[2]) if header.endswith(b"\n") else 0
    content = stream.read(size + 1)
    if not header or len(content) <= size:
        raise EOFError
    return content[:-1]
