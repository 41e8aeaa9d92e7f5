"""The settings of a repository as whoever does not see all of its wings is told them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping


def narrow_settings(content: bytes) -> bytes:
    """Return settings without what they say of single wings: nobody is told of one by its name, or where it lives.

    Those that cannot be read are empty: what is wrong with them may name a wing, too.
    """
    try:
        stated = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return b""
    kept = {key: value for key, value in stated.items() if key not in ("wings", "default_wing")}
    return "".join(f"{_toml(key)} = {_toml(value)}\n" for key, value in kept.items()).encode()


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_toml(key)} = {_toml(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else str(value)
