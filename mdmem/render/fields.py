"""Render the fields of the front matter: a single field as text, and all fields as JSON or as the guide's lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mdmem.model.entry import EntryType, Field, Holder, Kind, Searched, Status, WingKind
from mdmem.model.fields import FIELDS
from mdmem.render.json import record_json
from mdmem.render.style import Style

_KINDS = {
    Kind.TYPE: ", ".join(EntryType),
    Kind.STATUS: ", ".join(Status),
    Kind.WING_KIND: ", ".join(WingKind),
    Kind.TEXT: "text",
    Kind.TEXTS: "list of text",
    Kind.WINGS: "list of wings",
    Kind.LINKS: "list of addresses",
    Kind.GLOBS: "list of globs",
    Kind.MOMENT: "date or date-time",
    Kind.VERSION: "whole number from 1",
    Kind.SHARE: "number from 0 to 1",
    Kind.PAIRS: "mapping of check code to reason",
    Kind.RELATIONS: "list of mappings with `type` and `to`",
}
_SEARCHED = {
    Searched.TITLE: "by its words, which weigh like those of a title",
    Searched.TAG: "by its words, which weigh like those of a tag",
    Searched.WHOLE: "as a whole",
    Searched.DATE: "as a date",
}

_WRITER = re.compile(r"^its writer(, (and )?)?")


def field_text(field: Field, style: Style) -> str:
    """Return all facts about one field as text, the example last."""
    rows = [
        ("value", _KINDS[field.kind]),
        ("for", field.holder.words + (" (required)" if field.required else "")),
        ("set by", field.set_by),
        ("searched", _SEARCHED[field.searched] if field.searched else "no"),
    ]
    lines = [f"{style.bold(field.name)}: {field.meaning}", *(f"  {name:<8}  {value}" for name, value in rows)]
    return "\n".join([*lines, f"  {'example':<8}  {field.example}"])


def fields_json(fields: Sequence[Field]) -> dict[str, Any]:
    """Return all facts about the fields as JSON values."""
    names = ("name", "meaning", "set_by", "searched", "example")
    rows = [
        {**record_json(one, *names, type="kind", needed="required"), "value": _KINDS[one.kind], "for": one.holder}
        for one in fields
    ]
    return {"fields": rows}


def fields_markdown(fields: Sequence[Field]) -> str:
    """Return the fields as a Markdown list. Each has its values or an example, unless its value is plain text."""
    lines = []
    for one in fields:
        commands = _WRITER.sub("", one.set_by)
        after = f"; set by {commands}" if commands else ""
        is_choice = one.kind in (Kind.TYPE, Kind.STATUS, Kind.WING_KIND)
        value = _KINDS[one.kind] if is_choice else f"`{one.example.removeprefix(f'{one.name}: ')}`"
        shown = "" if one.kind is Kind.TEXT else f" ({value})"
        lines.append(f"- `{one.name}`{' (required)' if one.required else ''}: {one.meaning}{shown}{after}")
    return "\n".join(lines)


def guide_table() -> str:
    """Return the lists of the guide, one for each kind of file, each with a heading."""
    tables = [
        (holder, [one for one in FIELDS if one.holder is holder or (holder is Holder.WING and one.in_manifest)])
        for holder in Holder
    ]
    return "\n\n".join(f"## For {holder.words}\n\n{fields_markdown(fields)}" for holder, fields in tables if fields)
