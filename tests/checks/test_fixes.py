"""Test every fix of every golden case (`fixed.diff`), findings without a certain fix, and the helps."""

import difflib
import json
import re
import shlex
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from builders import Capture, commit_all, git, make_root, memory, open_root, run_here, write, write_entry
from golden import read_rows
from hypothesis import given
from hypothesis import strategies as st
from test_cases import CASES, TODAY, facts_of, settings_of
from trees import HeldTree, case_of, tree_of

from mdmem.checks.case import Base, Case
from mdmem.checks.check import get_check
from mdmem.checks.engine import CheckReport, run_checks
from mdmem.checks.rules.front_matter import find_rewrite
from mdmem.checks.run import CheckRequest, check
from mdmem.markdown.layout import apply_edits
from mdmem.markdown.parse import parse_document
from mdmem.model.finding import Finding, Fix, Place
from mdmem.store.catalog.load import load
from mdmem.store.settings import Settings, parse_settings
from mdmem.store.tree import Tree, TreeView, WorkingTree
from mdmem.write.change_set import Change
from mdmem.write.fix import FixResult, find_new, fix_all

FIXED = "fixed.diff"
FIXABLE = sorted({path.parent.parent.name for path in CASES.glob(f"*/*/{FIXED}")})


def checked(folder: Path, tree: Tree) -> CheckReport:
    case = Case(load(tree), settings_of(folder / "root"), TODAY, facts_of(folder))
    return CheckReport(tree.name, 0, tuple(run_checks(case, (folder.parent.name,))))


def mend(folder: Path, tree: Tree) -> FixResult:
    return fix_all(tree, lambda one: checked(folder, one), with_unsafe=True)


@cache
def mended(folder: Path) -> tuple[Tree, FixResult]:
    """Return the tree of a case and all that is mended in it, read once for all that is asked of it."""
    tree = WorkingTree(folder / "root")
    return tree, mend(folder, tree)


def after(tree: Tree, result: FixResult) -> TreeView:
    """Return the tree that a plan leads to."""
    contents = {change.path: change.after for change in result.plan.changes}
    renames = [(change.path, change.to) for change in result.plan.changes if change.to != change.path]
    return TreeView(tree, changed={}).with_changes(contents, renames)


def shown(result: FixResult) -> str:
    """Return what a plan changes, as a diff in which marks and line ends can be read."""
    return "".join(line for change in result.plan.changes for line in _diff(change))


def _diff(change: Change) -> Iterable[str]:
    if change.before == change.after:
        return [f"rename {change.path} => {change.to}\n"]
    return difflib.unified_diff(_lines(change.before), _lines(change.after), change.path, change.to, n=0)


def _lines(data: bytes) -> list[str]:
    lines = data.decode().replace("\ufeff", "<BOM>").replace("\r", "<CR>").split("\n")
    ends = [f"{line}\n" for line in lines[:-1]]
    return [*ends, f"{lines[-1]}<no newline>\n"] if lines[-1] else ends


FAILING = [case for code in FIXABLE for case in sorted((CASES / code).iterdir()) if not case.name.startswith("clean")]
named = pytest.mark.parametrize("folder", FAILING, ids=lambda path: f"{path.parent.name}/{path.name}")


@named
def test_fix_changes_only_what_is_meant(folder: Path) -> None:
    expected = folder / FIXED
    assert shown(mended(folder)[1]) == (expected.read_text() if expected.exists() else "")


@named
def test_fixed_findings_are_gone_and_a_second_fix_changes_nothing(folder: Path) -> None:
    tree, result = mended(folder)
    now = checked(folder, after(tree, result))
    left = {(one.place.path, one.message) for one in now.findings if one.code == get_check(folder.parent.name).code}
    assert {(one.place.path, one.message) for one in result.fixed}.isdisjoint(left)
    assert mend(folder, after(tree, result)).plan.changes == ()


def test_other_checks_offer_no_fix() -> None:
    fixable = {get_check(code).code for code in FIXABLE}
    others = [case for case in sorted(CASES.glob("*/*")) if get_check(case.parent.name).code not in fixable]
    found = [(case, checked(case, WorkingTree(case / "root"))) for case in others]
    assert [(case.name, one.code) for case, report in found for one in report.findings if one.fix is not None] == []


