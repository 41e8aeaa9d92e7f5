"""Test fixes: which are applied together, which are left out because they cause a finding, and the plan."""

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builders import TODAY, make_root, write, write_entry
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mdmem.checks.case import Case
from mdmem.checks.check import get_checks
from mdmem.checks.engine import CheckReport, run_checks
from mdmem.model.entry import Status
from mdmem.model.finding import Edit, Finding, Fix, Place
from mdmem.store.catalog.load import load
from mdmem.store.settings import Settings
from mdmem.store.tree import MemoryTree, Tree, TreeView, Unreadable, WorkingTree, read_one
from mdmem.write.apply import write_changes, writers_lock
from mdmem.write.fix import FixResult, fix_all

PATH = "app/rules/a.md"
TEXT = b"---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\ntitle: A\n---\n\nText.\n"


def checker(codes: Iterable[str] = tuple(get_checks())) -> Callable[[Tree], CheckReport]:
    """Return a function that runs some checks on a tree."""
    today, chosen = date.fromisoformat(TODAY), tuple(codes)
    return lambda tree: CheckReport(tree.name, 0, tuple(run_checks(Case(load(tree), Settings(), today), chosen)))


def planned(root: Path, *codes: str, with_unsafe: bool = True) -> FixResult:
    """Return the result of fixing the findings of some checks (default: all)."""
    check = checker()
    return fix_all(WorkingTree(root), checker(codes) if codes else check, with_unsafe=with_unsafe, full_check=check)


def mended(root: Path, *codes: str, with_unsafe: bool = True) -> FixResult:
    """Fix the findings of some checks, and write the files."""
    result = planned(root, *codes, with_unsafe=with_unsafe)
    with writers_lock(root / ".state"):
        write_changes(root, result.plan.changes)
    return result


def finding(fix: Fix, *, line: int = 1) -> Finding:
    return Finding("a-code", fix.title, Place(PATH, line), fix=fix)


def test_plan_compares_with_the_bytes_that_were_read_first(tmp_path: Path) -> None:
    make_root(tmp_path)
    write_entry(tmp_path, "app/rules/new", reason="it is faster", title="New", supersedes=["old"])
    ended = {"status": "deprecated", "deprecated_at": "2026-06-01", "deprecated_reason": "it was slow"}
    write_entry(tmp_path, "app/rules/old", title="Old", **ended)
    path, ask = tmp_path / "app/rules/old.md", checker()
    first = path.read_bytes()

    def check(tree: Tree) -> CheckReport:
        report = ask(tree)
        path.write_bytes(b"mine\n")
        return report

    changes = {change.path: change for change in fix_all(WorkingTree(tmp_path), check).plan.changes}
    assert changes["app/rules/old.md"].before == first


def test_interrupted_supersession_is_found_and_completed(tmp_path: Path) -> None:
    make_root(tmp_path)
    write_entry(tmp_path, "app/rules/new", reason="it is faster", title="New")
    write_entry(tmp_path, "app/rules/old", title="Old", superseded_by=["app/rules/new"])
    plan = planned(tmp_path).plan
    assert [change.path for change in plan.changes] == ["app/rules/new.md", "app/rules/old.md"]
    (tmp_path / "app/rules/new.md").write_bytes(plan.changes[0].after)
    assert planned(tmp_path, with_unsafe=False).fixed == ()
    assert [one.code for one in planned(tmp_path).fixed] == ["superseded-but-active"]
    assert planned(tmp_path).plan.changes == plan.changes[1:]


def test_fix_that_never_ends_its_finding_stops(tmp_path: Path) -> None:
    write(tmp_path, PATH, TEXT)

    def check(tree: Tree) -> CheckReport:
        content = read_one(tree, PATH)
        assert not isinstance(content, Unreadable)
        fix = Fix("grow", (Edit(PATH, len(content), len(content), b"more\n"),))
        return CheckReport(tree.name, 1, (finding(fix),))

    result = fix_all(WorkingTree(tmp_path), check)
    assert (result.fixed, result.plan.changes[0].after.count(b"more")) == ((), 20)


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
    result = fix_all(TreeView(MemoryTree("in memory"), changed={PATH: before}), checker(codes))
    after = result.plan.changes[0].after if result.plan.changes else before

    def bare(content: bytes) -> bytes:
        plain = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return plain if plain.endswith(b"\n") else plain + b"\n"

    assert bare(after) == bare(before)
    assert result.report.findings == ()


