"""The search of the pages: scripts by the first two letters of a term, so that a question loads what it needs.

A script and no JSON: a page that is opened as a file may load the one and not the other. Terms are those of the index,
weights those of BM25 with the title three times, in tenths.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import log

TITLE = 3
_K1, _B = 1.5, 0.75
_LARGEST = 64_000
# A word that one of three entries holds finds nothing, and its list is the longest.
_COMMON = 3


def shards(counts: Sequence[Mapping[str, int]]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each script; entries are known by their numbers.

    `counts` are their terms with how often each stands there, in the title `TITLE` times.
    """
    lengths = [sum(one.values()) for one in counts]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    norms = [_K1 * (1 - _B + _B * length / average) for length in lengths]
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, one in enumerate(counts):
        for term, often in one.items():
            postings[term].append((number, often))
    groups: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for term in sorted(postings):
        held = postings[term]
        if len(counts) > 30 and len(held) * _COMMON > len(counts):  # in a small memory all count
            continue
        rarity = log(1 + (len(counts) - len(held) + 0.5) / (len(held) + 0.5))
        most = 10 * rarity * (_K1 + 1)
        flat: list[int] = []
        for number, often in held:
            flat += (number, int(most * often / (often + norms[number]) + 0.5) or 1)
        groups[_name(term[:2])][term] = flat
    names = []
    for name in sorted(groups):
        for part, text in _split(name, groups[name]):
            names.append(part)
            yield f"index/{part}.js", text
    yield "index/names.js", f"mdmemNames({json.dumps(names)});\n"


def _split(name: str, terms: Mapping[str, list[int]]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each script that holds the terms."""
    whole = _script(name, terms)
    if len(whole) <= _LARGEST:
        yield name, whole
        return
    parts: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for term, flat in terms.items():
        parts[_name(term[:3])][term] = flat
    yield from ((part, _script(part, held)) for part, held in sorted(parts.items()))


def _script(name: str, terms: Mapping[str, list[int]]) -> str:
    return f"mdmemShard({json.dumps(name)},{json.dumps(terms, separators=(',', ':'))});\n"


@lru_cache(maxsize=4096)
def _name(begin: str) -> str:
    """Return a file's name for the terms that begin alike; what is no plain letter stands as its number."""
    return "".join(one if re.fullmatch("[a-z0-9]", one) else f"-{ord(one):x}" for one in begin).ljust(2, "_")
