"""The table of checks, and what is behind each of its lines."""

from __future__ import annotations

from pathlib import Path

import mdmem.checks.rules
from mdmem.checks.engine import get_check
from mdmem.checks.registry import CODES
from mdmem.checks.rules.loaded import LOADED


def test_each_code_has_one_file_or_one_row_and_nothing_has_two() -> None:
    folder = Path(mdmem.checks.rules.__file__).parent
    files = {path.stem.replace("_", "-") for path in folder.glob("*.py")} - {"--init--", "loaded"}
    assert sorted([*files, *LOADED]) == sorted(CODES)


def test_check_answers_to_its_code() -> None:
    assert [code for code in CODES if code != get_check(code).CODE] == []
