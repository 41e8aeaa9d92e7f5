"""The verbs that write: each plans on the files as they are, and carries the plan out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Self

from mdmem.errors import KeptAsideError, LostRaceError, UsageError
from mdmem.workspace.opened import Opened

if TYPE_CHECKING:
    from mdmem.authoring.intent import Intent
    from mdmem.authoring.succeeding import Successor
    from mdmem.finding import Finding
    from mdmem.workspace.creating import Near
    from mdmem.workspace.editing import Opening
    from mdmem.workspace.writing import WriteOptions, Written


class WritingVerbs(Opened):
    """The verbs of an entry's life; each raises what `carry` raises, and UsageError and NotFoundError for its names."""

    def _address(self, name: str) -> str:
        from mdmem.workspace.naming import resolve_names

        return resolve_names(self, [name])[0]

    def _carried(self, plan: Callable[[Self], Intent], options: WriteOptions) -> Written:
        """Plan and carry out; where somebody else wrote in between, plan once more on what is there then.

        Names mean what they mean on the files that are planned on: what they meant before may have moved.
        """
        from mdmem.workspace.writing import carry

        try:
            return carry(self, plan, options)
        except KeptAsideError:
            raise
        except LostRaceError:
            return carry(replace(self), plan, options)

    def supersede(self, name: str, *, by: str, reason: str, options: WriteOptions) -> Written:
        """Put one entry in the place of another, at once or when it is approved."""
        from mdmem.authoring.superseding import supersede

        def plan(one: Self) -> Intent:
            old, new = one._address(name), one._address(by)
            return supersede(one.catalog, old, by=new, reason=reason, today=one.today)

        return self._carried(plan, options)

    def compose_successor(self, name: str, successor: Successor, *, reason: str) -> tuple[str, str]:
        """Return address and text of an entry that is to supersede another, before it is edited; nothing is written."""
        from mdmem.authoring.succeeding import compose_successor

        return compose_successor(self.catalog, self._address(name), successor, reason=reason, today=self.today)

    def supersede_with(self, name: str, new: str, text: str, *, reason: str, options: WriteOptions) -> Written:
        """Write a new entry in the place of another."""
        from mdmem.authoring.succeeding import supersede_with

        def plan(one: Self) -> Intent:
            old = one._address(name)
            return supersede_with(one.catalog, old, new=new, text=text, reason=reason, today=one.today)

        return self._carried(plan, options)

    def approve(self, name: str, *, by: str | None, options: WriteOptions) -> Written:
        """Put a draft in force and end what it supersedes; git says who approves unless somebody is named."""
        from mdmem.authoring.approving import approve

        def plan(one: Self) -> Intent:
            address, person = one._address(name), by or one._person()
            return approve(one.catalog, one.settings, address, person=person, today=one.today)

        return self._carried(plan, options)

    def _person(self) -> str:
        from mdmem.gitrepo.identity import identity

        found = identity(self.location.repository) if self.location.repository is not None else None
        if found is None:
            help_ = 'write --by "Name <email>", or set `user.name` and `user.email` with `git config`'
            raise UsageError(f"git does not know who approves; {help_}")
        return found

    def review(self, name: str, *, reason: str, options: WriteOptions) -> Written:
        """Put an entry under review."""
        from mdmem.authoring.reviewing import review

        return self._carried(lambda one: review(one.catalog, one._address(name), reason=reason), options)

    def end_review(self, name: str, *, options: WriteOptions) -> Written:
        """Confirm an entry that is under review."""
        from mdmem.authoring.reviewing import end_review

        return self._carried(lambda one: end_review(one.catalog, one._address(name), today=one.today), options)

    def verify(self, names: Sequence[str], *, at: date | None, options: WriteOptions) -> Written:
        """Say of entries that they hold, all of them or none; of a folder's entries those that are in force."""
        from mdmem.authoring.verifying import verify
        from mdmem.workspace.naming import resolve_names

        def plan(one: Self) -> Intent:
            addresses = resolve_names(one, [name for name in names if not name.endswith("/")])
            rooms = resolve_names(one, [name for name in names if name.endswith("/")])
            return verify(one.catalog, addresses, at=at, today=one.today, rooms=rooms)

        return self._carried(plan, options)

    def deprecate(self, name: str, *, reason: str, options: WriteOptions) -> Written:
        """End an entry that nothing replaces."""
        from mdmem.authoring.deprecating import deprecate

        def plan(one: Self) -> Intent:
            return deprecate(one.catalog, one._address(name), reason=reason, today=one.today)

        return self._carried(plan, options)

    def refuse_taken(self, address: str) -> None:
        """Raise LostRaceError where an address is taken, before anybody writes a text for it."""
        from mdmem.workspace.creating import refuse_taken

        refuse_taken(self, address)

    def near(self, address: str, text: str) -> tuple[Near, ...]:
        """Return the entries that say nearly the same as a text that is to be written, the nearest first."""
        from mdmem.workspace.creating import find_near

        return find_near(self, address, text)

    def create(self, address: str, text: str, *, options: WriteOptions) -> Written:
        """Write a new entry."""
        from mdmem.workspace.creating import create_entry

        return create_entry(self, address, text, options)

    def move(self, name: str, to: str, *, options: WriteOptions) -> Written:
        """Move an entry, a room or a wing, and rewrite every link to what moves."""
        from mdmem.workspace.moving import move_named

        return self._carried(lambda one: move_named(one, name, to), options)

    def open_entry(self, name: str) -> Opening:
        """Return an entry as its file holds it, to be edited."""
        from mdmem.workspace.editing import open_entry

        return open_entry(self, name)

    def faults_of_edit(self, opening: Opening, content: bytes) -> tuple[Finding, ...]:
        """Return the errors that a file would have with a new content and has not yet."""
        from mdmem.workspace.editing import faults_of

        return faults_of(self, opening, content)

    def save_edit(self, opening: Opening, content: bytes, *, is_editorial: bool, options: WriteOptions) -> Written:
        """Write what was typed into an entry that was opened."""
        from mdmem.workspace.editing import save_edit

        return save_edit(self, opening, content, is_editorial=is_editorial, options=options)
