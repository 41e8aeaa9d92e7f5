"""What the site holds besides pages: titles to search, a script of the globs, a feed, the entries as data, a badge."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from urllib.parse import quote

from mdmem.model.text import visible
from mdmem.site.code_map import script_rules
from mdmem.site.facts import SiteFacts
from mdmem.site.links import page_of

_FEED_EVENTS = 60


def attachments(facts: SiteFacts, name: str) -> Mapping[str, Callable[[], str]]:
    """Return what makes each file but those of the search's terms, by its path."""
    return {
        "index/titles.js": lambda: f"mdmemTitles({_json(_titles(facts))});\n",
        "assets/rules.js": lambda: _rules(facts),
        "feed.xml": lambda: _feed(facts, name),
        "entries.json": lambda: _data(facts),
        "badge.svg": lambda: _badge(sum(facts.is_current(one) and one.type.is_rule for one in facts.entries)),
    }


def _rules(facts: SiteFacts) -> str:
    # As `mdmem retrieve --path` answers: rules, and also patterns and notes.
    named = [entry for entry in facts.entries if entry.applies_to and facts.is_current(entry)]
    return f"window.mdmemRuleList={_json(script_rules(named))};\n"


def _json(value: object) -> str:
    """Return JSON that may stand in a script."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _titles(facts: SiteFacts) -> list[list[object]]:
    """Return title, page, type, state of each entry, and what replaced it: its title and its number."""
    numbers = {entry.address: number for number, entry in enumerate(facts.entries)}
    found: list[list[object]] = []
    for entry in facts.entries:
        state = facts.state(entry)
        row: list[object] = [visible(entry.title[:200]), page_of(entry.address), entry.type.value, state]
        heads = [one for one in facts.catalog.lineage.heads(entry.address) if one != entry.address]
        if state == "ended" and heads:
            row += [visible(facts.catalog.entries[heads[0]].title[:200]), numbers[heads[0]]]
        found.append(row)
    return found


def _data(facts: SiteFacts) -> str:
    """Return the entries as JSON, each on a line of its own: what did not change stays the same line."""
    entries = (
        {
            "address": entry.address,
            "type": entry.type.value,
            "status": entry.status.value,
            "state": facts.state(entry),
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


def _feed(facts: SiteFacts, name: str) -> str:
    events = facts.events[:_FEED_EVENTS]
    newest = events[0].day.isoformat() if events else "1970-01-01"
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{_text(name)}: what binds</title><id>urn:mdmem:{_text(name)}</id>",
        f"<updated>{newest}T00:00:00Z</updated>",
    ]
    for event in events:
        entry = facts.catalog.entries[event.address]
        parts += [
            f"<entry><title>{_text(event.what)}: {_text(entry.title)}</title>",
            f"<id>urn:mdmem:{_text(event.address)}:{event.what}</id>",
            f"<author><name>{_text(entry.owner or name)}</name></author>",
            f"<updated>{event.day.isoformat()}T00:00:00Z</updated>",
            f'<link href="{escape(quote(page_of(event.address)))}"/>',
            f"<summary>{_text(event.reason)}</summary></entry>",
        ]
    return "\n".join([*parts, "</feed>", ""])


def _text(text: str) -> str:
    return escape(visible(text), quote=False)


def _badge(number: int) -> str:
    said = f"{number} rules in force"
    width = 62 + 7 * len(said)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="memory: {said}">'
        f'<rect width="58" height="20" fill="#3b4754"/><rect x="58" width="{width - 58}" height="20" fill="#1f5f99"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="6" y="14">memory</text><text x="65" y="14">{said}</text></g></svg>\n'
    )
