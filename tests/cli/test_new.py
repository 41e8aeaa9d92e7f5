"""Test `mdmem new` and `mdmem edit`: written files, refusals, and that no typed text is lost."""

import subprocess
import sys
from pathlib import Path

import pytest
from builders import (
    TODAY,
    Run,
    commit_all,
    environment,
    git,
    make_root,
    memory,
    on_terminal,
    run_mdmem,
    snapshot,
    write,
    write_entry,
)
from lives import LIVED_IN, OLD, changed_lines, editor, two_entries

from mdmem.model.fields import BODIES

ADDRESS = "nav/rules/new-one"
# What YAML reads as something else than the text, or not at all.
HOSTILE = ['C++: "x" # y', "no", "2026", "2026-11-21", "12:30", "1.10", "~", "null", "[a] {b}", "- item", "# head"]
HOSTILE += ["'q'", "a: b", "@x", "%x", "`x`", "!x", "&x", "*x", "| x", "> x", "a\\b", "---", "trailing:", "? key", "="]
HOSTILE += ["🚀 off", "é", "\u2028line", "<<", "x" * 300]


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """Return a repository in its own folder, so that an editor can be next to it."""
    return memory(tmp_path / "p")


@pytest.mark.parametrize("kind", BODIES)
def test_new_writes_the_template_of_its_type(kind: str, folder: Path) -> None:
    ran = run_mdmem("new", kind, ADDRESS, "--body", "", cwd=folder)
    path = folder / f"memory/{ADDRESS}.md"
    assert (ran.returncode, ran.stdout) == (0, f"memory/{ADDRESS}.md\n")
    assert ran.stderr.splitlines() == [
        "no text was given: the entry has the template, to be filled in",
        f"{ADDRESS} is written ({kind}, draft); `mdmem check` checks it, `mdmem approve {ADDRESS}` makes it active",
    ]
    head = f"---\ntype: {kind}\nstatus: draft\ncreated_at: {TODAY}\ntitle: New one\n---\n\n"
    assert path.read_text() == head + BODIES[kind]  # type: ignore[index]


@pytest.mark.parametrize("command", [("new", "note", ADDRESS), ("supersede", "callbacks", "-m", "why", "-t", "New")])
def test_empty_standard_input_writes_nothing(command: tuple[str, ...], folder: Path) -> None:
    before, ran = snapshot(folder), run_mdmem(*command, cwd=folder)
    assert (ran.returncode, ran.stdout, snapshot(folder)) == (2, "", before)
    assert ran.stderr == 'mdmem: no text was given; `--body TEXT` takes it, and `--body ""` writes the template\n'


def test_new_takes_title_status_and_body(folder: Path, run: Run) -> None:
    stated = ("--title", "Use UTC", "--status", "active", "--body", "We do.")
    globs = ("--applies-to", "src/pay/**", "--applies-to", "setup.py")
    assert run("new", "decision", "nav/rules", *stated, *globs).code == 0
    assert (folder / "memory/nav/rules/use-utc.md").read_text() == (
        f"---\ntype: decision\nstatus: active\ncreated_at: {TODAY}\ntitle: Use UTC\n"
        'applies_to: ["src/pay/**", setup.py]\n'
        f"approved_by: Ada <ada@example.org>\n---\n\nWe do.\n"
    )


@pytest.mark.parametrize("arguments", [[], ["--body", "-"]])
@pytest.mark.parametrize("piped", ["We do.\n\nRationale: it works.\n", "\ufeffWe do.\r\n\r\nRationale: it works.\r\n"])
def test_new_takes_the_body_from_standard_input(arguments: list[str], piped: str, folder: Path) -> None:
    command = [sys.executable, "-m", "mdmem", "new", "decision", ADDRESS, *arguments]
    subprocess.run(command, cwd=folder, env=environment(), input=piped.encode(), capture_output=True, check=True)
    written = (folder / f"memory/{ADDRESS}.md").read_bytes().decode()
    assert written.partition("---\n\n")[2] == "We do.\n\nRationale: it works.\n"


