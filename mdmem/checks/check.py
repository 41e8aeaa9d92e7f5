"""The decorator that makes a generator of findings a check."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

from msgspec import Struct

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity


class Check(Struct):
    """One check: its code, its default severity, and the generator that yields its findings."""

    code: str
    severity: Severity
    find: Callable[[Case], Iterator[Finding]]

    @property
    def explanation(self) -> str:
        """Return the docstring of the generator, which `--explain` prints."""
        return inspect.cleandoc(self.find.__doc__ or "")


CHECKS: dict[str, Check] = {}


def check(code: str, severity: Severity) -> Callable[[Callable[[Case], Iterator[Finding]]], Check]:
    """Register a generator of findings as the check of a code; it never prints, reads a file or asks the clock."""

    def register(find: Callable[[Case], Iterator[Finding]]) -> Check:
        CHECKS[code] = Check(code, severity, find)
        return CHECKS[code]

    return register
