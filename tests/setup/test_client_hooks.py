"""The hooks of agents' clients: what is added to which file, that nothing else changes, and what a person is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from builders import make_repository, make_root, run_here, snapshot, write
from hypothesis import given
from hypothesis import strategies as st

from mdmem.setup.client_config import MisfitError, grow_lists, read_object
from mdmem.setup.clients import HOOKS

Capture = pytest.CaptureFixture[str]
ITEM = {"command": "mdmem"}
WANTED = {"A": ITEM, "B": ITEM}


def joined(folder: Path, capsys: Capture, client: str, *more: str) -> list[str]:
    ran = run_here(capsys, "init", "--no-hook", "--client", client, *more, cwd=folder)
    assert ran.code == 0, ran.err
    return ran.out.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty repository."""
    return make_repository(tmp_path / "shop")


@pytest.mark.parametrize("client", HOOKS)
def test_hooks_are_written_when_they_are_asked_for_and_once(client: str, folder: Path, capsys: Capture) -> None:
    path = folder / HOOKS[client].path
    joined(folder, capsys, client)
    assert not path.exists() or "hook-event" not in path.read_text()
    assert any(f"{HOOKS[client].path}" in line for line in joined(folder, capsys, client, "--hooks"))
    text = path.read_text()
    assert "hook-event" in text
    assert client in text
    before = snapshot(folder)
    joined(folder, capsys, client, "--hooks")
    assert snapshot(folder) == before


def test_what_a_person_has_there_stays(folder: Path, capsys: Capture) -> None:
    own = {"matcher": "Bash", "hooks": [{"type": "command", "command": "tools/log-hook-event.sh"}]}
    text = f'{{\n  // ours\n  "model": "x",\n  "hooks": {{"PreToolUse": [{json.dumps(own)}], "Stop": []}}\n}}\n'
    write(folder, ".claude/settings.json", text)
    assert "added the hooks of mdmem to .claude/settings.json" in joined(folder, capsys, "claude-code", "--hooks")
    grown = (folder / ".claude/settings.json").read_text()
    assert "// ours" in grown
    hooks = read_object(grown.encode())["hooks"]
    line = {"type": "command", "command": "mdmem hook-event claude-code || true", "timeout": 5}
    assert hooks == {
        "PreToolUse": [own, {"matcher": "Edit|MultiEdit|Write|NotebookEdit", "hooks": [line]}],
        "Stop": [],
        "SessionStart": [{"hooks": [line]}],
    }


@pytest.mark.parametrize("held", ["[]", "{", '{"hooks": 3}', '{"hooks": {"PreToolUse": {}}}', "\udcff"])
def test_what_cannot_be_added_to_is_left_and_the_piece_is_shown(held: str, folder: Path, capsys: Capture) -> None:
    write(folder, ".claude/settings.json", os.fsencode(held))
    said = "\n".join(joined(folder, capsys, "claude-code", "--hooks"))
    assert ".claude/settings.json is there and stays as it is: " in said
    assert '"matcher": "Edit|MultiEdit|Write|NotebookEdit"' in said
    assert (folder / ".claude/settings.json").read_bytes() == os.fsencode(held)


def test_another_program_and_another_root_are_named(folder: Path, capsys: Capture) -> None:
    make_root(folder / "other")
    program = folder / "my tools/mdmem"
    write(folder, "my tools/mdmem", "#!/bin/sh\n").chmod(0o755)
    said = ["init", "memory", "--no-hook", "--client", "codex", "--hooks", "--command", str(program)]
    assert run_here(capsys, *said, cwd=folder).code == 0
    (group,) = json.loads((folder / ".codex/hooks.json").read_text())["hooks"]["SessionStart"]
    assert group["hooks"][0]["command"] == f"'{program}' hook-event codex --root memory || true"
    assert "so that it starts" not in run_here(capsys, *said, cwd=folder).out
    config = folder / ".codex/config.toml"
    config.write_text(f"# not /else/mdmem\n{config.read_text()}")
    told = run_here(capsys, *said[:-1], "/else/mdmem", cwd=folder).out
    assert told.count("so that it starts `/else/mdmem`, replace its piece for mdmem by this:") == 2
    assert "/else/mdmem hook-event codex" in told


def test_a_client_without_hooks_is_said_and_hooks_without_a_client_are_refused(folder: Path, capsys: Capture) -> None:
    assert "generic has no hooks that mdmem could answer" in joined(folder, capsys, "generic", "--hooks")
    ran = run_here(capsys, "init", "--hooks", cwd=folder)
    assert (ran.code, "--client" in ran.err) == (2, True)


LISTS = st.dictionaries(st.sampled_from("ABC"), st.lists(st.integers() | st.just({"x": [1]}), max_size=3))
FILES = st.fixed_dictionaries({}, optional={"a": st.integers(), "hooks": LISTS, "version": st.just(2)})


@given(FILES, st.sampled_from([None, 2, "\t"]))
def test_any_file_grows_by_these_items_alone(held: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(held, indent=indent)
    after = read_object(grow_lists(text.encode(), "hooks", WANTED, seed={"version": 1}))
    lists = held.get("hooks", {})
    assert after == {"version": 1, **held, "hooks": {**lists, **{one: [*lists.get(one, []), ITEM] for one in WANTED}}}


def test_a_list_that_is_none_is_no_place_for_an_item() -> None:
    with pytest.raises(MisfitError, match=r"`hooks\.A` is no list"):
        grow_lists(b'{"hooks": {"A": {}}}', "hooks", WANTED, seed={})
