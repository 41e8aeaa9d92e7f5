"""Checks of the front matter: its syntax, its keys and their values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case, written_links
from mdmem.checks.check import check
from mdmem.checks.fixes.base import (
    certainly_meant,
    field_at,
    fields_of,
    is_slip,
    key_at,
    loaded_with_fixes,
    with_choice,
    with_fix,
)
from mdmem.checks.fixes.front_matter import with_end, with_exact_fences, with_start, with_syntax_fix, with_whole_value
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import remove_item, rename_key, replace_item, set_fields
from mdmem.model.entry import Entry, EntryType, Status
from mdmem.model.fields import KNOWN_FIELDS, REQUIRED
from mdmem.model.finding import Finding, Severity
from mdmem.model.spelling import certain_value, known_spelling
from mdmem.model.text import kind_of


@check("front-matter-missing", Severity.ERROR)
def front_matter_missing(case: Case) -> Iterator[Finding]:
    """The file has no front matter.

    Type and status decide what an entry's authority is, and they stand between two lines of `---` at the very top.
    Without them the text is only prose, and it is not read as memory.

    Fails:

        # Store times in UTC

        All times are stored in UTC.

    Fix: start the file with `---`, `type:`, `status:`, `created_at:` and `---`; `mdmem new` writes such a file.
    `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "front-matter-missing", with_start)


@check("fence-unterminated", Severity.ERROR)
def fence_unterminated(case: Case) -> Iterator[Finding]:
    """The front matter is opened and never closed.

    Without a closing `---` nothing tells where the fields end and the text begins, and every guess is wrong for some
    file. So the entry is not read.

    Fails:

        ---
        type: decision
        status: active
        created_at: 2026-03-05

        We store times in UTC.

    Fix: write `---` on a line of its own after the last field.
    `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "fence-unterminated", with_end)


