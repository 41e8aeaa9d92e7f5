"""A folder of pages: made from the files, and only what changed is written again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

from mdmem.access import Access
from mdmem.dataclass import dataclass, replace
from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.site.attachments import attachments
from mdmem.site.facts import SiteFacts
from mdmem.site.pages import SitePage, SitePages
from mdmem.state import leads_away, write_whole
from mdmem.workspace.location import refuse_way_out
from mdmem.workspace.workspace import Workspace

# Says that a folder is ours, and holds the key of each page and the digest of what was written.
MANIFEST = ".mdmem-site.json"
_VERSION = 1
ASSETS = ("site.css", "site.js", "icon.svg")


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRequest:
    """What to build: the folder, the wings that are shown (all where none is named), and what to compare with."""

    out: Path
    wings: tuple[str, ...] = ()
    name: str | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteResult:
    """How many files the site has, and which of them were written or removed."""

    folder: Path
    number: int
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def build(workspace: Workspace, request: SiteRequest, *, progress: Callable[[int], None] | None = None) -> SiteResult:
    """Write the pages of a workspace into a folder of their own.

    Raises UsageError for a folder that holds something else or lies in the memory, and EnvironmentFaultError.
    """
    folder = request.out
    known = _known(workspace, folder)
    site = site_of(workspace, request)
    if not (folder / MANIFEST).exists():
        # From now on the folder is ours, also where this build is killed.
        _write(folder, MANIFEST, _manifest({}))
    keys: dict[str, list[str]] = {}
    written = []
    for number, (path, key, make) in enumerate(_files(site)):
        before = known.get(path)
        if before is not None and before[0] == key and _holds(folder / path, before[1]):
            keys[path] = before
        else:
            content = make().encode("utf-8", "surrogatepass")
            digest = hashlib.sha256(content).hexdigest()[:20]
            if before is None or before[1] != digest or not _holds(folder / path, digest):
                _write(folder, path, content)
                written.append(path)
            keys[path] = [key, digest]
        if progress is not None:
            progress(number)
    # Who brought the folder along may have put links into it.
    removed = sorted(path for path in known.keys() - keys.keys() if not leads_away(folder, path))
    for path in removed:
        (folder / path).unlink(missing_ok=True)
    if written or removed or not known:
        _write(folder, MANIFEST, _manifest(keys))
    return SiteResult(folder=folder, number=len(keys), written=tuple(written), removed=tuple(removed))


def _manifest(keys: dict[str, list[str]]) -> bytes:
    return json.dumps({"version": _VERSION, "files": keys}, indent=0, sort_keys=True).encode()


def site_of(workspace: Workspace, request: SiteRequest, *, live: str = "") -> SitePages:
    """Return the pages of a workspace, narrowed to the wings that are asked for; raises UsageError for no wing."""
    if request.wings:
        from mdmem.workspace.wings import get_wing

        wings = [get_wing(name, workspace.catalog.wings) for name in request.wings]
        workspace = replace(workspace.reread(), access=Access.to_wings(wings, may_write=False))
    facts = SiteFacts(workspace)
    return SitePages(facts, request.name or _name(workspace), live=live, base=request.base)


def _name(workspace: Workspace) -> str:
    projects = [wing.name for wing in workspace.catalog.wings.values() if not wing.is_shared]
    return projects[0] if len(projects) == 1 else "Memory"


def _files(site: SitePages) -> Iterator[tuple[str, str, Callable[[], str]]]:
    def of(page: SitePage) -> tuple[str, str, Callable[[], str]]:
        return page.path, page.key, page.make

    yield from map(of, site.pages())
    for path, text in attachments(site.facts, site.name):
        yield path, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20], lambda text=text: text  # type: ignore[misc]
    for asset in ASSETS:
        text = asset_text(asset)
        yield f"assets/{asset}", hashlib.sha256(text.encode()).hexdigest()[:20], lambda text=text: text  # type: ignore[misc]


def asset_text(name: str) -> str:
    """Return a style sheet or script of the package."""
    return files("mdmem.site").joinpath("assets", name).read_text(encoding="utf-8")


def _known(workspace: Workspace, folder: Path) -> dict[str, list[str]]:
    """Return what a folder of ours holds, by path; raises UsageError for another folder, and for one in the memory."""
    if folder.resolve() == workspace.location.root or folder.resolve().is_relative_to(workspace.location.root):
        raise UsageError(f"{folder} lies in the memory, where only entries are; name another folder by --out")
    refuse_way_out(workspace.location, folder)
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name another one by --out")
    try:
        found = json.loads(read_regular(folder / MANIFEST))
    except FileNotFoundError:
        if any(folder.iterdir()):
            raise UsageError(f"{folder} holds files that are no pages of mdmem; name another folder by --out") from None
        return {}
    except (OSError, ValueError, RecursionError):
        return {}
    listed = found.get("files") if isinstance(found, dict) and found.get("version") == _VERSION else None
    pairs = listed.items() if isinstance(listed, dict) else ()
    return {path: pair for path, pair in pairs if _is_ours(path) and _is_pair(pair)}


def _is_ours(path: str) -> bool:
    """Say whether a path of the manifest stays in the folder: whatever else it names, nothing is removed there."""
    return path.isprintable() and not {"", ".", ".."}.intersection(path.split("/"))


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair)


def _holds(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(read_regular(path)).hexdigest()[:20] == digest
    except OSError:
        return False


def _write(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    if leads_away(folder, name):
        raise EnvironmentFaultError(f"{path} is a symbolic link, or lies behind one; remove the link")
    try:
        if path.exists():
            write_whole(path, content, durable=False)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whoever is killed here leaves a file whose digest no manifest has: the next build writes it again.
        path.write_bytes(content)
    except OSError as error:
        raise EnvironmentFaultError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error
