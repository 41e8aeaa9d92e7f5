"""Plan how to save an agent's record: find the wing, compare with existing entries, and return changes or an answer."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from mdmem.errors import LostRaceError, NotFoundError, UsageError
from mdmem.markdown.front_matter import scalar
from mdmem.markdown.layout import UnpatchableError, apply_edits, replace_in_body
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.patch import add_relations, set_fields
from mdmem.model.entry import UNNAMED_AGENT, Entry, EntryType, Relation, Status, WingKind, instant_of, moment_on
from mdmem.store.catalog.addresses import MANIFEST, full_address, why_not_on_windows
from mdmem.store.catalog.model import Catalog
from mdmem.store.state.local_records import PendingWrites
from mdmem.store.workspace.addresses import resolve_full
from mdmem.store.workspace.scope import ScopeState, doubtful_wings, scope_state, shared_of, wing_name_for
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction, patched
from mdmem.write.create import free_address, room_for
from mdmem.write.records import (
    PRODUCED_BY,
    PROPERTIES,
    Decision,
    Entity,
    Pattern,
    SaveRequest,
    SaveResult,
    SaveStatus,
    compose_record,
    failed,
    relation_properties,
)
from mdmem.write.similar import DedupOutcome, Verdict, compare, subject_of
from mdmem.write.supersede import inherited_fields, patch_superseded, refuse_unfit


class Saving(Struct, frozen=True, kw_only=True):
    """One attempt to save a record in a workspace read just now; `manifests` are those of new wings."""

    workspace: Workspace
    request: SaveRequest
    now: datetime
    wing: str
    room: str
    manifests: tuple[Change, ...] = ()
    needs_token: bool = False

    @property
    def catalog(self) -> Catalog:
        """Return the entries as they are now."""
        return self.workspace.catalog

    @property
    def status(self) -> Status:
        """Return the status of the new entry, which the settings give for its type."""
        return self.workspace.settings.agent_status[self.request.record.type]

    @property
    def focus(self) -> str | None:
        """Return the focus of the new entry; a record for all projects has none."""
        return self.request.text("focus") if self.request.record.reach != "global" else None


def start_save(workspace: Workspace, request: SaveRequest, now: datetime) -> Saving | SaveResult:
    """Return the attempt to save a record, with its wing, or the result of a refused save. Raises UsageError."""
    catalog, record = workspace.catalog, request.record
    project_id, focus = request.text("project_id"), request.text("focus")
    answer = scope_state(catalog, project_id, focus)
    if not answer.may_write(record.kind):
        is_unresolved = answer.state is ScopeState.UNRESOLVED
        creates = "call `save_session` with this `project_id`: it creates the project; then repeat this call"
        advice = "give a `project_id`" if is_unresolved else creates
        return SaveResult(status=SaveStatus.BLOCKED_SCOPE, message=answer.message, next_step=advice)
    if record.reach == "focus" and not focus:
        raise UsageError(f"`focus` is missing; give one, since the scope of this {record.kind} is `focus`")
    shared, wing, manifests = workspace.settings.default_shared_wing, answer.wing, list[Change]()
    if wing is None:
        wing = wing_name_for(project_id or "", catalog)
        if wing == shared:
            raise UsageError(f"`{wing}` is the name of the shared wing; use another `project_id`")
        manifests.append(_manifest(workspace, wing, WingKind.PROJECT, project_id=project_id))
    is_global = record.reach == "global"
    if is_global:
        wing = shared
        if wing not in catalog.wings:
            manifests.append(_manifest(workspace, wing, WingKind.SHARED))
        elif not catalog.wings[wing].is_shared and wing not in doubtful_wings(catalog):
            hint = f"write `kind: shared` into {wing}/{MANIFEST}, or set `default_shared_wing` in mdmem.toml"
            raise UsageError(f"`{wing}` is not a shared wing, so it takes no records of scope `global`; {hint}")
    return Saving(
        workspace=workspace,
        request=request,
        now=now,
        wing=wing,
        room=room_for(workspace.settings, record.kind, request.text("room")),
        manifests=tuple(manifests),
        needs_token=is_global or needs_token(catalog, wing),
    )


def needs_token(catalog: Catalog, wing: str) -> bool:
    """Return whether a write to a wing needs a token. Shared wings need one, and wings with an unreadable manifest."""
    return wing in doubtful_wings(catalog) or (wing in catalog.wings and catalog.wings[wing].is_shared)


def _manifest(workspace: Workspace, wing: str, kind: WingKind, *, project_id: str | None = None) -> Change:
    path, folder = f"{wing}/{MANIFEST}", workspace.location.root / wing
    if why := why_not_on_windows(wing):
        raise UsageError(f"`{wing}` {why}, which Windows does not allow for a wing; choose another name")
    # Git or a killed process may leave an empty folder.
    is_folder = folder.is_dir() and not folder.is_symlink()
    if any(files for _, _, files in os.walk(folder)) if is_folder else os.path.lexists(folder):
        hint = f"write `kind: {kind}` between two lines of `---` at the top of {path}"
        raise UsageError(f"the folder `{wing}` exists, but is not a wing; {hint}, or choose another name")
    stated = [f"kind: {kind.value}", *([f"project_id: {scalar(project_id)}"] if project_id else [])]
    return Change(path, path, None, "\n".join(["---", *stated, "---", "", f"# {wing}", ""]).encode())


class PlannedSave(Struct, frozen=True):
    """The answer to a save, and its changes. `blocked_key` is the ledger's key of a save that was compared."""

    result: SaveResult
    change_set: ChangeSet | None = None
    blocked_key: str | None = None


