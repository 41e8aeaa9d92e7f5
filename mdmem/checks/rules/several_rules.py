"""One invariant states more than one rule.

A rule that has an entry of its own can be superseded, overridden or reviewed alone, and a conflict names just what
conflicts. Two rules in one entry live and die together. Sentences that say must before the reasons begin are counted.

Fails:

    Handlers must validate their input.
    Responses must carry the request id.

Fix: give each rule an entry of its own and join them with `see`; leave it if the sentences are one rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.prose import sentences, statement
from mdmem.model.entry import EntryType, Status
from mdmem.model.finding import Finding, Severity

CODE = "several-rules"
SEVERITY = Severity.INFO
_MUST = re.compile(r"\bmust\b", re.IGNORECASE)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each invariant with two sentences that say must, at the second."""
    for entry, _ in case.entries:
        if entry.type is not EntryType.INVARIANT or entry.status is Status.DEPRECATED:
            continue
        rule = statement(case.prose_of(entry.address))
        if len(_MUST.findall(rule)) < 2:
            continue
        found = [start + must.start() for start, text in sentences(rule) if (must := _MUST.search(text))]
        if len(found) > 1:
            message = f"{len(found)} sentences say `must`: each may be a rule of its own"
            help_ = "give each rule an entry of its own and join them with `see`"
            yield case.in_body(CODE, entry.address, message, help_, offset=found[1], width=4)
