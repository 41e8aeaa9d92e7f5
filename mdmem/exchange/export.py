"""Export entries to other tools: decisions as a folder of records, and current rules as files that clients read.

adr-tools reads `# N. Title` from the first line and `Supersedes [N. Title](file)` from `## Status`; log4brains and MADR
2 read `- Status:`, `- Date:`, `- Deciders:` and `- Tags:` below the title.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from mdmem.ask.answer import Retrieval
from mdmem.ask.excerpt import summary_of
from mdmem.ask.question import Question
from mdmem.ask.retrieve import Reading, read_steadily, retrieve_in
from mdmem.ask.show import ShownEntry, in_full, list_entries
from mdmem.errors import UsageError
from mdmem.exchange.decision import status_section
from mdmem.exchange.memory_json import memory_json
from mdmem.exchange.outlet import ExportedFile, OutletChange, list_changes, write_changes
from mdmem.markdown.headings import sections_of
from mdmem.markdown.sentences import cut_at_word
from mdmem.model.entry import Entry, EntryType, Status, day_of, instant_of
from mdmem.setup.seal import END, opening
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.location import place_to_write
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace

_Files = tuple[tuple[ExportedFile, ...], tuple[str, ...]]
_HEADING = re.compile(r"\s*#{1,6} ")
_SEE = re.compile(r"\[see: *([a-z0-9_./-]+) *\](?!\()")
_NUMBER = re.compile(r"\d+-")
# A field, and the words of adr-tools in the newer record and in the older one.
_RELATIONS = (("supersedes", "Supersedes", "Superseded by"), ("amends", "Amends", "Amended by"))


def adr_folder(workspace: Workspace, wings: tuple[str, ...]) -> _Files:
    """Return a record for each decision, numbered by date, and a remark about the omitted entries."""
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
        for name, newer, older in _RELATIONS:
            # A draft does not supersede anything yet.
            if entry.status is not Status.DRAFT:
                yield from (f"{newer} {self.records[one].link}" for one in entry.links(name) if one in self.records)
            # A one-sided supersession leaves the older entry current.
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
    """Return a body without its section on the status, and the text of that section: a record has only one."""
    sections = sections_of(body)
    section = status_section(sections)
    if section is None:
        return body, ()
    below = sections[sections.index(section) + 1 :]
    end = next((one.span[0] for one in below if one.level <= section.level), len(body))
    return (body[: section.span[0]] + body[end:]).strip(), tuple(filter(None, [body[section.start : end].strip()]))


def _status(entry: Entry) -> str:
    """Return the status in the words of MADR."""
    if entry.status is Status.DRAFT:
        return "proposed"
    if entry.status is Status.DEPRECATED:
        return "superseded" if entry.superseded_by else "deprecated"
    return "accepted"


CURSOR_FILES = ".cursor/rules/mdmem-*.mdc"
COPILOT_FILES = ".github/instructions/mdmem-*.instructions.md"
_RULES = (EntryType.INVARIANT, EntryType.DECISION)
# Clients load these files into every conversation, so each rule is shortened, an invariant less.
_RULE_BYTES = {EntryType.INVARIANT: 480, EntryType.DECISION: 300}
_SPECIAL = re.compile(r"[*?[]")
_TITLE = "## Rules for this repository"
_Globs = tuple[str, ...]


def agents_file(workspace: Workspace, wings: _Globs) -> _Files:
    """Return the region of AGENTS.md: the rules that always apply, then those for some code."""
    rules, remarks = _rules(workspace, wings)
    parts = [opening("`mdmem export agents-md` writes this; change the entries"), _TITLE]
    for globs, lines in rules.items():
        where = f"### In {', '.join(f'`{glob}`' for glob in globs)}" if globs else "### Everywhere"
        parts.append("\n".join([where, "", *lines]))
    parts.append("`mdmem show ADDRESS` prints a rule in full, `mdmem retrieve --path FILE` the rules for a file.")
    return (ExportedFile("AGENTS.md", "\n\n".join([*parts, END]) + "\n", is_region=True),), remarks


def cursor_files(workspace: Workspace, wings: _Globs) -> _Files:
    """Return one rule for each `applies_to`, and one that always applies."""
    rules, remarks = _rules(workspace, wings)
    files = []
    for globs, lines in rules.items():
        front = [f"globs: {_client_globs(globs)}", "alwaysApply: false"] if globs else ["alwaysApply: true"]
        about = f"Rules for {', '.join(globs)}" if globs else "Rules for this repository"
        text = "\n".join(["---", f"description: {json.dumps(about, ensure_ascii=False)}", *front, "---", _page(lines)])
        files.append(ExportedFile(CURSOR_FILES.replace("*", _name(globs)), text))
    return tuple(files), remarks


def copilot_files(workspace: Workspace, wings: _Globs) -> _Files:
    """Return the region of Copilot's instructions, and one file of instructions for each `applies_to`."""
    rules, remarks = _rules(workspace, wings)
    files = []
    for globs, lines in rules.items():
        if globs:
            front = f"---\napplyTo: {json.dumps(_client_globs(globs), ensure_ascii=False)}\n---\n"
            files.append(ExportedFile(COPILOT_FILES.replace("*", _name(globs)), front + _page(lines)))
        else:
            region = _page([_TITLE, "", *lines])
            files.append(ExportedFile(".github/copilot-instructions.md", region, is_region=True))
    return tuple(files), remarks


