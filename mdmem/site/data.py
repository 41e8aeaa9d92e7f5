"""The files of the site that are no pages: the search, the globs for the path box, a feed, the entries, a badge."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from jinja2 import Environment

from mdmem.model.globs import script_pattern
from mdmem.model.text import visible
from mdmem.render.text import count
from mdmem.site.facts import SiteFacts, without_title
from mdmem.site.paths import page_of

_FEED_EVENTS = 60
# Of each text so much is shown below a hit; the words beyond it are searched as well.
_EXCERPT, _TITLE = 600, 200
_WORD = re.compile(r"[^\W_]{2,40}")
_SIGNS = re.compile(r"^[ \t]*(?:#+|[-*+>]|\|?[-|: ]+\|)(?=\s)|\]\([^)\s]*\)|[*`|\[\]]+", re.MULTILINE)


def data_files(facts: SiteFacts, templates: Environment) -> Mapping[str, Callable[[], str]]:
    """Return the function that makes each file, by its path."""
    number = count(sum(entry.type.is_rule for entry in facts.current), "current rule")
    return {
        "assets/search.js": partial(_search, facts),
        "assets/rules.js": partial(_rules, facts),
        "entries.json": partial(_entries, facts),
        "feed.xml": partial(_render, templates, "feed.xml", events=facts.events[:_FEED_EVENTS], facts=facts),
        "badge.svg": partial(_render, templates, "badge.svg", number=number),
    }


def _render(templates: Environment, template: str, **context: Any) -> str:
    return templates.get_template(template).render(**context)


def _script(function: str, value: object) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # A page that is opened as a file may load a script, and no JSON.
    escaped = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"{function}({escaped});\n"


def _search(facts: SiteFacts) -> str:
    """Return title, page, type, state, number of the current successor, excerpt and further words of each entry."""
    numbers = {entry.address: number for number, entry in enumerate(facts.entries)}
    found: list[list[object]] = []
    for entry in facts.entries:
        row = facts.rows[entry.address]
        heads = () if row.is_current else facts.catalog.lineage.heads(entry.address)
        body = without_title(facts.bodies.get(entry.address, ""), entry.title)
        excerpt = plain_text(body[: 2 * _EXCERPT])[:_EXCERPT]
        words = dict.fromkeys(_WORD.findall(body.casefold())).keys() - set(_WORD.findall(excerpt.casefold()))
        head = numbers[heads[0]] if heads and heads[0] != entry.address else None
        page = page_of(entry.address)
        found.append([visible(entry.title[:_TITLE]), page, row.type, row.state, head, excerpt, " ".join(sorted(words))])
    return _script("mdmemSearch", found)


def plain_text(body: str) -> str:
    """Return a body in one line without the signs of Markdown."""
    return visible(" ".join(_SIGNS.sub(" ", body).split()))


def _rules(facts: SiteFacts) -> str:
    """Return page, type, title, globs and amendments of the current entries that apply to some code."""
    found = []
    for entry in facts.current:
        if entry.applies_to:
            amended = [
                visible(facts.catalog.entries[one].title[:_TITLE]) for one in facts.rows[entry.address].amended_by
            ]
            globs = [script_pattern(glob) for glob in entry.applies_to]
            found.append([page_of(entry.address), entry.type.value, visible(entry.title[:_TITLE]), globs, amended])
    return _script("mdmemRules", found)


def _entries(facts: SiteFacts) -> str:
    """Return the entries as JSON, one a line, so that an unchanged entry stays the same line."""
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