def test_renames_hide_no_new_finding_in_another_folder() -> None:
    gone, new = Finding("missing-field", "a", Place("app/a/x.md")), Finding("missing-field", "b", Place("app/b/y.md"))
    moved = [("app/a/x.md", "app/a/z.md")]
    assert find_new([gone], [new], ended=(), renames=moved) == [new]
    assert find_new([gone], [Finding("missing-field", "c", Place("app/a/v.md"))], ended=(), renames=moved) == []


PATH = "app/rules/a.md"
HEAD = "---\ntype: decision\nstatus: active\ncreated_at: 2026-03-05\n"
BODY = "---\n\nText.\n\nRationale: tried.\n"


def fixes(root: Path, code: str, settings: bytes = b"") -> list[Fix | None]:
    """Return the fix of each finding of a check."""
    return [one.fix for one in run_checks(case_of(root, parse_settings(settings)), [code])]


@pytest.mark.parametrize(("code", "stated"), read_rows("checks/not_fixed.txt"))
def test_there_is_no_fix_where_the_meaning_is_not_certain(tmp_path: Path, code: str, stated: str) -> None:
    fields = "" if stated == "-" else f"{stated}\n"
    text = stated if stated.endswith("\n") else f"{HEAD}{fields}{BODY}"
    write(make_root(tmp_path), PATH if code != "bad-name" else "app/rules/☃.md", text)
    assert set(fixes(tmp_path, code)) == {None}


def fixing(root: Path, code: str, *, base: Path | None = None) -> list[bool]:
    """Return for each fix of a code whether it is safe; `base` is the memory before the change."""
    before = Base("main", load(WorkingTree(base)), Settings()) if base else None
    found = run_checks(case_of(root, base=before), [code])
    return [one.fix.is_safe for one in found if one.fix is not None]


BOTH = {"superseded_by": ["app/rules/b"]}


@pytest.mark.parametrize(
    ("links", "other", "expected"),
    [({}, {}, [True]), (BOTH, {}, [True]), ({}, {"see": ["a"]}, [False]), ({}, {"amends": ["a"]}, [])],
    ids=["one link", "both links", "another entry links to it", "another entry amends it"],
)
def test_what_is_in_force_is_ended_safely_by_who_writes_the_link_and_else_as_a_decision(
    tmp_path: Path, links: dict[str, list[str]], other: dict[str, list[str]], expected: list[bool]
) -> None:
    now, base = (make_root(tmp_path / name) for name in ("now", "base"))
    write_entry(base, "app/rules/a")
    write_entry(now, "app/rules/a", **links)
    write_entry(now, "app/rules/b", supersedes=["app/rules/a"])
    write_entry(now, "app/rules/c", **other)
    code = "superseded-but-active" if links else "supersession-one-sided"
    unsafe = [False] * len(expected)
    assert [fixing(now, code, base=one) for one in (None, now, base)] == [unsafe, unsafe, expected]


