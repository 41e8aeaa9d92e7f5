"""The terms of each body, counted once for each content: they are kept in the cache between builds."""

from __future__ import annotations

from collections.abc import Mapping

from mdmem.catalog.content import CACHE_VERSION
from mdmem.index import analysis
from mdmem.site.facts import SiteFacts
from mdmem.state import read_packed, write_packed

_Counts = dict[str, int]
_FILE = "site-terms"


def term_counts(text: str) -> _Counts:
    """Return the terms of a text with how often they stand in it."""
    words, wholes = analysis.counted(text)
    return {**words, **{term: words.get(term, 0) + often for term, often in wholes.items()}}


def body_terms(facts: SiteFacts) -> Mapping[str, _Counts]:
    """Return the terms of each entry's body, by address."""
    if facts.workspace.access.is_narrow:
        # What is hidden in a body is no matter of its file's content.
        return {address: term_counts(body) for address, body in facts.bodies(facts.catalog.entries)}
    path, version = facts.workspace.cache_folder / _FILE, f"{CACHE_VERSION}-{analysis.VERSION}"
    known = read_packed(path, version, dict[str, _Counts]) or {}
    digests = facts.catalog.digests
    missing = [address for address in facts.catalog.entries if digests.get(address) not in known]
    new = {address: term_counts(body) for address, body in facts.bodies(missing)}
    found = {address: known[digest] for address, digest in digests.items() if digest in known} | new
    if new:
        write_packed(path, version, {digests[one]: counts for one, counts in found.items() if one in digests})
    return found
