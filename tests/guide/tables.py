"""The tables of the guide as the program has them; `python -m guide.tables`, in `tests`, writes them into the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import mdmem.guide
from mdmem.ask.facets import ROWS
from mdmem.checks.check import get_checks
from mdmem.cli.main import GROUPS, PROGRAMS
from mdmem.mcp.tools.sessions import SAVING
from mdmem.mcp.tools.table import PROFILES, TOOLS
from mdmem.render.fields import guide_table

_FOLDER = Path(mdmem.guide.__file__).parent


def _facets() -> Iterator[str]:
    yield from ("| facet | title | entries |", "| --- | --- | --- |")
    for row in ROWS:
        kinds, parts = " and ".join(f"{kind}s" for kind in row.types), [row.remark] if row.remark else []
        if row.rooms:
            parts.insert(0, f"in the rooms {_codes(row.rooms)}")
        if row.labels:
            parts.insert(0, f"{kinds} labelled {_codes(row.labels)}")
        entries = "; ".join(parts) if row.types else f"every {row.whole}, {row.remark}"
        yield f"| `{row.facet}` | {row.title} | {entries} |"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _checks() -> Iterator[str]:
    yield from ("| check | severity | what it finds |", "| --- | --- | --- |")
    for theme, checks in groupby(get_checks().values(), key=lambda check: check.theme):
        yield f"| **{theme}** | | |"
        yield from (f"| `{check.code}` | {check.severity} | {check.summary} |" for check in checks)


def _commands() -> Iterator[str]:
    yield from ("| command | what |", "| --- | --- |")
    for title, rows in (*GROUPS.items(), ("Started by programs", PROGRAMS)):
        yield f"| **{title}** | |"
        yield from (f"| `{name}` | {sentence} |" for name, sentence in rows.items())


def _profiles() -> Iterator[str]:
    yield "| tool | " + " | ".join(f"`{profile}`" for profile in PROFILES) + " |"
    yield "| --- |" + " --- |" * len(PROFILES)
    for tool in TOOLS:
        yield f"| `{tool}` | " + " | ".join("✓" if tool in names else "" for names in PROFILES.values()) + " |"


# It takes the records of three others.
_REPEATS = ("store_session_with_learnings",)


def _records() -> Iterator[str]:
    yield from ("| field | value |", "| --- | --- |")
    for tool in SAVING:
        parameters = {} if tool.name in _REPEATS else tool.input_schema["properties"]
        records = {name: schema.get("items", schema) for name, schema in parameters.items()}
        fields = [(name, record, field) for name, record in records.items() for field in record.get("properties", {})]
        if fields:
            yield f"| *`{tool.name}`* | |"
        for name, record, field in fields:
            mark = "**" if field in record["required"] else ""
            yield f"| {mark}`{name}.{field}`{mark} | {_what(field, record['properties'][field])} |"


def _what(name: str, schema: Mapping[str, Any]) -> str:
    if name in ("scope", "save_scope"):
        return "as above"
    kind = {"array": "a list of texts", "object": "an object", "number": "a number", "string": ""}[schema["type"]]
    kind = ", ".join(f"`{one}`" for one in schema["enum"]) if "enum" in schema else kind
    return ": ".join(filter(None, (kind, schema.get("description", ""))))


# The table between the comments of its name in a page.
TABLES: Mapping[tuple[str, str], Callable[[], str]] = {
    ("asking", "facets"): lambda: "\n".join(_facets()),
    ("fields", "fields"): guide_table,
    ("commands", "commands"): lambda: "\n".join(_commands()),
    ("checking", "checks"): lambda: "\n".join(_checks()),
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
