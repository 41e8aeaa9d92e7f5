"""The search of the pages: scripts by the first two letters of a term, so that a question loads what it needs.

A script and no JSON: a page that is opened as a file may load the one and not the other. Terms are those of the index,
weights those of BM25 with the title three times, in tenths.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log

from mdmem.index.analysis import analyse

_K1, _B, _TITLE = 1.5, 0.75, 3
_LARGEST = 64_000
# A word that one of three entries holds finds nothing, and its list is the longest.
_COMMON = 3


def term_counts(title: str, body: str) -> dict[str, int]:
    """Return the terms of an entry with how often they stand in it, in the title three times."""
    words, wholes = analyse(body)
    counted = Counter([*words, *wholes])
    words, wholes = analyse(title)
    for term in (*words, *wholes):
        counted[term] += _TITLE
    return dict(counted)


def shards(counts: Sequence[Mapping[str, int]]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each script; entries are known by their numbers."""
    lengths = [sum(one.values()) for one in counts]
    average = sum(lengths) / len(lengths) if lengths else 1.0
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
        flat: list[int] = []
        for number, often in held:
            norm = _K1 * (1 - _B + _B * lengths[number] / average)
            flat += (number, max(1, round(10 * rarity * often * (_K1 + 1) / (often + norm))))
        groups[_name(term, 2)][term] = flat
    names = []
    for name in sorted(groups):
        for part, terms in _split(name, groups[name]):
            names.append(part)
            yield f"index/{part}.js", _script(part, terms)
    yield "index/names.js", f"mdmemNames({json.dumps(names)});\n"


def _split(name: str, terms: Mapping[str, list[int]]) -> Iterator[tuple[str, Mapping[str, list[int]]]]:
    if len(_script(name, terms)) <= _LARGEST:
        yield name, terms
        return
    parts: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for term, flat in terms.items():
        parts[_name(term, 3)][term] = flat
    yield from sorted(parts.items())


def _script(name: str, terms: Mapping[str, list[int]]) -> str:
    return f"mdmemShard({json.dumps(name)},{json.dumps(terms, separators=(',', ':'))});\n"


def _name(term: str, letters: int) -> str:
    """Return a file's name for the terms that begin alike; what is no plain letter stands as its number."""
    return "".join(one if re.fullmatch("[a-z0-9]", one) else f"-{ord(one):x}" for one in term[:letters]).ljust(2, "_")
