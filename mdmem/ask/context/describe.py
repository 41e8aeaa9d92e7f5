"""A candidate as an item of the pack: how much of its content is given, its quality, and what it is linked with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import accumulate
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from mdmem.ask.answer import RELATIONS, VIA_NAMED, Form
from mdmem.ask.context.gather import Candidate
from mdmem.ask.context.pack import ContextItem, Quality, Related
from mdmem.ask.excerpt import excerpt, rule_of
from mdmem.markdown.text import content_of, tokens_of
from mdmem.model.entry import Entry, EntryType, instant_of
from mdmem.store.catalog import Catalog
from mdmem.store.catalog.links import Neighbour, Neighbourhood

PRIVATE = "private:"
METADATA = "x-metadata"
_SHORTENED = 800


class Content(Struct, frozen=True):
    """What is given of one entry."""

    text: str
    form: Form

    @property
    def tokens(self) -> int:
        """Return what it costs."""
        return _cost(self.text)


class Room(Struct, frozen=True, kw_only=True):
    """How long contents may be: `tokens` for all together and their links, `longest` for each; `terms` are asked for.

    What is shortened keeps the passage that holds most of the terms, unless there are none.
    """

    tokens: int
    longest: int
    terms: frozenset[str] = frozenset()


def contents_of(chosen: Sequence[Candidate], bodies: Mapping[tuple[bool, str], str], room: Room) -> list[Content]:
    """Return what is given of each candidate, within the room as far as shortening goes.

    Invariants stay whole and take none of it. Notes are shortened first, then patterns, then decisions, of each the
    worst fitting first.
    """
    given = [Content(content_of(one.item.entry, bodies[one.key]), Form.FULL) for one in chosen]
    order = _in_order_of_shortening(chosen)
    total = sum(given[number].tokens for number in order)
    for number in order:
        content = given[number]
        if total > room.tokens or content.tokens > room.longest:
            short = Content(_shortened(chosen[number], bodies[chosen[number].key], room), Form.SUMMARY)
            if short.tokens < content.tokens:
                given[number] = short
                total += short.tokens - content.tokens
    return given


def gists_of(chosen: Sequence[Candidate], bodies: Mapping[tuple[bool, str], str]) -> list[Content]:
    """Return of each candidate what an agent starts a session with; the title says the rest."""
    return [Content(_gist(one.item.entry, bodies[one.key]), Form.SUMMARY) for one in chosen]


def with_links_within(room: Room, items: Sequence[ContextItem]) -> list[ContextItem]:
    """Return items with as many of their links, in their order, as the room holds beside the contents.

    Three links make a short item half as long again; what binds comes first, and the contents of none give way to them.
    """
    left = room.tokens - sum(_cost(item.content) for item in items if item.type != EntryType.INVARIANT)
    told = []
    for item in items:
        costs = accumulate(_cost(json.dumps(asdict(one), ensure_ascii=False)) for one in item.related)
        fitting = [cost for cost in costs if cost <= left]
        left -= max(fitting, default=0)
        told.append(replace(item, related=item.related[: len(fitting)]))
    return told


def _cost(text: str) -> int:
    return tokens_of(len(text.encode()))


def _gist(entry: Entry, body: str) -> str:
    """Return what an invariant rules in a line, as answers that only name it do, and what a session left to be done."""
    if entry.type is EntryType.INVARIANT:
        return rule_of(body)
    left = (("Open", entry.open_items), ("Next", entry.next_actions))
    return "\n".join(f"{word}: {'; '.join(items)}" for word, items in left if items)


def _shortened(one: Candidate, body: str, room: Room) -> str:
    return excerpt(one.item.entry, body, _SHORTENED, dict.fromkeys(room.terms, 1.0))


def _in_order_of_shortening(chosen: Sequence[Candidate]) -> list[int]:
    lasting = [number for number, one in enumerate(chosen) if one.item.entry.type is not EntryType.INVARIANT]
    by_fit = sorted(lasting, key=lambda number: chosen[number].fitness, reverse=True)
    return sorted(by_fit, key=lambda number: -chosen[number].item.entry.type.rank)


def id_of(address: str, *, is_private: bool) -> str:
    """Return the id of an entry: its address, behind a mark where it is the caller's own; no address has a colon."""
    return f"{PRIVATE}{address.split('/', 1)[1]}" if is_private else address


