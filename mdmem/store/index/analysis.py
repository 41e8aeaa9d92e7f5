"""Text to terms: the one analyser of documents, questions and snippets.

A word is folded (NFKC, accents, case), dropped where it is on Snowball's English stop list, and stemmed.
An identifier (`MultiThreadedExecutor`, `snake_case`, `kebab-case`, `a/b.py`, `.net`) gives its parts, and itself whole.
Scripts written without spaces give pairs of neighbouring characters, and in documents single ones too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from msgspec import Struct
from whoosh.lang.porter2 import stem
from whoosh.lang.stopwords import stoplists

VERSION = 3
"""Is raised with any change of what a text's terms are; an index of another version is rebuilt."""

# Nobody types more, and encoded blobs would otherwise fill the index.
_LONGEST = 64
# A memory of 10,000 entries has 90,000 different runs, and this many take 80 MiB.
_MEMO_LIMIT = 200_000
# Snowball's list has the `t` of "doesn't", but not the `doesn`.
_REST_OF_CONTRACTIONS = "aren couldn didn doesn hadn hasn haven isn ll mustn needn shouldn ve wasn weren won wouldn"
STOP_WORDS = frozenset(stoplists["en"]).union(_REST_OF_CONTRACTIONS.split())
# What no run holds, as a blank.
_BLANKED = bytes(code if code > 127 or chr(code).isalnum() or chr(code) in "._-/\\:+#" else 32 for code in range(256))

# Marks that writers leave out as often as not: accents, points of Hebrew and Arabic, joiners, selectors.
_DROPPED = re.compile(
    "[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u200b-\u200d\u20d0-\u20f0\ufe00-\ufe0f\ufeff]"
)
_ACCENT = re.compile("[\u0300-\u036f]")
# Latin letters that Unicode does not take apart into a letter and an accent.
_LETTERS = str.maketrans("øØłŁđĐ\u0131", "oOlLdDi") | {ord("æ"): "ae", ord("Æ"): "AE", ord("œ"): "oe", ord("Œ"): "OE"}
# `APIs` is no `AP` with an `Is`, so that a hump after capitals needs two small letters.
_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_COMPONENT = re.compile(r"[/\\]|::?")
_CONNECTOR = re.compile(r"[._\-/\\:]+")


class Token(Struct, frozen=True, eq=False):
    """What one run of characters gives: its words as stems, and the identifiers it is as a whole."""

    words: tuple[str, ...]
    wholes: tuple[str, ...] = ()


class QueryTerms(Struct, frozen=True):
    """What a question asks for.

    `typed` maps each term to the word as the user typed it.
    `wholes` maps an identifier to the terms that whoever holds it holds too.
    """

    terms: tuple[str, ...]
    typed: Mapping[str, str]
    wholes: Mapping[str, tuple[str, ...]]


def analyse(text: str) -> tuple[list[str], list[str]]:
    """Return a document's words in order, as stems without stop words, and its identifiers as wholes."""
    words: list[str] = []
    wholes: list[str] = []
    for held in map(_known.__getitem__, _chunks_of(text)):
        if isinstance(held, Token):
            words += held.words
            wholes += held.wholes
        elif held:
            words.append(held)
    return words, wholes


def positions_of(text: str) -> dict[str, list[int]]:
    """Return where a document holds each of its words, and each of its identifiers: at the first of its parts."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    place = 0
    for held in map(_known.__getitem__, _chunks_of(text)):
        if isinstance(held, Token):
            for whole in held.wholes:
                found[whole].append(place)
            for word in held.words:
                found[word].append(place)
                place += 1
        elif held:
            found[held].append(place)
            place += 1
    return found


def text_terms(text: str) -> frozenset[str]:
    """Return every term that a document of this text can be found by."""
    words, wholes = analyse(text)
    return frozenset(words).union(wholes)


def ask(text: str) -> QueryTerms:
    """Return what a question in plain words asks for; any text is one."""
    terms: dict[str, str] = {}
    wholes: dict[str, tuple[str, ...]] = {}
    for chunk in text.split():
        for raw in _runs(fold(chunk)):
            token = split(raw)
            for term in token.words or token.wholes:
                terms.setdefault(term, raw if chunk.isascii() else _bare(chunk))
            wholes |= dict.fromkeys(token.wholes, ()) | _humped(raw)
    return QueryTerms(tuple(terms), terms, {whole: held for whole, held in wholes.items() if whole not in terms})


def _humped(raw: str) -> dict[str, tuple[str, ...]]:
    # Whoever writes `github` means `GitHub`, but the analyser finds no `hub` in it.
    tokens = (split(piece) for piece in _CONNECTOR.split(raw) if piece)
    return {whole: token.words for token in tokens for whole in token.wholes}


def spans(text: str) -> Iterator[tuple[int, int, Token]]:
    """Yield where each run of a text stands and what it gives; positions hold for texts that `fold` keeps in place."""
    for found in _pattern_for(text).finditer(text):
        yield found.start(), found.end(), _token(fold(found.group()))


def fold(text: str) -> str:
    """Return the text in compatibility form without accents; case stays, since it separates words in identifiers."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _without_marks(decomposed)).translate(_LETTERS)


def _without_marks(text: str) -> str:
    if len(text) <= _LONGEST:
        text = _ACCENT.sub("", text)
        # To compile the class of all takes as long as to analyse a body, and few words hold any other.
        if not any(map(_may_be_mark, text)):
            return text
    return _DROPPED.sub("", text)


def _may_be_mark(letter: str) -> bool:
    return letter == "\u00ad" or "\u0483" <= letter <= "\u200d" or "\u20d0" <= letter <= "\u20f0" or letter >= "\ufe00"


