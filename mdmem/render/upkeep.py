"""Render the state of a memory: status, hooks, sync, fetched wings, hygiene, waiting saves, tokens, the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mdmem.change.hygiene import Groups, HygieneReport
from mdmem.change.status import StatusReport
from mdmem.change.sync import FetchWingsResult, SyncResult
from mdmem.model.entry import NodeLabel
from mdmem.model.text import first_of, visible
from mdmem.record import record_json
from mdmem.render.text import Style, code, count, entries, prose
from mdmem.setup.hooks import Driver, Hook
from mdmem.store.state.local_records import Blocked, PendingWrite
from mdmem.store.state.tokens import BearerToken
from mdmem.write.records import blocked_fields
from mdmem.write.save import WaitingSaves

Cases = list[tuple[str, str]]

# The first characters of the id of a save, which identify it in a command.
ID_LENGTH = 12
_RESOLVING = "repeat the save with `supersedes` or `distinct_from`, or `mdmem save --drop ID`"
# The most rules listed that were never shown to an agent; JSON has all.
_NAMED = 3


def status_text(report: StatusReport, style: Style) -> str:
    """Return the state of a memory in a few lines."""
    lines = [f"root     {style.bold(str(report.root))} ({report.why})", f"tree     {report.tree}"]
    width = max((len(wing.name) for wing in report.wings), default=0)
    for wing in report.wings:
        types = ", ".join(count(number, kind) for kind, number in sorted(wing.types.items()))
        statuses = ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in sorted(wing.statuses.items()))
        active = " (active)" if wing.name == report.active_wing else ""
        broken = f"; {count(wing.broken, 'file')} unreadable" if wing.broken else ""
        content = f"{types or 'no entries'}; {statuses or 'empty'}{broken}"
        lines.append(f"wing     {wing.name:<{width}}  {wing.kind}{active}: {content}")
    lines += [
        f"from     {one.name:<{width}}  {one.git} at {one.commit[:10]}, last fetched on {one.asked}"
        for one in report.borrowed
    ]
    index, total = report.index, sum(wing.total for wing in report.wings)
    if not index.exists:
        state = f"not built yet; the first question builds it in {index.folder}"
    elif not index.usable:
        state = f"unusable ({index.why}); the next question rebuilds it"
    else:
        # The index is not written for a few changed files.
        others = "; a question reads the others from their files" if index.stale else ""
        state = f"{max(total - index.stale, 0)} of {entries(total)}, {index.bytes / 1024:.0f} KiB{others}"
    lines.append(f"index    {state}")
    found = ", ".join(count(number, level) for level, number in report.findings.items() if number)
    way = "mdmem check --verbose" if report.findings.get("info") else "mdmem check"
    known = f"; {report.known} in the baseline" if report.known else ""
    them = "it" if sum(report.findings.values()) == 1 else "them"
    lines.append(f"findings {f'{found}; `{way}` shows {them}' if found else 'none'}{known}")
    last = f"last on {report.hygiene.day}" if report.hygiene.day is not None else "never ran"
    due = " (due); `mdmem hygiene` shows what needs maintenance" if report.hygiene.is_due else ""
    lines.append(f"hygiene  {last}{due}")
    if (shown := report.shown).times:
        never = f"; never shown: {first_of(report.never_shown, _NAMED)}" if report.never_shown else ""
        times = f"{count(sum(shown.times.values()), 'time')} in 30 days, last on {shown.last:%Y-%m-%d}"
        lines.append(f"agents   {entries(len(shown.times))} shown {times}{never}")
    if report.merged:
        merged = f"{count(len(report.merged), 'decision')} of agents, not approved"
        lines.append(f"merged   {merged}; `mdmem approve --merged --dry-run` shows what would change")
    return "\n".join([*lines, *(f"note     {remark}" for remark in report.remarks)])


def steps_text(hooks: Sequence[Hook]) -> str:
    """Return a line for each hook: the change that was made, or why there was none."""
    lines = []
    for hook in hooks:
        lines += [f"removed {hook.shown}.legacy"] if hook.done == "removed legacy" else []
        is_kept = hook.done in ("kept", "removed legacy")
        lines.append(f"{hook.shown} stays as it is: {_state(hook)}" if is_kept else f"{hook.done} {hook.shown}")
    return "\n".join(lines)


def _state(hook: Hook) -> str:
    if hook.framework is None:
        return hook.state.value
    aside = "" if hook.legacy is None else f"; it moved the hook of mdmem to {hook.legacy.name}"
    whether = "mentions" if hook.addition is None else "does not mention"
    return f"run by {hook.framework}, whose configuration {whether} mdmem{aside}"


def driver_text(driver: Driver, done: str) -> str:
    """Return a sentence about the merge driver: the change that was made (`done`), or why there was none."""
    if done not in ("left", "kept"):
        return f"{done} the merge driver for {' and '.join(driver.patterns)}"
    why = driver.state.value if done == "kept" else "`mdmem hooks uninstall --driver-only` removes it"
    return f"the merge driver stays as it is: {why}"


def hooks_text(hooks: Sequence[Hook], driver: Driver | None = None) -> str:
    """Return a line with stage, state and file for each hook, and a line for the merge driver if it is given."""
    rows = [(hook.stage, _state(hook), hook.shown) for hook in hooks]
    rows += [("merge-driver", driver.state.value, driver.shown)] if driver else []
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"{name:<{width}}  {state}  ({shown})" for name, state, shown in rows)


def hooks_json(hooks: Sequence[Hook], driver: Driver | None = None) -> dict[str, Any]:
    """Return all hooks and the merge driver as JSON values."""
    rows = [
        {
            **record_json(hook, "stage", "state", "where", "framework", path="shown"),
            "legacy": f"{hook.shown}.legacy" if hook.legacy else None,
        }
        for hook in hooks
    ]
    merging = record_json(driver, "state", "patterns", path="shown") if driver else None
    return {"hooks": rows, "merge_driver": merging}


_SHOWN = 10


def synced_text(synced: SyncResult) -> str:
    """Return one line with the numbers of pulled and pushed commits."""
    at = f"{synced.branch} and {synced.upstream} are at {synced.commit[:10]}"
    if not (synced.pulled or synced.pushed):
        return f"nothing to do: {at}"
    moved = [f"pulled {count(synced.pulled, 'commit')}"] if synced.pulled else []
    moved += [f"pushed {count(synced.pushed, 'commit')}"] if synced.pushed else []
    return f"{', '.join(moved)}: {at}"


def sync_remarks(synced: SyncResult) -> Iterator[str]:
    """Yield remarks about findings and uncommitted files."""
    if synced.faults:
        them = "it" if synced.faults == 1 else "them"
        yield f"the memory has {count(synced.faults, 'failing finding')}; `mdmem check` shows {them}"
    if synced.uncommitted:
        yield f"not committed, so not pushed: {first_of([*map(visible, synced.uncommitted)], _SHOWN)}"


def wings_text(fetched: FetchWingsResult, style: Style) -> str:
    """Return the result of the fetch for each wing from another repository, and the new findings."""
    lines = []
    for wing in fetched.wings:
        head = f"{style.bold(wing.name)}  {visible(wing.git)} {visible(wing.ref)}"
        commit = (wing.commit or "")[:10]
        if wing.fault is not None:
            lines.append(f"{head}: {visible(wing.fault)}")
            lines += [f"  still {commit}, last fetched on {wing.asked}"] if wing.asked is not None and commit else []
        elif wing.commit == wing.before:
            lines.append(f"{head}: at {commit}")
        else:
            lines.append(f"{head}: {wing.before[:10] if wing.before else 'not fetched'} → {commit}")
            changed = f"{count(wing.new, 'new entry', 'new entries')}, {wing.changed} changed, {wing.gone} gone"
            lines.append(f"  {changed}; current entries {wing.in_force_before} → {wing.in_force}")
    for one in fetched.faults[:_SHOWN]:
        place = f"{visible(one.place.path)}:{one.place.line}"
        lines.append(f"  {place}: {one.severity} {one.code} {visible(one.message)}")
    if len(fetched.faults) > _SHOWN:
        lines.append(f"... and {len(fetched.faults) - _SHOWN} more; `mdmem check` shows them")
    if fetched.commit is not None:
        lines.append(f"committed as {fetched.commit[:10]}")
    return "\n".join(lines)


def wings_json(fetched: FetchWingsResult) -> dict[str, Any]:
    """Return the results for the fetched wings as JSON values."""
    faults = [record_json(one, "code", "message", path="place.path", line="place.line") for one in fetched.faults]
    return {"wings": fetched.wings, "faults": faults, "commit": fetched.commit}


_ENDING = "`mdmem deprecate ADDRESS --reason WHY`"
_STILL_TRUE = (
    "type `mdmem verify ADDRESS` if it is still true, "
    f"else `mdmem supersede ADDRESS --title TITLE --reason WHY`, or {_ENDING}"
)
_ONE_OF_THEM = "type `mdmem supersede ADDRESS --by KEPT --reason WHY` for each but the one to keep"
_LINKING = (
    "type `mdmem supersede ADDRESS --by KEPT --reason WHY`, or write `see: OTHER` to keep both, "
    "or `conflicts_with: OTHER` if they contradict each other"
)
_RELINKING = "type `mdmem check --select link-to-superseded --fix --unsafe-fixes` to link to the current entries"
# The widest column of addresses; a longer address sticks out.
_MAX_WIDTH = 60


def hygiene_text(report: HygieneReport, style: Style, *, limit: int) -> str:
    """Return what needs maintenance, with the command for each kind; `limit` is the most cases of a kind, 0 for all."""
    blocks = [f"## Hygiene on {report.checked_at}"] if style.is_markdown else []
    for heading, items, advice in _kinds(report):
        shown = items[:limit] if limit else items
        cut = [f"and {len(items) - limit} more; --limit 0 shows all"] if len(items) > len(shown) else []
        if style.is_markdown:
            lines = [*(f"{code(name)}: {prose(text)}" for name, text in shown), *cut, f"next: {prose(advice)}"]
            blocks.append("\n- ".join([f"### {prose(heading)} ({len(items)})\n", *lines]))
        else:
            width = min(_MAX_WIDTH, max(len(name) for name, _ in shown))
            lines = [*(f"{name:<{width}}  {text}" for name, text in shown), *cut, f"next: {advice}"]
            blocks.append("\n  ".join([style.bold(f"{heading} ({len(items)})"), *lines]))
    if report.is_clean:
        blocks.append("no write is pending" if report.pending_only else "nothing needs maintenance")
    if report.recorded:
        commit = f", committed as {report.commit[:10]}" if report.commit else ""
        blocks.append(f"recorded in {', '.join(report.recorded)}{commit}")
    return "\n\n".join([*blocks, *(map(prose, report.remarks) if style.is_markdown else ())])


def _kinds(report: HygieneReport) -> Iterator[tuple[str, Cases, str]]:
    """Yield heading, cases and advice of each kind that has cases: writes that may be lost first, old entries last."""

    def grouped(groups: Groups) -> Cases:
        return [(", ".join(group), visible(report.titles[group[0]])) for group in groups]

    def aged(label: NodeLabel) -> Cases:
        old = (one for one in report.stale_items if one.label is label)
        return [(one.id, f"{visible(one.title)} ({count(one.age_days, 'day')}, {one.freshness})") for one in old]

    def found(code: str) -> Cases:
        # An entry may mention a superseded one in several places.
        cases = ((one.address or one.place.path, visible(one.message)) for one in report.findings if one.code == code)
        return list(dict.fromkeys(cases))

    near = [(one.a, f"has {one.share:.0%} of its words in common with {one.b}") for one in report.near]
    kinds = (
        ("writes that did not complete", _waiting(report.unresolved), "type `mdmem save --retry`"),
        ("saves that a similar entry stopped", _stopped(report.blocked), _RESOLVING),
        ("not verified since the code they apply to changed", found("unverified-since-change"), _STILL_TRUE),
        ("near-duplicates", grouped(report.duplicates), _ONE_OF_THEM),
        ("entries that may say the same, or contradict each other", near, _LINKING),
        ("entities with one name", grouped(report.drifted), _ONE_OF_THEM),
        ("references to superseded entries", found("link-to-superseded"), _RELINKING),
        ("past their `expires_at`", found("expired"), f"type {_ENDING}, or write a later `expires_at`"),
        ("decisions not made or verified for 180 days", aged(NodeLabel.DECISION), _STILL_TRUE),
        ("patterns not validated for 90 days", aged(NodeLabel.PATTERN), _STILL_TRUE),
        ("not verified for longer than `review_after_days`", found("review-overdue"), _STILL_TRUE),
    )
    yield from (kind for kind in kinds if kind[1])


def _waiting(pending: Iterable[PendingWrite]) -> Cases:
    cases = []
    for one in pending:
        tries = count(one.attempts, "attempt") + (", refused" if one.refused else "")
        error = f": {one.error}" if one.error else ""
        text = f"{one.verb} `{title_of_write(one)}`, {tries} since {one.created.date()}{error}"
        cases.append((one.id[:ID_LENGTH], visible(text)))
    return cases


def _stopped(blocked: Iterable[Blocked]) -> Cases:
    cases = []
    for one in blocked:
        text = f"decision `{title_of_write(one)}`, since {one.at.date()}: {one.candidate} is similar"
        cases.append((one.id[:ID_LENGTH], visible(text)))
    return cases


def pending_text(found: WaitingSaves) -> str:
    """Return a line for each save that waits or that a similar entry stopped, and one for each unreadable file."""
    lines = [f"{id_}  {text}" for id_, text in (*_waiting(found.pending), *_stopped(found.blocked))]
    lines += [f"next: {_RESOLVING}"] if found.blocked else []
    lines += [f"{path} cannot be read; it may be a pending write" for path in found.unreadable]
    return "\n".join(lines)


def pending_json(found: WaitingSaves) -> dict[str, Any]:
    """Return the saves that are not done as JSON values: waiting, stopped by a similar entry, or unreadable."""
    names = ("id", "verb", "arguments", "created", "attempts", "error", "refused")
    return {
        "pending": [record_json(one, *names) for one in found.pending],
        "blocked": [blocked_fields(one) for one in found.blocked],
        "unreadable": found.unreadable,
    }


def title_of_write(write: PendingWrite | Blocked) -> str:
    """Return the title of a waiting save, or else its verb or wing."""
    if isinstance(write, Blocked):
        return write.title or write.wing
    # Each kind of record has one of these keys.
    keys = ("title", "trigger", "topic", "objective", "entity_name")
    records = [one for one in write.arguments.values() if isinstance(one, Mapping)]
    return next((str(one[key]) for one in records for key in keys if one.get(key)), write.verb)


def bearers_text(bearers: Sequence[BearerToken]) -> str:
    """Return one line for each token: its name, the wings that it reads and writes, and the day of its creation."""

    def wings(names: frozenset[str] | None) -> str:
        return "every wing" if names is None else " ".join(sorted(names)) or "nothing"

    lines = []
    for one in bearers:
        since = f", since {one.created.date().isoformat()}" if one.created else ""
        lines.append(f"{one.name}: reads {wings(one.access.readable)}, writes {wings(one.access.writable)}{since}")
    return "\n".join(lines)


def bearer_json(bearer: BearerToken) -> dict[str, Any]:
    """Return the name and the permissions of a token as JSON values; None stands for every wing."""
    readable, writable = bearer.access.readable, bearer.access.writable
    return {
        "name": bearer.name,
        "readable": None if readable is None else sorted(readable),
        "writable": None if writable is None else sorted(writable),
        "created": bearer.created.isoformat(timespec="seconds") if bearer.created else None,
    }


def audit_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return one line for each call in the audit log, the oldest first."""
    rows = []
    for line in lines:
        # The file may have been edited by hand, so any key may be missing.
        asked, returned = line.get("asked"), line.get("returned")
        goal = asked.get("goal", "") if isinstance(asked, Mapping) else ""
        result = line.get("refused") or entries(len(returned) if isinstance(returned, list) else 0)
        caller = line.get("caller") or "owner"
        rows.append(f"{line.get('when', '?')}  {caller}  {line.get('verb', '?')}: {goal} → {result}")
    return "\n".join(rows)


def status_json(report: StatusReport) -> dict[str, Any]:
    """Return the state of a memory as JSON values."""
    shown, keys = report.shown, ("name", "kind", "types", "statuses", "broken")
    return {
        **record_json(report, "root", "why", "tree", "active_wing"),
        "wings": [record_json(wing, *keys, entries="total") for wing in report.wings],
        "borrowed": [record_json(one, "name", "git", "commit", "asked") for one in report.borrowed],
        "told": {**record_json(shown, "times", "ways", "last"), "never": report.never_shown if shown.times else []},
        "index": record_json(report.index, "exists", "usable", "documents", "stale", "gone", "bytes", "folder", "why"),
        **record_json(report, "merged", "findings"),
        "hygiene": record_json(report.hygiene, last_at="day", due="is_due"),
        **record_json(report, "remarks"),
    }
