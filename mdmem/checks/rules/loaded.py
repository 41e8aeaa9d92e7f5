"""The checks that only hand on what loading a memory, or putting its case together, found: a table, a row a check."""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

# What a check finds, why that matters, an example that fails, and how to mend it, by code.
_ERRORS = {
    "not-utf8": """The file holds bytes that are no UTF-8.

One decoder reads every file, so that an entry means the same on every machine. A file in Latin-1 or UTF-16 cannot be
read, and stands among the problems of every retrieval until it can.

Fails:

    title: Geschäftsregel        (the «ä» saved as the single byte 0xe4)

Fix: save the file as UTF-8, for instance `iconv -f latin1 -t utf-8`.""",
    "front-matter-too-large": """The front matter is over 16 KiB.

The front matter holds a few plain fields; the limit keeps parsing bounded, whatever a file holds. A longer one is not
parsed, and the entry stands among the problems of every retrieval.

Fails:

    ---
    type: note
    x-transcript: |
      (20 KiB of a chat)
    ---

Fix: move the text into the body, below the closing `---`.""",
    "empty-file": """The file is empty, or holds only blanks.

An empty file in an entry's place is a write that was cut short, or an entry that was never begun. Its address exists,
so links to it look right, and nothing stands there.

Fails:

    $ touch app/rules/use-utc.md

Fix: delete the file, or write the entry with `mdmem new`.""",
    "git-lfs-pointer": """The file is a Git LFS pointer, not its text.

LFS keeps the text on a server, and git keeps three lines that name it. A reader without LFS, a diff and a review see
only these lines, so the rule itself is read and reviewed by nobody.

Fails:

    version https://git-lfs.github.com/spec/v1
    oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
    size 1423

Fix: run `git lfs pull`, then `git lfs untrack '*.md'`, and commit the text.""",
    "unreadable": """A file or folder is there and cannot be read.

What cannot be read may hold an invariant, so it never counts as absent: the run is incomplete, and every retrieval
names the file among its problems.

Fails:

    app/rules/use-utc.md    (permission denied)

Fix: give yourself the right to read it, for instance `chmod u+r FILE`, and run this again.""",
    "second-front-matter": """A second front matter follows the first.

A tool that did not recognise the first one, because of its line endings or a byte order mark, put its own before it.
Which of the two is meant cannot be told; only the first is read.

Fails:

    ---
    title: Store times in UTC
    ---
    ---
    type: decision
    status: active
    ---

Fix: merge the two into one.""",
    "duplicate-key": """A key stands twice in one front matter.

YAML readers keep the last of two equal keys and say nothing, and a clean merge of two branches that each add `tags`
makes such a file. Which of the two was meant cannot be told, so the entry is not read.

Fails:

    status: active
    tags: [api]
    status: deprecated

Fix: keep one of the two lines.""",
    "not-a-mapping": """The front matter is a list or a text, not fields.

An entry is described by fields, one `key: value` a line. A list of them has no names to look up.

Fails:

    ---
    - type: decision
    - status: active
    ---

Fix: write one `key: value` a line, without the dashes.""",
    "anchor-or-alias": """The front matter uses a YAML anchor or alias.

Aliases can expand a few lines to gigabytes, and `&name` at the start of a value silently disappears from it. So
neither is expanded, and the entry is not read.

Fails:

    owner: &team navigation
    x-reviewer: *team

Fix: write the value out, or put it in quotes where `&` or `*` belongs to it.""",
    "custom-tag": """The front matter uses a YAML tag.

A tag tells some readers to build an object, and others to run code. Here every value is text, so a tag means nothing;
and a value that begins with `!` loses its first word.

Fails:

    version: !!int "3"
    title: !important read this first

Fix: remove the tag, or put the value in quotes where `!` belongs to it.""",
    "multiple-documents": """The front matter holds more than one YAML document.

A line that begins with `--- ` starts another document, and readers disagree about which of them counts.

Fails:

    ---
    type: decision
    status: active
    --- # added by the importer
    owner: navigation-team
    ---

Fix: remove the line, so that all fields stand in one document.""",
    "nested-value": """A value nests where plain text belongs.

Fields are text, or lists of text, so that every tool reads the same from them. Only `relations`, `ignore` and keys
that begin with `x-` may nest. A title from a template, as in `{{ title }}`, is a mapping too.

Fails:

    owner:
      team: navigation
      lead: ada

Fix: write plain text, as in `owner: navigation`, or put the structure under a key of your own, as in `x-owner:`.""",
    "non-text-key": """A key is a list or a mapping, not a word.

A field is looked up by its name. A link in brackets before a colon, or a mark of a template, makes a key without a
name.

Fails:

    [see]: app/rules/use-utc

Fix: write the key as one word, as in `see: app/rules/use-utc`.""",
    "invalid-date": """A date has the right form and names no day of the calendar.

Real records hold `2023-14-05`: month and day changed places. Such a date cannot be ordered or aged, so the field
counts as empty, and the entry is never due for review.

Fails:

    created_at: 2023-14-05

Fix: write the day that was meant, as YYYY-MM-DD.""",
    "wing-not-fetched": """A wing that lives in another repository is not read.

It may hold invariants, so it never counts as absent: the run is incomplete, every retrieval names the wing among its
problems, and links into it do not dangle. Either nobody has fetched it here, or what was fetched is not what the
settings pin it to, or a folder of this memory has the wing's name. No check fetches anything.

Fails:

    [wings.ros2]
    git = "https://git.example.org/ros2-memory.git"     (and there is no `commit` yet)

Fix: `mdmem sync --wings --pinned` fetches what the settings name; `mdmem sync --wings` moves on to the newest.""",
    "base-unavailable": """The tree to compare with cannot be read.

Without it nothing tells what the change deletes, activates or rewrites, and silence would look like a clean change. The
run is incomplete.

Fails:

    mdmem check --base origin/main     (and the clone has no origin/main)

Fix: fetch the branch, for instance `git fetch origin main`, or name another with `--base`.""",
    "shallow-history": """The clone is too shallow to tell where the change began.

Without the commit that both branches have in common, a comparison would take the other branch's work for this change's.
The run is incomplete.

Fails:

    git clone --depth 1 …, then mdmem check --base origin/main

Fix: fetch the history with `git fetch --unshallow`; in GitHub's checkout write `fetch-depth: 0`.""",
    "git-unavailable": """git is there and does not answer.

It distrusts the owner of the repository, is too old for what was asked, or cannot write where it must: what it would
have told is missing, and silence would look like a clean change. The run is incomplete.

Fails:

    mdmem check --merge main      (and git is older than 2.38)

Fix: do what the finding says, for instance `git config --global --add safe.directory DIR`, and run it again.""",
}
_WARNINGS = {
    "unknown-key": """A key belongs to no field.

Nothing reads it, so what it says has no effect; often it is a slip in a field's name. Keys that begin with `x-` are
yours: they are kept, and never interpreted.

Fails:

    confidance: 0.8

Fix: write the field's name, or put `x-` before a key of your own.""",
    "field-not-for-type": """A field belongs to another type of entry.

`trigger`, `repeatable_steps` and `exclusions` are read for patterns only, `objective`, `actions_taken` and their like
for sessions, `entity` and `relations` for entities. Elsewhere nothing reads them, so what they say reaches nobody.

Fails:

    type: note
    trigger: The build fails on a clean checkout

Fix: make the entry the type that the field belongs to, give the note `label: session` or `label: entity`, or move the
text into the body.""",
    "stale-baseline-entry": """The baseline records more findings of a check at an address than there are.

Some were mended, or the entry is gone. Left standing, the record lets the same fault in again without a word. Only a
run over the whole memory in which the check ran can tell.

Fails:

    {"code": "body-empty", "address": "app/rules/use-utc", "count": 1}     (and use-utc.md has a body by now)

Fix: run `mdmem check --update-baseline`, which writes down what is left.""",
}


class LoadedCheck:
    """A check as a module of a rule is one: its code, its severity, and its explanation as the docstring."""

    def __init__(self, code: str, severity: Severity, explanation: str) -> None:
        """Take a row of the table."""
        self.CODE, self.SEVERITY, self.__doc__ = code, severity, explanation

    def find(self, case: Case) -> Iterator[Finding]:
        """Yield what was found under the code before any check ran."""
        yield from case.loaded(self.CODE)


LOADED = {
    code: LoadedCheck(code, severity, explanation)
    for severity, rows in ((Severity.ERROR, _ERRORS), (Severity.WARNING, _WARNINGS))
    for code, explanation in rows.items()
}
