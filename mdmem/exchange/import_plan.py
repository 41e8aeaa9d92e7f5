"""What an import would write: every source that is there, the entries it becomes, and what is to be said of it.

The text of an imported entry's file.

The body of an imported entry: its source's, without what became front matter, its links leading where they led.

What records say of one another, settled: both ends of each supersession, and the day on which a record ended.
"""

from __future__ import annotations

import json
import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate

from msgspec import Struct, field

from mdmem.checks.fixes.links import relative
from mdmem.checks.rules.change import APPROVED_TYPES
from mdmem.exchange.intake import ImportRequest, ImportRow, Intake, Outcome, content_of
from mdmem.exchange.markers import with_whole_labels
from mdmem.exchange.record import Claim, ClaimKind, Cut, ForeignRecord, Guess, Sureness
from mdmem.exchange.references import References, known_by
from mdmem.exchange.source import in_project
from mdmem.markdown.fields import scalar
from mdmem.markdown.links import BodyLink, body_links, image_links
from mdmem.markdown.parse import without_code
from mdmem.model.entry import Entry, Status, title_of
from mdmem.model.fields import FIELDS
from mdmem.model.kinds import Kind
from mdmem.model.origin import KEY, Origin, content_digest
from mdmem.store.git.history import first_days
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction
from mdmem.write.edit import CodePaths


class Settled(Struct, frozen=True):
    """The links of one record by field, the claims that nobody could carry over, and sentences about them.

    `reasons` are the words with which it says that it changes a part of others.
    """

    links: dict[str, list[str]] = field(default_factory=dict)
    lost: list[Claim] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def add(self, name: str, address: str) -> None:
        """Add a link to a field, once."""
        links = self.links.setdefault(name, [])
        if address not in links:
            links.append(address)

    def drop(self, name: str, address: str) -> None:
        """Take a link out of a field, and the field with its last one."""
        self.links[name].remove(address)
        if not self.links[name]:
            del self.links[name]

    def explain(self, claim: Claim) -> None:
        """Keep the words of a claim on a part, once."""
        if claim.qualifier and claim.qualifier not in self.reasons:
            self.reasons.append(claim.qualifier)


_PASSIVE = {ClaimKind.SUPERSEDED_BY: "supersedes", ClaimKind.AMENDED_BY: "amends"}


def settle(
    records: Mapping[str, ForeignRecord], references: References, entries: Mapping[str, Entry]
) -> dict[str, Settled]:
    """Return the links of each record, by address; `entries` are there already, and are not written again.

    A record that names its successor gives both ends. One that names only what it supersedes has its claim carried
    over, and the other end is written where that record says of itself that it has ended.
    """
    settled = {address: Settled() for address in records}
    for address, record in records.items():
        for claim in record.claims:
            meant = references.meant(claim, record.source.folder)
            if len(meant) != 1 or meant[0] == address:
                _lose(settled[address], claim, meant, address)
            elif claim.kind in _PASSIVE:
                _take_passive(settled, claim, address, meant[0], entries.get(meant[0]))
            else:
                settled[address].add(claim.kind.value, meant[0])
                settled[address].explain(claim)
    for older, newer in _in_part(records, references):
        if newer in settled and older in settled[newer].links.get("supersedes", ()):
            settled[newer].drop("supersedes", older)
    for address in records:
        # A record's own word on its end outweighs what another says of a part of it.
        for newer in settled[address].links.get("superseded_by", ()):
            if newer in settled and address in settled[newer].links.get("amends", ()):
                settled[newer].drop("amends", address)
        for old in settled[address].links.get("supersedes", ()):
            if (
                old in records
                and records[old].status is Status.DEPRECATED
                and "superseded_by" not in settled[old].links
            ):
                settled[old].add("superseded_by", address)
    return settled


def _in_part(records: Mapping[str, ForeignRecord], references: References) -> Iterator[tuple[str, str]]:
    """Yield each record that says of itself that a part of it was superseded, with the one that did so."""
    for address, record in records.items():
        for claim in record.claims:
            if claim.kind is ClaimKind.AMENDED_BY:
                yield from ((address, newer) for newer in references.meant(claim, record.source.folder))


