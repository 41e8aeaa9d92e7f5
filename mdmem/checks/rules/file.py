"""Checks of files: their bytes, size, name and place, and whether git has them."""

from __future__ import annotations

import posixpath
import re
import shlex
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator

from mdmem import SETTINGS_NAME
from mdmem.checks.case import Case, at_path
from mdmem.checks.check import check
from mdmem.checks.fixes import has_odd_extension, line_end, nfc, with_fix, with_move, with_name, with_number
from mdmem.markdown.layout import replace_span
from mdmem.markdown.parse import SIZE_LIMIT, Document
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Edit, Finding, Place, Severity
from mdmem.model.text import visible
from mdmem.store.catalog.addresses import (
    is_entry_place,
    is_misnamed,
    is_misplaced,
    is_well_formed,
    well_formed,
    why_not_on_windows,
)
from mdmem.store.tree import FileKind


@check("not-text", Severity.ERROR, per_file=True)
def not_text(case: Case) -> Iterator[Finding]:
    """The file has no readable text: it is empty, is not UTF-8, or is a Git LFS pointer.

    Fails:
        title: Geschäftsregel        (the «ä» saved as the single byte 0xe4)

    Fix: save the file as UTF-8, for instance `iconv -f latin1 -t utf-8`; run `git lfs pull`, then `git lfs untrack
    '*.md'`; delete an empty file, or write the entry with `mdmem new`.
    """
    yield from case.loaded("not-utf8", "empty-file", "git-lfs-pointer")


_ENDS = {"CRLF": re.compile(r"\r\n"), "LF": re.compile(r"(?<!\r)\n"), "CR": re.compile(r"\r(?!\n)")}
_END = re.compile(rb"\r\n|\r|\n")


@check("file-form", Severity.WARNING, per_file=True)
def file_form(case: Case) -> Iterator[Finding]:
    """The file begins with a byte order mark, mixes line endings, or has no newline at its end.

    Some tools find no front matter after the mark. The other two cause large changes and merge conflicts.

    Fails:
        type: decision\\r\\n
        status: active\\n

    Fix: run `mdmem check --fix`, which removes the mark and ends all lines, also the last, in the same way.
    """
    for address, document in case.documents:
        text = document.text
        if document.data.startswith(BOM_UTF8):
            message, help_ = "the file begins with a byte order mark", "save it as UTF-8 without the mark"
            found = Finding("", message, Place(document.path), help_, address, former="utf8-bom")
            yield with_fix(found, "Remove the byte order mark", tuple, [Edit(document.path, 0, len(BOM_UTF8), b"")])
        ends = {name: [one.start() for one in end.finditer(text)] for name, end in _ENDS.items() if "\r" in text}
        counts = {name: len(found) for name, found in ends.items() if found}
        if len(counts) > 1:
            usual = max(counts, key=lambda name: counts[name])
            offset = min(ends[name][0] for name in counts if name != usual)
            listed = " and ".join(f"{count} in {name}" for name, count in counts.items())
            message, help_ = f"the lines end differently: {listed}", f"save the file with {usual} throughout"
            found = Finding("", message, document.text_place(offset), help_, address, former="mixed-line-endings")
            # Offer no fix if most lines end in CR, which mdmem does not treat as the end of a line.
            wanted = {"CRLF": b"\r\n", "LF": b"\n"}.get(usual)
            others = [end for end in _END.finditer(document.data) if wanted is not None and end.group() != wanted]
            edits = (Edit(document.path, *end.span(), wanted or b"") for end in others)
            yield with_fix(found, f"End every line in {usual}", tuple, edits)
        if text.strip() and not text.endswith(("\n", "\r")):
            size, place = len(text), document.text_place(len(text))
            message, help_ = "the last line has no newline", "end the file with a newline"
            found = Finding("", message, place, help_, address, former="no-final-newline")
            yield with_fix(found, "End the last line", replace_span, document, size, size, line_end(document))


_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_MARKS = "\u061c\u200e\u200f"
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u2028-\u202e\u2060-\u206f\ufeff]"
    # Thai and Khmer separate words with a zero-width space.
    "|(?<![\u0e00-\u17ff])\u200b"
    # Arabic and Indic scripts and emoji need the zero-width joiners.
    "|(?<![\u0590-\u1fff\u2190-\U0010ffff])[\u200c\u200d]"
    # After a black flag emoji, up to seven tag characters form the flag of a region.
    "|(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]+|(?<=\U0001f3f4)[\U000e0000-\U000e007f]{8,}"
    # One variation selector after a character is normal, but several in a row may hide a text.
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
    # Only a text with a right-to-left script needs these marks.
    f"|[{_MARKS}]"
)
# A quick test, since searching for one character class is much faster than for the alternatives above.
_CANDIDATE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u05ff\u0620-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


