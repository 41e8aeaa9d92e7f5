"""Test the output of writing commands: `--dry-run`, `--commit`, `--format json`, and refusals."""

import json
from pathlib import Path

import pytest
from builders import (
    Ran,
    Run,
    commit_all,
    git,
    hook,
    memory,
    merge_conflict,
    nobody,
    snapshot,
    status,
    write,
    write_entry,
)
from lives import LIVED_IN, NEW, OLD, RULE, changed_lines, two_entries

DRAFT = "nav/rules/draft"
MOVED = "nav/laws/callbacks"
NOTE = "nav/notes/n"
FOUR = "nav/architecture/four"


def with_draft(folder: Path) -> Path:
    """Return a committed memory of two decisions and an invariant, with a draft that is to supersede one of them."""
    root = two_entries(folder)
    write_entry(root, DRAFT, title="Four", status="draft", supersedes=OLD, reason="better")
    write_entry(root, "nav/architecture/gone", status="deprecated", deprecated_reason="sold")
    write_entry(root, "nav/drafts/later", status="draft")
    commit_all(folder, "a draft")
    return root


ENTRY, SUPERSEDES = "\nMdmem-Entry: ", "\nMdmem-Supersedes: "
NEW_TEXT = ["--title", "Four", "-s", "active", "-b", "Four.\n\nRationale: measured."]
# A command, the message of its commit, and what the commit does to files.
VERBS: list[tuple[list[str], str, list[str]]] = [
    (["deprecate", OLD, "-m", "sold"], f"Deprecate {OLD}\n\nsold\n{ENTRY}{OLD}", [f"M\t{OLD}"]),
    (["doubt", OLD, "-m", "is it so?"], f"Review {OLD}\n\nis it so?\n{ENTRY}{OLD}", [f"M\t{OLD}"]),
    (["verify", OLD, RULE], f"Verify 2 entries\n{ENTRY}{OLD}{ENTRY}{RULE}", [f"M\t{OLD}", f"M\t{RULE}"]),
    (["approve", DRAFT], f"Approve {DRAFT}\n\nbetter\n{ENTRY}{DRAFT}{SUPERSEDES}{OLD}", [f"M\t{OLD}", f"M\t{DRAFT}"]),
    (
        ["supersede", OLD, "-m", "slow", *NEW_TEXT],
        f"Supersede {OLD} by {FOUR}\n\nslow\n{ENTRY}{FOUR}{ENTRY}{OLD}{SUPERSEDES}{OLD}",
        [f"A\t{FOUR}", f"M\t{OLD}"],
    ),
    (["mv", RULE, MOVED], f"Move {RULE} to {MOVED}\n{ENTRY}{MOVED}{ENTRY}{RULE}", [f"A\t{MOVED}", f"D\t{RULE}"]),
    (["new", "note", NOTE, "-b", "x"], f"Add {NOTE}\n{ENTRY}{NOTE}", [f"A\t{NOTE}"]),
    (["edit", OLD, "--applies-to", "src/**"], f"Edit {OLD}\n{ENTRY}{OLD}", [f"M\t{OLD}"]),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return two_entries(tmp_path)


@pytest.mark.parametrize(("line", "message", "files"), VERBS, ids=[one[0][0] for one in VERBS])
def test_dry_run_writes_nothing_and_a_commit_has_just_what_is_written(
    line: list[str], message: str, files: list[str], tmp_path: Path, run: Run
) -> None:
    root = with_draft(tmp_path)
    write(tmp_path, "else.txt", "mine")
    git(tmp_path, "add", "else.txt")
    before = snapshot(tmp_path)
    ran = run(*line, "--dry-run", cwd=root)
    assert (ran.code, ran.out.startswith("diff --git a/memory/"), snapshot(tmp_path)) == (0, True, before)
    ran = run(*line, "--commit", "--format", "json", cwd=root)
    answer = ran.json
    assert (ran.code, answer["schema"], answer["dry_run"]) == (0, 1, False)
    assert answer["commit"] == git(tmp_path, "rev-parse", "HEAD")
    assert git(tmp_path, "log", "-1", "--format=%B").rstrip("\n") == message
    assert held(root) == [one.replace("\t", "\tmemory/") + ".md" for one in files]
    assert status(tmp_path) == ["A  else.txt"]
    assert {one["address"] for one in answer["changed"]} == {one[2:] for one in files if one[0] != "D"}


REFUSED = [
    (["deprecate", OLD], 2, "mdmem deprecate: Missing option '--reason' / '-m'."),
    (["deprecate", OLD, "-m", " "], 2, "mdmem: say why it is deprecated: --reason TEXT"),
    (["deprecate", "thread", "-m", "x"], 1, f"mdmem: there is no entry `thread`; did you mean {OLD}"),
    (["deprecate", "gone", "-m", "x"], 2, "mdmem: nav/architecture/gone is deprecated; `mdmem why nav/arch"),
    (["doubt", OLD], 2, "mdmem doubt: give --reason TEXT to begin a review, or --done to end one"),
    (["doubt", OLD, "-m", " "], 2, "mdmem: say what is in doubt: --reason TEXT"),
    (["doubt", OLD, "--done"], 2, f"mdmem: {OLD} has the status `active`, so there is no review to end"),
    (["doubt", DRAFT, "-m", "x"], 2, f"mdmem: {DRAFT} is a draft; `mdmem approve {DRAFT}` makes it active"),
    (["new"], 2, "mdmem new: Missing argument 'TYPE'. Choose from: invariant, decision, pattern, note"),
    (["verify"], 2, "mdmem verify: Missing argument 'ADDRESS...'."),
    (["verify", OLD, DRAFT], 2, f"mdmem: {DRAFT} is a draft"),
    (["verify", "nav/drafts/"], 2, "mdmem: there is nothing to verify, since none of these entries is current: nav/dr"),
    (["verify", OLD, "--at", "2026-11-22"], 2, "mdmem: 2026-11-22 is in the future; give the day on which"),
    (["verify", OLD, "--at", "2026-01-01"], 2, f"mdmem: {OLD} was created on 2026-03-05, after 2026-01-01"),
    (["verify", OLD, "--at", "soon"], 2, "mdmem verify: Invalid value for '--at'"),
    (["approve", DRAFT, "--by", "somebody"], 2, 'mdmem: `somebody` does not name a person; write --by "Name <email>"'),
    (["supersede", OLD, "--by", NEW], 2, "mdmem: say why it is superseded: --reason TEXT"),
    (["supersede", OLD, "-m", "x"], 2, "mdmem supersede: say what takes its place: --by ADDRESS, or --title TEXT"),
    (["supersede", OLD, "A title"], 2, "mdmem supersede: say what takes its place: --by ADDRESS, or --title TEXT"),
    (["supersede", OLD, DRAFT, "--by", NEW], 2, f"mdmem supersede: OLD is one entry; leave out {DRAFT}"),
    (["supersede", OLD, "-m", "x", "--by", NEW, "--title", "x"], 2, "mdmem supersede: --by takes an existing entry;"),
    (["supersede", OLD, "-m", "x", "--by", OLD], 2, f"mdmem: {OLD} cannot supersede itself"),
    (["supersede", OLD, "-m", "x", "--title", "Threads", "-b", "x"], 2, "mdmem: the new entry would have the address"),
    (["supersede", OLD, "-m", "x", "--title", "Executor", "-b", "x"], 4, f"mdmem: {NEW} exists already"),
    (["edit", "nav/README.md"], 2, "mdmem: nav/README.md is not an entry; edit it with your own editor, then run"),
    (["edit", OLD, OLD], 2, "mdmem: the editor opens one entry; give one ADDRESS, or use --applies-to for several"),
    (["new", "note", RULE, "-b", "x"], 4, f"mdmem: {RULE} exists already; "),
]


@pytest.mark.parametrize(("line", "code", "sentence"), REFUSED, ids=[" ".join(one[0]) for one in REFUSED])
def test_refusal_is_one_sentence(line: list[str], code: int, sentence: str, tmp_path: Path, run: Run) -> None:
    root = with_draft(tmp_path)
    ran = run(*line, cwd=root, unchanged=root)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert ran.err.startswith(sentence)


def test_deprecate_prints_what_changed(root: Path, run: Run) -> None:
    ran = run("deprecate", "threads", "--reason", "the robot was sold", cwd=root)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"changed {OLD}.md\n  status: active → deprecated\n  deprecated_at: 2026-11-21\n"
        "  deprecated_reason: the robot was sold\n"
    )
    assert run("check", "--select", "deprecated-without-successor-or-reason", cwd=root).code == 0


