"""What needs maintenance as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from mdmem.change.hygiene import HygieneReport
from mdmem.change.hygiene_report import Groups, HygieneFindings
from mdmem.change.near_duplicates import NearPair
from mdmem.model.entry import visible
from mdmem.render.ink import Ink
from mdmem.render.json import dump
from mdmem.render.markdown import code, prose
from mdmem.render.saves import ID_LENGTH, RESOLVING, stopped_save, title_of_write
from mdmem.render.words import count
from mdmem.store.state.pending_writes import Blocked, PendingWrite

_ENDING = "`mdmem deprecate ADDRESS --reason WHY`"
_REPLACING = "`mdmem supersede ADDRESS --title TITLE --reason WHY`"
_HOLDING = f"type `mdmem verify ADDRESS` where it holds, else {_REPLACING}, or {_ENDING}"
_COPIED = f"type {_ENDING}, or write `overrides: SHARED` where it differs on purpose"
_LATER = f"type {_ENDING}, or write a later `expires_at`"
_READING = f"read it against the code, then type `mdmem verify ADDRESS`, or {_REPLACING}"
_ONE_OF_THEM = "type `mdmem supersede ADDRESS --by KEPT --reason WHY` for each but the one to keep"
_LINKING = (
    "type `mdmem supersede ADDRESS --by KEPT --reason WHY`, or write `see: OTHER` where both are to stand, "
    "`conflicts_with: OTHER` where they contradict each other"
)
_RELINKING = "type `mdmem check --select link-to-superseded --fix --unsafe-fixes` to write what holds"
_SHOWN = 20
# A longer address pushes only what is said of itself aside.
_WIDEST = 60


class _Section(Struct, frozen=True):
    """One kind of maintenance: what it is, each case with what is said of it, and what to type next."""

    heading: str
    items: tuple[tuple[str, str], ...]
    advice: str

    def cut(self, limit: int) -> _Section:
        """Return the section with so many items at most, all where the limit is 0, and a word about the rest."""
        rest = len(self.items) - limit
        if not limit or rest <= 0:
            return self
        return replace(self, items=(*self.items[:limit], (f"and {rest} more", "--limit 0 shows all")))


def hygiene_text(report: HygieneReport, ink: Ink, *, limit: int = _SHOWN) -> str:
    """Return what needs maintenance by kind, the most urgent kind first, each with what to type next."""
    blocks = [_text_of(section, ink, limit=limit) for section in _sections(report.hygiene)]
    if report.recorded:
        commit = f", committed as {report.commit[:10]}" if report.commit else ""
        blocks.append(f"recorded in {', '.join(report.recorded)}{commit}")
    return "\n\n".join(blocks or [_nothing(report)])


def _nothing(report: HygieneReport) -> str:
    return "every write completed" if report.pending_only else "nothing needs maintenance"


def _text_of(section: _Section, ink: Ink, *, limit: int) -> str:
    shown = section.cut(limit).items
    width = min(_WIDEST, max(len(name) for name, _ in shown))
    lines = [ink.bold(f"{section.heading} ({len(section.items)})")]
    lines += [f"  {name:<{width}}  {said}" for name, said in shown]
    return "\n".join([*lines, f"  next: {section.advice}"])


def hygiene_markdown(report: HygieneReport, *, limit: int = _SHOWN) -> str:
    """Return what needs maintenance as a document."""
    hygiene = report.hygiene
    about = f" of {code(hygiene.project_id)}" if hygiene.project_id else ""
    blocks = [f"## Hygiene{about} on {hygiene.checked_at}"]
    for section in _sections(hygiene):
        items = "\n".join(f"- {code(name)}: {prose(said)}" for name, said in section.cut(limit).items)
        heading = f"### {prose(section.heading)} ({len(section.items)})"
        blocks.append(f"{heading}\n\n{items}\n\nNext: {prose(section.advice)}.")
    blocks += [f"{_nothing(report).capitalize()}."] if hygiene.is_clean else []
    return "\n\n".join([*blocks, *(f"Note: {prose(remark)}." for remark in report.remarks)])


def hygiene_json(report: HygieneReport) -> str:
    """Return the contract's keys, the findings beyond it, and remarks about the run."""
    return dump(report.as_json())


def _sections(hygiene: HygieneFindings) -> Iterator[_Section]:
    """Yield the kinds that have a case: what may be lost or wrong first, what is only old after it."""
    told: dict[str, list[tuple[str, str]]] = {}
    for one in hygiene.findings:
        told.setdefault(one.code, []).append((one.address or one.place.path, visible(one.message)))
    named = (
        ("writes that did not complete", map(_waiting, hygiene.unresolved), "type `mdmem pending retry`"),
        ("saves that a similar entry stopped", map(_stopped, hygiene.blocked), RESOLVING),
        ("not verified since the code they apply to changed", told.get("unverified-since-change", ()), _READING),
        ("entries that say nearly the same", _grouped(hygiene, hygiene.duplicates), _ONE_OF_THEM),
        ("rules that may say the same, or contradict each other", map(_alike, hygiene.near), _LINKING),
        ("entities of one name", _grouped(hygiene, hygiene.drifted), _ONE_OF_THEM),
        ("repeating a shared rule", told.get("copy-of-shared", ()), _COPIED),
        ("citing what is superseded", told.get("link-to-superseded", ()), _RELINKING),
        ("past the day they were meant to end", told.get("expired", ()), _LATER),
        ("decisions neither made nor verified for 180 days", _aged(hygiene, hygiene.outdated), _HOLDING),
        ("patterns not validated for 90 days", _aged(hygiene, hygiene.obsolete), _HOLDING),
        ("not verified for longer than `review_after_days`", told.get("review-overdue", ()), _HOLDING),
        ("rooms without an entry", told.get("empty-room", ()), "type `mdmem new TYPE ROOM`, or remove the folder"),
    )
    for heading, found, advice in named:
        if items := tuple(found):
            yield _Section(heading, items, advice)


def _grouped(hygiene: HygieneFindings, groups: Groups) -> tuple[tuple[str, str], ...]:
    several = len(groups) > 1
    return tuple(
        (address, f"{f'{number}: ' if several else ''}{visible(hygiene.titles[address])}")
        for number, group in enumerate(groups, 1)
        for address in group
    )


def _aged(hygiene: HygieneFindings, addresses: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the items of some addresses, the oldest first."""
    meant = frozenset(addresses)
    found = (item for item in hygiene.stale_items if item.id in meant)
    return tuple((one.id, f"{visible(one.title)} ({count(one.age_days, 'day')}, {one.freshness})") for one in found)


def _alike(pair: NearPair) -> tuple[str, str]:
    return pair.a, f"shares {pair.share:.0%} of its words with {pair.b}"


def _stopped(blocked: Blocked) -> tuple[str, str]:
    return blocked.id[:ID_LENGTH], visible(stopped_save(blocked))


def _waiting(write: PendingWrite) -> tuple[str, str]:
    tries = f"{count(write.attempts, 'attempt')} since {write.created.date()}"
    why = f": {write.error}" if write.error else ""
    title = title_of_write(write)
    named = write.verb if title == write.verb else f"{write.verb} `{title}`"
    return write.id[:ID_LENGTH], visible(f"{named}, {tries}{why}")
