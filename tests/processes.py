"""Processes for the tests, forked from one that has imported everything: as real as any, without its start-up.

A fork has its own working folder, variables, streams, arguments, process id and exit code, can be signalled and killed,
and ends as an interpreter ends. What an interpreter reads before it runs anything it cannot get any more: where such
a variable (`COLD`) is another one than ours, the process is started anew.

`Process` and `run` ask for a fork; `python()` is a program to be named where git, a shell or a client starts Python.
"""

from __future__ import annotations

import atexit
import gc
import io
import marshal
import os
import pickle
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType, NoneType
from typing import Any, BinaryIO, NoReturn

# Variables that a running interpreter, or a library it has imported, does not read again.
COLD = ("PYTHON", "LC_", "LANG", "PATH", "GIT_PYTHON")
# The libraries of the two servers take as long to import as all others each; few processes need them.
_LATE = ("mcp", "lsp")
_FIRST_COMMANDS = (
    "init --no-hook --wing first",
    "new decision first/rooms Doors --status active --body Tried.",
    "list",
    "check",
    "check --staged",
    "search tried",
    "retrieve tried",
)
_HEADER = 8
_DESCRIPTORS = 64
_WORK = """\
import pickle, sys
sys.path[:] = {path!r}
work, arguments = pickle.load(sys.stdin.buffer)
sys.stderr.write(".")
sys.stderr.flush()
sys.stdin.buffer.read()
try:
    found = work(*arguments)
except Exception as error:
    found = error
pickle.dump(found, sys.stdout.buffer)
"""


