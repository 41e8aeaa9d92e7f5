"""SARIF 2.1.0, the interchange format of static analysis (OASIS)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from mdmem.finding import Place
from mdmem.render.characters import json_text, replace_surrogates
from mdmem.render.checked import Checked, Found, Look, fingerprints, in_order
from mdmem.render.sarif_fixes import fixes
from mdmem.render.sarif_rules import LEVELS, rule

# What stands for the repository's top; who reads the file knows where that is.
_TOP = "%SRCROOT%"


def log(roots: Sequence[Checked], look: Look) -> str:
    """Return a log of one run over all roots; the rules are those that found something."""
    content = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [_run(roots, look)],
    }
    return json_text(content)


def _run(roots: Sequence[Checked], look: Look) -> dict[str, Any]:
    found = in_order(roots)
    codes = sorted({one.finding.code for one in found})
    hashes = fingerprints(found)
    driver = {"name": "mdmem", "semanticVersion": look.version, "rules": [rule(code) for code in codes]}
    return {
        "tool": {"driver": driver},
        "invocations": [_invocation(roots)],
        "originalUriBaseIds": {_TOP: {"description": {"text": "The top of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(one, codes.index(one.finding.code), fingerprint)
            for one, fingerprint in zip(found, hashes, strict=True)
        ],
    }


def _invocation(roots: Sequence[Checked]) -> dict[str, Any]:
    unread = sorted(one.from_top(path) for one in roots for path in one.report.incomplete)
    notifications = [
        {
            "level": "error",
            "message": {"text": "The file could not be read, so the run is incomplete."},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(path)}}],
        }
        for path in unread
    ]
    said = {"toolExecutionNotifications": notifications} if notifications else {}
    return {"executionSuccessful": not unread, **said}


def _result(found: Found, index: int, fingerprint: str) -> dict[str, Any]:
    finding, report = found.finding, found.checked.report
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[found.severity],
        "message": {"text": _unlinked("\n".join(part for part in (found.message, found.advice) if part))},
        "locations": [_location(found.path, finding.place)],
        "partialFingerprints": {"finding/v1": fingerprint},
    }
    if finding.other is not None:
        path = found.checked.from_top(finding.other.path)
        result["relatedLocations"] = [{**_location(path, finding.other), "message": {"text": "other end"}}]
    if report.base is not None:
        result["baselineState"] = "new" if found.is_new else "unchanged"
    changes = fixes(found, _artifact)
    return {**result, "fixes": changes} if changes else result


def _location(path: str, place: Place) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column}
    end = {"endColumn": place.column + place.width} if place.width else {}
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": {**region, **end}}}


def _artifact(path: str) -> dict[str, Any]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": _TOP}


def _unlinked(text: str) -> str:
    # `[text](target)` in a message is a link (SARIF 3.11.6); what an entry holds must not become one.
    return re.sub(r"\[([^\[\]]*)\]\(", r"\\[\1\\](", replace_surrogates(text))
