"""Read instructions for agents: each section of the top level becomes a draft note, for people to make a rule of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from mdmem.exchange.decision import plain_title
from mdmem.exchange.keys import read_keys
from mdmem.exchange.record import ForeignRecord, SourceFile
from mdmem.exchange.text import without_comments, without_own
from mdmem.markdown.headings import Section, sections_of
from mdmem.model.entry import EntryType, Status
from mdmem.store.catalog.addresses import well_formed

_FILE = re.compile(
    r"(?:.*/)?(?:AGENTS\.md|CLAUDE\.md|GEMINI\.md|QWEN\.md|copilot-instructions\.md|[^/]+\.instructions\.md|[^/]+\.mdc)\Z"
)
_GLOB_KEYS = ("globs", "applyTo", "paths")
_INCLUDE = re.compile(r"^@(\S+)[ \t]*\r?$\n?", re.MULTILINE)
_SUFFIX = re.compile(r"[-.](?:instructions|md)\Z", re.IGNORECASE)
# A client's own folder says nothing about the code.
_CLIENT_FOLDER = re.compile(r"(?:^|/)\.(?:claude|cursor|github)(?:/.*)?\Z")
_EVERYTHING = frozenset({"*", "**", "**/*", "./**", "/**"})
_PIECE = re.compile(r"([^{}]*)([{}]|\Z)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_GLOBS = 64


def fits(source: SourceFile) -> bool:
    """Say whether a client reads a file of that name."""
    return _FILE.match(source.path) is not None


def read(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield a draft note for each section that is not mdmem's own text and does more than include other files."""
    body = _INCLUDE.sub("", without_own(source.body))
    globs, lost = _globs(source)
    included = (name for name in _INCLUDE.findall(source.body) if _FILE.match(name) is None)
    said = (*lost, *(f"`@{name}` includes a file, which is not imported with it" for name in included))
    keys = read_keys(source.fields.items(), globs=(*_GLOB_KEYS, "alwaysApply", "description"))
    description = " ".join(str(source.fields.get("description") or "").split())
    stem = _entry_id(source)
    names: dict[str, int] = {}
    for heading, text in _parts(sections_of(body), body):
        title = plain_title(heading) or keys.asked.get("title") or description or stem.replace("-", " ").capitalize()
        part = well_formed("entry", heading) or ""
        names[part] = names.get(part, 0) + 1
        part += f"-{names[part]}" if names[part] > 1 else ""
        fields = {**keys.fields, "applies_to": globs, "x-description": description if description != title else ""}
        yield ForeignRecord(
            source=source,
            type=EntryType.NOTE,
            status=Status.DRAFT,
            title=title,
            name="-".join(filter(None, (stem, part if part != stem else ""))),
            body=text,
            fields=fields,
            said=said,
            part=part or "top",
        )
        said = ()


def _code_folder(source: SourceFile) -> str:
    """Return the folder of code that a file is about."""
    return "" if _CLIENT_FOLDER.search(source.folder) else source.folder


def _globs(source: SourceFile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    folder = _code_folder(source)
    stated = [source.fields[key] for key in _GLOB_KEYS if source.fields.get(key)]
    if not stated or str(source.fields.get("alwaysApply")).lower() == "true":
        return ((f"{folder}/**",) if folder else ()), ()
    return globs_of(stated[0], below=folder, anywhere=source.path.endswith(".mdc"))


def _entry_id(source: SourceFile) -> str:
    words = (*_code_folder(source).split("/"), _SUFFIX.sub("", source.stem).lower())
    return well_formed("entry", "-".join(words)) or "instructions"


def _parts(sections: Sequence[Section], body: str) -> Iterator[tuple[str, str]]:
    """Yield heading and text of what is above the sections of the top level, and of each of these, if it has text."""
    levels = [one.level for one in sections if one.level]
    found = [("", body)]
    if levels:
        top = min(levels)
        title = None
        if levels.count(top) == 1 and levels[0] == top and len(levels) > 1:
            # A single heading of the highest level is the title of the file.
            title = next(one for one in sections if one.level == top)
            top = min(one for one in levels if one > top)
        heads = [one for one in sections if one.level == top]
        ends = [*(one.span[0] for one in heads[1:]), len(body)]
        above = body[title.start if title else 0 : heads[0].span[0]]
        found = [(title.heading if title else "", above)]
        found += [(head.heading, body[head.start : end]) for head, end in zip(heads, ends, strict=True)]
    yield from ((heading, f"{text.rstrip()}\n") for heading, text in found if without_comments(text).strip())


def globs_of(value: Any, *, below: str = "", anywhere: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the globs of a client's patterns, and messages about omitted ones; no globs if every file is meant.

    The patterns count from the folder `below`. With `anywhere` a pattern without a slash matches in every folder.
    """
    items = value if isinstance(value, list) else [value]
    written = [part.strip().strip("\"'") for item in items if isinstance(item, str) for part in _split(item)]
    if any(one in _EVERYTHING for one in written):
        return ((f"{below}/**",) if below else ()), ()
    kept: dict[str, None] = {}
    said = []
    for one in filter(None, written):
        if one.startswith("!") or one.count("{") > 3:
            said.append(f"`applies_to` cannot express the pattern `{one}`")
            continue
        # Each pair of braces multiplies the number of globs.
        for glob in islice(_expand(one.removeprefix("./").lstrip("/")), _MOST_GLOBS + 1):
            plain = f"**/{glob}" if anywhere and "/" not in glob else glob
            kept[f"{below}/{plain}" if below else plain] = None
    if len(kept) > _MOST_GLOBS:
        said.append(f"it has more than {_MOST_GLOBS} patterns; those after `{[*kept][_MOST_GLOBS - 1]}` are omitted")
    return tuple(kept)[:_MOST_GLOBS], tuple(said)


def _split(text: str) -> Iterator[str]:
    """Yield the parts of a text between commas outside of braces."""
    held: list[str] = []
    for plain, brace in _PIECE.findall(text):
        first, *others = [plain] if brace == "}" else plain.split(",")
        held.append(first)
        for other in others:
            yield "".join(held)
            held = [other]
        held.append(brace)
    yield "".join(held)


def _expand(glob: str) -> Iterator[str]:
    """Yield a glob for each alternative in braces, which git does not know."""
    found = _BRACES.search(glob)
    if found is None:
        yield glob
        return
    for choice in found[1].split(","):
        yield from _expand(glob[: found.start()] + choice.strip() + glob[found.end() :])
