"""What became active in a change, which of it an agent put in force by itself, and who approved."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.entry import Entry, Status

_IDENTITY = re.compile(r"\s*(?P<name>[^<>]*?)\s*<(?P<email>[^<>]+)>\s*\Z")


def names_the_same(one: str, other: str) -> bool:
    """Say whether two texts name the same one, case ignored; of two in the form `Name <email>`, the email decides."""
    parts, others = _parts(one), _parts(other)
    if len(parts) > 1 and len(others) > 1:
        return parts[-1] == others[-1]
    return not set(parts).isdisjoint(others)


def _parts(text: str) -> tuple[str, ...]:
    """Return the name and the email of git's form, or the text itself."""
    found = _IDENTITY.match(text)
    if found is None:
        return (text.strip().casefold(),)
    name, email = (found[part].strip().casefold() for part in ("name", "email"))
    return (name, email) if name else (email,)


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