class Process:
    """A process that was forked; its exit code is negative where a signal ended it, as in `subprocess`."""

    def __init__(
        self, arguments: Sequence[str | bytes], *, cwd: Path, env: Mapping[str, str], streams: Sequence[int]
    ) -> None:
        """Start Python in a folder with its arguments: `-m MODULE …`, `-c CODE …` or `FILE …`."""
        variables = {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
        words = [os.fsencode(one) for one in (sys.executable, *arguments)]
        asked = marshal.dumps((words, os.fsencode(cwd), variables))
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(str(_warm() / "line"))
        socket.send_fds(self._line, [len(asked).to_bytes(_HEADER, "big")], streams)
        self._line.sendall(asked)
        self._told = self._line.makefile("rb")
        self.pid = int(self._told.readline())
        self.returncode: int | None = None

    def wait(self) -> int:
        """Return the exit code as soon as there is one."""
        if self.returncode is None:
            with self._line, self._told:
                self.returncode = int(self._told.readline())
        return self.returncode

    def kill(self) -> None:
        """End the process as nothing else ends it, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)


def python() -> str:
    """Return a program that stands for the interpreter's: it hands on all it was given to a fork, and ends as that."""
    return str(_warm() / "python")


def run(*arguments: str, cwd: Path, env: Mapping[str, str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run Python to its end with arguments as `Process` takes them, and return how it ended and what it printed."""
    if is_cold(env):
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=cwd, env=env, input=stdin, capture_output=True, check=False)
    with ExitStack() as files:
        given, *printed = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin)
        given.seek(0)
        streams = [file.fileno() for file in (given, *printed)]
        code = Process(arguments, cwd=cwd, env=env, streams=streams).wait()
        return subprocess.CompletedProcess([sys.executable, *arguments], code, *map(_whole, printed))


def run_text(*arguments: str, cwd: Path, env: Mapping[str, str], text_in: str = "") -> subprocess.CompletedProcess[str]:
    """Do the same with text, whose line ends are what they are on every system."""
    done = run(*arguments, cwd=cwd, env=env, stdin=text_in.encode())
    out, err = (io.TextIOWrapper(io.BytesIO(printed), "utf-8").read() for printed in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def is_cold(env: Mapping[str, str]) -> bool:
    """Say whether these variables differ from ours in one that only a new interpreter reads."""
    return any(
        env.get(name) != os.environ.get(name) for name in env.keys() | os.environ.keys() if name.startswith(COLD)
    )


def run_at_once(work: Callable[..., Any], *arguments: Any, count: int = 4) -> list[Any]:
    """Return what each of many processes gave that are let go at the same moment, an exception where one failed.

    `work` gets its number first, and has to be a module's own function.
    """
    with ExitStack() as files:
        begun = [_begin(files, work, (number, *arguments)) for number in range(count)]
        for _, _, _, said in begun:
            assert said.read(1) == b".", said.read().decode()
        for _, gate, _, _ in begun:
            gate.close()
        for process, _, _, said in begun:
            assert process.wait() == 0, said.read().decode()
        return [pickle.loads(_whole(result)) for _, _, result, _ in begun]


def exit_code_of(work: Callable[..., Any], *arguments: Any) -> int:
    """Return how a process ended that did some work, a module's own function."""
    with ExitStack() as files:
        process, gate, _, said = _begin(files, work, arguments)
        assert said.read(1) == b".", said.read().decode()
        gate.close()
        return process.wait()


def fork_here(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Do as `run_text` does in a fork of this very process, with its variables and whatever else it has."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(os.devnull).open("rb") as nothing:
        # What is not flushed would be printed by both.
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _become(os.fsencode(cwd), dict(os.environb), [file.fileno() for file in (nothing, out, err)])
            _run_to_the_end([sys.executable, *arguments])
        _, status = os.waitpid(pid, 0)
        printed = [_whole(file).decode() for file in (out, err)]
    return subprocess.CompletedProcess(arguments, os.waitstatus_to_exitcode(status), *printed)


def _begin(
    files: ExitStack, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Process, BinaryIO, BinaryIO, BinaryIO]:
    """Start a process up to where it waits, and return it with its gate, its result and its errors."""
    (stdin, gate), (said, stderr) = os.pipe(), os.pipe()
    result = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    program, streams = _WORK.format(path=sys.path), [stdin, result.fileno(), stderr]
    process = Process(["-c", program], cwd=Path.cwd(), env=os.environ, streams=streams)
    os.close(stdin)
    os.close(stderr)
    opened = files.enter_context(os.fdopen(gate, "wb", buffering=0))
    opened.write(pickle.dumps((work, arguments)))
    return process, opened, result, files.enter_context(os.fdopen(said, "rb", buffering=0))


def _whole(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()


# Without `site` and the environment, so that it starts in a tenth of the time.
_STAND_IN = """\
#!{python} -IS
import _socket, array, marshal, os, signal, sys
asked = marshal.dumps(([os.fsencode(one) for one in sys.argv], os.getcwdb(), dict(os.environb)))
line = _socket.socket(_socket.AF_UNIX)
line.connect({line!r})
rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
line.sendmsg([len(asked).to_bytes({header}, "big")], [rights])
line.sendall(asked)
told = os.fdopen(os.dup(line.fileno()), "rb")
pid = int(told.readline())
# The reader of a pipe has gone when all have who could read it.
for number in (0, 1, 2):
    os.close(number)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.kill(pid, number))
code = int(told.readline())
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@cache
def _warm() -> Path:
    """Start the process that is forked from, which ends with this one; return its folder."""
    folder = Path(tempfile.mkdtemp(prefix="mdmem-warm-"))
    line = folder / "line"
    stand_in = folder / "python"
    stand_in.write_text(_STAND_IN.format(python=sys.executable, line=str(line), header=_HEADER))
    stand_in.chmod(0o755)
    ours, theirs = socket.socketpair()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(line))
    # From here on nobody is refused, however long the imports take.
    listening.listen(64)
    with theirs, listening:
        given = [theirs.fileno(), listening.fileno()]
        command = [sys.executable, __file__, *map(str, given)]
        process = subprocess.Popen(command, pass_fds=given, stdin=subprocess.DEVNULL, cwd="/")
    atexit.register(shutil.rmtree, folder)
    atexit.register(process.wait)
    atexit.register(ours.close)
    return folder


def _wait_to_be_forked(parent: socket.socket, listening: socket.socket) -> Sequence[str]:
    """Fork whenever asked; return in each fork the arguments of the interpreter it has become."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking)
    lines: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([parent, listening, ended, *lines.values()], [], [])
        for pid, line in lines.items():
            # Whoever asked says no more, but has gone.
            if parent in ready or line in ready:
                os.kill(pid, signal.SIGKILL)
        if parent in ready:
            os._exit(0)
        if ended in ready:
            os.read(ended, _DESCRIPTORS)
        _tell_who_ended(lines)
        if listening not in ready:
            continue
        line, _ = listening.accept()
        header, descriptors, _, _ = socket.recv_fds(line, _HEADER, 3)
        arguments, cwd, environment = marshal.loads(_exactly(line, int.from_bytes(header, "big")))
        for name in _LATE:
            if name.encode() in arguments:
                _import_below(f"mdmem.{name}")
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _become(cwd, environment, descriptors)
            return [os.fsdecode(one) for one in arguments]
        for descriptor in descriptors:
            os.close(descriptor)
        lines[pid] = line
        with suppress(OSError):
            line.sendall(b"%d\n" % pid)


def _tell_who_ended(lines: dict[int, socket.socket]) -> None:
    """Tell those who asked for forks how theirs ended; what is waited for counts as the tests' time."""
    for pid in list(lines):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            # Whoever asked may be gone.
            with lines.pop(pid) as line, suppress(OSError):
                line.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _exactly(line: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = line.recv(size - len(parts))
        assert part, "whoever asked has gone"
        parts += part
    return bytes(parts)


def _become(cwd: bytes, environment: Mapping[bytes, bytes], descriptors: Sequence[int]) -> None:
    """Take over what a new process would have been given."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(3, _DESCRIPTORS)
    os.chdir(cwd)
    # Most are as they were, and what is not touched is not copied.
    for name in os.environb.keys() - environment.keys():
        del os.environb[name]
    now = dict(os.environb)
    os.environb.update((name, value) for name, value in environment.items() if now.get(name) != value)
    tempfile.tempdir = None
    modes = (("r", sys.stdin), ("w", sys.stdout), ("w", sys.stderr))
    sys.stdin, sys.stdout, sys.stderr = (_stream(number, mode, old) for number, (mode, old) in enumerate(modes))
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


def _stream(number: int, mode: str, old: Any) -> Any:
    """Return a standard stream as an interpreter opens it."""
    as_lines = 1 if number == 2 or os.isatty(number) else -1
    return open(number, mode, buffering=as_lines, encoding=old.encoding, errors=old.errors, closefd=False)


def _interpret(arguments: Sequence[str]) -> None:
    sys.executable, *arguments = arguments
    while arguments[0] in ("-B", "-P"):
        arguments = arguments[1:]
    # `-mNAME` is one word, too.
    kind, *rest = ("-m", arguments[0][2:], *arguments[1:]) if arguments[0][:2] == "-m" != arguments[0] else arguments
    if kind == "-m":
        sys.argv, sys.path[0] = rest, str(Path.cwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        code, *rest = rest
        sys.argv, sys.path[0] = ["-c", *rest], ""
        sys.modules["__main__"] = ModuleType("__main__")
        exec(code, vars(sys.modules["__main__"]))
    else:
        sys.argv, sys.path[0] = list(arguments), str(Path(kind).parent)
        runpy.run_path(kind, run_name="__main__")


def _run_to_the_end(arguments: Sequence[str]) -> NoReturn:
    try:
        _interpret(arguments)
        sys.exit()
    except SystemExit as done:
        _end_plainly(done.code)
        raise


def _end_plainly(code: object) -> None:
    """End the process as an interpreter does, but for taking it apart; do nothing where there is more to say."""
    if not isinstance(code, (int, NoneType)) or threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        os._exit((code or 0) & 0xFF)


def _import_below(package: str) -> None:
    """Import a package with all that lies in it, but for what is late."""
    late = tuple(one for one in (f"mdmem.{name}" for name in _LATE) if one != package)
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.startswith(late) and not module.name.endswith("__main__"):
            import_module(module.name)


def _use_what_is_imported() -> None:
    """Run commands, so that patterns, parsers and readers, which a process makes where it first needs them, are there.

    No function of the package keeps what it learnt of a folder or of the variables, so a fork knows nothing of this.
    """
    from mdmem.cli.main import run

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        nothing = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
        for one in (chdir(folder), redirect_stdout(nothing), redirect_stderr(nothing)):
            stack.enter_context(one)
        subprocess.run(["git", "init", "-q"], check=True)
        for command in _FIRST_COMMANDS:
            run(command.split())
        gc.unfreeze()
        gc.collect()


if __name__ == "__main__":
    with suppress(ImportError):
        import git  # noqa: F401  # takes the longest of all, and is imported late
    # What modules of tests import, whose functions are run at once.
    for name in ("builders", "hypothesis.strategies"):
        import_module(name)
    _import_below("mdmem")
    _use_what_is_imported()
    # A fork that looks for garbage would copy every page it looks at.
    gc.freeze()
    _run_to_the_end(_wait_to_be_forked(*(socket.socket(fileno=int(one)) for one in sys.argv[1:])))
