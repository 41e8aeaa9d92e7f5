"""The pieces of pages: what a line about an entry, a wing or an event shows, with its link from the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from mdmem.markdown.sentences import cut_at_word
from mdmem.model.entry import Entry, Wing
from mdmem.model.text import visible
from mdmem.render.lineage_graph import LineageGraph
from mdmem.render.svg import lineage_svg
from mdmem.site.facts import BindingEvent, SiteFacts
from mdmem.site.links import href_from, page_of, page_of_wing

Row = Mapping[str, Any]


class PageRows(Struct, frozen=True):
    """What the templates are given of entries, as text that is safe to be shown."""

    facts: SiteFacts

    def row(self, entry: Entry, page: str, *, globs: bool = False) -> Row:
        """Return what a line about an entry shows."""
        row: dict[str, Any] = {
            "href": href_from(page, page_of(entry.address)),
            "title": visible(cut_at_word(entry.title, 300)),
            "type": entry.type.value,
            "state": self.facts.state(entry),
        }
        return row | ({"globs": [visible(one) for one in entry.applies_to]} if globs else {})

    def rows(self, entries: Iterable[Entry], page: str, **options: bool) -> list[Row]:
        """Return the lines about entries."""
        return [self.row(entry, page, **options) for entry in entries]

    def named(self, address: str, page: str) -> dict[str, str]:
        """Return the title of an entry and the link to it."""
        entry = self.facts.catalog.entries[address]
        return {"href": href_from(page, page_of(address)), "title": visible(cut_at_word(entry.title, 300))}

    def wing_row(self, name: str, page: str) -> dict[str, Any]:
        """Return what is told of a wing."""
        wing = self.facts.catalog.wings.get(name, Wing(name=name))
        return {
            "name": name,
            "href": href_from(page, page_of_wing(name)),
            "kind": "shared" if wing.is_shared else "project",
            "description": visible(wing.description or ""),
            "owners": [visible(one) for one in wing.owners],
            "applies_to": [visible(one) for one in wing.applies_to],
        }

    def event(self, event: BindingEvent, page: str) -> dict[str, Any]:
        """Return an event as a line."""
        shown = {"day": event.day.isoformat(), "what": event.what, "reason": visible(cut_at_word(event.reason, 300))}
        replaced = [self.named(one, page) for one in event.replaced]
        return shown | self.named(event.address, page) | {"replaced": replaced}

    def picture(self, graph: LineageGraph, page: str) -> Markup:
        """Return a lineage as a picture whose boxes are links."""
        # Every text in it is escaped where it is drawn.
        return Markup(lineage_svg(graph, href=lambda one: href_from(page, page_of(one)), alone=False))

    def parted(self, entries: Sequence[Entry], page: str, *, globs: bool = False) -> dict[str, list[Row]]:
        """Return the lines about entries by how they stand."""
        rows = self.rows(entries, page, globs=globs)
        return {
            "current": [row for row in rows if row["state"] in ("in force", "under review")],
            "drafts": [row for row in rows if row["state"] == "draft"],
            "ended": [row for row in rows if row["state"] == "ended"],
        }
