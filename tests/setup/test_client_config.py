"""Test adding a server to a client's file: the inserted text, refusals, and how to install an extra."""

import contextlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import Capture, make_repository, make_root, run_here, snapshot, write
from hypothesis import given
from hypothesis import strategies as st

from mdmem.setup import init as module
from mdmem.setup import installation
from mdmem.setup.client_config import InsertError, add_to_json, add_to_toml, read_object
from mdmem.setup.clients import HOOKS
from mdmem.setup.installation import Installation

SERVER: dict[str, Any] = {"command": "mdmem", "args": ["mcp"]}


def grown(text: str, section: str = "servers") -> str:
    return add_to_json(text.encode(), section, {"mdmem": SERVER}).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "servers": {\n    "mdmem": {\n      "command": "mdmem",\n'),
        ('\ufeff{"a": 1}', '\ufeff{\n  "servers": {\n    "mdmem": {\n      "command": "mdmem",\n'),
        ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "servers": {\r\n    "mdmem": {\r\n      "command": "mdmem",\r\n'),
        ('{\n\t"servers": {\n\t}\n}', '{\n\t"servers": {\n\t\t"mdmem": {\n\t\t\t"command": "mdmem",\n'),
        ('{\n    "a": 1\n}', '{\n    "servers": {\n        "mdmem": {\n            "command": "mdmem",\n'),
    ],
)
def test_encoding_mark_line_endings_and_indentation_are_those_of_the_file(before: str, after: str) -> None:
    assert grown(before).startswith(after)
    assert ("\r" not in before) or re.search(r"[^\r]\n", grown(before)) is None


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("[]", "it contains no object"),
        ('{"servers": null}', "`servers` is not an object"),
        ('{"servers": {}, "servers": {}}', "it cannot be read as JSON: the key `servers` occurs twice; delete one"),
        ('{\n"a": }', "it cannot be read as JSON: line 2: expecting value"),
        ('{"a": 1 "b": 2}', "it cannot be read as JSON: line 1: expecting ',' delimiter"),
        ("{} {}", "it cannot be read as JSON: line 1: extra data"),
        ('{"a": [,]}', "it cannot be read as JSON: line 1: expecting value"),
        ('{"a": NaN}', "it cannot be read as JSON: `NaN` is not a JSON value"),
        ("[" * 500_000, "its JSON is nested too deep to be read"),
        ("\udcff", "it is not in UTF-8"),
    ],
)
def test_what_cannot_be_grown_safely_is_refused(before: str, why: str) -> None:
    with pytest.raises(InsertError) as refused:
        add_to_json(os.fsencode(before), "servers", {"mdmem": SERVER})
    assert str(refused.value) == why


@pytest.mark.parametrize(
    "before",
    ["", 'model = "x" # ours', '[mcp_servers.a]\ncommand = "b"\n', '[mcp_servers]\na = {command = "b"}\n', "a = 1\r\n"],
)
def test_table_is_added_at_the_end_of_toml(before: str) -> None:
    content = add_to_toml(before.encode(), "mcp_servers", {"mdmem": SERVER})
    assert content.startswith(before.encode())
    assert tomllib.loads(content.decode())["mcp_servers"]["mdmem"] == SERVER
    assert (b"\r\n[mcp_servers.mdmem]\r\n" in content) == ("\r" in before)


def test_toml_that_takes_no_table_is_refused() -> None:
    for before in (b"mcp_servers = {}\n", b"mcp_servers = 3\n", b"a = = 3\n"):
        with pytest.raises(InsertError):
            add_to_toml(before, "mcp_servers", {"mdmem": SERVER})


