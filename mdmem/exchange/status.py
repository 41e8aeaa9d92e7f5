"""A status as other tools write it: in one word, in a sentence, or with the links of a supersession."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdmem.dataclass import dataclass
from mdmem.document.links import body_links
from mdmem.entry.model import Status
from mdmem.exchange.markers import without_comments
from mdmem.exchange.record import Claim, ClaimKind, Guess, Sureness

_WORDS: dict[str, Status] = {
    **dict.fromkeys(
        ("accepted", "approved", "final", "implemented", "implementable", "active", "adopted", "decided", "done"),
        Status.ACTIVE,
    ),
    **dict.fromkeys(
        ("agreed", "in force", "valid", "current", "enforced", "applied", "stable", "ratified"), Status.ACTIVE
    ),
    **dict.fromkeys(
        ("proposed", "proposal", "draft", "pending", "wip", "rfc", "open", "in progress", "provisional", "idea", "new"),
        Status.DRAFT,
    ),
    **dict.fromkeys(
        ("superseded", "superceded", "replaced", "rejected", "declined", "withdrawn", "obsolete", "obsoleted"),
        Status.DEPRECATED,
    ),
    **dict.fromkeys(
        ("deprecated", "retired", "abandoned", "cancelled", "canceled", "expired", "inactive", "dropped", "reverted"),
        Status.DEPRECATED,
    ),
    "under_review": Status.UNDER_REVIEW,
}
# What was not decided yet, or not any more: nobody is bound by it, whatever the word is near to.
_UNDECIDED = ("on hold", "deferred", "postponed", "paused", "in review", "under review", "review", "in discussion")
_KNOWN = re.compile(
    rf"({'|'.join(sorted((*_WORDS, *_UNDECIDED), key=len, reverse=True))})\b[\s.]*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_REMARK = re.compile(r"(?:[(\[]?(?:(?:on|since|at|date)?[\s:,-]*\d[\d/.\s:T+Z-]*)[)\]]?[\s.]*)?\Z", re.IGNORECASE)
_RELATION = re.compile(
    r"(?P<part>partial(?:ly)?\s+|in\s+part\s+|partly\s+)?"
    r"(?P<verb>supers?[ce]e?d|replac|obsolet|deprecat|amend|modif|updat|chang|clarif|extend|refin|relat|depend|link|see)"
    r"[a-z]*(?:\s+(?:in\s+part|partially))?(?P<by>\s+by\b)?(?:\s+(?:to|on|also|with))?\s*:?\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ENDING = ("supers", "superc", "replac", "obsolet", "deprecat")
_CHANGING = ("amend", "modif", "updat", "chang")
# Behind the others a number is no record's: `Updated 2020`.
_NAMING = (*_ENDING, "amend", "clarif", "refin")
_BULLET = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?")
_DECORATION = re.compile(r"[*_~`]|[^\w\s\[\](){}.,:;#/'\"<>|&+=%@!?-]")


@dataclass(frozen=True, slots=True)
class StatusReading:
    """What a text says of a status; None where it says none that is known.

    `is_whole` says that nothing of the text is lost when it is taken away; `text` is it in one line.
    """

    status: Status | None
    text: str
    claims: tuple[Claim, ...] = ()
    is_whole: bool = True
    guess: Guess | None = None
    said: tuple[str, ...] = ()


def read_status(written: str) -> StatusReading:
    """Return what the text of a status says."""
    text = " ".join(written.split())
    claims: list[Claim] = []
    words: list[str] = []
    is_whole = True
    for statement in _statements(written):
        related = list(_claims(statement))
        known = _KNOWN.match(_DECORATION.sub("", statement).strip())
        claims += related
        # That it clarifies another is more than that it is about it.
        is_whole = is_whole and not any(one.kind is ClaimKind.SEE for one in related)
        if not related and known:
            words.append(known[1].lower())
            is_whole = is_whole and _REMARK.match(known["rest"]) is not None
        elif not related:
            is_whole = False
    if any(one.kind is ClaimKind.SUPERSEDED_BY for one in claims):
        return StatusReading(Status.DEPRECATED, text, tuple(claims), is_whole)
    return _of_words(list(dict.fromkeys(words)), text, tuple(claims), is_whole=is_whole)


def claims_in(text: str) -> Iterator[Claim]:
    """Yield what a list of links says of other records, such as `Supersedes [2. …](0002-….md)`."""
    for statement in _statements(text):
        yield from (one for one in _claims(statement) if one.kind is not ClaimKind.SEE)


def _of_words(words: list[str], text: str, claims: tuple[Claim, ...], *, is_whole: bool) -> StatusReading:
    meant = list(dict.fromkeys(_WORDS.get(word, Status.DRAFT) for word in words))
    listed = " and ".join(f"`{word}`" for word in words)
    if not meant and claims:
        # adr-tools takes `Accepted` away when it writes what the record supersedes or amends.
        return StatusReading(None, text, claims, is_whole)
    if not meant:
        said = (f"the status `{text}` is not known",) if text else ()
        return StatusReading(Status.DRAFT if text else None, text, claims, is_whole=False, said=said)
    if len(meant) == 1:
        guess = None
        if words[0] in _UNDECIDED:
            guess = Guess(f"{listed} binds nobody", Sureness.LIKELY)
        return StatusReading(meant[0], text, claims, is_whole, guess)
    if Status.DEPRECATED in meant:
        guess = Guess(f"it says {listed}, and the last of a life is taken", Sureness.LIKELY)
        return StatusReading(Status.DEPRECATED, text, claims, is_whole, guess)
    said = (f"two statuses, {listed}: taken as draft, which binds nobody; `mdmem approve` puts it in force",)
    guess = Guess(f"it says {listed}", Sureness.GUESS)
    return StatusReading(Status.DRAFT, text, claims, is_whole=False, guess=guess, said=said)


# A relation follows in the same line: `Accepted, supersedes [2. …](…)`.
_NEXT = re.compile(
    r"(?:[;,]\s+(?:and\s+)?|(?<!\s)\s*\()(?=partial|partly|in\s+part|supers|superc|replac|obsolet|amend|clarif|refin)|;\s+",
    re.IGNORECASE,
)


def _statements(written: str) -> Iterator[str]:
    """Yield the statements of a status: its lines, and the relations that follow in a line, each by itself."""
    for line in without_comments(written).splitlines():
        yield from (part.strip() for part in _NEXT.split(_BULLET.sub("", line, count=1)) if part.strip())


def _claims(statement: str) -> Iterator[Claim]:
    found = _RELATION.match(_lead(statement))
    if found is None:
        return
    kind = _kind(found["verb"].lower(), is_passive=found["by"] is not None, in_part=_in_part(found))
    links = [link for link in body_links(found["rest"]) if link.is_path]
    by_name = _names(found["rest"]) if found["verb"].lower().startswith(_NAMING) else ()
    targets = [(link.target, True) for link in links] or [(name, False) for name in by_name]
    if kind is not None:
        yield from (Claim(kind, target, is_path) for target, is_path in targets)


def _lead(statement: str) -> str:
    """Return a statement without what decorates its first word."""
    return re.sub(r"^[^\w\[]+", "", statement)


def _in_part(found: re.Match[str]) -> bool:
    return (
        found["part"] is not None or re.search(r"in\s+part|partial", found[0][: found.start("rest")], re.I) is not None
    )


def _kind(verb: str, *, is_passive: bool, in_part: bool) -> ClaimKind | None:
    if verb.startswith("deprecat") and not is_passive:
        return None
    if verb.startswith(_ENDING) and not in_part:
        return ClaimKind.SUPERSEDED_BY if is_passive else ClaimKind.SUPERSEDES
    if in_part or verb.startswith(_CHANGING):
        return ClaimKind.AMENDED_BY if is_passive else ClaimKind.AMENDS
    return ClaimKind.SEE


_DAY = re.compile(r"\b\d{4}[-/.]\d\d[-/.]\d\d\b|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{4}\b")
_NAME = re.compile(
    r"(?:[A-Za-z]{2,6}[- #]?)?#?\d{1,8}(?:-[\w-]+)?\b|"
    r"\[\[[^\[\]\n]+\]\]|(?<![a-z0-9])[a-z0-9]++(?:-[a-z0-9]++){2,}"
)


def _names(rest: str) -> Iterator[str]:
    """Yield the numbers, slugs and titles that stand for records in a text without links."""
    plain = _DECORATION.sub("", _DAY.sub("", rest))
    yield from (found.group().strip("[]") for found in _NAME.finditer(plain))
