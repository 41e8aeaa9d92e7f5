"""GitLab's report of code quality, which a merge request shows beside its lines."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.model.finding import Severity
from mdmem.render.characters import json_text, replace_surrogates
from mdmem.render.findings.report import CheckedRoot, Look, RootFinding, fingerprints, in_order

# GitLab's words go up to `blocker`; an error here is what its own linters call major.
_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def code_quality(roots: Sequence[CheckedRoot], _: Look) -> str:
    """Return the findings as a list; by a fingerprint that no line number is in GitLab knows what is new."""
    found = in_order(roots)
    issues = [_issue(one, fingerprint) for one, fingerprint in zip(found, fingerprints(found), strict=True)]
    return json_text(issues)


def _issue(found: RootFinding, fingerprint: str) -> dict[str, object]:
    finding = found.finding
    return {
        "description": "; ".join(part for part in (found.message, found.advice) if part),
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[found.severity],
        "location": {"path": replace_surrogates(found.path), "lines": {"begin": finding.place.line}},
    }
