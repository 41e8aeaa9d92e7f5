"""What the page of an entry shows beside its text: fields, who names it, the files it meets, history, lineage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from mdmem.markdown.sentences import cut_at_word
from mdmem.model.entry import Entry
from mdmem.model.fields import FIELDS, LINK_FIELDS
from mdmem.model.text import visible
from mdmem.render.lineage_graph import LineageGraph, lineage_graph
from mdmem.site.facts import MOST_FILES
from mdmem.site.links import href_from, page_of, page_of_room
from mdmem.site.rows import PageRows
from mdmem.store.git.history import Commit

_MOST_COMMITS = 30
# So many of a chain are told on each side of an entry.
_MOST_BESIDE = 20
# What the page says elsewhere.
_SHOWN = frozenset({"type", "title", "status", "applies_to", "relations", "ignore"})
_TOLD = tuple(
    (field.name, field.name.replace("_", " "), field.name in LINK_FIELDS)
    for field in FIELDS
    if field.name not in _SHOWN and hasattr(Entry, field.name)
)


class EntryView(Struct, frozen=True):
    """The facts of an entry for its page; `in_texts` are those whose text names an entry."""

    rows: PageRows
    in_texts: Mapping[str, Sequence[str]]

    def context(self, entry: Entry, page: str) -> dict[str, Any]:
        """Return what the template of an entry is given, but for its body."""
        facts, lineage = self.rows.facts, self.rows.facts.catalog.lineage
        heads = [one for one in lineage.heads(entry.address) if one != entry.address]
        # The reason of a step is none for what replaced its outcome since.
        is_told = facts.state(entry) == "ended" and {*heads} <= {*lineage.successors.get(entry.address, ())}
        commits = facts.commits.get(entry.address, ())
        met = facts.met.get(entry.address)
        return {
            "row": self.rows.row(entry, page),
            "address": entry.address,
            "wing": self.rows.wing_row(entry.wing, page),
            "room": {"name": entry.room, "href": href_from(page, page_of_room(entry.wing, entry.room))},
            "replaced": [self.rows.named(one, page) for one in heads] if facts.state(entry) == "ended" else [],
            "why_ended": visible(facts.why_ended(entry)) if is_told else "",
            "claimed": [self.rows.named(one, page) for one in lineage.claimed_by(entry.address)],
            "amended": [self.rows.named(one, page) for one in facts.catalog.amendments.of(entry.address)],
            "fields": [*self._fields(entry, page)],
            "applies_to": [visible(one) for one in entry.applies_to],
            "globs": _met(met) if met is not None else None,
            "named_by": [{**self.rows.named(one, page), "how": how} for one, how in self._named_by(entry)],
            "commits": [_commit(one) for one in commits[:_MOST_COMMITS]],
            "more_commits": max(0, len(commits) - _MOST_COMMITS),
            "chain": [*self._chain(entry, page)],
            "file": self._file(entry),
        }

    def _named_by(self, entry: Entry) -> Iterator[tuple[str, str]]:
        """Yield who names an entry, and where: in its text only who does so in no field."""
        fields = self.rows.facts.named_by.get(entry.address, ())
        yield from ((one, how.replace("_", " ")) for one, how in fields)
        stated = {one for one, _ in fields}
        yield from ((one, "in its text") for one in self.in_texts.get(entry.address, ()) if one not in stated)

    def _chain(self, entry: Entry, page: str) -> Iterator[dict[str, Any]]:
        """Yield how it came to an entry and what became of it, with the reasons, the oldest first."""
        facts = self.rows.facts
        if not facts.bearings.joins(entry.address):
            return
        entries, members = facts.catalog.entries, facts.catalog.lineage.chain(entry.address)
        at = members.index(entry.address)
        for one in members[max(0, at - _MOST_BESIDE) : at + _MOST_BESIDE + 1] if len(members) > 1 else ():
            other = entries[one]
            made = other.created_at.isoformat()[:10] if other.created_at else ""
            reason = visible(cut_at_word(other.reason or "", 600))
            yield {**self.rows.named(one, page), "day": made, "reason": reason, "is_here": one == entry.address}

    def _file(self, entry: Entry) -> dict[str, Any]:
        """Return the file of an entry, with the pages of the host that show it, where settings name one."""
        url, path = self.rows.facts.files_url, f"{self.rows.facts.under}{entry.path}"
        views = (("File", "blob"), ("Edit", "edit"), ("Blame", "blame")) if url is not None else ()
        links = [(label, f"{(url or '').replace('{view}', view)}/{quote(path)}") for label, view in views]
        return {"path": visible(path), "links": links}

    def graph(self, entry: Entry) -> LineageGraph | None:
        """Return the lineage of an entry, None where it has none but itself."""
        facts = self.rows.facts
        if not facts.bearings.joins(entry.address):
            return None
        return lineage_graph(facts.catalog, (entry.address,), today=facts.workspace.today, bearings=facts.bearings)

    def _fields(self, entry: Entry, page: str) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
        known = self.rows.facts.catalog.entries
        for name, shown, is_link in _TOLD:
            if not (value := getattr(entry, name)):
                continue
            texts = value if isinstance(value, tuple) else (value,)
            hrefs = [href_from(page, page_of(one)) if is_link and one in known else None for one in texts]
            yield shown, [*zip((visible(str(one)) for one in texts), hrefs, strict=True)]


def _met(files: Sequence[str]) -> dict[str, Any]:
    shown = [visible(one) for one in files[:MOST_FILES]]
    return {"number": len(files), "files": shown, "more": len(files) - len(shown)}


def _commit(one: Commit) -> dict[str, str]:
    said = {"subject": visible(one.subject), "author": visible(one.author)}
    return {"day": one.when[:10], "digest": one.digest, **said}
