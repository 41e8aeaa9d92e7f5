"""Which checks a run has, and which of its findings are new."""

from pathlib import Path

import pytest
from builders import write_entry
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trees import case_of

from mdmem.checks.check import chosen_codes, get_checks, require_known_wings
from mdmem.checks.engine import mark_new, run_checks
from mdmem.errors import SettingsError, UsageError
from mdmem.model.finding import Finding, Place, Severity
from mdmem.store.settings import Settings, WingSettings, parse_settings

EMPTY = "body-empty"
DANGLING = "dangling-link"


def test_codes_asked_for_are_run_whatever_the_settings_choose() -> None:
    settings = Settings(ignore=(EMPTY,), wings={"app": WingSettings(select=("expired",))})
    assert chosen_codes(settings, [EMPTY, DANGLING], [DANGLING]) == (EMPTY,)


def test_codes_leave_out_what_every_wing_and_the_root_ignore() -> None:
    settings = Settings(ignore=(EMPTY,), wings={"app": WingSettings(ignore=(DANGLING,))})
    assert set(get_checks()) - set(chosen_codes(settings)) == {EMPTY, "entry-too-long"}


def test_code_asked_for_that_does_not_exist_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"^there is no check `body-emty`; did you mean `body-empty`"):
        chosen_codes(Settings(), ["body-emty"])


@pytest.mark.parametrize(
    ("content", "line", "key"),
    [
        ("[check]\nselect = ['body-emty']", 2, "check.select"),
        ("[check]\nselect = []\nignore = [\n  'expired',\n  'body-emty',\n]", 5, "check.ignore"),
        ("[check.severity]\nexpired = 'info'\nbody-emty = 'info'", 3, "check.severity"),
        ("[check]\nseverity = {body-emty = 'info'}", 2, "check.severity"),
        ("[check]\nselect = []\n[wings.app.check]\nselect = ['body-emty']", 4, "wings.app.check.select"),
        ("[wings.app]\ncheck.severity.body-emty = 'info'", 2, "wings.app.check.severity"),
    ],
)
def test_code_in_the_settings_that_does_not_exist_is_named_with_its_line(content: str, line: int, key: str) -> None:
    settings = parse_settings(content.encode())
    with pytest.raises(SettingsError) as caught:
        chosen_codes(settings)
    sentence = f"mdmem.toml:{line}: `{key}` names `body-emty`, which is not a check; did you mean `body-empty`"
    assert (str(caught.value)[: len(sentence)], caught.value.line) == (sentence, line)
    assert caught.value.readable == settings


def test_table_of_a_wing_that_is_not_there_is_refused_with_the_nearest() -> None:
    settings = parse_settings(b"[check]\n[wings.ap.check]\nignore = []\n")
    require_known_wings(settings, ["ap"])
    with pytest.raises(SettingsError) as caught:
        require_known_wings(settings, ["shop", "app"])
    assert str(caught.value) == "mdmem.toml:2: `wings.ap` is about a wing that is not there; did you mean `app`?"


def found(message: str, line: int = 1, path: str = "app/rules/a.md", code: str = EMPTY) -> Finding:
    return Finding(code, message, Place(path, line))


def test_finding_is_new_where_the_base_has_none_of_its_code_and_file() -> None:
    base = [found("it is empty"), found("it is empty", path="app/rules/b.md")]
    now = [found("it is empty", code=DANGLING), *base, found("it is empty", path="app/rules/c.md")]
    assert [one.new for one in mark_new(now, base)] == [True, False, False, True]


def test_finding_is_not_new_for_a_shifted_line_or_another_number() -> None:
    base = [found("it has 812 tokens, line 3", 3)]
    assert [one.new for one in mark_new([found("it has 90 tokens, line 14", 14)], base)] == [False]


def test_finding_is_new_where_it_weighs_more_or_sums_up_more() -> None:
    told = found("it is empty")
    milder, graver = replace(told, severity=Severity.WARNING), replace(told, severity=Severity.ERROR)
    assert [mark_new([now], [was])[0].new for now, was in ((graver, milder), (milder, graver))] == [True, False]
    many, more = replace(found("51 such findings"), count=51), replace(found("52 such findings"), count=52)
    assert [mark_new([now], [was])[0].new for now, was in ((more, many), (many, more))] == [True, False]


alike = st.lists(st.builds(found, st.sampled_from(["a", "b 1", "b 2"]), st.integers(1, 3)), max_size=8)


@given(alike, alike)
def test_new_findings_are_as_many_as_the_base_lacks(now: list[Finding], base: list[Finding]) -> None:
    marked = mark_new(now, base)
    assert [(one.message, one.place) for one in marked] == [(one.message, one.place) for one in now]
    for start in ("a", "b"):
        more = sum(one.message[0] == start for one in now) - sum(one.message[0] == start for one in base)
        assert sum(one.new for one in marked if one.message[0] == start) == max(0, more)


def test_many_findings_of_a_kind_in_a_file_are_cut_and_counted(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/rules/a", see=[f"app/rules/gone-{number}" for number in range(150)])
    found = run_checks(case_of(tmp_path), [DANGLING])
    assert len(found) == 101
    assert "the file has 150 such findings; 100 are shown" in {one.message for one in found}
