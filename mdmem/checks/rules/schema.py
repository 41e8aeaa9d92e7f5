"""Checks of the fields: the values that the schema allows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from mdmem.checks.case import Case, written_links
from mdmem.checks.check import check
from mdmem.checks.fixes.base import certainly_meant, field_at, fields_of, is_slip, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import remove_item, rename_key, replace_item, set_fields
from mdmem.model.entry import EntryType, Status
from mdmem.model.fields import KNOWN_FIELDS, REQUIRED
from mdmem.model.finding import Finding, Severity
from mdmem.model.spelling import certain_value
from mdmem.model.text import kind_of


@check("missing-field", Severity.ERROR)
def missing_field(case: Case) -> Iterator[Finding]:
    """A field that every entry needs is absent or empty.

    `type` gives an entry its authority, `status` says whether it applies, `created_at` orders it among others. Without
    `type` or `status` the entry cannot be read: it may be an invariant, so every retrieval lists it as a problem.

    Fails:

        ---
        type: decision
        created_at: 2026-03-05
        ---

    Fix: add the field; here `status: draft` until the decision is approved.
    `mdmem check --fix` does it if no doubt is left.
    """
    for finding in case.loaded("missing-field", _with_missing_key):
        yield finding if finding.fix is not None else _dated(case, finding)


def _with_missing_key(document: Document, finding: Finding) -> Finding:
    """Correct a key that is one slip of the pen from the missing one; nothing else tells the value."""
    meant = next((name for name in REQUIRED if finding.message.startswith(f"`{name}` ")), None)
    fields = fields_of(document)
    if meant is None or meant in fields:
        return finding
    slips = [key for key in fields if key not in KNOWN_FIELDS and is_slip(key.lower(), meant)]
    if len(slips) != 1:
        return finding
    return with_fix(finding, f"Write `{meant}` for `{slips[0]}`", rename_key, document, slips[0], meant)


def _dated(case: Case, finding: Finding) -> Finding:
    """Take the day of a file's first commit as the day of its creation, though that may be an import's."""
    day = case.facts.days.added.get(finding.place.path) if case.facts is not None else None
    if day is None or not finding.message.startswith("`created_at` "):
        return finding
    document, values = case.catalog.document(finding.place.path), {"created_at": day}
    return with_fix(finding, f"Add `created_at: {day}`", set_fields, document, values, is_safe=False)


# Our globs are read as git reads these.
_GLOB = ":(glob)"
_NESTING = frozenset({"ignore", "relations"})
_SHARE = re.compile(r"(\d+(?:[.,]\d+)?)\s*(%)?", re.ASCII)


@check("wrong-type", Severity.ERROR, per_file=True)
def wrong_type(case: Case) -> Iterator[Finding]:
    """A value is not of the kind that its field needs.

    A value that cannot be read is left out of the entry, so `confidence: high` ranks nothing and a list under `owner`
    names nobody, while a reader of the file believes that both count. A list field with a single value may be written
    as a plain value.

    Fails:

        version: two
        confidence: 80%
        owner: [web-team, api-team]

    Fix: write a whole number from 1, a number from 0 to 1, one text; or rename the key to `x-...` to keep the value as
    it is. `mdmem check --fix` does it if no doubt is left.
    """
    yield from case.loaded("wrong-type", _converted)


def _converted(document: Document, finding: Finding) -> Finding:
    """Write a value in the form of its field, if that says the same."""
    name, item = field_at(document, finding.place) or ("", 0)
    value = fields_of(document).get(name)
    if isinstance(value, list) and name == "applies_to":
        glob = str(value[item]).removeprefix(_GLOB)
        return with_fix(finding, f"Write `{glob}`", replace_item, document, name, item, glob) if glob else finding
    meant = _plain_value(name, value)
    return with_fix(finding, f"Write `{name}: {meant}`", set_fields, document, {name: meant}) if meant else finding


def _plain_value(name: str, value: object) -> str | None:
    if name in _NESTING:
        return None
    if isinstance(value, list) and len(value) == 1 and kind_of(value[0]) == "value" and value[0]:
        return str(value[0])
    if not isinstance(value, str):
        return None
    if name == "applies_to":
        return value.removeprefix(_GLOB) or None
    share = _SHARE.fullmatch(value) if name in ("confidence", "relevance_score") else None
    if share is None:
        return None
    number = float(share[1].replace(",", ".")) / (100 if share[2] else 1)
    return f"{number:.6g}" if number <= 1 else None


@check("unknown-type", Severity.ERROR, per_file=True)
def unknown_type(case: Case) -> Iterator[Finding]:
    """The type is none of invariant, decision, pattern and note.

    The type is the entry's authority: an invariant is never left out, a note is the first to go. An entry of an unknown
    type cannot be ordered, so it is not read, and every retrieval lists it as a problem.

    Fails:

        type: desicion

    Fix: write one of the four types; what else the entry is goes into `label`, as in `type: note` with `label:
    session`. `mdmem check --fix` does it if no doubt is left.
    """
    yield from case.loaded("unknown-type", lambda *given: _with_word("type", EntryType, *given))


@check("unknown-status", Severity.ERROR, per_file=True)
def unknown_status(case: Case) -> Iterator[Finding]:
    """The status is none of draft, active, under_review and deprecated.

    The status says whether an entry applies. Among the Kubernetes proposals one was `imlpemented`, and every tool that
    looked for `implemented` passed it by. An entry of an unknown status is not read, and every retrieval lists it as a
    problem.

    Fails:

        status: superseded

    Fix: write one of the four: `active` for accepted, `draft` for proposed, `deprecated` with `superseded_by` for
    replaced. `mdmem check --fix` does it if no doubt is left.
    """
    yield from case.loaded("unknown-status", lambda *given: _with_word("status", Status, *given))


def _with_word(name: str, allowed: type[StrEnum], document: Document, finding: Finding) -> Finding:
    """Correct one slip of the pen, and another format's word that has but one meaning."""
    value = str(fields_of(document).get(name))
    meant = certainly_meant(value, allowed) or certain_value(value, allowed)
    return with_fix(finding, f"Write `{name}: {meant}`", set_fields, document, {name: meant}) if meant else finding