def founded(root: Path) -> Path:
    """Return a root with the manifest of its one wing."""
    write(make_root(root), "app/README.md", "---\nkind: project\nowners: [Ada]\n---\n\n# app\n")
    return root


def test_link_is_not_moved_to_a_head_that_descends_from_its_entry(tmp_path: Path) -> None:
    founded(tmp_path)
    ended = {"status": "deprecated", "deprecated_at": "2026-03-06"}
    write_entry(tmp_path, "app/rules/a", title="A", superseded_by=["app/rules/b"], **ended)
    write_entry(tmp_path, "app/rules/b", title="B", reason="r", supersedes=["app/rules/a", "app/rules/draft"])
    write_entry(tmp_path, "app/rules/draft", title="D", reason="r", status="draft", supersedes=["app/rules/a"])
    mended(tmp_path, "supersedes-superseded")
    assert "supersedes: [app/rules/a]" in (tmp_path / "app/rules/draft.md").read_text()


def test_fix_that_causes_a_finding_is_left_out_and_reported(tmp_path: Path) -> None:
    founded(tmp_path)
    write_entry(tmp_path, "app/rules/0001-retries", title="Retries", type="note")
    # With the right address, both are current.
    write_entry(tmp_path, "app/rules/other", title="Other", type="note", conflicts_with=["ADR-0001"])
    # A selection limits the fixes, but new findings of all checks count.
    selected = planned(tmp_path, "dangling-link", with_unsafe=False)
    assert (selected.fixed, len(selected.refused)) == ((), 1)
    write(
        tmp_path, "app/rules/end.md", "---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\ntitle: E\n---\n\nEnd."
    )
    # The supersession ends the old entry, so a link to it in another file becomes a finding without being broken.
    write_entry(
        tmp_path, "app/rules/0002-old", title="Old", type="note", status="deprecated", superseded_by=["ADR-0003"]
    )
    write_entry(tmp_path, "app/rules/0003-new", title="New", type="note", supersedes=["ADR-0002"])
    write_entry(tmp_path, "app/rules/user", title="User", type="note", see=["app/rules/0002-old"])
    result = mended(tmp_path, with_unsafe=False)
    assert [one.code for one in result.fixed] == ["dangling-link", "dangling-link", "file-form"]
    assert [(one.finding.code, one.brings.code) for one in result.refused] == [("dangling-link", "conflict-unresolved")]
    sentence = result.refused[0].sentence("memory/{}".format)
    assert sentence.startswith(
        "memory/app/rules/other.md:6: `conflicts_with` contains `ADR-0001`, which is a number, not an address; left "
        "out «Write `app/rules/0001-retries`», which would cause `conflict-unresolved` to memory/app/rules/other.md: "
    )


def test_fixes_that_are_offered_are_made(tmp_path: Path) -> None:
    founded(tmp_path)
    why, ended = "We do.\n\nRationale: {}.\n", {"status": "deprecated", "deprecated_at": "2026-03-06"}
    withdrawn = {"type": "note", "supersedes": ["app/rules/one"], "superseded_by": ["app/rules/three"]}
    write_entry(tmp_path, "app/rules/one", why, title="One", superseded_by=["app/rules/three"], **ended)
    write_entry(tmp_path, "app/rules/two", why, title="Two", deprecated_reason="withdrawn", **withdrawn, **ended)
    write_entry(tmp_path, "app/rules/three", why, title="Three", supersedes=["app/rules/one"])
    write_entry(tmp_path, "app/rules/retries", title="Retries", superseded_by=["app/rules/backoff"])
    write_entry(tmp_path, "app/rules/backoff", "Wait.\n", title="Backoff", supersedes=["app/rules/retries"])
    write_entry(tmp_path, "app/rules/user", why.format("[it](onee.md)"), title="Other")
    write_entry(tmp_path, "lib/rules/billing", why, title="Billing")
    write_entry(tmp_path, "app/rules/cost", why, title="Cost", see=["app/rules/billing"])
    assert (planned(tmp_path, with_unsafe=False).fixed, planned(tmp_path, with_unsafe=False).refused) == ((), ())
    result = mended(tmp_path)
    made = ["superseded-but-active", "supersession-one-sided", "body-link-broken", "link-to-superseded"]
    assert ([one.code for one in result.fixed], result.refused) == (made, ())
    assert all(one.fix is None for one in checker()(WorkingTree(tmp_path)).findings)


