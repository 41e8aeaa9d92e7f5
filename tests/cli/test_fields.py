"""`mdmem guide fields`: every field with its meaning, one in full, and the guide's page that is made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run

APPROVED_BY = """\
approved_by: who made it active
  value     text
  for       every entry
  set by    `mdmem approve`
  searched  no
  example   approved_by: Navigation Team <navigation@example.com>
"""


def test_one_field_is_shown_whole(tmp_path: Path, run: Run) -> None:
    ran = run("guide", "fields", "approved_by")
    assert (ran.code, ran.out) == (0, APPROVED_BY)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("supercedes", "did you mean `supersedes`?"),
        ("projectid", "did you mean `project_id`?"),
        ("xyzzy", "`mdmem guide fields` lists them"),
    ],
)
def test_unknown_field_is_answered_with_the_one_that_was_meant(name: str, hint: str, tmp_path: Path, run: Run) -> None:
    ran = run("guide", "fields", name)
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem: there is no field `{name}`; {hint}\n")


def test_json_holds_the_whole_row(tmp_path: Path, run: Run) -> None:
    said = run("guide", "fields", "tags", "--format", "json").json
    assert said["schema"] == 1
    assert said["fields"] == [
        {
            "name": "tags",
            "type": "texts",
            "value": "list of text",
            "for": "entry",
            "needed": False,
            "meaning": "words to find it by",
            "set_by": "its writer",
            "searched": "tag",
            "example": "tags: [executor, navigation]",
        }
    ]
