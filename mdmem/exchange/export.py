"""Export entries to other tools: decisions as a folder of records, and current rules as files that clients read.

adr-tools reads `# N. Title` from the first line and `Supersedes [N. Title](file)` from `## Status`. log4brains and MADR
2 read `- Status:`, `- Date:`, `- Deciders:` and `- Tags:` below the title. An export rewrites or removes only files and
regions that an earlier export wrote with a checksum (see `with_checksum`), and that nobody changed since.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem import EXPORT_END
from mdmem.ask.answer import Answer, Question
from mdmem.ask.excerpt import summary_of
from mdmem.ask.retrieve import Reading, read_with_retry, retrieve_in
from mdmem.ask.search import ShownEntry, in_full, list_entries
from mdmem.checks.fixes import relative
from mdmem.disk import read_regular
from mdmem.errors import UsageError
from mdmem.exchange.record import IMPORTED_STATUS, with_whole_labels
from mdmem.exchange.statements import read_status
from mdmem.markdown.body import cut_at_word, sections_of
from mdmem.markdown.parse import body_links, without_code
from mdmem.model.entry import Entry, EntryType, Status, day_of, instant_of
from mdmem.setup.agents_file import begin_marker, is_unmodified, region_of, with_checksum
from mdmem.setup.client_config import InsertError, append_piece, decode_utf8, read_to_extend, write_project_file
from mdmem.store.catalog.model import Catalog
from mdmem.store.tree import Unreadable, read_one
from mdmem.store.workspace.location import place_to_write
from mdmem.store.workspace.scope import Filters, reading_scope, resolve_scope
from mdmem.store.workspace.workspace import Workspace


class ExportedFile(Struct, frozen=True):
    """A file to export, by its path from the export's folder.

    `text` is the whole file, or a region inside the file; None removes the file. `is_new` says that there is none yet.
    """

    path: str
    text: str | None
    is_region: bool = False
    is_new: bool = False


_Files = tuple[list[ExportedFile], tuple[str, ...]]
_Globs = tuple[str, ...]
_HEADING = re.compile(r"\s*#{1,6} ")
_NUMBER = re.compile(r"\A\d+-")
# A field, and the words that adr-tools writes into the newer record and into the older record.
_RELATIONS = (("supersedes", "Supersedes", "Superseded by"), ("amends", "Amends", "Amended by"))


class _Record(Struct, frozen=True):
    """A decision with the file name and the numbered title of its record."""

    entry: Entry
    path: str
    title: str

    @property
    def link(self) -> str:
        text = self.title.replace("[", "(").replace("]", ")")
        return f"[{text}]({self.path})"


def _record_files(workspace: Workspace, wings: tuple[str, ...]) -> _Files:
    """Return a record for each decision, numbered by date, and a remark about the omitted entries."""
    entries = list_entries(workspace, Filters(wings=wings, include_drafts=True, include_deprecated=True))
    decisions = [one for one in entries if one.type is EntryType.DECISION]
    decisions.sort(key=lambda one: (instant_of(one.created_at).timestamp() if one.created_at else 0.0, one.address))
    records = {}
    for number, entry in enumerate(decisions, 1):
        name = entry.address.rsplit("/", 1)[1]
        path = f"{number:04d}-{_NUMBER.sub('', name) or name}.md"
        records[entry.address] = _Record(entry, path, f"{number}. {' '.join(entry.title.split())}")
    # The lines about other records, by address.
    relations: dict[str, list[str]] = {one: [] for one in records}
    for address, record in records.items():
        # A draft does not supersede anything yet.
        for name, newer, older in _RELATIONS if record.entry.status is not Status.DRAFT else ():
            for other in (one for one in dict.fromkeys(record.entry.links(name)) if one in records):
                relations[address].append(f"{newer} {records[other].link}")
                # A one-sided supersession leaves the older entry as it is: current, or superseded by another entry.
                is_fact = address in workspace.catalog.lineage.successors.get(other, ())
                if name != "supersedes" or (is_fact and records[other].entry.status is Status.DEPRECATED):
                    relations[other].append(f"{older} {record.link}")
    files = [_record_file(records, relations[shown.entry.address], shown) for shown in in_full(workspace, decisions)]
    rest = len(entries) - len(decisions)
    return files, (f"{rest} of another type left out: these records are decisions",) if rest else ()


def _record_file(records: Mapping[str, _Record], relations: Sequence[str], shown: ShownEntry) -> ExportedFile:
    entry, record = shown.entry, records[shown.entry.address]
    status = {Status.DRAFT: "proposed", Status.DEPRECATED: "deprecated"}.get(entry.status, "accepted")
    by = on = ""
    if entry.status is Status.DEPRECATED and entry.superseded_by:
        status, paths = "superseded", [records[one].path for one in entry.superseded_by if one in records]
        by = f" by [{paths[0][:-3]}]({paths[0]})" if paths else ""
    elif status == "deprecated":
        if read_status((entry.deprecated_reason or "").partition(IMPORTED_STATUS)[2]).is_refused:
            status = "rejected"
        on = f" on {day_of(entry.deprecated_at)}" if entry.deprecated_at is not None else ""
    facts = {
        "Status": status + by,
        "Date": day_of(entry.created_at).isoformat() if entry.created_at is not None else "",
        "Deciders": " ".join((entry.owner or "").split()),
        "Tags": ", ".join(entry.tags),
    }
    parts, at = [], 0
    # Links between entries lead to their records. Those to other files stay as they are.
    for link in body_links(with_whole_labels(without_code(shown.body))):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), link.target))
        other = records.get(target.removesuffix(".md")) if link.is_path else None
        if other is not None and link.offset >= at:
            written = shown.body[link.offset : link.offset + link.width]
            parts += [shown.body[at : link.offset], relative(other.path, record.path, written)]
            at = link.offset + link.width
    body = "".join([*parts, shown.body[at:]]).strip()
    first, _, rest = body.partition("\n")
    if first.startswith("# ") and " ".join(first[2:].split()) == " ".join(entry.title.split()):
        body = rest.strip()
    text = body
    sections = [one for one in sections_of(text) if 0 < one.level <= len("######")]
    # A record has one section about its status, and one about the decision.
    parts, at = [], 0
    for one in (one for one in sections if one.name == "status"):
        parts += [text[at : one.span[0]], f"{'#' * one.level} Status in its own words\n"]
        at = one.start
    text = "".join([*parts, text[at:]])
    if not _HEADING.match(text):
        text = f"## {'Summary' if any(one.name == 'decision' for one in sections) else 'Decision'}\n\n{text}"
    because = (entry.deprecated_reason or "").partition(IMPORTED_STATUS)[0]
    for name, reason in (("Reason", entry.reason or ""), ("Reason for the deprecation", because)):
        text += f"\n\n## {name}\n\n{' '.join(reason.split())}" if reason.strip() else ""
    listed = [f"- {name}: {value}" for name, value in facts.items() if value]
    head = "\n".join([f"# {record.title}", "", *listed, "", begin_marker(f"of {entry.address}; change that entry")])
    about = "\n\n".join([status.capitalize() + on, *relations])
    return ExportedFile(record.path, f"{head}\n\n## Status\n\n{about}\n\n{text}\n\n{EXPORT_END}\n")


_CURSOR_FILES = ".cursor/rules/mdmem-*.mdc"
_COPILOT_FILES = ".github/instructions/mdmem-*.instructions.md"
_RULES = (EntryType.INVARIANT, EntryType.DECISION)
# Clients load these files into every conversation. Each rule is therefore shortened, but an invariant may be longer.
_RULE_BYTES = {EntryType.INVARIANT: 480, EntryType.DECISION: 300}
_SPECIAL = re.compile(r"[*?[]")
_TITLE = "## Rules for this repository"


def _rule_files(form: str, workspace: Workspace, wings: tuple[str, ...]) -> _Files:
    """Return the files with the current rules for clients: one region, or one file for each value of `applies_to`."""
    rules, remarks = _rules(workspace, wings)
    if form == "agents-md":
        parts = [begin_marker("`mdmem export agents-md` writes this; change the entries"), _TITLE]
        for globs, lines in rules.items():
            where = f"### In {', '.join(f'`{glob}`' for glob in globs)}" if globs else "### Everywhere"
            parts.append("\n".join([_without_marks(where), "", *lines]))
        parts.append("`mdmem show ADDRESS` prints a rule in full, `mdmem retrieve --path FILE` the rules for a file.")
        return [ExportedFile("AGENTS.md", "\n\n".join([*parts, EXPORT_END]) + "\n", is_region=True)], remarks
    files = []
    for globs, lines in rules.items():
        about = f"Rules for {', '.join(globs) or 'this repository'}"
        if form == "cursor-rules":
            front = [f"description: {json.dumps(about, ensure_ascii=False)}"]
            front += [f"globs: {_client_globs(globs)}", "alwaysApply: false"] if globs else ["alwaysApply: true"]
            files.append(ExportedFile(_CURSOR_FILES.replace("*", _name(globs)), _page(lines, front)))
        elif globs:
            front = [f"applyTo: {json.dumps(_client_globs(globs), ensure_ascii=False)}"]
            files.append(ExportedFile(_COPILOT_FILES.replace("*", _name(globs)), _page(lines, front)))
        else:
            region = _page([_TITLE, "", *lines])
            files.append(ExportedFile(".github/copilot-instructions.md", region, is_region=True))
    return files, remarks


def memory_document(workspace: Workspace, wings: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return some wings as one JSON document, or all if `wings` is empty, and a remark for each omitted entry.

    The file of an entry is `head` (its front matter with the fences) and `body`. Raises UsageError if a manifest is not
    UTF-8.
    """
    catalog = workspace.catalog
    scope = reading_scope(catalog, workspace.settings, Filters(wings=wings, all_wings=not wings))
    entries = []
    for address, document in catalog.documents(sorted(filter(scope.contains, catalog.entries))):
        body = catalog.shown_body(document)
        mark = "\ufeff" if document.data.startswith(BOM_UTF8) else ""
        head = mark + document.text[: len(document.text) - len(document.body)]
        fields = catalog.shown_fields(document)
        entries.append({"address": address, "path": document.path, "front_matter": fields, "head": head, "body": body})
    remarks = [f"{path} cannot be read and is left out" for path in catalog.broken if scope.contains(path[:-3])]
    wings_listed = []
    for name in sorted(scope.wings):
        content = read_one(workspace.tree, f"{name}/README.md")
        try:
            readme = None if isinstance(content, Unreadable) else content.decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"{name}/README.md is not in UTF-8; `mdmem check` shows where") from error
        wings_listed.append({"name": name, "readme": readme})
    return {
        "schema": 1,
        "exported": begin_marker("`mdmem export json` writes this; change the entries"),
        "wings": wings_listed,
        "entries": entries,
    }, tuple(remarks)