@pytest.mark.parametrize(
    ("kind", "option", "status"),
    [
        *(("invariant", ("-s", one), one) for one in ("draft", "active", "under_review")),
        *(("pattern", (), "draft"), ("decision", (), "draft"), ("note", (), "active")),
    ],
)
def test_new_entry_passes_the_checks(kind: str, option: tuple[str, ...], status: str, folder: Path, run: Run) -> None:
    body = "Clocks must run on UTC.\n\nRationale: summer time."
    ran = run("new", kind, ADDRESS, "--title", "Clocks run on UTC", "-b", body, *option)
    assert f"status: {status}\n" in (folder / f"memory/{ADDRESS}.md").read_text()
    assert f"{ADDRESS} is written ({kind}, {status})" in ran.err
    commit_all(folder)
    assert run("check", "--strict").out.endswith("no findings\n")


def test_new_entry_can_amend_others(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/rules/one")
    write_entry(folder / "memory", "nav/rules/two")
    made = ("new", "decision", ADDRESS, "--amends", "one", "--amends", "nav/rules/two", "--body", "On Sundays.")
    assert run(*made).code == 0
    assert "\namends: [nav/rules/one, nav/rules/two]\n" in (folder / f"memory/{ADDRESS}.md").read_text()
    ran = run("new", "decision", "nav/rules/other", "--amends", "zebra", "--body", "x")
    assert (ran.code, ran.err.startswith("mdmem: there is no entry `zebra`; ")) == (1, True)


@pytest.mark.parametrize("title", HOSTILE)
def test_title_is_read_back_as_it_was_typed(title: str, folder: Path, run: Run) -> None:
    assert run("new", "note", ADDRESS, f"--title={title}", "--body", "x").code == 0
    (shown,) = run("show", ADDRESS, "--format", "json").json["entries"]
    assert shown["front_matter"]["title"] == " ".join(title.split())


@pytest.mark.parametrize(
    ("title", "entry_id"),
    [
        ("Use UTC, always!", "use-utc-always"),
        ("Café au lait", "cafe-au-lait"),
        ("Größe der Straße", "grosse-der-strasse"),
        ("Œuvre, Łódź, Þórður", "oeuvre-lodz-thordur"),
        ('C++: "x" # y', "c-x-y"),
        ("word " * 60, "-".join(["word"] * 12)),
        ("x" * 300, "x" * 60),
    ],
)
def test_entry_id_is_made_from_the_title(title: str, entry_id: str, folder: Path, run: Run) -> None:
    assert run("new", "note", "nav/rules", "--title", title, "--body", "x").code == 0
    assert (folder / f"memory/nav/rules/{entry_id}.md").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Nav/rules/x", "`Nav` is not a valid name for a wing; write it like `nav`"),
        ("nav/My Rules/x", "`My Rules` is not a valid name for a room; write it like `my-rules`"),
        ("nav/rules/README", "`README` is not a valid name for an entry-id; write it like `readme`"),
        ("nav/rules/a:b", "`a:b` is not a valid name for an entry-id; write it like `a-b`"),
        ("nav/rules/con", "`con` is the name of a device, which Windows does not allow; write another name"),
        ("nav//x", "`` is not a valid name for a room; write it like `anti-patterns`"),
        ("nav/rules", "the title is missing; give a title, or the full address nav/rules/ID"),
        ("nav", "the title is missing; give a title, or the full address nav/context/ID"),
        ("nav/a/b/c", "`nav/a/b/c` is not a place for an entry; write WING/ROOM/ID, or WING/ROOM with --title"),
        ("../../x/y", "`../../x/y` is not a place for an entry; write WING/ROOM/ID, or WING/ROOM with --title"),
        ("", "the title is missing; give a title, or the full address nav/context/ID"),
        ("nva/rules/x", "there is no wing `nva`; did you mean nav/rules? `--new-wing` makes one"),
        ("zebra/zoo/x", "there is no wing `zebra`; `--new-wing` makes one"),
        (("zoo", "Use UTC"), "there is no wing `zoo`; write the place as nav/context, or another WING/ROOM"),
        (("nav/rules", "A", "--title", "B"), "a title is given twice; leave out TITLE or --title"),
    ],
)  # fmt: skip
def test_bad_name_is_refused_in_one_sentence(words: str | tuple[str, ...], said: str, folder: Path, run: Run) -> None:
    typed = [words] if isinstance(words, str) else words
    ran = run("new", "note", *typed, "--body", "x", unchanged=folder)
    assert (ran.code, ran.out, ran.err.split(": ", 1)[1]) == (2, "", f"{said}\n")