@check("fence-variant", Severity.ERROR)
def fence_variant(case: Case) -> Iterator[Finding]:
    """A fence of the front matter is nearly `---`, but not exactly.

    Readers disagree about `----`, `+++`, `...`, or `---` with a blank behind it: one takes it for a fence, the next for
    text, and the entry then means two things. Only a line that is exactly `---` counts.

    Fails:

        ---
        type: decision
        status: active
        ----

    Fix: write exactly `---`, at the very top of the file and after the last field.
    `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "fence-variant", with_exact_fences)


@check("second-front-matter", Severity.ERROR)
def second_front_matter(case: Case) -> Iterator[Finding]:
    """A second front matter follows the first.

    A tool that did not recognise the first one, because of its line endings or a byte order mark, put its own before
    it. Which of the two is meant cannot be told; only the first is read.

    Fails:

        ---
        title: Store times in UTC
        ---
        ---
        type: decision
        status: active
        ---

    Fix: merge the two into one.
    """
    yield from case.loaded("second-front-matter")


@check("yaml-syntax", Severity.ERROR)
def yaml_syntax(case: Case) -> Iterator[Finding]:
    """The front matter is no YAML.

    The usual causes are a colon and a blank inside a value, a value that begins with `@`, `*`, `%` or a backtick, a
    tab, and a quote that is not closed. The entry cannot be read until it is mended.

    Fails:

        title: Retries: three at most
        applies_to: **/*.py

    Fix: put the value in quotes, as in `title: "Retries: three at most"`.
    `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "yaml-syntax", with_syntax_fix)


@check("duplicate-key", Severity.ERROR)
def duplicate_key(case: Case) -> Iterator[Finding]:
    """A key stands twice in one front matter.

    YAML readers keep the last of two equal keys and say nothing, and a clean merge of two branches that each add `tags`
    makes such a file. Which of the two was meant cannot be told, so the entry is not read.

    Fails:

        status: active
        tags: [api]
        status: deprecated

    Fix: keep one of the two lines.
    """
    yield from case.loaded("duplicate-key")


@check("not-a-mapping", Severity.ERROR)
def not_a_mapping(case: Case) -> Iterator[Finding]:
    """The front matter is a list or a text, not fields.

    An entry is described by fields, one `key: value` a line. A list of them has no names to look up.

    Fails:

        ---
        - type: decision
        - status: active
        ---

    Fix: write one `key: value` a line, without the dashes.
    """
    yield from case.loaded("not-a-mapping")


@check("anchor-or-alias", Severity.ERROR)
def anchor_or_alias(case: Case) -> Iterator[Finding]:
    """The front matter uses a YAML anchor or alias.

    Aliases can expand a few lines to gigabytes, and `&name` at the start of a value silently disappears from it. So
    neither is expanded, and the entry is not read.

    Fails:

        owner: &team navigation
        x-reviewer: *team

    Fix: write the value out, or put it in quotes where `&` or `*` belongs to it.
    """
    yield from case.loaded("anchor-or-alias")


@check("custom-tag", Severity.ERROR)
def custom_tag(case: Case) -> Iterator[Finding]:
    """The front matter uses a YAML tag.

    A tag tells some readers to build an object, and others to run code. Here every value is text, so a tag means
    nothing; and a value that begins with `!` loses its first word.

    Fails:

        version: !!int "3"
        title: !important read this first

    Fix: remove the tag, or put the value in quotes where `!` belongs to it.
    """
    yield from case.loaded("custom-tag")


@check("multiple-documents", Severity.ERROR)
def multiple_documents(case: Case) -> Iterator[Finding]:
    """The front matter holds more than one YAML document.

    A line that begins with `--- ` starts another document, and readers disagree about which of them counts.

    Fails:

        ---
        type: decision
        status: active
        --- # added by the importer
        owner: navigation-team
        ---

    Fix: remove the line, so that all fields stand in one document.
    """
    yield from case.loaded("multiple-documents")


@check("nested-value", Severity.ERROR)
def nested_value(case: Case) -> Iterator[Finding]:
    """A value nests where plain text belongs.

    Fields are text, or lists of text, so that every tool reads the same from them. Only `relations`, `ignore` and keys
    that begin with `x-` may nest. A title from a template, as in `{{ title }}`, is a mapping too.

    Fails:

        owner:
          team: navigation
          lead: ada

    Fix: write plain text, as in `owner: navigation`, or put the structure under a key of your own, as in `x-owner:`.
    """
    yield from case.loaded("nested-value")


@check("non-text-key", Severity.ERROR)
def non_text_key(case: Case) -> Iterator[Finding]:
    """A key is a list or a mapping, not a word.

    A field is looked up by its name. A link in brackets before a colon, or a mark of a template, makes a key without a
    name.

    Fails:

        [see]: app/rules/use-utc

    Fix: write the key as one word, as in `see: app/rules/use-utc`.
    """
    yield from case.loaded("non-text-key")


@check("comment-truncates-value", Severity.WARNING)
def comment_truncates_value(case: Case) -> Iterator[Finding]:
    """A `#` cuts a value off.

    In YAML a blank and `#` begin a comment, so the rest of the line is silently lost. With no blank behind the `#`, a
    number or the name of a channel was meant.

    Fails:

        title: Update #2 done        (the title is `Update`)
        owner: #navigation           (the owner is empty)

    Fix: put the whole value in quotes, as in `title: "Update #2 done"`; write `# ` with a blank where a comment is
    meant. `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "comment-truncates-value", with_whole_value)


@check("key-spelling", Severity.ERROR)
def key_spelling(case: Case) -> Iterator[Finding]:
    """A key surely means a field, but is spelt another way.

    A key that is not read hides what it says: an entry with `superseded-by` looks as if nothing had replaced it.

    Fails:

        superseded-by: app/rules/store-utc
        Status: active

    Fix: write the field's own name, as in `superseded_by` and `status`.
    `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "key-spelling", _with_known_key)


def _with_known_key(document: Document, finding: Finding) -> Finding:
    key = key_at(document, finding.place)
    meant = known_spelling(key) if key else None
    # Where the right key stands, too, which of the two values holds cannot be told.
    if meant is None or meant in (document.fields or ()):
        return finding
    return with_fix(finding, f"Write `{meant}`", rename_key, document, key, meant)


@check("unknown-key", Severity.WARNING)
def unknown_key(case: Case) -> Iterator[Finding]:
    """A key belongs to no field.

    Nothing reads it, so what it says has no effect; often it is a slip in a field's name. Keys that begin with `x-` are
    yours: they are kept, and never interpreted.

    Fails:

        confidance: 0.8

    Fix: write the field's name, or put `x-` before a key of your own.
    """
    yield from case.loaded("unknown-key")


@check("empty-value", Severity.WARNING)
def empty_value(case: Case) -> Iterator[Finding]:
    """A field has no value.

    An empty field says less than none: it may be forgotten, or a value may have been lost in an edit. Readers of YAML
    take it for `null`, which some write back into the file.

    Fails:

        owner:
        tags: ~

    Fix: write a value, or remove the line.
    `mdmem check --fix` does it.
    """
    cut = {(found.place.path, found.place.line) for found in case.loaded("comment-truncates-value")}
    for finding in case.loaded("empty-value"):
        if (finding.place.path, finding.place.line) not in cut:
            yield _without_key(case.catalog.document(finding.place.path), finding)


def _without_key(document: Document, finding: Finding) -> Finding:
    """Remove the key where its line holds nothing else: a comment there is what somebody meant to remember."""
    key = key_at(document, finding.place)
    line = document.text.split("\n")[finding.place.line - 1]
    if key is None or "#" in line:
        return finding
    return with_fix(finding, f"Remove `{key}`", set_fields, document, {key: None})


@check("missing-field", Severity.ERROR)
def missing_field(case: Case) -> Iterator[Finding]:
    """A field that every entry needs is absent or empty.

    `type` gives an entry its authority, `status` says whether it binds, `created_at` orders it among others. Without
    `type` or `status` the entry cannot be read: it may be an invariant, so every retrieval has to name it as a problem.

    Fails:

        ---
        type: decision
        created_at: 2026-03-05
        ---

    Fix: add the field; here `status: draft` until the decision is approved.
    `mdmem check --fix` does it where no doubt is left.
    """
    for finding in loaded_with_fixes(case, "missing-field", _with_missing_key):
        yield finding if finding.fix is not None else _dated(case, finding)


def _dated(case: Case, finding: Finding) -> Finding:
    """Take the day of a file's first commit for the one on which it was written, though that may be an import's."""
    day = case.facts.days.added.get(finding.place.path) if case.facts is not None else None
    if day is None or not finding.message.startswith("`created_at` "):
        return finding
    document = case.catalog.document(finding.place.path)
    return with_choice(finding, f"Add `created_at: {day}`", set_fields, document, {"created_at": day})


def _with_missing_key(document: Document, finding: Finding) -> Finding:
    """Correct a key that is one slip of the pen from the missing one; nothing else tells what the value would be."""
    meant = next((name for name in REQUIRED if finding.message.startswith(f"`{name}` ")), None)
    fields = fields_of(document)
    if meant is None or meant in fields:
        return finding
    slips = [key for key in fields if key not in KNOWN_FIELDS and is_slip(key.lower(), meant)]
    if len(slips) != 1:
        return finding
    return with_fix(finding, f"Write `{meant}` for `{slips[0]}`", rename_key, document, slips[0], meant)


# Our globs are read as git reads these.
_GLOB = ":(glob)"
_NESTING = frozenset({"ignore", "relations"})
_SHARE = re.compile(r"(\d+(?:[.,]\d+)?)\s*(%)?", re.ASCII)


@check("wrong-type", Severity.ERROR)
def wrong_type(case: Case) -> Iterator[Finding]:
    """A value is not of the kind its field holds.

    A value that cannot be read is left out of the entry, so `confidence: high` ranks nothing and a list under `owner`
    names nobody, while a reader of the file believes that both count. A list field with a single value may be written
    as a plain value.

    Fails:

        version: two
        confidence: 80%
        owner: [web-team, api-team]

    Fix: write a whole number from 1, a number from 0 to 1, one text; or rename the key to `x-...` to keep the value as
    it is. `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "wrong-type", _converted)


def _converted(document: Document, finding: Finding) -> Finding:
    """Write a value in the form its field wants, where that says the same."""
    found = field_at(document, finding.place)
    name, item = found or ("", 0)
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
        # A list of one is that one.
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


@check("unknown-type", Severity.ERROR)
def unknown_type(case: Case) -> Iterator[Finding]:
    """The type is none of invariant, decision, pattern and note.

    The type is the entry's authority: an invariant is never left out, a note is the first to go. An entry of an unknown
    type cannot be ordered, so it is not read, and stands among the problems of every retrieval.

    Fails:

        type: desicion

    Fix: write one of the four types; what else the entry is goes into `label`, as in `type: note` with `label:
    session`. `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "unknown-type", _with_type)


def _with_type(document: Document, finding: Finding) -> Finding:
    """Correct one slip of the pen, and another format's word that has but one meaning."""
    value = str(fields_of(document).get("type"))
    meant = certainly_meant(value, EntryType) or certain_value(value, EntryType)
    return with_fix(finding, f"Write `type: {meant}`", set_fields, document, {"type": meant}) if meant else finding


@check("unknown-status", Severity.ERROR)
def unknown_status(case: Case) -> Iterator[Finding]:
    """The status is none of draft, active, under_review and deprecated.

    The status says whether an entry binds. Among the Kubernetes proposals one was `imlpemented`, and every tool that
    looked for `implemented` passed it by. An entry of an unknown status is not read, and stands among the problems of
    every retrieval.

    Fails:

        status: superseded

    Fix: write one of the four. What was accepted is `active`, what was proposed is `draft`, what was replaced is
    `deprecated` with `superseded_by`.
    `mdmem check --fix` does it where no doubt is left.
    """
    yield from loaded_with_fixes(case, "unknown-status", _with_status)


def _with_status(document: Document, finding: Finding) -> Finding:
    """Correct one slip of the pen, and another format's word that has but one meaning."""
    value = str(fields_of(document).get("status"))
    meant = certainly_meant(value, Status) or certain_value(value, Status)
    return with_fix(finding, f"Write `status: {meant}`", set_fields, document, {"status": meant}) if meant else finding


@check("field-not-for-type", Severity.WARNING)
def field_not_for_type(case: Case) -> Iterator[Finding]:
    """A field belongs to another type of entry.

    `trigger`, `repeatable_steps` and `exclusions` are read for patterns only, `objective`, `actions_taken` and their
    like for sessions, `entity` and `relations` for entities. Elsewhere nothing reads them, so what they say reaches
    nobody.

    Fails:

        type: note
        trigger: The build fails on a clean checkout

    Fix: make the entry the type that the field belongs to, give the note `label: session` or `label: entity`, or move
    the text into the body.
    """
    yield from case.loaded("field-not-for-type")


_LIST_FIELDS = ("tags", "applies_to", "exclusions", "decisions_made", "open_items", "next_actions", "relations")


@check("duplicate-list-item", Severity.WARNING)
def duplicate_list_item(case: Case) -> Iterator[Finding]:
    """One list holds the same item twice.

    A clean merge of two branches that each add `executor` to `tags` makes such a list. It changes nothing for a reader,
    yet it shows that nobody looked at the merge. Case counts for globs only; steps and actions may repeat, and links
    have a check of their own.

    Fails:

        tags: [executor, navigation, Executor]

    Fix: remove the second one.
    `mdmem check --fix` does it.
    """
    for entry, _ in case.entries:
        for name in _LIST_FIELDS:
            items = getattr(entry, name)
            if len(items) > 1 and len({_folded_item(name, item) for item in items}) < len(items):
                yield from _repeats(case, entry, name)


def _repeats(case: Case, entry: Entry, name: str) -> Iterator[Finding]:
    document = case.catalog.document(entry.path)
    first: dict[str, int] = {}
    for number, item in enumerate(document.fields[name] if document.fields else ()):
        if item is not None and first.setdefault(_folded_item(name, item), number) != number:
            place, other = document.place(name, number), document.place(name, first[_folded_item(name, item)])
            message = f"{_shown_item(item)} stands twice in `{name}`"
            shown = Finding("duplicate-list-item", message, place, "remove it", entry.address, other)
            yield with_fix(shown, "Remove the second", remove_item, document, name, number)


def _folded_item(name: str, item: object) -> str:
    if isinstance(item, dict):
        return str(sorted(item.items()))
    return str(item).strip().casefold() if name != "applies_to" else str(item)


def _shown_item(item: object) -> str:
    return f"`{': '.join(map(str, item.values()))}`" if isinstance(item, dict) else f"`{item}`"


@check("tag-with-comma", Severity.WARNING)
def tag_with_comma(case: Case) -> Iterator[Finding]:
    """One tag holds a comma.

    Without brackets `web, views` is a single text, so that whoever filters by `web` or by `views` misses the entry.

    Fails:

        tags: web, views

    Fix: write a list, as in `tags: [web, views]`.
    `mdmem check --fix` does it.
    """
    for entry, _ in case.entries:
        joined = next((tag for tag in entry.tags if len(_parts(tag)) > 1), None)
        if joined is None:
            continue
        document = case.catalog.document(entry.path)
        written = written_links(document, "tags")
        meant = list(dict.fromkeys(part for tag in written for part in _parts(tag)))
        listed = f"tags: [{', '.join(meant)}]"
        item = written.index(joined) if joined in written else 0
        shown = case.on_entry(
            "tag-with-comma", entry, f"`{joined}` is one tag", f"write `{listed}`", field="tags", item=item
        )
        yield with_fix(shown, f"Write `{listed}`", set_fields, document, {"tags": meant})


def _parts(tag: str) -> list[str]:
    return [part.strip() for part in tag.split(",") if part.strip()]
