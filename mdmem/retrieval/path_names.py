"""Which entries name a given path in their text: most rules about one file say so in prose."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from mdmem.index.analysis import ask
from mdmem.workspace.workspace import Workspace

Naming = Mapping[str, tuple[str, ...]]
NAMED_NOWHERE: Naming = {}
_LIKE_A_PATH = re.compile(r"/|\.\w")
# So many paths are named where an entry applies to some of several.
_NAMED = 2
# Bodies that are read to see whether the words of a path stand there as the path, the likeliest first.
_READ = 60


def paths_named(workspace: Workspace, paths: Sequence[str], addresses: Collection[str]) -> Naming:
    """Return, for each of some entries whose text holds one of the paths as a whole word, which.

    One bare word is no path in prose: `src` may mean anything.
    """
    names = {path: path.rstrip("/") for path in paths}
    wanted = {path: frozenset(ask(name).terms) for path, name in names.items() if _LIKE_A_PATH.search(name)}
    if not wanted or not addresses:
        return NAMED_NOWHERE
    answer = workspace.find_text(" ".join(names[path] for path in wanted), addresses)
    likely = [match.key for match in answer.matches if any(terms <= match.terms for terms in wanted.values())]
    patterns = {path: re.compile(rf"(?<![\w./-]){re.escape(names[path])}(?!/?[\w-]|\.\w)") for path in wanted}
    found = {}
    for address, body, _ in workspace.catalog.bodies(likely[:_READ]):
        text = f"{workspace.catalog.entries[address].title}\n{body}"
        found[address] = tuple(path for path, pattern in patterns.items() if pattern.search(text))
    return {address: named for address, named in found.items() if named}


def few_of(met: Sequence[str], asked: int) -> str:
    """Return the paths that are met, or that all of several are."""
    if len(met) == asked > 1:
        return f"all {asked} files"
    more = f" and {len(met) - _NAMED} more" if len(met) > _NAMED else ""
    return f"{', '.join(met[:_NAMED])}{more}"
