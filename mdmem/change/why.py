"""Explain why an entry is current or not, by its chain and the history."""

from __future__ import annotations

from msgspec import Struct

from mdmem.model.entry import Entry, Status
from mdmem.store.git.history import Commit, history
from mdmem.store.git.process import resolve
from mdmem.store.workspace.addresses import resolve_name
from mdmem.store.workspace.visibility import visible_commits
from mdmem.store.workspace.workspace import Workspace


class ChainLink(Struct, frozen=True, kw_only=True):
    """An entry of a chain, with what it superseded, and the commits of its file, newest first.

    `claims` are its one-sided supersessions.
    """

    entry: Entry
    current: bool
    replaced: tuple[str, ...]
    claims: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()


class WhyReport(Struct, frozen=True, kw_only=True):
    """The chain of an entry, the oldest first, its current ends, and the entries related to it."""

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
    claimed_by: tuple[str, ...] = ()
    amends: tuple[str, ...] = ()
    amended_by: tuple[str, ...] = ()


def why(workspace: Workspace, name: str) -> WhyReport:
    """Return the chain of an entry in both directions, with the commits from one `git log`."""
    address, catalog = resolve_name(workspace, name), workspace.catalog
    lineage = catalog.lineage
    members = lineage.chain(address)
    commits = _commits(workspace, members)
    entries = catalog.entries
    claims: dict[str, list[str]] = {}
    for old in members:
        for member in lineage.claimants_of(old):
            claims.setdefault(member, []).append(old)
    return WhyReport(
        address=address,
        chain=tuple(
            ChainLink(
                entry=entries[member],
                current=lineage.is_current(member),
                replaced=lineage.predecessors.get(member, ()),
                claims=tuple(claims.get(member, ())),
                commits=commits.get(member, ()),
            )
            for member in members
        ),
        heads=lineage.heads(address),
        draft=entries[address].status is Status.DRAFT,
        contradictory=address in lineage.contradictory,
        unread=tuple(
            link for member in members for link in entries[member].superseded_by if f"{link}.md" in catalog.broken
        ),
        drafts=tuple(
            one.address for one in entries.values() if one.status is Status.DRAFT and address in one.supersedes
        ),
        overrides=entries[address].overrides,
        overridden_by=tuple(
            one.address for one in entries.values() if address in one.overrides and lineage.is_current(one.address)
        ),
        conflicts=_conflicts(workspace, address),
        claimed_by=lineage.claimed_by(address),
        amends=catalog.amendments.by(address),
        amended_by=catalog.amendments.of(address),
    )


def _conflicts(workspace: Workspace, address: str) -> tuple[str, ...]:
    catalog = workspace.catalog
    named = set(catalog.entries[address].contradicts)
    named |= {other.address for other in catalog.entries.values() if address in other.contradicts}
    return tuple(sorted(other for other in named if catalog.lineage.is_current(other)))


def _commits(workspace: Workspace, addresses: tuple[str, ...]) -> dict[str, tuple[Commit, ...]]:
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return {}
    paths = {f"{under}/{address}.md" if under else f"{address}.md": address for address in addresses}
    found: dict[str, list[Commit]] = {}
    revision = workspace.snapshot.revision
    until = resolve(repository, revision) if revision is not None else None
    commits = history(repository, list(paths), until=until)
    if workspace.access.is_narrow:
        commits = visible_commits(workspace, commits)
    for commit in commits:
        for path in commit.paths:
            if path in paths:
                found.setdefault(paths[path], []).append(commit)
    return {address: tuple(commits) for address, commits in found.items()}
