"""What follows a move outside the entries, byte for byte: the settings that name a wing, and the known findings."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

_WING_KEYS = ("default_wing", "default_shared_wing")
_ADDRESS = re.compile(r'("address"\s*:\s*)("(?:[^"\\\n]|\\.)*")')


def settings_after(content: bytes, wings: Mapping[str, str], paths: Callable[[str], str]) -> bytes | None:
    """Return `mdmem.toml` with wings under their new names and the baseline at its new path.

    None where some place that has to change cannot be told for certain. `paths` gives the path of a file afterwards.
    """
    meant = _meant(tomllib.loads(content.decode("utf-8-sig")), wings, paths)
    text = content.decode("utf-8")
    for old, new in wings.items():
        text = _renamed(text, old, new)
    text = re.sub(
        r"""(?m)^(\s*(?:check\s*\.\s*)?baseline\s*=\s*)(["'])([^"'\n]*)\2""",
        lambda found: f"{found[1]}{found[2]}{paths(found[3])}{found[2]}",
        text,
    )
    try:
        after = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return None
    return text.encode() if after == meant else None


def _meant(stated: dict[str, Any], wings: Mapping[str, str], paths: Callable[[str], str]) -> dict[str, Any]:
    """Return what the settings have to say; what is not of the form they have is left for others to refuse."""
    meant = dict(stated)
    for key in _WING_KEYS:
        if isinstance(meant.get(key), str):
            meant[key] = wings.get(meant[key], meant[key])
    if isinstance(meant.get("wings"), dict):
        meant["wings"] = {wings.get(name, name): table for name, table in meant["wings"].items()}
    check = meant.get("check")
    if isinstance(check, dict) and isinstance(check.get("baseline"), str):
        meant["check"] = {**check, "baseline": paths(check["baseline"])}
    return meant


def _renamed(text: str, old: str, new: str) -> str:
    """Return the settings with a wing renamed where one is named in the usual ways, for the caller to prove."""
    name = rf"""(?:{re.escape(old)}(?![\w-])|(["']){re.escape(old)}\2)"""
    for before, behind in (
        (r"\s*\[+\s*wings\s*\.\s*", r"(?=\s*[.\]])"),
        (r"\s*wings\s*\.\s*", r"(?=\s*[.=])"),
        (rf"\s*(?:{'|'.join(_WING_KEYS)})\s*=\s*(?=[\"'])", ""),
    ):
        text = re.sub(rf"(?m)^({before}){name}{behind}", rf"\g<1>\g<2>{new}\g<2>", text)
    return text


def baseline_after(content: bytes, places: Callable[[str], str]) -> bytes | None:
    """Return a baseline's file with every address and path that moved as it is afterwards; None where that is unsure.

    `places` gives what an address or a path is afterwards.
    """
    try:
        text = content.decode("utf-8")
        meant = json.loads(text.removeprefix("\ufeff"))
        for record in meant["findings"]:
            record["address"] = places(record["address"])
        after = _ADDRESS.sub(lambda found: found[1] + _replaced(found[2], places), text)
        is_meant = json.loads(after.removeprefix("\ufeff")) == meant
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    keys = [(record.get("code"), record["address"]) for record in meant["findings"]]
    return after.encode() if is_meant and len(set(keys)) == len(keys) else None


def _replaced(literal: str, places: Callable[[str], str]) -> str:
    stated: str = json.loads(literal)
    after = places(stated)
    return literal if after == stated else json.dumps(after, ensure_ascii=False)