def _lose(one: Settled, claim: Claim, meant: tuple[str, ...], address: str) -> None:
    words = claim.kind.value.replace("_", " ")
    why = "is no record that is imported"
    if meant == (address,):
        why = "is the record itself"
    elif meant:
        why = f"may be {' or '.join(meant)}"
    one.lost.append(claim)
    if not claim.is_in_text:
        one.said.append(f"{words} `{claim.target}`, which {why}")


def _take_passive(settled: dict[str, Settled], claim: Claim, address: str, other: str, there: Entry | None) -> None:
    if claim.kind is ClaimKind.SUPERSEDED_BY:
        settled[address].add("superseded_by", other)
    if other in settled and there is None:
        settled[other].add(_PASSIVE[claim.kind], address)
        settled[other].explain(claim)
    elif claim.kind is ClaimKind.AMENDED_BY and (there is None or address not in there.amends):
        settled[address].lost.append(claim)
        settled[address].said.append(f"amended by {other}, which is in the memory already and does not say so")


def ended_at(
    address: str, record: ForeignRecord, settled: Settled, days: Mapping[str, str]
) -> tuple[str | None, Guess | None]:
    """Return the day on which a record ended, and how it was guessed; None where it is not known.

    It is the day that the record states, else that of its first successor; what was never in force ended on its own.
    """
    if record.status is not Status.DEPRECATED or record.ended_on is not None:
        return record.ended_on if record.status is Status.DEPRECATED else None, None
    found = [days[one] for one in settled.links.get("superseded_by", ()) if one in days]
    if found:
        return min(found), Guess("the day of what took its place", Sureness.LIKELY)
    return (days[address], Guess("the day of its record", Sureness.LIKELY)) if record.is_refused else (None, None)


_BLANK = re.compile(r"\A(?:[ \t]*\r?\n)+")
_BLANK_ABOVE = re.compile(r"\n[ \t]*\r?\n\Z")
# No blank line is longer.
_NEAR = 1000
_WORDS = re.compile(r"[ \t]*\|")
# Where a part of a body begins and ends, and what takes its place; None where nothing does.
_Edit = tuple[int, int, str | None]


class Body(Struct, frozen=True):
    """A body as it is written, and sentences about links that lead nowhere, or out of the project."""

    text: str
    said: tuple[str, ...]


def rewritten(
    record: ForeignRecord, path: str, references: References, *, place: Callable[[str], str], cuts: Collection[Cut]
) -> Body:
    """Return the body for an entry at a path of the root without some parts; `place` counts one from the project's top.

    Links in the parts that are cut are not looked at.
    """
    prose = with_whole_labels(without_code(record.body))
    links = [*body_links(prose), *image_links(prose)]
    edits: list[_Edit] = sorted((cut.start, cut.end, None) for cut in cuts)
    starts = [start for start, *_ in edits]
    ends = [0, *accumulate((end for _, end, _ in edits), max)]
    said: dict[str, None] = {}
    for link in links:
        if link.offset < ends[bisect_right(starts, link.offset)]:
            continue
        text, why = _new_link(record, link, path, references, place)
        if text is not None:
            edits.append((link.offset, link.offset + link.width, text))
        if why:
            said[why] = None
    edits.sort(key=lambda edit: edit[:2])
    return Body(_BLANK.sub("", _edited(record.body, edits)), tuple(said))


def _edited(body: str, edits: Sequence[_Edit]) -> str:
    """Return a body with other texts in some places, in their order; what is cut takes blank lines behind it along."""
    # From the end on, the last part first: each part is looked at once.
    parts: list[str] = []
    end, first = len(body), len(body) - len(body.lstrip())
    for start, past, text in reversed(edits):
        parts.append(body[past:end])
        if text is not None:
            parts.append(text)
        elif start <= first or _BLANK_ABOVE.search(body[max(0, start - _NEAR) : start]):
            _drop_blank(parts)
        end = start
    return "".join([body[:end], *reversed(parts)])


def _drop_blank(parts: list[str]) -> None:
    """Take the blank lines at the beginning away, of parts of which the first is the last."""
    while len(parts) > 1 and not parts[-1].strip(" \t\r\n"):
        last = parts.pop()
        parts[-1] = last + parts[-1]
    if parts:
        parts[-1] = _BLANK.sub("", parts[-1])


