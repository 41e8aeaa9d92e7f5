"""Test interrupted writes: killed at any step, a full disk, read-only folders, locks of dead processes."""

import errno
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from builders import (
    Capture,
    commit_all,
    environment,
    git,
    made_once,
    memory,
    run_here,
    run_mdmem,
    snapshot,
    without_rights,
    write,
    write_entry,
)
from killing import killed_at_each_step
from processes import run_text

from mdmem.store.git.commit import commit_paths
from mdmem.write import write as writing

OLD, ONE, DRAFT = "nav/architecture/threads", "nav/architecture/one", "nav/architecture/two"
TEXT = "We decided.\n\nRationale: it was tried.\n\n[see: nav/rules/callbacks]\n"
DECISION = {"title": "Use zenoh", "rationale": "It is the one that our network lets through."}


@made_once
def a_memory(folder: Path) -> Path:
    """Return a root with an entry that could take over from another, a draft that is to, and links to a room."""
    root = memory(folder) / "memory"
    write_entry(root, ONE, TEXT, title="Use one")
    write_entry(root, "nav/architecture/third", TEXT, title="Use a third")
    third = "nav/architecture/third"
    write_entry(root, DRAFT, TEXT, title="Use two", status="draft", supersedes=third, reason="It is better.")
    linked = f"[nav/rules/callbacks, {ONE}]"
    write_entry(root, "nav/rules/more", TEXT, type="invariant", title="There is more to it", see=linked)
    write(folder, "decision.json", json.dumps(DECISION))
    for number, status in ((1, "superseded by ADR-0002"), (2, "accepted")):
        text = f"---\nstatus: {status}\ndate: 2026-01-0{number}\n---\n\n# Use {number}\n\n## Decision Outcome\n\n{TEXT}"
        write(folder, f"docs/adr/000{number}-use-{number}.md", text)
    commit_all(folder, "more")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_memory(tmp_path / "m")


def files(root: Path) -> dict[str, bytes]:
    """Return the files of a root without the prepared files of a killed writer, which every reader ignores."""
    found = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in found.items()
        if not (path.name.startswith(".") and name.endswith(".mdmem-tmp"))
    }


@dataclass(frozen=True)
class Case:
    """A command that is killed: the codes of the findings by which it is known half done, and what completes it."""

    line: tuple[str, ...]
    half_done: frozenset[str] = frozenset()
    is_fixed: bool = False
    moved: Mapping[str, str] = field(default_factory=dict)
    again: int = 0

    def whole(self, path: str, old: dict[str, bytes], new: dict[str, bytes]) -> set[bytes | None]:
        """Return what a file may hold: the bytes before, those after, and those after where it has not moved yet."""
        return {old.get(path), new.get(path), new.get(self.moved.get(path, path))}


ONE_SIDED, BROKEN = frozenset({"supersession-one-sided"}), frozenset({"dangling-link", "body-link-broken"})
ROOM = {f"nav/rules/{name}.md": f"nav/laws/{name}.md" for name in ("callbacks", "more")}
NEWER = ("--title", "Newer", "--status", "active", "--body", TEXT)
CASES = {
    "new": Case(("new", "note", "nav/notes/n", "--title", "T", "--body", "Text."), again=4),
    "supersede": Case(("supersede", OLD, "--by", ONE, "--reason", "Measured."), ONE_SIDED, is_fixed=True),
    "supersede by a new one": Case(("supersede", OLD, *NEWER, "--reason", "Better."), ONE_SIDED, True, again=4),
    "approve": Case(("approve", DRAFT), ONE_SIDED, is_fixed=True),
    "move a room": Case(("mv", "nav/rules/", "nav/laws/"), BROKEN, moved=ROOM, again=1),
    "save": Case(("save", "decision", "--json", "../decision.json", "--project", "nav")),
    "import": Case(("import", "--move"), frozenset({"dangling-link"})),
    "deprecate and commit": Case(("deprecate", ONE, "--reason", "Gone.", "--commit"), again=2),
}


