"""What the memory says of a file of code: the rules in force whose globs meet it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, field

from mdmem.ask.brief import always_for, rules_for
from mdmem.errors import MdmemError
from mdmem.lsp.buffer import Buffer
from mdmem.lsp.session import EditorSession
from mdmem.model.entry import Entry
from mdmem.store.workspace.workspace import Workspace


def rules_of(session: EditorSession, buffer: Buffer) -> CodeRules:
    """Return what applies to a file of code; nothing where it cannot be read."""
    return session.disk.once(_Rules).of(buffer.code) if buffer.code is not None else CodeRules()


class CodeRules(Struct, frozen=True):
    """The rules in force that apply to a file, invariants first, and how many bind whatever the file is."""

    rules: Sequence[Entry] = ()
    always: int = 0

    @property
    def in_words(self) -> str:
        """Return how many rules of which type apply; empty where none does."""
        counts = Counter(rule.type.value for rule in self.rules)
        told = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items())
        applies = f"{told} {'apply' if len(self.rules) > 1 else 'applies'} to this file" if told else ""
        return ", ".join(filter(None, (applies, self.more)))

    @property
    def more(self) -> str:
        """Return that so many more bind whatever the file is; empty for none."""
        return f"+{self.always} that always {'bind' if self.always > 1 else 'binds'}" if self.always else ""


class _Rules(Struct, eq=False):
    """The rules of files of code, as one look at the disk has them: what is not saved binds nobody."""

    workspace: Workspace
    _kept: dict[str, CodeRules] = field(default_factory=dict)

    def of(self, path: str) -> CodeRules:
        if path not in self._kept:
            try:
                rules = rules_for(self.workspace, (path,))
                self._kept[path] = CodeRules(rules, len(always_for(self.workspace, (path,))) if rules else 0)
            except MdmemError:
                return CodeRules()
        return self._kept[path]
