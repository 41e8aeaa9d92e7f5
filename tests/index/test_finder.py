import re

from hypothesis import given
from hypothesis import strategies as st

from mdmem.store.index.analysis import ask, spans
from mdmem.store.index.snippet import finder

WORDS = ("dying", "skies", "Ordering", "orders", "happily", "snake_case", "MultiThreaded", "a/b.py", "C++", "only")
SIGNS = ("naïve", "日本語", "Straße", "\u0130stanbul", "\u212aiss", "\u00a0", "\u3000", ".", "-", "é")
BETWEEN = re.compile(r"\S+")
TEXTS = st.lists(st.sampled_from((*WORDS, *SIGNS, " ", "\n", "\t")), max_size=20).map("".join)


@given(TEXTS, st.sampled_from((*WORDS, "die sky", "order only", "naive Istanbul kiss", "日本 strasse", "b.py multi")))
def test_finder_finds_what_analysing_each_word_finds(text: str, question: str) -> None:
    asked = ask(question)
    wanted = frozenset(asked.terms).union(asked.wholes)
    parts = [
        (part.start(), start, end, token) for part in BETWEEN.finditer(text) for start, end, token in spans(part[0])
    ]
    held = [(at + start, at + end, wanted.intersection((*one.words, *one.wholes))) for at, start, end, one in parts]
    assert finder(wanted)(text) == [hit for hit in held if hit[2]]
