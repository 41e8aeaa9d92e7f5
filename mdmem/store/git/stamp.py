"""What a repository is by git's own files: where none of them changed, no git process need be asked again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from time import time_ns

from mdmem.disk import RACY_NS
from mdmem.store.git.process import Repository

Stamp = tuple[object, ...]
# What tells which commits there are, and how git compares the disk with them.
_OWN = ("index", "reftable/tables.list")
_SHARED = ("packed-refs", "shallow", "info/attributes", "reftable/tables.list")
_REFS = ("refs/heads", "refs/remotes", "refs/replace")
_REF, _INCLUDE = b"ref: ", b"[include"


def stamp_of(repository: Repository) -> Stamp | None:
    """Return what is another value once HEAD, a branch, the index or git's settings changed.

    Of a file that changed a moment ago it holds the content. None where that cannot be read, or settings are taken in
    from others.
    """
    settings = [_content(path) for path in settings_files(repository, os.environ)]
    if any(map(_includes, settings)):
        return None
    head = _content(repository.git_dir / "HEAD")
    named = head.removeprefix(_REF).strip() if head is not None and head.startswith(_REF) else b""
    tip = _content(repository.common_dir / os.fsdecode(named)) if named else None
    stats = dict(stats_of(_files(repository)))
    limit = time_ns() - RACY_NS
    young = {path: _content(Path(path)) for path, stat in stats.items() if max(stat[2:]) > limit}
    return None if None in young.values() else (head, tip, *settings, *stats.items(), *young.items())


def _includes(settings: bytes | None) -> bool:
    return settings is not None and _INCLUDE in settings.lower()


def settings_files(repository: Repository, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that git reads its settings from, there or not."""
    yield from (repository.common_dir / "config", repository.git_dir / "config.worktree")
    # That of pathlib raises where nothing tells whose home it is.
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    folder = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    stated = environment.get("GIT_CONFIG_GLOBAL")
    yield from (Path(folder, "git/config"), Path(home, ".gitconfig")) if stated is None else (Path(stated),)
    yield Path(environment.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"))


def stats_of(paths: Iterable[str | Path]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each file that is there with its number, its size and when its content, or anything of it, last changed."""
    for path in paths:
        try:
            found = os.stat(path)  # noqa: PTH116  # there may be many
        except OSError:
            continue
        yield str(path), (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _files(repository: Repository) -> Iterator[str | Path]:
    yield from (repository.git_dir / name for name in _OWN)
    yield from (repository.common_dir / name for name in _SHARED)
    yield repository.top / ".gitattributes"
    yield from _loose_refs(repository)


def _loose_refs(repository: Repository) -> Iterator[str]:
    for name in _REFS:
        for folder, _, files in os.walk(repository.common_dir / name):
            yield from (f"{folder}/{file}" for file in files)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