def test_who_writes_a_claim_is_told_by_the_last_commit(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    root, new, old = folder / "memory", "nav/architecture/one", "nav/architecture/threads"

    def safe() -> list[bool]:
        found = check(open_root(root), CheckRequest(select=("supersession-one-sided",))).findings
        return [one.fix.is_safe for one in found if one.fix is not None]

    write_entry(root, new, title="One", status="draft", supersedes=[old])
    commit_all(folder)
    write_entry(root, new, title="One", supersedes=[old])
    assert safe() == [True]
    commit_all(folder)
    write_entry(root, new, title="One thread", supersedes=[old])
    assert safe() == [False]


@pytest.mark.parametrize("slip", ["Supersedes: [nav/architecture/threads]", "supersedes: threads.md"])
def test_what_another_fix_makes_a_link_of_is_written_by_nobody(slip: str, tmp_path: Path) -> None:
    folder = memory(tmp_path)
    root, new = folder / "memory", "nav/architecture/one"
    write(root, f"{new}.md", f"{HEAD}title: One\n{slip}\nreason: It is faster.\n{BODY}")
    commit_all(folder)
    write_entry(root, new, title="One", supersedes=["nav/architecture/threads"])
    found = check(open_root(root), CheckRequest(select=("supersession-one-sided",))).findings
    assert [one.fix.is_safe for one in found if one.fix is not None] == [False]


@pytest.mark.parametrize(
    ("old", "kind", "is_safe"),
    [
        ({"status": "deprecated", "deprecated_at": "2026-06-01", "deprecated_reason": "gone"}, "decision", True),
        ({"status": "deprecated", "deprecated_reason": "gone", "type": "invariant"}, "note", False),
    ],
    ids=["of what has ended", "of more authority"],
)
def test_missing_end_is_written_safely_by_an_entry_of_no_less_authority(
    tmp_path: Path, old: dict[str, object], kind: str, *, is_safe: bool
) -> None:
    make_root(tmp_path)
    write_entry(tmp_path, "app/rules/a", **old)
    meant = {"supersession-across-types": "it is meant"}
    write_entry(tmp_path, "app/rules/b", type=kind, supersedes=["app/rules/a"], ignore=meant)
    assert fixing(tmp_path, "supersession-one-sided") == [is_safe]


ENDED = {"app/rules/a": {"status": "deprecated", "deprecated_reason": "it is gone"}}
VERIFIED = {
    "app/rules/a": {"status": "deprecated", "verified_at": "2026-06-01", "superseded_by": ["app/rules/b"]},
    "app/rules/b": {"created_at": "2026-05-01", "supersedes": ["app/rules/a"]},
}
NEWER = {"created_at": "2026-03-06"}
ONE_SIDED = {"app/rules/a": NEWER, "app/rules/b": {"supersedes": ["app/rules/a"]}}


@pytest.mark.parametrize(
    ("code", "entries", "settings"),
    [
        pytest.param("supersession-one-sided", ONE_SIDED, b"", id="its successor was created first"),
        pytest.param(
            "supersession-one-sided",
            {"app/rules/a": {**NEWER, "status": "deprecated", "superseded_by": ["app/rules/b"]}, "app/rules/b": {}},
            b"",
            id="the successor that it lists was created first",
        ),
        pytest.param("deprecated-at-missing", ENDED, b"", id="no other replaced it"),
        pytest.param("deprecated-at-missing", VERIFIED, b"", id="its successor is older than its last check"),
        pytest.param("bad-name", {"My-App/rules/a": {}}, b'default_wing = "My-App"\n', id="the settings name the wing"),
        pytest.param("bad-name", {"My-App/rules/a": {}, "my_app/rules/b": {}}, b"", id="there is a wing of that name"),
    ],
)
def test_day_and_name_that_may_be_wrong_are_not_offered(
    tmp_path: Path, code: str, entries: dict[str, dict[str, object]], settings: bytes
) -> None:
    make_root(tmp_path)
    for address, fields in entries.items():
        write_entry(tmp_path, address, **fields)
    assert fixes(tmp_path, code, settings) == [None]


def test_wing_is_renamed_where_nothing_names_it_and_an_entry_where_all_that_name_it_are_read(tmp_path: Path) -> None:
    write_entry(make_root(tmp_path), "My-App/rules/Use-UTC")
    assert [fix is None for fix in fixes(tmp_path, "bad-name")] == [False, False]
    write(tmp_path, "My-App/rules/broken.md", f"{HEAD}title: one: two\nsee: Use-UTC\n{BODY}")
    assert [fix is None for fix in fixes(tmp_path, "bad-name")] == [True, False]


@pytest.mark.parametrize(
    ("code", "names"), [("case-collision", ("Use-UTC", "use-utc")), ("unicode-collision", ("cafe\u0301", "caf\u00e9"))]
)
def test_second_of_two_that_collide_gets_a_number_and_the_links_follow(
    tmp_path: Path, code: str, names: tuple[str, str]
) -> None:
    make_root(tmp_path)
    for name in names:
        write_entry(tmp_path, f"app/rules/{name}")
    write_entry(tmp_path, "app/rules/x", see=[f"app/rules/{names[1]}"])
    (fix,) = fixes(tmp_path, code)
    assert fix is not None
    assert not fix.is_safe
    assert fix.renames == ((f"app/rules/{names[1]}.md", f"app/rules/{names[1]}-2.md"),)
    assert [edit.path for edit in fix.edits] == ["app/rules/x.md"]


def test_name_that_windows_refuses_is_written_without_the_sign(tmp_path: Path) -> None:
    make_root(tmp_path)
    for name in ("when: now", "aux"):
        write_entry(tmp_path, f"app/rules/{name}")
    renames = [fix and fix.renames for fix in fixes(tmp_path, "path-illegal-on-windows")]
    assert renames == [None, (("app/rules/when: now.md", "app/rules/when-now.md"),)]


VALUES = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=["Cc", "Zl", "Zp"]), min_size=1
)


