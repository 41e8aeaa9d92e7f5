"""Saving a record as a new entry: compared with what is there, then planned to the last byte."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from mdmem.authoring.change_set import Change, ChangeSet
from mdmem.authoring.message import Verb, WriteAction
from mdmem.authoring.patch import added, patched
from mdmem.authoring.supersede import ended, refuse_unfit
from mdmem.catalog import Catalog
from mdmem.document.layout import UnpatchableError
from mdmem.document.parse import without_code
from mdmem.document.rationale import rationale_span
from mdmem.entry.model import Entry, EntryType, Relation, Status
from mdmem.errors import LostRaceError
from mdmem.saving.compose import Composed, Frame, compose_record
from mdmem.saving.records import DecisionRecord, PatternRecord, Record
from mdmem.saving.results import SaveResult, SaveStatus, failed
from mdmem.saving.target import IsTaken, Target, free_address, room_for
from mdmem.settings import Settings
from mdmem.similarity import DedupOutcome, DedupVerdict, Known, Subject, judge

CLAIM_NOTHING = "it binds nobody until a person approves it"


class Neighbours(Protocol):
    """What is compared of the entries that are there."""

    def fingerprints(self, addresses: Collection[str]) -> Mapping[str, str]:
        """Return the fingerprint of each entry's subject."""
        ...

    def similar(self, subject: Subject, among: Collection[str]) -> Iterable[tuple[str, Subject]]:
        """Return the best full-text matches, best first, with what is compared of them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveContext:
    """One call as it is to be carried out, over the entries as they are now.

    `lets_pass` says whether a blocked write, by its fingerprint, may pass as a distinct one with this confidence;
    `produced_by` is the session that a record came out of, `produced` what came out of it.
    """

    catalog: Catalog
    settings: Settings
    today: date
    target: Target
    is_taken: IsTaken
    neighbours: Neighbours
    lets_pass: Callable[[str], bool]
    status: Status
    room: str | None = None
    focus: str | None = None
    agent: str | None = None
    supersedes: str | None = None
    produced_by: str | None = None
    produced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What is to be written, and the answer once it is; `fingerprint` is of a record that is compared with others."""

    change_set: ChangeSet
    result: SaveResult
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Why nothing is to be written; `fingerprint` is of a write that a person has to look at, to be remembered."""

    result: SaveResult
    fingerprint: str | None = None


def plan_saving(saving: SaveContext, record: Record) -> Planned | Stopped:
    """Return what saves a record, or the answer where nothing is to be written.

    Raises UsageError and UnpatchableError for what cannot be done as it was asked for.
    """
    composed = composed_for(saving, record)
    match record:
        case DecisionRecord():
            return _plan_decision(saving, record, composed)
        case PatternRecord():
            known = _equal_pattern(saving.catalog, composed.entry)
            return (
                _duplicate(saving, known, 1.0)
                if known
                else planned_new(saving, composed, DedupVerdict(DedupOutcome.NEW))
            )
    return planned_new(saving, composed, None)


def subject_of(entry: Entry, body: str) -> Subject:
    """Return what is compared of an entry, its code included, so that saving and reading agree."""
    if entry.type is EntryType.PATTERN:
        steps = (*entry.repeatable_steps, *(f"not: {one}" for one in entry.exclusions))
        return Subject(entry.trigger or entry.title, "\n".join(steps) or body)
    start, end = rationale_span(without_code(body))
    return Subject(entry.title, body[start:end].strip())


def composed_for(
    saving: SaveContext, record: Record, *, supersedes: tuple[str, ...] = (), relations: tuple[Relation, ...] = ()
) -> Composed:
    """Return the file of a record's new entry, at an address that nobody has; raises UsageError."""
    room = room_for(saving.settings, record.kind, saving.room)
    address = free_address(
        saving.catalog, saving.target.wing, room, kind=record.kind, title=record.title, is_taken=saving.is_taken
    )
    frame = Frame(
        address=address,
        status=saving.status,
        today=saving.today,
        focus=saving.focus,
        agent=saving.agent,
        supersedes=supersedes,
        produced=saving.produced,
        relations=relations,
    )
    return compose_record(record, frame)


