"""The constants of retrieval: sizes, thresholds, word lists and patterns, each with where it was chosen and confirmed.

BM25's constants and the size of a passage are in `store/index/scores.py`. "PEPs", "KEPs" are two collections of real
design records on which constants are chosen; "decisions" is a third one, of another team, on which they are confirmed.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Slots(NamedTuple):
    """How an answer shares out its space, in bytes.

    `path_share` of the budget is for entries that apply to a given path. `excerpts` are the sizes of the texts of the
    best matches, from the best down; further matches, and those that find no space, are `lines` at most, within a tenth
    of the budget. A match needs `text_share` of the best score for a text if it is not the best one, and `line_share`
    for a line. `has_notes` says that notes may be shown.
    """

    path_share: float
    excerpts: tuple[int, ...]
    lines: int
    has_notes: bool = True
    text_share: float = 0.0
    line_share: float = 0.0


# Sizes by DESIGN: chosen on PEPs and KEPs, confirmed on decisions.
SHORTEST = 400
SLOTS = Slots(0.5, (1700, 900, 900, *(SHORTEST,) * 7), 100)
# For one of several questions in a call: of the 92 records that a question finds alone, 88 are there, 57 with text. A
# title below .6 of the best score was never the record. A second match from .8 of it has a sentence (from .9: 54 with
# text). Chosen on PEPs and KEPs (66 of 70 records, 39 with text), confirmed on decisions (22 of 22, 18 with text).
SHORT_SLOTS = Slots(0.5, (700, 240), 5, text_share=0.8, line_share=0.6)
# For a budget of at most SMALL_BUDGET tokens: under pressure notes go first, then titles.
SMALL_SLOTS = Slots(0.5, (700, 400, 400), 0, has_notes=False)
SMALL_BUDGET = 1000
# With 420, 49 records have text.
SHORT_BUDGET = 440
# An entry of this size is given whole wherever it gets text.
WHOLE = 700
# What `show --about` gives of a longer entry.
ABOUT = 1000
# The share of the best score below which a match is a title.
WEAK_SHARE = 1 / 3
# A wing with so few decisions names all of them, also those that match nothing.
FEW_DECISIONS = 10
# Drafts that an answer shows apart.
MOST_PROPOSED = 5
# Newer entries that one entry names as mentioning it, with their sentences, and characters of such a sentence.
MOST_MENTIONS, SENTENCE = 4, 240
# The share of the question's weight that one passage with its title holds, for full and for partial coverage. Chosen
# on PEPs and KEPs (own questions: 90 and 93 % at least partial; asked over each other: 41 and 52 %, full 9 and 11 %),
# confirmed on decisions (88 %; questions about PEPs and KEPs over them: 30 and 16 %, full 7 and 0 %).
FULL_COVERAGE, PARTIAL_COVERAGE = 0.5, 0.48
# Words that say what somebody does, not with which subject; beside stop words they have no weight for coverage.
GENERAL_WORDS = (
    "add allow apply ask avoid build call can change check choose create decide define do ensure find get"
    " give go handle have help implement keep know learn let look make manage may mean must need new put"
    " read remove run say see set should show start stop support take tell think try turn update use used"
    " using want way work write"
)
# A verb of change stands so near the name of the entry that it changes, in characters.
VERB_DISTANCE = 70
# Characters of an excerpt's single passage: 80 words, the size of a passage in the index.
PASSAGE = 500
# Headings of sections that are no part of a decision are in `markdown/headings.py`, with those of sections that are.
# The number of a record at the start of an entry-id, behind its kind if it has one: `0148-use-postgres`, `pep-572`.
RECORD_NUMBER = re.compile(r"(?:(?P<kind>[a-z]{2,12})-)?(?P<number>\d{1,6})(?=-|\Z)")
