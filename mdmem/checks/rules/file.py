"""Checks of one file: its bytes, its size and how git keeps it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mdmem.checks.case import Case
from mdmem.checks.characters import CONTROL, described, in_body, in_name, invisible_in_names, invisible_in_values
from mdmem.checks.check import check
from mdmem.checks.fixes.base import line_end, only, with_fix
from mdmem.checks.paths import at_path, is_expected, leaves_root, symlinks
from mdmem.markdown.layout import replace_span
from mdmem.markdown.parse import SIZE_LIMIT, Document
from mdmem.model.fields import LINK_FIELDS
from mdmem.model.finding import Edit, Finding, Place, Severity
from mdmem.model.text import visible
from mdmem.store.tree import FileKind


@check("not-utf8", Severity.ERROR)
def not_utf8(case: Case) -> Iterator[Finding]:
    """The file holds bytes that are no UTF-8.

    One decoder reads every file, so that an entry means the same on every machine. A file in Latin-1 or UTF-16 cannot
    be read, and stands among the problems of every retrieval until it can.

    Fails:

        title: Geschäftsregel        (the «ä» saved as the single byte 0xe4)

    Fix: save the file as UTF-8, for instance `iconv -f latin1 -t utf-8`.
    """
    yield from case.loaded("not-utf8")


_MARK = b"\xef\xbb\xbf"


@check("utf8-bom", Severity.WARNING)
def utf8_bom(case: Case) -> Iterator[Finding]:
    """The file begins with a byte order mark.

    The mark has no meaning in UTF-8, yet readers that do not expect it see no front matter and lose every field. mdmem
    reads the file all the same; the next tool may not.

    Fails:

        \\ufeff---
        type: decision

    Fix: save the file as UTF-8 without a byte order mark.
    `mdmem check --fix` does it.
    """
    for address, document in case.documents:
        if document.data.startswith(_MARK):
            message = "the file begins with a byte order mark"
            found = Finding("utf8-bom", message, Place(document.path), "save it as UTF-8 without the mark", address)
            edit = Edit(document.path, 0, len(_MARK), b"")
            yield with_fix(found, "Remove the byte order mark", only, edit)


_ENDS = {"CRLF": re.compile(r"\r\n"), "LF": re.compile(r"(?<!\r)\n"), "CR": re.compile(r"\r(?!\n)")}
_END = re.compile(rb"\r\n|\r|\n")


@check("mixed-line-endings", Severity.WARNING)
def mixed_line_endings(case: Case) -> Iterator[Finding]:
    """Some lines of the file end in CRLF and others in LF.

    An editor that sets all of them to one kind changes every line, and the diff hides what was meant. A CR alone is the
    end of a line to some readers and nothing to others.

    Fails:

        type: decision\\r\\n
        status: active\\n

    Fix: save the file with one kind of line ending; the finding names the one that most lines have.
    `mdmem check --fix` does it.
    """
    for address, document in case.documents:
        if "\r" not in document.text:
            continue
        counts = _counts(document.text)
        usual = max(counts, key=lambda name: counts[name])
        if len(counts) < 2:
            continue
        offset = min(found.start() for name in counts if name != usual and (found := _ENDS[name].search(document.text)))
        listed = " and ".join(f"{count} in {name}" for name, count in counts.items())
        message = f"the lines end differently: {listed}"
        help_ = f"save the file with {usual} throughout"
        shown = Finding("mixed-line-endings", message, document.text_place(offset), help_, address)
        yield with_fix(shown, f"End every line in {usual}", _edits, document, usual)


def _edits(document: Document, usual: str) -> Iterator[Edit]:
    """Yield an edit for each line end of a rarer kind; none where CR is usual, which is no line end to our reader."""
    wanted = {"CRLF": b"\r\n", "LF": b"\n"}.get(usual)
    for end in _END.finditer(document.data) if wanted else ():
        if end.group() != wanted:
            yield Edit(document.path, end.start(), end.end(), wanted or b"")


def _counts(text: str) -> dict[str, int]:
    """Return how many lines end in each kind that occurs."""
    both = text.count("\r\n")
    counts = {"CRLF": both, "LF": text.count("\n") - both, "CR": text.count("\r") - both}
    return {name: count for name, count in counts.items() if count}


@check("no-final-newline", Severity.WARNING)
def no_final_newline(case: Case) -> Iterator[Finding]:
    """The last line of the file does not end.

    The next line that anybody adds changes this one too, so that a diff and `git blame` name the wrong person, and a
    merge conflicts where nothing collides.

    Fails:

        We store times in UTC.⏏    (no newline)

    Fix: end the last line with a newline.
    `mdmem check --fix` does it.
    """
    for address, document in case.documents:
        text = document.text
        if text.strip() and not text.endswith(("\n", "\r")):
            place = document.text_place(len(text))
            found = Finding(
                "no-final-newline", "the last line has no newline", place, "end the file with a newline", address
            )
            at = len(text), len(text), line_end(document)
            yield with_fix(found, "End the last line", replace_span, document, *at)


_C0 = bytes(code in (*range(32), 127) and code not in b"\t\n\r" for code in range(256))
# What the characters from U+0080 to U+009F begin with in UTF-8.
_C1 = b"\xc2"


@check("control-characters", Severity.ERROR)
def control_characters(case: Case) -> Iterator[Finding]:
    """The file holds control characters.

    NUL, ESC and their kind come from a terminal's colours or a broken copy. No page and no diff shows them, terminals
    obey them, and YAML refuses them, so that an entry with one in its front matter cannot be read. In a body they are a
    warning. A file with one in its name is no entry: the name would begin a line of its own in answers.

    Fails:

        title: \\x1b[31mNever\\x1b[0m retry a payment

    Fix: remove them, for instance `sed -i 's/\\x1b\\[[0-9;]*m//g' FILE` for a terminal's colours.
    """
    yield from case.loaded("control-characters")
    for path, character in invisible_in_names(case):
        if unicodedata.category(character) == "Cc":
            yield in_name("control-characters", path, character)
    for address, document in case.documents:
        # `"\e"` in quotes is a control character that the file itself does not hold.
        if b"\\" in document.data:
            yield from _controls_in_values(address, document)
        if document.text and _may_hold_controls(document.data):
            matches = list(CONTROL.finditer(document.body))
            if matches:
                yield in_body(case, "control-characters", address, matches)


def _may_hold_controls(data: bytes) -> bool:
    # To map bytes is ten times as fast as a regular expression over them.
    return 1 in data.translate(_C0) or _C1 in data


def _controls_in_values(address: str, document: Document) -> Iterator[Finding]:
    for name, text in invisible_in_values(document):
        if found := CONTROL.search(text):
            message = f"`{name}` holds {described(found.group())}, written as an escape"
            yield Finding("control-characters", message, document.place(name), "remove the escape", address)


_FORBIDDEN = (
    "[\u00ad\u180e\u2028-\u202e\u2060-\u206f\ufeff]"
    # Thai and Khmer part words with it.
    "|(?<![\u0e00-\u17ff])\u200b"
    # The joiners belong to Arabic and Indic scripts and to emoji.
    "|(?<![\u0590-\u1fff\u2190-\U0010ffff])[\u200c\u200d]"
    # Tags spell the flags of regions after a black flag, in seven characters at most.
    "|(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]+|(?<=\U0001f3f4)[\U000e0000-\U000e007f]{8,}"
    # One selector chooses a variant of the sign before it; a row of them spells something.
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
)
_INVISIBLE = re.compile(_FORBIDDEN)
# Where no script runs from right to left, its marks mean nothing.
_INVISIBLE_LEFT_TO_RIGHT = re.compile(_FORBIDDEN + "|[\u061c\u200e\u200f]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u05ff\u0620-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# A class alone is found five times as fast as the alternatives above.
_CANDIDATE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
# What these begin with in UTF-8: most files hold none of it, and to search bytes costs a fifth.
_SUSPECT = re.compile(rb"\xe2(?:\x80[\x8b-\x8f\xa8-\xae]|\x81[\xa0-\xaf])")
_SUSPECT_BYTES = (b"\xc2", b"\xd8", b"\xe1", b"\xef", b"\xf3")


@check("invisible-characters", Severity.ERROR)
def invisible_characters(case: Case) -> Iterator[Finding]:
    """The file holds characters that do not show.

    A zero-width space in a key makes it another key, and in an address another address, though both look right to every
    reader. Characters that turn the direction of text let a line read otherwise than it is; others hide words for a
    model alone. In a key, an address or the name of a file they are an error, elsewhere a warning. A file whose name
    ends a line or turns the direction of text is no entry. What emoji and scripts such as Persian or Thai need is no
    finding.

    Fails:

        st\\u200batus: active
        supersedes: [app/rules/\\u200blocal-times]

    Fix: write the word anew, or remove the character at the column given.
    """
    yield from case.loaded("invisible-characters")
    for path, character in invisible_in_names(case):
        if unicodedata.category(character) not in ("Cc", "Cs"):
            yield in_name("invisible-characters", path, character)
    for address, document in case.documents:
        if not document.text.isascii() and _may_hold_invisible(document.data):
            yield from _invisible_in_values(address, document)
            matches = _invisible_in(document.body)
            if matches:
                yield in_body(case, "invisible-characters", address, matches)


def _invisible_in(text: str) -> list[re.Match[str]]:
    """Return what does not show in a text, in order, without what emoji and scripts need."""
    starts = [found.start() for found in _CANDIDATE.finditer(text)]
    if not starts:
        return []
    pattern = _INVISIBLE if _RIGHT_TO_LEFT.search(text) else _INVISIBLE_LEFT_TO_RIGHT
    matches: list[re.Match[str]] = []
    for start in starts:
        found = pattern.match(text, start) if not matches or start >= matches[-1].end() else None
        if found:
            matches.append(found)
    return matches


def _may_hold_invisible(data: bytes) -> bool:
    return _SUSPECT.search(data) is not None or any(byte in data for byte in _SUSPECT_BYTES)


def _invisible_in_values(address: str, document: Document) -> Iterator[Finding]:
    for name, text in invisible_in_values(document):
        matches = _invisible_in(text) if name not in LINK_FIELDS else []
        if matches:
            message = f"{described(matches[0].group())} in `{name}`"
            place = document.place(name)
            yield Finding("invisible-characters", message, place, "remove it", address, severity=Severity.WARNING)


_WARNED = 64 * 1024


@check("file-too-large", Severity.ERROR)
def file_too_large(case: Case) -> Iterator[Finding]:
    """The file is too large for one rule.

    Memory is read into a model's context window, and a file of 64 KiB fills a good part of it alone: over that a
    warning, over 1 MiB an error, and the file is not read at all. What a long entry weighs is said by `entry-too-long`.

    Fails:

        app/architecture/everything-we-know.md    (1.4 MiB)

    Fix: split it into entries of one rule each, and keep logs and transcripts outside the memory.
    """
    yield from case.loaded("file-too-large")
    for address, document in case.documents:
        size = len(document.data)
        if _WARNED < size <= SIZE_LIMIT and address not in case.catalog.entries:
            message = f"the file is {size // 1024} KiB, over 64 KiB"
            help_ = "split it; one entry is one rule"
            yield Finding("file-too-large", message, Place(document.path), help_, address, severity=Severity.WARNING)


@check("front-matter-too-large", Severity.ERROR)
def front_matter_too_large(case: Case) -> Iterator[Finding]:
    """The front matter is over 16 KiB.

    The front matter holds a few plain fields; the limit keeps parsing bounded, whatever a file holds. A longer one is
    not parsed, and the entry stands among the problems of every retrieval.

    Fails:

        ---
        type: note
        x-transcript: |
          (20 KiB of a chat)
        ---

    Fix: move the text into the body, below the closing `---`.
    """
    yield from case.loaded("front-matter-too-large")


@check("empty-file", Severity.ERROR)
def empty_file(case: Case) -> Iterator[Finding]:
    """The file is empty, or holds only blanks.

    An empty file in an entry's place is a write that was cut short, or an entry that was never begun. Its address
    exists, so links to it look right, and nothing stands there.

    Fails:

        $ touch app/rules/use-utc.md

    Fix: delete the file, or write the entry with `mdmem new`.
    """
    yield from case.loaded("empty-file")


@check("symlink", Severity.ERROR)
def symlink(case: Case) -> Iterator[Finding]:
    """A symbolic link stands in the memory.

    An entry has one address. Through a link the same rule stands at two, a change of the target changes both unseen,
    and a checkout on Windows holds the target's path as text. Links are not followed.

    Fails:

        app/rules/use-utc.md -> ../../shared/rules/use-utc.md

    Fix: replace the link by the file itself, or remove it and name the other entry in `see`.
    """
    for file in symlinks(case.catalog):
        if not leaves_root(file):
            message = f"a symbolic link to `{visible(file.target)}`; links are not followed"
            yield at_path("symlink", file.path, message, "replace it by the file itself")


@check("path-escapes-root", Severity.ERROR)
def path_escapes_root(case: Case) -> Iterator[Finding]:
    """A symbolic link leads out of the memory.

    Followed, it would bring any file of the machine into the context of a model, and a reviewer of the memory would
    never see it. It is not followed, and it is broken on every other machine.

    Fails:

        app/rules/keys.md -> /home/someone/.ssh/id_ed25519

    Fix: remove the link; what belongs to the memory is copied into it.
    """
    for file in symlinks(case.catalog):
        if leaves_root(file):
            message = f"a symbolic link leaves the memory for `{visible(file.target)}`"
            yield at_path("path-escapes-root", file.path, message, "remove the link, or replace it by the file itself")


@check("git-lfs-pointer", Severity.ERROR)
def git_lfs_pointer(case: Case) -> Iterator[Finding]:
    """The file is a Git LFS pointer, not its text.

    LFS keeps the text on a server, and git keeps three lines that name it. A reader without LFS, a diff and a review
    see only these lines, so the rule itself is read and reviewed by nobody.

    Fails:

        version https://git-lfs.github.com/spec/v1
        oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
        size 1423

    Fix: run `git lfs pull`, then `git lfs untrack '*.md'`, and commit the text.
    """
    yield from case.loaded("git-lfs-pointer")


@check("submodule", Severity.ERROR)
def submodule(case: Case) -> Iterator[Finding]:
    """A submodule, or another repository, stands in the memory.

    Its files are in another history: a commit here does not hold them, a review here does not show them, and a fresh
    clone has an empty folder. Nothing below it is read.

    Fails:

        shared/    (a submodule: it holds a `.git`)

    Fix: move it out of the memory, or take its entries in as files.
    """
    for file in (*case.catalog.files, *case.catalog.others):
        if file.kind is FileKind.SUBMODULE:
            message = "a repository of its own stands here; nothing in it is read"
            yield at_path("submodule", file.path, message, "move it out of the memory")


@check("merge-marker", Severity.ERROR)
def merge_marker(case: Case) -> Iterator[Finding]:
    """The file holds an unresolved merge.

    Both sides of a conflict stand in the file at once, and a reader takes them for one rule. All three marks are asked
    for, at the start of their lines, so that a heading underlined with `=` is no finding. What a merge that has not
    happened would leave so has its own findings.

    Fails:

        <<<<<<< HEAD
        We store times in UTC.
        =======
        We store local times.
        >>>>>>> feature

    Fix: keep what holds, remove the three marks, and `git add` the file.
    """
    yield from (finding for finding in case.loaded("merge-marker") if finding.place.path not in case.unmerged)
    for file in case.catalog.others:
        if file.kind is FileKind.UNMERGED and is_expected(file.path):
            yield at_path(
                "merge-marker", file.path, "the index holds the file unmerged", "`mdmem resolve` shows how to decide it"
            )


@check("unreadable", Severity.ERROR)
def unreadable(case: Case) -> Iterator[Finding]:
    """A file or folder is there and cannot be read.

    What cannot be read may hold an invariant, so it never counts as absent: the run is incomplete, and every retrieval
    names the file among its problems.

    Fails:

        app/rules/use-utc.md    (permission denied)

    Fix: give yourself the right to read it, for instance `chmod u+r FILE`, and run this again.
    """
    yield from case.loaded("unreadable")
