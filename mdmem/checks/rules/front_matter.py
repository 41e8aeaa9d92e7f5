"""Checks of the front matter: its fences, its syntax and its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.check import check
from mdmem.checks.fixes.base import field_at, line_start, with_fix
from mdmem.checks.fixes.front_matter import with_end, with_exact_fences, with_start, with_syntax_fix, with_whole_value
from mdmem.markdown.layout import replace_span
from mdmem.markdown.parse import Document
from mdmem.markdown.patch import rename_key, set_fields
from mdmem.model.finding import Finding, Severity
from mdmem.model.spelling import known_spelling

_FENCES = ("front-matter-missing", "fence-unterminated", "fence-variant", "second-front-matter")


@check("front-matter-fence", Severity.ERROR, aliases=_FENCES, per_file=True)
def front_matter_fence(case: Case) -> Iterator[Finding]:
    """The file has no front matter, or one that does not begin and end with a line that is exactly `---`.

    An entry begins with its fields between two such lines. Without `type` and `status` mdmem does not read the text as
    memory. Readers disagree about `----`, `+++`, `...`, and `---` with a blank behind it, so one entry would mean two
    things. Without a closing line nobody can tell where the fields end. If a second front matter follows the first,
    only the first is read; a tool that did not recognise the first one wrote the second.

    Fails:

        ---
        type: decision
        status: active
        ----

    Fix: write exactly `---` as the first line of the file and after the last field; `mdmem new` writes such a file.
    Merge two front matters into one. `mdmem check --fix` does it if no doubt is left.
    """
    yield from case.loaded("front-matter-missing", with_start)
    yield from case.loaded("fence-unterminated", with_end)
    yield from case.loaded("fence-variant", with_exact_fences)
    yield from case.loaded("second-front-matter")


@check("yaml-syntax", Severity.ERROR, per_file=True)
def yaml_syntax(case: Case) -> Iterator[Finding]:
    """The front matter is not valid YAML, so the entry cannot be read.

    The usual causes are a colon and a blank inside a value, a value that begins with `@`, `*`, `%` or a backtick, a
    tab, and a quote that is not closed.

    Fails:

        title: Retries: three at most
        applies_to: **/*.py

    Fix: put the value in quotes, as in `title: "Retries: three at most"`. `mdmem check --fix` does it if no doubt is
    left.
    """
    yield from case.loaded("yaml-syntax", with_syntax_fix)


_SHAPES = (
    *("duplicate-key", "anchor-or-alias", "custom-tag", "multiple-documents"),
    *("not-a-mapping", "nested-value", "non-text-key"),
)


@check("front-matter-shape", Severity.ERROR, aliases=(*_SHAPES, "wiki-link-value"), per_file=True)
def front_matter_shape(case: Case) -> Iterator[Finding]:
    """The front matter has something else than lines of `key: value`, each key once.

    A key is one word, and a value is a text or a list of texts, so that every tool reads the same fields. Only
    `relations`, `ignore` and keys that begin with `x-` may nest. A template such as `{{ title }}` nests, too. YAML
    readers keep the last of two equal keys and say nothing, and a clean merge of two branches that each add `tags`
    makes such a file. Aliases can expand a few lines to gigabytes, and tags make some readers run code: a value that
    begins with `&`, `*` or `!` is taken for one, and a line that begins with `--- ` starts another document. `[[x]]` is
    a list in a list, so other tools see no link; in the body it is fine.

    Fails:

        owner:
          team: navigation
          lead: ada
        title: !important read this first
        supersedes: [[app/rules/local-times]]

    Fix: write plain text, as in `owner: navigation`, without dashes before the keys, and in quotes if it begins with
    `&`, `*` or `!`; write `supersedes: [app/rules/local-times]`; keep one of two equal keys; put a structure under a
    key of your own, as in `x-owner:`. `mdmem check --fix` takes the brackets of a link away if no doubt is left.
    """
    for code in _SHAPES:
        yield from case.loaded(code)
    yield from case.loaded("wiki-link-value", _without_brackets)


_LINK = re.compile(r"\[{1,2}\s*([^\[\],]+?)\s*\]{1,2}")


def _without_brackets(document: Document, finding: Finding) -> Finding:
    """Remove the brackets if they are in one line."""
    start = line_start(document, finding.place.line) + finding.place.column - 1
    text = document.text[start : start + finding.place.width]
    inner = _LINK.fullmatch(text)
    if inner is None:
        return finding
    return with_fix(finding, "Write the address plain", replace_span, document, start, start + len(text), inner[1])


@check("unknown-field", Severity.ERROR, aliases=("key-spelling", "unknown-key"), per_file=True)
def unknown_field(case: Case) -> Iterator[Finding]:
    """A key is not the name of a field, or is another spelling of one, so its value is not read.

    An entry with `superseded-by` looks as if no other entry had replaced it, so another spelling is an error; any other
    key is a warning. Keys that begin with `x-` are your own: mdmem keeps and never interprets them.

    Fails:

        superseded-by: app/rules/store-utc
        Status: active
        colour: red

    Fix: write the field's own name, as in `superseded_by` and `status`, or put `x-` before a key of your own.
    `mdmem check --fix` does it if no doubt is left.
    """
    yield from case.loaded("key-spelling", _with_known_key)
    yield from (replace(one, severity=Severity.WARNING) for one in case.loaded("unknown-key"))


def _with_known_key(document: Document, finding: Finding) -> Finding:
    key, _ = field_at(document, finding.place) or (None, 0)
    meant = known_spelling(key) if key else None
    # If the right key is there, too, nobody can tell which of the two values counts.
    if meant is None or meant in (document.fields or ()):
        return finding
    return with_fix(finding, f"Write `{meant}`", rename_key, document, key, meant)


@check("lost-value", Severity.WARNING, aliases=("empty-value", "comment-truncates-value"), per_file=True)
def lost_value(case: Case) -> Iterator[Finding]:
    """A field has no value, or a `#` cuts off the rest of it.

    Somebody forgot the value, or lost it in an edit. YAML readers take it for `null`, which some write back into the
    file. In YAML a blank and `#` begin a comment; the check reports a `#` without a blank behind it, which usually
    belongs to a number or the name of a channel.

    Fails:

        owner:
        title: Update #2 done        (the title is `Update`)

    Fix: write a value, or remove the line; put the whole value in quotes, as in `title: "Update #2 done"`, or write
    `# ` with a blank if a comment is meant. `mdmem check --fix` does it if no doubt is left.
    """
    cut = {(found.place.path, found.place.line) for found in case.loaded("comment-truncates-value")}
    yield from case.loaded("comment-truncates-value", with_whole_value)
    for finding in case.loaded("empty-value"):
        if (finding.place.path, finding.place.line) not in cut:
            yield _without_key(case.catalog.document(finding.place.path), finding)


def _without_key(document: Document, finding: Finding) -> Finding:
    """Remove the key if its line has nothing else: somebody wants to remember a comment there."""
    key, _ = field_at(document, finding.place) or (None, 0)
    line = document.text.split("\n")[finding.place.line - 1]
    if key is None or "#" in line:
        return finding
    return with_fix(finding, f"Remove `{key}`", set_fields, document, {key: None})
