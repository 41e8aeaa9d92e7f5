"""Validate front matter, with a suggestion for each misspelt name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mdmem.errors import UsageError
from mdmem.model.entry import Entry, EntryType, Flaw, Status, Wing, WingKind, kind_of, title_of, visible
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, REQUIRED, WING_FIELDS, Field, Holder, Kind
from mdmem.model.front_matter import judge
from mdmem.model.values import FIELDS_OF, UnreadableValueError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


_SPELLINGS = {name.replace("_", ""): name for name in KNOWN_FIELDS} | {
    "supercedes": "supersedes",
    "supercededby": "superseded_by",
    "replaces": "supersedes",
    "replacedby": "superseded_by",
    "created": "created_at",
    "date": "created_at",
    "verified": "verified_at",
    "seealso": "see",
    "tag": "tags",
}

# The spelling of `inactive` is closest to its opposite, so what other formats say is looked up first.
_MEANINGS = {
    **dict.fromkeys(("accepted", "approved", "final", "implemented", "in_force"), "active"),
    **dict.fromkeys(("proposed", "proposal", "pending", "wip", "provisional"), "draft"),
    **dict.fromkeys(
        ("superseded", "replaced", "rejected", "obsolete", "inactive", "retired", "withdrawn"), "deprecated"
    ),
    **dict.fromkeys(("rule", "constraint"), "invariant"),
    **dict.fromkeys(("adr", "choice"), "decision"),
    **dict.fromkeys(("convention", "guideline", "howto", "recipe"), "pattern"),
    **dict.fromkeys(("session", "entity", "context", "fact", "incident"), "note"),
}


# Of these no format means anything else. What ended needs a reason, and a session or a fact its label.
_CERTAIN = frozenset({"accepted", "approved", "in_force", "proposed", "proposal", "adr"})

# What MADR, adr-tools, Obsidian, Jekyll and Cursor's rules call it; None is for what no field holds.
_SYNONYMS: dict[str, str | None] = {
    **dict.fromkeys(("author", "authors", "decisionmakers", "deciders", "maintainer", "maintainers"), "owner"),
    **dict.fromkeys(("owners", "contact", "assignee", "team", "responsible"), "owner"),
    **dict.fromkeys(("path", "paths", "file", "files", "globs", "glob"), "applies_to"),
    **dict.fromkeys(("category", "categories", "keyword", "keywords", "labels", "topics"), "tags"),
    **dict.fromkeys(("related", "relatedto", "links", "references", "refs"), "see"),
    **dict.fromkeys(("updated", "updatedat", "lastupdated", "lastmodified", "modified", "reviewed"), "verified_at"),
    **dict.fromkeys(("lastreviewed", "reviewedat", "lastverified"), "verified_at"),
    **dict.fromkeys(("expires", "expiry", "validuntil", "until"), "expires_at"),
    **dict.fromkeys(("approver", "approvers", "approved"), "approved_by"),
    "state": "status",
    "kind": "type",
    **dict.fromkeys(("rationale", "why", "justification"), "reason"),
    **dict.fromkeys(("name", "heading", "subject"), "title"),
    **dict.fromkeys(("project", "scope", "area"), "focus"),
    **dict.fromkeys(("informed", "consulted", "reviewers", "participants", "id", "number", "uuid", "slug"), None),
    **dict.fromkeys(("description", "summary", "alwaysapply", "aliases", "permalink", "layout"), None),
}
# Who is advised to write it would silence checks.
_NEVER_MEANT = frozenset({"ignore"})


def meant_field(key: str) -> str | None:
    """Return the field that a key of another format stands for, else the nearest one, or None."""
    plain = "".join(character for character in key.lower() if character.isalnum())
    return _SYNONYMS[plain] if plain in _SYNONYMS else nearest(key, KNOWN_FIELDS - _NEVER_MEANT)


def synonym(key: str) -> str | None:
    """Return the field that a key of another format surely is or stands for, else None."""
    plain = "".join(character for character in key.lower() if character.isalnum())
    named = key.lower().replace("-", "_")
    return named if named in KNOWN_FIELDS else _SPELLINGS.get(plain) or _SYNONYMS.get(plain)


def known_spelling(key: str) -> str | None:
    """Return the field that a misspelt key surely means, else None."""
    return _SPELLINGS.get("".join(character for character in key.lower() if character.isalnum()))


def meant_value(value: str, allowed: tuple[str, ...]) -> str | None:
    """Return the allowed value that another format's word stands for, or the nearest one, or None."""
    return _MEANINGS.get(value.lower()) or nearest(value, allowed)


