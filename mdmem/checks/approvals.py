"""Names of people: who approved an entry, and who owns a wing."""

from __future__ import annotations

import re

_IDENTITY = re.compile(r"\s*(?P<name>[^<>]*?)\s*<(?P<email>[^<>]+)>\s*\Z")


def names_the_same(one: str, other: str) -> bool:
    """Say whether two texts name the same one, case ignored; of two in the form `Name <email>`, the email decides."""
    parts, others = _parts(one), _parts(other)
    if len(parts) > 1 and len(others) > 1:
        return parts[-1] == others[-1]
    return not set(parts).isdisjoint(others)


def _parts(text: str) -> tuple[str, ...]:
    """Return the name and the email of git's form, or the text itself."""
    found = _IDENTITY.match(text)
    if found is None:
        return (text.strip().casefold(),)
    name, email = (found[part].strip().casefold() for part in ("name", "email"))
    return (name, email) if name else (email,)
