"""Who answers for entries of a hub and what depends on them, as text and JSON."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from mdmem.render.characters import one_line
from mdmem.render.hub_answers import LINEAGE_CUT, ages_text, begun_remark, pins_json, reach_facts, repositories_json
from mdmem.render.json import dump

if TYPE_CHECKING:
    from mdmem.hub.origins import WingOrigin
    from mdmem.hub.owners import OwnedEntry, WhoReport
    from mdmem.render.ink import Ink


def who_json(report: WhoReport, *, now: datetime | None) -> str:
    """Return owners and dependents of entries."""
    entries = [_owned_json(one) for one in report.entries]
    shown = [one.origin for one in report.entries] + [by.origin for one in report.entries for by in one.dependents]
    reach = {} if report.reach is None else reach_facts(report.reach)
    reach |= {"lineage_cut": True} if report.is_cut else {}
    return dump({"query": report.query, "entries": entries, **reach, "repositories": repositories_json(shown, now)})


def _owned_json(one: OwnedEntry) -> dict[str, Any]:
    return {
        "address": one.address,
        **_where(one.origin, one.address),
        "type": one.stated.type,
        "status": one.stated.status,
        "title": one.stated.title,
        "owner": one.stated.owner,
        "wing_owners": list(one.wing_owners),
        "dependents": [
            {
                "address": by.address,
                **_where(by.origin, by.address),
                "field": by.linking.field,
                "type": by.linking.type,
                "status": by.linking.status,
                "title": by.linking.title,
                "owner": by.linking.owner,
            }
            for by in one.dependents
        ],
        **pins_json(one.pinned_by),
    }


def _where(origin: WingOrigin, address: str) -> dict[str, str]:
    inner = f"{address.partition('/')[2]}.md"
    return {"repository": origin.repository, "commit": origin.commit, "path": origin.path(inner)}


def who_text(report: WhoReport, *, ink: Ink, now: datetime | None) -> str:
    """Return owners and dependents of entries, a block each."""
    blocks = [_owned_text(one, ink) for one in report.entries]
    ages = ages_text((one.origin for one in report.entries), now)
    return "\n\n".join([*blocks, *([ink.dim(ages)] if ages else [])])


def who_remarks(report: WhoReport) -> list[str]:
    """Return what is to be said of how many entries match words, where these are not all."""
    reach, told = report.reach, len(report.entries)
    if reach is None:
        return []
    said = f"{'' if reach.is_all else 'more than '}{reach.matches} match: told of are the {told} that match best"
    hint = "; an address, or `search`, leads to the others"
    more = [said + hint] if reach.matches > told else []
    return [*begun_remark(reach), *more, *([LINEAGE_CUT] if report.is_cut else [])]


def _owned_text(one: OwnedEntry, ink: Ink) -> str:
    owners = [*([one.stated.owner] if one.stated.owner else []), *(f"{name} (wing)" for name in one.wing_owners)]
    lines = [
        one.stated.title,
        f"owners: {', '.join(owners) or 'nobody is named'}",
    ]
    lines += [f"{by.linking.field} of {by.origin.name}:{by.address} ({by.linking.status})" for by in one.dependents]
    lines += [f"pinned by {pin.repository} at {pin.commit[:10]}" for pin in one.pinned_by]
    lines += [] if one.dependents or one.pinned_by else ["nothing links it"]
    head = ink.bold(one_line(f"[{one.stated.type}] {one.origin.name}:{one.address}"))
    return "\n  ".join([head, *map(one_line, lines)])
