"""Phrases in bodies that relate one entry to another.

To compile a pattern of forty words takes as long as to read ten entries with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

_WORD = re.compile(r"\w+")
# What such a pattern takes for an ASCII letter.
_EQUAL = str.maketrans("\u0130\u0131\u017f\u212a", "iisk")


def lowered(text: str) -> str:
    """Return a text in small letters, as far as they are ASCII, every letter at its place."""
    return text.lower() if text.isascii() else text.translate(_EQUAL).lower()


def words_in(text: str) -> list[str]:
    """Return the words of a text, with digits and underscores."""
    found: list[str] = _WORD.findall(text)
    return found


def holds_any(text: str, phrases: Iterable[str], *, begun: bool = False, ended: bool = False) -> bool:
    """Say whether a text holds one of some phrases between words.

    What it has `begun` with may go on as a longer word, what it has `ended` with may have begun as one.
    """
    return any(one in text and _stands_in(text, one, begun=begun, ended=ended) for one in phrases)


def begins_with(text: str, phrase: str) -> bool:
    """Say whether a text begins with a phrase, and no word goes on behind it."""
    return text.startswith(phrase) and not _is_of_word(text[len(phrase) : len(phrase) + 1])


def _stands_in(text: str, phrase: str, *, begun: bool, ended: bool) -> bool:
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if (ended or not _is_of_word(text[at - 1 : at])) and (begun or not _is_of_word(text[end : end + 1])):
            return True
        at = text.find(phrase, at + 1)
    return False


def _is_of_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


_VERBS = {
    "amend": "amends",
    "replac": "replaces",
    "supersed": "supersedes",
    "obsolet": "obsoletes",
    "extend": "extends",
    "updat": "updates",
    "revis": "revises",
    "modif": "modifies",
    "chang": "changes",
    "deprecat": "deprecates",
    "overrid": "overrides",
    "relax": "relaxes",
    "loosen": "loosens",
    "lift": "lifts",
    "remov": "removes",
    "clarif": "clarifies",
    "refin": "refines",
    "build": "builds on",
}
# A sentence without any of these, or without a verb, says nothing of its own entry: no pattern is compiled for it.
_SELF = ("this ", "we ", "our ", "present ", "these ", " here", " this")
_STEM = rf"(?P<stem>{'|'.join(_VERBS)})"
_OWN = (
    r"(?:this|the present|our)\s+(?:new\s+|accepted\s+)?(?:PEP|KEP|ADR|RFC|proposal|document|decision|record"
    r"|enhancement|change|section|feature|specification|standard|entry|rule|note|design|policy|version)\b"
)
# What does it is this entry, which names itself before. Each word between is read in one way alone: `only` is `\w+ly`,
# too, and of thirty such words there would be a billion readings.
_ACTIVE = re.compile(
    rf"\b(?:{_OWN}|we\b)"
    r"(?:\s+(?>(?:\w+ly|also|then|thus|therefore|hereby|here|only|will|shall|should|would|must|propos(?:es?|ing)"
    r"|aims?|intends?|seeks?|wants?|needs?|has|have|and|to|in order|\w+(?:e?s|ies)(?=,?\s+and\b))\b))*"
    rf",?\s+{_STEM}(?:e?s|ies|ing|e?d|ied|e|y)?\b(?:(?<!build)(?<!builds)|(?= (?:up)?on\b))",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    rf"\W*(?:['’]s\s+(?:\w+\s+){{1,3}})?\b(?:is|are|was|were|will be|gets?|be)\s+(?:\w+\s+)?{_STEM}(?:e?d|ied|n)\b"
    rf"(?=\s+(?:here\b|(?:by|in) {_OWN}|by this\W*\Z))",
    re.IGNORECASE,
)
# Of what is denied, asked, weighed or was once so, nothing is told: the sentence itself says it.
_UNSAID = {
    *("not", "cannot", "no", "none", "nothing", "never", "neither", "nor", "hardly", "barely", "rarely", "seldom"),
    *("seemingly", "if", "unless", "whether"),
}
_UNSAID_STEMS = ("reject", "consider", "abandon")
_UNSAID_PHRASES = ("had we", "had this", "would have", "could have", "should have")
_ONCE = {"once", "earlier", "formerly", "previously", "originally", "initially"}
_ASKED = re.compile(r"\?[^\w?]*\Z|\b(?:if|unless)\b", re.IGNORECASE)
_BREAK_MARKS = '.;:()[]“”"'
_BREAKS = {
    *("but", "because", "that", "which", "while", "since", "where", "when", "so", "if", "with", "by", "from", "for"),
    *("to", "as", "without", "unlike", "except", "instead", "than"),
}
# A name that begins a clause of its own is the object of nothing.
_CLAUSE = re.compile(r"[`_*>\])]*\s+(?:\w*s|will|may|must|can|should|had|were|are|still)\b", re.IGNORECASE)
_WHOLE = re.compile(
    r"\W*(?:(?:the|a|an|this|our|of|in|on|upon|spec(?:ification)?|proposal|text|rules?|decision"
    r"|both|and|[a-z]{2,5}\W{1,3}\d+)\W+)*\W*\Z",
    re.IGNORECASE,
)
_LIMITS = ("limit", "restrict", "constrain", "requir", "prohibit", "ban")
_POSSESSED = re.compile(r"[`_*>\])]*['’]s\b|['’](?=\s)")
# Further away the name is the object of another word.
_NEAR = 70
# The longest verb in any form of it.
_LONGEST_VERB = 12
# Each name is looked around in the whole sentence.
_NAMED = 8
# Without one of these before an active verb, or behind a passive one, no pattern of either is compiled.
_DOERS, _BY = ("we", "this", "present", "our"), ("here", "this", "present", "our")


def relation_of(sentence: str, named: re.Pattern[str]) -> str:
    """Return what a sentence says that is done to what it names, such as `extends it`; empty where it does not say."""
    if not may_relate(sentence):
        return ""
    for name in islice(named.finditer(sentence), _NAMED):
        # Cut before they are folded: a letter may become two.
        before, behind = sentence[: name.start()], sentence[name.end() :].lower()
        is_active = _holds(before.lower(), _DOERS) and _holds(before[-_NEAR - _LONGEST_VERB :].lower(), _VERBS)
        is_passive = _holds(behind, _BY) and _holds(behind, _VERBS)
        # Most names stand near no verb: what is denied or asked of them need not be known.
        if not is_active and not is_passive:
            continue
        passive = _PASSIVE.match(sentence, name.end()) if is_passive else None
        end = (passive or name).end()
        if _is_unsaid(sentence[:end]) or _ASKED.search(sentence, end):
            return ""
        if passive:
            return _told(passive["stem"], is_part="s " in passive[0].partition(passive["stem"])[0][:3])
        for verb in _ACTIVE.finditer(sentence, 0, name.start()):
            between = sentence[verb.end() : name.start()]
            words = words_in(lowered(between))
            if len(between) > _NEAR or not _BREAKS.isdisjoint(words) or any(mark in between for mark in _BREAK_MARKS):
                continue
            if not _ONCE.isdisjoint(words_in(lowered(sentence[: verb.end()]))):
                continue
            if between.rstrip(" `:*_").endswith((",", ", and")) and _CLAUSE.match(sentence, name.end()):
                continue
            if any(word.startswith(_LIMITS) for word in words):
                return f"{_VERBS[verb['stem'].lower()]} a limit of it"
            is_part = _WHOLE.match(between) is None or _POSSESSED.match(sentence, name.end()) is not None
            return _told(verb["stem"], is_part=is_part)
    return ""


def _is_unsaid(text: str) -> bool:
    said = lowered(text)
    words = words_in(said)
    return (
        not _UNSAID.isdisjoint(words)
        or any(word.startswith(_UNSAID_STEMS) for word in words)
        or holds_any(said, ("n't", "n\u2019t"), ended=True)
        or holds_any(said, _UNSAID_PHRASES)
    )


def may_relate(sentence: str) -> bool:
    """Say whether a sentence holds a word for its own entry, and one for what may be done to another."""
    folded = sentence.lower()
    return _holds(folded, _SELF) and _holds(folded, _VERBS)


def _holds(folded: str, words: Iterable[str]) -> bool:
    return any(word in folded for word in words)


def _told(stem: str, *, is_part: bool) -> str:
    does = _VERBS[stem.lower()]
    return f"{does} {'a part of it' if is_part and ' ' not in does else 'it'}"