def plan_save(saving: Saving) -> PlannedSave:
    """Return the answer to a save, with the changes to write. Raises UsageError, NotFoundError or UnpatchableError."""
    match saving.request.record:
        case Decision() as decision:
            return _plan_decision(saving, decision)
        case Pattern():
            return _plan_pattern(saving)
        case Entity():
            return _plan_entity(saving)
        case _:
            return _new(saving, _composed(saving), None)


def _composed(saving: Saving, **given: object) -> tuple[Entry, Document]:
    """Return the new entry with an unused address. The fields of the request override the `given` fields."""
    request, record = saving.request, saving.request.record
    address = free_address(saving.workspace, saving.wing, saving.room, kind=record.kind, title=record.heading)
    fields = {
        "status": saving.status.value,
        "created_at": moment_on(saving.workspace.today, saving.now).isoformat(),
        "focus": saving.focus,
        "agent": request.text("agent") or (UNNAMED_AGENT if record.type.is_rule else None),
    }
    return compose_record(record, address, given | {name: value for name, value in fields.items() if value})


def _new(
    saving: Saving,
    new: tuple[Entry, Document],
    verdict: Verdict | None,
    *,
    ends: tuple[Change, ...] = (),
    key: str | None = None,
) -> PlannedSave:
    """Return the plan for a new entry. `ends` are the changes to the entries that it supersedes."""
    entry, document = new
    address, path = entry.address, entry.path
    old = verdict.candidate if verdict is not None and verdict.outcome is DedupOutcome.SUPERSEDE else None
    is_draft = saving.status is Status.DRAFT
    if is_draft:
        until = f"; {old} stays as it is until then" if old else ""
        message = f"{address} is saved as a draft: it applies once a person approves it{until}"
    else:
        message = f"{address} is saved" + (f" and supersedes {old}, which is deprecated now" if old else "")
    result = SaveResult(
        status=SaveStatus.SAVED,
        artifact_id=address,
        dedup_outcome=verdict.outcome if verdict is not None else None,
        candidate_id=old,
        message=message,
        next_step=f"`mdmem approve {quote(address)}`, by a person" if is_draft else None,
    )
    change_set = ChangeSet(
        # Write the newer entry first. After a crash, `check --fix` can complete the supersession.
        (*saving.manifests, Change(path, path, None, document.data), *ends, *_session_links(saving, address)),
        actions=(WriteAction(Verb.SUPERSEDE, old, address) if old and ends else WriteAction(Verb.ADD, address),),
        supersedes=(old,) if old else (),
    )
    return PlannedSave(result, change_set, key)


def _session_links(saving: Saving, address: str) -> tuple[Change, ...]:
    """Return the change that adds a link to the new entry to its session. Empty if the session cannot be patched."""
    session = saving.catalog.entries.get(saving.request.text(PRODUCED_BY) or "")
    if session is None or address in session.produced:
        return ()
    try:
        return (patched(saving.catalog, session.path, {"produced": (*session.produced, address)}),)
    except UnpatchableError:
        return ()


