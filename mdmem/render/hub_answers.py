"""Answers of a hub as text and JSON: which copy they are from, and how far they reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mdmem.hub.repository_copy import shown_label
from mdmem.render.answers import answers_text
from mdmem.render.characters import one_line
from mdmem.render.entries import entry_list, search_text, shown_text, told_json, told_text
from mdmem.render.hub import age_text
from mdmem.render.json import dump, entries_json, pack_json, search_json
from mdmem.render.words import count

if TYPE_CHECKING:
    from mdmem.ask.about import ToldEntry
    from mdmem.ask.answers import Answers
    from mdmem.ask.entries import ShownEntry
    from mdmem.ask.pack import Pack
    from mdmem.ask.question import Hit, SearchResult
    from mdmem.hub.across import AcrossAnswer, Pinned, Reach, UnionAnswers
    from mdmem.hub.owners import OwnedEntry, WhoReport
    from mdmem.hub.repository_copy import RepositoryCopy, WingOrigin
    from mdmem.model.entry import Entry
    from mdmem.render.ink import Ink


_NAMED = 5
_TEXTS = ("reason", "why", "message", "standing_note")

Found = Sequence[tuple["RepositoryCopy", tuple["ShownEntry", ...]]]
"""Entries by the copy that has them, in the order that was asked."""

OriginOf = Mapping[str, "WingOrigin"]
"""Where each wing of an answer comes from, by the name that it has there."""


def told(content: Mapping[str, Any], origins: OriginOf, now: datetime | None) -> dict[str, Any]:
    """Return an answer with each entry's repository, commit and path, and the repositories with their copies' age."""
    placed: dict[str, Any] = _placed(content, origins, None)
    return {**placed, "repositories": repositories_json(origins.values(), now)}


def copy_json(copy: RepositoryCopy, content: Mapping[str, Any], *, now: datetime) -> str:
    """Return the clone's own answer as that of a repository's copy."""
    return dump(told(content, copy.origins, now))


def copy_text(copy: RepositoryCopy, text: str, *, ink: Ink, now: datetime) -> str:
    """Return the text of the clone's own answer as that of a repository's copy."""
    return "\n\n".join(filter(None, [text, ink.dim(ages_text(copy.origins.values(), now))]))


def told_copies_json(found: Sequence[tuple[RepositoryCopy, tuple[ToldEntry, ...]]], *, now: datetime) -> str:
    """Return what entries of some repositories say about some words."""
    return _copies_json([told(told_json(said), copy.origins, now) for copy, said in found])


def told_copies_text(found: Sequence[tuple[RepositoryCopy, tuple[ToldEntry, ...]]], *, ink: Ink, now: datetime) -> str:
    """Return the same as text."""
    blocks = [
        f"{told_text([one], ink)}\n  {ink.dim(_file_of(copy, one.entry))}" for copy, said in found for one in said
    ]
    ages = ages_text((origin for copy, _ in found for origin in copy.origins.values()), now)
    return "\n\n".join(filter(None, [*blocks, ink.dim(ages)]))


def copies_json(found: Found, *, now: datetime) -> str:
    """Return entries of some repositories as their files state them."""
    return _copies_json([told(entries_json(shown), copy.origins, now) for copy, shown in found])


def _copies_json(parts: Sequence[Mapping[str, Any]]) -> str:
    repositories = {one["repository"]: one for part in parts for one in part["repositories"]}
    return dump(
        {"entries": [one for part in parts for one in part["entries"]], "repositories": list(repositories.values())}
    )


def copies_text(found: Found, *, ink: Ink, now: datetime) -> str:
    """Return entries of some repositories in full as text, each with the file that it is."""
    blocks = [
        f"{shown_text([one], ink)}\n\n  {ink.dim(_file_of(copy, one.entry))}" for copy, shown in found for one in shown
    ]
    ages = ages_text((origin for copy, _ in found for origin in copy.origins.values()), now)
    return "\n\n".join([*blocks, *([ink.dim(ages)] if ages else [])])


def _file_of(copy: RepositoryCopy, entry: Entry) -> str:
    origin, (_, inner) = copy.origins[entry.wing], entry.address.split("/", 1)
    return f"{origin.repository} at {origin.commit[:10]}: {origin.path(inner)}.md"


def repositories_json(origins: Iterable[WingOrigin], now: datetime | None) -> list[dict[str, Any]]:
    """Return the repositories of some wings, since when the hub has each, and how old that is to a moment."""
    known = {one.repository: one for one in origins if one.pushed_at is not None}
    return [
        copied_json(name, commit=one.commit, pushed_at=one.pushed_at, now=now)
        for name, one in sorted(known.items())
        if one.pushed_at is not None
    ]


def copied_json(name: str, *, commit: str, pushed_at: datetime, now: datetime | None = None) -> dict[str, Any]:
    """Return which copy of a repository answered, and how old it is, to a moment."""
    age = {} if now is None else {"age_seconds": _age(pushed_at, now)}
    return {"repository": name, "commit": commit, "pushed_at": pushed_at.isoformat(timespec="seconds"), **age}


def since_text(pushed_at: datetime, now: datetime | None = None) -> str:
    """Return how old a copy is, to a moment; without one since when it is there, which stays the same."""
    if now is None:
        return f"pushed {pushed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{age_text(_age(pushed_at, now))} old"


def _age(pushed_at: datetime, now: datetime) -> int:
    return max(0, int((now - pushed_at).total_seconds()))


def _placed(value: Any, origins: OriginOf, home: WingOrigin | None) -> Any:
    if isinstance(value, Mapping):
        return _placed_mapping(value, origins, home)
    if isinstance(value, (list, tuple)):
        return [_placed(one, origins, home) for one in value]
    return _told_address(value, origins, home) if isinstance(value, str) else value


def _placed_mapping(value: Mapping[str, Any], origins: OriginOf, home: WingOrigin | None) -> dict[str, Any]:
    address, path = value.get("address"), value.get("path")
    origin = origins.get(str(address or path or "").partition("/")[0])
    if origin is None:
        return {name: _in_mapping(name, one, origins, home) for name, one in value.items()}
    rest = {name: _in_mapping(name, one, origins, origin) for name, one in value.items() if name not in _OWN}
    own = {"address": f"{origin.wing}/{str(address).partition('/')[2]}"} if address is not None else {}
    inner = str(path).partition("/")[2] if address is None else f"{str(address).partition('/')[2]}.md"
    where = {"repository": origin.repository, "commit": origin.commit, "path": origin.path(inner)}
    return own | where | rest | ({"wing": origin.wing} if "wing" in value else {})


_OWN = frozenset({"address", "path", "wing"})
_CONTENT = frozenset({"content", "snippet", "title", "body", "front_matter", "said"})


def _in_mapping(name: str, value: Any, origins: OriginOf, home: WingOrigin | None) -> Any:
    if name in _CONTENT:
        return value
    if name in _TEXTS and isinstance(value, str):
        return shown_label(value)
    return _placed(value, origins, home)


def _told_address(text: str, origins: OriginOf, home: WingOrigin | None) -> str:
    """Return an address as it is in its repository, with the repository's name where that is another."""
    label, slash, rest = text.partition("/")
    origin = origins.get(label)
    if origin is None or not slash:
        return text
    is_at_home = home is not None and home.name == origin.name
    return f"{'' if is_at_home else f'{origin.name}:'}{origin.wing}/{rest}"


