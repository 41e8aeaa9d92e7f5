"""Test the merge driver in real merges, rebases, cherry-picks and worktrees, and its installation."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from builders import (
    Capture,
    commit_all,
    git,
    made_once,
    make_repository,
    memory,
    run_here,
    snapshot,
    write,
    write_entry,
)
from hooked import imported, run, said

from mdmem.markdown.parse import parse_document
from mdmem.setup.hooks import patterns_for

THREADS = "nav/architecture/threads"
FILE = f"memory/{THREADS}.md"
ENTRY = """\
---
type: decision
status: active # as agreed
created_at: 2026-03-05
title: 'Use two threads'
verified_at: 2026-04-01
tags: [executor]
see:
  - nav/rules/callbacks # first
---

Navigation uses two threads.

Rationale: it was measured.
"""
OURS = {
    "tags: [executor]": "tags: [executor, threads]",
    "verified_at: 2026-04-01": "verified_at: 2026-06-01",
    "uses two threads": "uses exactly two threads",
}
THEIRS = {
    "tags: [executor]": 'tags: [executor, "c: d"]',
    "verified_at: 2026-04-01": "verified_at: 2026-05-01",
    "status: active": "status: under_review",
    "callbacks # first\n": "callbacks # first\n  - nav/rules/other # second\n",
}
MERGED = """\
---
type: decision
status: under_review # as agreed
created_at: 2026-03-05
title: 'Use two threads'
verified_at: 2026-06-01
tags: [executor, threads, "c: d"]
see:
  - nav/rules/callbacks # first
  - nav/rules/other # second
---

Navigation uses exactly two threads.