def distinct(killed: list[Path]) -> Iterator[Path]:
    """Yield one copy for each different state of the root, the state folder and the index."""
    seen = set()
    for copy in killed:
        names = {re.sub(r"\.\w+\.mdmem-tmp$", "", name) for name in snapshot(copy / "memory")}
        state = (copy / ".git/mdmem/state").rglob("*")
        kept = [(copy / ".git" / name).stat().st_size for name in ("index", "logs/HEAD")]
        how_far = (*sorted(names), *files(copy / "memory").values(), *sorted(path.name for path in state), *kept)
        if how_far not in seen:
            seen.add(how_far)
            yield copy


def status(folder: Path) -> str:
    listed = git(folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    return "\n".join(line for line in listed if not line.endswith(".mdmem-tmp"))


def head(folder: Path) -> str:
    return git(folder, "log", "-1", "--format=%s")


_LONG = ("approve", "import", "move a room", "save", "supersede by a new one")


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.long] if one in _LONG else []) for one in CASES])
def test_killed_at_any_step_leaves_whole_files_and_can_be_completed(name: str, tmp_path: Path, capsys: Capture) -> None:
    case = CASES[name]
    a_memory(tmp_path / "m")
    done, killed = killed_at_each_step(tmp_path / "m", tmp_path / "killed", "memory", *case.line)
    old, new = files(tmp_path / "m/memory"), files(done / "memory")
    assert len(killed) >= 20
    half_done = 0
    for copy in killed:
        found = files(copy / "memory")
        assert [path for path in found if found[path] not in case.whole(path, old, new)] == []
        assert [path for path in old if path not in found and case.moved.get(path) not in found] == []
    apart = list(distinct(killed))
    ends = {(status(copy), head(copy)) for copy in apart} if "--commit" in case.line else set()
    assert ends <= {("", "more"), (f" M memory/{ONE}.md", "more"), ("", f"Deprecate {ONE}")}
    for copy in apart:
        half_done += files(copy / "memory") not in (old, new)
        complete(case, copy, new=new, old=old, capsys=capsys)
    assert bool(half_done) == bool(case.half_done)


def complete(case: Case, copy: Path, *, old: dict[str, bytes], new: dict[str, bytes], capsys: Capture) -> None:
    """Assert that the checks report a half-done write, that it can be completed, and that no lock is left."""
    root = copy / "memory"
    found = files(root)
    said = run_here(capsys, "check", "--format", "json", cwd=root)
    # Findings about every uncommitted change.
    said_of_changes = {"link-not-tracked", "approved-by-nobody", "frozen-text-changed"}
    codes = {one["code"] for one in json.loads(said.out)["findings"]} - said_of_changes
    assert codes <= case.half_done
    assert bool(codes) == (found not in (old, new))
    if codes and case.is_fixed:
        mended = Path(f"{copy}-mended")
        shutil.copytree(copy, mended)
        run_here(capsys, "check", "--fix", cwd=mended / "memory")
        assert files(mended / "memory") == new
    again = run_here(capsys, *case.line, cwd=root)
    exists = found == new or (codes and case.again == 4)
    assert (again.code, "fault of mdmem" in again.err) == (case.again if exists else 0, False), again.err
    if codes and case.again == 4:
        run_here(capsys, "check", "--fix", cwd=root)
    assert files(root) == new
    commit_all(copy, "by hand")
    assert run_here(capsys, "check", cwd=root).code == 0
    assert run_here(capsys, "new", "note", "nav/after/kill", "--body", "Next.", "--commit", cwd=root).code == 0
    assert git(copy, "status", "--porcelain") == ""


def waiting(folder: Path) -> Path:
    """Return a root for which the write of a decision waits."""
    root = a_memory(folder)
    run_mdmem("save", "--waiting", cwd=root)
    write(folder, ".git/mdmem/state/memory/saving", "in the way")
    said = run_mdmem("save", "decision", "--json", "../decision.json", "--project", "nav", cwd=root)
    (folder / ".git/mdmem/state/memory/saving").unlink()
    assert json.loads(said.stdout)["status"] == "pending_retry"
    return root


