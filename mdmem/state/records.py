"""Records of the state, one JSON file each: written whole, read without trust."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any

from mdmem.state.files import write_whole


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a record as a whole, for its owner's eyes alone; raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, canonical(content))


def read_record(path: Path) -> dict[str, Any] | None:
    """Return a record; None for what is torn, no JSON object, or no file of its own."""
    try:
        # To open a pipe would wait for ever, and a link may lead anywhere.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "rb") as stream:
            found = json.loads(stream.read()) if S_ISREG(os.fstat(handle).st_mode) else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def canonical(content: Any) -> bytes:
    """Return the one form of a JSON value: the same for equal values, in ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


def written_time(moment: datetime) -> str:
    """Return a point in time as the state holds it: ISO 8601 in UTC; one without offset counts as UTC."""
    return (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def read_time(value: object) -> datetime | None:
    """Return the point in time that `written_time` gave, or None for anything else."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo else None
