"""The folders of what is derived or local, and a caller's own memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from mdmem.store.git import Repository, is_brought_along


class Places(Struct, frozen=True):
    """Where one root keeps its index (a worktree's own), its parsed entries (shared by worktrees) and its state.

    The first two may be deleted at any time; the state is what nothing else holds, and nothing deletes it.
    """

    index: Path
    shared: Path
    state: Path


def places(root: Path, repository: Repository | None, environment: Mapping[str, str]) -> Places:
    """Return a root's folders: below git's own directory, which no commit can write, else in the user's cache."""
    if repository is None:
        name = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        cache = _own(user_folder(environment, "XDG_CACHE_HOME", ".cache") / "mdmem" / name)
        state = _own(user_folder(environment, "XDG_DATA_HOME", ".local/share") / "mdmem" / name)
        return Places(cache / "index", cache, state)
    name = root.relative_to(repository.top).as_posix().replace("%", "%25").replace("/", "%2F")
    # No other folder's name has a `%` before a letter `t`.
    name = "%top" if name == "." else name
    own, common = repository.git_dir / "mdmem", repository.common_dir / "mdmem"
    return Places(own / "cache" / name, common / "cache", common / "state" / name)


def _own(folder: Path) -> Path:
    """Return a folder of the user's, or one that cannot be there in place of what a repository brought along.

    In a CI the user's cache may lie in the clone.
    """
    return Path(os.devnull) / folder.name if is_brought_along(folder) else folder


def user_folder(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    """Return a folder that only the user can write; one that nobody can where the user has no home."""
    stated = Path(environment.get(variable, ""))
    if stated.is_absolute():
        return stated
    home = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111  # a Path raises without a home
    return home / below_home if home.is_absolute() else Path(os.devnull)


WING = "private"


def private_root(environment: Mapping[str, str], root: Path, caller: str | None) -> Path:
    """Return the root of a caller's own memory.

    That of the user is one for all their memories; that of a token is one for each memory that the token opens, since
    the same name may mean somebody else elsewhere.
    """
    folder = user_folder(environment, "XDG_DATA_HOME", ".local/share") / "mdmem" / "private"
    if caller is None:
        return folder / "own"
    # A hash: names that differ in their case alone are one file on some systems.
    named = os.fsencode(root) + b"\0" + caller.encode("utf-8", "surrogatepass")
    return folder / f"token-{hashlib.sha256(named).hexdigest()[:24]}"
