"""What became active in a change, and which of it an agent put in force by itself."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.identities import names_the_same
from mdmem.entry.model import Entry, Status


def activated_by_agents(case: Case) -> Iterator[tuple[Entry, str]]:
    """Yield each entry that nobody but its agent made active, though agents only draft its type, with the agent.

    An agent that the change takes out of the entry wrote it all the same, and what the change itself lets agents do
    does not count yet.
    """
    before = case.base.settings if case.base and case.base.catalog.entries else case.settings
    for was, entry in case.changes.activated():
        agent = entry.agent or (was.agent if was else None)
        if agent is None or before.agent_status.get(entry.type) is not Status.DRAFT:
            continue
        if "approved_by" in entry.unread or (entry.approved_by and not names_the_same(entry.approved_by, agent)):
            continue
        yield entry, agent
