"""A review as sections of lines, from which text and Markdown are made."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from mdmem.change.review_model import (
    Answered,
    AnswerPair,
    Bearing,
    BearingChange,
    Belief,
    ContradictionChange,
    Covered,
    Dependent,
    FieldChange,
    Move,
    Ref,
    Rewording,
    Transition,
    Unread,
    Which,
    WingChangeCount,
)
from mdmem.change.review_report import ReviewReport
from mdmem.render.review.graph import graph_lines, mermaid
from mdmem.render.review.pieces import (
    Line,
    Piece,
    PieceKind,
    ReviewSection,
    code,
    dim,
    line,
    name_of,
    owners_of,
    plain,
    said,
    shown_words,
    strong,
)
from mdmem.render.words import count, entries

# Of what is only listed, so many lines are shown.
_MOST = 100
# Of an answer, so many of the first entries.
_FIRST = 5


def sections(review: ReviewReport) -> tuple[ReviewSection, ...]:
    """Return the parts of a review that have something to say, what cannot be read first."""
    frozen = [one for one in review.rewordings if one.is_frozen]
    others = [one for one in review.rewordings if not one.is_frozen]
    is_merge = review.merging is None or review.merging.is_merge
    merging = "What merging would do" if is_merge else "What the checks find new"
    parts = (
        _section("Cannot be read", _all_unread(review)),
        _beliefs(review),
        _section(merging, _merging(review)),
        _section("Rules and decisions in force that say something else", _all(_rewording(one) for one in frozen)),
        _section("Steps", (*_transitions(review), *map(_bearing, review.bearings))),
        _section("In force", _wings(review)),
        _section("Other texts that changed", _all(_rewording(one) for one in others)),
        ReviewSection("Chains", tuple(graph_lines(review.graph)), mermaid(review.graph)),
        _section("Who depends on what was replaced", map(_dependent, review.dependents)),
        _section("Contradictions", map(_contradiction, review.contradictions)),
        _section("Says nearly the same", (_near(one.entry, one.other, one.share) for one in review.near)),
        _section("Code that this is about", map(_covered, review.covered)),
        _section("Other fields", (line(code(one.entry.address), ": ", *_fields(one.fields)) for one in review.edits)),
        _section("Moves and files that say the same", _moves(review)),
        _section("Answers", _all(_answer(one) for one in review.answers)),
    )
    return tuple(part for part in parts if part.lines or part.wordings)


def _beliefs(review: ReviewReport) -> ReviewSection:
    title = "What we believed → what we will believe"
    told = _section(title, _all(_belief(one) for one in review.beliefs))
    if told.lines or not review.wordings:
        return replace(told, wordings=review.wordings)
    return ReviewSection("What is proposed, and changes nothing yet", (), wordings=review.wordings)


def headline(review: ReviewReport) -> str:
    """Return what the change did, in figures."""
    counts = review.counts
    if review.is_empty:
        return f"nothing changed; {counts.in_force_after} in force"
    figures = (
        (counts.added, "added"),
        (counts.gone, "gone"),
        (counts.altered - counts.moved, "changed"),
        (counts.moved, "moved"),
        (counts.no_ops, "the same in other bytes"),
    )
    told = ", ".join(f"{number} {word}" for number, word in figures if number) or "no entry changed"
    return f"{told}; in force {counts.in_force_before} → {counts.in_force_after}"


def _section(title: str, lines: Iterable[Line]) -> ReviewSection:
    listed = list(lines)
    if len(listed) > _MOST and title in ("Other fields", "Steps", "Who depends on what was replaced"):
        listed = [*listed[:_MOST], line(dim(f"{len(listed) - _MOST} more; --format json has all"))]
    return ReviewSection(title, tuple(listed))


def _all(parts: Iterable[Iterator[Line]]) -> Iterator[Line]:
    for part in parts:
        yield from part


def _all_unread(review: ReviewReport) -> Iterator[Line]:
    """Yield what cannot be read on one side, or for another reason, and how much is as it was."""
    before, after = ({_fault(one) for one in review.unread if one.which is which} for which in Which)
    same = before & after
    yield from (_unread(review, one) for one in review.unread if _fault(one) not in same)
    if same:
        yield line(dim(f"{count(len(same), 'file')}, before and after alike; `mdmem check` says why"))


def _fault(one: Unread) -> tuple[str, str, str]:
    return one.path, one.code, one.message


def _unread(review: ReviewReport, one: Unread) -> Line:
    name = review.before if one.which is Which.BEFORE else review.after
    pieces = [code(one.path), plain(" in "), code(name), plain(": "), strong(one.message)]
    if one.other is not None:
        there = "after" if one.which is Which.BEFORE else "before"
        pieces += [plain(f"; {there} it is the {one.other.status} {one.other.type} "), said(one.other.title)]
    return line(*pieces)


def _wings(review: ReviewReport) -> Iterator[Line]:
    same = [one for one in review.wings if _is_same(one)]
    for one in review.wings:
        if not _is_same(one):
            total = f" (of {one.entries_before} → {one.entries_after} entries)"
            yield line(code(one.wing), f" {one.in_force_before} → {one.in_force_after}", dim(total))
    if same and len(same) < len(review.wings):
        yield line(dim(f"the same in {count(len(same), 'other wing')}"))


def _is_same(one: WingChangeCount) -> bool:
    return (one.in_force_before, one.entries_before) == (one.in_force_after, one.entries_after)


def _transitions(review: ReviewReport) -> Iterator[Line]:
    """Yield the steps, without the faults that stand among what the checks find new."""
    found = review.merging.findings if review.merging is not None else ()
    told = {(one.address, one.message) for one in found}
    for one in review.transitions:
        faults = tuple(fault for fault in one.faults if (one.entry.address, fault) not in told)
        yield _transition(replace(one, faults=faults))


def _transition(one: Transition) -> Line:
    before, after = one.before or "new", one.after or "gone"
    faults = [piece for fault in one.faults for piece in (plain(" — "), said(fault))]
    if one.is_illegal:
        faults.insert(0, strong(" (illegal)"))
    return line(*name_of(one.entry), f": {before} → {after}", *faults)


def _bearing(one: BearingChange) -> Line:
    then = "; both are in force" if one.says is Bearing.CLAIMS and one.is_new else ""
    says = one.says if one.is_new else f"no longer {one.says}"
    return line(*name_of(one.entry), f" {says} ", *name_of(one.on), then)


def _belief(one: Belief) -> Iterator[Line]:
    why = [line("because ", said(one.reason), level=1)] if one.reason else [line(dim("no reason is stated"), level=1)]
    if one.before is None:
        yield line(strong("new: "), *name_of(one.after[0]))
        yield from why if one.reason else ()
        return
    yield line(*name_of(one.before))
    if not one.after:
        yield line(strong("→ nothing binds in its place"), level=1)
    for ref in one.after:
        there = dim(", in force before, too") if ref.address in one.was_there else plain("")
        yield line("→ ", *name_of(ref), there, level=1)
    yield from why


def _rewording(one: Rewording) -> Iterator[Line]:
    notice = [plain(f" — {one.notice}")] if one.notice else []
    faults = [piece for fault in one.faults for piece in (plain(" — "), strong(fault))]
    yield line(*name_of(one.entry), *notice, *faults)
    if one.title:
        yield line("title: ", *shown_words(one.title), level=1)
    if one.body:
        yield line(*shown_words(one.body), level=1)
    if one.fields:
        yield line(*_fields(one.fields), level=1)


def _fields(fields: Iterable[FieldChange]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for one in fields:
        pieces += [plain("; " if pieces else ""), plain(f"{one.name} ")]
        pieces += [code(one.before), plain(" → ")] if one.before else [plain("is now ")]
        pieces.append(code(one.after) if one.after else plain("nothing"))
    return tuple(pieces)


def _dependent(one: Dependent) -> Line:
    instead = [code(head) for head in one.heads]
    heads = [plain(", where now "), *_joined(instead), plain(" binds")] if instead else [plain(", where nothing binds")]
    where = ", in another wing" if one.is_elsewhere else ""
    how = " and ".join(f"in its {name}" if name == "text" else f"in `{name}`" for name in one.how)
    return line(*name_of(one.entry), *owners_of(one.entry), f"{where}: names ", code(one.on), f" {how}", *heads)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for number, piece in enumerate(pieces):
        yield from (plain(", "), piece) if number else (piece,)


def _contradiction(one: ContradictionChange) -> Line:
    state = strong("new") if one.is_new else plain("ended")
    ends = (code(one.first.address), plain(" and "), code(one.second.address))
    return line(state, ": ", *ends, ": ", said(one.why), f"; {one.ranking}" if one.is_new else "")


def _near(entry: Ref, other: Ref, share: float) -> Line:
    pair = (code(entry.address), plain(" and "), code(other.address))
    return line(*pair, f", both {entry.type}s, share {share:.0%} of their words: ", said(other.title))


def _covered(one: Covered) -> Line:
    files = list(_joined(map(code, one.files)))
    more = [plain(f" and {one.count - len(one.files)} more")] if one.count > len(one.files) else []
    shown = [plain(": "), *files, *more] if files else []
    globs = _joined(map(code, one.globs))
    return line(*name_of(one.entry), ", applies to ", *globs, f", {count(one.count, 'file')}", *shown)


def _moves(review: ReviewReport) -> Iterator[Line]:
    groups: dict[tuple[str, str], list[Move]] = {}
    for one in review.moves:
        groups.setdefault((one.before.rpartition("/")[0], one.after.rpartition("/")[0]), []).append(one)
    shown = [_moved(old, new, moved) for (old, new), moved in sorted(groups.items())]
    if shown:
        more = [plain(f"; {len(shown) - 10} more")] if len(shown) > 10 else []
        yield line("moved ", *_joined_all(shown[:10]), *more)
    if review.no_ops:
        listed = list(_joined(code(address) for address in review.no_ops[:10]))
        rest = [plain(f" and {len(review.no_ops) - 10} more")] if len(review.no_ops) > 10 else []
        yield line(f"{entries(len(review.no_ops))} the same in other bytes: ", *listed, *rest)


def _moved(old: str, new: str, moved: list[Move]) -> tuple[Piece, ...]:
    if len(moved) == 1:
        return code(moved[0].before), plain(" → "), code(moved[0].after)
    return code(f"{old}/*"), plain(" → "), code(f"{new}/*"), plain(f" ({entries(len(moved))})")


def _joined_all(groups: Iterable[tuple[Piece, ...]]) -> Iterator[Piece]:
    for number, group in enumerate(groups):
        yield from (plain(", "), *group) if number else group


def _merging(review: ReviewReport) -> Iterator[Line]:
    one = review.merging
    is_told = one is not None and ((one.is_merge and not review.is_empty) or one.findings or one.incomplete)
    if one is None or not is_told:
        return
    older = f"; {one.older} {'was' if one.older == 1 else 'were'} there before" if one.older else ""
    yield line(said(one.what), f" brings {count(len(one.findings), 'new finding')}{older}")
    for path in one.incomplete:
        yield line(code(path), strong(" could not be looked at, so that more may be wrong"))
    for finding in one.findings:
        place = code(f"{finding.place.path}:{finding.place.line}")
        yield line(strong(str(finding.severity)), " ", place, " ", code(finding.code), " ", said(finding.message))


def _answer(one: AnswerPair) -> Iterator[Line]:
    yield line("asked ", said(one.question), ": the answer is the same" if one.is_same else "")
    before, after = ([ref.address for ref in side.items] for side in (one.before, one.after))
    if not one.is_same:
        yield line("before: ", *_answered(one.before, after, PieceKind.REMOVED), level=1)
    yield line("" if one.is_same else "after: ", *_answered(one.after, before, PieceKind.ADDED), level=1)


def _answered(one: Answered, others: Collection[str], kind: PieceKind) -> Iterator[Piece]:
    """Yield the first entries of an answer, and all that the other side's has not."""
    if one.error is not None:
        yield said(one.error)
        return
    listed = [ref.address for ref in one.items]
    shown = [name for number, name in enumerate(listed) if number < _FIRST or name not in others]
    yield from _joined(code(name) if name in others else Piece(kind, name) for name in shown)
    if len(shown) < len(listed):
        yield dim(f" and {len(listed) - len(shown)} more")
    if not listed:
        yield plain("nothing matches")
    if not one.covered:
        yield dim(" (nothing binding covers this)")
    if one.problems:
        yield strong(f" ({count(one.problems, 'file')} cannot be read and may bind)")