@pytest.mark.long
def test_retry_that_is_killed_at_any_step_writes_once_in_the_end(tmp_path: Path, capsys: Capture) -> None:
    waiting(tmp_path / "m")
    done, killed = killed_at_each_step(tmp_path / "m", tmp_path / "killed", "memory", "save", "--retry")
    new = files(done / "memory")
    assert "nav/architecture/use-zenoh.md" in new
    for copy in distinct(killed):
        again = run_here(capsys, "save", "--retry", cwd=copy / "memory")
        assert (again.code, "Traceback" in again.err) == (0, False)
        assert files(copy / "memory") == new
        assert run_here(capsys, "save", "--waiting", cwd=copy / "memory").out == ""


# Either the memory's files or git's folder is on a small disk, and the other has enough space.
_ON_A_SMALL_DISK = """
import ctypes, json, os, shutil, subprocess, sys
from pathlib import Path

disk, top, which, steps, tests = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]), sys.argv[5]
sys.path.insert(0, tests)
from processes import run_text

ours = {"uid": os.getuid(), "gid": os.getgid()}
assert ctypes.CDLL(None).unshare(0x10000000 | 0x20000) == 0  # CLONE_NEWUSER, CLONE_NEWNS
Path("/proc/self/setgroups").write_text("deny")
for kind, number in ours.items():
    Path(f"/proc/self/{kind}_map").write_text(f"0 {number} 1")
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=True)
if which == "git":
    shutil.move(top / ".git", disk / "git")
    (top / ".git").write_text(f"gitdir: {disk}/git")
else:
    shutil.copytree(top, disk / "m", ignore=shutil.ignore_patterns(".git"))
    (disk / "m/.git").write_text(f"gitdir: {top}/.git")
root = (top if which == "git" else disk / "m") / "memory"


def fill(spare):
    with (disk / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            filler.truncate(filler.tell() // 4096 * 4096 - spare * 4096)


for step in steps:
    if isinstance(step, int):
        fill(step)
    elif step == "free":
        (disk / "filler").unlink()
    else:
        done = run_text("-m", "mdmem", *step, cwd=root, env=os.environ)
        found = {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*.*")) if path.is_file()}
        print(json.dumps([done.returncode, done.stdout, done.stderr, found]))
"""


@dataclass(frozen=True)
class Answer:
    """What one command said, and the files of the root after it."""

    code: int
    out: str
    err: str
    files: dict[str, str]


