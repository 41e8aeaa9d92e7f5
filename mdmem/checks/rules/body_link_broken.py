"""A cross-reference in a body leads nowhere.

Read are `[see: wing/room/entry-id]`, `[[wing/room/entry-id]]`, Markdown links to files and link definitions, outside
code. A Markdown link is relative to its file and may leave the memory for any file that git tracks; without git only
Markdown files of the memory are judged. `[[word]]`, one plain word, is taken for text.

Fails:

    [see: react/anti-patterns/indx-as-key]
    [the reasons](../architecture/gone.md)

Fix: write what was meant; the nearest addresses are named.
`mdmem check --fix` does it where no doubt is left.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import is_slip
from mdmem.checks.fixes.links import with_reference
from mdmem.checks.missing_targets import Fate, MissingTarget
from mdmem.checks.paths import TrackedPaths
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog.links import Reference

CODE = "body-link-broken"
SEVERITY = Severity.WARNING
_ADDRESS = re.compile(r"(?=[^a-z]*[a-z])\w[\w-]*(?:/\w[\w-]*){0,2}(?:\.md)?")
_NUMBER = re.compile(r"\d+")
# `[index](0)` and `f[T](x)` in prose about code are no links to files, nor is a URL that was written wrong.
_PATH = re.compile(r"(?=.*[A-Za-z])(?=.*[./-])(?!.*://)[^\x00-\x1f<>{}\[\]$|*?\"`\\]+")


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each reference of a body that leads nowhere."""
    lost = [found for found in case.references if found.target is None]
    if not lost:
        return
    missing = MissingTarget(case)
    present = frozenset(file.path for file in (*case.catalog.files, *case.catalog.others))
    tracked = TrackedPaths(case.facts) if case.facts else None
    for found in lost:
        if found.path is not None and not (_is_path(found) and _is_lost(found.path, present, tracked)):
            continue
        if found.path is not None and case.catalog.hides_path(found.path):
            continue
        if found.path is None and not _is_address(found, case.prose_of(found.address)):
            continue
        fate = missing.fate(found.path or found.link.target, found.address)
        message = f"`{found.link.target}` {fate.story}"
        help_ = _path_help(fate, found.address) if found.path else fate.help()
        place = {"offset": found.link.offset, "width": found.link.width}
        shown = case.in_body(CODE, found.address, message, help_, **place)
        meant = _certainly_meant(fate, found.path or found.link.target)
        yield with_reference(shown, case, found, meant) if meant else shown


def _certainly_meant(fate: Fate, written: str) -> str | None:
    """Return where the file moved to, or the only near address if it differs by the folder or one slip of the pen."""
    if fate.certain or len(fate.meant) != 1:
        return fate.certain
    wanted, near = (address.removesuffix(".md").rsplit("/", 1)[-1] for address in (written, fate.meant[0]))
    # `retry-v1` and `retry-v2` are two entries.
    same_numbers = _NUMBER.findall(wanted) == _NUMBER.findall(near)
    return fate.meant[0] if same_numbers and is_slip(wanted, near) else None


def _path_help(fate: Fate, address: str) -> str:
    if fate.unadded:
        return fate.help()
    meant = (posixpath.relpath(f"{one}.md", posixpath.dirname(address)) for one in fate.meant)
    written = " or ".join(f"`{path}`" for path in meant)
    return f"write {written}, or remove the link" if written else "correct the path, or remove the link"


def _is_address(found: Reference, prose: str) -> bool:
    """Say whether a reference is meant for an entry: `[[packages]]` is TOML, `[[1, 2]]` a list."""
    if not _ADDRESS.fullmatch(found.link.target):
        return False
    bracket = prose.rfind("[", 0, found.link.offset)
    return prose[bracket - 1 : bracket] != "[" or not found.link.target.isalnum()


def _is_path(found: Reference) -> bool:
    return _PATH.fullmatch(found.link.target) is not None


def _is_lost(path: str, present: frozenset[str], tracked: TrackedPaths | None) -> bool:
    if path in present:
        return False
    if tracked is not None:
        return not tracked.holds(path)
    # A name with a dot in front is not listed, and what lies outside the root cannot be known.
    return path.endswith(".md") and not path.startswith(("/", ".")) and "/." not in path
