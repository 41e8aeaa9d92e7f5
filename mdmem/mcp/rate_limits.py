"""How often a caller may ask: a bucket of requests that fills again, one a caller."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from mdmem.dataclass import dataclass, field

# So many callers are remembered; whoever was quiet the longest starts anew with a full bucket.
_CALLERS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """What one caller may do: requests a second and at once, bytes of one, and seconds to send one.

    Of the connections, those that have shown no token are `strangers`, each for so many seconds at most; `per_address`
    counts all of one address.
    """

    per_second: float = 100
    burst: int = 1000
    request_bytes: int = 1 << 20
    head_seconds: float = 10
    body_seconds: float = 30
    stranger_seconds: float = 5
    connections: int = 512
    strangers: int = 128
    per_address: int = 256


@dataclass(slots=True)
class Buckets:
    """The buckets of all callers; `now` gives seconds that never go back."""

    per_second: float
    burst: int
    now: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, caller: str) -> int:
        """Take one request out of a caller's bucket; return 0, or the whole seconds after which there is one again."""
        moment = self.now()
        left, since = self._left.pop(caller, (float(self.burst), moment))
        left = min(float(self.burst), left + (moment - since) * self.per_second)
        is_empty = left < 1
        self._left[caller] = (left if is_empty else left - 1, moment)
        if len(self._left) > _CALLERS:
            self._left.popitem(last=False)
        return max(1, math.ceil((1 - left) / self.per_second)) if is_empty else 0
