"""Test `mdmem retrieve`: answers, formats and exit codes."""

from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from builders import Run, commit_all, make_repository, make_root, memory, refuse, write, write_entry

RULE, CHOICE = "nav/rules/callbacks", "nav/architecture/threads"


def retrieved(run: Run, *arguments: str, cwd: Path) -> dict[str, Any]:
    ran = run("retrieve", *arguments, "--format", "json", cwd=cwd)
    assert ran.code == 0, ran.err
    said: dict[str, Any] = ran.json
    return said


def test_json_has_the_whole_answer(folder: Path, run: Run) -> None:
    said = retrieved(run, "which", "threads", "for", "navigation", cwd=folder)
    assert said["items"][1].pop("score") > 0
    assert said["items"][1] == {
        "address": CHOICE,
        "type": "decision",
        "status": "active",
        "title": "Use two threads",
        "scope": "project",
        "content": "Navigation uses two threads.\n\nRationale: it was measured.",
        "form": "full",
        "reason": "contains threads, navigation",
        "overrides": [],
        "via": [],
        "standing": "binding",
        "beneath": [{"how": "no newer entry cites its ID"}],
    }
    assert said["items"][0].items() >= {"address": RULE, "score": 0.0, "reason": "invariant of the scope"}.items()
    filled = {name: value for name, value in said.items() if value not in ([], None, False)}
    assert filled == {
        "schema": 1,
        "scope": {"wing": "nav", "shared_wings": [], "rooms": [], "focus": None, "state": "resolved"},
        "items": said["items"],
        "tokens": said["tokens"],
        "budget": 1500,
        "coverage": "full",
        "covered": True,
        "searched": ["nav/architecture", "nav/rules"],
        "source": "index",
    }
    empty = "proposed conflicts omitted omitted_counts problems fallback over_budget uncovered_terms unmatched_terms"
    assert said.keys() - filled.keys() == {*empty.split(), "elsewhere", "unread", "degraded"}


@pytest.mark.parametrize(
    "question", ["C++", "id:x", '"', "*", "AND", "the of and", "x" * 5000], ids=lambda text: text[:8]
)
def test_question_without_an_answer_is_answered(question: str, folder: Path, run: Run) -> None:
    said = retrieved(run, question, cwd=folder)
    assert (said["covered"], [item["address"] for item in said["items"]]) == (False, [RULE, CHOICE])


def test_session_is_shown_an_entry_once_until_it_changes_or_a_fresh_start(folder: Path, run: Run) -> None:

    def forms(*arguments: str) -> list[str]:
        return [item["form"] for item in retrieved(run, "threads", *arguments, cwd=folder)["items"]]

    assert forms("--session", "one") == ["full", "full"]
    assert forms("--session", "one") == ["given", "given"]
    assert forms("--session", "two") == ["full", "full"]
    assert forms("--session", "one", "--fresh", "--type", "decision") == ["full"]
    # `--fresh` forgets all entries, not only those that are shown again.
    assert forms("--session", "one") == ["full", "given"]
    write_entry(folder / "memory", CHOICE, "Navigation uses three threads.\n", title="Use three threads")
    commit_all(folder)
    assert forms("--session", "one") == ["given", "full"]
    ran = run("retrieve", "threads", "--session", "one")
    assert "\nAlready shown: nav/rules/callbacks, nav/architecture/threads\n" in ran.out


