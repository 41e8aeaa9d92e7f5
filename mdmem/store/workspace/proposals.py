"""What answers a question where a branch, or the disk, proposes something that the default branch has not.

A proposal changes nothing. Where it changed an entry that is in force on the default branch, or took it away, the
version of the default branch answers, and says what is proposed; the other version is shown among what is proposed. A
new entry is shown in its place, marked, behind what binds; what it supersedes or overrides stays in force until it is
on the default branch itself. So of manifests: that of the default branch counts. `proposals` is
the default branch's, too, and a claim is a fact only where it agrees; other settings are those of the files read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import SettingsError
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.selection import of_kind
from mdmem.model.standing import BINDING, Stance, Standing
from mdmem.store.catalog import Catalog, interpret, is_entry_place, settings_bytes
from mdmem.store.git import read_blobs
from mdmem.store.settings import OneSided, Proposals, Settings, parse_settings
from mdmem.store.tree import OverlaidTree, digest_of, narrowed
from mdmem.store.workspace.standing import Standings, find_standings
from mdmem.store.workspace.workspace import Workspace

# What people state of an entry that it does not say itself.
_STANDING = ("status", "approved_by", "verified_at")
# What one entry does to another, by the field that says so.
_EFFECTS = {"supersedes": "supersede", "overrides": "override", "amends": "amend"}


class View(Struct, frozen=True):
    """What answers, and the files as they are, both with the standing of each entry where that is known.

    `overridden` are the entries of which `effective` has another version than the `checkout`; `alternatives` are those
    of them of which the version of the checkout is shown, too.
    """

    effective: Workspace
    checkout: Workspace
    overridden: frozenset[str] = frozenset()
    alternatives: frozenset[str] = frozenset()

    def over(self, workspace: Workspace) -> View:
        """Return the same view of the same files, in the same standing, as another workspace reads them."""
        checkout = _laid_over(self.checkout, workspace)
        if self.effective is self.checkout:
            return replace(self, effective=checkout, checkout=checkout)
        effective = _laid_over(self.effective, workspace)
        source = checkout if self.effective.index_source is not None else None
        return replace(self, effective=replace(effective, index_source=source), checkout=checkout)


def _laid_over(kept: Workspace, workspace: Workspace) -> Workspace:
    tree, made = workspace.whole_tree, kept.whole_tree
    if isinstance(made, OverlaidTree):
        tree = OverlaidTree(tree, made.changed, made.gone)
    return workspace.over(tree).with_catalog(kept.catalog.over(narrowed(tree, workspace.access)))


def view_of(workspace: Workspace) -> View:
    """Return what answers for a workspace; it is made once for each."""
    return workspace.once(_view_of)


def merged_decisions(workspace: Workspace) -> list[str]:
    """Return the addresses of agents' decisions that were merged into the default branch and not approved, sorted."""
    catalog = view_of(workspace).checkout.catalog
    return sorted(filter(catalog.is_merged, catalog.stances or ()))


def _view_of(workspace: Workspace) -> View:
    standings, checkout = find_standings(workspace), workspace
    if standings is not None:
        stances = dict(_stances(standings))
        stances |= _merged(workspace.catalog.entries, stances)
        checkout = workspace.with_catalog(replace(workspace.catalog, stances=stances))
    if standings is None:
        return View(checkout, checkout)
    has_claims_as_facts = checkout.catalog.one_end_suffices and not standings.is_agreed
    if not standings.found and not standings.displaced and not has_claims_as_facts:
        return View(checkout, checkout)
    agreed = _agreed_settings(standings, workspace)
    if agreed.proposals is Proposals.COUNT:
        return View(checkout, checkout)
    return _Composition(checkout, standings, agreed).view()


