"""Which entries name a given path in their text: most rules about one file say so in prose."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from mdmem.store.catalog import Catalog

Naming = Mapping[str, tuple[str, ...]]
NAMED_NOWHERE: Naming = {}
# One bare word is no path in prose: `src` may mean anything.
_LIKE_A_PATH = re.compile(r"/|\.\w")
# So many paths are named where an entry applies to some of several.
_NAMED = 2


def paths_named(catalog: Catalog, paths: Sequence[str], addresses: Collection[str]) -> Naming:
    """Return, for each of some entries whose text holds one of the paths as a whole word, which.

    The files are read as they are: to load the index takes longer than to look through a thousand of them.
    """
    names = {path: path.rstrip("/") for path in paths if _LIKE_A_PATH.search(path.rstrip("/"))}
    if not names:
        return NAMED_NOWHERE
    anywhere = re.compile(b"|".join(re.escape(name.encode("utf-8", "surrogateescape")) for name in names.values()))
    patterns = {path: re.compile(rf"(?<![\w./-]){re.escape(name)}(?!/?[\w-]|\.\w)") for path, name in names.items()}
    found = {}
    contents = catalog.tree.read([f"{address}.md" for address in addresses])
    likely = (path.removesuffix(".md") for path, content in contents if _holds(content, anywhere))
    for address, body in catalog.plain_bodies(list(likely)):
        text = f"{catalog.entries[address].title}\n{body}"
        found[address] = tuple(path for path, pattern in patterns.items() if pattern.search(text))
    return {address: named for address, named in found.items() if named}


def _holds(content: object, pattern: re.Pattern[bytes]) -> bool:
    return isinstance(content, bytes) and pattern.search(content) is not None


def few_of(met: Sequence[str], asked: Sequence[str]) -> str:
    """Return the paths that are met of those that are asked about, or that all of several are, or all but one."""
    if len(met) == len(asked) > 1:
        return f"all {len(asked)} files"
    if len(met) == len(asked) - 1 > _NAMED:
        return f"all but {next(path for path in asked if path not in met)}"
    more = f" and {len(met) - _NAMED} more" if len(met) > _NAMED else ""
    return f"{', '.join(met[:_NAMED])}{more}"