def test_session_has_not_seen_what_was_not_printed(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: str) -> None:
        raise OSError(ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("mdmem.cli.common.print_text", full)
        assert run("retrieve", "threads", "--session", "one").code == 3
    items = retrieved(run, "threads", "--session", "one", cwd=folder)["items"]
    assert [item["form"] for item in items] == ["full", "full"]


@pytest.mark.parametrize(
    ("path", "cwd"),
    [
        ("src/nav/node.py", "."),
        ("nav/node.py", "src"),
        ("src/nav/node.py", "src/other"),
        ("{top}/src/nav/node.py", "src/other"),
        ("src/nav/not_yet.py", "."),
        ("src/nav/not_yet.py", "src/other"),
        ("nav/not_yet.py", "src"),
        ("src\\nav\\node.py", "src/other"),
        *((path, ".") for path in ("src", "src/nav", "src/nav/", ".")),
        ("src/nav/new.py", "memory"),
    ],
)
def test_code_path_counts_from_here_or_the_top_and_may_be_a_folder(path: str, cwd: str, folder: Path, run: Run) -> None:
    write(folder, "src/nav/node.py")
    (folder / "src/other").mkdir()
    write_entry(folder / "memory", "nav/rules/nodes", "Nodes are thin.\n", title="Nodes", applies_to=['"src/nav/**"'])
    said = retrieved(run, "--path", path.format(top=folder), cwd=folder / cwd)
    assert [item["address"] for item in said["items"]][:2] == [RULE, "nav/rules/nodes"]


def test_path_that_exists_here_is_not_looked_up_at_the_top(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("sub/src", "src"):
        write(folder, f"{place}/node.py")
        write_entry(folder / "memory", f"nav/{place.replace('/', '-')}/rule", applies_to=[f'"{place}/**"'])
    for _ in range(2):
        items = retrieved(run, "--path", "src/node.py", cwd=folder / "sub")["items"]
        assert [item["address"] for item in items] == [RULE, "nav/sub-src/rule", CHOICE]
        refuse(monkeypatch, "stat", f"{folder}/src/node.py")


def test_path_at_which_nothing_is_now_is_told_in_one_line(tmp_path: Path, run: Run) -> None:
    folder = memory(tmp_path / "repository")
    paths = ["src/pay.py", "src", "src/later.py", "no/such\nfile.py", "/nowhere/x", "a.py\r"]
    write(folder, "src/pay.py", "")

    def told(*options: str, cwd: Path = folder) -> list[str]:
        ran = run("retrieve", *(f"--path={path}" for path in paths), *options, cwd=cwd)
        return [line for line in ran.out.splitlines() if line.startswith("Not in this working tree now")]

    (line,) = told()
    assert line.startswith("Not in this working tree now: `src/later.py`, `no/such")
    assert line.endswith("`, `/nowhere/x` and 1 more")
    assert told("--format", "markdown") == [line]
    assert retrieved(run, "--path", "a" * 300, cwd=folder)["absent"] == ["a" * 300]
    write(folder, "a:b.py", "")
    for here in ("src/pay.py", "a:b.py"):
        assert "absent" not in retrieved(run, "--path", here, cwd=folder)
    assert retrieved(run, "--path", "src/new.py", cwd=folder)["absent"] == ["src/new.py"]
    commit_all(folder)
    assert told("--at", "HEAD") == [], "files on disk say nothing of a commit"
    other = make_repository(tmp_path / "other")
    write(other, "web/page.py", "")
    root = ("--root", str(folder / "memory"))
    assert "absent" not in retrieved(run, "--path", "web/page.py", *root, cwd=other), "it is another repository's"
    (folder / "src/pay.py").unlink()
    (folder / "src").rmdir()
    assert told() == [], "the memory's repository holds no code"


def test_ambiguous_wing_exits_2_with_the_list(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "arm/rules/grip", title="Grip")
    ran = run("retrieve", "threads")
    said = "mdmem: which wing is active? name one with --wing, or set `default_wing` in mdmem.toml: `arm`, `nav`\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    assert retrieved(run, "threads", "--wing", "arm", cwd=folder)["scope"]["wing"] == "arm"
    write(folder, "memory/mdmem.toml", 'default_wing = "nav"\n<<<<<<< ours\n')
    said = "mdmem: mdmem.toml cannot be read: Invalid statement (at line 2, column 1); correct it, or name a wing with "
    assert run("retrieve", "threads").err == f"{said}--wing\n"
    assert retrieved(run, "threads", "--wing", "arm", cwd=folder)["problems"][0]["line"] == 2


def test_successor_inherits_a_declared_contradiction(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/a/one", conflicts_with="nav/a/old")
    write_entry(folder / "memory", "nav/a/old", status="deprecated", superseded_by="nav/a/new")
    write_entry(folder / "memory", "nav/a/new", supersedes="nav/a/old")
    commit_all(folder)
    conflicts = retrieved(run, cwd=folder)["conflicts"]
    assert [(one["a"], one["b"]) for one in conflicts] == [("nav/a/new", "nav/a/one")]


def test_wrong_key_leaves_the_right_ones_in_force(folder: Path, run: Run) -> None:
    write(folder, "memory/mdmem.toml", 'default_wing = "nav"\nbudgt = 5\n')
    write_entry(folder / "memory", "other/rules/one")
    said = retrieved(run, cwd=folder)
    assert (said["scope"]["wing"], [problem["code"] for problem in said["problems"]]) == ("nav", ["settings-invalid"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a memory that fills every list of every answer."""
    made = make_root(make_repository(tmp_path), 'default_wing = "app"\n')
    write(made, "app/README.md", "---\nkind: project\nshared_wings: [lib]\n---\n")
    write(made, "lib/README.md", "---\nkind: shared\n---\n")
    write_entry(made, "app/a/local", "Queue.\n", title="Local", overrides="lib/a/default", conflicts_with="app/a/other")
    write_entry(made, "app/a/other", "Queue.\n", title="Other", focus="auth", reason="x")
    ended = {"status": "deprecated", "superseded_by": "app/a/other", "deprecated_at": "2026-04-01"}
    write_entry(made, "app/a/old", "Old queue.\n", **ended)
    write_entry(made, "app/a/idea", "Queue.\n", status="draft")
    write_entry(made, "lib/a/default", "Queue.\n", title="Default")
    write(made, "app/a/broken.md", "no front matter\n")
    return made


def test_retrieve_counts_what_it_does_not_list(root: Path, run: Run) -> None:
    for number in range(60):
        write_entry(root, f"app/b/n{number}", "Queue.\n", type="note")
    assert 0 < len(retrieved(run, "--budget", "1500", cwd=root)["omitted"]) <= 50
    answer = retrieved(run, "--budget", "0", cwd=root)
    assert len(answer["omitted"]) == 50
    counted = {(one["type"], one["why"]): one["count"] for one in answer["omitted_counts"]}
    assert counted[("decision", "overridden")] == 1
    assert len(answer["omitted"]) + sum(counted.values()) == 64
