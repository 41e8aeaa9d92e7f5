"""The findings of a memory while its entries are edited: after an edit only what it can reach is looked at again.

What an edit reaches: the entry; every entry of its chains; what any of those names or is named by, before and after.
So the findings are those of a full run, at a cost that grows little with the memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain, groupby

from mdmem.catalog.edits import may_be_edited
from mdmem.catalog.links import reference_of
from mdmem.checks.case import Case
from mdmem.checks.engine import Ask, ask, run_checks
from mdmem.checks.extract import KeptExtract
from mdmem.checks.kept_findings import extracts_of
from mdmem.checks.registry import BY_PATHS, KEPT, READS
from mdmem.checks.rules import unused_suppression
from mdmem.checks.suppressions import Suppression
from mdmem.dataclass import replace
from mdmem.finding import Finding

_CHAIN_FIELDS = ("supersedes", "superseded_by")
# What leads nowhere is told where it may have meant to lead, and sentences name entries by their numbers: no link shows
# what these findings hang on.
_GUESSING = ("dangling-link", "body-link-broken")


class LiveFindings:
    """What the checks found in a memory, code by code, what they took from its files, and who names whom."""

    def __init__(self, case: Case, codes: Collection[str], asking: Ask = ask) -> None:
        """Take a whole case, with what is known of its files; `asking` may know an answer to it."""
        self._codes = tuple(codes)
        self._kept: dict[str, KeptExtract] = dict(case.kept)
        self._silent: dict[str, tuple[Suppression, ...]] = {}
        for path, stated in groupby(case.suppressions, lambda one: one.place.path):
            self._silent[path] = tuple(stated)
        self._links = _Links()
        self._links.take(case, case.catalog.with_bytes)
        self._found: dict[str, list[Finding]] = {}
        self._look(case, self._asked, asking=asking)
        self._case = case

    @property
    def _asked(self) -> list[str]:
        """The codes of checks that look at more than one file."""
        return [code for code in self._codes if code not in KEPT and code != unused_suppression.CODE]

    def findings(self) -> list[Finding]:
        """Return the findings, as a full run has them."""
        return run_checks(self._case, self._codes, asking=self._known)

    def _known(self, code: str, case: Case) -> list[Finding] | Exception:
        """Return what a check is known to find; one that failed is asked once more, so that the run tells of it."""
        return self._found[code] if code in self._found else ask(code, case)

    def may_edit(self, case: Case, edited: Iterable[str]) -> bool:
        """Say whether what changed since is the text of some entries' files alone, by path."""
        before = self._case
        is_same = (case.settings, case.today) == (before.settings, before.today) and case.facts is before.facts
        return is_same and may_be_edited(before.catalog, edited)

    def edit(self, case: Case, edited: Iterable[str]) -> None:
        """Take the same case with other bytes in some entries' files, by path, and look again at what that reaches."""
        paths = frozenset(edited)
        addresses = {path.removesuffix(".md") for path in paths}
        reached = self._links.reach(addresses)
        case = self._with_texts(case, paths)
        self._links.take(case, addresses)
        reached |= self._links.reach(addresses) | self._guessed()
        self._case = case
        near = self._links.around(reached)
        self._look(replace(case, near=near), self._asked, {f"{address}.md" for address in reached})

    def _with_texts(self, case: Case, paths: frozenset[str]) -> Case:
        """Return a case that knows of each file what the checks want of it alone, told anew of some."""
        made = extracts_of(case, {path: case.catalog.file_digests[path] for path in paths})
        self._kept = {**self._kept, **(made or {})}
        for path in paths - (made or {}).keys():
            self._kept.pop(path, None)
        case = replace(case, kept=self._kept)
        for path in paths:
            is_read = path.removesuffix(".md") in case.catalog.entries
            self._silent[path] = case.extract(path).suppressions if is_read else ()
        silent = tuple(chain.from_iterable(self._silent[path] for path in sorted(self._silent)))
        return replace(case, known_suppressions=silent)

    def _guessed(self) -> set[str]:
        found = (finding.address for code in _GUESSING for finding in self._found.get(code, ()))
        return {address for address in found if address is not None} | self._links.amending

    def _look(
        self, case: Case, codes: Iterable[str], reached: Collection[str] | None = None, *, asking: Ask = ask
    ) -> None:
        """Ask the checks, of all files or of those that an edit reached; one that fails is asked again by the run."""
        for code in codes:
            # Of one that failed nothing is known elsewhere: the run asks it of all.
            if reached is not None and (code in BY_PATHS or code not in self._found):
                continue
            found = asking(code, case)
            if isinstance(found, Exception):
                self._found.pop(code, None)
            elif reached is None or READS[code] == "graph":
                self._found[code] = found
            else:
                rest = [one for one in self._found[code] if one.place.path not in reached]
                self._found[code] = rest + [one for one in found if one.place.path in reached]


class _Links:
    """Who names whom in the fields and bodies of the entries, and who in the fields that make chains."""

    def __init__(self) -> None:
        self._named: dict[str, frozenset[str]] = {}
        self._on_chain: dict[str, frozenset[str]] = {}
        self._naming: dict[str, set[str]] = {}
        self.amending: set[str] = set()

    def take(self, case: Case, addresses: Iterable[str]) -> None:
        """Take what entries name as a case has them."""
        entries, known = case.catalog.entries, case.catalog.addresses
        for address in addresses:
            extract = case.extract(f"{address}.md")
            (self.amending.add if extract.amendments else self.amending.discard)(address)
            found = {reference_of(link, address, known).target for link in extract.references}
            entry = entries.get(address)
            linked = {link.field: entry.links(link.field) for link in extract.links} if entry is not None else {}
            on_chain = frozenset(link for name in _CHAIN_FIELDS if name in linked for link in linked[name])
            related = (relation.to for relation in entry.relations) if entry is not None else ()
            named = frozenset(chain(filter(None, found), related, *linked.values()))
            for other in self._named.get(address, frozenset()) - named:
                self._naming[other].discard(address)
            for other in named:
                self._naming.setdefault(other, set()).add(address)
            self._named[address], self._on_chain[address] = named, on_chain

    def reach(self, addresses: Iterable[str]) -> set[str]:
        """Return entries with their chains, and what any of them names or is named by."""
        members = set(addresses)
        todo = list(members)
        while todo:
            one = todo.pop()
            for other in self._beside(one) - members:
                members.add(other)
                todo.append(other)
        return members.union(self.naming(members), *(self._named.get(one, ()) for one in members))

    def around(self, addresses: Iterable[str]) -> frozenset[str]:
        """Return all whose links tell something of entries: an edge of a chain is judged with those beside it."""
        found = set(addresses)
        found = found.union(*map(self._beside, found))
        return frozenset(found | self.naming(found))

    def _beside(self, address: str) -> frozenset[str]:
        """Return what an entry is one step from on a chain, whichever end says so."""
        before = {other for other in self._naming.get(address, ()) if address in self._on_chain[other]}
        return self._on_chain.get(address, frozenset()) | before

    def naming(self, addresses: Iterable[str]) -> set[str]:
        """Return the entries that name one of some."""
        return set().union(*(self._naming.get(one, ()) for one in addresses))