@check("invisible-characters", Severity.ERROR, per_file=True)
def invisible_characters(case: Case) -> Iterator[Finding]:
    """The file has invisible characters, such as control characters and zero-width spaces.

    They change a key or an address, or hide what a line says, and terminals execute control characters. In a key, an
    address or a file name this is an error, elsewhere a warning. Characters that emoji or Thai need are fine.

    Fails:
        st\\u200batus: active

    Fix: type the word again, or remove the character. `sed -i 's/\\x1b\\[[0-9;]*m//g' FILE` removes colours.
    """
    yield from case.loaded("control-characters", "invisible-characters")
    entries = (file.path for file in case.catalog.files) if case.focus is None else sorted(case.focus)
    for path in (*entries, *(file.path for file in case.catalog.others)):
        # `unportable-name` reports bytes that are not UTF-8, which are surrogates (Cs) here.
        strange = () if path.isprintable() else path
        hidden = [one for one in strange if not one.isprintable() and unicodedata.category(one) != "Cs"]
        if hidden:
            unread = ", so nothing reads it" if is_misnamed(path) else ""
            message = f"the name `{visible(path)}` contains {_described(hidden[0])}{unread}"
            former = "control-characters" if unicodedata.category(hidden[0]) == "Cc" else ""
            yield at_path(path, message, "rename it with `git mv`", former=former)
    for address, document in case.documents:
        yield from _invisible_in_values(address, document)
        controls = list(_CONTROL.finditer(document.body))
        for found in filter(None, (controls, _invisible_in(document.body))):
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            message = f"{_described(found[0].group())} in the body{more}"
            at, level, former = found[0].start(), Severity.WARNING, "control-characters" if found is controls else ""
            yield case.in_body(address, message, "remove it", offset=at, width=1, severity=level, former=former)


def _invisible_in_values(address: str, document: Document) -> Iterator[Finding]:
    for name, value in (document.fields or {}).items():
        for text in value if isinstance(value, list) else (value,):
            if not isinstance(text, str) or text.isprintable():
                continue
            place = document.place(name)
            if control := _CONTROL.search(text):
                # `"\e"` in quotes is a control character that the file itself does not contain.
                message = f"`{name}` contains {_described(control.group())}, written as an escape"
                yield Finding("", message, place, "remove the escape", address, former="control-characters")
            # Invisible characters in links are reported when the file is loaded.
            matches = _invisible_in(text) if name not in LINK_FIELDS else []
            if matches:
                message = f"{_described(matches[0].group())} in `{name}`"
                yield Finding("", message, place, "remove it", address, severity=Severity.WARNING)


def _invisible_in(text: str) -> list[re.Match[str]]:
    """Return the invisible characters of a text, without those that emoji and scripts need."""
    if text.isascii() or not _CANDIDATE.search(text):
        return []
    needed = _MARKS if _RIGHT_TO_LEFT.search(text) else ()
    return [found for found in _INVISIBLE.finditer(text) if found[0] not in needed]


def _described(characters: str) -> str:
    first = characters[0]
    return f"{unicodedata.name(first, 'control character').lower()} U+{ord(first):04X}"


_WARNED = 64 * 1024


@check("file-too-large", Severity.ERROR, per_file=True)
def file_too_large(case: Case) -> Iterator[Finding]:
    """The file, or its front matter, is too large for one rule.

    A file over 64 KiB is a warning. A file over 1 MiB, or a front matter over 16 KiB, is an error and is not read.

    Fails:
        app/architecture/everything-we-know.md    (1.4 MiB)

    Fix: split it into entries of one rule each, move long text into the body, and keep logs outside the memory.
    """
    yield from case.loaded("file-too-large", "front-matter-too-large")
    for address, document in case.documents:
        size = len(document.data)
        if _WARNED < size <= SIZE_LIMIT:
            message, help_ = f"the file is {size // 1024} KiB, over 64 KiB", "split it; one entry is one rule"
            yield Finding("", message, Place(document.path), help_, address, severity=Severity.WARNING)


