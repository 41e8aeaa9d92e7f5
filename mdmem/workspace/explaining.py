"""Why an entry binds or does not: its chain, and what history says about it."""

from __future__ import annotations

from mdmem.entry.model import Status
from mdmem.gitrepo import Commit, history, resolve
from mdmem.workspace.model import ChainLink, Explanation
from mdmem.workspace.opened import Opened


def explain(workspace: Opened, address: str) -> Explanation:
    """Return the explanation of one entry, from one `git log` for the whole chain."""
    catalog = workspace.catalog
    lineage = catalog.lineage
    members = lineage.chain(address)
    commits = _commits(workspace, members)
    entries = catalog.entries
    return Explanation(
        address=address,
        chain=tuple(
            ChainLink(
                entry=entries[member],
                current=lineage.is_current(member),
                replaced=lineage.predecessors.get(member, ()),
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
    )


def _conflicts(workspace: Opened, address: str) -> tuple[str, ...]:
    catalog = workspace.catalog
    named = set(catalog.entries[address].conflicts_with)
    named |= {other.address for other in catalog.entries.values() if address in other.conflicts_with}
    return tuple(sorted(other for other in named if catalog.lineage.is_current(other)))


def _commits(workspace: Opened, addresses: tuple[str, ...]) -> dict[str, tuple[Commit, ...]]:
    repository, under = workspace.location.repository, workspace.location.under
    if repository is None:
        return {}
    paths = {f"{under}/{address}.md" if under else f"{address}.md": address for address in addresses}
    found: dict[str, list[Commit]] = {}
    revision = workspace.moment.revision
    until = resolve(repository, revision) if revision is not None else None
    commits = history(repository, list(paths), until=until)
    if workspace.access.is_narrow:
        from mdmem.workspace.seen import seen_commits

        commits = seen_commits(workspace, commits)
    for commit in commits:
        for path in commit.paths:
            if path in paths:
                found.setdefault(paths[path], []).append(commit)
    return {address: tuple(commits) for address, commits in found.items()}
