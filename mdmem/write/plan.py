"""What a record would write: compared with what is there, then a change set or the answer."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import LostRaceError, NotFoundError
from mdmem.markdown.layout import UnpatchableError, apply_edits, replace_in_body
from mdmem.markdown.parse import Document, parse_document, rationale_span, without_code
from mdmem.markdown.patch import add_relations, set_fields
from mdmem.markdown.similarity import CANDIDATES, DedupOutcome, DedupVerdict, Known, Subject, judge
from mdmem.model.entry import UNNAMED_AGENT, Entry, EntryType, Relation, Status, instant_of, moment_on
from mdmem.store.catalog import Catalog, full_address
from mdmem.store.state import read_json, write_json
from mdmem.store.workspace.scope import shared_of
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction, patched
from mdmem.write.create import free_address, room_for
from mdmem.write.governance import status_for_agent
from mdmem.write.records import (
    PRODUCED,
    PRODUCED_BY,
    PROPERTIES,
    ComposedEntry,
    DecisionRecord,
    EntityRecord,
    MemoryScope,
    PatternRecord,
    Record,
    RelatedEntity,
    SaveRequest,
    compose_record,
    relation_properties,
)
from mdmem.write.results import SaveResult, SaveStatus, failed
from mdmem.write.supersede import ended, inherited, refuse_unfit

# Raised whenever `subject_of` or the fingerprint changes.
_VERSION, _FILE = "3", "subjects.json"
# So many unknown entries are read anew at each call rather than written down.
_WORTH_KEEPING = 32
# A long text's first words name its subject; each more costs the index a list of documents.
_WORDS = 32


def subject_of(entry: Entry, body: str) -> Subject:
    """Return what is compared of an entry, its code included, so that saving and reading agree."""
    if entry.type is EntryType.PATTERN:
        steps = (*entry.repeatable_steps, *(f"not: {one}" for one in entry.exclusions))
        return Subject(entry.trigger or entry.title, "\n".join(steps) or body)
    start, end = rationale_span(without_code(body))
    return Subject(entry.title, body[start:end].strip())


class Neighbours:
    """The entries of a workspace as a new record is compared with them."""

    def __init__(self, workspace: Workspace, seen: dict[str, str]) -> None:
        """Take the workspace, and what is known of its contents from calls before; that is added to."""
        self._workspace, self._seen = workspace, seen

    def fingerprints(self, addresses: Collection[str]) -> dict[str, str]:
        """Return the fingerprint of each entry's subject; one that went away meanwhile is left out."""
        digests = self._workspace.catalog.digests
        keys = {address: f"{digests[address]} {address}" for address in addresses if address in digests}
        if not self._seen.keys() >= set(keys.values()):
            self._learn(keys)
        return {address: self._seen[key] for address, key in keys.items() if key in self._seen}

    def similar(self, subject: Subject, among: Collection[str]) -> Iterator[tuple[str, Subject]]:
        """Yield the five best full-text matches, best first, with what is compared of them."""
        workspace = self._workspace
        words = list(dict.fromkeys(f"{subject.title}\n{subject.rationale}".split()))
        answer = workspace.find_text(" ".join(words[:_WORDS]), among)
        for match in islice(answer.matches, CANDIDATES):
            entry = workspace.catalog.entries[match.key]
            yield match.key, subject_of(entry, workspace.catalog.body(match.key))

    def _learn(self, keys: dict[str, str]) -> None:
        folder = self._workspace.cache_folder
        self._seen |= {key: str(value) for key, value in read_json(folder / _FILE, _VERSION).items()}
        missing = [address for address, key in keys.items() if key not in self._seen]
        catalog = self._workspace.catalog
        for address, body, digest in catalog.bodies(missing):
            self._seen[f"{digest} {address}"] = subject_of(catalog.entries[address], body).fingerprint
        if len(missing) >= _WORTH_KEEPING:
            write_json(folder / _FILE, _VERSION, {key: self._seen[key] for key in keys.values() if key in self._seen})


CLAIM_NOTHING = "it binds nobody until a person approves it"


