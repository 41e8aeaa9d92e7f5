"""`mdmem export`: what other tools read, kept up to date, and never over what somebody wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import commit_all, git, memory, run_here, write, write_entry

Capture = pytest.CaptureFixture[str]


def decided(folder: Path) -> Path:
    """Return a memory with a decision that replaced another, an amendment, a draft, and rules for some code."""
    root = memory(folder) / "memory"
    old, new = "nav/architecture/one-thread", "nav/architecture/threads"
    write_entry(
        root, old, status="deprecated", created_at="2025-01-05", title="Use [one] thread", superseded_by=[new],
        deprecated_at="2026-02-01", reason="It stalled.",
    )  # fmt: skip
    write_entry(
        root, new, "# Use two threads\n\n## Decision\n\nTwo. [see: nav/architecture/one-thread]\n",
        title="Use two threads", created_at="2026-02-01",
        supersedes=[old], owner="navigation", tags=["threads", "navigation"],
    )  # fmt: skip
    write_entry(
        root, "nav/architecture/names", "Threads have names --> and <!-- more.", title="Name threads",
        created_at="2026-02-02", amends=[new], applies_to=["src/nav", "src/*.py"],
    )  # fmt: skip
    write_entry(
        root, "nav/architecture/later", "Three.", status="draft",
        title="Three threads", created_at="2026-03-01",
    )  # fmt: skip
    commit_all(folder, "decisions")
    return folder


def test_a_folder_of_decision_records_links_both_ways(tmp_path: Path, capsys: Capture) -> None:
    folder = decided(tmp_path)
    ran = run_here(capsys, "export", "madr", "--out", "docs/adr", cwd=folder)
    assert ran.code == 0
    assert ran.out.startswith("wrote docs/adr/0001-one-thread.md\n")
    assert "1 of another type left out" in ran.err
    names = ["0001-one-thread.md", "0002-threads.md", "0003-names.md", "0004-later.md"]
    assert sorted(path.name for path in (folder / "docs/adr").iterdir()) == names
    old, new, names_of, draft = ((folder / "docs/adr" / name).read_text() for name in names)
    assert old.startswith("# 1. Use [one] thread\n\n- Status: superseded by [0002-threads](0002-threads.md)\n")
    assert "\n## Status\n\nSuperseded\n\nSuperseded by [2. Use two threads](0002-threads.md)\n" in old
    assert "- Status: accepted\n- Date: 2026-02-01\n- Deciders: navigation\n- Tags: threads, navigation\n" in new
    assert (
        "Supersedes [1. Use (one) thread](0001-one-thread.md)\n\nAmended by [3. Name threads](0003-names.md)\n" in new
    )
    assert new.count("# Use two threads") == 0
    assert "Two. [see: nav/architecture/one-thread](0001-one-thread.md)" in new
    assert "Amends [2. Use two threads](0002-threads.md)" in names_of
    assert "- Status: proposed" in draft
    assert draft.endswith("\n\n## Status\n\nProposed\n\n## Decision\n\nThree.\n\n<!-- mdmem export end -->\n")


def test_records_say_what_superseded_them_and_link_to_one_another(tmp_path: Path, capsys: Capture) -> None:
    folder, loser = decided(tmp_path), "nav/architecture/zz-four-threads"
    write_entry(
        folder / "memory", loser, "Four. See [that](../architecture/one-thread.md#why), [a file](../../x.md).\n",
        title="Four threads", created_at="2026-03-01", supersedes=["nav/architecture/one-thread"],
        status="deprecated", deprecated_at="2026-03-02", deprecated_reason="Two are enough.",
    )  # fmt: skip
    run_here(capsys, "export", "madr", "--out", "docs/adr", cwd=folder)
    assert (folder / "docs/adr/0001-one-thread.md").read_text().count("Superseded by ") == 1
    exported = (folder / "docs/adr/0005-zz-four-threads.md").read_text()
    assert "Four. See [that](0001-one-thread.md#why), [a file](../../x.md).\n" in exported
    other = memory(tmp_path / "other")
    for path in (folder / "docs/adr").iterdir():
        lines = path.read_text().splitlines(keepends=True)
        write(other, f"docs/adr/{path.name}", "".join(one for one in lines if "mdmem export" not in one))
    assert run_here(capsys, "import", cwd=other).code == 0
    old, back = (
        (other / f"memory/nav/architecture/{name}.md").read_text()
        for name in ("0001-one-thread", "0005-zz-four-threads")
    )
    assert "superseded_by: [nav/architecture/0002-threads]\n" in old
    assert "deprecated_at: 2026-03-02\n" in back
    assert 'deprecated_reason: "status of the imported record: deprecated"\n' in back


def test_agents_read_what_binds_by_the_code_it_applies_to(tmp_path: Path, capsys: Capture) -> None:
    folder = decided(tmp_path)
    (folder / "AGENTS.md").write_bytes(b"# Ours\r\n")
    assert run_here(capsys, "export", "agents-md", cwd=folder).out == "wrote AGENTS.md\n"
    text = (folder / "AGENTS.md").read_bytes().decode()
    assert text.startswith("# Ours\r\n\r\n<!-- mdmem export ")
    assert text.count("<!--") == text.count("-->") == 2
    everywhere, _, scoped = text.partition("### In `src/nav`, `src/*.py`\r\n")
    assert "**Callbacks do not block** (invariant `nav/rules/callbacks`): A callback must not block" in everywhere
    assert "(decision `nav/architecture/threads`; amended by `nav/architecture/names`): Two." in everywhere
    assert "nav/architecture/names" in scoped
    assert "one-thread" not in text.replace("[see: nav/architecture/one-thread]", "")
    assert "later" not in text
    run_here(capsys, "export", "cursor-rules", cwd=folder)
    run_here(capsys, "export", "copilot-instructions", cwd=folder)
    scoped_rule = next((folder / ".cursor/rules").glob("mdmem-src-nav-*.mdc")).read_text()
    assert "\nglobs: src/*.py,src/nav,src/nav/**\nalwaysApply: false\n---\n" in scoped_rule
    assert "\nalwaysApply: true\n---\n" in (folder / ".cursor/rules/mdmem-everywhere.mdc").read_text()
    copied = next((folder / ".github/instructions").glob("*.instructions.md")).read_text()
    assert copied.startswith('---\napplyTo: "src/*.py,src/nav,src/nav/**"\n---\n')
    assert "callbacks" in (folder / ".github/copilot-instructions.md").read_text()


@pytest.mark.parametrize("form", ["agents-md", "cursor-rules", "copilot-instructions"])
def test_what_was_exported_is_kept_up_to_date(form: str, tmp_path: Path, capsys: Capture) -> None:
    folder = decided(tmp_path)
    run_here(capsys, "export", form, cwd=folder)
    assert run_here(capsys, "export", form, "--check", cwd=folder).code == 0
    (folder / "memory/nav/architecture/names.md").unlink()
    commit_all(folder, "names end")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts}
    behind = run_here(capsys, "export", form, "--check", cwd=folder)
    assert behind.code == 1
    # What was amended is told anew, too.
    assert behind.out.count("\n") == (1 if form == "agents-md" else 2)
    assert {path: path.read_bytes() for path in before} == before
    run_here(capsys, "export", form, cwd=folder)
    assert run_here(capsys, "export", form, "--check", cwd=folder).code == 0
    assert not [*folder.glob(".cursor/rules/*nav*"), *folder.glob(".github/instructions/*")]


def test_rules_are_those_of_the_files_at_hand_so_that_one_commit_holds_both(tmp_path: Path, capsys: Capture) -> None:
    folder = decided(tmp_path)
    run_here(capsys, "export", "agents-md", cwd=folder)
    git(folder, "checkout", "-q", "-b", "topic")
    write_entry(folder / "memory", "nav/architecture/threads", "Five.", title="Use five threads")
    assert run_here(capsys, "export", "agents-md", "--check", cwd=folder).code == 1
    run_here(capsys, "export", "agents-md", cwd=folder)
    commit_all(folder, "five")
    text = (folder / "AGENTS.md").read_text()
    assert "Use five threads" in text
    assert "Use two threads" not in text
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "topic")
    assert run_here(capsys, "export", "agents-md", "--check", cwd=folder).code == 0


def test_what_somebody_wrote_or_changed_stays(tmp_path: Path, capsys: Capture) -> None:
    folder = decided(tmp_path)
    theirs = write(folder, "docs/adr/0001-one-thread.md", "# 1. Theirs\n")
    refused = run_here(capsys, "export", "madr", "--out", "docs/adr", cwd=folder)
    assert refused.code == 2
    assert "0001-one-thread.md already exists and was not written by mdmem" in refused.err
    assert [path.name for path in (folder / "docs/adr").iterdir()] == ["0001-one-thread.md"]
    theirs.unlink()
    run_here(capsys, "export", "madr", "--out", "docs/adr", cwd=folder)
    for name in ("docs/adr/0002-threads.md", "AGENTS.md"):
        run_here(capsys, "export", "agents-md", cwd=folder)
        changed = (folder / name).read_text().replace("Two", "Ten")
        write(folder, name, changed)
        form = ("agents-md",) if name == "AGENTS.md" else ("madr", "--out", "docs/adr")
        refused = run_here(capsys, "export", *form, cwd=folder)
        assert refused.code == 2
        assert "after its export, so it was not replaced" in refused.err
        assert (folder / name).read_text() == changed


def test_an_export_is_written_nowhere_else(tmp_path: Path, capsys: Capture) -> None:
    folder = decided(tmp_path / "here")
    (tmp_path / "away").mkdir()
    (folder / ".cursor").symlink_to(tmp_path / "away")
    refused = run_here(capsys, "export", "cursor-rules", cwd=folder)
    assert refused.code == 2
    assert "leads out" in refused.err
    assert not [*(tmp_path / "away").iterdir()]
    (folder / "docs").symlink_to(tmp_path / "away")
    assert "leads out" in run_here(capsys, "export", "madr", "--out", "docs/adr", cwd=folder).err
    assert not [*(tmp_path / "away").iterdir()]
    (folder / "pub").symlink_to(folder / ".git/refs/tags")
    for words in (("export", "madr", "--out"), ("site", "build", "--out"), ("init",)):
        refused = run_here(capsys, *words, "pub", cwd=folder)
        assert (refused.code, "git's own folder" in refused.err) == (2, True), refused.err
    assert not [*(folder / ".git/refs/tags").iterdir()]
    before = (folder / ".git/config").read_bytes()
    (folder / "AGENTS.md").symlink_to(".git/config")
    refused = run_here(capsys, "export", "agents-md", cwd=folder)
    assert (refused.code, "git's own folder" in refused.err) == (2, True), refused.err
    assert (folder / ".git/config").read_bytes() == before
    assert "git's own folder" in run_here(capsys, "init", "--client", "codex", cwd=folder).out
    assert b"Before you change" not in (folder / ".git/config").read_bytes()
    assert run_here(capsys, "export", "madr", "--out", "memory", cwd=folder).code == 2
    assert "name a folder" in run_here(capsys, "export", "madr", cwd=folder).err


def test_the_whole_memory_is_one_document(tmp_path: Path, capsys: Capture) -> None:
    folder = decided(tmp_path)
    write_entry(folder / "memory", "nav/architecture/marks", "A \u200f turns the text.", title="Marks", type="note")
    printed = run_here(capsys, "export", "json", cwd=folder).out
    assert "\u200f" not in printed
    document = json.loads(printed)
    assert document["wings"] == [{"name": "nav", "readme": (folder / "memory/nav/README.md").read_text()}]
    held = {one["path"]: one["head"] + one["body"] for one in document["entries"]}
    assert held == {
        path.relative_to(folder / "memory").as_posix(): path.read_text() for path in folder.glob("memory/*/*/*.md")
    }
    export = ("export", "json", "--out", "memory.json")
    assert run_here(capsys, *export, cwd=folder).out == "wrote memory.json\n"
    written = json.loads((folder / "memory.json").read_text())
    assert written["entries"] == document["entries"]
    assert run_here(capsys, *export, "--check", cwd=folder).code == 0
    write_entry(folder / "memory", "nav/architecture/marks", "None.", title="Marks", type="note")
    assert run_here(capsys, *export, "--check", cwd=folder).out == "memory.json is outdated\n"
    assert run_here(capsys, *export, cwd=folder).code == 0
    write(folder, "memory.json", (folder / "memory.json").read_text().replace("Name threads", "Name all"))
    assert "after its export" in run_here(capsys, *export, cwd=folder).err
