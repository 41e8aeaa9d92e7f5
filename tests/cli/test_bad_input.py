"""Test bad files and arguments: a finding or one short sentence, and no byte changed."""

import json
import os
import re
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import pytest
from builders import (
    Ran,
    Run,
    git,
    make_repository,
    make_root,
    memory,
    merge_conflict,
    run_mdmem,
    snapshot,
    without_rights,
    write,
    write_entry,
)

from mdmem.errors import shown_message
from mdmem.model.text import shell_word
from mdmem.render.text import Style

Spoil = Callable[[Path], object]
Spoilt = Callable[[str], Path]
Ask = Callable[..., Ran]
RULE, CHOICE = "nav/rules/callbacks", "nav/architecture/threads"
BAD = "memory/nav/rules/bad.md"
ITSELF = "nav/rules/bad.md"
HEAD = "type: invariant\nstatus: active\ncreated_at: 2026-03-05\ntitle: Bad\n"
GOOD = f"---\n{HEAD}---\n\nWheels must not slip.\n\nRationale: they wear.\n"
READING = (
    ["status"],
    ["list"],
    ["show", RULE],
    ["search", "callback"],
    ["retrieve", "callback"],
    ["why", RULE],
    ["check"],
    ["list", "--at", "HEAD"],
    ["check", "--staged"],
)


def file(content: str | bytes, path: str = BAD) -> Spoil:
    return lambda top: write(top, path, content)


def link(path: str, target: str) -> Spoil:
    return lambda top: (top / path).symlink_to(target)


def outside(folder: Path) -> None:
    write(folder, "secret.md", GOOD)
    (folder / BAD).symlink_to(folder / "secret.md")


def twin_form(folder: Path) -> None:
    for form in ("NFC", "NFD"):
        write(folder, f"memory/nav/rules/{unicodedata.normalize(form, 'café')}.md", GOOD)


