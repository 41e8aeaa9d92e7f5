"""How the settings name another repository: its URL or path, and what is read of it."""

from __future__ import annotations

import re

from mdmem.errors import SettingsError
from mdmem.store.settings.values import text

# `ext::` runs a program, and other helpers of git's do what their authors like.
PROTOCOLS = ("file", "git", "http", "https", "ssh")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
# `git@host:folder/name.git`; a letter before the colon alone is a drive of Windows.
_SCP = re.compile(r"(?:[\w.-]+@)?(?:[\w.-]{2,}|\[[0-9A-Fa-f:]+\]):(?!//)")
_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REF = re.compile(r"(?!-)[\w.+/@#=,%-]+\Z")


def repository(key: str, value: object) -> str:
    """Read where a repository is: a URL of a known protocol, `user@host:path`, or a path from the root."""
    url = text(key, value)
    if not url.isprintable() or url != url.strip() or url.startswith("-"):
        raise SettingsError(f"mdmem.toml: `{key}` must be the URL or the path of a repository, found {url!r}")
    scheme = _SCHEME.match(url)
    if _HELPER.match(url) or (scheme and scheme[1].lower() not in PROTOCOLS):
        allowed = ", ".join(f"`{protocol}`" for protocol in PROTOCOLS)
        raise SettingsError(f"mdmem.toml: `{key}` must use one of {allowed}, or be a path, found {url!r}")
    if _PASSWORD.search(url):
        raise SettingsError(f"mdmem.toml: `{key}` holds a password; leave it to git's credential helper")
    return url


def ref(key: str, value: object) -> str:
    """Read the name of a branch or a tag, or a commit."""
    name = text(key, value)
    if not _REF.match(name) or ".." in name or "@{" in name or "//" in name or name.endswith(("/", ".", ".lock")):
        raise SettingsError(f"mdmem.toml: `{key}` must be the name of a branch or a tag, found {name!r}")
    return name


def commit(key: str, value: object) -> str:
    """Read the whole name of a commit."""
    name = text(key, value)
    if not _COMMIT.match(name):
        raise SettingsError(f"mdmem.toml: `{key}` must be the whole name of a commit, 40 digits, found {name!r}")
    return name


def is_path(url: str) -> bool:
    """Say whether a repository is named by its path."""
    return not _SCHEME.match(url) and not _SCP.match(url)