def certain_value(value: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed value that another format's word surely stands for, else None."""
    plain = value.strip().lower().replace("-", "_").replace(" ", "_")
    meant = _MEANINGS[plain] if plain in _CERTAIN else None
    return meant if meant in tuple(allowed) else None


def nearest(word: str, known: frozenset[str] | tuple[str, ...]) -> str | None:
    """Return the known word closest to one that is not known, or None when nothing is close."""
    close = difflib.get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return close[0] if close else None


def get_field(name: str) -> Field:
    """Return the field of a name; raises UsageError with the field that was meant, where one can be told."""
    found = next((field for field in FIELDS if field.name == name), None)
    if found is not None:
        return found
    close = known_spelling(name) or nearest(name, KNOWN_FIELDS | WING_FIELDS) or meant_field(name)
    hint = f"did you mean `{close}`?" if close else "`mdmem guide fields` lists them"
    raise UsageError(f"there is no field `{visible(name)}`; {hint}")


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


_DAY = r"^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$"
_LIST: Mapping[str, Any] = {"type": ["array", "string"], "items": {"type": "string"}}
_RELATION = {
    "type": "object",
    "properties": {"type": {"type": "string"}, "to": {"type": "string"}},
    "required": ["type", "to"],
    "additionalProperties": False,
}
_FORMS: Mapping[Kind, Mapping[str, Any]] = {
    Kind.TYPE: {"enum": [one.value for one in EntryType]},
    Kind.STATUS: {"enum": [one.value for one in Status]},
    Kind.WING_KIND: {"enum": [one.value for one in WingKind]},
    Kind.TEXT: {"type": "string"},
    Kind.TEXTS: _LIST,
    Kind.NAMES: _LIST,
    Kind.LINKS: _LIST,
    Kind.GLOBS: {"type": ["array", "string"], "items": {"type": "string", "pattern": "^[^:]"}},
    Kind.MOMENT: {"type": "string", "pattern": _DAY},
    Kind.VERSION: {"type": "integer", "minimum": 1},
    Kind.SHARE: {"type": "number", "minimum": 0, "maximum": 1},
    Kind.PAIRS: {"type": "object", "additionalProperties": {"type": "string"}},
    Kind.RELATIONS: {"type": "array", "items": _RELATION},
}


def front_matter_schema() -> dict[str, Any]:
    """Return the schema of an entry's front matter; that of a wing's manifest is `wing` in its `$defs`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "front matter of an entry",
        "description": "an address is `wing/room/entry-id`; a list of one value may be written as the value",
        **_object((field for field in FIELDS if field.holder is not Holder.WING), REQUIRED),
        "allOf": [_only_for(kind, own) for kind in EntryType if (own := _own_fields(kind))],
        "$defs": {"wing": wing_schema()},
    }


def wing_schema() -> dict[str, Any]:
    """Return the schema of the front matter of a wing's README.md."""
    return _object((field for field in FIELDS if field.is_of_wings), ())


def _object(fields: Iterable[Field], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: {**_FORMS[field.kind], "description": field.meaning} for field in fields},
        "required": list(required),
        "patternProperties": {"^x-": {"description": "anything: kept, never interpreted"}},
        "additionalProperties": False,
    }


def _own_fields(kind: EntryType) -> list[str]:
    return sorted(field.name for field in FIELDS if field.holder.type == kind.value)


def _only_for(kind: EntryType, own: list[str]) -> dict[str, Any]:
    """Return that the fields of one type stand in no entry of another."""
    other = {"properties": {"type": {"not": {"const": kind.value}}}}
    return {"if": other, "then": {"properties": dict.fromkeys(own, False)}}