@given(value=st.one_of(VALUES, st.text("ab'\"#: \\[]{}-@*&!|>%`,?", min_size=1, max_size=12)))
def test_fixed_line_reads_as_it_was_written_and_nothing_else_changes(value: str) -> None:
    text = f"{HEAD}title: {value}\nowner: Ada\n{BODY}"
    document = parse_document(PATH, text.encode())
    for found in document.findings:
        fix = find_rewrite(document, found)
        if fix is None:
            continue
        mended = parse_document(PATH, apply_edits(document.data, fix.edits))
        now, before = mended.text.splitlines(), text.splitlines()
        assert (now[:4], now[5:]) == (before[:4], before[5:])
        assert mended.fields is not None
        assert mended.fields["owner"] == "Ada"
        quotes = value.strip().startswith(("'", '"', "["))
        whole, cut = value.strip(), value.strip().split(" #")[0].rstrip()
        assert quotes or mended.fields["title"] == whole or str(mended.fields["title"]).startswith(cut)


def helps_in(tree: Tree, code: str) -> list[str]:
    return [finding.help for finding in run_checks(case_of(tree), [code])]


@pytest.mark.parametrize(
    ("path", "code", "command"),
    [
        ("nav/rules/Use UTC.md", "bad-name", "mdmem mv 'nav/rules/Use UTC' nav/rules/use-utc"),
        ("nav/My Rules/a.md", "bad-name", "mdmem mv 'nav/My Rules/' nav/my-rules/"),
        ("Nav/rules/a.md", "bad-name", "mdmem mv Nav/ nav/"),
        ("nav/rules/aux.md", "path-illegal-on-windows", "mdmem mv nav/rules/aux nav/rules/NEW-NAME"),
        ("nav/rules/plans/aux.png", "path-illegal-on-windows", "git mv"),
        ("aux.md", "path-illegal-on-windows", "git mv"),
    ],
)
def test_help_names_the_move_or_git_for_what_is_no_entry(path: str, code: str, command: str) -> None:
    (help_,) = helps_in(tree_of("nav/rules/a.md", path), code)
    assert re.findall("`(.*?)`", help_) == [command]


@pytest.mark.parametrize(
    ("fields", "code", "command"),
    [
        ({"expires_at": "2026-06-30"}, "expired", "mdmem deprecate nav/rules/a --reason TEXT"),
        ({"created_at": "2020-01-01", "verified_at": "2020-01-02"}, "review-overdue", "mdmem verify nav/rules/a"),
        ({"conflicts_with": "nav/rules/b"}, "conflict-unresolved", "mdmem deprecate nav/rules/b --reason TEXT"),
        ({"superseded_by": "nav/rules/draft"}, "superseded-by-draft", "mdmem approve nav/rules/draft"),
        (
            {"supersedes": ["nav/rules/c", "nav/rules/d"], "reason": "better"},
            "supersession-one-sided",
            "mdmem supersede nav/rules/d --by nav/rules/a",
        ),
    ],
)
def test_command_in_a_help_ends_the_finding(
    fields: dict[str, object], code: str, command: str, tmp_path: Path, capsys: Capture
) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/b")
    write_entry(root, "nav/rules/draft", status="draft", supersedes="nav/rules/a", reason="better")
    write_entry(root, "nav/rules/a", **fields)
    write_entry(root, "nav/rules/c", status="draft")
    write_entry(root, "nav/rules/d", supersedes="nav/rules/c")
    (help_,) = helps_in(WorkingTree(root), code)
    (named,) = re.findall(r"`(mdmem [^`]+)`", help_)
    assert named == command
    _, *arguments = shlex.split(named)
    by = ["--by", "Ada <ada@example.org>"] if arguments[0] == "approve" else []
    assert run_here(capsys, *arguments, *by, cwd=root).code == 0
    assert helps_in(WorkingTree(root), code) == []


