"""Results of the hub's commands as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import asdict

from mdmem.hub.connection import SchemaResult
from mdmem.hub.grants import Grant
from mdmem.hub.push import PushResult, Succession
from mdmem.hub.search import HubEntry, HubSearchResult, OwnedEntry, Pin, WhoReport, iter_repositories
from mdmem.hub.verify import HubReport, RepositoryState, VerifyReport
from mdmem.render.ink import Ink
from mdmem.render.json import record_json
from mdmem.render.text import count, entries, one_line

_LISTED = 5


def schema_text(result: SchemaResult) -> str:
    """Return the version of the hub's tables."""
    word = "already" if result.before == result.after else "now"
    return f"the hub's tables are {word} of version {result.after}"


def schema_json(result: SchemaResult) -> dict[str, Any]:
    """Return the version of the hub's tables before, 0 for none, and now."""
    return {"before": result.before, "version": result.after}


def push_text(result: PushResult) -> str:
    """Return the result of a push."""
    name, had, done = result.repository, (result.before or "")[:10], result.transferred
    if result.succession is Succession.OLDER:
        return f"{name}: the hub is at {had} already, which is newer than {result.pushed[:10]}; nothing was sent"
    if result.is_unchanged:
        return f"{name}: the hub is at {had} already"
    changes = [(done.added, "added"), (done.changed, "changed"), (done.removed, "removed")]
    counted = [(number, word) for number, word in changes if number]
    # The first figure names the unit. Not every file is an entry.
    parts = [f"{number if place else count(number, 'file')} {word}" for place, (number, word) in enumerate(counted)]
    parts = parts or ["no file changed"]
    if done.pins:
        parts.append(f"{count(done.pins, 'pin')} changed")
    since = f" (was {had})" if had and had != result.commit[:10] else ""
    return f"{name}: the hub is at {result.commit[:10]} now{since}: {', '.join(parts)}"


def kept_remarks(result: PushResult) -> list[str]:
    """Return a sentence if pinned wings were not sent again."""
    kept = ", ".join(f"`{name}`" for name in result.transferred.kept)
    why = "other repositories read it, too, so that only the hub's owner sends it again"
    return [f"pinned {kept} stays as it was: {why}"] if kept else []


def push_json(result: PushResult) -> dict[str, Any]:
    """Return the result of a push."""
    return {
        **record_json(result, "repository", "commit", "before", "pushed", "succession"),
        "unchanged": result.is_unchanged,
        **record_json(result.transferred, "added", "changed", "removed", "pins", "kept"),
        **record_json(result, "missing"),
    }


def status_text(report: HubReport) -> str:
    """Return a line for each repository, and the size of the hub."""
    lines = [_repository_line(one) for one in report.repositories] or ["the hub has no repository that you may see"]
    size = f", {report.bytes / 1_000_000:.1f} MB" if report.bytes is not None else ""
    number = entries(sum(one.entries for one in report.repositories))
    repositories = count(len(report.repositories), "repository", "repositories")
    lines.append(f"{repositories}, {number}{size}, tables of version {report.version}")
    return "\n".join(lines)


def _repository_line(one: RepositoryState) -> str:
    if one.commit is None or one.age_seconds is None:
        return f"{one.name}  nothing was pushed yet"
    parts = [entries(one.entries)]
    parts += [f"pins {', '.join(one.pins)}"] if one.pins else []
    parts += [f"was {', '.join(one.former_names)}"] if one.former_names else []
    parts += [] if one.is_ours else ["sent by another mdmem"]
    return one_line(f"{one.name}  {one.commit[:10]}, pushed {age_text(one.age_seconds)} ago: {'; '.join(parts)}")


