"""Render a review: its sections as marked lines, as text for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mdmem.change.review_model import (
    CLAIMS,
    Answered,
    AnswerPair,
    Belief,
    ContradictionChange,
    Covered,
    Dependent,
    FieldChange,
    Ref,
    RelationChange,
    ReviewReport,
    Rewording,
    Span,
    Wording,
)
from mdmem.model.text import visible
from mdmem.render.ink import Ink
from mdmem.render.json import dump, record_json
from mdmem.render.text import count, entries, first_of

# `code`: an address, a path or a value. `quoted`: words of a file. `strong` and `dim`: words of ours.
Kind = Literal["code", "quoted", "strong", "dim", "added", "removed"]
Mark = Callable[[Kind, str], str]
"""A style: a function that marks a text as its kind and escapes it."""

Line = tuple[int, str]
"""The indentation of a line and its marked text."""

# A title may be a page long; its beginning is enough.
_LONGEST = 200
# Words of context on each side of a change.
_AROUND = 8
# A review shows so many of the words that a change removed and added.
_MOST_WORDS = 600
# Lines of a section that only lists.
_MOST_LINES = 100
# Moves and reformatted files shown in one line.
_MOST_IN_LINE = 10
# Entries of an answer that are shown although both sides have them.
_FIRST = 5


class ReviewSection(Struct, frozen=True):
    """A section of a review, with whole texts for formats that can show them."""

    title: str
    lines: tuple[Line, ...]
    wordings: tuple[Wording, ...] = ()


def review_text(review: ReviewReport, ink: Ink) -> str:
    """Return the review for a terminal; added words are in `{+ +}`, removed ones in `[- -]`, also without colour."""
    head = [f"{ink.bold(clipped(review.before))} → {ink.bold(clipped(review.after))}", headline(review)]
    head += [ink.warn(clipped(remark)) for remark in review.remarks]
    parts = ["\n".join(head)]

    def mark(kind: Kind, text: str) -> str:
        if kind == "added":
            return ink.added(f"{{+{text}+}}")
        if kind == "removed":
            return ink.removed(f"[-{text}-]")
        paint = {"code": ink.bold, "strong": ink.warn, "dim": ink.dim}.get(kind)
        return paint(text) if paint is not None and text else text

    for section in sections(review, mark):
        if section.lines:
            lines = ["  " * (level + 1) + text for level, text in section.lines]
            parts.append("\n".join([ink.bold(section.title), *lines]))
    return "\n\n".join(parts)


def review_json(review: ReviewReport) -> str:
    """Return the whole review as JSON."""
    found = msgspec.to_builtins(replace(review, merging=None), order="deterministic")
    if (merging := review.merging) is not None:
        found["merging"] = {
            **record_json(merging, "what", "is_merge"),
            "findings": [
                record_json(one, "code", "severity", "address", "message", "help", path="place.path", line="place.line")
                for one in merging.findings
            ],
            **record_json(merging, "older", "incomplete"),
        }
    return dump({"changed": not review.is_empty, **found})


def headline(review: ReviewReport) -> str:
    """Return the change in figures."""
    counts = review.counts
    if review.is_empty:
        return f"nothing changed; {count(counts.in_force_after, 'current entry', 'current entries')}"
    figures = (
        (counts.added, "added"),
        (counts.gone, "gone"),
        (counts.altered - counts.moved, "changed"),
        (counts.moved, "moved"),
        (counts.no_ops, "reformatted"),
    )
    listed = ", ".join(f"{number} {word}" for number, word in figures if number) or "no entry changed"
    return f"{listed}; current entries {counts.in_force_before} → {counts.in_force_after}"


def clipped(text: str) -> str:
    """Return a text in one line, with control characters visible, cut where it is very long."""
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"


def sections(review: ReviewReport, mark: Mark) -> list[ReviewSection]:
    """Return the sections of a review that are not empty, what cannot be read first."""
    writer = _Writer(review, mark)
    frozen = [one for one in review.rewordings if one.is_frozen]
    others = [one for one in review.rewordings if not one.is_frozen]
    is_merge = review.merging is None or review.merging.is_merge
    beliefs = ReviewSection("Rules before → after", _flat(map(writer.belief, review.beliefs)), review.wordings)
    if not review.beliefs and review.wordings:
        beliefs = replace(beliefs, title="Proposed, without effect yet")
    found = [
        ReviewSection("Cannot be read", tuple(writer.unread())),
        beliefs,
        ReviewSection("Findings after the merge" if is_merge else "New findings", tuple(writer.merging())),
        ReviewSection("Changed text of current rules and decisions", _flat(map(writer.rewording, frozen))),
        writer.listed("Status and relations", (*writer.transitions(), *map(writer.relation_change, review.bearings))),
        ReviewSection("Other changed texts", _flat(map(writer.rewording, others))),
        writer.listed("References to entries that are no longer current", map(writer.dependent, review.dependents)),
        ReviewSection("Contradictions", tuple((0, writer.contradiction(one)) for one in review.contradictions)),
        ReviewSection("Code that these entries apply to", tuple((0, writer.covered(one)) for one in review.covered)),
        writer.listed(
            "Other changed fields",
            (f"{writer.code(one.entry.address)}: {writer.fields(one.fields)}" for one in review.edits),
        ),
        ReviewSection("Moved and reformatted files", tuple(writer.moves())),
        ReviewSection("Answers", _flat(map(writer.answer, review.answers))),
    ]
    return [section for section in found if section.lines or section.wordings]


def _flat(parts: Iterable[Iterator[Line]]) -> tuple[Line, ...]:
    return tuple(line for part in parts for line in part)


class _Writer(Struct, frozen=True):
    """Write the lines of a review in one style."""

    review: ReviewReport
    mark: Mark

    def code(self, text: str) -> str:
        return self.mark("code", clipped(text))

    def codes(self, texts: Iterable[str]) -> str:
        return ", ".join(map(self.code, texts))

    def quoted(self, text: str) -> str:
        return self.mark("quoted", clipped(text))

    def entry(self, ref: Ref) -> str:
        return f"{ref.type} {self.code(ref.address)} “{self.quoted(ref.title)}”"

    def listed(self, title: str, lines: Iterable[str]) -> ReviewSection:
        """Return a section of single lines, cut where it is very long."""
        found = [(0, text) for text in lines]
        if len(found) > _MOST_LINES:
            more = self.mark("dim", f"{len(found) - _MOST_LINES} more; --format json has all")
            found = [*found[:_MOST_LINES], (0, more)]
        return ReviewSection(title, tuple(found))

    def unread(self) -> Iterator[Line]:
        """Yield the files that only one side cannot read, and how many files neither side can."""

        def faults(which: str) -> set[tuple[str, str, str]]:
            return {(one.path, one.code, one.message) for one in self.review.unread if one.which == which}

        same = faults("before") & faults("after")
        for one in self.review.unread:
            if (one.path, one.code, one.message) in same:
                continue
            is_before = one.which == "before"
            side = self.review.before if is_before else self.review.after
            text = f"{self.code(one.path)} in {self.code(side)}: {self.mark('strong', one.message)}"
            if one.other is not None:
                other = f"{one.other.status} {one.other.type} {self.quoted(one.other.title)}"
                text += f"; {'after' if is_before else 'before'} it is the {other}"
            yield 0, text
        if same:
            yield 0, self.mark("dim", f"{count(len(same), 'file')} on both sides; `mdmem check` shows why")

    def belief(self, one: Belief) -> Iterator[Line]:
        reason = f"because {self.quoted(one.reason)}" if one.reason else self.mark("dim", "no reason is stated")
        if one.before is None:
            yield 0, f"{self.mark('strong', 'new: ')}{self.entry(one.after[0])}"
            yield from ((1, reason),) if one.reason else ()
            return
        yield 0, self.entry(one.before)
        if not one.after:
            yield 1, self.mark("strong", "→ nothing current replaces it")
        for ref in one.after:
            yield 1, f"→ {self.entry(ref)}"
        yield 1, reason

    def merging(self) -> Iterator[Line]:
        one = self.review.merging
        if one is None or not (one.findings or one.incomplete or (one.is_merge and not self.review.is_empty)):
            return
        older = f"; {one.older} {'was' if one.older == 1 else 'were'} there before" if one.older else ""
        yield 0, f"{self.quoted(one.what)} brings {count(len(one.findings), 'new finding')}{older}"
        for path in one.incomplete:
            yield 0, f"{self.code(path)}{self.mark('strong', ' could not be checked, so there may be more findings')}"
        for finding in one.findings:
            place = self.code(f"{finding.place.path}:{finding.place.line}")
            severity, code = self.mark("strong", str(finding.severity)), self.code(finding.code)
            yield 0, f"{severity} {place} {code} {self.quoted(finding.message)}"

    def rewording(self, one: Rewording) -> Iterator[Line]:
        notice = f" — {one.notice}" if one.notice else ""
        faults = "".join(f" — {self.mark('strong', fault)}" for fault in one.faults)
        yield 0, f"{self.entry(one.entry)}{notice}{faults}"
        if one.title:
            yield 1, f"title: {self.words(one.title)}"
        if one.body:
            yield 1, self.words(one.body)
        if one.fields:
            yield 1, self.fields(one.fields)

    def words(self, spans: Sequence[Span]) -> str:
        """Return a changed text without the words far from a change, cut where very many words changed."""
        room = _MOST_WORDS
        parts = []
        for number, span in enumerate(spans):
            words = span.text.replace("\n\n", " ¶ ").split()
            if span.mark == " ":
                near = _near_change(words, is_first=number == 0, is_last=number == len(spans) - 1)
                parts.append(self.mark("quoted", visible(" ".join(near))))
                continue
            if words[:room]:
                kind: Kind = "added" if span.mark == "+" else "removed"
                parts.append(self.mark(kind, visible(" ".join(words[:room]))))
            room -= len(words)
            if room < 0:
                left = sum(len(one.text.split()) for one in spans[number + 1 :] if one.mark != " ") - room
                parts.append(self.mark("dim", f"… {count(left, 'more changed word')}"))
                break
        return " ".join(parts)

    def fields(self, fields: Iterable[FieldChange]) -> str:
        return "; ".join(
            f"{one.name} {f'{self.code(one.before)} →' if one.before else 'is now'} "
            f"{self.code(one.after) if one.after else 'nothing'}"
            for one in fields
        )

    def transitions(self) -> Iterator[str]:
        """Yield the changes of status, without the faults that are among the new findings."""
        found = self.review.merging.findings if self.review.merging is not None else ()
        shown = {(one.address, one.message) for one in found}
        for one in self.review.transitions:
            faults = [fault for fault in one.faults if (one.entry.address, fault) not in shown]
            illegal = self.mark("strong", " (illegal)") if one.is_illegal else ""
            reasons = "".join(f" — {self.quoted(fault)}" for fault in faults)
            yield f"{self.entry(one.entry)}: {one.before or 'new'} → {one.after or 'gone'}{illegal}{reasons}"

    def relation_change(self, one: RelationChange) -> str:
        says = one.says if one.is_new else f"no longer {one.says}"
        both = "; both are current" if one.says == CLAIMS and one.is_new else ""
        return f"{self.entry(one.entry)} {says} {self.entry(one.on)}{both}"

    def dependent(self, one: Dependent) -> str:
        owners = f"owned by {self.quoted(', '.join(one.entry.owners))}" if one.entry.owners else "owned by nobody"
        is_elsewhere = one.entry.address.split("/", 1)[0] != one.on.split("/", 1)[0]
        where = ", in another wing" if is_elsewhere else ""
        how = " and ".join(f"in its {name}" if name == "text" else f"in {self.code(name)}" for name in one.how)
        then = f"now replaced by {self.codes(one.heads)}" if one.heads else "which nothing current replaces"
        return f"{self.entry(one.entry)}, {owners}{where}: mentions {self.code(one.on)} {how}, {then}"

    def contradiction(self, one: ContradictionChange) -> str:
        first, second = one.first, one.second
        state = self.mark("strong", "new") if one.is_new else "resolved"
        text = f"{state}: {self.code(first.address)} and {self.code(second.address)}: {self.quoted(one.why)}"
        if not one.is_new:
            return text
        if first.type is second.type:
            return f"{text}; both are {first.type}s: neither outranks the other"
        return f"{text}; the {first.type} outranks the {second.type}"

    def covered(self, one: Covered) -> str:
        more = f" and {one.count - len(one.files)} more" if one.count > len(one.files) else ""
        files = f": {self.codes(one.files)}{more}" if one.files else ""
        return f"{self.entry(one.entry)}, applies to {self.codes(one.globs)}, {count(one.count, 'file')}{files}"

    def moves(self) -> Iterator[Line]:
        """Yield the moves, those between two folders as one, and the reformatted files."""
        groups: dict[tuple[str, str], list[str]] = {}
        for one in self.review.moves:
            folders = one.before.rpartition("/")[0], one.after.rpartition("/")[0]
            groups.setdefault(folders, []).append(f"{self.code(one.before)} → {self.code(one.after)}")
        shown = [
            moved[0]
            if len(moved) == 1
            else f"{self.code(f'{old}/*')} → {self.code(f'{new}/*')} ({entries(len(moved))})"
            for (old, new), moved in sorted(groups.items())
        ]
        if shown:
            yield 0, f"moved {first_of(shown, _MOST_IN_LINE)}"
        if same := self.review.no_ops:
            yield 0, f"{entries(len(same))} reformatted: {first_of([*map(self.code, same)], _MOST_IN_LINE)}"

    def answer(self, one: AnswerPair) -> Iterator[Line]:
        before, after = ([ref.address for ref in side.items] for side in (one.before, one.after))
        question = f"asked {self.quoted(one.question)}"
        if one.is_same:
            yield 0, f"{question}: the answer is the same"
            yield 1, self._answered(one.after, before, "added")
        else:
            yield 0, question
            yield 1, f"before: {self._answered(one.before, after, 'removed')}"
            yield 1, f"after: {self._answered(one.after, before, 'added')}"

    def _answered(self, one: Answered, others: Sequence[str], kind: Kind) -> str:
        """Return the first entries of an answer, and all that only this side has."""
        if one.error is not None:
            return self.quoted(one.error)
        listed = [ref.address for ref in one.items]
        shown = [name for number, name in enumerate(listed) if number < _FIRST or name not in others]
        text = ", ".join(self.code(name) if name in others else self.mark(kind, name) for name in shown)
        if len(shown) < len(listed):
            text += self.mark("dim", f" and {len(listed) - len(shown)} more")
        if not listed:
            text += "nothing matches"
        if not one.covered:
            text += self.mark("dim", " (no current entry covers this)")
        if one.problems:
            text += self.mark("strong", f" ({count(one.problems, 'file')} cannot be read and may apply)")
        return text


def _near_change(words: list[str], *, is_first: bool, is_last: bool) -> list[str]:
    """Return the unchanged words next to a change."""
    before = [] if is_first else words[:_AROUND]
    after = [] if is_last and not is_first else words[-_AROUND:]
    return words if len(words) <= len(before) + len(after) + (1 if before and after else 0) else [*before, "…", *after]