@pytest.mark.parametrize(("more", "piped"), [((), b"caf\xe9\n"), (("--body", "x", "--title", b"caf\xe9"), b"")])
def test_text_that_is_no_utf8_is_refused(more: tuple[str | bytes, ...], piped: bytes, folder: Path) -> None:
    before = snapshot(folder)
    command = [sys.executable, "-m", "mdmem", "new", "note", ADDRESS, *more]
    ran = subprocess.run(command, cwd=folder, env=environment(), input=piped, capture_output=True, check=False)
    said = b"mdmem: the title or the text is not UTF-8; save it as UTF-8 and try again\n"
    assert (ran.returncode, ran.stderr, snapshot(folder)) == (2, said, before)


def test_editor_gets_the_template_on_a_terminal(tmp_path: Path, beside: Path) -> None:
    env = editor(tmp_path, "assert text.endswith('learned.>\\n')", "text += 'Typed.\\n'")
    code, printed = on_terminal("new", "note", ADDRESS, cwd=beside, env=env)
    written = beside / f"memory/{ADDRESS}.md"
    assert (code, printed.splitlines()[0]) == (0, f"memory/{ADDRESS}.md")
    assert written.read_text().endswith("learned.>\nTyped.\n")
    assert list(tmp_path.glob("p/.git/mdmem/state/memory/edits/*")) == []


def test_editor_shows_more_keys_as_comments_and_leaves_those_that_nobody_took(tmp_path: Path, beside: Path) -> None:
    take = "text = text.replace('# owner: a team or a person', 'owner: navigation')"
    env = editor(tmp_path, "assert '# applies_to:' in text", take)
    assert on_terminal("new", "note", ADDRESS, cwd=beside, env=env)[0] == 0
    front = (beside / f"memory/{ADDRESS}.md").read_text().split("---\n")[1]
    assert [line.split(":")[0] for line in front.splitlines()] == ["type", "status", "created_at", "title", "owner"]


@pytest.mark.parametrize(
    ("line", "said", "code"),
    [
        ("", "the template is unchanged; nothing is written\n", 1),
        ("text = 'no front matter, much work\\n'", "the entry cannot be read: line 1: ", 2),
        ("text = text.replace('learned.>', 'much work \\udce9')", "is not UTF-8", 2),
        ("path.write_text('much work\\n'); sys.exit(3)", "ended with code 3; nothing was written", 3),
    ],
)
def test_text_that_cannot_be_written_is_kept(line: str, said: str, code: int, tmp_path: Path, beside: Path) -> None:
    before = snapshot(beside)
    ended, printed = on_terminal("new", "note", ADDRESS, cwd=beside, env=editor(tmp_path, line))
    assert (ended, said in printed, snapshot(beside)) == (code, True, before)
    kept = [*tmp_path.glob("p/.git/mdmem/state/memory/edits/*/new-one.md")]
    assert [b"much work" in one.read_bytes() for one in kept] == [True] * bool(line)
    assert all(f"your text is kept in {one}" in printed for one in kept)


def test_text_is_kept_where_somebody_took_the_address_meanwhile(tmp_path: Path, beside: Path) -> None:
    taken = beside / f"memory/{ADDRESS}.md"
    env = editor(tmp_path, f"pathlib.Path({str(taken)!r}).write_text('theirs')", "text += 'Mine.'")
    code, _ = on_terminal("new", "note", ADDRESS, cwd=beside, env=env)
    assert (code, taken.read_text()) == (4, "theirs")
    assert next(tmp_path.glob("p/.git/mdmem/state/memory/edits/*/new-one.md")).read_text().endswith("Mine.")


