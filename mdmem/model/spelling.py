"""Find the field or value that an unknown word probably or certainly means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from mdmem.errors import UsageError
from mdmem.model.entry import Field
from mdmem.model.fields import FIELDS, KNOWN_FIELDS, WING_FIELDS
from mdmem.model.text import visible

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

# `inactive` is spelt most like `active`, its opposite. The words of other formats are therefore looked up first.
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


# These words mean the same in every format. Words for deprecated entries, sessions and facts are left out,
# because such entries also need a reason or a label.
_CERTAIN = frozenset({"accepted", "approved", "in_force", "proposed", "proposal", "adr"})

# The keys of MADR, adr-tools, Obsidian, Jekyll and Cursor's rules. None means that mdmem has no such field.
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
    **dict.fromkeys(("creationdate", "datecreated", "createdon", "startdate"), "created_at"),
    "state": "status",
    "kind": "type",
    **dict.fromkeys(("rationale", "why", "justification"), "reason"),
    **dict.fromkeys(("name", "heading", "subject"), "title"),
    **dict.fromkeys(("project", "scope", "area"), "focus"),
    **dict.fromkeys(("informed", "consulted", "reviewers", "participants", "id", "number", "uuid", "slug"), None),
    **dict.fromkeys(("description", "summary", "alwaysapply", "aliases", "permalink", "layout"), None),
}
# Never suggest this field, because it disables checks.
_NEVER_MEANT = frozenset({"ignore"})


def meant_field(key: str) -> str | None:
    """Return the field that a key of another format means, or else the field with the nearest spelling, or None."""
    plain = _plain(key)
    return _SYNONYMS[plain] if plain in _SYNONYMS else nearest(key, KNOWN_FIELDS - _NEVER_MEANT)


def synonym(key: str) -> str | None:
    """Return the field that a key of another format certainly means, or None."""
    named = key.lower().replace("-", "_")
    return named if named in KNOWN_FIELDS else known_spelling(key) or _SYNONYMS.get(_plain(key))


def known_spelling(key: str) -> str | None:
    """Return the field that a misspelt key certainly means, or None."""
    return _SPELLINGS.get(_plain(key))


def _plain(key: str) -> str:
    return "".join(character for character in key.lower() if character.isalnum())


def meant_value(value: str, allowed: tuple[str, ...]) -> str | None:
    """Return the allowed value that a word of another format means, or else the nearest spelling, or None."""
    meant = _MEANINGS.get(value.lower())
    return meant if meant in allowed else nearest(value, allowed)


def certain_value(value: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed value that a word of another format certainly means, or None."""
    plain = value.strip().lower().replace("-", "_").replace(" ", "_")
    meant = _MEANINGS[plain] if plain in _CERTAIN else None
    return meant if meant in tuple(allowed) else None


def nearest(word: str, known: frozenset[str] | tuple[str, ...]) -> str | None:
    """Return the known word with the most similar spelling, or None if none is similar enough."""
    close = difflib.get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return close[0] if close else None


def get_field(name: str) -> Field:
    """Return a field by its name. Raises UsageError, which suggests the nearest field, if there is no such field."""
    found = next((field for field in FIELDS if field.name == name), None)
    if found is not None:
        return found
    close = known_spelling(name) or nearest(name, KNOWN_FIELDS | WING_FIELDS) or meant_field(name)
    hint = f"did you mean `{close}`?" if close else "`mdmem guide fields` lists them"
    raise UsageError(f"there is no field `{visible(name)}`; {hint}")
