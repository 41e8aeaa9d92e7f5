"""The style sheet without a browser: every colour of a text is read on every ground, light and dark."""

from __future__ import annotations

import re
from itertools import product

import pytest

from mdmem.site.pages import asset_text

TEXTS = ("ink", "soft", "link", "inv", "dec", "pat", "not", "warn", "draft", "ended")
GROUNDS = ("paper", "card", "wash")
# The ground of what was added or removed, and the lines around what one types into.
PAIRS = (*product(TEXTS, GROUNDS), ("ink", "new"), ("ink", "gone"))
EDGES = (("edge", "paper"), ("edge", "wash"), ("link", "line"))


def variables(scheme: str) -> dict[str, str]:
    """Return the colours of a scheme, by name; dark says what is other than light."""
    light, dark = (
        dict(re.findall(r"--(\w+):(#\w+)", block)) for block in re.findall(r":root\{([^}]*)\}", asset_text("site.css"))
    )
    return light if scheme == "light" else light | dark


def luminance(colour: str) -> float:
    """Return how light a colour is, as WCAG 2 has it."""
    digits = colour.removeprefix("#")
    whole = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    parts = (int(whole[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_written_is_read(scheme: str) -> None:
    colours = variables(scheme)
    measured = {(a, b): contrast(colours[a], colours[b]) for a, b in (*PAIRS, *EDGES)}
    assert {pair: ratio for pair, ratio in measured.items() if ratio < (3 if pair in EDGES else 4.5)} == {}


def test_no_rule_has_a_colour_of_its_own() -> None:
    rules = re.sub(r":root\{[^}]*\}", "", asset_text("site.css"))
    # A shadow, and the paper of a printer.
    assert set(re.findall(r"#[0-9a-f]{3,8}\b", rules)) == {"#0004", "#fff"}
