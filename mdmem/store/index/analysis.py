"""Turn text into search terms; documents, questions and snippets all use the same functions.

A word is folded (Unicode NFKC, no accents, lower case), dropped if it is a stop word, and stemmed. An identifier
(`MultiThreadedExecutor`, `snake_case`, `kebab-case`, `a/b.py`, `.net`) gives a term for each part and one for the
whole. Two words with a hyphen (`e-mail`) have the same whole as both in one word. A script without spaces gives a term
for each pair of neighbouring characters, and in documents also for each character.

A run is a longest sequence of letters, digits and connecting characters. A term is a string in the index.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Literal

from msgspec import Struct
from whoosh.lang.porter2 import stem
from whoosh.lang.stopwords import stoplists

VERSION = 5
"""Increase this number if any text gives other terms, so that existing indexes are rebuilt."""

# The length to which terms are cut. Nobody types more, and encoded data would otherwise fill the index.
_MAX_LENGTH = 64
# The size of the caches. A memory of 10,000 entries has 90,000 different runs; 200,000 need 80 MiB.
_MEMO_LIMIT = 200_000
# Snowball's list of stop words has the `t` of "doesn't", but not the `doesn`.
_REST_OF_CONTRACTIONS = "aren couldn didn doesn hadn hasn haven isn ll mustn needn shouldn ve wasn weren won wouldn"
STOP_WORDS = frozenset(stoplists["en"]).union(_REST_OF_CONTRACTIONS.split())
# Verbs that occur with any subject.
_GENERAL = (
    "add allow apply ask avoid build call can change check choose create decide define do ensure find get"
    " give go handle have help implement keep know learn let look make manage may mean must need new put"
    " read remove run say see set should show start stop support take tell think try turn update use used"
    " using want way work write"
)
# For each byte, itself, or a space if the character is never part of a run.
_BLANKED = bytes(code if code > 127 or chr(code).isalnum() or chr(code) in "._-/\\:+#" else 32 for code in range(256))

# Marks that writers often leave out: accents, vowel points of Hebrew and Arabic, joiners, variation selectors.
_DROPPED = re.compile(
    "[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u200b-\u200d\u20d0-\u20f0\ufe00-\ufe0f\ufeff]"
)
# Each combining mark is such a character.
_MARKS = re.compile(r"[^\w\s\x00-\x7f]{65,}")
# Latin letters that Unicode normalisation does not split into a letter and an accent.
_LETTERS = str.maketrans("øØłŁđĐ\u0131", "oOlLdDi") | {ord("æ"): "ae", ord("Æ"): "AE", ord("œ"): "oe", ord("Œ"): "OE"}
# Where a word in camel case is split. After capitals, two small letters are needed, so that `APIs` stays whole.
_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_COMPONENT = re.compile(r"[/\\]|::?")
_CONNECTOR = re.compile(r"[._\-/\\:]+")
# The vowel signs of Indic and South-East Asian scripts. `\w` does not match them, so it would split these words.
_SIGNS = "".join(sign for sign in map(chr, range(0x0900, 0x1D00)) if unicodedata.category(sign) in ("Mn", "Mc"))
# The Unicode blocks of scripts without spaces between words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def _run_of(letter: str) -> re.Pattern[str]:
    return re.compile(rf"\.?{letter}+(?:(?:::|__|[._/\\:-]){letter}+)*(?:(?:\+\+|\#)(?!\w))?")


_ASCII_RUN, _RUN = _run_of("[A-Za-z0-9]"), _run_of(rf"(?:[^\W_]|[{_SIGNS}\u3099\u309a])")


class Token(Struct, frozen=True, eq=False):
    """The terms of one word or identifier: the stems of its words, and the identifiers in it as a whole."""

    words: tuple[str, ...]
    wholes: tuple[str, ...] = ()


class QueryTerms(Struct, frozen=True):
    """The terms of a question, the word typed for each term, and for each identifier the terms of its words."""

    terms: tuple[str, ...]
    typed: Mapping[str, str]
    wholes: Mapping[str, tuple[str, ...]]


def positions_of(text: str) -> dict[str, list[int]]:
    """Return the positions of each term of a document, counted in words; an identifier is at its first word."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    place = 0
    for chunk in text.encode("utf-8", "surrogatepass").translate(_BLANKED).decode("utf-8", "surrogatepass").split():
        token = _token_of(chunk) if len(chunk) <= _MAX_LENGTH else _token_of.__wrapped__(chunk)
        for whole in token.wholes:
            found[whole].append(place)
        for word in token.words:
            found[word].append(place)
            place += 1
    return found