def _duplicate(saving: Saving, address: str, share: float) -> PlannedSave:
    """Return the answer for a record that exists already. The session links to the existing entry."""
    result = SaveResult(
        status=SaveStatus.DUPLICATE_SKIP,
        artifact_id=address,
        dedup_outcome=DedupOutcome.DUPLICATE_SKIP,
        message=f"{address} says the same already (similarity {share:.2f}); nothing was written",
    )
    links = _session_links(saving, address)
    action = WriteAction(Verb.UPDATE, saving.request.text(PRODUCED_BY) or "")
    return PlannedSave(result, ChangeSet(links, actions=(action,)) if links else None)


def _plan_decision(saving: Saving, record: Decision) -> PlannedSave:
    workspace, catalog, named = saving.workspace, saving.catalog, record.supersedes
    supersedes = resolve_full(workspace, named, field="supersedes") if named is not None else None
    distinct = frozenset(resolve_full(workspace, one, field="distinct_from") for one in record.distinct_from)
    # Both decisions stay current. The link shows this to people and to hygiene.
    new = _composed(saving, see=tuple(sorted(distinct)))
    subject = subject_of(new[0], new[1].body)
    key, is_stated = f"{saving.wing} {subject.fingerprint}", supersedes is not None
    verdict = compare(workspace, subject, (saving.wing,), distinct=distinct, is_stated=is_stated)
    if verdict.outcome is DedupOutcome.NEW:
        # A project's decision cannot supersede a decision in a shared wing.
        shared = shared_of(catalog.wings, saving.wing)
        verdict = compare(workspace, subject, shared, distinct=distinct, is_stated=is_stated)
        if verdict.outcome is DedupOutcome.SUPERSEDE:
            verdict = replace(verdict, outcome=DedupOutcome.MANUAL_REVIEW)
    if verdict.outcome is DedupOutcome.DUPLICATE_SKIP:
        return _duplicate(saving, verdict.candidate or "", verdict.similarity)
    if supersedes is not None:
        verdict = Verdict(DedupOutcome.SUPERSEDE, supersedes)
    if verdict.outcome is DedupOutcome.MANUAL_REVIEW:
        blocked = PendingWrites(workspace.state_folder).blocked(key)
        if blocked is None or not blocked.lets_pass(record.confidence):
            return PlannedSave(_for_a_person(saving, verdict), blocked_key=key)
        verdict = Verdict(DedupOutcome.NEW)
    if verdict.outcome is not DedupOutcome.SUPERSEDE:
        return _new(saving, new, verdict, key=key)
    old = catalog.entries[verdict.candidate or ""]
    new = _composed(saving, **inherited_fields(old, record.type), supersedes=(old.address,))
    try:
        # Check the result of the approval. An entry that nobody could approve is refused now.
        refuse_unfit(catalog, old, new[0].with_changes(status=Status.ACTIVE), instead="supersede that one")
    except LostRaceError as error:
        head = (catalog.lineage.claimed_by(old.address) or catalog.lineage.heads(old.address))[0]
        again = f"read `{head}`, then repeat this call with `supersedes` set to it if this one replaces it"
        return PlannedSave(replace(failed(str(error), again), candidate_id=head))
    is_draft = saving.status is Status.DRAFT
    ends = () if is_draft else (patch_superseded(catalog, old, new[0].address, today=workspace.today),)
    return _new(saving, new, verdict, ends=ends, key=key)


def _for_a_person(saving: Saving, verdict: Verdict) -> SaveResult:
    catalog, candidate = saving.catalog, verdict.candidate or ""
    entry = catalog.entries.get(candidate)
    is_draft = entry is not None and entry.status is Status.DRAFT
    state = "" if catalog.lineage.is_current(candidate) or is_draft else ", which is not current"
    is_own = candidate.startswith(f"{saving.wing}/")
    ways = f"{'`supersedes` set to it, or with ' if is_own else ''}`distinct_from` set to it if both stay current"
    return SaveResult(
        status=SaveStatus.PENDING_RETRY,
        dedup_outcome=DedupOutcome.MANUAL_REVIEW,
        candidate_id=candidate,
        message=f"a similar decision (Jaccard {verdict.similarity:.2f}) is {candidate}{state}; nothing was written; "
        "`run_hygiene` lists it",
        next_step=f"read `{candidate}`, then call again with {ways}; or let a person decide, for whom "
        "`run_hygiene` and `mdmem save --waiting` list it",
    )


