"""Carries out one request of an agent: compared, proved and written as one step to everybody else.

Entities: named things, one entry each within a scope, with typed relations to what is there.
"""

from __future__ import annotations

import difflib
import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from mdmem.errors import EnvironmentFaultError, LostRaceError, MdmemError, NotFoundError
from mdmem.markdown.layout import apply_edits, replace_in_body
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.patch import add_relations, set_fields
from mdmem.markdown.similarity import DedupOutcome, DedupVerdict
from mdmem.model.entry import Entry, EntryType, Relation, Status, day_of
from mdmem.store.catalog import Catalog, full_address
from mdmem.store.git.status import state_of
from mdmem.store.state.files import BusyError, write_lock
from mdmem.store.state.local_records import record_made
from mdmem.store.state.pending_writes import Blocked, PendingWrite, PendingWrites, stated_confidence
from mdmem.store.state.tokens import ApprovalTokenError, check_token, use_token
from mdmem.store.workspace.addresses import resolve_full
from mdmem.store.workspace.remarks import began
from mdmem.store.workspace.visibility import require_writable
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.calls import GRANTED, SaveRequest
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.compose import PROPERTIES, relation_properties
from mdmem.write.governance import why_no_global_writes
from mdmem.write.message import Verb, WriteAction
from mdmem.write.plan import Neighbours, PlannedSave, SaveContext, composed_for, plan_record, planned_new
from mdmem.write.records import EntityRecord, MemoryScope, RelatedEntity
from mdmem.write.resend import WAS_LOST, ResentSave
from mdmem.write.results import NOT_YET, SaveResult, SaveStatus, failed
from mdmem.write.target import Target, find_target
from mdmem.write.write import WriteOptions, is_written, new_fault, write_once

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


# So often a request is planned anew where somebody else wrote in between.
_ATTEMPTS = 3
_SAVING = "saving"


