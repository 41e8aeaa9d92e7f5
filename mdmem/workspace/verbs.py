"""The verbs that write: each plans on the files as they are, and carries the plan out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mdmem.workspace.opened import Opened

if TYPE_CHECKING:
    from mdmem.workspace.writing import WriteOptions, Written


class WritingVerbs(Opened):
    """The verbs of an entry's life; each raises what `carry` raises, and UsageError and NotFoundError for its names."""

    def _address(self, name: str) -> str:
        from mdmem.workspace.naming import resolve_names

        return resolve_names(self, [name])[0]

    def deprecate(self, name: str, *, reason: str, options: WriteOptions) -> Written:
        """End an entry that nothing replaces."""
        from mdmem.authoring.deprecating import deprecate
        from mdmem.workspace.writing import carry

        return carry(self, deprecate(self.catalog, self._address(name), reason=reason, today=self.today), options)