def _new_link(
    record: ForeignRecord, link: BodyLink, path: str, references: References, place: Callable[[str], str]
) -> tuple[str | None, str]:
    """Return what a link has to say from its new place, None where it stays, and what is to be said of it."""
    written = record.body[link.offset : link.offset + link.width]
    if not link.is_path:
        return _new_name(record, link, references)
    if not link.target or link.target.startswith("/"):
        return None, ""
    target = posixpath.normpath(posixpath.join(record.source.folder, link.target))
    if target == ".." or target.startswith("../"):
        return None, f"`{written}` leads out of the project, and stays as it is"
    address = references.by_path.get(target)
    return relative(place(f"{address}.md") if address else target, place(path), written), ""


def _new_name(record: ForeignRecord, link: BodyLink, references: References) -> tuple[str | None, str]:
    """Return the address that a wiki link means, with the words that it showed."""
    at = link.offset
    while at and record.body[at - 1] in " \t":
        at -= 1
    if not record.body.endswith("[[", 0, at):
        return None, ""
    meant = references.named(link.target, record.source.folder)
    if len(meant) != 1 and link.target.isdigit():
        # A list within a list, or a footnote.
        return None, ""
    if len(meant) != 1:
        why = f"may mean {' or '.join(meant)}" if meant else "names no record that is imported"
        return None, f"`[[{link.target}]]` {why}, and stays as it is"
    has_words = _WORDS.match(record.body, link.offset + link.width) is not None
    return meant[0] if has_words else f"{meant[0]}|{link.target}", ""


def carried(cuts: Iterable[Cut], lost: Collection[Claim]) -> Iterator[Cut]:
    """Yield the parts of a body that are in the front matter, each of their claims being carried over."""
    for cut in cuts:
        if any(claim in lost for claim in cut.claims):
            yield from carried(cut.parts, lost)
        else:
            yield cut


_ORDER = {field.name: number for number, field in enumerate(FIELDS)}
_MOMENTS = frozenset(field.name for field in FIELDS if field.kind is Kind.MOMENT)


def composed(fields: Mapping[str, str | tuple[str, ...]], body: str, *, newline: str) -> str:
    """Return front matter and body, the fields in the order of their table, then those that are only kept."""
    names = sorted((name for name in fields if fields[name]), key=lambda name: _ORDER.get(name, len(_ORDER)))
    lines = [f"{name}: {_value(name, fields[name])}" for name in names]
    return newline.join(["---", *lines, "---", "", body])


def _value(name: str, value: str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(scalar, value))}]"
    return value if name in _MOMENTS or (name.startswith("x-") and _is_nested(value)) else scalar(value)


def _is_nested(value: str) -> bool:
    """Say whether a value that is only kept was a list or a mapping."""
    try:
        return value[:1] in ("[", "{") and isinstance(json.loads(value), (list, dict))
    except (ValueError, RecursionError):
        return False


class ImportPlan(Struct, frozen=True):
    """All rows in the order of their files, what is written, and the contents of the files that were taken in.

    `on_code` are the rules whose text mentions files of the project, with those as globs.
    """

    rows: tuple[ImportRow, ...]
    change_set: ChangeSet
    contents: Mapping[str, bytes]
    remarks: tuple[str, ...] = ()
    on_code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def plan_import(workspace: Workspace, request: ImportRequest) -> ImportPlan:
    """Return what an import writes; raises UsageError for a place, a path or a person that is none."""
    intake = Intake(workspace, request)
    writing = _Writing(workspace, request, intake)
    written = [writing.entry(address) for address in intake.records]
    order = {one.path: number for number, one in enumerate(intake.found)}
    rows = sorted((*intake.rows, *(row for _, row in written)), key=lambda row: order[row.path])
    whole = [Change(path, path, None, content) for path, content in intake.files.items()]
    addresses = [*(path.removesuffix(".md") for path in intake.files), *intake.records]
    actions = tuple(WriteAction(Verb.IMPORT, address) for address in addresses)
    change_set = ChangeSet((*whole, *(change for change, _ in written)), actions=actions, tells_faults=True)
    return ImportPlan(tuple(rows), change_set, intake.contents, intake.remarks, _on_code(workspace, intake.records))


def _on_code(workspace: Workspace, records: Mapping[str, ForeignRecord]) -> dict[str, tuple[str, ...]]:
    """Return the files that rules mention which do not say where they apply.

    Nothing is set by itself: that would keep a rule from the code that its text does not mention.
    """
    rules = {
        address: one
        for address, one in records.items()
        if one.type.is_rule and one.status is not Status.DEPRECATED and not one.fields.get("applies_to")
    }
    code = CodePaths(workspace) if rules else None
    found = {address: code.globs_in(one.body) for address, one in rules.items()} if code is not None else {}
    return {address: globs for address, globs in found.items() if globs}


