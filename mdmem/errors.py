"""What can go wrong that is no finding: each kind with its exit code."""


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


class GoneError(EnvironmentFaultError):
    """A file was there when the memory was loaded, and is there no more."""


class NotFoundError(MdmemError):
    """What was asked for is not there; the sentence names the nearest."""

    exit_code = 1


def taken(address: str) -> str:
    """Return the sentence for an address that somebody else has."""
    return f"{address} exists already; `mdmem show {address}` shows it, another name keeps both"
