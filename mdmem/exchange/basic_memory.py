"""Notes of basic-memory: a permalink, observations, and relations by wiki link."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.exchange.markdown import plain_record
from mdmem.exchange.record import Claim, ClaimKind, ForeignRecord, SourceFile
from mdmem.markdown.parse import without_code

NAME = "basic-memory"
_RELATION = re.compile(
    r"^[ \t]*[-*+][ \t]+(?P<verb>[A-Za-z][\w -]{0,40}?)[ \t]+\[\[(?P<target>[^\[\]\n|#]+)", re.MULTILINE
)
_OBSERVATION = re.compile(r"^[ \t]*[-*+][ \t]+\[[a-z][\w -]*\][ \t]+\S", re.MULTILINE)
_KINDS = {
    **dict.fromkeys(("supersedes", "replaces", "obsoletes"), ClaimKind.SUPERSEDES),
    **dict.fromkeys(("superseded by", "replaced by", "obsoleted by"), ClaimKind.SUPERSEDED_BY),
    "amends": ClaimKind.AMENDS,
    "amended by": ClaimKind.AMENDED_BY,
}


def fits(source: SourceFile) -> bool:
    """Say whether a note has a permalink, or observations and relations."""
    if "permalink" in source.fields:
        return True
    return _OBSERVATION.search(source.body) is not None and _RELATION.search(source.body) is not None


def read(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield the note; its relations stay in the text and are links, besides."""
    yield plain_record(source, claims=tuple(dict.fromkeys(_claims(without_code(source.body)))))


def _claims(prose: str) -> Iterator[Claim]:
    for found in _RELATION.finditer(prose):
        verb = " ".join(found["verb"].lower().replace("_", " ").replace("-", " ").split())
        yield Claim(_KINDS.get(verb, ClaimKind.SEE), found["target"].strip(), is_in_text=True)
