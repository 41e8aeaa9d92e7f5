"""Render the review of a change (`mdmem diff`) as text, as Markdown for CI, and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mdmem.change import review_model as model
from mdmem.model.entry import EntryType, Status
from mdmem.model.finding import Finding
from mdmem.model.text import first_of, visible
from mdmem.record import record_json
from mdmem.render.text import Style, code, count, entries, fit_lines, prose, shorten

# `code` is an address, a path or a value. `quoted` is text from a file. `strong` and `dim` are words of mdmem itself.
Kind = Literal["code", "quoted", "strong", "dim", "added", "removed"]
# A function that escapes a text and marks it up according to its kind.
Mark = Callable[[Kind, str], str]
# The indentation level of a line, and its text with markup.
Line = tuple[int, str]
# The title of a section and its lines.
Section = tuple[str, tuple[Line, ...]]
# The unchanged words that are shown before and after a change.
_AROUND = 8
# The most removed and added words that are shown for one changed text.
_MAX_WORDS = 600
# The most lines of a section that is a plain list.
_MAX_LINES = 100
# The most moves or reformatted files in one line.
_MAX_IN_LINE = 10
_WOULD = {"supersedes": "supersede", "amends": "amend", "overrides": "override"}

# The first line of the comment. CI searches for this line to update its earlier comment.
MARKER = "<!-- mdmem diff -->"
# The most characters of a review; a comment on GitHub may have 65,536.
LIMIT = 65_000
_CUT = "- {} more lines omitted; `mdmem diff` shows all."


def review_text(review: model.ReviewReport, style: Style) -> str:
    """Return the review for a terminal; added words are in `{+ +}` and removed words in `[- -]`."""
    head = [f"{style.bold(shorten(review.before))} → {style.bold(shorten(review.after))}", headline(review)]
    head += [style.warn(shorten(remark)) for remark in review.remarks]
    parts = ["\n".join(head)]

    def mark(kind: Kind, text: str) -> str:
        text = {"added": f"{{+{text}+}}", "removed": f"[-{text}-]", "dim": style.typed(text)}.get(kind, text)
        paints = {"code": style.bold, "strong": style.warn, "dim": style.dim}
        paint = {**paints, "added": style.added, "removed": style.removed}.get(kind, str)
        return paint(text) if text else text

    for title, lines in sections(review, mark):
        parts.append("\n".join([style.bold(title), *("  " * (level + 1) + text for level, text in lines)]))
    return "\n\n".join(parts)


def review_markdown(review: model.ReviewReport, *, page: str | None = None) -> str:
    """Return the review as Markdown of at most 65,000 characters; a section says if lines are omitted.

    Text from files is escaped, so that it cannot become markup, a link, a mention or a reference. `page` is the URL of
    a page about this change.
    """
    head = [
        MARKER,
        f"## mdmem diff: {headline(review)}",
        f"{code(shorten(review.before))} → {code(shorten(review.after))}",
    ]
    head += [f"**{prose(shorten(remark))}**" for remark in review.remarks]
    head += [f"[The page of this change]({page})"] if page is not None else []

    def mark(kind: Kind, text: str) -> str:
        if not text.strip():
            return text
        if kind == "code":
            return code(text)
        shown = prose(text)
        if kind in ("added", "removed"):
            tag = "ins" if kind == "added" else "del"
            return f"<{tag}>{shown}</{tag}>"
        # Markdown needs the stars of bold text next to the text, not next to a blank.
        return shown.replace(shown.strip(), f"**{shown.strip()}**", 1) if kind == "strong" else shown

    blocks = [
        [f"### {title}\n", *(f"{'  ' * level}- {text}" for level, text in lines)]
        for title, lines in sections(review, mark)
    ]
    left = LIMIT - sum(len(one) + 2 for one in head)
    # If the sections do not all fit, each gets an equal share of the characters.
    share = left if sum(len(line) + 1 for block in blocks for line in block) <= left else left // len(blocks)
    return "\n\n".join([*head, *(fit_lines(block, share - 2, _CUT) for block in blocks)])


def diff_page(url: str | None, environment: Mapping[str, str]) -> str | None:
    """Return a URL with numbers of the pull request and CI run for `{change}` and `{run}`; None if one is missing."""
    asked = re.fullmatch(r"refs/pull/(\d+)/.*", environment.get("GITHUB_REF", ""))
    numbers = {
        "{change}": asked[1] if asked else environment.get("CI_MERGE_REQUEST_IID", ""),
        "{run}": environment.get("GITHUB_RUN_ID") or environment.get("CI_JOB_ID", ""),
    }
    for name, number in numbers.items():
        if url is not None and name in url:
            url = url.replace(name, number) if re.fullmatch("[0-9]+", number) else None
    return url


def review_json(review: model.ReviewReport) -> dict[str, Any]:
    """Return the whole review as JSON values."""
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
    return {"changed": not review.is_empty, **found}


def headline(review: model.ReviewReport) -> str:
    """Return a line that counts the added, removed and changed entries, and the current ones before and after."""
    counts = review.counts
    if review.is_empty:
        return f"nothing changed; {count(counts.in_force_after, 'current entry', 'current entries')}"
    changed = counts.altered - counts.moved
    numbers = (counts.added, counts.gone, changed, counts.moved, counts.no_ops)
    words = ("added", "gone", "changed", "moved", "reformatted")
    listed = ", ".join(f"{number} {word}" for number, word in zip(numbers, words, strict=True) if number)
    current = f"current entries {counts.in_force_before} → {counts.in_force_after}"
    return f"{listed or 'no entry changed'}; {current}"


def sections(review: model.ReviewReport, mark: Mark) -> list[Section]:
    """Return the sections of a review that are not empty; unreadable files come first."""
    writer = _Writer(review, mark)
    is_merge = review.merging is None or review.merging.is_merge
    found: tuple[tuple[str, Iterable[Line]], ...] = (
        ("Cannot be read", writer.unread()),
        ("Proposed", writer.proposed()),
        ("Rules before → after", writer.beliefs(of_notes=False)),
        ("Findings after the merge" if is_merge else "New findings", writer.merging()),
        ("Changed text of current rules and decisions", writer.rewordings(is_frozen=True)),
        ("Status and relations", writer.listed((*writer.transitions(), *map(writer.relation, review.bearings)))),
        ("Notes before → after", writer.beliefs(of_notes=True)),
        ("Other changed texts", writer.rewordings(is_frozen=False)),
        ("References to entries that are no longer current", writer.listed(map(writer.dependent, review.dependents))),
        ("Contradictions", writer.listed(map(writer.contradiction, review.contradictions))),
        ("Code that these entries apply to", writer.listed(map(writer.covered, review.covered))),
        ("Other changed fields", writer.listed(map(writer.edit, review.edits))),
        ("Moved and reformatted files", writer.listed(writer.moves())),
        ("Answers", writer.answers()),
    )
    listed = ((title, tuple(lines)) for title, lines in found)
    return [(title, lines) for title, lines in listed if lines]


class _Writer(Struct, frozen=True):
    """Writes the lines of a review, marked up by `mark`."""

    review: model.ReviewReport
    mark: Mark

    def code(self, text: str) -> str:
        return self.mark("code", shorten(text))

    def codes(self, texts: Iterable[str]) -> str:
        return ", ".join(map(self.code, texts))

    def quoted(self, text: str) -> str:
        return self.mark("quoted", shorten(text))

    def entry(self, ref: model.EntryRef) -> str:
        return f"{ref.type} {self.code(ref.address)} “{self.quoted(ref.title)}”"

    def listed(self, lines: Iterable[str]) -> Iterator[Line]:
        """Yield the first lines of a list, and the number of the others if there are many."""
        found = list(lines)
        yield from ((0, text) for text in found[:_MAX_LINES])
        if len(found) > _MAX_LINES:
            yield 0, self.mark("dim", f"{len(found) - _MAX_LINES} more; --format json has all")

    def unread(self) -> Iterator[Line]:
        """Yield a line for each file that only one side of the change cannot read, and the number of the other ones."""
        faults = Counter((one.path, one.code, one.message) for one in self.review.unread)
        for one in self.review.unread:
            if faults[one.path, one.code, one.message] == 1:
                side = self.review.before if one.which == "before" else self.review.after
                text = f"{self.code(one.path)} in {self.code(side)}: {self.mark('strong', one.message)}"
                yield 0, f"{text}; on the other side: {self.entry(one.other)}" if one.other is not None else text
        if both := sum(number > 1 for number in faults.values()):
            yield 0, self.mark("dim", f"{count(both, 'file')} on both sides; `mdmem check` shows why")

    def proposed(self) -> Iterator[Line]:
        """Yield what each draft would replace or change, with its first sentence below."""
        for entry, group in groupby(self.review.proposed, key=lambda one: one.entry):
            found = list(group)
            effects = (f"{_WOULD[one.says]} {self.code(one.on.address)} “{self.quoted(one.on.title)}”" for one in found)
            reason = f", because {self.quoted(found[0].reason)}" if found[0].reason else ""
            yield 0, f"{self.mark('strong', 'draft ')}{self.entry(entry)} would {' and '.join(effects)}{reason}"
            yield from ((1, self.quoted(found[0].opening)),) if found[0].opening else ()

    def beliefs(self, *, of_notes: bool) -> Iterator[Line]:
        """Yield the new, replaced and deprecated entries: only notes, or only the others."""
        for one in self.review.beliefs:
            refs = (*filter(None, (one.before,)), *one.after)
            if all(ref.type is EntryType.NOTE for ref in refs) != of_notes:
                continue
            if one.before is None:
                yield 0, f"{self.mark('strong', 'new: ')}{self.entry(one.after[0])}"
            else:
                yield 0, self.entry(one.before)
                after = [f"→ {self.entry(ref)}" for ref in one.after]
                yield from ((1, line) for line in after or [self.mark("strong", "→ no current entry replaces it")])
            yield from ((1 if one.before is None else 2, self.quoted(one.opening)),) if one.opening else ()
            if one.reason:
                yield 1, f"because {self.quoted(one.reason)}"
            elif one.before is not None:
                yield 1, self.mark("dim", "no reason is stated")

    def merging(self) -> Iterator[Line]:
        one = self.review.merging
        if one is None or not (one.findings or one.incomplete or (one.is_merge and not self.review.is_empty)):
            return
        older = f"; {one.older} {'was' if one.older == 1 else 'were'} there before" if one.older else ""
        yield 0, f"{self.quoted(one.what)} brings {count(len(one.findings), 'new finding')}{older}"
        for path in one.incomplete:
            yield 0, f"{self.code(path)}{self.mark('strong', ' could not be checked, so there may be more findings')}"
        yield from self.listed(map(self.finding, one.findings))

    def finding(self, one: Finding) -> str:
        place = self.code(f"{one.place.path}:{one.place.line}")
        return f"{self.mark('strong', str(one.severity))} {place} {self.code(one.code)} {self.quoted(one.message)}"

    def rewordings(self, *, is_frozen: bool) -> Iterator[Line]:
        for one in self.review.rewordings:
            if one.is_frozen != is_frozen:
                continue
            notice = f" — {one.notice}" if one.notice else ""
            faults = "".join(f" — {self.mark('strong', fault)}" for fault in one.faults)
            yield 0, f"{self.entry(one.entry)}{notice}{faults}"
            if one.title:
                yield 1, f"title: {self.words(one.title)}"
            if one.body:
                yield 1, self.words(one.body)
            if one.fields:
                yield 1, self.fields(one.fields)

    def words(self, spans: Sequence[model.Span]) -> str:
        """Return the changed words of a text and the words near them; very long changes are cut."""
        left, parts = _MAX_WORDS, list[str]()
        for number, span in enumerate(spans):
            words = span.text.replace("\n\n", " ¶ ").split()
            if span.mark != " ":
                kind: Kind = "added" if span.mark == "+" else "removed"
                parts += [self.mark(kind, visible(" ".join(words[:left])))] if left > 0 and words else []
                left -= len(words)
            elif left > 0:
                # Only the words next to a change are shown.
                before = [] if number == 0 else words[:_AROUND]
                after = [] if 0 < number == len(spans) - 1 else words[-_AROUND:]
                is_short = len(words) <= len(before) + len(after) + (1 if before and after else 0)
                parts.append(self.mark("quoted", visible(" ".join(words if is_short else [*before, "…", *after]))))
        parts += [self.mark("dim", f"… {count(-left, 'more changed word')}")] if left < 0 else []
        return " ".join(parts)

    def fields(self, fields: Iterable[model.FieldChange]) -> str:
        return "; ".join(
            f"{one.name} {f'{self.code(one.before)} →' if one.before else 'is now'} "
            f"{self.code(one.after) if one.after else 'nothing'}"
            for one in fields
        )

    def transitions(self) -> Iterator[str]:
        """Yield the changes of status that the sections "before → after" do not show already."""
        ended = {one.before.address for one in self.review.beliefs if one.before is not None}
        begun = {ref.address for one in self.review.beliefs for ref in one.after}
        steps: Mapping[tuple[Status | None, Status | None], set[str]]
        steps = {(None, Status.ACTIVE): begun, (Status.ACTIVE, Status.DEPRECATED): ended}
        for one in self.review.transitions:
            if one.faults or one.entry.address not in steps.get((one.before, one.after), ()):
                illegal = self.mark("strong", " (illegal)") if one.is_illegal else ""
                reasons = "".join(f" — {self.quoted(fault)}" for fault in one.faults)
                yield f"{self.entry(one.entry)}: {one.before or 'new'} → {one.after or 'gone'}{illegal}{reasons}"

    def relation(self, one: model.RelationChange) -> str:
        says = one.says if one.is_new else f"no longer {one.says}"
        both = "; both are current" if one.says == model.CLAIMS and one.is_new else ""
        return f"{self.entry(one.entry)} {says} {self.entry(one.on)}{both}"

    def dependent(self, one: model.Dependent) -> str:
        owners = f"owned by {self.quoted(', '.join(one.entry.owners))}" if one.entry.owners else "owned by nobody"
        how = " and ".join(f"in its {name}" if name == "text" else f"in {self.code(name)}" for name in one.how)
        then = f"now replaced by {self.codes(one.heads)}" if one.heads else "which no current entry replaces"
        return f"{self.entry(one.entry)}, {owners}: mentions {self.code(one.on)} {how}, {then}"

    def contradiction(self, one: model.ContradictionChange) -> str:
        first, second = one.first, one.second
        state = self.mark("strong", "new") if one.is_new else "resolved"
        rank = f"; the {first.type} outranks the {second.type}" if one.is_new and first.type is not second.type else ""
        return f"{state}: {self.code(first.address)} and {self.code(second.address)}: {self.quoted(one.why)}{rank}"

    def covered(self, one: model.Covered) -> str:
        files = self.codes(one.files) or "no file"
        more = f" and {one.count - len(one.files)} more" if one.count > len(one.files) else ""
        return f"{self.entry(one.entry)}, applies to {self.codes(one.globs)}: {files}{more}"

    def edit(self, one: model.FieldEdit) -> str:
        return f"{self.code(one.entry.address)}: {self.fields(one.fields)}"

    def moves(self) -> Iterator[str]:
        if moved := [f"{self.code(one.before)} → {self.code(one.after)}" for one in self.review.moves]:
            yield f"moved {first_of(moved, _MAX_IN_LINE)}"
        if same := self.review.no_ops:
            yield f"{entries(len(same))} reformatted: {first_of([*map(self.code, same)], _MAX_IN_LINE)}"

    def answers(self) -> Iterator[Line]:
        for one in self.review.answers:
            yield 0, f"asked {self.quoted(one.question)}{': the answer is the same' if one.is_same else ''}"
            if not one.is_same:
                yield 1, f"before: {self._answered(one.before, one.after, 'removed')}"
            yield 1, f"{'' if one.is_same else 'after: '}{self._answered(one.after, one.before, 'added')}"

    def _answered(self, one: model.SideAnswer, other: model.SideAnswer, kind: Kind) -> str:
        """Return the entries of an answer, with marks at those that the other answer does not have."""
        if one.error is not None:
            return self.quoted(one.error)
        there = {ref.address for ref in other.items}
        listed = [self.mark("code" if ref.address in there else kind, ref.address) for ref in one.items]
        text = ", ".join(listed) or "nothing matches"
        if not one.covered:
            text += self.mark("dim", " (not clearly covered)" if listed else " (not covered)")
        if one.problems:
            text += self.mark("strong", f" ({count(one.problems, 'file')} cannot be read and may apply)")
        return text
