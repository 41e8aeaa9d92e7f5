"""Test `mdmem init`: the new files, a client's server, lines for agents, and that existing files stay as they are."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import (
    Run,
    commit_all,
    environment,
    git,
    make_repository,
    run_mdmem,
    snapshot,
    without_rights,
    write,
    write_entry,
)

from mdmem.setup.clients import CLIENTS

# What git puts before its hooks' names: the program under test.
PROGRAMS = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_init_writes_settings_wing_agents_line_and_hooks(tmp_path: Path, run: Run) -> None:
    folder = make_repository(tmp_path / "navigation")
    ran = run("init", cwd=folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:-1] == [
        "wrote memory/mdmem.toml",
        "wrote memory/navigation/README.md",
        "wrote AGENTS.md",
        "wrote .git/hooks/pre-commit",
        "wrote .git/hooks/pre-merge-commit",
        "wrote .git/hooks/pre-push",
        "git merges entries key by key from now on: .git/info/attributes",
    ]
    assert (folder / "memory/mdmem.toml").read_text() == 'default_wing = "navigation"\n'
    assert "owners: [Ada <ada@example.org>]" in (folder / "memory/navigation/README.md").read_text()
    assert "mdmem retrieve --session TASK --path FILE" in (folder / "AGENTS.md").read_text()
    assert os.access(folder / ".git/hooks/pre-commit", os.X_OK)
    git(folder, "add", "-A")
    checked = run("check", "--strict", cwd=folder)
    assert (checked.code, "memory has no entry\n" in checked.out) == (0, True)


@pytest.mark.parametrize(("in_git", "beside"), [(True, None), (False, None), (True, "other"), (True, "apps/a/memory")])
def test_command_that_init_names_next_works(in_git: bool, beside: str | None, tmp_path: Path, run: Run) -> None:
    folder = make_repository(tmp_path / "app") if in_git else tmp_path
    if beside is not None:
        run("init", beside, "--wing", "other", cwd=folder)
    said = run("init", "--wing", "app", cwd=folder).out.partition("next: ")[2].splitlines()[0]
    assert ("--root" in said) is (not in_git or beside == "other")
    named = said.replace("mdmem", f"'{sys.executable}' -m mdmem", 1).replace("TITLE", "Use UTC")
    ran = subprocess.run(named, shell=True, cwd=folder, env=environment(), text=True, check=False)
    assert ran.returncode == 0
    checked = run("check", "--root", "memory", cwd=folder)
    assert (checked.code, "error" in checked.out) == (0, False), checked.out
    assert (folder / "memory/app/architecture/use-utc.md").exists()


def test_init_twice_changes_no_byte_and_records_that_are_there_are_the_next_step(repo: Path, run: Run) -> None:
    write(repo, "docs/adr/0001-files.md", "# 1. Files\n")
    first = run("init").out
    assert ("mdmem import --dry-run" in first.splitlines()[-1], "next: mdmem new" in first) == (True, False)
    ran = run("init", unchanged=repo)
    assert (ran.code, ran.out.count("stays as it is"), "wrote" in ran.out) == (0, 6, False)
    everyone = [part for client in FILES for part in ("--client", client)]
    run("init", *everyone)
    ran = run("init", *everyone, unchanged=repo)
    assert "wrote" not in ran.out
    assert ".vscode/mcp.json has a server `mdmem` already and stays as it is\n" in ran.out
    # The lines for the server are more than a plain run would write.
    assert "AGENTS.md exists and stays as it is\n" in run("init", unchanged=repo).out


def test_wings_that_are_there_are_the_projects(tmp_path: Path, run: Run) -> None:
    folder = make_repository(tmp_path / "repository")
    write_entry(folder / "memory", "äpp/rules/one")
    write_entry(folder / "memory", "tools/rules/two")
    write(folder, "memory/tools/README.md", "---\nkind: shared\n---\n")
    assert "wrote memory/äpp/README.md" in run("init", "--no-hook", cwd=folder).out
    assert (folder / "memory/mdmem.toml").read_text() == 'default_wing = "äpp"\n'
    assert "--all-wings" not in (folder / "AGENTS.md").read_text()
    write_entry(folder / "memory", "web/rules/three")
    for name in ("AGENTS.md", "memory/mdmem.toml"):
        (folder / name).unlink()
    assert run("init", "--no-hook", cwd=folder).out.splitlines() == ["wrote memory/mdmem.toml", "wrote AGENTS.md"]
    assert (folder / "memory/mdmem.toml").read_text() == "# default_wing: one of web, äpp\n"
    assert "--all-wings" in (folder / "AGENTS.md").read_text()
    # In the folder of a memory, `init` means that memory.
    assert run("init", "--no-hook", cwd=folder / "memory").out.count("stays as it is") == 2
    assert not (folder / "memory/memory").exists()


def test_files_that_exist_stay_byte_for_byte(repo: Path, run: Run) -> None:
    write(repo, "AGENTS.md", "be kind\r\n")
    write(repo, ".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n").chmod(0o755)
    write(repo, "memory/mdmem.toml", "budget = 7")
    before = snapshot(repo)
    ran = run("init", "--wing", "app")
    after = snapshot(repo)
    assert {name: after[name] for name in before} == before
    hooks = {".git/hooks/pre-merge-commit", ".git/hooks/pre-push"}
    assert after.keys() - before.keys() == {"memory/app/README.md", *hooks}
    assert "AGENTS.md exists and stays as it is; add this to it:\nBefore you change code" in ran.out
    assert "; people approve it.\n\n" in ran.out
    left = ".git/hooks/pre-commit is somebody else's and stays as it is"
    assert f"{left}: add `mdmem check --staged || exit 1` to it" in ran.out


def test_config_of_pre_commit_stays_and_the_lines_to_add_are_said(repo: Path, run: Run) -> None:
    config = write(repo, ".pre-commit-config.yaml", "repos: []\n")
    ran = run("init")
    assert config.read_text() == "repos: []\n"
    assert ".pre-commit-config.yaml is there; add this to it:\n  - repo: local\n" in ran.out
    assert not (repo / ".git/hooks/pre-commit").exists()
    assert "`mdmem hooks install --driver-only` lets it merge" in ran.out
    git(repo, "add", "-A")
    run("hooks", "install", "--driver-only")
    assert "--driver-only" not in run("init").out


CHECKED = "repos:\n- repo: https://example.org/mdmem\n  rev: v1\n  hooks:\n  - id: mdmem-check\n"
UNGUARDED = ".pre-commit-config.yaml has mdmem-check; to run it in this clone, type"
COPILOT, READ = ".github/copilot-instructions.md", "Read AGENTS.md at the top of this repository before anything else."
TYPES = "default_install_hook_types: [pre-commit]\n"
STAGES = "-t pre-commit -t pre-merge-commit -t pre-push"


@pytest.mark.parametrize(
    ("types", "programs", "line"),
    [
        ("", ["pre-commit", "prek"], f"pre-commit install {STAGES}"),
        ("", ["prek"], f"prek install {STAGES}"),
        (TYPES, ["pre-commit"], "pre-commit install"),
        (TYPES, [], "pipx install pre-commit && pre-commit install"),
    ],
)
def test_clone_whose_config_runs_the_check_lacks_pre_commit(
    types: str, programs: list[str], line: str, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name in programs else None)
    write(folder, ".pre-commit-config.yaml", types + CHECKED)
    status = run("status").out
    assert f"no hook checks commits in this clone: `{line}` sets one up\n" in status
    assert "in this clone: `mdmem hooks install --driver-only` sets up the merge driver\n" in status
    ran = run("init")
    assert ran.out.splitlines()[-2:] == [
        f"{UNGUARDED} `{line}`",
        "git merges entries key by key from now on: .git/info/attributes",
    ]
    assert not (folder / ".git/hooks/pre-commit").exists()
    write(folder, ".git/hooks/pre-commit", "# File generated by pre-commit: https://pre-commit.com\n")
    again = run("init").out
    assert (UNGUARDED in again) == (types == "")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CLAUDE.md", "Claude Code reads CLAUDE.md in place of AGENTS.md; add this line to it:\n@AGENTS.md\n"),
        (".claude/CLAUDE.md", "Claude Code reads .claude/CLAUDE.md in place of AGENTS.md; add {}@../AGENTS.md\n"),
        ("GEMINI.md", "Gemini CLI reads GEMINI.md in place of AGENTS.md; add this line to it:\n@AGENTS.md\n"),
        (COPILOT, f"GitHub Copilot reads {COPILOT}, and AGENTS.md not everywhere; add {{}}{READ}\n"),
    ],
)
def test_client_with_its_own_file_is_named_with_the_line_to_add(name: str, said: str, repo: Path, run: Run) -> None:
    file, said = write(repo, name, "Be kind.\n"), said.format("this line to it:\n")
    line = said.splitlines()[1]
    assert (said in run("init").out, file.read_text()) == (True, "Be kind.\n")
    for there in (f"Be kind.\n{line}\n", *(["See @./AGENTS.md.\n"] if name == "CLAUDE.md" else [])):
        write(repo, name, there)
        assert (said in run("init").out, file.read_text()) == (False, there)


@pytest.mark.parametrize(
    ("folder", "wing"),
    [("My Project 2", "my_project_2"), ("lifecore_ros2", "lifecore_ros2"), ("--x--", "x"), ("日本", "project")],
)
def test_first_wing_bears_the_repositorys_name(folder: str, wing: str, tmp_path: Path, run: Run) -> None:
    repository = make_repository(tmp_path / folder)
    run("init", cwd=repository)
    assert (repository / "memory" / wing / "README.md").exists()


@pytest.mark.parametrize(("wing", "valid"), [("Nav", "nav"), ("../x", "x"), ("rust-rfcs", "rust_rfcs")])
def test_bad_name_of_a_wing_is_refused_and_nothing_written(wing: str, valid: str, repo: Path, run: Run) -> None:
    ran = run("init", "--wing", wing, unchanged=repo)
    said = f"mdmem: `{wing}` is not a valid name for a wing; write it like `{valid}`\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


SERVER = {"type": "stdio", "command": "mdmem", "args": ["mcp"]}
ELSEWHERE = ["mcp", "--root", "${workspaceFolder}/memory"]
FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
    "copilot": ".mcp.json",
    "qwen": ".qwen/settings.json",
    "continue": ".continue/mcpServers/mdmem.json",
    "generic": ".mcp.json",
}


def server_in(file: Path) -> dict[str, Any]:
    """Return the server that a client reads in its file."""
    text = file.read_text()
    if file.suffix == ".toml":
        found: dict[str, Any] = tomllib.loads(text)["mcp_servers"]["mdmem"]
        return found
    read = json.loads(text)
    holder = {"mcp.json": "servers" if ".vscode" in file.parts else "mcpServers", "opencode.json": "mcp"}
    joined: dict[str, Any] = read[holder.get(file.name, "mcpServers")]["mdmem"]
    if isinstance(joined["command"], list):
        joined["command"], *joined["args"] = joined["command"]
    return joined


@pytest.mark.parametrize("client", CLIENTS)
def test_command_that_is_written_is_one_that_starts_the_server(client: str, tmp_path: Path, run: Run) -> None:
    folder = make_repository(tmp_path / "shop")
    ran = run("init", "--client", client, cwd=folder)
    assert (ran.code, f"wrote {FILES[client]}\n" in ran.out) == (0, True)
    server = server_in(folder / FILES[client])
    assert str(tmp_path) not in json.dumps(server)
    # Only Cursor does not start its servers in the project's folder for sure.
    assert (server["command"], server["args"]) == ("mdmem", ELSEWHERE if client == "cursor" else SERVER["args"])
    # Else it keeps the tools back until the model looks for them.
    assert server.get("alwaysLoadTools", False) is (client == "qwen")


def test_memory_that_is_there_gets_the_client_and_no_second_one_is_made(repo: Path, run: Run) -> None:
    run("init", "docs/rules", "--wing", "app")
    write_entry(repo / "docs/rules", "app/rules/utc")
    commit_all(repo)
    ran = run("init", "--client", "generic")
    assert ran.out.splitlines()[:3] == [
        "the memory in `docs/rules` stays as it is",
        "wrote .mcp.json",
        "changed AGENTS.md: it lists the tools of the server",
    ]
    assert (ran.out.count("stays as it is"), "next: " in ran.out) == (1, False)
    assert (repo / "AGENTS.md").read_text().count("Before you change code") == 1
    assert not (repo / "memory").exists()


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude-code", '{"mcpServers": '),
        ("cursor", '{"mcpServers": []}'),
        ("vscode", '{"servers": {}, "servers": {}}'),
        ("codex", "mcp_servers = {}\n"),
    ],
)
def test_file_that_cannot_be_grown_stays_and_what_to_add_is_said(client: str, text: str, repo: Path, run: Run) -> None:
    file = write(repo, FILES[client], text)
    ran = run("init", "--client", client)
    assert (ran.code, file.read_text()) == (0, text)
    assert f"{FILES[client]} was not changed: " in ran.out
    assert ('command = "mdmem"' if client == "codex" else '"command": "mdmem"') in ran.out


def test_link_within_the_project_is_followed_and_stays_one(repo: Path, run: Run) -> None:
    real = write(repo, "tools/mcp.json", "{}\n")
    real.chmod(0o640)
    (repo / ".mcp.json").symlink_to("tools/mcp.json")
    run("init", "--client", "generic")
    assert (repo / ".mcp.json").is_symlink()
    assert (server_in(real), real.stat().st_mode & 0o777) == (SERVER, 0o640)


OUT = "was not changed: it is a link that leads out of the project, to "
# Unusual files at the place of a client's file, and the messages about them.
LEFT: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "link out": (lambda file, out: file.symlink_to(out / "mcp.json"), OUT),
    "folder out": (lambda file, out: (file.parent.rmdir(), file.parent.symlink_to(out)), OUT),
    "link to nothing": (lambda file, _: file.symlink_to("nowhere"), "to a missing file"),
    "folder": (lambda file, _: file.mkdir(), "was not changed: it is not a file"),
    "pipe": (lambda file, _: os.mkfifo(file), "was not changed: it is not a file"),
    "read-only": (lambda file, _: (file.write_text("{}\n"), file.chmod(0o444)), "read-only; add this to the file:\n{"),
}


@pytest.mark.parametrize("kind", LEFT)
def test_what_is_no_file_of_the_project_to_write_is_left_alone(kind: str, tmp_path: Path, run: Run) -> None:
    folder, real = make_repository(tmp_path / "repo"), write(tmp_path / "home", "mcp.json", "{}\n")
    (folder / ".vscode").mkdir()
    make, said = LEFT[kind]
    make(folder / ".vscode/mcp.json", real.parent)
    ran = run("init", "--client", "vscode", cwd=folder)
    assert (ran.code, said in ran.out, real.read_text()) == (0, True, "{}\n")
    assert kind != "read-only" or (folder / ".vscode/mcp.json").read_text() == "{}\n"


def test_folder_that_cannot_be_written_holds_up_no_other_step(repo: Path) -> None:
    for name in (".vscode", ".git/hooks"):
        (repo / name).mkdir(exist_ok=True)
        (repo / name).chmod(0o555)
    ran = run_mdmem("init", "--client", "vscode", cwd=repo, first=without_rights())
    assert "mcp.json cannot be written: permission denied; add this to the file:\n{" in ran.stdout
    assert "wrote memory/mdmem.toml\n" in ran.stdout
    assert "wrote AGENTS.md\n" in ran.stdout
    assert (ran.returncode, ".git/hooks" in ran.stderr) == (3, True)


def test_agents_file_names_the_tools_of_the_profile_that_is_set(repo: Path, run: Run) -> None:
    write(repo, "memory/mdmem.toml", '[server]\nprofile = "graphbase"\n')
    run("init", "--client", "codex")
    assert "`retrieve_context` of the MCP server" in (repo / "AGENTS.md").read_text()
    assert "its tool `save_decision`" in (repo / "AGENTS.md").read_text()


@pytest.mark.parametrize(("before", "gap"), [("Be kind.\n", "\n"), ("Be kind.", "\n\n"), ("", ""), ("A.\r\n", "\r\n")])
def test_lines_are_added_to_the_end_of_an_agents_file(before: str, gap: str, repo: Path, run: Run) -> None:
    file = write(repo, "AGENTS.md", before)
    run("init", "--client", "codex")
    after = file.read_bytes().decode()
    assert after.startswith(f"{before}{gap}Before you change code")
    assert after.count("\r\n") == (6 if "\r" in before else 0)
    # Unless it names the command in other words.
    write(repo, "AGENTS.md", "Type `mdmem retrieve` first.\n")
    said = "AGENTS.md was not changed: it already describes `mdmem retrieve` in words that mdmem did not write; add"
    assert (said in run("init", "--client", "codex").out, file.read_text()[:5]) == (True, "Type ")


def test_what_was_exported_is_no_word_of_somebody(folder: Path, run: Run) -> None:
    write(folder, "memory/mdmem.toml", 'default_wing = "nav"\n')
    run("export", "agents-md")
    exported = (folder / "AGENTS.md").read_text()
    assert "`mdmem retrieve --path FILE`" in exported
    ran = run("init", "--client", "codex")
    assert "changed AGENTS.md: it lists the tools of the server" in ran.out
    assert (folder / "AGENTS.md").read_text().startswith(f"{exported}\nBefore you change code")
    assert run("export", "agents-md", "--check").code == 0


def test_client_of_a_repository_with_several_memories_is_told_which(repo: Path, run: Run) -> None:
    for name in ("a", "b"):
        write(repo, f"{name}/mdmem.toml")
    commit_all(repo)
    refused = run("init", "--client", "generic")
    assert (refused.code, "this repository has 2 memories: a, b; choose one with --root" in refused.err) == (2, True)
    for folder, client in (("b", "generic"), (".c", "vscode")):
        run("init", folder, "--client", client)
        assert server_in(repo / FILES[client])["args"] == ["mcp", "--root", folder]
    assert git(repo, "status", "--porcelain", "a") == ""


def test_memory_outside_of_the_project_sets_up_no_client(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    ran = run("init", "../there", "--client", "generic", cwd=folder)
    assert "no client is set up; run this where the memory is\n" in ran.out
    assert list(folder.iterdir()) == []
