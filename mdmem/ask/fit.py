"""Fit the items of an answer into a budget, as the slots of `limits.py` divide it.

An item is placed in the answer whole, as an excerpt, or as one line with its title. A session does not show an
unchanged entry twice. Its note on an entry has the digest of the file, and a short hash (mark) of each shown paragraph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.ask import limits
from mdmem.ask.answer import RELATIONS, Answer, Coverage, Form, Item, Mention, Omission, Question, Reason, count_omitted
from mdmem.ask.excerpt import PASSAGE_START, excerpt, rule_of
from mdmem.ask.limits import Slots
from mdmem.ask.rank import fit_key
from mdmem.ask.relate import Mentions, merge_mentions
from mdmem.markdown.body import BYTES_A_TOKEN, content_of, size_of, tokens_of
from mdmem.model.entry import EntryType
from mdmem.model.text import text_hash
from mdmem.store.workspace.proposals import View
from mdmem.store.workspace.workspace import Workspace

# The notes of a session by address, as they are stored.
Shown = Mapping[str, str]
NOTHING_SHOWN: Shown = {}
ALL = frozenset({"*"})
_SEPARATOR = "\n"
OMITTED_LISTED = 50
_COUNTED = (Reason.WEAK, Reason.NO_MATCH)
_BEST = 10
# The bytes of brackets, marks and line ends around the address and the title of an entry.
_AROUND = 40
# The bytes that are reserved for the line of each match that is not placed yet.
_LINE = 120


def fit(
    found: Answer, question: Question, budget: int, *, view: View, shown: Shown = NOTHING_SHOWN, is_short: bool = False
) -> tuple[Answer, dict[str, str]]:
    """Return the answer within a budget in tokens, and what the session should store about each shown entry.

    Unconditional invariants are always shown, even over the budget, in full. They are shown as one line if the session
    has already seen them, or if they apply only to some files and weakly match a question without paths. `is_short`
    says that the call has several questions, so that each gets a short answer.
    """
    is_uncovered = bool(found.weights) and found.basis.coverage is Coverage.NONE
    slots = limits.UNCOVERED_SLOTS if is_uncovered else limits.SLOTS
    is_small = is_short or budget <= limits.SMALL_BUDGET
    if is_small:
        slots = limits.SHORT_SLOTS if is_short else limits.SMALL_SLOTS
    fitting = _Fitting(found, question, budget * BYTES_A_TOKEN, slots, view.effective, shown)
    fitting.place_invariants()
    fitting.place_on_path()
    fitting.place_matches()
    fitting.place_lines()
    proposed = replace(found, describe=found.describe_proposed)
    drafts = _Fitting(proposed, question, fitting.limit, slots, view.checkout, shown, used=fitting.used)
    not_proposed = list(drafts.place_proposed())
    order = {item.address: at for at, item in enumerate(found.items)}
    items = sorted(fitting.placed.values(), key=lambda one: (one.entry.type.rank, order.get(one.address, len(order))))
    omitted = [*found.basis.omitted, *fitting.left_out(), *not_proposed]

    # There may be thousands of weak matches, so they are only counted.
    best = (one for one in omitted if one.why in (Reason.OVER_BUDGET, Reason.WEAK))
    next_best = list(islice(best, limits.NEXT_BEST if found.weights and not is_small else 0))
    rest = [one for one in omitted if one not in next_best]
    named = sorted((one for one in rest if one.why not in _COUNTED), key=lambda one: one.why != Reason.OVER_BUDGET)
    named[:0] = next_best
    unnamed = [*named[OMITTED_LISTED:], *(one for one in rest if one.why in _COUNTED)]
    visible = {address for address, item in fitting.placed.items() if item.form is not Form.ALREADY_SHOWN}
    answer = replace(
        found,
        question=question,
        items=tuple(items),
        proposed=tuple(drafts.placed.values()),
        tokens=tokens_of(drafts.used + fitting.beyond),
        budget=budget,
        basis=replace(
            found.basis,
            conflicts=found.basis.contradictions_of(visible),
            omitted=tuple(named[:OMITTED_LISTED]),
            omitted_counts=count_omitted([*found.basis.omitted_counts, *unnamed]),
        ),
    )
    return answer, {one.address: one.note for one in (*items, *answer.proposed) if one.note}


class _Fitting(Struct, dict=True):
    """One answer while it is filled: its limit in bytes, the items placed so far, and their size.

    `used` counts against the limit. `beyond` is the size of the unconditional invariants, which do not count.
    """

    found: Answer
    question: Question
    limit: int
    slots: Slots
    workspace: Workspace
    shown: Shown
    placed: dict[str, Item] = field(default_factory=dict)
    used: int = 0
    beyond: int = 0

    @cached_property
    def best(self) -> float:
        """Return the best score of all items, and of the drafts if no rule covers the question."""
        drafts = self.found.proposed if self.found.basis.coverage is Coverage.NONE else ()
        return max((one.score for one in (*self.found.items, *drafts)), default=0.0)

    @property
    def is_usual(self) -> bool:
        """Return whether the answer is an ordinary one: neither short nor with a small budget."""
        return self.slots not in (limits.SHORT_SLOTS, limits.SMALL_SLOTS)

    @cached_property
    def scale(self) -> float:
        """Return how many times larger the budget is than the default budget for this kind of answer; at least 1."""
        usual = limits.SHORT_BUDGET if self.slots is limits.SHORT_SLOTS else limits.USUAL_BUDGET
        return max(1.0, self.limit / (usual * BYTES_A_TOKEN))

    @cached_property
    def excerpts(self) -> Sequence[int]:
        """Return the most bytes of text for each of the best matches."""
        return [int(size * self.scale) for size in self.slots.excerpts]

    @cached_property
    def has_selected_lines(self) -> bool:
        """Return whether only good matches get a line; if not, the wing has few decisions, and all matches get one."""
        decisions = [one for one in (*self.found.items, *self.found.unmatched) if one.entry.type is EntryType.DECISION]
        return bool(self.best) and (len(decisions) > limits.FEW_DECISIONS or not self.is_usual)

    def place_invariants(self) -> None:
        """Add the unconditional invariants to the answer, in full.

        If the question has no paths, a weakly matching invariant that applies only to some files is added as one line.
        """
        for item in self.found.items:
            if item.unconditional and not item.is_proposal:
                is_for_some = bool(item.entry.applies_to) and not self.question.paths
                is_line = is_for_some and self._is_weak(item, limits.FAR_SHARE)
                placed = self._line(item) if is_line else self._whole(item, searches=False)
                self.placed[item.address] = placed
                self.beyond += self._size(placed)

    def place_on_path(self) -> None:
        """Add the rules and patterns that apply to a given path: in full, else as an excerpt, else as a line."""
        limit = int(limits.PATH_SHARE * self.limit)
        for item in self.found.items:
            is_rule = item.entry.type in (EntryType.INVARIANT, EntryType.DECISION, EntryType.PATTERN)
            if item.on_path and is_rule and item.address not in self.placed:
                forms = (self._whole, lambda one: self._excerpt(one, self.excerpts[1]), self._line)
                self._place(limit, (form(item) for form in forms))

    def place_matches(self) -> None:
        """Add the best matches in the order of their types, each with the size that its rank by score allows.

        Matches that the session has already seen are added as one line, and do not count for the ranks of the others.
        """
        strong = [one for one in self._by_fit() if one.current and not self._is_weak(one)]
        strong = [one for one in strong if one.address not in self.placed]
        matches = list(islice((one for one in strong if not self._is_already_shown(one)), _BEST))
        for item in strong[: strong.index(matches[-1])] if matches else strong[:_BEST]:
            if self._is_already_shown(item):
                self._place(self.limit, [self._line(item)])
        ranks = {item.address: rank for rank, item in enumerate(matches)}
        near = limits.NEAR_SHARE * max((item.score for item in matches), default=0.0)
        has_notes, is_rule_a_line = bool(self.slots.lines), False
        # A note has no text if a rule is a line. So if a note is the best match, each rule has text.
        best = [item.entry.type for item in matches[:1]]
        is_note_best = best == [EntryType.NOTE] and self.slots is not limits.SHORT_SLOTS
        matches.sort(key=lambda one: (one.is_proposal, one.entry.type.rank, ranks[one.address]))
        for at, item in enumerate(matches):
            is_note, rank = item.entry.type is EntryType.NOTE, ranks[item.address]
            limit = self.limit - _LINE * (len(matches) - at - 1 if has_notes else 0)
            size = self.slots.excerpts[rank] if rank < len(self.slots.excerpts) else 0
            is_near = rank < limits.LIKELY_RANKS or item.mentions_path or item.score >= near
            may_have_text = not is_rule_a_line and has_notes if is_note else True
            has_text = size and may_have_text and (is_near or (is_note_best and not is_note))
            if has_text and self._place(limit, self._excerpts_of(item, rank)):
                continue
            is_rule_a_line = is_rule_a_line or not is_note
            if is_near and (has_notes or (size and not is_note)):
                self._place(self.limit, [self._line(item)])

    def _excerpts_of(self, item: Item, rank: int) -> Iterator[Item]:
        """Yield the excerpts of a match, the largest first, each with its mentions and then without their sentences.

        Plain mentions are one line, except under the best match of an answer to a single question that a rule covers.
        The last excerpt of the best match has them in one line, too, and that of another match has none.
        """
        is_short = bool(rank) or self.slots is not limits.SLOTS
        for size in dict.fromkeys((*self.excerpts[rank:], limits.SENTENCE)):
            one = self._excerpt(item, size, searches=rank < limits.LIKELY_RANKS)
            if is_short:
                one = replace(one, mentions=merge_mentions(one.mentions))
            yield one
            one = replace(one, mentions=tuple(replace(mention, sentence="") for mention in one.mentions))
            yield one
        # A line without an address only counts or lists plain mentions.
        merged = merge_mentions(one.mentions)
        yield replace(one, mentions=merged if not rank else tuple(mention for mention in merged if mention.address))

    def place_lines(self) -> None:
        """Add the titles of the best remaining items, then those of all decisions if the wing has few of them."""
        rest = [item for item in self._by_fit() if item.address not in self.placed and item.current]
        rest.sort(key=lambda one: one.entry.type.rank)
        most = None
        if self.has_selected_lines:
            rest = [one for one in rest if self._is_near(one)]
            most = int(self.slots.lines * self.scale)
        limit = min(self.limit, self.used + self.limit // 10)
        # A session may have seen much of the memory, so only as many entries are compared with it as have room.
        for item in islice((one for one in rest if not self._is_already_shown(one)), most):
            if not self._place(limit, [self._line(item)]):
                break
        for item in self.found.unmatched if self.is_usual else ():
            self._place(self.limit, [self._line(item)])

    def place_proposed(self) -> Iterator[Omission]:
        """Add the best drafts, each as a short excerpt, else as a line; yield the other drafts with the reason."""
        scores = (one.score for one in (*self.found.items, *self.found.proposed))
        least = limits.NEAR_SHARE * max(scores, default=0.0)
        nearest = {one.address for one in sorted(self.found.proposed, key=fit_key)[: limits.MAX_PROPOSED]}
        for item in self.found.proposed:
            why: str = Reason.OVER_BUDGET
            if item.address not in nearest:
                why = f"over the {limits.MAX_PROPOSED} drafts that are shown"
            if not (item.unconditional or item.on_path or item.score >= least):
                why = Reason.WEAK
            size = self.excerpts[0 if item.score == self.best else -1]
            forms = (form(item) for form in (lambda one, size=size: self._excerpt(one, size), self._line))
            if why != Reason.OVER_BUDGET or not self._place(self.limit, forms):
                yield item.omission(f"proposed, {why}")

    def left_out(self) -> Iterator[Omission]:
        """Yield the items that are not in the answer, with the reason.

        Those that apply to a given path come first, then the best matches.
        """
        for item in sorted(self._by_fit(), key=lambda one: not one.on_path):
            if item.address not in self.placed:
                is_weak = self._is_weak(item) or (self.has_selected_lines and not self._is_near(item))
                why = Reason.WEAK if is_weak else Reason.OVER_BUDGET
                why = why if item.current else Reason.NOT_CURRENT
                yield item.omission(f"proposed, {why}" if item.is_proposal else why)
        for item in self.found.unmatched:
            if item.address not in self.placed:
                yield item.omission(Reason.NO_MATCH)

    def _by_fit(self) -> Sequence[Item]:
        """Return the items by score, or in the order of authority if the question has no words."""
        return sorted(self.found.items, key=fit_key) if self.found.weights else self.found.items

    def _is_already_shown(self, item: Item) -> bool:
        """Return whether the session has already seen everything that this answer would show of an entry."""
        known = self._known(item)
        if not known or known >= ALL:
            return bool(known)
        return not unseen_paragraphs(self._shortened(item, self.excerpts[0])[0], known)

    def _is_near(self, item: Item) -> bool:
        return item.on_path or item.mentions_path or item.score >= limits.NEAR_SHARE * self.best

    def _is_weak(self, item: Item, share: float = 0.0) -> bool:
        """Return whether an item matches the question only weakly: below a share of the best score."""
        if not self.found.weights or item.on_path or item.mentions_path:
            return False
        # A small budget limits the answer more than scores do, so fewer matches are weak.
        least = share or (limits.FAR_SHARE if self.slots is limits.SMALL_SLOTS else limits.WEAK_SHARE)
        return item.score < least * self.best or not item.score

    def _place(self, limit: int, forms: Iterable[Item]) -> bool:
        """Place the first form of an item whose size fits the limit; return whether one fits."""
        for item in forms:
            size = self._size(item)
            if self.used + size <= limit:
                self.used += size
                self.placed[item.address] = item
                return True
        return False

    def _known(self, item: Item) -> frozenset[str]:
        """Return the marks of the paragraphs of an entry that the session has already seen."""
        return parts_shown(self.shown.get(item.address, ""), self._digest(item))

    def _digest(self, item: Item) -> str:
        return self.workspace.catalog.digests.get(item.address, "")

    def _described(self, item: Item) -> Item:
        return item if item.reasons else self.found.describe(item)

    def _shortened(self, item: Item, size: int) -> tuple[str, Form]:
        body = self.workspace.catalog.body(item.address)
        content = content_of(item.entry, body)
        if size_of(content) > max(limits.WHOLE, size):
            return excerpt(item.entry, body, size, self.found.weights), Form.SUMMARY
        return content, Form.FULL

    def _whole(self, item: Item, *, searches: bool = True) -> Item:
        content = content_of(item.entry, self.workspace.catalog.body(item.address))
        return self._with_content(item, content, Form.FULL, searches=searches)

    def _excerpt(self, item: Item, size: int, *, searches: bool = False) -> Item:
        return self._with_content(item, *self._shortened(item, size), searches=searches)

    def _with_content(self, item: Item, content: str, form: Form, *, searches: bool) -> Item:
        """Return an item with its content, without the paragraphs that the session has already seen.

        The first sentences of the decision stay, since a passage alone could be read as the rule. Without `searches`,
        only links count as mentions. Another version of the entry than the one in the memory has no mentions.
        """
        item, known, mentions = self._described(item), self._known(item), tuple[Mention, ...]()
        fresh = unseen_paragraphs(content, known)
        if known and not fresh:
            return replace(item, form=Form.ALREADY_SHOWN)
        if known and not fresh.startswith(paragraphs_of(content)[0]):
            fresh = f"{rule_of(self.workspace.catalog.body(item.address))}\n\n{fresh}"
        note = note_of(self._digest(item), ALL if form is Form.FULL else known | marks_of(paragraphs_of(content)))
        form = Form.SUMMARY if fresh != content else form
        if self.workspace.catalog.entries.get(item.address) == item.entry:
            searches = searches and bool(self.found.weights) and not self.found.basis.degraded
            mentions = Mentions(self.workspace, searches).of(item.entry, item.relations)
        return replace(item, content=fresh, form=form, mentions=mentions, note=note)

    def _line(self, item: Item) -> Item:
        item = self._described(item)
        if self._known(item):
            return replace(item, form=Form.ALREADY_SHOWN)
        # A one-sided supersession is always shown together with the entry that it mentions.
        mentions = tuple(
            Mention(RELATIONS[how], address, title)
            for how in ("claimed_by", "claims")
            for address, title in item.relations.get(how, {}).items()
        )
        rule = ""
        if item.unconditional:
            body = self.workspace.catalog.body(item.address)
            rule = rule_of(body)
            rule += " …" if rule and len(rule) < len(" ".join(body.split())) and not rule.endswith("…") else ""
        return replace(item, form=Form.LINE, content=rule, mentions=mentions)

    def _size(self, item: Item) -> int:
        """Return the size of an item as text, in bytes."""
        head = size_of(f"{item.entry.type}{item.address}{item.entry.title}") + _AROUND
        content = size_of(item.content) + 2 * (item.content.count("\n") + 2) if item.content else 0
        mentions = (size_of(f"{one.how}{one.address}{one.title}{one.sentence}") + 20 for one in item.mentions)
        return head + content + sum(mentions)


def note_of(digest: str, parts: frozenset[str]) -> str:
    """Return the note on an entry: its digest, and the marks of the shown parts, or no marks if all were shown."""
    return digest if parts >= ALL else _SEPARATOR.join((digest, *sorted(parts)))


def parts_shown(note: str, digest: str) -> frozenset[str]:
    """Return the marks of the parts that were shown according to a note: `ALL` if all were shown.

    The set is empty if the note is about another version of the file (another digest).
    """
    version, *parts = note.split(_SEPARATOR)
    if not digest or version != digest:
        return frozenset()
    return frozenset(filter(None, parts)) if parts else ALL


def marks_of(parts: Iterable[str]) -> frozenset[str]:
    """Return a short hash for each part of a text, without the quoted heading of a passage."""
    plain = (PASSAGE_START.sub("", one) for one in parts)
    return frozenset(text_hash(one)[:12] for one in plain)


def paragraphs_of(content: str) -> list[str]:
    """Return the paragraphs of a content, which a session remembers separately."""
    return [part for part in content.split("\n\n") if part.strip()]


def unseen_paragraphs(content: str, shown: frozenset[str]) -> str:
    """Return the paragraphs that were not shown yet; `shown` has the marks of the shown ones."""
    if shown >= ALL or not shown:
        return "" if shown else content
    return _without(content, lambda part: marks_of([part]) <= shown)


def without_repeats(item: Item, above: Sequence[Item]) -> Item:
    """Return an item without the paragraphs and mentions that earlier answers of the call (`above`) have of it."""
    earlier = [one for one in above if one.address == item.address]
    if item.form.is_line or not earlier:
        return item
    text = " ".join(word for one in earlier for word in one.content.split())
    content = _without(item.content, lambda part: " ".join(PASSAGE_START.sub("", part).split()).rstrip(" …") in text)
    mentions = tuple(mention for mention in item.mentions if all(mention not in one.mentions for one in earlier))
    form = item.form if content else Form.ALREADY_SHOWN
    return replace(item, content=content, mentions=mentions, form=form, is_continued=content not in ("", item.content))


def _without(content: str, is_known: Callable[[str], bool]) -> str:
    """Return the paragraphs of a content that are not known.

    A passage keeps the quoted heading that it shares with a passage that is left out.
    """
    found, heading, last = list[str](), "", ""
    for part in paragraphs_of(content):
        start = PASSAGE_START.match(part)
        heading = (start and start[1]) or heading
        if not is_known(part):
            found.append(f"… {heading}{part[start.end() :]}" if start and heading != last else part)
            last = heading
    return "\n\n".join(found)