def test_review_keeps_the_doubt_and_says_how_it_ends(root: Path, run: Run) -> None:
    ran = run("doubt", "threads", "--reason", "does it starve?", cwd=root)
    assert (ran.code, ran.out) == (
        0,
        f"changed {OLD}.md\n  status: active → under_review\n  x-review-reason: does it starve?\n",
    )
    assert ran.err == (
        f"{OLD} still applies, shown as uncertain, until `mdmem doubt {OLD} --done` confirms it, or "
        f"`mdmem deprecate {OLD} --reason TEXT` deprecates it\n"
    )


@pytest.mark.parametrize(("end", "day"), [("doubt --done", "2026-11-21"), ("verify --at 2026-11-20", "2026-11-20")])
def test_end_of_a_review_leaves_the_file_as_it_was_but_for_the_day(end: str, day: str, root: Path, run: Run) -> None:
    write(root, f"{OLD}.md", LIVED_IN)
    run("doubt", OLD, "-m", "is it so?", cwd=root)
    ran = run(*end.split(), OLD, cwd=root)
    changed = f"status: under_review → active\n  verified_at: {day}\n  x-review-reason: removed (is it so?)\n"
    assert ran.out == f"changed {OLD}.md\n  {changed}"
    assert changed_lines(LIVED_IN, (root / f"{OLD}.md").read_bytes()) == [f"+ verified_at: {day}\r"]
    again = run("verify", OLD, "--at", day, cwd=root)
    assert (again.code, again.out, again.err) == (0, "", "nothing to change: the files already have this content\n")


