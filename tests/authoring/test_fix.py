"""Mending: which fixes are chosen together, when one is dropped, and what the plan holds at the end."""

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from builders import TODAY, make_root, write, write_entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.checks.case import Case
from mdmem.checks.check import get_checks
from mdmem.checks.engine import CheckReport, run_checks
from mdmem.model.finding import Edit, Finding, Fix, Place
from mdmem.store.catalog.load import load
from mdmem.store.settings import Settings
from mdmem.store.tree import Tree, TreeFile, Unreadable, WorkingTree, digest_of, read_one
from mdmem.write.apply import apply
from mdmem.write.fix import FixResult, fix_all

PATH = "app/rules/a.md"
TEXT = b"---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\ntitle: A\n---\n\nText.\n"


def checker(codes: Iterable[str] = tuple(get_checks())) -> Callable[[Tree], CheckReport]:
    """Return what asks some checks about a tree."""
    chosen = tuple(codes)
    today = date.fromisoformat(TODAY)
    return lambda tree: CheckReport(tree.name, 0, tuple(run_checks(Case(load(tree), Settings(), today), chosen)))


def finding(fix: Fix, *, line: int = 1) -> Finding:
    return Finding("a-code", fix.title, Place(PATH, line), fix=fix)


def edit(old: bytes, new: bytes) -> Edit:
    """Return the edit of the one place where some bytes stand."""
    start = TEXT.index(old)
    return Edit(PATH, start, start + len(old), new)


def test_fix_after_which_the_file_would_load_worse_is_said(tmp_path: Path) -> None:
    write(tmp_path, PATH, TEXT)
    found = (finding(Fix("break", (edit(b"title", b"titel"),))), finding(Fix("mend", (edit(b"Text", b"Words"),))))
    mended = fix_all(
        WorkingTree(tmp_path),
        lambda tree: CheckReport(tree.name, 0, found if b"Words" not in read_one(tree, PATH) else found[:1]),
        prove=checker(),
    )
    assert [one.message for one in mended.fixed] == ["mend"]
    said = (
        f"{PATH}: left out «break», which would bring `unclear-title` to {PATH}: no `title`, and no heading in the body"
    )
    assert [one.sentence for one in mended.refused] == [said]


def mend(root: Path, *, with_unsafe: bool = False) -> FixResult:
    return fix_all(WorkingTree(root), checker(), with_unsafe=with_unsafe)


def both_ends_missing(root: Path) -> None:
    """Write an old entry that has ended, and a new one that names it by a short address."""
    make_root(root)
    write_entry(root, "app/rules/new", reason="it is faster", title="New", supersedes=["old"])
    ended = {"status": "deprecated", "deprecated_at": "2026-06-01", "deprecated_reason": "it was slow"}
    write_entry(root, "app/rules/old", title="Old", **ended)


def test_mending_again_changes_nothing(tmp_path: Path) -> None:
    both_ends_missing(tmp_path)
    apply(tmp_path, mend(tmp_path).plan, state=tmp_path / ".state")
    again = mend(tmp_path)
    assert (again.plan.changes, again.fixed) == ((), ())


def test_plan_is_from_the_first_bytes_to_the_last_though_a_file_changes_between_rounds(tmp_path: Path) -> None:
    both_ends_missing(tmp_path)
    path, ask = tmp_path / "app/rules/old.md", checker()
    first = path.read_bytes()

    def check(tree: Tree) -> CheckReport:
        report = ask(tree)
        path.write_bytes(b"mine\n")
        return report

    changes = {change.path: change for change in fix_all(WorkingTree(tmp_path), check).plan.changes}
    assert changes["app/rules/old.md"].before == first


def test_interrupted_supersession_is_named_and_completed(tmp_path: Path) -> None:
    make_root(tmp_path)
    write_entry(tmp_path, "app/rules/new", reason="it is faster", title="New")
    write_entry(tmp_path, "app/rules/old", title="Old", superseded_by=["app/rules/new"])
    plan = mend(tmp_path, with_unsafe=True).plan
    assert [change.path for change in plan.changes] == ["app/rules/new.md", "app/rules/old.md"]
    (tmp_path / "app/rules/new.md").write_bytes(plan.changes[0].after)
    assert mend(tmp_path).fixed == ()
    assert [one.code for one in mend(tmp_path, with_unsafe=True).fixed] == ["superseded-but-active"]
    assert mend(tmp_path, with_unsafe=True).plan.changes == plan.changes[1:]


def test_fix_that_never_ends_its_finding_stops(tmp_path: Path) -> None:
    write(tmp_path, PATH, TEXT)

    def check(tree: Tree) -> CheckReport:
        content = read_one(tree, PATH)
        assert not isinstance(content, Unreadable)
        fix = Fix("grow", (Edit(PATH, len(content), len(content), b"more\n"),))
        return CheckReport(tree.name, 1, (finding(fix),))

    mended = fix_all(WorkingTree(tmp_path), check)
    assert (mended.fixed, mended.plan.changes[0].after.count(b"more")) == ((), 20)


class InMemory(Tree):
    """One file of an entry, without a disk."""

    name = "in memory"

    def __init__(self, content: bytes) -> None:
        self.content = content

    def files(self) -> tuple[TreeFile, ...]:
        return (TreeFile(PATH),)

    def read(self, paths: Iterable[str]) -> Iterable[tuple[str, bytes]]:
        return ((path, self.content) for path in paths)

    def digests(self, files: Iterable[TreeFile]) -> dict[str, str]:
        return {file.path: digest_of(self.content) for file in files}

    def identity(self, path: str, content: bytes) -> str:
        return digest_of(content)


LINES = st.lists(
    st.tuples(
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8),
        st.sampled_from(["\n", "\r\n", "\r"]),
    ),
    max_size=8,
)


@given(lines=LINES, has_mark=st.booleans(), has_end=st.booleans(), crlf=st.booleans())
def test_whole_file_fixes_change_marks_and_line_ends_only(
    lines: list[tuple[str, str]], *, has_mark: bool, has_end: bool, crlf: bool
) -> None:
    front = TEXT.decode().replace("\n", "\r\n") if crlf else TEXT.decode()
    text = front + "".join(line + end for line, end in lines) + ("" if has_end else "end")
    before = (b"\xef\xbb\xbf" if has_mark else b"") + text.encode()
    codes = ("utf8-bom", "mixed-line-endings", "no-final-newline")
    mended = fix_all(InMemory(before), checker(codes))  # type: ignore[arg-type]  # the port wants an iterator
    after = mended.plan.changes[0].after if mended.plan.changes else before

    def bare(content: bytes) -> bytes:
        plain = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return plain if plain.endswith(b"\n") else plain + b"\n"

    assert bare(after) == bare(before)
    assert mended.report.findings == ()
