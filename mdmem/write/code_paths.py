"""The files of the project that the text of a rule mentions, as `applies_to`: people say which rules get them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mdmem.errors import UsageError
from mdmem.model.entry import Entry, Status
from mdmem.store.workspace.addresses import resolve_names
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet
from mdmem.write.message import Verb, WriteAction
from mdmem.write.patch import patched
from mdmem.write.write import WriteOptions, WriteResult, write_once

# In the place of globs: those of the files that an entry's text mentions.
LIKELY = "likely"
_CODE = re.compile(r"`([^`\n]+)`")
_SPECIAL = re.compile(r"([*?\[\]\\])")
# A page about the code is none of it.
_PROSE = (".md", ".markdown", ".mdc", ".rst", ".adoc")


class CodePaths:
    """Finds the globs of what a text mentions, among the files that git tracks outside of the memory."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the files and their folders."""
        under = f"{workspace.location.under}/" if workspace.location.under else ""
        tracked = workspace.tracked_files()
        self._files = frozenset(path for path in tracked if not (under and path.startswith(under)))
        self._folders: set[str] = set()
        for path in self._files:
            while (path := path.rpartition("/")[0]) and path not in self._folders:
                self._folders.add(path)

    def globs_in(self, body: str) -> tuple[str, ...]:
        """Return the globs of the files and folders that stand in a body as code, in their order."""
        written = (found[1].strip().removeprefix("./").rstrip("/") for found in _CODE.finditer(body))
        return tuple(dict.fromkeys(glob for name in written if (glob := self._glob(name))))

    def _glob(self, name: str) -> str:
        plain = _SPECIAL.sub(r"\\\1", name)
        if name in self._files and not name.lower().endswith(_PROSE):
            return plain
        return f"{plain}/**" if "/" in name and name in self._folders else ""


def set_applies_to(
    workspace: Workspace, names: Sequence[str], globs: Sequence[str], options: WriteOptions
) -> WriteResult:
    """Write `applies_to` into entries: the globs, or for LIKELY those of the files that each rule's text mentions.

    LIKELY leaves alone what has an `applies_to`, what has ended, and notes. Raises UsageError for LIKELY beside globs,
    and what `write_once` raises.
    """
    is_likely = LIKELY in globs
    if is_likely and len(globs) > 1:
        raise UsageError(f"--applies-to {LIKELY} takes the files from the text; leave out the other globs")

    def plan(fresh: Workspace) -> ChangeSet:
        entries = fresh.catalog.entries
        addresses = resolve_names(fresh, names)
        if is_likely:
            code = CodePaths(fresh)
            rules = [entries[one] for one in addresses if lacks_paths(entries[one])]
            found = {one.address: code.globs_in(fresh.catalog.document(one.path).body) for one in rules}
        else:
            found = {address: tuple(globs) for address in addresses}
        meant = {address: one for address, one in found.items() if one}
        return ChangeSet(
            tuple(patched(fresh.catalog, entries[one].path, {"applies_to": meant[one]}) for one in meant),
            actions=tuple(WriteAction(Verb.EDIT, one) for one in meant),
            remarks=_left_alone(addresses, meant) if is_likely else (),
        )

    return write_once(workspace, plan, options)


def lacks_paths(entry: Entry) -> bool:
    """Say whether an entry is a rule that may bind and does not say which files it applies to."""
    return entry.type.is_rule and entry.status is not Status.DEPRECATED and not entry.applies_to


def _left_alone(addresses: Sequence[str], changed: Iterable[str]) -> tuple[str, ...]:
    rest = len(addresses) - len(list(changed))
    words = "entries stay" if rest > 1 else "entry stays"
    return (
        (f"{rest} {words}: no rule, ended, with `applies_to`, or without a word of the project's files",)
        if rest
        else ()
    )