@pytest.mark.parametrize(
    "commands",
    [
        [["new", "decision", "nav/rules/pool", "-s", "under_review"]],
        [["new", "decision", "nav/rules/pool", "-s", "active"], ["doubt", "pool", "-m", "is it so?"]],
        [["approve", NEW], ["doubt", NEW, "-m", "is it so?"]],
    ],
    ids=["new", "new-then-review", "approve-then-review"],
)
def test_review_before_a_commit_passes_the_hook(commands: list[list[str]], tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path, new_status="draft")
    for command in commands:
        text = ["--body", "Work goes to a pool.\n\nRationale: it was measured."] if command[0] == "new" else []
        assert run(*command, *text, cwd=root).code == 0
    git(tmp_path, "add", "-A")
    assert run("check", "--staged", cwd=root) == Ran(0, "", "")


def test_verify_of_a_room_takes_what_is_in_force_and_names_the_rest(root: Path, run: Run) -> None:
    write_entry(root, "nav/architecture/later", status="draft")
    write_entry(root, "nav/architecture/gone", status="deprecated", deprecated_reason="sold")
    ran = run("verify", "nav/architecture/", cwd=root)
    assert (ran.code, ran.out.count("verified_at"), f"changed {NEW}.md" in ran.out) == (0, 2, True)
    assert ran.err == "left out, not current: nav/architecture/gone and nav/architecture/later\n"


@pytest.fixture
def root_of_top(tmp_path: Path) -> Path:
    """Return the root of a committed memory with an entry that can take over from another."""
    root_of_top = memory(tmp_path / "top") / "memory"
    write_entry(root_of_top, NEW, title="Use an executor")
    commit_all(root_of_top.parent, "more")
    return root_of_top


def deprecate(run: Run, root_of_top: Path) -> Ran:
    return run("deprecate", OLD, "--reason", "It is gone.", "--commit", cwd=root_of_top)


def held(root_of_top: Path) -> list[str]:
    """Return what the last commit did to which files."""
    return git(root_of_top, "show", "--format=", "--name-status", "--no-renames", "HEAD").splitlines()


def trailers(root_of_top: Path) -> list[str]:
    """Return the trailers of the last commit, as git reads them."""
    message = git(root_of_top, "log", "-1", "--format=%B").encode()
    return git(root_of_top, "interpret-trailers", "--parse", text_in=message).splitlines()


def test_commit_of_an_agent_names_it(root_of_top: Path, run: Run) -> None:
    write(root_of_top, "mdmem.toml", 'commit = true\n[governance.agent_status]\ndecision = "active"\n')
    commit_all(root_of_top.parent, "settings")
    record = {"title": "Use zenoh", "rationale": "The network lets nothing else through."}
    given = write(root_of_top.parent.parent, "decision.json", json.dumps(record))
    line = ("save", "decision", "--json", str(given), "--project", "nav", "--agent", "Navigator 3")
    assert run(*line, cwd=root_of_top).code == 0
    assert trailers(root_of_top) == ["Mdmem-Entry: nav/architecture/use-zenoh", "Mdmem-Agent: Navigator 3"]
    assert held(root_of_top) == ["A\tmemory/nav/architecture/use-zenoh.md"]


