"""Checks of the front matter, and their fixes: its delimiter lines, its syntax, its keys and its values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.check import LateFix, check
from mdmem.checks.fixes import fields_of, is_typo, line_end, with_fix
from mdmem.checks.prose import written_items
from mdmem.markdown.front_matter import in_quotes
from mdmem.markdown.layout import apply_edits, replace_span
from mdmem.markdown.parse import Document, parse_document
from mdmem.markdown.patch import remove_item, rename_key, replace_items, set_fields
from mdmem.model.entry import EntryType, Status
from mdmem.model.fields import KNOWN_FIELDS, REQUIRED
from mdmem.model.finding import FORMER_CODES, Edit, Finding, Fix, Severity
from mdmem.model.spelling import certain_value, known_spelling, meant_field


@check("front-matter-fence", Severity.ERROR, per_file=True, same_when_ended=True)
def front_matter_fence(case: Case) -> Iterator[Finding]:
    """The file has no front matter, or its front matter does not begin and end with a line that is exactly `---`.

    Without `type` and `status`, mdmem does not read the file as an entry. Only some programs accept `----`, `+++`,
    `...`, or `---` with a space after it. Of two front matters only the first is read.

    Fails:
        status: active
        ----

    Fix: write exactly `---` as the first line and after the last field; merge two front matters into one.
    """
    for code in ("front-matter-missing", "fence-unterminated", "fence-variant"):
        for document, finding in case.loaded_with_document(code):
            yield with_fix(finding, "Write the fence as `---`", _fence_edits, document, finding)
    yield from case.loaded("second-front-matter")


@check("yaml-syntax", Severity.ERROR, per_file=True, same_when_ended=True)
def yaml_syntax(case: Case) -> Iterator[Finding]:
    """The front matter is not valid YAML, so the entry cannot be read.

    Usual causes are a tab, an open quotation mark, a colon and a space in a value, or `@`, `*` or `%` at its start.

    Fails:
        title: Retries: three at most

    Fix: quote the value: `title: "Retries: three at most"`. `mdmem check --fix` does this if the meaning is certain.
    """
    for document, finding in case.loaded_with_document("yaml-syntax"):
        yield _with_rewrite(document, finding)


_LINK = re.compile(r"\[{1,2}([^\[\],]+)\]{1,2}\Z")


@check("front-matter-shape", Severity.ERROR, per_file=True, same_when_ended=True)
def front_matter_shape(case: Case) -> Iterator[Finding]:
    """The front matter contains something other than lines of `key: value`, or the same key twice.

    A key is one word, and a value is a text or a list of texts, so that every tool reads the same fields.

    - Only `relations`, `ignore` and keys that begin with `x-` may contain nested values.
    - If a key is there twice, for example after a merge, YAML readers silently keep the last value.
    - A value that begins with `&`, `*` or `!` is an anchor, an alias or a tag in YAML. Aliases can expand a few lines
      to gigabytes, and tags can make some readers run code.
    - A line that begins with `--- ` starts another YAML document.
    - `[[x]]` is a list in a list, so other tools see no link; in the body it is fine.

    Fails:
        owner:
          team: navigation
        title: !important read this first
        supersedes: [[app/rules/local-times]]

    Fix: write plain text, such as `owner: navigation`, and put a value that begins with `&`, `*` or `!` in quotation
    marks. Keep one of two equal keys. Put nested values under your own key, such as `x-owner:`.
    """
    *others, wiki_link = FORMER_CODES["front-matter-shape"]
    yield from case.loaded(*others)
    for document, finding in case.loaded_with_document(wiki_link):
        start = document.line_start(finding.place.line) + finding.place.column - 1
        # The brackets must be on one line.
        link = _LINK.match(document.text[start : start + finding.place.width])
        title, given = "Write the address plain", (document, start, start + finding.place.width)
        yield with_fix(finding, title, replace_span, *given, link[1].strip()) if link else finding


@check("unknown-field", Severity.ERROR, per_file=True, same_when_ended=True)
def unknown_field(case: Case) -> Iterator[Finding]:
    """A key is not the name of a field, or is a misspelled one, so its value is not read.

    A misspelled field is an error, any other unknown key a warning. Keys that begin with `x-` are yours.

    Fails:
        superseded-by: app/rules/store-utc
        colour: red

    Fix: write the correct name of the field, such as `superseded_by`, or put `x-` before your own key.
    """
    for code in FORMER_CODES["unknown-field"]:
        is_safe = code == "key-spelling"
        for document, finding in case.loaded_with_document(code):
            key = finding.cause
            meant = known_spelling(key) if is_safe else meant_field(key)
            is_likely = meant is not None and (is_safe or is_typo(key, meant))
            one = finding if is_safe else replace(finding, severity=Severity.WARNING)
            given = f"Write `{meant}`", rename_key, document, key, meant
            # If the correct key exists, too, nobody can tell which of the two values is meant.
            is_clear = is_likely and meant not in fields_of(document)
            yield with_fix(one, *given, is_safe=is_safe) if is_clear else one


@check("lost-value", Severity.WARNING, per_file=True, same_when_ended=True)
def lost_value(case: Case) -> Iterator[Finding]:
    """A field has no value, or a `#` cuts off the rest of the value.

    In YAML, a space and `#` begin a comment. Without a space after it, the `#` usually belongs to a number or a name.

    Fails:
        owner:
        title: Update #2 done        (the title is `Update`)

    Fix: write a value, or remove the line. Put the whole value in quotation marks, or write `# ` if you mean a comment.
    """
    cut = {(found.place.path, found.place.line) for found in case.loaded("comment-truncates-value")}
    for document, finding in case.loaded_with_document("comment-truncates-value"):
        yield _with_rewrite(document, finding)
    for document, finding in case.loaded_with_document("empty-value"):
        if (finding.place.path, finding.place.line) in cut:
            continue
        key, start = finding.cause, document.line_start(finding.place.line)
        # Offer no fix if the line has a comment.
        is_plain = "#" not in document.text[start : document.line_start(finding.place.line + 1)]
        yield with_fix(finding, f"Remove `{key}`", set_fields, document, {key: None}) if is_plain else finding


@check("missing-field", Severity.ERROR, per_file=True)
def missing_field(case: Case) -> Iterator[Finding]:
    """A required field is missing or empty: `type`, `status` or `created_at`.

    Without type or status the entry cannot be read. `created_at` gives its place in the order of entries.

    Fails:
        created_at: 2026-03-05     (with `type: decision`, and no `status`)

    Fix: add the field, here `status: draft` until somebody approves it. `mdmem check --fix` corrects a misspelled key.
    """
    for document, finding in case.loaded_with_document("missing-field"):
        meant, fields = finding.cause, fields_of(document)
        typos = [key for key in fields if key not in KNOWN_FIELDS and is_typo(key.lower(), meant)]
        if len(typos) == 1 and meant not in fields:
            title = f"Write `{meant}` for `{typos[0]}`"
            finding = with_fix(finding, title, rename_key, document, typos[0], meant)
        yield finding


# git's prefix for globs. mdmem's globs have the same meaning without it.
_GLOB = ":(glob)"
_NESTING = frozenset({"ignore", "relations"})


@check("invalid-value", Severity.ERROR, per_file=True)
def invalid_value(case: Case) -> Iterator[Finding]:
    """A field has a value that it does not allow, so the value is not read.

    If `type` or `status` is invalid, the entry cannot be read, and every answer lists it as a problem.

    Fails:
        confidence: high
        type: desicion
        status: superseded

    Fix: write a whole number from 1, a number from 0 to 1, or one text, as the field requires; or rename the key to
    `x-...` to keep the value. The type must be invariant, decision, pattern or note; use `label` for other kinds of
    entries. The status must be `active` (for accepted), `draft` (for proposed), `under_review` (for doubtful), or
    `deprecated` (for a rule that no longer applies), with `superseded_by` if it was replaced.
    """
    for document, finding in case.loaded_with_document("wrong-type"):
        # Write the value in the form of its field, if the meaning stays the same.
        name, value = finding.cause, fields_of(document).get(finding.cause)
        only = value[0] if name not in _NESTING and isinstance(value, list) and len(value) == 1 else None
        if name == "applies_to" and isinstance(value, list | str):
            glob = str(value[finding.item] if isinstance(value, list) else value).removeprefix(_GLOB)
            fixed = with_fix(finding, f"Write `{glob}`", replace_items, document, name, {finding.item: glob})
            finding = fixed if glob else finding
        elif isinstance(only, str) and only:
            finding = with_fix(finding, f"Write `{name}: {only}`", set_fields, document, {name: only})
        yield finding
    for kind, name, allowed in (("unknown-type", "type", EntryType), ("unknown-status", "status", Status)):
        for document, finding in case.loaded_with_document(kind):
            value = str(fields_of(document).get(name))
            plain = value.strip().casefold().replace("-", "_").replace(" ", "_")
            close = [str(one) for one in allowed if is_typo(plain, one)]
            # A typing mistake, or a word that another format uses for the same.
            word = close[0] if len(close) == 1 else certain_value(value, allowed)
            title = f"Write `{name}: {word}`"
            yield with_fix(finding, title, set_fields, document, {name: word}) if word else finding


@check("field-not-for-type", Severity.WARNING, per_file=True)
def field_not_for_type(case: Case) -> Iterator[Finding]:
    """A field belongs to another type of entry, so it is ignored here.

    For instance, `trigger` belongs to patterns, `objective` to sessions, and `entity` to entities.

    Fails:
        type: note
        trigger: The build fails on a clean checkout

    Fix: change the type, give a note `label: session` or `label: entity`, or move the text into the body.
    """
    yield from case.loaded("field-not-for-type")


_LISTS = ("tags", "applies_to", "exclusions", "decisions_made", "open_items", "next_actions", "relations")


@check("list-form", Severity.WARNING, per_file=True)
def list_form(case: Case) -> Iterator[Finding]:
    """A list has the same item twice, or a tag contains a comma.

    Case is ignored, except in globs. Steps and actions may repeat. Without brackets, `web, views` is a single tag.

    Fails:
        tags: [executor, navigation, Executor]
        tags: web, views

    Fix: remove the second item; write a list, such as `tags: [web, views]`. `mdmem check --fix` does this.
    """
    for entry, document in case.entries:
        for name in (name for name in _LISTS if len(getattr(entry, name)) > 1):
            first: dict[str, int] = {}
            for number, item in enumerate(fields_of(document)[name]):
                written = str(sorted(item.items())) if isinstance(item, dict) else str(item)
                earlier = first.setdefault(written if name == "applies_to" else written.strip().casefold(), number)
                if item is not None and earlier != number:
                    shown = ": ".join(map(str, item.values())) if isinstance(item, dict) else item
                    message, former = f"`{shown}` is in `{name}` twice", "duplicate-list-item"
                    place, other = document.place(name, number), document.place(name, earlier)
                    found = Finding("", message, place, "remove it", entry.address, other, former=former)
                    yield with_fix(found, "Remove the second", remove_item, document, name, number)
        joined = next((tag for tag in entry.tags if len(_parts(tag)) > 1), None)
        if joined is not None:
            items = {tag: item for item, tag in written_items(document, "tags")}
            meant = list(dict.fromkeys(part for tag in items for part in _parts(tag)))
            plain, item = f"tags: [{', '.join(meant)}]", items.get(joined, 0)
            message, help_, former = f"`{joined}` is one tag", f"write `{plain}`", "tag-with-comma"
            found = case.on_entry(entry, message, help_, field="tags", item=item, former=former)
            yield with_fix(found, f"Write `{plain}`", set_fields, document, {"tags": meant})


def _parts(tag: str) -> list[str]:
    return [part.strip() for part in tag.split(",") if part.strip()]


# Fixes for the delimiter lines, and for lines with YAML errors. Each fix is tested by parsing the changed file.
_BLANK = re.compile(r"^[ \t]*\r?$", re.MULTILINE)
_INDENTED_END = re.compile(r"^[ \t]+---[ \t]*(?=\r?$)", re.MULTILINE)
_COMMENT = re.compile(r"^[^\S\n]*#", re.MULTILINE)
_FIELD = re.compile(r"^([a-z_]+):", re.MULTILINE)
_LINE = re.compile(r"(?P<before>\s*(?:- +)?(?:[\w.-]+:[ \t]+)?)(?P<value>\S(?:.*[^ \t\r\n])?)?[ \t\r]*\Z")
_PLAIN_START = re.compile(r"[^\s'\"\[{|>]")
_ITEM = re.compile(r"[^,\[\]{}'\"\n]+")
_KEY_LINE = re.compile(r"[\w.-]+:|---\r?\Z|[ \t]*- |#|[ \t]*\r?\Z")


def _fence_edits(document: Document, finding: Finding) -> Sequence[Edit]:
    """Return the edits that write the missing or wrong delimiter lines, or none if the result is not certain."""
    text, edits = document.text, list[Edit]()
    fence = f"---{line_end(document)}"
    if finding.former == "front-matter-missing":
        start = len(text) - len(text.lstrip("\r\n"))
        key = _FIELD.match(text, start)
        if key is not None and key[1] in KNOWN_FIELDS:
            edits += replace_span(document, 0, start, fence)
    elif finding.former == "fence-unterminated":
        # The front matter ends at an indented fence, or else before the first blank line.
        indented, blank = _INDENTED_END.search(text), _BLANK.search(text)
        if indented is not None and (blank is None or indented.start() < blank.start()):
            edits += replace_span(document, *indented.span(), "---")
        elif blank is not None and blank.start() < len(text):
            # A `#` above may be a comment or a heading, and a known field may follow further down.
            fields = (found[1] for found in _FIELD.finditer(text, blank.start()))
            if not (_COMMENT.search(text, 0, blank.start()) or KNOWN_FIELDS.intersection(fields)):
                edits += replace_span(document, blank.start(), blank.start(), fence)
    else:
        edits.append(_exact(document, finding))
        fixed = parse_document(document.path, apply_edits(document.data, edits))
        again = next((one for one in fixed.findings if one.former == finding.former), None)
        if again is not None:
            # The other fence is wrong, too. Its place is known only after the first edit.
            second, shift = _exact(fixed, again), len(edits[0].content) - (edits[0].end - edits[0].start)
            if second.start < edits[0].end + shift:
                return ()
            edits.append(replace(second, start=second.start - shift, end=second.end - shift))
    fixed = parse_document(document.path, apply_edits(document.data, edits))
    is_certain = fixed.fields is not None and not fixed.findings and fixed.fields.keys() >= set(REQUIRED)
    return edits if is_certain else ()


def _exact(document: Document, finding: Finding) -> Edit:
    text = document.text
    above = text[: len(text) - len(text.lstrip())].rpartition("\n")
    if finding.place.line == 1 and above[1]:
        # Remove the blank lines above the fence.
        return replace_span(document, 0, len(above[0]) + 1, "")[0]
    start = document.line_start(finding.place.line)
    return replace_span(document, start, start + len(text[start:].partition("\n")[0].removesuffix("\r")), "---")[0]


class _Rewrite(Struct, frozen=True):
    """A replacement of characters in one line; `meant` is the value that the field or item must have afterwards."""

    start: int
    end: int
    text: str
    meant: str | None = None


def _with_rewrite(document: Document, finding: Finding) -> Finding:
    return replace(finding, fix=LateFix("", (), make=partial(find_rewrite, document, finding)))


def find_rewrite(document: Document, finding: Finding) -> Fix | None:
    """Return the fix for a line that is not valid YAML, or None if the intended value is not certain."""
    start = document.line_start(finding.place.line)
    line, *following = document.text[start:].split("\n", 2)
    rewrite = _rewrite_of(finding.cause or finding.former, line.rstrip("\r"), finding.place.column - 1)
    # Offer no fix if the next line may be part of the value.
    ends_here = len(following) > 0 and _KEY_LINE.match(following[0]) is not None
    if rewrite is None or (rewrite.meant is not None and not ends_here):
        return None
    edits = replace_span(document, start + rewrite.start, start + rewrite.end, rewrite.text)
    fixed = parse_document(document.path, apply_edits(document.data, edits))
    left = [one for one in fixed.findings if one.place.line <= finding.place.line]
    left = [one for one in left if one.place.line == finding.place.line or one not in document.findings]
    if fixed.fields is None:
        # The fix must at least correct this YAML error, and must not make the file unreadable.
        is_better = document.fields is None and not left
    else:
        values = (item for value in fixed.fields.values() for item in (value if isinstance(value, list) else [value]))
        is_better = rewrite.meant is None or rewrite.meant in values
        is_better = is_better and (finding.code, finding.former) not in [(one.code, one.former) for one in left]
    title = "Put the value in quotes" if rewrite.text[:1] == '"' else "Correct the line"
    return Fix(title, edits) if is_better else None


def _rewrite_of(cause: str, line: str, column: int) -> _Rewrite | None:
    """Return the replacement for a cause that `yaml_loader` reports, or for a value that a `#` cuts off."""
    rest, found = line[column:], _LINE.match(line)
    value = found["value"] if found is not None and found["before"].strip() else None
    start = found.start("value") if found is not None else 0
    match cause:
        case "tab":
            # Write two spaces for each tab in the indentation, or one space for tabs between words.
            width = len(rest) - len(rest.lstrip("\t"))
            blanks = " " if line[:column].strip() else "  " * width
            return _Rewrite(column, column + width, blanks) if width else None
        case "open quote" if rest.startswith('"') and rest.count('"') == 1 and "\\" not in rest and " #" not in rest:
            # Close the quotation mark at the end of its line. A single one may be an apostrophe.
            end = column + len(rest.rstrip())
            return _Rewrite(end, end, '"', line[column + 1 : end])
        case "comment-truncates-value" if value:
            # A `#` followed by a space begins a comment, which stays a comment.
            value = re.split(r"(?<!\s)\s+#(?=\s|\Z)", value)[0]
            if re.match(r"[^\s'\"\[{|>&*!]", value) or value.startswith("#"):
                return _Rewrite(start, start + len(value), in_quotes(value), value)
        case "second colon" | "first character" if value and value.startswith("[") and " #" not in value:
            item = _ITEM.match(line, column)
            meant = item[0].strip() if item else ""
            return _Rewrite(column, column + len(meant), in_quotes(meant), meant) if meant else None
        case "second colon" | "first character" if value and " #" not in value:
            if _PLAIN_START.match(value) or line[column : column + 1] in "|>":
                return _Rewrite(start, start + len(value), in_quotes(value), value)
    return None
