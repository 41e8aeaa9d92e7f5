"""The verbs that talk to other repositories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mdmem.workspace.opened import Opened

if TYPE_CHECKING:
    from mdmem.sync.model import Synced
    from mdmem.workspace.fetching import FetchedWings


class SyncVerbs(Opened):
    """The verbs that are about other repositories; `sync` and `fetch_wings` alone talk to them."""

    def sync(self, *, draw: Callable[[], float] | None = None, sleep: Callable[[float], None] | None = None) -> Synced:
        """Bring the branch and its upstream together; raises what `syncing.sync` raises.

        `draw` and `sleep` decide how long to wait where others push first: by chance and by the clock if not given.
        """
        import random
        import time

        from mdmem.workspace.syncing import sync

        return sync(self, draw=draw or random.random, sleep=sleep or time.sleep)

    def aged_wings(self) -> tuple[str, ...]:
        """Return a sentence for each wing of another repository that was not asked for in the last 30 days."""
        from mdmem.workspace.fetched import aged_wings

        return aged_wings(self)

    def fetch_wings(
        self, names: Sequence[str] = (), *, pinned: bool = False, commit: bool | None = None
    ) -> FetchedWings:
        """Fetch the wings of other repositories and pin them to what they are now; with `pinned`, fetch the pins."""
        from mdmem.workspace.fetching import fetch_wings

        return fetch_wings(self, names, pinned=pinned, commit=commit)
