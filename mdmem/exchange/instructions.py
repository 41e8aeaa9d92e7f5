"""Instructions for agents: each section of the top level is a draft note, of which people may make a rule.

Patterns of files as clients write them, as globs of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from mdmem.exchange.decision import plain_title
from mdmem.exchange.keys import read_keys
from mdmem.exchange.markers import without_comments, without_own
from mdmem.exchange.record import ForeignRecord, SourceFile
from mdmem.markdown.headings import Section, sections_of
from mdmem.model.entry import EntryType, Status
from mdmem.store.catalog.addresses import well_formed

_EVERYTHING = frozenset({"*", "**", "**/*", "./**", "/**"})
_PIECE = re.compile(r"([^{}]*)([{}]|\Z)")
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST = 64


def globs_of(value: Any, *, below: str = "", anywhere: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the globs that a value states, and sentences about what is left out; none where every file is meant.

    `below` is the folder that they count from; with `anywhere` a pattern without a slash is one of every folder.
    """
    items = value if isinstance(value, list) else [value]
    written = [part.strip().strip("\"'") for item in items if isinstance(item, str) for part in _parts_globs(item)]
    if any(one in _EVERYTHING for one in written):
        return ((f"{below}/**",) if below else ()), ()
    kept: dict[str, None] = {}
    said = []
    for one in filter(None, written):
        if one.startswith("!") or one.count("{") > 3:
            said.append(f"`{one}` is a pattern that `applies_to` has no word for")
            continue
        # Each choice doubles them.
        for glob in islice(_spelt_out(one.removeprefix("./").lstrip("/")), _MOST + 1):
            plain = f"**/{glob}" if anywhere and "/" not in glob else glob
            kept[f"{below}/{plain}" if below else plain] = None
    if len(kept) > _MOST:
        said.append(f"it has more than {_MOST} patterns; those behind `{[*kept][_MOST - 1]}` are left out")
    return tuple(kept)[:_MOST], tuple(said)


def _parts_globs(text: str) -> Iterator[str]:
    """Yield what stands between the commas of a text, those between braces left alone."""
    held: list[str] = []
    for plain, brace in _PIECE.findall(text):
        first, *others = [plain] if brace == "}" else plain.split(",")
        held.append(first)
        for other in others:
            yield "".join(held)
            held = [other]
        held.append(brace)
    yield "".join(held)


def _spelt_out(glob: str) -> Iterator[str]:
    """Yield one glob for each alternative between braces, which git does not know."""
    found = _BRACES.search(glob)
    if found is None:
        yield glob
        return
    for choice in found[1].split(","):
        yield from _spelt_out(glob[: found.start()] + choice.strip() + glob[found.end() :])


NAME = "instructions"
_FILE = re.compile(
    r"(?:.*/)?(?:AGENTS\.md|CLAUDE\.md|GEMINI\.md|QWEN\.md|copilot-instructions\.md|[^/]+\.instructions\.md|[^/]+\.mdc)\Z"
)
_GLOBS = ("globs", "applyTo", "paths")
_TAKEN_IN = re.compile(r"^@(\S+)[ \t]*\r?$\n?", re.MULTILINE)
_SUFFIX = re.compile(r"[-.](?:instructions|md)\Z", re.IGNORECASE)
# Folders that clients keep their files in say nothing of the code.
_HOME = re.compile(r"(?:^|/)\.(?:claude|cursor|github)(?:/.*)?\Z")


def fits(source: SourceFile) -> bool:
    """Say whether a client reads a file of that name."""
    return _FILE.match(source.path) is not None


def read(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield a draft note for each section; what only takes in other files, or is mdmem's own, is none."""
    body = _TAKEN_IN.sub("", without_own(source.body))
    globs, lost = _globs(source)
    taken_in = (name for name in _TAKEN_IN.findall(source.body) if _FILE.match(name) is None)
    said = (*lost, *(f"`@{name}` takes in a file, which is not imported with it" for name in taken_in))
    keys = read_keys(source.fields.items(), globs=(*_GLOBS, "alwaysApply", "description"))
    description = " ".join(str(source.fields.get("description") or "").split())
    stem = _stem(source)
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


def _globs(source: SourceFile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    folder = "" if _HOME.search(source.folder) else source.folder
    stated = [source.fields[key] for key in _GLOBS if source.fields.get(key)]
    if not stated or str(source.fields.get("alwaysApply")).lower() == "true":
        return ((f"{folder}/**",) if folder else ()), ()
    return globs_of(stated[0], below=folder, anywhere=source.path.endswith(".mdc"))


def _stem(source: SourceFile) -> str:
    folder = "" if _HOME.search(source.folder) else source.folder
    return well_formed("entry", "-".join((*folder.split("/"), _SUFFIX.sub("", source.stem).lower()))) or "instructions"


def _parts(sections: Sequence[Section], body: str) -> Iterator[tuple[str, str]]:
    """Yield heading and text of each section of the top level that says something, first what stands above them."""
    levels = [one.level for one in sections if one.level]
    if not levels:
        yield from _told("", body)
        return
    # A single heading of the first level is the file's title.
    top = min(levels)
    if levels.count(top) == 1 and levels[0] == top and len(levels) > 1:
        above, top = top, min(one for one in levels if one > top)
    else:
        above = 0
    heads = [one for one in sections if one.level == top]
    start = next((one for one in sections if one.level == above and above), None)
    first = heads[0].span[0]
    yield from _told(start.heading if start else "", body[start.start if start else 0 : first])
    for head, end in zip(heads, [*(one.span[0] for one in heads[1:]), len(body)], strict=True):
        yield from _told(head.heading, body[head.start : end])


def _told(title: str, text: str) -> Iterator[tuple[str, str]]:
    if without_comments(text).strip():
        yield title, f"{text.rstrip()}\n"
