"""The tables of the guide as the program has them; `python -m guide.tables`, in `tests`, writes them into the pages."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import mdmem.guide
from mdmem.ask.facets import ROWS
from mdmem.cli.main import GROUPS, PROGRAMS, load_command
from mdmem.mcp.tools import PROFILES, TOOLS
from mdmem.model.entry import Holder
from mdmem.model.fields import FIELDS
from mdmem.render.entries import fields_markdown

_FOLDER = Path(mdmem.guide.__file__).parent


def _facets() -> Iterator[str]:
    for row in ROWS:
        kinds = " and ".join(f"{kind}s" for kind in row.types)
        rooms = f"; rooms {_codes(row.rooms.split())}" if row.rooms else ""
        yield f"- `{row.facet}`, of {kinds}: labels {_codes(row.labels.split())}{rooms}"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _commands() -> Iterator[str]:
    for title, names in GROUPS.items():
        helps = (" ".join((load_command(name).help or "").partition("\n\n")[0].split()) for name in names)
        lines = (f"- `{name}`: {text.partition('. ')[0].rstrip('.')}." for name, text in zip(names, helps, strict=True))
        yield "\n".join([f"**{title}**", "", *lines, ""])
    yield f"For programs: {_codes(PROGRAMS)}."


_PURPOSES = {
    "core": "to work on code",
    "sessions": "to load a project's memory when a session starts, and save when it ends",
    "research": "to collect knowledge for a goal, and outline a text with sources",
    "test": "to try all tools",
}


def _profiles() -> Iterator[str]:
    for profile, names in PROFILES.items():
        tools = "all" if set(names) == set(TOOLS) else _codes(name for name in TOOLS if name in names)
        yield f"- `{profile}`, {_PURPOSES[profile]}: {tools}"


# It takes the records of three others.
_REPEATS = ("store_session_with_learnings",)


def _records() -> Iterator[str]:
    for tool in TOOLS.values():
        parameters = {} if tool.name in _REPEATS else tool.input_schema["properties"]
        for name, schema in parameters.items():
            record = schema.get("items", schema)
            if found := record.get("properties"):
                fields = (_field(one, found[one], is_needed=one in record["required"]) for one in found)
                each = "each of " if "items" in schema else ""
                yield f"- {each}`{name}` of `{tool.name}`: {'; '.join(fields)}"


def _field(name: str, schema: Mapping[str, Any], *, is_needed: bool) -> str:
    shown = f"**`{name}`**" if is_needed else f"`{name}`"
    if name in ("scope", "save_scope"):
        return shown
    kind = {"array": "a list", "object": "an object"}.get(schema["type"], "")
    kind = _codes(schema["enum"]) if "enum" in schema else kind
    return f"{shown} ({kind})" if kind else shown


def _fields() -> Iterator[str]:
    for holder in Holder:
        fields = [one for one in FIELDS if one.holder is holder or (holder is Holder.WING and one.in_manifest)]
        if fields:
            yield f"## For {holder.words}\n\n{fields_markdown(fields)}"


# The table between the comments of its name in a page.
TABLES: Mapping[tuple[str, str], Callable[[], str]] = {
    ("asking", "facets"): lambda: "\n".join(_facets()),
    ("fields", "fields"): lambda: "\n\n".join(_fields()),
    ("commands", "commands"): lambda: "\n".join(_commands()),
    ("serving-agents", "profiles"): lambda: "\n".join(_profiles()),
    ("serving-agents", "records"): lambda: "\n".join(_records()),
}


def parts(text: str, name: str) -> tuple[str, str, str]:
    """Return what stands before a table, the table, and what follows it."""
    before, _, rest = text.partition(f"<!-- {name} -->\n")
    table, _, after = rest.partition(f"<!-- /{name} -->")
    return before, table.removesuffix("\n"), after


def _write() -> None:
    for (page, name), table in TABLES.items():
        path = _FOLDER / f"{page}.md"
        before, _, after = parts(path.read_text(encoding="utf-8"), name)
        path.write_text(f"{before}<!-- {name} -->\n{table()}\n<!-- /{name} -->{after}", encoding="utf-8")


if __name__ == "__main__":
    _write()
