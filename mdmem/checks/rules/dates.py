"""Checks of dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from shlex import quote

from mdmem.checks.case import Case, written_in
from mdmem.checks.check import check
from mdmem.checks.fixes import fields_of, is_imported, with_fix
from mdmem.markdown.patch import set_fields
from mdmem.model.entry import EntryType, Status, day_of, instant_of, last_review, parse_moment
from mdmem.model.fields import DATE_FIELDS
from mdmem.model.finding import Finding, Severity

# If the year comes first, the month comes before the day, so the date is unambiguous.
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})", re.ASCII)


@check("date-form", Severity.ERROR, per_file=True)
def date_form(case: Case) -> Iterator[Finding]:
    """A date does not exist, is not in ISO 8601 form, or is a time without a UTC offset.

    A date that cannot be parsed counts as missing. A time without an offset is an info, and is read as UTC.

    Fails:
        created_at: 05.03.2026
        verified_at: 2023-14-05

    Fix: write YYYY-MM-DD, or a time with its offset such as 2026-03-05T14:30:00+01:00.
    """
    yield from case.loaded("invalid-date")
    for document, finding in case.loaded_with_document("not-iso"):
        name = finding.cause
        if found := _YEAR_FIRST.fullmatch(str(fields_of(document).get(name)).strip()):
            with suppress(ValueError):
                meant = date(int(found[1]), int(found[3]), int(found[4])).isoformat()
                finding = with_fix(finding, f"Write `{name}: {meant}`", set_fields, document, {name: meant})
        yield finding
    for entry, _ in case.entries:
        for name in DATE_FIELDS:
            moment = getattr(entry, name)
            if isinstance(moment, datetime) and moment.tzinfo is None:
                message = f"`{name}` is {moment.isoformat()}, a time without an offset"
                help_, level, former = "add the offset, or write the day alone", Severity.INFO, "date-without-offset"
                yield case.on_entry(entry, message, help_, field=name, severity=level, former=former)


_PAST_FIELDS = tuple(name for name in DATE_FIELDS if name != "expires_at")
_ZONES = timedelta(days=1)
_SLIP = timedelta(days=14)


@check("impossible-date", Severity.ERROR)
def impossible_date(case: Case) -> Iterator[Finding]:
    """A date that must be in the past is in the future, or an entry was verified before it was created.

    One day ahead is allowed, for time zones. Up to two weeks ahead is a warning. `expires_at` may be in the future.

    Fails:
        created_at: 2026-03-05
        verified_at: 2062-04-10

    Fix: write the day on which it happened, or remove `verified_at` if nobody has verified the entry yet.
    """
    for entry in case.catalog.entries.values():
        for name in _PAST_FIELDS:
            moment = getattr(entry, name)
            if moment is None or day_of(moment) - case.today <= _ZONES:
                continue
            written = written_in(case.catalog, entry, name)
            ahead = day_of(parse_moment(written)) - case.today
            if ahead > _ZONES:
                message = f"`{name}` is {written}, {ahead.days} days ahead of today"
                help_, former = "write the day on which it happened", "future-date"
                severity = Severity.ERROR if ahead > _SLIP else Severity.WARNING
                yield case.on_entry(entry, message, help_, field=name, severity=severity, former=former)
        created, verified = entry.created_at, entry.verified_at
        if created is None or verified is None:
            continue
        # A day without a time is counted from midnight UTC. In some time zone it begins up to 14 hours earlier, or ends
        # up to 36 hours later.
        slack = 0
        if isinstance(verified, datetime) is not isinstance(created, datetime):
            slack = 14 if isinstance(verified, datetime) else 36
        if instant_of(created) - instant_of(verified) > timedelta(hours=slack):
            dates = [written_in(case.catalog, entry, name) for name in ("verified_at", "created_at")]
            message = f"`verified_at` is {dates[0]}, before `created_at`, {dates[1]}"
            help_, former = "correct the date that is wrong, or remove `verified_at`", "verified-before-created"
            place = case.place(entry.address, "created_at")
            yield case.on_entry(entry, message, help_, field="verified_at", other=place, former=former)


_TURNED_DOWN = re.compile(r"\b(?:rejected|declined|withdrawn)\b", re.IGNORECASE)


@check("deprecated-at-missing", Severity.WARNING, same_when_ended=True)
def deprecated_at_missing(case: Case) -> Iterator[Finding]:
    """A deprecated entry has no `deprecated_at`, so nobody can tell whether it applied on a given day.

    Fails:
        status: deprecated     (and no `deprecated_at`)

    Fix: add `deprecated_at` with the day of the deprecation. `mdmem check --fix` uses the day of the commit that
    changed the status, and `created_at` for an imported decision that was rejected.
    """
    for entry in case.catalog.entries.values():
        if entry.status is not Status.DEPRECATED or entry.deprecated_at or "deprecated_at" in entry.unread:
            continue
        message = "the entry is deprecated without `deprecated_at`"
        help_ = "add `deprecated_at: YYYY-MM-DD`, the day of its deprecation"
        found = case.on_entry(entry, message, help_, field="status")
        # The day is known from git, or for an imported decision that was rejected.
        stated = case.facts.ended.get(entry.path) if case.facts else None
        known = date.fromisoformat(stated) if stated is not None else None
        is_rejected = _TURNED_DOWN.search(entry.deprecated_reason or "") and not entry.superseded_by
        if known is None and is_rejected and entry.created_at is not None and is_imported(case, entry.address):
            known = day_of(entry.created_at)
        earlier = [day_of(moment) for moment in (entry.created_at, entry.verified_at) if moment is not None]
        if known is not None and known <= case.today and all(known >= day for day in earlier):
            document, values = case.catalog.document(entry.path), {"deprecated_at": known.isoformat()}
            found = with_fix(found, f"Add `deprecated_at: {known}`", set_fields, document, values)
        yield found


@check("review-overdue", Severity.WARNING)
def review_overdue(case: Case) -> Iterator[Finding]:
    """A current rule was last verified longer ago than the setting `review_after_days` allows.

    Agents follow an outdated rule as faithfully as any other. Notes, and rules that nobody ever verified, are ignored.

    Fails:
        verified_at: 2023-02-01     (of an active decision)

    Fix: compare the rule with the code, then run `mdmem verify`, `mdmem supersede` or `mdmem deprecate`.
    """
    oldest = case.today - timedelta(days=min(case.settings.review_after_days, case.today.toordinal() - 1))
    for entry in case.catalog.entries.values():
        if entry.type is EntryType.NOTE or entry.verified_at is None or not case.is_current(entry.address):
            continue
        # An entry that was created later counts as verified then.
        seen = last_review(entry)
        if seen is not None and seen < oldest:
            help_ = f"compare it with the code, then run `mdmem verify {quote(entry.address)}`"
            yield case.on_entry(entry, f"not verified for {(case.today - seen).days} days", help_, field="verified_at")


@check("expired", Severity.WARNING)
def expired(case: Case) -> Iterator[Finding]:
    """A current entry is past its `expires_at`, so it counts as under review, and every answer marks it.

    Fails:
        expires_at: 2026-06-30     (of an active entry)

    Fix: deprecate it with `mdmem deprecate`, write a later `expires_at`, or remove the field.
    """
    for entry in case.catalog.entries.values():
        if entry.expires_at is None or day_of(entry.expires_at) >= case.today or not case.is_current(entry.address):
            continue
        days = (case.today - day_of(entry.expires_at)).days
        message = f"expired {days} {'day' if days == 1 else 'days'} ago, on {day_of(entry.expires_at)}"
        help_ = f"run `mdmem deprecate {quote(entry.address)} --reason TEXT`, or write a later `expires_at`"
        yield case.on_entry(entry, message, help_, field="expires_at")
