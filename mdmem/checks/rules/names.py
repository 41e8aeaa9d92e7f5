"""Checks of the names and places of files."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mdmem.checks.case import Case
from mdmem.checks.check import check
from mdmem.checks.fixes.links import apart, with_move, with_name
from mdmem.checks.name_collisions import composed, name_collisions
from mdmem.checks.paths import at_path, files_and_folders, has_odd_extension, is_expected, renaming
from mdmem.model.finding import Finding, Place, Severity
from mdmem.model.text import visible
from mdmem.store.catalog import is_entry_place, is_misplaced
from mdmem.store.catalog.addresses import is_well_formed, well_formed, why_not_on_windows
from mdmem.store.tree import FileKind

_KIND_BY_DEPTH = {0: "wing", 1: "room", 2: "entry"}


@check("path-illegal-on-windows", Severity.ERROR)
def path_illegal_on_windows(case: Case) -> Iterator[Finding]:
    """No Windows checkout can hold this name.

    One such file keeps everybody on Windows from checking out the repository at all: names of devices (`con`, `aux`,
    `nul`), `:`, `?`, `*` and their like, a dot or a blank at the end, and names that are no UTF-8.

    Fails:

        app/rules/aux.md
        app/rules/when: now.md

    Fix: rename an entry, a room or a wing with `mdmem mv`, which rewrites the links to it, another file with `git mv`.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    # Below a folder with such a name no path is usual.
    for place, path in files_and_folders((*case.unusual_paths, *(file.path for file in case.others))).items():
        why = why_not_on_windows(place.rsplit("/", 1)[-1])
        if why:
            message = f"`{visible(place)}` {why}, which Windows does not allow"
            better = _better(place, path)
            shown = at_path("path-illegal-on-windows", path, message, renaming(place, path, better))
            yield with_name(shown, case, place, better) if better else shown


def _better(place: str, path: str) -> str | None:
    """Return the name that entries, rooms and wings should have, where Windows allows that one."""
    kind = _KIND_BY_DEPTH.get(place.count("/"))
    if kind is None or not is_entry_place(path):
        return None
    better = well_formed(kind, place.rsplit("/", 1)[-1].removesuffix(".md"))
    return better if better and not why_not_on_windows(better) else None


@check("case-collision", Severity.ERROR)
def case_collision(case: Case) -> Iterator[Finding]:
    """Two names differ only in capital letters.

    On Windows and macOS the two are one file: a checkout keeps one of them, and the next commit deletes the other.
    Folders collide the same way, with everything in them.

    Fails:

        app/rules/use-utc.md
        app/rules/Use-UTC.md

    Fix: rename one of them with `mdmem mv`, which rewrites the links to it, or merge the two into one entry.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    for pair in name_collisions(case, lambda name: composed(name).lower()):
        if composed(pair.first) != composed(pair.second):
            message = f"`{pair.second}` and `{pair.first}` differ only in case"
            help_ = renaming(pair.second, pair.second_path)
            shown = at_path("case-collision", pair.second_path, message, help_, other=Place(pair.first_path))
            yield apart(shown, case, pair.second)


@check("unicode-collision", Severity.ERROR)
def unicode_collision(case: Case) -> Iterator[Finding]:
    """Two names look the same and are written with other characters.

    An «é» can be one character or an «e» with an accent after it. macOS takes both names for one file, so a checkout
    keeps one of them; elsewhere a link that looks right leads to the other.

    Fails:

        app/rules/cafe\\u0301.md
        app/rules/caf\\u00e9.md

    Fix: rename one of them with `mdmem mv`, which rewrites the links to it, or merge the two into one entry.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    for pair in name_collisions(case, composed):
        message = f"`{ascii(pair.second)[1:-1]}` and `{ascii(pair.first)[1:-1]}` look the same"
        help_ = renaming(pair.second, pair.second_path)
        shown = at_path("unicode-collision", pair.second_path, message, help_, other=Place(pair.first_path))
        yield apart(shown, case, pair.second)


@check("stray-file", Severity.WARNING)
def stray_file(case: Case) -> Iterator[Finding]:
    """A file in the memory is no entry.

    Nothing reads it, and who put it there may think otherwise. Expected are the settings, and a `README.md` at the
    root, in a wing and in a room; what git ignores is left alone.

    Fails:

        app/rules/diagram.png
        app/rules/use-utc.md.orig

    Fix: move it out of the memory, delete it, or tell git to ignore it.
    """
    for file in case.others:
        path = file.path
        if file.kind is not FileKind.FILE or is_expected(path) or is_misplaced(path) or has_odd_extension(path):
            continue
        if case.facts is None or path not in case.facts.ignored:
            yield at_path("stray-file", path, "the file is no entry; nothing reads it", "move it out of the memory")


