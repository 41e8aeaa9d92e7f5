"""Split a body into sections (at Markdown and underlined headings) and sentences, and find those with the decision.

Sentences are prose: code, tables, quotes, status lines, banners and lists of links are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from mdmem.markdown.parse import blank, without_closing
from mdmem.model.entry import Entry, EntryType
from mdmem.record import StoredRecord

# The pattern begins with a line break. Testing for the start of a line at each letter is ten times slower.
_LINE = re.compile(
    r"\n(?:#{1,6}(?=[ \t\r\n]|\Z)| {0,3}(?:`{3,}|~{3,}|<!--|\*\*(?=[^\s*])"
    r"|(?P<mark>[=\-~^\"'*+#.:_`/])(?P=mark)+[ \t]*\r?(?=\n|\Z)))"
)
_ANY_ATX = re.compile(r"\n#{1,6}[ \t]")
# Only at the margin, because reStructuredText indents code, and code may contain comments like this.
_ATX = re.compile(r"(#{1,6})(?![^ \t\r\n])")
_RST_FIELD = re.compile(r":[\w-]+:")
_LONGEST_TITLE = 199
_MARKS = "=-~^\"'*+#.:_`/"
# In Markdown, a row of `=` or `-` of any length underlines a title. In reStructuredText it is as long as the title.
_SHORT_UNDERLINE = 2
_UNDERLINE = 4
# After this number of empty sections of a kind, the remaining sections are taken to be empty, too.
_TRIED = 8
# Some people write `**Decision**` on its own line. Only known names count as headings, because a rule may be bold, too.
_BOLD = re.compile(r" {0,3}\*\*([^*\n]{1,60})\*\*:?[ \t]*\r?$", re.MULTILINE)
_BOLD_LEVEL = 7

# No known name is longer. The limit keeps the search fast.
_LONGEST_NAME = 200
_NOT_NAME = re.compile(
    r"^[\W_]*(?:\d+(?:\.\d+)*[.):]*\s+)?[\W_]*|\s*[(\[](?i:optional|required|wip|tbd)[)\]]\s*$|[\W_]+$"
)


# Headings that announce a decision, the clearest first: a decision, a rule, a summary, a proposal.
_DECIDING = (
    re.compile(
        r"(?:what )?we decided|(?:the |final )?decisions?(?: outcomes?| made| taken| summary| statement)?"
        r"|decision (?:and|&) (?:rationale|justification|consequences)|(?:decision )?outcome"
        r"|(?:final )?(?:verdict|conclusions?)|chosen (?:option|solution|alternative|approach)"
        r"|entscheidung(?:sergebnis)?|ergebnis|décision|decisión|decisão|decisione|besluit|решение"
        r"|决定|决策|决策结果|決定|決策|결정"
    ),
    re.compile(r"(?:the )?rules?|polic(?:y|ies)|resolution|tl;? ?dr"),
    re.compile(r"(?:executive )?summary|abstract|zusammenfassung|résumé|resumen|resumo|摘要|概要|总结|요약"),
    re.compile(
        r"propos(?:ed|al) (?:change|solution|decision|design)s?|(?:the |our )?solution|proposals?|recommendations?"
        r"|specification"
    ),
)
# Headings of asides, which do not state the decision: context, alternatives, reasons, document metadata.
_ASIDE_WHOLE = re.compile(
    r"(?:implementation |change |version |revision |document |post )?(?:history|log)|status(?: quo)?"
    r"|(?:notes and )?references?|(?:references and )?footnotes?|links?|relations|toc|metadata|see also|further reading"
    r"|more information|(?:table of )?contents|discussions?(?:-to)?|test(?:ing)?(?: plans?)?|test cases"
    r"|graduation criteria|release signoff checklist|copyright|license|credits|acknowledge?ments?|authors?"
)
_ASIDE_BEGUN = re.compile(
    r"(?:options?|pros|cons|advantages|disadvantages|related|production readiness"
    r"|(?:the )?(?:current )?(?:context|contexte|kontext|contexto|contesto|background|hintergrund|motivation|problem"
    r"|rationale|drivers?|forces|state|situation|status))\b"
)
_ASIDE_WITHIN = re.compile(
    r"\b(?:alternativ|rejected|discarded|dismissed|declined|not (?:chosen|taken|selected))"
    r"|\b(?:considered|drawbacks|non-?goals|superseded|obsolete|reversed|outdated|pros (?:and|&) cons|why not"
    r"|other approaches|problem statement|decision drivers|out of scope|open (?:questions|issues)|prior art"
    r"|previous work|user stor(?:y|ies))\b|\b(?:options?|rationale)\Z"
    r"|optionen|opciones|背景|备选|候选|选项|検討|選択肢"
)


class Section(Struct, frozen=True):
    """A heading and the text up to the next heading of any level; level 0 is the text before the first heading.

    `span` is the start and end offset of the whole section in the body, and `start` is the offset of its text.
    """

    heading: str
    level: int
    span: tuple[int, int]
    start: int
    text: str

    @property
    def name(self) -> str:
        """Return the heading in lower case, without its number, markup and text in brackets."""
        return _name_of(self.heading)

    @property
    def decision_rank(self) -> int:
        """Return how clearly the heading announces a decision: 0 for not at all, and a higher number for clearer."""
        return _meaning(self.heading)[0]

    @property
    def is_aside(self) -> bool:
        """Return whether the heading (or MADR's `* Good, because`) marks an aside, such as alternatives or context."""
        return _meaning(self.heading)[1] or _PRO.match(self.text) is not None


def _name_of(heading: str) -> str:
    words = heading[:_LONGEST_NAME].split()
    # The pattern is slow, and most headings are plain words that do not need it.
    name = " ".join(words) if "".join(words).isalpha() else _NOT_NAME.sub("", heading[:_LONGEST_NAME])
    return " ".join(name.casefold().split())


_PRO = re.compile(r"\s*[*+-]\s+(?:good|neutral|bad),? because\b", re.IGNORECASE)


# Records from the same template repeat their headings.
@lru_cache(maxsize=4096)
def _meaning(heading: str) -> tuple[int, bool]:
    """Return how clearly a heading announces a decision (0: not at all), and whether it announces an aside."""
    name = _name_of(heading)
    rank = next((len(_DECIDING) - at for at, one in enumerate(_DECIDING) if one.fullmatch(name)), 0)
    is_aside = bool(name and (_ASIDE_WHOLE.fullmatch(name) or _ASIDE_BEGUN.match(name) or _ASIDE_WITHIN.search(name)))
    return rank, is_aside


# One answer asks several times for the sections of the same few bodies.
@lru_cache(maxsize=32)
def sections_of(body: str) -> tuple[Section, ...]:
    """Return the sections of a body in order; a heading inside fenced code or a comment does not count."""
    # A body begins with a section without a heading, and ends where another section would start.
    marks = [(0, 0, 0, ""), *_headings(body), (len(body), 0, 0, "")]
    first, *found = (
        Section(heading, level, (start, end), text, body[text:end])
        for (start, text, level, heading), (end, *_) in pairwise(marks)
    )
    return (first, *found) if first.text.strip() or not found else tuple(found)


def with_asides(sections: Iterable[Section]) -> Iterator[tuple[Section, Sequence[Section]]]:
    """Yield each section with those that it is in: from the aside (alternatives, context and so on) down to itself.

    The list is empty for a section that is in no aside.
    """
    asides: list[Section] = []
    for one in sections:
        asides = [above for above in asides if above.level < one.level]
        if asides or (one.level and one.is_aside and not one.decision_rank):
            asides.append(one)
        yield one, tuple(asides)


def without_asides(sections: Iterable[Section]) -> list[Section]:
    """Return the sections that are not asides (alternatives, context and so on) and not below an aside."""
    return [one for one, asides in with_asides(sections) if not asides]


def decision_sections(sections: Sequence[Section]) -> list[Section]:
    """Return the section that states the decision best, with its subsections except asides (such as alternatives)."""
    candidates = without_asides(sections)
    ranked = sorted((-one.decision_rank, one.level, at) for at, one in enumerate(candidates) if one.decision_rank)
    for _, level, at in ranked[:_TRIED]:
        start = candidates[at].span[0]
        end = next((one.span[0] for one in sections if one.span[0] > start and one.level <= level), None)
        whole = [one for one in candidates[at:] if end is None or one.span[0] < end]
        if any(without_comments(one.text).strip() for one in whole):
            return whole
    return []


def _headings(body: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield each heading as the offset of the heading, the offset of its text, its level and its words."""
    lines = f"\n{body}"
    marks = "=-" if _ANY_ATX.search(lines) else ""
    fence, comment_end = "", 0
    for found in _LINE.finditer(lines):
        at = found.start()
        if at < comment_end:
            continue
        end = body.find("\n", at) + 1 or len(body)
        line = body[at:end].strip()
        title = "" if fence else _title_above(body, at, line)
        if fence:
            if line.startswith(fence) and not line.strip(fence[0]):
                fence = ""
        elif line.startswith("<!--"):
            closed = body.find("-->", at)
            comment_end = len(body) if closed < 0 else closed
        elif title:
            if line[0] not in marks:
                marks += line[0]
            above = body.rfind("\n", 0, at - 1) + 1
            over = body.rfind("\n", 0, above - 1) + 1 if above else 0
            # The title may also have a row of marks above it.
            start = over if above and body[over:above].strip() == line else above
            yield start, end, marks.index(line[0]) + 1, title
        elif line[:3] in ("```", "~~~"):
            run = line[: len(line) - len(line.lstrip(line[0]))]
            fence = "" if "`" in line.lstrip("`") and line[0] == "`" else run
        elif line[0] == "#" and (heading := _ATX.match(body, at)):
            yield at, end, len(heading[1]), without_closing(body[heading.end() : end])
        elif line.startswith("**") and (bold := _BOLD.match(body, at)) and _meaning(bold[1]) != (0, False):
            yield at, end, _BOLD_LEVEL, bold[1]


def _title_above(body: str, at: int, line: str) -> str:
    """Return the title that a row of marks underlines, or an empty text if the row underlines nothing."""
    if line.strip(line[0]) or at == 0:
        return ""
    above = body.rfind("\n", 0, at - 1) + 1
    title = body[above : at - 1].strip()
    if not title.strip(_MARKS) or len(title) > _LONGEST_TITLE:
        return ""
    indent = len(body[above:at]) - len(body[above:at].lstrip())
    # Not below a quote, table row, list item, directive or field.
    is_item = title[0] in "-*+" and title[1:2] in (" ", "\t")
    if indent > 3 or is_item or title[0] in ">|" or title.startswith(".. ") or _RST_FIELD.match(title):
        return ""
    before = body[body.rfind("\n", 0, above - 1) + 1 if above else 0 : max(0, above - 1)].strip()
    is_first_line = not before or not before.strip(before[0])
    least = _SHORT_UNDERLINE if line[0] in "=-" else max(_UNDERLINE, len(title))
    return title if is_first_line and len(line) >= least else ""


# An unclosed comment extends to the end. Otherwise a text with thousands of unclosed comments takes hours.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# A comment or fenced code. One pattern for both, because a comment may contain a fence, and code may contain `<!--`.
_NOT_TEXT = re.compile(
    rf"{_COMMENT.pattern}|^ {{0,3}}(?:(?P<ticks>`{{3,}}(?=[^`\n]*$))|(?P<tildes>~{{3,}}+))"
    r"(?:.*?^ {0,3}(?(ticks)(?P=ticks)`*|(?P=tildes)~*)[ \t]*\r?$|.*)",
    re.DOTALL | re.MULTILINE,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\r?\n)+")
_ITEM = re.compile(r"\n[ \t]*(?:[-*+]|(?:\d{1,3}|[a-z])[.)])[ \t]+")
# A sentence does not end at an abbreviation, at an initial, or before a lower-case letter.
_STOPPED = (
    r"(?<![.!?].)(?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\bcf.)(?<!\s[A-Z].)"
    r"[.!?]*+(?:[\"')\]*_`]|[\u2019\u201d])*+(?=\s+[^\sa-z])"
)
_WIDE = "。！？"
_END = re.compile(rf"[.!?{_WIDE}](?:(?<=[.!?]){_STOPPED}|(?<=[{_WIDE}])[{_WIDE}]*+[」』”]*+)")
# Not prose: fields and targets of reStructuredText, images, tags, rows of marks, tables and quotes.
_NO_PROSE = re.compile(
    r":[\w -]+:(?:\s|\Z)|\[?!\[|</?[a-zA-Z!]|\[[^\]\n]*\]:\s|\+[-=]|([=\-~*_#])\1++[\s=\-~*_]*+\Z|[|>]|\.\.(?:\s|\Z)"
)
_FIELD = re.compile(
    r"(?:[-*+][ \t]+)?[*_]{0,2}(?:status|state|feature name|(?:\w+ )?date|created|(?:last )?(?:updated|modified)"
    r"|proposed|accepted|approved|adopted|rejected|author|owner|decider"
    r"|decision[ -]maker|consulted|informed|approver|reviewer|editor|champion|stakeholder|tag|category|issue|ticket"
    r"|technical story|discussion|supersede[ds](?: by)?|replace[ds](?: by)?|amend(?:s|ed by)|related|translation"
    r"|language|version|number|type|due date|link|contact)s?[*_]{0,2}[ \t]*:"
    # Any other field whose value is only a link.
    r"|(?:[-*+][ \t]+)?[*_]{0,2}[a-z][\w -]*+[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]+"
    r"(?:<?https?://\S+|\[[^\[\]\n]*\]\([^()\n]*\))[ \t]*\Z",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[[^\[\]\n]*\]\([^()\n]*\)|\[\[[^\[\]\n]*\]\]|<?https?://[^\s>]*>?")
# Links of Markdown and of reStructuredText.
_TARGET = re.compile(r"\[([^\[\]]+)\]\([^()\s]*\)|`([^`<>]*[^`<>\s])\s*<[^`<>]*>`__?")
_WORD = re.compile(r"[^\W_]+")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]*\1:?\Z")
# A line with a link and at most this number of words is only a pointer to another page.
_FEW = 3
_CODE_INDENT = 4
# The directives of reStructuredText whose content is prose.
_ADMONITION = re.compile(
    r"\.\. (?:note|important|warning|caution|attention|danger|error|tip|hint|admonition|deprecated|version\w{5,7})::"
)


class Sentence(StoredRecord, frozen=True):
    """A sentence on one line, with its offsets in the body; excerpts also use it for code and table rows.

    Sentences with the same `block` belong to one paragraph. `is_item` is true for the first sentence of a list item.
    """

    start: int
    end: int
    text: str
    block: int
    is_item: bool = False

    @property
    def bare(self) -> Sentence:
        """Return the sentence with links reduced to their texts."""
        text = without_targets(self.text)
        return self if text == self.text else replace(self, text=text)

    @property
    def size(self) -> int:
        """Return the number of bytes of the sentence, plus one for the space after it."""
        return size_of(self.text) + 1


def size_of(text: str) -> int:
    """Return the number of bytes of a text. The text may contain file names that are not UTF-8."""
    return len(text.encode("utf-8", "surrogateescape"))


def without_comments(text: str) -> str:
    """Return a text without HTML comments."""
    return _COMMENT.sub("", text) if "<!--" in text else text


def without_targets(text: str) -> str:
    """Return a text with links reduced to their texts."""
    return _TARGET.sub(r"\1\2", text) if "](" in text or ">`" in text else text


def sentences_in(body: str, start: int, end: int) -> Iterator[Sentence]:
    """Yield the sentences of prose between two offsets of a body."""
    text = _NOT_TEXT.sub(lambda found: blank(found[0]), body[start:end])
    follows_directive = is_note = False
    gaps = [found.span() for found in _BLANK_LINES.finditer(text)]
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(text)]
    places = [(first, last) for first, last in zip(starts, ends, strict=True) if text[first:last].strip()]
    for number, (first, last) in enumerate(places):
        block = text[first:last]
        stripped = block.lstrip(" \t\r\n")
        indent = len(block) - len(stripped)
        is_note = is_note and indent > 0
        if note := _ADMONITION.match(stripped):
            is_note, first = True, first + indent + note.end()
            block = text[first:last]
            stripped = block.lstrip(" \t\r\n")
        # The content of a directive or of `::` is indented below it.
        is_content = follows_directive and indent > 0
        follows_directive = stripped.startswith("..") or stripped.endswith("::")
        is_code = is_content or (indent >= _CODE_INDENT and not is_note)
        if is_code or not stripped or not _is_prose(stripped.rstrip()):
            follows_directive = follows_directive or is_content
            continue
        # Start after the item's number, because the full stop of the number does not end a sentence.
        begin = {found.start(): found.end() - 1 for found in _ITEM.finditer(f"\n{block}")}
        for left, right in pairwise(sorted({0, *begin, len(block)})):
            at = left
            for stop in (*(found.end() for found in _END.finditer(block, begin.get(left, left), right)), right):
                if sentence := " ".join(block[at:stop].split()):
                    if sentence.endswith("::"):
                        # The literal block that follows is left out.
                        sentence = f"{sentence[:-1]} …"
                    yield Sentence(start + first + at, start + first + stop, sentence, start + number, at in begin)
                at = stop


def join_sentences(sentences: Iterable[Sentence]) -> str:
    """Join sentences to a text, with a blank line between paragraphs and a new line for each list item."""
    text, block = "", -1
    for one in sentences:
        if text:
            text += "\n" if one.is_item else " " if one.block == block else "\n\n"
        text, block = text + one.text, one.block
    return text


def cut_at_word(text: str, limit: int) -> str:
    """Return a text of at most `limit` bytes; a longer text is cut between two words and ends with ` …`."""
    if size_of(text) <= limit:
        return text
    cut = text.encode("utf-8", "surrogateescape")[: max(0, limit - 4)].decode("utf-8", "ignore")
    return cut[: cut.rfind(" ") if " " in cut else len(cut)].rstrip(" ,;:") + " …"


def _is_prose(block: str) -> bool:
    first, *rest = block.split("\n")
    if _NO_PROSE.match(first.rstrip()) or _BOLD_LINE.match(block):
        return False
    links = len(_LINK.findall(block)) if "](" in block or "[[" in block or "://" in block else 0
    # Little more than links to other pages.
    if links and len(_WORD.findall(_LINK.sub("", block))) <= max(_FEW, links):
        return False
    is_table = bool(rest) and "|" in first and not rest[0].strip(" \t\r|:-")
    is_stated = _FIELD.match(first) is not None and all(
        _FIELD.match(line) or line.startswith((" ", "\t", "**", "__")) for line in rest
    )
    return not is_table and not is_stated and _WORD.search(block) is not None


BYTES_A_TOKEN = 4


def tokens_of(size: int) -> int:
    """Return an estimate of the number of tokens in `size` bytes of UTF-8."""
    return -(-size // BYTES_A_TOKEN)


def quoted(text: str) -> str:
    """Return a text as a Markdown quote, which marks the text as quoted material."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def content_of(entry: Entry, body: str) -> str:
    """Return an entry's body, followed by the fields that are part of its content (see `content_fields`)."""
    return "\n\n".join(filter(None, (body.strip(), *content_fields(entry))))


def is_title_alone(content: str) -> bool:
    """Return whether a text has only headings and blank lines."""
    return all(line.startswith("#") for line in content.splitlines() if line.strip())


def content_fields(entry: Entry) -> list[str]:
    """Return the texts of the fields that are part of an entry's content, such as steps; "" for an empty field."""
    if entry.type is EntryType.PATTERN:
        return [
            f"When: {entry.trigger}" if entry.trigger else "",
            "\n".join(f"{number}. {step}" for number, step in enumerate(entry.repeatable_steps, 1)),
            _bullets("Not when:", entry.exclusions),
        ]
    relations = tuple(f"{relation.type} {relation.to}" for relation in entry.relations)
    return [
        f"Objective: {entry.objective}" if entry.objective else "",
        _bullets("Done:", entry.actions_taken),
        _bullets("Decided:", entry.decisions_made),
        _bullets("Open:", entry.open_items),
        _bullets("Next:", entry.next_actions),
        _bullets("Relations:", relations),
    ]


def _bullets(head: str, items: Sequence[str]) -> str:
    return "\n".join([head, *(f"- {item}" for item in items)]) if items else ""