class SaveContext(Struct, frozen=True, kw_only=True):
    """One save over the entries as they are now: what was asked for, where it goes, and what it is compared with.

    `supersedes` is the older decision that the request names, `distinct_from` are those that it says it is not about;
    `lets_pass` says whether a blocked write, by its
    fingerprint, may pass as a distinct one with this confidence.
    """

    workspace: Workspace
    request: SaveRequest
    target: Target
    neighbours: Neighbours
    now: datetime
    lets_pass: Callable[[str], bool]
    supersedes: str | None = None
    distinct_from: frozenset[str] = frozenset()

    @property
    def catalog(self) -> Catalog:
        """Return the entries as they are now."""
        return self.workspace.catalog

    @property
    def status(self) -> Status:
        """Return the status that the new entry gets."""
        return status_for_agent(self.workspace.settings, self.request.record.type)

    @property
    def room(self) -> str:
        """Return the room that the new entry goes to; raises UsageError for a name that no room has."""
        return room_for(self.workspace.settings, self.request.record.kind, self.request.text("room"))


class PlannedSave(Struct, frozen=True):
    """The answer to a save, and what is to be written before it is given; None where nothing is.

    `fingerprint` is of a record that is compared with others.
    """

    result: SaveResult
    change_set: ChangeSet | None = None
    fingerprint: str | None = None


def plan_record(saving: SaveContext, record: Record) -> PlannedSave:
    """Return what saves a record that is no entity, or the answer where nothing is to be written.

    Raises UsageError and UnpatchableError for what cannot be done as it was asked for.
    """
    # That both are to stand is kept where people and hygiene see it.
    composed = composed_for(saving, record, see=tuple(sorted(saving.distinct_from)))
    if isinstance(record, DecisionRecord):
        return _plan_decision(saving, record, composed)
    if not isinstance(record, PatternRecord):
        return planned_new(saving, composed, None)
    known = _equal_pattern(saving.catalog, composed.entry)
    if known is None:
        return planned_new(saving, composed, DedupVerdict(DedupOutcome.NEW))
    return _renewed(saving, saving.catalog.entries[known], record) or _duplicate(saving, known, 1.0)


def _renewed(saving: SaveContext, known: Entry, record: PatternRecord) -> PlannedSave | None:
    """Return what dates a pattern that is there by its later validation, None where this one is no later."""
    validated = record.last_validated_at
    stated = [instant_of(moment) for moment in (known.verified_at, known.created_at) if moment is not None]
    if validated is None or "verified_at" in known.unread or instant_of(validated) <= max(stated, default=_NEVER):
        return None
    skipped = _duplicate(saving, known.address, 1.0)
    fields = {"verified_at": validated.isoformat()}
    others = skipped.change_set.changes if skipped.change_set is not None else ()
    change_set = ChangeSet(
        (patched(saving.catalog, known.path, fields), *others),
        actions=(WriteAction(Verb.VERIFY, known.address),),
        agent=saving.request.text("agent"),
    )
    said = f"{known.address} says the same already; it was validated later, so its `verified_at` is now {validated}"
    return PlannedSave(replace(skipped.result, message=said), change_set)


_NEVER = datetime.min.replace(tzinfo=UTC)


def composed_for(saving: SaveContext, record: Record, **given: object) -> ComposedEntry:
    """Return the file of a record's new entry, at an address that nobody has; raises UsageError.

    `given` are the fields that it has besides those of every new entry, where the request does not state them.
    """
    request, entries = saving.request, saving.catalog.entries
    address = free_address(saving.workspace, saving.target.wing, saving.room, kind=record.kind, title=record.title)
    fields = {
        "status": saving.status.value,
        "created_at": moment_on(saving.workspace.today, saving.now).isoformat(),
        "focus": request.text("focus") if record.scope is not MemoryScope.GLOBAL else None,
        "agent": request.text("agent") or (UNNAMED_AGENT if record.type.is_rule else None),
        "produced": tuple(one for one in request.arguments.get(PRODUCED, ()) if one in entries),
    }
    return compose_record(record, address, given | {name: value for name, value in fields.items() if value})


