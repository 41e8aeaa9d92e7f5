"""Render the changes of a write as fields or as a patch, and the conflicts of a merge."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mdmem.change.resolve import MergeConflicts
from mdmem.markdown.merge import ConflictSide
from mdmem.markdown.parse import Document, parse_document
from mdmem.model.text import c_escaped, visible
from mdmem.record import record_json
from mdmem.render.text import Style, shorten
from mdmem.write.change_set import Change
from mdmem.write.write import WriteResult


def written_text(written: WriteResult, style: Style, *, show_path: Callable[[str], str], under: str) -> str:
    """Return the changes of a write, or the diff of a dry run with paths below `under`; `show_path` formats paths."""
    if written.is_dry:
        return changes_diff(written.changes, under, style)
    lines = []
    for change in written.changes:
        moved = f"{visible(show_path(change.path))} → " if change.path != change.to else ""
        lines.append(f"{action_of(change)} {moved}{style.bold(visible(show_path(change.to)))}")
        if change.before is None or change.after is None:
            continue
        for name, (before, after) in field_changes(change).items():
            shown = f"{_shown(before)} → {_shown(after)}" if before is not None else _shown(after)
            lines.append(f"  {name}: {shown}" if after is not None else f"  {name}: removed ({_shown(before)})")
        old, new = _documents(change)
        if (old and old.body) != (new and new.body):
            lines.append("  body: changed")
    if written.commit is not None:
        lines.append(f"committed as {written.commit[:10]}")
    return "\n".join(lines)


def written_json(written: WriteResult) -> dict[str, Any]:
    """Return the changes of a write as JSON values."""
    changed = [
        {
            "path": one.to,
            "address": one.to.removesuffix(".md"),
            "action": action_of(one),
            "from": one.path if one.path != one.to else None,
            "fields": {name: {"before": old, "after": new} for name, (old, new) in field_changes(one).items()},
        }
        for one in written.changes
    ]
    return {"changed": changed, **record_json(written, "remarks", "commit", dry_run="is_dry")}


def action_of(change: Change) -> str:
    """Return whether a file was created, deleted, moved or changed."""
    if change.before is None:
        return "created"
    if change.after is None:
        return "deleted"
    return "moved" if change.path != change.to else "changed"


def field_changes(change: Change) -> dict[str, tuple[Any, Any]]:
    """Return each changed field, as the new file orders them, with its values before and after (None: no field)."""
    before, after = (dict(one.fields or {}) if one is not None else {} for one in _documents(change))
    names = dict.fromkeys((*after, *before))
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _documents(change: Change) -> Iterator[Document | None]:
    """Yield the file before and after a change; None if there is no file."""
    for content, path in ((change.before, change.path), (change.after, change.to)):
        yield parse_document(path, content) if content is not None else None


def _shown(value: Any) -> str:
    listed = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return visible(listed)


_NO_NEWLINE = "\\ No newline at end of file\n"


def changes_diff(changes: Iterable[Change], under: str, style: Style) -> str:
    """Return changes as a unified diff, sorted by path, without the last newline.

    `under` is the path of the root from the repository's top. Bytes that are not UTF-8 become lone surrogates. A file
    with a NUL byte is a binary file, whose content is not shown.
    """
    prefix, files = f"{under}/" if under else "", []
    for change in sorted(changes, key=lambda one: one.to):
        if change.before == change.after and change.path == change.to:
            continue
        old, new = _quoted(f"a/{prefix}{change.path}"), _quoted(f"b/{prefix}{change.to}")
        head = [f"diff --git {old} {new}"]
        if change.before is None:
            head.append("new file mode 100644")
        elif change.after is None:
            head.append("deleted file mode 100644")
        elif change.path != change.to:
            head += [f"rename from {_quoted(f'{prefix}{change.path}')}", f"rename to {_quoted(f'{prefix}{change.to}')}"]
        if b"\0" in (change.before or b"") + (change.after or b""):
            files.append("\n".join([*map(style.bold, head), f"Binary files {old} and {new} differ\n"]))
            continue
        # Drop the first two lines with the file names, which are written below with git's quoting.
        hunks = list(difflib.unified_diff(_patch_lines(change.before), _patch_lines(change.after)))[2:]
        if hunks:
            head.append(f"--- {'/dev/null' if change.before is None else _padded(old)}")
            head.append(f"+++ {'/dev/null' if change.after is None else _padded(new)}")
        files.append("".join(f"{style.bold(line)}\n" for line in head))
        for line in hunks:
            text, newline, _ = line.partition("\n")
            colour = {"@": style.dim, "+": style.added, "-": style.removed}.get(line[0], str)
            files.append(f"{colour(text)}\n{'' if newline else _NO_NEWLINE}")
    return "".join(files).removesuffix("\n")


def _padded(name: str) -> str:
    # git and patch read a name up to a tab. Without the tab, they would cut the name at a space.
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _quoted(path: str) -> str:
    """Quote a path as git does: as a C string if it has control characters, quotes or bytes that are not UTF-8."""
    if not re.search('[\x00-\x1f\x7f"\\\\\ud800-\udfff]', path):
        return path
    return '"' + c_escaped(path, '"') + '"'


def _patch_lines(content: bytes | None) -> list[str]:
    # `splitlines` would also split at characters that do not end a line in a patch.
    return re.findall(r"[^\n]*\n|[^\n]+", (content or b"").decode("utf-8", "surrogateescape"))


_SIDES: dict[ConflictSide | None, str] = {ConflictSide.OURS: ", on our side", ConflictSide.THEIRS: ", on their side"}


def conflicts_text(conflicts: MergeConflicts, style: Style) -> str:
    """Return a block for each conflict, with its choices, then the commands to type at the end."""
    blocks = []
    for one in conflicts.found:
        lines = [f"{style.bold(visible(one.address))}: {one.kind}"]
        for field in one.fields:
            # If successors are known, they are listed below.
            if field.name != "superseded_by" or not one.successors:
                lines.append(f"  {field.name}{' (the file shows both texts)' if field.name == 'body' else ''}")
                for side, value in (("ours", field.ours), ("theirs", field.theirs)) if field.name != "body" else ():
                    text = _shown(value if value or isinstance(value, list) else "–")
                    lines.append(f"    {side:<6}  {shorten(text, 60)}")
        for it in one.successors:
            reason, side = f": {visible(it.reason)}" if it.reason else "", _SIDES.get(it.side, "")
            lines.append(f"  superseded by {visible(it.address)} ({it.status}{side}), {visible(it.title)}{reason}")
        lines += ["  choices"] if one.choices else []
        for choice in one.choices:
            lines += [f"    {visible(choice.does)}", f"      {style.added(choice.command)}"]
        lines += ["    or edit the file by hand, and remove the markers"] if one.fields else []
        blocks.append("\n".join(lines))
    if conflicts.operation == "rebase" and blocks:
        blocks.append("In a rebase, `ours` is the branch that you rebase onto, and `theirs` is your own commit.")
    if conflicts.then:
        blocks.append("\n".join(["when all are resolved:", *(f"  {step}" for step in conflicts.then)]))
    return "\n\n".join(blocks)


def conflicts_json(conflicts: MergeConflicts) -> dict[str, Any]:
    """Return the conflicts as JSON values."""
    found = [
        {**record_json(one, "address", "path", "fields", "successors", "choices"), "kind": one.kind.name.lower()}
        for one in conflicts.found
    ]
    return {**record_json(conflicts, "operation", "then"), "conflicts": found}
