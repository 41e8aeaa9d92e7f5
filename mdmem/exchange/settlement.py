"""What records say of one another, settled: both ends of each supersession, and the day on which a record ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from mdmem.exchange.record import Claim, ClaimKind, ForeignRecord, Guess, Sureness
from mdmem.exchange.references import References
from mdmem.model.entry import Entry, Status


class Settled(Struct, frozen=True):
    """The links of one record by field, the claims that nobody could carry over, and sentences about them.

    `reasons` are the words with which it says that it changes a part of others.
    """

    links: dict[str, list[str]] = field(default_factory=dict)
    lost: list[Claim] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def add(self, name: str, address: str) -> None:
        """Add a link to a field, once."""
        links = self.links.setdefault(name, [])
        if address not in links:
            links.append(address)

    def drop(self, name: str, address: str) -> None:
        """Take a link out of a field, and the field with its last one."""
        self.links[name].remove(address)
        if not self.links[name]:
            del self.links[name]

    def explain(self, claim: Claim) -> None:
        """Keep the words of a claim on a part, once."""
        if claim.qualifier and claim.qualifier not in self.reasons:
            self.reasons.append(claim.qualifier)


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
                settled[address].explain(claim)
    for older, newer in _in_part(records, references):
        if newer in settled and older in settled[newer].links.get("supersedes", ()):
            settled[newer].drop("supersedes", older)
    for address in records:
        # A record's own word on its end outweighs what another says of a part of it.
        for newer in settled[address].links.get("superseded_by", ()):
            if newer in settled and address in settled[newer].links.get("amends", ()):
                settled[newer].drop("amends", address)
        for old in settled[address].links.get("supersedes", ()):
            if (
                old in records
                and records[old].status is Status.DEPRECATED
                and "superseded_by" not in settled[old].links
            ):
                settled[old].add("superseded_by", address)
    return settled


def _in_part(records: Mapping[str, ForeignRecord], references: References) -> Iterator[tuple[str, str]]:
    """Yield each record that says of itself that a part of it was superseded, with the one that did so."""
    for address, record in records.items():
        for claim in record.claims:
            if claim.kind is ClaimKind.AMENDED_BY:
                yield from ((address, newer) for newer in references.meant(claim, record.source.folder))


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
        settled[other].explain(claim)
    elif claim.kind is ClaimKind.AMENDED_BY and (there is None or address not in there.amends):
        settled[address].lost.append(claim)
        settled[address].said.append(f"amended by {other}, which is in the memory already and does not say so")


def ended_at(
    address: str, record: ForeignRecord, settled: Settled, days: Mapping[str, str]
) -> tuple[str | None, Guess | None]:
    """Return the day on which a record ended, and how it was guessed; None where it is not known.

    It is the day that the record states, else that of its first successor; what was never in force ended on its own.
    """
    if record.status is not Status.DEPRECATED or record.ended_on is not None:
        return record.ended_on if record.status is Status.DEPRECATED else None, None
    found = [days[one] for one in settled.links.get("superseded_by", ()) if one in days]
    if found:
        return min(found), Guess("the day of what took its place", Sureness.LIKELY)
    return (days[address], Guess("the day of its record", Sureness.LIKELY)) if record.is_refused else (None, None)