_GAPS = st.sampled_from(["", " ", "\n", "\n  ", " // c, }\n", "/* { */", "\t", "\r\n"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """Return a value as somebody may have written it, with comments, white space and trailing commas."""
    gap = draw(_GAPS)
    if not isinstance(value, (dict, list)):
        return f"{gap}{json.dumps(value, ensure_ascii=draw(st.booleans()))}{draw(_GAPS)}"
    if isinstance(value, dict):
        parts = [f"{draw(_GAPS)}{json.dumps(key)}{draw(_GAPS)}:{draw(written(one))}" for key, one in value.items()]
    else:
        parts = [draw(written(one)) for one in value]
    trailing = f",{draw(_GAPS)}" if parts and draw(st.booleans()) else draw(_GAPS)
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return f"{gap}{opened}{draw(_GAPS)}{','.join(parts)}{trailing}{closed}{draw(_GAPS)}"


LISTS = st.dictionaries(st.sampled_from("ABC"), st.lists(st.integers() | st.just({"x": [1]}), max_size=3))


@st.composite
def files(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    value = draw(st.dictionaries(st.text(max_size=3), _VALUES, max_size=3))
    if draw(st.booleans()):
        value |= {"servers": draw(st.dictionaries(st.text(max_size=3), _VALUES, max_size=3)), "hooks": draw(LISTS)}
    return value, draw(written(value))


@given(files())
def test_any_file_keeps_every_character_and_gains_what_is_wanted_alone(file: tuple[dict[str, Any], str]) -> None:
    value, text = file
    assert read_object(text.encode()) == value
    servers = {**value.get("servers", {}), "mdmem": SERVER}
    hooks = {**value.get("hooks", {}), **{one: [SERVER, *value.get("hooks", {}).get(one, [])] for one in "AB"}}
    wanted = {"A": SERVER, "B": SERVER}
    listed = add_to_json(text.encode(), "hooks", wanted, is_listed=True, defaults={"version": 1}).decode()
    for after, more in ((grown(text), {"servers": servers}), (listed, {"hooks": hooks})):
        rest = iter(after)
        assert all(character in rest for character in text)
        assert read_object(after.encode()) == ({"version": 1} if "hooks" in more else {}) | value | more


@given(st.text(alphabet='{}[]",:/*1a \n\\', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InsertError):
        add_to_json(text.encode(), "servers", {"mdmem": SERVER})


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
    before = '{\n  // ours\n  "url": "http://x/} // , /* y",\n  '
    text = f'{before}"hooks": {{"PreToolUse": [{json.dumps(own)}], "Stop": []}}\n}}\n'
    write(folder, ".claude/settings.json", text)
    assert "added the hooks of mdmem to .claude/settings.json" in joined(folder, capsys, "claude-code", "--hooks")
    grown = (folder / ".claude/settings.json").read_text()
    assert before.removeprefix("{\n") in grown
    hooks = read_object(grown.encode())["hooks"]
    line = {"type": "command", "command": "mdmem hook-event claude-code || true", "timeout": 5}
    assert hooks == {
        "PreToolUse": [{"matcher": "Edit|MultiEdit|Write|NotebookEdit", "hooks": [line]}, own],
        "Stop": [],
        "SessionStart": [{"hooks": [line]}],
    }


def test_what_cannot_be_added_to_is_left_and_the_piece_is_shown(folder: Path, capsys: Capture) -> None:
    held = write(folder, ".claude/settings.json", '{"hooks": {"PreToolUse": {}}}')
    said = "\n".join(joined(folder, capsys, "claude-code", "--hooks"))
    assert ".claude/settings.json was not changed: `hooks.PreToolUse` is not a list; " in said
    assert '"matcher": "Edit|MultiEdit|Write|NotebookEdit"' in said
    assert held.read_text() == '{"hooks": {"PreToolUse": {}}}'


def test_another_program_and_another_root_are_named(folder: Path, capsys: Capture) -> None:
    make_root(folder / "other")
    program = folder / "my tools/mdmem"
    write(folder, "my tools/mdmem", "#!/bin/sh\n").chmod(0o755)
    said = ["init", "memory", "--no-hook", "--client", "codex", "--hooks", "--command", str(program)]
    assert run_here(capsys, *said, cwd=folder).code == 0
    (group,) = json.loads((folder / ".codex/hooks.json").read_text())["hooks"]["SessionStart"]
    assert group["hooks"][0]["command"] == f"'{program}' hook-event codex --root memory || true"


def test_a_client_without_hooks_is_said_and_hooks_without_a_client_are_refused(folder: Path, capsys: Capture) -> None:
    assert "generic has no hooks that mdmem could answer" in joined(folder, capsys, "generic", "--hooks")
    ran = run_here(capsys, "init", "--hooks", cwd=folder)
    assert (ran.code, "--client" in ran.err) == (2, True)


FOLDER = {"url": "file:///home/ada/my%20code/mdmem", "dir_info": {}}
GIT = {"url": "https://example.org/mdmem.store.git", "vcs_info": {"vcs": "git"}}


@pytest.mark.parametrize(
    ("marker", "origin", "line"),
    [
        ("pipx_metadata.json", FOLDER, "pipx install --force '/home/ada/my code/mdmem[mcp]'"),
        ("uv-receipt.toml", {}, "uv tool install --force 'mdmem[mcp]'"),
        ("", {}, "{prefix}/bin/pip install 'mdmem[mcp]'"),
        ("", GIT, "{prefix}/bin/pip install 'mdmem[mcp] @ git+https://example.org/mdmem.store.git'"),
        ("", FOLDER | {"dir_info": {"editable": True}}, "{prefix}/bin/pip install -e '/home/ada/my code/mdmem[mcp]'"),
    ],
)
def test_line_fits_the_way_it_was_installed(marker: str, origin: Mapping[str, Any], line: str, tmp_path: Path) -> None:
    if marker:
        (tmp_path / marker).touch()
    assert Installation(tmp_path, origin).line_for("mcp") == line.format(prefix=tmp_path)
    if not marker:
        of_system = Installation(tmp_path, origin, is_virtual=False).line_for("mcp")
        assert of_system.startswith("python3 -m pip install ")


def test_command_that_no_client_finds_and_extra_that_is_missing_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    make_repository(tmp_path)
    ran = run_here(capsys, "init", "--client", "codex", "--command", "mdmem-of-ours", cwd=tmp_path)
    assert "`mdmem-of-ours` is not on the PATH" in ran.out
    assert 'command = "mdmem-of-ours"' in (tmp_path / ".codex/config.toml").read_text()
    ran = run_here(capsys, "init", "--client", "codex", "--command", "git", cwd=tmp_path)
    assert "the server needs the extra `mcp`: type `" in ran.out


def test_commit_that_is_unknown_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(installation, "this_installation", lambda: Installation(tmp_path, FOLDER))
    assert [*installation.describe_installation()] == ["mdmem", "extras", "python", "system"]
