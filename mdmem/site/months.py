"""The months as a picture: how many entries began to bind above the line, how many ended below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from mdmem.site.facts import BindingEvent

_BAR, _STEP, _TALL, _LEAST = 20, 30, 110, 2
# Room for a number above the bars, and for two lines of words below them.
_ABOVE, _BELOW, _WORDS = 18, 44, 52
# Ten years are as wide as anybody scrolls.
_MOST = 120
_NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def months_svg(months: Mapping[str, Sequence[BindingEvent]], href: Callable[[str], str]) -> str:
    """Return bars by month, the oldest at the left; each leads to what bound at its end, where something changed."""
    names = [*_calendar(min(months), max(months))][-_MOST:] if months else []
    counted = [(name, *_counts(months.get(name, ()))) for name in names]
    most_new = max((made for _, made, _ in counted), default=0)
    most_ended = max((ended for *_, ended in counted), default=0)
    scale = _TALL / (most_new + most_ended or 1)
    middle = _ABOVE + max(_LEAST, round(scale * most_new))
    width, low = 4 + len(counted) * _STEP + _WORDS, middle + round(scale * most_ended) + (_ABOVE if most_ended else 0)
    height = low + _BELOW
    said = f'role="group" aria-label="New and ended entries of {len(counted)} months"'
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" class="months" {size} {said}>']
    parts.append(f'<line x1="0" x2="{width}" y1="{middle + 1}" y2="{middle + 1}"/>')
    for at, (name, made, ended) in enumerate(counted):
        x = 4 + at * _STEP
        center = x + _BAR // 2
        year, month = name.split("-")
        label = [f'<text text-anchor="middle" x="{center}" y="{low + 18}">{_NAMES[int(month) - 1]}</text>']
        if at == 0 or month == "01" or (name == names[-1] and month > "02"):
            label.append(f'<text x="{x}" y="{low + 34}">{year}</text>')
        if name not in months:
            parts += label
            continue
        parts.append(f'<a href="{escape(href(name))}"><title>{name}: {made} new, {ended} ended</title>')
        parts.append(f'<rect class="all" x="{x - 4}" y="0" width="{_STEP - 2}" height="{low + 24}" rx="4"/>')
        parts += _bar(x, middle, made, tall=max(_LEAST, round(scale * made)), is_up=True) if made else ()
        parts += _bar(x, middle, ended, tall=max(_LEAST, round(scale * ended)), is_up=False) if ended else ()
        parts += [*label, "</a>"]
    parts += [f'<text text-anchor="end" x="{width}" y="{middle - 6}">new</text>'] if most_new else []
    parts += [f'<text text-anchor="end" x="{width}" y="{middle + 15}">ended</text>'] if most_ended else []
    return "".join([*parts, "</svg>"])


def _bar(x: int, middle: int, number: int, *, tall: int, is_up: bool) -> Iterator[str]:
    top, kind = (middle - tall, "") if is_up else (middle + 2, ' class="end"')
    yield f'<rect{kind} x="{x}" y="{top}" width="{_BAR}" height="{tall}" rx="2"/>'
    y = top - 5 if is_up else top + tall + 12
    yield f'<text class="count" text-anchor="middle" x="{x + _BAR // 2}" y="{y}">{number}</text>'


def _calendar(first: str, last: str) -> Iterator[str]:
    """Yield every month from the first to the last, also those in which nothing changed."""
    begin, end = (int(name[:4]) * 12 + int(name[5:]) - 1 for name in (first, last))
    # Whoever writes the year 1 is shown the last years alone, and need not wait for the others.
    for number in range(max(begin, end - _MOST), end + 1):
        yield f"{number // 12:04}-{number % 12 + 1:02}"


def _counts(events: Sequence[BindingEvent]) -> tuple[int, int]:
    made = sum(event.what in ("new", "replaces") for event in events)
    return made, len(events) - made + sum(len(event.replaced) for event in events)