def _bare(chunk: str) -> str:
    letters = [at for at, char in enumerate(chunk) if unicodedata.category(char)[0] not in "PSZC"]
    return chunk[letters[0] : letters[-1] + 1]


def _chunks_of(text: str) -> list[str]:
    """Return the parts of a text between blanks and what is as good as a blank; no run goes beyond one."""
    return text.encode("utf-8", "surrogatepass").translate(_BLANKED).decode("utf-8", "surrogatepass").split()


class _Known(dict[str, str | Token]):
    """What each chunk gives, looked up where it was met before: the stem of its one word, nothing, or all of it."""

    def __missing__(self, chunk: str) -> str | Token:
        held = _held_in(chunk)
        if len(chunk) <= _LONGEST:
            if len(self) >= _MEMO_LIMIT:
                self.clear()
            self[chunk] = held
        return held


def _held_in(chunk: str) -> str | Token:
    bare = chunk.rstrip("._-/\\:")
    if _is_plain(bare):
        return "".join(_word(bare.lower()))
    tokens = [split(run, singles=True) for run in _runs(fold(chunk))]
    token = tokens[0] if len(tokens) == 1 else _joined(tokens)
    return token if token.wholes or len(token.words) > 1 else "".join(token.words)


def _joined(tokens: Sequence[Token]) -> Token:
    words = (word for token in tokens for word in token.words)
    return Token(tuple(words), tuple(whole for token in tokens for whole in token.wholes))


_known = _Known()


def _runs(text: str) -> list[str]:
    found: list[str] = _pattern_for(text).findall(text)
    return found


def _pattern_for(text: str) -> re.Pattern[str]:
    if text.isascii():
        return _pattern("[A-Za-z0-9]")
    return _pattern(rf"(?:[^\W_]|[{_combining()}])" if any(map(_may_be_sign, text)) else r"[^\W_]")


def _may_be_sign(letter: str) -> bool:
    # To compile the class of the signs takes 5 ms, and the fewest texts hold any of them.
    return "\u0900" <= letter <= "\u1cff" or letter in "\u3099\u309a"


@cache
def _pattern(letter: str) -> re.Pattern[str]:
    return re.compile(rf"\.?{letter}+(?:(?:::|__|[._/\\:-]){letter}+)*(?:(?:\+\+|\#)(?!\w))?")


_FIRST_UNSPACED = "\u0e00"


@cache
def _unspaced() -> re.Pattern[str]:
    # South-East Asian and East Asian blocks; compiled late, since the class alone takes 3 ms.
    return re.compile(
        "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff"
        "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
    )


@cache
def _combining() -> str:
    # `\w` leaves out the vowel signs of Indic and South-East Asian scripts, which would cut each of their words.
    signs = (chr(code) for code in range(0x0900, 0x1D00))
    return "".join(sign for sign in signs if unicodedata.category(sign) in ("Mn", "Mc")) + "\u3099\u309a"


_memo: dict[str, Token] = {}


def _token(raw: str) -> Token:
    token = _memo.get(raw)
    if token is None:
        if len(_memo) >= _MEMO_LIMIT:
            _memo.clear()
        token = _memo[raw] = split(raw, singles=True)
    return token


def split(raw: str, *, singles: bool = False) -> Token:
    """Return what one folded run gives; `singles` adds single characters to the pairs of unspaced scripts."""
    if _is_plain(raw):
        # Nine runs of ten are.
        return Token(_word(raw.lower()))
    pieces = [piece for piece in _CONNECTOR.split(raw) if piece]
    folded = raw.casefold()[:_LONGEST]
    if (pieces[0].isdecimal() and all(piece.isdecimal() for piece in pieces)) or (
        folded[-1] in "+#" and len(folded.rstrip("+#")) <= 2
    ):
        # `3`, `11` and `c` by themselves would match nearly everything.
        return Token((folded,))
    words: list[str] = []
    wholes = [] if len(pieces) == 1 and raw[0] != "." and raw[-1] not in "+#" else [folded]
    if "/" in raw or ":" in raw or "\\" in raw:
        components = (part for part in _COMPONENT.split(raw) if part != raw and _CONNECTOR.search(part))
        wholes += [part.casefold()[:_LONGEST] for part in components]
    for piece in pieces:
        bare = piece.rstrip("+#")
        is_one = bare.islower() or (bare.isupper() and bare.isalpha())
        humps = [bare] if is_one else _CAMEL.split(bare)
        if len(humps) > 1:
            wholes += _word(piece.casefold())
        for hump in humps:
            words += _word(hump.lower()) if hump.isascii() else _characters(hump.casefold(), singles=singles)
    return Token(tuple(words), tuple(dict.fromkeys(wholes)))


def _is_plain(raw: str) -> bool:
    """Say whether a run is a word of ASCII letters without humps."""
    return raw.isascii() and raw.isalpha() and (raw.islower() or raw[1:].islower())


def _characters(text: str, *, singles: bool) -> Iterator[str]:
    """Yield a word's stem, or the neighbouring characters where its script has no spaces."""
    end = 0
    for found in _unspaced().finditer(text) if max(text, default="") >= _FIRST_UNSPACED else ():
        yield from _word(text[end : found.start()])
        end = found.end()
        run = found.group()
        # No dictionary tells where its words end; pairs are what most engines fall back on.
        yield from (left + right for left, right in pairwise(run))
        if singles or len(run) == 1:
            yield from run
    yield from _word(text[end:])


# Identifiers and capitals make three runs of each word.
@lru_cache(_MEMO_LIMIT)
def _word(folded: str) -> tuple[str, ...]:
    if not folded or folded in STOP_WORDS:
        return ()
    if len(folded) > _LONGEST:
        return (folded[:_LONGEST],)
    return (stem(folded) if folded.isascii() and folded.isalpha() else folded,)
