"""Runs the checks over a workspace: the case is put together here, the paths narrow the report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mdmem.checks.case import Case
from mdmem.checks.engine import Report, run
from mdmem.errors import UsageError
from mdmem.gitrepo import staged_index
from mdmem.workspace.facts import GitFacts
from mdmem.workspace.opened import Opened


def check(workspace: Opened, codes: Sequence[str], paths: Sequence[str]) -> Report:
    """Return what the checks find on the whole tree, narrowed to paths where some are given."""
    catalog = workspace.whole_catalog
    case = Case(catalog, workspace.settings, workspace.today, _facts(workspace))
    findings = run(case, codes)
    # Which checks were chosen does not change what could not be read.
    unread = (*catalog.findings, *catalog.closed, *findings)
    incomplete = sorted({finding.place.path for finding in unread if finding.code == "unreadable"})
    wanted = [_from_root(workspace, path) for path in paths]
    if wanted:
        findings = [finding for finding in findings if any(_is_below(finding.place.path, path) for path in wanted)]
    return Report(catalog.tree.name, len(catalog.files), tuple(findings), tuple(incomplete))


def _facts(workspace: Opened) -> GitFacts | None:
    repository = workspace.location.repository
    if repository is None:
        return None
    index = staged_index(repository, workspace.environment, workspace.cwd)
    on_disk = tuple(file.path for file in workspace.tree.files())
    return GitFacts(repository, workspace.location.under, on_disk, index)


def _from_root(workspace: Opened, name: str) -> str:
    """Return a path from here or from the root as counted from the root; raises UsageError where nothing is there."""
    root = workspace.location.root
    tried = (Path(os.path.normpath(folder / name)) for folder in (workspace.cwd, root))
    # The last part stays as it is typed: a symbolic link is checked, not what it leads to.
    real = [path.parent.resolve() / path.name for path in tried]
    inside = [path.relative_to(root).as_posix() for path in real if path.is_relative_to(root)]
    for path in inside:
        if (root / path).exists() or any(_is_below(file.path, path) for file in workspace.tree.files()):
            return path
    raise UsageError(f"{name} is nothing in the memory {root}; name a file, a wing/ or a wing/room/ of it")


def _is_below(path: str, wanted: str) -> bool:
    return wanted in (".", path, path.removesuffix(".md")) or path.startswith(f"{wanted.rstrip('/')}/")
