"""The pages and what each shows: the same facts give the same bytes.

The text of each entry as the pages show it, and as their search finds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cached_property, partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup, escape
from msgspec import Struct

from mdmem import __version__
from mdmem.model.entry import Entry, EntryType, Wing
from mdmem.model.text import visible
from mdmem.render.lineage_graph import linked_graph
from mdmem.render.words import UNREPLACED
from mdmem.site.attachments import attachments
from mdmem.site.board import Board, severity_of
from mdmem.site.change_page import change_context
from mdmem.site.code_map import CodeMap, FolderRow
from mdmem.site.entry_view import EntryView
from mdmem.site.facts import BindingEvent, SiteFacts
from mdmem.site.kept import Kept
from mdmem.site.keys import PageKeys, key_of
from mdmem.site.lines import PIECES
from mdmem.site.links import (
    ALL,
    BOARD,
    CODE,
    DIFF,
    LINEAGE,
    MENU,
    START,
    TIMELINE,
    entry_links,
    href_from,
    page_of,
    page_of_folder,
    page_of_month,
    page_of_room,
    page_of_wing,
    up_from,
)
from mdmem.site.marks import linked
from mdmem.site.months import months_svg
from mdmem.site.rows import PageRows
from mdmem.site.shards import TITLE, shards
from mdmem.store.index import analysis

TermCounts = dict[str, int]
# Raised whenever the same text becomes other markup.
_MARKUP = 3
# Raised whenever the same text has other terms, but for those of the index, which has a number of its own.
_TERMS = 1


def markups(facts: SiteFacts) -> Kept[str]:
    """Return the body of each entry as `marked` gives it, without the heading that its page shows already."""

    def make(entry: Entry, body: str) -> str:
        # A build with nothing new needs no reader of Markdown, whose import takes a tenth of a second.
        from mdmem.site.markup import marked

        return marked(_without_title(body, entry.title))

    return Kept(facts, "site-markup", str(_MARKUP), dict[str, str], make)


def terms(facts: SiteFacts) -> Kept[TermCounts]:
    """Return the terms of each entry with how often they stand in it, in its title `TITLE` times."""

    def make(entry: Entry, body: str) -> TermCounts:
        found = term_counts(body)
        return {**found, **{term: found.get(term, 0) + TITLE * n for term, n in term_counts(entry.title).items()}}

    return Kept(facts, "site-terms", f"{analysis.VERSION}.{_TERMS}", dict[str, TermCounts], make)


def term_counts(text: str) -> TermCounts:
    """Return the terms of a text with how often they stand in it."""
    return {term: len(places) for term, places in analysis.positions_of(text).items()}


def _without_title(body: str, title: str) -> str:
    first, _, rest = body.lstrip().partition("\n")
    return rest if first.lstrip("# ").strip() == title.strip() and first.startswith("#") else body


_LATELY = 12
# Each month tells what bound then: of more, the weightiest, or ten years of a large memory would fill a disk.
_MOST_BOUND = 500
# So many groups are told that the picture of all has no room for.
_MOST_GROUPS = 200
# No text that is shown has one.
_CUT = "\x1f"
_STATES = ("in force", "under review", "draft", "ended")


class SitePage(Struct, frozen=True):
    """One file of the site: its path, a key that tells whether it would be another one, and what makes it."""

    path: str
    key: str
    make: Callable[[], str]


class SitePages(Struct, frozen=True, dict=True):
    """The pages of a site; `name` stands above each, `live` is the state of the files where they are served."""

    facts: SiteFacts
    name: str
    live: str = ""
    base: str | None = None

    @cached_property
    def rows(self) -> PageRows:
        """Return the pieces of the pages."""
        return PageRows(self.facts)

    def pages(self) -> Iterator[SitePage]:
        """Yield every page, the start first."""
        return (make() for make in self.plans.values())

    @cached_property
    def plans(self) -> Mapping[str, Callable[[], SitePage]]:
        """Return what makes each page, by its path: whoever wants one page waits for no other."""
        facts, keys = self.facts, self.keys
        single: dict[str, tuple[str, str, Callable[[], str], Callable[[], Mapping[str, Any]]]] = {
            START: ("start.html", "What binds here", keys.board, self._start),
            ALL: ("all.html", "All entries", self._key_of_all, lambda: {"rooms": [*self._all_rooms()]}),
            LINEAGE: ("lineage.html", "Lineage", self._key_of_all, self._all_chains),
            TIMELINE: ("timeline.html", "Timeline", self._key_of_all, self._timeline),
            CODE: ("code.html", "Code under rules", self._key_of_all, self._code),
            BOARD: ("board.html", "Board", keys.board, lambda: Board(self.rows, keys.in_texts).context()),
        }
        if self.base is not None:
            single[DIFF] = ("diff.html", "What changes", lambda: key_of(self._change), lambda: self._change)
        for at, name in enumerate(self._month_names):
            single[page_of_month(name)] = ("month.html", name, self._key_of_all, partial(self._month, at))
        for row in self._map.folders():
            if row.rules:
                page = page_of_folder(row.path)
                single[page] = ("folder.html", row.path, self._key_of_all, partial(self._folder, row))
        for wing in facts.wings:
            page, key = page_of_wing(wing.name), partial(keys.of_place, wing.name)
            single[page] = ("wing.html", wing.name, key, partial(self._wing, wing, page))
        for wing_name, room in facts.rooms:
            page, key = page_of_room(wing_name, room), partial(keys.of_place, wing_name, room)
            single[page] = ("room.html", f"{wing_name}/{room}", key, partial(self._room, wing_name, room, page))
        planned = {path: partial(self._page, path, *one) for path, one in single.items()}
        return planned | {page_of(entry.address): partial(self._entry_page, entry) for entry in facts.entries}

    @cached_property
    def keys(self) -> PageKeys:
        """Return what tells whether a page would be another one."""
        made_by = key_of(self._made_by, self._common, self.facts.workspace.settings, self.facts.under)
        return PageKeys(self.facts, self.markups, made_by)

    def _key_of_all(self) -> str:
        return self.keys.all

    @cached_property
    def _change(self) -> Mapping[str, Any]:
        links = entry_links(DIFF, self.facts.catalog.entries)
        return change_context(self.facts.workspace, self.base or "", links)

    def _page(
        self, path: str, template: str, title: str, key: Callable[[], str], told: Callable[[], Mapping[str, Any]]
    ) -> SitePage:
        return SitePage(path, key_of(template, title, key()), lambda: self._render(path, template, title, told()))

    def _render(self, path: str, template: str, title: str, context: Mapping[str, Any]) -> str:
        up, stamp = up_from(path), context.get("stamp", "")
        before, between, after = self._frame(path if path in dict(self._menu) else "", up, stamp)
        made = self._templates.get_template(template)
        told = {**self._templates.globals, **self._common, **context, "up": up}
        main = "".join(made.blocks["main"](made.new_context(told, shared=True)))
        return f"{before}{escape(visible(title))}{between}{main}{after}"

    def _frame(self, here: str, up: str, stamp: str) -> Sequence[str]:
        """Return what stands before the title of a page, between that and its main part, and after it.

        All pages of a folder that no menu leads to have the same.
        """
        if (here, up, stamp) not in self._frames:
            around = {"here": here, "up": up, "stamp": stamp, "menu": self._menu, "title": _CUT}
            whole = self._frame_template.render(**self._common, **around)
            self._frames[here, up, stamp] = whole.split(_CUT)
        return self._frames[here, up, stamp]

    @cached_property
    def _frames(self) -> dict[tuple[str, str, str], Sequence[str]]:
        return {}

    @cached_property
    def _frame_template(self) -> Template:
        return self._templates.from_string(f'{{% extends "base.html" %}}{{% block main %}}{_CUT}{{% endblock %}}')

    @cached_property
    def _common(self) -> dict[str, Any]:
        return {"name": visible(self.name), "live": self.live, "base": self.base}

    @cached_property
    def _made_by(self) -> str:
        """Return what changes with this program and its templates: another one writes every page anew."""
        return key_of(
            __version__,
            sorted((one.name, one.read_text()) for one in files(__package__).joinpath("templates").iterdir()),
        )

    @cached_property
    def _menu(self) -> tuple[tuple[str, str], ...]:
        return MENU if self.base is None else (*MENU, (DIFF, "This change"))

    @cached_property
    def _templates(self) -> Environment:
        made = _Templates(loader=PackageLoader("mdmem.site"), autoescape=True, auto_reload=False)
        made.globals.update(PIECES, unreplaced=UNREPLACED)
        return made

    def _start(self) -> dict[str, Any]:
        facts = self.facts
        wings = []
        for wing in facts.wings:
            held = [entry for entry in facts.entries if entry.wing == wing.name and facts.is_current(entry)]
            invariants = [entry for entry in held if entry.type is EntryType.INVARIANT]
            rooms = {entry.room for entry in held}
            more = {"invariants": self.rows.rows(invariants, START), "total": len(held), "rooms": len(rooms)}
            wings.append(self.rows.wing_row(wing.name, START) | more)
        events = [self.rows.event(event, START) for event in facts.events[:_LATELY]]
        table = [(kind, [some[state] for state in _STATES]) for kind, some in facts.counts.items()]
        total = sum(some["in force"] + some["under review"] for some in facts.counts.values())
        newest = facts.newest_commit
        stamp = f"As of {newest[0][:10]}, commit {newest[1]}. " if newest is not None else ""
        problems = sum(severity_of(one) in ("error", "warning") for one in facts.findings)
        return {
            "wings": wings, "events": events, "table": table, "states": _STATES, "total": total,
            "problems": problems, "stamp": stamp
        }  # fmt: skip

    def _all_rooms(self) -> Iterator[dict[str, Any]]:
        for (wing, room), entries in self.facts.rooms.items():
            href = href_from(ALL, page_of_room(wing, room))
            yield {"place": f"{wing}/{room}", "href": href, "rows": self.rows.rows(entries, ALL)}

    def _all_chains(self) -> dict[str, Any]:
        facts = self.facts
        graph = linked_graph(facts.catalog, today=facts.workspace.today, bearings=facts.bearings)
        drawn = {node.entry.address for node in graph.nodes}
        # Each has its picture on the page of any of its entries.
        others = [group for group in facts.bearings.groups if drawn.isdisjoint(group)]
        newest = [facts.catalog.entries[group[-1]] for group in others[:_MOST_GROUPS]]
        return {
            "picture": self.rows.picture(graph, LINEAGE) if graph.nodes else None,
            "others": self.rows.rows(newest, LINEAGE),
            "more": max(0, len(others) - _MOST_GROUPS),
        }

    @cached_property
    def _months(self) -> Mapping[str, list[BindingEvent]]:
        found: dict[str, list[BindingEvent]] = defaultdict(list)
        for event in self.facts.events:
            found[event.day.isoformat()[:7]].append(event)
        return dict(found)

    def _timeline(self) -> dict[str, Any]:
        months = [
            {"name": name, "events": [self.rows.event(event, TIMELINE) for event in some]}
            for name, some in self._months.items()
        ]
        drawn = months_svg(self._months, page_of_month)
        return {"months": months, "picture": Markup(f'<div class="scroll late">{drawn}</div>')}

    @cached_property
    def _month_names(self) -> tuple[str, ...]:
        return tuple(sorted(self._months))

    def _month(self, at: int) -> dict[str, Any]:
        names, last = self._month_names, _last_day(self._month_names[at])
        page, bound = page_of_month(names[at]), self.facts.bound_on(last)
        return {
            "month": names[at],
            "day": last.isoformat(),
            "before": names[at - 1] if at else None,
            "after": names[at + 1] if at + 1 < len(names) else None,
            "events": [self.rows.event(event, page) for event in self._months[names[at]]],
            "bound": [{**self.rows.row(one, page), "state": "in force"} for one in bound[:_MOST_BOUND]],
            "number": len(bound),
        }

    @cached_property
    def _map(self) -> CodeMap:
        facts = self.facts
        ruling = {one.address for one in facts.entries if one.type.is_rule and facts.is_current(one)}
        return CodeMap(facts.tracked, {address: paths for address, paths in facts.met.items() if address in ruling})

    def _code(self) -> dict[str, Any]:
        facts, entries = self.facts, self.facts.catalog.entries
        current = [one for one in facts.entries if one.type.is_rule and facts.is_current(one)]
        folders = [
            {
                "name": visible(row.path), "files": row.files, "ruled": row.ruled,
                "rules": len(row.rules), "href": href_from(CODE, page_of_folder(row.path)) if row.rules else None,
            }
            for row in self._map.folders()
        ]  # fmt: skip
        idle = [entries[one] for one, paths in self._map.met.items() if not paths]
        unruled = [(visible(row.path), row.files) for row in self._map.unruled()]
        return {
            "files": len(facts.tracked),
            "example": visible(self._example),
            "ruled": self._map.ruled,
            "folders": folders,
            "unruled": unruled,
            "idle": self.rows.rows(idle, CODE, globs=True),
            "everywhere": self.rows.rows([one for one in current if not one.applies_to], CODE),
        }

    @property
    def _example(self) -> str:
        """Return a file to ask for: one under a rule, where there is one."""
        named = (paths[0] for paths in self._map.met.values() if paths)
        return next(named, None) or next(iter(self.facts.tracked), "folder/file")

    def _folder(self, row: FolderRow) -> dict[str, Any]:
        entries = [self.facts.catalog.entries[one] for one in row.rules]
        ordered = sorted(entries, key=lambda one: (one.type.rank, one.title, one.address))
        rules = self.rows.rows(ordered, page_of_folder(row.path), globs=True)
        return {"folder": visible(row.path), "rules": rules}

    def _wing(self, wing: Wing, page: str) -> dict[str, Any]:
        rooms = [
            {"name": room, "href": href_from(page, page_of_room(name, room)), **self.rows.parted(entries, page)}
            for (name, room), entries in self.facts.rooms.items()
            if name == wing.name
        ]
        shared = [self.rows.wing_row(one, page) for one in wing.shared_wings or () if one in self.facts.catalog.wings]
        return {"wing": self.rows.wing_row(wing.name, page) | {"shared": shared}, "rooms": rooms}

    def _room(self, wing: str, room: str, page: str) -> dict[str, Any]:
        parted = self.rows.parted(self.facts.rooms[wing, room], page, globs=True)
        broken = [one for path, one in self.facts.catalog.broken.items() if path.startswith(f"{wing}/{room}/")]
        unread = [{"path": visible(one.path), "message": visible(one.findings[0].message)} for one in broken]
        return {"wing": self.rows.wing_row(wing, page), "room": {"name": room, **parted, "unread": unread}}

    def _entry_page(self, entry: Entry) -> SitePage:
        page, known = page_of(entry.address), self.facts.catalog.entries

        def make() -> str:
            view = EntryView(self.rows, self.keys.in_texts)
            context, graph = view.context(entry, page), view.graph(entry)
            body = Markup(linked(self.markups.get(entry.address) or "", entry_links(page, known)))
            picture = self.rows.picture(graph, page) if graph else None
            return self._render(page, "entry.html", entry.title, {**context, "body": body, "picture": picture})

        return SitePage(page, self.keys.of_entry(entry), make)

    @cached_property
    def state(self) -> str | None:
        """Return what changes with any page, None where only making them tells."""
        return key_of(self._made_by, self._common, self.facts.state_of_all) if self.base is None else None

    @cached_property
    def markups(self) -> Kept[str]:
        """Return the text of each entry, with its links marked."""
        return markups(self.facts)

    @cached_property
    def terms(self) -> Kept[TermCounts]:
        """Return the terms of each entry's text."""
        return terms(self.facts)

    def attachments(self) -> Iterator[SitePage]:
        """Yield every file that is no page."""
        for path, make in attachments(self.facts, self.name).items():
            yield SitePage(path, key_of(path, self.keys.all), make)
        for path, text in shards([self.terms.get(entry.address) or {} for entry in self.facts.entries]):
            yield SitePage(path, key_of(text), lambda text=text: text)  # type: ignore[misc]


class _Templates(Environment):
    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return what a dictionary holds: the templates are given little else, and the library tries that last."""
        return obj[attribute] if type(obj) is dict and attribute in obj else super().getattr(obj, attribute)


def _last_day(month: str) -> date:
    year, number = int(month[:4]), int(month[5:])
    following = date(year + number // 12, number % 12 + 1, 1) if (year, number) < (9999, 12) else date.max
    return following - timedelta(days=1) if following != date.max else following
