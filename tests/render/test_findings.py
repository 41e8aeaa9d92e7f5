"""Test findings in every format: complete, sorted, valid, and without active text or markup from files."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from mdmem.checks.check import get_checks
from mdmem.checks.engine import CheckReport, get_check
from mdmem.cli.check import FORMATS
from mdmem.model.finding import Edit, Finding, Fix, Place, Severity
from mdmem.render import findings
from mdmem.render.findings import CheckedRoot, rule
from mdmem.render.text import Style, code, prose

RULE = "nav/rules/a.md"
TEXT = "---\ntype: decision\nsee: nav/rules/nowhere\n---\n\nWé decided.\n"


def finding(
    code: str = "dangling-link",
    message: str = "`see` contains `nav/rules/nowhere`, which is nowhere",
    *,
    place: Place | None = None,
    **more: Any,
) -> Finding:
    """Return an error at line 3, column 6 of the rule, unless the values say otherwise."""
    stated = {"help": "write an address", "address": "nav/rules/a", "severity": Severity.ERROR} | more
    return Finding(code, message, place or Place(RULE, 3, 6, 17), **stated)


def fix(content: bytes = b"x", *, title: str = "remove the link", is_safe: bool = True, **more: Any) -> Fix:
    """Return a fix that writes bytes into the rule."""
    return Fix(title, (Edit(RULE, 4, 6, content),), is_safe, **more)


def checked(
    *findings: Finding, under: str = "memory", files: Mapping[str, bytes] | None = None, **report: Any
) -> CheckedRoot:
    """Return a root with these findings in the order given, whose files are at hand."""
    held = {RULE: TEXT.encode()} if files is None else files

    def line_of(place: Place) -> str | None:
        lines = held.get(place.path, b"").decode("utf-8", "replace").splitlines()
        return lines[place.line - 1] if place.line <= len(lines) else None

    made = CheckReport(**({"tree": "working tree", "checked": 2, "findings": findings} | report))
    return CheckedRoot(made, under, line_of, lambda path: f"../{path}")


def rendered(form: str, *roots: CheckedRoot) -> str:
    """Return the roots in a format."""
    return str(getattr(findings, form)(roots, Style()))


MEND, TEN = fix(), finding(severity=Severity.WARNING, count=10, new=True)


def test_text_shows_place_line_caret_other_end_help_and_fix() -> None:
    found = finding(other=Place("nav/rules/b.md", 7, 2), fix=MEND)
    assert rendered("text", checked(found)) == (
        "error[dangling-link] ../nav/rules/a.md:3:6\n"
        "  `see` contains `nav/rules/nowhere`, which is nowhere\n"
        "  3 | see: nav/rules/nowhere\n"
        "    |      ^^^^^^^^^^^^^^^^^\n"
        "  other end: ../nav/rules/b.md:7:2\n"
        "  help: write an address\n"
        "  fix: remove the link (--fix)\n"
        "\n"
        "2 entries checked in the working tree: 1 error; 1 with a fix (--fix); add --diff to preview"
    )


def test_text_underlines_no_fence_and_shows_controls_of_a_line_as_one_character_each() -> None:
    report = replace(checked(finding("bad-name", place=Place(RULE))), line_of=lambda _: "---\n")
    assert "---" not in rendered("text", report)
    line = checked(finding(place=Place(RULE, 1, 5, 1)), files={RULE: b"a\x1b[2J\n"})
    assert "  1 | a\ufffd[2J\n    |     ^\n" in rendered("text", line)


def test_worst_comes_first_then_new_then_path_and_line_and_a_safe_fix_is_marked() -> None:
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
    assert [line.split(" ")[0] for line in rendered("concise", checked(*unsorted)).splitlines()] == [
        f"../{place}:1:" for place in ("c.md:1", "a.md:30", "b.md:9", "b.md:10", "b.md:9", "a.md:1", "a.md:1")
    ]
    for is_safe, mark in ((True, "[*] m"), (False, "m")):
        found = finding(message="m", fix=fix(is_safe=is_safe))
        assert rendered("concise", checked(found)) == f"../nav/rules/a.md:3:6: error dangling-link {mark}"


@pytest.mark.parametrize(
    ("findings", "report", "line"),
    [
        ((), {"tree": "HEAD", "checked": 1}, "1 entry checked in HEAD: no findings"),
        ((), {"base": "main"}, "2 entries checked in the working tree against main: no findings"),
        (
            (finding(), finding(new=True), finding(severity=Severity.WARNING)),
            {"base": "main", "tree": "git index", "shows_old": True},
            "2 entries checked in the git index against main: 2 errors, 1 warning; 1 new",
        ),
        ((TEN,), {"base": "main"}, "2 entries checked in the working tree against main: 10 warnings; 10 new"),
        (
            (),
            {"fixed": (TEN, TEN), "later": 1, "hidden": (finding(severity=Severity.INFO, fix=MEND),)},
            (
                "2 entries checked in the working tree: no errors or warnings; 1 info (--verbose shows it); "
                "fixed 2 (1 of them found only after other fixes); 1 with a fix (--fix); "
                "add --diff to preview"
            ),
        ),
        (
            (finding(fix=MEND), finding("a", fix=MEND), finding(fix=fix(is_safe=False))),
            {},
            (
                "2 entries checked in the working tree: 3 errors; 2 with a fix (--fix); 1 with a fix (--unsafe-fixes); "
                "add --diff to preview"
            ),
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


def test_more_than_fifty_findings_are_a_table_and_the_first_errors_in_full_and_equal_ones_a_line() -> None:
    equal = checked(*(finding(place=Place(f"app/rules/{name}.md", 3, 6)) for name in "abcd"), finding(message="m"))
    places = "../app/rules/b.md:3:6, ../app/rules/c.md:3:6 and 1 more"
    assert rendered("text", equal).splitlines()[3:6] == [
        f"  the same in 3 more places: {places} (--select dangling-link shows them)",
        "",
        "error[dangling-link] ../nav/rules/a.md:3:6",
    ]
    assert findings.text([equal], Style(is_whole=True)).count("error[") == 5
    # Warnings may differ in what they quote, and each error is in full.
    for level, number in ((Severity.WARNING, 1), (Severity.ERROR, 3)):
        unlike = checked(
            *(finding("expired", f"`{n}` is no file", place=Place(RULE, n), severity=level) for n in (1, 2, 3))
        )
        assert rendered("text", unlike).count("[expired]") == number
        assert ("  like this in 2 more places: ../nav/rules/a.md:2:1, " in rendered("text", unlike)) == (number == 1)
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
    assert said[-1].startswith("of 51 errors 20 are shown; `--select CODE` shows those of one check, ")
    whole = findings.text([checked(*errors, other)], Style(is_whole=True))
    assert whole.count("error[dangling-link]") == 51


NUMBERS = {"json": '"old": 1', "junit": 'failures="1" errors="0" skipped="1"', "github": "1 error was there before; "}


@pytest.mark.parametrize("form", FORMATS)
def test_what_was_there_before_is_a_number_but_where_a_host_compares_by_itself(form: str) -> None:
    said = rendered(form, checked(finding(message="old"), finding(message="new", new=True), base="main"))
    assert ("new" in said, "old" in said.replace('"old": 1', "")) == (True, form in ("sarif", "gitlab", "junit"))
    assert NUMBERS.get(form, "") in said


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("| error", "| warning"))]


def test_table_has_unread_files_then_the_worst_and_marks_the_new_and_has_help_and_fix_beside_the_message() -> None:
    found = (finding("title-missing", "m", severity=Severity.WARNING), finding("dangling-link", "m", new=True))
    text = rendered("markdown", checked(*found, base="main", shows_old=True))
    assert text.startswith("## mdmem: 1 error, 1 warning\n")
    place = "`memory/nav/rules/a.md:3`"
    assert rows(text) == [
        f"| error **new** | `dangling-link` | {place} | m<br>write an address |",
        f"| warning | `title-missing` | {place} | m<br>write an address |",
    ]
    first, second = rows(rendered("markdown", checked(finding(message="m", fix=fix()), incomplete=("x",))))
    assert first == "| error | | `memory/x` | The file could not be read, so the run is incomplete. |"
    assert second.endswith(" | m<br>write an address<br>fix: remove the link (--fix) |")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a | b", r"a \| b"),
        ("<b>&amp;", r"\<b\>&&#8203;amp;"),
        ("`a|b` and `@ada`", "<code>a&#124;b</code> and `@ada`"),
        ("@ada #12", "@&#8203;ada #&#8203;12"),
        ("one ` alone", r"one \` alone"),
        ("`a` and ` b", r"`a` and \` b"),
        ("[x](y) **z** https://e", r"\[x\](y) \*\*z\*\* https&#58;//e"),
        ("a_b _c_ d: e", r"a_b \_c\_ d: e"),
        ("a\nb", r"a\<U+000A\>b"),
    ],
)
def test_prose_shows_markup_as_it_is_written(written: str, shown: str) -> None:
    assert prose(written) == shown
    assert code("</code>`|") == "<code>&#60;/code&#62;&#96;&#124;</code>", "it is never ended by what it holds"


@pytest.mark.parametrize("length", [1, 400, pytest.param(5_000, marks=pytest.mark.long)])
def test_too_many_findings_are_counted_and_what_is_left_out_is_said(length: int) -> None:
    many = [finding(message="m" * length, help="h" * length, place=Place(RULE, line)) for line in range(1, 2001)]
    text = rendered("markdown", checked(*many))
    assert len(text) <= 65_000
    assert len(rows(text)) + int(re.findall(r"\n\n(\d+) more left out", text)[0]) == 2000


def test_one_root_is_named_once_and_a_fix_is_told_byte_by_byte() -> None:
    mend = fix("é".encode(), title="do it", is_safe=False, renames=(("a.md", "b.md"),))
    found = finding(message="m", other=Place("b.md", 4), new=True, fix=mend)
    assert json.loads(rendered("json", checked(found, base="main", incomplete=("x.md",)))) == {
        "schema": 1,
        "root": "memory",
        "tree": "working tree",
        "base": "main",
        "checked": 2,
        "totals": {"error": 1, "warning": 0, "info": 0},
        "findings": [
            {
                "code": "dangling-link",
                "severity": "error",
                "path": "nav/rules/a.md",
                "line": 3,
                "column": 6,
                "address": "nav/rules/a",
                "message": "m",
                "help": "write an address",
                "other": {"path": "b.md", "line": 4},
                "new": True,
                "fix": {
                    "title": "do it",
                    "safe": False,
                    "edits": [{"path": "nav/rules/a.md", "start": 4, "end": 6, "content": "é"}],
                    "renames": [{"from": "a.md", "to": "b.md"}],
                },
            }
        ],
        "incomplete": ["x.md"],
        "fixed": [],
    }


def test_several_roots_are_listed_and_each_finding_names_its_own() -> None:
    roots = checked(finding(), incomplete=("x.md",)), checked(finding(), under="docs/b", checked=5)
    answer = json.loads(rendered("json", *roots))
    sums = [(one["root"], one["checked"], one["findings"]) for one in answer["roots"]]
    assert sums == [("memory", 2, 1), ("docs/b", 5, 1)]
    assert [(one["root"], one["path"]) for one in answer["findings"]] == [("docs/b", RULE), ("memory", RULE)]
    assert (answer["checked"], answer["incomplete"], "root" in answer) == (7, ["memory/x.md"], False)


def test_name_and_fix_that_are_no_utf8_come_back_as_they_were() -> None:
    root = checked(finding(place=Place("a/\udcff.md"), fix=fix(b"\xfe")))
    for form in ("json", "jsonl"):
        text = rendered(form, root).encode("utf-8").decode("utf-8")
        found = json.loads(text.splitlines()[0]) if form == "jsonl" else json.loads(text)["findings"][0]
        assert (found["path"], found["fix"]["edits"][0]["content"]) == ("a/\udcff.md", "\udcfe")


def test_lines_are_findings_then_what_was_fixed_then_sums() -> None:
    root = checked(finding("a"), finding("b"), fixed=(finding("c"),))
    lines = [json.loads(line) for line in rendered("jsonl", root, checked(under="")).splitlines()]
    assert [(one["kind"], one.get("code"), one["root"], one["schema"]) for one in lines] == [
        ("finding", "a", "memory", 1),
        ("finding", "b", "memory", 1),
        ("fixed", "c", "memory", 1),
        ("summary", None, "memory", 1),
        ("summary", None, ".", 1),
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_utf8_and_the_same_twice_for_any_name_and_text(form: str) -> None:
    odd = "a\udcff\n::error::x\x1b\x00<![CDATA[]]>&`|%"
    found = finding(message=odd, help=odd, place=Place(odd), fix=fix(b"\xff", title=odd), address=None)
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
    assert lines[11] == "2 more findings without an annotation: the job summary has them"
    assert len(lines) == 13


def test_gitlab_issue_has_what_gitlab_asks_for() -> None:
    (issue,) = json.loads(rendered("gitlab", checked(finding(message="m"))))
    fingerprint = issue.pop("fingerprint")
    assert (len(fingerprint), int(fingerprint, 16) > 0) == (64, True)
    assert issue == {
        "description": "m; write an address",
        "check_name": "dangling-link",
        "severity": "major",
        "location": {"path": "memory/nav/rules/a.md", "lines": {"begin": 3}},
    }


def test_fingerprints_are_unique_know_no_line_and_are_the_same_in_gitlab_and_sarif() -> None:
    def hashes(*lines: int) -> list[str]:
        roots = [checked(*(finding(place=Place(RULE, line)) for line in lines)), checked(finding(), under="other")]
        found = [one["fingerprint"] for one in json.loads(rendered("gitlab", *roots))]
        assert found == [one["partialFingerprints"]["finding/v1"] for one in run_of(*roots)["results"]]
        return found

    assert hashes(3, 4) == hashes(30, 40)
    assert len(set(hashes(3, 4))) == 3


@pytest.mark.parametrize(("fail_on", "tags"), [("error", ["failure", "system-out"]), ("warning", ["failure"] * 2)])
def test_junit_fails_what_fails_the_run(fail_on: str, tags: list[str]) -> None:
    made = checked(finding(), finding("b", severity=Severity.WARNING), fail_on=Severity(fail_on))
    (suite,) = ElementTree.fromstring(rendered("junit", made).encode())
    assert [case[0].tag for case in suite] == tags
    assert suite.get("failures") == str(tags.count("failure"))


def test_junit_case_says_what_where_and_what_to_do() -> None:
    (suite,) = ElementTree.fromstring(rendered("junit", checked(finding(message="a <b> & \x00"))).encode())
    assert suite[0].attrib == {
        "classname": "memory/nav/rules/a.md:3:6",
        "name": "dangling-link: a <b> & <U+0000>",
        "file": "memory/nav/rules/a.md",
    }
    assert suite[0][0].attrib == {"message": "a <b> & <U+0000>"}
    assert suite[0][0].text == "error: a <b> & <U+0000>\nwrite an address"


def test_junit_has_an_error_for_an_unread_file_and_a_case_without_findings() -> None:
    for made, errors, tag in ((checked(incomplete=("x.md",)), "1", "error"), (checked(), "0", "system-out")):
        (suite,) = ElementTree.fromstring(rendered("junit", made).encode())
        assert (suite.get("errors"), [case[0].tag for case in suite]) == (errors, [tag])


def test_rdjson_has_the_fields_of_the_format_and_no_other() -> None:
    result = json.loads(rendered("rdjson", checked(finding(message="m", severity=Severity.WARNING))))
    (one,) = result.pop("diagnostics")
    assert result == {"source": {"name": "mdmem"}}
    assert one == {
        "message": "m\nwrite an address",
        "location": {
            "path": "memory/nav/rules/a.md",
            "range": {"start": {"line": 3, "column": 6}, "end": {"line": 3, "column": 23}},
        },
        "severity": "WARNING",
        "code": {"value": "dangling-link"},
        "original_output": "memory/nav/rules/a.md:3:6: warning dangling-link m",
    }


SCHEMA = json.loads((Path(__file__).parents[1] / "data/sarif/sarif-2.1.0.json").read_text(encoding="utf-8"))
LOGS = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
RULES = Draft202012Validator({"definitions": SCHEMA["definitions"], "$ref": "#/definitions/reportingDescriptor"})


def run_of(*roots: CheckedRoot) -> dict[str, Any]:
    """Return the only run of a log that the schema accepts."""
    log = json.loads(rendered("sarif", *roots))
    LOGS.validate(log)
    (run_checks,) = log["runs"]
    return run_checks


def test_result_names_rule_level_message_and_region() -> None:
    other = finding("no-final-newline", "m", place=Place(RULE, 6, 1))
    run_checks = run_of(checked(finding(severity=Severity.WARNING), other))
    worst, result = run_checks["results"]
    assert (worst["ruleId"], worst["level"]) == ("no-final-newline", "error")
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("dangling-link", 0, "warning")
    assert run_checks["tool"]["driver"]["rules"][0]["id"] == "dangling-link"
    assert result["message"]["text"] == "`see` contains `nav/rules/nowhere`, which is nowhere\nwrite an address"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "memory/nav/rules/a.md", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 6, "endColumn": 23},
    }
    assert run_checks["columnKind"] == "unicodeCodePoints"
    assert "%SRCROOT%" in run_checks["originalUriBaseIds"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [("a b/ü#?.md", "a%20b/%C3%BC%23%3F.md"), ("a/\udcff%.md", "a/%FF%25.md"), ("a/x:y.md", "a/x%3Ay.md")],
)
def test_path_is_encoded_as_a_uri_also_that_of_the_other_end(path: str, uri: str) -> None:
    (result,) = run_of(checked(finding(place=Place(path), other=Place(path, 7)), under=""))["results"]
    ends = [one["physicalLocation"] for one in (*result["locations"], *result["relatedLocations"])]
    assert [one["artifactLocation"]["uri"] for one in ends] == [uri, uri]
    assert ends[1]["region"]["startLine"] == 7


def test_a_log_says_what_is_new_and_what_was_not_read_and_no_text_becomes_a_link() -> None:
    (result,) = run_of(checked(finding(message="`[here](x)` and a \udcff")))["results"]
    assert result["message"]["text"].startswith("`\\[here\\](x)` and a \ufffd\n")
    assert "baselineState" not in result
    run = run_of(checked(finding(), finding(new=True), base="main", incomplete=("nav/rules/x y.md",)))
    assert [one["baselineState"] for one in run["results"]] == ["new", "unchanged"]
    (invocation,) = run["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    location = notification["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (invocation["executionSuccessful"], location["uri"]) == (False, "memory/nav/rules/x%20y.md")


@pytest.mark.parametrize("code", tuple(get_checks()))
def test_every_check_makes_a_rule(code: str) -> None:
    made = rule(code)
    first = get_check(code).explanation.splitlines()[0]
    # GitHub requires both keys.
    assert (made["shortDescription"]["text"], made["fullDescription"]["text"]) == (first, first)
    assert len(made["properties"]["tags"]) == 1
    RULES.validate(made)
