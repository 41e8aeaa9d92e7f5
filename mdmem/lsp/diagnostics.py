"""Findings as an editor shows them: a stretch of a text, a severity, the sentence, and where the other end is."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.session import EditorSession
from mdmem.model.finding import Finding, Severity

SOURCE = "mdmem"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Hint,
}
# What an editor draws struck through, and what it draws faint.
_TAGS = {
    **dict.fromkeys(("link-to-superseded", "superseded-but-active"), types.DiagnosticTag.Deprecated),
    **dict.fromkeys(("unused-suppression", "duplicate-link", "duplicate-list-item"), types.DiagnosticTag.Unnecessary),
}


def diagnostics_of(session: EditorSession, buffer: Buffer, findings: Sequence[Finding]) -> list[types.Diagnostic]:
    """Return the findings of one text as an editor shows them, in their order."""
    return [_diagnostic(session, buffer, finding) for finding in findings]


def _diagnostic(session: EditorSession, buffer: Buffer, finding: Finding) -> types.Diagnostic:
    tag = _TAGS.get(finding.code)
    return types.Diagnostic(
        range=buffer.range_at(finding.place),
        message=f"{finding.message}\n{finding.help}" if finding.help else finding.message,
        severity=_SEVERITIES[finding.weight],
        code=finding.code,
        source=SOURCE,
        tags=[tag] if tag is not None else None,
        related_information=_related(session, finding),
    )


def _related(session: EditorSession, finding: Finding) -> list[types.DiagnosticRelatedInformation] | None:
    other = finding.other
    buffer = session.buffer_of(other.path) if other is not None else None
    if other is None or buffer is None:
        return None
    location = types.Location(buffer.uri, buffer.range_at(other))
    return [types.DiagnosticRelatedInformation(location, "the other end")]