@lru_cache(_MEMO_LIMIT)
def _token_of(chunk: str) -> Token:
    """Return all terms of a text without spaces, which may have several runs."""
    tokens = [split(run, singles=True) for run in _runs(fold(chunk))]
    if len(tokens) == 1:
        return tokens[0]
    return Token(
        tuple(word for token in tokens for word in token.words),
        tuple(whole for token in tokens for whole in token.wholes),
    )


def text_terms(text: str) -> frozenset[str]:
    """Return every term by which a document of this text can be found."""
    return frozenset(positions_of(text))


def ask(text: str) -> QueryTerms:
    """Return the terms of a question in plain words; every text is a valid question."""
    terms: dict[str, str] = {}
    wholes: dict[str, tuple[str, ...]] = {}
    for chunk in text.split():
        letters = [at for at, char in enumerate(chunk) if unicodedata.category(char)[0] not in "PSZC"]
        for raw in _runs(fold(chunk)):
            token = split(raw)
            # The word as typed, without the marks around it.
            typed = raw if chunk.isascii() else chunk[letters[0] : letters[-1] + 1]
            for term in token.words or token.wholes:
                terms.setdefault(term, typed)
            wholes |= dict.fromkeys(token.wholes, ())
            # The question `GitHub` also finds documents with `github`, although `github` has no term `hub`.
            humped = (split(piece) for piece in _CONNECTOR.split(raw) if piece)
            wholes |= {whole: piece.words for piece in humped for whole in piece.wholes}
            wholes |= dict.fromkeys(_joined(raw), token.words)
    return QueryTerms(tuple(terms), terms, {whole: implied for whole, implied in wholes.items() if whole not in terms})


def spans(text: str) -> Iterator[tuple[int, int, Token]]:
    """Yield start, end and terms of each word or identifier of a text, which should be in Unicode's form NFC."""
    for found in _pattern_for(text).finditer(text):
        yield found.start(), found.end(), split(fold(found.group()), singles=True)


def fold(text: str) -> str:
    """Return the text in a normal form without accents, but with its case, which separates words in identifiers."""
    if text.isascii():
        return text
    decomposed = normal(text, "NFKD")
    return unicodedata.normalize("NFC", _DROPPED.sub("", decomposed)).translate(_LETTERS)


def normal(text: str, form: Literal["NFC", "NFKD"] = "NFC") -> str:
    """Return a text in a normal form of Unicode. Runs of combining marks are cut to 64: sorting them takes n² steps."""
    if text.isascii():
        return text
    cut = _MARKS.sub(lambda run: run[0][:64] if any(map(unicodedata.combining, run[0])) else run[0], text)
    return unicodedata.normalize(form, cut)


def _runs(text: str) -> list[str]:
    found: list[str] = _pattern_for(text).findall(text)
    return found


def _pattern_for(text: str) -> re.Pattern[str]:
    return _ASCII_RUN if text.isascii() else _RUN


@lru_cache(_MEMO_LIMIT)
def split(raw: str, *, singles: bool = False) -> Token:
    """Return the terms of one folded word or identifier; `singles` adds single characters in scripts without spaces."""
    if raw.isascii() and raw.isalpha() and (raw.islower() or raw[1:].islower()):
        # Handle plain words first, since nine of ten runs are plain words.
        return Token(_word(raw.lower()))
    pieces = [piece for piece in _CONNECTOR.split(raw) if piece]
    folded = raw.casefold()[:_MAX_LENGTH]
    if (pieces[0].isdecimal() and all(piece.isdecimal() for piece in pieces)) or (
        folded[-1] in "+#" and len(folded.rstrip("+#")) <= 2
    ):
        # Keep `3.11` and `c++` whole, since the terms `3`, `11` and `c` would match nearly everything.
        return Token((folded,))
    words: list[str] = []
    wholes = [] if len(pieces) == 1 and raw[0] != "." and raw[-1] not in "+#" else [*(_joined(raw) or (folded,))]
    if "/" in raw or ":" in raw or "\\" in raw:
        components = (part for part in _COMPONENT.split(raw) if part != raw and _CONNECTOR.search(part))
        wholes += [part.casefold()[:_MAX_LENGTH] for part in components]
    for piece in pieces:
        bare = piece.rstrip("+#")
        is_one = bare.islower() or (bare.isupper() and bare.isalpha())
        humps = [bare] if is_one else _CAMEL.split(bare)
        if len(humps) > 1:
            wholes += _word(piece.casefold())
        for hump in humps:
            words += _word(hump.lower()) if hump.isascii() else _characters(hump.casefold(), singles=singles)
    return Token(tuple(words), tuple(dict.fromkeys(wholes)))


def _joined(raw: str) -> tuple[str, ...]:
    """Return the term of a word without its hyphen, since some write `email` for `e-mail`; empty without a hyphen."""
    first, hyphen, last = raw.partition("-")
    return _word(f"{first}{last}".lower()) if hyphen and first.isalpha() and last.isalpha() else ()


