"""What an editor shows of what is pointed at: an entry, a key, a check, a wing, a glob; in code, what applies there."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from mdmem.checks.engine import get_check
from mdmem.errors import MdmemError
from mdmem.lsp.buffer import Buffer
from mdmem.lsp.code_rules import rules_of
from mdmem.lsp.globs import files_met
from mdmem.lsp.place import EditorPage
from mdmem.lsp.session import EditorSession
from mdmem.lsp.spots import Spot, SpotKind
from mdmem.lsp.texts import entry_lines, shown, title_line
from mdmem.model.fields import FIELDS
from mdmem.render.findings.text import explanation

_FIELDS = {field.name: field for field in FIELDS}
_SHOWN_FILES = 10


def hover(session: EditorSession, buffer: Buffer, params: types.HoverParams) -> types.Hover | None:
    """Return what is known of what stands at a place, each matter in a fence of its own."""
    page = EditorPage(session, buffer)
    spot = page.spot(params.position)
    if page.is_code and spot is None:
        return _rules(page) if params.position.line == 0 else None
    told = list(_told(page, spot)) if spot is not None else []
    blocks = [block for block in (told, *map(_explained, _found_at(session, buffer, params.position))) if block]
    where = page.range_of(spot) if spot is not None and told else None
    return types.Hover(shown(session.skills, *blocks), where) if blocks else None


def _told(page: EditorPage, spot: Spot) -> Iterator[str]:
    if spot.kind is SpotKind.KEY:
        yield from _field(spot.text)
    elif spot.kind is SpotKind.ADDRESS:
        yield from _entry(page, spot)
    elif spot.kind is SpotKind.CODE:
        yield from _explained(spot.text)
    elif spot.kind is SpotKind.WING:
        yield from _wing(page, spot.text)
    elif spot.kind is SpotKind.GLOB:
        met = files_met(page.session, spot.text)
        yield "1 file" if len(met) == 1 else f"{len(met)} files"
        yield from met[:_SHOWN_FILES]


def _field(name: str) -> Iterator[str]:
    field = _FIELDS.get(name)
    if field is not None:
        yield f"{field.name}: {field.meaning}"
        yield f"of {field.holder.words}; set by {field.set_by.replace('`', '')}"
        yield field.example


def _entry(page: EditorPage, spot: Spot) -> Iterator[str]:
    catalog, address = page.session.catalog, page.meant(spot)
    if address is not None:
        yield from entry_lines(catalog, address, page.session.today())
    elif f"{spot.text}.md" in catalog.broken:
        fault = catalog.broken[f"{spot.text}.md"].findings[0]
        yield f"{spot.text} cannot be read"
        yield f"line {fault.place.line}: {fault.message}"


def _wing(page: EditorPage, name: str) -> Iterator[str]:
    wing = page.session.catalog.wings.get(name)
    if wing is not None:
        owners = f"owners {', '.join(wing.owners)}" if wing.owners else ""
        yield " · ".join(filter(None, (f"{wing.kind.value} wing {name}", owners)))
        yield from filter(None, (wing.description,))


def _explained(code: str) -> list[str]:
    try:
        return explanation(code, get_check(code)).splitlines()
    except MdmemError:
        return []


def _found_at(session: EditorSession, buffer: Buffer, position: types.Position) -> list[str]:
    """Return the codes of what is found at a place."""
    at = (position.line, position.character)
    found = []
    for finding in session.findings:
        if finding.place.path == buffer.path:
            where = buffer.range_at(finding.place)
            if (where.start.line, where.start.character) <= at <= (where.end.line, where.end.character):
                found.append(finding.code)
    return list(dict.fromkeys(found))


def _rules(page: EditorPage) -> types.Hover | None:
    found = rules_of(page.session, page.buffer)
    if not found.rules:
        return None
    return types.Hover(shown(page.session.skills, filter(None, (*map(title_line, found.rules), found.more))))
