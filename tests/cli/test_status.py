"""Test `mdmem status`: the root, the state of the memory, `--rebuild`, `--audit`, and the index folder."""

from pathlib import Path

import pytest
from builders import (
    Run,
    commit_all,
    git,
    make_repository,
    make_root,
    memory,
    merge_conflict,
    open_root,
    write,
    write_entry,
)

from mdmem.store.index.fulltext import FOLDER
from mdmem.store.workspace.workspace import count_shown

UNGUARDED = (
    "no hook checks commits in this clone: `mdmem hooks install` sets one up",
    "git merges entries line by line in this clone: `mdmem hooks install --driver-only` sets up the merge driver",
)


def test_text_says_root_tree_wings_index_and_findings(folder: Path, run: Run) -> None:
    ran = run("status")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"root     {folder}/memory (the repository's only mdmem.toml)",
        "tree     working tree",
        "wing     nav  project (active): 1 decision, 1 invariant; 2 active",
        f"index    not built yet; the first question builds it in {folder}/.git/mdmem/cache/memory/{FOLDER}",
        "findings none",
        "hygiene  never ran (due); `mdmem hygiene` shows what needs maintenance",
        *(f"note     {one}" for one in UNGUARDED),
    ]
    foreign = write(folder, ".git/hooks/pre-commit", "make\n")
    assert "in this clone: .git/hooks/pre-commit is somebody else's and stays as it is: add `m" in run("status").out
    foreign.unlink()
    assert run("hooks", "install").code == 0
    assert "note" not in run("status").out


def test_json_has_the_same(folder: Path, run: Run) -> None:
    said = run("status", "--format", "json").json
    assert said.pop("index")["exists"] is False
    assert said == {
        "schema": 1,
        "root": f"{folder}/memory",
        "why": "the repository's only mdmem.toml",
        "tree": "working tree",
        "active_wing": "nav",
        "wings": [
            {
                "name": "nav",
                "kind": "project",
                "entries": 2,
                "types": {"decision": 1, "invariant": 1},
                "statuses": {"active": 2},
                "broken": 0,
            }
        ],
        "borrowed": [],
        "merged": [],
        "findings": {"error": 0, "warning": 0, "info": 0},
        "hygiene": {"last_at": None, "due": True},
        "told": {"times": {}, "ways": {}, "last": None, "never": []},
        "remarks": [*UNGUARDED],
    }


def test_what_agents_were_told_is_counted_and_what_they_never_were_is_named(folder: Path, run: Run) -> None:
    rules = sorted(open_root(folder / "memory").catalog.entries)
    for way in ("server", "hook codex", "hook codex"):
        count_shown(open_root(folder / "memory"), way, rules[:1])
    (line,) = [one for one in run("status").out.splitlines() if one.startswith("agents")]
    assert line.startswith("agents   1 entry shown 3 times in 30 days, last on ")
    assert line.endswith(f"; never shown: {rules[1]}")
    told = run("status", "--format", "json").json["told"]
    assert (told["times"], told["never"]) == ({rules[0]: 3}, rules[1:])


def test_index_is_up_to_date_after_a_question(folder: Path, run: Run) -> None:
    run("search", "threads")
    assert run("status").out.splitlines()[3].startswith("index    2 of 2 entries, ")
    write_entry(folder / "memory", "nav/rules/new", title="New")
    held = run("status").out.splitlines()[3]
    assert held.startswith("index    2 of 3 entries, ")
    assert held.endswith("; a question reads the others from their files")


def test_findings_and_broken_files_are_counted(folder: Path, run: Run) -> None:
    write(folder, "memory/nav/rules/bad.md", "no front matter\n")
    ran = run("status")
    assert ran.code == 0
    assert "; 1 file unreadable\n" in ran.out
    assert "findings 1 error; `mdmem check` shows it\n" in ran.out
    write_entry(folder / "memory", "nav/rules/timed", title="Timed", verified_at="2026-04-10T10:00:00")
    (told,) = (line for line in run("status").out.splitlines() if line.startswith("findings"))
    assert told == "findings 1 error, 1 warning, 1 info; `mdmem check --verbose` shows them"
    write(folder, "memory/nav/rules/split.md", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    assert "a merge left conflicts; `mdmem resolve` lists them" in run("status").out
    assert "`mdmem resolve` shows how to decide it" in run("check").out


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("nonsense = 1\n", "mdmem: mdmem.toml has an unknown key `nonsense`; `mdmem guide settings` lists "),
        ("defualt_wing = 'nav'\n", "mdmem: mdmem.toml has an unknown key `defualt_wing`; did you mean `default_wing`?"),
        ("budget = ", "mdmem: mdmem.toml cannot be read: "),
        ("budget = 'much'\n", "mdmem: mdmem.toml: `budget` must be a whole number from 0, found 'much'\n"),
    ],
)
def test_settings_that_cannot_be_used_exit_2(settings: str, said: str, folder: Path, run: Run) -> None:
    write(folder, "memory/mdmem.toml", settings)
    ran = run("status")
    assert (ran.code, ran.out, ran.err.startswith(said), ran.err.count("\n")) == (2, "", True, 1)


