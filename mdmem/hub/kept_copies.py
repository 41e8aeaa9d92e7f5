"""A hub that is asked again and again: its connections stay open, and the copies asked for last stay loaded."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from mdmem.hub.connection import HubError, connected, transaction
from mdmem.hub.permissions import require_known
from mdmem.hub.reader import Reader, SeenRepository, rows_of
from mdmem.hub.repository_copy import RepositoryCopy, copy_of
from mdmem.hub.schema import is_current, require

if TYPE_CHECKING:
    from mdmem.hub.connection import HubConnection

QUESTION_SECONDS = 2
"""So long a statement may take, and so long is waited for a server that does not answer: who asks has a clone, too."""

ANSWER_SECONDS = 4
"""So long all statements of an answer may take together: less than a call may, so that the clone still answers it."""

KEPT_FILES = 50_000
"""The copies that stay loaded hold so many files at most, of some 3 KB each."""

KEPT_BYTES = 64_000_000
"""So much of their contents is kept, too: what a server shows of ten hits is ten files."""

# A repository of so few files is read at once, not file by file as they are shown.
_FEW_FILES = 3_000

SLOW_SECONDS, PAUSE_SECONDS = 1.0, 10.0
"""Who was waited for so long in vain is not asked for a while."""


class OverdueHubError(HubError):
    """An answer asks for more than the time for it lets through; the server itself is well."""


_Key = tuple[SeenRepository, date, tuple[int, ...], bool]


class _Opened(Struct, frozen=True):
    """A connection, and what closes it."""

    connection: HubConnection
    closing: ExitStack


class _SharedReader(Reader):
    """Reads in the transaction of whichever thread asks, so that what was loaded once serves all of them."""

    def __init__(self) -> None:
        # Of the thread: the cursor, and the moment after which it asks no more.
        self.held = threading.local()
        self._contents: OrderedDict[int, bytes] = OrderedDict()
        self._turn, self._bytes = threading.Lock(), 0

    def begin(self, cursor: Any) -> None:
        """Ask by a cursor, and for as long as an answer may take."""
        self.held.cursor = cursor
        self.hurry()

    def hurry(self, *, is_bound: bool = True) -> None:
        """Count the time for an answer from now on, or not at all."""
        self.held.until = monotonic() + ANSWER_SECONDS if is_bound else inf

    def contents(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the bytes of files that have some; a file never changes, another content is another one."""
        with self._turn:
            known = {one: self._contents[one] for one in ids if one in self._contents}
        asked = [one for one in ids if one not in known]
        found = super().contents(asked) if asked else {}
        with self._turn:
            for one, content in found.items():
                self._bytes += len(content) - len(self._contents.pop(one, b""))
                self._contents[one] = content
            while self._bytes > KEPT_BYTES:
                self._bytes -= len(self._contents.popitem(last=False)[1])
        return known | found

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a statement finds; raises OverdueHubError for one that comes too late."""
        if monotonic() > self.held.until:
            raise OverdueHubError(f"this takes the hub longer than {ANSWER_SECONDS} s; ask less at once")
        return rows_of(self.held.cursor, statement, values)


class ServedHub:
    """A hub as a server asks it; every question is answered from one state of it."""

    def __init__(self, dsn: str, token: str | None) -> None:
        """Take where it is and who asks; nothing is opened yet."""
        self._dsn, self._token = dsn, token
        self._reader = _SharedReader()
        self._idle: list[_Opened] = []
        # A server and what it asks name each other, and such a ring is taken apart in any order.
        weakref.finalize(self, _close, self._idle)
        self._copies: OrderedDict[_Key, RepositoryCopy] = OrderedDict()
        self._turn = threading.Lock()
        self._paused: tuple[float, HubError] | None = None

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Give what reads one state of the hub; raises HubError where that does not answer, or not in time."""
        began = monotonic()
        try:
            opened = self._taken()
            with opened.closing as closing:
                with transaction(opened.connection, is_snapshot=True) as cursor:
                    self._reader.begin(cursor)
                    yield self._reader
                # Whatever goes wrong before closes it: nobody knows what it is in the middle of.
                kept = replace(opened, closing=closing.pop_all())
        except OverdueHubError:
            raise
        except HubError as error:
            self._note(error, monotonic() - began)
            raise
        self._idle.append(kept)

    def copy(self, reader: Reader, repository: SeenRepository, *, today: date) -> RepositoryCopy:
        """Return the copy of a repository, that of a question before where what is seen of it is the same."""
        seen = [wing.id for wing in reader.wings_of([repository.id])]
        seen += [pin.wing_id for pin in reader.pins_of([repository.id])]
        # Who does not see all is told of nothing else, also where all that there is now is seen.
        key = (repository, today, tuple(seen), bool(reader.read_whole([repository.id])))
        with self._turn:
            known = self._copies.get(key)
            if known is not None:
                self._copies.move_to_end(key)
                return known
        # However large it is: it serves the questions behind this one, too.
        self._reader.hurry(is_bound=False)
        made = copy_of(reader, repository, today=today)
        entries = reader.rows("SELECT id FROM file WHERE wing_id = ANY(%s) AND type IS NOT NULL", seen)
        if len(entries) <= _FEW_FILES:
            reader.contents([row[0] for row in entries])
        self._reader.hurry()
        with self._turn:
            for old in [one for one in self._copies if one[0].id == repository.id and one[:2] != key[:2]]:
                del self._copies[old]
            self._copies[key] = made
            while len(self._copies) > 1 and sum(map(_files_in, self._copies.values())) > KEPT_FILES:
                self._copies.popitem(last=False)
        return made

    def _taken(self) -> _Opened:
        """Return a connection that answers: one of before, or a new one."""
        while (opened := self._unused()) is not None:
            if is_current(opened.connection):
                return opened
            opened.closing.close()
        if self._paused is not None and monotonic() < self._paused[0]:
            raise self._paused[1]
        with ExitStack() as stack:
            seconds = QUESTION_SECONDS
            how = connected(self._dsn, token=self._token, statement_seconds=seconds, connect_seconds=seconds)
            connection = stack.enter_context(how)
            require(connection)
            require_known(connection)
            return _Opened(connection, stack.pop_all())

    def _unused(self) -> _Opened | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _note(self, error: HubError, seconds: float) -> None:
        """Let the next questions not wait for a server that was waited for in vain a moment ago."""
        if seconds > SLOW_SECONDS:
            self._paused = (monotonic() + PAUSE_SECONDS, error)


def _close(idle: list[_Opened]) -> None:
    for opened in idle:
        opened.closing.close()


def _files_in(copy: RepositoryCopy) -> int:
    return len(copy.workspace.tree.files())