def _plan_decision(saving: SaveContext, record: DecisionRecord, composed: Composed) -> Planned | Stopped:
    subject = subject_of(composed.entry, composed.body)
    verdict = _judged(saving, subject)
    if verdict.outcome is DedupOutcome.DUPLICATE_SKIP:
        return _duplicate(saving, verdict.candidate or "", verdict.similarity)
    if saving.supersedes is not None:
        verdict = DedupVerdict(DedupOutcome.SUPERSEDE, saving.supersedes, verdict.similarity)
    if verdict.outcome is DedupOutcome.MANUAL_REVIEW:
        if not saving.lets_pass(subject.fingerprint):
            return Stopped(result=_for_a_person(saving.catalog, verdict), fingerprint=subject.fingerprint)
        verdict = DedupVerdict(DedupOutcome.NEW, None, verdict.similarity)
    if verdict.outcome is DedupOutcome.SUPERSEDE and verdict.candidate is not None:
        return _plan_supersession(saving, record, verdict, subject.fingerprint)
    return planned_new(saving, composed, verdict, fingerprint=subject.fingerprint)


def _judged(saving: SaveContext, subject: Subject) -> DedupVerdict:
    """Compare a decision with those of its wing; an older one that it names spares the comparison of words."""
    among = [
        address
        for address, entry in saving.catalog.entries.items()
        if entry.type is EntryType.DECISION and entry.wing == saving.target.wing
    ]
    wanted = subject.fingerprint
    equal = [address for address, one in saving.neighbours.fingerprints(among).items() if one == wanted]

    def similar() -> list[Known]:
        if saving.supersedes is not None:
            return []
        return [_known(saving.catalog, *pair) for pair in saving.neighbours.similar(subject, among)]

    return judge(subject, [_known(saving.catalog, address, subject) for address in equal], similar)


def _known(catalog: Catalog, address: str, subject: Subject) -> Known:
    entry = catalog.entries[address]
    has_ended = entry.status is not Status.DRAFT and not catalog.lineage.is_current(address)
    head = next((head for head in catalog.lineage.heads(address) if head != address), None)
    return Known(address, subject, has_ended, head if has_ended else None)


def _equal_pattern(catalog: Catalog, new: Entry) -> str | None:
    wanted = subject_of(new, "").fingerprint
    for address, entry in catalog.entries.items():
        is_of_kind = entry.type is EntryType.PATTERN and entry.wing == new.wing and entry.trigger is not None
        if not is_of_kind or subject_of(entry, "").fingerprint != wanted:
            continue
        if entry.status is Status.DRAFT or catalog.lineage.is_current(address):
            return address
    return None


def _plan_supersession(
    saving: SaveContext, record: DecisionRecord, verdict: DedupVerdict, fingerprint: str
) -> Planned | Stopped:
    catalog = saving.catalog
    old, new = (
        catalog.entries[verdict.candidate or ""],
        composed_for(saving, record, supersedes=(verdict.candidate or "",)),
    )
    try:
        # As it will be once somebody approves it: what cannot be approved is better refused now.
        refuse_unfit(catalog, old, replace(new.entry, status=Status.ACTIVE), instead="supersede that one")
    except LostRaceError as error:
        heads = catalog.lineage.heads(old.address)
        again = f"read `{heads[0]}`, then repeat this call with `supersedes` set to it if this one replaces it"
        return Stopped(result=replace(failed(str(error), again), candidate_id=heads[0]))
    flips = () if saving.status is Status.DRAFT else (ended(catalog, old, new.entry.address, today=saving.today),)
    return planned_new(saving, new, verdict, flips=flips, fingerprint=fingerprint)


