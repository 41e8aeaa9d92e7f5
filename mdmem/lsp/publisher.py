"""When findings are looked for and told: soon after a change those of the open texts, the others once it rests.

Findings as an editor shows them: a stretch of a text, a severity, the sentence, and where the other end is.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence

from lsprotocol import types

from mdmem.lsp.buffer import Buffer
from mdmem.lsp.findings import SessionFindings
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


# What comes in one breath is answered once.
_BREATH = 0.01
_REST = 1.0
# Of so many files that are not open findings are told: an editor that is told of more shows nobody anything.
_MOST_CLOSED = 500

Tell = Callable[[types.PublishDiagnosticsParams], None]
Guard = Callable[[str, Callable[[], object]], object]


class Publisher:
    """Tells an editor the findings of its memories, each list where it is another than was told last."""

    def __init__(self, tell: Tell, guard: Guard) -> None:
        """Take how something is told, and what work is done within that may fail.

        `refresh` is what tells an editor that asks for the findings of its texts to do so again; None where it is told.
        """
        self._tell, self._guard = tell, guard
        self.refresh: Callable[[], object] | None = None
        self._told: dict[str, list[types.Diagnostic]] = {}
        self._told_closed: dict[EditorSession, dict[str, Sequence[Finding]]] = {}
        self._timers: dict[tuple[EditorSession, str], asyncio.TimerHandle] = {}

    def changed(self, session: EditorSession | None) -> None:
        """Look for findings soon, and again once nothing changed for a while."""
        if session is not None:
            self._later(_BREATH, "the check", session, self._look)
            self._later(_REST, "the check at rest", session, self.rest)

    def _later(self, seconds: float, what: str, session: EditorSession, work: Callable[[EditorSession], None]) -> None:
        waiting = self._timers.pop((session, what), None)
        if waiting is not None:
            waiting.cancel()

        def begin() -> None:
            self._timers.pop((session, what), None)
            self._guard(what, lambda: work(session))

        self._timers[session, what] = asyncio.get_running_loop().call_later(seconds, begin)

    def closed(self, uri: str) -> None:
        """Forget what was told of a text that is no longer open."""
        if self._told.pop(uri, None) and self.refresh is None:
            self._tell(types.PublishDiagnosticsParams(uri, []))

    def gone(self, session: EditorSession) -> None:
        """Take back what was told of a memory that is not there any more."""
        for key in [key for key in self._timers if key[0] is session]:
            self._timers.pop(key).cancel()
        for path in self._told_closed.pop(session, {}):
            self._tell(types.PublishDiagnosticsParams(session.uri_of(path), []))
        for buffer in session.buffers.values():
            self.closed(buffer.uri)

    def findings(self, session: EditorSession) -> tuple[Finding, ...]:
        """Return the findings of a memory as it is."""
        session.findings = session.once(SessionFindings).now()
        return session.findings

    def _by_path(self, session: EditorSession) -> Mapping[str, list[Finding]]:
        found: dict[str, list[Finding]] = {}
        for finding in self.findings(session):
            found.setdefault(finding.place.path, []).append(finding)
        return found

    def _closed_by_path(self, session: EditorSession) -> Mapping[str, list[Finding]]:
        """Return the findings of files that are not open; what the command tells only on request is no news of them."""
        told = {
            path: [one for one in findings if one.weight is not Severity.INFO]
            for path, findings in self._by_path(session).items()
            if path not in session.buffers
        }
        return {path: findings for path, findings in told.items() if findings}

    def _look(self, session: EditorSession) -> None:
        found, is_new = self._by_path(session), False
        told_closed = self._told_closed.get(session, {})
        for path, buffer in list(session.buffers.items()):
            # An editor that asks for findings shows them beside those that it was told while the text was closed.
            if told_closed.pop(path, None) and self.refresh is not None:
                self._tell(types.PublishDiagnosticsParams(session.uri_of(path), []))
            diagnostics = diagnostics_of(session, buffer, found.get(path, ()))
            if self._told.get(buffer.uri) != diagnostics:
                self._told[buffer.uri], is_new = diagnostics, True
                if self.refresh is None:
                    self._tell(types.PublishDiagnosticsParams(buffer.uri, diagnostics, buffer.version))
        if is_new and self.refresh is not None:
            self.refresh()

    def asked(
        self, session: EditorSession, buffer: Buffer, params: types.DocumentDiagnosticParams
    ) -> types.DocumentDiagnosticReport:
        """Return the findings of one text to an editor that asks for them; only that they are the same, where so."""
        diagnostics = diagnostics_of(session, buffer, self._by_path(session).get(buffer.path or "", ()))
        self._told[buffer.uri] = diagnostics
        known = f"{hash(repr(diagnostics)):x}"
        if params.previous_result_id == known:
            return types.RelatedUnchangedDocumentDiagnosticReport(known)
        return types.RelatedFullDocumentDiagnosticReport(diagnostics, result_id=known)

    def rest(self, session: EditorSession) -> None:
        """Look at the disk, then tell the findings of all files; none where the memory went away."""
        if not session.is_there:
            self.gone(session)
            return
        session.look()
        self._look(session)
        told = self._told_closed.setdefault(session, {})
        found = self._closed_by_path(session)
        for path in [path for path in told if path not in found]:
            del told[path]
            self._tell(types.PublishDiagnosticsParams(session.uri_of(path), []))
        for path, findings in list(found.items())[:_MOST_CLOSED]:
            if told.get(path) != findings:
                told[path] = findings
                buffer = session.buffer_of(path)
                # What has no text, as a folder that cannot be read, has no place that an editor could show.
                diagnostics = diagnostics_of(session, buffer, findings) if buffer is not None else []
                self._tell(types.PublishDiagnosticsParams(session.uri_of(path), diagnostics))
        # The command line never collects, for it ends soon; here it is done when nobody waits: a tenth of a second.
        gc.collect()