def _plan_decision(saving: SaveContext, record: DecisionRecord, composed: ComposedEntry) -> PlannedSave:
    subject = subject_of(composed.entry, composed.body)
    verdict = _judged(saving, subject)
    if verdict.outcome is DedupOutcome.DUPLICATE_SKIP:
        return _duplicate(saving, verdict.candidate or "", verdict.similarity)
    if saving.supersedes is not None:
        verdict = DedupVerdict(DedupOutcome.SUPERSEDE, saving.supersedes, verdict.similarity)
    if verdict.outcome is DedupOutcome.MANUAL_REVIEW:
        if not saving.lets_pass(subject.fingerprint):
            return PlannedSave(_for_a_person(saving, verdict), fingerprint=subject.fingerprint)
        verdict = DedupVerdict(DedupOutcome.NEW, None, verdict.similarity)
    if verdict.outcome is DedupOutcome.SUPERSEDE and verdict.candidate is not None:
        return _plan_supersession(saving, record, verdict, subject.fingerprint)
    return planned_new(saving, composed, verdict, fingerprint=subject.fingerprint)


def _judged(saving: SaveContext, subject: Subject) -> DedupVerdict:
    """Compare a decision with those of its wing, then with those of the shared wings that it reads.

    What a shared wing says already is no reason to write it again, and nothing here supersedes it.
    """
    own = _judged_among(saving, subject, (saving.target.wing,))
    if own.outcome is not DedupOutcome.NEW:
        return own
    shared = _judged_among(saving, subject, shared_of(saving.catalog.wings, saving.target.wing))
    is_like = shared.outcome is DedupOutcome.SUPERSEDE
    return replace(shared, outcome=DedupOutcome.MANUAL_REVIEW) if is_like else shared


def _judged_among(saving: SaveContext, subject: Subject, wings: Collection[str]) -> DedupVerdict:
    """Compare a decision with those of some wings; an older one that it names spares the comparison of words."""
    among = [
        address
        for address, entry in saving.catalog.entries.items()
        if entry.type is EntryType.DECISION and entry.wing in wings
    ]
    wanted = subject.fingerprint
    equal = [address for address, one in saving.neighbours.fingerprints(among).items() if one == wanted]

    def similar() -> list[Known]:
        if saving.supersedes is not None or not among:
            return []
        found = (_known(saving.catalog, *pair) for pair in saving.neighbours.similar(subject, among))
        return [one for one in found if not _is_set_apart(saving, one)]

    exact = (_known(saving.catalog, address, subject) for address in equal)
    return judge(subject, [one for one in exact if not (one.ended and _is_set_apart(saving, one))], similar)


def _is_set_apart(saving: SaveContext, known: Known) -> bool:
    return not saving.distinct_from.isdisjoint({known.address, known.head})


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
) -> PlannedSave:
    catalog, candidate = saving.catalog, verdict.candidate or ""
    old = catalog.entries[candidate]
    new = composed_for(saving, record, **inherited(old, record.type), supersedes=(candidate,))
    try:
        # As it will be once somebody approves it: what cannot be approved is better refused now.
        refuse_unfit(catalog, old, new.entry.with_changes(status=Status.ACTIVE), instead="supersede that one")
    except LostRaceError as error:
        heads = catalog.lineage.claimed_by(old.address) or catalog.lineage.heads(old.address)
        again = f"read `{heads[0]}`, then repeat this call with `supersedes` set to it if this one replaces it"
        return PlannedSave(replace(failed(str(error), again), candidate_id=heads[0]))
    if saving.status is Status.DRAFT:
        return planned_new(saving, new, verdict, fingerprint=fingerprint)
    end = ended(catalog, old, new.entry.address, today=saving.workspace.today)
    return planned_new(saving, new, verdict, flips=(end,), fingerprint=fingerprint)