@check("wrong-depth", Severity.ERROR)
def wrong_depth(case: Case) -> Iterator[Finding]:
    """An `.md` file lies at another depth than an entry.

    The address of an entry is its path, `wing/room/entry-id`. A file above or below that has no address, so it is not
    read, and no link can name it.

    Fails:

        app/use-utc.md
        app/rules/time/use-utc.md

    Fix: move it into a room, as `app/rules/use-utc.md`.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    taken = {file.path for file in case.catalog.files}
    for file in case.others:
        if file.kind is FileKind.FILE and is_misplaced(file.path):
            depth = min(file.path.count("/"), 2)
            message = f"the file lies {_WHERE[depth]}, so it has no address"
            shown, target = (
                at_path("wrong-depth", file.path, message, _depth_help(file.path, taken)),
                _target(file.path, taken),
            )
            yield with_move(shown, case, {file.path: target}, f"Move it to `{target}`") if target else shown


_WHERE = ("in the root", "in a wing but in no room", "below a room")


def _depth_help(path: str, taken: Collection[str]) -> str:
    *folders, name = path.split("/")
    target = _target(path, taken)
    if target is None:
        return f"move it into a room, as `{folders[0] if folders else '<wing>'}/<room>/{name}`"
    return f"move `{path}` to `{target}`, both counted from the memory's root"


def _target(path: str, taken: Collection[str]) -> str | None:
    """Return the place in the room above it; what lies in no room has none that is certain."""
    *folders, name = path.split("/")
    if len(folders) < 2:
        return None
    room = "/".join(folders[:2])
    return f"{room}/{name}" if f"{room}/{name}" not in taken else f"{room}/{'-'.join([*folders[2:], name])}"


@check("odd-extension", Severity.WARNING)
def odd_extension(case: Case) -> Iterator[Finding]:
    """A Markdown file has an extension that is not read.

    Entries end in `.md`, in lower case. A file under `.MD` or `.markdown` looks like an entry in every listing, and
    nothing reads it.

    Fails:

        app/rules/use-utc.markdown

    Fix: rename it, as in `git mv app/rules/use-utc.markdown app/rules/use-utc.md`.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    for file in case.others:
        if file.kind is FileKind.FILE and has_odd_extension(file.path):
            stem, extension = file.path.rsplit(".", 1)
            message = f"`.{extension}` is not read; entries end in `.md`"
            name = f"{stem.rsplit('/', 1)[-1]}.md"
            shown = at_path("odd-extension", file.path, message, f"rename it to `{name}`")
            yield with_move(shown, case, {file.path: f"{stem}.md"}, f"Rename it to `{name}`")


_HYPHENS = "lowercase-with-hyphens"
_NAME_STYLES = (("wing", "lowercase_with_underscores"), ("room", _HYPHENS), ("entry", _HYPHENS))


@check("bad-name", Severity.WARNING)
def bad_name(case: Case) -> Iterator[Finding]:
    """A name is not written as names are.

    Names are typed into addresses by people and models, and one way to write them saves the guess: wings are
    lowercase_with_underscores, rooms lowercase-with-hyphens, entry-ids lower case too. Letters of every language will
    do.

    Fails:

        MyApp/Business Rules/Use UTC.md

    Fix: rename it with `mdmem mv`, here to `my_app/business-rules/use-utc`, which rewrites the links to it, too.
    `mdmem check --unsafe-fixes` does it where one answer is likely.
    """
    for place, path in files_and_folders(case.unusual_paths).items():
        kind, written = _NAME_STYLES[place.count("/")]
        name = place.rsplit("/", 1)[-1]
        name = name.removesuffix(".md") if kind == "entry" else name
        # A character that does not show, or that Windows refuses, is a graver finding of its own.
        if is_well_formed(kind, name) or not name.isprintable() or why_not_on_windows(name):
            continue
        better = well_formed(kind, name)
        shown = at_path("bad-name", path, f"the {kind} `{name}` is not {written}", renaming(place, path, better))
        yield with_name(shown, case, place, better) if better else shown


@check("ignored-by-git", Severity.WARNING)
def ignored_by_git(case: Case) -> Iterator[Finding]:
    """Git ignores the file.

    Here the rule is found and links to it hold; for everybody else it does not exist, and what cites it dangles.

    Fails:

        app/rules/use-utc.md    (.gitignore: *-utc.md)

    Fix: take the pattern out of `.gitignore`, or `git add -f` the file; `git check-ignore -v FILE` names the pattern.
    """
    if case.facts is None or not case.facts.ignored:
        return
    others = (file.path for file in case.catalog.others if is_expected(file.path))
    read = [*(file.path for file in case.catalog.files), *others]
    ignored = [path for path in read if path in case.facts.ignored and path not in case.facts.tracked]
    shared = {_folder(path) for path in set(read).difference(ignored)} | {""}
    told: set[str] = set()
    for path in ignored:
        wing = _folder(path)
        if wing in shared:
            yield at_path(
                "ignored-by-git", path, "git ignores the file, so it exists only here", f"type `git add -f {path}`"
            )
        elif wing not in told:
            told.add(wing)
            message = f"git ignores all of `{wing}`, so it exists only here"
            yield at_path("ignored-by-git", path, message, "take the pattern out of `.gitignore`")


def _folder(path: str) -> str:
    return path.split("/")[0] if "/" in path else ""
