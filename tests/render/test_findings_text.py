"""Findings for people: order, caret, other end, help, fix, sums; what is printed starts no escape sequence."""

import json

import pytest
from msgspec.structs import replace

from mdmem.model.finding import Finding, Place, Severity
from mdmem.render.findings import FORMATS, get_format
from mdmem.render.findings.report import ReportStyle
from render.reports import RULE, checked, edit, finding, fix, rendered

MEND = fix(edit(0, 1, "x"))


def heads(form: str, *findings: object) -> list[str]:
    return [line.split(" ")[0] for line in rendered(form, checked(*findings)).splitlines() if line]


def test_text_shows_place_line_caret_other_end_help_and_fix() -> None:
    found = finding(other=Place("nav/rules/b.md", 7, 2), fix=MEND)
    assert rendered("text", checked(found)) == (
        "error[dangling-link] ../nav/rules/a.md:3:6\n"
        "  `see` names `nav/rules/nowhere`, which is nowhere\n"
        "  3 | see: nav/rules/nowhere\n"
        "    |      ^^^^^^^^^^^^^^^^^\n"
        "  other end: ../nav/rules/b.md:7:2\n"
        "  help: write an address\n"
        "  fix: remove the link (--fix)\n"
        "\n"
        "2 entries checked in the working tree: 1 error; 1 fixable with --fix"
    )


def test_text_does_not_underline_the_fence_for_what_is_said_of_the_whole_file() -> None:
    report = replace(checked(finding("bad-name", place=Place(RULE))), line_of=lambda _: "---\n")
    assert "---" not in rendered("text", report)


def test_text_does_not_quote_a_line_that_may_hold_a_secret() -> None:
    assert "see: " not in rendered("text", checked(finding(message="m", quotable=False)))


def test_text_shows_controls_of_a_line_as_one_character_each() -> None:
    line = checked(finding(place=Place(RULE, 1, 5, 1)), files={RULE: b"a\x1b[2J\n"})
    assert "  1 | a\ufffd[2J\n    |     ^\n" in rendered("text", line)


def test_worst_comes_first_then_new_then_path_and_line() -> None:
    def at(path: str, line: int, severity: Severity, *, new: bool = False) -> object:
        return finding(place=Place(path, line), severity=severity, new=new)

    unsorted = (
        at("a.md", 1, Severity.INFO),
        at("a.md", 1, Severity.WARNING),
        at("b.md", 9, Severity.WARNING, new=True),
        at("b.md", 10, Severity.ERROR),
        at("b.md", 9, Severity.ERROR),
        at("a.md", 30, Severity.ERROR),
        at("c.md", 1, Severity.ERROR, new=True),
    )
    assert heads("concise", *unsorted) == [
        f"../{place}:1:" for place in ("c.md:1", "a.md:30", "b.md:9", "b.md:10", "b.md:9", "a.md:1", "a.md:1")
    ]


@pytest.mark.parametrize(("is_safe", "mark"), [(True, "[*] m"), (False, "m")])
def test_concise_marks_what_fix_mends(is_safe: bool, mark: str) -> None:
    found = finding(message="m", fix=fix(edit(0, 1, "x"), is_safe=is_safe))
    assert rendered("concise", checked(found)) == f"../nav/rules/a.md:3:6: error dangling-link {mark}"


@pytest.mark.parametrize(
    ("findings", "report", "line"),
    [
        ((), {}, "2 entries checked in the working tree: no findings"),
        ((), {"tree": "HEAD", "checked": 1}, "1 entry checked in HEAD: no findings"),
        ((), {"base": "main"}, "2 entries checked in the working tree against main: no findings"),
        (
            (finding(), finding(new=True), finding(severity=Severity.WARNING)),
            {"base": "main", "tree": "git index", "shows_old": True},
            "2 entries checked in the git index against main: 2 errors, 1 warning; 1 new",
        ),
        (
            (finding(severity=Severity.WARNING, count=10, new=True),),
            {"base": "main"},
            "2 entries checked in the working tree against main: 10 warnings; 10 new",
        ),
        ((), {"fixed": (finding(), finding())}, "2 entries checked in the working tree: no findings; fixed 2"),
        (
            (finding(fix=MEND), finding("a", fix=MEND), finding(fix=fix(is_safe=False))),
            {},
            "2 entries checked in the working tree: 3 errors; 2 fixable with --fix (1 more with --unsafe-fixes)",
        ),
        (
            (finding(fix=fix(is_safe=False)),),
            {},
            "2 entries checked in the working tree: 1 error; 1 fixable with --unsafe-fixes",
        ),
    ],
)
def test_sums(findings: tuple[object, ...], report: dict[str, object], line: str) -> None:
    assert rendered("text", checked(*findings, **report)).splitlines()[-1] == line