@pytest.mark.parametrize(("option", "kind"), [([], "project"), (["--shared"], "shared")])
def test_new_wing_gets_a_manifest(option: list[str], kind: str, folder: Path, run: Run) -> None:
    git(folder, "config", "user.name", "A developer")
    git(folder, "config", "user.email", "developer@example.org")
    ran = run("new", "note", "zoo/rules/x", "--body", "x", "--new-wing", *option, "--commit")
    assert (ran.code, git(folder, "status", "--porcelain")) == (0, "")
    manifest = (folder / "memory/zoo/README.md").read_text()
    assert manifest.startswith(f"---\nkind: {kind}\nowners: [A developer <developer@example.org>]\n---\n")


@pytest.mark.parametrize(
    ("arguments", "address"),
    [
        (("decision", "Use UTC"), "nav/architecture/use-utc"),
        (("invariant", "Use UTC"), "nav/architecture/use-utc"),
        (("pattern", "Use TCP/IP"), "nav/conventions/use-tcp-ip"),
        (("note", "postgres"), "nav/context/postgres"),
        (("note", "-t", "Use UTC"), "nav/context/use-utc"),
        (("note", "nav", "Use UTC"), "nav/context/use-utc"),
        (("note", "nav/rules", "Use UTC"), "nav/rules/use-utc"),
        (("note", "nav/rules/clocks", "Use UTC"), "nav/rules/clocks"),
        *((("note", path), "nav/rules/x") for path in ("memory/nav/rules/x.md", "memory/nav/rules/x")),
        *((("note", path), "nav/rules/x") for path in ("./memory/nav/rules/x.md", "nav/rules/x.md")),
    ],
)
def test_place_has_defaults_and_may_be_a_path(arguments: tuple[str, ...], address: str, folder: Path, run: Run) -> None:
    ran = run("new", *arguments, "--body", "x")
    assert (ran.code, ran.out) == (0, f"memory/{address}.md\n")


@pytest.mark.parametrize("is_shared", [False, True])
def test_new_names_what_speaks_of_the_same_subject(is_shared: bool, folder: Path, run: Run) -> None:
    if is_shared:
        write(folder, "memory/base/README.md", "---\nkind: shared\n---\n")
    text = "Slow disks: the write-ahead log of the queue lies on its own volume, and the broker syncs it each second."
    write_entry(folder / "memory", "base/queue/log" if is_shared else "nav/queue/log", text, title="Volumes")
    write_entry(folder / "memory", "other/queue/log", text, title="Volumes")
    ran = run("new", "note", "nav", "Broker volume for the queue log", "--body", "x")
    address = "base/queue/log" if is_shared else "nav/queue/log"
    assert f"on this subject: {address} (decision); `mdmem show {address}` shows it\n" in ran.err


CLOSE = "A callback must not block its executor.\n\nRationale: the robot stops.\n"


@pytest.mark.parametrize("kind", ["invariant", "decision", "pattern", "note"])
def test_new_names_what_says_much_the_same_whatever_its_type(kind: str, folder: Path, run: Run) -> None:
    ran = run("new", kind, ADDRESS, "--title", "Callbacks never block", "--body", CLOSE)
    said = "similar entries: nav/rules/callbacks (invariant, "
    assert (ran.code, ran.err.startswith(said)) == (0, True)
    assert "%); `mdmem show nav/rules/callbacks` shows it\n" in ran.err


def test_new_json_has_what_is_near(folder: Path, run: Run) -> None:
    ran = run("new", "note", ADDRESS, "-t", "Use two threads", "-b", "x", "--format", "json")
    said = ran.json
    (one,) = said["changed"]
    assert (one["path"], one["action"], one["from"]) == (f"{ADDRESS}.md", "created", None)
    near = {"address": "nav/architecture/threads", "type": "decision", "status": "active", "title": "Use two threads"}
    assert said["near"] == [near | {"similarity": 1.0}]


