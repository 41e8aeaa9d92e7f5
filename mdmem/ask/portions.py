"""How much of an answer each part of it may take: what words alone ask for, its best matches, mere titles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from msgspec import Struct, field

from mdmem.ask.pack import Form, Printed
from mdmem.ask.ranks import Ranked, Retrieval, Retrieved
from mdmem.ask.relevance import Relevance
from mdmem.ask.remainder import SHORT
from mdmem.markdown.text import BYTES_A_TOKEN

_SHORTER = 380
# The best match that only words ask for: what it decided in short, and the passages that hold what was asked.
_BEST_MATCH = 1700
# Where the second is nearly as good, or newer and speaks of it; and where the third is, too: which governs is open.
_BESIDE_ANOTHER, _AMONG_OTHERS = 1300, 900
# Of little room, what the best match may take, its heading and what stands beneath it among that.
_MOST, HEAD = 0.8, 400
# In a short answer it has all but the titles of a few others, and these have a line, unless one is nearly as good.
_TITLES, _TITLED, _BESIDE_BRIEF = 3, 300, 560
# Of the budget, for what only words ask for beside files; and for an answer to words alone, its first and last lines
# among that: lookups over PEPs and KEPs are 4 KB at most each. Whatever stands around them, entries have so much.
_UNASKED_SHARE, _WHOLE_SHARE, _LEAST_SHARE = 0.48, 0.682, 0.34
# In bytes, of that: the lines of verdict and counts, that of what ended, a draft; and so many titles beside the best.
_SAID, _ENDED, _DRAFT, _NAMED = 345, 180, 900, 4
DRAFTS = 20
# In bytes, of the first beside a second that is nearly as good, or newer and speaks of it, and where the third is as
# good, too: it takes what the second leaves. Alone it takes all.
_FIRST, _SECOND = (1500, 2000, 2400), 800
# Of what is left: marks that each line begins with take the rest, of very short lines so much more in bytes.
_PRINTED, _MARKS = 0.95, 300
# Ten at the default budget.
_TOKENS_A_LINE = 150


class Portions(Struct, dict=True):
    """What the parts of one answer may take, in bytes; `line` says what an item takes that is only named."""

    found: Retrieval
    relevance: Relevance
    budget: int
    printed: Printed
    line: Callable[[Ranked], int]
    # The same in each plan of an answer.
    _limits: dict[tuple[str, Form], int] = field(default_factory=dict)

    @cached_property
    def is_plain(self) -> bool:
        """Say whether nothing but words asks, and for one whole answer: what any part leaves, the best may take."""
        return bool(self.found.terms) and not (self.relevance.is_pressed or self.found.is_brief or self.found.files)

    def unasked(self, room: int) -> int:
        """Return what words alone may take: the more files are at hand, the more of the room shapes the work."""
        if self.is_plain:
            return min(room, max(self._whole, int(_LEAST_SHARE * room)))
        share = 1.0 if self.relevance.is_pressed else min(1.0, _UNASKED_SHARE * max(1, self.found.files))
        return int(room * share)

    @cached_property
    def _whole(self) -> int:
        """Return what an answer to words alone leaves for its entries: what is said around them and titles aside."""
        said = self.printed.problems(self.found.basis) + _SAID + _ENDED * len(self.found.basis.ended)
        said += _DRAFT if any(map(self.is_draft_told, self.found.proposed_ranks[:DRAFTS])) else 0
        titles = sorted(map(self.line, self.relevance.near[1:]), reverse=True)
        return int(_WHOLE_SHARE * self.budget * BYTES_A_TOKEN) - said - sum(titles[:_NAMED])

    def is_draft_told(self, draft: Ranked) -> bool:
        """Say whether a draft has room of its own: it holds enough of the question; more would swell the answer."""
        return self.relevance.counts(draft) and self.relevance.rivals(draft)

    @property
    def beyond(self) -> int:
        """Return what such drafts may take beside all else."""
        return _DRAFT if self.is_plain else SHORT

    def most_lines(self, item: Ranked | None = None) -> int:
        """Return how many may be mere lines, where an item would be one."""
        if self.found.is_brief:
            return 0 if item is not None and self.relevance.is_far(item) else _TITLES
        if self.is_plain:
            return _NAMED
        return 0 if self.relevance.is_pressed else self.budget // _TOKENS_A_LINE

    def shaping(self, room: int) -> int:
        """Return what may be whole: of little room the best match has most, where nothing but words asks."""
        if self.is_plain:
            return min(room, self.unasked(room) + _MARKS)
        if self.found.is_brief:
            return room
        return int(room * (_MOST if self.relevance.is_pressed and not self.relevance.on_path else 0.5))

    def longest(self, item: Retrieved, form: Form, bare: Callable[[int], int], left: int) -> int:
        """Return how many bytes a shortened entry may take, its heading and what is beneath it aside.

        `bare` says what these take; where they take so many bytes at least, how many does not matter.
        """
        if self.is_plain:
            key = item.entry.address, form
            if key not in self._limits:
                least = SHORT if form is Form.FULL else _SHORTER
                self._limits[key] = self._plain(item, form, left - bare(left - least))
            return self._limits[key]
        if form is not Form.FULL:
            return _SHORTER if self.found.is_brief else SHORT
        if self.found.is_brief:
            taken = bare(self.budget * BYTES_A_TOKEN) + (_BESIDE_BRIEF if self.relevance.is_contested else _TITLED)
            return max(_SHORTER, self.budget * BYTES_A_TOKEN - taken)
        if self.relevance.is_pressed:
            return max(SHORT, int(self.budget * BYTES_A_TOKEN * _MOST) - HEAD)
        if self.relevance.is_open:
            return _AMONG_OTHERS
        return _BESIDE_ANOTHER if self.relevance.is_contested or self.relevance.succeeding else _BEST_MATCH

    @cached_property
    def second(self) -> list[Ranked]:
        """Return in a list the second best match where it is nearly as good: its room is not the best one's."""
        is_beside = self.is_plain and self.relevance.first and self.relevance.is_contested
        return self.relevance.next_best[1:2] if is_beside else []

    def _plain(self, item: Retrieved, form: Form, left: int) -> int:
        """Return how many bytes a shortened entry may take where words alone ask, of what is left for its content."""
        if form is not Form.FULL:
            is_second = any(item.entry is one.entry for one in self.second)
            return _SECOND if is_second else max(_SHORTER, min(SHORT, left))
        others = (self.relevance.is_open, self.relevance.is_contested, bool(self.relevance.succeeding))
        most = next((size for size, is_so in zip(_FIRST, others, strict=True) if is_so), left)
        return max(SHORT, min(most, int(_PRINTED * left)))
