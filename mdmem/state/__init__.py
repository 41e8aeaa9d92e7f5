"""The folders of what is derived or local, the lock of the writers, and the safe reading and writing of files.

`pending_writes`, `hygiene_times`, `approval_tokens` and `bearer_tokens` are imported from their modules: only a few
commands need them.
"""

from mdmem.state.files import (
    default_mode,
    leads_away,
    read_json,
    read_packed,
    write_json,
    write_new,
    write_packed,
    write_whole,
)
from mdmem.state.lock import BusyError, write_lock
from mdmem.state.places import Places, places

__all__ = [
    "BusyError",
    "Places",
    "default_mode",
    "leads_away",
    "places",
    "read_json",
    "read_packed",
    "write_json",
    "write_lock",
    "write_new",
    "write_packed",
    "write_whole",
]
