"""What a write changed: one line a file and one a field, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mdmem.markdown.parse import Document, parse_document
from mdmem.model.entry import Entry, visible
from mdmem.render.ink import Ink
from mdmem.render.json import dump
from mdmem.render.patch import FilePatch, diff_text
from mdmem.write.change_set import Change
from mdmem.write.write import WriteResult


def written_text(written: WriteResult, ink: Ink, *, show_path: Callable[[str], str], under: str) -> str:
    """Return what was written, each path as `show_path` gives it; of a dry run the diff."""
    if written.is_dry:
        return changes_diff(written.changes, under, ink)
    lines = [line for change in written.changes for line in _lines(change, ink, show_path)]
    if written.commit is not None:
        lines.append(f"committed as {written.commit[:10]}")
    return "\n".join(lines)


def changes_diff(changes: Iterable[Change], under: str, ink: Ink) -> str:
    """Return changes of a root as a diff that counts from the repository's top; `under` is the root's path there."""
    prefix = f"{under}/" if under else ""
    patches = [FilePatch(f"{prefix}{one.to}", one.before, one.after, f"{prefix}{one.path}") for one in changes]
    return diff_text(patches, ink)


def written_json(written: WriteResult, **more: Any) -> str:
    """Return what was written as one JSON document, with more keys of a verb's own."""
    return dump(
        {
            "changed": [_change_json(change) for change in written.changes],
            "remarks": list(written.remarks),
            "commit": written.commit,
            "dry_run": written.is_dry,
            **more,
        }
    )


def near_json(entry: Entry, similarity: float) -> dict[str, Any]:
    """Return an entry that says nearly the same as a new one; `similarity` is the share of common words."""
    stated = {"address": entry.address, "type": entry.type, "status": entry.status, "title": entry.title}
    return stated | {"similarity": round(similarity, 2)}


def action_of(change: Change) -> str:
    """Return what happened to a file in one word."""
    if change.before is None:
        return "created"
    if change.after is None:
        return "deleted"
    return "moved" if change.path != change.to else "changed"


def _lines(change: Change, ink: Ink, show_path: Callable[[str], str]) -> Iterator[str]:
    moved = f"{visible(show_path(change.path))} → " if change.path != change.to else ""
    yield f"{action_of(change)} {moved}{ink.bold(visible(show_path(change.to)))}"
    if change.before is None:
        return
    for name, (before, after) in field_changes(change).items():
        shown = (
            " → ".join(_shown(value) for value in _differing(before, after)) if before is not None else _shown(after)
        )
        yield f"  {name}: {shown}" if after is not None else f"  {name}: removed ({_shown(before)})"
    if _body(change.before, change.path) != _body(change.after, change.to):
        yield "  body: changed"


def _differing(before: Any, after: Any) -> tuple[Any, Any]:
    """Return two values, of lists whose items were only replaced just those that were."""
    if not isinstance(before, list) or not isinstance(after, list) or len(before) != len(after):
        return before, after
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    return [old for old, _ in pairs], [new for _, new in pairs]


def _change_json(change: Change) -> dict[str, Any]:
    fields = field_changes(change)
    return {
        "path": change.to,
        "address": change.to.removesuffix(".md"),
        "action": action_of(change),
        "from": change.path if change.path != change.to else None,
        "fields": {name: {"before": before, "after": after} for name, (before, after) in fields.items()},
    }


def field_changes(change: Change) -> dict[str, tuple[Any, Any]]:
    """Return the front-matter fields that a change touches, with their values before and after, in the file's order."""
    before, after = _fields(change.before, change.path), _fields(change.after, change.to)
    names = dict.fromkeys((*after, *before))
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _document(content: bytes | None, path: str) -> Document | None:
    return parse_document(path, content) if content is not None else None


def _fields(content: bytes | None, path: str) -> dict[str, Any]:
    document = _document(content, path)
    return dict(document.fields or {}) if document is not None else {}


def _body(content: bytes | None, path: str) -> str | None:
    document = _document(content, path)
    return document.body if document is not None else None


def _shown(value: Any) -> str:
    listed = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return visible(listed)
