"""Test the program itself: commands, global options, streams, exit codes, no traceback, no terminal escapes."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import click
import pytest
from builders import (
    Run,
    commit_all,
    entry_text,
    environment,
    git,
    make_repository,
    memory,
    on_terminal,
    run_mdmem,
    write,
    write_entry,
)
from hooked import imported

from mdmem.cli.main import COMMANDS, GROUPS, PROGRAMS, load_command

ESCAPE = "\x1b["


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_says_what_it_does(name: str, tmp_path: Path, run: Run) -> None:
    ran = run(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: mdmem {name} [OPTIONS]")
    # The guide says it of every command, so that no group of them may lack it.
    assert "--root DIR" in " ".join(ran.out.split())


def test_group_without_a_command_is_its_help_and_no_sentence(tmp_path: Path, run: Run) -> None:
    ran = run("hub")
    assert (ran.code, ran.out, ran.err.splitlines()[0]) == (2, "", "Usage: mdmem hub [OPTIONS] COMMAND [ARGS]...")


def test_help_is_short_and_names_every_command_once(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = run("--help").out
    words = " ".join(said.split())
    assert [
        title
        for title, rows in {**GROUPS, "For programs": PROGRAMS}.items()
        if f" {title}: {', '.join(rows)} " not in words
    ] == []
    assert sum(map(len, GROUPS.values())) <= 30
    # The first of the commands is the one that agents are to type.
    assert said.count("\n  mdmem retrieve ") == 2
    assert (len(said) <= 1200, max(map(len, said.splitlines())) <= 80) == (True, True)


@pytest.mark.parametrize("argument", ["--help", "--version", "-h"])
def test_help_and_version_import_nothing_heavy(argument: str, tmp_path: Path) -> None:
    found = imported(tmp_path, argument)
    assert found & {"click", "pydantic", "whoosh", "git", "mcp", "yaml"} == {"click"}


@pytest.mark.parametrize("command", ["search", "retrieve"])
def test_question_without_changed_files_imports_neither_pydantic_nor_yaml(command: str, tmp_path: Path) -> None:
    write(tmp_path, "memory/mdmem.toml")
    file = write_entry(tmp_path / "memory", "nav/timing/clocks", "Clocks show UTC.\n", status="under_review")
    # A file that is as young as the cache is read again.
    os.utime(file, (1, 1))
    variables = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(2):
        found = imported(tmp_path, "--root", "memory", command, "clocks", **variables)
    assert found & {"whoosh", "pydantic", "yaml", "git", "mcp"} == {"whoosh"}
    # The same is true after a checkout of a branch that changed one file and added another.
    commit_all(make_repository(tmp_path))
    git(tmp_path, "checkout", "-q", "-b", "other")
    for name in ("clocks", "timers"):
        write_entry(tmp_path / "memory", f"nav/timing/{name}", "Clocks show local time.\n")
    commit_all(tmp_path)
    for _ in range(2):
        found = set()
        for branch in ("main", "other"):
            git(tmp_path, "checkout", "-q", branch)
            found |= imported(tmp_path, "--root", "memory", command, "clocks", **variables)
    assert found & {"pydantic", "yaml", "git", "mcp"} == set()


def test_unknown_command_or_page_names_the_nearest(tmp_path: Path, run: Run) -> None:
    ran = run("retreive")
    said = "mdmem: there is no command `retreive`; did you mean `mdmem retrieve`?\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    ran = run("guide", "setings")
    assert (ran.code, ran.out, ran.err) == (1, "", "mdmem: the guide has no page `setings`; did you mean `settings`?\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["audit"], ["status", "--audit"]),
        (["fields", "tags"], ["guide", "fields", "tags"]),
        (["index", "--rebuild"], ["status", "--rebuild"]),
        (["blame", "nav/rules/callbacks"], ["log", "--fields", "nav/rules/callbacks"]),
        (["graph", "--format", "svg"], ["why", "--format", "svg"]),
        (["pending", "--format", "json"], ["save", "--waiting", "--format", "json"]),
        (["pending", "retry", "1234"], ["save", "--retry", "1234"]),
        (["pending", "drop", "1234", "--yes"], ["save", "--drop", "1234", "--yes"]),
        (["hub", "why", "a/b/c", "--repository", "x"], ["why", "a/b/c", "--repository", "x"]),
        (["review", "threads", "-m", "x", "--dry-run"], ["doubt", "threads", "-m", "x", "--dry-run"]),
    ],
)
def test_former_name_of_a_command_says_the_new_one(old: list[str], new: list[str], folder: Path, run: Run) -> None:
    former, now = run(*old), run(*new)
    assert (former.code, former.out) == (now.code, now.out)
    first, _, rest = former.err.partition("\n")
    assert (first.startswith(f"mdmem: `{old[0]}"), f" is now `mdmem {new[0]}" in first, rest) == (True, True, now.err)
    assert old[0] not in COMMANDS or old[0] == "hub"


@pytest.mark.parametrize(
    "line",
    [
        *("list --nonsense", "show", "search", "brief", "list --format xml", "--root", "list --color red"),
        *("log --fields", "status --audit --rebuild", "approve --merged --active", "why --wing nav"),
        *("hygiene --record --pending-only", "new note A --shared", "mcp --hub", "check nav/ --update-baseline"),
        *("why a --wing nav --format svg", "check --merge main --base HEAD", "check --baseline nowhere.json"),
    ],
)
def test_wrong_argument_exits_2_with_one_sentence(line: str, folder: Path, run: Run) -> None:
    ran = run(*line.split(), cwd=folder)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("before", [True, False])
def test_global_option_counts_before_and_after_the_command(before: bool, tmp_path: Path, run: Run) -> None:
    root = ["--root", str(memory(tmp_path / "p") / "memory")]
    arguments = [*root, "list"] if before else ["list", *root]
    ran = run(*arguments)
    assert (ran.code, ran.out.splitlines()[1].split()[2]) == (0, "nav/rules/callbacks")


@pytest.mark.parametrize(
    "arguments", [["--quiet", "search", "zebra"], ["search", "zebra", "--quiet"], ["search", "-q", "zebra"]]
)
def test_quiet_keeps_remarks_back_and_never_an_error(arguments: list[str], folder: Path, run: Run) -> None:
    ran = run(*arguments, cwd=folder)
    assert (ran.code, ran.out, ran.err) == (1, "", "")
    assert "no memory here" in run(*arguments, cwd=folder.parent).err


@pytest.mark.parametrize(
    ("no_color", "arguments", "coloured"),
    [("", [], True), ("1", [], False), ("", ["--color", "never"], False), ("1", ["--color", "always"], True)],
)
def test_color_on_a_terminal(no_color: str, arguments: list[str], coloured: bool, folder: Path) -> None:
    code, printed = on_terminal("list", *arguments, cwd=folder, env={"NO_COLOR": no_color})
    assert (code, ESCAPE in printed) == (0, coloured)


@pytest.mark.parametrize(("rows", "flags", "paged"), [(6, [], True), (6, ["--no-pager"], False), (200, [], False)])
def test_what_is_longer_than_the_terminal_is_paged(rows: int, flags: list[str], paged: bool, folder: Path) -> None:
    env = {"PAGER": "sed -e s/^/PAGED/", "LINES": str(rows), "COLUMNS": "60"}
    code, printed = on_terminal("show", "nav/", *flags, cwd=folder, env=env)
    assert (code, "PAGED" in printed) == (0, paged)


@pytest.mark.parametrize(("command", "code"), [("list", 0), ("check", 1)])
def test_closed_pipe_ends_the_command_in_silence_and_with_its_own_code(command: str, code: int, folder: Path) -> None:
    write_entry(folder / "memory", "nav/rules/broken", "Text.\n", supersedes="nav/rules/nothing")
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "mdmem", command]
    # As where a hook's output, all of it, goes through `head`.
    streams = {"stdout": writing, "stderr": subprocess.PIPE if code == 0 else writing}
    ran = subprocess.run(line, cwd=folder, env=environment(), check=False, **streams)
    os.close(writing)
    assert (ran.returncode, ran.stderr or b"") == (code, b"")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (PermissionError(13, "Denied", "a/file"), 3, "mdmem: the system refuses a/file: Denied\n"),
        (LookupError("of ours"), 3, "mdmem: a fault of mdmem itself (LookupError: of ours); set MDMEM_DEBUG=1"),
    ],
)
def test_error_that_no_command_expects_is_one_sentence(
    error: BaseException, code: int, said: str, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mdmem.cli.ask.list_entries", Mock(side_effect=error))
    ran = run("list", cwd=folder)
    assert (ran.code, ran.out, ran.err.strip() == "", ran.err.startswith(said)) == (code, "", said == "", True)


def test_day_that_is_none_is_refused(folder: Path) -> None:
    ran = run_mdmem("list", cwd=folder, env={"MDMEM_TODAY": "tomorrow"})
    assert (ran.returncode, ran.stderr) == (2, "mdmem list: MDMEM_TODAY is `tomorrow`; write a day as YYYY-MM-DD\n")


def test_closed_stream_is_no_fault(folder: Path) -> None:
    # A separate process, because this one's streams must stay open.
    line = f"'{sys.executable}' -m mdmem list >&-"
    ran = subprocess.run(line, shell=True, cwd=folder, env=environment(), capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("name", "hint"), [("supercedes", "did you mean `supersedes`?"), ("xyzzy", "`mdmem guide fields` lists them")]
)
def test_unknown_field_is_answered_with_the_one_that_was_meant(name: str, hint: str, tmp_path: Path, run: Run) -> None:
    ran = run("guide", "fields", name)
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem: there is no field `{name}`; {hint}\n")


def test_field_is_explained_in_text_and_json(tmp_path: Path, run: Run) -> None:
    ran = run("guide", "fields", "approved_by")
    assert (ran.code, ran.out) == (0, "- `approved_by`: the person who made the entry active; set by `mdmem approve`\n")
    said = run("guide", "fields", "tags", "--format", "json").json
    assert said["schema"] == 1
    assert said["fields"] == [
        {
            "name": "tags",
            "type": "texts",
            "value": "list of text",
            "for": "entry",
            "needed": False,
            "meaning": "more words by which search finds the entry",
            "set_by": "its writer",
            "searched": "tag",
            "example": "tags: [executor, navigation]",
        }
    ]


def test_extra_that_is_missing_is_said(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.cli.common.find_spec", lambda name: None)
    ran = run("lsp")
    assert ran.code == 2
    assert "this needs the extra `lsp`; type `" in ran.err
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert "a hub needs the extra `hub`; type `" in run("hub", "status", "--dsn", "x").err


@pytest.mark.parametrize("said", [(), ("initialize", "shutdown", "exit")], ids=["silent", "taking its leave"])
def test_editor_that_says_no_more_ends_it(said: tuple[str, ...], tmp_path: Path) -> None:
    sent = ""
    for number, method in enumerate(said):
        message = {"jsonrpc": "2.0", "method": method, "params": {"capabilities": {}}}
        body = json.dumps(message | ({} if method == "exit" else {"id": number}))
        sent += f"Content-Length: {len(body)}\r\n\r\n{body}"
    ran = run_mdmem("lsp", cwd=tmp_path, text_in=sent)
    assert (ran.returncode, ran.stderr, ran.stdout.count("Content-Length")) == (0, "", 2 * bool(said))


def test_header_that_nobody_can_mean_ends_it_in_a_line(tmp_path: Path) -> None:
    ran = run_mdmem("lsp", cwd=tmp_path, text_in=f"Content-Length: {10**12}\r\n\r\nx")
    assert ran.returncode == 2
    assert ran.stderr == "mdmem: the editor sent a message with an impossible length; start the server again\n"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("mdmem ret", ["retrieve"]),
        ("mdmem show nav/", ["nav/architecture/threads", "nav/rules/callbacks"]),
        ("mdmem why ros", ["ros2/rules/qos"]),
        ("mdmem list --wing ", ["nav", "ros2"]),
        ("mdmem retrieve --room ", ["architecture", "rules"]),
        ("mdmem new decision ", ["nav/architecture/", "nav/rules/", "ros2/rules/"]),
        ("mdmem list --type ", ["invariant", "decision", "pattern", "note"]),
        ("mdmem check --format c", ["concise"]),
        ("mdmem check --select supersession-c", ["supersession-cycle"]),
        ("mdmem show thr", ["threads"]),
        ("mdmem show architecture/", ["architecture/threads"]),
        ("mdmem retrieve --path READ", ["READ"]),
    ],
)
def test_completion_offers(line: str, offered: list[str], folder: Path) -> None:
    """Compare what bash offers for the last word of a line."""
    write_entry(folder / "memory", "ros2/rules/qos")
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    env = {"_MDMEM_COMPLETE": "bash_complete", "COMP_WORDS": shlex.join(words), "COMP_CWORD": str(len(words) - 1)}
    ran = run_mdmem(cwd=folder, env=env)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [one.partition(",")[2] for one in ran.stdout.splitlines() if one] == offered


# A colour, a window's title, the clipboard, C1, DEL, turned direction, no width, other ends of lines.
EVIL = (
    "\x1b[31mFORGED\x1b]0;owned\x07\x1b]52;c;cm0=\x07\x9b2J\x7f\x08\r\u202e\u2066\u200b\u200d\u200f\u2060\ufeff\u2028z"
)
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
# Ends of lines in names of files, and how they are shown.
ENDS = {"\n": "000A", "\r\n": "000D", "\u2028": "2028", "\u2029": "2029", "\x85": "0085", "\u202e": "202E"}
OURS = re.compile(r"\x1b\[(?:0|1|2|31|32|33|36|1;31)m")
ADDRESS = "nav/rules/evil"
BRANCH = "odd\u202ename"
# The arguments of each command. Every command must be in this table.
CALLS: dict[str, list[list[str]]] = {
    "init": [["--wing", EVIL], [EVIL]],
    "guide": [["writing"], [EVIL]],
    "status": [[], ["--audit"], ["--rebuild"]],
    "new": [["note", "nav/rules", "--title", EVIL, "--body", EVIL], ["note", EVIL]],
    "save": [["context", "--json", EVIL], ["--waiting"], ["--retry", EVIL], ["--drop", EVIL]],
    "show": [[ADDRESS], [EVIL]],
    "list": [["--include-drafts"], ["--wing", EVIL], ["--owner", EVIL], ["--format", EVIL]],
    "search": [["caching"], [EVIL]],
    "retrieve": [["caching"], [EVIL]],
    "context": [["caching"], [EVIL]],
    "brief": [["src/pay.py"]],
    "supersede": [[ADDRESS, "--by", EVIL], [ADDRESS, "--title", EVIL, "--reason", EVIL, "--body", EVIL]],
    "approve": [["nav/rules/draft"], [EVIL]],
    "doubt": [[ADDRESS, "--reason", EVIL]],
    "verify": [["nav/rules/"], [EVIL]],
    "deprecate": [[ADDRESS, "--reason", EVIL]],
    "mv": [[ADDRESS, "nav/rules/moved"], [ADDRESS, EVIL]],
    "edit": [[EVIL], [ADDRESS, "--body", EVIL]],
    "why": [[ADDRESS], [EVIL]],
    "log": [[ADDRESS], ["--fields", ADDRESS], []],
    "site": [["build", "--name", EVIL], ["build", "--wing", EVIL], ["build", "--out", EVIL]],
    "check": [["--verbose"], ["--base", BRANCH, "--verbose"], ["--select", EVIL], ["--explain", EVIL], [EVIL]],
    "diff": [[BRANCH], [EVIL]],
    "hygiene": [[]],
    "export": [["json"], ["madr"], ["json", "--wing", EVIL]],
    "import": [["--dry-run", "."], [EVIL], ["--from", "markdown", "."], ["--approved-by", EVIL, "."], ["--to", EVIL]],
    "sync": [["--wings"], ["--wings", EVIL]],
    "token": [["--reason", EVIL], ["add", EVIL, "--wing", EVIL], ["list"]],
    "hooks": [["status"], ["install"]],
    "resolve": [[], [EVIL, "--take", EVIL]],
    "merge-driver": [["a", "b", EVIL, "7", EVIL, EVIL, EVIL]],
    "mcp": [["--profile", EVIL]],
    "lsp": [[EVIL]],
}
# These hold the titles and bodies, or the authors and fields, in every form for people.
TELLING = {"show", "list", "search", "retrieve", "context", "why", "log", "diff", "check"}


def quoted(text: str) -> str:
    return '"' + "".join(f"\\u{ord(one):04x}" for one in text) + '"'


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository whose every text is hostile: titles, bodies, tags, owners, names, a branch, an author."""
    top = memory(tmp_path_factory.mktemp("hostile"))
    git(top, "branch", BRANCH)
    named = "".join(f"{name}: {quoted(EVIL)}\n" for name in ("owner", "tags", "deprecated_reason", "reason"))
    for name, status in (("evil", "active"), ("draft", "draft")):
        head = f"type: note\nstatus: {status}\ncreated_at: 2026-03-05\ntitle: {quoted(EVIL + name)}\n{named}"
        write(top, f"memory/nav/rules/{name}.md", f"---\n{head}---\n\ncaching {EVIL}\n\n# {EVIL}\n\nsee `{EVIL}`\n")
    write(top, "memory/nav/rules/\x1b[31mFORGED\u202e.md", "---\ntype: [\n---\n")
    write(top, f"memory/nav/\x1b[31mFORGED/{'a'}.md", f"---\ntype: {quoted(EVIL)}\n{EVIL}: 1\n---\n")
    head = f"type: decision\nstatus: active\ncreated_at: 2026-03-05\ntitle: {quoted(EVIL)}\napplies_to: src/pay.py\n"
    write(top, "memory/nav/rules/rule.md", f"---\n{head}---\n\nPay {EVIL}\n\nRationale: none.\n")
    for end in ENDS:
        for path in (f"nav/rules/a{end}FORGED b.md", f"nav/a{end}FORGED b/a.md", f"a{end}FORGED b/rules/a.md"):
            write(top, f"memory/{path}", entry_text(type="invariant", title="caching"))
    git(top, "config", "user.name", "Eve \x1b[31mFORGED\u202e Mallory")
    write(top, "docs/adr/0001-\x1b[31mFORGED.md", f"# 1. {EVIL}\n")
    write(top, "docs/adr/0002-evil.md", f"# 2. {EVIL}\n\n## Status\n\n{EVIL}\n\n## Decision\n\n[[{EVIL}]]\n")
    commit_all(top, f"change {EVIL} it")
    write(top, "memory/nav/rules/evil.md", (top / "memory/nav/rules/evil.md").read_text().replace("see", "look at"))
    return top


