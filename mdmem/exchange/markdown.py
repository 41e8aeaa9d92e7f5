"""Plain Markdown, with a front matter of any keys or without one: what it says that it is, else a note."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from mdmem.exchange.decision import decision_record, names_successor
from mdmem.exchange.record import Claim, ForeignRecord, Guess, SourceFile, Sureness
from mdmem.markdown.headings import sections_of
from mdmem.model.entry import EntryType, Status
from mdmem.model.spelling import meant_value

NAME = "markdown"
# A session and the facts about a thing have fields of their own, which another tool's note lacks.
_OWN_LABELS = frozenset({"session", "entity"})


def fits(source: SourceFile) -> bool:  # noqa: ARG001  # a dialect has this
    """Say that every Markdown file can be taken as one."""
    return True


def read(source: SourceFile) -> Iterator[ForeignRecord]:
    """Yield the record."""
    yield plain_record(source)


def plain_record(source: SourceFile, *, claims: tuple[Claim, ...] = ()) -> ForeignRecord:
    """Return a file as the type that it states, else a decision by its place, else a note."""
    record = decision_record(source, unstated=Status.DRAFT)
    type_, guess, label = _type(source)
    guesses = dict(record.guesses)
    if guess is not None:
        guesses["type"] = guess
    status = record.status
    if not record.states_status and names_successor(claims):
        status = Status.DEPRECATED
        guesses.pop("status", None)
    elif not type_.is_rule and not record.states_status:
        # A note binds nobody, so that nothing is put in force by it.
        status = Status.ACTIVE
        guesses["status"] = Guess(f"no status is stated, and a {type_} only helps", Sureness.LIKELY)
    fields = {**record.fields, **({"label": label} if label and "label" not in record.fields else {})}
    return replace(record, type=type_, status=status, guesses=guesses, fields=fields, claims=(*record.claims, *claims))


def _type(source: SourceFile) -> tuple[EntryType, Guess | None, str]:
    stated = _stated(source.fields)
    meant = meant_value(stated, _TYPES) if stated else None
    if meant is not None and (meant == stated or EntryType(meant) is not EntryType.INVARIANT):
        label = stated if meant != stated and meant == EntryType.NOTE and stated not in _OWN_LABELS else ""
        guess = Guess(f"it says `{stated}`", Sureness.LIKELY) if meant != stated else None
        return EntryType(meant), guess, label
    if source.is_in_records:
        return EntryType.DECISION, Guess("it lies in a folder of decision records", Sureness.LIKELY), ""
    if any(one.name == "decision" for one in sections_of(source.body)):
        return EntryType.DECISION, Guess("it has a section `Decision`", Sureness.GUESS), ""
    why = f"`{stated}` is no type of ours" if stated else "no type is stated"
    return EntryType.NOTE, Guess(why, Sureness.LIKELY), stated if stated not in _OWN_LABELS else ""


_TYPES = tuple(one.value for one in EntryType)


def _stated(fields: Mapping[str, object]) -> str:
    value = next((fields[key] for key in ("type", "kind") if isinstance(fields.get(key), str)), "")
    return " ".join(str(value).lower().split())