def _characters(text: str, *, singles: bool) -> Iterator[str]:
    """Yield the stem of a word, or pairs of characters for the parts in a script without spaces."""
    end = 0
    for found in _UNSPACED.finditer(text):
        yield from _word(text[end : found.start()])
        end = found.end()
        run = found.group()
        yield from (left + right for left, right in pairwise(run))
        if singles or len(run) == 1:
            yield from run
    yield from _word(text[end:])


# Cached, since each word occurs in about three runs, for example with a capital and in identifiers.
@lru_cache(_MEMO_LIMIT)
def _word(folded: str) -> tuple[str, ...]:
    if not folded or folded in STOP_WORDS:
        return ()
    if len(folded) > _MAX_LENGTH:
        return (folded[:_MAX_LENGTH],)
    return (stem(folded) if folded.isascii() and folded.isalpha() else folded,)


GENERAL_TERMS = text_terms(_GENERAL)
"""The terms of verbs that occur with any subject. They have less weight in scores, and none for coverage."""

Span = tuple[int, int, frozenset[str]]
"""A part of a text with some terms: its start, its end, and the terms."""


@lru_cache(maxsize=8)
def finder(wanted: frozenset[str]) -> Callable[[str], list[Span]]:
    """Return a function that returns the spans of a text that contain at least one of the terms."""
    # Analyse only words that begin like one of the terms, which is ten times as fast. Stemming may turn `y` into `i`.
    beginnings = (re.escape(term[: max(1, min(4, len(term) - 1))]) for term in wanted if term.isascii())
    starts = sorted({re.sub("[iy]", "[iy]", beginning) for beginning in beginnings})
    likely = re.compile(rf"(?:{'|'.join([*starts, '[?]'])})\S*".encode())

    # Cached, because an answer may cut the same few bodies several times in other lengths.
    @lru_cache(maxsize=16)
    def find(text: str) -> list[Span]:
        found, end = [], 0
        # Encode each character as one byte, with `?` for characters that are not ASCII.
        for hit in likely.finditer(text.encode("ascii", "replace").lower()):
            start = max(end, *(text.rfind(blank, end, hit.start()) + 1 for blank in " \n"))
            end = hit.end()
            for first, last, token in spans(text[start:end]):
                terms = wanted.intersection((*token.words, *token.wholes))
                if terms:
                    found.append((start + first, start + last, terms))
        return found

    return find


_ELLIPSIS = "…"
# The pattern begins with the preceding line end, since searching for `\n` is faster than for `^`.
_MARKUP = re.compile(
    r"\n(?=[ \t]*[`~#>=*-])(?: {0,3}(?:`{3,}|~{3,})[^\n]*"
    r"| {0,3}#{1,6}[ \t]+"
    r"|[ \t]*>[ \t]?"
    r"| {0,3}(?:={2,}|-{3,}|\*{3,})[ \t]*(?=\n|\Z))"
)
# A Markdown link. Only its text is kept, since its address would fill the line.
# The lengths are limited, since a long line of `[x](` would be read to its end for each of them.
_LINK = re.compile(r"!?\[([^\[\]\n]{1,1000})\]\([^)\n]{0,1000}\)")


def snippet(text: str, terms: Iterable[str], *, width: int = 200) -> str:
    """Return at most `width` characters of plain text around the part with most terms, or from the beginning."""
    unlinked = _LINK.sub(r"\1", normal(text))
    # Remove `**` and backquotes last. Otherwise the text after them could look like markup at the start of a line.
    line = " ".join(_MARKUP.sub("\n", f"\n{unlinked}").replace("**", "").replace("`", "").split())
    if len(line) <= width:
        return line
    limit = width - 2 * len(_ELLIPSIS)
    # Find the part of at most `limit` characters with most terms, then with most matches.
    found, best, start, end = finder(frozenset(terms))(line), (0, 0), 0, 0
    for first, (begin, _, _) in enumerate(found):
        inside = list(takewhile(lambda span: span[1] - begin <= limit, found[first : first + limit]))  # noqa: B023 - used at once
        rank = len(frozenset().union(*(matched for _, _, matched in inside))), len(inside)
        if rank > best:
            best, start, end = rank, begin, inside[-1][1]
    # Put the part in the middle, but use the full limit at the beginning and the end of the line.
    left = max(0, min(start - (limit - (end - start)) // 2, len(line) - limit))
    if left > 0:
        space = line.find(" ", left - 1, start)
        left = space + 1 if space >= 0 else left
    right = min(len(line), left + limit)
    if right < len(line):
        space = line.rfind(" ", max(end, left + 1), right + 1)
        right = space if space >= 0 else right
    return f"{_ELLIPSIS if left else ''}{line[left:right].strip()}{_ELLIPSIS if right < len(line) else ''}"
