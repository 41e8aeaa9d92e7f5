"""Convert given code paths to paths from the repository's top, and find the entries that mention them."""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from mdmem.model.entry import EntryType, entries_with
from mdmem.model.globs import any_match
from mdmem.store.catalog.model import Catalog
from mdmem.store.workspace.scope import Scope
from mdmem.store.workspace.workspace import Workspace

# A Windows drive such as `C:\`. On other systems a file name may contain a colon.
_DRIVE = re.compile(r"[A-Za-z]:(?:[/\\]|\Z)")
# A text is searched only for paths with a slash or a suffix, since a bare word such as `src` may mean anything.
_LIKE_A_PATH = re.compile(r"/|\.\w")
# What must not follow the name of a file, or of a folder with its slash, in a text that mentions it.
_AFTER_FILE, _AFTER_FOLDER = r"(?!/?[\w-]|\.\w)", r"(?![\w-])"
# What precedes it: no part of a word, or, before a name with a folder, the commit or branch in the link of a forge.
_BEFORE = r"(?:(?<![\w./-])|/(?:blob|tree|raw)/[^\s/]+/(?=[^\s/()]+/))"


def code_path(workspace: Workspace, path: str) -> str:
    """Convert a path, relative to the working directory or to the repository's top, to a path from the top.

    The result for a folder ends in a slash. For a caller who may see only some wings, the path is not looked up on
    disk. Otherwise the result would reveal whether a folder exists. Raises OSError if permission is denied.
    """
    top = workspace.location.base.resolve()
    if workspace.access.is_narrow:
        plain = path.replace("\\", "/")
        named = Path(os.path.normpath(top / plain))
        typed = named.relative_to(top).as_posix() if named.is_relative_to(top) else named.as_posix()
        return f"{typed}/" if plain.endswith("/") else typed
    # Symbolic links are not resolved, since the globs of `applies_to` refer to the link, not to its target.
    here = Path(os.path.normpath(workspace.cwd.resolve() / path))
    if "\\" in path and not path_exists(here) and not path_exists(top / path):
        # The path has the backslashes of Windows.
        return code_path(workspace, path.replace("\\", "/"))
    found = Path(path).as_posix().removeprefix("./").rstrip("/")
    if here.is_relative_to(top):
        from_here = here.relative_to(top).as_posix()
        # The place at which the path exists decides; if it exists at both, the working directory.
        is_from_here = path_exists(here)
        is_from_top = not is_from_here and path_exists(top / path)
        if not (is_from_here or is_from_top):
            # For a path that does not exist yet, its parent folder decides.
            is_from_here, is_from_top = _is_folder(here.parent), _is_folder((top / path).parent)
        if not (is_from_here or is_from_top):
            # Then the place that the `applies_to` of a rule matches decides.
            rules = [one.applies_to for one in entries_with(workspace.catalog.entries, "applies_to")]
            is_from_here, is_from_top = (
                any(any_match(globs, [one]) for globs in rules) for one in (from_here, Path(path).as_posix())
            )
        found = from_here if is_from_here or not is_from_top else found
    return f"{found}/" if path.endswith("/") or _is_folder(top / found) else found


def path_exists(path: Path) -> bool:
    """Return whether a file or folder exists at a path; raises OSError if permission is denied."""
    # `Path.exists` ignores all errors since Python 3.14.
    try:
        path.stat()
    except OSError as error:
        # No file can have a name that the system rejects as too long.
        if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}:
            raise
        return False
    except ValueError:
        # The path has a null character.
        return False
    return True


def _is_folder(path: Path) -> bool:
    return path_exists(path) and path.is_dir()


def absent_paths(workspace: Workspace, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the given paths at which the repository has no file; the user may be about to create one.

    Every path outside the repository is in the result. The result is empty without a repository, at a commit, for a
    caller with hidden wings, and in a repository that contains only the memory.
    """
    location = workspace.location
    may_check = workspace.snapshot.is_working_tree and not workspace.access.is_narrow
    if not (may_check and location.repository is not None and location.under):
        return ()
    tops = (location.base, workspace.cwd)
    absent = tuple(path for path in paths if not (is_inside(path) and any(os.path.lexists(top / path) for top in tops)))
    memory = location.under.partition("/")[0]
    with suppress(OSError), os.scandir(location.base) as listed:
        if any(one.is_dir() and one.name != memory and not one.name.startswith(".") for one in listed):
            return absent
    return ()


def is_inside(path: str) -> bool:
    """Return whether a path from the top lies inside the repository."""
    return not path.startswith(("/", "../")) and path != ".." and not _DRIVE.match(path)


def find_mentions(catalog: Catalog, paths: Sequence[str], addresses: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Return, by address, which of the given paths each entry mentions, or which folders above them.

    A folder counts only if the text has a slash after its name. The path must be a whole word of the text, or the end
    of a link such as `https://github.com/org/repo/blob/main/src/a.py`. Links to a file at the top do not count, since
    most repositories have a `README.md`. Of the folders at the top, only the one that directly contains the given file
    counts. The entry files are searched, since loading the index takes longer than searching a thousand files.
    """
    names = {path: path.rstrip("/") for path in paths if _LIKE_A_PATH.search(path.rstrip("/"))}
    folders: dict[str, str] = {}
    for path in filter(is_inside, paths):
        # A folder itself, with a slash at the end, is the first of its folders.
        above = [f"{one}/" for one in PurePosixPath(f"{path}.").parents if one.name]
        folders |= {one: one for at, one in enumerate(above) if (not at or one.count("/") > 1) and one not in names}
    if not (names or folders):
        return {}
    spellings = [*names.values(), *folders]
    anywhere = re.compile(b"|".join(re.escape(name.encode("utf-8", "surrogateescape")) for name in spellings))
    contents = catalog.tree.read([f"{address}.md" for address in addresses])
    likely = [
        path.removesuffix(".md")
        for path, content in contents
        if isinstance(content, bytes) and anywhere.search(content) is not None
    ]
    found = {}
    for address, body, _ in catalog.bodies(likely):
        text = f"{catalog.entries[address].title}\n{body}"
        found[address] = tuple(
            path
            for path, name in {**names, **folders}.items()
            if name in text
            and re.search(f"{_BEFORE}{re.escape(name)}{_AFTER_FILE if path in names else _AFTER_FOLDER}", text)
        )
    return {address: named for address, named in found.items() if named}


def count_elsewhere(catalog: Catalog, scope: Scope, paths: Sequence[str]) -> dict[str, int]:
    """Count the rules that apply to one of the paths, for each project wing that is not searched."""
    found: Counter[str] = Counter()
    for address, entry in catalog.entries.items() if paths else ():
        if entry.wing in scope.wings or catalog.wings[entry.wing].is_shared or not entry.type.is_rule:
            continue
        # An invariant without `applies_to` applies to the files of its wing.
        is_general = entry.type is EntryType.INVARIANT and not entry.applies_to
        globs = catalog.wings[entry.wing].applies_to if is_general else entry.applies_to
        if catalog.lineage.is_current(address) and any_match(globs, paths) is not None:
            found[entry.wing] += 1
    return dict(sorted(found.items()))
