"""Find the files of a scope that cannot be read and may contain rules."""

from __future__ import annotations

from collections import Counter
from unicodedata import category

from msgspec.structs import replace

from mdmem.model.finding import Finding, Place, fault
from mdmem.model.text import first_of, shell_word, visible
from mdmem.store.catalog.addresses import find_unsafe_character, is_misnamed, is_misplaced
from mdmem.store.catalog.model import Catalog
from mdmem.store.tree import FileKind
from mdmem.store.workspace.scope import Scope

# Fields that decide where an entry applies. If one of them cannot be read, the entry is shown, but is also a problem.
_DECISIVE = frozenset({"supersedes", "superseded_by", "amends", "overrides", "applies_to", "expires_at", "focus"})

_DOUBTFUL = frozenset({"unreadable", "manifest-invalid", "merge-marker"})


def problems_in(catalog: Catalog, scope: Scope) -> tuple[Finding, ...]:
    """Return one finding for each file of the scope that may contain a rule and cannot be read in full.

    Wings of other repositories that were not fetched come first, since each may be a shared wing with invariants.
    """
    not_read = [*(broken.findings[0] for broken in catalog.broken.values()), *catalog.closed]
    for file in catalog.others:
        # Files directly in the root are not entries.
        if file.kind is FileKind.FILE and "/" in file.path and is_misplaced(file.path):
            code, message = "wrong-depth", "its path is not of the form `wing/room/entry-id.md`, so it is not read"
            if (character := find_unsafe_character(file.path)) is not None:
                code = "control-characters" if category(character) == "Cc" else "invisible-characters"
                message = f"its name contains U+{ord(character):04X}, so it is not read"
            not_read.append(fault(code, message, Place(file.path), "rename it with `git mv`"))
    found = {finding.place.path: finding for finding in not_read if _concerns(finding.place.path, scope)}
    for finding in catalog.findings:
        path, message, entry = finding.place.path, finding.message, catalog.entries.get(finding.address or "")
        is_decisive = entry is not None and any(name in _DECISIVE and f"`{name}`" in message for name in entry.unread)
        if (finding.code in _DOUBTFUL and _concerns(path, scope)) or (entry and is_decisive and scope.reads(entry)):
            found.setdefault(path, finding)
    # The path and the message must be safe to print on one line.
    shown = (
        replace(one.in_one_line(), place=replace(one.place, path=visible(path))) for path, one in sorted(found.items())
    )
    return (*catalog.tree.missing_wings.values(), *shown)


def other_wings(catalog: Catalog, scope: Scope) -> str:
    """Return a sentence about the wings to ask instead if the active one has no entry yet, else an empty text."""
    sizes = Counter(address.partition("/")[0] for address in catalog.addresses)
    others = [name for name, _ in sizes.most_common() if name not in scope.wings]
    # An unreadable file or folder may be an entry.
    if scope.wing is None or scope.wing in sizes or not others or problems_in(catalog, scope):
        return ""
    listed = first_of([f"`{name}` has {sizes[name]}" for name in others], 3)
    return f"`{scope.wing}` has no entry yet; {listed}: ask with `--wing {shell_word(others[0])}`"


def _concerns(path: str, scope: Scope) -> bool:
    """Return whether a file, or a folder that cannot be listed, may contain an entry of the scope."""
    parts = path.split("/")
    if is_misnamed(parts[0]):
        return True
    # A wing's README.md says whether the wing is shared. If it is faulty, the wing may be missing from the scope.
    if len(parts) < 2 or not scope.wings or parts[1] == "README.md":
        return True
    # The room filter does not exclude invariants of binding wings, and each unreadable file may be an invariant.
    is_read = not scope.rooms or parts[1] in scope.rooms or parts[0] in scope.binding_wings
    return parts[0] in scope.wings and is_read
