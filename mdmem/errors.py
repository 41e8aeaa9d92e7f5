"""The errors that end a command, each kind with its exit code."""

import re
from collections.abc import Iterable
from unicodedata import category

# A path may be long and must stay recognisable; a longer word is of no use to a reader.
_LONG, _SHOWN = 200, 80
_RUN = rf"[^\s`'\"]{{{2 * _LONG},}}"
_HIDDEN = ("Cc", "Cf", "Zl", "Zp")


class MdmemError(Exception):
    """Ends a command with one sentence for the user; the process returns `exit_code`."""

    exit_code = 2


class UsageError(MdmemError):
    """An argument is wrong; the message says what was expected."""


class SettingsError(MdmemError):
    """`mdmem.toml` is invalid; `readable` are the settings that can be used all the same."""

    def __init__(self, message: str, *, readable: object = None, line: int = 1) -> None:
        """Keep the readable settings, and the line of the fault."""
        super().__init__(message)
        self.readable, self.line = readable, line


class RootNotFoundError(UsageError):
    """No memory root was found."""


class EnvironmentFaultError(MdmemError):
    """Something outside the memory is missing or refuses: git, a repository, a folder."""

    exit_code = 3


class GitError(EnvironmentFaultError):
    """git failed; the message has its own words."""


class LostRaceError(MdmemError):
    """Somebody else wrote first; nothing was changed."""

    exit_code = 4


class KeptAsideError(LostRaceError):
    """A write was undone over somebody else's text; the message has the path of the file that keeps that text."""


class AnswerLostError(EnvironmentFaultError):
    """The files are written, but the answer cannot be printed."""

    exit_code = 5


class GoneError(EnvironmentFaultError):
    """A file that existed when the memory was loaded is gone."""


class NotFoundError(MdmemError):
    """There is no such thing; the message suggests the nearest."""

    exit_code = 1


def taken(address: str) -> str:
    """Return the message for an address that exists already."""
    return f"{address} exists already; `mdmem show {address}` shows it, another name keeps both"


def shown_message(message: str, words: Iterable[str] = ()) -> str:
    """Return a message for the caller who gave these words: long words are cut, invisible characters are written out.

    Every error message passes through here, so that none has to care about the words that it repeats.
    """
    values = {part for word in words for part in (word, word.partition("=")[2])}
    for word in sorted(values, key=len, reverse=True):
        if len(word) > _LONG or "\n" in word.strip():
            message = message.replace(word, _cut(word).replace("\n", "<U+000A>"))
    message = re.sub(_RUN, lambda found: _cut(found[0]), message)
    return "".join(one if one in "\n\t" or category(one) not in _HIDDEN else f"<U+{ord(one):04X}>" for one in message)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
