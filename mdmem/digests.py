"""Identities of what files hold: whether a text is a digest, and which of many digests changed."""

from collections.abc import Iterator, Mapping
from itertools import compress
from operator import ne

_AT_ONCE = 512


def is_hex(text: str, *sizes: int) -> bool:
    """Say whether a text is a digest of one of the sizes: hexadecimal digits, the letters small."""
    return len(text) in sizes and not text.strip("0123456789abcdef")


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
