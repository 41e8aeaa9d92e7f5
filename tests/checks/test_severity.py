"""What a finding weighs: the check's word, the root's, the wing's, and one level less on what is no longer in force."""

from pathlib import Path

import pytest
from builders import write_entry
from trees import case_of

from mdmem.checks.engine import run_checks
from mdmem.model.finding import Severity
from mdmem.store.settings import Settings, WingSettings

ERROR, WARNING, INFO = Severity
EMPTY, DANGLING = "body-empty", "dangling-link"
ENDED = {"status": "deprecated", "deprecated_reason": "it ended", "deprecated_at": "2026-04-01"}


def weights(root: Path, *codes: str, settings: Settings = Settings(), by_wing: bool = True) -> list[tuple[str, str]]:  # noqa: B008  # frozen
    found = run_checks(case_of(root, settings), codes, by_wing=by_wing)
    return [(one.place.path.split("/")[0], f"{one.code} {one.severity}") for one in found]


def write_faulty(root: Path, wing: str, **fields: object) -> None:
    write_entry(root, f"{wing}/rules/a", "", see=[f"{wing}/rules/gone"], **fields)


def test_weight_is_the_checks_then_the_roots_then_the_wings(tmp_path: Path) -> None:
    for wing in ("app", "shop"):
        write_faulty(tmp_path, wing)
    wings = {"shop": WingSettings(severity={EMPTY: INFO})}
    settings = Settings(severity={EMPTY: WARNING}, wings=wings)
    assert weights(tmp_path, EMPTY, DANGLING, settings=settings) == [
        ("app", f"{EMPTY} warning"),
        ("app", f"{DANGLING} error"),
        ("shop", f"{EMPTY} info"),
        ("shop", f"{DANGLING} error"),
    ]


@pytest.mark.parametrize(
    ("of_root", "of_wing", "app", "shop"),
    [
        ({}, {"ignore": (EMPTY,)}, {EMPTY, DANGLING}, {DANGLING}),
        ({}, {"select": (EMPTY,)}, {EMPTY, DANGLING}, {EMPTY}),
        ({"select": (DANGLING,)}, {"select": (EMPTY,)}, {DANGLING}, {EMPTY}),
        ({"ignore": (EMPTY,)}, {"select": (EMPTY,)}, {DANGLING}, {EMPTY}),
        ({"ignore": (EMPTY,)}, {"ignore": (DANGLING,)}, {DANGLING}, set()),
        ({"ignore": (EMPTY,)}, {"severity": {EMPTY: INFO}}, {DANGLING}, {DANGLING}),
        ({}, {"select": (EMPTY, DANGLING), "ignore": (EMPTY,)}, {EMPTY, DANGLING}, {DANGLING}),
    ],
)
def test_wing_chooses_its_codes(
    tmp_path: Path,
    of_root: dict[str, tuple[str, ...]],
    of_wing: dict[str, tuple[str, ...]],
    app: set[str],
    shop: set[str],
) -> None:
    for wing in ("app", "shop"):
        write_faulty(tmp_path, wing)
    settings = Settings(**of_root, wings={"shop": WingSettings(**of_wing)})
    found = weights(tmp_path, EMPTY, DANGLING, settings=settings)
    assert {code.split()[0] for wing, code in found if wing == "app"} == app
    assert {code.split()[0] for wing, code in found if wing == "shop"} == shop


SUPERSEDED = {"superseded_by": ["app/rules/b"]}


@pytest.mark.parametrize(
    ("fields", "settings", "severity"),
    [
        ({"status": "draft"}, Settings(), ERROR),
        ({"status": "active", "expires_at": "2026-05-01"}, Settings(), ERROR),
        ({"status": "under_review"}, Settings(), ERROR),
        (ENDED, Settings(), WARNING),
        (SUPERSEDED, Settings(), WARNING),
        (ENDED, Settings(severity={EMPTY: WARNING}), INFO),
        (ENDED, Settings(ended="same"), ERROR),
        ({**ENDED, "superseded_by": "{to: app/rules/b}"}, Settings(), ERROR),
    ],
    ids=["draft", "expired", "in doubt", "ended", "superseded", "of settings", "kept by settings", "unread successor"],
)
def test_weight_is_one_level_less_on_an_entry_that_certainly_ended(
    tmp_path: Path, fields: dict[str, object], settings: Settings, severity: Severity
) -> None:
    write_faulty(tmp_path, "app", **fields)
    if fields is SUPERSEDED:
        write_entry(tmp_path, "app/rules/b", supersedes=["app/rules/a"])
    assert weights(tmp_path, EMPTY, settings=settings) == [("app", f"{EMPTY} {severity}")]


def test_weight_is_less_for_every_fault_of_the_content(tmp_path: Path) -> None:
    write_faulty(tmp_path, "app", **ENDED, confidence="high", verified_at="2023-14-05", title="x" * 200)
    found = weights(tmp_path, DANGLING, "invalid-value", "date-form", "unclear-title")
    expected = [f"{DANGLING} warning", "date-form warning", "invalid-value warning", "unclear-title info"]
    assert sorted(code for _, code in found) == sorted(expected)


def test_weight_of_the_other_families_is_never_lowered(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/rules/a", "Old.", status="deprecated", creatd_at="2026-01-01")
    codes = ("unknown-field", "file-form", "deprecated-without-successor-or-reason", "deprecated-at-missing")
    assert sorted(code for _, code in weights(tmp_path, *codes)) == [
        "deprecated-at-missing warning",
        "deprecated-without-successor-or-reason error",
        "file-form warning",
        "unknown-field warning",
    ]


def test_weight_of_a_broken_supersession_is_never_lowered(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/rules/a", **ENDED, superseded_by=["app/rules/gone"], see=["app/rules/lost"])
    found = run_checks(case_of(tmp_path), [DANGLING])
    assert {one.place.line: str(one.severity) for one in found} == {7: "error", 8: "warning"}