Rationale: it was measured.
"""


def changed(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


@made_once
def driven(folder: Path, text: str = ENTRY) -> Path:
    """Return a committed memory with one edited entry, in a repository with the merge driver."""
    memory(folder)
    write(folder, FILE, text)
    write_entry(folder / "memory", "nav/rules/other", title="Other")
    commit_all(folder)
    done = run(folder, sys.executable, "-m", "mdmem", "hooks", "install", "--driver-only")
    assert done.returncode == 0, said(done)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return driven(tmp_path / "p")


def branches(folder: Path, ours: str | bytes, theirs: str | bytes, path: str = FILE) -> None:
    """Commit one version of a file on `theirs` and another one on `main`, which stays checked out."""
    git(folder, "checkout", "-q", "-b", "theirs")
    write(folder, path, theirs)
    commit_all(folder, "their change")
    git(folder, "checkout", "-q", "main")
    write(folder, path, ours)
    commit_all(folder, "our change")


def quiet(folder: Path, *command: str, ends: int = 0) -> str:
    """Run a git command that may commit, and return its output."""
    done = run(folder, "git", *command, GIT_EDITOR="true")
    assert done.returncode == ends, said(done)
    return said(done)


def text_of(folder: Path) -> str:
    return (folder / FILE).read_bytes().decode()


def lived(text: str) -> str:
    """Return a text with a byte order mark and CRLF, and without the last line break."""
    return ("\ufeff" + text.replace("\n", "\r\n")).removesuffix("\r\n")


NEW, PAGE = "memory/nav/architecture/new.md", "memory/nav/architecture/README.md"


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs", "result"),
    [
        pytest.param(FILE, ENTRY, changed(ENTRY, OURS), changed(ENTRY, THEIRS), MERGED, id="every kind of change"),
        pytest.param(
            *(FILE, lived(ENTRY), lived(changed(ENTRY, OURS)), lived(changed(ENTRY, THEIRS)), lived(MERGED)),
            id="CRLF, byte order mark and open end stay",
        ),
        pytest.param(
            *(NEW, None, changed(ENTRY, {"[executor]": "[ours]"}), changed(ENTRY, {"[executor]": "[theirs]"})),
            changed(ENTRY, {"[executor]": "[ours, theirs]"}),
            id="both sides add the entry",
        ),
        pytest.param(
            *(FILE, ENTRY, ENTRY.replace("[executor]", "[executor"), ENTRY.replace("measured", "measured twice")),
            ENTRY.replace("[executor]", "[executor").replace("measured", "measured twice"),
            id="a broken entry is merged as text",
        ),
        pytest.param(PAGE, "a\n\nb\n\nc\n", "A\n\nb\n\nc\n", "a\n\nb\n\nC\n", "A\n\nb\n\nC\n", id="prose is text"),
    ],
)
def test_merge_joins_both_changes(
    path: str, base: str | None, ours: str, theirs: str, result: str, folder: Path
) -> None:
    if base not in (None, ENTRY):
        write(folder, path, base.encode())
        commit_all(folder)
    branches(folder, ours.encode(), theirs.encode(), path)
    quiet(folder, "merge", "-q", "theirs")
    assert (folder / path).read_bytes().decode() == result
    assert git(folder, "status", "--porcelain") == ""


def test_rebase_joins_both_changes(folder: Path) -> None:
    branches(folder, changed(ENTRY, THEIRS), changed(ENTRY, OURS))
    quiet(folder, "rebase", "-q", "main", "theirs")
    found = parse_document(FILE, (folder / FILE).read_bytes())
    assert text_of(folder) == MERGED.replace('threads, "c: d"', '"c: d", threads').replace("threads]", '"threads"]')
    assert found.fields is not None
    assert found.fields["tags"] == ["executor", "c: d", "threads"]


def test_driver_installed_in_a_worktree_joins_both_changes_in_all(
    folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    run(folder, sys.executable, "-m", "mdmem", "hooks", "uninstall")
    branches(folder, changed(ENTRY, OURS), changed(ENTRY, THEIRS))
    other = tmp_path / "other"
    git(folder, "worktree", "add", "-q", "-b", "mine", str(other), "main")
    done = run(other, sys.executable, "-m", "mdmem", "hooks", "install", "--driver-only")
    assert done.returncode == 0, said(done)
    # A check of the merge does not run the driver.
    assert "[merge-conflict]" in run_here(capsys, "check", "--merge", "theirs", cwd=folder).out
    quiet(folder, "cherry-pick", "theirs")
    quiet(other, "merge", "-q", "theirs")
    assert text_of(folder) == text_of(other) == MERGED


def test_submodule_has_a_driver_of_its_own(tmp_path: Path) -> None:
    source = driven(tmp_path / "source")
    branches(source, changed(ENTRY, OURS), changed(ENTRY, THEIRS))
    outer = make_repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "knowledge")
    inner = outer / "knowledge"
    git(inner, "config", "user.name", "Ada")
    git(inner, "config", "user.email", "ada@example.org")
    done = run(inner, sys.executable, "-m", "mdmem", "hooks", "install", "--driver-only")
    assert done.returncode == 0, said(done)
    quiet(inner, "merge", "-q", "origin/theirs")
    assert text_of(inner) == MERGED
    assert "mdmem" not in (outer / ".git/config").read_text()


def test_supersession_on_both_sides_is_marked_and_nothing_else(folder: Path) -> None:
    end = "status: deprecated # as agreed\n"
    ended = changed(
        ENTRY, {"status: active # as agreed\n": end, "2026-04-01\n": "2026-04-01\ndeprecated_at: 2026-11-21\n"}
    )
    ours = changed(ended, {"see:\n": "superseded_by: [nav/rules/other]\nsee:\n", "[executor]": "[executor, ours]"})
    theirs = changed(ended, {"see:\n": "superseded_by: nav/rules/callbacks\nsee:\n", "[executor]": "[executor, hers]"})
    branches(folder, ours, theirs)
    told = quiet(folder, "merge", "theirs", ends=1)
    assert f"mdmem: the sides of {FILE} differ in `superseded_by`: `mdmem resolve` shows the choices" in told
    # Newer versions of git add the revision to the labels.
    assert re.sub(r" \((HEAD|theirs)\)$", "", text_of(folder), flags=re.MULTILINE) == changed(
        ended,
        {
            "[executor]": "[executor, ours, hers]",
            "see:\n": "<<<<<<< ours\nsuperseded_by: [nav/rules/other]\n=======\nsuperseded_by: nav/rules/callbacks\n"
            ">>>>>>> theirs\nsee:\n",
        },
    )
    assert git(folder, "status", "--porcelain") == f"UU {FILE}"
    checked = run(folder, sys.executable, "-m", "mdmem", "check")
    assert "[merge-marker]" in said(checked)


ENDED = {"status: active": "status: deprecated", "see:\n": "superseded_by: [nav/architecture/four]\nsee:\n"}


@pytest.mark.parametrize(
    ("change", "torn"),
    [
        ({"uses two threads": "uses exactly two threads"}, "`status`, `superseded_by`, `body`"),
        ({"title: 'Use two": "title: 'Use exactly two"}, "`status`, `title`, `superseded_by`"),
        ({"tags: [executor]": "tags: [executor]\napplies_to: [src/**]"}, "`status`, `superseded_by`, `applies_to`"),
        ({"uses two threads": "uses two  threads", "tags: [executor]": "tags: [threads]"}, None),
        ({"uses two threads": "used two threads", "tags: [executor]": "editorial_at: 2026-05-02"}, None),
    ],
)
def test_change_of_an_entry_that_the_other_side_superseded_is_a_conflict(
    change: dict[str, str], torn: str | None, folder: Path
) -> None:
    branches(folder, changed(ENTRY, change), changed(ENTRY, ENDED))
    told = quiet(folder, "merge", "theirs", ends=1 if torn else 0)
    assert (f"the sides of {FILE} differ in {torn}: " in told) is (torn is not None)


def test_link_to_a_moved_entry_is_no_change_of_the_entry_that_the_other_side_superseded(folder: Path) -> None:
    text = f"{ENTRY}\n[see: nav/rules/callbacks], ![it](../rules/callbacks.png) and [it](../rules/callbacks.md).\n"
    write(folder, FILE, text)
    commit_all(folder)
    branches(folder, text.replace("rules/callbacks", "rules/calls"), changed(text, ENDED))
    quiet(folder, "merge", "theirs")
    assert text_of(folder) == changed(text, {**ENDED, "rules/callbacks": "rules/calls"})


def test_empty_list_of_successors_ends_no_entry(folder: Path) -> None:
    (before,) = ENTRY.splitlines(keepends=True)[6:7]
    base = changed(ENTRY, {before: f"superseded_by: []\n{before}"})
    write(folder, FILE, base)
    commit_all(folder)
    branches(
        folder,
        changed(base, {"two threads": "exactly two threads"}),
        changed(base, {"status: active": "status: deprecated"}),
    )
    assert f"of {FILE}" in quiet(folder, "merge", "theirs", ends=1)


def test_conflict_shows_the_ancestor_with_diff3(folder: Path) -> None:
    git(folder, "config", "merge.conflictStyle", "diff3")
    branches(folder, ENTRY.replace("active #", "under_review #"), ENTRY.replace("active #", "deprecated #"))
    quiet(folder, "merge", "theirs", ends=1)
    assert "||||||| base\nstatus: active # as agreed\n=======\n" in text_of(folder)


def test_binary_file_stays_ours_and_unmerged(folder: Path) -> None:
    branches(folder, b"\0ours", b"\0theirs")
    done = run(folder, "git", "merge", "theirs")
    assert done.returncode != 0
    assert (folder / FILE).read_bytes() == b"\0ours"


def test_criss_cross_merges_lose_nothing(folder: Path) -> None:
    branches(folder, changed(ENTRY, {"[executor]": "[executor, a]"}), changed(ENTRY, {"[executor]": "[executor, b]"}))
    start = git(folder, "rev-parse", "main")
    quiet(folder, "merge", "-q", "theirs")
    for branch, tag, other in (("theirs", "c", start), ("main", "d", None)):
        git(folder, "checkout", "-q", branch)
        if other is not None:
            quiet(folder, "merge", "-q", other)
        write(folder, FILE, text_of(folder).replace("tags: [", f"tags: [{tag}, "))
        commit_all(folder)
    quiet(folder, "merge", "-q", "theirs")
    found = parse_document(FILE, (folder / FILE).read_bytes()).fields
    assert found is not None
    assert set(found["tags"]) == {"executor", "a", "b", "c", "d"}


@pytest.mark.parametrize("is_gone", [True, False])
def test_without_a_working_driver_git_merges_text(folder: Path, *, is_gone: bool) -> None:
    if is_gone:
        command = git(folder, "config", "merge.mdmem.driver")
        git(folder, "config", "merge.mdmem.driver", command.replace(sys.executable, "/gone/python"))
        branches(folder, changed(ENTRY, OURS), changed(ENTRY, THEIRS))
        quiet(folder, "merge", "theirs", ends=1)
        assert "tags: [executor, threads]\n=======\n" in text_of(folder).replace("see:\n", "")
        return
    run(folder, sys.executable, "-m", "mdmem", "hooks", "uninstall")
    write(folder, ".gitattributes", "memory/**/*.md merge=mdmem\n")
    commit_all(folder)
    branches(folder, ENTRY.replace("two threads.", "two."), ENTRY.replace("measured", "measured twice"))
    quiet(folder, "merge", "-q", "theirs")
    assert ("two." in text_of(folder), "measured twice" in text_of(folder)) == (True, True)


@pytest.mark.parametrize("under", ["memory", "", "a b/[x]*", '!odd"#', "docs/ü"])
def test_patterns_match_only_the_memory(under: str, tmp_path: Path) -> None:
    folder = make_repository(tmp_path)
    (folder / ".git/info").mkdir(exist_ok=True)
    lines = "".join(f"{pattern} merge=mdmem\n" for pattern in patterns_for(under))
    (folder / ".git/info/attributes").write_text(lines)
    inside = f"{under}/wing/room/entry.md".lstrip("/")
    manifest, others = f"{under}/wing/README.md".lstrip("/"), ("other/a b/x/y/z.md", f"{inside}.txt", "README.md")
    listed = git(folder, "check-attr", "-z", "merge", "--", inside, manifest, *others).split("\0")
    assert listed[2::3] == ["mdmem", "mdmem", "unspecified", "unspecified", "unspecified"]


def test_install_writes_the_driver_and_uninstall_removes_it(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path / "p")
    write(folder, ".git/info/attributes", "*.png binary\n")
    before = snapshot(folder)

    def last(*command: str) -> str:
        return run_here(capsys, "hooks", *command, cwd=folder).out.splitlines()[-1]

    assert last("install") == "wrote the merge driver for /memory/**/*.md"
    assert (folder / ".git/info/attributes").read_text().splitlines()[-1] == "/memory/**/*.md merge=mdmem"
    assert last("status") == "merge-driver      installed  (.git/info/attributes)"
    shown = json.loads(run_here(capsys, "hooks", "status", "--format", "json", cwd=folder).out)["merge_driver"]
    assert (shown["state"], shown["patterns"]) == ("installed", ["/memory/**/*.md"])
    assert last("install") == "the merge driver stays as it is: installed"
    assert last("uninstall").startswith("removed the merge driver")
    assert snapshot(folder) == before


def test_outdated_driver_is_replaced_and_a_foreign_one_stays(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path / "p")

    def said_by(*command: str) -> str:
        return run_here(capsys, "hooks", *command, cwd=folder).out

    said_by("install", "--driver-only")
    git(folder, "config", "merge.mdmem.driver", "/gone/python -m mdmem merge-driver %O %A %B")
    assert "merge-driver      out of date" in said_by("status")
    assert said_by("install", "--driver-only").startswith("replaced the merge driver")
    git(folder, "config", "merge.mdmem.driver", "my-own %O %A %B")
    assert said_by("install", "--driver-only") == "the merge driver stays as it is: somebody else's\n"
    said_by("uninstall")
    assert git(folder, "config", "merge.mdmem.driver") == "my-own %O %A %B"


def test_driver_has_no_absolute_path_if_mdmem_is_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = memory(tmp_path / "p")
    write(tmp_path, "bin/mdmem", "#!/bin/sh\n").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = run(folder, sys.executable, "-m", "mdmem", "hooks", "install", "--driver-only", PATH=path)
    assert done.returncode == 0, said(done)
    assert git(folder, "config", "merge.mdmem.driver").startswith("mdmem merge-driver -- %O %A %B %L %P")


@pytest.mark.parametrize(("stated", "used"), [("3", 7), ("12", 12), ("9" * 5000, 9999)])
def test_marks_have_a_width_that_the_checks_find(stated: str, used: int, tmp_path: Path, capsys: Capture) -> None:
    for name, status in (("base", "active"), ("ours", "draft"), ("theirs", "under_review")):
        write(tmp_path, name, ENTRY.replace("active", status))
    assert run_here(capsys, "merge-driver", "base", "ours", "theirs", stated, FILE, cwd=tmp_path).code == 1
    content = (tmp_path / "ours").read_bytes()
    assert b"\n" + b"<" * used + b" ours\nstatus: draft" in content
    assert [one.code for one in parse_document(FILE, content).findings] == ["merge-marker"]


def test_start_imports_no_model_and_no_index_and_a_missing_file_is_an_error(tmp_path: Path, capsys: Capture) -> None:
    for name, text in (("base", ENTRY), ("ours", changed(ENTRY, OURS)), ("theirs", changed(ENTRY, THEIRS))):
        write(tmp_path, name, text)
    found = imported(tmp_path, "merge-driver", "base", "ours", "theirs", "7", FILE)
    assert (tmp_path / "ours").read_text() == MERGED
    assert found.isdisjoint({"pydantic", "whoosh", "git", "mcp", "rich"})
    ran = run_here(capsys, "merge-driver", "base", "absent", "theirs", cwd=tmp_path)
    assert ran.code == 129
    assert ran.err == "mdmem: cannot merge `absent`: No such file or directory\n"
    assert not (tmp_path / "absent").exists()
