"""Hygiene: find the entries of some wings that need maintenance, and record the run."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from itertools import chain
from math import ceil
from shlex import quote
from typing import Any

from msgspec import Struct, field, to_builtins

from mdmem.checks.case import Case
from mdmem.checks.check import chosen_codes
from mdmem.checks.engine import run_checks
from mdmem.errors import EnvironmentFaultError, GitError, UsageError, reason_of
from mdmem.markdown.body import content_of
from mdmem.markdown.layout import UnpatchableError
from mdmem.markdown.similarity import NearPair, jaccard, near_groups, near_pairs, words_of
from mdmem.model.entry import (
    Entry,
    EntryType,
    Freshness,
    NodeLabel,
    Status,
    age_of,
    freshness_on,
    label_of,
    last_review,
)
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding
from mdmem.model.globs import all_matches, fixed_part
from mdmem.record import grouped, record_json
from mdmem.store.catalog.model import Catalog
from mdmem.store.git.history import last_changes
from mdmem.store.state.local_records import Blocked, PendingWrite, record_hygiene
from mdmem.store.workspace.scope import find_wing, get_wing
from mdmem.store.workspace.visibility import visible_findings
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet, Verb, WriteAction, patched
from mdmem.write.records import blocked_fields
from mdmem.write.save import WaitingSaves, waiting_saves
from mdmem.write.similar import REVIEW_FROM, subject_of
from mdmem.write.write import WriteOptions, WriteResult, write

# Only findings of these checks go into the report.
_CHECKED = ("link-to-superseded", "expired", "review-overdue")
# The report lists only the most similar pairs.
_PAIRS = 20
# The MCP contract fixes these numbers. A decision is stale only after 180 full days.
DUPLICATE_ABOVE = 0.9
_STALE_FROM = {EntryType.DECISION: 181, EntryType.PATTERN: 90}
# A line that is in at least ten texts, and in 5 % of all texts, comes from a template.
_TEMPLATE_LEAST, _TEMPLATE_SHARE = 10, 0.05

Groups = tuple[tuple[str, ...], ...]


class StaleItem(Struct, frozen=True):
    """An entry that nobody verified for longer than its type allows; `label` is its kind in the contract."""

    id: str
    label: NodeLabel
    title: str
    age_days: int
    freshness: Freshness


class HygieneReport(Struct, frozen=True, kw_only=True):
    """The entries that need maintenance, the writes that did not complete, and what the run recorded.

    `near` are pairs of similar entries, `drifted` groups of notes about entities of one name, and `blocked` the writes
    that a similar entry stopped. `titles` are those of all examined entries, and `recorded` the manifests that the run
    wrote. `findings` is not part of the MCP contract.
    """

    checked_at: date
    project_id: str | None = None
    scope: str | None = None
    duplicates: Groups = ()
    near: tuple[NearPair, ...] = ()
    drifted: Groups = ()
    unresolved: tuple[PendingWrite, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    stale_items: tuple[StaleItem, ...] = ()
    findings: tuple[Finding, ...] = ()
    titles: dict[str, str] = field(default_factory=dict)
    recorded: tuple[str, ...] = ()
    commit: str | None = None
    remarks: tuple[str, ...] = ()
    pending_only: bool = False

    @property
    def duplicates_found(self) -> int:
        """Return the number of redundant entries: one less than the size of each group, summed up."""
        return sum(len(group) - 1 for group in self.duplicates)

    @property
    def is_clean(self) -> bool:
        """Return whether nothing needs maintenance."""
        kinds = (self.duplicates, self.near, self.stale_items, self.drifted, self.findings)
        return not any((*kinds, self.unresolved, self.blocked))


def _find_near(
    entries: Iterable[Entry], text: Mapping[str, str], groups: Iterable[tuple[str, ...]]
) -> tuple[NearPair, ...]:
    """Return pairs of similar, unlinked entries of the same wing and type, without words of a common template."""
    groups_of, found = defaultdict[str, set[int]](set), []
    for number, group in enumerate(groups):
        for address in group:
            groups_of[address].add(number)
    for alike in grouped(((one.wing, one.type), one) for one in entries).values():
        by_address = {one.address: one for one in alike}
        subjects = {address: subject_of(one, text[address]) for address, one in by_address.items()}
        lines = {address: one.text.splitlines() for address, one in subjects.items()}
        # Leave out the headings and prompts that come from a common template.
        times = Counter(line for listed in lines.values() for line in {line.strip() for line in listed})
        least = max(_TEMPLATE_LEAST, ceil(_TEMPLATE_SHARE * len(lines)))
        own = ((one, [line for line in listed if times[line.strip()] < least]) for one, listed in lines.items())
        for pair in near_pairs(((one, words_of("\n".join(listed))) for one, listed in own), share=REVIEW_FROM):
            share = jaccard(subjects[pair.a].words, subjects[pair.b].words)
            one, other = by_address[pair.a], by_address[pair.b]
            linked = {link for name in LINK_FIELDS for link in (*one.links(name), *other.links(name))}
            if (
                share >= REVIEW_FROM
                and groups_of[pair.a].isdisjoint(groups_of[pair.b])
                and linked.isdisjoint((pair.a, pair.b))
            ):
                found.append(NearPair(pair.a, pair.b, share))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.a, pair.b)))


def _find_changed_code(workspace: Workspace, current: Iterable[Entry], remarks: list[str]) -> Iterator[Finding]:
    """Yield a finding for each entry whose `applies_to` matches files that changed after its last verification."""
    asked = [(entry, day) for entry in current if entry.applies_to and (day := last_review(entry)) is not None]
    globs = {glob for entry, _ in asked for glob in entry.applies_to}
    places = {part for glob in globs if (part := fixed_part(glob)) is not None}
    if not places:
        return
    try:
        repository, until = workspace.location.get_repository(), next(iter(workspace.commits), None)
        # Git accepts a folder together with a folder inside it. The empty path means the top of the repository.
        folders, since = [""] if "" in places else sorted(places), min(day for _, day in asked)
        activity = last_changes(repository, folders, since=since, until=until)
    except GitError as error:
        remarks.append(f"{error}: it is unknown whether the code changed since an entry was verified")
        return
    if activity.is_cut:
        remarks.append("the clone is shallow: older changes of the code are not known; `git fetch --unshallow`")
    days = activity.days
    covered = {glob: list(all_matches([glob], days)) for glob in globs}
    for entry, day in asked:
        if newer := {path for glob in entry.applies_to for path in covered[glob] if days[path] > day}:
            path = min(newer, key=lambda one: (-days[one].toordinal(), one))
            more = f", with {len(newer) - 1} more" if len(newer) > 1 else ""
            verb = "verified" if entry.verified_at is not None else "written"
            message = f"`{path}` changed on {days[path]}{more}, after it was {verb} on {day}"
            help_ = f"compare it with the code, then type `mdmem verify {quote(entry.address)}`, or supersede it"
            place = workspace.whole_catalog.document(entry.path).place("applies_to")
            yield Finding("unverified-since-change", message, place, help_, entry.address)


def _supersedes(catalog: Catalog, entry: Entry) -> bool:
    return bool(entry.supersedes) or entry.address in catalog.lineage.predecessors


def run_hygiene(
    workspace: Workspace, project_id: str | None = None, scope: str | None = None, *, check_pending_only: bool = False
) -> dict[str, Any]:
    """Return the answer of the MCP tool. A project without a wing may have pending writes, but needs nothing else."""
    if project_id and find_wing(project_id, workspace.catalog.wings) is None:
        remarks = [f"there is no wing for the project `{project_id}` yet"]
        return hygiene_fields(_report(workspace, project_id, scope, remarks))
    return hygiene_fields(run(workspace, project_id or None, scope, pending_only=check_pending_only))


def run(
    workspace: Workspace,
    wing: str | None = None,
    scope: str | None = None,
    *,
    pending_only: bool = False,
    record: bool = False,
    commit: bool | None = None,
) -> HygieneReport:
    """Return the maintenance report. Record the run in the state folder if it was a full run over the files on disk.

    `wing` is a name or a `project_id`, and None means all wings. `scope` narrows the run: `global` means the shared
    wings that `wing` reads, `project` means `wing` itself, and `focus` means only the entries with a `focus` field.
    With `record`, the day is written into the manifests, and committed or not (`commit`; None: the settings).

    A run over one project is full for that project's wings only. A run over entries with a focus, or over pending
    writes only, is never full. Raises UsageError for an unknown wing, and the errors of `write` with `record`.
    """
    is_full = not pending_only and scope != "focus" and workspace.snapshot.is_working_tree
    if record and not is_full:
        hint = "leave out --record, or the options that limit the run"
        raise UsageError(f"only a full run over files on disk can be recorded; {hint}")
    remarks: list[str] = []
    if pending_only:
        if wing is not None:
            get_wing(wing, workspace.catalog.wings)
        return _report(workspace, wing, scope, remarks, pending_only=True)
    catalog, known = workspace.whole_catalog, workspace.whole_catalog.wings
    if wing is None:
        wings = frozenset(name for name, one in known.items() if scope is None or one.is_shared is (scope == "global"))
    elif scope == "global":
        read = known[get_wing(wing, known)].shared_wings
        wings = frozenset(one.name for one in known.values() if one.is_shared and (read is None or one.name in read))
    else:
        wings = frozenset({get_wing(wing, known)})
    # Each wing of another repository is maintained in that repository.
    wings -= catalog.fetched_wings
    found = _examine(workspace, wings, remarks, wing=wing, scope=scope)
    if is_full:
        is_everything = wing is None and scope is None and not workspace.access.is_narrow
        try:
            record_hygiene(workspace.state_folder, None if is_everything else wings, workspace.today)
        except (EnvironmentFaultError, OSError) as error:
            remarks.append(f"this run could not be recorded in {workspace.state_folder}: {reason_of(error)}")
    if record:
        written = _record_in_manifests(workspace, wings, remarks, commit=commit)
        found |= {"recorded": tuple(one.path for one in written.changes), "commit": written.commit}
    return _report(workspace, wing, scope, remarks, **found)


def _examine(
    workspace: Workspace, wings: Collection[str], remarks: list[str], *, wing: str | None, scope: str | None
) -> dict[str, Any]:
    """Return what needs maintenance in some wings, also among drafts, since two agents may write the same rule."""
    catalog, today, lineage = workspace.whole_catalog, workspace.today, workspace.whole_catalog.lineage
    unread = {*catalog.broken, *(one.place.path for one in catalog.closed)}
    if left_out := [path for path in unread if wing is None or path.split("/")[0] in wings]:
        how = "mdmem check --no-baseline" if workspace.settings.baseline else "mdmem check"
        files, them = ("file was", "it") if len(left_out) == 1 else ("files were", "them")
        remarks.append(f"{len(left_out)} unreadable {files} left out; `{how}` shows {them}")
    meant = [one for one in catalog.entries.values() if one.wing in wings and (scope != "focus" or one.focus)]
    current = [one for one in meant if lineage.is_current(one.address)]
    # A draft that supersedes an entry may be similar to that entry.
    drafts = [one for one in meant if one.status is Status.DRAFT and not _supersedes(catalog, one)]
    compared = [*current, *drafts]
    text = {one.address: content_of(one, catalog.body(one.address)) for one in compared}
    # Entries of the same type and wing whose titles and texts are nearly the same.
    duplicates: list[tuple[str, ...]] = []
    for alike in grouped(((one.wing, one.type), one) for one in compared).values():
        texts = ((one.address, words_of(f"{one.title}\n{text[one.address]}")) for one in alike)
        duplicates += near_groups(texts, above=DUPLICATE_ABOVE)
    # Entities in one wing and focus that have the same name, ignoring case and white space.
    names = {one: unicodedata.normalize("NFKC", one.entity).casefold().split() for one in compared if one.entity}
    entities = grouped(((one.wing, one.focus, *names[one]), one) for one in names).values()
    drifted = [tuple(sorted(one.address for one in group)) for group in entities if len(group) > 1]
    # Decisions and patterns that were verified too long ago, except decisions that supersede another.
    aged = ((one, age_of(one, today), _STALE_FROM.get(one.type)) for one in current)
    stale_items = [
        StaleItem(one.address, label_of(one), one.title, age, freshness_on(one, today))
        for one, age, limit in aged
        if age is not None
        and limit is not None
        and age >= limit
        and (one.type is EntryType.PATTERN or not _supersedes(catalog, one))
    ]
    codes = [code for code in chosen_codes(workspace.settings) if code in _CHECKED]
    found = visible_findings(catalog, run_checks(Case(catalog, workspace.settings, today), codes))
    stale = {("review-overdue", one.id) for one in stale_items}
    addresses = {one.address for one in current}
    findings = [one for one in found if one.address in addresses and (one.code, one.address) not in stale]
    findings += _find_changed_code(workspace, current, remarks)
    return {
        "duplicates": tuple(sorted(duplicates)),
        "near": _find_near(compared, text, [*duplicates, *drifted]),
        "drifted": tuple(sorted(drifted)),
        "stale_items": tuple(sorted(stale_items, key=lambda item: (-item.age_days, item.id))),
        "findings": tuple(sorted(findings, key=lambda one: one.sort_key)),
        "titles": {one.address: one.title for one in current} | {one.address: f"{one.title} (draft)" for one in drafts},
    }


def _report(
    workspace: Workspace, wing: str | None, scope: str | None, remarks: list[str], **parts: Any
) -> HygieneReport:
    """Return the report: the given parts, and the writes that failed or that a similar entry stopped."""
    found = WaitingSaves()
    try:
        found = waiting_saves(workspace, project=wing, scope=scope)
    except EnvironmentFaultError as error:
        remarks.append(f"pending writes cannot be read: {error}")
    remarks += [f"{path} cannot be read; it may be a pending write" for path in found.unreadable]
    parts |= {"unresolved": found.pending, "blocked": found.blocked, "remarks": tuple(remarks)}
    return HygieneReport(checked_at=workspace.today, project_id=wing, scope=scope, **parts)


def _record_in_manifests(
    workspace: Workspace, wings: Iterable[str], remarks: list[str], *, commit: bool | None = None
) -> WriteResult:
    """Write today's date into the manifests of wings. Add a remark for each manifest that cannot be patched."""
    catalog = workspace.whole_catalog
    changes = []
    for name in sorted(wings):
        path = f"{name}/README.md"
        if catalog.wings[name].has_manifest:
            try:
                changes.append(patched(catalog, path, {"last_hygiene_at": workspace.today.isoformat()}))
            except UnpatchableError as error:
                remarks.append(str(error))
        else:
            remarks.append(f"`{name}` has no manifest to record in; write `kind: project` in {path}")
    named = ", ".join(change.path.removesuffix("/README.md") for change in changes)
    change_set = ChangeSet(tuple(changes), actions=(WriteAction(Verb.TEND, named),))
    return write(workspace, lambda _: change_set, WriteOptions(commit=commit))


