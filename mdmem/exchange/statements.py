"""Parse what a record states about its status and about other records, in words, sentences and lists.

A text is split into units (lines, or lines that belong together), and each unit into clauses. A clause has a word for a
status, as in `Accepted on 2024-05-06`, or a relation, as in `Superseded by [ADR-5](0005-x.md) (encoding only)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from mdmem.exchange.record import Claim, ClaimKind, ParsedStatus, read_date, without_comments
from mdmem.markdown.body import without_targets
from mdmem.markdown.parse import path_of
from mdmem.model.entry import Status

# Before parsing, each date and each reference is replaced by one private-use Unicode character.
_FIRST_DAY, _FIRST = 0xE000, 0xE100
_DAY, _REFERENCE = "[\ue000-\ue0ff]", "[\ue100-\uf8ff]"
# Longer texts are prose and are not parsed.
_MAX_LENGTH = 2000

_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()\[]*\)")
_LINK = re.compile(
    r"\[(?P<label>[^\[\]]*)\]"
    r"\((?:<(?P<angled>[^<>]*)>|(?P<path>(?:\\.|[^()\s\[\\]|\([^()\s\[]*\))*))(?:\s+[\"'(][^()\[]*)?\)"
    r"|\[\[(?P<wiki>[^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]"
    r"|\[(?P<word>[^\[\]]{2,})\](?:\[[^\[\]]*\])?|<?(?P<url>https?://[^\s<>()\[\]]+)>?"
    r"|(?<![\w./-])(?P<file>[\w./-]{1,300}\.md)\b",
    re.IGNORECASE,
)
# The label of a link may be the whole statement: `[Superseded by ADR-5](0005-x.md)`.
_LABEL = re.compile(r"\W*(?:super[sc]ee?de[ds]|replace[ds]|obsoleted|deprecated|amended)(?:\s+by\b|\W*\Z)", re.I)
_TICKET = re.compile(r"(?<![\w-])#\d+\b")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?\b"
    r"|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{4}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\.?\s+{_MONTH},?\s+\d{{4}}\b"
    rf"|\b{_MONTH}\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?\d{{4}}\b",
    re.IGNORECASE,
)
# A number after one of these words is not the number of a record.
_NOT_RECORDS = (
    r"sections?|parts?|points?|clauses?|paragraphs?|bullets?|rules?|items?|options?|versions?|phases?|steps?|chapters?"
    r"|tables?|figures?|issues?|tickets?|bugs?|stories|story|pr|mr|requests?|lines?|pages?|v"
)
_NAME = re.compile(
    rf"(?P<other>(?:\b(?:{_NOT_RECORDS})|\xa7)\s*#?\d[\w.-]*)"
    r"|(?:(?<![\w.])(?:(?:adrs?|madr|rfc|ad|dec|[a-z]{1,3}dr|decisions?|records?)[\s_#:.-]{0,2}(?:(?:no|nr|number)\b[\s.]*)?"
    r"|(?:no|nr|number)\b[\s.]*|[a-z]{2,10}-(?:[a-z]{1,10}-)?|(?-i:[A-Z]{3,6}s?)\s?)#?|(?<![\w./#])#|(?<![\w.,:/#\xa7-]))"
    r"\d{1,8}(?:[-_][\w-]{1,200})?(?:\.md)?(?![\w%/]|[.,]\d)"
    r"|(?<![\w./-])[a-z0-9]+(?:-[a-z0-9]+){2,40}(?![\w/-])",
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"[*`~|]|(?<!\w)_+|(?<!_)_+(?!\w)|[^\w\s\ue000-\uf8ff\[\](){}.,:;#/'\"<>&+=%@!?\u2013\u2014\u2192\xa7-]"
)


def _is_mere_number(reference: Claim) -> bool:
    """Return whether a reference is only a number, such as `35` or `#35`, which may also be an issue's."""
    return not reference.is_path and re.fullmatch(r"\W*\d+", reference.target) is not None


class _Sentence(Struct, frozen=True):
    """A sentence without markup, in which one private-use character replaces each reference and each date.

    `masked` maps these characters to the reference (None for a date) and the original text.
    """

    text: str
    masked: Mapping[str, tuple[Claim | None, str]]

    def original(self, text: str) -> str:
        """Return a part of the sentence, with its references and dates as the author wrote them."""
        return "".join(self.masked[one][1] if one in self.masked else one for one in text.strip(" .;"))


