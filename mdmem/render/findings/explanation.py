"""What the checks are, in words."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from mdmem.checks.engine import Check


def explanation(code: str, check: Check) -> str:
    """Return what a check finds, why, an example and the fix."""
    return f"{code} ({check.SEVERITY})\n\n{inspect.cleandoc(check.__doc__ or '')}"


def check_list(families: Mapping[str, Sequence[str]], first_lines: Mapping[str, str]) -> str:
    """Return every code with the first sentence of its explanation, by family."""
    blocks = []
    for family, codes in families.items():
        width = max((len(code) for code in codes), default=0)
        blocks.append("\n".join([f"{family}:", *(f"  {code:<{width}}  {first_lines[code]}" for code in codes)]))
    return "\n\n".join(blocks)