NOTE = b"---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\n"
ADDRESSES = (
    "react/anti-patterns/index-as-key",
    "react/forms/uncontrolled-forms-by-default",
    "react/rules/a",
    "ros2/anti-patterns/index-as-key",
    "ros2/rules/adr-12",
    "shop/forms/checkout",
)


@pytest.mark.parametrize(
    ("source", "written", "meant"),
    [
        ("shop/forms/checkout", "react/anti-patterns/indx-as-key", ["react/anti-patterns/index-as-key"]),
        (
            "shop/forms/checkout",
            "ros2/conventions/index-as-key.md",
            ["ros2/anti-patterns/index-as-key", "react/anti-patterns/index-as-key"],
        ),
        ("react/rules/a", "uncontroled-forms-by-default", ["react/forms/uncontrolled-forms-by-default"]),
        ("ros2/rules/adr-12", "ros2/rules/adr-13", []),
        ("shop/forms/checkout", "shop/forms/checkot", []),
    ],
    ids=["a typo", "the entry-id elsewhere", "a short link of its wing", "another number", "the entry itself"],
)
def test_help_of_a_dangling_link_names_the_nearest_addresses(source: str, written: str, meant: list[str]) -> None:
    files = {f"{address}.md": NOTE + b"---\n\nText.\n" for address in ADDRESSES}
    files[f"{source}.md"] = NOTE + f"see: [{written}]\n---\n\nText.\n".encode()
    (found,) = run_checks(case_of(HeldTree(files)), ["dangling-link"])
    assert re.findall(r"`([^` ]+/[^` ]+)`", found.help) == meant


def test_number_of_a_record_is_corrected_to_its_address(tmp_path: Path, capsys: Capture) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/0004-rest-api")
    write_entry(root, "nav/other/0004-else")
    write_entry(root, "nav/rules/paging", amends="4")
    write_entry(root, "nav/how/streams", amends="ADR-0004")
    ran = run_here(capsys, "check", "--root", str(root), "--select", "dangling-link", cwd=tmp_path)
    assert "`amends` contains `4`, which is a number, not an address" in ran.out
    assert "help: write `nav/rules/0004-rest-api`, or remove the link" in ran.out
    assert "`amends` contains `ADR-0004`, which does not exist" in ran.out, "two rooms have that number"
    run_here(capsys, "check", "--root", str(root), "--fix", cwd=tmp_path)
    assert "amends: nav/rules/0004-rest-api\n" in (root / "nav/rules/paging.md").read_text()


def test_unreadable_file_with_a_bad_name_has_no_help_that_fails() -> None:
    assert helps_in(HeldTree({"nav/rules/Use_UTC.md": b"---\ntype: decision\n---\n\n\xff\n"}), "bad-name") == [""]


def test_command_that_adds_an_ignored_file_works_at_the_top_of_the_repository(repo: Path, capsys: Capture) -> None:
    root = make_root(repo / "my memory")
    write(repo, ".gitignore", "utc*.md\n")
    for name in ("utc times", "zones"):
        write_entry(root, f"nav/rules/{name}")
    commit_all(repo)
    arguments = ("check", "--select", "ignored-by-git", "--format", "json")
    (found,) = json.loads(run_here(capsys, *arguments, cwd=root).out)["findings"]
    assert found["help"] == "run `git add -f -- 'my memory/nav/rules/utc times.md'` at the repository's top"
    git(repo, *shlex.split(found["help"].split("`")[1])[1:])
    assert json.loads(run_here(capsys, *arguments, cwd=root).out)["findings"] == []


def test_name_that_a_shell_would_run_is_quoted_in_a_command(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/$(touch x)", expires_at="2020-01-01")
    (help_,) = helps_in(WorkingTree(root), "expired")
    assert help_.startswith("run `mdmem deprecate 'nav/rules/$(touch x)' --reason TEXT`")
