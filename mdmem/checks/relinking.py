"""Fixes that write another address where a link or a cross-reference stands."""

from __future__ import annotations

import posixpath
from urllib.parse import quote

from mdmem.checks.case import Case, Link
from mdmem.checks.fixing import with_choice, with_fix
from mdmem.checks.references import Reference
from mdmem.document.patch import remove_item, replace_in_body, replace_item
from mdmem.finding import Finding


def with_link(finding: Finding, case: Case, link: Link, target: str, *, is_safe: bool = True) -> Finding:
    """Return a finding with the fix that makes a link of a front matter name an address.

    Where its field names that one already, the link is removed; an entry is never made to name itself.
    """
    add = with_fix if is_safe else with_choice
    document = case.catalog.document(link.entry.path)
    if target == link.entry.address:
        return finding
    if target != link.target and target in link.entry.links(link.field):
        return add(finding, f"Remove `{link.written}`", remove_item, document, link.field, link.item)
    return add(finding, f"Write `{target}`", replace_item, document, link.field, link.item, target)


def with_reference(finding: Finding, case: Case, reference: Reference, target: str, *, is_safe: bool = True) -> Finding:
    """Return a finding with the fix that makes a cross-reference of a body lead to an address."""
    add = with_fix if is_safe else with_choice
    document = case.catalog.document(f"{reference.address}.md")
    offset, width = reference.link.offset, reference.link.width
    text = target
    if reference.path is not None:
        text = relative(f"{target}.md", document.path, document.body[offset : offset + width])
    return add(finding, f"Write `{text}`", replace_in_body, document, offset, width, text)


def relative(target: str, source: str, written: str) -> str:
    """Return the link from one file to another in the form of the link as written: quoted or not, with its anchor."""
    # From a folder that is nowhere: a path out of the root must not depend on where the process runs.
    path = posixpath.relpath(f"{_NOWHERE}{target}", f"{_NOWHERE}{posixpath.dirname(source)}")
    before, mark, anchor = written.partition("#")
    path += "/" if before.endswith("/") else ""
    return (quote(path) if "%" in written or " " in path else path) + mark + anchor


_NOWHERE = "/1/2/3/4/5/6/7/8/"
