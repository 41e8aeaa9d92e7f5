"""Digests of few bytes without OpenSSL, which loads for longer than it digests some files, and what has another one."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import compress
from operator import ne

try:
    from _blake2 import blake2b
    from _sha1 import sha1 as _sha1  # type: ignore[import-not-found]  # of Python, though not told of
except ImportError:
    # Python may be built without its own.
    from hashlib import blake2b
    from hashlib import sha1 as _sha1

__all__ = ["blake2b", "identity_of", "is_hex", "sha1", "unlike"]

# In bytes: OpenSSL loads in 4 ms and digests ten megabytes in a sixth of the 80 ms that Python's own takes.
_FEW = 1 << 20
_AT_ONCE = 512
_digested: Counter[str] = Counter()


def sha1(content: bytes) -> str:
    """Return the SHA-1 of bytes in hexadecimal digits, by OpenSSL where it is loaded, or there is much to digest."""
    if _digested["sha1"] > _FEW or "_hashlib" in sys.modules:
        import hashlib

        return hashlib.sha1(content, usedforsecurity=False).hexdigest()
    _digested["sha1"] += len(content)
    digest: str = _sha1(content, usedforsecurity=False).hexdigest()
    return digest


def is_hex(text: str, *sizes: int) -> bool:
    """Say whether a text is a digest of one of the sizes: hexadecimal digits, the letters small."""
    return len(text) in sizes and not text.strip("0123456789abcdef")


def identity_of(digests: Mapping[str, str]) -> str:
    """Return what is the same for the same paths with the same digests in the same order alone."""
    # No path holds the sign between them.
    found = blake2b("\0".join(digests).encode("utf-8", "surrogatepass"), digest_size=32)
    found.update(b"\0\0")
    found.update("\0".join(digests.values()).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def unlike(known: Mapping[str, str], digests: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths that have another digest, or one of the two alone; of thousands no step is Python's."""
    paths = list(digests)
    if paths == list(known):
        # Of one listing after another the paths are the same in order, and nothing is looked up: lists that hold the
        # same texts are alike at a tenth of what it takes to compare these one by one.
        before, now = list(known.values()), list(digests.values())
        for start in range(0, len(paths), _AT_ONCE) if before != now else ():
            some = slice(start, start + _AT_ONCE)
            if before[some] != now[some]:
                yield from compress(paths[some], map(ne, before[some], now[some]))
        return
    found = list(map(known.get, digests))
    yield from compress(digests, map(ne, found, digests.values()))
    if len(known) > len(digests) - found.count(None):
        yield from known.keys() - digests.keys()
