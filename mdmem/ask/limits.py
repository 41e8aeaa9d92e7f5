"""Define the constants of retrieval: sizes, thresholds, word lists and patterns.

Comments say on which records a value was chosen and on which it was confirmed. "PEPs" and "KEPs" are two collections of
real design records, used to choose values. "decisions" is a third collection, of another team, used to confirm them.
The constants of BM25 and the size of a passage are in `store/index/scores.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Slots(NamedTuple):
    """How an answer divides its budget among the entries.

    - `path_share`: the share of the budget for entries that apply to a given path.
    - `excerpts`: the most bytes of text for each of the best matches, the best match first.
    - `lines`: the most further matches that are shown as one line each, within a tenth of the budget.
    - `has_notes`: whether notes may be shown.
    - `text_share`, `line_share`: the share of the best score that a match needs to be shown with text, or as a line.
      The best match always gets text.
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
# For one of several questions in a call. Asked alone, the questions of the measurement find 92 records. With these
# slots 88 of them are still found, 57 with text. A match below .6 of the best score was never the right record. A
# second match gets a sentence from .8 of the best score (with .9 instead, 54 have text). Chosen on PEPs and KEPs (66 of
# 70 records, 39 with text), confirmed on decisions (22 of 22, 18 with text).
SHORT_SLOTS = Slots(0.5, (700, 240), 5, text_share=0.8, line_share=0.6)
# Among so many best matches, an answer mentions one that is deprecated and that nothing replaces.
ENDED_RANKS = 3
# For a budget of at most SMALL_BUDGET tokens: no notes, and no titles without text.
SMALL_SLOTS = Slots(0.5, (700, 400, 400), 0, has_notes=False)
SMALL_BUDGET = 1000
# In tokens, for one of several questions. With 420 only 49 records of the measurement above have text.
SHORT_BUDGET = 440
# An entry of at most this many bytes is never shortened.
WHOLE = 700
# The bytes that `show --about` prints of a longer entry.
ABOUT = 1000
# A match below this share of the best score is weak: at most its title is shown.
WEAK_SHARE = 1 / 3
# If a wing has at most this many decisions, an answer lists the titles of all of them, even without a match.
FEW_DECISIONS = 10
# The most drafts in the separate part of an answer.
MOST_PROPOSED = 5
# The most newer entries that are listed under an entry because they mention it, and the most characters of a sentence.
MOST_MENTIONS, SENTENCE = 4, 240
# The share of the question's weight that a passage and its title must contain for full and for partial coverage. Chosen
# on PEPs and KEPs (questions about the collection itself: 90 and 93 % are at least partial; about the other collection:
# 41 and 52 %, of which full 9 and 11 %). Confirmed on decisions (88 %; questions about PEPs and KEPs: 30 and 16 %, of
# which full 7 and 0 %).
FULL_COVERAGE, PARTIAL_COVERAGE = 0.5, 0.48
# Verbs that occur with any subject. Like stop words, they have no weight for coverage.
GENERAL_WORDS = (
    "add allow apply ask avoid build call can change check choose create decide define do ensure find get"
    " give go handle have help implement keep know learn let look make manage may mean must need new put"
    " read remove run say see set should show start stop support take tell think try turn update use used"
    " using want way work write"
)
# The most characters between a verb such as "replaces" and the entry that it refers to.
VERB_DISTANCE = 70
# The most characters of one passage in an excerpt: about 80 words, the size of a passage in the index.
PASSAGE = 500
# The number of a record at the start of an entry-id, with an optional kind before it: `0148-use-postgres`, `pep-572`.
# (`markdown/headings.py` lists which headings belong to a decision.)
RECORD_NUMBER = re.compile(r"(?:(?P<kind>[a-z]{2,12})-)?(?P<number>\d{1,6})(?=-|\Z)")
