"""The errors that end a command; each class has its exit code."""

import re
from collections.abc import Callable, Iterable
from shlex import quote
from typing import TypeVar
from unicodedata import category

_Result = TypeVar("_Result")

# An argument of more than `_LONG` characters, and any word twice as long, is cut to `_SHOWN`. Few paths are so long.
_LONG, _SHOWN = 200, 80
_RUN = rf"[^\s`'\"]{{{2 * _LONG},}}"
_HIDDEN = ("Cc", "Cf", "Zl", "Zp")


class MdmemError(Exception):
    """The base class of errors that end a command with one sentence for the user and with `exit_code`."""

    exit_code = 2


class UsageError(MdmemError):
    """An argument of the user is wrong; the message says what was expected."""


class SettingsError(MdmemError):
    """`mdmem.toml` is invalid; `readable` has the settings that could be parsed."""

    def __init__(self, message: str, *, readable: object = None, line: int = 1) -> None:
        """Take the message, the settings that could be parsed, and the line of the mistake."""
        super().__init__(message)
        self.readable, self.line = readable, line


class RootNotFoundError(UsageError):
    """No memory root was found."""


class EnvironmentFaultError(MdmemError):
    """Something outside the memory is missing or cannot be used, for example git, a repository or a folder."""

    exit_code = 3


class GitError(EnvironmentFaultError):
    """git failed; the message quotes git's own error."""


class SparseCheckoutError(GitError):
    """A sparse checkout left out files of the memory."""


class LostRaceError(MdmemError):
    """Another process or person changed the file first, so nothing was written."""

    exit_code = 4


class KeptAsideError(LostRaceError):
    """A write was undone because somebody else changed the file; the message has the path of a copy of their text."""


class GoneError(EnvironmentFaultError):
    """A file that existed when the memory was loaded was deleted since then."""


class NotFoundError(MdmemError):
    """The named entry, wing or other thing does not exist; the message has a hint."""

    exit_code = 1


def try_call(work: Callable[[], _Result]) -> _Result | Exception:
    """Return the result of a function, or the exception that it raised.

    A bug in one check, request or tool call must not end the others. The command line catches all other exceptions.
    """
    try:
        return work()
    except Exception as error:  # noqa: BLE001  # the caller reports it
        return error


def reason_of(error: Exception) -> str:
    """Return the system's reason for an error, or else its message, as a part of a sentence."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def system_message(error: OSError) -> str:
    """Return the message for an OSError without the path, which may be in a wing that the caller may not see."""
    return f"the system refuses: {(error.strerror or type(error).__name__).lower()}"


def taken(address: str) -> str:
    """Return the error message for a new entry whose address exists already."""
    return f"{address} exists already; `mdmem show {quote(address)}` shows it, another name keeps both"


def shown_message(message: str, words: Iterable[str] = ()) -> str:
    """Return an error message that is safe to print: long words are cut, and escape codes become `<U+001B>`.

    All control characters except line feeds and tabs are replaced. `words` are the arguments of the command. Each long
    argument that the message repeats is cut as a whole, and its line feeds are replaced, too. Every error message
    passes through this function, so that no caller needs to escape anything.
    """
    values = {part for word in words for part in (word, word.partition("=")[2])}
    for word in sorted(values, key=len, reverse=True):
        if len(word) > _LONG or "\n" in word.strip():
            message = message.replace(word, _cut(word).replace("\n", "<U+000A>"))
    message = re.sub(_RUN, _cut_run, message)
    return "".join(one if one in "\n\t" or category(one) not in _HIDDEN else f"<U+{ord(one):04X}>" for one in message)


def _cut_run(found: re.Match[str]) -> str:
    word = found[0].rstrip("\\")
    # A backslash at the end may escape the quote after it.
    return _cut(word) + found[0][len(word) :]


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
