"""`mdmem check`: trees, paths, choices, formats and exit codes; what each check finds is tested in its cases."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from builders import Run, commit_all, git, memory, merge_conflict, write, write_entry

from mdmem.checks.check import get_checks


def dangling(folder: Path) -> Path:
    memory(folder)
    write_entry(folder / "memory", "nav/rules/bad", title="Bad", see="nav/rules/nowhere")
    commit_all(folder)
    return folder


def test_commands_in_a_help_have_the_root_that_was_typed(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/rules/new", supersedes="nav/architecture/threads")
    typed = run("check", "--root", "memory")
    assert "  help: to give the reason, too, type `mdmem --root memory supersede nav/arch" in typed.out
    assert "type `mdmem supersede nav/arch" in run("check").out


@pytest.mark.parametrize("end", ["\\n", "\\r", "\\r\\n", "\\u2028", "\\u0085"])
def test_line_end_in_a_value_begins_no_line_of_a_report(end: str, folder: Path, run: Run) -> None:
    value = f'["src/x{end}FORGED"]'
    write_entry(folder / "memory", "nav/rules/odd", title="Odd", applies_to=value, see=value, tags=value, topc=value)
    for form in ("concise", "github"):
        ran = run("check", "--format", form)
        assert "FORGED" in ran.out
        assert [line for line in ran.out.splitlines() if line.startswith("FORGED")] == []


def test_every_output_has_one_total(folder: Path, run: Run) -> None:
    for number in range(12):
        write_entry(folder / "memory", f"nav/rules/r{number}", "We do.\n", title=f"Rule {number}")
    for number in range(5):
        write_entry(folder / "memory", f"nav/rules/bad-{number}", title=f"Bad {number}", see="nav/rules/nowhere")
    text, said = run("check").out, run("check", "--format", "json").json
    found = Counter(one["severity"] for one in said["findings"])
    total = f"19 entries checked in the working tree: 5 errors, {found['warning']} warning"
    assert text.splitlines()[-1].startswith(total)
    assert said["totals"] == {"error": 5, "warning": found["warning"], "info": 0}
    summary = json.loads(run("check", "--format", "jsonl").out.splitlines()[-1])
    assert (summary["findings"], summary["totals"]) == (len(said["findings"]), said["totals"])
    status = run("status", "--format", "json").json["findings"]
    assert (status["error"], status["warning"]) == (5, found["warning"])


@pytest.mark.parametrize(
    ("cwd", "shown"),
    [(".", "memory/nav/rules/bad.md"), ("memory/nav/rules", "bad.md"), ("src", "../memory/nav/rules/bad.md")],
)
def test_path_opens_from_the_working_folder(cwd: str, shown: str, tmp_path: Path, run: Run) -> None:
    folder = dangling(tmp_path)
    (folder / "src").mkdir()
    ran = run("check", "--format", "concise", cwd=folder / cwd)
    assert ran.out.split(":6:6:")[0] == shown


@pytest.mark.parametrize("arguments", [["nowhere.md"], ["/etc"], [".."], ["--staged", "--at", "HEAD"]], ids=" ".join)
def test_path_outside_the_memory_and_two_trees_exit_2(arguments: list[str], tmp_path: Path, run: Run) -> None:
    ran = run("check", *arguments, cwd=dangling(tmp_path))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


BAD_ALONE = ("memory/nav/rules/bad.md", "nav/rules/bad", "nav/rules/", "memory/nav/rules", "memory")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        *(([path], 1) for path in BAD_ALONE),
        *(([path], 0) for path in ("nav/architecture/", "memory/nav/rules/callbacks.md")),
        (["--select", "dangling-link"], 1),
        (["--select", "symlink,dangling-link"], 1),
        (["--select", "symlink-or-submodule"], 0),
        (["--ignore", "dangling-link"], 0),
    ],
    ids=str,
)
def test_paths_and_codes_narrow_what_is_reported(arguments: list[str], code: int, tmp_path: Path, run: Run) -> None:
    assert run("check", *arguments, cwd=dangling(tmp_path)).code == code


@pytest.mark.parametrize("option", ["--select", "--ignore", "--explain"])
def test_check_that_does_not_exist_names_the_nearest(option: str, tmp_path: Path, run: Run) -> None:
    ran = run("check", option, "dangling-lnk", cwd=dangling(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("mdmem: there is no check `dangling-lnk`; did you mean `dangling-link`")


@pytest.mark.parametrize(("settings", "code"), [("", 0), ('[check]\nfail_on = "warning"\n', 1)])
def test_fail_on_says_from_which_severity_on_it_fails(settings: str, code: int, folder: Path, run: Run) -> None:
    write(folder, "memory/mdmem.toml", settings)
    write_entry(folder / "memory", "nav/rules/plain")
    ran = run("check", "--select", "unclear-title")
    assert (ran.code, "1 warning" in ran.out) == (code, True)


def test_explain_says_what_why_and_how_to_mend_and_all_lists_every_check(tmp_path: Path, run: Run) -> None:
    ran = run("check", "--explain", "symlink-or-submodule")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "symlink-or-submodule (error)")
    assert "Fix: " in ran.out
    listed = run("check", "--explain", "all").out.splitlines()
    severities = [tuple(line.split()[:2]) for line in listed if line.startswith("  ")]
    assert severities == [(code, check.severity.value) for code, check in get_checks().items()]


def test_progress_is_shown_only_on_a_terminal(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.cli.common.Progress._SHORTEST", 1)
    assert run("check", cwd=folder).err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    said = run("check").err
    assert ("checking 4 files" in said, said.rpartition("\r")[2].partition("\x1b[?25h")[0][-6:]) == (True, "  100%")


@pytest.mark.parametrize("form", ["text", "concise", "json", "github"])
def test_check_changes_no_byte_and_tells_infos_where_it_is_verbose(form: str, tmp_path: Path, run: Run) -> None:
    folder = dangling(tmp_path)
    write_entry(folder / "memory", "nav/rules/timed", title="Timed", verified_at="2026-04-10T10:00:00")
    told = ["date-form" in run("check", "--format", form, *v, cwd=folder, unchanged=folder).out for v in ((), ("-v",))]
    assert told == [False, True]


@pytest.mark.parametrize("staged_is_bad", [True, False])
def test_staged_reads_the_index_and_not_the_working_tree(staged_is_bad: bool, folder: Path, run: Run) -> None:
    good, bad = {"title": "Good"}, {"title": "Bad", "see": "nav/rules/nowhere"}
    write_entry(folder / "memory", "nav/rules/new", **(bad if staged_is_bad else good))
    git(folder, "add", "-A")
    write_entry(folder / "memory", "nav/rules/new", **(good if staged_is_bad else bad))
    ran = run("check", "--staged")
    assert (ran.code, "see: nav/rules/nowhere" in ran.out) == (int(staged_is_bad), staged_is_bad)


def test_staged_reads_the_settings_of_the_index(folder: Path, run: Run) -> None:
    write(folder, "memory/mdmem.toml", "nonsense = 1\n")
    assert run("check", "--staged").code == 0
    git(folder, "add", "-A")
    assert run("check", "--staged").code == 2


def test_staged_in_the_middle_of_a_merge_names_the_unmerged_file(folder: Path, run: Run) -> None:
    merge_conflict(folder, "memory/nav/rules/callbacks.md", "---\nours\n", "---\ntheirs\n")
    ran = run("check", "--staged", "--select", "merge-marker")
    assert (ran.code, ran.out.splitlines()[0]) == (1, "error[merge-marker] memory/nav/rules/callbacks.md:1:1 (new)")


def test_chosen_checks_do_not_hide_that_a_run_is_incomplete(folder: Path, run: Run) -> None:
    os.mkfifo(folder / "memory/nav/rules/pipe.md")
    assert run("check", "--select", "dangling-link").code == 3