ALIASES = "".join(
    f"x-{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

# What is spoilt, the code of its finding, and the path behind which an invariant may be hidden.
KINDS: dict[str, tuple[Spoil, str, str]] = {
    "empty file": (file(""), "not-text", ITSELF),
    "no front matter": (file("Wheels must not slip.\n"), "front-matter-fence", ITSELF),
    "unclosed fence": (file(f"---\n{HEAD}\nWheels must not slip.\n"), "front-matter-fence", ITSELF),
    "long fence": (file(f"----\n{HEAD}----\n"), "front-matter-fence", ITSELF),
    "byte order mark": (file(b"\xef\xbb\xbf" + GOOD.encode()), "file-form", ""),
    "mixed line ends": (file(GOOD.replace("\n", "\r\n", 3)), "file-form", ""),
    "Latin-1": (file(GOOD.replace("slip", "schlüpfen").encode("latin-1")), "not-text", ITSELF),
    "UTF-16": (file(GOOD.encode("utf-16")), "not-text", ITSELF),
    "null bytes": (file(b"\0" * 100), "front-matter-fence", ITSELF),
    "duplicate key": (file(GOOD.replace("title: Bad", "status: draft")), "front-matter-shape", ITSELF),
    "alias bomb": (file(f"---\n{HEAD}x-a: &a [l, o, l]\n{ALIASES}---\n"), "front-matter-shape", ITSELF),
    "deep brackets": (file(f"---\n{HEAD}x-deep: {'[' * 5000}{']' * 5000}\n---\n"), "front-matter-shape", ITSELF),
    "impossible day": (file(GOOD.replace("2026-03-05", "2023-14-05")), "date-form", ""),
    "unknown type": (file(GOOD.replace("invariant", "law")), "invalid-value", ITSELF),
    "70 KB": (file(GOOD + "Wheels. " * 9_000), "file-too-large", ""),
    "5 MB": (file(GOOD + "Wheels. " * 650_000), "file-too-large", ITSELF),
    "huge front matter": (file(f"---\n{HEAD}reason: {'a' * 900_000}\n---\n"), "file-too-large", ITSELF),
    "symlink": (link(BAD, "callbacks.md"), "symlink-or-submodule", ITSELF),
    "symlink to the outside": (outside, "symlink-or-submodule", ITSELF),
    "symlink to a folder": (link("memory/nav/more", "rules"), "symlink-or-submodule", "nav/more"),
    "symlink to a wing": (link("memory/law", "nav"), "symlink-or-submodule", "law"),
    "symlink in a circle": (link("memory/nav/rules/again", ".."), "symlink-or-submodule", ""),
    "pipe": (lambda top: os.mkfifo(top / BAD), "unreadable", ITSELF),
    "merge markers": (file(f"<<<<<<< ours\n{GOOD}=======\n{GOOD}>>>>>>> theirs\n"), "merge-marker", ITSELF),
    "names that differ in case": (file(GOOD, "memory/nav/rules/Callbacks.md"), "unportable-name", ""),
    "names that differ in form": (twin_form, "unportable-name", ""),
    "room named like a file": (file(GOOD, "memory/nav/rules.md"), "misplaced-file", "nav/rules.md"),
    "file where a room belongs": (file("text\n", "memory/nav/room"), "misplaced-file", ""),
    "folder named like an entry": (file(GOOD, f"{BAD}/deep.md"), "misplaced-file", f"{ITSELF}/deep.md"),
    "emoji title": (file(GOOD.replace("title: Bad", "title: 🚀 off")), "", ""),
    "CRLF": (file(GOOD.replace("\n", "\r\n")), "", ""),
    "no final newline": (file(GOOD.rstrip()), "file-form", ""),
    "empty wing": (lambda top: (top / "memory/empty").mkdir(), "", ""),
    "submodule": (lambda top: make_repository(top / "memory/nav/sub"), "symlink-or-submodule", "nav/sub"),
}  # fmt: skip
# Files at places where no entry is read, but that may be entries.
MISPLACED = {"room named like a file": ["nav/rules.md"], "folder named like an entry": ["nav/rules/bad.md/deep.md"]}


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Spoilt:
    """Return what makes the repository of a kind, once for all tests: no reading command changes it."""

    @cache
    def made(kind: str) -> Path:
        folder = memory(tmp_path_factory.mktemp("spoilt"))
        KINDS[kind][0](folder)
        return folder

    return made


ANSWERS: dict[tuple[str, ...], Ran] = {}


@pytest.fixture
def ask(spoilt: Spoilt, run: Run) -> Ask:
    """Return what asks the memory of a kind, each question once for all tests."""

    def asked(kind: str, *command: str) -> Ran:
        if (kind, *command) not in ANSWERS:
            ANSWERS[kind, *command] = run(*command, cwd=spoilt(kind))
        return ANSWERS[kind, *command]

    return asked


@pytest.mark.parametrize("kind", KINDS)
def test_no_reading_command_breaks_or_writes(kind: str, spoilt: Spoilt, ask: Ask) -> None:
    folder = spoilt(kind)
    before = snapshot(folder)
    for command in READING:
        ran = ask(kind, *command)
        assert "Traceback" not in ran.err, command
        assert "fault of mdmem" not in ran.err, command
        assert ran.code in ((0, 1, 3) if command[0] == "check" else (0,)), (command, ran.err)
    assert snapshot(folder) == before


@pytest.mark.parametrize("kind", KINDS)
def test_good_entries_are_answered_all_the_same(kind: str, ask: Ask) -> None:
    items = ask(kind, "retrieve", "threads", "--format", "json").json["items"]
    assert {item["address"] for item in items} >= {RULE, CHOICE}
    hits = ask(kind, "search", "threads", "--format", "json").json["hits"]
    assert [hit["address"] for hit in hits] == [CHOICE]


@pytest.mark.parametrize("kind", KINDS)
def test_check_finds(kind: str, ask: Ask) -> None:
    _, code, _ = KINDS[kind]
    if not code:
        assert ask(kind, "check", "--ignore", "approved-by-nobody").out.endswith("no findings\n")
        return
    ran = ask(kind, "check", "--format", "json")
    found = ran.json["findings"]
    assert code in {finding["code"] for finding in found}
    assert all(finding["help"] for finding in found)
    assert ran.code == (3 if code == "unreadable" else int(any(finding["severity"] == "error" for finding in found)))


@pytest.mark.parametrize("kind", KINDS)
def test_file_that_may_hide_an_invariant_is_a_problem_of_every_answer(kind: str, ask: Ask) -> None:
    _, _, hidden = KINDS[kind]
    expected = [hidden] if hidden else MISPLACED.get(kind, [])
    for command in ("search", "retrieve"):
        problems = ask(kind, command, "threads", "--format", "json").json["problems"]
        assert [problem["path"] for problem in problems] == expected
    assert re.findall(r"^  (\S+):\d+: ", ask(kind, "list").err, re.MULTILINE) == expected


@pytest.mark.parametrize("kind", [kind for kind, (_, _, hidden) in KINDS.items() if hidden == ITSELF])
def test_file_that_cannot_be_read_is_no_absent_entry(kind: str, spoilt: Spoilt, run: Run) -> None:
    ran = run("show", "nav/rules/bad", cwd=spoilt(kind))
    assert (ran.code, ran.err.startswith("mdmem: nav/rules/bad is there but cannot be read: ")) == (1, True)


@pytest.mark.parametrize(
    "kind", ["byte order mark", "mixed line ends", "impossible day", "emoji title", "CRLF", "no final newline"]
)
def test_entry_with_a_blemish_is_read(kind: str, spoilt: Spoilt, run: Run) -> None:
    folder = spoilt(kind)
    said = run("retrieve", "wheels", "--format", "json", cwd=folder).json
    assert "nav/rules/bad" in {item["address"] for item in said["items"]}


@pytest.mark.parametrize("kind", ["symlink to the outside", "pipe"])
def test_what_lies_outside_is_never_read(kind: str, spoilt: Spoilt, run: Run) -> None:
    ran = run("search", "wheels", cwd=spoilt(kind))
    assert (ran.code, "slip" in ran.out) == (1, False)


@pytest.mark.parametrize("staged", [True, False])
def test_file_in_conflict_is_a_problem(staged: bool, folder: Path, run: Run) -> None:
    merge_conflict(folder, f"memory/{RULE}.md", GOOD, GOOD.replace("slip", "slide"))
    if staged:
        git(folder, "add", "-A")
    said = run("retrieve", "--format", "json").json
    assert [(problem["path"], problem["code"]) for problem in said["problems"]] == [(f"{RULE}.md", "merge-marker")]
    ran = run("check", "--staged")
    assert (ran.code, "error[merge-marker]" in ran.out) == (1, True)


COMMANDS = [
    *(["status"], ["list"], ["show", "a"], ["search", "a"], ["why", "a"], ["check"], ["log"]),
    ["new", "note", "a/b/c", "--body", "x"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("in_git", [True, False])
def test_without_a_root_each_command_says_so(command: list[str], in_git: bool, tmp_path: Path, run: Run) -> None:
    if in_git:
        make_repository(tmp_path)
    ran = run(*command)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"mdmem: no memory here: no mdmem.toml in {tmp_path} or above; ")


@contextmanager
def locked_up(path: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Take rights of a file or folder away, and yield what runs a command without a superuser's rights."""
    before = path.stat().st_mode
    path.chmod(0)
    try:
        yield partial(run_mdmem, first=without_rights())
    finally:
        path.chmod(before)


@pytest.mark.parametrize("locked", ["memory/nav/rules", "memory/nav/rules/callbacks.md"])
def test_what_may_not_be_read_is_never_an_absent_one(locked: str, folder: Path) -> None:
    with locked_up(folder / locked) as run_unprivileged:
        checked = run_unprivileged("check", cwd=folder)
        answered = run_unprivileged("retrieve", "threads", "--format", "json", cwd=folder)
    assert (checked.returncode, "error[unreadable]" in checked.stdout) == (3, True)
    assert "\n  cannot be read: permission denied\n" in checked.stdout
    said = json.loads(answered.stdout)
    assert [problem["code"] for problem in said["problems"]] == ["unreadable"]
    assert [item["address"] for item in said["items"]] == [CHOICE]


def test_memory_whose_folder_may_not_be_read_is_said(folder: Path) -> None:
    with locked_up(folder / "memory") as run_unprivileged:
        ran = [run_unprivileged(*command, cwd=folder) for command in (["list"], ["retrieve", "threads"], ["check"])]
    assert all("Traceback" not in one.stderr and "fault of mdmem" not in one.stderr for one in ran)
    assert [one.returncode for one in ran] == [1, 0, 3]
    assert ran[0].stderr.splitlines()[1] == "  .:1: cannot be read: permission denied (unreadable)"


LONG = "a" * 100_000
ASKED = [
    ["list", "--at", LONG],
    ["list", "--wing", LONG],
    ["show", LONG],
    ["show", f"{'x ' * 50_000}y"],
    ["why", f"w/r/{LONG}"],
    ["diff", LONG],
    ["log", LONG],
    ["check", "--select", LONG],
    ["retrieve", "--budget", LONG],
    ["mv", LONG, "w/r/b"],
    ["save", "--retry", LONG],
    ["save", LONG],
    ["mcp", "--http", LONG],
    [f"--{LONG}"],
    [LONG],
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_root(make_repository(tmp_path_factory.mktemp("asked")) / "memory")
    write_entry(made, "w/r/a", "It holds.\n\nRationale: yes.\n")
    return made


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: " ".join(asked)[:20])
def test_long_argument_is_cut_in_the_error(root: Path, run: Run, asked: list[str]) -> None:
    done = run(*asked, cwd=root)
    assert done.code != 0
    # A check says it among its findings.
    said = done.err + done.out
    assert 10 < len(said) < 2_000, said[:300]
    assert "…" in said


def test_what_does_not_show_is_written_and_lines_of_a_word_make_no_lines(root: Path, run: Run) -> None:
    done = run("show", "a\x1b]0;owned\x07\u202eb\nc", cwd=root)
    assert ("\x1b" in done.err, done.err.count("\n")) == (False, 1)
    assert "a<U+001B>]0;owned<U+0007><U+202E>b<U+000A>c" in done.err


def test_printed_command_with_an_odd_name_runs_no_other_command(tmp_path: Path) -> None:
    style = Style(program="mdmem --root 'a $(touch made)b'")
    inner = "run `mdmem mv 'x`mdmem show y' z`"
    assert (style.typed(inner), style.typed("`mdmem check`")) == (inner, f"`{style.program} check`")
    # The long name is cut, and the quote in it stays escaped.
    printed = shown_message(f"mdmem log {shell_word(110 * chr(1) + chr(39) + ';touch made;#')}")
    done = subprocess.run(["bash", "-c", printed.replace("mdmem log", "echo")], cwd=tmp_path, capture_output=True)
    assert (done.returncode, list(tmp_path.iterdir())) == (0, [])
