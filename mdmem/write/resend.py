"""A save that was sent again because its answer was lost: the entry that the first one wrote is the answer."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Self

from msgspec import Struct

from mdmem.errors import EnvironmentFaultError
from mdmem.reply import current_reply
from mdmem.store.state.pending_writes import UnansweredSave, UnansweredSaves, id_of
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change

# What is said of an entry that an unanswered call had written.
WAS_LOST = "an earlier call had saved it, whose answer was lost"


class ResentSave(Struct, frozen=True):
    """One call to a verb that compares nothing, by its verb, wing, arguments and caller."""

    workspace: Workspace
    id: str
    now: datetime

    @classmethod
    def of(cls, workspace: Workspace, verb: str, arguments: Mapping[str, Any], *, wing: str, now: datetime) -> Self:
        """Return the call; `arguments` are those that make it another one, the project by its wing alone."""
        access = workspace.access
        wings = [None if some is None else sorted(some) for some in (access.readable, access.writable)]
        return cls(workspace, id_of(verb, {"asked": dict(arguments), "wing": wing, "by": [access.name, *wings]}), now)

    @property
    def _intents(self) -> UnansweredSaves:
        return UnansweredSaves(self.workspace.state_folder)

    def found(self) -> str | None:
        """Return the address of the entry that the same call wrote, if nobody was told of it."""
        intent = self._intents.unanswered(self.id, self.now)
        if intent is None or not self._is_there(intent):
            return None
        self._tell()
        return intent.address

    @contextlib.contextmanager
    def writing(self, change: Change) -> Iterator[None]:
        """Note what is written in here, before and after; where the state refuses, it is written all the same."""
        intent = UnansweredSave(address=change.to.removesuffix(".md"), digest=_digest(change.after or b""), at=self.now)
        with contextlib.suppress(EnvironmentFaultError):
            self._intents.keep(self.id, intent)
        yield
        with contextlib.suppress(EnvironmentFaultError):
            self._intents.wrote(self.id, intent)
        self._tell()

    def _tell(self) -> None:
        reply, intents, id_ = current_reply(), self._intents, self.id
        if reply is not None:
            reply.then(lambda: intents.answered(id_))
            return
        with contextlib.suppress(EnvironmentFaultError):
            intents.answered(id_)

    def _is_there(self, intent: UnansweredSave) -> bool:
        try:
            content = (self.workspace.location.root / f"{intent.address}.md").read_bytes()
        except OSError:
            return False
        return intent.is_written or _digest(content) == intent.digest


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
