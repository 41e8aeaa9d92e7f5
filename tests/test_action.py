"""Test the GitHub action: valid, no input inside a script, its steps as a runner runs them; and examples for CI."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import commit_all, environment, git, make_repository, memory, write, write_entry
from hooked import CITED, CITES, DANGLES, ENTRY

TOP = Path(__file__).parent.parent
ACTION = TOP / ".github/actions/check/action.yml"
CONTENT: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["id"]: step for step in CONTENT["runs"]["steps"] if "id" in step}
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="runners run the steps with bash")


@dataclass
class Runner:
    """What a runner keeps for one job: the checked-out folder, its own folder, the outputs of the steps, the event."""

    workspace: Path
    temp: Path
    event: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    summary: str = ""

    def value(self, expression: str) -> str:
        """Return the value of an expression; an unknown expression fails the test."""
        known = {f"inputs.{name}": str(given["default"]) for name, given in CONTENT["inputs"].items()}
        known |= {f"inputs.{name}": value for name, value in self.inputs.items()}
        known |= {"github.action_path": str(ACTION.parent), "runner.temp": str(self.temp)}
        known |= {"github.event.merge_group.base_sha": self.event.get("merge_group", "")}
        known |= {
            f"steps.{step}.outputs.{name}": value for step, of in self.outputs.items() for name, value in of.items()
        }
        known |= {f"steps.{step}.outputs.{name}": "" for step, name in [("fetch", "base")] if step not in self.outputs}
        return known[expression]

    def filled(self, text: str) -> str:
        """Return a text with its expressions replaced."""
        return re.sub(r"\$\{\{ ([^}]+) \}\}", lambda found: self.value(found[1]), text)

    def run(self, step: str) -> subprocess.CompletedProcess[str]:
        """Run the script of one step with the variables of the runner."""
        output, summary = self.temp / f"{step}-output", self.temp / f"{step}-summary"
        for file in (output, summary):
            file.touch()
        given = {name: self.filled(str(value)) for name, value in STEPS[step].get("env", {}).items()}
        variables = environment(
            GITHUB_ACTIONS="true",
            CI="true",
            GITHUB_OUTPUT=str(output),
            GITHUB_STEP_SUMMARY=str(summary),
            GITHUB_BASE_REF=self.event.get("base_ref", ""),
            RUNNER_TEMP=str(self.temp),
            **given,
        )
        where = self.workspace / self.filled(STEPS[step]["working-directory"])
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", STEPS[step]["run"]]
        done = subprocess.run(command, cwd=where, env=variables, capture_output=True, text=True, check=False)
        lines = output.read_text().splitlines()
        self.outputs[step] = {"base": ""} | dict(line.split("=", 1) for line in lines)
        self.summary += summary.read_text()
        return done

    def check(self) -> subprocess.CompletedProcess[str]:
        """Run the steps after the installation, up to the first that fails, with the mdmem that is here."""
        program = write(self.temp, "mdmem", f'#!/bin/sh\nexec "{sys.executable}" -m mdmem "$@"\n')
        program.chmod(0o755)
        self.outputs["install"] = {"mdmem": str(program)}
        fetched = self.run("fetch")
        return self.run("check") if fetched.returncode == 0 else fetched


def origin_with_change(folder: Path) -> Path:
    """Return a repository whose `change` links to an entry that `main` has deleted since: each is good alone."""
    memory(folder)
    git(folder, "checkout", "-q", "-b", "change")
    write_entry(folder / "memory", ENTRY, **CITES)
    commit_all(folder)
    git(folder, "checkout", "-q", "main")
    ended = {"status": "deprecated", "deprecated_at": "2026-11-20", "deprecated_reason": "no longer"}
    write_entry(folder / "memory", "nav/architecture/threads", **ended)
    commit_all(folder)
    git(folder, "rm", "-q", CITED)
    commit_all(folder)
    return folder


def checked_out(origin: Path, temp: Path, *options: str, branch: str = "change", **event: str) -> Runner:
    """Return a runner that has a branch checked out as `actions/checkout` does: one commit deep, one branch."""
    (temp / "runner").mkdir(parents=True)
    git(temp, "clone", "-q", *(options or ("--depth=1",)), "--branch", branch, origin.as_uri(), "clone")
    return Runner(temp / "clone", temp / "runner", event)


def test_action_is_valid() -> None:
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", str(ACTION)]
    done = subprocess.run(checker, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_step_takes_an_expression_into_its_script() -> None:
    assert [step["name"] for step in CONTENT["runs"]["steps"] if "${{" in step.get("run", "")] == []
    assert all(step["shell"] == "bash" for step in CONTENT["runs"]["steps"] if "run" in step)


def test_broken_branch_is_annotated_and_fails(tmp_path: Path) -> None:
    origin = memory(tmp_path / "origin")
    write_entry(origin / "memory", ENTRY, **DANGLES)
    commit_all(origin)
    runner = checked_out(origin, tmp_path / "job", branch="main")
    done = runner.check()
    assert (done.returncode, f"::error file=memory/{ENTRY}.md,line=" in done.stdout) == (1, True)
    assert "dangling-link" in runner.summary


@pytest.mark.parametrize("clone", [["--depth=1"], ["--no-single-branch"], ["--single-branch"]], ids=lambda it: it[0])
def test_pull_request_is_refused_for_what_its_merge_would_break(clone: list[str], tmp_path: Path) -> None:
    origin = origin_with_change(tmp_path / "origin")
    runner = checked_out(origin, tmp_path / "job", *clone, base_ref="main")
    done = runner.check()
    assert (done.returncode, runner.outputs["fetch"]["base"]) == (1, "origin/main"), done.stdout + done.stderr
    assert "dangling-link" in done.stdout


@pytest.mark.parametrize("event", ["pull request", "merge queue"])
def test_deletion_of_what_is_in_force_is_refused_by_comparison_with_the_base(event: str, tmp_path: Path) -> None:
    origin = memory(tmp_path / "origin")
    base = git(origin, "rev-parse", "HEAD")
    git(origin, "checkout", "-q", "-b", "change")
    git(origin, "rm", "-q", CITED)
    commit_all(origin)
    told, compared = ({"base_ref": "main"}, "origin/main") if event == "pull request" else ({"merge_group": base}, base)
    runner = checked_out(origin, tmp_path / "job", **told)
    done = runner.check()
    assert (done.returncode, runner.outputs["fetch"]["base"]) == (1, compared), done.stdout + done.stderr
    assert "deleted-in-force" in done.stdout


def test_base_that_is_stated_goes_before_that_of_the_event(tmp_path: Path) -> None:
    origin = origin_with_change(tmp_path / "origin")
    git(origin, "branch", "release", "change")
    runner = checked_out(origin, tmp_path / "job", base_ref="main")
    runner.inputs = {"base": "release"}
    done = runner.check()
    assert (done.returncode, runner.outputs["fetch"]["base"]) == (0, "origin/release"), done.stdout + done.stderr


def test_strict_lets_a_warning_fail(tmp_path: Path) -> None:
    origin = memory(tmp_path / "origin")
    entry = write_entry(origin / "memory", ENTRY, title="Plain")
    entry.write_bytes(entry.read_bytes().rstrip(b"\n"))
    commit_all(origin)
    runner = checked_out(origin, tmp_path / "job", branch="main")
    assert runner.check().returncode == 0
    runner.inputs = {"strict": "true"}
    assert runner.check().returncode == 1


def test_root_and_working_directory_choose_what_is_checked(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin")
    memory(origin / "part")
    shutil.rmtree(origin / "part/.git")
    shutil.copytree(origin / "part/memory", origin / "part/other")
    write_entry(origin / "part/other", ENTRY, **DANGLES)
    commit_all(origin)
    runner = checked_out(origin, tmp_path / "job", branch="main")
    runner.inputs = {"working-directory": "part", "root": "memory"}
    assert runner.check().returncode == 0
    runner.inputs = {"working-directory": "part", "root": "other"}
    assert runner.check().returncode == 1


HOSTILE = [
    "$(touch hit)",
    "`touch hit`",
    "; touch hit",
    "--upload-pack=touch hit",
    '"; touch hit; "',
    "a\nmdmem=/bin/true",
]


GIVEN = [({name: value}, {}) for name in ("base", "root", "merge", "strict") for value in HOSTILE]
OF_EVENTS = [({}, {"base_ref": value}) for value in ("$(touch hit)", "--upload-pack=touch hit")]


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return memory(tmp_path_factory.mktemp("origins") / "origin")


@pytest.mark.parametrize(("inputs", "event"), [*GIVEN, *OF_EVENTS])
def test_hostile_input_or_branch_of_the_event_is_a_name_and_nothing_else(
    inputs: dict[str, str], event: dict[str, str], quiet: Path, tmp_path: Path
) -> None:
    runner = checked_out(quiet, tmp_path / "job", branch="main", **event)
    runner.inputs = inputs
    done = runner.check()
    assert (done.returncode != 0, list(tmp_path.rglob("hit"))) == (True, []), done.stdout + done.stderr
    assert runner.outputs["install"] == {"mdmem": str(runner.temp / "mdmem")}


def test_review_is_in_the_summary_beside_the_findings_and_pages_beside_the_repository(tmp_path: Path) -> None:
    runner = checked_out(origin_with_change(tmp_path / "origin"), tmp_path, base_ref="main")
    runner.check()
    for step in ("review", "pages"):
        done = runner.run(step)
        assert (done.returncode, done.stderr) == (0, "")
    assert runner.summary.count("<!-- mdmem diff -->\n\n## mdmem diff: 1 added; current entries 2 → 3\n") == 1
    assert "1 added" in (runner.temp / "mdmem-pages/diff.html").read_text()
    assert git(runner.workspace, "status", "--porcelain").strip() == ""


def test_installation_makes_an_environment_and_names_its_program(tmp_path: Path) -> None:
    """Run the real step with a fake installer, which needs no package index and records its arguments."""
    (tmp_path / "runner").mkdir()
    write(tmp_path, "work/venv.py", "raise SystemExit('run from the repository')\n")
    runner = Runner(tmp_path / "work", tmp_path / "runner", inputs={"pages": "true"})
    python = write(tmp_path, "bin/python3", _PYTHON.format(python=sys.executable))
    python.chmod(0o755)
    path = os.environ["PATH"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{python.parent}{os.pathsep}{path}")
        done = runner.run("install")
    assert done.returncode == 0, done.stdout + done.stderr
    assert runner.outputs["install"]["mdmem"] == str(runner.temp / "mdmem-venv/bin/mdmem")
    asked = (runner.temp / "mdmem-venv/asked").read_text().split()
    assert asked[:3] == ["-m", "pip", "install"]
    assert asked[-1].endswith("[site]")
    assert Path(asked[-1].removesuffix("[site]")).resolve() == TOP


# A stand-in for `python3 -m venv`: the interpreter that it makes writes down its arguments.
_PYTHON = """\
#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 9
"{python}" -c "import importlib.util, sys; sys.exit('venv.py' in (importlib.util.find_spec('venv').origin))" || exit 8
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "$@" > "%s/asked"\\n' "$3" > "$3/bin/python"
chmod +x "$3/bin/python"
"""