def planned_new(
    saving: SaveContext,
    new: ComposedEntry,
    verdict: DedupVerdict | None,
    *,
    flips: tuple[Change, ...] = (),
    fingerprint: str | None = None,
) -> PlannedSave:
    """Return what writes a new entry, with what its coming ends, and the answer to it."""
    address, path = new.entry.address, new.entry.path
    # The newer entry comes before what it ends: where writing ends between the two, `check --fix` follows its claim.
    changes = (*saving.target.manifests, Change(path, path, None, new.content), *flips)
    old = verdict.candidate if verdict is not None and verdict.outcome is DedupOutcome.SUPERSEDE else None
    action = WriteAction(Verb.SUPERSEDE, old, address) if old is not None and flips else WriteAction(Verb.ADD, address)
    change_set = ChangeSet(
        (*changes, *_linked(saving, address)),
        actions=(action,),
        supersedes=(old,) if old is not None else (),
        agent=saving.request.text("agent"),
    )
    result = SaveResult(
        status=SaveStatus.SAVED,
        artifact_id=address,
        dedup_outcome=verdict.outcome if verdict is not None else None,
        candidate_id=old,
        message=_said(saving, address, old),
        next_step=f"`mdmem approve {address}`, by a person" if new.entry.status is Status.DRAFT else None,
    )
    return PlannedSave(result, change_set, fingerprint)


def _said(saving: SaveContext, address: str, old: str | None) -> str:
    if saving.status is Status.DRAFT:
        stays = "stays in force until then" if old and not _is_draft(saving.catalog, old) else "is replaced then"
        until = f"; {old} {stays}" if old is not None else ""
        return f"{address} is saved as a draft: {CLAIM_NOTHING}{until}"
    return f"{address} is saved" + (f" and supersedes {old}, which has ended" if old is not None else "")


def _linked(saving: SaveContext, address: str) -> tuple[Change, ...]:
    """Return the change that lets a session name what it produced; none where it is gone, or not to be patched."""
    session = saving.catalog.entries.get(saving.request.text(PRODUCED_BY) or "")
    if session is None or address in session.produced:
        return ()
    try:
        return (patched(saving.catalog, session.path, {"produced": (*session.produced, address)}),)
    except UnpatchableError:
        return ()


def _duplicate(saving: SaveContext, address: str, share: float) -> PlannedSave:
    """Return the answer to what is there already; a session that arrived at it again names it all the same."""
    result = SaveResult(
        status=SaveStatus.DUPLICATE_SKIP,
        artifact_id=address,
        dedup_outcome=DedupOutcome.DUPLICATE_SKIP,
        message=f"{address} says the same already (similarity {share:.2f}); nothing was written",
    )
    links = _linked(saving, address)
    if not links:
        return PlannedSave(result)
    action = WriteAction(Verb.UPDATE, saving.request.text(PRODUCED_BY) or "")
    return PlannedSave(result, ChangeSet(links, actions=(action,), agent=saving.request.text("agent")))


def _for_a_person(saving: SaveContext, verdict: DedupVerdict) -> SaveResult:
    catalog, candidate = saving.catalog, verdict.candidate or ""
    stands = "" if catalog.lineage.is_current(candidate) or _is_draft(catalog, candidate) else ", which has ended"
    is_own = candidate.startswith(f"{saving.target.wing}/")
    ways = f"{'`supersedes` set to it, or with ' if is_own else ''}`distinct_from` set to it if both are to stand"
    return SaveResult(
        status=SaveStatus.PENDING_RETRY,
        dedup_outcome=DedupOutcome.MANUAL_REVIEW,
        candidate_id=candidate,
        message=f"a similar decision (Jaccard {verdict.similarity:.2f}) is {candidate}{stands}; nothing was written; "
        "`run_hygiene` lists it",
        next_step=f"read `{candidate}`, then call again with {ways}; or let a person decide, for whom "
        "`run_hygiene` and `mdmem pending` list it",
    )


def _is_draft(catalog: Catalog, address: str) -> bool:
    return address in catalog.entries and catalog.entries[address].status is Status.DRAFT


class Target(Struct, frozen=True, kw_only=True):
    """The wing that a record goes to, the manifests of wings that are made for it, and whether it needs a token."""

    wing: str
    manifests: tuple[Change, ...] = ()
    needs_token: bool = False


LABEL = "entity"


def plan_entity(saving: SaveContext, record: EntityRecord) -> PlannedSave:
    """Return what makes an entity, or brings the one of its name within the scope up to date.

    Raises NotFoundError for a relation to what is not there, naming the nearest.
    """
    known = _of_name(saving, record)
    related = [(one, _target(saving, one)) for one in record.related]
    properties = {f"{one.type} {to}": one.properties for one, to in related}
    relations = tuple(dict.fromkeys(Relation(one.type.value, to) for one, to in related))
    if known is None:
        more = {"relations": relations, PROPERTIES: relation_properties(None, properties)}
        return planned_new(saving, composed_for(saving, record, **more), DedupVerdict(DedupOutcome.NEW))
    return _update(saving, record, known, relations, properties)


