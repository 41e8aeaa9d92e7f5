"""Tell proposed entries from agreed ones, by branch and by merge.

A proposal changes nothing. Where it changed an entry that is in force on the default branch, or took it away, the
version of the default branch answers, and says what is proposed; the other version is shown among what is proposed. A
new entry is shown in its place, marked, behind what binds; what it supersedes or overrides stays in force until it is
on the default branch itself. So of manifests: that of the default branch counts. `proposals` is
the default branch's, too, and a claim is a fact only where it agrees; other settings are those of the files read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.errors import MdmemError, SettingsError
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Entry, EntryType, Status, of_kind
from mdmem.model.lineage import BINDING, Stance, Standing
from mdmem.store.catalog import Catalog, interpret, is_entry_place, settings_bytes
from mdmem.store.git import Blob, Repository, UnknownRevisionError, read_blobs, resolve
from mdmem.store.git.discovery import DefaultBranch, find_default_branch
from mdmem.store.git.merge import merge_base
from mdmem.store.git.status import last_touches, list_changed_on_disk, list_differing
from mdmem.store.settings import OneSided, Proposals, Settings, parse_settings
from mdmem.store.tree import SETTINGS_NAME, FileKind, GitTree, OverlaidTree, digest_of, narrowed, path_of
from mdmem.store.workspace.workspace import Workspace

if TYPE_CHECKING:
    from mdmem.store.git.status import Touch


_MANIFEST = re.compile(r"[^/]+/README\.md")


class Standings(Struct, frozen=True):
    """How the files of a tree stand to the default branch, by path from the root; what is not named is the same there.

    `displaced` are the files of the default branch, with their digests, that a proposal changed or took away. What the
    default branch alone has added or changed since this one left it is no proposal: those that are older here are
    outdated, those that are not here are not missed. `settings` is the digest of its settings, None where it has none;
    what is read `is_agreed` where it was the default branch's itself, now or then.
    """

    branch: DefaultBranch
    found: Mapping[str, Standing] = field(default_factory=dict)
    displaced: Mapping[str, str] = field(default_factory=dict)
    touches: Mapping[str, Touch] = field(default_factory=dict)
    settings: str | None = None
    is_agreed: bool = False


def find_standings(workspace: Workspace) -> Standings | None:
    """Return how the tree of a workspace stands; None where that cannot be told, as before the first commit.

    A commit in the history of the default branch was binding itself. Of the index and of a merge nothing is told.
    """
    snapshot, repository = workspace.snapshot, workspace.location.repository
    if repository is None or snapshot.staged or snapshot.merge_into is not None:
        return None
    try:
        branch = find_default_branch(repository)
        if branch is None:
            return None
        return _StandingScan(workspace, repository, branch).standings()
    # What cannot be told is left out: an answer without it is an answer.
    except (MdmemError, OSError, ValueError):
        return None


class _StandingScan(Struct, frozen=True, dict=True):
    """One comparison of a tree with the default branch; paths count from the root."""

    workspace: Workspace
    repository: Repository
    branch: DefaultBranch

    def standings(self) -> Standings | None:
        if self._commit is None:
            return None
        if self.workspace.snapshot.is_dated or (not self._is_disk and self._base == self._commit):
            return Standings(self.branch, is_agreed=True)
        found = dict(self._found())
        binding = self._binding
        # What is read as it binds is not displaced.
        candidates = sorted(self._unlike_binding[1] | (binding.keys() & found.keys()))
        displaced = {path: binding[path] for path in candidates if self._is_displaced(path, found)}
        is_proposed = Standing.PROPOSED in found.values()
        touches = self._touches() if is_proposed else {}
        return Standings(self.branch, found, displaced, touches, self._binding.get(SETTINGS_NAME))

    @property
    def _is_disk(self) -> bool:
        return self.workspace.snapshot.is_working_tree

    @cached_property
    def _commit(self) -> str | None:
        """The commit that is read, or that the files on disk come from; None before the first one."""
        if self._is_disk and self.branch.is_here:
            return self.branch.commit
        try:
            return resolve(self.repository, self.workspace.snapshot.revision or "HEAD")
        except UnknownRevisionError:
            return None

    @cached_property
    def _base(self) -> str | None:
        """The commit at which the branch left the default one; None where a shallow clone, or nothing, has it."""
        if self._commit == self.branch.commit:
            return self._commit
        try:
            return merge_base(self.repository, self.branch.commit, self._commit or "")
        except MdmemError:
            return None

    @cached_property
    def _binding(self) -> Mapping[str, str]:
        """The digest of each file of the default branch."""
        listed = GitTree(self.repository, self.workspace.location.under, self.branch.commit, self.branch.ref).files()
        return {one.path: one.digest or "" for one in listed if one.kind is FileKind.FILE}

    def _from_root(self, path: str) -> str:
        return path.removeprefix(f"{self.workspace.location.under}/") if self.workspace.location.under else path

    def _from_top(self, path: str) -> str:
        return f"{self.workspace.location.under}/{path}" if self.workspace.location.under else path

    def _differing(self, one: str) -> dict[str, Blob | None]:
        listed = list_differing(self.repository, one, self._commit or "", self.workspace.location.under)
        return {self._from_root(path): blob for path, blob in listed.items()}

    @cached_property
    def _unlike(self) -> dict[str, Blob | None]:
        """What the commit holds where it differs from the default branch."""
        return {} if self._commit == self.branch.commit else self._differing(self.branch.commit)

    @cached_property
    def _changed_here(self) -> frozenset[str]:
        """The files that the commits of this branch changed; of unknown history every difference counts."""
        if self._base in (None, self.branch.commit):
            return frozenset(self._unlike)
        return frozenset(self._differing(self._base or "") if self._base != self._commit else ())

    def _committed(self, path: str) -> str | None:
        """Return the digest of what the commit holds at a path."""
        if path not in self._unlike:
            return self._binding.get(path)
        blob = self._unlike[path]
        return blob.digest if blob is not None else None

    @cached_property
    def _read(self) -> dict[str, str]:
        """The digest of each file that is read and may bind; an unreadable one has none that git knows.

        Wings of other repositories are left out: what stands there was agreed upon there.
        """
        catalog = self.workspace.catalog
        # What holds an entry was read: where all do, none of thousands is looked up.
        found = catalog.file_digests
        if catalog.broken:
            found = dict.fromkeys(map(path_of, catalog.files), "") | found
        elsewhere = catalog.fetched_wings
        if not elsewhere:
            return found
        return {path: one for path, one in found.items() if path.partition("/")[0] not in elsewhere}

    @cached_property
    def _changed_on_disk(self) -> frozenset[str]:
        if not self._is_disk:
            return frozenset()
        unlike = [*self._differing_from_binding, *self._unlike.keys()]
        read = {path: self._read[path] for path in unlike if path in self._read}
        doubtful = [path for path, digest in read.items() if digest != (self._committed(path) or digest)]
        if not doubtful:
            return frozenset()
        paths = list(map(self._from_top, doubtful))
        changed = list_changed_on_disk(self.repository, paths, self.workspace.location.under)
        return frozenset(map(self._from_root, changed))

    @cached_property
    def _differing_from_binding(self) -> tuple[str, ...]:
        return self._unlike_binding[0]

    @cached_property
    def _unlike_binding(self) -> tuple[tuple[str, ...], Set[str]]:
        """The files read that are not as the default branch has them, in their order, and those that are not read."""
        read, binding = self._read, self._binding
        return tuple(path for path, digest in read.items() if binding.get(path) != digest), binding.keys() - read.keys()

    def _found(self) -> Iterator[tuple[str, Standing]]:
        for path in self._differing_from_binding:
            committed = self._committed(path)
            if self._is_disk and (committed is None or path in self._changed_on_disk):
                yield path, Standing.UNCOMMITTED
            elif path in self._changed_here:
                yield path, Standing.PROPOSED
            elif committed != self._binding.get(path):
                yield path, Standing.OUTDATED

    def _is_displaced(self, path: str, found: Mapping[str, Standing]) -> bool:
        is_read = path in self._read
        if is_read and (path not in found or not found[path].is_proposal):
            return False
        if not _is_read(path) or not self.workspace.access.sees(path):
            return False
        if path.startswith(self._unreadable):
            return False
        return is_read or path in self._changed_here or self._committed(path) is not None

    @cached_property
    def _unreadable(self) -> tuple[str, ...]:
        """What cannot be read on disk, and what lies below it: it is neither changed nor gone, but a problem."""
        catalog = self.workspace.catalog
        unlisted = (file.path for file in catalog.others if file.kind is FileKind.UNREADABLE)
        folders = ("" if path == "." else f"{path}/" for path in unlisted)
        return (*folders, *(path for path, one in catalog.broken.items() if one.is_closed))

    def _touches(self) -> Mapping[str, Touch]:
        since, tip = self._base or self.branch.commit, self._commit or ""
        touched = last_touches(self.repository, since, tip, self.workspace.location.under)
        return {self._from_root(path): touch for path, touch in touched.items()}


def _is_read(path: str) -> bool:
    """Say whether what stands at a path of the default branch may bind."""
    return is_entry_place(path) or _MANIFEST.fullmatch(path) is not None


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