def planned_new(
    saving: SaveContext,
    new: Composed,
    verdict: DedupVerdict | None,
    *,
    flips: tuple[Change, ...] = (),
    fingerprint: str | None = None,
) -> Planned:
    """Return what writes a new entry, with what its coming ends, and the answer to it."""
    address, path = new.entry.address, new.entry.path
    # The newer entry comes before what it ends: where writing ends between the two, `check --fix` follows its claim.
    changes = (*saving.target.manifests, Change(path, path, None, new.content), *flips)
    old = verdict.candidate if verdict is not None and verdict.outcome is DedupOutcome.SUPERSEDE else None
    action = WriteAction(Verb.SUPERSEDE, old, address) if old is not None and flips else WriteAction(Verb.ADD, address)
    return Planned(
        change_set=ChangeSet(
            (*changes, *_linked(saving, address)),
            actions=(action,),
            supersedes=(old,) if old is not None else (),
            agent=saving.agent,
        ),
        result=SaveResult(
            status=SaveStatus.SAVED,
            artifact_id=address,
            dedup_outcome=verdict.outcome if verdict is not None else None,
            candidate_id=old,
            message=_said(saving, address, old),
            next_step=f"`mdmem approve {address}`, by a person" if new.entry.status is Status.DRAFT else None,
        ),
        fingerprint=fingerprint,
    )


def _said(saving: SaveContext, address: str, old: str | None) -> str:
    if saving.status is Status.DRAFT:
        stays = "stays in force until then" if old and not _is_draft(saving.catalog, old) else "is replaced then"
        until = f"; {old} {stays}" if old is not None else ""
        return f"{address} is saved as a draft: {CLAIM_NOTHING}{until}"
    return f"{address} is saved" + (f" and supersedes {old}, which has ended" if old is not None else "")


def _linked(saving: SaveContext, address: str) -> tuple[Change, ...]:
    """Return the change that lets a session name what it produced; none where it is gone, or not to be patched."""
    session = saving.catalog.entries.get(saving.produced_by or "")
    if session is None or address in session.produced:
        return ()
    try:
        return (
            patched(
                saving.catalog, session.path, {"produced": added(saving.catalog, session.address, "produced", address)}
            ),
        )
    except UnpatchableError:
        return ()


def _duplicate(saving: SaveContext, address: str, share: float) -> Planned | Stopped:
    """Return the answer to what is there already; a session that arrived at it again names it all the same."""
    result = SaveResult(
        status=SaveStatus.DUPLICATE_SKIP,
        artifact_id=address,
        dedup_outcome=DedupOutcome.DUPLICATE_SKIP,
        message=f"{address} says the same already (similarity {share:.2f}); nothing was written",
    )
    links = _linked(saving, address)
    if not links:
        return Stopped(result=result)
    action = WriteAction(Verb.UPDATE, saving.produced_by or "")
    return Planned(change_set=ChangeSet(links, actions=(action,), agent=saving.agent), result=result)


def _for_a_person(catalog: Catalog, verdict: DedupVerdict) -> SaveResult:
    candidate = verdict.candidate or ""
    stands = "" if catalog.lineage.is_current(candidate) or _is_draft(catalog, candidate) else ", which has ended"
    ways = "call again with `supersedes` set to it, or with a lower `confidence` if this is a distinct decision"
    return SaveResult(
        status=SaveStatus.PENDING_RETRY,
        dedup_outcome=DedupOutcome.MANUAL_REVIEW,
        candidate_id=candidate,
        message=f"a similar decision (Jaccard {verdict.similarity:.2f}) is {candidate}{stands}; nothing was written",
        next_step=f"read `{candidate}`; {ways}; or run hygiene",
    )


def _is_draft(catalog: Catalog, address: str) -> bool:
    return address in catalog.entries and catalog.entries[address].status is Status.DRAFT
