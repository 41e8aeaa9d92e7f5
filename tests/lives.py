"""Helpers for tests that change entries: a file in the style of real users, a memory with two decisions, an editor."""

import difflib
import sys
from pathlib import Path

from builders import commit_all, made_once, make_repository, make_root, write, write_entry

OLD, NEW, RULE = "nav/architecture/threads", "nav/architecture/executor", "nav/rules/callbacks"

# A BOM, CRLF, comments on every kind of line, unusual quotes and blanks, no final newline: no change may remove them.
LIVED_IN = (
    "\ufeff---\r\n"
    "# the rule of the winter\r\n"
    "type: decision   # as agreed\r\n"
    "status: active # since spring\r\n"
    "created_at: 2026-03-05\r\n"
    "title:   'Use  two threads'\r\n"
    "tags:\r\n"
    '  - "executor"   # the old one\r\n'
    "\r\n"
    "# the end\r\n"
    "---\r\n"
    "\r\n"
    "Navigation uses two threads.  \r\n"
    "\r\n"
    "Rationale: it was measured."
).encode()


@made_once
def two_entries(folder: Path, *, new_status: str = "active") -> Path:
    """Return the root of a committed memory with a decision, a possible successor of it, and an invariant."""
    root = make_root(make_repository(folder) / "memory")
    write(root, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n\n# nav\n")
    write_entry(root, OLD, title="Use two threads", approved_by="Ada")
    write_entry(root, NEW, title="Use an executor", status=new_status, created_at="2026-05-04")
    rule = "A callback must not block its executor.\n\nRationale: the robot stops.\n"
    write_entry(root, RULE, rule, type="invariant", title="Callbacks do not block")
    commit_all(folder, "the memory")
    return root


def changed_lines(before: bytes, after: bytes) -> list[str]:
    """Return the removed (`-`) and added (`+`) lines, each without its final line feed."""
    lines = [content.decode().split("\n") for content in (before, after)]
    return [line for line in difflib.ndiff(*lines) if line[0] in "+-"]


def editor(folder: Path, *lines: str) -> dict[str, str]:
    """Return the variables for git that set an editor, which runs these lines of Python to change `text`.

    `turn` counts the calls of the editor from 0. The texts before each call are saved as `seen-0`, `seen-1` and so on.
    """
    script = ["import pathlib, sys", "path = pathlib.Path(sys.argv[1])", f"kept = pathlib.Path({str(folder)!r})"]
    script += ["turn = len(list(kept.glob('seen-*')))", "odd = ('utf-8', 'surrogateescape')"]
    script += ["text = path.read_bytes().decode(*odd)", "(kept / f'seen-{turn}').write_bytes(text.encode(*odd))"]
    script += [*lines, "path.write_bytes(text.encode(*odd))", ""]
    file = write(folder, "editor.py", "\n".join(script))
    return {"GIT_EDITOR": f"'{sys.executable}' '{file}'"}