def test_two_distributions_of_whoosh_are_a_remark(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Whoosh", "whoosh3"):
        write(tmp_path, f"site/{name}-3.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.0\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    ran = run("status", cwd=memory(tmp_path / "p"))
    assert " and whoosh3 overwrite each other in this environment; uninstall all but one\n" in ran.out


def test_rebuild_reads_every_entry_again(folder: Path, run: Run) -> None:
    for number in (2, 1):
        ran = run("status", "--rebuild", "--format", "json")
        assert (ran.code, ran.err) == (0, "")
        built = {"schema": 1, "total": number, "added": number, "removed": 0, "rebuilt": True}
        assert ran.json == built
        (folder / "memory/nav/rules/callbacks.md").unlink(missing_ok=True)
    assert run("status", "--rebuild").out == "the index is built again: 1 entry\n"
    assert {path.parent for path in folder.rglob("*.toc")} == {folder / ".git/mdmem/cache/memory" / FOLDER}


def test_long_build_is_announced_once(folder: Path, run: Run) -> None:
    for number in range(500):
        write_entry(folder / "memory", f"nav/many/e{number}", "One.\n")
    ran = run("search", "callback")
    assert (ran.code, ran.err) == (0, "indexing 502 entries, once\n")


def test_root_outside_git_has_its_index_in_the_cache(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = write(tmp_path, "m/mdmem.toml").parent
    write_entry(root, "nav/rules/one")
    ran = run("status", cwd=root)
    assert (ran.code, "not in a git repository: history, --at and --staged are not available" in ran.out) == (0, True)
    run("status", "--rebuild", cwd=root)
    assert list((tmp_path / "cache/mdmem").rglob("*.toc"))


def test_packs_that_were_asked_for_are_listed_the_newest_last(folder: Path, run: Run) -> None:
    for goal in ("first goal", "second goal", "third \x1b[31mgoal"):
        run("context", goal)
    ran = run("status", "--audit", "--limit", "2")
    assert [line.split("  ", 1)[1].split(" → ")[0] for line in ran.out.splitlines()] == [
        "owner  context: second goal",
        "owner  context: third <U+001B>[31mgoal",
    ]
    assert "1 older" in ran.err
    shown = run("status", "--audit", "--format", "json").json
    assert (shown["total"], shown["lines"][0]["asked"]["goal"]) == (3, "first goal")


def test_log_that_is_not_there_or_torn_is_no_fault(folder: Path, run: Run) -> None:
    assert run("status", "--audit").err.strip() == "no requests for context packs yet"
    run("context", "a goal")
    log = next(folder.rglob(".git/mdmem/state/**/audit.jsonl"))
    log.write_text('{"asked": 1, "returned": 2}\n[]\n{"verb": "context"}\n{"torn')
    assert run("status", "--audit").out.count("→ 0 entries") == 2


def shown(run: Run, *arguments: str, cwd: Path) -> tuple[str, str]:
    """Return the root and why it is the root, as `status` says."""
    ran = run("status", "--format", "json", *arguments, cwd=cwd)
    assert ran.code == 0, ran.err
    said = ran.json
    return said["root"], said["why"]


def two_roots(folder: Path) -> Path:
    make_repository(folder)
    for name in ("a", "b"):
        write_entry(make_root(folder / name), f"wing_{name}/room/entry", title=f"Entry of {name}")
    commit_all(folder)
    return folder


def test_option_then_variable_then_nearest_root(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = two_roots(tmp_path)
    nearest = (str(folder / "b"), "nearest mdmem.toml above the working folder")
    assert shown(run, cwd=folder / "b" / "wing_b" / "room") == nearest
    monkeypatch.setenv("MDMEM_ROOT", "../b")
    assert shown(run, cwd=folder / "a") == (str(folder / "b"), "MDMEM_ROOT")
    assert shown(run, "--root", "a", cwd=folder) == (str(folder / "a"), "--root")


def test_nearest_of_several_roots_is_the_one_beside_or_above(repo: Path, run: Run) -> None:
    for name in ("memory", "apps/a/memory", "apps/b/memory", "apps/b/other"):
        write_entry(make_root(repo / name), "wing/room/entry")
    (repo / "apps/a/src/deep").mkdir(parents=True)
    commit_all(repo)
    why = "nearest of the 4 memories of the repository"
    assert shown(run, cwd=repo / "apps/a/src/deep") == (str(repo / "apps/a/memory"), why)
    assert shown(run, cwd=repo / "apps")[0] == str(repo / "memory")
    assert run("check").out.count("1 entry checked") == 4
    # Two memories are next to that folder, and none is nearer.
    assert run("list", cwd=repo / "apps/b").code == 2


def test_where_none_is_nearest_the_files_asked_about_say_which(repo: Path, run: Run) -> None:
    for name in ("apps/a", "apps/b"):
        write_entry(make_root(repo / name / "memory"), "wing/room/entry", title=f"Rule of {name}")
    commit_all(repo)
    asked = ("retrieve", "--path", "apps/b/src/new.py")
    assert "Rule of apps/b" in run(*asked, "rule").out
    assert run(*asked, "--path", "apps/a/x.py").code == 2
    codes = [run("brief", "apps/b/x.py", *more).code for more in ((), ("apps/a/x.py",))]
    assert codes == [0, 2]


def test_check_runs_each_of_several_roots(tmp_path: Path, run: Run) -> None:
    folder = two_roots(tmp_path)
    (folder / "b/wing_b/room/entry.md").write_text("no front matter\n")
    ran = run("check", "--format", "concise", "--select", "front-matter-missing", cwd=folder)
    assert (ran.code, ran.out.split(":")[0]) == (1, "b/wing_b/room/entry.md")
    assert ran.err.count("1 entry checked in the working tree") == 2


@pytest.mark.parametrize(
    ("root", "sentence"),
    [
        ("nowhere", "there is no folder nowhere; did you mean `--root memory`?"),
        ("src", "src is no memory: it has no mdmem.toml; `mdmem init src` makes one"),
        (".", ". is no memory: it has no mdmem.toml; did you mean `--root memory`?"),
        ("memory/wing", "memory/wing is no memory: it has no mdmem.toml; did you mean `--root memory`?"),
        # The search of a folder that is in no repository would find the memories of strangers.
        ("../strange", "../strange is no memory: it has no mdmem.toml; `mdmem init ../strange` makes one"),
    ],
)
def test_option_that_names_no_root_is_refused(root: str, sentence: str, folder: Path, run: Run) -> None:
    for name in ("src", "memory/wing", "../strange"):
        (folder / name).mkdir(exist_ok=True)
    make_root(folder / "../strange/own/memory")
    ran = run("retrieve", "--root", root, cwd=folder)
    assert (ran.code, ran.out, ran.err) == (2, "", f"mdmem: {sentence}\n")


def test_top_of_the_repository_as_root_takes_only_folders_with_a_manifest(tmp_path: Path, run: Run) -> None:
    folder = make_root(make_repository(tmp_path))
    write_entry(folder, "nav/rules/one")
    write_entry(folder, "src/docs/two")
    (folder / "nav/README.md").write_text("---\nkind: project\n---\n")
    ran = run("list", cwd=folder)
    assert [line.split()[2] for line in ran.out.splitlines()] == ["nav/rules/one"]


def test_root_that_git_does_not_track_yet_is_found_and_an_ignored_one_is_none(repo: Path, run: Run) -> None:
    ran = run("list")
    assert (ran.code, ran.err.partition("; ")[2]) == (2, "`mdmem init` creates one, --root chooses one\n")
    make_root(repo / "build")
    (repo / ".gitignore").write_text("build/\n")
    ran = run("list")
    assert "; git ignores the one in build: take it out of .gitignore, or choose it with --root\n" in ran.err
    make_root(repo / "memory")
    assert shown(run, cwd=repo) == (str(repo / "memory"), "the repository's only mdmem.toml")


def test_settings_in_conflict_do_not_make_one_root_several(folder: Path, run: Run) -> None:
    merge_conflict(folder, "memory/mdmem.toml", "budget = 1\n", "budget = 2\n")
    assert run("list").err.startswith("mdmem: mdmem.toml cannot be read: ")
    ran = run("retrieve", "--format", "json")
    assert [problem["path"] for problem in ran.json["problems"]] == ["mdmem.toml"]


def test_memory_of_a_submodule_is_named(tmp_path: Path, run: Run) -> None:
    memory(tmp_path / "inner")
    host = make_repository(tmp_path / "host")
    git(host, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "inner"), "mem")
    said = "the repository within this one, in mem/memory, has one: choose it with --root mem/memory\n"
    assert run("list", cwd=host).err.endswith(f"; {said}")


def test_memory_without_git_is_named_by_the_error(tmp_path: Path, run: Run) -> None:
    run("init")
    ran = run("check")
    assert ran.code == 2
    assert ran.err.endswith("; there is one in memory/: add `--root memory`, or type `git init`\n")
    (tmp_path / "src").mkdir()
    assert run("check", cwd=tmp_path / "src").err.endswith("; there is one in ../memory/: add `--root ../memory`\n")
    assert (
        (tmp_path / "AGENTS.md")
        .read_text()
        .endswith("\nUntil this folder is in git, add `--root memory` to each command.\n")
    )
    assert run("check", "--root", "memory").code == 0
    git(tmp_path, "init", "-q")
    assert run("check").code == 0
