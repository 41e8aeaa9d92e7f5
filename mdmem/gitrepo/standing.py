"""How files stand between HEAD, the index and the disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdmem.gitrepo.process import Repository, pathspec, records, run


@dataclass(frozen=True, slots=True)
class Standing:
    """How one file stands between HEAD, the index and the disk; a digest is None where there is no file."""

    path: str
    code: str
    head: str | None = None
    staged: str | None = None
    is_untracked: bool = False

    @property
    def is_intended(self) -> bool:
        """Say whether the index holds nothing but the intention to add it."""
        return self.code == ".A"

    @property
    def is_half_staged(self) -> bool:
        """Say whether the index holds something that is neither HEAD's nor the disk's."""
        return self.code[0] in "MADT" and (self.code[1] != "." or self.is_untracked)


# As many paths as fit on a command line everywhere.
PORTION = 200


def list_standings(repository: Repository, paths: Sequence[str]) -> list[Standing]:
    """Return how those files stand that differ from HEAD or from the index, sorted by path."""
    found: dict[str, Standing] = {}
    asked = frozenset(paths)
    options = ("--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignored=traditional")
    for start in range(0, len(paths), PORTION):
        specs = [pathspec(path) for path in paths[start : start + PORTION]]
        for record in records(run(repository.top, "status", *options, "--", *specs)):
            one = _parse(record)
            # Another repository's folder is told instead of the file in it.
            if one.path not in asked:
                continue
            if one.path in found:
                # A file whose removal is staged and that is on disk all the same is told twice.
                tracked = min(one, found[one.path], key=lambda each: each.is_untracked)
                one = Standing(one.path, tracked.code, tracked.head, tracked.staged, is_untracked=True)
            found[one.path] = one
    return [found[path] for path in sorted(found)]


def _parse(record: str) -> Standing:
    kind, _, rest = record.partition(" ")
    if kind == "1":
        code, _, _, _, _, head, staged, path = rest.split(" ", 7)
        return Standing(path, code, _digest(head), None if code == ".A" else _digest(staged))
    if kind == "u":
        return Standing(rest.split(" ", 9)[9], "u")
    return Standing(rest, kind, is_untracked=kind == "?")


def _digest(printed: str) -> str | None:
    return printed if printed.strip("0") else None
