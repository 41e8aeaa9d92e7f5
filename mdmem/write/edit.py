"""Edit an entry in the user's editor, or set `applies_to` of several entries without an editor."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from mdmem.checks.engine import mark_new
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, NotFoundError, UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Status
from mdmem.model.finding import Finding, Severity
from mdmem.store.git.process import UnknownRevisionError
from mdmem.store.tree import Tree, TreeView
from mdmem.store.workspace.addresses import from_root, resolve_name, resolve_names
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.remarks import refuse_remote
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction, patched
from mdmem.write.write import WriteOptions, WriteResult, write

_REMOVED = "these lines are removed again"
# The user may have changed the words or line ends of the notes. An entry itself begins with `---`.
_NOTES = re.compile(rb"\A(\xef\xbb\xbf)?(?:# mdmem: [^\n]*(?:\n|\Z))+")


def notes_on(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the lines that show errors above a text in the editor. Line numbers include these lines."""
    several, them = ("s", "them") if len(findings) > 1 else ("", "it")
    head = f"{len(findings)} error{several}; fix {them}, or close the file without changes to cancel"
    lines = (f"line {one.place.line + len(findings) + 2}: {one.message}; {one.help}" for one in findings)
    return (head, *lines, _REMOVED)


def notes_on_refusal(sentence: str) -> tuple[str, ...]:
    """Return the lines that show above a text in the editor why it was refused."""
    head = "nothing is written yet; fix it, or close the file without changes to cancel"
    return (head, sentence, f"{_REMOVED}, and line numbers do not count them")


def with_notes(content: bytes, notes: Sequence[str]) -> bytes:
    """Return a text with notes above it as comment lines. A byte order mark stays at the start."""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    ending = "\r\n" if b"\r\n" in content else "\n"
    lines = "".join(f"# mdmem: {' '.join(note.split())}{ending}" for note in notes)
    return mark + lines.encode("utf-8", "backslashreplace") + content.removeprefix(mark)


def without_notes(content: bytes) -> bytes:
    """Return a text without the notes above it."""
    return _NOTES.sub(rb"\1", content)


class EditSession(Struct, frozen=True):
    """A file that is being edited, with its content at the start."""

    address: str
    path: str
    content: bytes


def open_entry(workspace: Workspace, name: str) -> EditSession:
    """Return the entry with a name, and its bytes. The entry may be one that cannot be parsed.

    Raises NotFoundError, and UsageError for another file or a wing of another repository.
    """
    plain = from_root(workspace, name)
    if plain not in workspace.catalog.addresses and workspace.bytes_of(f"{plain}.md") is not None:
        raise UsageError(f"{plain}.md is not an entry; edit it with your own editor, then run `mdmem check`")
    address = plain if f"{plain}.md" in workspace.catalog.broken else resolve_name(workspace, name)
    refuse_remote(workspace, address.split("/", 1)[0])
    path = f"{address}.md"
    content = workspace.bytes_of(path)
    if content is None:
        raise NotFoundError(f"{path} is not a regular file that can be read; fix that first")
    return EditSession(address, path, content)


def faults_of(workspace: Workspace, opening: EditSession, content: bytes) -> tuple[Finding, ...]:
    """Return the errors that a new content adds to a file, in order."""

    def errors(tree: Tree) -> list[Finding]:
        found = check(workspace.over(tree), CheckRequest()).findings
        return [one for one in found if one.place.path == opening.path and one.severity is Severity.ERROR]

    after = TreeView(workspace.tree, changed={opening.path: content})
    return tuple(one for one in mark_new(errors(after), errors(workspace.tree)) if one.new)


def save_edit(
    workspace: Workspace, opening: EditSession, content: bytes, *, is_editorial: bool, options: WriteOptions
) -> WriteResult:
    """Write the edited text. `is_editorial` marks a change that does not change the rule.

    Raises LostRaceError if the file changed in the meantime, UnpatchableError if the mark cannot be written, and the
    errors of `write`.
    """
    if is_editorial and content == opening.content:
        # The mark is about an earlier change, unless that is committed.
        with suppress(GitError, UnknownRevisionError):
            is_editorial = workspace.at(Snapshot(revision="HEAD")).bytes_of(opening.path) != opening.content
    if is_editorial:
        document = parse_document(opening.path, content)
        content = apply_edits(content, set_fields(document, {"editorial_at": workspace.today.isoformat()}))
    change_set = ChangeSet(
        (Change(opening.path, opening.path, opening.content, content),),
        actions=(WriteAction(Verb.EDIT, opening.address),),
    )
    return write(workspace, lambda _: change_set, options)


# This word instead of globs means the files that the text of an entry mentions.
LIKELY = "likely"
_CODE = re.compile(r"`([^`\n]+)`")
_SPECIAL = re.compile(r"([*?\[\]\\])")
_PROSE = (".md", ".markdown", ".mdc", ".rst", ".adoc")


def mentioned_globs(workspace: Workspace, bodies: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return, by address, globs for the tracked files and folders outside the memory that a body mentions as code.

    `bodies` are pairs of address and body.
    """
    under = workspace.location.prefix
    files = {path for path in workspace.tracked_files() if not (under and path.startswith(under))}
    folders = set[str]()
    for path in files:
        while (path := path.rpartition("/")[0]) and path not in folders:
            folders.add(path)
    found = dict[str, tuple[str, ...]]()
    for address, body in bodies:
        globs = []
        for name in (one[1].strip().removeprefix("./").rstrip("/") for one in _CODE.finditer(body)):
            plain = _SPECIAL.sub(r"\\\1", name)
            if name in files and not name.lower().endswith(_PROSE):
                globs.append(plain)
            elif "/" in name and name in folders:
                globs.append(f"{plain}/**")
        found[address] = tuple(dict.fromkeys(globs))
    return found


def plan_applies_to(workspace: Workspace, names: Sequence[str], globs: Sequence[str]) -> ChangeSet:
    """Return the changes that set `applies_to`: the globs, or with LIKELY the files that each rule mentions.

    LIKELY skips notes, deprecated entries, and entries with `applies_to`. Raises UsageError for LIKELY with globs.
    """
    is_likely = LIKELY in globs
    if is_likely and len(globs) > 1:
        raise UsageError(f"--applies-to {LIKELY} takes the files from the text; leave out the other globs")
    entries, addresses = workspace.catalog.entries, resolve_names(workspace, names)
    found = {address: tuple(globs) for address in addresses}
    if is_likely:
        rules = [one for one in map(entries.__getitem__, addresses) if one.type.is_rule and not one.applies_to]
        rules = [one for one in rules if one.status is not Status.DEPRECATED]
        found = mentioned_globs(workspace, ((one.address, workspace.catalog.document(one.path).body) for one in rules))
    meant = {address: one for address, one in found.items() if one}
    rest = len(addresses) - len(meant)
    stay = "entries stay as they are: each" if rest > 1 else "entry stays as it is: it"
    why = "is no rule, is deprecated, has `applies_to`, or mentions no file of the project"
    return ChangeSet(
        tuple(patched(workspace.catalog, entries[one].path, {"applies_to": meant[one]}) for one in meant),
        actions=tuple(WriteAction(Verb.EDIT, one) for one in meant),
        remarks=(f"{rest} {stay} {why}",) if is_likely and rest else (),
    )