def _sentence_of(written: str) -> _Sentence:
    masked: dict[str, tuple[Claim | None, str]] = {}

    def mask(shown: str, target: str | None = None, *, is_path: bool = False) -> str:
        char = chr(_FIRST_DAY + len(masked) % 256 if target is None else _FIRST + len(masked))
        masked[char] = (None if target is None else Claim(ClaimKind.SEE, target, is_path), shown)
        return char

    def link(found: re.Match[str]) -> str:
        if found["wiki"]:
            return mask(found["wiki"], found["wiki"].strip())
        if found["word"]:
            return found["word"]
        label = found["label"] or ""
        target = found["angled"] or found["path"] or found["url"] or found["file"] or ""
        stem, _, ending = target.rpartition("/")[2].rpartition(".")
        is_path = "://" not in target
        # A place in this file, or another page of the web, is not a record.
        is_record = target[:1] not in ("", "#") if is_path else ending == "md" and "-" in stem
        if not is_record:
            return _TICKET.sub("", label) or found["url"] or ""
        stated = _LABEL.match(label)
        char = mask(label or target, path_of(target) if is_path else stem, is_path=is_path)
        return f"{stated[0] if stated else ''} {char}"

    text = re.sub("[\ue000-\uf8ff]", "", " ".join(written[:_MAX_LENGTH].split()))
    text = _LINK.sub(link, _IMAGE.sub(r"\1", text))
    text = _DATE.sub(lambda found: mask(found[0]), text)
    text = _NAME.sub(lambda found: found[0] if found["other"] else mask(found[0], found[0].removesuffix(".md")), text)
    return _Sentence(" ".join(_MARKS.sub("", text).split()), masked)


_PART = (
    r"in\s+parts?|parts?\s+of|parts?|partly|partial|partially|half|mostly|largely|only|except|excepting|excluding"
    r"|apart\s+from|other\s+than|portions?|aspects?|sections?|clauses?|paragraphs?|bullets?"
)
_IN_PART = re.compile(rf"\b(?:{_PART})\b|\xa7", re.IGNORECASE)
_QUALIFIES = re.compile(
    rf"[\s,:(\u2013\u2014-]*(?:but\s+)?(?:{_PART}|for|regarding|concerning|as\s+(?:regards|far\s+as|to)"
    r"|with\s+(?:respect|regard)\s+to|in\s+respect\s+of|where|insofar)\b",
    re.IGNORECASE,
)
# Words between the verb and a record that do not describe a part of the record.
_PLAIN = re.compile(
    r"the|this|that|these|our|an?|new|newer|following|later|earlier|older|previous|also|both|and|adrs?|madrs?|rfcs?"
    r"|decisions?|records?|document|proposal|approach|in|made|taken|as|on|since|from|number|no|nr|see|now",
    re.IGNORECASE,
)
_ENDING = r"super[sc]ee?d|replac|obsolet|deprecat"
_VERB = re.compile(
    rf"(?:(?:{_PART})\s+)?(?P<verb>(?P<ends>{_ENDING})[a-z]*|(?:amend|modif|updat|chang|revis)[a-z]*)"
    rf"(?:[\s(,]*(?:(?:on|as\s+of|since|in)\s+)?{_DAY}\s*\)?)?(?:\s+(?:{_PART})\b)?"
    r"(?P<by>\s+(?:by|with|through)\b|,?\s+in\s+favou?r\s+of\b"
    r"|(?P<see>[\s,(:.\u2013\u2014-]*\bsee(?:\s+also)?\b)|\s*(?:\u2192|->|=>))?"
    rf"(?:\s+(?:{_PART})\b)?(?:\s+by\b)?",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r"(?P<lead>[\s,;:&+/(\u2013\u2014-]*(?:\b(?:and|or|as\s+well\s+as)\b)?)\s*"
    r"(?P<words>(?:[\w'\u2019\xa7.#]+[\s:]+){0,6}?)"
    rf"(?P<mask>{_REFERENCE})(?:\s*\((?P<note>[^()]*)\))?"
)
# A number that counts something, or is part of a name: `It replaces 2 queues`, `It replaces HTTP 2 streams`.
_COUNTABLE = re.compile(r"(?:(?!ADR|RFC)[A-Z]{3,6}\s?)?\W*\d+")
_COUNT = re.compile(
    rf"{_REFERENCE}\s+(?!(?:and|or|in|for|on|by|as|with|except|only|but|because|due|since|from|at|partly|partially|where|which)\b)[a-z]"
)
_REPOSITORY = re.compile(r"\s*(?:of|in|from)\s+[\w.-]+/[\w.-]+")
# The kind of a relation: whether it ends the other record, and whether it is passive.
_KINDS = {
    (True, False): ClaimKind.SUPERSEDES,
    (True, True): ClaimKind.SUPERSEDED_BY,
    (False, False): ClaimKind.AMENDS,
    (False, True): ClaimKind.AMENDED_BY,
}


