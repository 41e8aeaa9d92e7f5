"""What git's settings say of the default branch, kept as long as none of their files changed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from mdmem.git import Repository
from mdmem.git.default_branch import INCLUDING, branch_settings
from mdmem.git.stamp import RACY_NS, settings_files, stats_of
from mdmem.record import StoredRecord
from mdmem.state import read_packed, write_packed

_VERSION = "git-settings 1"
_NAME = "git-settings"
# In nanoseconds: where a git of somebody's own looks for settings of the machine, only it can tell.
_DAY = 86_400_000_000_000


class _Kept(StoredRecord, frozen=True):
    """What was said, of which files and variables, and when."""

    of: tuple[str, ...]
    at: int
    said: dict[str, str]


def kept_branch_settings(repository: Repository, folder: Path, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return what `branch_settings` gives, without a process where all that it is read from is as it was."""
    now = time.time_ns()
    stats = list(stats_of(settings_files(repository, environment)))
    variables = (f"{name}={value}" for name, value in sorted(environment.items()) if name.startswith("GIT_CONFIG"))
    of = (*(str(one) for one in stats), *variables)
    kept = (read_packed(folder / _NAME, _VERSION, dict[str, _Kept]) or {}).get(_NAME)
    if kept is not None and kept.of == of and 0 <= now - kept.at < _DAY:
        return kept.said
    said = branch_settings(repository)
    is_quiet = all(moment < now - RACY_NS for _, found in stats for moment in found[2:])
    # What is included depends on more than the files that we know.
    if is_quiet and not any(key.startswith(INCLUDING) for key in said):
        write_packed(folder / _NAME, _VERSION, {_NAME: _Kept(of, now, said)})
    return said
