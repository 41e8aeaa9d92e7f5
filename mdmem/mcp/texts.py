"""The texts of the tools that no contract fixes, from the values of their structure.

Each line of an entry stands behind `>` or within a line of ours: what an entry says is never read as part of what the
server says, and the text may be cut between any two lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mdmem.mcp.answers import as_text

Facts = Mapping[str, Any]
_TOLD = ("type", "title", "status")


def hits_text(facts: Facts) -> str:
    """Return the hits of a search, a line each with its passage below; or why there are none."""
    if "hits" not in facts and "message" in facts:
        return as_text(facts)
    unmatched = facts.get("unmatched_terms")
    hits = facts.get("hits", [])
    blocks = [*_problems(facts), *map(_hit, hits)]
    if not hits:
        blocks.append("No entry in force matches.")
    if unmatched:
        blocks.append(f"No entry holds {', '.join(map(_line, unmatched))}.")
    if facts.get("degraded"):
        blocks.append("Degraded: this comes from the files, not from the index.")
    if facts.get("total", 0) > len(hits):
        blocks.append(f"{facts['total'] - len(hits)} more: raise `limit`.")
    return "\n\n".join([*blocks, *_remarks(facts)])


def _hit(hit: Facts) -> str:
    address, heads = hit["address"], hit.get("heads", ())
    marks = [hit["status"].replace("_", " ")] if "status" in hit else []
    marks += [f"replaced by {', '.join(heads)}"] if heads and address not in heads else []
    marks += [f"replaces {', '.join(hit['via'])}, which matched"] if hit.get("via") else []
    head = f"[{hit['type']}] {address}{_marks([*marks, *_standing(hit)])}: {_line(hit['title'])}"
    return "\n".join([head, *([f"> {_line(hit['snippet'])}"] if hit.get("snippet") else [])])


def entries_text(facts: Facts) -> str:
    """Return entries in full, each below a heading with how it stands."""
    return "\n\n".join([*map(_entry, facts.get("entries", [])), *_remarks(facts)])


def _entry(entry: Facts) -> str:
    fields = entry["front_matter"]
    heads = entry.get("heads", ())
    standing = "in force" if entry.get("current", True) else "not in force"
    status = str(fields.get("status", "")).replace("_", " ")
    marks = [standing, *([status] if status not in ("", "active") else [])]
    marks += [f"replaced by {', '.join(heads)}"] if heads and entry["address"] not in heads else []
    stated = [f"{name}: {_value(value)}" for name, value in fields.items() if name not in _TOLD and value is not None]
    head = f"### {_line(str(fields.get('type', 'entry')))}: {_line(str(fields.get('title') or entry['address']))}"
    lines = [f"`{entry['address']}`{_marks([*marks, *_standing(entry)])}", *stated]
    return "\n\n".join([head, "\n".join(lines), quoted(entry.get("body", ""))]).rstrip()


def findings_text(facts: Facts) -> str:
    """Return findings, a line each with what to do about it below, and how many files were read."""
    findings = facts.get("findings", [])
    blocks = [_finding(one) for one in findings]
    counts = {level: sum(one["severity"] == level for one in findings) for level in ("error", "warning", "info")}
    told = ", ".join(f"{count} {level}" for level, count in counts.items() if count) or "nothing wrong"
    unread = facts.get("incomplete")
    blocks.append(f"{told} in {facts.get('checked', 0)} files.")
    blocks += [f"Could not be read: {', '.join(map(_line, unread))}."] if unread else []
    return "\n\n".join([*blocks, *_remarks(facts)])


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


def _problems(facts: Facts) -> Iterator[str]:
    problems = facts.get("problems")
    if problems:
        lines = [f"- {_line(one['path'])}: {_line(one['message'])} ({one['code']})" for one in problems]
        yield "\n".join(["These files cannot be read in full, and may bind:", *lines])


def _remarks(facts: Facts) -> list[str]:
    return [_line(remark) for remark in facts.get("at", ())]


def _standing(one: Facts) -> list[str]:
    by = one.get("proposed_by")
    mark = f"proposed by {_line(by['author'])} in {by['commit']}" if by else one.get("standing", "")
    return [text for text in (mark, _line(one.get("standing_note", ""))) if text]


def _marks(marks: Iterable[str]) -> str:
    told = ", ".join(marks)
    return f" ({told})" if told else ""


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{_line(str(name))} {_value(inner)}" for name, inner in value.items())
    return _line(str(value))


def _line(text: str) -> str:
    """Return a text on one line that acts on nothing."""
    from mdmem.entry.model import visible

    return visible(" ".join(text.split()))