def _plan_pattern(saving: Saving) -> PlannedSave:
    """Plan a new pattern, unless a current pattern or draft of the wing has the same trigger and the same steps."""
    catalog, new = saving.catalog, _composed(saving)
    wanted = subject_of(new[0], "").fingerprint
    for known in catalog.entries.values():
        is_of_kind = known.type is EntryType.PATTERN and known.wing == saving.wing and known.trigger is not None
        is_alive = known.status is Status.DRAFT or catalog.lineage.is_current(known.address)
        if is_of_kind and is_alive and subject_of(known, "").fingerprint == wanted:
            break
    else:
        return _new(saving, new, Verdict(DedupOutcome.NEW))
    skipped, validated = _duplicate(saving, known.address, 1.0), saving.request.record.day
    stated = [instant_of(moment) for moment in (known.verified_at, known.created_at) if moment is not None]
    if validated is None or "verified_at" in known.unread or any(instant_of(validated) <= one for one in stated):
        return skipped
    links = skipped.change_set.changes if skipped.change_set is not None else ()
    change_set = ChangeSet(
        (patched(catalog, known.path, {"verified_at": validated.isoformat()}), *links),
        actions=(WriteAction(Verb.VERIFY, known.address),),
    )
    renewed = f"{known.address} says the same already; it was validated later, so its `verified_at` is now {validated}"
    return PlannedSave(replace(skipped.result, message=renewed), change_set)


def _plan_entity(saving: Saving) -> PlannedSave:
    """Plan a new entity, or an update of the entity of that name. Raises NotFoundError for an unknown relation."""
    catalog, record, scope = saving.catalog, saving.request.record, (saving.wing, saving.focus)
    named = [one for one in _entities(catalog, record.heading) if (one.wing, one.focus) == scope]
    known = min(named, key=lambda entry: (not entry.is_in_force, entry.address), default=None)
    related = [(one, _related_address(saving, one.entity_id)) for one in saving.request.related]
    properties = {f"{one.relationship_type} {to}": one.properties for one, to in related}
    relations = tuple(dict.fromkeys(Relation(one.relationship_type, to) for one, to in related))
    if known is None:
        more = {"relations": relations, PROPERTIES: relation_properties(None, properties)}
        return _new(saving, _composed(saving, **more), Verdict(DedupOutcome.NEW))
    document = catalog.document(known.path)
    after, body, fact = document.data, document.body, record.body.strip()
    if body.strip() != fact:
        start, end = len(body) - len(body.lstrip()), len(body.rstrip())
        if not body.strip():
            closed = "" if after.endswith(b"\n") else "\n"
            start, end, fact = 0, len(body), f"{closed}\n{fact}\n"
        after = apply_edits(after, replace_in_body(document, start, end - start, fact))
    if new := [one for one in relations if one not in known.relations]:
        after = apply_edits(after, add_relations(parse_document(document.path, after), new))
    fields: Mapping[str, object] = document.fields or {}
    if stated := relation_properties(fields.get(PROPERTIES), properties):
        after = apply_edits(after, set_fields(parse_document(document.path, after), {PROPERTIES: stated}))
    address, is_same = known.address, after == document.data
    message = f"{address} already says this; nothing was written" if is_same else f"{address} is brought up to date"
    result = SaveResult(status=SaveStatus.SAVED, artifact_id=address, message=message)
    change, action = Change(known.path, known.path, document.data, after), WriteAction(Verb.UPDATE, address)
    return PlannedSave(result, None if is_same else ChangeSet((change,), actions=(action,)))


def _entities(catalog: Catalog, name: str) -> Iterator[Entry]:
    """Yield the entities with a name, ignoring case, white space and forms of letters, that are not deprecated."""
    wanted = _name_words(name)
    for one in catalog.entries.values():
        is_entity = one.type is EntryType.NOTE and one.label == "entity" and one.status is not Status.DEPRECATED
        if is_entity and _name_words(one.entity or one.title) == wanted:
            yield one


def _name_words(name: str) -> list[str]:
    return unicodedata.normalize("NFKC", name).casefold().split()


def _related_address(saving: Saving, typed: str) -> str:
    """Return the address of a related entry, from a full or short address, or from the name of an entity."""
    catalog, wing = saving.catalog, saving.wing
    address = full_address(typed, f"{wing}/{saving.room}/-", catalog.addresses)
    if address is not None and address in catalog.entries:
        return address
    # Entities of other projects can only be found by their address.
    wings = {wing, *(one.name for one in catalog.wings.values() if one.is_shared)}
    named = (one for one in _entities(catalog, typed) if one.wing in wings)
    found = min(named, key=lambda one: (one.wing != wing, one.address), default=None)
    if found is None:
        raise NotFoundError(f"there is no entity `{typed}` to relate to; save that entity first")
    return found.address
