"""Render the results of `mdmem log`, `recent`, `blame` and `why`, which explain the history of entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdmem.change.history import ChainLink, LogReport, WhyReport
from mdmem.model.entry import day_of
from mdmem.model.lineage import branch_state_json
from mdmem.model.text import first_of, visible
from mdmem.record import record_json
from mdmem.render.text import Style, count, one_line, shorten
from mdmem.store.git.history import Commit

_CUT = "the clone is shallow and has no older history; `git fetch --unshallow` fetches it"
_COMMIT = ("commit", "when", "author", "email", "subject")
_MAX_ADDRESSES = 8
_BELOW = "\n    "


def log_text(log: LogReport, style: Style) -> str:
    """Return a line for each commit of an entry, newest first, with its changes below."""
    lines = ["on disk: uncommitted"] if log.branch_state is not None and log.branch_state.mark == "uncommitted" else []
    for step in log.steps:
        one = step.change
        lines.append(f"{style.bold(one.when[:10])} {one.short} {visible(one.author)}: {visible(one.subject)}")
        lines += [f"    {visible(line)}" for line in step.lines]
    return "\n".join([*lines, *([style.dim(_CUT)] if log.is_cut else [])])


def log_json(log: LogReport) -> dict[str, Any]:
    """Return the commits of an entry as JSON values, newest first."""
    commits = [
        {
            **record_json(step.change, *_COMMIT, "path"),
            **({"moved_from": step.change.moved_from} if step.change.moved_from else {}),
            "changes": step.lines,
        }
        for step in log.steps
    ]
    return {"address": log.address, "commits": commits, "cut_off": log.is_cut, **branch_state_json(log.branch_state)}


def recent_text(changes: Sequence[Commit], style: Style) -> str:
    """Return a line for each recent commit, newest first, with the entries that it changed below."""
    lines = []
    for one in changes:
        lines.append(f"{style.bold(one.when[:10])} {one.digest[:10]} {visible(one.author)}: {visible(one.subject)}")
        lines.append(f"    {first_of([*map(visible, one.paths)], _MAX_ADDRESSES, _BELOW)}")
    return "\n".join(lines)


def blame_text(blame: LogReport, style: Style) -> str:
    """Return a line for each field and the body, with the day, commit and author that last set it."""
    lines = []
    for one in blame.fields:
        value = shorten(one.value, 60)
        by = f"{one.change.when[:10]} {one.change.short} {visible(one.change.author)}" if one.change else "uncommitted"
        lines.append(f"{by}  {style.bold(one.name)}{f': {value}' if value else ''}")
    return "\n".join([*lines, *([style.dim(_CUT)] if blame.is_cut else [])])


def blame_json(blame: LogReport) -> dict[str, Any]:
    """Return the fields and the body as in the file, each with the commit that last set it (`set_by`, or None)."""
    fields = [
        {**record_json(one, "name", "value"), "set_by": record_json(one.change, *_COMMIT) if one.change else None}
        for one in blame.fields
    ]
    return {"address": blame.address, "fields": fields, "cut_off": blame.is_cut}


def why_text(explained: WhyReport, style: Style) -> str:
    """Return the chain of supersessions from the oldest to the newest entry, and the related entries."""
    if explained.contradictory:
        ends = [f"{explained.address} is in a cycle of supersessions, so it is unknown which entry is current."]
    elif explained.unread:
        ends = [f"{', '.join(explained.unread)} cannot be read, so the current entry is unknown."]
    elif explained.address in explained.heads:
        ends = [f"{explained.address} is current."]
    elif explained.draft:
        newer = f", and superseded by {', '.join(explained.heads)}" if explained.heads else " until it is active"
        ends = [f"{explained.address} is a draft without effect{newer}."]
    elif explained.heads:
        ends = [f"Current instead: {', '.join(explained.heads)}."]
    else:
        ends = [] if explained.others else ["No entry in this chain is current."]
        for one in explained.others:
            state = "current" if one.is_current else one.entry.status.replace("_", " ")
            why = f": {one_line(one.entry.reason)}" if one.entry.reason else "."
            ends.append(f"{one.old} was superseded by {one.entry.address} ({state}){why}")
    related = (
        ("A draft would supersede it", explained.drafts),
        ("Superseded by a one-sided link of", explained.claimed_by),
        ("It amends", explained.amends),
        ("Amended by", explained.amended_by),
        ("It overrides", explained.overrides),
        ("Overridden by", explained.overridden_by),
        ("In conflict with", explained.conflicts),
    )
    ends += [f"{text}: {', '.join(addresses)}." for text, addresses in related if addresses]
    return "\n\n".join([*(_chain_link(link, explained, style) for link in explained.chain), "\n".join(ends)])


def _chain_link(link: ChainLink, explained: WhyReport, style: Style) -> str:
    entry = link.entry
    pointer = "→" if entry.address == explained.address else " "
    state = "current" if link.current else entry.status.replace("_", " ")
    lines = [f"{pointer} {style.bold(f'[{entry.type}] {entry.address}')} ({state})", f"    {one_line(entry.title)}"]
    stated = (("since", entry.created_at), ("verified", entry.verified_at), ("until", entry.deprecated_at))
    days = ", ".join(f"{word} {day_of(moment)}" for word, moment in stated if moment is not None)
    lines += [f"    {days}"] if days else []
    files = {one.entry.address: one.entry for one in explained.chain}
    for old in link.replaced:
        is_one_sided = old in files and entry.address not in files[old].superseded_by
        lines.append(f"    supersedes {old}{', which does not link back' if is_one_sided else ''}")
    lines += [f"    has `supersedes: {old}`, which does not link back" for old in link.claims]
    why = (("reason", entry.reason), ("deprecated", entry.deprecated_reason), ("approved by", entry.approved_by))
    lines += [f"    {word}: {one_line(text)}" for word, text in why if text]
    for one in link.commits[:3]:
        lines.append(f"    {one.digest} {one.when[:10]} {one_line(one.author)}: {one_line(one.subject)}")
    if len(link.commits) > 3:
        lines.append(style.dim(f"    and {count(len(link.commits) - 3, 'earlier commit')}"))
    return "\n".join(lines)


def why_json(explained: WhyReport) -> dict[str, Any]:
    """Return the answer of `mdmem why` as JSON values; its chain begins with the oldest entry."""
    chain = [
        {
            **record_json(link.entry, "address", "type", "status", "title"),
            **record_json(link, "current", "entry.created_at", "entry.deprecated_at", "claims", supersedes="replaced"),
            **record_json(link.entry, "reason", "deprecated_reason", "approved_by"),
            "commits": [record_json(one, "author", "when", "subject", commit="digest") for one in link.commits],
        }
        for link in explained.chain
    ]
    return {
        **record_json(explained, "address", "heads", "contradictory"),
        "chain": chain,
        **record_json(explained, "drafts", "claimed_by", "amends", "amended_by"),
        **record_json(explained, "overrides", "overridden_by", "conflicts"),
        "other_successors": [
            record_json(one, "entry.address", "entry.title", "entry.reason", superseded="old", current="is_current")
            for one in explained.others
        ],
    }
