"""What is kept of real records is what a run over all of them finds, after edits anywhere."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from builders import environment
from test_corpora import CONVERTER, PEPS
from test_kept_findings import DAY, edit
from trees import HeldTree

from mdmem.checks.case import Case
from mdmem.checks.engine import run_checks
from mdmem.checks.kept_findings import ExtractStore, with_extracts
from mdmem.checks.registry import CODES
from mdmem.store.catalog import EntryCache, load, load_cached
from mdmem.store.settings import Settings

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (PEPS.exists() and CONVERTER.exists()), reason="the corpora are not here"),
]


def test_kept_findings_of_real_records_are_those_of_a_full_run(tmp_path: Path) -> None:
    root, cache, chance = tmp_path / "memory", tmp_path / "cache", random.Random(7)
    command = [sys.executable, str(CONVERTER), str(PEPS), str(root)]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.glob("*/**/*.md"))}
    for _ in range(8):
        tree = HeldTree(dict(files))
        kept = with_extracts(
            Case(load_cached(tree, EntryCache(cache / "snapshot")), Settings(), DAY), ExtractStore(cache).load()
        )
        assert run_checks(kept, CODES) == run_checks(Case(load(tree), Settings(), DAY), CODES)
        for _ in range(5):
            edit(files, chance)
            path = chance.choice(sorted(files))
            files[path] = files[path].replace(b"status: active", b"status: deprecated", 1) + b"It updates PEP 8.\n"
