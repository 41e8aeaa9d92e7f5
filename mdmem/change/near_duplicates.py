"""Find the texts that have many words in common, without comparing each with each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil

from msgspec import Struct

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


class _Text(Struct, frozen=True, eq=False):
    name: str
    words: tuple[int, ...]
    mask: int


def near_pairs(
    texts: Iterable[tuple[str, frozenset[str]]], *, share: float, among: Collection[str] | None = None
) -> list[NearPair]:
    """Return the pairs of texts with at least that share of common words, the nearest first, then by name.

    With `among`, one of the two has one of these names. Of very many texts like one, only some are returned.

    Two texts that share so much have one of their rarest words in common (prefix filtering, Chaudhuri et al.,
    ICDE 2006), so only texts with a common rare word are compared.
    """
    numbered = _numbered(texts)
    rare = [text.words[: len(text.words) - ceil(share * len(text.words) - _NEARLY) + 1] for text in numbered]
    indexed: defaultdict[int, list[int]] = defaultdict(list)
    found: list[NearPair] = []
    # Each text is compared with the indexed texts before it, so those to be indexed come first.
    order = sorted(range(len(numbered)), key=lambda place: among is not None and numbered[place].name not in among)
    for place in order:
        near = (_pair(numbered[place], numbered[other], share) for other in _candidates(rare[place], indexed))
        found += islice(filter(None, near), _ENOUGH)
        if among is None or numbered[place].name in among:
            for word in rare[place]:
                indexed[word].append(place)
    return sorted(found, key=lambda pair: (-pair.share, pair.a, pair.b))


def _candidates(words: Iterable[int], indexed: Mapping[int, Sequence[int]]) -> Iterator[int]:
    seen: set[int] = set()
    for word in words:
        for other in indexed.get(word, ()):
            if other not in seen:
                seen.add(other)
                yield other


def _numbered(texts: Iterable[tuple[str, frozenset[str]]]) -> list[_Text]:
    """Return the texts that have words, with numbers for the words, the rarest word first.

    A mask of bits makes it fast to count common words; words of a single text need no bit.
    """
    numbers: dict[str, int] = {}
    held = [(name, [numbers.setdefault(word, len(numbers)) for word in words]) for name, words in texts if words]
    frequency = Counter(word for _, words in held for word in words)
    names = list(numbers)
    rank = {word: place for place, word in enumerate(sorted(frequency, key=lambda one: (-frequency[one], names[one])))}
    shared = sum(times > 1 for times in frequency.values())
    found = []
    for name, words in held:
        ranked = sorted((rank[word] for word in words), reverse=True)
        mask = bytearray(shared // 8 + 1)
        for word in ranked:
            if word < shared:
                mask[word >> 3] |= 1 << (word & 7)
        found.append(_Text(name, tuple(ranked), int.from_bytes(mask, "little")))
    return found


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


def _pair(one: _Text, other: _Text, share: float) -> NearPair | None:
    common = (one.mask & other.mask).bit_count()
    all_words = len(one.words) + len(other.words) - common
    if common < share * all_words - _NEARLY:
        return None
    a, b = sorted((one.name, other.name))
    return NearPair(a, b, common / all_words)


def without_template(texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts, by name, without the lines of their common template: headings and prompts."""
    held = Counter(line for text in texts.values() for line in {line.strip() for line in text.splitlines()})
    least = max(_TEMPLATE_LEAST, ceil(_TEMPLATE_SHARE * len(texts)))
    return {
        name: "\n".join(line for line in text.splitlines() if held[line.strip()] < least)
        for name, text in texts.items()
    }
