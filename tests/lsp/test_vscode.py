"""Test VS Code in a browser, with the packed extension.

Its 600 MB are installed once, in the folder `$CODE_SERVER_CACHE` or the folder for temporary files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from builders import commit_all, environment, memory, run_mdmem, status, write, write_entry
from conformance.node import Node, installed

import mdmem
from mdmem.lsp.server import OPTIONS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EXTENSION = Path(mdmem.__file__).parent / "lsp/vscode"
_CODE = "code-server"
# The page has 30 MB, and the machine may be busy.
_PATIENCE = 60_000
_SETTINGS = {"chat.disableAIFeatures": True, "workbench.enableExperiments": False}
_QUIET = ("--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", "--auth=none")


def test_the_extension_has_the_settings_that_the_server_takes() -> None:
    said = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    stated = said["contributes"]["configuration"]["properties"]
    flags = {key.removeprefix("mdmem."): one["default"] for key, one in stated.items() if one["type"] == "boolean"}
    assert flags == OPTIONS
    assert said["version"] == mdmem.__version__
    assert (EXTENSION / said["main"]).is_file()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with code that a rule applies to, and a note that has an unknown status."""
    found = memory(tmp_path.resolve() / "project")
    write_entry(found / "memory", "nav/rules/spin", type="invariant", title="Spin once", applies_to=["src/*.py"])
    see = ["nav/architecture/threads"]
    write_entry(found / "memory", "nav/notes/queue", type="note", title="A queue", status="actve", see=see)
    write(found, "src/loop.py", "spin()\n")
    commit_all(found)
    return found


@pytest.fixture(scope="session")
def node() -> Node:
    cache = Path(os.environ.get("CODE_SERVER_CACHE") or Path(tempfile.gettempdir(), f"mdmem-editors-{os.getuid()}"))
    wanted = Path(__file__).with_name("code_server") / "package.json"
    return installed(cache, wanted, with_optional=True, inner=[f"{_CODE}/lib/vscode"])


def packed(folder: Path) -> Path:
    if not shutil.which("zip"):
        pytest.skip("zip is not installed")
    subprocess.run(["sh", EXTENSION / "pack.sh", folder / "mdmem.vsix"], cwd=folder, check=True, timeout=120)
    return folder / "mdmem.vsix"


@contextmanager
def serving(node: Node, folder: Path) -> Iterator[str]:
    """Yield the address of an editor with the extension, and stop all its processes at the end."""
    command = write(folder, "bin/mdmem", f'#!/bin/sh\nexec {sys.executable} -m mdmem "$@"\n')
    command.chmod(0o755)
    write(folder, "user/Machine/settings.json", json.dumps({"mdmem.command": str(command)}))
    write(folder, "user/User/settings.json", json.dumps(_SETTINGS))
    # Without a marketplace, nothing is requested from the network.
    said = environment(HOME=str(folder), EXTENSIONS_GALLERY='{"serviceUrl": ""}')
    places = (f"--user-data-dir={folder / 'user'}", f"--extensions-dir={folder / 'extensions'}")
    line = [node.binary, node.modules / _CODE / "out/node/entry.js", f"--config={folder / 'config.yaml'}", *places]
    add = [*line, "--install-extension", packed(folder)]
    subprocess.run(add, env=said, cwd=folder, capture_output=True, check=True, timeout=120)
    log = folder / "log"
    with log.open("wb") as told:
        more = [*_QUIET, "--bind-addr=127.0.0.1:0"]
        process = subprocess.Popen(
            [*line, *more], env=said, cwd=folder, stdout=told, stderr=told, start_new_session=True
        )
    try:
        yield _address(process, log)
    finally:
        os.killpg(process.pid, 15)
        process.wait(timeout=30)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + _PATIENCE / 1000
    while process.poll() is None and time.monotonic() < end:
        found = re.search(r"listening on (http://[\d.:]+)", log.read_text(encoding="utf-8"))
        if found is not None:
            return found[1]
        time.sleep(0.05)
    raise AssertionError(log.read_text(encoding="utf-8"))


def choose(page: Page, file: str) -> None:
    page.keyboard.press("Control+p")
    page.keyboard.type(file)
    page.locator(".quick-input-list .monaco-list-row", has_text=file).first.wait_for()
    page.keyboard.press("Enter")
    page.locator(".tab.active", has_text=file).wait_for()


def press_until(page: Page, key: str, shown: str) -> None:
    """Press a key until something is shown, since an editor that is not ready ignores keys."""
    end = time.monotonic() + _PATIENCE / 1000
    while not page.locator(shown).first.is_visible():
        assert time.monotonic() < end, f"{key} shows nothing"
        page.keyboard.press(key)
        page.wait_for_timeout(2000)


def rename(page: Page, line: int, column: int, name: str) -> None:
    """Rename the symbol at a place in the open file."""
    page.keyboard.press("Control+g")
    page.locator(".quick-input-widget").wait_for()
    page.keyboard.type(f"{line}:{column}")
    page.keyboard.press("Enter")
    page.locator(".statusbar-item", has_text=f"Ln {line}, Col {column}").wait_for()
    press_until(page, "F2", ".rename-box input:focus")
    page.keyboard.press("Control+a")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.locator(".rename-box input:focus").wait_for(state="hidden")


@pytest.mark.long
def test_rules_stand_above_code_and_an_entry_is_mended_and_renamed(
    node: Node, chromium: Browser, project: Path
) -> None:
    moved = project / "memory/nav/architecture/two-threads.md"
    asked: list[str] = []
    with serving(node, project.parent) as address:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(_PATIENCE)
        ours = (address, address.replace("http", "ws"), "data:", "blob:")
        page.on("request", lambda request: None if request.url.startswith(ours) else asked.append(request.url))
        file = f"vscode-remote://{address.removeprefix('http://')}{project / 'src/loop.py'}"
        opened = quote(json.dumps([["openFile", file]]))
        page.goto(f"{address}/?folder={quote(str(project))}&payload={opened}")
        page.locator(".codelens-decoration", has_text="1 invariant applies to this file").wait_for()
        choose(page, "queue.md")
        page.locator(".squiggly-error").first.wait_for()
        page.keyboard.press("F8")
        page.locator(".marker-widget", has_text="unknown status `actve`").wait_for()
        assert page.locator("[id='status.problems']").inner_text().split() == ["1", "0"]
        page.keyboard.press("Escape")
        press_until(page, "Control+.", ".action-widget .focused")
        page.locator(".action-widget .focused", has_text="Write `status: active`").wait_for()
        page.keyboard.press("Enter")
        page.locator(".squiggly-error").first.wait_for(state="detached")
        page.keyboard.press("Control+s")
        page.locator(".tab.active.dirty").wait_for(state="detached")
        rename(page, 6, 20, "nav/architecture/two-threads")
        end = time.monotonic() + _PATIENCE / 2000
        while not moved.is_file() and time.monotonic() < end:
            page.wait_for_timeout(200)
        page.keyboard.press("Control+s")
        page.locator(".tab.active.dirty").wait_for(state="detached")
        page.close()
    assert asked == []
    assert moved.is_file()
    assert run_mdmem("check", cwd=project).returncode == 0, status(project)
