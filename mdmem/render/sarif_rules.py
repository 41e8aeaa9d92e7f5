"""The checks as SARIF's rules: what each finds, why it matters, an example, the fix."""

from __future__ import annotations

import inspect
import re
from typing import Any

from mdmem.checks.engine import get_check
from mdmem.checks.registry import CODES, FAMILIES
from mdmem.finding import Severity

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def rule(code: str) -> dict[str, Any]:
    """Return the rule of a code; one that is no check's has nothing but its id."""
    if code not in CODES:
        return {"id": code}
    check = get_check(code)
    explained = inspect.cleandoc(check.__doc__ or "")
    first, _, rest = explained.partition("\n\n")
    why = rest.partition("\n\n")[0]
    return {
        "id": code,
        "shortDescription": {"text": _joined(first)},
        "fullDescription": {"text": _joined(why or first)},
        "help": {"text": explained, "markdown": as_markdown(explained)},
        "defaultConfiguration": {"level": LEVELS[check.SEVERITY]},
        "properties": {"tags": [name for name, codes in FAMILIES.items() if code in codes]},
    }


def as_markdown(explained: str) -> str:
    """Return the explanation of a check as Markdown; its indented examples stand in fences."""
    return re.sub(r"(?:^ {4}.*\n(?:\n(?= {4}))?)+", _fenced, f"{explained}\n", flags=re.MULTILINE).rstrip()


def _fenced(block: re.Match[str]) -> str:
    example = inspect.cleandoc(f"\n{block[0]}").rstrip()
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", example)), default=0))
    return f"{fence}text\n{example}\n{fence}\n"


def _joined(paragraph: str) -> str:
    return " ".join(paragraph.split())
