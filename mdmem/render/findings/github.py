"""GitHub's workflow commands, which become annotations at the lines of a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mdmem.model.finding import Severity
from mdmem.render.characters import replace_surrogates
from mdmem.render.findings.report import CheckedRoot, Look, RootFinding, fix_flag, summary, told
from mdmem.render.findings.text import concise_line
from mdmem.render.words import count

# GitHub shows ten annotations of each level for one step; what is past them would vanish unseen.
_LIMIT = 10
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def commands(roots: Sequence[CheckedRoot], _: Look) -> str:
    """Return ten commands a level at most, the worst and new ones, then the rest as plain lines, then the sums."""
    shown: Counter[str] = Counter()
    annotated: list[str] = []
    rest: list[str] = []
    for found in told(roots):
        shown[found.severity] += 1
        if shown[found.severity] <= _LIMIT:
            annotated.append(_command(found))
        else:
            rest.append(_plain(concise_line(found, found.checked.from_top)))
    more = [f"{count(len(rest), 'more finding')} without an annotation:"] if rest else []
    return replace_surrogates("\n".join([*annotated, *more, *rest, summary(roots)]))


def _command(found: RootFinding) -> str:
    place = found.finding.place
    end = f",endColumn={place.column + place.width}" if place.width else ""
    title = _property(f"mdmem {found.finding.code}{' (new)' if found.is_new else ''}")
    said = [found.finding.message, found.finding.help, _fix(found)]
    message = _escaped("\n".join(part for part in said if part))
    at = f"file={_property(found.path)},line={place.line},col={place.column}{end}"
    return f"::{_LEVELS[found.severity]} {at},title={title}::{message}"


def _fix(found: RootFinding) -> str:
    fix = found.finding.fix
    return f"fix: {fix.title} ({fix_flag(fix)})" if fix is not None else ""


def _plain(line: str) -> str:
    # The runner takes a line that starts with `::` for a command, and `##[` anywhere in one.
    return f"- {line.replace('##[', '## [')}"


def _escaped(text: str) -> str:
    # GitHub's runner: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
