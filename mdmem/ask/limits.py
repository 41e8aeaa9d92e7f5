"""Define the constants of retrieval: sizes, thresholds, word lists and patterns.

Comments say on which records a value was chosen and on which it was confirmed. "PEPs" and "KEPs" are two collections of
real design records, used to choose values. "decisions" is a third collection, of another team, used to confirm them.
The constants of BM25 and the size of a passage are in `store/index/fulltext.py`, and words that matter less than others
in `store/index/analysis.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Slots(NamedTuple):
    """How an answer divides its budget among the best matches.

    - `excerpts`: the most bytes of text for each of the best matches, the best match first.
    - `lines`: how many further matches may get one line each, within a tenth of the budget. With 0, the answer has no
      notes either.
    """

    excerpts: tuple[int, ...]
    lines: int


# The share of the budget for entries that apply to a given path.
PATH_SHARE = 0.5
# The most bytes of a sentence that mentions an entry, of the shortest excerpt, and of one passage in an excerpt.
# Several short passages have the answer more often than a long one. Chosen on PEPs and KEPs (180 and 300: 2 % less).
SENTENCE = 240
# What a passage of the background (context, options, test plan) counts, compared with others. Chosen on PEPs and KEPs
# (.75 to .95 give 86 answers of 133 instead of 84, and 54 instead of 51 in lists of questions), confirmed on decisions
# (33 of 50 as before, and 28 instead of 27).
ASIDE_SHARE = 0.8
# Half of the right records are the best match, and a quarter are the second or third, at shares of .65 to .99 of the
# best score, so these three have text unless they are weak. Chosen on PEPs and KEPs by the number of answers that
# contain the passage that answers (`answers.json` in `tests/bench`): first excerpts of 1,100, 1,300 and 1,500 bytes
# gave 83, 83 and 85 of 133, at 4,990 to 5,140 bytes. Sharing a budget in proportion to scores gave fewer.
SLOTS = Slots((1500, 900, 900, *(SENTENCE,) * 7), 3)
# If no invariant or decision covers the question. Chosen on PEPs and KEPs: answers to uncovered questions about the
# other collection have 33 % fewer bytes, and one of 13 about the collection itself loses its answer. On decisions,
# those to questions about PEPs have 33 % fewer bytes, and none of five loses its answer.
UNCOVERED_SLOTS = Slots((1100, 400, 400), 3)
# Every kind of answer shows so many of the best matches, unless they are weak, since one of them is the right record
# for three of four questions. A list of questions otherwise misses records that the same questions find alone: 2 of
# 133 on PEPs and KEPs.
LIKELY_RANKS = 3
# In tokens. With a larger budget, the excerpts are larger in proportion.
USUAL_BUDGET = 1500
# For one of several questions in a call. The titles of all ten best matches are more important than a third excerpt:
# with fewer titles, a question in a list missed every eighth record that it finds alone. Chosen on PEPs and KEPs.
SHORT_SLOTS = Slots((900, 400), 3)
# For a budget of at most SMALL_BUDGET tokens: no notes, and no titles without text.
SMALL_SLOTS = Slots((700, 400, 400), 0)
SMALL_BUDGET = 1000
# In tokens, for one of several questions.
SHORT_BUDGET = 640
# A match below the first share of the best score is weak: at most its title is shown, if the wing is small. The fourth
# and later matches need the second share for an excerpt of one sentence, or a line. Chosen on PEPs and KEPs (85 of 133
# answers with 4,870 bytes each; with .5, 4,980 bytes, and with .7 for the second, 5,170 bytes, also 85). On decisions
# the number of answers is the same, and two of 45 right records are no longer among the first six.
WEAK_SHARE, NEAR_SHARE = 0.6, 0.75
# Without a path in the question, an invariant that applies only to some files is whole from this share of the best
# score, and otherwise one line. It is lower, since a missing invariant does more harm than a long answer.
FAR_SHARE = 1 / 3
# So many of the best omitted matches are named.
NEXT_BEST = 5
# Among so many best matches, an answer mentions one that is deprecated and that nothing replaces.
ENDED_RANKS = 3
# An entry of at most this many bytes is never shortened.
WHOLE = 700
# The bytes that `show --about` prints of a longer entry.
ABOUT = 1300
# If a wing has at most this many decisions, an answer lists the titles of all of them, even without a match.
FEW_DECISIONS = 10
# The most drafts in the separate part of an answer.
MAX_PROPOSED = 5
# The most newer entries that are listed under an entry because they mention it.
MAX_MENTIONS = 4
# The evidence that a passage needs to cover a question, in a memory of at most FEW_ENTRIES entries: the share of the
# question's weight that it and its title contain, plus half the share of the title, plus EACH_TERM for each word. Many
# words are less likely by chance than few, whatever their share. With e times as many entries the limit grows by
# COVERAGE_GROWTH, since more passages then contain many of the words by chance. Chosen on PEPs and KEPs, whole and in
# parts of 30, 60 and 150 entries: 90 % of the questions about a memory itself are covered at least in part, and 24 % of
# those about others (a share of .4 alone, with a growth of .05: 88 and 30 %). Confirmed on decisions: 98 and 23 %
# instead of 92 and 22 %, and on 82 records of two teams, asked in other words than theirs: 47 and 10 % instead of 30
# and 12 %. With twice EACH_TERM more for full coverage, and no word that no rule contains, 59 and 45 % of the questions
# about PEPs and KEPs are fully covered, and 5 % of those about others (with the rarest word and one of the title
# instead: 56, 39 and 8 %). Confirmed on decisions: 80 and 2 % instead of 68 and 4 %, and on the two teams: 23 and 1 %
# instead of 10 and 1 %.
COVERED, EACH_TERM, COVERAGE_GROWTH, FEW_ENTRIES = 0.82, 0.15, 0.1, 50
# The most characters between a verb such as "replaces" and the entry that it refers to.
VERB_DISTANCE = 70
# The most characters of a passage that covers a question: about 80 words.
PASSAGE = 500
# The number of a record at the start of an entry-id, with an optional kind before it: `0148-use-postgres`, `pep-572`.
# (`markdown/body.py` lists which headings belong to a decision.)
RECORD_NUMBER = re.compile(r"(?:(?P<kind>[a-z]{2,12})-)?(?P<number>\d{1,6})(?=-|\Z)")
