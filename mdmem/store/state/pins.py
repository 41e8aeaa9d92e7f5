"""What was fetched of other repositories: a store for each, and a record for each commit that is at hand."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

from msgspec import Struct

from mdmem.store.state.files import read_json, write_json

_VERSION = "1"


class Pin(Struct, frozen=True):
    """One commit of another repository: the memories it holds, by their folders, and the day it was last asked for."""

    commit: str
    roots: tuple[str, ...]
    asked: date


def store_of(cache: Path, url: str) -> Path:
    """Return the folder of the bare repository that holds what was fetched from a place."""
    return _folder(cache, url) / "git"


def find_pin(cache: Path, url: str, commit: str) -> Pin | None:
    """Return what is known of a commit that was fetched, or None."""
    said = read_json(_record(cache, url, commit), _VERSION)
    try:
        return Pin(commit, tuple(map(str, said["roots"])), date.fromisoformat(said["asked"]))
    except (KeyError, TypeError, ValueError):
        return None


def keep_pin(cache: Path, url: str, pin: Pin) -> None:
    """Record that a commit is at hand."""
    write_json(_record(cache, url, pin.commit), _VERSION, {"roots": list(pin.roots), "asked": pin.asked.isoformat()})


def _record(cache: Path, url: str, commit: str) -> Path:
    return _folder(cache, url) / f"{commit}.json"


def _folder(cache: Path, url: str) -> Path:
    return cache / "wings" / hashlib.sha256(url.encode()).hexdigest()[:20]