def _relation_in(sentence: _Sentence, clause: str) -> tuple[tuple[Claim, ...], bool]:
    """Return the claims that begin a clause, and whether there is nothing else in it."""
    found = _VERB.match(clause)
    if found is None:
        return (), False
    verb, by, is_ending = found["verb"].lower(), found["by"], found["ends"] is not None
    is_passive = by is not None or (is_ending and verb.endswith(("ed", "ete")))
    if verb.startswith("deprecat") and (found["see"] or not is_passive):
        return (), False
    in_part = _IN_PART.search(found[0]) is not None
    # Each record, and whether the words around it limit the relation to a part of it.
    objects: list[tuple[Claim, bool]] = []
    is_whole, at = not in_part, found.end()
    while item := _OBJECT.match(clause, at):
        reference, words, note = sentence.masked[item["mask"]][0], item["words"].split(), item["note"] or ""
        if reference is None or (objects and words and not item["lead"].strip()):
            break
        is_plain = all(_PLAIN.fullmatch(word.strip(":.")) for word in words)
        if not (is_plain or _IN_PART.search(item["words"]) or words[-1] == "of"):
            break
        is_count = _COUNTABLE.fullmatch(reference.target) and _COUNT.match(clause, item.start("mask"))
        if is_count or _REPOSITORY.match(clause, item.end()):
            break
        if objects and not words and not item["lead"].strip(" :(-\u2013\u2014"):
            # A number followed by a link to the same record. The link is more certain.
            objects[-1] = (reference if reference.is_path else objects[-1][0], objects[-1][1])
        else:
            limits = not is_plain or bool(note and (in_part or _IN_PART.search(note) or _QUALIFIES.match(note)))
            is_whole = is_whole and not limits and not note.strip(" \ue000-\ue0ff")
            objects.append((reference, limits))
        at = item.end()
    rest = "" if _REMARK.match(clause, at) else clause[at:].strip(" .;)")
    is_aside = rest.startswith(("-", "\u2013", "\u2014", "("))
    in_part = in_part or bool(_QUALIFIES.match(rest) or (is_aside and _IN_PART.search(rest)))
    claims = tuple(
        replace(
            reference,
            kind=_KINDS[is_ending and not (in_part or limits), is_passive],
            qualifier=sentence.original(clause) if in_part or limits else "",
        )
        for reference, limits in objects
        # After other verbs a plain number is not a record: `Updated 2020`.
        if is_ending or verb.startswith("amend") or not _is_mere_number(reference)
    )
    return claims, is_whole and not rest and 0 < len(claims) == len(objects)


_KEY = re.compile(
    r"(?:(?:partially|partly|in part) )?"
    r"(?P<verb>super[sc]ee?de[sd]|replace[sd]|obsolete[sd]|amend(?:s|ed)|modifie[sd]|update[sd])"
    r"(?: partially| partly| in part)?(?P<by> ?by)?(?: in part)?"
)


def kind_of_key(key: str) -> ClaimKind | None:
    """Return the kind of relation that a key such as `Superseded by` states, or None for another key."""
    found = _KEY.fullmatch(_words_of(key))
    if found is None:
        return None
    is_ending, is_past = re.match(_ENDING, found["verb"]) is not None, found["verb"].endswith("ed")
    # Without `by`, a word such as `Amended` may be about the record itself.
    is_passive = found["by"] is not None or (is_ending and is_past)
    return _KINDS[is_ending, is_passive] if is_passive or not is_past else None


def _words_of(key: str) -> str:
    return " ".join(re.split(r"[\s_-]+", key.strip())).lower()


def claims_of(key: str, written: str) -> tuple[Claim, ...]:
    """Return the relations in a key's value: `see` if the key states no kind, and then not for mere numbers."""
    if kind_of_key(key) is None:
        found = (one for one, _ in _sentence_of(written).masked.values())
        return tuple(one for one in found if one is not None and not _is_mere_number(one))
    verb = re.sub(r"(?<=[ds])by\b", " by", _words_of(key))
    sentence = _sentence_of(f"{verb} {written}")
    return _relation_in(sentence, sentence.text)[0]


