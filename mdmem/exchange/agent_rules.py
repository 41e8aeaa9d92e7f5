"""What binds, as the files that agents' clients read by themselves: by the code that it is about."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

from mdmem.ask.question import Question
from mdmem.ask.ranks import Retrieval
from mdmem.ask.retrieve import Reading, read_steadily, retrieve_in
from mdmem.exchange.outlet import ExportedFile
from mdmem.markdown.sentences import cut_at_word
from mdmem.markdown.text import summary_of
from mdmem.model.entry import Entry, EntryType
from mdmem.setup.seal import END, opening
from mdmem.store.catalog import Catalog
from mdmem.store.workspace.scope import Filters, resolve_scope
from mdmem.store.workspace.workspace import Workspace

CURSOR_FILES = ".cursor/rules/mdmem-*.mdc"
COPILOT_FILES = ".github/instructions/mdmem-*.instructions.md"
_RULES = (EntryType.INVARIANT, EntryType.DECISION)
# Clients load these files into every conversation: a decision is its first sentences, an invariant more of them.
_RULE_BYTES = {EntryType.INVARIANT: 480, EntryType.DECISION: 300}
_SPECIAL = re.compile(r"[*?[]")
_Files = tuple[tuple[ExportedFile, ...], tuple[str, ...]]
_Globs = tuple[str, ...]


def agents_file(workspace: Workspace, wings: _Globs) -> _Files:
    """Return the region of AGENTS.md: what always holds, then what holds for some code."""
    rules, remarks = _rules(workspace, wings)
    parts = [opening("`mdmem export agents-md` writes this; change the entries"), "## What binds in this repository"]
    for globs, lines in rules.items():
        where = f"### In {', '.join(f'`{glob}`' for glob in globs)}" if globs else "### Everywhere"
        parts.append("\n".join([where, "", *lines]))
    parts.append("`mdmem show ADDRESS` prints a rule in full, `mdmem retrieve --path FILE` what binds for a file.")
    return (ExportedFile("AGENTS.md", "\n\n".join([*parts, END]) + "\n", is_region=True),), remarks


def cursor_files(workspace: Workspace, wings: _Globs) -> _Files:
    """Return one rule for each `applies_to`, and one that always applies."""
    rules, remarks = _rules(workspace, wings)
    files = []
    for globs, lines in rules.items():
        front = [f"globs: {_client_globs(globs)}", "alwaysApply: false"] if globs else ["alwaysApply: true"]
        about = f"What binds in {', '.join(globs)}" if globs else "What binds in this repository"
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
            region = _page(["## What binds in this repository", "", *lines])
            files.append(ExportedFile(".github/copilot-instructions.md", region, is_region=True))
    return tuple(files), remarks


def _page(lines: Iterable[str]) -> str:
    return "\n".join([opening("`mdmem export` writes this; change the entries"), *lines, END, ""])


def _name(globs: _Globs) -> str:
    """Return a name for files about some code, the same in every run."""
    if not globs:
        return "everywhere"
    words = "-".join(re.findall(r"[a-z0-9]+", globs[0].casefold()))[:40].strip("-") or "code"
    return f"{words}-{hashlib.sha256(chr(0).join(globs).encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def _rules(workspace: Workspace, wings: _Globs) -> tuple[Mapping[_Globs, list[str]], tuple[str, ...]]:
    """Return the lines of what is in force, by `applies_to`, what always holds first; and what could not be read.

    The files at hand count, proposals too: what is exported lands together with them.
    """
    question = Question(filters=Filters(wings=wings, types=_RULES))

    def answer(reading: Reading) -> tuple[Catalog, Retrieval]:
        files = reading.view.checkout
        scope = resolve_scope(files.catalog, reading.settings, question.filters, tracked=files.tracked_files)
        return files.catalog, retrieve_in(files, scope, question)

    catalog, found = read_steadily(workspace, answer)
    by_globs: dict[_Globs, list[str]] = {}
    for item in found.items:
        if item.current and not item.overridden_by:
            lines = by_globs.setdefault(item.entry.applies_to, [])
            lines.append(_line(item.entry, catalog.body(item.entry.address), item.amended_by))
    remarks = tuple(f"{one.place.path}: {one.message}; its rules are left out" for one in found.basis.problems)
    return {globs: by_globs[globs] for globs in sorted(by_globs)}, remarks


def _client_globs(globs: _Globs) -> str:
    """Return globs as clients read them: there a plain path is one file, here it covers what lies below it."""
    wide = (f"{glob.rstrip('/')}/**" for glob in globs if not _SPECIAL.search(glob) and "." not in glob.rsplit("/")[-1])
    return ",".join(sorted({*globs, *wide}, key=lambda one: (one.removesuffix("/**"), one)))


def _line(entry: Entry, body: str, amended_by: Iterable[str]) -> str:
    said = " ".join(summary_of(entry, body).split())
    title = " ".join(entry.title.split()).rstrip(".")
    # No marker of ours, and no comment, may stand within a region.
    text = cut_at_word(said, _RULE_BYTES[entry.type]).replace("<!--", "<! --").replace("-->", "-- >")
    amended = "".join(f"; amended by `{one}`" for one in amended_by)
    return f"- **{title}** ({entry.type} `{entry.address}`{amended}): {text}".replace("<!--", "<! --")