def across_search_json(
    answer: AcrossAnswer[SearchResult],
    *,
    limit: int,
    snippet_of: Callable[[Hit], str],
    now: datetime | None,
    named: int | None = None,
) -> str:
    """Return the hits of many repositories."""
    content = search_json(answer.result, limit=limit, snippet_of=snippet_of, named=named)
    shown = {str(hit["address"]).partition("/")[0] for hit in content["hits"]}
    content["hits"] = [hit | pins_json(answer.pins.get(hit["address"], ())) for hit in content["hits"]]
    return dump(told({**content, **_reach_json(answer)}, _some(answer, shown), now))


def across_answers_json(several: UnionAnswers, *, now: datetime | None) -> str:
    """Return what binds in many repositories: the answer to the work at hand, and beside it a list of the others."""
    found = [_pack_told(one, now) for one in several.found]
    first = found.pop(0) if several.answers.main is not None else {}
    asked = zip(several.answers.short, found, strict=True)
    answers = [{"query": one.question.words, **more} for one, more in asked]
    return dump({**first, **({"answers": answers} if answers else {})})


def _pack_told(answer: AcrossAnswer[Pack], now: datetime | None) -> dict[str, Any]:
    content = pack_json(answer.result)
    shown = {str(one["address"]).partition("/")[0] for one in (*content["items"], *content["proposed"])}
    content["items"] = [one | pins_json(answer.pins.get(one["address"], ())) for one in content["items"]]
    del content["scope"], content["searched"], content["likely_room"]
    return told({**content, **_reach_json(answer)}, _some(answer, shown), now)


def across_entries_json(answer: AcrossAnswer[tuple[ShownEntry, ...]], *, now: datetime | None) -> str:
    """Return the entries of many repositories as their files state them."""
    content = entries_json(answer.result)
    shown = {one.entry.wing for one in answer.result}
    content["entries"] = [one | pins_json(answer.pins.get(one["address"], ())) for one in content["entries"]]
    return dump(told({**content, **_reach_json(answer)}, _some(answer, shown), now))


