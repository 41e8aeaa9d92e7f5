"""Plan how to save an agent's record: find the wing, compare with existing entries, and return changes or an answer."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
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
from mdmem.model.spelling import nearest
from mdmem.store.catalog.addresses import MANIFEST, full_address, why_not_on_windows
from mdmem.store.catalog.model import Catalog
from mdmem.store.state.local_records import PendingWrites
from mdmem.store.workspace.addresses import resolve_full
from mdmem.store.workspace.scope import ScopeState, doubtful_wings, scope_state, shared_of, wing_name_for
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import Change, ChangeSet, Verb, WriteAction, patched
from mdmem.write.create import free_address, inherited_fields, patch_superseded, refuse_unfit, room_for
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


def needs_token(catalog: Catalog, wing: str) -> bool:
    """Return whether a write to a wing needs a token. Shared wings need one, and wings with an unreadable manifest."""
    return wing in doubtful_wings(catalog) or (wing in catalog.wings and catalog.wings[wing].is_shared)


class PlannedSave(Struct, frozen=True):
    """The answer to a save, and its changes. `blocked_key` is the key under which a stopped save is stored."""

    result: SaveResult
    change_set: ChangeSet | None = None
    blocked_key: str | None = None


class Saving(Struct, frozen=True, kw_only=True):
    """One attempt to save a record in a workspace that was read just now; `manifests` are the files of new wings."""

    workspace: Workspace
    request: SaveRequest
    now: datetime
    wing: str
    room: str
    manifests: tuple[Change, ...] = ()
    needs_token: bool = False

    @property
    def focus(self) -> str | None:
        """Return the focus of the new entry; a record for all projects has none."""
        return self.request.text("focus") if self.request.record.reach != "global" else None

    @property
    def status(self) -> Status:
        """Return the status that the settings give to the new entry."""
        return self.workspace.settings.agent_status[self.request.record.type]

    def plan(self) -> PlannedSave:
        """Return the answer to a save, and its changes.

        Raises UsageError for a wrong argument, NotFoundError for an entry that does not exist, and UnpatchableError for
        an entry that cannot be changed.
        """
        match self.request.record:
            case Decision() as decision:
                return self._decision(decision)
            case Pattern() as pattern:
                return self._pattern(pattern)
            case Entity() as entity:
                return self._entity(entity)
            case _:
                return self._new(self._composed(), None)

    def _composed(self, **given: object) -> tuple[Entry, Document]:
        """Return the new entry with an unused address. The fields of the request override the `given` fields."""
        record = self.request.record
        address = free_address(self.workspace, self.wing, self.room, kind=record.kind, title=record.heading)
        fields = {
            "status": self.status.value,
            "created_at": moment_on(self.workspace.today, self.now).isoformat(),
            "focus": self.focus,
            "agent": self.request.text("agent") or (UNNAMED_AGENT if record.type.is_rule else None),
        }
        return compose_record(record, address, given | {name: value for name, value in fields.items() if value})

    def _new(
        self, new: tuple[Entry, Document], outcome: DedupOutcome | None, old: str = "", ends: Sequence[Change] = ()
    ) -> PlannedSave:
        """Return the plan for a new entry, which supersedes `old`. `ends` are the changes to the older entry."""
        address, path = new[0].address, new[0].path
        if is_draft := self.status is Status.DRAFT:
            until = f"; {old} stays as it is until then" if old else ""
            message = f"{address} is saved as a draft: it applies once a person approves it{until}"
        else:
            message = f"{address} is saved" + (f" and supersedes {old}, which is deprecated now" if old else "")
        if self.manifests:
            near = nearest(self.wing, tuple(self.workspace.catalog.wings))
            message += f"; the wing `{self.wing}` is new" + (f", and `{near}` exists already" if near else "")
        result = SaveResult(
            status=SaveStatus.SAVED,
            artifact_id=address,
            dedup_outcome=outcome,
            candidate_id=old or None,
            message=message,
            next_step=f"`mdmem approve {quote(address)}`, by a person" if is_draft else None,
        )
        change_set = ChangeSet(
            # Write the newer entry first. After a crash, `check --fix` can complete the supersession.
            (*self.manifests, Change(path, path, None, new[1].data), *ends, *self._session_links(address)),
            actions=(WriteAction(Verb.SUPERSEDE, old, address) if old and ends else WriteAction(Verb.ADD, address),),
            supersedes=(old,) if old else (),
        )
        return PlannedSave(result, change_set)

    def _session_links(self, address: str) -> tuple[Change, ...]:
        """Return the change that adds a link to an entry to its session. Empty if the session cannot be patched."""
        catalog = self.workspace.catalog
        session = catalog.entries.get(self.request.text(PRODUCED_BY) or "")
        if session is None or address in session.produced:
            return ()
        try:
            return (patched(catalog, session.path, {"produced": (*session.produced, address)}),)
        except UnpatchableError:
            return ()

    def _duplicate(self, address: str, share: float) -> PlannedSave:
        """Return the answer for a record that exists already. The session links to the existing entry."""
        result = SaveResult(
            status=SaveStatus.DUPLICATE_SKIP,
            artifact_id=address,
            dedup_outcome=DedupOutcome.DUPLICATE_SKIP,
            message=f"{address} says the same already (similarity {share:.2f}); nothing was written",
        )
        links = self._session_links(address)
        action = WriteAction(Verb.UPDATE, self.request.text(PRODUCED_BY) or "")
        return PlannedSave(result, ChangeSet(links, actions=(action,)) if links else None)

    def _decision(self, record: Decision) -> PlannedSave:
        workspace, catalog, named = self.workspace, self.workspace.catalog, record.supersedes
        supersedes = resolve_full(workspace, named, field="supersedes") if named is not None else None
        distinct = frozenset(resolve_full(workspace, one, field="distinct_from") for one in record.distinct_from)
        # Both decisions stay current. The link shows this to people and to hygiene.
        new = self._composed(see=tuple(sorted(distinct)))
        subject = subject_of(new[0], new[1].body)
        key, is_stated = f"{self.wing} {subject.fingerprint}", supersedes is not None
        verdict = compare(workspace, subject, (self.wing,), distinct=distinct, is_stated=is_stated)
        if verdict.outcome is DedupOutcome.NEW:
            shared = shared_of(catalog.wings, self.wing)
            verdict = compare(workspace, subject, shared, distinct=distinct, is_stated=is_stated)
            if verdict.outcome is DedupOutcome.SUPERSEDE:
                # A project's decision cannot supersede a decision in a shared wing.
                verdict = replace(verdict, outcome=DedupOutcome.MANUAL_REVIEW)
        if verdict.outcome is DedupOutcome.DUPLICATE_SKIP:
            return self._duplicate(verdict.candidate or "", verdict.similarity)
        if verdict.outcome is DedupOutcome.MANUAL_REVIEW and not is_stated:
            blocked = PendingWrites(workspace.state_folder).blocked(key)
            if blocked is None or not blocked.lets_pass(record.confidence):
                return PlannedSave(_for_a_person(catalog, self.wing, verdict), blocked_key=key)
        elif is_stated or verdict.outcome is DedupOutcome.SUPERSEDE:
            old = catalog.entries[supersedes or verdict.candidate or ""]
            new = self._composed(**inherited_fields(old, record.type), supersedes=(old.address,))
            try:
                # Check the result of the approval. An entry that nobody could approve is refused now.
                refuse_unfit(catalog, old, replace(new[0], status=Status.ACTIVE), instead="supersede that one")
            except LostRaceError as error:
                head = (catalog.lineage.claimed_by(old.address) or catalog.lineage.heads(old.address))[0]
                again = f"read `{head}`, then repeat this call with `supersedes` set to it if this one replaces it"
                return PlannedSave(replace(failed(str(error), again), candidate_id=head))
            ends = []
            if self.status is not Status.DRAFT:
                ends.append(patch_superseded(catalog, old, new[0].address, today=workspace.today))
            return replace(self._new(new, DedupOutcome.SUPERSEDE, old.address, ends), blocked_key=key)
        return replace(self._new(new, DedupOutcome.NEW), blocked_key=key)

    def _pattern(self, record: Pattern) -> PlannedSave:
        """Plan a new pattern, unless a current pattern or draft of the wing has the same trigger and the same steps."""
        catalog, new = self.workspace.catalog, self._composed()
        wanted = subject_of(new[0], "").fingerprint
        for known in catalog.entries.values():
            is_of_kind = known.type is EntryType.PATTERN and known.wing == self.wing and known.trigger is not None
            is_alive = known.status is Status.DRAFT or catalog.lineage.is_current(known.address)
            if is_of_kind and is_alive and subject_of(known, "").fingerprint == wanted:
                break
        else:
            return self._new(new, DedupOutcome.NEW)
        skipped, validated = self._duplicate(known.address, 1.0), record.day
        stated = [instant_of(moment) for moment in (known.verified_at, known.created_at) if moment is not None]
        if validated is None or "verified_at" in known.unread or any(instant_of(validated) <= one for one in stated):
            return skipped
        change = patched(catalog, known.path, {"verified_at": validated.isoformat()})
        links = skipped.change_set.changes if skipped.change_set is not None else ()
        change_set = ChangeSet((change, *links), actions=(WriteAction(Verb.VERIFY, known.address),))
        later = f"it was validated later, so its `verified_at` is now {validated}"
        result = replace(skipped.result, message=f"{known.address} says the same already; {later}")
        return PlannedSave(result, change_set)

    def _entity(self, record: Entity) -> PlannedSave:
        """Plan a new entity, or an update of the entity of that name. Raises NotFoundError for an unknown relation."""
        catalog = self.workspace.catalog
        named = _entities(catalog, record.heading)
        own = (one for one in named if (one.wing, one.focus) == (self.wing, self.focus))
        known = min(own, key=lambda entry: (not entry.is_in_force, entry.address), default=None)
        related = [(one, self._related_address(one.entity_id)) for one in self.request.related]
        properties = {f"{one.relationship_type} {to}": one.properties for one, to in related}
        relations = tuple(dict.fromkeys(Relation(one.relationship_type, to) for one, to in related))
        if known is None:
            more = {"relations": relations, PROPERTIES: relation_properties(None, properties)}
            return self._new(self._composed(**more), DedupOutcome.NEW)
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

    def _related_address(self, typed: str) -> str:
        """Return the address of a related entry, from a full or short address, or from the name of an entity."""
        catalog, wing = self.workspace.catalog, self.wing
        address = full_address(typed, f"{wing}/{self.room}/-", catalog.addresses)
        if address is not None and address in catalog.entries:
            return address
        # Entities of other projects can only be found by their address.
        wings = {wing, *(one.name for one in catalog.wings.values() if one.is_shared)}
        named = (one for one in _entities(catalog, typed) if one.wing in wings)
        found = min(named, key=lambda one: (one.wing != wing, one.address), default=None)
        if found is None:
            raise NotFoundError(f"there is no entity `{typed}` to relate to; save that entity first")
        return found.address


def start_save(workspace: Workspace, request: SaveRequest, now: datetime) -> Saving | SaveResult:
    """Return the attempt to save a record, or the refusal if its scope is unclear. Raises UsageError for a bad wing."""
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


def _for_a_person(catalog: Catalog, wing: str, verdict: Verdict) -> SaveResult:
    candidate = verdict.candidate or ""
    entry = catalog.entries.get(candidate)
    is_draft = entry is not None and entry.status is Status.DRAFT
    state = "" if catalog.lineage.is_current(candidate) or is_draft else ", which is not current"
    is_own = candidate.startswith(f"{wing}/")
    ways = f"{'`supersedes` set to it, or with ' if is_own else ''}`distinct_from` set to it if both stay current"
    return SaveResult(
        status=SaveStatus.PENDING_RETRY,
        dedup_outcome=DedupOutcome.MANUAL_REVIEW,
        candidate_id=candidate,
        message=f"a similar decision (Jaccard {verdict.similarity:.2f}) is {candidate}{state}; nothing was written",
        next_step=f"read `{candidate}`, then call again with {ways}; or let a person decide, for whom "
        "`mdmem hygiene` and `mdmem save --waiting` list it",
    )


def _entities(catalog: Catalog, name: str) -> Iterator[Entry]:
    """Yield the entities with a name, ignoring case, white space and forms of letters, that are not deprecated."""
    wanted = _name_words(name)
    for one in catalog.entries.values():
        is_entity = one.type is EntryType.NOTE and one.label == "entity" and one.status is not Status.DEPRECATED
        if is_entity and _name_words(one.entity or one.title) == wanted:
            yield one


def _name_words(name: str) -> list[str]:
    return unicodedata.normalize("NFKC", name).casefold().split()
