"""What CI servers read: GitHub's commands, GitLab's code quality, JUnit, reviewdog."""

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from mdmem.model.finding import Place, Severity
from mdmem.render.findings import FORMATS
from mdmem.render.findings.report import CheckedRoot
from render.reports import RULE, checked, edit, finding, fix, rendered


def issues(*roots: CheckedRoot) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(rendered("gitlab", *roots))
    return found


def diagnostics(*roots: CheckedRoot) -> list[dict[str, Any]]:
    result = json.loads(rendered("rdjson", *roots))
    assert (set(result), result["source"]) == ({"source", "diagnostics"}, {"name": "mdmem"})
    return list(result["diagnostics"])


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_utf8_and_the_same_twice_for_any_name_and_text(form: str) -> None:
    odd = "a\udcff\n::error::x\x1b\x00<![CDATA[]]>&`|%"
    found = finding(message=odd, help=odd, place=Place(odd), fix=fix(edit(0, 1, b"\xff"), title=odd), address=None)
    text = rendered(form, checked(found), checked(found, incomplete=(odd,), under="b"))
    if form not in ("text", "concise"):
        text.encode("utf-8")
    assert text == rendered(form, checked(found), checked(found, incomplete=(odd,), under="b"))


def test_github_annotates_ten_of_a_level_and_says_how_many_not() -> None:
    many = [finding(place=Place(RULE, line), new=line > 10) for line in range(1, 13)]
    report = checked(*many, finding("t", severity=Severity.WARNING), base="main", shows_old=True)
    lines = rendered("github", report).splitlines()
    assert [line.split(",")[1] for line in lines[:2]] == ["line=11", "line=12"]
    assert [line.split(" ")[0] for line in lines[:11]] == ["::error"] * 10 + ["::warning"]
    assert lines[11] == "2 more findings without an annotation:"
    assert lines[12].startswith("- memory/nav/rules/a.md:9:1: error ")
    assert len(lines) == 15


def test_github_takes_nothing_of_an_entry_for_a_command() -> None:
    odd = [finding(message="##[error]x", place=Place("::error::x", line)) for line in range(1, 12)]
    lines = rendered("github", checked(*odd, under="")).splitlines()
    assert lines[11] == "- ::error::x:11:1: error dangling-link ## [error]x"


def test_gitlab_issue_has_what_gitlab_asks_for() -> None:
    (issue,) = issues(checked(finding(message="m")))
    fingerprint = issue.pop("fingerprint")
    assert (len(fingerprint), int(fingerprint, 16) > 0) == (64, True)
    assert issue == {
        "description": "m; write an address",
        "check_name": "dangling-link",
        "severity": "major",
        "location": {"path": "memory/nav/rules/a.md", "lines": {"begin": 3}},
    }


def test_gitlab_fingerprints_are_unique_and_know_no_line() -> None:
    def hashes(*lines: int) -> list[str]:
        return [one["fingerprint"] for one in issues(checked(*(finding(place=Place(RULE, line)) for line in lines)))]

    assert hashes(3, 4) == hashes(30, 40)
    assert len(set(hashes(3, 4))) == 2


@pytest.mark.parametrize(("fail_on", "tags"), [("error", ["failure", "system-out"]), ("warning", ["failure"] * 2)])
def test_junit_fails_what_fails_the_run(fail_on: str, tags: list[str]) -> None:
    made = checked(finding(), finding("b", severity=Severity.WARNING), fail_on=Severity(fail_on))
    (suite,) = ElementTree.fromstring(rendered("junit", made).encode())
    assert [case[0].tag for case in suite] == tags
    assert suite.get("failures") == str(tags.count("failure"))


def test_junit_case_says_what_where_and_what_to_do() -> None:
    (suite,) = ElementTree.fromstring(rendered("junit", checked(finding(message="a <b> & \x00"))).encode())
    assert suite[0].attrib == {
        "classname": "memory/nav/rules/a.md",
        "name": "dangling-link: a <b> & <U+0000>",
        "file": "memory/nav/rules/a.md",
    }
    assert suite[0][0].attrib == {"message": "a <b> & <U+0000>", "type": "error"}
    assert suite[0][0].text == "memory/nav/rules/a.md:3:6: a <b> & <U+0000>\nwrite an address"


def test_junit_has_a_suite_a_root_and_an_error_for_what_is_unread() -> None:
    suites = ElementTree.fromstring(rendered("junit", checked(incomplete=("x.md",)), checked(under="")).encode())
    assert [suite.get("name") for suite in suites] == ["mdmem memory", "mdmem"]
    assert (suites[0].get("errors"), suites[0][0].get("file"), suites[0][0][0].tag) == ("1", "memory/x.md", "error")


def test_rdjson_has_the_fields_of_the_format_and_no_other() -> None:
    (one,) = diagnostics(checked(finding(message="m", severity=Severity.WARNING, other=Place("b.md", 9))))
    assert one == {
        "message": "m\nother end: memory/b.md:9\nwrite an address",
        "location": {
            "path": "memory/nav/rules/a.md",
            "range": {"start": {"line": 3, "column": 6}, "end": {"line": 3, "column": 23}},
        },
        "severity": "WARNING",
        "code": {"value": "dangling-link"},
        "original_output": "memory/nav/rules/a.md:3:6: warning dangling-link m",
    }