def age_text(seconds: int) -> str:
    """Return an age in the largest unit of which it has two."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}s"
    return f"{seconds} s"


def status_json(report: HubReport) -> dict[str, Any]:
    """Return the repositories of the hub and its size."""
    repositories = [
        {key: value.isoformat() if isinstance(value, datetime) else value for key, value in asdict(one).items()}
        for one in report.repositories
    ]
    return {"version": report.version, "repositories": repositories, "bytes": report.bytes}


def verify_text(report: VerifyReport) -> str:
    """Return the differences, a line each."""
    checked = f"{count(report.checked, 'file')} of {report.repository}"
    if not report.findings:
        return f"{checked} are in the hub as {report.commit[:10]} has them"
    lines = [f"{one.place.path}: {one.code} {one.message}" for one in report.findings]
    helps = sorted({one.help for one in report.findings})
    compared = f"{checked} compared at {report.commit[:10]}, {count(len(lines), 'finding')}; {'; '.join(helps)}"
    return "\n".join([*lines, compared])


def verify_json(report: VerifyReport) -> dict[str, Any]:
    """Return the differences."""
    findings = [
        {"code": one.code, "path": one.place.path, "message": one.message, "help": one.help} for one in report.findings
    ]
    return {
        **record_json(report, "repository", "commit", "checked"),
        "findings": findings,
        **record_json(report, "missing"),
    }


def grants_text(grants: Sequence[Grant]) -> str:
    """Return a line for each token or role."""
    return "\n".join(map(_grant_line, grants))


def _grant_line(grant: Grant) -> str:
    pushes = [one.place for one in grant.permissions if one.may_push]
    reads = [one.place for one in grant.permissions if not one.may_push]
    parts = [f"{verb} {', '.join(places)}" for verb, places in (("pushes", pushes), ("reads", reads)) if places]
    who = "you" if grant.name is None else f"{grant.name} ({_kind(grant)})"
    return f"{who}: {'; '.join(parts) or 'nothing'}"


def _kind(grant: Grant) -> str:
    return "role" if grant.is_role else "token"


def grants_json(grants: Sequence[Grant]) -> dict[str, Any]:
    """Return the permissions of tokens and roles."""
    return {"grants": [_grant_json(one) for one in grants]}


def _grant_json(grant: Grant) -> dict[str, Any]:
    sees = [{"repository": one.repository, "wing": one.wing, "may_push": one.may_push} for one in grant.permissions]
    return {"name": grant.name, "kind": None if grant.name is None else _kind(grant), "sees": sees}


def hub_search_json(result: HubSearchResult) -> dict[str, Any]:
    """Return the hits of a search."""
    hits = [
        {
            **_entry_json(hit.entry),
            "wing": hit.entry.wing,
            "room": hit.entry.path.partition("/")[0],
            "score": hit.score,
            "snippet": hit.snippet,
            **_pins_json(hit.entry.pins),
        }
        for hit in result.hits
    ]
    return {
        "query": result.query,
        "total": result.matches,
        "hits": hits,
        "matches": result.matches,
        "at_least": not result.is_all,
        "begun": list(result.beginnings),
        "source": "hub",
        "repositories": _repositories_json(hit.entry for hit in result.hits),
    }


def hub_search_text(result: HubSearchResult, *, ink: Ink) -> str:
    """Return the hits of a search, each with its repository and a snippet."""
    blocks = []
    for hit in result.hits:
        one = hit.entry
        status = "" if one.status == "active" else f" ({one.status.replace('_', ' ')})"
        head = ink.bold(one_line(f"[{one.type}] {one.repository}:{one.address}")) + one_line(status)
        lines = [head, f"  {one_line(one.title)}", *([ink.dim(f"  {hit.snippet}")] if hit.snippet else [])]
        blocks.append("\n".join(lines))
    copies = _copies_text(hit.entry for hit in result.hits)
    return "\n\n".join([*blocks, *([ink.dim(copies)] if copies else [])])


def search_remarks(result: HubSearchResult) -> list[str]:
    """Return sentences on words without a match, and on entries that were not ranked."""
    remarks = []
    if result.beginnings:
        remarks.append(f"no entry has {', '.join(result.beginnings)}; shown are entries with words that begin so")
    if not result.hits:
        remarks.append("nothing found in the repositories that you may read")
    if not result.is_all:
        remarks.append(
            f"at least {result.matches} match: those with most of the rare words were ranked; narrow it down"
        )
    elif result.matches > len(result.hits):
        remarks.append(f"{result.matches} match; a higher limit shows more")
    return remarks


def who_json(report: WhoReport) -> dict[str, Any]:
    """Return owners and dependents of entries."""
    found = {} if report.matches is None else {"matches": report.matches, "at_least": not report.is_all}
    shown = [one.entry for one in report.entries] + [by.entry for one in report.entries for by in one.dependents]
    return {
        "query": report.query,
        "entries": [_owned_json(one) for one in report.entries],
        **found,
        "repositories": _repositories_json(shown),
    }


def _owned_json(one: OwnedEntry) -> dict[str, Any]:
    dependents = [{**_entry_json(by.entry), "field": by.field, "owner": by.entry.owner} for by in one.dependents]
    return {
        **_entry_json(one.entry),
        "owner": one.entry.owner,
        "wing_owners": list(one.entry.wing_owners),
        "dependents": dependents,
        **_pins_json(one.pinned_by),
    }


def who_text(report: WhoReport, *, ink: Ink) -> str:
    """Return a block for each entry with its owners and dependents."""
    copies = _copies_text(one.entry for one in report.entries)
    return "\n\n".join([*(_owned_text(one, ink) for one in report.entries), *([ink.dim(copies)] if copies else [])])


def _owned_text(one: OwnedEntry, ink: Ink) -> str:
    entry = one.entry
    owners = [*([entry.owner] if entry.owner else []), *(f"{name} (wing)" for name in entry.wing_owners)]
    lines = [entry.title, f"owners: {', '.join(owners) or 'nobody is named'}"]
    lines += [f"{by.field} of {by.entry.repository}:{by.entry.address} ({by.entry.status})" for by in one.dependents]
    lines += [f"pinned by {pin.repository} at {pin.commit[:10]}" for pin in one.pinned_by]
    lines += [] if one.dependents or one.pinned_by else ["nothing links it"]
    head = ink.bold(one_line(f"[{entry.type}] {entry.repository}:{entry.address}"))
    return "\n  ".join([head, *map(one_line, lines)])


def who_remarks(report: WhoReport) -> list[str]:
    """Return a sentence if more entries match than are shown."""
    shown = len(report.entries)
    if report.matches is None or report.matches <= shown:
        return []
    number = f"{'' if report.is_all else 'at least '}{report.matches}"
    return [f"{number} match, of which the best {shown} are shown; an address, or `hub search`, leads to the others"]


def _entry_json(one: HubEntry) -> dict[str, Any]:
    return {
        **record_json(one, "address", "repository", "commit"),
        "path": one.file,
        **record_json(one, "type", "status", "title"),
    }


def _pins_json(pins: Iterable[Pin]) -> dict[str, Any]:
    found = [{"repository": one.repository, "commit": one.commit} for one in pins]
    return {"pins": found} if found else {}


def _repositories_json(shown: Iterable[HubEntry]) -> list[dict[str, Any]]:
    return [
        {"repository": one.repository, "commit": one.commit, "pushed_at": _moment(one).isoformat(timespec="seconds")}
        for one in iter_repositories(shown)
    ]


def _copies_text(shown: Iterable[HubEntry]) -> str:
    """Return the commits from which repositories are shown, and when they were pushed."""
    copies = [
        one_line(f"{one.repository} {one.commit[:10]}, pushed {_moment(one):%Y-%m-%d %H:%M} UTC")
        for one in iter_repositories(shown)
    ]
    more = f"; and {len(copies) - _LISTED} more" if len(copies) > _LISTED else ""
    return f"copy of {'; '.join(copies[:_LISTED])}{more}" if copies else ""


def _moment(one: HubEntry) -> datetime:
    assert one.pushed_at is not None
    return one.pushed_at.astimezone(UTC)
