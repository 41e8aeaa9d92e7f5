"""Render the answers of `retrieve` as text for a terminal and as Markdown for an agent, and the notes around them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from mdmem.ask.answer import (
    VIA_NAMED,
    Answer,
    AnswerBasis,
    Answers,
    Coverage,
    Form,
    Item,
    Mention,
    Reason,
    Tier,
    count_omitted,
)
from mdmem.ask.limits import NEXT_BEST, SMALL_BUDGET
from mdmem.markdown.body import cut_at_word, is_title_alone, quoted
from mdmem.model.entry import Status
from mdmem.model.lineage import branch_state_json, standing_marks
from mdmem.model.text import first_of
from mdmem.record import record_json
from mdmem.render.text import UNREPLACED, Style, count, entries, indent, one_line, repeats
from mdmem.store.workspace.scope import Filters, ScopeState

TITLE_ALONE = "no text beyond its title"
SOURCES = {"index": "the index", "scan": "the files, without an index", "hub": "the hub"}
# The most bytes of a question that are repeated above its answer.
_QUESTION = 48
# If an entry matches at most this many words of the question, its line lists these words.
_FEW_WORDS = 2
_FEW_WINGS = 3
# A phrase with its quotation marks.
_PHRASE = re.compile(r'"[^"]{1,60}"|“[^“”]{1,60}”')
_MAX_WINGS, _MAX_ABSENT, _MAX_FILES, _LONGEST_PATH, _LONGEST_REASON = 4, 3, 4, 120, 160


def _item(item: Item, style: Style) -> str:
    entry, marks = item.entry, _marks(item)
    title = item.content or entry.title if item.form.is_line else entry.title
    adds_nothing = item.form is Form.ALREADY_SHOWN or (item.form.is_line and repeats(entry.address, title))
    after = "" if adds_nothing else f": {one_line(title)}"
    lines = [mention_line(one, style) for one in item.mentions]
    if not style.is_markdown:
        head = f"{style.bold(f'[{entry.type}] {entry.address}')}{after}{marks}"
        content = [indent(item.content)] if item.content and not item.form.is_line else []
        return "\n".join([head, *content, *(style.dim(f"  {line}") for line in lines)])
    if item.form.is_line:
        return "\n".join([f"- {entry.type} `{entry.address}`{marks}{after}", *(f"  - {line}" for line in lines)])
    blocks = [f"### {entry.type}: {one_line(entry.title)}", f"`{entry.address}`{marks}", quoted(item.content)]
    return "\n\n".join([*blocks, *(["\n".join(f"- {line}" for line in lines)] if lines else [])])


def _items(items: Sequence[Item], style: Style) -> Iterator[str]:
    """Yield entries as blocks; one-line entries in a row are one block, and those already shown are one line."""
    repeated = (one for one in items if one.form is Form.ALREADY_SHOWN)
    shown = [one for one in repeated if not (one.mentions or standing_marks(one.branch_state))]
    blocks = [(one.form.is_line, _item(one, style)) for one in items if one not in shown]
    blocks += [(True, f"Already shown: {', '.join(item.address for item in shown)}")] if shown else []
    for is_line, group in groupby(blocks, key=itemgetter(0)):
        texts = [text for _, text in group]
        yield from ["\n".join(texts)] if is_line else texts


def answers_text(answers: Answers, style: Style) -> str:
    """Return the answers of a call; in Markdown, contents are block quotes, to tell them from instructions."""
    blocks: list[str] = []
    if answers.main is not None:
        blocks.append(_main(answers.main, style))
    elif answers.short:
        # All questions of a call have the same scope, so they have the same problems.
        blocks += problems_text(answers.short[0].basis, style)
    blocks += [_short(number, one, style) for number, one in enumerate(answers.short, 1)]
    blocks += dict.fromkeys(line for one in answers.short for line in _elsewhere(one))
    if answers.short:
        bases = [one.basis for one in answers.short]
        most = max(sum(one.count for one in (*count_omitted(basis.omitted), *basis.omitted_counts)) for basis in bases)
        foot = f"Omitted from each answer: up to {count(most, 'entry', 'entries')}. " if most else ""
        foot += f"Source: {' and '.join(dict.fromkeys(map(_source, answers.short)))}"
        unread = ", ".join(answers.unread[:_MAX_WINGS])
        # An answer with a better match in another wing has its `--wing` already.
        ways = "--all-wings" if any(basis.unread for basis in bases) else "--wing, --all-wings"
        blocks.append(style.foot(f"{foot}{f'; not read: {unread} ({ways})' if unread else ''}"))
    return "\n\n".join(blocks)


def answers_json(answers: Answers) -> dict[str, Any]:
    """Return the main answer as JSON values, with the other answers, if any, under `answers`."""
    others = [{"query": one.question.words, **answer_json(one)} for one in answers.short]
    main = answer_json(answers.main) if answers.main is not None else {}
    return {**main, **({"answers": others} if others else {})}


def _main(answer: Answer, style: Style) -> str:
    basis, style = answer.basis, _style_of(answer, style)
    blocks = [*problems_text(basis, style)]
    if basis.degraded:
        source = _source(answer)
        blocks.append(f"Degraded: {basis.why_degraded}{f'; this answer comes from {source}' if source else ''}.")
    blocks += [_verdict(answer), *_elsewhere(answer), *_unread_and_ended(answer), *_items(answer.items, style)]
    if answer.proposed:
        blocks += [style.heading("Proposed (not binding)"), *_items(answer.proposed, style)]
    blocks += map(style.warn, contradictions_text(answer))
    if basis.fallback:
        lines = [f"  {one.path}:{one.line}: {one.text}" for one in basis.fallback]
        blocks.append("\n".join(["Outside the memory, not binding:", *lines]))
    blocks.append(style.foot(_foot(answer)))
    if basis.absent:
        # These paths have a typing error, or are new.
        paths = [f"`{cut_at_word(one_line(path), _LONGEST_PATH)}`" for path in basis.absent]
        blocks.append(f"Not in this working tree now: {first_of(paths, _MAX_ABSENT)}")
    return "\n\n".join(blocks)


def _style_of(answer: Answer, style: Style) -> Style:
    shown = (item.address for item in (*answer.items, *answer.proposed) if not item.form.is_line)
    return replace(style, shown=frozenset(shown))


def _short(number: int, answer: Answer, style: Style) -> str:
    basis, words, style = answer.basis, one_line(answer.question.words), _style_of(answer, style)
    blocks = [style.heading(f"{number}. {cut_at_word(words, _QUESTION)}")]
    blocks += [f"Degraded: {basis.why_degraded}."] if basis.degraded else []
    blocks += filter(None, [_coverage(answer)])
    if basis.unmatched_terms and basis.coverage is not Coverage.PARTIAL:
        blocks.append(_in_no_entry(answer))
    blocks += [*_unread_and_ended(answer), *_items((*answer.items, *answer.proposed), style)]
    return ("\n\n" if style.is_markdown else "\n").join([*blocks, *contradictions_text(answer)])


def _unread_and_ended(answer: Answer) -> Iterator[str]:
    basis, shown = answer.basis, {item.address for item in answer.items}
    for one in basis.unread:
        yield f"Not read, and a better match: {one.address}: {one_line(one.title)} (--wing {shlex.quote(one.wing)})"
    # The answer may show the successor.
    if basis.ended and shown.isdisjoint(basis.ended[0].heads):
        yield from ended_text(basis)


def _coverage(answer: Answer) -> str:
    """Return the sentence that says how far an answer covers the question; empty if it covers all of it."""
    scope, basis = answer.scope, answer.basis
    if not scope.wings:
        is_uncertain = scope.state is ScopeState.UNCERTAIN
        unread = "The memory cannot be read here; it may contain rules for this."
        return unread if is_uncertain else "There is no memory to ask here."
    subject, paths = "this", answer.question.paths
    if paths and not answer.question.words.strip():
        # Invariants of the scope, which apply to every file, may follow.
        subject = f"{'these files' if paths[1:] else 'this file'} in particular"
    return basis.coverage_text(subject, has_match=any(item.score > 0 for item in answer.items))


def _in_no_entry(answer: Answer) -> str:
    """Return the sentence that says that no entry contains some words, or a quoted phrase with several of them."""
    words, wings = [*answer.basis.unmatched_terms], answer.scope.wings
    for phrase in _PHRASE.findall(one_line(answer.question.words)):
        if len(inside := [one for one in words if one in re.findall(r"[\w-]+", phrase)]) > 1:
            words[words.index(inside[0])] = phrase
            words = [one for one in words if one not in inside]
    of = f"of {' or '.join(wings)}" if 0 < len(wings) <= _FEW_WINGS else "searched"
    return f"No entry {of} contains {' or '.join(words)}."


def _verdict(answer: Answer) -> str:
    scope, basis, coverage = answer.scope, answer.basis, _coverage(answer)
    if not scope.wings:
        return coverage
    where = f" in {', then '.join(filter(None, (scope.wing, ', '.join(scope.wings[1:]))))}"
    where += f"; rooms {', '.join(scope.rooms)}" if scope.rooms else ""
    unmatched = f" {_in_no_entry(answer)}" if basis.unmatched_terms else ""
    if basis.coverage is Coverage.FULL:
        return f"{entries(len(answer.items))}{where}.{unmatched}"
    if basis.coverage is Coverage.PARTIAL:
        return f"{entries(len(answer.items))}{where}. {coverage}"
    none = f"There is no {'readable ' if basis.problems else ''}entry yet."
    searched = f"Searched {count(len(answer.searched), 'room')}." if answer.searched else none
    return f"{coverage}{unmatched} {f'{basis.other_wings}.' if basis.other_wings else searched}"


def _foot(answer: Answer) -> str:
    """Return the last line: omitted entries, whether all rules of the given paths are there, size and source."""
    basis, scope, paths = answer.basis, answer.scope, answer.question.paths
    counts: dict[str, Counter[str]] = {}
    for one in (*count_omitted(basis.omitted), *basis.omitted_counts):
        counts.setdefault(one.why, Counter())[one.type] += one.count
    parts = [f"{', '.join(map(count, found.values(), found))} ({why})" for why, found in sorted(counts.items())]
    omitted = f"Omitted: {'; '.join(parts)}. " if parts else ""
    best = [one.address for one in basis.omitted if one.why in (Reason.OVER_BUDGET, Reason.WEAK)]
    if best and answer.weights and answer.budget > SMALL_BUDGET:
        omitted += f"Next best: {', '.join(best[:NEXT_BEST])}. "
    is_narrowed = scope.rooms or answer.question.filters != Filters(wings=answer.question.filters.wings)
    # The invariants of all wings must apply, also in other rooms.
    may_hide = basis.problems or basis.elsewhere or basis.degraded or not set(scope.wings) <= set(scope.binding_wings)
    has_match = any(item.on_path for item in (*answer.items, *answer.proposed))
    # Paths that do not exist may be typing errors.
    may_be_typos = basis.absent and not has_match
    settled = ""
    if paths and not (is_narrowed or may_hide or may_be_typos or Reason.OVER_BUDGET in counts):
        files = "this file" if len(paths) == 1 else f"one of these {len(paths)} files"
        settled = f"No {'other ' if has_match else ''}rule's `applies_to` matches {files}. "
    size = f"{answer.tokens} of {answer.budget} tokens"
    if answer.over_budget:
        size = f"{answer.tokens} tokens, {answer.tokens - answer.budget} over the budget for invariants"
    source = _source(answer)
    return f"{omitted}{settled}{size}{f'; from {source}' if source else ''}"


def _source(answer: Answer) -> str:
    """Return where an answer comes from; empty if it should come from outside the memory, where nothing was found."""
    source, files = answer.basis.source, [*dict.fromkeys(one.path for one in answer.basis.fallback)]
    # Without words to search for, no index is needed.
    return "the files" if source == "scan" and not answer.weights else SOURCES.get(source) or first_of(files, 3)


def _elsewhere(answer: Answer) -> Iterator[str]:
    paths = "this path" if len(answer.question.paths) == 1 else "some of these paths"
    for one in answer.basis.elsewhere:
        apply = "1 rule applies" if one.count == 1 else f"{one.count} rules apply"
        yield f"In {one.wing} {apply} to {paths}: ask again with `--wing {shlex.quote(one.wing)}`."


def _marks(item: Item) -> str:
    reasons = list(item.reasons)
    marks = [] if item.tier is Tier.PROJECT else [item.tier.value]
    status = item.status.value.replace("_", " ")
    marks += [status] if item.status is not Status.ACTIVE and not any(status in one for one in reasons) else []
    marks += {Form.SUMMARY: ["excerpt"], Form.ALREADY_SHOWN: ["already shown"]}.get(item.form, [])
    marks += ["shown above in part"] if item.is_continued else []
    marks += [TITLE_ALONE] if item.form is Form.FULL and is_title_alone(item.content) else []
    if item.form is not Form.ALREADY_SHOWN:
        lists_words = item.form is Form.LINE and 0 < len(item.terms) <= _FEW_WORDS
        marks += [one for one in reasons if lists_words or not one.startswith(_OBVIOUS)]
    marks += [one for one in standing_marks(item.branch_state) if not any(one in other for other in marks)]
    return f" ({'; '.join(marks)})" if marks else ""


# The beginnings of reasons that are obvious if the content is shown.
_OBVIOUS = ("contains ", "invariant of the scope", "in scope", "matches the query", "replaces ")


def mention_line(one: Mention, style: Style) -> str:
    """Return a related entry as one line; without its title if the answer shows the entry itself."""
    is_shown, address = one.address in style.shown, one.address
    day = f" ({'; '.join(filter(None, (one.does, one.day)))})" if one.does or one.day else ""
    sentence = f": “{one_line(one.sentence)}”" if one.sentence else ""
    title = f": {one_line(one.title)}" if one.title and not is_shown and not repeats(address, one.title) else ""
    return f"{one.how} {address}{title}{day}{sentence}".rstrip()


def problems_text(basis: AnswerBasis, style: Style) -> Iterator[str]:
    """Yield a block about the files that cannot be read in full, if any: the error of a single one, or their paths."""
    found, check = basis.problems, style.typed("`mdmem check`")
    if not found:
        return
    if basis.repeats_problems:
        yield f"{count(len(found), 'file')} still cannot be read in full ({check})"
        return
    places = [f"{one.place.path}:{one.place.line}" for one in found]
    # Every answer repeats this block, so it is short.
    shown = f" {first_of(places, _MAX_FILES)} ({check})"
    if len(found) == 1:
        message = cut_at_word(one_line(found[0].message), _LONGEST_REASON)
        shown = f"\n  {places[0]}: {message} ({found[0].code})"
    yield f"{count(len(found), 'file')} of this scope cannot be read in full, and may apply:{shown}"


def contradictions_text(answer: Answer) -> Iterator[str]:
    """Yield a block that lists the contradictions of an answer, if any, and which entry outranks the other."""
    shown = {item.address: item.entry.type for item in answer.items}
    lines = []
    for one in answer.basis.conflicts:
        kinds = sorted({shown[it] for it in (one.a, one.b) if it in shown}, key=lambda kind: kind.rank)
        rank = f"; the {kinds[0]} outranks the {kinds[1]}" if len(kinds) == 2 else ""
        lines.append(f"  {one.a} against {one.b}: {one.why}{rank}")
    if lines:
        yield "\n".join(["Contradictions, for a person to resolve:", *lines])


def ended_text(basis: AnswerBasis) -> Iterator[str]:
    """Yield a line about a match that is not current, with its successors and the reason."""
    for one in basis.ended:
        why = f" Reason: {cut_at_word(one_line(one.reason), _LONGEST_REASON)}" if one.reason else ""
        if named := [*one.heads, *(f"{address}, which cannot be read" for address in one.unread)]:
            yield f"The best match is not current: {one.address}, replaced by {', '.join(named)}.{why}"
        else:
            said = f"{'.' * (why[-1:] not in ('', '.'))} It said: “{one_line(one.text)}”" if one.text else ""
            yield f"Not current, and {UNREPLACED}: {one.address} ({one_line(one.title)}).{why}{said}"


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON values."""
    basis = answer.basis
    return {
        "scope": record_json(answer.scope, "wing", "shared_wings", "rooms", "focus", "state"),
        "items": [_item_json(item) for item in answer.items],
        "proposed": [_item_json(item) for item in answer.proposed],
        **(basis.as_json("ended") if basis.ended else {}),
        **basis.as_json("conflicts", "omitted", "omitted_counts", "problems", "fallback"),
        **record_json(answer, "tokens", "budget", "over_budget"),
        **basis.as_json("coverage", "covered", "uncovered_terms", "unmatched_terms", "elsewhere", "unread"),
        **{name: found for name, found in basis.as_json("absent", "other_wings").items() if found},
        **record_json(answer, "searched"),
        **basis.as_json("degraded", "source"),
    }


def _item_json(item: Item) -> dict[str, Any]:
    return {
        **record_json(item, "entry.address", "entry.type", "status", "entry.title", scope="tier"),
        **record_json(item, "content", "form"),
        **({"given_before": "in part"} if item.is_continued else {}),
        "score": round(item.score, 4),
        **record_json(item, "reason", "overrides"),
        # A long chain would be larger than the entry, so only the first entries are listed; `reason` counts the rest.
        "via": list(item.via[:VIA_NAMED]),
        **{name: list(addresses) for name, addresses in item.relations.items()},
        **branch_state_json(item.branch_state, is_current=item.current),
        **({"beneath": mentions_json(item.mentions)} if item.mentions else {}),
    }


def mentions_json(mentions: Iterable[Mention]) -> list[dict[str, Any]]:
    """Return the related entries that an answer lists under an entry, as JSON values without empty fields."""
    names = ("how", "address", "title", "day")
    found = (record_json(one, *names, said="sentence", does="does").items() for one in mentions)
    return [{name: value for name, value in one if value} for one in found]
