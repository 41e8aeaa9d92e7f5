"""Tell proposed entries from approved ones, by comparing the files that are read with the default branch.

A proposal is a change that is not on the default branch yet. It has no effect on answers:

- If a proposal changed or removed an entry that is current on the default branch, answers use the old version and
  mention the proposal. The proposed version is listed among the proposals.
- A new entry is shown where it belongs, but marked, and after the approved invariants and decisions. Entries that it
  supersedes or overrides stay current.
- Manifests, the setting `proposals`, and the setting that makes one-sided supersessions facts are read from the default
  branch. All other settings are read from the files.

The standing of an entry says whether it is approved, proposed, uncommitted, or outdated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from functools import cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem import SETTINGS_NAME
from mdmem.errors import MdmemError
from mdmem.markdown.parse import parse_document
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.lineage import BINDING, BranchState, Standing
from mdmem.store.catalog.addresses import is_entry_place, load_entry
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.history import last_touches, merge_base
from mdmem.store.git.process import DefaultBranch, find_default_branch, read_blobs, resolve
from mdmem.store.git.status import list_changed
from mdmem.store.settings import Settings, readable_settings
from mdmem.store.tree import MANIFEST_PATH, FileKind, GitTree, TreeView, digest_of, path_of, restrict, settings_bytes
from mdmem.store.workspace.workspace import Workspace


class BranchComparison(Struct, frozen=True):
    """The differences between the files of a tree and the default branch, by path from the root.

    `standings` says of each file that differs how it differs. `displaced` has the hashes of the default branch's files
    that a proposal changed or removed. `touches` has the author and commit that last changed a path (from the top) on
    this branch. `settings` is the hash of the default branch's settings. `is_default` means that the default branch
    itself is read.
    """

    branch: DefaultBranch
    standings: Mapping[str, Standing] = field(default_factory=dict)
    displaced: Mapping[str, str] = field(default_factory=dict)
    touches: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    settings: str | None = None
    is_default: bool = False


def _compare_with_branch(workspace: Workspace) -> BranchComparison | None:
    """Return the differences between the files and the default branch; None if unknown, or for an index or merge."""
    snapshot, repository = workspace.snapshot, workspace.location.repository
    if repository is None or snapshot.staged or snapshot.merge_into is not None:
        return None
    branch = find_default_branch(repository)
    if branch is None:
        return None
    under, catalog, is_disk = workspace.location.under, workspace.catalog, snapshot.is_working_tree
    # The commit that is read, or on which the files on disk are based. A new repository has none.
    commit = branch.commit if is_disk and branch.is_here else resolve(repository, snapshot.revision or "HEAD")
    base = commit if branch.commit == commit else None
    # There may be no merge base, or a shallow clone does not have it. Every difference then counts as a change.
    with suppress(MdmemError):
        base = base or merge_base(repository, branch.commit, commit)
    if snapshot.is_dated or (not is_disk and base == commit):
        return BranchComparison(branch, is_default=True)

    @cache
    def files_at(one: str) -> dict[str, str]:
        listed = GitTree(repository, under, one, one).files()
        return {file.path: file.digest or "" for file in listed if file.kind is FileKind.FILE}

    default, committed, at_base = map(files_at, (branch.commit, commit, base or branch.commit))
    changed_here = {path for path in {*at_base, *committed} if at_base.get(path) != committed.get(path)}
    # An unreadable file has an empty hash. Wings of other repositories are left out, since they were approved there.
    read = (dict.fromkeys(map(path_of, catalog.files), "") if catalog.broken else {}) | catalog.file_digests
    read = {path: one for path, one in read.items() if path.partition("/")[0] not in catalog.fetched_wings}
    uncommitted: Set[str] = frozenset()
    differing = [path for path, digest in read.items() if committed.get(path, digest) != digest] if is_disk else []
    if differing:
        prefix = workspace.location.prefix
        # With many paths, git is faster for the whole folder, since it compares each file with each given path.
        places = [prefix + path for path in differing] if len(differing) <= 200 else [under]
        uncommitted = {path.removeprefix(prefix) for path in list_changed(repository, *places)[1]}
    standings, default_digests = {}, set(default.values())
    for path in [path for path, digest in read.items() if default.get(path) != digest]:
        here = committed.get(path)
        if is_disk and (here is None or (path in uncommitted and here != read[path])):
            standings[path] = Standing.UNCOMMITTED
        elif path in changed_here:
            standings[path] = Standing.PROPOSED
        # If the default branch moved a file without a change, the file here is not older.
        elif here != default.get(path) and (path in default or here not in default_digests):
            standings[path] = Standing.OUTDATED
    # Unreadable files, and all files in unreadable folders, count neither as changed nor as deleted.
    folders = (file.path for file in catalog.others if file.kind is FileKind.UNREADABLE)
    closed = (path for path, one in catalog.broken.items() if one.is_closed)
    unreadable = (*("" if path == "." else f"{path}/" for path in folders), *closed)
    displaced = {}
    for path, digest in default.items():
        is_displaced = path in standings and standings[path].is_proposal
        if path not in read:
            is_displaced = path in changed_here or path in committed
        is_of_memory = is_entry_place(path) or MANIFEST_PATH.fullmatch(path)
        if is_displaced and is_of_memory and workspace.access.sees(path) and not path.startswith(unreadable):
            displaced[path] = digest
    is_proposed = Standing.PROPOSED in standings.values()
    touches = last_touches(repository, base or branch.commit, commit, under) if is_proposed else {}
    return BranchComparison(branch, standings, displaced, touches, default.get(SETTINGS_NAME))


# The fields that record an approval or a review, and do not change the content of an entry.
_STANDING = ("status", "approved_by", "verified_at")
# The verb for the effect of each link field on another entry.
_EFFECTS = {"supersedes": "supersede", "overrides": "override", "amends": "amend"}


class View(Struct, frozen=True):
    """Two workspaces for one answer: `checkout` has the files as they are, `effective` the versions that answers use.

    `overridden` are the addresses whose two versions differ. For those in `alternatives`, answers also show the version
    in `checkout`.
    """

    effective: Workspace
    checkout: Workspace
    overridden: frozenset[str] = frozenset()
    alternatives: frozenset[str] = frozenset()

    def over(self, workspace: Workspace) -> View:
        """Return this view over another workspace with the same files, for example one with a time limit."""
        checkout = _with_overlay(self.checkout, workspace)
        if self.effective is self.checkout:
            return replace(self, effective=checkout, checkout=checkout)
        effective = _with_overlay(self.effective, workspace)
        source = checkout if self.effective.index_source is not None else None
        return replace(self, effective=replace(effective, index_source=source), checkout=checkout)


def _with_overlay(kept: Workspace, workspace: Workspace) -> Workspace:
    tree, overlay = workspace.whole_tree, kept.whole_tree
    if isinstance(overlay, TreeView) and overlay.changed is not None:
        tree = TreeView(tree, changed=overlay.changed, gone=overlay.gone)
    return workspace.over(tree).with_catalog(kept.catalog.over(restrict(tree, workspace.access)))


def view_of(workspace: Workspace) -> View:
    """Return the two workspaces of a View, which are made at the first call and then cached."""
    return workspace.once(_view_of)


def merged_decisions(workspace: Workspace) -> list[str]:
    """Return the sorted addresses of agents' draft decisions that were merged into the default branch unapproved."""
    catalog = view_of(workspace).checkout.catalog
    return sorted(filter(catalog.is_merged, catalog.branch_states or ()))


