"""What `mdmem.toml` sets."""

from mdmem.store.settings.model import (
    AGENT_STATUS,
    ROOMS,
    Approvals,
    Ended,
    Old,
    OneSided,
    Profile,
    Proposals,
    Settings,
    WingSettings,
)
from mdmem.store.settings.parse import parse_settings

__all__ = [
    "AGENT_STATUS",
    "ROOMS",
    "Approvals",
    "Ended",
    "Old",
    "OneSided",
    "Profile",
    "Proposals",
    "Settings",
    "WingSettings",
    "parse_settings",
]
