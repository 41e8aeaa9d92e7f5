"""How often a caller may ask: a bucket of requests that fills again, one a caller."""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct, field

# An IPv6 host has a whole network of addresses to itself.
_HOSTS = 64
# So many callers are remembered; whoever was quiet the longest starts anew with a full bucket.
_CALLERS = 4096


class HttpLimits(Struct, frozen=True, kw_only=True):
    """Limits of the server: requests a second and in a burst of one caller, bytes and seconds of one request,
    connections of all.
    """

    per_second: float = 100
    burst: int = 1000
    request_bytes: int = 1 << 20
    request_seconds: float = 5
    connections: int = 512


class Buckets(Struct):
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


def network_of(host: str) -> str:
    """Return what counts as one address: an IPv4 address, or the network that an IPv6 host has for itself."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _HOSTS), strict=False))
