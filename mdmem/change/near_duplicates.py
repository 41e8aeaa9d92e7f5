"""Find the texts that have many words in common, without comparing each with each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil

from msgspec import Struct

from mdmem.markdown.similarity import jaccard
from mdmem.model.entry import Entry
from mdmem.model.fields import LINK_FIELDS

# Guards against a share that no float represents exactly.
_NEARLY = 1e-9
# In a memory of copies all texts are similar: so many pairs are kept for each text.
_ENOUGH = 50
# Lines that a twentieth of the texts have, and ten of them at least, come from a template.
_TEMPLATE_LEAST, _TEMPLATE_SHARE = 10, 0.05


class NearPair(Struct, frozen=True):
    """Two texts, by name, and the share of their words that they have in common (Jaccard 1901)."""

    a: str
    b: str
    share: float


def near_pairs(
    texts: Iterable[tuple[str, frozenset[str]]], *, share: float, among: Collection[str] | None = None
) -> list[NearPair]:
    """Return the pairs of texts with at least that share of common words, the nearest first, then by name.

    With `among`, one of the two has one of these names. Of very many texts like one, only some are returned.

    Two texts that share so much have one of their rarest words in common (prefix filtering, Chaudhuri et al.,
    ICDE 2006), so only texts with a common rare word are compared.
    """
    words_of = {name: words for name, words in texts if words}
    frequency = Counter(word for words in words_of.values() for word in words)
    indexed: defaultdict[str, list[str]] = defaultdict(list)
    found: list[NearPair] = []
    # Each text is compared with the indexed texts before it, so those to be indexed come first.
    for name in sorted(words_of, key=lambda one: among is not None and one not in among):
        words = words_of[name]
        rarest = sorted(words, key=lambda word: (frequency[word], word))
        rare = rarest[: len(words) - ceil(share * len(words) - _NEARLY) + 1]
        pairs = (
            NearPair(min(name, other), max(name, other), jaccard(words, words_of[other]))
            for other in _like(rare, indexed)
        )
        found += islice((pair for pair in pairs if pair.share >= share - _NEARLY), _ENOUGH)
        if among is None or name in among:
            for word in rare:
                indexed[word].append(name)
    return sorted(found, key=lambda pair: (-pair.share, pair.a, pair.b))


def _like(words: Iterable[str], indexed: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield each indexed text that has one of some words, once."""
    seen: set[str] = set()
    for word in words:
        for name in indexed.get(word, ()):
            if name not in seen:
                seen.add(name)
                yield name


def near_groups(texts: Iterable[tuple[str, frozenset[str]]], *, above: float) -> list[tuple[str, ...]]:
    """Return the groups of texts that chains of pairs connect, each pair with more than that share of common words."""
    groups: dict[str, set[str]] = {}
    for pair in near_pairs(texts, share=above):
        if pair.share > above + _NEARLY:
            small, large = sorted((groups.setdefault(name, {name}) for name in (pair.a, pair.b)), key=len)
            if small is not large:
                large |= small
                groups.update(dict.fromkeys(small, large))
    distinct = {id(group): group for group in groups.values()}.values()
    return sorted(tuple(sorted(group)) for group in distinct)


def are_linked(one: Entry, other: Entry) -> bool:
    """Return whether a field of one of two entries contains a link to the other."""
    return any(other.address in one.links(name) or one.address in other.links(name) for name in LINK_FIELDS)


def without_template(texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts, by name, without the lines of their common template: headings and prompts."""
    times = Counter(line for text in texts.values() for line in {line.strip() for line in text.splitlines()})
    least = max(_TEMPLATE_LEAST, ceil(_TEMPLATE_SHARE * len(texts)))
    return {
        name: "\n".join(line for line in text.splitlines() if times[line.strip()] < least)
        for name, text in texts.items()
    }
