"""Publish the findings of each memory as diagnostics, shortly after the last change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from lsprotocol import types

from mdmem.lsp.memory import Document, OpenMemory
from mdmem.model.finding import Finding, Severity

_DELAY = 0.3
# An editor that lists more files helps nobody.
_MOST_CLOSED_FILES = 500
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Hint,
}
# Editors strike deprecated text through and fade what is unnecessary.
_TAGS = {
    **dict.fromkeys(("link-to-superseded", "superseded-but-active"), types.DiagnosticTag.Deprecated),
    **dict.fromkeys(("unused-suppression", "duplicate-link", "duplicate-list-item"), types.DiagnosticTag.Unnecessary),
}

Publish = Callable[[types.PublishDiagnosticsParams], None]


class Publisher:
    """Publishes the diagnostics of each file that differ from those published last."""

    def __init__(self, publish: Publish, guard: Callable[[str, Callable[[], object]], object]) -> None:
        """Take the function that publishes, and the one that reports a failure of the check."""
        self._publish, self._guard = publish, guard
        self._published: dict[OpenMemory, dict[str, list[types.Diagnostic]]] = {}
        self._timers: dict[OpenMemory, asyncio.TimerHandle] = {}

    def schedule(self, memory: OpenMemory | None) -> None:
        """Check a memory once no change came for a moment."""
        if memory is None:
            return
        if memory in self._timers:
            self._timers[memory].cancel()
        loop = asyncio.get_running_loop()
        self._timers[memory] = loop.call_later(_DELAY, self._guard, "the check", lambda: self.publish(memory))

    def publish(self, memory: OpenMemory) -> None:
        """Check a memory as it is on disk and in the editor, and publish the diagnostics that changed."""
        if not memory.is_there:
            self.withdraw(memory)
            return
        memory.refresh()
        found: dict[str, list[Finding]] = {path: [] for path in memory.documents}
        for finding in memory.findings:
            # Like `mdmem check`, say nothing of a closed file that is only worth a hint.
            if finding.place.path in memory.documents or finding.weight is not Severity.INFO:
                found.setdefault(finding.place.path, []).append(finding)
        before, now = self._published.get(memory, {}), dict[str, list[types.Diagnostic]]()
        for path, findings in list(found.items())[: len(memory.documents) + _MOST_CLOSED_FILES]:
            # A folder that cannot be read has no text, and no place in one.
            document = memory.document(path)
            diagnostics = diagnostics_of(document, findings) if document is not None else []
            uri = memory.uri_of(path)
            now[uri] = diagnostics
            if uri not in before or before[uri] != diagnostics:
                version = document.version if document is not None else None
                self._publish(types.PublishDiagnosticsParams(uri, diagnostics, version))
        for uri in before.keys() - now.keys():
            self._publish(types.PublishDiagnosticsParams(uri, []))
        self._published[memory] = now

    def withdraw(self, memory: OpenMemory) -> None:
        """Withdraw the diagnostics of a memory that went away."""
        if memory in self._timers:
            self._timers.pop(memory).cancel()
        for uri in self._published.pop(memory, {}):
            self._publish(types.PublishDiagnosticsParams(uri, []))


def diagnostics_of(document: Document, findings: Sequence[Finding]) -> list[types.Diagnostic]:
    """Return the findings of one document as diagnostics, in their order."""
    return [
        types.Diagnostic(
            range=document.range_of_place(finding.place),
            message=f"{finding.message}\n{finding.help}" if finding.help else finding.message,
            severity=_SEVERITIES[finding.weight],
            code=finding.code,
            source="mdmem",
            tags=[_TAGS[finding.code]] if finding.code in _TAGS else None,
            related_information=_related(document.memory, finding),
        )
        for finding in findings
    ]


def _related(memory: OpenMemory, finding: Finding) -> list[types.DiagnosticRelatedInformation] | None:
    other = finding.other
    document = memory.document(other.path) if other is not None else None
    if other is None or document is None:
        return None
    location = types.Location(document.uri, document.range_of_place(other))
    return [types.DiagnosticRelatedInformation(location, "the other end")]