def _agreed_settings(standings: Standings, workspace: Workspace) -> Settings:
    """Return the default branch's settings: a branch does not decide that its proposals count, or a claim is a fact."""
    repository, digest = workspace.location.repository, standings.settings
    if repository is None or digest is None:
        return Settings()
    # Nearly always the file is as it is there, and git need not be asked.
    content = settings_bytes(workspace.tree)
    if not isinstance(content, bytes) or digest_of(content) != digest:
        content = dict(read_blobs(repository, [digest]))[digest] or b""
    try:
        return parse_settings(content)
    except SettingsError as error:
        return error.readable if isinstance(error.readable, Settings) else Settings()


def _merged(entries: Mapping[str, Entry], known: Collection[str]) -> Iterator[tuple[str, Stance]]:
    """Yield the standing of agents' decisions that are drafts on the default branch; `known` stand otherwise."""
    for address in of_kind(entries, Status.DRAFT):
        if address not in known and entries[address].type is EntryType.DECISION and entries[address].agent:
            yield address, Stance(Standing.MERGED)


def _stances(standings: Standings) -> Iterator[tuple[str, Stance]]:
    """Yield the standing of each entry that is read and not the same on the default branch."""
    branch = standings.branch.ref
    for path, standing in standings.found.items():
        if is_entry_place(path):
            touch = standings.touches.get(path) if standing is Standing.PROPOSED else None
            author, commit = (touch.author, touch.commit) if touch is not None else (None, None)
            note = f"`{branch}` has changed it since" if standing is Standing.OUTDATED else ""
            note = f"another version stands on `{branch}`" if path in standings.displaced else note
            yield path.removesuffix(".md"), Stance(standing, author, commit, note)


