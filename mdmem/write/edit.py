"""An entry in somebody's editor: the notes above its text, whether the new text may stand, and its writing."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.case import Base, Case
from mdmem.checks.engine import mark_new
from mdmem.checks.rules.change import frozen_text_changed
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import GitError, NotFoundError, SettingsError, UsageError
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import Entry, Status
from mdmem.model.finding import Finding, Severity
from mdmem.store.git import UnknownRevisionError
from mdmem.store.tree import OverlaidTree, Tree
from mdmem.store.workspace.addresses import from_root, resolve_name, resolve_names
from mdmem.store.workspace.location import Snapshot
from mdmem.store.workspace.remote_wings import refuse_remote
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction, patched
from mdmem.write.write import WriteOptions, WriteResult, write

_MARK = "# mdmem: "


def edit(path: str, before: bytes, after: bytes, *, editorial_on: date | None = None) -> ChangeSet:
    """Return what gives a file the text of an editor; `editorial_on` marks the change as one that keeps the rule.

    Raises UnpatchableError where the mark cannot be written.
    """
    if editorial_on is not None:
        document = parse_document(path, after)
        after = apply_edits(after, set_fields(document, {"editorial_at": editorial_on.isoformat()}))
    return ChangeSet((Change(path, path, before, after),), actions=(WriteAction(Verb.EDIT, path.removesuffix(".md")),))


def notes_on(findings: Sequence[Finding], content: bytes) -> tuple[bytes, ...]:
    """Return the lines that tell an editor's user what is wrong, with the line numbers of the text below them."""
    count = len(findings) + 2
    head = f"{len(findings)} error{'s' if len(findings) > 1 else ''}; mend {'them' if len(findings) > 1 else 'it'}, or"
    told = (f"line {one.place.line + count}: {one.message}; {one.help}" for one in findings)
    return _notes([f"{head} close this unchanged to give up", *told, _GOING], content)


def notes_on_refusal(sentence: str, content: bytes) -> tuple[bytes, ...]:
    """Return the lines that tell an editor's user why a text was refused."""
    head = "nothing is written yet; mend it, or close this unchanged to give up"
    return _notes([head, sentence, f"{_GOING}, and no line number counts them"], content)


_GOING = "these lines are taken out again"


def _notes(lines: Sequence[str], content: bytes) -> tuple[bytes, ...]:
    ending = b"\r\n" if b"\r\n" in content else b"\n"
    return tuple(f"{_MARK}{' '.join(line.split())}".encode("utf-8", "backslashreplace") + ending for line in lines)


def with_notes(content: bytes, notes: Sequence[bytes]) -> bytes:
    """Return a text with notes above it; a byte order mark stays the first."""
    mark, text = _split(content)
    return b"".join((mark, *notes, text))


def without_notes(content: bytes, notes: Sequence[bytes]) -> bytes:
    """Return a text without the notes above it.

    Only from the top, and no more lines than there were notes, are lines taken out that are marked as ours: an entry
    begins with `---`. The user may have changed their words and their line ends.
    """
    mark, text = _split(content)
    for _ in notes:
        line, newline, rest = text.partition(b"\n")
        if not line.startswith(_MARK.encode()):
            break
        text = rest if newline else b""
    return mark + text


def _split(content: bytes) -> tuple[bytes, bytes]:
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    return mark, content[len(mark) :]


class EditSession(Struct, frozen=True):
    """A file that is about to be edited: its address and its bytes."""

    address: str
    content: bytes

    @property
    def path(self) -> str:
        """Return the file's path from the root."""
        return f"{self.address}.md"


def open_entry(workspace: Workspace, name: str) -> EditSession:
    """Return the entry that a name means as its file holds it; one that cannot be read as an entry may be edited."""
    plain = from_root(workspace, name)
    if plain not in workspace.catalog.addresses and workspace.bytes_of(f"{plain}.md") is not None:
        raise UsageError(f"{plain}.md is no entry; change it with a tool of yours, then run `mdmem check`")
    address = plain if f"{plain}.md" in workspace.catalog.broken else resolve_name(workspace, name)
    refuse_remote(workspace, address.split("/", 1)[0])
    content = workspace.bytes_of(f"{address}.md")
    if content is None:
        raise NotFoundError(f"{address}.md is no regular file that can be read; mend that first")
    return EditSession(address, content)


def faults_of(workspace: Workspace, opening: EditSession, content: bytes) -> tuple[Finding, ...]:
    """Return the errors that a file has with a new content and had not before, in the order of reading."""
    after = OverlaidTree(workspace.tree).with_changes({opening.path: content})
    before = _errors(workspace, workspace.tree, opening.path)
    return tuple(one for one in mark_new(_errors(workspace, after, opening.path), before) if one.new)


def _errors(workspace: Workspace, tree: Tree, path: str) -> list[Finding]:
    found = check(workspace.over(tree), CheckRequest()).findings
    return [one for one in found if one.place.path == path and one.severity is Severity.ERROR]


def save_edit(
    workspace: Workspace, opening: EditSession, content: bytes, *, is_editorial: bool, options: WriteOptions
) -> WriteResult:
    """Write what was typed; raises LostRaceError where the file changed meanwhile, and what `write` raises."""
    # Closed unchanged, the mark is for what was changed before and is not committed yet.
    is_due = is_editorial and (content != opening.content or any(_frozen(workspace, opening, content)))
    change_set = edit(opening.path, opening.content, content, editorial_on=workspace.today if is_due else None)
    after = change_set.changes[0].after or b""
    remarks = tuple(_frozen(workspace, opening, after))
    return write(workspace, lambda _: replace(change_set, remarks=remarks), options)


def _frozen(workspace: Workspace, opening: EditSession, content: bytes) -> Iterator[str]:
    """Yield what `check` will ask for where the words of a rule in force changed since the last commit."""
    if workspace.location.repository is None:
        return
    head = workspace.at(Snapshot(revision="HEAD"))
    try:
        base = Base("HEAD", head.whole_catalog, head.settings)
    except (GitError, SettingsError, UnknownRevisionError):
        return
    if opening.address not in base.catalog.entries:
        return
    after = workspace.over(OverlaidTree(workspace.tree).with_changes({opening.path: content})).whole_catalog
    for finding in frozen_text_changed.find(Case(after, workspace.settings, workspace.today, base=base)):
        if finding.address == opening.address:
            slip = f"`mdmem edit --editorial {opening.address}` for a corrected slip"
            rule = f"`mdmem supersede {opening.address} --title TEXT --reason TEXT` for another rule"
            yield f"{finding.message}; `mdmem check` will ask for {slip}, {rule}, or a raised `version`"


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
    and what `write` raises.
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

    return write(workspace, plan, options)


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
