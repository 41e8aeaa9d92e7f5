"""The table of checks, and what is behind each of its lines."""

from __future__ import annotations

from mdmem.checks.check import CHECKS
from mdmem.checks.engine import get_check
from mdmem.checks.registry import CODES


def test_each_code_has_one_check_that_answers_to_it() -> None:
    assert [get_check(code).code for code in CODES] == list(CODES)
    assert sorted(CHECKS) == sorted(CODES)
