"""What somebody asks the server by name, about a file or all of them: why an entry binds, what the checks find."""

from __future__ import annotations

from collections import Counter

from mdmem.lsp.choice import say, show
from mdmem.lsp.place import EditorPage, is_here
from mdmem.lsp.server import Server
from mdmem.lsp.texts import plain_line, standing
from mdmem.model.finding import Severity


def why(server: Server, uri: str = "") -> None:
    """List the chain of the entry that a file is, the oldest first, each with how it stands and why it took over."""
    found = server.roots.page(uri)
    page = EditorPage(*found) if found is not None else None
    if page is None or page.address is None or page.entry is None:
        say(server, "no entry stands in this file")
        return
    session, catalog = page.session, page.session.catalog
    chain = [one for one in catalog.lineage.chain(page.address) if is_here(session, one)]
    targets = []
    for one in chain:
        entry = catalog.entries[one]
        reason = entry.reason or entry.why_ended
        told = f"{one} ({standing(catalog, one, session.today())}){f': {reason}' if reason else ''}"
        targets.append({"title": plain_line(told), "uri": session.uri_of(entry.path)})
    show(server, f"the chain of {page.address}, the oldest first", targets)


def check(server: Server) -> None:
    """Look at the files anew, tell the findings of all, and say how many there are."""
    counts: Counter[Severity] = Counter()
    for session in server.roots.all_known():
        server.publisher.rest(session)
        counts.update(finding.weight for finding in session.findings)
    told = ", ".join(_counted(one, counts[one]) for one in Severity if counts[one])
    say(server, f"mdmem check: {told or 'nothing wrong'}")


def _counted(severity: Severity, count: int) -> str:
    return f"{count} {severity.value}{'s' if count > 1 and severity is not Severity.INFO else ''}"
