"""What a word that is not known surely or probably means."""

from __future__ import annotations

import difflib

from mdmem.entry.fields import FIELDS, KNOWN_FIELDS, WING_FIELDS, Field
from mdmem.entry.model import visible
from mdmem.errors import UsageError

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


def known_spelling(key: str) -> str | None:
    """Return the field that a misspelt key surely means, else None."""
    return _SPELLINGS.get("".join(character for character in key.lower() if character.isalnum()))


def meant_value(value: str, allowed: tuple[str, ...]) -> str | None:
    """Return the allowed value that another format's word stands for, or the nearest one, or None."""
    return _MEANINGS.get(value.lower()) or nearest(value, allowed)


def nearest(word: str, known: frozenset[str] | tuple[str, ...]) -> str | None:
    """Return the known word closest to one that is not known, or None when nothing is close."""
    close = difflib.get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return close[0] if close else None


def get_field(name: str) -> Field:
    """Return the field of a name; raises UsageError with the field that was meant, where one can be told."""
    found = next((field for field in FIELDS if field.name == name), None)
    if found is not None:
        return found
    close = known_spelling(name) or nearest(name, KNOWN_FIELDS | WING_FIELDS)
    hint = f"did you mean `{close}`?" if close else "`mdmem fields` lists them"
    raise UsageError(f"there is no field `{visible(name)}`; {hint}")
