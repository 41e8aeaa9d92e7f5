"""Real agent programs with the hooks of `init --hooks`, against a model on loopback that edits: what reaches it, when.

`python -m guide.tables` keeps nothing of this: the table in the guide names the versions of `package.json`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, run_mdmem, write, write_entry
from conformance.node import Node

from agents.fake_model import FakeModel, fake_model
from agents.test_agent_programs import PROGRAMS, node_with_programs, run_program

pytestmark = pytest.mark.long
RULE, ALWAYS = "Amounts are integers in minor units", "Nobody guesses"
# What reaches the model is asked here, not how fast: where much else runs, two seconds may not do.
PATIENT = f"""#!{sys.executable}
import sys
from mdmem.cli import main, programs
programs._SECONDS = 4.5
sys.exit(main.run(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Editing:
    """How a model edits with one program: the tool, the names of its path and its text, and what lets it edit."""

    tool: str
    path: str = "file_path"
    text: str = "content"
    more: tuple[str, ...] = ()

    def call(self, path: Path) -> tuple[str, Mapping[str, str]]:
        if self.tool == "apply_patch":
            named = f"{path.parent.name}/{path.name}"
            return self.tool, {"input": f"*** Begin Patch\n*** Add File: {named}\n+x = 1\n*** End Patch\n"}
        return self.tool, {self.path: str(path), self.text: "x = 1\n"}


EDITING = {
    "claude-code": Editing("Write", more=("--permission-mode", "acceptEdits")),
    # Of a model that it does not know it thinks that it edits by the shell.
    "codex": Editing(
        "apply_patch", more=("--dangerously-bypass-hook-trust", "-s", "workspace-write", "-c", 'model="gpt-5.5"')
    ),
    "gemini": Editing("write_file"),
    "opencode": Editing("write", path="filePath"),
    "copilot": Editing("create", path="path", text="file_text"),
    "qwen": Editing("write_file"),
}


@pytest.fixture(scope="module")
def node(request: pytest.FixtureRequest) -> Node:
    """Return Node with the programs; the test is skipped with a word where they cannot be had."""
    return node_with_programs(request)


def shop(tmp_path: Path, client: str) -> Path:
    folder = make_repository(tmp_path / "shop")
    patient = write(tmp_path, "bin/mdmem", PATIENT)
    patient.chmod(0o755)
    ran = run_mdmem("init", "--client", client, "--no-hook", "--hooks", "--command", str(patient), cwd=folder)
    assert ran.returncode == 0
    rule = {"type": "invariant", "title": RULE, "applies_to": ["src/**"]}
    write_entry(folder / "memory", "shop/contracts/amounts", "Never a float.\n", **rule)
    write_entry(folder / "memory", "shop/contracts/always", "Ask.\n", type="invariant", title=ALWAYS)
    for name in ("src/a.txt", "docs/a.txt"):
        write(folder, name, "a\n")
    git(folder, "config", "user.email", "ada@example.org")
    commit_all(folder)
    return folder


def edit(client: str, folder: Path, node: Node, *names: str) -> tuple[FakeModel, str]:
    editing, program = EDITING[client], PROGRAMS[client]
    *first, last = program.arguments
    arguments = (*first, *editing.more, last) if client == "codex" else (*program.arguments, *editing.more)
    with fake_model(*(editing.call(folder / name) for name in names)) as model:
        ran = run_program(
            dataclasses.replace(program, arguments=arguments), model, node, folder, home=folder.parent / "home"
        )
    return model, ran


@pytest.mark.parametrize("client", EDITING)
def test_rule_reaches_the_model_when_it_edits_and_once(client: str, node: Node, tmp_path: Path) -> None:
    folder = shop(tmp_path, client)
    model, ran = edit(client, folder, node, "docs/pay.md", "src/pay.py", "src/pay2.py")
    held = [json.dumps(asked, ensure_ascii=False) for asked in model.made()]
    assert [text.count(RULE) for text in held] == [0, 0, 1, 1], ran
    assert (folder / "src/pay2.py").exists()


@pytest.mark.parametrize("client", EDITING)
def test_what_always_holds_reaches_the_model_at_the_start(client: str, node: Node, tmp_path: Path) -> None:
    model, ran = edit(client, shop(tmp_path, client), node)
    # Some programs ask for other things besides, such as a name for the session.
    assert max(json.dumps(asked, ensure_ascii=False).count(ALWAYS) for asked in model.made()) == 1, ran


@pytest.mark.parametrize("client", EDITING)
def test_edit_goes_on_where_the_memory_is_broken(client: str, node: Node, tmp_path: Path) -> None:
    folder = shop(tmp_path, client)
    for path in (folder / "memory").rglob("*"):
        if path.is_file():
            path.write_bytes(b"\xff\x00")
    commit_all(folder)
    model, ran = edit(client, folder, node, "src/pay.py")
    assert RULE not in model.said(), ran
    assert (folder / "src/pay.py").exists(), ran
