"""What can go wrong that is no finding: each kind with its exit code."""

import re
from collections.abc import Iterable
from unicodedata import category

# A path may be long and is to be found by what is said; a word beyond that is nobody's to read.
_LONG, _SHOWN = 200, 80
_RUN = rf"[^\s`'\"]{{{2 * _LONG},}}"
_HIDDEN = ("Cc", "Cf", "Zl", "Zp")


class MdmemError(Exception):
    """Stops a command with one sentence for the user; `exit_code` is what the process returns."""

    exit_code = 2


class UsageError(MdmemError):
    """An argument does not fit; the sentence says what was expected."""


class SettingsError(MdmemError):
    """`mdmem.toml` cannot be used as it stands; `readable` are the settings that can be told all the same."""

    def __init__(self, message: str, *, readable: object = None, line: int = 1) -> None:
        """Keep what could be read, and the line of the fault."""
        super().__init__(message)
        self.readable, self.line = readable, line


class RootNotFoundError(UsageError):
    """No memory root where one was looked for."""


class EnvironmentFaultError(MdmemError):
    """Something outside the memory is missing or refuses: git, a repository, a folder."""

    exit_code = 3


class GitError(EnvironmentFaultError):
    """git could not do what it was asked; the sentence carries its own words."""


class LostRaceError(MdmemError):
    """Somebody else wrote first; nothing was changed."""

    exit_code = 4


class KeptAsideError(LostRaceError):
    """Somebody else's text lost its place while a write was taken back; the sentence names the file that keeps it."""


class AnswerLostError(EnvironmentFaultError):
    """The files are written, and the answer that says so cannot be printed."""

    exit_code = 5


class GoneError(EnvironmentFaultError):
    """A file was there when the memory was loaded, and is there no more."""


class NotFoundError(MdmemError):
    """What was asked for is not there; the sentence names the nearest."""

    exit_code = 1


def taken(address: str) -> str:
    """Return the sentence for an address that somebody else has."""
    return f"{address} exists already; `mdmem show {address}` shows it, another name keeps both"


def shown_message(message: str, words: Iterable[str] = ()) -> str:
    """Return a message as it is told to whoever gave these words: what is long is cut, what does not show is written.

    The one door for whatever stops a command or a call, so that no sentence has to think of the words it repeats.
    """
    values = {part for word in words for part in (word, word.partition("=")[2])}
    for word in sorted(values, key=len, reverse=True):
        if len(word) > _LONG or "\n" in word.strip():
            message = message.replace(word, _cut(word).replace("\n", "<U+000A>"))
    message = re.sub(_RUN, lambda found: _cut(found[0]), message)
    return "".join(one if one in "\n\t" or category(one) not in _HIDDEN else f"<U+{ord(one):04X}>" for one in message)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
