"""What is forked for the tests is a process like any other."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from builders import environment
from processes import Process, is_cold, python, run, run_at_once

from mdmem.store.state.files import try_lock


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        ("pass", 0),
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit('said')", 1),
        ("1 / 0", 1),
        ("import os; os._exit(7)", 7),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15),
        ("raise KeyboardInterrupt", -2),
    ],
)
def test_fork_ends_as_an_interpreter_does(code: str, ends: int, tmp_path: Path) -> None:
    for program in (sys.executable, python()):
        done = subprocess.run([program, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (ends, b"")
    assert run("-c", code, cwd=tmp_path, env=environment()).returncode == ends


def test_fork_has_its_own_folder_variables_input_and_arguments(tmp_path: Path) -> None:
    code = "import os, sys; print([os.getcwd(), os.environ['OURS'], sys.argv, __name__, sys.stdin.read()])"
    found = str([str(tmp_path), "yes", ["-c", "a", "", "b c"], "__main__", "given"]) + "\n"
    done = run("-c", code, "a", "", "b c", cwd=tmp_path, env=environment(OURS="yes"), stdin=b"given")
    assert (done.stdout.decode(), done.stderr) == (found, b"")
    line = [python(), "-c", code, "a", "", "b c"]
    assert subprocess.check_output(line, cwd=tmp_path, env=environment(OURS="yes"), input=b"given").decode() == found


def test_lock_of_a_fork_that_is_killed_is_free(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    code = "import pathlib, time; from mdmem.store.state.files import try_lock; try_lock(pathlib.Path('lock')); "
    code += "print('held', flush=True); time.sleep(60)"
    with Path(os.devnull).open("r+b") as nothing:
        streams = [nothing.fileno(), writing, nothing.fileno()]
        process = Process(
            ["-c", f"{code}; print('held', flush=True); time.sleep(60)"],
            cwd=tmp_path,
            env=environment(),
            streams=streams,
        )
    os.close(writing)
    assert os.read(reading, 5) == b"held\n"
    assert try_lock(tmp_path / "lock") is None
    process.kill()
    assert process.wait() == -signal.SIGKILL
    # The end of what it printed: nobody else holds its streams.
    assert os.read(reading, 1) == b""
    os.close(reading)
    handle = try_lock(tmp_path / "lock")
    assert handle is not None
    os.close(handle)


def test_fork_ends_when_the_program_that_stands_for_it_is_killed(tmp_path: Path) -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with subprocess.Popen(
        [python(), "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as one:
        assert one.stdout is not None
        assert int(one.stdout.readline()) != one.pid
        one.kill()
        assert one.stdout.read() == b""


def test_what_an_interpreter_reads_at_its_start_starts_a_new_one(tmp_path: Path) -> None:
    assert [is_cold(environment(**{name: "x"})) for name in ("PYTHONHASHSEED", "PATH", "EDITOR")] == [True, True, False]
    code = "import sys; print(sys.flags.dont_write_bytecode)"
    assert run("-c", code, cwd=tmp_path, env=environment(PYTHONDONTWRITEBYTECODE="1")).stdout == b"1\n"


def divide(number: int, by: int) -> float:
    return number / by


def test_processes_at_once_give_what_each_found() -> None:
    assert run_at_once(divide, 2, count=3) == [0, 0.5, 1]
    assert [type(one) for one in run_at_once(divide, 0, count=2)] == [ZeroDivisionError] * 2