def forms(name: str) -> list[str]:
    command = load_command(name)
    choices = [one.type for one in command.params if one.name == "form"]
    return list(choices[0].choices) if choices and isinstance(choices[0], click.Choice) else []


def calls(name: str) -> Iterator[list[str]]:
    yield from CALLS[name]
    if name not in ("token", "hooks", "save"):
        yield from ([*CALLS[name][0], "--format", form] for form in forms(name)[1:])


def test_every_command_is_called() -> None:
    # `hook-event` prints the text of `brief` as JSON, and the tests of the hub use hostile names.
    assert sorted([*CALLS, "hook-event", "hub"]) == sorted(COMMANDS)


@pytest.mark.parametrize("name", CALLS)
def test_nothing_that_is_printed_acts_on_a_terminal(name: str, hostile: Path, tmp_path: Path, run: Run) -> None:
    top = Path(shutil.copytree(hostile, tmp_path / "copy", symlinks=True))
    for arguments in calls(name):
        ran = run(name, *arguments, "--color", "never", cwd=top)
        assert ran.out + ran.err, arguments
        assert ACTING.findall(ran.out + ran.err) == [], arguments
        assert not re.search(r'^"?FORGED', ran.out + ran.err, re.MULTILINE), arguments
        assert '"FORGED' not in ran.out, arguments
        if "json" in arguments and ran.out:
            assert ran.json
        elif name in TELLING and arguments == CALLS[name][0]:
            assert "<U+001B>[31mFORGED" in ran.out


