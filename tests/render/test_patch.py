"""Test patches: `git apply` accepts each and makes exactly the new files from the old ones."""

from pathlib import Path

import pytest
from builders import git, make_repository, write
from hypothesis import given
from hypothesis import strategies as st

from mdmem.render.text import Style, printable
from mdmem.render.writes import changes_diff
from mdmem.write.change_set import Change


def change_of(path: str, before: bytes | None, after: bytes | None, *, was: str | None = None) -> Change:
    return Change(was or path, path, before, after)


def applied(folder: Path, *changes: Change) -> dict[str, bytes]:
    """Return the files of a repository after `git apply` of the patch."""
    make_repository(folder)
    for change in changes:
        if change.before is not None:
            write(folder, change.path, change.before)
    patch = changes_diff(changes, "", Style()) + "\n"
    git(folder, "apply", "--whitespace=nowarn", "-", text_in=patch.encode("utf-8", "surrogateescape"))
    files = (file for file in folder.rglob("*") if file.is_file() and ".git" not in file.parts)
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\rb\n", b"a\rB\n"),
        (b"a\x0cb\xe2\x80\xa8c\n", b"a\x0cB\xe2\x80\xa8c\n"),
        (b"\xff\n", b"\xfe\n"),
        (b"\xef\xbb\xbfa\n", b"a\n"),
        (b"-- a\n+++ b\n", b"++ a\n--- b\n"),
        (b"".join(b"%d\n" % n for n in range(60)), b"".join(b"%d\n" % n for n in range(60) if n not in (5, 50))),
    ],
)
def test_patch_makes_the_new_file(before: bytes, after: bytes, tmp_path: Path) -> None:
    assert applied(tmp_path, change_of("nav/a.md", before, after)) == {"nav/a.md": after}


@pytest.mark.parametrize(
    "path",
    ["a b.md", 'a"b.md', "a\\b.md", "ü/日.md", "a\tb.md", "a\nb.md", "b/b.md", "a b/b c.md", " a ", "\udcff.md", "-a"],
)
@pytest.mark.parametrize("before", [b"a\n", None])
def test_patch_finds_a_file_of_any_name(path: str, before: bytes | None, tmp_path: Path) -> None:
    found = applied(tmp_path, change_of(path, before, b"b"))
    assert found == {path: b"b"}


def test_patch_adds_deletes_and_renames(tmp_path: Path) -> None:
    changes = (
        change_of("added.md", None, b"new"),
        change_of("empty.md", None, b""),
        change_of("gone.md", b"old\n", None),
        change_of("to here.md", b"a\nb\nc\nd\n", b"a\nB\nc\nd\n", was="from.md"),
        change_of("moved.md", b"same\n", b"same\n", was="src/there.md"),
        change_of("kept.md", b"kept\n", b"kept\n"),
    )
    assert applied(tmp_path, *changes) == {
        "added.md": b"new",
        "empty.md": b"",
        "to here.md": b"a\nB\nc\nd\n",
        "moved.md": b"same\n",
        "kept.md": b"kept\n",
    }


def test_patch_reads_as_git_writes_it() -> None:
    assert changes_diff([change_of("a.md", b"1\n2", b"1\n3\n")], "", Style()) == (
        "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+3"
    )


def test_colours_mark_what_goes_and_what_comes_and_a_file_with_a_nul_is_only_named() -> None:
    patch = changes_diff([change_of("a.md", b"\0", b"b\n")], "", Style())
    assert patch.splitlines()[-1] == "Binary files a/a.md and b/a.md differ"
    patch = changes_diff([change_of("a.md", b"a\n", b"b\n")], "", Style(color=True))
    assert printable(patch).splitlines()[-2:] == ["\x1b[31m-a\x1b[0m", "\x1b[32m+b\x1b[0m"]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "a\r\n", "", "\u2028\n", "x", "-\n", "@@\n"]), max_size=12).map("".join)


@given(before=LINES, after=LINES)
def test_any_change_applies(before: str, after: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    if before != after:
        change = change_of("a.md", before.encode(), after.encode())
        assert applied(tmp_path_factory.mktemp("any"), change) == {"a.md": after.encode()}
