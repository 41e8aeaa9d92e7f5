"""Decisions as a folder of decision records: MADR's list on top, and the status section that adr-tools reads.

adr-tools reads `# N. Title` from the first line and `Supersedes [N. Title](file)` from `## Status`; log4brains and MADR
2 read `- Status:`, `- Date:`, `- Deciders:` and `- Tags:` below the title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from mdmem.ask.entries import ShownEntry, in_full, list_entries
from mdmem.exchange.decision import status_section
from mdmem.exchange.outlet import ExportedFile
from mdmem.markdown.headings import sections_of
from mdmem.model.entry import Entry, EntryType, Status, day_of, instant_of
from mdmem.setup.seal import END, opening
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace

_HEADING = re.compile(r"\s*#{1,6} ")
_SEE = re.compile(r"\[see: *([a-z0-9_./-]+) *\](?!\()")
_NUMBER = re.compile(r"\d+-")
# As adr-tools words them, from the newer record and from the older one.
_WAYS = (
    ("supersedes", "Supersedes", "Superseded by"),
    ("amends", "Amends", "Amended by"),
)


def adr_folder(workspace: Workspace, wings: tuple[str, ...]) -> tuple[tuple[ExportedFile, ...], tuple[str, ...]]:
    """Return one record for each decision, numbered by date, and what a folder of decisions does not hold."""
    filters = Filters(wings=wings, include_drafts=True, include_deprecated=True)
    listed = list_entries(workspace, filters)
    decisions = sorted((one for one in listed if one.type is EntryType.DECISION), key=_by_date)
    folder = _Folder({entry.address: _Record(number, entry) for number, entry in enumerate(decisions, 1)})
    files = tuple(folder.file(shown) for shown in in_full(workspace, decisions))
    rest = len(listed) - len(decisions)
    return files, (f"{rest} of another type left out: these records are decisions",) if rest else ()


def _by_date(entry: Entry) -> tuple[float, str]:
    return (instant_of(entry.created_at).timestamp() if entry.created_at else 0.0, entry.address)


class _Record(Struct, frozen=True):
    number: int
    entry: Entry

    @property
    def path(self) -> str:
        name = self.entry.address.rsplit("/", 1)[1]
        return f"{self.number:04d}-{_NUMBER.sub('', name, count=1) or name}.md"

    @property
    def title(self) -> str:
        return f"{self.number}. {' '.join(self.entry.title.split())}"

    @property
    def link(self) -> str:
        text = self.title.replace("[", "(").replace("]", ")")
        return f"[{text}]({self.path})"


class _Folder(Struct, frozen=True):
    records: Mapping[str, _Record]

    def file(self, shown: ShownEntry) -> ExportedFile:
        record = self.records[shown.entry.address]
        head = [
            f"# {record.title}",
            "",
            *self._list(shown),
            "",
            opening(f"of {shown.entry.address}; change that entry"),
        ]
        body, more = _without_status(self._text(shown))
        status = "\n\n".join([_status(shown.entry).capitalize(), *self._links(shown.entry), *more])
        body = body if _HEADING.match(body) else f"## Decision\n\n{body}"
        text = "\n".join([*head, "", "## Status", "", status, "", body, "", END, ""])
        return ExportedFile(record.path, text)

    def _list(self, shown: ShownEntry) -> Iterator[str]:
        entry = shown.entry
        heads = [self.records[one] for one in entry.superseded_by if one in self.records]
        replaced = f" by [{heads[0].path[:-3]}]({heads[0].path})" if heads else ""
        yield f"- Status: {_status(entry)}{replaced if _status(entry) == 'superseded' else ''}"
        if entry.created_at is not None:
            yield f"- Date: {day_of(entry.created_at).isoformat()}"
        if entry.owner:
            yield f"- Deciders: {' '.join(entry.owner.split())}"
        if entry.tags:
            yield f"- Tags: {', '.join(entry.tags)}"

    def _links(self, entry: Entry) -> Iterator[str]:
        for name, newer, older in _WAYS:
            # A draft replaces nothing yet: its link stands in the entry alone.
            if entry.status is not Status.DRAFT:
                yield from (f"{newer} {self.records[one].link}" for one in entry.links(name) if one in self.records)
            # One end alone is a claim: what is still in force must not read as ended.
            others = () if name == "supersedes" and entry.status is not Status.DEPRECATED else self.records.values()
            for other in others:
                if entry.address in other.entry.links(name) and other.entry.status is not Status.DRAFT:
                    yield f"{older} {other.link}"

    def _text(self, shown: ShownEntry) -> str:
        first, _, rest = shown.body.strip().partition("\n")
        said_title = first.startswith("# ") and " ".join(first[2:].split()) == " ".join(shown.entry.title.split())
        return _SEE.sub(self._see, (rest if said_title else shown.body).strip())

    def _see(self, found: re.Match[str]) -> str:
        record = self.records.get(found[1])
        return f"[see: {found[1]}]({record.path})" if record is not None else found[0]


def _without_status(body: str) -> tuple[str, tuple[str, ...]]:
    """Return a body without a section on the status, and what that says: a record has one such section."""
    sections = sections_of(body)
    section = status_section(sections)
    if section is None:
        return body, ()
    below = sections[sections.index(section) + 1 :]
    end = next((one.span[0] for one in below if one.level <= section.level), len(body))
    return (body[: section.span[0]] + body[end:]).strip(), tuple(filter(None, [body[section.start : end].strip()]))


def _status(entry: Entry) -> str:
    """Return the word of MADR for how an entry stands."""
    if entry.status is Status.DRAFT:
        return "proposed"
    if entry.status is Status.DEPRECATED:
        return "superseded" if entry.superseded_by else "deprecated"
    return "accepted"
