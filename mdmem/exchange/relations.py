"""Parse the relations to other records in a sentence such as `Superseded by [ADR-5](0005-x.md) (encoding only)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from mdmem.exchange.record import Claim, ClaimKind
from mdmem.markdown.parse import path_of

# Before parsing, each date and each reference is replaced by one private-use Unicode character.
_FIRST_DAY, _FIRST = 0xE000, 0xE100
DAY, REFERENCE = "[\ue000-\ue0ff]", "[\ue100-\uf8ff]"
# Longer texts are prose and are not parsed.
LONGEST = 2000

_IMAGE = re.compile(r"!\[([^\[\]]*)\]\(([^()\s\[]*)[^()\[]*\)")
_BADGE = re.compile(r"status-([A-Za-z]+(?:(?:_|%20)[A-Za-z]+)*)", re.IGNORECASE)
_LINK = re.compile(
    r"\[(?P<label>[^\[\]]*)\]"
    r"\((?:<(?P<angled>[^<>]*)>|(?P<path>(?:\\.|[^()\s\[\\]|\([^()\s\[]*\))*))(?:\s+[\"'(][^()\[]*)?\)"
    r"|\[\[(?P<wiki>[^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]"
    r"|\[(?P<word>[^\[\]]{2,})\](?:\[[^\[\]]*\])?|<?(?P<url>https?://[^\s<>()\[\]]+)>?"
    r"|(?<![\w./-])(?P<file>[\w./-]{1,300}\.md)\b",
    re.IGNORECASE,
)
# The label of a link may be the whole statement: `[Superseded by ADR-5](0005-x.md)`.
_LABEL = re.compile(
    r"\W*((?:super[sc]ee?ded|replaced|obsoleted|deprecated|amended)\s+by\b|(?:super[sc]ee?de[ds]|replace[ds])\W*\Z)",
    re.IGNORECASE,
)
_OF_ITSELF = re.compile(r"\s+(?:is|was|ha[sd]|super|replac|obsolet|deprecat|amend|reject|withdr)", re.IGNORECASE)
_TICKET = re.compile(r"#\d+")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?\b"
    r"|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{4}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\.?\s+{_MONTH},?\s+\d{{4}}\b"
    rf"|\b{_MONTH}\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?\d{{4}}\b",
    re.IGNORECASE,
)
# A number after one of these words is not the number of a record.
_OTHERS = (
    r"sections?|parts?|points?|clauses?|paragraphs?|bullets?|rules?|items?|options?|versions?|phases?|steps?|chapters?"
    r"|tables?|figures?|issues?|tickets?|bugs?|stories|story|pr|mr|requests?|lines?|pages?|v"
)
_NAME = re.compile(
    rf"(?P<other>(?:\b(?:{_OTHERS})|\xa7)\s*#?\d[\w.-]*)"
    r"|(?:(?<![\w.])(?:(?:adrs?|madr|rfc|ad|dec|[a-z]{1,3}dr|decisions?|records?)[\s_#:.-]{0,2}(?:(?:no|nr|number)\b[\s.]*)?"
    r"|(?:no|nr|number)\b[\s.]*|[a-z]{2,10}-(?:[a-z]{1,10}-)?)#?|(?<![\w./#])#|(?<![\w.,:/#\xa7-]))"
    r"(?P<number>\d{1,8})(?:[-_](?P<slug>[\w-]{1,200}))?(?:\.md)?(?![\w%/]|[.,]\d)"
    r"|(?<![\w./-])[a-z0-9]+(?:-[a-z0-9]+){2,40}(?![\w/-])",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[*`~|]|(?<!\w)_+|_+(?!\w)|[^\w\s\ue000-\uf8ff\[\](){}.,:;#/'\"<>&+=%@!?\u2013\u2014\u2192\xa7-]")
_DASHES = re.compile(r"\s*([\u2013\u2014])\s*|\s--+\s")
_SHORTCODE = re.compile(r":[a-z][a-z0-9_+]*:")


class RecordReference(Struct, frozen=True):
    """A reference to a record by path, number, slug or title.

    `is_mere_number` means that it is a number without a word, such as `35` or `#35`, which may mean something else.
    """

    target: str
    is_path: bool = False
    is_mere_number: bool = False


class MaskedSentence(Struct, frozen=True):
    """A sentence without markup, in which one private-use character replaces each reference and each date.

    `signs` maps these characters to the reference (None for a date) and the original text.
    """

    text: str
    signs: Mapping[str, tuple[RecordReference | None, str]]

    def written(self, text: str) -> str:
        """Return a part of the sentence with the original text of its references and dates."""
        return " ".join("".join(self.signs[one][1] if one in self.signs else one for one in text).split())


def sentence_of(written: str, *, own: int | None = None) -> MaskedSentence:
    """Return a text with its references and dates masked. `own` is the number of the record that contains the text."""
    signs: dict[str, tuple[RecordReference | None, str]] = {}

    def mask(shown: str, reference: RecordReference | None = None) -> str:
        sign = chr(_FIRST_DAY + len(signs) % 256 if reference is None else _FIRST + len(signs))
        signs[sign] = (reference, shown)
        return sign

    def link(found: re.Match[str]) -> str:
        if found["wiki"]:
            return mask(found[0], RecordReference(found["wiki"].strip()))
        if found["word"]:
            return found["word"]
        label = found["label"] or ""
        target = found["angled"] or found["path"] or found["url"] or found["file"] or ""
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            stem, _, ending = parts.path.rsplit("/", 1)[-1].rpartition(".")
            # Other pages of the web are not records.
            reference = RecordReference(stem) if ending == "md" and "-" in stem else None
        else:
            reference = RecordReference(path_of(target), is_path=True) if target and target[0] != "#" else None
        if reference is None:
            return _TICKET.sub("", label)
        stated = _LABEL.match(label)
        return f"{stated[1]} {mask(found[0], reference)}" if stated else mask(found[0], reference)

    def image(found: re.Match[str]) -> str:
        # The words of a status badge are in its URL.
        badge = _BADGE.search(found[2])
        return re.sub("_|%20", " ", badge[1]) if badge else found[1]

    def name(found: re.Match[str]) -> str:
        if found["other"]:
            return found[0]
        if found["number"] and int(found["number"]) == own and _OF_ITSELF.match(found.string, found.end()):
            return "this"
        is_mere = found["number"] is not None and found["slug"] is None and not found[0][0].isalpha()
        return mask(found[0], RecordReference(found[0].removesuffix(".md"), is_mere_number=is_mere))

    text = re.sub("[\ue000-\uf8ff]", "", " ".join(written[:LONGEST].split()))
    text = _LINK.sub(link, _IMAGE.sub(image, _SHORTCODE.sub("", text)))
    text = _DATE.sub(lambda found: mask(found[0]), text)
    text = _NAME.sub(name, _DASHES.sub(lambda found: f" {found[1] or '-'} ", text))
    return MaskedSentence(" ".join(_MARKS.sub("", text).split()), signs)


PART = (
    r"in\s+parts?|parts?\s+of|parts?|partly|partial|partially|half|mostly|largely|only|except|excepting|excluding"
    r"|apart\s+from|other\s+than|portions?|aspects?|sections?|clauses?|paragraphs?|bullets?"
)
_IN_PART = re.compile(rf"\b(?:{PART})\b|\xa7", re.IGNORECASE)
_ONLY_PARTIAL = re.compile(r"\W*(?:(?:partial(?:ly)?|partly|in\s+part)\W*)+", re.IGNORECASE)
_QUALIFIES = re.compile(
    rf"(?:but\s+)?(?:{PART}|for|regarding|concerning|as\s+(?:regards|far\s+as|to)|with\s+(?:respect|regard)\s+to"
    r"|in\s+respect\s+of|where|insofar)\b",
    re.IGNORECASE,
)
# Words between the verb and a record that do not describe a part of the record.
_PLAIN = re.compile(
    r"the|this|that|these|our|an?|new|newer|following|later|earlier|older|previous|also|both|and|adrs?|madrs?|rfcs?"
    r"|decisions?|records?|document|proposal|approach|in|made|taken|as|on|since|from|number|no|nr|see|now",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"(?P<verb>(?:super[sc]ee?d|replac|obsolet|deprecat|amend|modif|updat|chang|revis|clarif|extend|refin|relat|depend"
    r"|complement|link|see)[a-z]*)"
    rf"(?P<middle>(?:[\s(,]*(?:(?:on|as\s+of|since|in)\s+)?{DAY}\s*\)?)?(?:\s+(?:{PART})\b)?)"
    rf"(?P<by>\s+(?:by|with|through)\b|,?\s+in\s+favou?r\s+of\b|[\s,(:.\u2013\u2014-]*\bsee(?:\s+also)?\b|\s*(?:\u2192|->|=>))?"
    rf"(?P<after>(?:\s+(?:{PART})\b)?(?:\s+by\b)?)",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"(?P<lead>[\s,;:&+/(\u2013\u2014-]*(?:\b(?:and|or|as\s+well\s+as)\b)?)\s*"
    r"(?P<words>(?:[\w'\u2019\xa7.#]+[\s:]+){0,6}?)"
    rf"(?P<sign>{REFERENCE})(?:\s*\((?P<note>[^()]*)\))?"
)
_ENDING = ("supers", "superc", "replac", "obsolet", "deprecat")
_CHANGING = ("amend", "modif", "updat", "chang", "revis")
# After other verbs a plain number is not a record: `Updated 2020`.
_NAMING = (*_ENDING, "amend", "clarif", "refin")
# A number that counts something: `It replaces 2 queues.`
_COUNT = re.compile(
    r"[1-9]\d*\s+(?!(?:and|or|in|for|on|by|as|with|except|only|but|because|due|since|from|at|partly|partially|where)\b)[a-z]"
)
_WHEN = re.compile(rf"[\s,(]*(?:(?:on|since|in|as\s+of)\s+)?{DAY}[\s)]*\Z", re.IGNORECASE)
_REPOSITORY = re.compile(r"\s*(?:of|in|from)\s+[\w.-]+/[\w.-]+")


def relation_in(sentence: MaskedSentence, clause: str, *, part: str = "") -> tuple[tuple[Claim, ...], bool] | None:
    """Return the claims in a clause, and whether it says nothing else; None if it does not begin with a relation.

    `part` are the words before the verb that limit the relation to a part of the record.
    """
    found = _VERB.match(clause)
    if found is None:
        return None
    verb, by = found["verb"].lower(), found["by"]
    if by is not None and "see" in by.lower() and not verb.startswith(("supers", "superc", "replac", "obsolet")):
        verb = "see"
    is_passive = by is not None or (verb.startswith(_ENDING) and verb.endswith(("ed", "ete")))
    parts = _IN_PART.finditer(f"{found['middle']} {found['after']}")
    about_part = " ".join((*part.split(), *(one[0] for one in parts)))
    return _objects(sentence, clause[found.end() :], verb, is_passive=is_passive, part=about_part)


def claims_of(kind: ClaimKind, written: str, *, part: str = "") -> tuple[Claim, ...]:
    """Return the claims in the value of a field, such as `supersedes: ADR-0034 (in part), #35`.

    `part` are the words in the field's name that limit it to a part of the record.
    """
    sentence = sentence_of(written)
    return _objects(sentence, sentence.text, kind.value, is_passive=kind.value.endswith("_by"), part=part)[0]


_KEY = re.compile(
    r"(?P<first>(?:partially|partly|in part) )?"
    r"(?P<verb>super[sc]ee?de[sd]|replace[sd]|obsolete[sd]|amend(?:s|ed)|modifie[sd]|update[sd])"
    r"(?P<part>(?: partially| partly| in part)?)(?P<by> ?by)?(?: in part)?"
)


def kind_of_key(key: str) -> tuple[ClaimKind, str] | None:
    """Return the kind of claim for a key such as `Partially superseded by`, and the words that limit it to a part.

    Return None for a key that is no relation.
    """
    found = _KEY.fullmatch(" ".join(re.split(r"[\s_-]+", key.strip())).lower())
    if found is None:
        return None
    verb, has_by = found["verb"], found["by"] is not None
    if verb.endswith("ed") and not has_by and not verb.startswith(_ENDING):
        return None
    kind = _kind(verb, is_passive=has_by or verb.endswith("ed"), in_part=False)
    return kind or ClaimKind.SEE, (found["first"] or found["part"]).strip()


def _objects(
    sentence: MaskedSentence, text: str, verb: str, *, is_passive: bool, part: str
) -> tuple[tuple[Claim, ...], bool]:
    """Return the claims about the records that are listed after a verb, and whether the text says nothing else."""
    found: list[tuple[RecordReference, str]] = []
    is_whole, at = not part, 0
    while item := _ITEM.match(text, at):
        reference, after = sentence.signs[item["sign"]][0], text[item.end("sign") :]
        words, lead, note = item["words"].split(), item["lead"].strip(), item["note"] or ""
        if reference is None or (found and words and not lead) or _REPOSITORY.match(text, item.end()):
            break
        if reference.is_mere_number and _COUNT.match(f"{reference.target}{after}"):
            break
        at_part = bool(_IN_PART.search(item["words"]))
        is_plain = all(_PLAIN.fullmatch(word.strip(":.")) for word in words)
        if not (is_plain or at_part or words[-1] == "of"):
            break
        at = item.end()
        if found and not words and not lead.strip(" :(-\u2013\u2014"):
            # A number followed by a link to the same record. The link is more certain.
            found[-1] = (reference if reference.is_path else found[-1][0], found[-1][1])
            continue
        about = "" if is_plain else sentence.written(item["words"])
        if note and (part or _IN_PART.search(note) or _QUALIFIES.match(note)):
            about = f"{about} {sentence.written(note)}".strip()
        is_whole = is_whole and not about and not note.strip(" \ue000-\ue0ff")
        found.append((reference, about))
    rest = _WHEN.sub("", text[at:]).strip(" .;)")
    behind, is_aside = rest.lstrip(" ,:(-\u2013\u2014"), rest.startswith(("-", "\u2013", "\u2014", "("))
    if found and (_QUALIFIES.match(behind) or (is_aside and _IN_PART.search(rest))):
        part = f"{part} {sentence.written(behind)}".strip()
    claims = []
    for reference, about in found:
        qualifier = " ".join(filter(None, (part, about)))
        kind = _kind(verb, is_passive=is_passive, in_part=bool(qualifier))
        if kind is not None and (not reference.is_mere_number or verb.startswith(_NAMING)):
            # "Partially" alone does not say which part.
            if kind not in (ClaimKind.AMENDS, ClaimKind.AMENDED_BY) or _ONLY_PARTIAL.fullmatch(qualifier):
                qualifier = ""
            claims.append(Claim(kind, reference.target, reference.is_path, qualifier=qualifier))
    is_whole = is_whole and not rest and 0 < len(claims) == len(found)
    return tuple(claims), is_whole and all(one.kind is not ClaimKind.SEE for one in claims)


def _kind(verb: str, *, is_passive: bool, in_part: bool) -> ClaimKind | None:
    if verb.startswith("deprecat") and not is_passive:
        return None
    if verb.startswith(_ENDING) and not in_part:
        return ClaimKind.SUPERSEDED_BY if is_passive else ClaimKind.SUPERSEDES
    if verb.startswith((*_ENDING, *_CHANGING)):
        return ClaimKind.AMENDED_BY if is_passive else ClaimKind.AMENDS
    return ClaimKind.SEE
