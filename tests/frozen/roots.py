"""The memories that are asked: the example wings, a hostile one, and the corpora where they are."""

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

from .hostile import write_hostile
from .program import Program

TESTS = Path(__file__).parents[1]
INPUTS = Path(__file__).parent / "recorded" / "inputs.tar.xz"
# Beside the repository, or beside a folder of clones.
SHARED = next((one / "shared" for one in TESTS.parents[1:] if (one / "shared/corpora").is_dir()), TESTS.parents[1])
CORPORA = {"peps": SHARED / "corpora/peps.jsonl.gz", "keps": SHARED / "corpora/keps.jsonl.gz"}
CONVERTER = SHARED / "tools/corpus_to_wings.py"
DUMMIES = SHARED / "corpora/dummies/doc/handwritten/for-maintainers/adr"
OURS = ("example", "hostile")
FOREIGN = ("peps", "keps", "dummies")


def available() -> tuple[str, ...]:
    """Return the names of the roots that can be made here."""
    return OURS + (FOREIGN if CONVERTER.exists() and DUMMIES.exists() else ())


def pack_inputs() -> None:
    """Save copies of the example wings and the golden cases, so that later edits change no answer."""
    with tarfile.open(INPUTS, "w:xz", preset=9) as archive:
        for name, folder in (("example", TESTS.parent / "example-wings"), ("cases", TESTS / "cases")):
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                inside = path.relative_to(folder)
                if (name, inside.parts[0]) != ("example", "mdmem"):
                    archive.add(path, f"{name}/{inside}", filter=_undated)


def _undated(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.mtime = info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mode = 0o644
    return info


def unpack_inputs(folder: Path) -> None:
    """Write the recorded example wings and golden cases below a folder."""
    with tarfile.open(INPUTS) as archive:
        for member in archive:
            if content := archive.extractfile(member):
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())


def make_root(name: str, program: Program, inputs: Path, folder: Path) -> Path:
    """Make a memory in a repository with a history of fixed dates, and return it."""
    root = folder / "top/memory"
    root.mkdir(parents=True)
    program.git(root.parent, "init", "-q", "-b", "main")
    if name == "example":
        _make_example(program, inputs / "example", root)
    elif name == "hostile":
        write_hostile(root, lambda day: _commit(program, root, day))
    else:
        _make_foreign(name, root)
        _commit(program, root, 1)
    return root


def _commit(program: Program, root: Path, day: int) -> None:
    program.git(root.parent, "add", "-A")
    program.git(root.parent, "commit", "-qm", f"change of day {day}", day=day)


def _edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text, path
    (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")


MONEY = "myapp/contracts/money-in-minor-units"
DECIMAL = """\
---
type: {type}
status: {status}
created_at: 2026-11-10
title: {title}
tags: [money]
supersedes: [{old}]
reason: {reason}
---

An amount that crosses the API is a decimal string with its currency.

Rationale: the suppliers of two markets have four digits.
"""


def _make_example(program: Program, source: Path, root: Path) -> None:
    """Copy the wings in two commits; then supersede, rename, edit, propose on a branch, and leave a change open."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            copy = root / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    later = root.parent / "tidewatch"
    (root / "tidewatch").rename(later)
    _commit(program, root, 1)
    later.rename(root / "tidewatch")
    _commit(program, root, 5)
    program.git(root, "checkout", "-qb", "proposal")
    proposed = {"type": "invariant", "old": MONEY, "reason": "four digits"}
    draft = DECIMAL.format(status="draft", title="Money is a fixed-point number", **proposed)
    (root / "myapp/contracts/money-as-fixed-point.md").write_text(draft, encoding="utf-8")
    _edit(root, "tidewatch/conventions/roll-out-by-pier.md", "status: active", "status: under_review")
    _commit(program, root, 8)
    program.git(root, "checkout", "-q", "main")
    decided = DECIMAL.format(status="active", title="Money is a decimal string with its currency", **proposed)
    (root / "myapp/contracts/money-as-decimal-strings.md").write_text(decided, encoding="utf-8")
    ended = "status: deprecated\ndeprecated_at: 2026-11-10\nsuperseded_by: [myapp/contracts/money-as-decimal-strings]"
    _edit(root, f"{MONEY}.md", "status: active", ended)
    _commit(program, root, 10)
    dates = root / "react/debugging/hydration-mismatch-from-dates.md"
    dates.rename(dates.with_name("dates-hydrate-differently.md"))
    _edit(root, "ros2/communication/latched-state-topics.md", "---\n\n", "---\n\nChecked on Jazzy. ")
    _commit(program, root, 12)
    note = DECIMAL.format(
        type="decision",
        status="active",
        title="Clocks tick",
        old="ros2/anti-patterns/mixed-clocks-in-one-graph",
        reason="one",
    )
    (root / "ros2/architecture/clocks-tick.md").write_text(note, encoding="utf-8")
    _edit(root, "tidewatch/conventions/calibrate-in-pairs.md", "---\n\n", "---\n\nAlways. ")


def _make_foreign(name: str, root: Path) -> None:
    corpus = CORPORA.get(name) or root.parent.parent / "dummies.jsonl"
    if name == "dummies":
        records = (_record(path) for path in sorted(DUMMIES.glob("*.md")) if not path.name.endswith(".fr.md"))
        corpus.write_text("".join(f"{json.dumps(record)}\n" for record in records if record), encoding="utf-8")
    subprocess.run([sys.executable, str(CONVERTER), str(corpus), str(root)], check=True, capture_output=True)


def _record(path: Path) -> dict[str, str] | None:
    """Return a decision record of the dummies as corpus_to_wings.py reads it; their statuses are left out."""
    text = path.read_text(encoding="utf-8")
    title = re.search(r"^# (?:ADR-\d+ *[|:—-] *)?(.+)$", text, re.MULTILINE)
    if not (number := re.match(r"\d{4}", path.name)) or not title:
        return None
    body = text.replace(title[0], "", 1)
    return {"id": f"adr-{number[0]}", "title": title[1], "status": "accepted", "created": "2026-01-01", "body": body}