def _json_file(workspace: Workspace, wings: tuple[str, ...]) -> _Files:
    document, remarks = memory_document(workspace, wings)
    return [ExportedFile("mdmem.json", f"{json.dumps(document, ensure_ascii=False, indent=1)}\n")], remarks


def _page(lines: Iterable[str], front: Sequence[str] = ()) -> str:
    head = ["---", *front, "---"] if front else []
    return "\n".join([*head, begin_marker("`mdmem export` writes this; change the entries"), *lines, EXPORT_END, ""])


def _without_marks(line: str) -> str:
    # An exported region must not contain other markers or comments.
    return line.replace("<!--", "<! --")


def _name(globs: _Globs) -> str:
    """Return a file name for the rules about some globs that stays the same in each export."""
    if not globs:
        return "everywhere"
    words = "-".join(re.findall(r"[a-z0-9]+", globs[0].casefold()))[:40].strip("-") or "code"
    return f"{words}-{hashlib.sha256(chr(0).join(globs).encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def _rules(workspace: Workspace, wings: tuple[str, ...]) -> tuple[dict[_Globs, list[str]], tuple[str, ...]]:
    """Return the lines of the current rules, grouped by `applies_to`, and remarks about unreadable files.

    The files on disk count, including proposals, because the export is committed together with them.
    """
    question = Question(filters=Filters(wings=wings, types=_RULES))

    def answer(reading: Reading) -> tuple[Catalog, Answer]:
        files = reading.view.checkout
        scope = resolve_scope(files.catalog, reading.settings, question.filters, tracked=files.tracked_files)
        return files.catalog, retrieve_in(files, scope, question)

    catalog, found = read_with_retry(workspace, answer)
    by_globs: dict[_Globs, list[str]] = {}
    for item in map(found.describe, found.items):
        entry = item.entry
        # What supersedes a rule is found with any type.
        if item.current and not item.overridden_by and entry.type.is_rule:
            summary = cut_at_word(
                " ".join(summary_of(entry, catalog.body(entry.address)).split()), _RULE_BYTES[entry.type]
            )
            title = " ".join(entry.title.split()).rstrip(".")
            amended = "".join(f"; amended by `{one}`" for one in item.relations.get("amended_by", ()))
            line = f"- **{title}** ({entry.type} `{entry.address}`{amended}): {summary.replace('-->', '-- >')}"
            by_globs.setdefault(entry.applies_to, []).append(_without_marks(line))
    remarks = tuple(f"{one.place.path}: {one.message}; its rules are left out" for one in found.basis.problems)
    return {globs: by_globs[globs] for globs in sorted(by_globs)}, remarks