def hygiene_fields(hygiene: HygieneReport) -> dict[str, Any]:
    """Return the keys of the tool `run_hygiene` as JSON, then the groups behind its counts, and the findings."""
    stale = grouped((one.label, one.id) for one in hygiene.stale_items)
    outdated, obsolete = (sorted(stale.get(label, ())) for label in (NodeLabel.DECISION, NodeLabel.PATTERN))
    waiting = [one.id for one in hygiene.unresolved] + [one.id for one in hygiene.blocked]
    fields = {
        **record_json(hygiene, "project_id", "scope", "duplicates_found"),
        "outdated_decisions": len(outdated),
        "obsolete_patterns": len(obsolete),
        "entity_drift_count": len(hygiene.drifted),
        "unresolved_saves": len(waiting),
        "stale_items": to_builtins(hygiene.stale_items),
        "candidate_ids": {
            "duplicate_decisions": sorted(chain.from_iterable(hygiene.duplicates)),
            "outdated_decisions": outdated,
            "obsolete_patterns": obsolete,
            "entity_drift": sorted(chain.from_iterable(hygiene.drifted)),
            "unresolved_saves": waiting,
        },
        "checked_at": hygiene.checked_at.isoformat(),
        "duplicate_groups": [list(group) for group in hygiene.duplicates],
        "entity_groups": [list(group) for group in hygiene.drifted],
        "pending_writes": [
            {
                **record_json(one, "id", "verb"),
                "project_id": one.arguments.get("project_id"),
                "created": one.created.isoformat(),
                **record_json(one, "attempts", "error"),
            }
            for one in hygiene.unresolved
        ],
        "findings": [
            record_json(one, "code", "address", "place.path", "place.line", "message", "help")
            for one in hygiene.findings
        ],
    }
    if hygiene.near:
        fields["near_duplicates"] = [
            {"a": pair.a, "b": pair.b, "similarity": round(pair.share, 2)} for pair in hygiene.near[:_PAIRS]
        ]
    if hygiene.blocked:
        fields["blocked_saves"] = [blocked_fields(one) for one in hygiene.blocked]
    if hygiene.blocked or hygiene.duplicates or hygiene.drifted:
        fields["message"] = "nothing was merged or changed: a person decides"
        fields["next_step"] = (
            "read the `candidate_id` of a blocked save, then save it again with `supersedes` or `distinct_from`; let a "
            "person keep one entry of a group: `mdmem supersede ADDRESS --by KEPT --reason WHY` for each of the others"
        )
    return fields | record_json(hygiene, "recorded", "commit", "remarks")
