"""No text of a file, a commit, an argument or an exception acts on a terminal, whatever command prints it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from builders import Run, commit_all, entry_text, git, memory, run_mdmem, write

from mdmem.cli.main import COMMANDS, load_command

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
# What each command is given; none of it may be missing from `COMMANDS`.
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
    named = (
        f"owner: {quoted(EVIL)}\ntags: [{quoted(EVIL)}]\ndeprecated_reason: {quoted(EVIL)}\nreason: {quoted(EVIL)}\n"
    )
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
    # A client's hook prints JSON for a program, what `brief` says; a hub's names are hostile where its server is.
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
    def broken(*_: object) -> None:
        raise LookupError(EVIL)

    monkeypatch.setattr("mdmem.cli.ask.list_entries", broken)
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