def _some(answer: AcrossAnswer[Any], shown: Iterable[str]) -> OriginOf:
    """Return where wings come from, those that are shown before the others; only their repositories are told of."""
    first = {label: answer.origins.by_label[label] for label in sorted(shown)}
    others = {
        label: replace(one, pushed_at=None) for label, one in answer.origins.by_label.items() if label not in first
    }
    return first | others


def _reach_json(answer: AcrossAnswer[Any]) -> dict[str, Any]:
    reach = answer.reach
    weighed = {} if reach.weighed is None else {"weighed": reach.weighed}
    cut = {"lineage_cut": True} if answer.is_cut else {}
    unread = {"unread_files": reach.unread} if reach.unread else {}
    return {**reach_facts(reach), **weighed, **unread, **cut}


def reach_facts(reach: Reach) -> dict[str, Any]:
    """Return how many entries match, and which words stood for others."""
    return {"matches": reach.matches, "at_least": not reach.is_all, "begun": list(reach.begun)}


def pins_json(pins: Iterable[Pinned]) -> dict[str, Any]:
    """Return who pins an entry, where somebody does."""
    found = [{"repository": one.repository, "commit": one.commit} for one in pins]
    return {"pins": found} if found else {}


def across_text(text: str, answer: AcrossAnswer[Any], shown: Iterable[str], *, ink: Ink, now: datetime | None) -> str:
    """Return the text of an answer with the repositories' names as they are, and how old the copies are."""
    wings = {one.partition("/")[0] for one in shown}
    origins = (one for label, one in answer.origins.by_label.items() if label in wings)
    return "\n\n".join(filter(None, [shown_label(text), ink.dim(ages_text(origins, now))]))


def across_search_text(
    answer: AcrossAnswer[SearchResult], *, limit: int, snippet_of: Callable[[Hit], str], ink: Ink, now: datetime
) -> str:
    """Return the hits of many repositories as text."""
    text = search_text(answer.result, limit=limit, snippet_of=snippet_of, ink=ink)
    return across_text(text, answer, (hit.entry.address for hit in answer.result.hits[:limit]), ink=ink, now=now)


def across_answers_text(several: UnionAnswers, *, ink: Ink, now: datetime) -> str:
    """Return what binds in many repositories as text."""
    return answers_with_ages(several, answers_text(narrated(several.answers), ink=ink), ink=ink, now=now)


def narrated(answers: Answers) -> Answers:
    """Return answers that tell of how many wings they are, in the place of their names."""
    main = _narrated(answers.main) if answers.main is not None else None
    return replace(answers, main=main, short=tuple(replace(one, pack=_narrated(one.pack)) for one in answers.short))


def _narrated(pack: Pack) -> Pack:
    where = count(len({one.item.entry.wing for one in pack.items}), "wing of the hub", "wings of the hub")
    return replace(pack, scope=replace(pack.scope, wings=("", where)), likely_room=None, searched=None)


def answers_with_ages(several: UnionAnswers, text: str, *, ink: Ink, now: datetime | None) -> str:
    """Return the text of several answers with the repositories' names as they are, and how old the copies are."""
    shown = ((answer.origins.by_label[one.item.entry.wing] for one in answer.result.items) for answer in several.found)
    ages = ages_text((origin for some in shown for origin in some), now)
    return "\n\n".join(filter(None, [shown_label(text), ink.dim(ages)]))


def across_list_text(
    answer: AcrossAnswer[tuple[ShownEntry, ...]], *, ink: Ink, now: datetime | None, columns: int | None
) -> str:
    """Return entries of many repositories, one line each."""
    listed = [one.entry for one in answer.result]
    text = entry_list(listed, ink, {}, columns=columns) if listed else ""
    return across_text(text, answer, (one.address for one in listed), ink=ink, now=now)


def ages_text(origins: Iterable[WingOrigin], now: datetime | None) -> str:
    """Return of which commits the copies of some repositories are, and how old."""
    known = {one.repository: (one.commit[:10], one.pushed_at) for one in origins if one.pushed_at is not None}
    said = [f"{name} {commit}, {since_text(at, now)}" for name, (commit, at) in sorted(known.items())]
    more = f"; and {len(said) - _NAMED} more" if len(said) > _NAMED else ""
    return f"copy of {'; '.join(said[:_NAMED])}{more}" if said else ""


