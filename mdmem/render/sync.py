"""What a sync did, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mdmem.change.fetch_wings import FetchedWing, FetchWingsResult
from mdmem.change.sync import Course, SyncResult
from mdmem.model.entry import visible
from mdmem.model.finding import Finding
from mdmem.render.ink import Ink
from mdmem.render.json import dump
from mdmem.render.words import count

_SHOWN = 10


def synced_text(synced: SyncResult) -> str:
    """Return what went to and fro in one line."""
    at = f"{synced.branch} and {synced.upstream} are at {synced.commit[:10]}"
    if synced.course is Course.NOTHING and not synced.pulled:
        return f"nothing to do: {at}"
    moved = [f"pulled {count(synced.pulled, 'commit')}"] if synced.pulled else []
    moved += [f"pushed {count(synced.pushed, 'commit')}"] if synced.pushed else []
    tries = f" (at attempt {synced.attempts})" if synced.attempts > 1 else ""
    return f"{', '.join(moved) or 'brought together'}{tries}: {at}"


def sync_remarks(synced: SyncResult) -> Iterator[str]:
    """Yield what else is to be said about a sync."""
    if synced.faults:
        fails = "finding that fails" if synced.faults == 1 else "findings that fail"
        yield f"the memory has {synced.faults} {fails} a check; `mdmem check` shows more"
    if synced.uncommitted:
        listed = ", ".join(map(visible, synced.uncommitted[:_SHOWN]))
        more = f" and {len(synced.uncommitted) - _SHOWN} more" if len(synced.uncommitted) > _SHOWN else ""
        yield f"not committed, and so only here: {listed}{more}"


def synced_json(synced: SyncResult) -> str:
    """Return what went to and fro as one JSON document."""
    return dump(
        {
            "branch": synced.branch,
            "upstream": synced.upstream,
            "commit": synced.commit,
            "pulled": synced.pulled,
            "pushed": synced.pushed,
            "attempts": synced.attempts,
            "faults": synced.faults,
            "uncommitted": list(synced.uncommitted),
        }
    )


def wings_text(fetched: FetchWingsResult, ink: Ink) -> str:
    """Return what became of each wing, and the findings that came with them."""
    lines = [line for wing in fetched.wings for line in _lines(wing, ink)]
    lines += [_finding(one) for one in fetched.faults[:_SHOWN]]
    if len(fetched.faults) > _SHOWN:
        lines.append(f"... and {len(fetched.faults) - _SHOWN} more; `mdmem check` shows them")
    if fetched.commit is not None:
        lines.append(f"committed as {fetched.commit[:10]}")
    return "\n".join(lines)


def _lines(wing: FetchedWing, ink: Ink) -> Iterator[str]:
    head = f"{ink.bold(wing.name)}  {visible(wing.git)} {visible(wing.ref)}"
    if wing.fault is not None:
        yield f"{head}: {visible(wing.fault)}"
        if wing.asked is not None and wing.commit is not None:
            yield f"  still {wing.commit[:10]}, last asked for on {wing.asked}"
    elif wing.commit == wing.before:
        yield f"{head}: at {(wing.commit or '')[:10]}"
    else:
        yield f"{head}: {wing.before[:10] if wing.before else 'not fetched'} → {(wing.commit or '')[:10]}"
        yield f"  {_counted(wing)}"


def _counted(wing: FetchedWing) -> str:
    counts = wing.counts
    entries = f"{count(counts.new, 'new entry', 'new entries')}, {counts.changed} changed, {counts.gone} gone"
    return f"{entries}; in force {counts.in_force_before} → {counts.in_force}"


def _finding(finding: Finding) -> str:
    place = finding.place
    return f"  {visible(place.path)}:{place.line}: {finding.severity} {finding.code} {visible(finding.message)}"


def wings_json(fetched: FetchWingsResult) -> str:
    """Return what became of the wings as one JSON document."""
    return dump(
        {
            "wings": [_wing_json(wing) for wing in fetched.wings],
            "faults": [
                {"path": one.place.path, "line": one.place.line, "code": one.code, "message": one.message}
                for one in fetched.faults
            ],
            "commit": fetched.commit,
        }
    )


def _wing_json(wing: FetchedWing) -> dict[str, Any]:
    counts = wing.counts
    return {
        "name": wing.name,
        "git": wing.git,
        "ref": wing.ref,
        "before": wing.before,
        "commit": wing.commit,
        "new": counts.new,
        "changed": counts.changed,
        "gone": counts.gone,
        "in_force_before": counts.in_force_before,
        "in_force": counts.in_force,
        "asked": wing.asked,
        "fault": wing.fault,
    }
