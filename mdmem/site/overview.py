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
from mdmem.model.entry import Status, day_of
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
    files: Counter[str] = Counter(folder for path in facts.tracked for folder in _folders_above(path))
    # Dictionaries are used as ordered sets of rules.
    applied: dict[str, dict[str, Row]] = defaultdict(dict)
    covered: dict[str, set[str]] = defaultdict(set)
    for address, paths in matched.items():
        for path in paths:
            for folder in _folders_above(path):
                applied[folder][address] = facts.rows[address]
                covered[folder].add(path)
    shown = sorted(files)
    if len(shown) > _MOST_FOLDERS:
        shown = [folder for folder in shown if folder.count("/") < 2 or folder in applied][:_MOST_FOLDERS]
    folders = [Folder(one, files[one], len(covered[one]), list(applied[one].values())) for one in shown]
    # Only the topmost folders without any file that a rule applies to are listed.
    uncovered: list[Folder] = []
    for one in folders:
        if not one.covered and not (uncovered and one.path.startswith(uncovered[-1].path)):
            uncovered.append(one)
    examples = (paths[0] for paths in matched.values() if paths)
    return {
        "number": len(facts.tracked),
        "covered": len({path for paths in matched.values() for path in paths}),
        "example": next(examples, None) or next(iter(facts.tracked), "folder/file"),
        "folders": folders,
        "most": _MOST_RULES,
        "uncovered": uncovered,
        "named": facts.rows_of(one for one in rules if matched.get(one.address)),
        "idle": facts.rows_of(one for one in rules if one.applies_to and not matched[one.address]),
        "everywhere": facts.rows_of(one for one in rules if not one.applies_to),
    }


def _folders_above(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1][:_DEEPEST_FOLDER]
    yield from ("/".join(parts[: at + 1]) + "/" for at in range(len(parts)))


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
    shown = []
    for title, some, help_ in groups:
        lines = []
        for one in some[:_MOST_LINES]:
            day = day_of(one.created_at) if one.created_at else None
            lines.append((facts.rows[one.address], ", ".join(str(it) for it in (day, one.owner) if it)))
        shown += [(title, lines, len(some), with_code(help_))] if some else []
    pairs = contradictions_among(facts.catalog, frozenset(entry.address for entry in facts.current))
    problems = [
        {
            "severity": one.weight.value,
            "place": f"{one.place.path}:{one.place.line}",
            "row": facts.rows.get(one.address or ""),
            "message": with_code(one.message),
            "code": one.code,
            "help": with_code(one.help),
        }
        for one in facts.problems[:_MOST_LINES]
    ]
    return {
        "groups": shown,
        "pairs": [(one.a, one.b) for one in pairs if one.a in entries and one.b in entries],
        "problems": problems,
        "number": len(facts.problems),
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


def _marked(facts: SiteFacts, kind: Kind, text: str) -> str:
    """Return a text of the review as HTML, with a link if it is an address."""
    shown = escape(visible(text), quote=False)
    if kind not in ("code", "added", "removed"):
        shown = _CODE_IN_TEXT.sub(r"<code>\1</code>", shown)
    if kind in _TAGS:
        shown = f"<{_TAGS[kind]}>{shown}</{_TAGS[kind]}>"
    if kind == "code" and text in facts.rows:
        return f'<a href="{escape(facts.rows[text].page)}">{shown}</a>'
    return shown
