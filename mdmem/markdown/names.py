"""What a body calls its subject: names in code that it comes back to, which who asks in other words cannot know."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import nlargest
from operator import itemgetter

from mdmem.markdown.headings import sections_of, told
from mdmem.markdown.sentences import comments_blanked

# Of 174 questions over PEPs and KEPs two names brought most facts into as many bytes; a third takes room from the
# words that were asked for.
_MOST = 2
# One that is marked as code once, or comes twice, is an example.
_MARKED, _OFTEN = 2, 3
# So many, those that are marked most often, are counted where they are not marked.
_COUNTED = 12
_SHORTEST = 3
# What stands before is looked at behind the first sign, which is looked for twenty times as fast.
_CODE = re.compile(r"`(?:`([^`\n]{2,60})``|(?<!``)([^`\n<>]{2,60})`(?![`_]))")
# Of a path to a field, or of a call, the last part is the name; that of a file is whole.
_PATH = re.compile(r"[\w.\[\]-]*\.(?!(?:toml|txt|py|json|ya?ml|md|cfg)\Z)(?=[\w-]+\Z)")
_SAID_OF_ANYTHING = frozenset({"True", "False", "None", "true", "false", "null", "nil"})


@lru_cache(maxsize=64)
def own_names(body: str) -> tuple[str, ...]:
    """Return the few names in code that a body comes back to most often where it tells what holds, the first first."""
    if "`" not in body:
        return ()
    blank = comments_blanked(body)
    parts = [(one.start, one.span[1]) for one in told(sections_of(body))]
    said = Counter(found[1] or found[2] for start, end in parts for found in _CODE.finditer(blank, start, end))
    marked = Counter[str]()
    for one, times in said.items():
        if name := _name_of(one):
            marked[name] += times
    candidates = [name for name, times in marked.most_common(_COUNTED) if times >= _MARKED]
    counted, most = dict[str, int](), {name: blank.count(name) for name in candidates}
    for name in sorted(candidates, key=most.__getitem__, reverse=True):
        # What does not come so often, even within other words, is none of the most.
        if most[name] < max([_OFTEN, *nlargest(_MOST, counted.values())[_MOST - 1 :]]):
            break
        counted[name] = sum(_is_within(at, parts) for at in _places(blank, name))
    often = [name for name in candidates if counted.get(name, 0) >= _OFTEN]
    return tuple(nlargest(_MOST, often, key=counted.__getitem__))


def places_of(body: str, names: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where a body holds names, each as a word of its own: start, end, and which."""
    for name in names:
        yield from ((start, start + len(name), name) for start in _places(body, name))


def _places(body: str, name: str) -> Iterator[int]:
    at = body.find(name)
    while at >= 0:
        if not _joins(body[at - 1 : at]) and not _joins(body[at + len(name) : at + len(name) + 1]):
            yield at
        at = body.find(name, at + len(name))


def _is_within(place: int, parts: Sequence[tuple[int, int]]) -> bool:
    """Say whether a place is in one of the parts, which come in order."""
    before = bisect_right(parts, place, key=itemgetter(0))
    return before > 0 and place < parts[before - 1][1]


def _joins(letter: str) -> bool:
    return letter.isalnum() or letter in ("_", "-")


def _name_of(said: str) -> str:
    name = _PATH.sub("", said.strip().rstrip(":").removesuffix("()"))
    is_name = len(name) >= _SHORTEST and name not in _SAID_OF_ANYTHING and any(letter.isalpha() for letter in name)
    return name if is_name else ""
