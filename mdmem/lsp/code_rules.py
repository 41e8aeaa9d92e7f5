"""What the memory says of a file of code: the rules in force whose globs meet it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mdmem.dataclass import dataclass, field
from mdmem.entry.model import Entry
from mdmem.errors import MdmemError
from mdmem.lsp.buffer import Buffer
from mdmem.lsp.session import EditorSession
from mdmem.retrieval.brief import rules_for
from mdmem.workspace.workspace import Workspace


def rules_of(session: EditorSession, buffer: Buffer) -> Sequence[Entry]:
    """Return the rules in force that apply to a file of code, invariants first; none where they cannot be read."""
    return session.disk.once(_Rules).of(buffer.code) if buffer.code is not None else ()


def bind_always(session: EditorSession) -> int:
    """Return how many rules in force bind whatever the file is."""
    return session.disk.once(_Rules).everywhere


def count_words(rules: Sequence[Entry], *, everywhere: int = 0) -> str:
    """Return how many rules of which type apply, in words, and how many bind `everywhere` besides."""
    counts = Counter(rule.type.value for rule in rules)
    told = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items())
    return f"{told} {'apply' if len(rules) > 1 else 'applies'} to this file{always_words(everywhere)}"


def always_words(number: int) -> str:
    """Return that so many more rules bind whatever the file is; empty for none."""
    return f", +{number} that always {'bind' if number > 1 else 'binds'}" if number else ""


@dataclass(eq=False)
class _Rules:
    """The rules of files of code, as one look at the disk has them: what is not saved binds nobody."""

    workspace: Workspace
    _kept: dict[str, Sequence[Entry]] = field(default_factory=dict)

    def of(self, path: str) -> Sequence[Entry]:
        if path not in self._kept:
            try:
                self._kept[path] = rules_for(self.workspace, (path,))
            except MdmemError:
                return ()
        return self._kept[path]
