"""Results of the hub's commands as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from mdmem.hub.grants import Grant
from mdmem.hub.push import PushResult, Succession
from mdmem.hub.search import HubEntry, HubSearchResult, OwnedEntry, Pin, WhoReport, iter_repositories
from mdmem.hub.verify import HubReport, RepositoryState, VerifyReport
from mdmem.render.ink import Ink
from mdmem.render.json import record_json
from mdmem.render.text import count, entries, first_of, one_line

_LISTED = 5


def push_text(result: PushResult) -> str:
    """Return the result of a push."""
    name, had = result.repository, (result.before or "")[:10]
    if result.succession is Succession.OLDER:
        return f"{name}: the hub is at {had} already, which is newer than {result.pushed[:10]}; nothing was sent"
    if result.is_unchanged:
        return f"{name}: the hub is at {had} already"
    changes = [(result.added, "added"), (result.changed, "changed"), (result.removed, "removed")]
    counted = [(number, word) for number, word in changes if number]
    # The first figure names the unit. Not every file is an entry.
    parts = [f"{number if place else count(number, 'file')} {word}" for place, (number, word) in enumerate(counted)]
    parts = parts or ["no file changed"]
    if result.pins:
        parts.append(f"{count(result.pins, 'pin')} changed")
    since = f" (was {had})" if had and had != result.commit[:10] else ""
    return f"{name}: the hub is at {result.commit[:10]} now{since}: {', '.join(parts)}"


def kept_remarks(result: PushResult) -> list[str]:
    """Return a sentence if pinned wings were not sent again."""
    kept = ", ".join(f"`{name}`" for name in result.kept)
    why = "other repositories read it, too, so that only the hub's owner sends it again"
    return [f"pinned {kept} stays as it was: {why}"] if kept else []


def push_json(result: PushResult) -> dict[str, Any]:
    """Return the result of a push."""
    return {
        **record_json(result, "repository", "commit", "before", "pushed", "succession"),
        "unchanged": result.is_unchanged,
        **record_json(result, "added", "changed", "removed", "pins", "kept", "missing"),
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
    return record_json(report, "version", "repositories", "bytes")


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
    findings = [record_json(one, "code", "message", "help", path="place.path") for one in report.findings]
    return {**record_json(report, "repository", "commit", "checked", "missing"), "findings": findings}


def grants_text(grants: Sequence[Grant]) -> str:
    """Return a line for each token or role."""
    lines = []
    for grant in grants:
        pushes = [one.place for one in grant.permissions if one.may_push]
        reads = [one.place for one in grant.permissions if not one.may_push]
        parts = [f"{verb} {', '.join(places)}" for verb, places in (("pushes", pushes), ("reads", reads)) if places]
        who = "you" if grant.name is None else f"{grant.name} ({_kind(grant)})"
        lines.append(f"{who}: {'; '.join(parts) or 'nothing'}")
    return "\n".join(lines)


def _kind(grant: Grant) -> str | None:
    if grant.name is None:
        return None
    return "role" if grant.is_role else "token"


def grants_json(grants: Sequence[Grant]) -> dict[str, Any]:
    """Return the permissions of tokens and roles."""
    return {"grants": [{"name": one.name, "kind": _kind(one), "sees": one.permissions} for one in grants]}


def hub_search_json(result: HubSearchResult) -> dict[str, Any]:
    """Return the hits of a search."""
    hits = [
        {
            **_entry_json(hit.entry),
            "wing": hit.entry.wing,
            "room": hit.entry.path.partition("/")[0],
            **record_json(hit, "score", "snippet"),
            **_pins_json(hit.entry.pins),
        }
        for hit in result.hits
    ]
    return {
        **record_json(result, "query", "matches", total="matches", begun="beginnings"),
        "hits": hits,
        "at_least": not result.is_all,
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
        "entries": [
            {
                **_entry_json(one.entry),
                **record_json(one.entry, "owner", "wing_owners"),
                "dependents": [
                    {**_entry_json(by.entry), "field": by.field, "owner": by.entry.owner} for by in one.dependents
                ],
                **_pins_json(one.pinned_by),
            }
            for one in report.entries
        ],
        **found,
        "repositories": _repositories_json(shown),
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
    return record_json(one, "address", "repository", "commit", "type", "status", "title", path="file")


def _pins_json(pins: Iterable[Pin]) -> dict[str, Any]:
    found = [record_json(one, "repository", "commit") for one in pins]
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
    return f"copy of {first_of(copies, _LISTED, '; ')}" if copies else ""


def _moment(one: HubEntry) -> datetime:
    assert one.pushed_at is not None
    return one.pushed_at.astimezone(UTC)
