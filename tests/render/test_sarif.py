"""SARIF: the standard's own schema accepts it, and who reads it finds rule, place and history."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders import make_repository, make_root, open_root, write, write_entry
from jsonschema import Draft202012Validator

from mdmem.checks.case import Case
from mdmem.checks.check import get_checks
from mdmem.checks.engine import CheckReport, get_check, run_checks
from mdmem.model.finding import Place, Severity
from mdmem.render.findings.report import CheckedRoot
from mdmem.render.findings.sarif import rule
from render.reports import RULE, checked, finding, rendered

SCHEMA = json.loads((Path(__file__).parents[1] / "data/sarif/sarif-2.1.0.json").read_text(encoding="utf-8"))
LOGS = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
RULES = Draft202012Validator({"definitions": SCHEMA["definitions"], "$ref": "#/definitions/reportingDescriptor"})


def run_of(*roots: CheckedRoot) -> dict[str, Any]:
    """Return the only run of a log that the schema accepts."""
    log = json.loads(rendered("sarif", *roots))
    LOGS.validate(log)
    (run_checks,) = log["runs"]
    return run_checks


def result_of(*roots: CheckedRoot) -> dict[str, Any]:
    (result,) = run_of(*roots)["results"]
    return result


def test_result_names_rule_level_message_and_region() -> None:
    run_checks = run_of(
        checked(finding(severity=Severity.WARNING), finding("no-final-newline", "m", place=Place(RULE, 6, 1)))
    )
    worst, result = run_checks["results"]
    assert (worst["ruleId"], worst["level"]) == ("no-final-newline", "error")
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("dangling-link", 0, "warning")
    assert run_checks["tool"]["driver"]["rules"][0]["id"] == "dangling-link"
    assert result["message"]["text"] == "`see` names `nav/rules/nowhere`, which is nowhere\nwrite an address"
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
def test_path_is_encoded_as_a_uri(path: str, uri: str) -> None:
    result = result_of(checked(finding(place=Place(path)), under=""))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_other_end_is_a_related_location() -> None:
    result = result_of(checked(finding(other=Place("nav/rules/b.md", 7))))
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "memory/nav/rules/b.md"
    assert related["physicalLocation"]["region"]["startLine"] == 7


def test_fingerprint_stays_while_lines_move() -> None:
    first, moved = (result_of(checked(finding(place=Place(RULE, line)))) for line in (3, 30))
    assert first["partialFingerprints"] == moved["partialFingerprints"]


def test_fingerprint_differs_between_equal_findings_and_between_roots() -> None:
    twice = checked(finding(place=Place(RULE, 3)), finding(place=Place(RULE, 4)))
    results = run_of(twice, checked(finding(), under="other"))["results"]
    assert len({one["partialFingerprints"]["finding/v1"] for one in results}) == 3


def test_baseline_state_is_there_only_where_it_was_compared() -> None:
    assert "baselineState" not in result_of(checked(finding()))
    states = [one["baselineState"] for one in run_of(checked(finding(), finding(new=True), base="main"))["results"]]
    assert states == ["new", "unchanged"]


def test_incomplete_run_did_not_succeed_and_names_the_file() -> None:
    (invocation,) = run_of(checked(finding(), incomplete=("nav/rules/x y.md",)))["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    location = notification["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (invocation["executionSuccessful"], location["uri"]) == (False, "memory/nav/rules/x%20y.md")


def test_text_of_an_entry_becomes_no_link() -> None:
    result = result_of(checked(finding(message="`[here](x)` and a \udcff")))
    assert result["message"]["text"].startswith("`\\[here\\](x)` and a \ufffd\n")


@pytest.mark.parametrize("code", tuple(get_checks()))
def test_every_check_makes_a_rule(code: str) -> None:
    made = rule(code)
    assert made["shortDescription"]["text"] == get_check(code).explanation.splitlines()[0]
    assert len(made["properties"]["tags"]) == 1
    RULES.validate(made)


def test_report_of_a_real_memory_is_valid(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path) / "memory")
    write_entry(root, "nav/rules/bad", see="nav/rules/nowhere", created_at="2026-02-30")
    write(root, "nav/rules/ü .md", b"\xff\n")
    write(root, "Nav/rules/x.md", "no front matter")
    workspace = open_root(root)
    case = Case(workspace.whole_catalog, workspace.settings, workspace.today)
    found = tuple(run_checks(case, ["dangling-link", "date-form", "not-text", "front-matter-fence", "bad-name"]))
    made = CheckedRoot(CheckReport("working tree", 1, found), "memory", workspace.line_of, str)
    assert sorted(one["ruleId"] for one in run_of(made)["results"]) == sorted(one.code for one in found)
    assert {one.code for one in found} >= {"dangling-link", "date-form", "not-text", "front-matter-fence"}
