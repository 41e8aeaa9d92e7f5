"""Records of the state, one JSON file each: written whole, read without trust."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mdmem.own_folder import make_folder
from mdmem.regular_file import read_regular
from mdmem.state.files import write_whole


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a record as a whole, for its owner's eyes alone; raises OSError."""
    make_folder(path.parent, mode=0o700)
    write_whole(path, canonical(content))


def read_record(path: Path) -> dict[str, Any] | None:
    """Return a record; None for what is torn, no JSON object, or no file of its own."""
    try:
        # A link may lead anywhere.
        found = json.loads(read_regular(path, follow=False))
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
