"""What records say of one another, settled: both ends of each supersession, and the day on which a record ended."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.dataclass import dataclass, field
from mdmem.entry.model import Entry, Status
from mdmem.exchange.record import Claim, ClaimKind, ForeignRecord
from mdmem.exchange.references import References


@dataclass(frozen=True, slots=True)
class Settled:
    """The links of one record by field, the claims that nobody could carry over, and sentences about them."""

    links: dict[str, list[str]] = field(default_factory=dict)
    lost: list[Claim] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def add(self, name: str, address: str) -> None:
        """Add a link to a field, once."""
        links = self.links.setdefault(name, [])
        if address not in links:
            links.append(address)


_PASSIVE = {ClaimKind.SUPERSEDED_BY: "supersedes", ClaimKind.AMENDED_BY: "amends"}


def settle(
    records: Mapping[str, ForeignRecord], references: References, entries: Mapping[str, Entry]
) -> dict[str, Settled]:
    """Return the links of each record, by address; `entries` are there already, and are not written again.

    A record that names its successor gives both ends. One that names only what it supersedes has its claim carried
    over, and the other end is written where that record says of itself that it has ended.
    """
    settled = {address: Settled() for address in records}
    for address, record in records.items():
        for claim in record.claims:
            meant = references.meant(claim, record.source.folder)
            if len(meant) != 1 or meant[0] == address:
                _lose(settled[address], claim, meant, address)
            elif claim.kind in _PASSIVE:
                _take_passive(settled, claim, address, meant[0], entries.get(meant[0]))
            else:
                settled[address].add(claim.kind.value, meant[0])
    for address in records:
        for old in settled[address].links.get("supersedes", ()):
            if (
                old in records
                and records[old].status is Status.DEPRECATED
                and "superseded_by" not in settled[old].links
            ):
                settled[old].add("superseded_by", address)
    return settled


def _lose(one: Settled, claim: Claim, meant: tuple[str, ...], address: str) -> None:
    words = claim.kind.value.replace("_", " ")
    why = "is no record that is imported"
    if meant == (address,):
        why = "is the record itself"
    elif meant:
        why = f"may be {' or '.join(meant)}"
    one.lost.append(claim)
    if not claim.is_in_text:
        one.said.append(f"{words} `{claim.target}`, which {why}")


def _take_passive(settled: dict[str, Settled], claim: Claim, address: str, other: str, there: Entry | None) -> None:
    if claim.kind is ClaimKind.SUPERSEDED_BY:
        settled[address].add("superseded_by", other)
    if other in settled and there is None:
        settled[other].add(_PASSIVE[claim.kind], address)
    elif claim.kind is ClaimKind.AMENDED_BY and (there is None or address not in there.amends):
        settled[address].lost.append(claim)
        settled[address].said.append(f"amended by {other}, which is in the memory already and does not say so")


def ended_at(record: ForeignRecord, settled: Settled, days: Mapping[str, str]) -> str | None:
    """Return the day on which a record's first successor was made; None where none is known."""
    if record.status is not Status.DEPRECATED:
        return None
    found = [days[one] for one in settled.links.get("superseded_by", ()) if one in days]
    return min(found) if found else None