@pytest.mark.parametrize("is_staged", [True, False])
def test_staged_change_of_the_file_is_committed_unless_only_a_part_is_staged(
    is_staged: bool, root_of_top: Path, run: Run
) -> None:
    path, file = f"memory/{OLD}.md", root_of_top / f"{OLD}.md"
    file.write_text(file.read_text().replace("measured", "measured twice"))
    git(root_of_top, "add", "-A")
    if is_staged:
        assert deprecate(run, root_of_top).code == 0
        assert ("measured twice" in git(root_of_top, "show", f"HEAD:{path}"), status(root_of_top.parent)) == (True, [])
        return
    file.write_text(file.read_text().replace("two threads", "three threads"))
    done = deprecate(run, root_of_top)
    said = f"mdmem: another version of `{path}` is staged; commit that version or unstage it (`git restore --staged`)"
    assert (done.code, done.err) == (3, f"{said} first; nothing was committed, the files are written\n")
    assert (status(root_of_top.parent), "status: deprecated" in file.read_text()) == ([f"MM {path}"], True)
    assert "deprecated" not in git(root_of_top, "diff", "--cached")


GONE, MOVING = ("deprecate", OLD, "--reason", "Gone."), ("mv", "nav/rules/", "nav/laws/")


@pytest.mark.parametrize(
    ("operation", "line"),
    [*((operation, GONE) for operation in ("merge", "rebase", "cherry-pick", "bisect")), ("merge", MOVING)],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_nothing_is_written_during(root_of_top: Path, run: Run, operation: str, line: tuple[str, ...]) -> None:
    top = root_of_top.parent
    if operation == "bisect":
        git(top, "bisect", "start")
    else:
        merge_conflict(top, "code.py", "ours\n", "theirs\n")
    if operation in ("rebase", "cherry-pick"):
        git(top, "merge", "--abort")
        git(top, operation, "theirs", ends=1)
    done = run(*line, "--commit", cwd=root_of_top, unchanged=top)
    ends = "`git bisect reset`" if operation == "bisect" else f"`git {operation} --continue` or `--abort`"
    said = f"a {operation} is in progress here; end it with {ends}, or leave out `--commit`"
    assert (done.code, done.out, done.err) == (2, "", f"mdmem: {said}\n")
    assert run(*line, cwd=root_of_top).code == 0


def test_hook_that_refuses_is_named_with_its_words_and_the_files_are_written(root_of_top: Path, run: Run) -> None:
    hook(root_of_top.parent, "pre-commit", "echo 'no commits on Fridays' >&2; exit 1")
    before = git(root_of_top, "rev-parse", "HEAD")
    done = run("new", "note", "nav/notes/n", "--body", "Text.", "--commit", cwd=root_of_top)
    why = "a hook refused the commit; nothing was committed, the files are written"
    assert (done.code, done.err) == (3, f"mdmem: {why}\nno commits on Fridays\n")
    assert git(root_of_top, "rev-parse", "HEAD") == before
    assert status(root_of_top.parent) == ["?? memory/nav/notes/n.md"]


def test_nobody_commits_where_git_knows_no_name(root_of_top: Path, run: Run) -> None:
    nobody(root_of_top.parent)
    done = deprecate(run, root_of_top)
    hint = "type `git config user.name NAME` and `git config user.email EMAIL`"
    left = "nothing was committed, the files are written"
    assert (done.code, done.err) == (3, f"mdmem: git does not know who you are; {hint}; {left}\n")
    assert status(root_of_top.parent) == [f" M memory/{OLD}.md"]


def test_first_commit_of_a_repository_holds_the_new_entry_alone(tmp_path: Path, run: Run) -> None:
    root_of_top = memory(tmp_path / "top") / "memory"
    git(root_of_top, "checkout", "-q", "--orphan", "other")
    git(root_of_top, "rm", "-q", "-r", "--cached", ".")
    done = run("new", "note", "nav/notes/n", "--body", "Text.", "--commit", cwd=root_of_top)
    assert (done.code, held(root_of_top)) == (0, ["A\tmemory/nav/notes/n.md"])
    assert git(root_of_top, "rev-list", "--count", "HEAD") == "1"


def test_root_without_git_says_so_and_writes_nothing(tmp_path: Path, run: Run) -> None:
    root_of_top = write(tmp_path, "memory/mdmem.toml").parent
    done = run("new", "note", "nav/notes/n", "--body", "Text.", "--new-wing", "--commit", cwd=root_of_top)
    assert (done.code, done.err) == (3, f"mdmem: {root_of_top} is in no git repository; leave out --commit\n")
    assert sorted(snapshot(root_of_top)) == ["mdmem.toml"]
