"""A folder of pages: made from the files, and only what changed is written again.

The folder of a site: what it holds, and how a page is put there whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from itertools import chain, count
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from mdmem.disk import read_regular
from mdmem.errors import EnvironmentFaultError, UsageError
from mdmem.model.access import Access
from mdmem.site.facts import SiteFacts
from mdmem.site.kept import fill
from mdmem.site.pages import SitePage, SitePages
from mdmem.store.git.discovery import is_brought_along
from mdmem.store.state import leads_away, write_whole
from mdmem.store.workspace.location import place_to_write
from mdmem.store.workspace.scope import get_wing
from mdmem.store.workspace.workspace import Workspace


class SiteFolder:
    """A folder of pages; whoever brought it along may have put links into it, and no page is written behind one."""

    def __init__(self, path: Path) -> None:
        """Look at nothing yet."""
        self._path = path
        self._made: set[str] = set()

    def has(self, name: str) -> bool:
        """Say whether a file is there."""
        return (self._path / name).exists()

    def holds(self, name: str, digest: str) -> bool:
        """Say whether a file has the content of a digest."""
        try:
            return hashlib.sha256(read_regular(self._path / name)).hexdigest()[:20] == digest
        except OSError:
            return False

    def write(self, name: str, content: bytes) -> None:
        """Write a file as a whole; raises EnvironmentFaultError."""
        path = self._path / name
        try:
            self._make_room(name.rpartition("/")[0])
            # A link that has the name counts as there.
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            self._replace(name, content)
            return
        except OSError as error:
            raise _fault(path, error) from error
        # Whoever is killed here leaves a file whose digest no manifest has: the next build writes it again.
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
        except OSError as error:
            with contextlib.suppress(OSError):
                path.unlink()
            raise _fault(path, error) from error

    def remove(self, name: str, digest: str) -> bool:
        """Remove a file of a digest and say so; what has another content, or lies behind a link, is not ours."""
        if not self.holds(name, digest) or leads_away(self._path, name):
            return False
        (self._path / name).unlink(missing_ok=True)
        return True

    def _replace(self, name: str, content: bytes) -> None:
        path = self._path / name
        self._require_own(name)
        try:
            write_whole(path, content, durable=False)
        except OSError as error:
            raise _fault(path, error) from error

    def _require_own(self, name: str) -> None:
        if leads_away(self._path, name):
            raise EnvironmentFaultError(f"{self._path / name} is a symbolic link, or lies behind one; remove the link")

    def _make_room(self, folder: str) -> None:
        if folder in self._made:
            return
        if folder and leads_away(self._path, folder):
            raise EnvironmentFaultError(
                f"{self._path / folder} is a symbolic link, or lies behind one; remove the link"
            )
        (self._path / folder).mkdir(parents=True, exist_ok=True)
        self._made.add(folder)


def _fault(path: Path, error: OSError) -> EnvironmentFaultError:
    return EnvironmentFaultError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}")


# Says that a folder is ours, and holds the key of each page and the digest of what was written.
MANIFEST = ".mdmem-site.json"
_VERSION = 1
_Keys = dict[str, list[str]]
# Git looks at nothing in a folder that says so itself.
IGNORE = ".gitignore"
ASSETS = ("site.css", "site.js", "icon.svg")


class SiteRequest(Struct, frozen=True, kw_only=True):
    """What to build: the folder, the wings that are shown (all where none is named), and what to compare with.

    `ignored` keeps the folder out of git.
    """

    out: Path
    wings: tuple[str, ...] = ()
    name: str | None = None
    base: str | None = None
    ignored: bool = False


class SiteResult(Struct, frozen=True, kw_only=True):
    """How many files the site has, and which of them were written or removed."""

    folder: Path
    number: int
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def build(
    workspace: Workspace, request: SiteRequest, *, progress: Callable[[int, int], None] | None = None
) -> SiteResult:
    """Write the pages of a workspace into a folder of their own; `progress` hears how many of the steps are done.

    Raises UsageError for a folder that holds something else or lies in the memory, and EnvironmentFaultError.
    """
    known = _known(workspace, request.out)
    site, folder = site_of(workspace, request), SiteFolder(request.out.resolve())
    is_as_known = site.state == known.state and (IGNORE in known.files) == request.ignored
    if site.state is not None and is_as_known and all(map(folder.holds, known.files, known.digests)):
        return SiteResult(folder=request.out, number=len(known.files))
    if not folder.has(MANIFEST):
        # From now on the folder is ours, also where this build is killed.
        folder.write(MANIFEST, _manifest(None, {}))
    kept = (site.markups, site.terms)
    tick = _ticks(len(site.plans) + max(len(one.missing) for one in kept), progress)
    fill(site.facts, kept, tick)
    writing = _Writing(folder, known, request.out)
    keys, written = _written(site, writing, tick, ignored=request.ignored)
    removed = sorted(path for path in known.files.keys() - keys.keys() if folder.remove(path, known.files[path][1]))
    if (site.state, keys) != (known.state, known.files):
        folder.write(MANIFEST, _manifest(site.state, keys))
    return SiteResult(folder=request.out, number=len(keys), written=tuple(written), removed=tuple(removed))


def _ticks(total: int, progress: Callable[[int, int], None] | None) -> Callable[[], None]:
    done = count(1)
    return (lambda: progress(min(next(done), total), total)) if progress is not None else lambda: None


def _manifest(state: str | None, keys: dict[str, list[str]]) -> bytes:
    lines = ",\n".join(f"{json.dumps(path)}: {json.dumps(keys[path])}" for path in sorted(keys))
    return f'{{"version": {_VERSION}, "state": {json.dumps(state)}, "files": {{\n{lines}\n}}}}\n'.encode()


def site_of(workspace: Workspace, request: SiteRequest, *, live: str = "") -> SitePages:
    """Return the pages of a workspace, narrowed to the wings that are asked for; raises UsageError for no wing."""
    if request.wings:
        wings = [get_wing(name, workspace.catalog.wings) for name in request.wings]
        workspace = replace(workspace.reread(), access=Access.to_wings(wings, may_write=False))
    facts = SiteFacts(workspace)
    return SitePages(facts, request.name or _name(workspace), live=live, base=request.base)


def _name(workspace: Workspace) -> str:
    projects = [wing.name for wing in workspace.catalog.wings.values() if not wing.is_shared]
    return projects[0] if len(projects) == 1 else "Memory"


def _written(site: SitePages, writing: _Writing, tick: Callable[[], None], *, ignored: bool) -> tuple[_Keys, list[str]]:
    """Write what is another one than before."""
    # First: also a build that is killed leaves nothing for `git add`.
    ignoring = (SitePage(IGNORE, IGNORE, lambda: "*\n"),) if ignored else ()
    pages = (make() for make in site.plans.values())
    return writing.of(chain(ignoring, pages, site.attachments(), _assets()), tick)


class _Writing(Struct, frozen=True):
    """What writes pages into a folder that is known in part."""

    folder: SiteFolder
    known: _Known
    out: Path

    def of(self, pages: Iterable[SitePage], tick: Callable[[], None]) -> tuple[_Keys, list[str]]:
        """Write pages and return the key and digest of each, by path, and the paths of those that were written."""
        keys: _Keys = {}
        written = []
        for page in pages:
            before = self.known.files.get(page.path)
            if before is not None and before[0] == page.key and self.folder.holds(page.path, before[1]):
                keys[page.path] = before
            else:
                content = page.make().encode("utf-8", "surrogatepass")
                digest = hashlib.sha256(content).hexdigest()[:20]
                if before is None or before[1] != digest or not self.folder.holds(page.path, digest):
                    self._refuse_brought(page.path, digest)
                    self.folder.write(page.path, content)
                    written.append(page.path)
                keys[page.path] = [page.key, digest]
            tick()
        return keys, written

    def _refuse_brought(self, path: str, digest: str) -> None:
        ours = (digest, *(self.known.files[path][1:] if path in self.known.files else ()))
        if self.known.is_brought and self.folder.has(path) and not any(self.folder.holds(path, one) for one in ours):
            said = f"{self.out / path} is none that a build wrote"
            raise UsageError(f"{said}; remove it, or name another folder by --out")


def _assets() -> Iterator[SitePage]:
    for asset in ASSETS:
        text = asset_text(asset)
        key = hashlib.sha256(text.encode()).hexdigest()[:20]
        yield SitePage(f"assets/{asset}", key, lambda text=text: text)  # type: ignore[misc]


def asset_text(name: str) -> str:
    """Return a style sheet or script of the package."""
    return files("mdmem.site").joinpath("assets", name).read_text(encoding="utf-8")


class _Known(Struct, frozen=True):
    """What the manifest of a folder says: the state of all, and the key and the digest of each file.

    Where git brought it along (`is_brought`), no file is replaced on its word alone: it may name the user's own.
    """

    state: str | None = None
    files: Mapping[str, list[str]] = field(default_factory=dict)
    is_brought: bool = False

    @property
    def digests(self) -> Iterator[str]:
        return (digest for _, digest in self.files.values())


def _known(workspace: Workspace, folder: Path) -> _Known:
    """Return what a folder of ours holds; raises UsageError for another folder, and for one in the memory."""
    location = workspace.location
    real = place_to_write(folder, location.base, location.repository)
    if real.is_relative_to(location.root):
        raise UsageError(f"{folder} lies in the memory, where only entries are; name another folder by --out")
    if not real.exists():
        return _Known()
    if not real.is_dir():
        raise UsageError(f"{folder} is no folder; name another one by --out")
    try:
        found = json.loads(read_regular(real / MANIFEST))
    except FileNotFoundError:
        if any(real.iterdir()):
            raise UsageError(f"{folder} holds files that are no pages of mdmem; name another folder by --out") from None
        return _Known()
    except (OSError, ValueError, RecursionError):
        found = None
    listed = found.get("files") if isinstance(found, dict) and found.get("version") == _VERSION else None
    pairs = listed.items() if isinstance(listed, dict) else ()
    files = {path: pair for path, pair in pairs if _is_ours(path) and _is_pair(pair)}
    state = found.get("state") if files else None
    return _Known(state if isinstance(state, str) else None, files, is_brought_along(real / MANIFEST))


def _is_ours(path: str) -> bool:
    """Say whether a path of the manifest stays in the folder: whatever else it names, nothing is removed there."""
    return path.isprintable() and not {"", ".", "..", ".git"}.intersection(path.casefold().split("/"))


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair)
