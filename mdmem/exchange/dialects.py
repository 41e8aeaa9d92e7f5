"""Recognise which tool wrote a file, and read the records in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from msgspec import Struct

from mdmem.exchange.decision import Outline, decision_record, plain_title, read_keys
from mdmem.exchange.record import Claim, ClaimKind, ForeignRecord, Guess, SourceFile, without_comments
from mdmem.exchange.statements import kind_of_key
from mdmem.markdown.body import Section, sections_of
from mdmem.markdown.parse import without_code
from mdmem.model.entry import EntryType, Status
from mdmem.model.spelling import meant_value
from mdmem.setup.agents_file import OWN_LINES, without_regions
from mdmem.store.catalog.addresses import well_formed


class Dialect(Struct, frozen=True):
    """The file format of one tool: a test that recognises a file, and a function that reads its records."""

    name: str
    fits: Callable[[SourceFile, Outline], bool]
    read: Callable[[SourceFile], Iterable[ForeignRecord]]


def dialect_of(source: SourceFile) -> Dialect:
    """Return the first dialect that matches a file. The last dialect, plain Markdown, matches every file."""
    outline = Outline(source.body)
    return next(one for one in DIALECTS.values() if one.fits(source, outline))


_RELATION = re.compile(
    r"^[ \t]*[-*+][ \t]+(?P<verb>[A-Za-z][\w -]{0,40}?)[ \t]+\[\[(?P<target>[^\[\]\n|#]+)", re.MULTILINE
)
_OBSERVATION = re.compile(r"^[ \t]*[-*+][ \t]+\[[a-z][\w -]*\][ \t]+\S", re.MULTILINE)


def _read_basic_memory(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield the record of a note. Its relations (wiki links) become links, and they also stay in the text."""
    claims: dict[Claim, None] = {}
    for found in _RELATION.finditer(without_code(source.body)):
        kind = kind_of_key(found["verb"]) or ClaimKind.SEE
        claims[Claim(kind, found["target"].strip(), is_in_text=True)] = None
    yield _plain_record(source, [*claims])


_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)-")


