"""The settings as who sees some wings may know them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from mdmem.access import Access
from mdmem.entry.model import Wing
from mdmem.errors import SettingsError
from mdmem.settings import Settings
from mdmem.workspace.scope import find_wing

_TABLE = re.compile(r"\bwings\.([\w-]+)")


def seen_settings(read: Callable[[], Settings], access: Access, wings: Callable[[], Mapping[str, Wing]]) -> Settings:
    """Return the settings without what they say of wings that are not seen, right or wrong; raises SettingsError.

    `wings` gives those that are seen.
    """
    try:
        return _without_others(read(), access, wings)
    except SettingsError as error:
        readable = error.readable
        if isinstance(readable, Settings):
            readable = _without_others(readable, access, wings)
            if any(not access.reads(name) for name in _TABLE.findall(str(error))):
                return readable
        raise SettingsError(str(error), readable=readable, line=error.line) from None


def _without_others(settings: Settings, access: Access, wings: Callable[[], Mapping[str, Wing]]) -> Settings:
    tables = {name: one for name, one in settings.wings.items() if access.reads(name)}
    default = settings.default_wing
    if default is not None and find_wing(default, wings()) is None:
        default = None
    return replace(settings, wings=tables, default_wing=default)
