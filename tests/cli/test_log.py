"""Test `mdmem log` and `mdmem why`: the history of an entry, of each field, and the reasons for its state."""

from pathlib import Path
from typing import Any

import pytest
from builders import Run, commit_all, git, memory, write, write_entry

OLD, NEW = "nav/architecture/threads", "nav/conventions/threading"


def lived(folder: Path) -> Path:
    """Return a memory whose decision was made, reworded, moved, approved and superseded."""
    memory(folder)
    root, body = folder / "memory", "Navigation uses two threads.\n\nRationale: it was measured well.\n"
    write_entry(root, OLD, body, title="Use two threads")
    commit_all(folder, "say it better")
    (root / NEW).parent.mkdir(parents=True)
    (root / f"{OLD}.md").rename(root / f"{NEW}.md")
    commit_all(folder, "move it")
    ended = {"status": "deprecated", "superseded_by": "nav/rules/callbacks", "deprecated_at": "2026-06-01"}
    write_entry(root, NEW, body, title="Use two threads", **ended)
    commit_all(folder, "end it")
    return folder


def logged(run: Run, address: str, *options: str, cwd: Path) -> dict[str, Any]:
    ran = run("log", address, "--format", "json", *options, cwd=cwd)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = ran.json
    return found


def test_commits_are_told_newest_first_through_a_move(tmp_path: Path, run: Run) -> None:
    said = logged(run, NEW, cwd=lived(tmp_path))
    assert [(one["subject"], one["changes"]) for one in said["commits"]] == [
        ("end it", ["status: active → deprecated", "superseded_by: none → nav/rules/callbacks"]),
        ("move it", [f"moved from {OLD}"]),
        ("say it better", ["text changed"]),
        ("the memory", ["created as active decision: Use two threads"]),
    ]
    assert (said["address"], said["cut_off"], said["commits"][0]["author"]) == (NEW, False, "Ada")
    first = run("log", NEW).out.splitlines()[:2]
    day = git(tmp_path, "log", "-1", "--format=%cs")
    assert first == [f"{day} {git(tmp_path, 'rev-parse', 'HEAD')[:10]} Ada: end it", "    status: active → deprecated"]
    assert [one["changes"][0] for one in logged(run, OLD, cwd=tmp_path)["commits"]][::2] == [
        f"moved to {NEW}",
        "created as active decision: Use two threads",
    ]


def test_entry_that_was_deleted_has_a_history(folder: Path, run: Run) -> None:
    (folder / f"memory/{OLD}.md").unlink()
    commit_all(folder, "away")
    assert [one["changes"] for one in logged(run, OLD, cwd=folder)["commits"]] == [
        ["deleted"],
        ["created as active decision: Use two threads"],
    ]


def test_history_follows_a_move_that_rewrote_half(folder: Path, run: Run) -> None:
    (folder / f"memory/{OLD}.md").unlink()
    text = "Navigation uses two threads.\n\nRationale: it was tried.\n"
    write_entry(folder / "memory", NEW, text, title="Use two threads")
    commit_all(folder, "move and change")
    said = logged(run, NEW, cwd=folder)
    assert [one["subject"] for one in said["commits"]] == ["move and change", "the memory"]
    assert said["commits"][0]["changes"][0] == f"moved from {OLD}"