# A record with one of these words was never accepted, so its date is also the day of its deprecation.
_REFUSED = (
    "rejected, declined, withdrawn, cancelled, canceled, dismissed, denied, refused, vetoed, discarded, unapproved,"
    " not accepted, not approved, not adopted, never accepted, never approved, never adopted, never implemented"
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
        " moribund, no longer in force, no longer in effect, no longer valid, no longer applicable, no longer relevant,"
        f" {_REFUSED}"
    ),
}
_WORDS = {word: status for status, words in _MEANINGS.items() for word in words.split(", ")}
_REFUSALS = frozenset(_REFUSED.split(", "))
_ANY_WORD = "|".join(one.replace(" ", r"\s+") for one in sorted(_WORDS, key=len, reverse=True))
_PARTLY = r"(?:in\s+parts?|partly|partial|partially|half|mostly|largely|only)\b\s*"
_KNOWN = re.compile(
    rf"(?P<before>{_PARTLY})?(?P<word>{_ANY_WORD})\b(?P<rest>(?P<after>[ (]*{_PARTLY})?.*)", re.IGNORECASE | re.DOTALL
)
_RELATED = r"super[sc]ee?d|replac|obsolet|amend"
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
    rf"(?:this\s+(?-i:[A-Z]{{2,6}})\b|(?!(?:{_ANY_WORD})\b)(?:{_OF_ITSELF})\b(?!-)[\s:,.!]*|{_DAY}|[^\w\s\[{_REFERENCE[1:-1]}]|\[(?=!)|\s)*",
    re.IGNORECASE,
)
_REMARK = re.compile(
    rf"[\s.,:;()\[\]-]*(?:(?:on|since|at|date|as\s+of)[\s.,:()\[\]-]*)?(?:{_DAY}[\s.,:()\[\]-]*)?\Z", re.I
)
# The text that may follow a status in a later clause. For example, `Deprecated methods stay` is not a status.
_FOLLOWING = re.compile(
    rf"\s*(?:\Z|[^\w\s]|{_DAY}|(?:by|on|in|at|since|as|with|and|but|for|from|after|due|because|see|until|when|via)\b)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r";\s+|(?<!\bno)\.\s+(?-i:(?=[^\W\d_a-z]|[\ue100-\uf8ff]))"
    r"|(?:[,(/\u2013\u2014]|\s-|\u2192|->|=>|\s(?=and\b|but\b|then\b))\s*"
    r"(?:(?:and|but|then|later|now|also|it|has|have|is|was|been)\s+){0,8}"
    rf"(?=(?:{_DAY}[\s:-]*)?(?:(?:{_PART})\s+)?(?:{_RELATED})|(?:{_ANY_WORD})\b(?!\s+(?:{_REFERENCE})))",
    re.IGNORECASE,
)
# An empty line of a template.
_EMPTY = re.compile(
    rf"(?:{_RELATED})[a-z]*?(?:s\b|\b(?=\s*:)|\b(?=\s+by\b))(?:\s+by\b)?\s*:?\s*(?:none|nothing|n/?a|tbd)?[\s.-]*\Z",
    re.I,
)
# A status in a word of its own after a relation: `Amends 1. Abgelehnt.`, `Amended by ADR-1 superseded`.
_ONE_WORD = re.compile(r"[^\W\d_a-z][^\W\d_]*[\s.]*")
_LAST_WORD = re.compile(rf"{_REFERENCE}\)?\s+(?:{_ANY_WORD})[\s.]*\Z", re.IGNORECASE)
# Text that is struck through, and options whose box is not ticked.
_NOT_CHOSEN = re.compile(
    r"~~[^~\n]*~~|<(?P<tag>s|del|strike)>[^<>]*</(?P=tag)>"
    r"|(?:\[ ?\](?![(\[:])|[\u2610\u2b1c\U0001f532\U0001f533])[^\[|;,/\u2610-\u2714]*",
    re.IGNORECASE,
)
_OPTION = re.compile(r"\s*[|/]\s*|\s*,\s*(?:or\s+)?|\s+or\s+")
_BULLET = re.compile(r"\A(?:[-*+]\s+|\d+[.)]\s+)?(?:\[x\]\s+)?", re.IGNORECASE)
_NEW_LINE = re.compile(rf"\s*(?:[-*+#>|<`~]|\d+[.)]\s|(?:{_ANY_WORD}|{_RELATED})|\Z)", re.IGNORECASE)
_NEW_BLOCK = re.compile(r"\s*(?:[-*+#>|<`~]|\d+[.)]\s)")
_OPEN_END = re.compile(r"(?:\b(?:by|with|see|and|or|of|in|the|to|for)|[,(:-])[ \t]*\Z", re.IGNORECASE)
_BANNER = re.compile(
    r"\s*(?:[>!:]|\.\.\s|\*\*|__|[^\x00-\x7f]"
    r"|(?:note|warning|important|attention|caution|update|deprecated|superseded|obsolete|rejected|draft)\b)",
    re.IGNORECASE,
)
_BANNER_MARK = re.compile(r"^[ \t]*(?:>[ \t]?)+|^[ \t]*(?:!!!|:::)[ \t]*\w*|\[!\w+\]", re.MULTILINE)