def _read_log4brains(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield a record. Its tags may be separated by blanks, and its date may be in the file name."""
    record = decision_record(source)
    record.fields["tags"] = tuple(dict.fromkeys(word for tag in record.fields.get("tags", ()) for word in tag.split()))
    found = _DAY.match(source.stem)
    if record.created_at is None and found is not None:
        record.created_at = "-".join(found.groups())
        record.guesses["created_at"] = Guess("the day in the file's name")
    yield record


_MADR_HEADINGS = re.compile(
    r"context and problem statement|considered (?:options|alternatives)|decision (?:outcome|drivers)"
    r"|pros and cons of the (?:options|alternatives)"
)
_MADR_KEYS = frozenset({"deciders", "decision-makers", "decision_makers", "consulted", "informed"})


def is_madr(source: SourceFile, outline: Outline) -> bool:
    """Return whether a file has the headings, the list or the keys of a MADR template."""
    has_headings = any(_MADR_HEADINGS.match(one.name) for one in outline.sections)
    is_listed = any(fact.key == "status" for fact in outline.facts)
    return has_headings or is_listed or not _MADR_KEYS.isdisjoint(source.fields)


# mdmem's labels `session` and `entity` need fields that another tool's note does not have.
_OWN_LABELS = frozenset({"session", "entity"})
_TYPES = tuple(one.value for one in EntryType)


def _plain_record(source: SourceFile, claims: Sequence[Claim] = ()) -> ForeignRecord:
    """Return a record of the type that the file states. A type that mdmem does not have becomes a note with that label.

    Without a type, its folder decides between decision and note.
    """
    value = next((source.fields[key] for key in ("type", "kind") if isinstance(source.fields.get(key), str)), "")
    stated = " ".join(str(value).lower().split())
    meant = meant_value(stated, _TYPES) if stated else None
    type_, guess = EntryType.DECISION, Guess("")
    if meant is not None and (meant == stated or EntryType(meant) is not EntryType.INVARIANT):
        type_, guess = EntryType(meant), Guess("" if meant == stated else f"it says `{stated}`")
    elif source.is_in_records:
        guess = Guess("it is in a folder of decision records")
    elif any(one.name == "decision" for one in sections_of(source.body)):
        guess = Guess("it has a section `Decision`", "a guess")
    else:
        type_, guess = EntryType.NOTE, Guess(f"mdmem has no type `{stated}`" if stated else "no type is stated")
    record = decision_record(source, type_, unstated=Status.DRAFT, more=claims)
    record.guesses |= {"type": guess} if guess.why else {}
    if type_ is EntryType.NOTE and stated not in ("", "note", *_OWN_LABELS):
        record.fields.setdefault("label", stated)
    return record


_INSTRUCTIONS = re.compile(
    r"(?:.*/)?(?:AGENTS\.md|CLAUDE\.md|GEMINI\.md|QWEN\.md|copilot-instructions\.md|[^/]+\.instructions\.md|[^/]+\.mdc)\Z"
)
_GLOB_KEYS = ("globs", "applyTo", "paths")
_INCLUDE = re.compile(r"^@(\S+)[ \t]*\r?$\n?", re.MULTILINE)
_SUFFIX = re.compile(r"[-.](?:instructions|md)\Z", re.IGNORECASE)
# The folder in which a client keeps its instructions says nothing about which code they apply to.
_CLIENT_FOLDER = re.compile(r"(?:^|/)\.(?:claude|cursor|github)(?:/.*)?\Z")
_EVERYTHING = frozenset({"*", "**", "**/*", "./**", "/**"})
_BRACES = re.compile(r"\{([^{}]*)\}")
# Patterns are separated by commas that are not inside braces.
_PATTERN = re.compile(r"(?:[^{},]|\{[^{}]*\}?|\})+")
_MOST_GLOBS = 64


def is_instructions(source: SourceFile) -> bool:
    """Return whether a client reads a file of this name as instructions for agents."""
    return _INSTRUCTIONS.match(source.path) is not None


def _read_instructions(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield a draft note for each section of instructions, but not for mdmem's own text and mere includes."""
    body = _INCLUDE.sub("", OWN_LINES.sub("", without_regions(source.body)))
    folder = "" if _CLIENT_FOLDER.search(source.folder) else source.folder
    stated = [source.fields[key] for key in _GLOB_KEYS if source.fields.get(key)]
    globs: tuple[str, ...] = (f"{folder}/**",) if folder else ()
    messages: tuple[str, ...] = ()
    if stated and str(source.fields.get("alwaysApply")).lower() != "true":
        globs, messages = globs_of(stated[0], below=folder, anywhere=source.path.endswith(".mdc"))
    included = (name for name in _INCLUDE.findall(source.body) if _INSTRUCTIONS.match(name) is None)
    messages = (*messages, *(f"`@{name}` includes a file, which is not imported with it" for name in included))
    keys = read_keys(source.fields.items(), without=(*_GLOB_KEYS, "alwaysApply", "description"))
    description = " ".join(str(source.fields.get("description") or "").split())
    words = (*folder.split("/"), _SUFFIX.sub("", source.stem).lower())
    stem = well_formed("entry", "-".join(words)) or "instructions"
    names: dict[str, int] = {}
    for heading, text in _parts(sections_of(body), body):
        title = plain_title(heading) or keys.asked.get("title") or description or stem.replace("-", " ").capitalize()
        part = well_formed("entry", heading) or ""
        names[part] = names.get(part, 0) + 1
        part += f"-{names[part]}" if names[part] > 1 else ""
        yield ForeignRecord(
            path=source.path,
            source=source,
            type=EntryType.NOTE,
            status=Status.DRAFT,
            title=title,
            name="-".join(filter(None, (stem, part if part != stem else ""))),
            body=text,
            fields={**keys.fields, "applies_to": globs, "x-description": description if description != title else ""},
            messages=[*messages],
            part=part or "top",
        )
        messages = ()


def _parts(sections: Sequence[Section], body: str) -> Iterator[tuple[str, str]]:
    """Yield heading and text of each top-level section that has text, and of the part above the first of them."""
    levels = [one.level for one in sections if one.level]
    found = [("", body)]
    if levels:
        top = min(levels)
        title = None
        if levels.count(top) == 1 and levels[0] == top and len(levels) > 1:
            # If only one heading has the highest level, it is the title of the file.
            title = next(one for one in sections if one.level == top)
            top = min(one for one in levels if one > top)
        heads = [one for one in sections if one.level == top]
        ends = [*(one.span[0] for one in heads[1:]), len(body)]
        above = body[title.start if title else 0 : heads[0].span[0]]
        found = [(title.heading if title else "", above)]
        found += [(head.heading, body[head.start : end]) for head, end in zip(heads, ends, strict=True)]
    yield from ((heading, f"{text.rstrip()}\n") for heading, text in found if without_comments(text).strip())


def globs_of(value: Any, *, below: str = "", anywhere: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the globs for a client's file patterns, and messages about omitted patterns. No globs means every file.

    The patterns are relative to the folder `below`. With `anywhere`, a pattern without a slash matches in every folder.
    """
    texts = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]
    written = [part.strip().strip("\"'") for text in texts for part in _PATTERN.findall(text)]
    if any(one in _EVERYTHING for one in written):
        return ((f"{below}/**",) if below else ()), ()
    kept: dict[str, None] = {}
    messages = []
    for one in filter(None, written):
        # Git's globs have no braces, so each choice becomes a glob. Nested braces are not expanded.
        parts = _BRACES.split(one.removeprefix("./").lstrip("/"))
        choices = [map(str.strip, part.split(",")) if number % 2 else [part] for number, part in enumerate(parts)]
        if one.startswith("!") or any("{" in part for part in parts):
            messages.append(f"`applies_to` cannot express the pattern `{one}`")
            continue
        for glob in islice(map("".join, product(*choices)), _MOST_GLOBS + 1):
            plain = f"**/{glob}" if anywhere and "/" not in glob else glob
            kept[f"{below}/{plain}" if below else plain] = None
    if len(kept) > _MOST_GLOBS:
        messages.append(
            f"it has more than {_MOST_GLOBS} patterns; those after `{[*kept][_MOST_GLOBS - 1]}` are omitted"
        )
    return tuple(kept)[:_MOST_GLOBS], tuple(messages)


# The most specific dialect comes first.
_ALL = (
    Dialect("instructions", lambda source, _: is_instructions(source), _read_instructions),
    Dialect(
        "basic-memory",
        lambda source, _: (
            "permalink" in source.fields or bool(_OBSERVATION.search(source.body) and _RELATION.search(source.body))
        ),
        _read_basic_memory,
    ),
    # log4brains writes MADR records with a date in the file name.
    Dialect(
        "log4brains",
        lambda source, outline: _DAY.match(source.stem) is not None and is_madr(source, outline),
        _read_log4brains,
    ),
    Dialect("madr", is_madr, lambda source: [decision_record(source)]),
    # Nygard's format has a section about the status, and one about the context or decision.
    Dialect(
        "adr-tools",
        lambda _, outline: (
            outline.status is not None and any(one.name in ("context", "decision") for one in outline.sections)
        ),
        lambda source: [decision_record(source)],
    ),
    Dialect("markdown", lambda *_: True, lambda source: [_plain_record(source)]),
)
DIALECTS: Mapping[str, Dialect] = {one.name: one for one in _ALL}
