"""The schema of the front matter: from text to an entry or a wing, and every flaw on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mdmem.model.entry import Entry, EntryType, Flaw, Status, Wing, kind_of, title_of, visible
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, REQUIRED, WING_FIELDS, Holder
from mdmem.model.front_matter import judge
from mdmem.model.spelling import known_spelling, meant_field, meant_value, nearest
from mdmem.model.values import FIELDS_OF, UnreadableValueError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


def read_entry(
    address: str, front_matter: Mapping[str, Any], heading: str | None
) -> tuple[Entry | None, tuple[Flaw, ...]]:
    """Return what the front matter states and its flaws; no entry where type or status cannot be read.

    `front_matter` maps keys to text, lists of text, nested values, or None for an empty value.
    `heading` is the first heading of the body, the title of an entry that states none.
    """
    # What keeps an entry from being read comes first: it is what a problem is shown by.
    flaws = [
        *_closed_set(front_matter, "type", EntryType),
        *_closed_set(front_matter, "status", Status),
        *_empty(front_matter),
    ]
    told = {flaw.name for flaw in flaws}
    stated = {key: value for key, value in _stated(front_matter).items() if key not in told}
    if not _is_stated(front_matter, "created_at"):
        flaws.append(Flaw("missing-field", "created_at", "`created_at` is missing", "add `created_at: YYYY-MM-DD`"))
    kind = EntryType(stated["type"]) if "type" in stated else None
    model_flaws, values = _validated(kind or EntryType.NOTE, stated)
    # Which fields belong there follows from the type: while that is unknown, it alone is at fault.
    flaws += [*model_flaws, *_misplaced(kind, stated)] if kind else [one for one in model_flaws if one.code != _NOT_FOR]
    if kind is None or "status" not in stated:
        return None, tuple(flaws)
    unread = tuple(sorted({_hidden_field(flaw) for flaw in model_flaws} - {""}))
    # A quoted or folded title may hold line breaks; every listing gives it one line.
    title = " ".join((values.pop("title", None) or heading or "").split())
    return Entry(address=address, title=title or title_of(address), unread=unread, **values), tuple(flaws)


_NOT_FOR = "field-not-for-type"
_MEMBERS = {closed_set: {member.value: member for member in closed_set} for closed_set in (EntryType, Status)}


def _hidden_field(flaw: Flaw) -> str:
    """Return the field whose value a flaw keeps from being read, or an empty text."""
    if flaw.code == "key-spelling" or (flaw.code == "invisible-characters" and flaw.on_key):
        return known_spelling(flaw.name) or ""
    return "" if flaw.on_key or flaw.code == "link-placeholder" else flaw.name


def read_wing(name: str, front_matter: Mapping[str, Any]) -> tuple[Wing, tuple[Flaw, ...]]:
    """Return the wing that a manifest states, with defaults for what could not be read, and the flaws."""
    stated = _stated(front_matter)
    known = {key: value for key, value in stated.items() if key in WING_FIELDS}
    details, values = judge(None, known)
    if details:
        bad = {str(detail["loc"][0]) for detail in details}
        _, values = judge(None, {key: value for key, value in known.items() if key not in bad})
    flaws = [_wing_flaw(detail) for detail in details]
    flaws += [_wing_stranger(key) for key in stated if key not in known]
    return Wing(name=name, has_manifest=True, **values), tuple(flaws)


def _wing_flaw(detail: ErrorDetails) -> Flaw:
    key = str(detail["loc"][0])
    return Flaw("manifest-invalid", key, f"`{key}`: {_code_and_message(detail)[1]}", _wanted(key))


def _wing_stranger(key: str) -> Flaw:
    close = nearest(key, WING_FIELDS)
    help_ = f"write `{close}`" if close else "remove it"
    return Flaw("manifest-invalid", key, f"unknown key `{key}`", help_, on_key=True)


def _wanted(key: str) -> str:
    return "write `kind: project` or `kind: shared`" if key == "kind" else f"correct the value of `{key}`"


def _empty(front_matter: Mapping[str, Any]) -> list[Flaw]:
    return [
        Flaw("empty-value", key, f"`{key}` has no value", f"write a value or remove `{key}`")
        for key, value in front_matter.items()
        if value is None and not key.startswith("x-") and key not in REQUIRED
    ]


def _closed_set(front_matter: Mapping[str, Any], key: str, closed_set: type[EntryType | Status]) -> list[Flaw]:
    value = front_matter.get(key)
    if isinstance(value, str) and value in _MEMBERS[closed_set]:
        return []
    allowed = tuple(_MEMBERS[closed_set])
    listed = ", ".join(allowed)
    if not _is_stated(front_matter, key):
        return [Flaw("missing-field", key, f"`{key}` is missing", f"add `{key}:` with one of {listed}")]
    if value is None:
        return []
    if not isinstance(value, str):
        return [
            Flaw(
                "wrong-type",
                key,
                f"`{key}` holds a {kind_of(value)}, expected one of {listed}",
                f"write one of {listed}",
            )
        ]
    if "|" in value or set(value.split("/")) <= set(allowed):
        return [Flaw("template-leftover", key, f"`{key}` still lists the choices `{value}`", "keep one of them")]
    close = meant_value(value, allowed)
    help_ = f"write `{close}`; allowed are {listed}" if close in allowed else f"write one of {listed}"
    return [Flaw(f"unknown-{key}", key, f"unknown {key} `{value}`", help_)]


def _stated(front_matter: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in front_matter.items() if value is not None and not key.startswith("x-")}


def _is_stated(front_matter: Mapping[str, Any], key: str) -> bool:
    """Say whether a field has a value, be it under a misspelt key: that is then the one finding."""
    return front_matter.get(key) is not None or any(known_spelling(name) == key for name in front_matter.keys() - {key})


def _validated(kind: EntryType, stated: Mapping[str, Any]) -> tuple[list[Flaw], dict[str, Any]]:
    known = {key: value for key, value in stated.items() if key in FIELDS_OF[kind]}
    details, values = judge(kind, known)
    if details:
        # Where a type or status cannot be read either, nothing can, and the caller makes no entry.
        _, values = judge(kind, _without(known, details))
    flaws = [*_flaws(known, details), *(_stranger(kind, key) for key in stated if key not in known)]
    return flaws, values


def _item_of(value: object, detail: ErrorDetails) -> int | None:
    """Return which item of a list is meant; the reader counts without those that are empty."""
    index = next((part for part in detail["loc"][1:] if isinstance(part, int)), None)
    if index is None or not isinstance(value, list):
        return index
    return [number for number, item in enumerate(value) if item is not None][index]


def _without(stated: Mapping[str, Any], details: list[ErrorDetails]) -> dict[str, Any]:
    """Leave out what could not be read: one item of a list where it is one item, else the field."""
    readable = dict(stated)
    for detail in details:
        key, *rest = detail["loc"]
        if rest and isinstance(readable.get(str(key)), list) and isinstance(rest[0], int):
            bad = stated[str(key)][_item_of(stated[str(key)], detail)]
            readable[str(key)] = [item for item in readable[str(key)] if item is not bad]
        else:
            readable.pop(str(key), None)
    return readable


def _flaws(stated: Mapping[str, Any], details: list[ErrorDetails]) -> Iterator[Flaw]:
    for detail in details:
        key = str(detail["loc"][0])
        if detail["type"] == "missing" or key in ("type", "status"):
            continue
        code, message = _code_and_message(detail)
        help_ = _HELP.get(code, f"correct the value of `{key}`")
        yield Flaw(code, key, f"`{key}`: {message}", help_, _item_of(stated.get(key), detail))


_HELP = {
    "not-iso": "write it as YYYY-MM-DD",
    "invalid-date": "write a day that exists, as YYYY-MM-DD",
    "invisible-characters": "write the address anew",
    "link-placeholder": "remove it; a link field that is absent says the same",
    "nested-value": "write plain text; nesting is for `relations`, `ignore` and `x-` keys",
}


def _code_and_message(detail: ErrorDetails) -> tuple[str, str]:
    fault = detail.get("ctx", {}).get("error")
    if isinstance(fault, UnreadableValueError):
        return fault.code, str(fault)
    message = detail["msg"]
    return "wrong-type", message[:1].lower() + message[1:]


def _stranger(kind: EntryType, key: str) -> Flaw:
    if key in KNOWN_FIELDS:
        return _not_for(kind.value, key)
    meant = known_spelling(key)
    if not key.isprintable():
        help_ = f"write `{meant}`" if meant else "write the key anew"
        message = f"the key `{visible(key)}` holds an invisible character"
        return Flaw("invisible-characters", key, message, help_, on_key=True)
    if meant:
        return Flaw("key-spelling", key, f"`{key}` is not read; the key is `{meant}`", f"write `{meant}`", on_key=True)
    close = meant_field(key)
    hint = f"write `{close}`, or `x-{key}` to keep it" if close else f"write `x-{key}` to keep it, or remove it"
    return Flaw("unknown-key", key, f"unknown key `{key}`", hint, on_key=True)


def _not_for(owner: str, key: str) -> Flaw:
    article = "an" if owner.startswith("i") else "a"
    return Flaw(_NOT_FOR, key, f"`{key}` is not a field of {article} {owner}", f"remove `{key}`", on_key=True)


def _misplaced(kind: EntryType, stated: Mapping[str, Any]) -> list[Flaw]:
    """Name the fields of a session or an entity on a note that is neither."""
    if kind is not EntryType.NOTE:
        return []
    label = stated.get("label")
    labelled = (field for field in FIELDS if field.holder in (Holder.SESSION, Holder.ENTITY))
    wrong = [field.name for field in labelled if field.name in stated and label != field.holder]
    return [_not_for(f"note labelled `{label}`" if label else "note without a label", key) for key in wrong]
