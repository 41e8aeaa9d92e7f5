"""What the commands that keep a hub did, and who sees what of it, as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from mdmem.hub.push import Succession
from mdmem.render.characters import one_line
from mdmem.render.json import dump
from mdmem.render.words import count, entries

if TYPE_CHECKING:
    from mdmem.hub.connection import SchemaResult
    from mdmem.hub.permissions import Grant
    from mdmem.hub.push import PushResult
    from mdmem.hub.repositories import HubRepository, RenameResult
    from mdmem.hub.verify import HubReport, RepositoryState, VerifyReport


def schema_text(result: SchemaResult) -> str:
    """Return which version the hub's tables have now."""
    word = "already" if result.before == result.after else "now"
    return f"the hub's tables are {word} of version {result.after}"


def schema_json(result: SchemaResult) -> str:
    """Return the version that the hub's tables had, 0 where there were none, and have."""
    return dump({"before": result.before, "version": result.after})


def push_text(result: PushResult) -> str:
    """Return what became of a push."""
    name, had, brought = result.repository, (result.before or "")[:10], result.brought
    if result.succession is Succession.OLDER:
        return f"{name}: the hub is at {had} already, which came later than {result.pushed[:10]}; nothing was sent"
    if result.is_unchanged:
        return f"{name}: the hub is at {had} already"
    changes = (("added", brought.added), ("changed", brought.changed), ("removed", brought.removed))
    counted = [(number, word) for word, number in changes if number]
    # What is counted stands with the first: not every file is an entry.
    said = [f"{number if place else count(number, 'file')} {word}" for place, (number, word) in enumerate(counted)]
    said = said or ["no file changed"]
    if brought.pins:
        said.append(f"{count(brought.pins, 'pin')} changed")
    since = f" (was {had})" if had and had != result.commit[:10] else ""
    return f"{name}: the hub is at {result.commit[:10]} now{since}: {', '.join(said)}"


def kept_remarks(result: PushResult) -> list[str]:
    """Return a sentence where pinned wings were not written anew."""
    kept = ", ".join(f"`{name}`" for name in result.brought.kept)
    why = "other repositories read it, too, so that only the hub's owner writes it anew"
    return [f"pinned {kept} stays as it was: {why}"] if kept else []


def push_json(result: PushResult) -> str:
    """Return what became of a push."""
    brought = result.brought
    return dump(
        {
            "repository": result.repository,
            "commit": result.commit,
            "before": result.before,
            "pushed": result.pushed,
            "succession": result.succession,
            "unchanged": result.is_unchanged,
            "added": brought.added,
            "changed": brought.changed,
            "removed": brought.removed,
            "pins": brought.pins,
            "kept": list(brought.kept),
            "missing": list(result.missing),
        }
    )


def status_text(report: HubReport) -> str:
    """Return a line for each repository, and how much the hub is in all."""
    lines = [_repository_line(one) for one in report.repositories] or ["the hub has no repository that you may see"]
    size = f", {report.bytes / 1_000_000:.1f} MB" if report.bytes is not None else ""
    number = entries(sum(one.entries for one in report.repositories))
    repositories = count(len(report.repositories), "repository", "repositories")
    lines.append(f"{repositories}, {number}{size}, tables of version {report.version}")
    return "\n".join(lines)


def _repository_line(one: RepositoryState) -> str:
    if one.commit is None or one.age_seconds is None:
        return f"{one.name}  nothing was pushed yet"
    said = [entries(one.entries)]
    said += [f"pins {', '.join(one.pins)}"] if one.pins else []
    said += [f"was {', '.join(one.former_names)}"] if one.former_names else []
    said += [] if one.is_ours else ["packed by another mdmem"]
    return one_line(f"{one.name}  {one.commit[:10]}, pushed {age_text(one.age_seconds)} ago: {'; '.join(said)}")


def age_text(seconds: int) -> str:
    """Return how old something is, in the largest unit of which it has two."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}s"
    return f"{seconds} s"


def status_json(report: HubReport) -> str:
    """Return what the hub has."""
    rows = [asdict(one) for one in report.repositories]
    repositories = [
        {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()} for row in rows
    ]
    return dump({"version": report.version, "repositories": repositories, "bytes": report.bytes})


def verify_text(report: VerifyReport) -> str:
    """Return what differs, a line each."""
    checked = f"{count(report.checked, 'file')} of {report.repository}"
    if not report.findings:
        return f"{checked} are in the hub as {report.commit[:10]} has them"
    lines = [f"{one.place.path}: {one.code} {one.message}" for one in report.findings]
    helps = sorted({one.help for one in report.findings})
    return "\n".join(
        [*lines, f"{checked} compared at {report.commit[:10]}, {count(len(lines), 'finding')}; {'; '.join(helps)}"]
    )


def verify_json(report: VerifyReport) -> str:
    """Return what differs."""
    findings = [
        {"code": one.code, "path": one.place.path, "message": one.message, "help": one.help} for one in report.findings
    ]
    return dump(
        {
            "repository": report.repository,
            "commit": report.commit,
            "checked": report.checked,
            "findings": findings,
            "missing": list(report.missing),
        }
    )


def rename_text(result: RenameResult) -> str:
    """Return what a repository is called now."""
    if result.before == result.name:
        return f"{result.name} is called so already"
    return f"{result.before} is {result.name} now; the old name goes on working"


def rename_json(result: RenameResult) -> str:
    """Return the names that a repository had and has."""
    return dump({"before": result.before, "repository": result.name})


def forget_text(forgotten: HubRepository) -> str:
    """Return what is in the hub no more."""
    return f"the hub has nothing of {forgotten.name} any more; `mdmem hub push` sends it again"


def grants_text(grants: Sequence[Grant]) -> str:
    """Return one line for each who sees something, or could."""
    return "\n".join(map(_grant_line, grants))


def grants_json(grants: Sequence[Grant]) -> str:
    """Return who sees and pushes what."""
    return dump({"grants": [_grant_json(one) for one in grants]})


def new_token_text(text: str, name: str) -> str:
    """Return a token's text on a line of its own, and how it is used."""
    return f"{text}\n{name}: it is shown this once; whoever holds it sets it as MDMEM_HUB_TOKEN"


def new_token_json(text: str, name: str) -> str:
    """Return a token's text and name."""
    return dump({"token": text, "name": name})


def _grant_line(grant: Grant) -> str:
    said = [
        f"{verb} {', '.join(places)}"
        for verb, places in (
            ("pushes", [one.place for one in grant.permissions if one.may_push]),
            ("reads", [one.place for one in grant.permissions if not one.may_push]),
        )
        if places
    ]
    who = "you" if grant.name is None else f"{grant.name} ({_kind(grant)})"
    return f"{who}: {'; '.join(said) or 'nothing'}"


def _kind(grant: Grant) -> str:
    return "role" if grant.is_role else "token"


def _grant_json(grant: Grant) -> dict[str, Any]:
    sees = [{"repository": one.repository, "wing": one.wing, "may_push": one.may_push} for one in grant.permissions]
    return {"name": grant.name, "kind": None if grant.name is None else _kind(grant), "sees": sees}


def forget_json(forgotten: HubRepository) -> str:
    """Return what is in the hub no more, with the commit that it was at."""
    return dump({"repository": forgotten.name, "commit": forgotten.commit})