def _view_of(workspace: Workspace) -> View:
    comparison = None
    # Without the comparison, the entries can still be shown.
    with suppress(MdmemError, OSError, ValueError):
        comparison = _compare_with_branch(workspace)
    if comparison is None:
        return View(workspace, workspace)
    entries, states = workspace.catalog.entries, dict[str, BranchState]()
    for path, standing in comparison.standings.items():
        if is_entry_place(path):
            touch = comparison.touches.get(workspace.location.prefix + path)
            author, commit = touch if touch and standing is Standing.PROPOSED else (None, None)
            note = f"`{comparison.branch.ref}` has changed it since" if standing is Standing.OUTDATED else ""
            note = f"`{comparison.branch.ref}` has another version" if path in comparison.displaced else note
            states[path.removesuffix(".md")] = BranchState(standing, author, commit, note)
    for address, entry in entries.items():
        is_draft_of_agent = entry.status is Status.DRAFT and entry.type is EntryType.DECISION and entry.agent
        if is_draft_of_agent and address not in states:
            states[address] = BranchState(Standing.MERGED)
    checkout = workspace.with_catalog(replace(workspace.catalog, branch_states=states))
    trusts_one_sided = checkout.catalog.one_end_suffices and not comparison.is_default
    if comparison.standings or comparison.displaced or trusts_one_sided:
        # Take the settings of the default branch, so that a branch cannot change how its own proposals count.
        digest, content = comparison.settings, settings_bytes(workspace.tree)
        if digest is None:
            content = b""
        # The file is nearly always the same here, and then git need not read it.
        elif not isinstance(content, bytes) or digest_of(content) != digest:
            content = dict(read_blobs(workspace.location.get_repository(), [digest]))[digest] or b""
        settings = readable_settings(content)
        if settings.proposals != "count":
            return _ViewBuilder(checkout, comparison, settings).build()
    return View(checkout, checkout)