def _created(workspace: Workspace, records: Mapping[str, ForeignRecord]) -> dict[str, tuple[str, dict[str, Guess]]]:
    """Return the day of each record, and what was guessed: its own, else its file's first commit, else today."""
    undated = sorted({one.source.path for one in records.values() if one.created_at is None})
    repository = workspace.location.repository
    days = first_days(repository, undated) if repository is not None and undated else {}
    found: dict[str, tuple[str, dict[str, Guess]]] = {}
    for address, record in records.items():
        day = days.get(record.source.path)
        if day is not None and record.ended_on is not None:
            day = min(day, record.ended_on)
        if record.created_at is not None:
            found[address] = (record.created_at, {})
        elif day is not None:
            found[address] = (day, {"created_at": Guess("the file's first commit", Sureness.LIKELY)})
        else:
            found[address] = (workspace.today.isoformat(), {"created_at": Guess("no date is stated", Sureness.GUESS)})
    return found


class _Writing:
    """Writes the text of each record's entry, its links settled against all others."""

    def __init__(self, workspace: Workspace, request: ImportRequest, intake: Intake) -> None:
        self._location, self._person, self._intake = workspace.location, request.approved_by, intake
        own = (known_by(one, address) for address, one in intake.records.items() if not one.part)
        self._references = References([*own, *intake.known])
        entries = workspace.catalog.entries
        self._settled = settle({**intake.before, **intake.records}, self._references, entries)
        self._created = _created(workspace, intake.records)
        known = {one: entries[one].created_at for one in intake.before if one in entries}
        self._days = {one: day.isoformat() for one, day in known.items() if day is not None}
        self._days |= {address: day for address, (day, _) in self._created.items()}

    def entry(self, address: str) -> tuple[Change, ImportRow]:
        """Return what writes an entry, and the row that tells of it."""
        record, settled, path = self._intake.records[address], self._settled[address], f"{address}.md"
        cuts = list(carried(record.cuts, settled.lost))
        place = partial(in_project, self._location)
        body = rewritten(record, path, self._references, place=place, cuts=cuts)
        if not body.text.strip():
            # A record may say it all in its title.
            body = rewritten(record, path, self._references, place=place, cuts=())
        guesses = {**record.guesses, **self._created[address][1]}
        ended, guess = ended_at(address, record, settled, self._days)
        if guess is not None and "deprecated_at" not in record.fields:
            guesses["deprecated_at"] = guess
        row = ImportRow(
            path=record.source.path,
            part=record.part,
            outcome=Outcome.IMPORTED,
            dialect=self._intake.dialects[address],
            address=address,
            type=record.type,
            status=record.status,
            title=record.title or title_of(address),
            stated=record.stated,
            guesses=guesses,
            said=(*record.said, *settled.said, *body.said),
        )
        text = composed(self._fields(address, settled, ended), body.text, newline=record.source.newline)
        return Change(path, path, None, text.encode()), row

    def _fields(self, address: str, settled: Settled, ended: str | None) -> dict[str, str | tuple[str, ...]]:
        record = self._intake.records[address]
        is_ended = record.status is Status.DEPRECATED
        fields: dict[str, str | tuple[str, ...]] = {
            "deprecated_at": ended or "",
            **record.fields,
            "type": record.type.value,
            "status": record.status.value,
            "created_at": self._days[address],
            "title": " ".join(record.title.split()) or title_of(address),
            **{name: tuple(links) for name, links in settled.links.items()},
            KEY: str(Origin(record.source.path, record.part, content_digest(content_of(record)))),
        }
        if settled.reasons:
            fields["reason"] = "; ".join(filter(None, (str(record.fields.get("reason", "")), *settled.reasons)))
        # Of one that several replace, its own words show that it was split on purpose.
        if is_ended and len(settled.links.get("superseded_by", ())) != 1:
            fields.setdefault("deprecated_reason", f"its record says: {record.ended_as or record.status.value}")
        if self._person is not None and record.status is Status.ACTIVE and record.type in APPROVED_TYPES:
            fields["approved_by"] = self._person
        return fields