@pytest.mark.parametrize("owner", ["ada", "bob"])
@pytest.mark.parametrize(
    ("command", "address"),
    [
        ("new decision", ADDRESS),
        ("supersede nav/rules/callbacks -m Better --place", ADDRESS),
        # Git's user is the owner of a new wing.
        ("new decision --new-wing", "loft/rules/one"),
    ],
)
def test_owner_approves_by_writing(command: str, address: str, owner: str, folder: Path, run: Run) -> None:
    write(folder, "memory/nav/README.md", f"---\nkind: project\nowners: [{owner}]\n---\n")
    text = ("--title", "New one", "--status", "active", "--body", "We use it.\n\nRationale: it was tried.")
    assert run(*command.split(), address, *text).code == 0
    written = (folder / f"memory/{address}.md").read_text().splitlines()
    line = ["approved_by: Ada <ada@example.org>"] if owner == "ada" or address != ADDRESS else []
    assert [one for one in written if one.startswith("approved_by")] == line


def test_new_refuses_a_wing_that_nothing_would_read(repo: Path, run: Run) -> None:
    write(make_root(repo), "other/README.md", "# Code\n")
    ran = run("new", "note", "other/room/one", "--body", "text", "--new-wing")
    assert (ran.code, "README.md with `kind: project`" in ran.err) == (2, True)


THREE = "text = text.replace('We decided', 'We decided on three')"
TORN = "text = text.replace('status: active', 'status: actve')"


def edit(root: Path, *arguments: str, by: str, variable: str = "GIT_EDITOR") -> tuple[int, str]:
    """Run the command with an editor that runs a line of Python, and return its exit code and all it printed."""
    env = {variable: editor(root.parent.parent, by)["GIT_EDITOR"]}
    return on_terminal("edit", OLD, *arguments, cwd=root, env=env)