@check("symlink-or-submodule", Severity.ERROR)
def symlink_or_submodule(case: Case) -> Iterator[Finding]:
    """The memory contains a symbolic link, a submodule or another repository, none of which mdmem reads.

    A link gives one entry two addresses, or leads to any file of the machine. Clones lack another repository's files.

    Fails:
        app/rules/keys.md -> /home/someone/.ssh/id_ed25519
        shared/    (a submodule: it has a `.git`)

    Fix: replace a link by the file itself, or list the other entry in `see`. Move a repository out of the memory.
    """
    for file in case.all_files:
        if file.kind is FileKind.SUBMODULE:
            message = "this is a repository of its own; nothing in it is read"
            yield at_path(file.path, message, "move it out of the memory", former="submodule")
        elif file.kind is FileKind.SYMLINK:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), file.target))
            # An absolute target, also one on a drive of Windows, counts as outside.
            if file.target[1:2] == ":" or f"{target}/".startswith(("/", "../")):
                message = f"a symbolic link leaves the memory for `{visible(file.target)}`"
                help_ = "remove the link, or replace it by the file itself"
                yield at_path(file.path, message, help_, former="path-escapes-root")
            else:
                message = f"a symbolic link to `{visible(file.target)}`; links are not followed"
                yield at_path(file.path, message, "replace it by the file itself", former="symlink")


@check("merge-marker", Severity.ERROR)
def merge_marker(case: Case) -> Iterator[Finding]:
    """The file has an unresolved merge conflict.

    All three markers must each start a line. For a merge that is not made yet, `merge-conflict` reports conflicts.

    Fails:
        <<<<<<< HEAD
        =======
        >>>>>>> feature

    Fix: keep the right text, remove the three markers, and `git add` the file; `mdmem resolve` helps. Indent markers
    that are only an example.
    """
    yield from (finding for finding in case.loaded("merge-marker") if finding.place.path not in case.unmerged)
    for file in case.catalog.others:
        if file.kind is FileKind.UNMERGED and is_expected(file.path):
            help_ = "`mdmem resolve` shows how to decide it"
            yield at_path(file.path, "the file is unmerged in git's index", help_)


@check("unreadable", Severity.ERROR, per_file=True, incomplete=True)
def unreadable(case: Case) -> Iterator[Finding]:
    """A file or folder exists but cannot be read.

    It may contain an invariant, so the check is incomplete, and every answer lists the file as a problem.

    Fails:
        app/rules/use-utc.md    (permission denied)

    Fix: give yourself permission to read it, for example with `chmod u+r FILE`, and run the check again.
    """
    yield from case.loaded("unreadable")


def files_and_folders(paths: Iterable[str]) -> dict[str, str]:
    """Return every file and folder, sorted by path, each with the first file at or below it."""
    found: dict[str, str] = {}
    for path in sorted(paths):
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            found.setdefault("/".join(parts[:depth]), path)
    return found


def renaming(place: str, path: str, name: str | None = None) -> str:
    """Return the command (`mdmem mv` or git's) that renames a file or folder; `path` is the first file in it."""
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


_HYPHENS = "lowercase-with-hyphens"
# By the depth of the place.
_NAME_STYLES = (("wing", "lowercase_with_underscores"), ("room", _HYPHENS), ("entry", _HYPHENS))


@check("unportable-name", Severity.ERROR)
def unportable_name(case: Case) -> Iterator[Finding]:
    """Windows does not allow the file name, or two names differ only in case or in invisible ways.

    Windows cannot check out device names such as `con`, characters such as `:`, a dot or a space at the end, and names
    that are not UTF-8. On Windows and macOS such a pair is one file, and the next commit deletes the other.

    Fails:
        app/rules/aux.md
        app/rules/use-utc.md    and    app/rules/Use-UTC.md

    Fix: rename an entry, a room or a wing with `mdmem mv`, which also changes the links, and other files with `git mv`.
    """
    # `invisible-characters` reports misnamed files.
    for place, path in files_and_folders(file.path for file in case.all_files if not is_misnamed(file.path)).items():
        name = place.rsplit("/", 1)[-1]
        if why := why_not_on_windows(name):
            message = f"`{visible(place)}` {why}, which Windows does not allow"
            kind = _NAME_STYLES[place.count("/")][0] if is_entry_place(path) else ""
            better = well_formed(kind, name.removesuffix(".md")) if kind else None
            better = better if better and not why_not_on_windows(better) else None
            found = at_path(path, message, renaming(place, path, better), former="path-illegal-on-windows")
            yield with_name(found, case, place, better) if better else found
    on_disk, in_index = {file.path for file in case.all_files}, set[str]()
    # If the tree itself comes from git, the index adds nothing.
    if case.facts is not None and not all(file.digest for file in case.all_files):
        wings = {_fold(name) for name in case.catalog.wings}
        # If the root is the top of the repository, the index also has the code, so take only the wings.
        in_index = {path for path in case.facts.tracked if _fold(path.split("/", 1)[0]) in wings}
    # Compare the tree and the index separately, since a file that was renamed on disk is in both.
    for paths in (on_disk, in_index if in_index != on_disk else ()):
        below, seen = files_and_folders(paths), dict[str, str]()
        for place, path in below.items():
            folder, _, name = place.rpartition("/")
            first = seen.setdefault(f"{folder}/{_fold(name)}", place)
            if first == place:
                continue
            message, former = f"`{place}` and `{first}` differ only in case", "case-collision"
            if nfc(first) == nfc(place):
                message = f"`{ascii(place)[1:-1]}` and `{ascii(first)[1:-1]}` look the same"
                former = "unicode-collision"
            found = at_path(path, message, renaming(place, path), other=Place(below[first]), former=former)
            yield with_number(found, case, place)


