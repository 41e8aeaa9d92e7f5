"""What hygiene reports: the five conditions of the contract, what is stale, and what files and git tell besides."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from mdmem.finding import Finding
from mdmem.hygiene.freshness import Freshness
from mdmem.state.ledger_model import PendingWrite

Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class StaleItem:
    """An entry that nobody looked at for longer than its type allows; `label` is the contract's word for its kind."""

    id: str
    label: str
    title: str
    age_days: int
    freshness: Freshness


@dataclass(frozen=True, slots=True, kw_only=True)
class Hygiene:
    """What needs maintenance, by address.

    `duplicates` are groups of entries that say nearly the same, `drifted` groups of entities of one name, `unresolved`
    the writes that did not complete. `findings` is what the contract does not ask for; `titles` names the addresses.
    """

    checked_at: date
    project_id: str | None = None
    scope: str | None = None
    duplicates: Groups = ()
    outdated: tuple[str, ...] = ()
    obsolete: tuple[str, ...] = ()
    drifted: Groups = ()
    unresolved: tuple[PendingWrite, ...] = ()
    stale_items: tuple[StaleItem, ...] = ()
    findings: tuple[Finding, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)

    @property
    def duplicates_found(self) -> int:
        """Return how many entries could go without a loss: of each group all but one."""
        return sum(len(group) - 1 for group in self.duplicates)

    @property
    def is_clean(self) -> bool:
        """Say whether nothing needs maintenance."""
        kinds = (self.duplicates, self.outdated, self.obsolete, self.drifted, self.unresolved, self.findings)
        return not any(kinds)
