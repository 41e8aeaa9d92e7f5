"""Findings as JSON: the keys that programs rely on, one document for several roots, text that is UTF-8."""

import json
from typing import Any

from mdmem.model.finding import Place
from mdmem.render.findings.report import CheckedRoot
from render.reports import checked, edit, finding, fix, rendered


def said(*roots: CheckedRoot) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(rendered("json", *roots))
    return answer


def test_one_root_is_named_once() -> None:
    found = finding(message="m", other=Place("b.md", 4), new=True)
    assert said(checked(found, base="main", incomplete=("x.md",))) == {
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
                "fix": None,
            }
        ],
        "incomplete": ["x.md"],
        "fixed": [],
    }


def test_several_roots_are_listed_and_each_finding_names_its_own() -> None:
    answer = said(checked(finding(), incomplete=("x.md",)), checked(finding(), under="docs/b", checked=5))
    assert [(one["root"], one["checked"], one["findings"]) for one in answer["roots"]] == [
        ("memory", 2, 1),
        ("docs/b", 5, 1),
    ]
    assert [(one["root"], one["path"]) for one in answer["findings"]] == [
        ("docs/b", "nav/rules/a.md"),
        ("memory", "nav/rules/a.md"),
    ]
    assert (answer["checked"], answer["incomplete"], "root" in answer) == (7, ["memory/x.md"], False)


def test_fix_is_told_byte_by_byte() -> None:
    mend = fix(edit(4, 6, "é"), title="do it", is_safe=False, renames=(("a.md", "b.md"),))
    assert said(checked(finding(fix=mend)))["findings"][0]["fix"] == {
        "title": "do it",
        "safe": False,
        "edits": [{"path": "nav/rules/a.md", "start": 4, "end": 6, "content": "é"}],
        "renames": [{"from": "a.md", "to": "b.md"}],
    }


def test_name_and_fix_that_are_no_utf8_come_back_as_they_were() -> None:
    root = checked(finding(place=Place("a/\udcff.md"), fix=fix(edit(0, 0, b"\xfe"))))
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
