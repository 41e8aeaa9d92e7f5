"""A retrieval as text for a terminal and as Markdown for an agent."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.entry.model import Status
from mdmem.render.basis import contradictions_text, fallback_text, problems_text
from mdmem.render.characters import one_line
from mdmem.render.ink import Ink
from mdmem.render.words import count, entries, indent
from mdmem.retrieval.budget import Form, Pack, PackedEntry
from mdmem.retrieval.question import Coverage, uncovered
from mdmem.standing import marked


def pack_text(pack: Pack, *, ink: Ink) -> str:
    """Return the pack as blocks: problems first, then what is binding, then what is not."""
    blocks = [*_doubts(pack), _verdict(pack), *(_item(packed, ink) for packed in pack.items)]
    if pack.proposed:
        blocks += [ink.bold("Proposed (drafts, not binding):"), *(_item(packed, ink) for packed in pack.proposed)]
    blocks += [ink.warn(block) for block in contradictions_text(pack.basis)]
    blocks += [*fallback_text(pack.basis), *_omitted(pack), ink.dim(_foot(pack)), *_elsewhere(pack)]
    return "\n\n".join(blocks)


def pack_markdown(pack: Pack) -> str:
    """Return the pack as Markdown; every entry is a section whose body stands in a quote, so that it stays material."""
    blocks = [*_doubts(pack), _verdict(pack), *(_section(packed) for packed in pack.items)]
    if pack.proposed:
        blocks += ["## Proposed (drafts, not binding)", *(_section(packed) for packed in pack.proposed)]
    blocks += [
        *contradictions_text(pack.basis),
        *fallback_text(pack.basis),
        *_omitted(pack),
        f"_{_foot(pack)}_",
        *_elsewhere(pack),
    ]
    return "\n\n".join(blocks)


def _doubts(pack: Pack) -> Iterator[str]:
    basis = pack.basis
    yield from problems_text(basis)
    if basis.degraded:
        yield f"Degraded: {basis.why_degraded}; this answer comes from {_SOURCES[basis.source]}."


_SOURCES = {
    "index": "the index",
    "scan": "the files themselves",
    "docs": "docs/architecture.md",
    "readme": "README.md",
    "workspace": "a search of the workspace",
}


def _verdict(pack: Pack) -> str:
    scope, basis = pack.scope, pack.basis
    if not scope.wings:
        return "There is no memory to ask here."
    where = f" in {', then '.join(filter(None, (scope.wing, ', '.join(scope.wings[1:]))))}"
    where += f"; rooms {', '.join(scope.rooms)}" if scope.rooms else ""
    unmatched = f" No entry holds {', '.join(basis.unmatched_terms)}." if basis.unmatched_terms else ""
    if basis.coverage is Coverage.FULL:
        return f"{entries(len(pack.items))}{where}{_likely(pack)}.{unmatched}"
    if basis.coverage is Coverage.PARTIAL:
        lacks = f"; nothing binding holds {', '.join(basis.uncovered_terms)}" if basis.uncovered_terms else ""
        return f"{entries(len(pack.items))}{where}{_likely(pack)}. Covered in part{lacks}."
    if basis.problems:
        # A file that cannot be read may be what covers the question.
        return f"Nothing that could be read covers this.{unmatched}"
    rooms_read = f"{count(len(pack.searched), 'room')}: {', '.join(pack.searched[:12])}"
    searched = f" Searched {rooms_read}." if pack.searched else " There is no entry yet."
    return f"{uncovered([packed.item for packed in pack.items])}{unmatched}{searched}"


def _likely(pack: Pack) -> str:
    return f", mostly {pack.likely_room.partition('/')[2]}" if pack.likely_room else ""


def _elsewhere(pack: Pack) -> Iterator[str]:
    for one in pack.basis.elsewhere:
        apply = "1 rule applies" if one.count == 1 else f"{one.count} rules apply"
        yield f"In {one.wing} {apply} to this path: --wing {one.wing}"


def _item(packed: PackedEntry, ink: Ink) -> str:
    item, entry = packed.item, packed.item.entry
    head = f"{ink.bold(f'[{entry.type}] {entry.address}')}{_marks(packed)}"
    return "\n".join([head, f"  {one_line(entry.title)}", indent(packed.content, 4), ink.dim(f"  why: {item.reason}")])


def _section(packed: PackedEntry) -> str:
    item, entry = packed.item, packed.item.entry
    quoted = "\n".join(f"> {line}".rstrip() for line in packed.content.splitlines())
    return f"### {entry.type}: {one_line(entry.title)}\n\n`{entry.address}`{_marks(packed)}; {item.reason}\n\n{quoted}"


def _marks(packed: PackedEntry) -> str:
    item = packed.item
    marks = [item.tier.value]
    if item.status is Status.UNDER_REVIEW:
        marks.append("under review")
    if item.status in (Status.DEPRECATED, Status.DRAFT):
        marks.append(item.status.value)
    if packed.form is Form.SUMMARY:
        marks.append("shortened")
    marks += marked(item.stance)
    return f" ({', '.join(marks)})"


def _omitted(pack: Pack) -> Iterator[str]:
    omitted = pack.basis.omitted
    if not omitted:
        return
    lines = [f"  {one.address} ({one.type}): {one.why}" for one in omitted[:12]]
    more = len(omitted) - len(lines) + sum(one.count for one in pack.basis.omitted_counts)
    yield "\n".join(
        ["Left out:", *lines, *([f"  and {more} more; --format json names 50 and counts the rest"] if more else [])]
    )


def _foot(pack: Pack) -> str:
    over = "; the invariants alone exceed it" if pack.over_budget else ""
    return f"{pack.tokens} of {pack.budget} tokens{over}; from {_SOURCES[pack.basis.source]}"
