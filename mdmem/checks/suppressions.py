"""What a file says must not be said of it: the comments `mdmem: ignore` of a body and `ignore` of a front matter."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from mdmem.checks.registry import CODES, EXCUSABLE
from mdmem.markdown.parse import Document
from mdmem.model.finding import Finding, Place
from mdmem.store.catalog.addresses import is_entry_place

# A comment that nothing closes reaches to the end, as it does for whoever renders it.
_COMMENT = re.compile(r"<!--\s*mdmem:(.*?)(-->|\Z)", re.DOTALL)


class Suppression(Struct, frozen=True):
    """One check that one file wants silent; with a `fault`, which is a message and a help, it keeps nothing back."""

    code: str
    reason: str
    place: Place
    address: str | None = None
    fault: tuple[str, str] | None = None


def suppressions_in(document: Document, prose: Callable[[], str]) -> Iterator[Suppression]:
    """Yield every suppression of an entry or a manifest, by place; one that is faulty, too.

    `prose` gives the body with its code blanked out.
    """
    if "ignore" not in (document.fields or ()) and "mdmem:" not in document.body:
        return
    is_entry = is_entry_place(document.path)
    is_prose = not is_entry and any(one.code == "front-matter-missing" for one in document.findings)
    if document.fields is None and not is_prose:
        # A manifest whose front matter cannot be read may hide a wing; one without is prose and hides nothing.
        return
    address = document.path.removesuffix(".md") if is_entry else None
    for code, reason in _in_front_matter(document).items() if is_entry else ():
        given = reason if isinstance(reason, str) else ""
        how = f"write `ignore: {{{code}: REASON}}`"
        yield Suppression(code, given, document.place("ignore"), address, _fault(code, given, how))
    yield from _in_comments(document, prose, address)


def _in_front_matter(document: Document) -> dict[str, object]:
    stated = document.fields.get("ignore") if document.fields is not None else None
    return stated if isinstance(stated, dict) else {}


def _in_comments(document: Document, prose: Callable[[], str], address: str | None) -> Iterator[Suppression]:
    for comment in _COMMENT.finditer(prose()):
        # Code is blank in the prose, and a reason may hold some.
        words = document.body[comment.start(1) : comment.end(1)].split(maxsplit=2)
        verb, code, reason = (*words, "", "", "")[:3]
        code, reason = code.rstrip(":"), " ".join(reason.split())
        place = document.body_place(comment.start(), 4)
        fault = _fault(code, reason, f"write `<!-- mdmem: ignore {code} REASON -->`")
        if verb != "ignore":
            form = "write `<!-- mdmem: ignore CODE REASON -->`"
            fault = (f"`mdmem: {verb}` is no instruction; the only one is `mdmem: ignore`", form)
        elif not comment[2]:
            fault = ("the comment is never closed", "write `-->` behind the reason")
        yield Suppression(code, reason, place, address, fault)


# To look for what is meant takes 3 ms, and what one file misspells others do, too.
@lru_cache(maxsize=1000)
def _fault(code: str, reason: str, how: str) -> tuple[str, str] | None:
    if not code:
        return "no check is named to ignore", "write `<!-- mdmem: ignore CODE REASON -->`"
    if code not in CODES:
        close = difflib.get_close_matches(code, EXCUSABLE, n=1, cutoff=0.4)
        help_ = f"write `{close[0]}`" if close else "run `mdmem check --explain all` to see the codes"
        return f"there is no check `{code}` to ignore", help_
    if code not in EXCUSABLE:
        return f"`{code}` cannot be ignored by a file", "mend what it finds, and remove this"
    if not re.search(r"\w", reason):
        return f"`{code}` is ignored without a reason, so it is not", how
    return None


class Suppressions:
    """Those suppressions that hold, and which of them kept a finding back."""

    def __init__(self, stated: Iterable[Suppression]) -> None:
        """Take the suppressions of a case."""
        self._stated = tuple(one for one in stated if one.fault is None)
        self._keys = frozenset((one.place.path, one.code) for one in self._stated)
        self._used: set[tuple[str, str]] = set()

    def keeps_back(self, finding: Finding) -> bool:
        """Say whether the file of a finding keeps it back, and remember that it did."""
        key = (finding.place.path, finding.code)
        if key not in self._keys:
            return False
        self._used.add(key)
        return True

    def unused(self) -> tuple[Suppression, ...]:
        """Return the suppressions that kept nothing back so far."""
        return tuple(one for one in self._stated if (one.place.path, one.code) not in self._used)
