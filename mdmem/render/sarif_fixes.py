"""The fix of a finding in SARIF: which stretch of which file gives way to what."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from mdmem.finding import Edit
from mdmem.render.characters import replace_surrogates
from mdmem.render.checked import Found
from mdmem.render.fix_spans import is_text, point

Artifact = Callable[[str], dict[str, Any]]


def fixes(found: Found, artifact: Artifact) -> list[dict[str, Any]]:
    """Return the fix, if SARIF can say all of it: it has no renames, and a file that cannot be read has no places."""
    fix = found.finding.fix
    if fix is None or fix.renames or not fix.edits:
        return []
    changes = [_change(found, path, edits, artifact) for path, edits in groupby(_in_files(fix.edits), _path)]
    if not all(changes):
        return []
    return [{"description": {"text": replace_surrogates(fix.title)}, "artifactChanges": changes}]


def _path(edit: Edit) -> str:
    return edit.path


def _in_files(edits: Iterable[Edit]) -> list[Edit]:
    return sorted(edits, key=lambda edit: (edit.path, edit.start, edit.end))


def _change(found: Found, path: str, edits: Iterable[Edit], artifact: Artifact) -> dict[str, Any]:
    content = found.checked.bytes_of(path)
    if content is None:
        return {}
    place = artifact(found.checked.from_top(path))
    return {"artifactLocation": place, "replacements": [_replacement(content, edit) for edit in edits]}


def _replacement(content: bytes, edit: Edit) -> dict[str, Any]:
    """Return a replacement of text where both sides are text, else of bytes (SARIF 3.57)."""
    span = {"byteOffset": edit.start, "byteLength": edit.end - edit.start}
    if not is_text(content, edit):
        return {"deletedRegion": span, "insertedContent": {"binary": b64encode(edit.content).decode()}}
    start, end = point(content, edit.start), point(content, edit.end)
    lines = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
    return {"deletedRegion": {**lines, **span}, "insertedContent": {"text": edit.content.decode()}}
