"""Decide who may write what: the status of agents' entries, owners' approval, and tokens for shared wings."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from mdmem.checks.approvals import names_the_same
from mdmem.errors import UsageError
from mdmem.model.entry import EntryType, Status, Wing
from mdmem.store.settings import Approvals, Settings
from mdmem.store.state.tokens import ApprovalToken, check_token, request_token
from mdmem.store.workspace.workspace import Workspace

GLOBAL_SCOPE = "global"


class Approval(Struct, frozen=True):
    """Whether a person's approval counts, with a remark for people."""

    allowed: bool
    remark: str | None = None


class GlobalWritesForbiddenError(UsageError):
    """The settings let nobody write to shared wings."""


def status_for_agent(settings: Settings, type_: EntryType) -> Status:
    """Return the status of an agent's new entry of a type."""
    return settings.agent_status[type_]


def owners_say(wing: Wing, person: str) -> bool:
    """Return whether a person is an owner of a wing, by the whole text, the name or the email."""
    return any(names_the_same(person, owner) for owner in wing.owners)


def approval(settings: Settings, wing: Wing, person: str) -> Approval:
    """Return whether a person may approve in a wing; somebody else than an owner gets a remark, or is refused.

    A wing without owners has nobody who may: its manifest may be the file that cannot be read.
    """
    if owners_say(wing, person):
        return Approval(allowed=True)
    allowed = settings.approvals is Approvals.SAY
    if wing.owners:
        listed = ", ".join(f"`{owner}`" for owner in wing.owners)
        owners = f"its owners are {listed}" if len(wing.owners) > 1 else f"its owner is {listed}"
        return Approval(allowed, f"`{person}` is no owner of the wing `{wing.name}`; {owners}")
    return Approval(allowed, f"the wing `{wing.name}` names no owner; write `owners` into {wing.name}/README.md")


def needs_token(wing: Wing | None, scope: str, *, is_doubtful: bool = False) -> bool:
    """Return whether a write needs a token: one to a shared wing, or of global scope.

    `is_doubtful` means that the manifest cannot be read in full: the wing may be a shared one.
    """
    return is_doubtful or scope == GLOBAL_SCOPE or (wing is not None and wing.is_shared)


def require_token(workspace: Workspace, wing: str, token: str | None, now: datetime, *, advice: str = "") -> None:
    """Raise UsageError where a token does not let a write to a shared wing pass; the token is not spent yet."""
    _refuse_where_forbidden(workspace.settings)
    if token is None:
        raise UsageError(f"a write to the shared wing `{wing}` needs a `governance_token`{advice}")
    check_token(workspace.state_folder, token, now)


def ask_for_token(workspace: Workspace, now: datetime) -> ApprovalToken:
    """Return a token for one write; raises GlobalWritesForbiddenError and EnvironmentFaultError."""
    _refuse_where_forbidden(workspace.settings)
    return request_token(workspace.state_folder, now, seconds=workspace.settings.token_seconds)


def _refuse_where_forbidden(settings: Settings) -> None:
    if not settings.global_writes:
        reason = "writes to shared wings are forbidden: mdmem.toml sets `governance.global_writes = false`"
        raise GlobalWritesForbiddenError(reason)
