"""The months as a picture: what was decided above the line, what ended below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from mdmem.site.facts import BindingEvent

_BAR, _STEP, _TALL = 18, 26, 60


def months_svg(months: Sequence[tuple[str, Sequence[BindingEvent]]], href: Callable[[str], str]) -> str:
    """Return bars by month, the oldest at the left; each leads to what bound at its end."""
    counted = [(name, *_counts(events)) for name, events in months]
    most = max((max(made, ended) for _, made, ended in counted), default=1) or 1
    width, height, middle = len(counted) * _STEP + 10, 2 * _TALL + 40, _TALL + 10
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    said = 'role="img" aria-label="New and ended entries by month"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" class="months" {size} {said}>']
    for at, (name, made, ended) in enumerate(counted):
        x, up, down = 5 + at * _STEP, _TALL * made // most, _TALL * ended // most
        parts.append(f'<a href="{escape(href(name))}"><title>{name}: {made} new, {ended} ended</title>')
        parts.append(f'<rect x="{x}" y="{middle - up}" width="{_BAR}" height="{max(up, 1)}" rx="2"/>')
        if down:
            parts.append(f'<rect class="end" x="{x}" y="{middle + 2}" width="{_BAR}" height="{down}" rx="2"/>')
        if at == 0 or name.endswith("-01"):
            parts.append(f'<text x="{x}" y="{height - 6}">{name[:4]}</text>')
        parts.append("</a>")
    return "".join([*parts, "</svg>"])


def _counts(events: Sequence[BindingEvent]) -> tuple[int, int]:
    made = sum(event.what in ("new", "replaces") for event in events)
    return made, len(events) - made
