"""An `.md` file lies at another depth than an entry.

The address of an entry is its path, `wing/room/entry-id`. A file above or below that has no address, so it is not
read, and no link can name it.

Fails:

    app/use-utc.md
    app/rules/time/use-utc.md

Fix: move it into a room, as `app/rules/use-utc.md`.
`mdmem check --unsafe-fixes` does it where one answer is likely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mdmem.checks.case import Case
from mdmem.checks.fixes.links import with_move
from mdmem.checks.paths import at_path
from mdmem.model.finding import Finding, Severity
from mdmem.store.catalog import is_misplaced
from mdmem.store.tree import FileKind

CODE = "wrong-depth"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each file that bears an entry's name where no entry can be."""
    taken = {file.path for file in case.catalog.files}
    for file in case.others:
        if file.kind is FileKind.FILE and is_misplaced(file.path):
            depth = min(file.path.count("/"), 2)
            message = f"the file lies {_WHERE[depth]}, so it has no address"
            shown, target = at_path(CODE, file.path, message, _help(file.path, taken)), _target(file.path, taken)
            yield with_move(shown, case, {file.path: target}, f"Move it to `{target}`") if target else shown


_WHERE = ("in the root", "in a wing but in no room", "below a room")


def _help(path: str, taken: Collection[str]) -> str:
    *folders, name = path.split("/")
    target = _target(path, taken)
    if target is None:
        return f"move it into a room, as `{folders[0] if folders else '<wing>'}/<room>/{name}`"
    return f"move `{path}` to `{target}`, both counted from the memory's root"


def _target(path: str, taken: Collection[str]) -> str | None:
    """Return the place in the room above it; what lies in no room has none that is certain."""
    *folders, name = path.split("/")
    if len(folders) < 2:
        return None
    room = "/".join(folders[:2])
    return f"{room}/{name}" if f"{room}/{name}" not in taken else f"{room}/{'-'.join([*folders[2:], name])}"
