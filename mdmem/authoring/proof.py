"""What the checks say against the text of one entry, before it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from mdmem.authoring.change_set import Change
from mdmem.catalog import load
from mdmem.checks.case import Case
from mdmem.checks.engine import chosen_codes, run_checks
from mdmem.finding import Severity
from mdmem.settings import Settings
from mdmem.tree import OverlaidTree, TreeFile, Unreadable

# Those errors that one file shows by itself; what the others find is proved over the whole memory.
TEXT_CHECKS = (
    "control-characters",
    "invisible-characters",
    "file-too-large",
    "front-matter-too-large",
    "merge-marker",
    "second-front-matter",
    "body-empty",
    "template-leftover",
    "secret-like-text",
    "future-date",
)


@dataclass(frozen=True, slots=True)
class _Nothing:
    """A tree without a file."""

    name: str = "a new entry"

    def files(self) -> tuple[TreeFile, ...]:
        return ()

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unreadable]]:
        return iter((path, Unreadable("it is not there")) for path in paths)

    def digests(self, files: Sequence[TreeFile]) -> dict[str, str]:  # noqa: ARG002  # a tree has this
        return {}

    def identity(self, path: str, content: bytes) -> str:  # noqa: ARG002  # a tree has this
        return path


def new_fault(change: Change, settings: Settings, *, today: date) -> str | None:
    """Return the first error that the checks find in a file and that it had not before; None where there is none."""
    was = _errors(change.path, change.before, settings, today)
    now = _errors(change.path, change.after, settings, today)
    return next(iter((Counter(now) - Counter(was)).keys()), None)


def _errors(path: str, content: bytes | None, settings: Settings, today: date) -> list[str]:
    if content is None:
        return []
    chosen = frozenset(chosen_codes(settings))
    case = Case(load(OverlaidTree(_Nothing(), {path: content})), settings, today)
    found = run_checks(case, [code for code in TEXT_CHECKS if code in chosen])
    return [f"{finding.message}; {finding.help}" for finding in found if finding.severity is Severity.ERROR]
