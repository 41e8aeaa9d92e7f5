"""reviewdog's JSON of diagnostics, with fixes as suggestions.

The format is `DiagnosticResult` of reviewdog's `proto/rdf/reviewdog.proto`; reviewdog refuses a field that it does not
have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdmem.model.finding import Edit
from mdmem.model.text import visible_text
from mdmem.render.characters import json_text, replace_surrogates
from mdmem.render.findings.report import CheckedRoot, Look, RootFinding, is_text, merged, point, told
from mdmem.render.findings.text import concise_line


def diagnostics(roots: Sequence[CheckedRoot], _: Look) -> str:
    """Return the findings as one result; columns count bytes of UTF-8, the end of a range is not in it."""
    result = {"source": {"name": "mdmem"}, "diagnostics": [_diagnostic(found) for found in told(roots)]}
    return json_text(result)


def _diagnostic(found: RootFinding) -> dict[str, Any]:
    suggested = _suggestion(found)
    return {
        "message": "\n".join(part for part in (found.message, _other_end(found), found.advice) if part),
        "location": {"path": replace_surrogates(found.path), "range": _range(found)},
        "severity": found.severity.upper(),
        "code": {"value": found.finding.code},
        **({"suggestions": [suggested]} if suggested else {}),
        "original_output": visible_text(replace_surrogates(concise_line(found, found.checked.from_top))),
    }


def _other_end(found: RootFinding) -> str:
    other = found.finding.other
    return (
        visible_text(replace_surrogates(f"other end: {found.checked.from_top(other.path)}:{other.line}"))
        if other
        else ""
    )


def _range(found: RootFinding) -> dict[str, Any]:
    place = found.finding.place
    columns = {"start": place.column, "end": place.column + place.width}
    # A line that cannot be had is taken for one of single bytes.
    line = found.checked.line_of(place) or ""
    return {name: {"line": place.line, "column": _byte_column(line, column)} for name, column in columns.items()}


def _byte_column(line: str, column: int) -> int:
    before = line[: column - 1]
    return len(before.encode("utf-8", "surrogatepass")) + column - len(before)


def _suggestion(found: RootFinding) -> dict[str, Any] | None:
    """Return the fix as one replacement; None where it reaches into another file, renames, or is no text."""
    fix, place = found.finding.fix, found.finding.place
    if fix is None or fix.paths != (place.path,) or fix.renames:
        return None
    content = found.checked.bytes_of(place.path)
    if content is None:
        return None
    edit = merged(fix, content)
    return _replacement(content, edit) if is_text(content, edit) else None


def _replacement(content: bytes, edit: Edit) -> dict[str, Any]:
    ends = {"start": point(content, edit.start), "end": point(content, edit.end)}
    span = {name: {"line": one.line, "column": one.byte_column} for name, one in ends.items()}
    return {"range": span, "text": edit.content.decode()}
