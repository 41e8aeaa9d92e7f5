"""What needs maintenance as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mdmem.entry.model import visible
from mdmem.finding import Finding
from mdmem.hygiene.model import Groups, Hygiene
from mdmem.render.characters import escape_surrogates
from mdmem.render.ink import Ink
from mdmem.render.json_form import dump
from mdmem.render.markdown_inline import code, prose
from mdmem.render.words import count
from mdmem.workspace.tending import Tended

# Where it no longer holds, every kind of entry ends in one of these two ways.
_ENDING = "`mdmem supersede ADDRESS`, or `mdmem deprecate ADDRESS --reason WHY`"
_HOLDING = f"type `mdmem verify ADDRESS` where it holds, else {_ENDING}"
_FINDINGS = {
    "unverified-since-change": "not verified since the code they apply to changed",
    "link-to-superseded": "citing what is superseded",
    "copy-of-shared": "repeating a shared rule",
    "empty-room": "rooms without an entry",
    "expired": "past the day they were meant to end",
    "review-overdue": "not verified for longer than `review_after_days`",
}


@dataclass(frozen=True, slots=True)
class _Section:
    """One kind of maintenance: what it is, each case with what is said of it, and what to type next."""

    heading: str
    items: tuple[tuple[str, str], ...]
    advice: str


def hygiene_text(tended: Tended, ink: Ink) -> str:
    """Return what needs maintenance by kind, each with what to type next."""
    blocks = [_text_of(section, ink) for section in _sections(tended.hygiene)]
    blocks += [f"recorded in {', '.join(tended.recorded)}"] if tended.recorded else []
    return "\n\n".join(blocks or [_nothing(tended)])


def _nothing(tended: Tended) -> str:
    return "every write completed" if tended.pending_only else "nothing needs maintenance"


def _text_of(section: _Section, ink: Ink) -> str:
    width = max(len(name) for name, said in section.items) if section.advice else 0
    lines = [ink.bold(f"{section.heading} ({len(section.items)})")]
    lines += [f"  {name:<{width}}  {said}" for name, said in section.items]
    return "\n".join([*lines, *([f"  next: {section.advice}"] if section.advice else [])])


def hygiene_markdown(tended: Tended) -> str:
    """Return what needs maintenance as a document."""
    hygiene = tended.hygiene
    about = f" of {code(hygiene.project_id)}" if hygiene.project_id else ""
    blocks = [f"## Hygiene{about} on {hygiene.checked_at}"]
    for section in _sections(hygiene):
        items = "\n".join(f"- {code(name)}: {prose(said)}" for name, said in section.items)
        advice = f"\n\nNext: {prose(section.advice)}." if section.advice else ""
        blocks.append(f"### {prose(section.heading)} ({len(section.items)})\n\n{items}{advice}")
    blocks += [f"{_nothing(tended).capitalize()}."] if hygiene.is_clean else []
    return "\n\n".join([*blocks, *(f"Note: {prose(remark)}." for remark in tended.remarks)])


def hygiene_json(tended: Tended) -> str:
    """Return the contract's keys, the findings beyond it, and remarks about the run."""
    more = {"recorded": list(tended.recorded), "remarks": list(tended.remarks)}
    return escape_surrogates(dump(hygiene_fields(tended.hygiene) | more))


def hygiene_fields(hygiene: Hygiene) -> dict[str, Any]:
    """Return what the contract of `run_hygiene` names, then the groups behind its numbers and the findings."""
    return {
        "project_id": hygiene.project_id,
        "scope": hygiene.scope,
        "duplicates_found": hygiene.duplicates_found,
        "outdated_decisions": len(hygiene.outdated),
        "obsolete_patterns": len(hygiene.obsolete),
        "entity_drift_count": len(hygiene.drifted),
        "unresolved_saves": len(hygiene.unresolved),
        "stale_items": [
            {
                "id": item.id,
                "label": item.label,
                "title": item.title,
                "age_days": item.age_days,
                "freshness": item.freshness.value,
            }
            for item in hygiene.stale_items
        ],
        "candidate_ids": {
            "duplicate_decisions": _flat(hygiene.duplicates),
            "outdated_decisions": list(hygiene.outdated),
            "obsolete_patterns": list(hygiene.obsolete),
            "entity_drift": _flat(hygiene.drifted),
            "unresolved_saves": list(hygiene.unresolved),
        },
        "checked_at": hygiene.checked_at.isoformat(),
        "duplicate_groups": [list(group) for group in hygiene.duplicates],
        "entity_groups": [list(group) for group in hygiene.drifted],
        "findings": [_finding_json(finding) for finding in hygiene.findings],
    }


def _flat(groups: Groups) -> list[str]:
    return sorted(address for group in groups for address in group)


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "address": finding.address,
        "path": finding.place.path,
        "line": finding.place.line,
        "message": finding.message,
        "help": finding.help,
    }


def _sections(hygiene: Hygiene) -> Iterator[_Section]:
    """Yield the kinds that have a case, those of the contract first."""
    ages = {item.id: f"{count(item.age_days, 'day')}, {item.freshness}" for item in hygiene.stale_items}
    decide = "type `mdmem supersede ADDRESS --by KEPT --reason WHY` for each but the one to keep"
    named = (
        ("entries that say nearly the same", _grouped(hygiene, hygiene.duplicates), decide),
        ("decisions neither made nor verified for 180 days", _aged(hygiene, hygiene.outdated, ages), _HOLDING),
        ("patterns not validated for 90 days", _aged(hygiene, hygiene.obsolete, ages), _HOLDING),
        ("entities of one name", _grouped(hygiene, hygiene.drifted), decide),
        ("writes that did not complete", _unnamed(hygiene.unresolved), "type `mdmem pending retry`"),
    )
    yield from (_Section(heading, items, advice) for heading, items, advice in named if items)
    for kind, heading in _FINDINGS.items():
        found = tuple(_told(finding) for finding in hygiene.findings if finding.code == kind)
        if found:
            yield _Section(heading, found, "")


def _grouped(hygiene: Hygiene, groups: Groups) -> tuple[tuple[str, str], ...]:
    several = len(groups) > 1
    return tuple(
        (address, f"{f'{number}: ' if several else ''}{visible(hygiene.titles[address])}")
        for number, group in enumerate(groups, 1)
        for address in group
    )


def _aged(hygiene: Hygiene, addresses: Iterable[str], ages: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((address, f"{visible(hygiene.titles[address])} ({ages[address]})") for address in addresses)


def _unnamed(ids: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((one[:12], "waits to be tried again") for one in ids)


def _told(finding: Finding) -> tuple[str, str]:
    return finding.address or finding.place.path, visible(f"{finding.message}; {finding.help}")
