"""Findings that a file excuses: the comments `mdmem: ignore` in a body and `ignore` in a front matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from mdmem.checks.check import find_check, nearest_excusable
from mdmem.markdown.parse import Document
from mdmem.model.finding import Place
from mdmem.store.catalog.addresses import is_entry_place

# A comment without an end reaches to the end of the file, as in a browser.
_COMMENT = re.compile(r"<!--\s*mdmem:(.*?)(-->|\Z)", re.DOTALL)
_FORM = "write `<!-- mdmem: ignore CODE REASON -->`"


class Suppression(Struct, frozen=True):
    """One check whose findings one file excuses; with a `fault`, a message and a help, it excuses nothing."""

    code: str
    reason: str
    place: Place
    address: str | None = None
    fault: tuple[str, str] | None = None


def suppressions_in(document: Document, prose: Callable[[], str]) -> Iterator[Suppression]:
    """Yield every suppression of an entry or a manifest, by place, also those with a fault.

    `prose` gives its body with code blanked out.
    """
    is_entry = is_entry_place(document.path)
    is_plain = any(one.code == "front-matter-missing" for one in document.findings)
    if document.fields is None and (is_entry or not is_plain):
        # A manifest whose front matter cannot be read may hide a wing; one without is prose and hides nothing.
        return
    address = document.path.removesuffix(".md") if is_entry else None
    stated = document.fields.get("ignore") if is_entry and document.fields is not None else None
    for code, given in stated.items() if isinstance(stated, dict) else ():
        reason = given if isinstance(given, str) else ""
        fault = _fault(code, reason, f"write `ignore: {{{code}: REASON}}`")
        yield Suppression(code, reason, document.place("ignore"), address, fault)
    for comment in _COMMENT.finditer(prose()) if "mdmem:" in document.body else ():
        yield _in_comment(document, comment, address)


def _in_comment(document: Document, comment: re.Match[str], address: str | None) -> Suppression:
    # Code is blank in the prose, but a reason may contain some.
    words = document.body[comment.start(1) : comment.end(1)].split(maxsplit=2)
    verb, code, reason = (*words, "", "", "")[:3]
    code, reason = code.rstrip(":"), " ".join(reason.split())
    fault = _fault(code, reason, f"write `<!-- mdmem: ignore {code} REASON -->`")
    if verb != "ignore":
        fault = (f"`mdmem: {verb}` is no instruction; the only one is `mdmem: ignore`", _FORM)
    elif not comment[2]:
        fault = ("the comment is never closed", "write `-->` behind the reason")
    return Suppression(code, reason, document.body_place(comment.start(), 4), address, fault)


def _fault(code: str, reason: str, how: str) -> tuple[str, str] | None:
    if not code:
        return "no check is named to ignore", _FORM
    check = find_check(code)
    if check is None:
        close = nearest_excusable(code)
        help_ = f"write `{close}`" if close else "run `mdmem check --explain all` to see the codes"
        return f"there is no check `{code}` to ignore", help_
    if not check.is_excusable:
        return f"`{code}` cannot be ignored by a file", "fix what it finds, and remove this"
    if not re.search(r"\w", reason):
        return f"`{code}` is ignored without a reason, so it is not", how
    return None
