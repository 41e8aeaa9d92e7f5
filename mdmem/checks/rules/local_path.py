"""A path leads into somebody's home directory.

It exists on one machine only, so an agent on another looks in vain, and it tells everyone who reads the repository
the name of an account. Paths in URLs are no local paths, and names that stand for anybody (`/home/user`,
`/home/runner`) are fine.

Fails:

    Run /home/someone/shop/tools/seed.py before the tests.

Fix: write the path from the repository's top, or `~/` where a home directory is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.model.finding import Finding, Severity

CODE = "local-path"
SEVERITY = Severity.WARNING
# Not after a letter or a slash: that is a part of a URL or of a relative path.
_HOME = re.compile(
    r"(?:(?<=file://)|(?<![\w./~}>)-]))"
    r"(?:(?:/mnt)?/[a-z](?=/Users/))?(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})"
    r"(?P<name>[A-Za-z_][\w.-]*)[/\\]"
)
# What may stand before the name of the folder of all homes.
_LONGEST_ROOT = len("/mnt/c")
_ANYBODY = re.compile(
    r"(?:users?|usernames?|usr|you|me|name|some(?:one|body)|anyone|owner|default|public|shared|all|admin|administrator|root"
    r"|guest|apps?|dev|developer|node|python|ruby|git|ubuntu|debian|fedora|centos|alpine|arch|pi|vagrant|docker|vscode|coder"
    r"|codespace|gitpod|runner|runneradmin|build|builder|ci|circleci|travis|jenkins|jovyan|linuxbrew|ec2-user|azureuser|opc"
    r"|core|steam|postgres|www|www-data|nginx|ros|robot|test|tester|foo|bar|alice|bob|jane|john|jdoe|johndoe|janedoe|example"
    r"|projects?|workspace|repo|site|(?:your|my).*)\Z",
    re.IGNORECASE,
)


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each person whose home directory a file names, at the first place."""
    for address, document in case.documents:
        text = document.text
        by_name: dict[str, list[re.Match[str]]] = {}
        for found in _homes(text):
            if not _ANYBODY.match(found["name"]):
                by_name.setdefault(found["name"], []).append(found)
        for first, *more in by_name.values():
            place = document.text_place(first.start(), len(first.group()))
            often = f", first of {len(more) + 1} places in the file" if more else ""
            message = f"`{first.group()}` is a home directory on one machine{often}"
            yield Finding(CODE, message, place, "write the path from the repository's top, or `~/`", address)


def _homes(text: str) -> Iterator[re.Match[str]]:
    """Yield the paths, in order; the expression is tried only just before what every one of them holds."""
    end = 0
    for hint in sorted(_hints(text)):
        tried = (_HOME.match(text, start) for start in range(max(end, hint - _LONGEST_ROOT), hint + 1))
        found = next(filter(None, tried), None)
        if found is not None:
            end = found.end()
            yield found


def _hints(text: str) -> Iterator[int]:
    # Of the three the last two share a word that hardly any text holds.
    for hint in ("/home/", *(("/Users/", "\\Users\\") if "Users" in text else ())):
        at = text.find(hint)
        while at >= 0:
            yield at
            at = text.find(hint, at + 1)
