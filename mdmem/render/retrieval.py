"""A retrieval as text for a terminal, as Markdown for an agent, and what its parts take of a budget in either."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.pack import Form, Mention, Pack, PackedEntry
from mdmem.ask.question import ELSEWHERE, NOTHING_SHARED, AnswerBasis, Coverage, Omission, Tier, count_omitted
from mdmem.ask.ranks import uncovered
from mdmem.markdown.text import is_title_alone, quoted
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.lineage import marked
from mdmem.render.basis import contradictions_text, ended_text, fallback_text, problems_text
from mdmem.render.characters import one_line
from mdmem.render.ink import Ink
from mdmem.render.words import count, entries, indent, unheld

NO_INK = Ink()
# Of paths at which nothing is so many are named, each by so much of its end.
_ABSENT, _LONGEST_NAME = 3, 120
Rendered = Callable[[PackedEntry], str]


def pack_text(pack: Pack, *, ink: Ink, rendered: Rendered | None = None) -> str:
    """Return the pack as blocks: problems first, then what is binding, then what is not; its counts in one line."""
    rendered = rendered or partial(item_text, ink=ink)
    blocks = [
        *_doubts(pack),
        _verdict(pack),
        *unread_text(pack),
        *ended_text(pack.basis),
        *blocks_of(pack.items, rendered),
    ]
    if pack.proposed:
        blocks += [ink.bold("Proposed (not binding):"), *blocks_of(pack.proposed, rendered)]
    blocks += [ink.warn(block) for block in contradictions_text(pack.basis, entries_of(pack))]
    blocks += [*fallback_text(pack.basis), ink.dim(_counts(pack)), *absent_text(pack), *elsewhere_text(pack)]
    return "\n\n".join(blocks)


def pack_markdown(pack: Pack, rendered: Rendered | None = None) -> str:
    """Return the pack as Markdown; every entry is a section whose body stands in a quote, so that it stays material."""
    rendered = rendered or item_markdown
    said = (*unread_text(pack), *ended_text(pack.basis))
    blocks = [*_doubts(pack), _verdict(pack), *said, *blocks_of(pack.items, rendered)]
    if pack.proposed:
        blocks += ["## Proposed (not binding)", *blocks_of(pack.proposed, rendered)]
    blocks += [
        *contradictions_text(pack.basis, entries_of(pack)),
        *fallback_text(pack.basis),
        f"_{_counts(pack)}_",
        *absent_text(pack),
        *elsewhere_text(pack),
    ]
    return "\n\n".join(blocks)


class PrintedText(Struct, frozen=True):
    """What the parts of an answer take in one of the two texts; `whole` takes what renders an entry of it."""

    whole: Callable[[Pack, Rendered], str]
    one: Rendered
    # Whether the whole ends in a line of counts.
    counts: bool = True

    def entry(self, packed: PackedEntry) -> int:
        """Return the bytes of one entry and the blank line behind it."""
        return bytes_of(self.one(packed)) + 2

    def rest(self, pack: Pack) -> int:
        """Return the bytes of verdict, contradictions and what lies outside the memory."""
        said = replace(pack, basis=replace(pack.basis, problems=()))
        parted: list[int] = []

        def blank(packed: PackedEntry) -> str:
            parted.append(id(packed))
            return ""

        # The text without its entries is the rest, which is asked for again and again: none of them is rendered for it.
        whole = bytes_of(self.whole(said, blank)) - 2 * len(parted)
        known = [one for one in (*pack.items, *pack.proposed) if id(one) not in parted]
        return whole - sum(map(self.entry, known)) - (bytes_of(_counts(said)) if self.counts else 0)

    def problems(self, basis: AnswerBasis) -> int:
        """Return the bytes of what could not be read, and the blank line behind it."""
        return sum(bytes_of(block) + 2 for block in problems_text(basis))

    def omission(self, omission: Omission) -> int:  # noqa: ARG002  # a text names none
        """Return 0: what is left out is counted in the one line."""
        return 0


def bytes_of(text: str) -> int:
    """Return the bytes of a text that may name files whose names are no UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def blocks_of(packed: Iterable[PackedEntry], rendered: Rendered) -> Iterator[str]:
    """Yield entries as blocks, with those of one line that follow each other in one.

    Several that were given or named before are one line, at the place of the first.
    """
    packed = list(packed)
    known = [one for one in packed if one.form is Form.GIVEN and not (one.beneath or marked(one.item.stance))]
    lines: list[str] = []
    for one in packed:
        if len(known) > 1 and one in known:
            lines += [_known_line(known)] if one is known[0] else []
            continue
        if one.form.is_line:
            lines.append(rendered(one))
            continue
        if lines:
            yield "\n".join(lines)
            lines = []
        yield rendered(one)
    if lines:
        yield "\n".join(lines)


