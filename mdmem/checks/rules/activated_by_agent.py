"""An agent's entry became active without a person's approval.

What an agent writes of this type is a draft until a person approves it: `[governance] agent_status` says so. An
approval by the agent itself is none.

Fails:

    type: decision
    status: active          (draft in the base, or not there)
    agent: claude           (and no `approved_by`, or `approved_by: claude`)

Fix: write `status: draft` and let a person run `mdmem approve`, which writes `approved_by`.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.approvals import activated_by_agents
from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "activated-by-agent"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each entry that only its agent put in force, at its status."""
    for entry, agent in activated_by_agents(case):
        how = "only its agent approved it" if entry.approved_by else "no person approved it"
        help_ = f"write `status: draft`, then let a person run `mdmem approve {entry.address}`"
        message = f"became {entry.status}, and {how}: `agent` is `{agent}`"
        yield case.on_entry(CODE, entry, message, help_, field="status")
