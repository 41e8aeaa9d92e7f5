"""Whether two bodies say the same: blanks that nobody sees, and where a link's target moved to, are no change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from mdmem.checks.references import Reference, references_in
from mdmem.document.parse import without_code


@dataclass(frozen=True, slots=True)
class Text:
    """The body of an entry, with the addresses of its tree and where entries moved from it."""

    address: str
    body: str
    addresses: Collection[str]
    moves: Mapping[str, str] = field(default_factory=dict)

    def references(self) -> list[Reference]:
        """Return the cross-references of the body, in order."""
        return list(references_in({self.address: without_code(self.body)}, self.addresses))

    def target(self, reference: Reference) -> str | None:
        """Return the address that a reference means after the moves."""
        return self.moves.get(reference.target, reference.target) if reference.target else None


def seen_lines(body: str) -> list[str]:
    """Return the lines of a body without the blanks at their ends, and without blank lines at its own."""
    text = "\n".join(line.rstrip() for line in body.split("\n")).strip("\n")
    return text.split("\n") if text else []


def says_the_same(before: Text, after: Text) -> bool:
    """Say whether nothing changed but unseen blanks, links that follow a move, and links that led nowhere."""
    if seen_lines(before.body) == seen_lines(after.body):
        return True
    old, new = before.references(), after.references()
    if not old or len(old) != len(new) or _masked(before.body, old) != _masked(after.body, new):
        return False
    return all(_means_the_same(before, after, pair) for pair in zip(old, new, strict=True))


def _means_the_same(before: Text, after: Text, pair: tuple[Reference, Reference]) -> bool:
    meant, means = before.target(pair[0]), after.target(pair[1])
    if meant is None:
        return means is not None or pair[0].link.target == pair[1].link.target
    return meant == means


def _masked(body: str, references: list[Reference]) -> list[str]:
    for reference in reversed(references):
        link = reference.link
        body = f"{body[: link.offset]}\0{body[link.offset + link.width :]}"
    return seen_lines(body)


def first_difference(before: str, after: str) -> tuple[int, str]:
    """Return the first line of the second body that the first has not there, counted from 0, and what it says.

    Where lines were only taken from the end, it is the last one that stayed.
    """
    old, new = seen_lines(before), seen_lines(after)
    pairs = enumerate(zip(old, new, strict=False))
    number = next((index for index, (one, other) in pairs if one != other), min(len(old), len(new)))
    number = next((index for index in range(number, len(new)) if new[index]), max(0, len(new) - 1))
    blank = next((index for index, line in enumerate(after.split("\n")) if line.strip()), 0)
    return number + blank, new[number] if new else ""
