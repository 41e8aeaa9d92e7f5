"""The board: drafts that wait, what is overdue, contradictions, owners, and what `check` found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from typing import Any

from msgspec import Struct

from mdmem.ask.contradictions import contradictions_among
from mdmem.model.entry import Entry, Status, day_of
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.model.text import visible
from mdmem.render.words import count
from mdmem.site.links import BOARD, href_from, page_of
from mdmem.site.rows import PageRows, Row

# More is told by the command.
_MOST = 200
_VERIFYING = "`mdmem verify` says that they still hold."
_WAITING = (
    ("Overdue", ("review-overdue", "expired"), _VERIFYING),
    ("Owner missing", ("owner-missing",), "Somebody answers for every rule."),
)


class Board(Struct, frozen=True):
    """What waits for somebody; `in_texts` has the entries that a text names."""

    rows: PageRows
    in_texts: Container[str]

    def context(self) -> dict[str, Any]:
        """Return what the template of the board is given."""
        facts, entries = self.rows.facts, self.rows.facts.catalog.entries
        by_code: dict[str, list[Entry]] = defaultdict(list)
        for finding in facts.findings:
            if finding.address in entries:
                by_code[finding.code].append(entries[finding.address or ""])
        claimed, amended = facts.catalog.lineage.claimed_by, facts.catalog.amendments.of
        most = count(facts.workspace.settings.review_after_days, "day")
        groups: list[tuple[str, Sequence[Entry], str]] = [
            ("Drafts", [e for e in facts.entries if e.status is Status.DRAFT], "`mdmem approve` puts one in force."),
            (
                "Under review",
                [e for e in facts.entries if facts.state(e) == "under review"],
                "They bind, with a doubt.",
            ),
            *(
                (title, [*dict.fromkeys(e for code in codes for e in by_code[code])], said)
                for title, codes, said in _WAITING
            ),
            ("Amended", [e for e in facts.entries if amended(e.address)], "Read with what amends them."),
            (
                "Claimed",
                [e for e in facts.entries if claimed(e.address)],
                "Another entry claims to have replaced them.",
            ),
        ]
        groups += [
            ("Not verified", facts.unverified, f"In force for more than {most} and never verified: {_VERIFYING}"),
            ("Alone", self._orphans(), "Nothing names them, they name nothing, and they are about no code."),
        ]
        lists = [(title, self._rows(some), len(some), said) for title, some, said in groups]
        current = frozenset(entry.address for entry in facts.entries if facts.is_current(entry))
        pairs = [(one.a, one.b) for one in contradictions_among(facts.catalog, current)]
        counted = Counter(e.owner for e in facts.entries if e.owner and facts.is_current(e))
        drafts = Counter(e.owner for e in facts.entries if e.owner and e.status is Status.DRAFT)
        owners = sorted({*counted, *drafts}, key=lambda one: (-counted[one], str(one)))
        problems = [one for one in facts.findings if severity_of(one) != "info"]
        return {
            "lists": lists,
            "pairs": [(self.rows.named(a, BOARD), self.rows.named(b, BOARD)) for a, b in pairs],
            "owners": [{"name": visible(str(o)), "current": counted[o], "drafts": drafts[o]} for o in owners],
            "problems": [self._problem(one) for one in problems[:_MOST]],
            "more_problems": max(0, len(problems) - _MOST),
        }

    def _rows(self, found: Sequence[Entry]) -> list[Row]:
        """Return the first of a group, each with since when it is there and with who answers for it."""
        told = ((entry, day_of(entry.created_at) if entry.created_at else None) for entry in found[:_MOST])
        return [
            {**self.rows.row(entry, BOARD), "said": visible(", ".join(str(one) for one in (day, entry.owner) if one))}
            for entry, day in told
        ]

    def _orphans(self) -> Sequence[Entry]:
        facts = self.rows.facts
        return [
            e
            for e in facts.entries
            if facts.is_current(e) and not (e.address in facts.named_by or e.address in self.in_texts or e.applies_to)
            if not any(e.links(name) for name in LINK_FIELDS)
        ]

    def _problem(self, finding: Finding) -> dict[str, Any]:
        known = finding.address in self.rows.facts.catalog.entries
        return {
            "severity": severity_of(finding),
            "path": f"{visible(finding.place.path)}:{finding.place.line}",
            "href": href_from(BOARD, page_of(finding.address or "")) if known else None,
            "message": visible(finding.message),
            "code": finding.code,
            "help": visible(finding.help),
        }


def severity_of(finding: Finding) -> str:
    """Return how grave a finding is, `info` where nothing says it."""
    return finding.severity.value if finding.severity is not None else "info"
