"""Render the results of the hub (a database of the entries of many repositories) as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Any

from mdmem.hub.push import PushResult, Succession, VerifyReport
from mdmem.hub.repositories import Grant, HubReport
from mdmem.hub.search import HubEntry, HubResult
from mdmem.model.text import first_of
from mdmem.record import record_json
from mdmem.render.text import Style, count, entries, one_line

_LISTED = 5
# The keys of every entry in JSON.
_ENTRY = ("address", "repository", "commit", "type", "status", "title")


def push_text(result: PushResult) -> str:
    """Return the result of a push as one line."""
    name, had, now = result.repository, (result.before or "")[:10], result.commit[:10]
    if result.succession is Succession.OLDER:
        return f"{name}: the hub is at {had} already, which is newer than {result.pushed[:10]}; nothing was sent"
    if result.is_unchanged:
        return f"{name}: the hub is at {had} already"
    changes = ((result.added, "added"), (result.changed, "changed"), (result.removed, "removed"))
    # The unit is files, since not every file is an entry.
    parts = [f"{count(number, 'file')} {word}" for number, word in changes if number]
    parts += [f"{count(result.pins, 'pin')} changed"] if result.pins else []
    return f"{name}: the hub is at {now} now: {', '.join(parts) or 'no file changed'}"


def status_text(report: HubReport) -> str:
    """Return a line for each repository, and the size of the hub."""
    lines = [] if report.repositories else ["the hub has no repository that you may see"]
    for one in report.repositories:
        if one.commit is None or one.age_seconds is None:
            lines.append(f"{one.name}  nothing was pushed yet")
            continue
        days, hours = divmod(one.age_seconds // 3_600, 24)
        ago = count(days, "day") if days else count(hours, "hour")
        parts = [f"{one.name}  {one.commit[:10]}, pushed {ago} ago: {entries(one.entries)}"]
        parts += [f"pins {', '.join(one.pins)}"] if one.pins else []
        parts += [f"was {', '.join(one.former_names)}"] if one.former_names else []
        parts += [] if one.is_ours else ["sent by another version of mdmem"]
        lines.append(one_line("; ".join(parts)))
    size = f", {report.bytes / 1_000_000:.1f} MB" if report.bytes is not None else ""
    total = f"{entries(sum(one.entries for one in report.repositories))}{size}, tables of version {report.version}"
    return "\n".join([*lines, f"{count(len(report.repositories), 'repository', 'repositories')}, {total}"])


def verify_text(report: VerifyReport) -> str:
    """Return one line for each difference between the hub and the repository, and one with the number of files."""
    lines = [f"{one.place.path}: {one.code} {one.message}" for one in report.findings]
    compared = f"{count(report.checked, 'file')} of {report.repository} compared at {report.commit[:10]}"
    helps = sorted({one.help for one in report.findings})
    return "\n".join([*lines, "; ".join([f"{compared}, {count(len(lines), 'finding')}", *helps])])


def grants_text(grants: Sequence[Grant]) -> str:
    """Return a line for each token or role, with the repositories that it may read or push."""
    lines = []
    for grant in grants:
        pushes = [one.place for one in grant.permissions if one.may_push]
        reads = [one.place for one in grant.permissions if not one.may_push]
        parts = [f"{verb} {', '.join(places)}" for verb, places in (("pushes", pushes), ("reads", reads)) if places]
        who = "you" if grant.name is None else f"{grant.name} ({'role' if grant.is_role else 'token'})"
        lines.append(f"{who}: {'; '.join(parts) or 'nothing'}")
    return "\n".join(lines)


def hub_search_json(result: HubResult) -> dict[str, Any]:
    """Return the results of a search as JSON values."""
    hits = [
        {
            **record_json(one, *_ENTRY, "wing", path="file"),
            "room": one.path.partition("/")[0],
            **record_json(one, "score", "snippet"),
            **_pins(one),
        }
        for one in result.entries
    ]
    return {
        **record_json(result, "query", "matches", total="matches", begun="beginnings"),
        "hits": hits,
        "at_least": not result.is_all,
        "source": "hub",
        "repositories": _copies(result.entries),
    }


def hub_search_text(result: HubResult, style: Style) -> str:
    """Return the results of a search, each with its repository and a snippet."""
    blocks = []
    for one in result.entries:
        status = "" if one.status == "active" else f" ({one.status.replace('_', ' ')})"
        lines = [_head(one, style) + one_line(status), f"  {one_line(one.title)}"]
        blocks.append("\n".join([*lines, *([style.dim(f"  {one.snippet}")] if one.snippet else [])]))
    return "\n\n".join([*blocks, *_copies_text(result, style)])


def search_remarks(result: HubResult) -> list[str]:
    """Return remarks about words without a match, and about results that are not shown."""
    remarks = [] if result.entries else ["nothing found in the repositories that you may read"]
    if result.beginnings:
        remarks.append(f"no entry has {', '.join(result.beginnings)}; these entries have words that begin with it")
    if not result.is_all:
        remarks.append(f"at least {result.matches} match: those with most of the rare words were ranked")
    elif (result.matches or 0) > len(result.entries):
        remarks.append(f"{result.matches} match; a higher limit shows more")
    return remarks


def who_json(report: HubResult) -> dict[str, Any]:
    """Return entries with their owners and with the entries that link to them (dependents) as JSON values."""
    shown = [
        {
            **record_json(one, *_ENTRY, "owner", "wing_owners", path="file"),
            "dependents": [record_json(by, *_ENTRY, "field", "owner", path="file") for by in one.dependents],
            **_pins(one),
        }
        for one in report.entries
    ]
    found = {} if report.matches is None else {"matches": report.matches, "at_least": not report.is_all}
    mentioned = [*report.entries, *(by for one in report.entries for by in one.dependents)]
    return {"query": report.query, "entries": shown, **found, "repositories": _copies(mentioned)}


def who_text(report: HubResult, style: Style) -> str:
    """Return a block for each entry: its owners, the entries that link to it, and the repositories that pin it."""
    blocks = []
    for one in report.entries:
        owners = [*([one.owner] if one.owner else []), *(f"{name} (wing)" for name in one.wing_owners)]
        lines = [one.title, f"owners: {', '.join(owners) or 'nobody is named'}"]
        lines += [f"{by.field} of {by.repository}:{by.address} ({by.status})" for by in one.dependents]
        lines += [f"pinned by {pin.repository} at {pin.commit[:10]}" for pin in one.pins]
        lines += [] if one.dependents or one.pins else ["nothing links to it"]
        blocks.append("\n  ".join([_head(one, style), *map(one_line, lines)]))
    return "\n\n".join([*blocks, *_copies_text(report, style)])


def who_remarks(report: HubResult) -> list[str]:
    """Return a sentence if more entries match than are shown."""
    shown, number = len(report.entries), f"{'' if report.is_all else 'at least '}{report.matches}"
    is_cut = report.matches is not None and report.matches > shown
    return [f"{number} match, of which the best {shown} are shown; `hub search` shows more"] if is_cut else []


def _head(one: HubEntry, style: Style) -> str:
    return style.bold(one_line(f"[{one.type}] {one.repository}:{one.address}"))


def _pins(one: HubEntry) -> dict[str, Any]:
    return {"pins": [record_json(pin, "repository", "commit") for pin in one.pins]} if one.pins else {}


def _copies(shown: Iterable[HubEntry]) -> list[dict[str, Any]]:
    """Return the repositories of some entries, each with its commit in the hub and the time of the push (UTC)."""
    found = {}
    for one in shown:
        if one.pushed_at is not None:
            pushed_at = one.pushed_at.astimezone(UTC).isoformat(timespec="seconds")
            found[one.repository] = {"repository": one.repository, "commit": one.commit, "pushed_at": pushed_at}
    return [found[name] for name in sorted(found)]


def _copies_text(result: HubResult, style: Style) -> list[str]:
    copies = [f"{one['repository']} {one['commit'][:10]}, pushed {one['pushed_at']}" for one in _copies(result.entries)]
    return [style.dim(f"copy of {first_of([*map(one_line, copies)], _LISTED, '; ')}")] if copies else []