class _ViewBuilder(Struct, frozen=True):
    """Combines the approved entries of the default branch, whose settings are given, with proposals for one answer."""

    checkout: Workspace
    comparison: BranchComparison
    settings: Settings

    def build(self) -> View:
        is_hiding = self.settings.proposals == "hide"
        restored = dict(self._restored())
        hidden = {path for path, one in self.comparison.standings.items() if one.is_proposal and is_entry_place(path)}
        hidden = hidden - restored.keys() if is_hiding else set()
        if not restored and not hidden:
            catalog = self._answer_catalog(self.checkout.catalog, {})
            return View(self.checkout.with_catalog(catalog), self.checkout)
        tree = TreeView(self.checkout.whole_tree, changed=restored, gone=frozenset(hidden))
        effective = replace(self.checkout.over(tree), index_source=self.checkout)
        # Report the problems of a changed file, although answers use the default branch's version.
        catalog, files = effective.catalog, self.checkout.catalog
        broken = {path: one for path, one in files.broken.items() if path in restored}
        findings = [*catalog.findings, *(one for one in files.findings if one.place.path in restored)]
        ordered = tuple(sorted(findings, key=lambda one: one.sort_key))
        catalog = replace(catalog, broken={**catalog.broken, **broken}, findings=ordered)
        effective = effective.with_catalog(self._answer_catalog(catalog, restored))
        overridden = frozenset(path.removesuffix(".md") for path in restored)
        alternatives, answer = set[str](), effective.catalog
        for address in overridden & files.entries.keys() if not is_hiding else ():
            new, old = files.entries[address], answer.entries.get(address)
            is_draft = new.status is Status.DRAFT
            # The version in the files may become approved, and differs in more than the fields about approval.
            if is_draft or files.lineage.is_current(address):
                is_changed = old is None or replace(new, **{name: getattr(old, name) for name in _STANDING}) != old
                if is_draft or is_changed or files.body(address) != answer.body(address):
                    alternatives.add(address)
        return View(effective, self.checkout, overridden, frozenset(alternatives))

    def _restored(self) -> Iterator[tuple[str, bytes]]:
        """Yield the default branch's version of each file that a proposal changed or removed."""
        displaced, entries = self.comparison.displaced, self.checkout.catalog.entries
        loaded = self.checkout.entry_cache.loaded(displaced)
        contents = dict(read_blobs(self.checkout.location.get_repository(), sorted(set(displaced.values()))))
        for path, digest in sorted(displaced.items()):
            content = contents[digest]
            if content is not None and self.settings.proposals != "hide" and is_entry_place(path):
                known, here = loaded.get(path), entries.get(path.removesuffix(".md"))
                entry = (known or load_entry(parse_document(path, content))).entry
                # If a branch changes only the links of an ended entry, the approved links count.
                is_ended = entry is not None and here is not None and entry.status is here.status is Status.DEPRECATED
                content = content if entry is not None and (entry.is_in_force or is_ended) else None
            if content is not None:
                yield path, content

    def _answer_catalog(self, catalog: Catalog, restored: Mapping[str, bytes]) -> Catalog:
        states = dict(self.checkout.catalog.branch_states or {})
        changed = {path.removesuffix(".md") for path in restored}
        entries = catalog.entries
        proposals = (address for address, state in states.items() if state.standing.is_proposal)
        proposed = (entries.keys() & proposals) - changed
        for address in changed:
            states[address] = BranchState(Standing.BINDING, note=self._proposal_for(address))
        others: dict[str, Entry] = {}
        for address in proposed:
            # A proposal does not supersede, override or amend approved entries yet.
            entry, kept = entries[address], dict[str, Any]()
            for name in _EFFECTS:
                kept[name] = tuple(link for link in entry.links(name) if link in proposed or link not in entries)
            one = replace(entry, **kept)
            states[address] = replace(states[address], note="; ".join(effects_of(entry, one)))
            if one != entry:
                others[address] = one
        # Keep the same mapping if nothing changed, because the data derived from it is cached.
        entries = {**entries, **others} if others else entries
        one_end_suffices = bool(catalog.one_end_suffices) and self.settings.one_sided == "fact"
        answer = replace(catalog, entries=entries, branch_states=states, one_end_suffices=one_end_suffices)
        for new in sorted(proposed | changed) if self.settings.proposals != "hide" else ():
            for old in self.checkout.catalog.derived.amends(new):
                if old in answer.entries and new not in answer.derived.amended_by(old):
                    state = states.get(old, BINDING)
                    states[old] = replace(state, amended_by=(*state.amended_by, new))
        return answer

    def _proposal_for(self, address: str) -> str:
        """Describe in a few words the proposal to change an approved entry."""
        standing = self.comparison.standings.get(f"{address}.md")
        if standing is None:
            return "it is moved or deleted here, but not on the default branch"
        where = "a commit of this branch" if standing is Standing.PROPOSED else "the uncommitted file"
        heads = self.checkout.catalog.lineage.heads(address)
        if heads and address not in heads:
            return f"{where} proposes to replace it by {', '.join(heads)}"
        return f"{where} proposes another version"


def effects_of(stated: Entry, without: Entry | None = None) -> Iterator[str]:
    """Yield the effects of an entry on others, such as `would supersede A, B`, without the links of `without`."""
    for name, verb in _EFFECTS.items():
        if named := [link for link in stated.links(name) if without is None or link not in without.links(name)]:
            yield f"would {verb} {', '.join(named)}"
