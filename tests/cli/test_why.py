"""`mdmem why`: how an entry came to bind or was replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, commit_all, git, memory, write_entry

OLD, NEW = "nav/architecture/threads", "nav/architecture/four"


def chained(folder: Path) -> Path:
    memory(folder)
    ended = {"status": "deprecated", "superseded_by": NEW, "deprecated_at": "2026-06-01"}
    write_entry(folder / "memory", OLD, title="Use two threads", **ended)
    new = {"created_at": "2026-06-01", "supersedes": OLD, "reason": "Two were too few."}
    write_entry(folder / "memory", NEW, title="Use four threads", **new)
    commit_all(folder, "four threads")
    return folder


@pytest.mark.parametrize("name", [OLD, NEW])
def test_chain_is_shown_in_both_directions(name: str, tmp_path: Path, run: Run) -> None:
    ran = run("why", name, cwd=chained(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    old, new, verdict = ran.out.split("\n\n")
    assert f"[decision] {OLD} (deprecated)\n    Use two threads\n    since 2026-03-05, until 2026-06-01" in old
    assert f"[decision] {NEW} (current)\n    Use four threads\n    since 2026-06-01\n    supersedes {OLD}\n" in new
    assert "    reason: Two were too few.\n" in new
    assert verdict == (f"{NEW} is current.\n" if name == NEW else f"Current instead: {NEW}.\n")
    chain = run("why", name, "--format", "json").json["chain"]
    subjects = [[commit["subject"] for commit in link["commits"]] for link in chain]
    assert subjects == [["four threads", "the memory"], ["four threads"]]
    last, digest = chain[1]["commits"][0], git(tmp_path, "rev-parse", "--short", "HEAD")
    assert (last["author"], last["commit"]) == ("Ada", digest)


def test_root_outside_git_has_no_history(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "mdmem.toml").touch()
    write_entry(tmp_path, OLD)
    ran = run("why", OLD)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, f"{OLD} is current.")


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
    write_entry(folder / "memory", six, title="Use six threads", supersedes=OLD, **ended)
    said = run("why", six, cwd=folder).out
    assert f"    has `supersedes: {OLD}`, which was superseded by {NEW}\n" in said
    assert said.endswith(f"\n\n{OLD} was superseded by {NEW} (current): Two were too few.\n")
    told = run("why", OLD, cwd=folder).out
    assert f"    has `supersedes: {OLD}`, but is deprecated\n" in told
    facts = run("why", six, "--format", "json", cwd=folder).json
    winner = {"address": NEW, "title": "Use four threads", "reason": "Two were too few."}
    assert facts["other_successors"] == [{**winner, "superseded": OLD, "current": True}]


def test_claims_and_amendments_are_told_from_either_end(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", OLD, title="Use two threads")
    write_entry(folder / "memory", NEW, title="Use four threads", supersedes=[OLD])
    write_entry(folder / "memory", "nav/architecture/part", title="On one robot", amends=[OLD])
    old = run("why", OLD).out
    assert f"has `supersedes: {OLD}`, which does not link back\n" in old
    assert old.endswith(
        f"{OLD} is current.\nSuperseded by a one-sided link of: {NEW}.\nAmended by: nav/architecture/part.\n"
    )
    assert f"{NEW} is current.\n" in run("why", NEW).out
    assert f"It amends: {OLD}.\n" in run("why", "nav/architecture/part").out
    told = run("why", OLD, "--format", "json").json
    assert (told["heads"], told["claimed_by"], told["amended_by"]) == ([OLD], [NEW], ["nav/architecture/part"])
    assert [link["claims"] for link in told["chain"]] == [[], [OLD]]
