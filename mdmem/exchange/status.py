"""Parse the status of a record from a word, a sentence, ticked boxes, or a list of superseded records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from mdmem.exchange.record import Claim, ClaimKind, read_date, with_whole_labels, without_comments
from mdmem.exchange.relations import DAY, LONGEST, PART, REFERENCE, MaskedSentence, relation_in, sentence_of
from mdmem.model.entry import Status

# A record with one of these words was never accepted, so its date is also the day of its deprecation.
_REFUSED = (
    "rejected, declined, withdrawn, cancelled, canceled, dismissed, denied, refused, vetoed, discarded, unapproved,"
    " not accepted, not approved, not adopted"
)
# If a record states several statuses, the last one in this order counts.
_MEANINGS = {
    Status.DRAFT: (
        "proposed, proposal, draft, drafted, pending, wip, work in progress, in progress, rfc, open, new, idea, tbd,"
        " todo, request for comments, provisional, tentative, undecided, not decided, not yet decided,"
        " not yet accepted, not yet approved, awaiting approval, review, in review, in discussion, under discussion,"
        " under consideration"
    ),
    Status.ACTIVE: (
        "accepted, approved, final, finalized, implemented, implementable, active, adopted, decided, done, agreed,"
        " in force, in effect, valid, current, enforced, applied, stable, ratified"
    ),
    Status.UNDER_REVIEW: (
        "under review, under_review, on hold, on-hold, deferred, postponed, paused, parked, suspended"
    ),
    Status.DEPRECATED: (
        "superseded, superceded, replaced, obsolete, obsoleted, deprecated, retired, abandoned, expired, inactive,"
        " dropped, reverted, reversed, revoked, rescinded, discontinued, archived, outdated, historical,"
        f" no longer in force, no longer valid, {_REFUSED}"
    ),
}
_WORDS = {word: status for status, words in _MEANINGS.items() for word in words.split(", ")}
_REFUSALS = frozenset(_REFUSED.split(", "))
_ENDS = {word for word, status in _WORDS.items() if status is Status.DEPRECATED} - _REFUSALS
_ANY_WORD = "|".join(one.replace(" ", r"\s+") for one in sorted(_WORDS, key=len, reverse=True))
_KNOWN = re.compile(rf"(?P<word>{_ANY_WORD})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_RELATED = r"super[sc]ee?d|replac|obsolet|amend|clarif|refin"
# Words that may come before the verb in a statement about the record itself.
_OF_ITSELF = "|".join(
    (
        *("this", "that", "it", "the", "our", "which", "we", "have", "has", "had", "been", "is", "was", "be", "being"),
        *("now", "since", "later", "then", "also", "formally", "officially", "fully", "completely", "entirely"),
        *("provisionally", "conditionally", "tentatively", "unanimously"),
        *("currently", "already", "as", "of", "on", "adr", "decision", "record", "document", "doc", "page", "rfc"),
        *("architecture", "architectural", "status", "state", "note", "notes", "nb", "update", "warning", "important"),
        *("caution", "attention", "info", "tip", "danger", "please", "marked", "considered", "declared", "and", "but"),
    )
)
_LEAD = re.compile(
    rf"(?:this\s+(?-i:[A-Z]{{2,6}})\b|(?!(?:{_ANY_WORD})\b)(?:{_OF_ITSELF})\b(?!-)[\s:,.!]*|{DAY}|[^\w\s\[{REFERENCE[1:-1]}]|\[(?=!)|\s)*",
    re.IGNORECASE,
)
_NOT_NOW = re.compile(
    r"(?:not|never|will|would|may|might|should|shall|could|can|to\s+be|if|when|once|until|unless|nothing|none)\b",
    re.IGNORECASE,
)
_IN_PART = re.compile(r"(?:in\s+parts?|partly|partial|partially|half|mostly|largely|only)\b\s*", re.IGNORECASE)
_SUBJECT = re.compile(r"(?P<subject>[^\ue100-\uf8ff]{1,120}?)\s(?:is|are|was|were|ha(?:s|ve)\s+been)\s+(?P<rest>.*)")
_PART_WORD = re.compile(rf"\b(?:{PART})\b", re.IGNORECASE)
_REMARK = re.compile(
    rf"[\s.,:;()\[\]-]*(?:(?:on|since|at|date|as\s+of)\s*)?[\s.,:()\[\]-]*{DAY}?[\s.,:()\[\]-]*\Z", re.I
)
# The text that may follow a status in a later clause. For example, `Deprecated methods stay` is not a status.
_FOLLOWING = re.compile(
    rf"\s*(?:\Z|[^\w\s]|{DAY}|(?:by|on|in|at|since|as|with|and|but|for|from|after|due|because|see|until|when|via)\b)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r";\s+|(?<!\bno)\.\s+(?-i:(?=[^\W\d_a-z]|[\ue100-\uf8ff]))"
    r"|(?:[,(/\u2013\u2014]|\s-|\u2192|->|=>|\s(?=and\b|but\b|then\b))\s*"
    r"(?:(?:and|but|then|later|now|also|it|has|have|is|was|been)\s+)*"
    rf"(?=(?:{DAY}[\s:-]*)?(?:(?:{PART})\s+)?(?:{_RELATED})|(?:{_ANY_WORD})\b(?!\s+(?:{REFERENCE})))",
    re.IGNORECASE,
)
_BARE = re.compile(rf"[\s:(-]*(?:see\s+)?(?=[^\w]*{REFERENCE})", re.IGNORECASE)
# An empty line of a template, or the line before a list of records.
_EMPTY = re.compile(
    rf"(?P<verb>(?:{_RELATED})[a-z]*?(?:s\b|\b(?=\s*:)|\b(?=\s+by\b))(?:\s+by\b)?)\s*:?\s*(?:none|nothing|n/?a|tbd)?[\s.-]*\Z",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~[^~\n]*~~|<(s|del|strike)>[^<>]*</\1>", re.IGNORECASE)
_BOX = re.compile(
    r"\[(?P<mark>[ xX]?)\](?![(\[:])|(?P<open>[\u2610\u2b1c\U0001f532\U0001f533])|(?P<ticked>[\u2611\u2705\u2714])"
)
_OPTION = re.compile(r"\s*[|/]\s*|\s*,\s*(?:or\s+)?|\s+or\s+")
_BOLD = re.compile(r"(\*\*|__)(?P<one>[^*_]+)\1")
_BULLET = re.compile(r"\A(?:[-*+]\s+|\d+[.)]\s+)?")
_NEW_LINE = re.compile(rf"\s*(?:[-*+#>|<`~]|\d+[.)]\s|(?:{_ANY_WORD}|{_RELATED})|\Z)", re.IGNORECASE)
_NEW_BLOCK = re.compile(r"\s*(?:[-*+#>|<`~]|\d+[.)]\s)")
_OPEN_END = re.compile(r"(?:\b(?:by|with|see|and|or|of|in|the|to|for)|[,(:-])[ \t]*\Z", re.IGNORECASE)
_SUPERSEDED = re.compile(r"\b(?:super[sc]ee?ded|replaced)\W*\Z", re.IGNORECASE)
_RECORD_START = re.compile(r"\s*(?:\[|adr|#?\d)", re.IGNORECASE)
_BANNER = re.compile(
    r"\s*(?:[>!:]|\.\.\s|\*\*|__|[^\x00-\x7f]"
    r"|(?:note|warning|important|attention|caution|update|deprecated|superseded|obsolete|rejected|draft)\b)",
    re.IGNORECASE,
)
_BANNER_MARK = re.compile(r"^[ \t]*(?:>[ \t]?)+|^[ \t]*(?:!!!|:::)[ \t]*\w*|\[!\w+\]", re.MULTILINE)
_TICKET = re.compile(r"(?<![\w-])#\d+\b")


class StatusReading(Struct, frozen=True):
    """The status that a text states; `status` is None if the text states no status that mdmem knows.

    `is_whole` says that the text contains nothing else. `text` is the text on one line, and `day` the date of the
    status. `began` is the date of the first status, if the record was deprecated later. `is_unknown` says that the
    text states an unknown status, and `is_refused` that the record was never accepted. `guess` says why the status is
    uncertain, or is empty.
    """

    status: Status | None
    text: str
    claims: tuple[Claim, ...] = ()
    is_whole: bool = True
    guess: str = ""
    day: str | None = None
    began: str | None = None
    is_unknown: bool = False
    is_refused: bool = False


class _Clause(Struct, frozen=True):
    """One clause of a text: a word for a status with its date, or claims about other records.

    `awaits` is the start of a sentence, such as "superseded by", that the next line completes with a record. `is_known`
    means that the clause was understood. `rest` is the text after the word (the default is a text after which no word
    counts as a status).
    """

    word: str = ""
    day: str | None = None
    claims: tuple[Claim, ...] = ()
    is_whole: bool = False
    is_known: bool = True
    awaits: str = ""
    rest: str = " x"


def read_status(written: str, *, own: int | None = None) -> StatusReading:
    """Return the status that a text states. `own` is the number of the record that contains the text."""
    clauses = list(_read_clauses(_units(written), own))
    words: list[tuple[str, str | None]] = []
    for one in clauses:
        if one.word:
            words.append((one.word, one.day))
        elif words and one.day and not one.claims and words[-1][1] is None:
            words[-1] = (words[-1][0], one.day)
    claims = tuple(claim for one in clauses for claim in one.claims)
    text, is_whole = " ".join(written.split()), bool(clauses) and all(one.is_whole for one in clauses)
    if any(one.kind is ClaimKind.SUPERSEDED_BY for one in claims):
        day = next((one.day for one in clauses if one.day and one.claims), None)
        return StatusReading(Status.DEPRECATED, text, claims, is_whole, day=day)
    if not words:
        is_unknown = not claims and any(not one.is_known for one in clauses)
        return StatusReading(None, text, claims, is_whole, is_unknown=is_unknown)
    meant = {_WORDS[word] for word, _ in words}
    dated = [(day, number) for number, (_, day) in enumerate(words) if day]
    # If every status has a date, the status with the latest date counts.
    status = _WORDS[words[max(dated)[1]][0]] if len(dated) == len(words) else max(meant, key=[*_MEANINGS].index)
    chosen = [(word, day) for word, day in words if _WORDS[word] is status]
    starts = [(_WORDS[word] is not Status.ACTIVE, day) for word, day in words if day and word not in _ENDS]
    listed = " and ".join(f"`{word}`" for word in dict.fromkeys(word for word, _ in words))
    return StatusReading(
        status,
        text,
        claims,
        is_whole and len(meant) == 1,
        f"it has the statuses {listed}; the later one counts" if len(meant) > 1 else "",
        day=next((day for _, day in reversed(chosen) if day), None),
        began=min(starts)[1] if starts else None,
        is_refused=all(word in _REFUSALS for word, _ in chosen),
    )


def is_status_word(text: str) -> bool:
    """Return whether a text is exactly one word for a status."""
    return text in _WORDS


def banners_in(written: str, *, own: int | None = None) -> Iterator[str]:
    """Yield the lines at the top of a record that state its own status, such as `> **Superseded by ADR-5**`."""
    for paragraph in re.split(r"\n(?:[ \t>]*\n)+", without_comments(written)):
        is_marked = _BANNER.match(paragraph) is not None
        for unit in _units(_BANNER_MARK.sub("", paragraph)):
            clauses = list(_read_clauses([unit], own))
            has_claim = any(one.kind is not ClaimKind.SEE for clause in clauses for one in clause.claims)
            has_status = any(_WORDS.get(clause.word, Status.ACTIVE) is not Status.ACTIVE for clause in clauses)
            is_short = all(clause.is_whole for clause in clauses) or _FOLLOWING.match(clauses[0].rest)
            if has_claim or (is_marked and has_status and is_short):
                yield unit


def claims_in(text: str) -> Iterator[Claim]:
    """Yield the claims in a list of links such as `Supersedes [2. …](0002-….md)`."""
    for clause in _read_clauses(_units(_TICKET.sub("", text)), None):
        yield from (one for one in clause.claims if one.kind is not ClaimKind.SEE)


def _units(written: str) -> list[str]:
    plain = with_whole_labels(without_comments(written))
    return [plain[start:end] for start, end in unit_spans(plain)]


def unit_spans(plain: str) -> list[tuple[int, int]]:
    """Return the start and end of each line of a text. Lines that continue a sentence are joined."""
    spans: list[tuple[int, int]] = []
    at = 0
    for line in plain.splitlines(keepends=True):
        end = at + len(line)
        is_continued = False
        if line.strip() and spans and spans[-1][1] == at and at - spans[-1][0] <= LONGEST:
            before = plain[spans[-1][0] : at].rstrip()
            is_open = _OPEN_END.search(before) is not None
            if _NEW_LINE.match(line):
                is_continued = is_open and not _NEW_BLOCK.match(line)
            else:
                is_record = _SUPERSEDED.search(before) and _RECORD_START.match(line)
                is_continued = bool(is_open or line.lstrip()[0].islower() or is_record)
        if is_continued:
            spans[-1] = (spans[-1][0], end)
        elif line.strip():
            spans.append((at, end))
        at = end
    return spans


def _chosen(unit: str) -> str:
    """Return a line without its bullet, text that is struck through, and the boxes and options that were not chosen."""
    plain = _STRUCK.sub(" ", _BULLET.sub("", " ".join(unit.split())[: LONGEST + 1], count=1))
    boxes = list(_BOX.finditer(plain))
    # Ticks alone may be decoration. Only if there is also an open or marked box, they are a choice.
    if any(one["open"] or one["mark"] is not None for one in boxes):
        ends = [*(one.start() for one in boxes[1:]), len(plain)]
        ticked = (
            plain[one.end() : end].strip()
            for one, end in zip(boxes, ends, strict=True)
            if one["ticked"] or (one["mark"] or " ") in "xX"
        )
        plain = "; ".join(ticked)
    options = [" ".join(re.sub(r"[^\w\s-]", " ", one).lower().split()) for one in _OPTION.split(plain)]
    known = [_WORDS[one] for one in options if one in _WORDS]
    if len(set(known)) > 1 and (len(known) > 2 or "|" in plain):
        bold = [one["one"] for one in _BOLD.finditer(plain)]
        return bold[0] if len(bold) == 1 else ""
    return plain.strip() if re.search(r"\w", plain) else ""


def _read_clauses(units: Iterable[str], own: int | None) -> Iterator[_Clause]:
    awaits = ""
    for unit in units:
        chosen = _chosen(unit)
        sentence = sentence_of(chosen, own=own)
        for number, text in enumerate(part for part in _NEXT.split(sentence.text) if part.strip(" .,;)(")):
            clause = _read_clause(sentence, text, is_first=number == 0, awaits=awaits)
            awaits = clause.awaits
            yield replace(clause, is_whole=clause.is_whole and len(chosen) <= LONGEST)


def _read_clause(sentence: MaskedSentence, text: str, *, is_first: bool, awaits: str) -> _Clause:
    days = re.findall(DAY, text)
    found = read_date(sentence.signs[days[0]][1]) if days else None
    day = found[0] if found is not None else None
    if day is not None and _REMARK.match(text):
        return _Clause(day=day, is_whole=True)
    rest = _LEAD.sub("", text, count=1)
    lead = _IN_PART.match(rest)
    part = lead[0].strip() if lead else ""
    rest = rest[lead.end() :] if lead else rest
    known = _KNOWN.match(rest)
    if known is None and _NOT_NOW.match(rest):
        return _Clause(is_known=False)
    bare = _BARE.match(rest) if awaits else None
    relation = relation_in(sentence, f"{awaits} {rest[bare.end() :]}" if bare else rest, part=part)
    subject = _SUBJECT.match(rest) if relation is None else None
    if subject is not None and _PART_WORD.search(subject["subject"]) and not _NOT_NOW.match(subject["rest"]):
        # Only a part of the record has the relation, as in `The encoding part is superseded by ADR-5`.
        relation = relation_in(sentence, subject["rest"], part=sentence.written(subject["subject"]))
    word = " ".join(known["word"].lower().split()) if known else ""
    claims, is_whole = relation or ((), False)
    if claims:
        only_sees = all(one.kind is ClaimKind.SEE for one in claims)
        return _Clause(word if only_sees else "", day, claims, is_whole, awaits=awaits if bare else "")
    if (empty := _EMPTY.match(rest)) is not None:
        return _Clause(awaits=empty["verb"])
    if known is None:
        return _Clause(is_known=relation is not None)
    is_in_part = part or _IN_PART.match(known["rest"].lstrip(" ("))
    if _WORDS[word] is Status.DEPRECATED and is_in_part:
        return _Clause()
    if not (is_first or _FOLLOWING.match(known["rest"])):
        return _Clause(is_known=False)
    awaits = "superseded by" if word in ("superseded", "superceded", "replaced") else ""
    is_whole = not part and _REMARK.match(known["rest"]) is not None
    return _Clause(word, day, (), is_whole, awaits=awaits, rest=known["rest"])
