"""Who may write what: the status of an agent's entries, the owners' approval, and when a token is needed."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from mdmem.checks.approvals import names_the_same
from mdmem.errors import UsageError
from mdmem.model.entry import EntryType, Status, Wing
from mdmem.store.settings import Approvals, Settings
from mdmem.store.state.tokens import ApprovalToken, request_token
from mdmem.store.workspace.workspace import Workspace

GLOBAL_SCOPE = "global"


class Approval(Struct, frozen=True):
    """Whether a person's approval counts, and what is to be said about it."""

    allowed: bool
    remark: str | None = None


def status_for_agent(settings: Settings, type_: EntryType) -> Status:
    """Return the status that an agent's new entry of a type gets."""
    return settings.agent_status[type_]


def owners_say(wing: Wing, person: str) -> bool:
    """Say whether a person is an owner of a wing, by the whole text, or by the name or the email of git's form."""
    return any(names_the_same(person, owner) for owner in wing.owners)


def approval(settings: Settings, wing: Wing, person: str) -> Approval:
    """Return whether a person may approve in a wing: who is no owner is told so, or refused where the setting says so.

    A wing that names no owner is nobody's: where others are refused, so is everybody, since its manifest may be the
    very file that cannot be read.
    """
    if owners_say(wing, person):
        return Approval(allowed=True)
    allowed = settings.approvals is Approvals.SAY
    if wing.owners:
        listed = " or ".join(f"`{owner}`" for owner in wing.owners)
        return Approval(allowed, f"`{person}` is no owner of the wing `{wing.name}`; that is {listed}")
    return Approval(allowed, f"the wing `{wing.name}` names no owner; write `owners` into {wing.name}/README.md")


def needs_token(wing: Wing | None, scope: str, *, is_doubtful: bool = False) -> bool:
    """Say whether a write needs a token: into a shared wing whatever its scope is, and of global scope into any.

    `is_doubtful` says that the wing's manifest cannot be read in full: the wing may be a shared one.
    """
    return is_doubtful or scope == GLOBAL_SCOPE or (wing is not None and wing.is_shared)


def why_no_global_writes(settings: Settings) -> str | None:
    """Return why nobody gets a token, or None where tokens are given."""
    if settings.global_writes:
        return None
    return "writes to shared wings are forbidden: mdmem.toml sets `governance.global_writes = false`"


class GlobalWritesForbiddenError(UsageError):
    """The settings let nobody write to shared wings; the sentence says which."""


def ask_for_token(workspace: Workspace, now: datetime) -> ApprovalToken:
    """Return a token good for one write; raises GlobalWritesForbiddenError and EnvironmentFaultError."""
    reason = why_no_global_writes(workspace.settings)
    if reason is not None:
        raise GlobalWritesForbiddenError(reason)
    return request_token(workspace.state_folder, now, seconds=workspace.settings.token_seconds)
