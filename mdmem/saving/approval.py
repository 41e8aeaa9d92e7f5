"""Asking for the one-time token that a write to a shared wing needs."""

from __future__ import annotations

from datetime import datetime

from mdmem.authoring.governance import why_no_global_writes
from mdmem.errors import UsageError
from mdmem.state.approval_tokens import ApprovalToken, request_token
from mdmem.workspace.workspace import Workspace


class GlobalWritesForbiddenError(UsageError):
    """The settings let nobody write to shared wings; the sentence says which."""


def ask_for_token(workspace: Workspace, now: datetime) -> ApprovalToken:
    """Return a token good for one write; raises GlobalWritesForbiddenError and EnvironmentFaultError."""
    reason = why_no_global_writes(workspace.settings)
    if reason is not None:
        raise GlobalWritesForbiddenError(reason)
    return request_token(workspace.state_folder, now, seconds=workspace.settings.token_seconds)
