"""Test real agent programs, set up by `init --client --hooks`, with a fake model: what the model receives."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, run_mdmem, write, write_entry
from conformance.node import Node, installed

from agents.fake_model import FakeModel, fake_model

pytestmark = pytest.mark.long
_WANTED = Path(__file__).with_name("package.json")
_SECONDS = 120
RULE = "Amounts are integers in minor units"
TASK = "Change src/pay.py"


@dataclass(frozen=True)
class Program:
    """How one program is run once without a person: its arguments, its variables, and the files of its user's home."""

    name: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, object] = field(default_factory=dict)


_TRUSTED = {"hasTrustDialogAccepted": True, "enabledMcpjsonServers": ["mdmem"]}
_PROVIDER = {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": "{address}/v1", "apiKey": "none"},
    "models": {"fake": {}},
}
_OPENCODE = {"provider": {"fake": _PROVIDER}, "model": "fake/fake", "autoupdate": False}
_MODEL = {"name": "fake", "provider": "openai", "model": "fake", "apiBase": "{address}/v1", "apiKey": "none"}
# Continue reads YAML, of which JSON is a part.
_CONTINUE = {
    "name": "test",
    "version": "1.0.0",
    "schema": "v1",
    "models": [_MODEL | {"roles": ["chat"]}],
    "mcpServers": [{"name": "mdmem", "command": "mdmem", "args": ["mcp"], "cwd": "{folder}"}],
}
# `{address}`, `{folder}` and `{home}` are filled in where a program is run.
PROGRAMS = {
    "claude-code": Program(
        "claude",
        ("-p", TASK, "--model", "sonnet", "--allowedTools", "mcp__mdmem__retrieve"),
        {"ANTHROPIC_BASE_URL": "{address}", "ANTHROPIC_API_KEY": "none", "DISABLE_TELEMETRY": "1"},
        {".claude.json": {"hasCompletedOnboarding": True, "projects": {"{folder}": _TRUSTED}}},
    ),
    "codex": Program(
        "codex",
        (
            *("exec", "--json", "--trust", "-c", 'model_provider="fake"', "-c", 'model="fake"', "-c"),
            'model_providers.fake={name="f",base_url="{address}/v1",wire_api="responses",env_key="FAKE_KEY"}',
            TASK,
        ),
        {"FAKE_KEY": "none"},
    ),
    "gemini": Program(
        "gemini",
        ("-p", TASK, "--yolo", "--model", "fake"),
        {"GOOGLE_GEMINI_BASE_URL": "{address}", "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        {".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
    ),
    "opencode": Program("opencode", ("run", TASK), files={".config/opencode/opencode.json": _OPENCODE}),
    "copilot": Program(
        "copilot",
        ("-p", TASK, "--allow-all-tools"),
        {
            "COPILOT_PROVIDER_BASE_URL": "{address}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "fake",
        },
        {".copilot/config.json": {"trusted_folders": ["{folder}"]}},
    ),
    "qwen": Program(
        "qwen",
        ("-p", TASK, "--yolo", "--auth-type", "openai"),
        {"OPENAI_BASE_URL": "{address}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "fake"},
    ),
    "continue": Program(
        "cn", ("-p", TASK, "--config", "{home}/config.yaml", "--auto"), files={"config.yaml": _CONTINUE}
    ),
}


# The install scripts of these packages, which npm does not run here. They install the program for this machine.
_FINISHING = ("@anthropic-ai/claude-code/install.cjs", "opencode-ai/postinstall.mjs")


@pytest.fixture(scope="module")
def node(request: pytest.FixtureRequest) -> Node:
    """Return Node with the programs; the test is skipped with a word where they cannot be had."""
    node = installed(request.config.cache.mkdir("agents"), _WANTED, with_optional=True)
    ready = node.modules / "ready"
    for script in () if ready.exists() else _FINISHING:
        path = node.modules / script
        subprocess.run([node.binary, path], cwd=path.parent, check=True, capture_output=True, timeout=_SECONDS)
    ready.touch()
    return node


@pytest.mark.parametrize("client", PROGRAMS)
def test_rule_reaches_the_model_of(client: str, node: Node, tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "shop")
    assert run_mdmem("init", "--client", client, "--no-hook", cwd=folder).returncode == 0
    write_entry(folder / "memory", "shop/contracts/amounts", "Never a float.\n", type="invariant", title=RULE)
    git(folder, "config", "user.email", "ada@example.org")
    commit_all(folder)
    with fake_model(("retrieve", {"query": "money amounts", "paths": ["src/pay.py"]})) as model:
        ran = run_program(PROGRAMS[client], model, node, folder, home=tmp_path / "home")
    # Some would keep the tools of servers back until the model looks for them.
    assert not model.has_searched, (sorted(model.tools()), ran)
    assert RULE in model.said(), ran


def run_program(program: Program, model: FakeModel, node: Node, folder: Path, *, home: Path) -> str:
    said = {"address": model.address, "folder": str(folder), "home": str(home)}

    def filled(text: str) -> str:
        for name, value in said.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    home.mkdir()
    for path, content in program.files.items():
        write(home, path, filled(json.dumps(content)))
    variables = {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(node.binary.parent), os.environ["PATH"]]),
        "CI": "1",
        "IS_SANDBOX": "1",
        **{name: filled(value) for name, value in program.variables.items()},
    }
    command = [str(node.modules / ".bin" / program.name), *map(filled, program.arguments)]
    done = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=_SECONDS,
    )
    return f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


ALWAYS = "Nobody guesses"
# This test is about content, not speed. On a busy machine, two seconds may not be enough.
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
def test_rules_reach_the_model_at_the_start_and_when_it_edits_and_once(client: str, node: Node, tmp_path: Path) -> None:
    folder = shop(tmp_path, client)
    model, ran = edit(client, folder, node, "docs/pay.md", "src/pay.py", "src/pay2.py")
    held = [json.dumps(asked, ensure_ascii=False) for asked in model.made()]
    assert [text.count(RULE) for text in held] == [0, 0, 1, 1], ran
    # A rule that always applies is there from the start.
    assert held[0].count(ALWAYS) == 1, ran
    assert (folder / "src/pay2.py").exists()


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
