"""A work tree whose `.git` is a folder of the user's own, as git told once: asked again when what tells so changed."""

from __future__ import annotations

import os
from pathlib import Path

from mdmem.digests import is_hex
from mdmem.disk import read_regular
from mdmem.git import Repository, ask_of
from mdmem.git.stamp import depends_on_more, program, stats_of
from mdmem.state import places
from mdmem.workspace.branch_settings import kept_saying, settings_stamp

_REF, _SIZES = "ref: refs/", (40, 64)
# Beside its settings git is told by these what to take for a repository.
_VARIABLES = ("GIT_EXEC_PATH", "GIT_OBJECT_DIRECTORY", "SUDO_UID", "PATH")


def repository_at(top: Path) -> Repository | None:
    """Return what `ask_of` gives, without a process where git has told of this work tree and nothing changed since."""
    plain = Repository(top, top / ".git", top / ".git")
    owner = _owner(plain)
    if owner is None or depends_on_more(plain, os.environ):
        return ask_of(top)
    told: list[Repository | None] = []

    def ask() -> dict[str, str]:
        told.append(ask_of(top))
        return {"is_plain": str(told == [plain])}

    variables = (f"{name}={os.environ.get(name)}" for name in _VARIABLES)
    # It may be another git by now, or none, as where a folder is shared with a container.
    git = stats_of(filter(None, (program(os.environ.get("PATH")),)))
    stamp = settings_stamp(plain, os.environ).with_more(top, owner, *variables, *git)
    said = kept_saying(places(top, plain, os.environ).shared / "repository", stamp, ask)
    if told:
        return told[0]
    return plain if said.get("is_plain") == "True" else ask_of(top)


def _owner(plain: Repository) -> int | None:
    """Return who owns a work tree and its `.git`; None where it is somebody else, or that is no folder as git makes."""
    folder = plain.git_dir
    if not hasattr(os, "geteuid") or folder.is_symlink() or (folder / "commondir").exists():
        return None
    try:
        owners = {os.stat(path).st_uid for path in (plain.top, folder)}  # noqa: PTH116  # each question asks
        head = read_regular(folder / "HEAD", follow=False)
    except OSError:
        return None
    looks_right = all(os.access(folder / name, os.X_OK) for name in ("objects", "refs"))
    user = os.geteuid()
    return user if owners == {user} and looks_right and _names_commit(head) else None


def _names_commit(head: bytes) -> bool:
    """Say whether a file `HEAD` names a branch or a commit as git writes it."""
    said = head.removesuffix(b"\n").decode("utf-8", "surrogateescape")
    return is_hex(said, *_SIZES) or (said.startswith(_REF) and said != _REF and "\n" not in said)
