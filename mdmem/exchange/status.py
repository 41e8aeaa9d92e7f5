"""A status as other tools write it: in a word, in a sentence, in ticked boxes, or with the links of a supersession."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from mdmem.exchange.record import Claim, ClaimKind, Guess, Sureness, read_date
from mdmem.exchange.relations import (
    DAY,
    LONGEST,
    PART,
    REFERENCE,
    ClaimReading,
    MaskedSentence,
    relation_in,
    sentence_of,
)
from mdmem.exchange.text import with_whole_labels, without_comments
from mdmem.model.entry import Status

# What was never in force ends on the day of its record.
_REFUSED = (
    "rejected, declined, withdrawn, cancelled, canceled, dismissed, denied, refused, vetoed, discarded, unapproved,"
    " not accepted, not approved, not adopted"
)
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
# Of several statuses the last of a life counts.
_LIFE = (Status.DRAFT, Status.ACTIVE, Status.UNDER_REVIEW, Status.DEPRECATED)
_ANY_WORD = "|".join(one.replace(" ", r"\s+") for one in sorted(_WORDS, key=len, reverse=True))
_KNOWN = re.compile(rf"(?P<word>{_ANY_WORD})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_RELATED = r"super[sc]ee?d|replac|obsolet|amend|clarif|refin"
# A record speaks of itself with nothing but these before the verb.
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
_REMARK = re.compile(
    rf"[\s.,:;()\[\]-]*(?:(?:on|since|at|date|as\s+of)\s*)?[\s.,:()\[\]-]*{DAY}?[\s.,:()\[\]-]*\Z", re.I
)
# What may follow a status in a sentence that is not the first: `Deprecated methods stay` is none.
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
# A line of a template that nobody filled in, or whose records follow in a list.
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


class StatusReading(Struct, frozen=True):
    """What a text says of a status; None where it says none that is known.

    `is_whole` says that nothing of the text is lost when it is taken away; `text` is it in one line. `day` is the date
    of the status, `began` that of the first that was no end, `is_unknown` says that it is called something else.
    """

    status: Status | None
    text: str
    claims: tuple[Claim, ...] = ()
    is_whole: bool = True
    guess: Guess | None = None
    day: str | None = None
    began: str | None = None
    words: tuple[str, ...] = ()
    is_unknown: bool = False

    @property
    def is_refused(self) -> bool:
        """Say whether the record was never in force."""
        return (
            self.status is Status.DEPRECATED
            and bool(self.words)
            and all(one in _REFUSED.split(", ") for one in self.words)
        )


class _Stated(Struct, frozen=True):
    """What one clause says: a word for a status and its date, or claims on other records.

    `awaits` begins the sentence that a record in the next line ends; `is_known` says that nothing of it is odd.
    """

    word: str = ""
    day: str | None = None
    claims: tuple[Claim, ...] = ()
    is_whole: bool = False
    is_known: bool = True
    awaits: str = ""


def read_status(written: str, *, own: int | None = None) -> StatusReading:
    """Return what the text of a status says; `own` is the number of the record."""
    stated = list(_stated(units_of(written), own))
    words: list[tuple[str, str | None]] = []
    for one in stated:
        if one.word:
            words.append((one.word, one.day))
        elif words and one.day and not one.claims and words[-1][1] is None:
            words[-1] = (words[-1][0], one.day)
    claims = tuple(claim for one in stated for claim in one.claims)
    text, is_whole = " ".join(written.split()), bool(stated) and all(one.is_whole for one in stated)
    if any(one.kind is ClaimKind.SUPERSEDED_BY for one in claims):
        day = next((one.day for one in stated if one.day and one.claims), None)
        return StatusReading(Status.DEPRECATED, text, claims, is_whole, day=day, words=("superseded",))
    if not words:
        is_unknown = not claims and any(not one.is_known for one in stated)
        return StatusReading(None, text, claims, is_whole, is_unknown=is_unknown)
    meant = {_WORDS[word] for word, _ in words}
    dated = [(day, number) for number, (_, day) in enumerate(words) if day]
    status = _WORDS[words[max(dated)[1]][0]] if len(dated) == len(words) else max(meant, key=_LIFE.index)
    said = tuple(dict.fromkeys(word for word, _ in words if _WORDS[word] is status))
    day = next((day for word, day in reversed(words) if _WORDS[word] is status and day), None)
    began = [(_LIFE.index(_WORDS[word]) != 1, day) for word, day in words if day and _is_begin(word)]
    guess = None
    if len(meant) > 1:
        listed = " and ".join(f"`{word}`" for word in dict.fromkeys(word for word, _ in words))
        guess = Guess(f"it says {listed}, and the last of a life is taken", Sureness.LIKELY)
    first = min(began)[1] if began else None
    return StatusReading(status, text, claims, is_whole and len(meant) == 1, guess, day, first, said)


def _is_begin(word: str) -> bool:
    return word in _REFUSED.split(", ") or _WORDS[word] is not Status.DEPRECATED


def is_status_word(text: str) -> bool:
    """Say whether a text is a status and nothing else."""
    return text in _WORDS


def units_of(written: str) -> list[str]:
    """Return the lines of a status; a sentence that goes on in the next line is one."""
    plain = with_whole_labels(without_comments(written))
    return [plain[start:end] for start, end in unit_spans(plain)]


def unit_spans(plain: str) -> list[tuple[int, int]]:
    """Return where the lines of a text begin and end, those that one sentence goes over together."""
    spans: list[tuple[int, int]] = []
    at = 0
    for line in plain.splitlines(keepends=True):
        end = at + len(line)
        if spans and spans[-1][1] == at and _goes_on(plain[spans[-1][0] : at], line):
            spans[-1] = (spans[-1][0], end)
        elif line.strip():
            spans.append((at, end))
        at = end
    return spans


_BULLET = re.compile(r"\A(?:[-*+]\s+|\d+[.)]\s+)?")
_NEW_LINE = re.compile(rf"\s*(?:[-*+#>|<`~]|\d+[.)]\s|(?:{_ANY_WORD}|{_RELATED})|\Z)", re.IGNORECASE)
_OPEN_END = re.compile(r"(?:\b(?:by|with|see|and|or|of|in|the|to|for)|[,(:-])[ \t]*\Z", re.IGNORECASE)
_SUPERSEDED = re.compile(r"\b(?:super[sc]ee?ded|replaced)\W*\Z", re.IGNORECASE)


def _goes_on(said: str, line: str) -> bool:
    """Say whether a line goes on with what the lines before it say."""
    if len(said) > LONGEST or not line.strip():
        return False
    plain = said.rstrip()
    if _NEW_LINE.match(line):
        return _OPEN_END.search(plain) is not None and not re.match(r"\s*(?:[-*+#>|<`~]|\d+[.)]\s)", line)
    first = line.lstrip()[0]
    return bool(
        _OPEN_END.search(plain)
        or first.islower()
        or (_SUPERSEDED.search(plain) and re.match(r"\s*(?:\[|adr|#?\d)", line, re.IGNORECASE))
    )


def _chosen(unit: str) -> str:
    """Return a statement without its bullet, what is struck out, and the boxes and options that were not taken."""
    plain = _STRUCK.sub(" ", _BULLET.sub("", " ".join(unit.split())[: LONGEST + 1], count=1))
    boxes = list(_BOX.finditer(plain))
    if any(one["open"] or one["mark"] in (" ", "") for one in boxes if not one["ticked"]) or any(
        one["mark"] for one in boxes
    ):
        ends = [*(one.start() for one in boxes[1:]), len(plain)]
        taken = (
            plain[one.end() : end]
            for one, end in zip(boxes, ends, strict=True)
            if one["ticked"] or (one["mark"] or " ") in "xX"
        )
        plain = "; ".join(part.strip() for part in taken)
    options = [" ".join(re.sub(r"[^\w\s-]", " ", one).lower().split()) for one in _OPTION.split(plain)]
    known = {_WORDS[one] for one in options if one in _WORDS}
    several = sum(one in _WORDS for one in options)
    if len(known) > 1 and (several > 2 or "|" in plain):
        bold = [one["one"] for one in _BOLD.finditer(plain)]
        return bold[0] if len(bold) == 1 else ""
    return plain.strip() if re.search(r"\w", plain) else ""


def _stated(units: Iterable[str], own: int | None) -> Iterator[_Stated]:
    """Yield what the clauses of the lines say."""
    awaits = ""
    for unit in units:
        chosen = _chosen(unit)
        sentence = sentence_of(chosen, own=own)
        for number, clause in enumerate(part for part in _NEXT.split(sentence.text) if part.strip(" .,;)(")):
            one = _of_clause(sentence, clause, is_first=number == 0, awaits=awaits)
            awaits = one.awaits
            yield replace(one, is_whole=one.is_whole and len(chosen) <= LONGEST)


def _of_clause(sentence: MaskedSentence, clause: str, *, is_first: bool, awaits: str) -> _Stated:
    days = re.findall(DAY, clause)
    found = read_date(sentence.signs[days[0]][1]) if days else None
    day = found.iso if found is not None else None
    if day is not None and _REMARK.match(clause):
        return _Stated(day=day, is_whole=True)
    rest = clause[_end_of(_LEAD, clause) :]
    lead = _IN_PART.match(rest)
    part = lead[0].strip() if lead else ""
    rest = rest[lead.end() :] if lead else rest
    known = _KNOWN.match(rest)
    if known is None and _NOT_NOW.match(rest):
        return _Stated(is_known=False)
    bare = _BARE.match(rest) if awaits else None
    relation = relation_in(sentence, f"{awaits} {rest[bare.end() :]}" if bare else rest, part=part)
    relation = relation or _of_part(sentence, rest)
    word = " ".join(known["word"].lower().split()) if known else ""
    if relation is not None and relation.claims:
        is_seen = all(one.kind is ClaimKind.SEE for one in relation.claims)
        return _Stated(word if is_seen else "", day, relation.claims, relation.is_whole, awaits=awaits if bare else "")
    if (empty := _EMPTY.match(rest)) is not None:
        return _Stated(awaits=empty["verb"])
    if known is None:
        return _Stated(is_known=relation is not None)
    is_ended = _WORDS[word] is Status.DEPRECATED
    if is_ended and (part or _IN_PART.match(known["rest"].lstrip(" ("))):
        return _Stated()
    if not (is_first or _FOLLOWING.match(known["rest"])):
        return _Stated(is_known=False)
    awaits = "superseded by" if word in ("superseded", "superceded", "replaced") else ""
    return _Stated(word, day, (), not part and _REMARK.match(known["rest"]) is not None, awaits=awaits)


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found is not None else 0


def _of_part(sentence: MaskedSentence, clause: str) -> ClaimReading | None:
    """Return what is said of a part of the record: `The encoding part is superseded by ADR-5`."""
    found = _SUBJECT.match(clause)
    if (
        found is None
        or not re.search(rf"\b(?:{PART})\b", found["subject"], re.IGNORECASE)
        or _NOT_NOW.match(found["rest"])
    ):
        return None
    return relation_in(sentence, found["rest"], part=sentence.written(found["subject"]))


def banners_in(written: str, *, own: int | None = None) -> str:
    """Return the lines of a record's head that say of the record itself how it stands: `> **Superseded by ADR-5**`."""
    found: list[str] = []
    for paragraph in re.split(r"\n(?:[ \t>]*\n)+", without_comments(written)):
        is_marked = _MARKED.match(paragraph) is not None
        plain = re.sub(r"^[ \t]*(?:>[ \t]?)+|^[ \t]*(?:!!!|:::)[ \t]*\w*|\[!\w+\]", "", paragraph, flags=re.MULTILINE)
        for unit in units_of(plain):
            stated = list(_stated([unit], own))
            is_claimed = any(one.kind is not ClaimKind.SEE for each in stated for one in each.claims)
            is_ended = any(_WORDS.get(each.word) not in (None, Status.ACTIVE) for each in stated) and is_marked
            is_short = all(each.is_whole for each in stated) or _FOLLOWING.match(_after_word(unit, own)) is not None
            if is_claimed or (is_ended and is_short):
                found.append(unit)
    return "\n".join(found)


_MARKED = re.compile(
    r"\s*(?:[>!:]|\.\.\s|\*\*|__|[^\x00-\x7f]"
    r"|(?:note|warning|important|attention|caution|update|deprecated|superseded|obsolete|rejected|draft)\b)",
    re.IGNORECASE,
)


def _after_word(unit: str, own: int | None) -> str:
    """Return what follows the status that a statement begins with, `x` where it begins with none."""
    text = sentence_of(_chosen(unit), own=own).text
    known = _KNOWN.match(text[_end_of(_LEAD, text) :])
    return known["rest"] if known else " x"


def claims_in(text: str) -> Iterator[Claim]:
    """Yield what a list of links says of other records, such as `Supersedes [2. …](0002-….md)`."""
    for stated in _stated(units_of(_TICKETS.sub("", text)), None):
        yield from (one for one in stated.claims if one.kind is not ClaimKind.SEE)


_TICKETS = re.compile(r"(?<![\w-])#\d+\b")
