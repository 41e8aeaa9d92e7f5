"""The search of the pages: scripts by the first letters of a term, so that a question loads what it needs.

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
# What is larger is parted by one letter more; a browser that holds a script for three letters asks for no further one.
_LARGEST, _DEEPEST = 64_000, 3
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
    weights: dict[str, list[int]] = {}
    for term in sorted(postings):
        held = postings[term]
        if len(counts) > 30 and len(held) * _COMMON > len(counts):  # in a small memory all count
            continue
        rarity = log(1 + (len(counts) - len(held) + 0.5) / (len(held) + 0.5))
        most = 10 * rarity * (_K1 + 1)
        flat: list[int] = []
        for number, often in held:
            flat += (number, int(most * often / (often + norms[number]) + 0.5) or 1)
        weights[term] = flat
    names = []
    for name, text in _split(weights, 1):
        names.append(name)
        yield f"index/{name}.js", text
    yield "index/names.js", f"mdmemNames({json.dumps(names)});\n"


def _split(terms: Mapping[str, list[int]], depth: int) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each script that holds the terms, those that begin alike in the same."""
    parts: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for term, flat in terms.items():
        parts[_name(term[:depth])][term] = flat
    for name, held in sorted(parts.items()):
        whole = _script(name, held)
        if len(whole) > _LARGEST and depth < _DEEPEST:
            yield from _split(held, depth + 1)
        else:
            yield name, whole


def _script(name: str, terms: Mapping[str, list[int]]) -> str:
    return f"mdmemShard({json.dumps(name)},{json.dumps(terms, separators=(',', ':'))});\n"


@lru_cache(maxsize=4096)
def _name(begin: str) -> str:
    """Return a file's name for the terms that begin alike; what is no plain letter stands as its number."""
    return "".join(one if re.fullmatch("[a-z0-9]", one) else f"-{ord(one):x}" for one in begin).ljust(2, "_")
