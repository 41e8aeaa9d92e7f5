"""Build the template contexts of three pages: rules for code, the board of open work, and the review of a change."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from mdmem.ask.contradictions import contradictions_among
from mdmem.change.review import ReviewRequest, review_change
from mdmem.model.entry import Entry, Status, day_of
from mdmem.model.finding import Finding
from mdmem.model.text import visible
from mdmem.render.review import Kind, headline, sections
from mdmem.site.facts import Row, SiteFacts, with_code

_DEEPEST_FOLDER, _MOST_FOLDERS, _MOST_RULES, _MOST_LINES = 4, 400, 20, 200


class Folder(Struct, frozen=True):
    """A folder of code: the number of its tracked files, of those that a rule applies to, and these rules."""

    path: str
    files: int
    covered: int
    rules: Sequence[Row]


def code_context(facts: SiteFacts) -> Mapping[str, Any]:
    """Return the template context of the page about rules for code."""
    rules = [entry for entry in facts.current if entry.type.is_rule]
    matched = {one.address: facts.matched_files[one.address] for one in rules if one.applies_to}
    folders = _folders(facts, matched)
    examples = (files[0] for files in matched.values() if files)
    return {
        "number": len(facts.tracked),
        "covered": len({path for files in matched.values() for path in files}),
        "example": next(examples, None) or next(iter(facts.tracked), "folder/file"),
        "folders": folders,
        "most": _MOST_RULES,
        "uncovered": [*_uncovered(folders)],
        "named": facts.rows_of(one for one in rules if matched.get(one.address)),
        "idle": facts.rows_of(one for one in rules if one.applies_to and not matched[one.address]),
        "everywhere": facts.rows_of(one for one in rules if not one.applies_to),
    }


def _folders(facts: SiteFacts, matched: Mapping[str, Sequence[str]]) -> list[Folder]:
    """Return the folders of the tracked files, each folder before its subfolders."""
    files: Counter[str] = Counter(folder for path in facts.tracked for folder in _folders_above(path))
    # Dictionaries are used as ordered sets of rules.
    rules: dict[str, dict[str, Row]] = defaultdict(dict)
    covered: dict[str, set[str]] = defaultdict(set)
    for address, paths in matched.items():
        for path in paths:
            for folder in _folders_above(path):
                rules[folder][address] = facts.rows[address]
                covered[folder].add(path)
    shown = sorted(files)
    if len(shown) > _MOST_FOLDERS:
        shown = [folder for folder in shown if folder.count("/") < 2 or folder in rules][:_MOST_FOLDERS]
    return [Folder(one, files[one], len(covered[one]), list(rules[one].values())) for one in shown]


def _folders_above(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1][:_DEEPEST_FOLDER]
    yield from ("/".join(parts[: at + 1]) + "/" for at in range(len(parts)))


def _uncovered(folders: Sequence[Folder]) -> Iterator[Folder]:
    """Yield the topmost folders without any file that a rule applies to."""
    above = "\n"
    for folder in folders:
        if not folder.covered and not folder.path.startswith(above):
            above = folder.path
            yield folder


def board_context(facts: SiteFacts) -> Mapping[str, Any]:
    """Return the template context of the board: drafts, reviews, contradictions and findings."""
    entries = facts.catalog.entries
    overdue = dict.fromkeys(one.address or "" for one in facts.findings if one.code in ("review-overdue", "expired"))
    groups = (
        ("Drafts", [one for one in facts.entries if one.status is Status.DRAFT], "`mdmem approve` makes one active."),
        (
            "Under review",
            [one for one in facts.entries if facts.rows[one.address].state == "under review"],
            "They still apply, and somebody doubts them.",
        ),
        (
            "Overdue",
            [entries[one] for one in overdue if one in entries],
            "`mdmem verify` records that they are still true.",
        ),
    )
    pairs = contradictions_among(facts.catalog, frozenset(entry.address for entry in facts.current))
    return {
        "groups": [
            (title, _with_details(facts, some[:_MOST_LINES]), len(some), with_code(help_))
            for title, some, help_ in groups
            if some
        ],
        "pairs": [(one.a, one.b) for one in pairs if one.a in entries and one.b in entries],
        "problems": [_problem(facts, one) for one in facts.problems[:_MOST_LINES]],
        "number": len(facts.problems),
    }


def _with_details(facts: SiteFacts, found: Sequence[Entry]) -> list[tuple[Any, str]]:
    """Return the row of each entry, with its day and owner as text."""
    days = ((one, day_of(one.created_at) if one.created_at else None) for one in found)
    return [(facts.rows[one.address], ", ".join(str(it) for it in (day, one.owner) if it)) for one, day in days]


def _problem(facts: SiteFacts, finding: Finding) -> Mapping[str, Any]:
    return {
        "severity": finding.weight.value,
        "place": f"{finding.place.path}:{finding.place.line}",
        "row": facts.rows.get(finding.address or ""),
        "message": with_code(finding.message),
        "code": finding.code,
        "help": with_code(finding.help),
    }


_TAGS: Mapping[Kind, str] = {"code": "code", "added": "ins", "removed": "del", "strong": "strong", "dim": "small"}
_CODE_IN_TEXT = re.compile("`([^`]+)`")


def change_context(facts: SiteFacts, base: str) -> Mapping[str, Any]:
    """Return the template context of the page about a change, with the same content as `mdmem diff`."""
    workspace = facts.workspace
    review = review_change(workspace, ReviewRequest(base=base))
    return {
        "headline": headline(review),
        "sections": [
            (one.title, [(min(level, 4), Markup(line)) for level, line in one.lines])
            for one in sections(review, lambda kind, text: _marked(facts, kind, text))
        ],
    }


def _page(facts: SiteFacts, address: str) -> str | None:
    return facts.rows[address].page if address in facts.rows else None


def _marked(facts: SiteFacts, kind: Kind, text: str) -> str:
    """Return a text of the review as HTML, with a link if it is an address."""
    shown = escape(visible(text), quote=False)
    if kind not in ("code", "added", "removed"):
        shown = _CODE_IN_TEXT.sub(r"<code>\1</code>", shown)
    if kind in _TAGS:
        shown = f"<{_TAGS[kind]}>{shown}</{_TAGS[kind]}>"
    page = _page(facts, text) if kind == "code" else None
    return f'<a href="{escape(page)}">{shown}</a>' if page is not None else shown