def kept_in(root: Path) -> list[Path]:
    return list(root.parent.glob(".git/mdmem/state/memory/edits/*/threads.md"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_entries(tmp_path / "p")


@pytest.mark.parametrize("variable", ["GIT_EDITOR", "VISUAL", "EDITOR"])
def test_edit_writes_what_the_editor_left(variable: str, root: Path) -> None:
    write(root, f"{OLD}.md", LIVED_IN)
    commit_all(root.parent)
    code, printed = edit(root, by="text = text.replace('measured', 'tried')", variable=variable)
    assert (code, printed.splitlines()[:2]) == (0, [f"changed {OLD}.md", "  body: changed"])
    assert changed_lines(LIVED_IN, (root / f"{OLD}.md").read_bytes()) == [
        "- Rationale: it was measured.",
        "+ Rationale: it was tried.",
    ]
    assert kept_in(root) == []


def test_edit_opens_again_with_the_reason_above(tmp_path: Path, root: Path) -> None:
    file = root / f"{OLD}.md"
    file.write_text("\ufeff" + file.read_text())
    by = f"{TORN} if turn == 0 else text.replace('status: actve', 'status: active').replace('tried', 'seen')"
    code, _ = edit(root, by=by)
    assert (code, "it was seen" in file.read_text(), "# mdmem" in file.read_text()) == (0, True, False)
    unknown = "unknown status `actve`; write `active`; allowed are draft, active, under_review, deprecated"
    note, *lines = (tmp_path / "seen-1").read_text().splitlines()[:4]
    assert note.startswith(f"\ufeff# mdmem: nothing was written: {OLD}.md:3: {unknown}; fix it, or close")
    assert lines == ["---", "type: decision", "status: actve"]
    assert file.read_text().startswith("\ufeff---\n")


def test_edit_that_is_given_up_keeps_what_was_typed(root: Path) -> None:
    before = snapshot(root)
    code, printed = edit(root, by=TORN)
    (kept,) = kept_in(root)
    assert (code, snapshot(root)) == (2, before)
    said = f"mdmem: nothing was written: {OLD}.md:3: unknown status `actve`; write `active`; allowed are "
    assert printed.startswith(f"your text is kept in {kept}\n{said}")
    assert ("status: actve" in kept.read_text(), "# mdmem" in kept.read_text()) == (True, False)


def test_edit_of_a_file_that_changed_meanwhile_keeps_both(root: Path) -> None:
    file = root / f"{OLD}.md"
    theirs = f"pathlib.Path({str(file)!r}).write_text('---\\ntheirs')"
    code, printed = edit(root, by=f"{theirs}; {THREE}")
    (kept,) = kept_in(root)
    assert (code, file.read_text(), "on three" in kept.read_text()) == (4, "---\ntheirs", True)
    assert printed.splitlines()[::2] == [
        f"your text is kept in {kept}",
        f"`mdmem edit {OLD}` opens the file as it is now",
    ]


def test_edit_that_is_editorial_marks_the_day(root: Path, run: Run) -> None:
    code, printed = edit(root, "--editorial", by=THREE)
    assert (code, printed) == (0, f"changed {OLD}.md\n  editorial_at: 2026-11-21\n  body: changed\n")
    assert run("check", "--base", "HEAD", "--select", "frozen-text-changed", cwd=root).code == 0


def test_edit_without_a_terminal_says_which_line_records_a_corrected_slip(root: Path, run: Run) -> None:
    path = root / f"{OLD}.md"
    path.write_text(path.read_text().replace("We decided", "We have decided"))
    checked = ("check", "--base", "HEAD", "--select", "frozen-text-changed")
    assert f"run `mdmem edit --editorial {OLD}`" in run(*checked, cwd=root).out
    said = run("edit", "--editorial", OLD, cwd=root).err
    line = said.partition("set `")[2].partition("`")[0]
    path.write_text(path.read_text().replace("---\n", f"---\n{line}\n", 1))
    assert run(*checked, cwd=root).out.endswith(": no findings\n")


@pytest.mark.parametrize("arguments", [[], ["--editorial"]])
def test_edit_without_a_change_writes_nothing(arguments: list[str], root: Path) -> None:
    before = snapshot(root.parent)
    assert edit(root, *arguments, by="pass") == (0, "nothing to change: the files already have this content\n")
    assert snapshot(root.parent) == before


@pytest.mark.parametrize(
    ("arguments", "by", "code", "said"),
    [
        ([], f"{THREE}; path.write_text(text); sys.exit(3)", 3, "ended with code 3; nothing was written\n"),
        (["--dry-run"], THREE, 0, "-We decided.\n+We decided on three.\n"),
    ],
    ids=["editor fails", "dry run"],
)
def test_edit_that_writes_nothing_keeps_what_was_typed(
    arguments: list[str], by: str, code: int, said: str, root: Path
) -> None:
    before = snapshot(root)
    ended, printed = edit(root, *arguments, by=by)
    (kept,) = kept_in(root)
    assert (ended, said in printed, f"your text is kept in {kept}\n" in printed) == (code, True, True)
    assert ("on three" in kept.read_text(), snapshot(root)) == (True, before)


def test_edit_mends_what_cannot_be_read(root: Path) -> None:
    file = root / f"{OLD}.md"
    file.write_text(file.read_text().replace("status: active", "status: actve"))
    assert edit(root, by="text = text.replace('actve', 'active')")[0] == 0
    assert "status: active\n" in file.read_text()


def test_applies_to_is_set_without_an_editor(root: Path, run: Run) -> None:
    assert run("edit", "--help").out.startswith("Usage: mdmem edit [OPTIONS] ADDRESS...\n")
    ran = run("edit", OLD, "--applies-to", "src/**", "--applies-to", "lib/a.py", cwd=root)
    assert (ran.code, ran.out) == (0, f"changed {OLD}.md\n  applies_to: src/**, lib/a.py\n")
    assert 'applies_to: ["src/**", lib/a.py]' in (root / f"{OLD}.md").read_text()
