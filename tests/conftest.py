"""What every test has: no variable of a hook's repository, no settings of the user's own, one day."""

import atexit
import gc
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from browser import chromium as chromium
from builders import Ran, Run, environment, make_repository, memory, run_here, snapshot
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# Once for the process and before the first test: hypothesis forbids a fixture for each function.
_CLEAN = environment()
for _name in os.environ.keys() - _CLEAN.keys():
    del os.environ[_name]
os.environ.update(_CLEAN)
# A root outside git keeps its state in the user's folders: those of the tests, not those of who runs them.
_HOME = tempfile.mkdtemp(prefix="mdmem-tests-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
os.environ.update({"XDG_DATA_HOME": f"{_HOME}/data", "XDG_CACHE_HOME": f"{_HOME}/cache"})

# Else a tenth of the time of all tests would go into looking for garbage, and a fifth of that of collecting them.
gc.set_threshold(50_000, 20, 20)
gc.disable()

# Else each of some hundred processes would compile all that it imports, and each worker every test.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Whoever begins one of these last is waited for.
_LONG = ("test_pages.py", "test_sync.py", "test_worst_day.py", "test_many_writers.py", "test_visibility.py")

# Where there is room for it, what the tests write stays in memory; a container often has 64 MB of it.
_MEMORY = Path("/dev/shm")
if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2 * 1024**3:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# A server that is built takes this for the log of whoever embeds it, and leaves no handler of its own: that would write
# to a stream that is closed by then, which is told in the output of another test.
logging.root.addHandler(logging.NullHandler())

# How long an example takes says something about the machine, and nothing about the program.
_NOT_OURS = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("explore", deadline=None, suppress_health_check=_NOT_OURS, max_examples=300)
# Few, and the same in every run, so that a change is blamed for what it did; `--hypothesis-profile=explore` looks on.
settings.register_profile("mdmem", settings.get_profile("explore"), derandomize=True, max_examples=25)
settings.load_profile("mdmem")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever wants to look at the pages name a folder for their pictures."""
    parser.addoption("--screenshots", metavar="DIR", help="keep the pictures of five pages of the site here")


def pytest_configure(config: pytest.Config) -> None:
    """Let no example depend on what else was imported: each worker would read the whole program for its constants."""
    if config.getoption("--hypothesis-profile", None) is None:
        providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let what takes long come first, so that no worker is left alone with it."""
    items.sort(key=lambda item: item.path.name not in _LONG)


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make alone: nine thousand of them wait in memory for their turn."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a worker tell how a test ended, and of its other steps those that failed: else each test is six messages."""
    options = item.config.option
    if not hasattr(item.config, "workerinput") or options.durations is not None or options.xmlpath is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return `tmp_path` as the repository of `builders.memory`."""
    return memory(tmp_path)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return `tmp_path` as a git repository without a memory."""
    return make_repository(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Return a function that runs a command, in `tmp_path` unless `cwd` is another folder.

    With `unchanged`, the command must not change any file of that folder.
    """

    def run_command(*arguments: str, cwd: Path = tmp_path, unchanged: Path | None = None) -> Ran:
        before = snapshot(unchanged) if unchanged is not None else None
        ran = run_here(capsys, *arguments, cwd=cwd)
        assert unchanged is None or snapshot(unchanged) == before
        return ran

    return run_command