def on_a_small_disk(folder: Path, which: str, *steps: int | str | tuple[str, ...]) -> list[Answer]:
    """Run commands over a memory of which the files or git's folder stand on a disk of one MiB.

    A number fills the disk but for so many pages, `free` empties it again; skips where nobody may mount one.
    """
    a_memory(folder / "m")
    (folder / "disk").mkdir()
    alone = ["unshare", "--mount", "--user", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system of one's own can be mounted here")
    given = [str(folder / "disk"), str(folder / "m"), which, json.dumps(steps), str(Path(__file__).parent)]
    done = run_text("-c", _ON_A_SMALL_DISK, *given, cwd=folder, env=environment())
    assert done.returncode == 0, done.stderr
    return [Answer(*json.loads(line)) for line in done.stdout.splitlines()]


LIST, CHECK = ("list",), ("check",)
SAVE = ("save", "decision", "--json", "../decision.json", "--project", "nav")
LONG = ("new", "note", "nav/notes/n", "--title", "T", "--body", "Text. " * 2000)


def test_save_on_a_full_disk_waits_and_is_brought_by_retry(tmp_path: Path) -> None:
    retry, pending = ("save", "--retry"), ("save", "--waiting")
    steps = (LIST, 0, SAVE, SAVE, retry, "free", retry, pending, SAVE, CHECK)
    before, full, twice, early, late, left, known, check = on_a_small_disk(tmp_path, "files", *steps)
    assert [json.loads(one.out)["status"] for one in (full, twice)] == ["pending_retry"] * 2
    assert (full.code, early.code, full.files, early.files) == (3, 1, before.files, before.files)
    assert "No space left on device" in json.loads(full.out)["message"]
    assert (late.code, left.out, check.code) == (0, "", 0)
    assert json.loads(known.out)["status"] == "duplicate_skip"
    assert late.files.keys() - before.files.keys() == {"nav/architecture/use-zenoh.md"}


def test_full_disk_of_the_state_stops_no_write_of_files(tmp_path: Path) -> None:
    new, save, check = on_a_small_disk(tmp_path, "git", 0, LONG, SAVE, CHECK)
    assert (new.code, json.loads(save.out)["status"], check.code) == (0, "saved", 0)
    assert new.err.count("\n") == 1
    assert {"nav/notes/n.md", "nav/architecture/use-zenoh.md"} <= save.files.keys()


def test_commit_on_a_full_disk_says_that_the_files_are_written(tmp_path: Path) -> None:
    line = CASES["deprecate and commit"].line
    full, check = on_a_small_disk(tmp_path, "git", 0, line, "free", CHECK)
    assert (full.code, full.err.count("Traceback")) == (3, 0)
    assert re.match(
        r"mdmem: git refused: .*No space left on device.*; nothing was committed, the files are written", full.err
    )
    assert "status: deprecated" in full.files[f"{ONE}.md"]
    assert check.code == 0


def unprinted(root: Path, *line: str, is_heard: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command line whose answer, and unless it `is_heard` all else, goes to a device that is full."""
    if not Path("/dev/full").exists():
        pytest.skip("no device here is always full")
    with Path("/dev/full").open("wb") as full:
        command, env = [sys.executable, "-m", "mdmem", *line], environment()
        said = subprocess.PIPE if is_heard else full
        return subprocess.run(command, cwd=root, env=env, stdout=full, stderr=said, text=True, check=False)


@pytest.mark.parametrize("name", CASES)
def test_answer_to_a_write_that_cannot_be_printed_says_that_the_write_happened(name: str, root: Path) -> None:
    before = files(root)
    ran = unprinted(root, *CASES[name].line)
    said = (
        r"mdmem: nav/\S+\.md( and \d more are| is) written, but the answer cannot be printed: No space left on device"
    )
    assert (ran.returncode, files(root) == before) == (5, False)
    assert re.fullmatch(said, ran.stderr.splitlines()[-1])


def test_answer_that_cannot_be_printed_and_wrote_nothing_is_a_fault_of_the_system(root: Path) -> None:
    for line in (LIST, ("deprecate", ONE, "--reason", "Gone.", "--dry-run")):
        ran = unprinted(root, *line)
        assert (ran.returncode, ran.stderr) == (3, "mdmem: the system refuses: No space left on device\n")
    # A write of which nothing at all can be printed ends with the code of a write.
    assert unprinted(root, *CASES["new"].line, is_heard=False).returncode == 5


def run_limited(root: Path, *line: str, size: int) -> subprocess.CompletedProcess[str]:
    """Run a command that cannot write a file over a size, as with a full quota."""
    limit = f"import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}));"
    # Started over pipes: what the process prints must not come under the limit.
    command = [sys.executable, "-c", f"{limit} runpy.run_module('mdmem', run_name='__main__')", *line]
    return subprocess.run(command, cwd=root, env=environment(), capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("line", [LONG, CASES["supersede by a new one"].line], ids=["new", "supersede"])
def test_file_that_may_not_grow_is_refused_whole(root: Path, tmp_path: Path, line: tuple[str, ...]) -> None:
    before = snapshot(tmp_path / "m")
    for size in (0, 100):
        done = run_limited(root, *line, size=size)
        assert (done.returncode, done.stdout) == (3, "")
        assert re.fullmatch(r"mdmem: cannot write `nav/\S+`: File too large; nothing was changed\n", done.stderr)
        assert snapshot(tmp_path / "m") == before
    assert run_mdmem(*line, cwd=root).returncode == 0


def test_save_that_can_not_even_be_kept_says_so(root: Path, tmp_path: Path) -> None:
    before = snapshot(tmp_path / "m")
    done = run_limited(root, *SAVE, size=0)
    said = json.loads(done.stdout)
    assert (done.returncode, said["status"], said["next_step"]) == (2, "failed", "call again later")
    assert re.fullmatch(r"nothing was written: .*File too large.*; nor could it be kept for later: .*", said["message"])
    assert snapshot(tmp_path / "m") == before
    assert json.loads(run_mdmem(*SAVE, cwd=root).stdout)["status"] == "saved"


def set_modes(folder: Path, mode: int) -> None:
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(mode)


def run_read_only(folder: Path, *line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line while nothing below a folder can be made or removed."""
    set_modes(folder, 0o555)
    try:
        return run_mdmem(*line, cwd=cwd, first=without_rights())
    finally:
        set_modes(folder, 0o755)


@pytest.mark.parametrize("name", ["new", "supersede", "approve", "move a room"])
def test_root_that_cannot_be_written_is_one_sentence(root: Path, tmp_path: Path, name: str) -> None:
    before = snapshot(tmp_path / "m")
    done = run_read_only(root, *CASES[name].line, cwd=root)
    assert (done.returncode, done.stdout) == (3, "")
    assert re.fullmatch(r"mdmem: cannot write `nav/\S+`: Permission denied; nothing was changed\n", done.stderr)
    assert snapshot(tmp_path / "m") == before


def test_save_into_a_root_that_cannot_be_written_waits(root: Path) -> None:
    done = run_read_only(root, *SAVE, cwd=root)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (3, "pending_retry")
    assert run_mdmem("save", "--retry", cwd=root).returncode == 0
    assert (root / "nav/architecture/use-zenoh.md").exists()


def test_state_that_cannot_be_written_stops_writes_and_no_reads(root: Path, tmp_path: Path) -> None:
    before, state = snapshot(tmp_path / "m"), tmp_path / "m/.git/mdmem"
    state.mkdir()
    new = run_read_only(state, *CASES["new"].line, cwd=root)
    assert (new.returncode, new.stdout) == (3, "")
    assert re.fullmatch(r"mdmem: cannot lock the memory for writing: Permission denied\n", new.stderr)
    save = run_read_only(state, *SAVE, cwd=root)
    assert (save.returncode, json.loads(save.stdout)["status"]) == (2, "failed")
    for line in (CHECK, LIST, ("retrieve", "threads"), ("search", "threads"), ("status",), ("hygiene",)):
        read = run_read_only(state, *line, cwd=root)
        assert (read.returncode, "Traceback" in read.stderr) == (0, False), read.stderr
    assert snapshot(tmp_path / "m") == before


def test_lock_that_a_dead_process_left_holds_nobody_up(root: Path, tmp_path: Path, capsys: Capture) -> None:
    for name in ("write.lock", "saving/write.lock", "pending/write.lock"):
        write(tmp_path, f"m/.git/mdmem/state/memory/{name}", "4194304\n")
    write(tmp_path, "m/.git/mdmem/commit.lock", "4194304\n")
    assert run_here(capsys, *CASES["deprecate and commit"].line, cwd=root).code == 0
    assert json.loads(run_here(capsys, *SAVE, cwd=root).out)["status"] == "saved"


def test_lock_of_git_and_a_full_temporary_folder_are_said_with_what_is_written(
    root: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing, "commit_paths", partial(commit_paths, wait=0.1))
    lock = write(tmp_path, "m/.git/index.lock")
    held = f"another git process holds `{lock}`; if none runs any more, remove that file"
    for address, why in ((ONE, held), (OLD, "git could not be run: No space left on device")):
        done = run_here(capsys, "deprecate", address, "--reason", "Gone.", "--commit", cwd=root)
        assert (done.code, done.err) == (3, f"mdmem: {why}; nothing was committed, the files are written\n")
        assert "status: deprecated" in (root / f"{address}.md").read_text()
        lock.unlink(missing_ok=True)
        monkeypatch.setattr("mdmem.store.git.commit.TemporaryDirectory", full)
    assert git(root, "status", "--porcelain") == f" M memory/{ONE}.md\n M memory/{OLD}.md"
    assert run_here(capsys, "check", cwd=root).code == 0