def _of_name(saving: SaveContext, record: EntityRecord) -> Entry | None:
    """Return the entity of a name in a wing and focus; of several the one in force, then the first by address."""
    focus = saving.request.text("focus") if record.scope is not MemoryScope.GLOBAL else None
    found = [
        entry
        for entry in _entities(saving.catalog)
        if entry.wing == saving.target.wing and entry.focus == focus and _same_name(_name(entry), record.entity_name)
    ]
    return min(found, key=lambda entry: (not entry.is_in_force, entry.address), default=None)


def _entities(catalog: Catalog) -> Iterator[Entry]:
    for entry in catalog.entries.values():
        if entry.type is EntryType.NOTE and entry.label == LABEL and entry.status is not Status.DEPRECATED:
            yield entry


def _name(entry: Entry) -> str:
    return entry.entity or entry.title


def _same_name(one: str, other: str) -> bool:
    folded = (" ".join(unicodedata.normalize("NFKC", name).casefold().split()) for name in (one, other))
    return next(folded) == next(folded)


def _target(saving: SaveContext, related: RelatedEntity) -> str:
    """Return the address that a relation leads to: an entry's address, full or short, or the name of an entity."""
    catalog, wing = saving.catalog, saving.target.wing
    near = f"{wing}/{saving.room}/-"
    address = full_address(related.entity_id, near, catalog.addresses)
    if address is not None and address in catalog.entries:
        return address
    # A name means what is near: those of other projects have to be written as addresses.
    wings = {wing, *(one.name for one in catalog.wings.values() if one.is_shared)}
    near_ones = [one for one in _entities(catalog) if one.wing in wings]
    named = [entry.address for entry in near_ones if _same_name(_name(entry), related.entity_id)]
    if named:
        return min(named, key=lambda one: (not one.startswith(f"{wing}/"), one))
    known = {_name(entry): entry.address for entry in near_ones} | {one: one for one in catalog.entries}
    close = difflib.get_close_matches(related.entity_id, known, n=1, cutoff=0.4)
    hint = f"did you mean `{known[close[0]]}`?" if close else "save that one first"
    raise NotFoundError(f"there is no entity `{related.entity_id}` to relate to; {hint}")


def _update(
    saving: SaveContext,
    record: EntityRecord,
    known: Entry,
    relations: tuple[Relation, ...],
    properties: Mapping[str, Mapping[str, Any]],
) -> PlannedSave:
    document = saving.catalog.document(known.path)
    after = _with_fact(document, record.fact)
    new = [one for one in relations if one not in known.relations]
    if new:
        patched = parse_document(known.path, after)
        after = apply_edits(patched.data, add_relations(patched, new))
    fields: Mapping[str, Any] = document.fields or {}
    held = relation_properties(fields.get(PROPERTIES), properties)
    if held is not None:
        last = parse_document(known.path, after)
        after = apply_edits(last.data, set_fields(last, {PROPERTIES: held}))
    result = SaveResult(
        status=SaveStatus.SAVED, artifact_id=known.address, message=f"{known.address} is brought up to date"
    )
    if after == document.data:
        return PlannedSave(replace(result, message=f"{known.address} says so already; nothing was written"))
    change, action = Change(known.path, known.path, document.data, after), WriteAction(Verb.UPDATE, known.address)
    return PlannedSave(result, ChangeSet((change,), actions=(action,), agent=saving.request.text("agent")))


def _with_fact(document: Document, fact: str) -> bytes:
    """Return the file with another body; where it says that already, not a byte is changed."""
    if document.body.strip() == fact.strip():
        return document.data
    body = document.body
    start, end, text = len(body) - len(body.lstrip()), len(body.rstrip()), fact.strip()
    if not body.strip():
        closed = "" if document.data.endswith(b"\n") else "\n"
        start, end, text = 0, len(body), f"{closed}\n{text}\n"
    return apply_edits(document.data, replace_in_body(document, start, end - start, text))
