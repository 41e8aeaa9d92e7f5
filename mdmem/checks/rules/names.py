"""Checks of the names and places of files."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator

from mdmem import SETTINGS_NAME
from mdmem.checks.case import Case, at_path
from mdmem.checks.check import check
from mdmem.checks.fixes.links import composed, has_odd_extension, with_move, with_name, with_number
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.text import visible
from mdmem.store.catalog.addresses import is_entry_place, is_misplaced, is_well_formed, well_formed, why_not_on_windows
from mdmem.store.tree import FileKind


def files_and_folders(paths: Iterable[str]) -> dict[str, str]:
    """Return every file and folder by its path, each with the first file at or below it, in order."""
    found: dict[str, str] = {}
    for path in sorted(paths):
        end = path.find("/")
        while end > 0:
            found.setdefault(path[:end], path)
            end = path.find("/", end + 1)
        found[path] = path
    return found


def renaming(place: str, path: str, name: str | None = None) -> str:
    """Return the command that renames a file or folder; `path` is the first file at or below it.

    Only an entry, a room or a wing has an address; all else is moved with git.
    """
    folder = place.rpartition("/")[0]
    is_entry = is_entry_place(place)
    is_folder = place != path and place.count("/") < 2
    if not place.isprintable() or not (is_entry or is_folder):
        return f"rename it{f' to `{name}`' if name else ''} with `git mv`"
    old = place.removesuffix(".md") if is_entry else f"{place}/"
    new = f"{folder}/{name or 'NEW-NAME'}".lstrip("/") + ("" if is_entry else "/")
    return f"run `mdmem mv {shlex.quote(old)} {shlex.quote(new)}`, which rewrites the links, too"


def is_expected(path: str) -> bool:
    """Return whether a path is the settings, a manifest, or the README of the root or a room."""
    return path == SETTINGS_NAME or (path.rsplit("/", 1)[-1] == "README.md" and path.count("/") <= 2)


_KIND_BY_DEPTH = {0: "wing", 1: "room", 2: "entry"}


_UNPORTABLE = ("path-illegal-on-windows", "case-collision", "unicode-collision")


@check("unportable-name", Severity.ERROR, aliases=_UNPORTABLE)
def unportable_name(case: Case) -> Iterator[Finding]:
    """Windows does not allow this file name, or two names differ only in capital letters or look the same.

    One such file stops everybody on Windows from checking out the repository: the name of a device (`con`, `aux`,
    `nul`), `:`, `?`, `*` and the like, a dot or a blank at the end, or a name that is not UTF-8. On Windows and macOS
    two names that fold to one are one file or folder: a checkout keeps one of them, and the next commit deletes the
    other. An «é» can be one character, or an «e» and an accent, so a link that looks right may lead to the other file.

    Fails:

        app/rules/aux.md
        app/rules/use-utc.md    and    app/rules/Use-UTC.md

    Fix: rename an entry, a room or a wing with `mdmem mv`, which rewrites the links to it, another file with `git mv`;
    or merge two entries into one. `mdmem check --unsafe-fixes` does it if one answer is likely.
    """
    # Below a folder with such a name no path is usual.
    for place, path in files_and_folders((*case.unusual_paths, *(file.path for file in case.others))).items():
        why = why_not_on_windows(place.rsplit("/", 1)[-1])
        if why:
            message = f"`{visible(place)}` {why}, which Windows does not allow"
            better = _better_name(place) if is_entry_place(path) else None
            found = at_path(path, message, renaming(place, path, better), former="path-illegal-on-windows")
            yield with_name(found, case, place, better) if better else found
    for first, second, first_path, second_path in _collisions(case):
        message, former = f"`{second}` and `{first}` differ only in case", "case-collision"
        if composed(first) == composed(second):
            message, former = f"`{ascii(second)[1:-1]}` and `{ascii(first)[1:-1]}` look the same", "unicode-collision"
        found = at_path(second_path, message, renaming(second, second_path), other=Place(first_path), former=former)
        yield with_number(found, case, second)


def _better_name(place: str) -> str | None:
    """Return the name that an entry, room or wing should have, if Windows allows that one."""
    kind = _KIND_BY_DEPTH.get(place.count("/"))
    better = well_formed(kind, place.rsplit("/", 1)[-1].removesuffix(".md")) if kind else None
    return better if better and not why_not_on_windows(better) else None


def _fold(name: str) -> str:
    return composed(name).lower()


def _collisions(case: Case) -> list[tuple[str, str, str, str]]:
    """Return pairs of files or folders whose names fold to one, each with the first file at or below it.

    The tree and the index are compared apart: a file that was renamed on disk is in both, under two names.
    """
    on_disk = {file.path for file in case.all_files}
    in_index: set[str] = set()
    # If git lists the tree, the index knows nothing else.
    if case.facts is not None and not all(file.digest for file in case.all_files):
        wings = {_fold(name) for name in case.catalog.wings}
        # At the repository's top the index has all of its code, too.
        in_index = {path for path in case.facts.tracked if _fold(path.split("/", 1)[0]) in wings}
    apart = in_index if in_index != on_disk else ()
    return list(dict.fromkeys([*_pairs(on_disk), *_pairs(apart)]))


def _pairs(paths: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    below = files_and_folders(paths)
    # If all whole paths differ folded, no parts of them are alike.
    if len(set(map(_fold, below))) == len(below):
        return
    seen: dict[str, str] = {}
    for place, path in below.items():
        folder, _, name = place.rpartition("/")
        first = seen.setdefault(f"{folder}/{_fold(name)}", place)
        if first != place:
            yield first, place, below[first], path


_WHERE = ("in the root", "in a wing but in no room", "below a room")


@check("misplaced-file", Severity.WARNING, aliases=("stray-file", "odd-extension", "wrong-depth"))
def misplaced_file(case: Case) -> Iterator[Finding]:
    """A file in the memory is not where, or not called as, an entry is.

    The address of an entry is its path, `wing/room/entry-id`, and its file ends in `.md`, in lower case. mdmem reads no
    other file, and no link can lead to one. For a `.md` file outside a room that is an error. The settings are
    expected, and a `README.md` at the root, in a wing and in a room. The check does not look at files that git ignores.

    Fails:

        app/use-utc.md
        app/rules/diagram.png
        app/rules/use-utc.markdown

    Fix: move an entry into a room and give it the ending `.md`; move any other file out of the memory, delete it, or
    make git ignore it. `mdmem check --unsafe-fixes` does it if one answer is likely.
    """
    taken = {file.path for file in case.catalog.files}
    for file in case.others:
        path = file.path
        if file.kind is not FileKind.FILE or is_expected(path):
            continue
        *folders, name = path.split("/")
        if has_odd_extension(path):
            stem, extension = path.rsplit(".", 1)
            name = f"{stem.rsplit('/', 1)[-1]}.md"
            message = f"`.{extension}` is not read; entries end in `.md`"
            found = at_path(path, message, f"rename it to `{name}`", former="odd-extension")
            yield with_move(found, case, {path: f"{stem}.md"}, f"Rename it to `{name}`")
        elif is_misplaced(path):
            message = f"the file lies {_WHERE[min(len(folders), 2)]}, so it has no address"
            target = _room_place(folders, name, taken)
            help_ = f"move it into a room, as `{folders[0] if folders else '<wing>'}/<room>/{name}`"
            if target is not None:
                help_ = f"move `{path}` to `{target}`, both counted from the memory's root"
            found = at_path(path, message, help_, severity=Severity.ERROR, former="wrong-depth")
            yield with_move(found, case, {path: target}, f"Move it to `{target}`") if target is not None else found
        elif case.facts is None or path not in case.facts.ignored:
            message, help_ = "the file is not an entry; mdmem does not read it", "move it out of the memory"
            yield at_path(path, message, help_, former="stray-file")


def _room_place(folders: list[str], name: str, taken: Collection[str]) -> str | None:
    """Return a free place in the room above a file, None outside any room."""
    if len(folders) < 2:
        return None
    room = "/".join(folders[:2])
    return f"{room}/{name}" if f"{room}/{name}" not in taken else f"{room}/{'-'.join([*folders[2:], name])}"


_HYPHENS = "lowercase-with-hyphens"
_NAME_STYLES = (("wing", "lowercase_with_underscores"), ("room", _HYPHENS), ("entry", _HYPHENS))


@check("bad-name", Severity.WARNING)
def bad_name(case: Case) -> Iterator[Finding]:
    """The name of a wing, a room or an entry does not follow the naming style.

    Wings are lowercase_with_underscores, rooms and entries lowercase-with-hyphens, in letters of any language. With one
    style nobody has to guess how to type an address.

    Fails:

        MyApp/Business Rules/Use UTC.md

    Fix: rename it with `mdmem mv`, here to `my_app/business-rules/use-utc`, which also rewrites the links to it.
    `mdmem check --unsafe-fixes` does it if one answer is likely.
    """
    for place, path in files_and_folders(case.unusual_paths).items():
        kind, style = _NAME_STYLES[place.count("/")]
        name = place.rsplit("/", 1)[-1]
        name = name.removesuffix(".md") if kind == "entry" else name
        # A character that does not show, or that Windows refuses, is a graver finding of its own.
        if is_well_formed(kind, name) or not name.isprintable() or why_not_on_windows(name):
            continue
        better = well_formed(kind, name)
        found = at_path(path, f"the {kind} `{name}` is not {style}", renaming(place, path, better))
        yield with_name(found, case, place, better) if better else found


@check("ignored-by-git", Severity.WARNING, asks_git=True)
def ignored_by_git(case: Case) -> Iterator[Finding]:
    """Git ignores the file.

    The rule and the links to it work here, but the file exists for nobody else.

    Fails:

        app/rules/use-utc.md    (.gitignore: *-utc.md)

    Fix: remove the pattern from `.gitignore`, or `git add -f` the file; `git check-ignore -v FILE` shows the pattern.
    """
    if case.facts is None or not case.facts.ignored:
        return
    others = (file.path for file in case.catalog.others if is_expected(file.path))
    read = [*(file.path for file in case.catalog.files), *others]
    ignored = [path for path in read if path in case.facts.ignored and path not in case.facts.tracked]
    shared = {_wing_of(path) for path in set(read).difference(ignored)} | {""}
    reported: set[str] = set()
    for path in ignored:
        wing = _wing_of(path)
        if wing in shared:
            yield at_path(path, "git ignores the file, so it exists only here", f"type `git add -f {path}`")
        elif wing not in reported:
            reported.add(wing)
            message = f"git ignores all of `{wing}`, so it exists only here"
            yield at_path(path, message, "take the pattern out of `.gitignore`")


def _wing_of(path: str) -> str:
    return path.split("/")[0] if "/" in path else ""
