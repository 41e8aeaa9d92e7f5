"""Read facts from the text of one file: its rule, its reasons, its amendments, its links and its suppressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from mdmem.checks.check import find_check, nearest_codes
from mdmem.markdown.front_matter import Fields, as_list, is_empty, is_sequence, position_of
from mdmem.markdown.parse import BodyLink, Document, body_links, may_have_links
from mdmem.model.entry import Status
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Finding, Place
from mdmem.record import StoredRecord
from mdmem.store.catalog.addresses import is_entry_place

_REASON = r"(?:rationale|motivation|reason(?:ing)?|justification|why)s?"
_SETTING = r"(?:context|background|problem|purpose|driver)s?"
# Match `Why:`, also in bold, in a quotation or in a list, and headings (with `#` or underlined) that contain the word.
_REASONS_BEGIN = re.compile(
    rf"^[ \t>]*(?:[-*+][ \t]+)?[*_]{{0,2}}{_REASON}(?![a-z])[*_]{{0,2}}[ \t]*[:.\u2013\u2014]"
    rf"|^#{{1,6}}[ \t].*\b(?:{_REASON}|{_SETTING})\b",
    re.IGNORECASE | re.MULTILINE,
)
# The underline is looked for first. Behind the word, it would be looked for again after each of thousands of words.
_UNDERLINED_REASONS = re.compile(
    rf"^(?=.*\n[=-]{{3,}}[ \t]*\r?$).*\b(?:{_REASON}|{_SETTING})\b", re.IGNORECASE | re.MULTILINE
)
_SENTENCE_END = re.compile(r"[.!?](?<!e\.g\.)(?<!i\.e\.)[\"')\]*_]*\s+|\n[ \t]*\r?\n|\n[ \t]*(?:[-*+]|\d+[.)])[ \t]+")
# The group is atomic. Otherwise n comments could match in 2^n ways, since a comment could end in many places.
_NOTHING = re.compile(r"(?>\s+|#{1,6}(?:[ \t][^\n]*)?(?=\r?\n|\Z)|<!--(?s:.*?)-->)*+\Z")
_HEADING = re.compile(r"\n[ \t]*#{1,6}[ \t].*")
_CAUSE = re.compile(
    r"\b(?:because|since|so\s+that|otherwise|therefore|hence|due\s+to|in\s+order\s+to|the\s+reason|(?:that|which)\s+is\s+why"
    r"|to\s+(?:avoid|prevent|keep|ensure|make\s+sure|allow|enable|support|reduce|improve|achieve)|or\s+else|lest|thus|thereby"
    r"|for\s+(?:this|that|the\s+same)\s+reason|as\s+a\s+(?:result|consequence)|which\s+means|leads?\s+to|caused\s+by"
    r"|the\s+(?:problem|issue|trouble|advantage|benefit|drawback|trade-?off)s?|we\s+(?:want|need)|(?:is|are)\s+needed"
    r"|in\s+(?:favou?r\s+of|the\s+past|case)|instead\s+of|rather\s+than|no\s+longer|allows?|avoids?|prevents?"
    r"|use\s+cases?)\b|[,;]\s+(?:so|facing|accepting)\b",
    re.IGNORECASE,
)
_TOPIC = (
    r"considerations?|considered|alternatives?|rejected|goals?|objectives?|benefits?|advantages?|drawbacks?|pros|cons"
    r"|trade-?offs?|use[ -]cases?|user[ ]stor(?:y|ies)|requirements?|need|justification|because|history|discussion|faq"
)
_RATIONALE_HEADING = re.compile(
    rf"^#{{1,6}}[ \t].*\b(?:{_TOPIC})\b"
    rf"|^[ \t]*[*_]{{2}}.{{0,300}}?\b(?:{_TOPIC})\b.{{0,300}}[*_]{{2}}"
    rf"|^(?=.*\n[=~^-]{{3,}}).*\b(?:{_TOPIC})\b",
    re.IGNORECASE | re.MULTILINE,
)
# Words with which an entry explains why it supersedes or overrides another one.
_REPLACES = re.compile(r"\b(?:replac|supersed)\w+", re.IGNORECASE)


def is_blank_body(body: str) -> bool:
    """Return whether a body has only white space, headings and comments."""
    return _NOTHING.match(body) is not None


def reasons_begin(prose: str) -> int | None:
    """Return the offset of the line at which the reasons for a rule begin, or None."""
    found = [_REASONS_BEGIN.search(prose)]
    if "\n---" in prose or "\n===" in prose:
        found.append(_UNDERLINED_REASONS.search(prose))
    return min((match.start() for match in found if match), default=None)


def gives_reason(body: str) -> bool:
    """Return whether a body gives a reason."""
    is_plain = "Rationale:" in body or _CAUSE.search(body) is not None
    return is_plain or reasons_begin(body) is not None or _RATIONALE_HEADING.search(body) is not None


def statement(prose: str) -> str:
    """Return the text before the reasons, or else all of it. Spaces replace the headings."""
    plain = _HEADING.sub(lambda found: "\n" + " " * (len(found.group()) - 1), f"\n{prose}")[1:]
    before = plain[: reasons_begin(prose)]
    return before if before.strip() else plain


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a text with their offsets; each item of a list counts as one."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield start, text[start : end.start()]
        start = end.end()
    yield start, text[start:]


# Beginning with a character class makes the search three times as fast as beginning with `\b`.
_AMENDS = re.compile(
    r"[AaMmPpRrSsUu](?:mend|evise|pdate|odif(?:ie|y)|elaxe?|upplement|artially (?:supersede|replace))(s?)\b"
)
_SUBJECT = re.compile(
    r"\b(?:(?:this|the present)(?: \w+){0,2}|we|it)\s+(?:(?:also|only|partially)\s+)?(?:\w+\s+and\s+)?\Z", re.IGNORECASE
)
# Without a subject, the verb must begin the sentence and end in -s, since `Update the list` is a task for somebody.
_START = re.compile(r"(?:\A|[.:!?]\s+|\n)[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}\Z")
_BEFORE = 40
# At most 60 characters, up to the end of the sentence, since a name far from the verb belongs to something else.
_OBJECT = re.compile(r"(?:[^.!?;\n]|\.(?=\w)|\n(?!\s)){0,60}")
_LONGEST_NAME = 200
_NAME = re.compile(
    r"(?<![\w-])(?P<kind>[A-Za-z]{2,10})(?:[ \-_]|:`|\s#)0*(?P<number>\d{1,6})(?![\w-])"
    r"|(?<![\w/-])(?P<address>[a-z0-9_]+/[a-z0-9-]+/[\w-]+)"
)


class AmendmentSentence(StoredRecord, frozen=True, array_like=True):
    """The offset of a verb such as "amends", and the names (an address, or `adr 7`) and links that follow it."""

    offset: int
    start: int
    end: int
    names: tuple[tuple[int, str], ...]


def amendment_sentences(body: str, prose: Callable[[], str]) -> Iterator[AmendmentSentence]:
    """Yield the sentences that say that the entry amends another one; `prose` returns the body without code."""
    for verb in _AMENDS.finditer(body):
        if not prose().startswith(verb[0], verb.start()):
            continue
        before = prose()[max(0, verb.start() - _BEFORE) : verb.start()]
        begins = verb[1] and verb[0][0].isupper() and _START.search(before)
        if not before[-1:].isalnum() and (begins or _SUBJECT.search(before)):
            part = _OBJECT.match(prose(), verb.end())
            start, end = part.span() if part else (verb.end(), verb.end())
            names = []
            # Read beyond `end`, so that a number at the end is not cut off.
            for found in _NAME.finditer(body, start, end + _LONGEST_NAME):
                kind, number, address = found.group("kind", "number", "address")
                # Search the body, since the number in :pep:`376` looks like code, but the kind must be outside code.
                if found.start() < end and prose().startswith(kind or address, found.start()):
                    names.append((found.start(), address or f"{kind.casefold()} {int(number)}"))
            yield AmendmentSentence(verb.start(), start, end, tuple(names))


# A comment that is not closed reaches to the end of the file, as in a browser.
_SUPPRESSION = re.compile(r"<!--\s*mdmem:(.*?)(-->|\Z)", re.DOTALL)
_FORM = "write `<!-- mdmem: ignore CODE REASON -->`"


class Suppression(Struct, frozen=True):
    """An instruction to ignore the findings of a check in a file; `fault` has a message and a hint if it is invalid."""

    code: str
    reason: str
    place: Place
    address: str | None = None
    fault: tuple[str, str] | None = None


def suppressions_in(document: Document, prose: Callable[[], str]) -> Iterator[Suppression]:
    """Yield all suppressions in an entry or a manifest, also invalid ones; none if its front matter is invalid."""
    is_entry = is_entry_place(document.path)
    is_plain = any(one.former == "front-matter-missing" for one in document.findings)
    if document.fields is None and (is_entry or not is_plain):
        # Ignore suppressions in files whose front matter is invalid. A README without front matter is no manifest.
        return
    address = document.path.removesuffix(".md") if is_entry else None
    stated = document.fields.get("ignore") if is_entry and document.fields is not None else None
    for code, given in stated.items() if isinstance(stated, dict) else ():
        reason = given if isinstance(given, str) else ""
        fault = _suppression_fault(code, reason, f"write `ignore: {{{code}: REASON}}`")
        yield Suppression(code, reason, document.place("ignore"), address, fault)
    for comment in _SUPPRESSION.finditer(prose()) if "mdmem:" in document.body else ():
        # Take the words from the body, since a reason may contain code, which is removed from the prose.
        words = document.body[comment.start(1) : comment.end(1)].split(maxsplit=2)
        verb, code, reason = (*words, "", "", "")[:3]
        code, reason = code.rstrip(":"), " ".join(reason.split())
        fault = _suppression_fault(code, reason, f"write `<!-- mdmem: ignore {code} REASON -->`")
        if verb != "ignore":
            fault = (f"`mdmem: {verb}` is not an instruction; the only one is `mdmem: ignore`", _FORM)
        elif not comment[2]:
            fault = ("the comment is never closed", "write `-->` behind the reason")
        yield Suppression(code, reason, document.body_place(comment.start(), 4), address, fault)


def _suppression_fault(code: str, reason: str, how: str) -> tuple[str, str] | None:
    if not code:
        return "the comment does not say which check to ignore", _FORM
    check = find_check(code)
    if check is None:
        return f"there is no check `{code}` to ignore", nearest_codes(code)
    if not check.is_excusable:
        return f"`{code}` cannot be ignored in a file", "fix what it finds, and remove this"
    if not re.search(r"\w", reason):
        return f"`{code}` needs a reason to be ignored", how
    return None


class WrittenLink(StoredRecord, frozen=True, array_like=True):
    """One item of a link field, as it is written in the file."""

    field: str
    item: int
    written: str


def written_items(document: Document, name: str) -> Iterator[tuple[int, str]]:
    """Yield the items of a list field, or its only value, as they are written in the file, with their indexes."""
    value = document.fields.get(name) if document.fields is not None else None
    for item, written in enumerate(as_list(value)):
        if written is not None:
            yield item, str(written)


class FileFacts(StoredRecord, frozen=True):
    """The facts about one file that checks need, and the findings that depend only on this file."""

    # The line, column and width of the value of each field, followed by those of the items of a list.
    places: Mapping[str, tuple[tuple[int, int, int], ...]] = {}
    links: tuple[WrittenLink, ...] = ()
    references: tuple[BodyLink, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    amendments: tuple[AmendmentSentence, ...] = ()
    gives_reason: bool = False
    # In bytes.
    body_size: int = 0
    findings: tuple[Finding, ...] = ()


def _places_of(fields: Fields) -> dict[str, tuple[tuple[int, int, int], ...]]:
    found = {}
    for name in fields:
        key, value = fields.nodes[name]
        nodes = (key if is_empty(value) else value, *(value.value if is_sequence(value) else ()))
        found[name] = tuple(map(position_of, nodes))
    return found


def read_facts(document: Document, prose: Callable[[], str]) -> FileFacts:
    """Return what the checks need to know about a document; `prose` returns the body without code, and is slow."""
    fields, body = document.fields, document.body
    links = [WrittenLink(name, item, text) for name in LINK_FIELDS for item, text in written_items(document, name)]
    references = tuple(body_links(prose())) if fields is not None and may_have_links(body) else ()
    is_in_force = fields is not None and fields.get("status") in (Status.ACTIVE, Status.UNDER_REVIEW)
    replaces = any(one.field in ("supersedes", "overrides") for one in links)
    return FileFacts(
        places=_places_of(fields) if fields is not None else {},
        links=tuple(links),
        references=references,
        suppressions=tuple(suppressions_in(document, prose)),
        amendments=tuple(amendment_sentences(body, prose)) if is_in_force else (),
        gives_reason=replaces and (_REPLACES.search(body) is not None or gives_reason(body)),
        body_size=len(body.encode("utf-8")),
    )