class SaveExecutor:
    """Carries requests out over one root; `wait` is how long each waits, in seconds, for others to be done."""

    def __init__(self, workspace: Workspace, *, now: Callable[[], datetime], wait: float) -> None:
        """Take the workspace, of which the files are read anew at each request, and the clock."""
        self.workspace, self._now, self._wait = workspace, now, wait
        self.ledger = PendingWrites(workspace.state_folder)
        self._fingerprints: dict[str, str] = {}

    def run(self, request: SaveRequest) -> SaveResult:
        """Carry out a request; what fails on the way is kept, to be tried again."""
        error: Exception = LostRaceError("others write all the time")
        for _ in range(_ATTEMPTS):
            try:
                return self._attempt(request)
            except LostRaceError as lost:
                error = lost
            except (EnvironmentFaultError, OSError) as fault:
                return self.keep(request, fault)
            except MdmemError as refusal:
                return failed(str(refusal))
        return self.keep(request, error)

    def keep(self, request: SaveRequest, error: Exception) -> SaveResult:
        """Keep a request that failed on the way; its token is used up for it now, since no token is kept."""
        why = str(error) if isinstance(error, MdmemError) else (getattr(error, "strerror", None) or str(error)).lower()
        waiting = SaveResult(
            status=SaveStatus.PENDING_RETRY,
            message=f"{NOT_YET}{why}",
            next_step="nothing has to be done: the next write tries this one again, and so does `mdmem pending retry`",
        )
        if request.id is not None:
            return waiting
        try:
            if request.token is not None and not request.is_granted:
                self._use_token(request)
            arguments = dict(request.arguments)
            self.ledger.keep(PendingWrite(verb=request.verb, arguments=arguments, created=self._now(), error=why))
        except ApprovalTokenError as refusal:
            return failed(str(refusal))
        except MdmemError as refusal:
            return failed(f"nothing was written: {why}; nor could it be kept for later: {refusal}", "call again later")
        return waiting

    def fresh(self) -> Workspace:
        """Return the workspace with its files read anew; the index, which heeds what changed, stays open."""
        return self.workspace.reread()

    def _attempt(self, request: SaveRequest) -> SaveResult:
        self.workspace.location.require_root()
        # The comparison and the write of one request are one step to all others.
        with write_lock(self.workspace.state_folder / _SAVING, wait=self._wait):
            workspace = self.fresh()
            is_global = getattr(request.record, "scope", None) is MemoryScope.GLOBAL
            require_writable(workspace, request.text("project_id"), is_global=is_global)
            _refuse_busy_repository(workspace)
            target = find_target(workspace, request)
            if isinstance(target, SaveResult):
                return target
            known = self._sent_before(workspace, request, target)
            if known is not None:
                return known
            refusal = self._why_not_global(workspace, request, target)
            if refusal is not None:
                return refusal
            planned = self._plan(workspace, request, target)
            if planned.change_set is None:
                return self._stopped(planned, request, target)
            return self._write(workspace, planned, planned.change_set, request, target)

    def _sent_before(self, workspace: Workspace, request: SaveRequest, target: Target) -> SaveResult | None:
        """Return the answer to a request that was carried out before and whose answer was lost, a used token or not."""
        address = self._intended(workspace, request, target).found() if request.is_never_compared else None
        if address is None:
            return None
        return SaveResult(status=SaveStatus.SAVED, artifact_id=address, message=f"{address} is saved; {WAS_LOST}")

    def _intended(self, workspace: Workspace, request: SaveRequest, target: Target) -> ResentSave:
        asked = {name: value for name, value in request.arguments.items() if name != "project_id"}
        return ResentSave.of(workspace, request.verb, asked, wing=target.wing, now=self._now())

    def _why_not_global(self, workspace: Workspace, request: SaveRequest, target: Target) -> SaveResult | None:
        if not target.needs_token:
            return None
        why = why_no_global_writes(workspace.settings)
        if why is not None:
            return failed(why)
        if request.is_granted:
            return None
        again = "call `request_global_write_approval`, then repeat this call with its token as `governance_token`"
        if request.token is None:
            return failed(f"a write to the shared wing `{target.wing}` needs a `governance_token`", again)
        try:
            check_token(workspace.state_folder, request.token, self._now())
        except ApprovalTokenError as error:
            return failed(str(error), again)
        return None

    def _plan(self, workspace: Workspace, request: SaveRequest, target: Target) -> PlannedSave:
        saving = SaveContext(
            workspace=workspace,
            request=request,
            target=target,
            neighbours=Neighbours(workspace, self._fingerprints),
            now=self._now(),
            lets_pass=lambda fingerprint: self._lets_pass(request, target, fingerprint),
            supersedes=_superseded(workspace, request),
            distinct_from=_distinct(workspace, request),
        )
        if isinstance(request.record, EntityRecord):
            return plan_entity(saving, request.record)
        return plan_record(saving, request.record)

    def _lets_pass(self, request: SaveRequest, target: Target, fingerprint: str) -> bool:
        blocked = self.ledger.blocked(_blocked_key(target, fingerprint))
        return blocked is not None and blocked.lets_pass(_confidence(request))

    def _stopped(self, stopped: PlannedSave, request: SaveRequest, target: Target) -> SaveResult:
        """Answer with why nothing is written; that a similar entry stopped it is remembered."""
        result = stopped.result
        if stopped.fingerprint is None or result.dedup_outcome is not DedupOutcome.MANUAL_REVIEW:
            return result
        blocked = Blocked(
            key=_blocked_key(target, stopped.fingerprint),
            confidence=stated_confidence(_confidence(request)),
            candidate=result.candidate_id or "",
            at=self._now(),
            title=request.record.title,
            project=request.text("project_id") or "",
            request=request.id or "",
        )
        try:
            self.ledger.remember_blocked(blocked)
        except EnvironmentFaultError as error:
            return replace(result, message=f"{result.message}; that could not be remembered: {error}")
        return result

    def _write(
        self, workspace: Workspace, planned: PlannedSave, change_set: ChangeSet, request: SaveRequest, target: Target
    ) -> SaveResult:
        """Prove the plan, use the token up, write; what is in place by then is saved, whatever git says of it."""
        entries = [change for change in change_set.changes if change.path.count("/") == 2]
        for change in entries:
            fault = new_fault(change, workspace.settings, today=workspace.today)
            if fault is not None:
                return failed(f"nothing was written: {fault}")
        if target.needs_token and not request.is_granted:
            write_once(workspace, lambda _: change_set, WriteOptions(is_dry=True))
            self._use_token(request)
        if request.id is not None:
            # Whoever finds these bytes in place knows that they were written.
            new_files = {one.to: one.after or b"" for one in entries if one.before is None}
            digests = {path: hashlib.sha256(content).hexdigest() for path, content in new_files.items()}
            self.ledger.intend(request.id, digests)
        result, new = planned.result, next((one for one in entries if one.before is None), None)
        is_noted = new is not None and request.is_never_compared
        noted = self._intended(workspace, request, target).writing(new) if new and is_noted else nullcontext()
        try:
            with noted:
                write_once(workspace, lambda _: change_set, WriteOptions())
        except EnvironmentFaultError as error:
            if not is_written(workspace, change_set):
                raise
            result = replace(result, message=f"{result.message}; {error}")
        self._note_beginning(workspace, request, target)
        if planned.fingerprint is not None:
            self._forget_blocked(_blocked_key(target, planned.fingerprint))
        return result

    def _note_beginning(self, workspace: Workspace, request: SaveRequest, target: Target) -> None:
        """Keep since when a wing is there where a record bears an older date: that is no time without hygiene."""
        dated = getattr(request.record, "date", None) or getattr(request.record, "last_validated_at", None)
        first = began(workspace.catalog, target.wing) or workspace.today
        if dated is not None and day_of(dated) < first:
            # Where that cannot be kept, hygiene is due a little early.
            with suppress(EnvironmentFaultError, OSError):
                record_made(workspace.state_folder, [target.wing], first)

    def _use_token(self, request: SaveRequest) -> None:
        use_token(self.workspace.state_folder, request.token or "", self._now())
        request.arguments[GRANTED] = True
        if request.id is not None:
            self.ledger.note(request.id, {GRANTED: True})

    def _forget_blocked(self, key: str) -> None:
        try:
            self.ledger.forget_blocked(key)
        except EnvironmentFaultError:
            # The write is done; what is remembered of it for nothing lets nobody else pass.
            return


def _confidence(request: SaveRequest) -> float | None:
    confidence: float | None = getattr(request.record, "confidence", None)
    return confidence


def _blocked_key(target: Target, fingerprint: str) -> str:
    return f"{target.wing} {fingerprint}"


def _superseded(workspace: Workspace, request: SaveRequest) -> str | None:
    """Return the address of the older decision that a request names; raises NotFoundError with the nearest."""
    named: str | None = getattr(request.record, "supersedes", None)
    return resolve_full(workspace, named, field="supersedes") if named is not None else None


def _distinct(workspace: Workspace, request: SaveRequest) -> frozenset[str]:
    """Return the addresses that a request says it is distinct from; raises NotFoundError with the nearest."""
    names: tuple[str, ...] = getattr(request.record, "distinct_from", ())
    return frozenset(resolve_full(workspace, name, field="distinct_from") for name in names)


def _refuse_busy_repository(workspace: Workspace) -> None:
    """Raise BusyError where every write is committed and a merge or a rebase is going on: it waits until that ends."""
    repository = workspace.location.repository
    operation = state_of(repository) if workspace.settings.commit and repository is not None else None
    if operation is not None:
        raise BusyError(f"a {operation} is going on in the repository; what is written now could not be committed")
