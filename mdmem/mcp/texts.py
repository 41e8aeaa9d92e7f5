"""The texts of tools that no contract fixes.

Each line of an entry stands behind `>` or within a line of ours: what an entry says is never read as part of what the
server says, and the text may be cut between any two lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mdmem.ask.entries import ShownEntry
from mdmem.ask.question import Hit, SearchResult
from mdmem.model.text import visible
from mdmem.render.entries import search_text, standing
from mdmem.render.ink import Ink

Facts = Mapping[str, Any]
_TOLD = ("type", "title", "status")


def hits_text(result: SearchResult, *, limit: int, snippet_of: Callable[[Hit], str]) -> str:
    """Return the hits of a search, or that there are none; then the words that nothing holds."""
    found = search_text(result, limit=limit, snippet_of=snippet_of, ink=Ink(), more="raise `limit` to see them")
    nothing = [] if result.hits else ["No entry in force matches."]
    unmatched = result.basis.unmatched_terms
    holds = [f"No entry searched holds {', '.join(map(_line, unmatched))}."] if unmatched else []
    return "\n\n".join(part for part in (found, *nothing, *holds) if part)


def entries_text(shown: Iterable[ShownEntry]) -> str:
    """Return entries in full, each below a heading with how it stands."""
    return "\n\n".join(map(_entry, shown))


def _entry(one: ShownEntry) -> str:
    entry = one.entry
    stated = [f"{name}: {_value(value)}" for name, value in one.front_matter.items() if name not in _TOLD]
    lines = [f"`{entry.address}` ({_line(standing(one))})", *stated]
    return "\n\n".join([f"### {entry.type}: {_line(entry.title)}", "\n".join(lines), quoted(one.body)]).rstrip()


def findings_text(facts: Facts) -> str:
    """Return findings, a line each with what to do about it below, and how many files were read."""
    findings = facts.get("findings", [])
    blocks = [_finding(one) for one in findings]
    counts = {level: sum(one["severity"] == level for one in findings) for level in ("error", "warning", "info")}
    told = ", ".join(f"{count} {level}" for level, count in counts.items() if count) or "nothing wrong"
    unread = facts.get("incomplete")
    older = f"; {facts['old']} older, not told" if facts.get("old") else ""
    blocks.append(f"{told} in {facts.get('checked', 0)} files{older}.")
    blocks += [f"Could not be read: {', '.join(map(_line, unread))}."] if unread else []
    return "\n\n".join([*blocks, *map(_line, facts.get("at", ()))])


def _finding(one: Facts) -> str:
    new = " (new)" if one.get("new") else ""
    head = f"{one['severity']} {one['code']} {_line(one['path'])}:{one['line']}{new}: {_line(one['message'])}"
    other = one.get("other")
    help_line = f"  {_line(one['help'])}" if one.get("help") else ""
    other_line = f"  other end: {_line(other['path'])}:{other['line']}" if other else ""
    return "\n".join(line for line in (head, other_line, help_line) if line)


def quoted(text: str) -> str:
    """Return a text with each of its lines behind `>`."""
    # What other programs take for the end of a line is one here, too.
    lines = re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text.strip("\n"))
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{_line(str(name))} {_value(inner)}" for name, inner in value.items())
    return _line(str(value))


def _line(text: str) -> str:
    """Return a text on one line that acts on nothing."""
    return visible(" ".join(text.split()))
