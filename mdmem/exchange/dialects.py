"""Recognise the tool that wrote a file, and read its records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from mdmem.exchange import instructions
from mdmem.exchange.decision import decision_record, fact_lines, names_successor, status_section
from mdmem.exchange.record import Claim, ClaimKind, ForeignRecord, Guess, SourceFile, Sureness
from mdmem.markdown.headings import sections_of
from mdmem.markdown.parse import without_code
from mdmem.model.entry import EntryType, Status
from mdmem.model.spelling import meant_value


class Dialect(Struct, frozen=True):
    """A tool's form of records: a test for a file, and a reader."""

    name: str
    fits: Callable[[SourceFile], bool]
    read: Callable[[SourceFile], Iterable[ForeignRecord]]


def dialect_of(source: SourceFile) -> Dialect:
    """Return the first dialect that fits a file; plain Markdown fits every file."""
    return next(one for one in DIALECTS.values() if one.fits(source))


_RELATION = re.compile(
    r"^[ \t]*[-*+][ \t]+(?P<verb>[A-Za-z][\w -]{0,40}?)[ \t]+\[\[(?P<target>[^\[\]\n|#]+)", re.MULTILINE
)
_OBSERVATION = re.compile(r"^[ \t]*[-*+][ \t]+\[[a-z][\w -]*\][ \t]+\S", re.MULTILINE)
_RELATIONS = {
    **dict.fromkeys(("supersedes", "replaces", "obsoletes"), ClaimKind.SUPERSEDES),
    **dict.fromkeys(("superseded by", "replaced by", "obsoleted by"), ClaimKind.SUPERSEDED_BY),
    "amends": ClaimKind.AMENDS,
    "amended by": ClaimKind.AMENDED_BY,
}


def _is_basic_memory(source: SourceFile) -> bool:
    """Say whether a note has a permalink, or observations and relations."""
    has_both = _OBSERVATION.search(source.body) is not None and _RELATION.search(source.body) is not None
    return "permalink" in source.fields or has_both


def _read_basic_memory(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield a note. Its relations by wiki links become links, and stay in the text."""
    claims: dict[Claim, None] = {}
    for found in _RELATION.finditer(without_code(source.body)):
        verb = " ".join(re.sub("[_-]", " ", found["verb"].lower()).split())
        kind = _RELATIONS.get(verb, ClaimKind.SEE)
        claims[Claim(kind, found["target"].strip(), is_in_text=True)] = None
    yield _plain_record(source, tuple(claims))


_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)-")


def _is_log4brains(source: SourceFile) -> bool:
    """Say whether a record in MADR's form has a day in its name."""
    return _DAY.match(source.stem) is not None and is_madr(source)


def _read_log4brains(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield a record, with the day in its name as its date if it states none."""
    record = decision_record(source)
    tags = record.fields.get("tags", ())
    if not isinstance(tags, str):
        # Blanks separate them, too.
        split = tuple(dict.fromkeys(word for tag in tags for word in tag.split()))
        record = replace(record, fields={**record.fields, "tags": split})
    found = _DAY.match(source.stem)
    if record.created_at is None and found is not None:
        guess = Guess("the day in the file's name", Sureness.LIKELY)
        record = replace(record, created_at="-".join(found.groups()), guesses={**record.guesses, "created_at": guess})
    yield record


_MADR_HEADINGS = re.compile(
    r"context and problem statement|considered (?:options|alternatives)|decision (?:outcome|drivers)"
    r"|pros and cons of the (?:options|alternatives)"
)
_MADR_KEYS = frozenset({"deciders", "decision-makers", "decision_makers", "consulted", "informed"})


def is_madr(source: SourceFile) -> bool:
    """Say whether a file has the headings, the list or the keys of a MADR template."""
    sections = sections_of(source.body)
    has_headings = any(_MADR_HEADINGS.match(one.name) for one in sections)
    is_listed = any(line.key.lower() == "status" for line in fact_lines(sections))
    return has_headings or is_listed or not _MADR_KEYS.isdisjoint(source.fields)


def is_adr_tools(source: SourceFile) -> bool:
    """Say whether a file has Nygard's form: a section on the status, and one on the context or the decision."""
    sections = sections_of(source.body)
    return status_section(sections) is not None and any(one.name in ("context", "decision") for one in sections)


def _read_decision(source: SourceFile) -> Iterator[ForeignRecord]:
    yield decision_record(source)


# A session and an entity have fields of their own, which another tool's note lacks.
_OWN_LABELS = frozenset({"session", "entity"})
_TYPES = tuple(one.value for one in EntryType)


def _read_markdown(source: SourceFile) -> Iterator[ForeignRecord]:
    yield _plain_record(source)


def _plain_record(source: SourceFile, claims: tuple[Claim, ...] = ()) -> ForeignRecord:
    """Return a file as the type that it states, else as a decision by its folder, else as a note."""
    record = decision_record(source, unstated=Status.DRAFT)
    type_, guess, label = _type_of(source)
    guesses = {**record.guesses, **({"type": guess} if guess is not None else {})}
    status = record.status
    if not record.states_status and names_successor(claims):
        status = Status.DEPRECATED
        guesses.pop("status", None)
    elif not type_.is_rule and not record.states_status:
        # A note binds nobody, so it may be active at once.
        status = Status.ACTIVE
        guesses["status"] = Guess(f"no status is stated, and a {type_} is no rule", Sureness.LIKELY)
    fields = {**record.fields, **({"label": label} if label and "label" not in record.fields else {})}
    return replace(record, type=type_, status=status, guesses=guesses, fields=fields, claims=(*record.claims, *claims))


def _type_of(source: SourceFile) -> tuple[EntryType, Guess | None, str]:
    """Return the type of a file, how it was guessed, and the label of a note of another type."""
    value = next((source.fields[key] for key in ("type", "kind") if isinstance(source.fields.get(key), str)), "")
    stated = " ".join(str(value).lower().split())
    label = stated if stated not in _OWN_LABELS else ""
    meant = meant_value(stated, _TYPES) if stated else None
    if meant is not None and (meant == stated or EntryType(meant) is not EntryType.INVARIANT):
        guess = Guess(f"it says `{stated}`", Sureness.LIKELY) if meant != stated else None
        return EntryType(meant), guess, label if meant != stated and meant == EntryType.NOTE else ""
    if source.is_in_records:
        return EntryType.DECISION, Guess("it is in a folder of decision records", Sureness.LIKELY), ""
    if any(one.name == "decision" for one in sections_of(source.body)):
        return EntryType.DECISION, Guess("it has a section `Decision`", Sureness.GUESS), ""
    why = f"mdmem has no type `{stated}`" if stated else "no type is stated"
    return EntryType.NOTE, Guess(why, Sureness.LIKELY), label


# The most specific form first.
_ALL = (
    Dialect("instructions", instructions.fits, instructions.read),
    Dialect("basic-memory", _is_basic_memory, _read_basic_memory),
    Dialect("log4brains", _is_log4brains, _read_log4brains),
    Dialect("madr", is_madr, _read_decision),
    Dialect("adr-tools", is_adr_tools, _read_decision),
    Dialect("markdown", lambda _: True, _read_markdown),
)
DIALECTS: Mapping[str, Dialect] = {one.name: one for one in _ALL}
