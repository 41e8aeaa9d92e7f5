"""A Markdown file has an extension that is not read.

Entries end in `.md`, in lower case. A file under `.MD` or `.markdown` looks like an entry in every listing, and
nothing reads it.

Fails:

    app/rules/use-utc.markdown

Fix: rename it, as in `git mv app/rules/use-utc.markdown app/rules/use-utc.md`.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.links import with_move
from mdmem.checks.paths import at_path, has_odd_extension
from mdmem.model.finding import Finding, Severity
from mdmem.store.tree import FileKind

CODE = "odd-extension"
SEVERITY = Severity.WARNING


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each Markdown file that does not end in `.md`."""
    for file in case.others:
        if file.kind is FileKind.FILE and has_odd_extension(file.path):
            stem, extension = file.path.rsplit(".", 1)
            message = f"`.{extension}` is not read; entries end in `.md`"
            name = f"{stem.rsplit('/', 1)[-1]}.md"
            shown = at_path(CODE, file.path, message, f"rename it to `{name}`")
            yield with_move(shown, case, {file.path: f"{stem}.md"}, f"Rename it to `{name}`")