def _client_globs(globs: _Globs) -> str:
    """Return globs for a client, where a plain path matches only one file; in mdmem also all files below it."""
    wide = (f"{glob.rstrip('/')}/**" for glob in globs if not _SPECIAL.search(glob) and "." not in glob.rsplit("/")[-1])
    return ",".join(sorted({*globs, *wide}, key=lambda one: (one.removesuffix("/**"), one)))


class ExportForm(Struct, frozen=True):
    """A format of export, with the function that creates it, and the glob of the files that mdmem owns there.

    `place` is the folder where the tool that uses this format looks, from the top of the project, or None.
    """

    make: Callable[[Workspace, tuple[str, ...]], _Files]
    owned: str = ""
    place: str | None = "."


FORMS: Mapping[str, ExportForm] = {
    "madr": ExportForm(_record_files, "[0-9]*.md", None),
    "agents-md": ExportForm(partial(_rule_files, "agents-md")),
    "cursor-rules": ExportForm(partial(_rule_files, "cursor-rules"), _CURSOR_FILES),
    "copilot-instructions": ExportForm(partial(_rule_files, "copilot-instructions"), _COPILOT_FILES),
    "json": ExportForm(_json_file, "", None),
}


class ExportReport(Struct, frozen=True, kw_only=True):
    """The files of an export in a folder, the changes to them, and remarks about omitted entries."""

    folder: Path
    files: Sequence[ExportedFile]
    changes: Sequence[ExportedFile]
    remarks: tuple[str, ...] = ()


