"""Real agent programs, as `init --client` sets them up, against a model on loopback: what reaches the model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, run_mdmem, write_entry
from conformance.node import Node, installed

from agents.fake_model import FakeModel, fake_model

pytestmark = pytest.mark.long
_WANTED = Path(__file__).with_name("package.json")
_SECONDS = 120
RULE = "Amounts are integers in minor units"
TASK = "Change src/pay.py"

Files = Callable[[Path, Path, str], Mapping[Path, object]]


@dataclass(frozen=True)
class Program:
    """How one program is run once without a person: its arguments, its variables, and the files of its user."""

    name: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Files = lambda _home, _folder, _address: {}


def _claude(home: Path, folder: Path, _: str) -> Mapping[Path, object]:
    trusted = {"hasTrustDialogAccepted": True, "enabledMcpjsonServers": ["mdmem"]}
    return {home / ".claude.json": {"hasCompletedOnboarding": True, "projects": {str(folder): trusted}}}


def _gemini(home: Path, _: Path, __: str) -> Mapping[Path, object]:
    return {home / ".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}}


def _opencode(home: Path, _: Path, address: str) -> Mapping[Path, object]:
    options = {"baseURL": f"{address}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"fake": {}}}
    wanted = {"provider": {"fake": provider}, "model": "fake/fake", "autoupdate": False}
    return {home / ".config/opencode/opencode.json": wanted}


def _copilot(home: Path, folder: Path, _: str) -> Mapping[Path, object]:
    return {home / ".copilot/config.json": {"trusted_folders": [str(folder)]}}


def _continue(home: Path, folder: Path, address: str) -> Mapping[Path, object]:
    # It reads YAML, of which JSON is a part.
    model = {"name": "fake", "provider": "openai", "model": "fake", "apiBase": f"{address}/v1", "apiKey": "none"}
    server = {"name": "mdmem", "command": "mdmem", "args": ["mcp"], "cwd": str(folder)}
    wanted = {"name": "test", "version": "1.0.0", "schema": "v1", "models": [model | {"roles": ["chat"]}]}
    return {home / "config.yaml": wanted | {"mcpServers": [server]}}


PROGRAMS = {
    "claude-code": Program(
        "claude",
        ("-p", TASK, "--model", "sonnet", "--allowedTools", "mcp__mdmem__retrieve"),
        {"ANTHROPIC_BASE_URL": "{address}", "ANTHROPIC_API_KEY": "none", "DISABLE_TELEMETRY": "1"},
        _claude,
    ),
    "codex": Program(
        "codex",
        (
            *("exec", "--json", "--trust", "-c", 'model_provider="fake"', "-c", 'model="fake"', "-c"),
            'model_providers.fake={{name="f",base_url="{address}/v1",wire_api="responses",env_key="FAKE_KEY"}}',
            TASK,
        ),
        {"FAKE_KEY": "none"},
    ),
    "gemini": Program(
        "gemini",
        ("-p", TASK, "--yolo", "--model", "fake"),
        {"GOOGLE_GEMINI_BASE_URL": "{address}", "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        _gemini,
    ),
    "opencode": Program("opencode", ("run", TASK), {}, _opencode),
    "copilot": Program(
        "copilot",
        ("-p", TASK, "--allow-all-tools"),
        {
            "COPILOT_PROVIDER_BASE_URL": "{address}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "fake",
        },
        _copilot,
    ),
    "qwen": Program(
        "qwen",
        ("-p", TASK, "--yolo", "--auth-type", "openai"),
        {"OPENAI_BASE_URL": "{address}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "fake"},
    ),
    "continue": Program("cn", ("-p", TASK, "--config", "{home}/config.yaml", "--auto"), {}, _continue),
}


# What these would do when they are installed, which npm is told not to: they put the program for this machine in place.
_FINISHING = ("@anthropic-ai/claude-code/install.cjs", "opencode-ai/postinstall.mjs")


def node_with_programs(request: pytest.FixtureRequest) -> Node:
    """Return Node with the programs, ready to run."""
    node = installed(request.config.cache.mkdir("agents"), _WANTED, with_optional=True)
    ready = node.modules / "ready"
    for script in () if ready.exists() else _FINISHING:
        path = node.modules / script
        subprocess.run([node.binary, path], cwd=path.parent, check=True, capture_output=True, timeout=_SECONDS)
    ready.touch()
    return node


@pytest.fixture(scope="module")
def node(request: pytest.FixtureRequest) -> Node:
    """Return Node with the programs; the test is skipped with a word where they cannot be had."""
    return node_with_programs(request)


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
    home.mkdir()
    for path, content in program.files(home, folder, model.address).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    variables = {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(node.binary.parent), os.environ["PATH"]]),
        "CI": "1",
        "IS_SANDBOX": "1",
        **{name: value.format(**said) for name, value in program.variables.items()},
    }
    arguments = [one.format(**said) if "{" in one else one for one in program.arguments]
    command = [str(node.modules / ".bin" / program.name), *arguments]
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