def _known_line(known: Sequence[PackedEntry]) -> str:
    """Return what was given or named before by its ids, by type."""
    ids = Counter(one.item.entry.address.rpartition("/")[2] for one in known)
    names: dict[str, list[str]] = {}
    for one in known:
        address = one.item.entry.address
        short = address.rpartition("/")[2]
        names.setdefault(one.item.entry.type, []).append(short if ids[short] == 1 else address)
    words = [
        word for word, is_it in (("given", True), ("named", False)) if any(_was_given(one) is is_it for one in known)
    ]
    told = "; ".join(f"[{kind}] {', '.join(some)}" for kind, some in names.items())
    return f"{' or '.join(words).capitalize()} before: {told}"


def _was_given(packed: PackedEntry) -> bool:
    return packed.before is None or packed.goes_on


def entries_of(pack: Pack) -> dict[str, Entry]:
    """Return the entries that are given, by address."""
    return {one.item.entry.address: one.item.entry for one in pack.items}


def _doubts(pack: Pack) -> Iterator[str]:
    basis = pack.basis
    yield from problems_text(basis)
    if basis.degraded:
        yield f"Degraded: {basis.why_degraded}; this answer comes from {came_from(basis)}."


def came_from(basis: AnswerBasis) -> str:
    """Return where an answer comes from; where the memory could not be read, that may be several sources."""
    if basis.source not in ("docs", "readme", "workspace"):
        return SOURCES[basis.source]
    paths = {one.path for one in basis.fallback}
    documents = [name for name in (SOURCES["docs"], SOURCES["readme"]) if name in paths]
    return ", ".join(documents if paths and paths <= {*documents} else [*documents, SOURCES["workspace"]])


