"""What a repository chooses the place of is never written or read through a link that leads out of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import git, make_repository, memory, run_here, snapshot, write

from mdmem.ask.fallback import answer_elsewhere

Capture = pytest.CaptureFixture[str]
Laid = Callable[[Path, Path], object]


def laid_baseline(top: Path, outside: Path) -> None:
    write(top, "memory/mdmem.toml", '[check]\nbaseline = "sub/known.json"\n')
    (top / "memory/sub").symlink_to(outside)


def laid_hooks(top: Path, outside: Path) -> None:
    git(top, "config", "core.hooksPath", "hooks")
    (top / "hooks").symlink_to(outside)


def linked(path: str, target: str = "") -> Laid:
    """Return what puts a link to a name outside at a path, where nothing else stands any more."""

    def lay(top: Path, outside: Path) -> None:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).symlink_to(outside / target)

    return lay


def wing(top: Path, outside: Path) -> None:
    write(top, "memory/mdmem.toml", 'default_wing = "away"\n')
    (top / "memory/away").symlink_to(outside)


NEW = ("new", "note", "nav/away", "--title", "New", "--body", "x")
CASES: dict[str, tuple[Laid, tuple[str, ...]]] = {
    "baseline": (laid_baseline, ("check", "--update-baseline")),
    "hooks": (laid_hooks, ("hooks", "install")),
    "room": (linked("memory/nav/away"), NEW),
    "entry": (
        linked("memory/nav/rules/new.md", "new.md"),
        ("new", "note", "nav/rules", "--title", "New", "--body", "x"),
    ),
    "move": (linked("memory/nav/away"), ("mv", "nav/rules/callbacks", "nav/away/callbacks")),
    "memory": (linked("second"), ("init", "second")),
    "memory in a folder": (linked("sub"), ("init", "sub/memory")),
    "manifest": (wing, ("init",)),
    "AGENTS.md": (linked("AGENTS.md", "AGENTS.md"), ("init",)),
    "AGENTS.md of a client": (linked("AGENTS.md", "AGENTS.md"), ("init", "--client", "generic")),
    "claude-code": (linked(".mcp.json", "mcp.json"), ("init", "--client", "claude-code")),
    "cursor": (linked(".cursor"), ("init", "--client", "cursor")),
    "vscode": (linked(".vscode"), ("init", "--client", "vscode")),
    "codex": (linked(".codex"), ("init", "--client", "codex")),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_written_out_of_the_repository(case: str, tmp_path: Path, capsys: Capture) -> None:
    lay, command = CASES[case]
    top, outside = memory(tmp_path / "top"), tmp_path / "outside"
    write(outside, "kept", "x")
    lay(top, outside)
    ran = run_here(capsys, *command, cwd=top)
    assert snapshot(outside) == {"kept": snapshot(outside)["kept"]}
    assert "link" in ran.out + ran.err or "outside" in ran.out + ran.err


def test_baseline_is_not_read_through_a_link(tmp_path: Path, capsys: Capture) -> None:
    top, outside = memory(tmp_path / "top"), tmp_path / "outside"
    write(outside, "known.json", "[]\n")
    laid_baseline(top, outside)
    ran = run_here(capsys, "check", cwd=top)
    said = "mdmem.toml: the path of the baseline sub/known.json contains a symbolic link; choose another path"
    assert (ran.code, said in ran.err) == (2, True)


def test_baseline_behind_a_link_may_be_named_by_the_caller(tmp_path: Path, capsys: Capture) -> None:
    top, outside = memory(tmp_path / "top"), tmp_path / "outside"
    write(outside, "kept", "x")
    laid_baseline(top, outside)
    ran = run_here(capsys, "check", "--update-baseline", "--baseline", str(outside / "known.json"), cwd=top)
    assert (ran.code, (outside / "known.json").is_file()) == (0, True)


def test_folder_linked_within_the_project_may_hold_the_memory(tmp_path: Path, capsys: Capture) -> None:
    top = make_repository(tmp_path / "top")
    (top / "docs/memory").mkdir(parents=True)
    (top / "memory").symlink_to("docs/memory")
    assert (run_here(capsys, "init", cwd=top).code, (top / "docs/memory/mdmem.toml").is_file()) == (0, True)


def test_document_behind_a_linked_folder_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "outside/architecture.md", "The secret.\n")
    (tmp_path / "top").mkdir()
    (tmp_path / "top/docs").symlink_to("../outside")
    assert answer_elsewhere(tmp_path / "top", None, "secret") == ("workspace", ())
