"""Render the result of an import, or of its dry run."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from mdmem.exchange.importer import ImportReport
from mdmem.exchange.record import ImportRow
from mdmem.model.entry import Status
from mdmem.model.text import cut_line, first_of, visible, without_values
from mdmem.record import grouped, record_json
from mdmem.render.text import Style, count

_MAX_WIDTH = 60
# The most messages of one kind that are listed.
_MOST = 20
_LONGEST = 300
# This many guesses of one kind become one line.
_ALIKE = 3
# The most folders that are listed.
_PLACES = 3


def import_text(report: ImportReport, style: Style) -> str:
    """Return a line for each file (after a real import only for those with messages), then errors and a summary."""
    rows = [
        row
        for row in report.plan.rows
        if report.written.is_dry or row.messages or row.outcome in ("skipped", "changed since it was imported")
    ]
    width, lines = min(_MAX_WIDTH, max((len(_name(row)) for row in rows), default=0)), []
    inferred = ((f"{name}: {one.why}", row) for row in report.plan.rows for name, one in row.guesses.items())
    guesses = grouped((without_values(sentence), (sentence, row)) for sentence, row in inferred)
    seen: Counter[str] = Counter()
    for row in rows:
        messages = []
        for one in row.messages:
            seen[kind := without_values(one)] += 1
            messages += [one] if seen[kind] <= _MOST else []
        if row.messages and not messages and (row.outcome == "skipped" or not report.written.is_dry):
            continue
        stated = ", ".join(str(one) for one in (row.type, row.status) if one is not None)
        what = stated if row.outcome == "imported" else row.outcome
        to = f" → {style.bold(visible(row.address))}" if row.address is not None else ""
        lines.append(f"{_name(row):<{width}}{to}  {what}{f' ({row.dialect})' if row.dialect else ''}")
        own = (f"{name}: {guess.why}" for name, guess in row.guesses.items())
        few = (one for one in own if len(guesses[without_values(one)]) < _ALIKE)
        lines += [style.dim(f"  {visible(one)} (guessed)") for one in few]
        lines += [f"  {style.warn(visible(cut_line(sentence, _LONGEST)))}" for sentence in messages]
    more = ((number - _MOST, why) for why, number in seen.items() if number > _MOST)
    lines += [f"... and {number} more: {visible(why)}; --format json lists them" for number, why in more]
    for (sentence, first), *others in guesses.values():
        if len(others) + 1 >= _ALIKE:
            which = f"guessed in {len(others) + 1} records, such as {_name(first)}"
            lines.append(style.dim(f"{visible(sentence)} ({which})"))
    if report.errors:
        # After a dry run, there are no entries to check.
        way = "--format json" if report.written.is_dry else "`mdmem check`"
        lines += ["", f"{count(len(report.errors), 'error')} in the records; {way} shows them"]
    if not report.plan.rows:
        return "no records found; name a file or a folder"
    is_dry = report.written.is_dry
    new = [row for row in report.plan.rows if row.outcome == "imported"]
    entries = [row for row in new if row.type is not None]
    kinds = Counter(f"{'' if row.status is Status.ACTIVE else f'{row.status} '}{row.type}" for row in entries)
    of = f" ({', '.join(count(number, kind) for kind, number in kinds.most_common())})" if kinds else ""
    # A dry run lists each record anyway.
    rooms = [] if is_dry else [*dict.fromkeys((row.address or "").rpartition("/")[0] for row in entries)]
    to = f" to {_few(rooms)}" if rooms else ""
    parts = [f"{'would import' if is_dry else 'imported'} {count(len(entries), 'entry', 'entries')}{of}{to}"]
    parts += [count(len(new) - len(entries), "other file")] if len(entries) < len(new) else []
    outcomes = Counter(str(row.outcome) for row in report.plan.rows if row.outcome != "imported")
    parts += [f"{number} {outcome}" for outcome, number in outcomes.items()]
    parts += [f"{count(len(report.gone), 'file')} {'would be ' if is_dry else ''}moved"] if report.gone else []
    return "\n".join([*lines, *([""] if lines else []), "; ".join(parts)])


def import_remarks(report: ImportReport, *, moving: str, new: Sequence[str]) -> Iterator[str]:
    """Yield remarks and the next command; `moving` is the command with --move, `new` are the paths for `git add`."""
    yield from report.remarks
    written = report.written
    if report.unapproved:
        rules = count(report.unapproved, "active rule has", "active rules have")
        # A second import changes nothing, so it adds no approver, either.
        way = "`--approved-by NAME` names one" if written.is_dry else "`mdmem approve --active` adds you"
        yield f"{rules} no approver: {way}"
    if written.is_dry or not (written.changes or report.gone):
        return
    if any(row.outcome == "imported" and row.status is Status.DRAFT for row in report.plan.rows):
        yield "`mdmem approve ADDRESS...` makes drafts active; `wing/room/` means all drafts in a room"
    if report.left:
        yield f"the old files stay in {_few(report.left)}; `{moving}` removes them"
    steps = ["mdmem check --update-baseline"] if report.errors else []
    if written.commit is not None:
        yield f"committed as {written.commit[:10]}"
    elif new:
        steps = [f"git add {shlex.join(new)}", *steps, "git commit"]
    if steps:
        yield f"next: {' && '.join(steps)}"


def import_json(report: ImportReport) -> dict[str, Any]:
    """Return JSON values with the result for each file, the errors in the records, and the written files."""
    written, keys = report.written, ("path", "outcome", "address", "type", "status")
    rows = [
        {
            **record_json(row, *keys, guessed="guesses", said="messages"),
            "part": row.part or None,
            "dialect": row.dialect or None,
        }
        for row in report.plan.rows
    ]
    places = {"path": "place.path", "line": "place.line"}
    return {
        "records": rows,
        "errors": [record_json(one, "code", "message", **places) for one in report.errors],
        "warnings": Counter(one.code for one in report.warnings),
        "changed": [change.to for change in written.changes],
        **record_json(report, "gone", "remarks"),
        **record_json(written, "commit", dry_run="is_dry"),
    }


def _name(row: ImportRow) -> str:
    return visible(f"{row.path}#{row.part}" if row.part else row.path)


def _few(names: Sequence[str]) -> str:
    return first_of([*map(visible, names)], _PLACES)
