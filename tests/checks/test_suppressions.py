"""What a comment or a front matter keeps out of the report, and what is said of one that keeps nothing out."""

from pathlib import Path

import pytest
from builders import write, write_entry
from msgspec.structs import replace
from trees import case_of

from mdmem.checks.check import get_checks
from mdmem.checks.engine import run_checks
from mdmem.model.finding import Severity
from mdmem.store.settings import Settings, WingSettings

A = "app/rules/a"
IGNORE = "<!-- mdmem: ignore"
DANGLING, VAGUE, UNUSED = "dangling-link", "invariant-wording", "unused-suppression"


def reported(root: Path, *codes: str, settings: Settings = Settings()) -> list[tuple[str, str]]:  # noqa: B008  # frozen
    return [(finding.code, finding.place.path) for finding in run_checks(case_of(root, settings), codes)]


def write_vague(root: Path, address: str, ignore: str = "", **fields: object) -> None:
    """Write an invariant that prefers, with a comment below."""
    write_entry(root, address, f"Prefer UTC.\n\n{ignore}\n", type="invariant", **fields)


def test_comment_keeps_out_its_code_for_its_entry_alone(tmp_path: Path) -> None:
    write_vague(tmp_path, A, f"{IGNORE} {VAGUE} the word is quoted -->", see=["app/rules/gone"])
    write_vague(tmp_path, "app/rules/b")
    assert reported(tmp_path, VAGUE, DANGLING) == [(DANGLING, f"{A}.md"), (VAGUE, "app/rules/b.md")]


@pytest.mark.parametrize(
    "comment",
    [
        f"{IGNORE} {VAGUE} -->",
        f"{IGNORE} {VAGUE} ... -->",
        f"`{IGNORE} {VAGUE} it is code -->`",
        f"```\n{IGNORE} {VAGUE} it is code -->\n```",
        f"{IGNORE} {VAGUE} it is not closed",
        f"<!-- ignore {VAGUE} it is not ours -->",
        f"{IGNORE} Vague-Invariant it is written otherwise -->",
    ],
)
def test_comment_that_does_not_hold_keeps_out_nothing(tmp_path: Path, comment: str) -> None:
    write_vague(tmp_path, A, comment)
    assert reported(tmp_path, VAGUE) == [(VAGUE, f"{A}.md")]


def test_reason_may_hold_code_and_several_lines(tmp_path: Path) -> None:
    write_vague(tmp_path, A, f"{IGNORE} {VAGUE}:\n`prefer`\nis quoted -->")
    (only,) = case_of(tmp_path).suppressions
    assert (only.code, only.reason, only.fault, only.place.line) == (VAGUE, "`prefer` is quoted", None, 9)


def test_comment_of_a_manifest_keeps_out_what_stands_there(tmp_path: Path) -> None:
    manifest = f"---\nkind: project\n---\n\n# app\n\n{IGNORE} wing-without-owner everybody owns it -->\n"
    write(tmp_path, "app/README.md", manifest)
    write_entry(tmp_path, A)
    write(tmp_path, "shop/README.md", "---\nkind: project\n---\n")
    write_entry(tmp_path, "shop/rules/b")
    assert reported(tmp_path, "wing-without-owner") == [("wing-without-owner", "shop/README.md")]


def test_entry_that_cannot_be_read_excuses_nothing(tmp_path: Path) -> None:
    write_entry(tmp_path, A, f"{IGNORE} invalid-value it is ours -->\n", type="rule", ignore="{invalid-value: ours}")
    assert reported(tmp_path, "invalid-value", UNUSED) == [("invalid-value", f"{A}.md")]


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        (f"{{{VAGUE}: the word is quoted}}", [DANGLING]),
        (f"{{{VAGUE}: the word is quoted, {DANGLING}: it is coming}}", []),
        (f"{{{VAGUE}: , {DANGLING}: it is coming}}", [VAGUE]),
        (f"[{VAGUE}]", [DANGLING, VAGUE]),
        ("{vague-invarient: a slip}", [DANGLING, VAGUE]),
    ],
)
def test_front_matter_keeps_out_the_codes_that_it_gives_a_reason_for(
    tmp_path: Path, ignore: str, left: list[str]
) -> None:
    write_entry(tmp_path, A, "Prefer UTC.\n", type="invariant", see=["app/rules/gone"], ignore=ignore)
    assert [code for code, _ in reported(tmp_path, VAGUE, DANGLING)] == left


def test_other_end_of_a_finding_does_not_keep_it_out(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/rules/new", supersedes=[A])
    write_entry(tmp_path, A, f"Old.\n\n{IGNORE} supersession-one-sided not here -->\n")
    assert reported(tmp_path, "supersession-one-sided") == [("supersession-one-sided", "app/rules/new.md")]


@pytest.mark.parametrize("code", sorted(code for code, one in get_checks().items() if not one.is_excusable))
def test_code_that_no_file_may_excuse_is_named(tmp_path: Path, code: str) -> None:
    write_entry(tmp_path, A, f"Text.\n\n{IGNORE} {code} we know -->\n")
    (finding,) = run_checks(case_of(tmp_path), ["suppression-invalid"])
    assert (finding.message, finding.severity) == (f"`{code}` cannot be ignored in a file", Severity.ERROR)


def test_suppression_that_kept_nothing_out_is_unused(tmp_path: Path) -> None:
    write_entry(tmp_path, A, f"Must.\n\n{IGNORE} {VAGUE} it was vague -->\n", ignore=f"{{{DANGLING}: it is coming}}")
    found = run_checks(case_of(tmp_path), [UNUSED, VAGUE, DANGLING])
    assert [(one.place.line, one.message, one.address) for one in found] == [
        (5, f"`{DANGLING}` finds nothing here that could be ignored", A),
        (10, f"`{VAGUE}` finds nothing here that could be ignored", A),
    ]
    assert {one.severity for one in found} == {Severity.WARNING}


@pytest.mark.parametrize("code", [VAGUE, "link-not-tracked"])
def test_suppression_is_not_called_unused_where_nobody_can_tell(tmp_path: Path, code: str) -> None:
    write_entry(tmp_path, A, ignore=f"{{{code}: it depends}}")
    assert reported(tmp_path, DANGLING, "link-not-tracked", UNUSED) == []


def test_suppression_is_not_called_unused_in_a_wing_that_ignores_its_check(tmp_path: Path) -> None:
    write_entry(tmp_path, A, ignore=f"{{{VAGUE}: it was vague}}")
    settings = Settings(wings={"app": WingSettings(ignore=(VAGUE,))})
    assert reported(tmp_path, VAGUE, UNUSED, settings=settings) == []


def test_suppression_is_not_called_unused_where_its_check_crashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry(tmp_path, A, ignore=f"{{{VAGUE}: it was vague}}")
    checks = get_checks()
    monkeypatch.setitem(checks, VAGUE, replace(checks[VAGUE], rule=lambda case: 1 / 0))
    assert [code for code, _ in reported(tmp_path, VAGUE, UNUSED)] == ["check-crashed"]


def test_manifest_that_cannot_be_read_excuses_nothing(tmp_path: Path) -> None:
    write(tmp_path, "app/README.md", f"---\nkind: [\n---\n\n{IGNORE} manifest-invalid it is ours -->\n")
    write_entry(tmp_path, A)
    assert reported(tmp_path, "manifest-invalid") == [("manifest-invalid", "app/README.md")]
