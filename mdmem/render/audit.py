"""The audit log as text and as JSON: when, who, what was asked, and how many entries came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mdmem.render.json import dump
from mdmem.render.words import entries


def audit_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return one line a question, the oldest first."""
    return "\n".join(map(_line, lines))


def audit_json(lines: Sequence[Mapping[str, Any]], total: int) -> str:
    """Return the lines of the log as they were written, and how many it holds."""
    return dump({"total": total, "lines": list(lines)})


def _line(line: Mapping[str, Any]) -> str:
    # The file is text that anybody may have edited, so that no key is certain to be there.
    asked = line.get("asked")
    goal = asked.get("goal", "") if isinstance(asked, Mapping) else ""
    returned = line.get("returned")
    came = line.get("refused") or entries(len(returned) if isinstance(returned, list) else 0)
    return f"{line.get('when', '?')}  {line.get('caller') or 'owner'}  {line.get('verb', '?')}: {goal} → {came}"
