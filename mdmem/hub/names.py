"""What a repository is called in the hub, and where it is, said the same way by everybody who clones it."""

from __future__ import annotations

import re

from mdmem.errors import UsageError
from mdmem.store.git.process import Repository, setting
from mdmem.store.settings.parse import is_path
from mdmem.store.workspace.location import Location

_NAME = re.compile(r"[\w.@+~-]+(?:/[\w.@+~-]+)*(?::[\w.@+~-]+(?:/[\w.@+~-]+)*)?\Z")
_PORT = re.compile(r":\d*\Z")
_QUERY = re.compile(r"[?#].*\Z")
# `ext::` and the like: what follows is a command line as well as a place.
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_FILE = re.compile(r"(?i:file)://")
_LONGEST = 200


def checked_name(name: str) -> str:
    """Return what may be the name of a repository; raises UsageError for what may not."""
    if len(name) > _LONGEST or not _NAME.match(name):
        raise UsageError(f"`{name}` is no name for a repository; give one without blanks, as `owner/name`")
    return name


def place_name(url: str) -> str:
    """Return where a repository is, the same whichever protocol and user a clone reached it by: `host/owner/name`."""
    if is_path(url):
        return url
    if "://" in url:
        scheme, _, rest = url.partition("://")
        # What follows the path is no part of the place, and may be a password.
        authority, _, path = _QUERY.sub("", rest).partition("/")
        host = authority.rpartition("@")[2]
        # The port of ssh says how one gets in, not which repository is meant.
        host = _PORT.sub("", host) if scheme.lower() == "ssh" else host
    else:
        host, _, path = url.partition(":")
        host = host.rpartition("@")[2]
    return f"{host.lower()}/{path.strip('/').removesuffix('.git')}"


def remote_url(repository: Repository) -> str | None:
    """Return the URL of the repository's remote as git has it, None where it has none."""
    return setting(repository, "remote.origin.url")


def remote_place(remote: str | None) -> str | None:
    """Return where a remote is, None where there is none or that is a folder of this machine, which is private."""
    if remote is None or is_path(remote) or _FILE.match(remote) or _HELPER.match(remote):
        return None
    return place_name(remote)


def own_names(location: Location, remote: str | None) -> tuple[str, str]:
    """Return what a memory is called where nobody says: `owner/name` of its remote's URL, else its folder's name.

    The second is for one whose repository holds another memory that has the first already.
    """
    if remote is not None:
        parts = [part for part in place_name(remote).removesuffix(".git").split("/") if part]
        name = "/".join(parts[-1:] if is_path(remote) else parts[1:][-2:] or parts[-1:])
    else:
        name = location.get_repository().top.name.removesuffix(".git")
    return checked_name(name), f"{name}:{location.under or '.'}"