class _Clause(Struct, frozen=True):
    """One clause of a text: a word for a status with its date, or claims about other records.

    `is_known` means that the clause was understood, and `doubt` is a clause that mentions a record and was not
    understood. With `is_followed`, the text after the word matches `_FOLLOWING`.
    """

    word: str = ""
    day: str | None = None
    claims: tuple[Claim, ...] = ()
    is_whole: bool = False
    is_known: bool = True
    doubt: str = ""
    is_followed: bool = False


def read_status(written: str) -> ParsedStatus:
    """Return the status that a text states."""
    clauses = list(_read_clauses(_units(written)))
    words: list[tuple[str, str | None]] = []
    for one in clauses:
        if one.word:
            words.append((one.word, one.day))
        elif words and one.day and not one.claims and words[-1][1] is None:
            words[-1] = (words[-1][0], one.day)
    claims = tuple(claim for one in clauses for claim in one.claims)
    is_replaced = any(one.kind is ClaimKind.SUPERSEDED_BY for one in claims)
    meant = {Status.DEPRECATED} if is_replaced else {_WORDS[word] for word, _ in words}
    status = max(meant, key=[*_MEANINGS].index, default=None)
    chosen = [word for word, _ in words if _WORDS[word] is status]
    is_whole = bool(clauses) and all(one.is_whole for one in clauses) and len(meant) < 2
    if is_replaced:
        ends = [one.day for one in clauses if one.claims]
        # A date of its own, as in adr-tools, is that of the record, which stays when somebody changes the status.
        starts = [(number, one.day) for number, one in enumerate(clauses) if one.day and not one.claims]
    else:
        ends = [day for word, day in reversed(words) if _WORDS[word] is status]
        # The day of the acceptance is the best date of a record, and a refusal has no other.
        starts = [
            (int(_WORDS[word] is not Status.ACTIVE), day)
            for word, day in words
            if day and (_WORDS[word] is not Status.DEPRECATED or word in _REFUSALS)
        ]
    text = " ".join(without_targets(written).split())
    if is_whole and chosen and not is_replaced and (claims or len(words) > 1):
        # The text also has links, or states the status in several places.
        text = chosen[0]
    listed = " and ".join(f"`{word}`" for word in dict.fromkeys(word for word, _ in words))
    return ParsedStatus(
        status,
        text,
        claims,
        is_whole,
        guess=f"it has the statuses {listed}; the later one counts" if len(meant) > 1 else "",
        day=next(filter(None, ends), None),
        began=min(starts)[1] if starts else None,
        is_unknown=not words and any(not one.is_known for one in clauses),
        is_refused=bool(chosen) and not is_replaced and _REFUSALS.issuperset(chosen),
        doubts=tuple(one.doubt for one in clauses if one.doubt),
    )


def with_folders(parsed: ParsedStatus, folders: Iterable[str]) -> ParsedStatus:
    """Return the status of a record in these folders, such as `retired`: an ended one outweighs the record's own."""
    for name in folders:
        words = [one if one in _WORDS else f"{one}d" for one in re.split(r"[\W_]+", name.lower())]
        status, *others = {_WORDS.get(one) for one in words}
        # Folders such as `review` and `rfc` are subjects, too.
        is_unstated = parsed.status is None and not parsed.is_unknown and re.fullmatch(r"draft|\w+ed", words[-1])
        is_ending = status is Status.DEPRECATED and parsed.status is not Status.DEPRECATED
        if status is not None and not others and (is_ending or is_unstated):
            why, is_refused = f"it is in the folder `{name}`", _REFUSALS.issuperset(words)
            parsed = replace(
                parsed, status=status, text=why, guess=why, day=None, is_unknown=False, is_refused=is_refused
            )
    return parsed


