"""English: the words that say nothing, and the stems of the others by the Porter2 algorithm.

Both as Whoosh and Snowball have them, whose list knows the `t` of "doesn't" but not the `doesn`.
"""

import re
from collections.abc import Iterable, Sequence

_STOPPED = (
    "a about above after again against all am an and any are as at be because been before being below between both but"
    " by can did do does doing don down during each few for from further had has have having he her here hers herself"
    " him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only"
    " or other our ours ourselves out over own s same she should so some such t than that the their theirs them"
    " themselves then there these they this those through to too under until up very was we were what when where which"
    " while who whom why will with you your yours yourself yourselves"
    " aren couldn didn doesn hadn hasn haven isn ll mustn needn shouldn ve wasn weren won wouldn"
)
STOP_WORDS = frozenset(_STOPPED.split())

# Letters: a `Y` is a consonant.
_REGION = re.compile(r"[^aeiouy]*[aeiouy]+[^aeiouy]")
_HIDDEN_Y = re.compile(r"(\A|[aeiouy])y")
_SHORT = re.compile(r"(?:[^aeiouy][aeiouy][^aeiouywxY]|\A[aeiouy][^aeiouy])\Z")
_VOWELS = frozenset("aeiouy")
_ED_OR_ING = ("edly", "ingly", "ed", "ing")
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")

_Rules = dict[str, list[tuple[str, str]]]


def _pairs(text: str) -> Sequence[tuple[str, str]]:
    """Return what is written as `one>other`."""
    return [(before, after) for before, _, after in (pair.partition(">") for pair in text.split())]


def _by_end(rules: Iterable[tuple[str, str]]) -> _Rules:
    """Return rules by the last two letters: of 24 endings a word is held to two or three."""
    found: _Rules = {}
    for end, instead in rules:
        found.setdefault(end[-2:], []).append((end, instead))
    return found


_STEMS = dict(
    _pairs(
        "skis>ski skies>sky dying>die lying>lie tying>tie idly>idl gently>gentl ugly>ugli early>earli only>onli"
        " singly>singl sky>sky news>news howe>howe atlas>atlas cosmos>cosmos bias>bias andes>andes"
    )
)
_WITHOUT_S = {"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"}
# Of two endings that fit, the longer one comes first.
_SECOND = _by_end(
    _pairs(
        "ization>ize ational>ate fulness>ful ousness>ous iveness>ive tional>tion biliti>ble lessli>less entli>ent"
        " ation>ate alism>al aliti>al ousli>ous iviti>ive fulli>ful enci>ence anci>ance abli>able izer>ize ator>ate"
        " alli>al bli>ble ogi>og li>"
    )
)
_BEFORE = {"ogi": "l", "li": "cdeghkmnrt", "ion": "st"}
_THIRD = _by_end(_pairs("ational>ate tional>tion alize>al icate>ic iciti>ic ative> ical>ic ness> ful>"))
_FOURTH = _by_end(
    _pairs("al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ism> ate> iti> ous> ive> ize> ion>")
)


def stem(word: str) -> str:
    """Return the stem of a word of small ASCII letters."""
    if len(word) <= 2:
        return word
    if word in _STEMS:
        return _STEMS[word]
    if "y" in word:
        word = _HIDDEN_Y.sub(r"\1Y", word)
    first = _region(word)
    second = _region_after(word, first)
    word = _without_s(word)
    if word in _WITHOUT_S:
        return word
    word = _without_ed(word, first)
    if word[-1] in "yY" and len(word) > 2 and word[-2] not in "aeiouy":
        word = f"{word[:-1]}i"
    word = _replaced(word, _SECOND, first)
    word = _replaced(word, _THIRD, first, second)
    word = _replaced(word, _FOURTH, second)
    return _without_e(word, first, second).replace("Y", "y")


def _region(word: str) -> int:
    """Return where the first region begins: behind the first consonant that follows a vowel."""
    if word.startswith(("gener", "arsen")):
        return 5
    if word.startswith("commun"):
        return 6
    return _region_after(word, 0)


def _region_after(word: str, start: int) -> int:
    found = _REGION.match(word, start)
    return found.end() if found else len(word)


def _without_s(word: str) -> str:
    if word[-1] != "s":
        return f"{word[:-3]}{'i' if len(word) > 4 else 'ie'}" if word.endswith("ied") else word
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return f"{word[:-3]}{'i' if len(word) > 4 else 'ie'}"
    if word.endswith(("us", "ss")):
        return word
    return word if _VOWELS.isdisjoint(word[:-2]) else word[:-1]


def _without_ed(word: str, first: int) -> str:
    if word[-1] not in "dgy":
        return word
    for end in ("eedly", "eed"):
        if word.endswith(end):
            return f"{word[: -len(end)]}ee" if len(word) - len(end) >= first else word
    left = next((word.removesuffix(end) for end in _ED_OR_ING if word.endswith(end)), "")
    if _VOWELS.isdisjoint(left):
        return word
    if left.endswith(("at", "bl", "iz")):
        return f"{left}e"
    if left.endswith(_DOUBLES):
        return left[:-1]
    return f"{left}e" if _SHORT.search(left) and _region(left) == len(left) else left


def _replaced(word: str, rules: _Rules, region: int, ative: int = 0) -> str:
    """Return a word with the ending that a rule is of replaced where it lies in a region, `ative` in one of its own."""
    for end, instead in rules.get(word[-2:], ()):
        if word.endswith(end):
            left = len(word) - len(end)
            if left < (ative if end == "ative" else region) or word[left - 1] not in _BEFORE.get(end, word[left - 1]):
                return word
            return word[:left] + instead
    return word


def _without_e(word: str, first: int, second: int) -> str:
    last = len(word) - 1
    if word[-1] == "e" and (last >= second or (last >= first and not _SHORT.search(word, 0, last))):
        return word[:-1]
    return word[:-1] if word.endswith("ll") and last >= second else word
