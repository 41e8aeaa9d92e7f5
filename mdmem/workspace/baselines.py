"""The file of findings that are known: where it is, and its writing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mdmem.checks.baseline import apply_baseline, baseline_of, read_baseline
from mdmem.errors import EnvironmentFaultError, SettingsError, UsageError
from mdmem.finding import Finding
from mdmem.regular_file import read_regular
from mdmem.state import leads_away, write_whole
from mdmem.tree import Unreadable, read_one
from mdmem.workspace.opened import Opened


def without_known(
    workspace: Opened, found: Sequence[Finding], codes: Sequence[str], given: str | None
) -> list[Finding]:
    """Return the findings that no baseline knows, and those about the baseline itself; all where there is none."""
    name, content = _content(workspace, given)
    if content is None:
        return list(found)
    baseline = read_baseline(content, path=name)
    kept, stale = apply_baseline(found, baseline, settings=workspace.settings, codes=codes)
    if workspace.access.is_narrow:
        # It knows of wings that are not seen, and what is not told of the others is no sign that it was mended.
        stale = []
    return sorted([*kept, *stale], key=lambda finding: finding.sort_key)


def write_baseline(
    workspace: Opened, found: Sequence[Finding], codes: Sequence[str], given: str | None
) -> tuple[Path, int]:
    """Write the file that knows every finding, and return its path and how many findings it records.

    Raises UsageError where none is named, and SettingsError where the settings name one behind a symbolic link.
    """
    path = _path(workspace, given)
    if path is None:
        hint = "name one with --baseline FILE, or in mdmem.toml with `baseline` under [check]"
        raise UsageError(f"there is no baseline to update; {hint}")
    old = read_baseline(read_regular(path), path=str(path)) if path.exists() else None
    content = baseline_of(found, old=old, codes=codes)
    try:
        write_whole(path, content)
    except OSError as error:
        raise EnvironmentFaultError(f"cannot write {path}: {error.strerror or error}") from error
    return path, sum(record.count for record in read_baseline(content).records)


def _path(workspace: Opened, given: str | None) -> Path | None:
    if given is not None:
        return workspace.cwd / given
    stated = workspace.settings.baseline
    if stated is None:
        return None
    _refuse_link(workspace.location.root, stated)
    return workspace.location.root / stated


def _refuse_link(root: Path, stated: str) -> None:
    """Raise SettingsError where a link lies on the way to the settings' baseline: whoever commits could lead it out."""
    if leads_away(root, stated):
        raise SettingsError(f"mdmem.toml: a symbolic link is on the way to the baseline {stated}; name a file without")


def _content(workspace: Opened, given: str | None) -> tuple[str, bytes | None]:
    """Return the name and the bytes of the baseline that counts; None where there is none.

    One that is named with an option is read from disk; the settings' own is part of the tree that is read.
    """
    stated = workspace.settings.baseline
    if given is None and stated is None:
        return "", None
    if given is not None:
        try:
            # Who names it may name a pipe.
            return given, (workspace.cwd / given).read_bytes()
        except OSError as error:
            raise UsageError(f"the baseline {given} cannot be read: {error.strerror or error}") from error
    _refuse_link(workspace.location.root, stated or "")
    content = read_one(workspace.whole_tree, stated or "")
    if isinstance(content, Unreadable):
        hint = "`mdmem check --update-baseline` writes it"
        raise SettingsError(f"mdmem.toml: the baseline {stated} cannot be read: {content.reason.lower()}; {hint}")
    return stated or "", content
