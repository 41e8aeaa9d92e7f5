"""Where characters that do not show stand: in names of files, in values, in bodies."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from msgspec.structs import replace

from mdmem.checks.case import Case
from mdmem.checks.paths import at_path, files_and_folders
from mdmem.markdown.parse import Document
from mdmem.model.finding import Finding, Severity
from mdmem.model.text import visible
from mdmem.store.catalog.addresses import acting_in, is_misnamed

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def invisible_in_names(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the paths in focus in which a character does not show, with the first such; no entry's is in focus, too.

    Of what lies in a folder that is misnamed the first path alone.
    """
    entries = (file.path for file in case.catalog.files) if case.focus is None else sorted(case.focus)
    for path in (*entries, *(file.path for file in case.others)):
        if not path.isprintable():
            yield path, next(character for character in path if not character.isprintable())
    misnamed = (file.path for file in case.catalog.others if is_misnamed(file.path))
    for place, path in files_and_folders(misnamed).items():
        folder, _, name = place.rpartition("/")
        acting = acting_in(name)
        if acting is not None and not is_misnamed(folder):
            yield path, acting


def in_name(code: str, path: str, character: str) -> Finding:
    """Return the finding about a path whose name holds a character."""
    unread = ", so nothing reads it" if is_misnamed(path) else ""
    message = f"the name `{visible(path)}` holds {described(character)}{unread}"
    return at_path(code, path, message, "rename it with `git mv`")


def invisible_in_values(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the fields with a text in which some character does not show, a line's end included."""
    for name, value in (document.fields or {}).items():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and not text.isprintable():
                yield name, text


def in_body(case: Case, code: str, address: str, found: list[re.Match[str]]) -> Finding:
    """Return the one warning for all that was found in a body, at the first."""
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    message = f"{described(found[0].group())} in the body{more}"
    finding = case.in_body(code, address, message, "remove it", offset=found[0].start(), width=1)
    return replace(finding, severity=Severity.WARNING)


def described(characters: str) -> str:
    """Return the number and the name of the first of some characters."""
    name = unicodedata.name(characters[0], "control character").lower()
    return f"{name} U+{ord(characters[0]):04X}"
