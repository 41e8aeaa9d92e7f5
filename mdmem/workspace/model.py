"""What the verbs answer that no lower layer has a type for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from mdmem.entry.model import Entry
from mdmem.gitrepo import Commit
from mdmem.index.protocol import IndexState
from mdmem.standing import Stance
from mdmem.workspace.remote_wings import Borrowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One entry as its file states it, and how it stands in its chain."""

    entry: Entry
    front_matter: Mapping[str, Any]
    body: str
    current: bool
    heads: tuple[str, ...]
    stance: Stance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """One entry of a chain, with what it replaced, and the commits that touched its file, newest first."""

    entry: Entry
    current: bool
    replaced: tuple[str, ...]
    commits: tuple[Commit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why an entry binds or does not: its chain, the oldest first, its heads, and what bears on it."""

    address: str
    chain: tuple[ChainLink, ...]
    heads: tuple[str, ...]
    contradictory: bool
    draft: bool = False
    unread: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    overridden_by: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WingCount:
    """How many entries a wing holds, by type and by status."""

    name: str
    kind: str
    types: Mapping[str, int]
    statuses: Mapping[str, int]
    broken: int

    @property
    def total(self) -> int:
        """Return the number of readable entries."""
        return sum(self.types.values())


@dataclass(frozen=True, slots=True)
class LastHygiene:
    """The day of the last full round of hygiene, None for never, and whether the next one is due."""

    day: date | None = None
    is_due: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """Where the memory is, what it holds, and how its index and its findings stand."""

    root: Path
    why: str
    tree: str
    active_wing: str | None
    wings: tuple[WingCount, ...]
    index: IndexState
    findings: Mapping[str, int]
    hygiene: LastHygiene = LastHygiene()
    borrowed: tuple[Borrowed, ...] = ()
    remarks: tuple[str, ...] = ()
