"""The table of what an editor may ask: one row a request, whose answer is a function of a module of its own.

It imports no library, for `initialize` is answered from it before any is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mdmem import __version__

Facts = dict[str, Any]


class Feature(NamedTuple):
    """One request: the capability that offers it, and the function that answers it, as `module:function`.

    With `of_document` that is `function(session, buffer, params)` for the file that the request names, and None is the
    answer where no memory has to do with it; else it is `function(roots, params)`.
    `offered` stands under the capability in the answer to `initialize`; a capability with a dot is one of a group.
    """

    method: str
    answer: str
    capability: str = ""
    offered: Any = True
    of_document: bool = True


# Each part has a block of its own, so that rows are added side by side.
NAVIGATION: tuple[Feature, ...] = ()
ACTIONS: tuple[Feature, ...] = ()
FEATURES: tuple[Feature, ...] = (*NAVIGATION, *ACTIONS)

# Each text is sent whole when it is opened and by its changes after that; columns count in UTF-16 units.
_ALWAYS: Mapping[str, Any] = {
    "positionEncoding": "utf-16",
    "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
}


def capabilities() -> Facts:
    """Return what the server says that it can do."""
    found: Facts = {name: dict(value) if isinstance(value, dict) else value for name, value in _ALWAYS.items()}
    for feature in FEATURES:
        group, _, name = feature.capability.rpartition(".")
        holder = found.setdefault(group, {}) if group else found
        if name:
            holder[name] = feature.offered
    return found


def initialize_result() -> Facts:
    """Return the answer to `initialize`."""
    return {"capabilities": capabilities(), "serverInfo": {"name": "mdmem", "version": __version__}}