def banners_in(written: str) -> Iterator[str]:
    """Yield the lines at the top of a record that state its own status, such as `> **Superseded by ADR-5**`."""
    for paragraph in re.split(r"\n(?:[ \t>]*\n)+", without_comments(written)):
        is_marked = _BANNER.match(paragraph) is not None
        for unit in _units(_BANNER_MARK.sub("", paragraph)):
            clauses = list(_read_clauses([unit]))
            has_status = any(_WORDS.get(one.word, Status.ACTIVE) is not Status.ACTIVE for one in clauses)
            is_short = all(one.is_whole for one in clauses) or clauses[0].is_followed
            if any(one.claims for one in clauses) or (is_marked and has_status and is_short):
                yield unit


def claims_in(text: str) -> Iterator[Claim]:
    """Yield the claims in a list of links such as `Supersedes [2. …](0002-….md)`."""
    for clause in _read_clauses(_units(_TICKET.sub("", text))):
        yield from clause.claims


def _units(written: str) -> list[str]:
    """Return the lines of a text. Lines that continue a sentence are joined."""
    units: list[str] = []
    is_near = False
    for line in without_comments(written).splitlines():
        before = units[-1] if is_near and len(units[-1]) <= _MAX_LENGTH else ""
        is_near = bool(line.strip())
        is_open = _OPEN_END.search(before[-8:]) is not None
        if is_open and _EMPTY.match(before):
            # The record is an item below `Superseded by:`.
            line = _BULLET.sub("", line)
        is_new = (_NEW_BLOCK if is_open else _NEW_LINE).match(line) is not None
        if before and not is_new and (is_open or line.lstrip()[0].islower()):
            units[-1] = f"{before} {line.strip()}"
        elif is_near:
            units.append(line.strip())
    return units


def _read_clauses(units: Iterable[str]) -> Iterator[_Clause]:
    for unit in units:
        chosen = " ".join(_NOT_CHOSEN.sub(" ", _BULLET.sub("", " ".join(unit.split())[: _MAX_LENGTH + 1])).split())
        options = [" ".join(re.sub(r"[^\w\s-]", " ", one).lower().split()) for one in _OPTION.split(chosen)]
        known = [_WORDS[one] for one in options if one in _WORDS]
        if len(set(known)) > 1 and (len(known) > 2 or "|" in chosen):
            # The line of a template with all statuses.
            yield _Clause(is_known=False)
        elif re.search(r"\w", chosen):
            sentence, is_related = _sentence_of(chosen), False
            for number, text in enumerate(part for part in _NEXT.split(sentence.text) if part.strip(" .,;)(")):
                clause = _read_clause(sentence, text, is_first=number == 0)
                # After a relation, the rest of the line is about the relation.
                is_related = is_related or bool(clause.claims)
                is_about = is_related and _ONE_WORD.fullmatch(text) is None
                clause = replace(clause, is_known=clause.is_known or is_about)
                yield clause if len(chosen) <= _MAX_LENGTH else _Clause(clause.word, clause.day, clause.claims)


def _read_clause(sentence: _Sentence, text: str, *, is_first: bool) -> _Clause:
    days = re.findall(_DAY, text)
    found = read_date(sentence.masked[days[0]][1]) if days else None
    day = found[0] if found is not None else None
    if day is not None and _REMARK.match(text):
        return _Clause(day=day, is_whole=True)
    rest = _LEAD.sub("", text, count=1)
    claims, is_whole = _relation_in(sentence, rest)
    if claims:
        return _Clause("", day, claims, is_whole, doubt=sentence.original(text) if _LAST_WORD.search(rest) else "")
    if _EMPTY.match(rest):
        return _Clause()
    known = _KNOWN.match(rest)
    if known is None:
        return _Clause(is_known=False, doubt=sentence.original(text) if re.search(_REFERENCE, rest) else "")
    word = " ".join(known["word"].lower().split())
    if _WORDS[word] is Status.DEPRECATED and (known["before"] or known["after"]):
        return _Clause()
    is_followed = _FOLLOWING.match(known["rest"]) is not None
    if not (is_first or is_followed):
        return _Clause(is_known=False)
    is_whole = not known["before"] and _REMARK.match(known["rest"]) is not None
    return _Clause(word, day, (), is_whole, is_followed=is_followed)