SOURCES = {
    "index": "the index",
    "scan": "the files themselves",
    "hub": "the hub",
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
    unmatched = f" {unheld(basis.unmatched_terms, scope.wings)}" if basis.unmatched_terms else ""
    if basis.coverage is Coverage.FULL:
        return f"{entries(len(pack.items))}{where}{_likely(pack)}.{unmatched}"
    if basis.coverage is Coverage.PARTIAL:
        lacks = (
            f"; no invariant or decision that applies here holds {', '.join(basis.uncovered_terms)}"
            if basis.uncovered_terms
            else ""
        )
        return f"{entries(len(pack.items))}{where}{_likely(pack)}. Covered in part{lacks}."
    if basis.problems:
        # A file that cannot be read may be what covers the question.
        return f"Nothing that could be read covers this.{unmatched}"
    return f"{uncovered([packed.item for packed in pack.items])}{unmatched}{_searched(pack.searched)}"


def _searched(rooms: tuple[str, ...] | None) -> str:
    if rooms is None:
        return ""
    return f" Searched {count(len(rooms), 'room')}: {', '.join(rooms[:12])}." if rooms else " There is no entry yet."


def _likely(pack: Pack) -> str:
    return f", mostly {pack.likely_room.partition('/')[2]}" if pack.likely_room else ""


def elsewhere_text(pack: Pack) -> Iterator[str]:
    """Yield a line for each wing that is not read and has rules on a given path."""
    for one in pack.basis.elsewhere:
        apply = "1 rule applies" if one.count == 1 else f"{one.count} rules apply"
        yield f"In {one.wing} {apply} to this path: --wing {one.wing}"


def absent_text(pack: Pack) -> Iterator[str]:
    """Yield one line for the given paths at which nothing is: a slip, or a file that is about to be made."""
    absent = pack.basis.absent
    if absent:
        named = ", ".join(f"`{_cut(one_line(path))}`" for path in absent[:_ABSENT])
        more = f" and {len(absent) - _ABSENT} more" if len(absent) > _ABSENT else ""
        yield f"Not in this working tree now: {named}{more}"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"


def unread_text(pack: Pack) -> Iterator[str]:
    """Yield a line for what matches best and lies in a wing that was not read."""
    for one in pack.basis.unread:
        yield f"Not read, and nearer to this: {one.address}: {one_line(one.title)} (--wing {one.wing})"


def item_text(packed: PackedEntry, ink: Ink = NO_INK) -> str:
    """Return an entry with what stands beneath it."""
    entry = packed.item.entry
    head = f"{ink.bold(f'[{entry.type}] {entry.address}')}{_called(packed)}{_marks(packed)}"
    content = [indent(packed.content)] if packed.content and not packed.form.is_line else []
    return "\n".join([head, *content, *(ink.dim(f"  {mention_line(one)}") for one in packed.beneath)])


def item_markdown(packed: PackedEntry) -> str:
    """Return an entry as a section, or as an item of a list where nothing of it is given."""
    entry = packed.item.entry
    head = f"`{entry.address}`{_marks(packed)}"
    if packed.form.is_line:
        return f"- {entry.type} {head}{_called(packed)}"
    beneath = "\n".join(f"- {mention_line(one)}" for one in packed.beneath)
    said = [f"### {entry.type}: {one_line(entry.title)}", head, quoted(packed.content), *([beneath] if beneath else [])]
    return "\n\n".join(said)


def _called(packed: PackedEntry) -> str:
    """Return the title of an entry, or in one line what it rules; of one that was given nothing, as it is known."""
    if packed.form is Form.GIVEN or packed.goes_on:
        return ""
    rule = packed.content if packed.form.is_line else ""
    return f": {one_line(rule or packed.item.entry.title)}"


text_size = PrintedText(lambda pack, rendered: pack_text(pack, ink=NO_INK, rendered=rendered), item_text)
markdown_size = PrintedText(pack_markdown, item_markdown)


def mention_line(one: Mention) -> str:
    """Return what stands under an entry as one line."""
    day = f" ({'; '.join(filter(None, (one.does, one.day)))})" if one.does or one.day else ""
    said = f": “{one_line(one.said)}”" if one.said else ""
    title = f": {one_line(one.title)}" if one.title else ""
    return f"{one.how} {one.address}{title}{day}{said}".rstrip()


# Grounds that go without saying where the content is given.
_FEW_WORDS = 2
_COMMONPLACE = ("holds ", "invariant of the scope", "in scope", "matches the query", "replaces ")


def _marks(packed: PackedEntry) -> str:
    item = packed.item
    marks = [] if item.tier is Tier.PROJECT else [item.tier.value]
    if item.status is not Status.ACTIVE and not item.reason.count(item.status.value.replace("_", " ")):
        marks.append(item.status.value.replace("_", " "))
    marks += [_how(packed)] if packed.form in _FORMS else []
    marks += [TITLE_ALONE] if packed.form is Form.FULL and is_title_alone(packed.content) else []
    is_known = packed.form is Form.GIVEN or packed.goes_on
    marks += ["of other files"] if item.lies_aside and not is_known else []
    if not is_known:
        # What holds more of the question than this is no mere touch, and what binds elsewhere is none of the work.
        is_touched = packed.form is Form.LINE and 0 < len(item.terms) <= _FEW_WORDS and not item.lies_aside
        marks += [part for part in item.reason.split("; ") if is_touched or not part.startswith(_COMMONPLACE)]
    marks += [mark for mark in marked(item.stance) if not any(mark in other for other in marks)]
    return f" ({'; '.join(marks)})" if marks else ""


TITLE_ALONE = "no text beyond its title"
_FORMS = {Form.SECTION: "the section that decides", Form.SUMMARY: "shortened", Form.GIVEN: "given before"}


def _how(packed: PackedEntry) -> str:
    if packed.form is Form.GIVEN:
        return _FORMS[packed.form] if _was_given(packed) else "named before"
    return "more of it" if packed.goes_on else _FORMS[packed.form]


# What is left out for these reasons does not bind on the files at hand.
_NOT_HERE = (ELSEWHERE, "overridden", "no longer in force")


def _counts(pack: Pack) -> str:
    """Return the one line of counts: what is left out and why, and what the answer takes."""
    basis = pack.basis
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    rest = [one for one in basis.omitted if one.address not in basis.covering]
    for one in (*count_omitted(rest), *basis.omitted_counts):
        counts[one.why][one.type] += one.count
    named = {why: [count(number, kind) for kind, number in found.items()] for why, found in counts.items()}
    for omission in reversed([one for one in basis.omitted if one.address in basis.covering]):
        named.setdefault(omission.why, []).insert(0, omission.address)
    kinds = {why: ", ".join(parts) for why, parts in named.items()}
    among = "among them " if counts[NOTHING_SHARED].total() > len(basis.unshared) else ""
    some = f": {among}{', '.join(one.rpartition('/')[2] for one in basis.unshared)}" if basis.unshared else ""
    left = "; ".join(f"{parts} ({why}{some if why == NOTHING_SHARED else ''})" for why, parts in sorted(kinds.items()))
    over = pack.tokens - pack.budget
    size = f"{pack.tokens} tokens, {over} of them for invariants beyond the budget of {pack.budget}"
    taken = f"{size if pack.over_budget else f'{pack.tokens} of {pack.budget} tokens'}; from {came_from(basis)}"
    return " ".join([*([f"Left out: {left}."] if left else []), *_settled(basis), taken])


def _settled(basis: AnswerBasis) -> Iterator[str]:
    """Yield that asking again in other words is of no use, where the files at hand alone bring in all that binds."""
    if basis.settled and not (basis.problems or basis.elsewhere or basis.degraded):
        files = "this file" if basis.settled == 1 else f"these {basis.settled} files"
        left_out = (*count_omitted(basis.omitted), *basis.omitted_counts)
        rules = {one.type for one in left_out if one.why not in _NOT_HERE}
        beside = "Beside these, other" if rules & {EntryType.INVARIANT, EntryType.DECISION} else "Other"
        yield f"{beside} words bring no more that binds on {files}."
