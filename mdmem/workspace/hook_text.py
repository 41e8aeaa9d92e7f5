"""The text of our hooks, and how a file is known as one of ours: by a digest of its own text."""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass

STAGES = ("pre-commit", "pre-merge-commit", "pre-push")
_HEAD = "#!/bin/sh\n# mdmem hook {digest}: `mdmem hooks uninstall` removes it; with any change it is yours.\n"
_SIGNED = re.compile(rb"\A#!/bin/sh\n# mdmem hook ([0-9a-f]{16}): ")
# What `mdmem init` wrote before hooks bore a digest.
_UNSIGNED = re.compile(
    rb"#!/bin/sh\n# Refuses a commit that breaks the memory; written by `mdmem init`\.\n"
    rb"command -v mdmem >/dev/null 2>&1 && exec mdmem check --staged\n"
    rb"exec [^\n]+ -m mdmem check --staged\n"
)
# `-P`: the working folder is the repository, and no module of its own may stand in for ours.
_FIND = """\
python={python}
package={package}
if [ -x "$python" ] && [ -f "$package" ]; then
    set -- "$python" -P -m mdmem check --staged
elif command -v mdmem >/dev/null 2>&1; then
    set -- mdmem check --staged
else
    echo "{stage}: the memory cannot be checked: mdmem is not in ${{python:+$python or }}PATH;" \\
        "install it, or skip the check once with --no-verify" >&2
    exit 1
fi
"""
_RUN = 'exec "$@"\n'
# git writes one line a reference: its name and commit here, its name and commit there; a deletion is all zeros.
_RUN_FOR_EACH = """\
status=0
seen=
while read -r ref sha remote; do
    case $sha in *[!0]*) ;; *) continue ;; esac
    case $seen in *"$sha"*) continue ;; esac
    seen="$seen $sha"
    git rev-parse --verify --quiet "$sha^{commit}" >/dev/null 2>&1 || continue
    PRE_COMMIT_TO_REF=$sha "$@" </dev/null && continue
    echo "pre-push: the memory of $ref does not pass, so nothing is pushed" >&2
    status=1
done
exit "$status"
"""


@dataclass(frozen=True, slots=True)
class Program:
    """An interpreter and the file of the package that it runs; empty: whatever `mdmem` is in PATH."""

    python: str = ""
    package: str = ""


def hook_text(stage: str, program: Program) -> bytes:
    """Return our hook for a stage; the same text for the same program."""
    find = _FIND.format(stage=stage, python=shlex.quote(program.python), package=shlex.quote(program.package))
    body = find + (_RUN_FOR_EACH if stage == "pre-push" else _RUN)
    return _signed(_HEAD + body)


def _signed(text: str) -> bytes:
    unsigned = text.replace("{digest}", "", 1).encode("utf-8", "surrogateescape")
    signature = _digest(unsigned).encode()
    return unsigned.replace(b"mdmem hook :", b"mdmem hook " + signature + b":", 1)


def is_ours(content: bytes) -> bool:
    """Say whether a file is a hook that mdmem wrote, in this version or another, and nobody has changed since."""
    signed = _SIGNED.match(content)
    if signed is None:
        return _UNSIGNED.fullmatch(content) is not None
    unsigned = content[: signed.start(1)] + content[signed.end(1) :]
    return _digest(unsigned) == signed[1].decode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
