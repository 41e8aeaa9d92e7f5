"""Who sees what of a hub, and a token as it is handed out, as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mdmem.hub.permissions import Grant
from mdmem.render.json import dump


def grants_text(grants: Sequence[Grant]) -> str:
    """Return one line for each who sees something, or could."""
    return "\n".join(map(_line, grants))


def grants_json(grants: Sequence[Grant]) -> str:
    """Return who sees and pushes what."""
    return dump({"grants": [_facts(one) for one in grants]})


def new_token_text(text: str, name: str) -> str:
    """Return a token's text on a line of its own, and how it is used."""
    return f"{text}\n{name}: it is shown this once; whoever holds it sets it as MDMEM_HUB_TOKEN"


def new_token_json(text: str, name: str) -> str:
    """Return a token's text and name."""
    return dump({"token": text, "name": name})


def _line(grant: Grant) -> str:
    said = [
        f"{verb} {', '.join(places)}"
        for verb, places in (
            ("pushes", [one.place for one in grant.permissions if one.may_push]),
            ("reads", [one.place for one in grant.permissions if not one.may_push]),
        )
        if places
    ]
    who = "you" if grant.name is None else f"{grant.name} ({_kind(grant)})"
    return f"{who}: {'; '.join(said) or 'nothing'}"


def _kind(grant: Grant) -> str:
    return "role" if grant.is_role else "token"


def _facts(grant: Grant) -> dict[str, Any]:
    sees = [{"repository": one.repository, "wing": one.wing, "may_push": one.may_push} for one in grant.permissions]
    return {"name": grant.name, "kind": None if grant.name is None else _kind(grant), "sees": sees}
