"""Only one end of a supersession names the other.

Both ends are stored, so that two branches which each supersede the same entry collide visibly in git, and so that a
reader of the old file sees that it ended. While only the new entry says so, it is a claim: the old one stays in force,
and answers show both. A draft that names an old entry is no fault: the old one stays as it is until the draft is
approved. An end that cannot be read is not called silent.

Fails:

    app/rules/new.md    status: active    supersedes: [app/rules/old]
    app/rules/old.md    status: active

Fix: write the missing end. A missing `superseded_by` goes into the old entry with `status: deprecated` and
`deprecated_at`; a missing `supersedes` may also mean that the old entry names the wrong one.
`mdmem check --fix` adds the missing end to an old entry that has ended, or whose successor is just being written, but
to none in force that was imported or is itself new; `--unsafe-fixes` ends any in force, and adds the missing end to a
new entry. Where a reason or a line about the supersession says "in part", "partly" or "(… only)", no fix ends the old
entry: write `amends` instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.fixes.base import ending, is_in_part, may_end, with_choice, with_fix
from mdmem.markdown.patch import add_items, set_fields
from mdmem.model.finding import Edit, Finding, Severity
from mdmem.store.catalog.edges import Edge, EdgeKind

CODE = "supersession-one-sided"
SEVERITY = Severity.ERROR
_ADD = "Add `{}` to `{}.md`"


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each edge that one end does not name, at the end that does."""
    for edge in case.edges:
        if edge.kind is EdgeKind.MISSING_BACK:
            yield _missing_back(case, edge)
        elif edge.kind is EdgeKind.MISSING_FORWARD:
            message = f"superseded by `{edge.new}`, whose `supersedes` does not name this entry"
            help_ = f"add `supersedes: [{edge.old}]` to `{edge.new}.md`, or name the right successor here"
            place = case.link_place(edge.old, "superseded_by", edge.new)
            other = case.catalog.place(edge.new, "supersedes")
            shown = Finding(CODE, message, place, help_, edge.old, other=other)
            document = case.catalog.document(f"{edge.new}.md")
            yield with_choice(shown, _ADD.format("supersedes", edge.new), add_items, document, "supersedes", [edge.old])


def _missing_back(case: Case, edge: Edge) -> Finding:
    message = f"supersedes `{edge.old}`, whose `superseded_by` does not name this entry"
    help_ = f"type `mdmem supersede {edge.old} --by {edge.new} --reason TEXT`"
    if not case.catalog.lineage.heads(edge.new):
        # Ending the old entry in favour of one that ended too would leave nothing in force.
        help_ = f"remove it from `supersedes` if this entry never took over; else {help_}"
    place = case.link_place(edge.new, "supersedes", edge.old)
    shown = Finding(CODE, message, place, help_, edge.new, other=case.catalog.place(edge.old, "superseded_by"))
    if not case.catalog.lineage.heads(edge.new):
        return shown
    new, old = case.catalog.entries[edge.new], case.catalog.entries[edge.old]
    if old.is_in_force and is_in_part(case, edge.old, edge.new):
        help_ = f"write `amends: [{edge.old}]` in place of `supersedes` if a part of it still holds; else {help_}"
        return replace(shown, help=help_)
    # An entry of less authority ends one of more only if a person says so.
    is_sure = new.type.rank <= old.type.rank
    is_sure = is_sure and may_end(case, edge.old, named_by=edge.new, field="supersedes", target=edge.old)
    add = with_fix if is_sure else with_choice
    ends = (", which ends it, for what replaces it is new" if is_sure else ", which ends it") if old.is_in_force else ""
    found = add(shown, _ADD.format("superseded_by", edge.old) + ends, _end, case, edge)
    if found.fix is None or not is_sure:
        return found
    return replace(found, help=f"to give the reason, too, {help_}")


def _end(case: Case, edge: Edge) -> tuple[Edit, ...]:
    """Write the missing end, with what makes the old entry an ended one."""
    old = case.catalog.entries[edge.old]
    return set_fields(case.catalog.document(old.path), ending(old, case, edge.new))