def _fold(name: str) -> str:
    return nfc(name).lower()


_WHERE = ("in the root", "in a wing but in no room", "below a room")


@check("misplaced-file", Severity.WARNING)
def misplaced_file(case: Case) -> Iterator[Finding]:
    """A file in the memory is not at the place of an entry, or does not have an entry's file name.

    The place of an entry is `wing/room/entry-id.md`, with `.md` in lower case. A `.md` file elsewhere is an error.
    Other files are a warning, except the settings, README files, and files that git ignores.

    Fails:
        app/use-utc.md
        app/rules/use-utc.markdown

    Fix: move an entry into a room, or rename it to end in `.md`. Move any other file out of the memory.
    """
    taken = {file.path for file in case.catalog.files}
    for file in case.catalog.others:
        path = file.path
        # `invisible-characters` reports misnamed files.
        if file.kind is not FileKind.FILE or is_expected(path) or is_misnamed(path):
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
            help_ = f"move it into a room, as `{folders[0] if folders else '<wing>'}/<room>/{name}`"
            target = ""
            if len(folders) > 1:
                wing, room, *below = folders
                target = f"{wing}/{room}/{name}"
                target = f"{wing}/{room}/{'-'.join([*below, name])}" if target in taken else target
                help_ = f"move `{path}` to `{target}`, both relative to the memory's root"
            found = at_path(path, message, help_, severity=Severity.ERROR, former="wrong-depth")
            yield with_move(found, case, {path: target}, f"Move it to `{target}`") if target else found
        elif case.facts is None or path not in case.facts.ignored:
            message, help_ = "the file is not an entry; mdmem does not read it", "move it out of the memory"
            yield at_path(path, message, help_, former="stray-file")


@check("bad-name", Severity.WARNING)
def bad_name(case: Case) -> Iterator[Finding]:
    """The name of a wing, a room or an entry does not follow the naming style.

    Wings are lowercase_with_underscores, rooms and entries are lowercase-with-hyphens, in letters of any language.

    Fails:
        MyApp/Business Rules/Use UTC.md

    Fix: rename it with `mdmem mv`, here to `my_app/business-rules/use-utc`, which also changes the links to it.
    """
    for place, path in files_and_folders(file.path for file in case.catalog.files).items():
        kind, style = _NAME_STYLES[place.count("/")]
        name = place.rsplit("/", 1)[-1]
        name = name.removesuffix(".md") if kind == "entry" else name
        # Other checks report invisible characters and names that Windows does not allow.
        if is_well_formed(kind, name) or not name.isprintable() or why_not_on_windows(name):
            continue
        better = well_formed(kind, name)
        # `mdmem mv` refuses a file that cannot be read; another finding says how to repair it.
        help_ = "" if place in case.catalog.broken else renaming(place, path, better)
        found = at_path(path, f"the {kind} `{name}` is not {style}", help_)
        yield with_name(found, case, place, better) if better else found


@check("ignored-by-git", Severity.WARNING, asks_git=True)
def ignored_by_git(case: Case) -> Iterator[Finding]:
    """Git ignores the file, so it exists for nobody else.

    Fails:
        app/rules/use-utc.md    (.gitignore: *-utc.md)

    Fix: remove the pattern from `.gitignore`, or `git add -f` the file; `git check-ignore -v FILE` shows the pattern.
    """
    if case.facts is None or not case.facts.ignored:
        return
    others = (file.path for file in case.catalog.others if is_expected(file.path))
    read = [*(file.path for file in case.catalog.files), *others]
    ignored = [path for path in read if path in case.facts.ignored and path not in case.facts.tracked]
    # The wings with a file that git does not ignore, and the wings that were reported, each as `wing/`.
    shared = {path[: path.find("/") + 1] for path in set(read).difference(ignored)} | {""}
    reported: set[str] = set()
    for path in ignored:
        wing = path[: path.find("/") + 1]
        if wing in shared:
            yield at_path(path, "git ignores the file, so it exists only here", case.facts.add_hint(path))
        elif wing not in reported:
            reported.add(wing)
            message = f"git ignores all of `{wing[:-1]}`, so it exists only here"
            yield at_path(path, message, "remove the pattern from `.gitignore`")