def export(workspace: Workspace, form: str, *, wings: tuple[str, ...], out: str | None, is_dry: bool) -> ExportReport:
    """Write an export and return the changes. With `is_dry`, only return the changes.

    Raises UsageError if a file that would be replaced is not by mdmem, EnvironmentFaultError or OSError for the disk.
    """
    wanted = FORMS[form]
    files, remarks = wanted.make(workspace, wings)
    location = workspace.location
    if out is not None:
        folder, root = workspace.cwd / out, location.root
        if folder.resolve() == root or (folder.resolve().is_relative_to(root) and wanted.owned):
            raise UsageError(f"{out} is in the memory, where only entries may be; give another folder with --out")
        if len(files) == 1 and folder.suffix and not folder.is_dir():
            files, folder = [replace(files[0], path=folder.name)], folder.parent
    elif wanted.place is not None:
        folder = location.base / wanted.place
    else:
        raise UsageError(f"name a folder for `{form}`: --out docs/decisions")
    for place in sorted({(folder / file.path).parent for file in files} | {folder}):
        place_to_write(place, location.base, location.repository)
    changes = sorted(_changes(folder, files, wanted.owned), key=lambda one: one.path)
    if not is_dry:
        for change in changes:
            path = folder / change.path
            if change.text is not None:
                write_project_file(path, change.text.encode("utf-8", "surrogateescape"), is_new=change.is_new)
            else:
                path.unlink(missing_ok=True)
    return ExportReport(folder=folder, files=files, changes=changes, remarks=remarks)


def _changes(folder: Path, files: Sequence[ExportedFile], owned: str) -> Iterator[ExportedFile]:
    """Yield the changes to files, and the removal of earlier exports that match `owned`. Raises UsageError."""
    for file in files:
        before, text = _read(folder, file.path), with_checksum(file.text or "")
        if before is not None and file.is_region:
            place = region_of(before)
            if place is None:
                text = append_piece(before, text)
            else:
                start, end = place
                _require_unmodified(before[start:end], f"the text between the markers in {file.path}")
                newline = "\r\n" if "\r\n" in before else "\n"
                text = before[:start] + text.replace("\n", newline) + before[end:]
        elif before is not None:
            _require_unmodified(before, file.path)
            # Git may have checked it out with other line endings.
            text = before if before.replace("\r\n", "\n") == text else text
        if text != before:
            yield ExportedFile(file.path, text, is_new=before is None)
    wanted = {file.path for file in files}
    for path in sorted(folder.glob(owned)) if owned else ():
        name = path.relative_to(folder).as_posix()
        if name in wanted or path.is_symlink() or not path.is_file():
            continue
        # Somebody else's file may have any encoding.
        if is_unmodified(read_regular(path).decode("utf-8", "replace")) is not None:
            _require_unmodified(_read(folder, name) or "", name)
            yield ExportedFile(name, None)


def _read(folder: Path, path: str) -> str | None:
    try:
        content = read_to_extend(folder / path, folder)
        return None if content is None else decode_utf8(content)
    except InsertError as error:
        hint = "correct that, or give another place with --out"
        raise UsageError(f"{path} cannot be updated: {error}; {hint}") from error


def _require_unmodified(text: str, what: str) -> None:
    """Raise UsageError if mdmem did not export a text, or if somebody changed it since."""
    if is_unmodified(text) is None:
        raise UsageError(
            f"{what} already exists and was not written by mdmem; it was not replaced: give another place with --out"
        )
    if not is_unmodified(text):
        advice = "change the entries instead, remove it with its markers, and export again"
        raise UsageError(f"somebody changed {what} after its export, so it was not replaced; {advice}")