def test_finding_in_a_file_that_became_readable_is_not_new(tmp_path: Path) -> None:
    founded(tmp_path)
    write_entry(tmp_path, "app/rules/a", status="actve", title="A", see=["app/rules/gone"] * 2)
    result = mended(tmp_path)
    assert ([one.code for one in result.fixed], result.report.later) == (["invalid-value", "needless-link"], 1)
    assert {one.code for one in checker()(WorkingTree(tmp_path)).findings} == {"dangling-link"}


_NAMES = ("a", "b", "c", "Bad_Name", "d")
_ADDRESSES = st.sampled_from([f"app/rules/{name}" for name in _NAMES] + ["c", "app/rules/d.md", "app/rules/gone"])
_LINKS = st.lists(_ADDRESSES, max_size=2)
_ENTRIES = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["invariant", "decision", "pattern", "note"]),
        "status": st.sampled_from(["draft", "active", "active", "deprecated"]),
        "created_at": st.sampled_from(["2026-01-01", "2026-02-01", "2026-03-01"]),
    },
    optional={
        "supersedes": _LINKS,
        "superseded_by": _LINKS,
        "see": _LINKS,
        "reason": st.just("it must"),
        "deprecated_at": st.just("2026-04-01"),
        "tags": st.just(["x", "x"]),
    },
)
_BODIES = st.sampled_from(["We must.\n", "It must be so, because [it is](Bad_Name.md).\n", "[see: c, a]\n", "We do."])


def written(folder: Path, entries: dict[str, tuple[dict[str, object], str]]) -> Path:
    root = founded(folder)
    for name, (fields, body) in entries.items():
        stated = {key: value for key, value in fields.items() if value != []}
        write_entry(root, f"app/rules/{name}", body, title=name, **stated)
    return root


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    entries=st.dictionaries(st.sampled_from(_NAMES), st.tuples(_ENTRIES, _BODIES), min_size=2),
    with_unsafe=st.booleans(),
)
def test_fixes_cause_no_finding(entries: dict[str, tuple[dict[str, object], str]], *, with_unsafe: bool) -> None:
    with TemporaryDirectory() as folder:
        root, check = written(Path(folder), entries), checker()
        before = check(WorkingTree(root)).findings
        result = mended(root, with_unsafe=with_unsafe)
        names = {change.path: change.to for change in result.plan.changes}
        known = {(one.code, names.get(one.place.path, one.place.path)) for one in before}
        new = [one for one in check(WorkingTree(root)).findings if (one.code, one.place.path) not in known]
        assert new == []


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(entries=st.dictionaries(st.sampled_from(_NAMES), st.tuples(_ENTRIES, _BODIES), min_size=2))
def test_safe_fixes_deprecate_no_current_entry(entries: dict[str, tuple[dict[str, object], str]]) -> None:
    with TemporaryDirectory() as folder:
        root = written(Path(folder), entries)
        before = load(WorkingTree(root))
        mended(root, with_unsafe=False)
        after = load(WorkingTree(root))
        binding = [one for one in before.entries if before.lineage.is_current(one)]
        assert [one for one in binding if not after.lineage.is_current(one)] == []
        assert {after.entries[one].status for one in binding} <= {Status.ACTIVE, Status.UNDER_REVIEW}
