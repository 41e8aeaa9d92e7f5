import re
from itertools import product
from pathlib import Path

from whoosh.lang.porter2 import stem as other
from whoosh.lang.stopwords import stoplists

from mdmem.index import english
from mdmem.index.english import STOP_WORDS, stem

STARTS = ("", "be", "con", "gener", "yay", "trill", "sky", "commun", "fitt")
ENDS = ("", "s", "ies", "ied", "sses", "us", "ed", "edly", "ing", "ingly", "eed", "eedly", "y", "ly", "e", "ll", "ion")
RULES = [
    end for rules in (english._SECOND, english._THIRD, english._FOURTH) for held in rules.values() for end, _ in held
]


def test_stem_is_that_of_snowball_as_whoosh_has_it() -> None:
    words = {start + end + last for start, end, last in product(STARTS, RULES, ENDS)}
    words |= {start + end + last for start, end, last in product(("al", "ouyt"), RULES, RULES)}
    assert {word: stem(word) for word in words} == {word: other(word) for word in words}


def test_words_of_the_exceptions_and_of_this_file_have_the_same_stems() -> None:
    for word in re.findall("[a-z]+", Path(english.__file__).read_text(encoding="utf-8")):
        assert stem(word) == other(word)


def test_stop_words_are_those_of_snowball_and_what_it_leaves_of_contractions() -> None:
    assert stoplists["en"] < STOP_WORDS
    assert {"doesn", "ll", "ve"} < STOP_WORDS
