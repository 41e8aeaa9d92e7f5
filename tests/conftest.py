"""Set up all tests: a clean environment, no settings of the user, a fixed day, and the common fixtures."""

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

# Clean the environment once, before the first test, because hypothesis forbids function-scoped fixtures.
_CLEAN = environment()
for _name in os.environ.keys() - _CLEAN.keys():
    del os.environ[_name]
os.environ.update(_CLEAN)
# A root outside git keeps its state in the user's folders, so give the tests folders of their own.
_HOME = tempfile.mkdtemp(prefix="mdmem-tests-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
os.environ.update({"XDG_DATA_HOME": f"{_HOME}/data", "XDG_CACHE_HOME": f"{_HOME}/cache"})

# Garbage collection would take a tenth of the time of all tests, and a fifth of the time to collect the tests.
gc.set_threshold(50_000, 20, 20)
gc.disable()

# Write bytecode, because otherwise each process would compile everything that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# These files take longest, so they must start first.
_LONG = ("test_pages.py", "test_sync.py", "test_worst_day.py", "test_many_writers.py", "test_visibility.py")

# Write the tests' files to memory if there is enough of it; a container often has only 64 MB.
_MEMORY = Path("/dev/shm")
if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2 * 1024**3:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# With this handler, a server adds none of its own. Its own handler would write to a stream that is closed when the test
# ends, and the error would be in the output of another test.
logging.root.addHandler(logging.NullHandler())

# The time that an example takes depends on the machine, so it is not checked.
_NOT_OURS = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("explore", deadline=None, suppress_health_check=_NOT_OURS, max_examples=300)
# Few examples, the same in every run, so that a failure is due to the change; `--hypothesis-profile=explore` runs more.
settings.register_profile("mdmem", settings.get_profile("explore"), derandomize=True, max_examples=25)
settings.load_profile("mdmem")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--screenshots`."""
    parser.addoption("--screenshots", metavar="DIR", help="keep the pictures of five pages of the site here")


def pytest_configure(config: pytest.Config) -> None:
    """Stop hypothesis from reading constants out of the program: it is slow, and depends on what was imported."""
    if config.getoption("--hypothesis-profile", None) is None:
        providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run long test files first, so that no worker is left alone with one."""
    items.sort(key=lambda item: item.path.name not in _LONG)


def pytest_collection_finish() -> None:
    """Exclude the nine thousand collected tests from garbage collection, and turn it on."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a worker report only the test itself and failed steps, because each test would send six messages."""
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
