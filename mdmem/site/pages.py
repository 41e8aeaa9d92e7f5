"""Render the files of the site; the same facts always give the same bytes."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from html import escape
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from msgspec import Struct

from mdmem.ask.relate import contradictions_among
from mdmem.change.review import ReviewRequest, review_change
from mdmem.model.entry import Entry, EntryType, Status, day_of
from mdmem.model.fields import FIELDS, LINK_FIELDS
from mdmem.model.globs import script_pattern
from mdmem.model.text import visible
from mdmem.render.lineage import BoxState, LineageGraph, lineage_svg
from mdmem.render.review import Kind, headline, sections
from mdmem.render.text import UNREPLACED, count, entries
from mdmem.site.facts import (
    Row,
    SiteFacts,
    link_to_room,
    page_of,
    page_of_wing,
    shown_reason,
    up_from,
    with_code,
    without_title,
)
from mdmem.site.markup import render_markdown

_MENU = (
    ("index.html", "Current rules"),
    ("timeline.html", "Timeline"),
    ("lineage.html", "Lineage"),
    ("code.html", "Code"),
    ("board.html", "Board"),
    ("all.html", "All entries"),
)
_ASSETS = ("site.css", "site.js", "icon.svg")
_RECENT_EVENTS, _MAX_DECISIONS, _MAX_FILES, _MAX_COMMITS, _MAX_CHAIN, _MAX_GROUPS = 12, 8, 40, 30, 20, 200
# Fields that the page of an entry does not list, because it shows them in another place.
_SHOWN_ELSEWHERE = frozenset({"type", "title", "status", "applies_to", "relations", "ignore"})
_FIELDS = [one.name for one in FIELDS if one.name not in _SHOWN_ELSEWHERE and hasattr(Entry, one.name)]


class SitePages(Struct, frozen=True, dict=True):
    """The files of a site.

    `name` is printed above each page. `live` is a hash of the state of the memory if the pages are served, else empty.
    `base` is the revision for the page about a change, if there is one.
    """

    facts: SiteFacts
    name: str
    live: str = ""
    base: str | None = None

    @cached_property
    def files(self) -> Mapping[str, Callable[[], str]]:
        """Return, for the path of each file, a function that renders the file."""
        facts, pages = self.facts, dict[str, Callable[[], str]]()

        def add(path: str, template: str, title: str, context: Callable[[], Mapping[str, Any]]) -> None:
            def render() -> str:
                page = self._templates.get_template(template)
                return page.render(up=up_from(path), here=path, title=title, **context())

            pages[path] = render

        add("index.html", "start.html", "Current rules", self._start)
        add("all.html", "all.html", "All entries", dict)
        add("lineage.html", "lineage.html", "Lineage", self._lineage)
        add("timeline.html", "timeline.html", "Timeline", dict)
        add("code.html", "code.html", "Rules for code", partial(code_context, facts))
        add("board.html", "board.html", "Board", partial(board_context, facts))
        if self.base is not None:
            add("diff.html", "diff.html", "This change", partial(change_context, facts, self.base))
        for wing in facts.wings:
            add(page_of_wing(wing.name), "wing.html", wing.name, partial(dict, wing=wing))
        for entry in facts.entries:
            page = page_of(entry.address)
            add(page, "entry.html", entry.title, partial(self._entry, entry, page))
        data = (("assets/search.js", _search), ("assets/rules.js", _rules), ("entries.json", _entries))
        pages |= {path: partial(render, facts) for path, render in data}
        pages["feed.xml"] = self._templates.get_template("feed.xml").render
        assets = files("mdmem.site") / "assets"
        return pages | {f"assets/{one}": partial((assets / one).read_text, encoding="utf-8") for one in _ASSETS}

    @cached_property
    def _templates(self) -> Environment:
        environment = Environment(
            loader=PackageLoader("mdmem.site"),
            autoescape=True,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
            # Invisible and control characters are made visible in each text; HTML is escaped afterwards.
            finalize=lambda value: visible(value) if type(value) is str else value,
        )
        environment.filters |= {"code": with_code, "day": day_of, "reason": shown_reason}
        menu = _MENU if self.base is None else (*_MENU, ("diff.html", "This change"))
        shared = {"name": self.name, "live": self.live, "menu": menu, "facts": self.facts, "rows": self.facts.rows}
        environment.globals |= {"count": count, "entries": entries, "link_to_room": link_to_room, **shared}
        environment.globals["page_of_wing"] = lambda wing: quote(page_of_wing(wing))
        environment.globals["macros"] = environment.get_template("macros.html").module
        return environment

    def _start(self) -> Mapping[str, Any]:
        facts = self.facts
        newest = max((some[0] for some in facts.commits.values()), key=lambda one: one.when, default=None)
        counted = Counter((row.entry.type, row.state) for row in facts.rows.values())
        return {
            "table": [(kind.value, [counted[kind, state] for state in BoxState]) for kind in EntryType],
            "states": list(BoxState),
            "most": _MAX_DECISIONS,
            "events": facts.events[:_RECENT_EVENTS],
            "stamp": f"As of {newest.when[:10]}, commit {newest.digest}. " if newest is not None else "",
        }

    def _lineage(self) -> Mapping[str, Any]:
        facts = self.facts
        graph = facts.relations.graph(today=facts.workspace.today)
        drawn = {node.entry.address for node in graph.nodes}
        others = [group for group in facts.relations.groups if drawn.isdisjoint(group)]
        return {
            "picture": self._picture(graph, "lineage.html") if graph.nodes else None,
            "others": [facts.rows[group[-1]] for group in others[:_MAX_GROUPS]],
            "number": len(others),
        }

    def _entry(self, entry: Entry, page: str) -> Mapping[str, Any]:
        facts, address, up = self.facts, entry.address, up_from(page)
        lineage, row = facts.catalog.lineage, facts.rows[entry.address]
        heads = [one for one in lineage.heads(address) if one != address]
        # A stated reason explains only the direct successor, not a later one in the chain.
        is_one_step = {*heads} <= {*lineage.successors.get(address, ())}

        def href(other: str) -> str | None:
            return up + facts.rows[other].page if other in facts.rows else None

        fields = []
        for name in _FIELDS:
            if value := getattr(entry, name):
                texts, is_link = value if isinstance(value, tuple) else (value,), name in LINK_FIELDS
                fields.append((name.replace("_", " "), [(str(one), href(one) if is_link else None) for one in texts]))
        members = lineage.chain(address)
        at = members.index(address)
        file = f"{facts.workspace.location.prefix}{entry.path}"
        url = (facts.workspace.settings.files_url or "").rstrip("/")
        views = (("File", "blob"), ("Edit", "edit"), ("Blame", "blame")) if url else ()
        picture = None
        if address in facts.relations.arrows:
            picture = self._picture(facts.relations.graph((address,), today=facts.workspace.today), page)
        return {
            "row": row,
            "superseded_by": heads if not row.is_current else [],
            "why_ended": shown_reason(facts.why_ended(entry)) if is_one_step and not row.is_current else "",
            "unreplaced": UNREPLACED,
            "body": render_markdown(without_title(facts.bodies.get(address, ""), entry.title), href, source=address),
            "fields": fields,
            "most_files": _MAX_FILES,
            "chain": members[max(0, at - _MAX_CHAIN) : at + _MAX_CHAIN + 1] if len(members) > 1 else (),
            "most_commits": _MAX_COMMITS,
            "file": file,
            # Links to a host such as GitHub, if the setting `site.files_url` is set.
            "file_links": [(label, f"{url.replace('{view}', view)}/{quote(file)}") for label, view in views],
            "picture": picture,
        }

    def _picture(self, graph: LineageGraph, page: str) -> Markup:
        # `lineage_svg` escapes all texts.
        up = up_from(page)
        return Markup(lineage_svg(graph, href=lambda one: up + self.facts.rows[one].page))


# The most characters of the excerpt that is shown below a search result, and of a title.
_EXCERPT, _TITLE = 600, 200
_WORD = re.compile(r"[^\W_]{2,40}")
_SIGNS = re.compile(r"^[ \t]*(?:#+|[-*+>]|\|?[-|: ]+\|)(?=\s)|\]\([^)\s]*\)|[*`|\[\]]+", re.MULTILINE)


def _script(function: str, value: object) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # A page that is opened from disk may load scripts, but no JSON files.
    escaped = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"{function}({escaped});\n"


def _search(facts: SiteFacts) -> str:
    """Return title, page, type, state, successor, excerpt and other words of each entry, as a script for the search."""
    numbers = {entry.address: number for number, entry in enumerate(facts.entries)}
    found: list[list[object]] = []
    for entry in facts.entries:
        row = facts.rows[entry.address]
        heads = () if row.is_current else facts.catalog.lineage.heads(entry.address)
        body = without_title(facts.bodies.get(entry.address, ""), entry.title)
        # One line without Markdown markup.
        excerpt = visible(" ".join(_SIGNS.sub(" ", body[: 2 * _EXCERPT]).split()))[:_EXCERPT]
        words = dict.fromkeys(_WORD.findall(body.casefold())).keys() - set(_WORD.findall(excerpt.casefold()))
        head = numbers[heads[0]] if heads and heads[0] != entry.address else None
        title, page = visible(entry.title[:_TITLE]), page_of(entry.address)
        found.append([title, page, entry.type, row.state, head, excerpt, " ".join(sorted(words))])
    return _script("mdmemSearch", found)


def _rules(facts: SiteFacts) -> str:
    """Return the script with page, type, title, globs and amendments of the current entries that apply to some code."""
    found, entries = [], facts.catalog.entries
    for entry in facts.current:
        if entry.applies_to:
            amended = [visible(entries[one].title[:_TITLE]) for one in facts.rows[entry.address].amended_by]
            globs = [script_pattern(glob) for glob in entry.applies_to]
            found.append([page_of(entry.address), entry.type.value, visible(entry.title[:_TITLE]), globs, amended])
    return _script("mdmemRules", found)


def _entries(facts: SiteFacts) -> str:
    """Return all entries as JSON with one line for each entry, so that a diff shows the changed entries."""
    entries = (
        {
            "address": entry.address,
            "type": entry.type.value,
            "status": entry.status.value,
            "state": facts.rows[entry.address].state,
            "title": entry.title,
            "created_at": entry.created_at.isoformat() if entry.created_at else None,
            "owner": entry.owner,
            "applies_to": list(entry.applies_to),
            "heads": list(facts.catalog.lineage.heads(entry.address)),
            "page": page_of(entry.address),
        }
        for entry in sorted(facts.entries, key=lambda one: one.address)
    )
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, default=str) for one in entries)
    return f'{{"schema": 1, "entries": [\n{lines}\n]}}\n'


_MAX_DEPTH, _MAX_FOLDERS, _MAX_RULES, _MAX_LINES = 4, 400, 20, 200


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
    if len(shown) > _MAX_FOLDERS:
        shown = [folder for folder in shown if folder.count("/") < 2 or folder in applied][:_MAX_FOLDERS]
    folders = [
        {"path": one, "files": files[one], "covered": len(covered[one]), "rules": list(applied[one].values())}
        for one in shown
    ]
    examples = (paths[0] for paths in matched.values() if paths)
    return {
        "number": len(facts.tracked),
        "covered": len({path for paths in matched.values() for path in paths}),
        "example": next(examples, None) or next(iter(facts.tracked), "folder/file"),
        "folders": folders,
        "most": _MAX_RULES,
        "named": facts.rows_of(one for one in rules if matched.get(one.address)),
        "idle": facts.rows_of(one for one in rules if one.applies_to and not matched[one.address]),
        "everywhere": facts.rows_of(one for one in rules if not one.applies_to),
    }


def _folders_above(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1][:_MAX_DEPTH]
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
            "They still apply, but somebody doubts them.",
        ),
        (
            "Overdue",
            [entries[one] for one in overdue if one in entries],
            "`mdmem verify` records that they are still true.",
        ),
    )
    pairs = contradictions_among(facts.catalog, frozenset(entry.address for entry in facts.current))
    return {
        "groups": [group for group in groups if group[1]],
        "pairs": [(one.a, one.b) for one in pairs if one.a in entries and one.b in entries],
        "most": _MAX_LINES,
    }


_TAGS: Mapping[Kind, str] = {"code": "code", "added": "ins", "removed": "del", "strong": "strong", "dim": "small"}
_CODE_IN_TEXT = re.compile("`([^`]+)`")


def change_context(facts: SiteFacts, base: str) -> Mapping[str, Any]:
    """Return the template context of the page about a change, with the same content as `mdmem diff`."""

    def marked(kind: Kind, text: str) -> str:
        """Return a part of the page as HTML; the address of an entry becomes a link."""
        shown = escape(visible(text), quote=False)
        if kind not in ("code", "added", "removed"):
            shown = _CODE_IN_TEXT.sub(r"<code>\1</code>", shown)
        if kind in _TAGS:
            shown = f"<{_TAGS[kind]}>{shown}</{_TAGS[kind]}>"
        if kind == "code" and text in facts.rows:
            return f'<a href="{escape(facts.rows[text].page)}">{shown}</a>'
        return shown

    review = review_change(facts.workspace, ReviewRequest(base=base))
    return {
        "headline": headline(review),
        "sections": [
            (title, [(min(level, 4), Markup(line)) for level, line in lines])
            for title, lines in sections(review, marked)
        ],
    }
