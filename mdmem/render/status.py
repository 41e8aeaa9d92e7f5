"""How a memory stands, as text."""

from __future__ import annotations

from mdmem.change.status import StatusReport
from mdmem.render.ink import Ink
from mdmem.render.words import count, entries

# So many rules that reached nobody are named; JSON names all.
_NAMED = 3


def status_text(report: StatusReport, ink: Ink) -> str:
    """Return the standing of a memory in a few lines."""
    lines = [f"root     {ink.bold(str(report.root))} ({report.why})", f"tree     {report.tree}"]
    width = max((len(wing.name) for wing in report.wings), default=0)
    for wing in report.wings:
        types = ", ".join(count(number, kind) for kind, number in sorted(wing.types.items()))
        statuses = ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in sorted(wing.statuses.items()))
        active = " (active)" if wing.name == report.active_wing else ""
        broken = f"; {count(wing.broken, 'file')} unreadable" if wing.broken else ""
        held = f"{types or 'no entries'}; {statuses or 'empty'}{broken}"
        lines.append(f"wing     {wing.name:<{width}}  {wing.kind}{active}: {held}")
    lines += [
        f"from     {one.name:<{width}}  {one.git} at {one.commit[:10]}, last asked for on {one.asked}"
        for one in report.borrowed
    ]
    lines += [
        f"index    {_index(report)}",
        f"findings {_findings(report)}",
        f"hygiene  {_hygiene(report)}",
        *([f"agents   {_agents(report)}"] if report.told.times else []),
        *([f"merged   {_merged(report)}"] if report.merged else []),
        *(f"note     {remark}" for remark in report.remarks),
    ]
    return "\n".join(lines)


def _index(report: StatusReport) -> str:
    index = report.index
    if not index.exists:
        return f"not built yet; the first question builds it in {index.folder}"
    if not index.usable:
        return f"unusable ({index.why}); the next question rebuilds it"
    total, size = sum(wing.total for wing in report.wings), f"{index.bytes / 1024:.0f} KiB"
    if not index.stale:
        return f"complete: {entries(total)}, {size}"
    # Small numbers of changed files are not worth a write.
    held, rest = max(total - index.stale, 0), "the other" if index.stale == 1 else f"the other {index.stale}"
    return f"{held} of {entries(total)}, {size}; a question adds {rest} from the files"


def _findings(report: StatusReport) -> str:
    found = [count(number, level) for level, number in report.findings.items() if number]
    # A run shows what weighs least only where nothing is left out.
    how = "mdmem check --verbose" if report.findings.get("info") else "mdmem check"
    known = f"; {report.known} in the baseline" if report.known else ""
    return (f"{', '.join(found)}; `{how}` shows them" if found else "none") + known


def _agents(report: StatusReport) -> str:
    """Return how often entries reached agents lately, by which ways, and which rules did not."""
    told, untold = report.told, report.untold
    times = count(sum(told.times.values()), "time")
    ways = ", ".join(f"{way} {number}" for way, number in sorted(told.ways.items()))
    said = f"told {entries(len(told.times))} {times} in 30 days ({ways}), last on {told.last:%Y-%m-%d}"
    if not untold:
        return f"{said}; every rule among them"
    more = f" and {len(untold) - _NAMED} more" if len(untold) > _NAMED else ""
    return f"{said}; never {', '.join(untold[:_NAMED])}{more}"


def _merged(report: StatusReport) -> str:
    number = count(len(report.merged), "decision")
    return f"{number} of agents, not approved; `mdmem approve --merged --dry-run` shows what would put them in force"


def _hygiene(report: StatusReport) -> str:
    last = report.hygiene
    said = f"last on {last.day}" if last.day is not None else "never"
    return f"{said} (due); `mdmem hygiene` shows what needs maintenance" if last.is_due else said
