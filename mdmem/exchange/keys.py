"""Turn the keys of another tool's front matter, or of its lines below the title, into fields of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from mdmem.exchange.record import Claim, ClaimKind, read_date
from mdmem.exchange.relations import claims_of, kind_of_key
from mdmem.model.fields import FIELDS
from mdmem.model.kinds import Holder, Kind
from mdmem.model.spelling import synonym

Value = str | tuple[str, ...]

# Fields with the same form in all tools, by any of their names. Unknown keys are kept under `x-`.
_PLAIN = frozenset({"owner"})
# Fields that only have our own name.
_OWN = {field.name: field.kind for field in FIELDS if field.holder is not Holder.WING}
_LISTS = frozenset({"tags", "applies_to"})
_ASKED = frozenset({"title", "status", "type", "created_at"})
_LINKS = {
    "supersedes": ClaimKind.SUPERSEDES,
    "superseded_by": ClaimKind.SUPERSEDED_BY,
    "amends": ClaimKind.AMENDS,
    "see": ClaimKind.SEE,
}
_NOTHING = frozenset({"", "none", "n/a", "-", "null", "~", "tbd"})


class Keys(Struct, frozen=True):
    """The result: values that the caller interprets, more fields, and links to other records."""

    asked: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Value] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()


def read_keys(pairs: Iterable[tuple[str, Any]], *, globs: Iterable[str] = ()) -> Keys:
    """Return the fields and claims of some keys; empty values are skipped, and so are the keys of `globs`."""
    asked: dict[str, str] = {}
    fields: dict[str, Value] = {}
    claims: list[Claim] = []
    for key, value in pairs:
        name = synonym(key)
        if key in globs or _is_empty(value):
            continue
        if name in _ASKED and name not in asked:
            asked[name] = _one(value)
        elif (held := kind_of_key(key)) is not None:
            claims += _claims(held[0], value, part=held[1])
        elif name in _LINKS:
            claims += _claims(_LINKS[name], value)
        elif name in _PLAIN:
            fields[name] = _one(value)
        elif name in _LISTS:
            fields[name] = tuple(dict.fromkeys((*fields.get(name, ()), *_many(value))))
        elif _OWN.get(key) is Kind.TEXT and key != "approved_by":
            fields[key] = _one(value)
        elif _OWN.get(key) is Kind.TEXTS:
            fields[key] = tuple(_many(value, at_commas=False))
        elif _OWN.get(key) is Kind.MOMENT and (day := read_date(_one(value))) is not None:
            fields[key] = day.iso
        elif key.startswith("x-"):
            fields[key] = _kept(value)
        else:
            fields[f"x-{re.sub(r'[^a-z0-9]+', '-', key.lower()).strip('-')}"] = _kept(value)
    return Keys(asked, fields, tuple(claims))


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING) or value in ([], {})


def _one(value: Any) -> str:
    """Return a value as one line; several values are joined."""
    return ", ".join(_many(value, at_commas=False))


def _many(value: Any, *, at_commas: bool = True) -> list[str]:
    if isinstance(value, dict):
        return [_kept(value)]
    items = value if isinstance(value, list) else value.split(",") if at_commas else [value]
    return [
        " ".join(text.split()) for item in items if (text := item if isinstance(item, str) else _kept(item)).strip()
    ]


def _kept(value: Any) -> str:
    """Return the value of an unknown key: text as it is, other values as JSON."""
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _claims(kind: ClaimKind, value: Any, *, part: str = "") -> Iterator[Claim]:
    """Yield the claims of a value: by path or number, else by name."""
    for item in _many(value, at_commas=False):
        found = claims_of(kind, item, part=part).claims
        names = [] if found else [name.strip(" []\"'") for name in item.split(",")]
        yield from found or (Claim(kind, name) for name in names if name)
