"""How long to wait after others pushed first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

# Each attempt that loses is one in which somebody else got through.
ATTEMPTS = 40
# In seconds: a sync takes half of one, and eight at once come through sooner where few of them try at a time.
_FIRST, _LONGEST = 0.25, 4.0


def pauses(draw: Callable[[], float], attempts: int = ATTEMPTS) -> Iterator[float]:
    """Yield the pause after each attempt, in seconds; `draw` gives numbers from 0 to 1.

    The range doubles up to a limit, and any part of it may be drawn: who lost together does not come back together.
    """
    for attempt in range(attempts):
        yield draw() * min(_LONGEST, _FIRST * 2**attempt)