@check("field-not-for-type", Severity.WARNING, per_file=True)
def field_not_for_type(case: Case) -> Iterator[Finding]:
    """A field belongs to another type of entry.

    `trigger`, `repeatable_steps` and `exclusions` are read for patterns only, `objective`, `actions_taken` and their
    like for sessions, `entity` and `relations` for entities. Elsewhere nothing reads them, so they reach nobody.

    Fails:

        type: note
        trigger: The build fails on a clean checkout

    Fix: make the entry the type that the field belongs to, give the note `label: session` or `label: entity`, or move
    the text into the body.
    """
    yield from case.loaded("field-not-for-type")


_LISTS = ("tags", "applies_to", "exclusions", "decisions_made", "open_items", "next_actions", "relations")


@check("duplicate-list-item", Severity.WARNING, per_file=True)
def duplicate_list_item(case: Case) -> Iterator[Finding]:
    """One list has the same item twice.

    A clean merge of two branches that each add `executor` to `tags` makes such a list. It changes nothing for a reader,
    yet it shows that nobody read the merge. Case counts for globs only; steps and actions may repeat, and links have a
    check of their own.

    Fails:

        tags: [executor, navigation, Executor]

    Fix: remove the second one.
    `mdmem check --fix` does it.
    """
    for entry, document in case.entries:
        for name in (name for name in _LISTS if len(getattr(entry, name)) > 1):
            first: dict[str, int] = {}
            for number, item in enumerate(document.fields[name] if document.fields else ()):
                earlier = first.setdefault(_folded_item(name, item), number)
                if item is not None and earlier != number:
                    shown = ": ".join(map(str, item.values())) if isinstance(item, dict) else item
                    message, other = f"`{shown}` is in `{name}` twice", document.place(name, earlier)
                    found = case.on_entry(entry, message, "remove it", field=name, item=number, other=other)
                    yield with_fix(found, "Remove the second", remove_item, document, name, number)


def _folded_item(name: str, item: object) -> str:
    if isinstance(item, dict):
        return str(sorted(item.items()))
    return str(item).strip().casefold() if name != "applies_to" else str(item)


@check("tag-with-comma", Severity.WARNING, per_file=True)
def tag_with_comma(case: Case) -> Iterator[Finding]:
    """One tag has a comma in it.

    Without brackets `web, views` is a single text, so that a filter for `web` or for `views` misses the entry.

    Fails:

        tags: web, views

    Fix: write a list, as in `tags: [web, views]`.
    `mdmem check --fix` does it.
    """
    for entry, document in case.entries:
        joined = next((tag for tag in entry.tags if len(_parts(tag)) > 1), None)
        if joined is None:
            continue
        written = written_links(document, "tags")
        meant = list(dict.fromkeys(part for tag in written for part in _parts(tag)))
        tags = f"tags: [{', '.join(meant)}]"
        item = written.index(joined) if joined in written else 0
        found = case.on_entry(entry, f"`{joined}` is one tag", f"write `{tags}`", field="tags", item=item)
        yield with_fix(found, f"Write `{tags}`", set_fields, document, {"tags": meant})


def _parts(tag: str) -> list[str]:
    return [part.strip() for part in tag.split(",") if part.strip()]
