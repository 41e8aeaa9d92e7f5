"""The parts of a body that say what was decided, and the sentences that name another entry."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from mdmem.entry.model import Entry
from mdmem.entry.text import summary_of

_HEADING = re.compile(r"^(?:#{1,6}[ \t]+(.+?)[ \t#]*|(.+)\n(?:={3,}|-{3,}|~{3,}))$", re.MULTILINE)
_DECIDING = re.compile(r"(?i)\W*(?:\d+\.\s*)?(decision|abstract|summary|proposal|rule|specification)\b")


def deciding_section(entry: Entry, body: str) -> str:  # noqa: ARG001  # one signature with what is to come
    """Return the whole operative section, empty where there is none."""
    heads = list(_HEADING.finditer(body))
    for number, head in enumerate(heads):
        if _DECIDING.match(head[1] or head[2]):
            end = heads[number + 1].start() if number + 1 < len(heads) else len(body)
            return body[head.end() : end].strip()
    return ""


def shortened(entry: Entry, body: str, terms: Collection[str], limit: int = 600) -> str:  # noqa: ARG001
    """Return the lead of the deciding section and the best passage for the question."""
    return summary_of(entry, body)


def citing_sentences(body: str, address: str, ids: Collection[str]) -> tuple[str, ...]:
    """Return the sentences that name an entry, by its address or by one of its ids."""
    return tuple(_citing(body, [address, *ids]))


def _citing(body: str, names: Collection[str]) -> Iterator[str]:
    wanted = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names), re.IGNORECASE)
    for block in re.split(r"\n[ \t]*\n", body):
        if wanted.search(block):
            yield from (one for one in re.split(r"(?<=[.!?])\s+", " ".join(block.split())) if wanted.search(one))