def test_sums_of_several_roots_name_each() -> None:
    lines = rendered("text", checked(under=""), checked(finding(message="m"), under="docs")).splitlines()
    assert lines[-2:] == [
        ".: 2 entries checked in the working tree: no findings",
        "docs: 2 entries checked in the working tree: 1 error",
    ]


def warnings(code: str, number: int) -> list[Finding]:
    return [finding(code, f"m{n}", place=Place(RULE, n), severity=Severity.WARNING) for n in range(1, number + 1)]


def test_from_ten_warnings_of_one_check_on_one_line_tells_of_all() -> None:
    said = rendered("text", checked(finding(), *warnings("expired", 10), *warnings("body-empty", 9)))
    assert said.count("warning[body-empty]") == 9
    line = "warning[expired] 10 times, first at ../nav/rules/a.md:1:1: {}; `mdmem check --select expired` lists them"
    assert [one for one in said.splitlines() if one.startswith("warning[expired]")] == [
        line.format("A current entry is past its `expires_at`")
    ]
    alike = [replace(one, message="m") for one in warnings("expired", 10)]
    assert rendered("text", checked(*alike)).splitlines()[0] == line.format("m")
    assert said.splitlines()[-1].endswith("1 error, 19 warnings")
    whole = get_format("text")([checked(*warnings("expired", 10))], ReportStyle(is_whole=True))
    assert whole.count("warning[expired]") == 10


def test_findings_that_one_stands_for_count_among_those_of_their_check() -> None:
    more = finding("expired", "7 in one", severity=Severity.WARNING, count=7)
    said = rendered("text", checked(*warnings("expired", 3), more))
    assert said.startswith("warning[expired] 10 times, first at ")
    assert json.loads(rendered("json", checked(more)))["totals"] == {"error": 0, "warning": 7, "info": 0}


def test_more_than_fifty_findings_are_a_table_and_the_first_errors_in_full() -> None:
    errors = [finding(message=f"m{n}", place=Place(RULE, n)) for n in range(1, 51)]
    other = finding(place=Place("app/rules/b.md"))
    said = rendered("text", checked(*errors, other, *warnings("expired", 56), base="main", shows_old=True)).splitlines()
    assert said[:3] == [
        "error    dangling-link     51  memory/nav 50, memory/app 1",
        "warning  expired           56  memory/nav 56",
        "",
    ]
    assert len([line for line in said if line.startswith("error[")]) == 20
    assert "51 errors, 56 warnings" in said[-2]
    assert said[-1].startswith(
        "of 51 errors 20 are shown; `mdmem check --select CODE` shows those of one check, `--verbose` all"
    )


@pytest.mark.parametrize("number", [20, 70])
def test_first_look_at_a_memory_fits_on_a_page(number: int) -> None:
    errors = [finding(message=f"{n:200}", place=Place(RULE, n)) for n in range(1, number + 1)]
    said = rendered("text", checked(*errors, *warnings("expired", 9)))
    assert 3_000 < len(said.encode()) <= 4_000
    assert said.splitlines()[-1].startswith(f"of {number} errors ")
    narrowed = get_format("text")([checked(*errors[:20])], ReportStyle(is_narrowed=True))
    assert narrowed.count("error[dangling-link]") == 20


OLD, NEW = finding(message="old"), finding(message="new", new=True)


@pytest.mark.parametrize("form", FORMATS)
def test_what_was_there_before_stands_only_where_a_host_compares_by_itself(form: str) -> None:
    said = rendered(form, checked(OLD, NEW, base="main"))
    assert ("new" in said, "old" in said.replace('"old": 1', "")) == (True, form in ("sarif", "gitlab", "junit"))


def test_what_was_there_before_is_told_in_numbers() -> None:
    report = checked(OLD, NEW, base="main")
    assert json.loads(rendered("json", report))["old"] == 1
    assert 'failures="1" errors="0" skipped="1"' in rendered("junit", report)
    assert "1 error was there before; " in rendered("github", report)
