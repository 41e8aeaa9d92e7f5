"""The questions that one caller asks under one name: what it was given before need not come again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from mdmem.store.state.sessions import Sessions

if TYPE_CHECKING:
    from mdmem.store.state.sessions import Sessions
    from mdmem.store.workspace.workspace import Workspace


class CallerSession(Struct):
    """What the answers under a name gave; without a name nothing is kept."""

    name: str | None
    is_fresh: bool
    kept: Sessions | None = None

    def given(self, workspace: Workspace) -> Mapping[str, str]:
        """Return what was given before, by address."""
        if self.name is None:
            return {}
        self.kept = Sessions(workspace.state_folder)
        if self.is_fresh:
            self.kept.forget(self.name)
        return self.kept.given(self.name, datetime.now(UTC))

    def note(self, gave: Callable[[], Mapping[str, str]]) -> None:
        """Note what an answer gave; one that could not be printed was not given."""
        if self.name is not None and self.kept is not None:
            self.kept.give(self.name, gave(), datetime.now(UTC))


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--session` and `--fresh`."""
    fresh = click.option("--fresh", is_flag=True, help="Forget what the session was given.")
    return click.option("--session", metavar="ID", help="What one ID was given before is one line.")(fresh(command))
