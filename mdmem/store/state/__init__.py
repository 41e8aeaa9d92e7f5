"""The folders of what is derived or local, and the safe reading and writing of files.

`lock`, `pending_writes`, `hygiene_times`, `approval_tokens` and `bearer_tokens` are imported from their modules: only a
few commands need them.
"""

from mdmem.store.state.files import (
    default_mode,
    leads_away,
    read_json,
    read_packed,
    write_json,
    write_new,
    write_packed,
    write_whole,
)
from mdmem.store.state.places import Places, places

__all__ = [
    "Places",
    "default_mode",
    "leads_away",
    "places",
    "read_json",
    "read_packed",
    "write_json",
    "write_new",
    "write_packed",
    "write_whole",
]
