"""Moving an entry, a room or a wing: the files, and every link that means one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mdmem.authoring.following import baseline_after, settings_after
from mdmem.authoring.intent import Intent
from mdmem.authoring.message import Deed, Verb
from mdmem.authoring.plan import Change, Plan
from mdmem.checks.case import Case
from mdmem.checks.moves import Move, below
from mdmem.document.edits import UnpatchableError, apply_edits
from mdmem.errors import LostRaceError, NotFoundError, UsageError, taken
from mdmem.finding import Edit
from mdmem.tree import SETTINGS_NAME, FileKind, Unreadable, read_one


def move(case: Case, old: str, new: str, *, under: str | None = None) -> Intent:
    """Return what gives an entry, a room or a wing another place; both are paths from the root without `.md`.

    Raises LostRaceError where something is there, UsageError for what is no regular file, and UnpatchableError where
    a link cannot be rewritten byte by byte. `under` is the root's path from the repository's top.
    """
    is_entry = old.count("/") == 2
    moves = {f"{old}.md": f"{new}.md"} if is_entry else below(case, old, new)
    if old == new:
        return Intent(plan=Plan(), deeds=())
    moving = Move(case, moves, folders={} if is_entry else {old: new}, under=under)
    _refuse(moving, old, new)
    after = _Afterwards(moving)
    changes = [*_changes(moving), *after.settings(), *after.baseline()]
    remarks = (*after.remarks, *_remarks(moving))
    return Intent(plan=Plan(tuple(changes)), deeds=_deeds(moving, old, new), remarks=remarks)


def _refuse(moving: Move, old: str, new: str) -> None:
    if not moving.moves:
        raise NotFoundError(f"there is nothing in `{old}/`; `mdmem list` names the entries")
    if moving.unmovable:
        raise UsageError(f"`{moving.unmovable[0]}` is no regular file; move it by hand, then try again")
    if moving.folders and below(moving.case, new, old):
        hint = f"move its entries one by one: `mdmem mv {old}/… {new}/`"
        raise LostRaceError(f"`{new}/` exists already; {hint if '/' in old else 'choose another name'}")
    if moving.taken:
        raise LostRaceError(taken(moving.taken[0].removesuffix(".md")))


def _changes(moving: Move) -> Iterator[Change]:
    edits: dict[str, list[Edit]] = {}
    for edit in moving.edits():
        edits.setdefault(edit.path, []).append(edit)
    # Files that stay come first: until the renames, their links lead nowhere, and `check` says so.
    for path in (*sorted(edits.keys() - moving.moves.keys()), *sorted(moving.moves)):
        if path in edits:
            before = moving.case.catalog.document(path).data
            yield Change(path, moving.moves.get(path, path), before, _edited(path, before, edits[path]))
        else:
            content = _content(moving.case, path)
            yield Change(path, moving.moves[path], content, content)


def _edited(path: str, before: bytes, edits: Iterable[Edit]) -> bytes:
    try:
        return apply_edits(before, list(dict.fromkeys(edits)))
    except UnpatchableError:
        raise
    except ValueError as error:
        raise UnpatchableError(f"two links of {path} stand too close to be rewritten; write them by hand") from error


def _content(case: Case, path: str) -> bytes:
    content = read_one(case.catalog.tree, path)
    if isinstance(content, Unreadable):
        raise UsageError(f"`{path}` cannot be read: {content.reason.lower()}; make it readable, then try again")
    return content


class _Afterwards:
    """What the settings and the baseline say after a move, and what cannot be told of them."""

    def __init__(self, moving: Move) -> None:
        self._moving, self._settings = moving, moving.case.settings
        self.remarks: list[str] = []

    def settings(self) -> Iterator[Change]:
        before = self._settings.source
        if not before or not self._is_named():
            return
        after = settings_after(before, self._moving.wings, lambda path: self._moving.moves.get(path, path))
        if after is None:
            names = ", ".join(f"`{old}`" for old in (*self._moving.wings, *self._moved_baseline()))
            self.remarks.append(f"{SETTINGS_NAME} was left as it is: write the new name where it says {names}")
        elif after != before:
            yield Change(SETTINGS_NAME, SETTINGS_NAME, before, after)

    def _is_named(self) -> bool:
        stated = {self._settings.default_wing, self._settings.default_shared_wing, *self._settings.wings}
        return not stated.isdisjoint(self._moving.wings) or bool(self._moved_baseline())

    def _moved_baseline(self) -> tuple[str, ...]:
        path = self._settings.baseline
        return (path,) if path is not None and path in self._moving.moves else ()

    def baseline(self) -> Iterator[Change]:
        path = self._settings.baseline
        content = read_one(self._moving.case.catalog.tree, path) if path is not None else Unreadable("")
        if path is None or isinstance(content, Unreadable) or self._moved_baseline():
            return
        after = baseline_after(content, self._place)
        if after is None:
            self.remarks.append(f"{path} was left as it is; `mdmem check --update-baseline` writes it anew")
        elif after != content:
            yield Change(path, path, content, after)

    def _place(self, place: str) -> str:
        return self._moving.addresses.get(place, self._moving.moves.get(place, place))


def _deeds(moving: Move, old: str, new: str) -> tuple[Deed, ...]:
    entries = [one for one in moving.case.catalog.addresses if f"{one}.md" in moving.moves]
    if not entries:
        return (Deed(Verb.MOVE, f"{old}/", f"{new}/"),)
    return tuple(Deed(Verb.MOVE, one, moving.addresses[one]) for one in sorted(entries))


def _remarks(moving: Move) -> Iterator[str]:
    catalog = moving.case.catalog
    for path in moving.untold:
        yield f"{path} cannot be read and may name what moved; `mdmem check {path}` says why"
    for path in sorted(catalog.broken.keys() & moving.moves.keys()):
        yield f"{moving.moves[path]} moved and cannot be read: look at its own links"
    manifests = [file.path for file in catalog.others if file.path.count("/") == 1 and file.kind is FileKind.FILE]
    faulty = {finding.place.path for finding in catalog.findings if finding.code == "manifest-invalid"}
    for path in sorted(faulty.intersection(manifests)):
        if any(wing in catalog.document(path).text for wing in moving.wings):
            yield f"{path} cannot be read and may name what moved; `mdmem check {path}` says why"
    for old, new in moving.wings.items():
        if catalog.wings[old].project_id is None and catalog.wings[old].has_manifest:
            yield f"clients that know it as `{old}` need `project_id: {old}` in {new}/README.md"
    new_wings = {new.split("/")[0] for new in moving.moves.values()} - catalog.wings.keys()
    for wing in sorted(new_wings - set(moving.wings.values())):
        yield f"`{wing}` is a new wing"
