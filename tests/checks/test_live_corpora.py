"""Findings while real records are edited are those of a full run."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from builders import environment
from test_corpora import CONVERTER, PEPS
from test_kept_findings import DAY
from trees import HeldTree

from mdmem.catalog import load
from mdmem.catalog.edits import with_edits
from mdmem.checks.case import Case
from mdmem.checks.engine import run_checks
from mdmem.checks.live_findings import LiveFindings
from mdmem.checks.registry import CODES
from mdmem.settings import Settings

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (PEPS.exists() and CONVERTER.exists()), reason="the corpora are not here"),
]


def edit(content: bytes, others: list[str], chance: random.Random) -> bytes:
    """Return a text with another status, a link more or less, a sentence more, or its end cut off."""
    match chance.choice(("status", "link", "unlink", "sentence", "cut")):
        case "status":
            statuses = (b"active", b"deprecated", b"draft")
            return content.replace(b"status: " + chance.choice(statuses), b"status: " + chance.choice(statuses), 1)
        case "link":
            name = chance.choice(("supersedes", "superseded_by", "see", "amends", "conflicts_with"))
            return content.replace(b"\nstatus:", f"\n{name}: [{chance.choice(others)}]\nstatus:".encode(), 1)
        case "unlink":
            return content.replace(b"\nsupersed", b"\nx-supersed", 1)
        case "sentence":
            return content + f"It updates PEP {chance.randrange(700)}, see [[{chance.choice(others)}]].\n".encode()
        case _:
            return content[: chance.randrange(len(content))]


def test_findings_after_edits_of_real_records_are_those_of_a_full_run(tmp_path: Path) -> None:
    root, chance = tmp_path / "memory", random.Random(7)
    command = [sys.executable, str(CONVERTER), str(PEPS), str(root)]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    start = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.glob("*/**/*.md"))}
    files, catalog = dict(start), load(HeldTree(dict(start)))
    live = LiveFindings(Case(catalog, Settings(), DAY), CODES)
    entries = [path for path in sorted(start) if path.count("/") == 2]
    for number in range(1, 41):
        path = chance.choice(entries)
        files[path] = edit(start[path], [entry.removesuffix(".md") for entry in entries], chance)
        tree = HeldTree(dict(files))
        catalog = with_edits(catalog, tree, {path: files[path]})
        live.edit(Case(catalog, Settings(), DAY), [path])
        if number % 5 == 0:
            assert live.findings() == run_checks(Case(load(tree), Settings(), DAY), CODES)