class _Composition(Struct, frozen=True):
    """One answer made of the default branch's entries and of proposals."""

    checkout: Workspace
    standings: Standings
    agreed: Settings

    @property
    def wanted(self) -> Proposals:
        """Return what becomes of proposals."""
        return self.agreed.proposals

    def view(self) -> View:
        restored = dict(self._restored())
        hidden = frozenset[str]()
        if self.wanted is Proposals.HIDE:
            standings = self.standings.found.items()
            proposed = {path for path, standing in standings if standing.is_proposal and is_entry_place(path)}
            hidden = frozenset(proposed - restored.keys())
        if not restored and not hidden:
            catalog = self._as_answer(self.checkout.catalog, {})
            return View(self.checkout.with_catalog(catalog), self.checkout)
        tree = OverlaidTree(self.checkout.whole_tree, restored, hidden)
        effective = replace(self.checkout.over(tree), index_source=self.checkout)
        found = self._with_problems(effective.catalog, restored)
        overridden = frozenset(path.removesuffix(".md") for path in restored)
        effective = effective.with_catalog(self._as_answer(found, restored))
        return View(effective, self.checkout, overridden, frozenset(self._alternatives(effective.catalog, overridden)))

    def _restored(self) -> Iterator[tuple[str, bytes]]:
        """Yield what the default branch holds of files that a proposal changed or took away.

        Of entries that are not in force there the proposal's version stands, unless proposals are hidden.
        """
        displaced, repository = self.standings.displaced, self.checkout.location.repository
        if not displaced or repository is None:
            return
        contents = dict(read_blobs(repository, sorted(set(displaced.values()))))
        for path, digest in sorted(displaced.items()):
            content = contents[digest]
            if content is not None and self._is_needed(path, content):
                yield path, content

    def _is_needed(self, path: str, content: bytes) -> bool:
        if self.wanted is Proposals.HIDE or not is_entry_place(path):
            return True
        entry = interpret(parse_document(path, content)).entry
        return entry is not None and entry.is_in_force

    def _with_problems(self, catalog: Catalog, restored: Mapping[str, bytes]) -> Catalog:
        """Return a catalog that tells what is wrong with files although the default branch's version answers."""
        files = self.checkout.catalog
        broken = {path: one for path, one in files.broken.items() if path in restored}
        findings = [one for one in files.findings if one.place.path in restored]
        found = sorted([*catalog.findings, *findings], key=lambda one: one.sort_key)
        return replace(catalog, broken={**catalog.broken, **broken}, findings=tuple(found))

    def _as_answer(self, catalog: Catalog, restored: Mapping[str, bytes]) -> Catalog:
        stances = {**(self.checkout.catalog.stances or {})}
        for path in restored:
            address = path.removesuffix(".md")
            stances[address] = Stance(Standing.BINDING, note=self._proposal_for(address))
        entries = catalog.entries
        proposed = {address for address, stance in stances.items() if stance.standing.is_proposal} & entries.keys()
        without = {address: _without_effect(entries[address], entries.keys(), proposed) for address in proposed}
        for address, changed in without.items():
            stances[address] = replace(stances[address], note="; ".join(effects_of(entries[address], changed)))
        others = {address: changed for address, changed in without.items() if changed != entries[address]}
        # What follows from the entries is kept where none differs.
        entries = {**entries, **others} if others else entries
        is_agreed = bool(catalog.one_end_suffices) and self.agreed.one_sided is OneSided.FACT
        answer = replace(catalog, entries=entries, stances=stances, one_end_suffices=is_agreed)
        for old, news in self._would_amend(answer, proposed | {path.removesuffix(".md") for path in restored}).items():
            stances[old] = replace(stances.get(old, BINDING), amended_by=tuple(news))
        return answer

    def _would_amend(self, answer: Catalog, proposed: Set[str]) -> dict[str, list[str]]:
        """Return, for what binds, the proposals that amend it in the files and not in the answer."""
        found: dict[str, list[str]] = {}
        files = self.checkout.catalog.amendments
        for new in sorted(proposed if self.wanted is not Proposals.HIDE else ()):
            for old in files.by(new):
                if old in answer.entries and new not in answer.amendments.of(old):
                    found.setdefault(old, []).append(new)
        return found

    def _proposal_for(self, address: str) -> str:
        """Return what is proposed for an entry that binds, in a few words."""
        catalog, path = self.checkout.catalog, f"{address}.md"
        standing = self.standings.found.get(path)
        where = "a commit of this branch" if standing is Standing.PROPOSED else "the disk"
        if standing is None:
            return "it is gone here, which is only proposed"
        entry, heads = catalog.entries.get(address), catalog.lineage.heads(address)
        if entry is None:
            return f"{where} has a version that cannot be read"
        if heads and address not in heads:
            return f"{where} proposes to replace it by {', '.join(heads)}"
        return f"{where} proposes another version" if entry.is_in_force else f"{where} proposes to end it"

    def _alternatives(self, answer: Catalog, overridden: Set[str]) -> Iterator[str]:
        """Yield the addresses of which a version is proposed that says something else, and would bind or is a draft."""
        if self.wanted is Proposals.HIDE:
            return
        catalog = self.checkout.catalog
        for address in overridden:
            entry = catalog.entries.get(address)
            if entry is None or not (entry.status is Status.DRAFT or catalog.lineage.is_current(address)):
                continue
            if not _says_the_same(catalog, answer, address):
                yield address


def _says_the_same(files: Catalog, answer: Catalog, address: str) -> bool:
    """Say whether the version of the files differs from the one that answers in its standing alone."""
    new, old = files.entries[address], answer.entries.get(address)
    if old is None or new.with_changes(**{name: getattr(old, name) for name in _STANDING}) != old:
        return False
    return new.status is not Status.DRAFT and files.body(address) == answer.body(address)


def _without_effect(entry: Entry, known: Set[str], proposed: Set[str]) -> Entry:
    """Return a proposed entry that supersedes, overrides and amends none that is known and not proposed itself."""
    kept: dict[str, Any] = {
        name: tuple(link for link in entry.links(name) if link in proposed or link not in known) for name in _EFFECTS
    }
    return entry.with_changes(**kept)


def effects_of(stated: Entry, without: Entry | None = None) -> Iterator[str]:
    """Yield what an entry would do to others, beyond what it does `without` some of its links."""
    for name, verb in _EFFECTS.items():
        if named := [link for link in stated.links(name) if without is None or link not in without.links(name)]:
            yield f"would {verb} {', '.join(named)}"