@pytest.mark.parametrize("name", sorted(TELLING))
def test_the_colours_are_ours_alone(name: str, hostile: Path, run: Run) -> None:
    ran = run(name, *CALLS[name][0], "--color", "always", cwd=hostile)

    # A context pack is Markdown, without colours.
    assert ("\x1b[0m" in ran.out) is (name != "context")
    assert "\x1b[31mFORGED" not in ran.out
    assert ACTING.findall(OURS.sub("", ran.out)) == []


def test_check_has_one_error_in_one_line_for_a_name_with_line_ends(hostile: Path, run: Run) -> None:
    lines = run("check", "--format", "concise", cwd=hostile).out.splitlines()
    for number in ENDS.values():
        (error,) = [line for line in lines if line.startswith(f"memory/nav/rules/a<U+{number}>")]
        assert f"U+{number}, so nothing reads it" in error.partition(": error ")[2]


def test_no_page_of_the_site_has_a_name_as_it_is(hostile: Path, tmp_path: Path, run: Run) -> None:
    top = Path(shutil.copytree(hostile, tmp_path / "copy", symlinks=True))
    assert run("site", "build", "--out", str(tmp_path / "pages"), cwd=top).code == 0
    pages = [path for path in (tmp_path / "pages").rglob("*") if path.suffix in (".html", ".json", ".xml", ".svg")]
    assert len(pages) > 5
    names = [f"a{end}FORGED" for end in ENDS]
    assert [page for page in pages for name in names if name in page.name + page.read_text()] == []