class Describer(Struct, frozen=True, dict=True):
    """Describes the items of one memory; `size` is how many related entries each may have.

    What `is_brief` has neither these nor more than its standing beside its contents.
    """

    catalog: Catalog
    size: int
    is_private: bool = False
    is_brief: bool = False

    @cached_property
    def neighbourhood(self) -> Neighbourhood:
        """The links, read once for all items."""
        return Neighbourhood(self.catalog)

    def item(self, one: Candidate, content: Content, *, body: str, stated: object = None) -> ContextItem:
        """Return the item of a candidate; `stated` is the metadata that its author gave, as JSON text."""
        entry = one.item.entry
        return ContextItem(
            id=self._id(entry),
            type=entry.type.value,
            name=entry.title,
            content=content.text,
            score=one.item.score,
            facet=one.facet,
            reason="; ".join(_reasons(one)),
            source=entry.path,
            quality=self._quality(entry),
            metadata=self._standing(one, content) if self.is_brief else _stated(stated) | self._metadata(one, content),
            related=tuple(self._related(entry, body)),
            is_unconditional=one.item.unconditional,
            stance=one.item.stance,
            bearings=tuple(_bearings(one)),
        )

    def _id(self, entry: Entry) -> str:
        return id_of(entry.address, is_private=self.is_private)

    def _quality(self, entry: Entry) -> Quality:
        wing = self.catalog.wings[entry.wing]
        looked_at = [one for one in (entry.created_at, entry.verified_at, entry.editorial_at) if one is not None]
        return Quality(
            origin="private" if self.is_private else "shared" if wing.is_shared else "project",
            source=f"agent {entry.agent}" if entry.agent else entry.owner,
            created_at=_iso(entry.created_at),
            updated_at=_iso(max(looked_at, key=instant_of, default=None)),
            valid_at=_iso(entry.verified_at),
            project_id=None if self.is_private or wing.is_shared else wing.project_id or wing.name,
        )

    def _standing(self, one: Candidate, content: Content) -> dict[str, Any]:
        scope = "private" if self.is_private else one.item.tier.value
        return {"status": one.item.status.value, "scope": scope, "form": content.form.value}

    def _metadata(self, one: Candidate, content: Content) -> dict[str, Any]:
        item, entry = one.item, one.item.entry
        known: dict[str, Any] = {
            **self._standing(one, content),
            "wing": entry.wing,
            "room": entry.room,
            "label": entry.label,
            "topic": entry.topic,
            "focus": entry.focus,
            "agent": entry.agent,
            "owner": entry.owner,
            "confidence": entry.confidence,
            "tags": list(entry.tags),
            "applies_to": list(entry.applies_to),
            "overrides": list(item.overrides),
            "via": list(item.via[:VIA_NAMED]),
            **{name: list(addresses) for name, addresses in item.relations.items()},
        }
        return {name: value for name, value in known.items() if value not in (None, [])}

    def _related(self, entry: Entry, body: str) -> Iterator[Related]:
        if not self.size or self.is_brief:
            return
        found: dict[str, Neighbour] = {}
        for near in self.neighbourhood.of(entry.address, body=body):
            # Linked in two ways, it is one entry all the same; the first way is the weightier.
            found.setdefault(near.entry.address, near)
        for near in list(found.values())[: self.size]:
            yield Related(
                id=self._id(near.entry),
                type=near.entry.type.value,
                name=near.entry.title,
                relationship=near.relationship,
                direction=near.direction.value,
                status=near.entry.status.value,
            )


def _reasons(one: Candidate) -> Iterator[str]:
    if one.always:
        yield one.always
    if one.in_domain:
        yield "of the domain"
    # Retrieval asked for everything says of what came unasked only that it is in scope.
    if one.item.reason != "in scope" or not (one.always or one.in_domain):
        yield one.item.reason


def _bearings(one: Candidate) -> Iterator[str]:
    described = one.item
    for name, addresses in described.relations.items():
        for address in addresses:
            title = described.titles.get(address, "")
            yield f"{RELATIONS[name]} {address}{f': {title}' if title else ''}"


def _stated(metadata: object) -> dict[str, Any]:
    try:
        found = json.loads(metadata) if isinstance(metadata, str) else {}
    except (ValueError, RecursionError):
        return {}
    return dict(found) if isinstance(found, Mapping) else {}


def _iso(moment: date | None) -> str | None:
    return moment.isoformat() if moment is not None else None