def test_approval_names_who_approved(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", NEW, status="draft")
    commit_all(folder)
    write_entry(folder / "memory", NEW, status="active", approved_by="Ada <ada@example.org>")
    commit_all(folder, "approve")
    changes = logged(run, NEW, cwd=folder)["commits"][0]["changes"]
    assert changes == ["status: draft → active", "approved_by: none → Ada <ada@example.org>"]


def test_merge_lists_the_side_that_the_text_came_from(folder: Path, run: Run) -> None:
    git(folder, "checkout", "-q", "-b", "feature")
    write_entry(folder / "memory", OLD, "Four.\n", title="Use two threads")
    commit_all(folder, "four")
    git(folder, "checkout", "-q", "main")
    write_entry(folder / "memory", "nav/rules/other")
    commit_all(folder, "other")
    git(folder, "merge", "-q", "--no-ff", "feature", "-m", "merge")
    assert [one["subject"] for one in logged(run, OLD, cwd=folder)["commits"]] == ["four", "the memory"]


def test_without_an_address_the_last_changes_of_the_memory_are_listed(tmp_path: Path, run: Run) -> None:
    folder = lived(tmp_path)
    write(folder, "src/code.py", "x = 1\n")
    commit_all(folder, "only code")
    ran = run("log", "--limit", "2", cwd=folder)
    assert [line.split(": ")[-1].strip() for line in ran.out.splitlines()] == ["end it", NEW, "move it", NEW]
    (newest, *_) = run("log", "--format", "json", cwd=folder).json["commits"]
    assert (newest["subject"], newest["entries"]) == ("end it", [NEW])


def blamed(run: Run, address: str, *options: str, cwd: Path) -> dict[str, str | None]:
    """Return, for each field, the subject of the commit that set it."""
    ran = run("log", "--fields", address, "--format", "json", *options, cwd=cwd)
    assert ran.code == 0, ran.err
    fields = ran.json["fields"]
    return {one["name"]: one["set_by"] and one["set_by"]["subject"] for one in fields}


def test_each_field_names_the_commit_that_set_it_through_a_move(tmp_path: Path, run: Run) -> None:
    assert blamed(run, NEW, cwd=lived(tmp_path)) == {
        "type": "the memory",
        "status": "end it",
        "created_at": "the memory",
        "title": "the memory",
        "superseded_by": "end it",
        "deprecated_at": "end it",
        "body": "say it better",
    }
    assert blamed(run, OLD, "--at", "HEAD~3", cwd=tmp_path)["body"] == "the memory", "a revision has its own history"


def test_field_written_in_another_way_was_not_set_and_one_changed_on_disk_was(folder: Path, run: Run) -> None:
    file = folder / f"memory/{OLD}.md"
    file.write_text(file.read_text().replace("title: Use two threads", 'title: "Use two threads"  # said anew'))
    commit_all(folder, "quotes")
    file.write_text(file.read_text().replace("status: active", "status: under_review"))
    said = blamed(run, OLD, cwd=folder)
    assert (said["title"], said["status"], said["type"]) == ("the memory", None, "the memory")
    assert "uncommitted" in run("log", "--fields", OLD).out


OLDEST, NEWEST = "nav/architecture/threads", "nav/architecture/four"


def chained(folder: Path) -> Path:
    memory(folder)
    ended = {"status": "deprecated", "superseded_by": NEWEST, "deprecated_at": "2026-06-01"}
    write_entry(folder / "memory", OLDEST, title="Use two threads", **ended)
    new = {"created_at": "2026-06-01", "supersedes": OLDEST, "reason": "Two were too few."}
    write_entry(folder / "memory", NEWEST, title="Use four threads", **new)
    commit_all(folder, "four threads")
    return folder


@pytest.mark.parametrize("name", [OLDEST, NEWEST])
def test_chain_is_shown_in_both_directions(name: str, tmp_path: Path, run: Run) -> None:
    ran = run("why", name, cwd=chained(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    old, new, verdict = ran.out.split("\n\n")
    assert f"[decision] {OLDEST} (deprecated)\n    Use two threads\n    since 2026-03-05, until 2026-06-01" in old
    assert f"[decision] {NEWEST} (current)\n    Use four threads\n    since 2026-06-01\n    supersedes {OLD}" in new
    assert "    reason: Two were too few.\n" in new
    assert verdict == (f"{NEWEST} is current.\n" if name == NEWEST else f"Current instead: {NEWEST}.\n")
    chain = run("why", name, "--format", "json").json["chain"]
    subjects = [[commit["subject"] for commit in link["commits"]] for link in chain]
    assert subjects == [["four threads", "the memory"], ["four threads"]]
    assert chain[1]["commits"][0]["commit"] == git(tmp_path, "rev-parse", "--short", "HEAD")


def test_root_outside_git_has_no_history(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "mdmem.toml").touch()
    write_entry(tmp_path, OLDEST)
    ran = run("why", OLDEST)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, f"{OLDEST} is current.")
    ran = run("log", OLDEST)
    assert (ran.code, ran.err) == (3, f"mdmem: {tmp_path} is in no git repository\n")


def test_entry_that_is_not_there_exits_1(tmp_path: Path, run: Run) -> None:
    ran = run("why", "zebra", cwd=memory(tmp_path))
    said = "mdmem: there is no entry `zebra`; `mdmem list` lists the current ones\n"
    assert (ran.code, ran.out, ran.err) == (1, "", said)
    write_entry(tmp_path / "memory", "nav/rules/orders-stay-in-sqlite")
    ran = run("why", "sqlite")
    assert ran.err == "mdmem: there is no entry `sqlite`; did you mean nav/rules/orders-stay-in-sqlite?\n"


def test_entry_that_was_not_taken_leads_to_the_one_that_was(tmp_path: Path, run: Run) -> None:
    folder = chained(tmp_path)
    six = "nav/architecture/six"
    ended = {"status": "deprecated", "deprecated_at": "2026-06-02", "deprecated_reason": "Four are enough."}
    write_entry(folder / "memory", six, title="Use six threads", supersedes=OLDEST, **ended)
    said = run("why", six, cwd=folder).out
    assert f"    has `supersedes: {OLDEST}`, which does not link back\n" in said
    assert said.endswith(f"\n\n{OLDEST} was superseded by {NEWEST} (current): Two were too few.\n")
    facts = run("why", six, "--format", "json", cwd=folder).json
    winner = {"address": NEWEST, "title": "Use four threads", "reason": "Two were too few."}
    assert facts["other_successors"] == [{**winner, "superseded": OLDEST, "current": True}]


def test_claims_and_amendments_are_told_from_either_end(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", OLDEST, title="Use two threads")
    write_entry(folder / "memory", NEWEST, title="Use four threads", supersedes=[OLDEST])
    write_entry(folder / "memory", "nav/architecture/part", title="On one robot", amends=[OLDEST])
    old = run("why", OLDEST).out
    assert f"has `supersedes: {OLDEST}`, which does not link back\n" in old
    claimed = f"Superseded by a one-sided link of: {NEWEST}"
    assert old.endswith(f"{OLDEST} is current.\n{claimed}.\nAmended by: nav/architecture/part.\n")
    assert f"{NEWEST} is current.\n" in run("why", NEWEST).out
    assert f"It amends: {OLDEST}.\n" in run("why", "nav/architecture/part").out
    told = run("why", OLDEST, "--format", "json").json
    assert (told["heads"], told["claimed_by"], told["amended_by"]) == ([OLDEST], [NEWEST], ["nav/architecture/part"])
    assert [link["claims"] for link in told["chain"]] == [[], [OLDEST]]