def _page(lines: Iterable[str]) -> str:
    return "\n".join([opening("`mdmem export` writes this; change the entries"), *lines, END, ""])


def _name(globs: _Globs) -> str:
    """Return a stable name for the files about some code."""
    if not globs:
        return "everywhere"
    words = "-".join(re.findall(r"[a-z0-9]+", globs[0].casefold()))[:40].strip("-") or "code"
    return f"{words}-{hashlib.sha256(chr(0).join(globs).encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def _rules(workspace: Workspace, wings: _Globs) -> tuple[Mapping[_Globs, list[str]], tuple[str, ...]]:
    """Return the lines of the current rules by `applies_to`, those without first, and remarks about unreadable files.

    The files on disk count, with their proposals: the export is committed together with them.
    """
    question = Question(filters=Filters(wings=wings, types=_RULES))

    def answer(reading: Reading) -> tuple[Catalog, Retrieval]:
        files = reading.view.checkout
        scope = resolve_scope(files.catalog, reading.settings, question.filters, tracked=files.tracked_files)
        return files.catalog, retrieve_in(files, scope, question)

    catalog, found = read_steadily(workspace, answer)
    by_globs: dict[_Globs, list[str]] = {}
    for item in map(found.describe, found.items):
        if item.current and not item.overridden_by:
            lines = by_globs.setdefault(item.entry.applies_to, [])
            lines.append(_line(item.entry, catalog.body(item.entry.address), item.amended_by))
    remarks = tuple(f"{one.place.path}: {one.message}; its rules are left out" for one in found.basis.problems)
    return {globs: by_globs[globs] for globs in sorted(by_globs)}, remarks


def _client_globs(globs: _Globs) -> str:
    """Return globs in a client's form: there a plain path matches one file, in mdmem all files below it, too."""
    wide = (f"{glob.rstrip('/')}/**" for glob in globs if not _SPECIAL.search(glob) and "." not in glob.rsplit("/")[-1])
    return ",".join(sorted({*globs, *wide}, key=lambda one: (one.removesuffix("/**"), one)))


def _line(entry: Entry, body: str, amended_by: Iterable[str]) -> str:
    said = " ".join(summary_of(entry, body).split())
    title = " ".join(entry.title.split()).rstrip(".")
    # A region must not contain a marker or a comment.
    text = cut_at_word(said, _RULE_BYTES[entry.type]).replace("<!--", "<! --").replace("-->", "-- >")
    amended = "".join(f"; amended by `{one}`" for one in amended_by)
    return f"- **{title}** ({entry.type} `{entry.address}`{amended}): {text}".replace("<!--", "<! --")


class ExportRequest(Struct, frozen=True, kw_only=True):
    """The form of an export, its wings (default: the active scope), and the target (default: where the tool looks)."""

    form: str
    wings: tuple[str, ...] = ()
    out: str | None = None


class ExportReport(Struct, frozen=True, kw_only=True):
    """The files of an export below a folder, the changes to these, and remarks about omitted entries."""

    folder: Path
    files: tuple[ExportedFile, ...]
    changes: tuple[OutletChange, ...]
    remarks: tuple[str, ...] = ()


class ExportForm(Struct, frozen=True):
    """A form of export: the function that makes it, the files that belong to it, and where its tool looks."""

    make: Callable[[Workspace, tuple[str, ...]], _Files]
    owned: tuple[str, ...] = ()
    place: str | None = "."


FORMS: Mapping[str, ExportForm] = {
    "madr": ExportForm(adr_folder, ("[0-9]*.md",), None),
    "agents-md": ExportForm(agents_file),
    "cursor-rules": ExportForm(cursor_files, (CURSOR_FILES,)),
    "copilot-instructions": ExportForm(copilot_files, (COPILOT_FILES,)),
    "json": ExportForm(memory_json, (), None),
}


def examine_export(workspace: Workspace, request: ExportRequest) -> ExportReport:
    """Return what an export would write; raises UsageError where a file is somebody's own."""
    form = FORMS[request.form]
    files, remarks = form.make(workspace, request.wings)
    folder, files = _target(workspace, request, form, files)
    location = workspace.location
    for place in sorted({(folder / file.path).parent for file in files} | {folder}):
        place_to_write(place, location.base, location.repository)
    return ExportReport(folder=folder, files=files, changes=list_changes(folder, files, form.owned), remarks=remarks)


def export(workspace: Workspace, request: ExportRequest) -> ExportReport:
    """Write an export; raises UsageError and EnvironmentFaultError."""
    report = examine_export(workspace, request)
    write_changes(report.folder, report.changes)
    return report


def _target(
    workspace: Workspace, request: ExportRequest, form: ExportForm, files: tuple[ExportedFile, ...]
) -> tuple[Path, tuple[ExportedFile, ...]]:
    """Return the folder of the files; a target that is a file replaces the name of the only one."""
    if request.out is None:
        if form.place is None:
            raise UsageError(f"name a folder for `{request.form}`: --out docs/decisions")
        return workspace.location.base / form.place, files
    out = workspace.cwd / request.out
    root = workspace.location.root
    if out.resolve() == root or (out.resolve().is_relative_to(root) and form.owned):
        raise UsageError(f"{request.out} is in the memory, which has only entries; name another folder by --out")
    if len(files) == 1 and out.suffix:
        return out.parent, (replace(files[0], path=out.name),)
    return out, files
