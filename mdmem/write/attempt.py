"""Carry out one request of an agent: compared, proved and written as one step to everybody else."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import EnvironmentFaultError, LostRaceError, MdmemError, UsageError
from mdmem.markdown.scalars import scalar
from mdmem.markdown.similarity import DedupOutcome
from mdmem.model.entry import WingKind, day_of
from mdmem.reply import current_reply
from mdmem.store.catalog.addresses import MANIFEST, why_not_on_windows
from mdmem.store.git.status import state_of
from mdmem.store.state.files import BusyError, write_lock
from mdmem.store.state.local_records import record_made
from mdmem.store.state.pending_writes import (
    Blocked,
    PendingWrite,
    PendingWrites,
    UnansweredSave,
    UnansweredSaves,
    id_of,
    stated_confidence,
)
from mdmem.store.state.tokens import ApprovalTokenError, check_token, use_token
from mdmem.store.workspace.addresses import resolve_full
from mdmem.store.workspace.remarks import began
from mdmem.store.workspace.scope import ScopeState, is_doubtful, may_write, scope_state, wing_name_for
from mdmem.store.workspace.visibility import require_writable
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet
from mdmem.write.governance import needs_token, why_no_global_writes
from mdmem.write.plan import (
    Neighbours,
    PlannedSave,
    SaveContext,
    Target,
    plan_entity,
    plan_record,
)
from mdmem.write.records import (
    GRANTED,
    EntityRecord,
    MemoryScope,
    SaveRequest,
)
from mdmem.write.results import NOT_YET, SaveResult, SaveStatus, failed
from mdmem.write.write import WriteOptions, new_fault, write, write_new_entry

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
            write(workspace, lambda _: change_set, WriteOptions(is_dry=True))
            self._use_token(request)
        if request.id is not None:
            # Whoever finds these bytes in place knows that they were written.
            new_files = {one.to: one.after or b"" for one in entries if one.before is None}
            digests = {path: hashlib.sha256(content).hexdigest() for path, content in new_files.items()}
            self.ledger.intend(request.id, digests)
        result, new = planned.result, next((one for one in entries if one.before is None), None)
        is_noted = new is not None and request.is_never_compared
        noted = self._intended(workspace, request, target).writing(new) if new and is_noted else nullcontext()
        with noted:
            remark = write_new_entry(workspace, change_set)
        if remark is not None:
            result = replace(result, message=f"{result.message}; {remark}")
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


# What is said of an entry that an unanswered call had written.
WAS_LOST = "an earlier call had saved it, whose answer was lost"


class ResentSave(Struct, frozen=True):
    """One call to a verb that compares nothing, by its verb, wing, arguments and caller."""

    workspace: Workspace
    id: str
    now: datetime

    @classmethod
    def of(cls, workspace: Workspace, verb: str, arguments: Mapping[str, Any], *, wing: str, now: datetime) -> Self:
        """Return the call; `arguments` are those that make it another one, the project by its wing alone."""
        access = workspace.access
        wings = [None if some is None else sorted(some) for some in (access.readable, access.writable)]
        return cls(workspace, id_of(verb, {"asked": dict(arguments), "wing": wing, "by": [access.name, *wings]}), now)

    @property
    def _intents(self) -> UnansweredSaves:
        return UnansweredSaves(self.workspace.state_folder)

    def found(self) -> str | None:
        """Return the address of the entry that the same call wrote, if nobody was told of it."""
        intent = self._intents.unanswered(self.id, self.now)
        if intent is None or not self._is_there(intent):
            return None
        self._tell()
        return intent.address

    @contextlib.contextmanager
    def writing(self, change: Change) -> Iterator[None]:
        """Note what is written in here, before and after; where the state refuses, it is written all the same."""
        intent = UnansweredSave(address=change.to.removesuffix(".md"), digest=_digest(change.after or b""), at=self.now)
        with contextlib.suppress(EnvironmentFaultError):
            self._intents.keep(self.id, intent)
        yield
        with contextlib.suppress(EnvironmentFaultError):
            self._intents.wrote(self.id, intent)
        self._tell()

    def _tell(self) -> None:
        reply, intents, id_ = current_reply(), self._intents, self.id
        if reply is not None:
            reply.then(lambda: intents.answered(id_))
            return
        with contextlib.suppress(EnvironmentFaultError):
            intents.answered(id_)

    def _is_there(self, intent: UnansweredSave) -> bool:
        try:
            content = (self.workspace.location.root / f"{intent.address}.md").read_bytes()
        except OSError:
            return False
        return intent.is_written or _digest(content) == intent.digest


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def find_target(workspace: Workspace, request: SaveRequest) -> Target | SaveResult:
    """Return where a record goes, or why it may not be written; raises UsageError where no wing can be made."""
    catalog, record = workspace.catalog, request.record
    project_id, focus = request.text("project_id"), request.text("focus")
    answer = scope_state(catalog, project_id, focus)
    if not may_write(answer, record.kind):
        return _blocked(answer.state, answer.message)
    if record.scope is MemoryScope.FOCUS and not focus:
        raise UsageError(f"the scope of this {record.kind} is `focus` and no `focus` is given; name one")
    shared, wing, manifests = workspace.settings.default_shared_wing, answer.wing, list[Change]()
    if wing is None:
        wing = wing_name_for(project_id or "", catalog)
        if wing == shared:
            raise UsageError(f"`{wing}` is the name of the shared wing; the project `{project_id}` needs another id")
        manifests.append(_manifest(workspace, wing, WingKind.PROJECT, project_id=project_id))
    if record.scope is MemoryScope.GLOBAL:
        wing = shared
        manifests += _shared_manifest(workspace, wing)
    return Target(
        wing=wing,
        manifests=tuple(manifests),
        needs_token=needs_token(catalog.wings.get(wing), record.scope, is_doubtful=is_doubtful(catalog, wing)),
    )


def _shared_manifest(workspace: Workspace, wing: str) -> list[Change]:
    """Return what makes the shared wing, nothing where it is there; raises UsageError where a project has its name."""
    catalog = workspace.catalog
    if wing not in catalog.wings:
        return [_manifest(workspace, wing, WingKind.SHARED)]
    if not catalog.wings[wing].is_shared and not is_doubtful(catalog, wing):
        hint = f"write `kind: shared` into {wing}/{MANIFEST}, or set `default_shared_wing` in mdmem.toml"
        raise UsageError(f"`{wing}` is no shared wing, so nothing of scope `global` goes there; {hint}")
    return []


def _blocked(state: ScopeState, why: str | None) -> SaveResult:
    unresolved = "give a `project_id`"
    uncertain = "call `save_session` with this `project_id`: it creates the project; then repeat this call"
    return SaveResult(
        status=SaveStatus.BLOCKED_SCOPE,
        message=why,
        next_step=unresolved if state is ScopeState.UNRESOLVED else uncertain,
    )


def _manifest(workspace: Workspace, wing: str, kind: WingKind, *, project_id: str | None = None) -> Change:
    path = f"{wing}/{MANIFEST}"
    if why := why_not_on_windows(wing):
        raise UsageError(f"`{wing}` {why}, which Windows does not allow for a wing; name it otherwise")
    if _is_taken(workspace.location.root / wing):
        hint = f"write `kind: {kind}` between two lines of `---` at the top of {path}"
        raise UsageError(f"the folder `{wing}` is there and is no wing; {hint}, or choose another name")
    stated = [f"kind: {kind.value}", *([f"project_id: {scalar(project_id)}"] if project_id else [])]
    return Change(path, path, None, "\n".join(["---", *stated, "---", "", f"# {wing}", ""]).encode())


def _is_taken(whole: Path) -> bool:
    """Say whether anything stands at a path; a folder without a file is what git left, or a process that died."""
    is_folder = whole.is_dir() and not whole.is_symlink()
    return any(files for _, _, files in os.walk(whole)) if is_folder else os.path.lexists(whole)
