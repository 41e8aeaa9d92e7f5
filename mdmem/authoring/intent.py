"""What a verb of writing means to do, before anything is written: the files, and what people are told about it."""

from __future__ import annotations

from dataclasses import dataclass

from mdmem.authoring.message import Deed
from mdmem.authoring.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A plan with its meaning.

    `deeds` say what is done to which entry, the first one foremost; `supersedes` are the entries that end in favour of
    another; `reason` is the user's own words. `remarks` are sentences for people that belong to no file.
    """

    plan: Plan
    deeds: tuple[Deed, ...]
    supersedes: tuple[str, ...] = ()
    reason: str | None = None
    agent: str | None = None
    remarks: tuple[str, ...] = ()
