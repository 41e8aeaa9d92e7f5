"""A change of one field in a thousand real records: the meant lines change, and not one byte besides."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import TODAY, environment, open_root, run_mdmem, write
from test_corpora import CONVERTER, KEPS, PEPS

from mdmem.errors import MdmemError
from mdmem.model.entry import Status
from mdmem.write.lifecycle import plan_deprecation

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (PEPS.exists() and CONVERTER.exists()), reason="the corpora are not here"),
]

LINE_ENDS = (b"\n", b"\r\n", b"\n")


def as_people_leave_files(path: Path, turn: int) -> None:
    """Rewrite a file with comments, and every third one with CRLF, every third with a BOM and no final newline."""
    content = re.sub(rb"\n(status: \w+)\n", rb"\n# agreed on\n\1   # for now\n", path.read_bytes(), count=1)
    content = content.replace(b"\r\n", b"\n").replace(b"\n", LINE_ENDS[turn % 3])
    path.write_bytes(b"\xef\xbb\xbf" + content.rstrip(b"\n") if turn % 3 == 2 else content)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the root of all PEPs and all KEPs, in three kinds of bytes."""
    folder = tmp_path_factory.mktemp("corpora") / "memory"
    for corpus in (PEPS, KEPS):
        subprocess.run([sys.executable, str(CONVERTER), corpus, folder], env=environment(), check=True)
    write(folder, "mdmem.toml")
    for turn, path in enumerate(sorted(folder.glob("*/*/*.md"))):
        as_people_leave_files(path, turn)
    return folder


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.glob("*/*/*.md"))}


def line_end(content: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in content else b"\n"


def without(content: bytes, *lines: str) -> bytes:
    """Return a content without lines, each of which must stand in it just once."""
    for line in lines:
        whole = line.encode() + line_end(content)
        assert content.count(whole) == 1
        content = content.replace(whole, b"")
    return content


def test_verify_adds_one_line_to_each_of_a_thousand_records(root: Path) -> None:
    before = contents(root)
    done = run_mdmem("verify", "peps/", "keps/", cwd=root)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    after = contents(root)
    for path, content in before.items():
        write(root, path, content)
    changed = [path for path in before if before[path] != after[path]]
    assert before.keys() == after.keys()
    assert len(changed) >= 1000
    for path in changed:
        # The end of a review is a part of verifying.
        was = b"under_review" if b"status: under_review" in before[path] else b"active"
        kept = without(after[path], f"verified_at: {TODAY}").replace(b"status: active", b"status: " + was, 1)
        assert kept == before[path], path


def endings(root: Path) -> Iterator[tuple[bytes, bytes, Status]]:
    """Yield the bytes before and after the end of each record that can end, and its status until then."""
    workspace = open_root(root)
    for address, entry in workspace.catalog.entries.items():
        try:
            (change,) = plan_deprecation(workspace, address, reason="Nobody uses it.").changes
        except MdmemError:
            continue
        assert change.before is not None
        assert change.after is not None
        yield change.before, change.after, entry.status


def test_deprecate_changes_one_line_and_adds_two_in_each_of_a_thousand_records(root: Path) -> None:
    found = list(endings(root))
    assert len(found) >= 1000
    for before, after, status in found:
        added = (f"deprecated_at: {TODAY}", "deprecated_reason: Nobody uses it.")
        kept = without(after, *added).replace(b"status: deprecated", f"status: {status}".encode(), 1)
        assert kept == before
