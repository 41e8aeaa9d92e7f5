"""The bytes of many files from one process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO
from weakref import finalize

from mdmem.gitrepo.process import SAFE, Repository, environment_for


class BlobReader:
    """One `git cat-file --batch` that answers until it is closed or forgotten; it starts with the first question."""

    def __init__(self, repository: Repository) -> None:
        """Take the repository; no process runs yet."""
        self._repository = repository
        self._git: subprocess.Popen[bytes] | None = None
        self._closing: finalize[..., BlobReader] | None = None

    def read(self, digests: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield each blob's digest and bytes, in the order asked; None for one that is missing."""
        # Asking in portions keeps both pipes short of their limits, so that neither side waits for ever.
        for start in range(0, len(digests), _PORTION):
            portion = digests[start : start + _PORTION]
            # A portion is read to its end before any of it is handed out: the caller may stop half-way.
            yield from list(zip(portion, self._ask(portion), strict=True))

    def _ask(self, digests: Sequence[str]) -> list[bytes | None]:
        git = self._started()
        assert git.stdin is not None
        assert git.stdout is not None
        git.stdin.write("".join(f"{digest}\n" for digest in digests).encode())
        git.stdin.flush()
        return [_read_blob(git.stdout) for _ in digests]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._git is None:
            self._git = subprocess.Popen(
                ["git", *SAFE, "cat-file", "--batch"],
                cwd=self._repository.top,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment_for(os.environ, None),
            )
            self._closing = finalize(self, _end, self._git)
        return self._git

    def close(self) -> None:
        """End the process, if one runs."""
        if self._closing is not None:
            self._closing()


_PORTION = 256


def _end(git: subprocess.Popen[bytes]) -> None:
    # Leaving the context closes both pipes and waits, which is what ends the process.
    with git:
        pass


def read_blobs(repository: Repository, digests: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield each blob's digest and bytes, in the order asked, from one git process; None for one that is missing."""
    reader = BlobReader(repository)
    try:
        yield from reader.read(digests)
    finally:
        reader.close()


def _read_blob(stream: IO[bytes]) -> bytes | None:
    header = stream.readline()
    if not header or header.endswith(b" missing\n"):
        return None
    content = stream.read(int(header.split(b" ")[2]))
    stream.read(1)
    return content