def test_json_holds_the_same_text(hostile: Path, run: Run) -> None:
    (shown,) = run("show", ADDRESS, "--format", "json", cwd=hostile).json["entries"]
    assert shown["front_matter"]["title"] == EVIL + "evil"


def test_a_title_cannot_pass_for_another_line(hostile: Path, tmp_path: Path, run: Run) -> None:
    top = Path(shutil.copytree(hostile, tmp_path / "copy"))
    write(top, "memory/nav/rules/evil.md", '---\ntype: note\ntitle: "a\\nnote       active  nav/x"\n---\n\nx\n')
    printed = run("list", "--include-drafts", cwd=top).out.splitlines()
    assert not [line for line in printed if line.startswith("note       active  nav/x")]


def test_what_scripts_and_emoji_are_made_of_is_printed_as_it_is(folder: Path, run: Run) -> None:
    title = "می‌خواهم 👩‍🚀 ක්‍ෂ e\u0301 宽 a\u00a0b"
    body = f"{title}\tx\n\n- y\n"
    write(folder, "memory/nav/rules/words.md", entry_text(body, title=title))
    printed = run("show", "nav/rules/words", "--format", "markdown").out
    assert printed.endswith(f"> {title}\tx\n>\n> - y\n")


def test_a_patch_for_a_program_is_not_changed(folder: Path) -> None:
    path = write(folder, "memory/nav/rules/odd.md", "---\ntype: note\ntitle: T\nstatus: Active\n---\n\na\x1bb\u202e\n")
    patch = run_mdmem("check", "--diff", "--color", "never", cwd=folder).stdout
    assert "a\x1bb\u202e" in patch
    git(folder, "apply", text_in=patch.encode())
    assert "status: active" in path.read_text(encoding="utf-8")


def test_what_a_traceback_says_is_shown(hostile: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.cli.ask.list_entries", Mock(side_effect=LookupError(EVIL)))
    monkeypatch.setenv("MDMEM_DEBUG", "1")
    ran = run("list", cwd=hostile)
    assert (ran.code, ACTING.findall(ran.err)) == (3, [])
    assert "Traceback" in ran.err


def test_a_name_that_does_not_show_is_not_completed(hostile: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_MDMEM_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "mdmem show nav/")
    monkeypatch.setenv("COMP_CWORD", "2")
    printed = run(cwd=hostile).out
    assert ("nav/rules/evil" in printed, ACTING.findall(printed)) == (True, [])
