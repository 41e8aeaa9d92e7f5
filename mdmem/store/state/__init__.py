"""The folders of derived and local files, and the safe reading and writing of files.

`local_records`, `pending_writes`, `swap` and `tokens` are imported from their modules: only a few commands need them.
"""

from mdmem.store.state.files import (
    Places,
    default_mode,
    leads_away,
    places,
    read_json,
    read_packed,
    write_json,
    write_new,
    write_packed,
    write_whole,
)

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
