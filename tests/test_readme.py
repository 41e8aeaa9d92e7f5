"""The README holds: its transcripts give what they show, its tables name what there is."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mdmem.checks.engine import first_sentences, get_check
from mdmem.checks.registry import CODES, FAMILIES
from mdmem.facets import facet_table
from mdmem.mcp.table import PROFILES, TOOLS
from mdmem.settings.parse import KEYS

TOP = Path(__file__).parents[1]
README = (TOP / "README.md").read_text(encoding="utf-8")


def transcripts() -> Iterator[tuple[str, list[str]]]:
    """Yield each command of the console blocks with the lines that follow it."""
    for block in re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        command, shown = "", []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, shown
                command, shown = line[2:], []
            else:
                shown.append(line)
        yield command, shown


def pattern_of(shown: list[str]) -> str:
    """Return what the output must match: a line of dots stands for any lines, dots within a line for any text."""
    lines = [r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in shown]
    return "".join(lines)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone of this repository with the files as they are now."""
    folder = tmp_path_factory.mktemp("readme") / "mdmem"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "example-wings", "README.md"],
        cwd=TOP,
        env=without_git(),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (TOP / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((TOP / name).read_bytes())
    identity = ["-c", "user.name=A Reader", "-c", "user.email=reader@example.com"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*identity, "commit", "-q", "-m", "As cloned"]):
        subprocess.run(["git", *arguments], cwd=folder, env=without_git(), check=True)
    return folder


def without_git() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def test_transcripts_give_what_they_show(clone: Path, tmp_path: Path) -> None:
    commands = list(transcripts())
    assert len(commands) > 10
    mark = "---8<---"
    # One shell for all of them, as a reader would have; the status of each is kept for the next `echo $?`.
    lines = [f'mdmem() {{ {shlex.quote(sys.executable)} -m mdmem "$@"; }}']
    for command, _ in commands:
        lines += [command, "status=$?", f"echo '{mark}'", "(exit $status)"]
    home = {"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "MDMEM_TODAY": "2026-11-21"}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=clone,
        env=without_git() | home,
        capture_output=True,
        text=True,
        check=False,
    )
    outputs = done.stdout.split(f"{mark}\n")
    for (command, shown), output in zip(commands, outputs, strict=False):
        assert re.fullmatch(pattern_of(shown), output), f"$ {command}\n{output}\n{done.stderr}"


def check_table() -> str:
    """Return the table of checks as the README has to hold it."""
    rows = ["| check | severity | what it finds |", "| --- | --- | --- |"]
    sentences = first_sentences()
    for family, codes in FAMILIES.items():
        rows.append(f"| **{family}** | | |")
        rows += [f"| `{code}` | {get_check(code).SEVERITY} | {sentences[code]} |" for code in codes]
    return "\n".join(rows)


def test_table_of_checks_equals_the_registry() -> None:
    shown = README.split("<!-- checks -->\n")[1].split("\n<!-- /checks -->")[0]
    assert shown == check_table()


def test_table_of_facets_equals_the_rows() -> None:
    assert README.split("<!-- facets -->\n")[1].split("\n<!-- /facets -->")[0] == facet_table()


def test_table_of_profiles_equals_the_servers() -> None:
    shown = README.split("<!-- profiles -->\n")[1].split("\n<!-- /profiles -->")[0].splitlines()
    assert shown[0] == "| tool | " + " | ".join(f"`{profile}`" for profile in PROFILES) + " |"
    listed = {row.split("`")[1]: [cell.strip() for cell in row.split("|")[2:-1]] for row in shown[2:]}
    assert listed == {name: ["✓" if name in names else "" for names in PROFILES.values()] for name in TOOLS}


def test_table_of_settings_names_every_key() -> None:
    table = README.split("## Settings")[1].split("\n\nThe root")[0]
    assert set(re.findall(r"`((?:[a-z]+\.)?[a-z_]+)`(?=[,| ])", table)) & set(KEYS) == set(KEYS)


def test_ci_runs_the_test_command() -> None:
    command = next(line for line in README.splitlines() if line.startswith(".venv/bin/pip install"))
    install, test = command.split(" && ")
    script = (TOP / ".ci" / "run").read_text(encoding="utf-8")
    assert install in script
    assert f"\n{test}\n" in script


def test_every_check_is_documented() -> None:
    for code in CODES:
        text = get_check(code).__doc__
        assert "Fails:" in text, code
        assert "Fix:" in text, code
