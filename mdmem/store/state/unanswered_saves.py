"""What is about to be written for a caller who has no answer yet: the same call, sent again, is the same entry.

A record is kept from before the write until the answer has left the process. Whoever finds it asks for the same thing
a second time because the first answer was lost; whoever repeats an answered call means a second entry.
"""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from mdmem.store.state.files import Moment, list_names, read_struct, refusal_named, write_record, written_time
from mdmem.store.state.pending_writes import SUFFIX

# A client that sends a call again does so within minutes; what is older is meant anew. Beyond so many the oldest go.
_LASTS, _MOST = timedelta(hours=1), 64
_FOLDER = "intents"


class UnansweredSave(Struct, frozen=True, kw_only=True):
    """An entry that a call makes: where, the SHA-256 of its file, since when, and whether it is known to be there."""

    address: str
    digest: str
    at: Moment
    is_written: bool = False


class UnansweredSaves:
    """The unanswered writes of one root, one file each; every method raises EnvironmentFaultError."""

    def __init__(self, state: Path) -> None:
        """Take the state folder, which need not be there."""
        self._state = state

    def unanswered(self, id_: str, now: datetime) -> UnansweredSave | None:
        """Return what an earlier call was about to write, where it has no answer and is not too old."""
        found = read_struct(self._path(id_), UnansweredSave)
        return found if found is not None and now - found.at < _LASTS else None

    def keep(self, id_: str, intent: UnansweredSave) -> None:
        """Note what a call is about to write, before it does, and forget what is too old."""
        with refusal_named(self._state):
            self._forget_old(intent.at)
            self._write(id_, intent)

    def wrote(self, id_: str, intent: UnansweredSave) -> None:
        """Note that it is written: what others change in the file from now on makes it no other entry."""
        with refusal_named(self._state):
            self._write(id_, replace(intent, is_written=True))

    def answered(self, id_: str) -> None:
        """Forget a write whose answer has left the process."""
        with refusal_named(self._state), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._path(id_).unlink()

    def _write(self, id_: str, intent: UnansweredSave) -> None:
        write_record(self._path(id_), asdict(intent) | {"at": written_time(intent.at)})

    def _forget_old(self, now: datetime) -> None:
        paths = [self._state / _FOLDER / name for name in list_names(self._state / _FOLDER)]
        known = [(intent.at, path) for path in paths if (intent := read_struct(path, UnansweredSave)) is not None]
        newest = sorted((pair for pair in known if now - pair[0] < _LASTS), reverse=True)[: _MOST - 1]
        for path in {path for _, path in known} - {path for _, path in newest}:
            path.unlink(missing_ok=True)

    def _path(self, id_: str) -> Path:
        return self._state / _FOLDER / f"{id_}{SUFFIX}"
