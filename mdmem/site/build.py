"""Write the files of the site that changed into a folder that contains only the site."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, UsageError, reason_of
from mdmem.model.access import Access
from mdmem.site.facts import SiteFacts
from mdmem.site.pages import SitePages
from mdmem.store.git.process import may_be_tracked
from mdmem.store.state.files import default_mode, leads_away, write_whole
from mdmem.store.workspace.location import place_to_write
from mdmem.store.workspace.scope import get_wing
from mdmem.store.workspace.workspace import Workspace

# The file that marks a folder as a site, and lists the files of the site with their digests.
MANIFEST = ".mdmem-site.json"
# The file that makes git ignore the folder.
IGNORE = ".gitignore"


class SiteRequest(Struct, frozen=True, kw_only=True):
    """A request to write the site to the folder `out`, with some of the wings (empty for all).

    With `ignored`, git ignores the folder. `name` is printed above each page; None means the name of the only project
    wing. `base` is the revision with which the page about a change compares; None means that there is no such page.
    """

    out: Path
    wings: tuple[str, ...] = ()
    name: str | None = None
    base: str | None = None
    ignored: bool = False


class SiteResult(Struct, frozen=True, kw_only=True):
    """The result of a build: the `number` of all files of the site, and the paths that were written or removed."""

    number: int
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def build(
    workspace: Workspace, request: SiteRequest, *, progress: Callable[[int, int], None] | None = None
) -> SiteResult:
    """Write the pages of a workspace into a folder.

    `progress` is called with the number of files that are done and the number of all files. Raises UsageError if the
    folder contains other files or lies in the memory, and EnvironmentFaultError if a file cannot be written.
    """
    known, is_brought = _known_files(workspace, request.out)
    folder = request.out.resolve()
    made = dict(site_of(workspace, request).files)
    if request.ignored:
        # `.gitignore` is written first, so that `git add` ignores the files of an interrupted build.
        made = {IGNORE: lambda: "*\n", **made}
    if not (folder / MANIFEST).exists():
        # Mark the folder as a site now, in case this build is interrupted.
        _write(folder, MANIFEST, _manifest({}))
    digests, written = dict[str, str](), []
    for number, (path, make) in enumerate(made.items(), 1):
        content = make().encode("utf-8", "surrogatepass")
        digests[path] = _digest(content)
        if not _has(folder, path, digests[path]):
            if is_brought and (folder / path).exists() and not _has(folder, path, known.get(path, "")):
                hint = "remove it, or give another folder with --out"
                raise UsageError(f"{folder / path} may be your own file, so it was not replaced; {hint}")
            _write(folder, path, content)
            written.append(path)
        if progress is not None:
            progress(number, len(made))
    removed = []
    for path in sorted(known.keys() - made.keys()):
        # A file that changed, or lies behind a symbolic link, stays.
        if _has(folder, path, known[path]) and not leads_away(folder, path):
            (folder / path).unlink(missing_ok=True)
            removed.append(path)
    if digests != known:
        _write(folder, MANIFEST, _manifest(digests))
    return SiteResult(number=len(made), written=tuple(written), removed=tuple(removed))


def site_of(workspace: Workspace, request: SiteRequest, *, live: str = "") -> SitePages:
    """Return the pages of a workspace, with only the requested wings; raises UsageError for an unknown wing."""
    if request.wings:
        wings = [get_wing(name, workspace.catalog.wings) for name in request.wings]
        workspace = replace(workspace.reread(), access=Access.to_wings(wings, may_write=False))
    # Refuse invalid settings before the first page is written.
    workspace.settings  # noqa: B018  # the first access reads them
    projects = [wing.name for wing in workspace.catalog.wings.values() if not wing.is_shared]
    name = request.name or (projects[0] if len(projects) == 1 else "Memory")
    return SitePages(SiteFacts(workspace), name, live=live, base=request.base)


def _known_files(workspace: Workspace, folder: Path) -> tuple[Mapping[str, str], bool]:
    """Return the files of an earlier build with their digests, and whether their list may have come with a clone.

    Such a list may name the user's own files, so changed files are not replaced. Raises UsageError if the folder is not
    a site or is in the memory.
    """
    location = workspace.location
    real = place_to_write(folder, location.base, location.repository)
    if real.is_relative_to(location.root):
        raise UsageError(f"{folder} is in the memory, where only entries may be; give another folder with --out")
    if not real.exists():
        return {}, False
    if not real.is_dir():
        raise UsageError(f"{folder} is not a folder; give another one with --out")
    try:
        found = json.loads(read_regular(real / MANIFEST))
    except FileNotFoundError:
        if any(real.iterdir()):
            raise UsageError(
                f"{folder} contains files that mdmem did not write; give another folder with --out"
            ) from None
        return {}, False
    except (OSError, ValueError, RecursionError):
        found = None
    listed = found.get("files") if isinstance(found, dict) else None
    pairs = listed.items() if isinstance(listed, dict) else ()
    files = {}
    for path, pair in pairs:
        # In manifests of earlier versions, each value is a pair of a key and the digest.
        digest = pair[-1] if isinstance(pair, list) and pair else pair
        leads_out = {"", ".", "..", ".git"}.intersection(path.casefold().split("/"))
        if isinstance(digest, str) and path.isprintable() and not leads_out:
            files[path] = digest
    return files, may_be_tracked(real / MANIFEST)


def _manifest(digests: Mapping[str, str]) -> bytes:
    lines = ",\n".join(f"{json.dumps(path)}: {json.dumps(digests[path])}" for path in sorted(digests))
    return f'{{"version": 2, "files": {{\n{lines}\n}}}}\n'.encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]


def _has(folder: Path, path: str, digest: str) -> bool:
    try:
        return _digest(read_regular(folder / path)) == digest
    except OSError:
        return False


def _write(folder: Path, path: str, content: bytes) -> None:
    """Write a whole file; raises EnvironmentFaultError if that fails or the path contains a symbolic link."""
    target = folder / path
    if leads_away(folder, path):
        raise EnvironmentFaultError(f"{target} is a symbolic link, or is reached through one; remove the link")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        is_new = not target.exists()
        write_whole(target, content, durable=False)
        if is_new:
            # Without this, a web server of another user could not read the file.
            target.chmod(default_mode())
    except OSError as error:
        raise EnvironmentFaultError(f"{target} cannot be written: {reason_of(error)}") from error