def reach_remarks(answer: AcrossAnswer[SearchResult] | AcrossAnswer[Pack]) -> list[str]:
    """Return what is to be said of how far an answer reaches."""
    reach, said = answer.reach, lineage_remarks(answer)
    said += begun_remark(reach)
    if reach.unread > len(answer.result.basis.problems):
        said.append(f"in all {reach.unread} files cannot be read; `mdmem check` in each clone names its own")
    if not reach.is_all:
        said.append(f"more than {reach.matches} match: those that hold most of the words were compared; narrow it down")
    elif reach.weighed is not None and reach.weighed < reach.matches:
        weighed = f"the {reach.weighed} that match best, invariants before others, were weighed"
        said.append(f"{reach.matches} match: {weighed}; narrow it down")
    return said


def list_remarks(answer: AcrossAnswer[tuple[ShownEntry, ...]], *, most: str, within: str) -> list[str]:
    """Return what is to be said of a list that was cut, and of what is not certain.

    `most` is what shows more of it, `within` what narrows it to a repository.
    """
    reach, said = answer.reach, lineage_remarks(answer)
    if not reach.is_all:
        first = f"the first {len(answer.result)} of about {reach.matches}, by repository and address"
        said.append(f"shown are {first}; raise {most} to see the others, filters and {within} narrow them")
    return said


def begun_remark(reach: Reach) -> list[str]:
    """Return what is to be said of words that nothing holds."""
    said = f"no entry holds {', '.join(reach.begun)}; shown is what holds words that begin so"
    return [said] if reach.begun else []


def lineage_remarks(answer: AcrossAnswer[Any]) -> list[str]:
    """Return what is to be said where not all was read that decides how the entries stand."""
    return [LINEAGE_CUT] if answer.is_cut else []


LINEAGE_CUT = "more entries replace or amend these than were read: how they stand is not certain; narrow it down"
"""Said where more decides how entries stand than was read."""


def who_json(report: WhoReport, *, now: datetime | None) -> str:
    """Return owners and dependents of entries."""
    entries = [_owned_json(one) for one in report.entries]
    shown = [one.origin for one in report.entries] + [by.origin for one in report.entries for by in one.dependents]
    reach = {} if report.reach is None else reach_facts(report.reach)
    reach |= {"lineage_cut": True} if report.is_cut else {}
    return dump({"query": report.query, "entries": entries, **reach, "repositories": repositories_json(shown, now)})


def _owned_json(one: OwnedEntry) -> dict[str, Any]:
    return {
        "address": one.address,
        **_where(one.origin, one.address),
        "type": one.stated.type,
        "status": one.stated.status,
        "title": one.stated.title,
        "owner": one.stated.owner,
        "wing_owners": list(one.wing_owners),
        "dependents": [
            {
                "address": by.address,
                **_where(by.origin, by.address),
                "field": by.linking.field,
                "type": by.linking.type,
                "status": by.linking.status,
                "title": by.linking.title,
                "owner": by.linking.owner,
            }
            for by in one.dependents
        ],
        **pins_json(one.pinned_by),
    }


def _where(origin: WingOrigin, address: str) -> dict[str, str]:
    inner = f"{address.partition('/')[2]}.md"
    return {"repository": origin.repository, "commit": origin.commit, "path": origin.path(inner)}


def who_text(report: WhoReport, *, ink: Ink, now: datetime | None) -> str:
    """Return owners and dependents of entries, a block each."""
    blocks = [_owned_text(one, ink) for one in report.entries]
    ages = ages_text((one.origin for one in report.entries), now)
    return "\n\n".join([*blocks, *([ink.dim(ages)] if ages else [])])


def who_remarks(report: WhoReport) -> list[str]:
    """Return what is to be said of how many entries match words, where these are not all."""
    reach, told = report.reach, len(report.entries)
    if reach is None:
        return []
    said = f"{'' if reach.is_all else 'more than '}{reach.matches} match: told of are the {told} that match best"
    hint = "; an address, or `search`, leads to the others"
    more = [said + hint] if reach.matches > told else []
    return [*begun_remark(reach), *more, *([LINEAGE_CUT] if report.is_cut else [])]


def _owned_text(one: OwnedEntry, ink: Ink) -> str:
    owners = [*([one.stated.owner] if one.stated.owner else []), *(f"{name} (wing)" for name in one.wing_owners)]
    lines = [
        one.stated.title,
        f"owners: {', '.join(owners) or 'nobody is named'}",
    ]
    lines += [f"{by.linking.field} of {by.origin.name}:{by.address} ({by.linking.status})" for by in one.dependents]
    lines += [f"pinned by {pin.repository} at {pin.commit[:10]}" for pin in one.pinned_by]
    lines += [] if one.dependents or one.pinned_by else ["nothing links it"]
    head = ink.bold(one_line(f"[{one.stated.type}] {one.origin.name}:{one.address}"))
    return "\n  ".join([head, *map(one_line, lines)])
