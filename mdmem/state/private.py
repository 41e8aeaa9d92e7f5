"""Where a caller's own memory lies: in the user's data folder, outside every repository."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from mdmem.state.places import user_folder

WING = "private"


def private_root(environment: Mapping[str, str], root: Path, caller: str | None) -> Path:
    """Return the root of a caller's own memory.

    That of the user is one for all their memories; that of a token is one for each memory that the token opens, since
    the same name may mean somebody else elsewhere.
    """
    folder = user_folder(environment, "XDG_DATA_HOME", ".local/share") / "mdmem" / "private"
    if caller is None:
        return folder / "own"
    # A hash: names that differ in their case alone are one file on some systems.
    named = os.fsencode(root) + b"\0" + caller.encode("utf-8", "surrogatepass")
    return folder / f"token-{hashlib.sha256(named).hexdigest()[:24]}"
