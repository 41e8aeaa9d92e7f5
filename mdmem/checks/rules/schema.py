"""Checks of the fields: the values that the schema allows."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from mdmem.checks.case import Case, written_links
from mdmem.checks.check import check
from mdmem.checks.fixes.base import certainly_meant, field_at, fields_of, is_slip, with_fix
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import remove_item, rename_key, replace_item, set_fields
from mdmem.model.entry import EntryType, Status
from mdmem.model.fields import KNOWN_FIELDS
from mdmem.model.finding import Finding, Severity
from mdmem.model.spelling import certain_value
from mdmem.model.text import kind_of


@check("missing-field", Severity.ERROR, per_file=True)
def missing_field(case: Case) -> Iterator[Finding]:
    """A required field is missing or empty: `type`, `status` or `created_at`.

    The type is an entry's authority, the status says whether it applies, and `created_at` orders it among others.
    Without type or status the entry cannot be read, and every retrieval lists it as a problem.

    Fails:

        ---
        type: decision
        created_at: 2026-03-05
        ---

    Fix: add the field; here `status: draft` until the decision is approved. `mdmem check --fix` corrects a misspelt
    key.
    """
    yield from case.loaded("missing-field", _with_missing_key)


def _with_missing_key(document: Document, finding: Finding) -> Finding:
    """Correct a key that is one slip of the pen from the missing one; nothing else tells the value."""
    meant, fields = finding.cause, fields_of(document)
    if meant in fields:
        return finding
    slips = [key for key in fields if key not in KNOWN_FIELDS and is_slip(key.lower(), meant)]
    if len(slips) != 1:
        return finding
    return with_fix(finding, f"Write `{meant}` for `{slips[0]}`", rename_key, document, slips[0], meant)


# Our globs are read as git reads these.
_GLOB = ":(glob)"
_NESTING = frozenset({"ignore", "relations"})


@check("invalid-value", Severity.ERROR, aliases=("wrong-type", "unknown-type", "unknown-status"), per_file=True)
def invalid_value(case: Case) -> Iterator[Finding]:
    """A value is not one that its field may have, so it is not read.

    `confidence: high` ranks nothing, and a list under `owner` names nobody. A list field with a single item may be a
    plain value. The type is an entry's authority, and the status says whether it applies: without a known one the entry
    is not read at all, and every retrieval lists it as a problem.

    Fails:

        confidence: high
        owner: [web-team, api-team]
        type: desicion
        status: superseded

    Fix: write a whole number from 1, a number from 0 to 1, or one text; or rename the key to `x-...` to keep the value.
    As the type write invariant, decision, pattern or note, and use `label` for another kind of entry. As the status
    write `active` for accepted, `draft` for proposed, `under_review` for doubted, or `deprecated` for ended, with
    `superseded_by` if it was replaced. `mdmem check --fix` corrects a slip, and a value with one meaning.
    """
    yield from case.loaded("wrong-type", _converted)
    yield from case.loaded("unknown-type", lambda *given: _with_word("type", EntryType, *given))
    yield from case.loaded("unknown-status", lambda *given: _with_word("status", Status, *given))


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
    return value.removeprefix(_GLOB) or None if isinstance(value, str) and name == "applies_to" else None


def _with_word(name: str, allowed: type[StrEnum], document: Document, finding: Finding) -> Finding:
    """Correct one slip of the pen, and another format's word that has but one meaning."""
    value = str(fields_of(document).get(name))
    meant = certainly_meant(value, allowed) or certain_value(value, allowed)
    return with_fix(finding, f"Write `{name}: {meant}`", set_fields, document, {name: meant}) if meant else finding


@check("field-not-for-type", Severity.WARNING, per_file=True)
def field_not_for_type(case: Case) -> Iterator[Finding]:
    """A field belongs to another type of entry, so nobody reads it here.

    `trigger`, `repeatable_steps` and `exclusions` belong to patterns, `objective`, `actions_taken` and the like to
    sessions, `entity` and `relations` to entities.

    Fails:

        type: note
        trigger: The build fails on a clean checkout

    Fix: change the type, give a note `label: session` or `label: entity`, or move the text into the body.
    """
    yield from case.loaded("field-not-for-type")


_TWICE = "duplicate-list-item"
_LISTS = ("tags", "applies_to", "exclusions", "decisions_made", "open_items", "next_actions", "relations")


@check("list-form", Severity.WARNING, aliases=("duplicate-list-item", "tag-with-comma"), per_file=True)
def list_form(case: Case) -> Iterator[Finding]:
    """A list has the same item twice, or one tag contains a comma.

    A clean merge of two branches that each add `executor` to `tags` makes such a list. Case counts for globs only.
    Steps and actions may repeat, and links have the check `needless-link`. Without brackets `web, views` is one text,
    so a filter for `web` or for `views` misses the entry.

    Fails:

        tags: [executor, navigation, Executor]
        tags: web, views

    Fix: remove the second item; write a list, as in `tags: [web, views]`. `mdmem check --fix` does it.
    """
    for entry, document in case.entries:
        for name in (name for name in _LISTS if len(getattr(entry, name)) > 1):
            first: dict[str, int] = {}
            for number, item in enumerate(document.fields[name] if document.fields else ()):
                earlier = first.setdefault(_folded_item(name, item), number)
                if item is not None and earlier != number:
                    shown = ": ".join(map(str, item.values())) if isinstance(item, dict) else item
                    message, other, former = f"`{shown}` is in `{name}` twice", document.place(name, earlier), _TWICE
                    found = case.on_entry(
                        entry, message, "remove it", field=name, item=number, other=other, former=former
                    )
                    yield with_fix(found, "Remove the second", remove_item, document, name, number)
        joined = next((tag for tag in entry.tags if len(_parts(tag)) > 1), None)
        if joined is not None:
            written = written_links(document, "tags")
            meant = list(dict.fromkeys(part for tag in written for part in _parts(tag)))
            tags, item = f"tags: [{', '.join(meant)}]", written.index(joined) if joined in written else 0
            message, help_, former = f"`{joined}` is one tag", f"write `{tags}`", "tag-with-comma"
            found = case.on_entry(entry, message, help_, field="tags", item=item, former=former)
            yield with_fix(found, f"Write `{tags}`", set_fields, document, {"tags": meant})


def _folded_item(name: str, item: object) -> str:
    if isinstance(item, dict):
        return str(sorted(item.items()))
    return str(item).strip().casefold() if name != "applies_to" else str(item)


def _parts(tag: str) -> list[str]:
    return [part.strip() for part in tag.split(",") if part.strip()]
