"""An entry in somebody's editor: what it holds, whether the new text may stand, and its writing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mdmem.authoring.editing import edit
from mdmem.checks import frozen_text_changed
from mdmem.checks.case import Base, Case
from mdmem.checks.engine import mark_new
from mdmem.errors import GitError, NotFoundError, SettingsError, UsageError
from mdmem.finding import Finding, Severity
from mdmem.tree import OverlaidTree, Tree
from mdmem.workspace.checking import Asked, check
from mdmem.workspace.fetched import refuse_remote
from mdmem.workspace.moment import Moment
from mdmem.workspace.naming import from_root, resolve_names
from mdmem.workspace.opened import Opened
from mdmem.workspace.writing import WriteOptions, Written, carry


@dataclass(frozen=True, slots=True)
class Opening:
    """A file that is about to be edited: its address and its bytes."""

    address: str
    content: bytes

    @property
    def path(self) -> str:
        """Return the file's path from the root."""
        return f"{self.address}.md"


def open_entry(workspace: Opened, name: str) -> Opening:
    """Return the entry that a name means as its file holds it; one that cannot be read as an entry may be edited."""
    plain = from_root(workspace, name)
    if plain not in workspace.catalog.addresses and workspace.bytes_of(f"{plain}.md") is not None:
        raise UsageError(f"{plain}.md is no entry; change it with a tool of yours, then run `mdmem check`")
    address = plain if f"{plain}.md" in workspace.catalog.broken else resolve_names(workspace, [name])[0]
    refuse_remote(workspace, address.split("/", 1)[0])
    content = workspace.bytes_of(f"{address}.md")
    if content is None:
        raise NotFoundError(f"{address}.md is no regular file that can be read; mend that first")
    return Opening(address, content)


def faults_of(workspace: Opened, opening: Opening, content: bytes) -> tuple[Finding, ...]:
    """Return the errors that a file has with a new content and had not before, in the order of reading."""
    after = OverlaidTree(workspace.tree).having({opening.path: content})
    before = _errors(workspace, workspace.tree, opening.path)
    return tuple(one for one in mark_new(_errors(workspace, after, opening.path), before) if one.new)


def _errors(workspace: Opened, tree: Tree, path: str) -> list[Finding]:
    found = check(workspace.over(tree), Asked()).findings
    return [one for one in found if one.place.path == path and one.severity is Severity.ERROR]


def save_edit(
    workspace: Opened, opening: Opening, content: bytes, *, is_editorial: bool, options: WriteOptions
) -> Written:
    """Write what was typed; raises LostRaceError where the file changed meanwhile, and what `carry` raises."""
    # Closed unchanged, the mark is for what was changed before and is not committed yet.
    is_due = is_editorial and (content != opening.content or any(_frozen(workspace, opening, content)))
    intent = edit(opening.path, opening.content, content, editorial_on=workspace.today if is_due else None)
    after = intent.plan.changes[0].after or b""
    remarks = tuple(_frozen(workspace, opening, after))
    return carry(workspace, lambda _: replace(intent, remarks=remarks), options)


def _frozen(workspace: Opened, opening: Opening, content: bytes) -> Iterator[str]:
    """Yield what `check` will ask for where the words of a rule in force changed since the last commit."""
    if workspace.location.repository is None:
        return
    head = workspace.at(Moment(revision="HEAD"))
    try:
        base = Base("HEAD", head.whole_catalog, head.settings)
    except (GitError, SettingsError):
        return
    if opening.address not in base.catalog.entries:
        return
    after = workspace.over(OverlaidTree(workspace.tree).having({opening.path: content})).whole_catalog
    for finding in frozen_text_changed.find(Case(after, workspace.settings, workspace.today, base=base)):
        if finding.address == opening.address:
            slip = f"`mdmem edit --editorial {opening.address}` for a corrected slip"
            rule = f"`mdmem supersede {opening.address}` for another rule"
            yield f"{finding.message}; `mdmem check` will ask for {slip}, {rule}, or a raised `version`"
