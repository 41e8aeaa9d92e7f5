"""Runs the checks over a workspace: the case is put together here, the paths narrow the report."""

from __future__ import annotations

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
    incomplete = sorted({finding.place.path for finding in findings if finding.code == "unreadable"})
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
    root = workspace.location.root
    path = (workspace.cwd / name).resolve()
    if path.is_relative_to(root) and (path.exists() or not (root / name).exists()):
        return path.relative_to(root).as_posix()
    if (root / name).exists() or (root / f"{name}.md").exists():
        return Path(name).as_posix().strip("/")
    raise UsageError(f"{name} lies outside the memory {root}; name a file, a wing/ or a wing/room/ of it")


def _is_below(path: str, wanted: str) -> bool:
    return wanted in (".", path, path.removesuffix(".md")) or path.startswith(f"{wanted.rstrip('/')}/")
