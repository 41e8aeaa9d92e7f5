"""Dates as people and other tools write them."""

from __future__ import annotations

import re
from datetime import date

from msgspec import Struct

from mdmem.exchange.record import Guess, Sureness
from mdmem.model.entry import NoSuchDayError, NotIsoError, parse_moment

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")
# adr-tools wrote the day first until its eighth record; a point is a European's.
_NUMBERS = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b")
_WORDS = re.compile(
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?\.?\s+)?(?P<month>[A-Za-z]{3,9})\.?,?\s+(?P<rest>[\d, stndrh]+)"
)


class WrittenDate(Struct, frozen=True):
    """A date that was read, in ISO 8601, and what was guessed about it."""

    iso: str
    guess: Guess | None = None


def read_date(text: str) -> WrittenDate | None:
    """Return the date that a text begins with; None where it is none, or no day of the calendar."""
    text = text.strip().strip("*_`\"'").strip()
    try:
        parse_moment(text)
    except (NotIsoError, NoSuchDayError):
        pass
    else:
        return WrittenDate(text)
    if found := _ISO.match(text):
        return _day(int(found[1]), int(found[2]), int(found[3]))
    if found := _NUMBERS.match(text):
        return _of_numbers(int(found[1]), int(found[2]), int(found[3]), text)
    found = _WORDS.match(text)
    month = found["month"][:3].lower() if found else ""
    numbers = re.findall(r"\d+", found["rest"]) if found else []
    if found and month in _MONTHS and numbers:
        day, year = (found["day"], numbers[0]) if found["day"] else (numbers[0], numbers[1] if numbers[1:] else "0")
        return _day(int(year), _MONTHS.index(month) + 1, int(day))
    return None


def _of_numbers(first: int, second: int, year: int, text: str) -> WrittenDate | None:
    if first > 12 or second > 12:
        day, month = (first, second) if first > 12 else (second, first)
        return _day(year, month, day)
    guess = Guess(f"`{text.split()[0]}` is read with the day first, as adr-tools wrote it", Sureness.LIKELY)
    return _day(year, second, first, guess if first != second else None)


def _day(year: int, month: int, day: int, guess: Guess | None = None) -> WrittenDate | None:
    try:
        return WrittenDate(date(year, month, day).isoformat(), guess)
    except ValueError:
        return None
