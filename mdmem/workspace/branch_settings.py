"""What git's settings say of the default branch, kept as long as none of their files changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from mdmem.dataclass import dataclass, replace
from mdmem.disk import RACY_NS
from mdmem.git import Repository
from mdmem.git.default_branch import INCLUDING, branch_settings
from mdmem.git.stamp import settings_files, stats_of
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
    stamp = settings_stamp(repository, environment)
    return kept_saying(folder / _NAME, stamp, lambda: branch_settings(repository))


@dataclass(frozen=True)
class SettingsStamp:
    """What is another value once a file or variable that git reads its settings from changed, and when it was made."""

    of: tuple[str, ...]
    at: int
    is_quiet: bool

    def with_more(self, *more: object) -> SettingsStamp:
        """Return the stamp of more than the settings."""
        return replace(self, of=(*self.of, *map(str, more)))


def settings_stamp(repository: Repository, environment: Mapping[str, str]) -> SettingsStamp:
    """Return the stamp of git's settings in a repository."""
    now = time.time_ns()
    stats = list(stats_of(settings_files(repository, environment)))
    variables = (f"{name}={value}" for name, value in sorted(environment.items()) if name.startswith("GIT_CONFIG"))
    is_quiet = all(moment < now - RACY_NS for _, found in stats for moment in found[2:])
    return SettingsStamp((*(str(one) for one in stats), *variables), now, is_quiet)


def kept_saying(file: Path, stamp: SettingsStamp, ask: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
    """Return what git said when the stamp was the same, else what it says now, which is kept for the next time."""
    kept = (read_packed(file, _VERSION, dict[str, _Kept]) or {}).get(file.name)
    if kept is not None and kept.of == stamp.of and 0 <= stamp.at - kept.at < _DAY:
        return kept.said
    said = ask()
    # What is included depends on more than the files that we know.
    if stamp.is_quiet and not any(key.startswith(INCLUDING) for key in said):
        write_packed(file, _VERSION, {file.name: _Kept(stamp.of, stamp.at, dict(said))})
    return said
