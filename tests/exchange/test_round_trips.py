"""Test `mdmem export`: files for other tools, files of others that it keeps, and re-import of an export."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders import (
    Capture,
    app_memory,
    commit_all,
    entry_text,
    git,
    make_root,
    memory,
    open_root,
    run_here,
    write,
    write_entry,
)

from mdmem.model.entry import Entry, EntryType, Status, day_of
from mdmem.model.fields import ORIGIN
from mdmem.setup.agents_file import COMMAND_LINES, ROOT_LINE, WINGS_LINE, agents_lines

EXAMPLES = Path(__file__).parents[2] / "example-wings"


def texts(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.glob("*/*/*.md")}


def imported(source: Path, into: Path, form: str, capsys: Capture) -> Path:
    """Return a new memory with what an export of all wings of another one gives."""
    root = app_memory(into)
    wings = [f"--wing={manifest.parent.name}" for manifest in source.glob("*/README.md")]
    run_here(capsys, "export", form, "--root", str(source), "--out", "records", *wings, cwd=into)
    ran = run_here(capsys, "import", "--root", "memory", *map(str, (into / "records").iterdir()), cwd=into)
    assert ran.code == 0, ran.err
    return root


def test_whole_memory_comes_back_byte_for_byte(tmp_path: Path, capsys: Capture) -> None:
    root = imported(EXAMPLES, tmp_path, "json", capsys)
    assert texts(root) == texts(EXAMPLES)
    for manifest in EXAMPLES.glob("*/README.md"):
        assert (root / manifest.relative_to(EXAMPLES)).read_bytes() == manifest.read_bytes()
    document = tmp_path / "records/mdmem.json"
    text = document.read_text()
    for encoding in ("utf-8-sig", "utf-16"):
        document.write_text(text, encoding=encoding)
        ran = run_here(capsys, "import", "records/mdmem.json", "--root", "memory", cwd=tmp_path)
        assert (ran.code, "skipped" in ran.out, "imported before" in ran.out) == (0, False, True)


def test_record_does_not_take_the_place_of_an_entry_of_a_whole_memory(tmp_path: Path, capsys: Capture) -> None:
    source = make_root(tmp_path / "source")
    write_entry(source, "app/architecture/0001-one", "Of the memory.\n")
    run_here(capsys, "export", "json", "--out", "whole.json", "--root", "source", cwd=tmp_path)
    write(tmp_path, "adr/0001-one.md", "# 1. One\n\n## Decision\n\nOf the record.\n")
    root = app_memory(tmp_path)
    ran = run_here(capsys, "import", "whole.json", "adr", "--root", "memory", cwd=tmp_path)
    assert "but app/architecture/0001-one.md exists already and is not overwritten" in ran.out
    assert "Of the memory." in (root / "app/architecture/0001-one.md").read_text()


def test_whole_memory_overwrites_nothing_and_leads_nowhere_else(tmp_path: Path, capsys: Capture) -> None:
    root = imported(EXAMPLES, tmp_path, "json", capsys)
    one = next(root.glob("ros2/*/*.md"))
    one.write_bytes(one.read_bytes() + b"More.\n")
    held = (tmp_path / "records/mdmem.json").read_text()
    write(tmp_path, "records/mdmem.json", held.replace('"address": "react/', '"address": "../react/', 1))
    write(tmp_path, "records/deep.json", '{"schema": 1, "entries": [{"address": "a/b/c/d", "head": "", "body": "x"}]}')
    before = texts(root)
    ran = run_here(capsys, "import", "records/mdmem.json", "--root", "memory", cwd=tmp_path)
    assert "is there already with other content; nothing is overwritten" in ran.out
    assert "is not a valid name for a wing" in ran.out
    deep = run_here(capsys, "import", "records/deep.json", "--root", "memory", cwd=tmp_path)
    assert "an entry cannot be at `a/b/c/d.md`" in deep.out
    assert texts(root) == before
    write(tmp_path, "records/other.json", "[]")
    refused = run_here(capsys, "import", "records/other.json", "--root", "memory", cwd=tmp_path)
    assert "is not a document of `export json`" in refused.out


def held(entries: dict[str, Entry]) -> dict[str, tuple[Any, ...]]:
    """Return the content of decision records by title: an id may get a number, and MADR has no `under_review`."""
    titles = {address: one.title for address, one in entries.items() if one.type is EntryType.DECISION}

    def linked(links: tuple[str, ...]) -> set[str]:
        return {titles[link] for link in links if link in titles}

    return {
        titles[address]: (
            Status.ACTIVE if one.status is Status.UNDER_REVIEW else one.status,
            day_of(one.created_at) if one.created_at else None,
            one.owner,
            one.tags,
            *(linked(one.links(name)) for name in ("supersedes", "superseded_by", "amends")),
        )
        for address, one in entries.items()
        if address in titles and one.status is not Status.DRAFT
    }


def test_decisions_come_back_with_what_records_hold(tmp_path: Path, capsys: Capture) -> None:
    source = make_root(tmp_path / "source/memory")
    old, new = "app/rules/old", "app/rules/new"
    write_entry(
        source, old, title="'Use \"two\" ä: # it'", status="deprecated", deprecated_at="2024-05-01",
        superseded_by=[new], created_at="2024-01-02", owner="platform team",
    )  # fmt: skip
    write_entry(source, new, title="Use - one", supersedes=[old], created_at="2024-05-01", tags=["one", "two words"])
    write_entry(source, "app/rules/part", title="Use a part", amends=[new], created_at="2024-05-02")
    # One end alone is a claim, and ends nothing.
    write_entry(source, "app/rules/claim", title="Use a claim", supersedes=[new], created_at="2024-06-01")
    write_entry(source, "app/rules/doubt", title="Doubt it", status="under_review", created_at="2024-06-02")
    for folder in (source, EXAMPLES):
        root = imported(folder, tmp_path / folder.name, "madr", capsys)
        assert held(dict(open_root(root).catalog.entries)) == held(dict(open_root(folder).catalog.entries))


def test_what_was_exported_of_this_memory_is_not_taken_back(tmp_path: Path, capsys: Capture) -> None:
    root = app_memory(tmp_path)
    write_entry(root, "app/rules/one", title="Use one")
    run_here(capsys, "export", "madr", "--root", "memory", "--out", "docs/adr", cwd=tmp_path)
    write(tmp_path, "docs/adr/index.rst", "Decisions\n=========\n")
    # Records in another format are listed, also if their folder has no Markdown, but not thousands of them.
    for number in range(22):
        write(tmp_path, f"docs/rfc/{number:04}-a.rst", "A\n=\n")
        write(tmp_path, f"docs/adr/{number:04}-b.md", f"---\nsee: RFC-{number + 90}\nstatus: accepted\n---\n# B\n")
    ran = run_here(capsys, "import", "--root", "memory", cwd=tmp_path)
    assert "  was exported by mdmem from app/rules/one, so it needs no import\n" in ran.out
    why = "is not a Markdown file (.md, .markdown, .mdc); convert it first"
    gone = "see `{}`, which is not an imported record"
    assert (gone.format("RFC-109") in ran.out, gone.format("RFC-110") in ran.out) == (True, False)
    assert f"... and 2 more: {gone.format('…')}; --format json lists them\n" in ran.out
    assert f"/0019-a.rst   skipped\n  {why}\n... and 2 more: see" in ran.out
    assert f"... and 2 more: {why}; --format json lists them\n" in ran.out
    assert "index.rst" not in ran.out
    assert [path for path in texts(root) if "-b" not in path] == ["app/rules/one.md"]


def test_renamed_source_is_said_and_not_imported_again(tmp_path: Path, capsys: Capture) -> None:
    root = app_memory(tmp_path)
    old = write(tmp_path, "docs/adr/0001-one.md", "# 1. One\n\n## Decision\n\nOf the record.\n")
    assert run_here(capsys, "import", "--root", "memory", cwd=tmp_path).out.startswith("imported 1 entry ")
    old.rename(old.with_name("0001-only-one.md"))
    ran = run_here(capsys, "import", "--root", "memory", cwd=tmp_path)
    said = "has the text of docs/adr/0001-one.md, which is already imported as app/architecture/0001-one"
    assert (said in ran.out, "imported 0 entries; 1 skipped" in ran.out, len(texts(root))) == (True, True, 1)
    # An entry may state a source that no file system allows.
    write_entry(root, "app/notes/odd", **{ORIGIN: f"{'a' * 300}.md@{'0' * 12}"})
    assert run_here(capsys, "import", "--root", "memory", cwd=tmp_path).code == 0


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("with_server", [False, True])
def test_lines_for_agents_of_this_and_earlier_versions_are_not_imported(
    newline: str, with_server: bool, tmp_path: Path, capsys: Capture
) -> None:
    ours = agents_lines("core") if with_server else COMMAND_LINES + WINGS_LINE + ROOT_LINE
    earlier = ours.replace("the answer has every rule for", "the answer has every rule that names")
    earlier = earlier.replace("The answer has every rule for", "The answer has every rule that names")
    earlier = earlier.replace("without a file, `retrieve` takes", "a `retrieve` that names no file takes")
    root = app_memory(tmp_path)
    text = f"{ours}\n{earlier}\n# Rules\n\nUse tabs; people approve it.\n"
    (tmp_path / "AGENTS.md").write_bytes(text.replace("\n", newline).encode())
    ran = run_here(capsys, "import", "AGENTS.md", "--root", "memory", cwd=tmp_path)
    assert ran.out.startswith("imported 1 entry ")
    (entry,) = root.glob("app/context/*.md")
    assert entry.read_text().endswith("---\n\nUse tabs; people approve it.\n")


def test_parts_of_instructions_with_like_headings_are_told_apart(tmp_path: Path, capsys: Capture) -> None:
    app_memory(tmp_path)
    write(tmp_path, "AGENTS.md", "Above.\n\n# Top\n\nOne.\n\n# \n\nTwo.\n\n# Top 2\n\nThree.\n")
    words = ("import", "AGENTS.md", "--root", "memory")
    ran = run_here(capsys, *words, cwd=tmp_path)
    assert ran.out.startswith(
        "created_at: no date is stated (guessed in 4 records, such as AGENTS.md#top)\n\nimported 4 "
    )
    names = {path.stem for path in (tmp_path / "memory").glob("*/*/*.md")}
    assert names == {"agents", "agents-top-2", "agents-2", "agents-top-2-2"}
    assert run_here(capsys, *words, cwd=tmp_path).out == "imported 0 entries; 4 imported before\n"


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
    assert "Two. [see: nav/architecture/one-thread]" in new
    assert "Amends [2. Use two threads](0002-threads.md)" in names_of
    assert "- Status: proposed" in draft
    assert draft.endswith("\n\n## Status\n\nProposed\n\n## Decision\n\nThree.\n\n<!-- mdmem export end -->\n")


def test_records_say_what_superseded_them_and_link_to_one_another(tmp_path: Path, capsys: Capture) -> None:
    folder, loser = decided(tmp_path), "nav/architecture/zz-top-4-threads"
    write_entry(
        folder / "memory", loser, "Four. See [that](../architecture/one-thread.md#why), [a file](../../x.md).\n",
        title="Four threads", created_at="2026-03-01", supersedes=["nav/architecture/one-thread"],
        status="deprecated", deprecated_at="2026-03-02", deprecated_reason="Two are enough.",
    )  # fmt: skip
    run_here(capsys, "export", "madr", "--out", "docs/adr", cwd=folder)
    assert (folder / "docs/adr/0001-one-thread.md").read_text().count("Superseded by ") == 1
    exported = (folder / "docs/adr/0005-zz-top-4-threads.md").read_text()
    assert "Four. See [that](0001-one-thread.md#why), [a file](../../x.md).\n" in exported
    other = memory(tmp_path / "other")
    for path in (folder / "docs/adr").iterdir():
        lines = path.read_text().splitlines(keepends=True)
        write(other, f"docs/adr/{path.name}", "".join(one for one in lines if "mdmem export" not in one))
    assert run_here(capsys, "import", cwd=other).code == 0
    old, back = (
        (other / f"memory/nav/architecture/{name}.md").read_text()
        for name in ("0001-one-thread", "0005-zz-top-4-threads")
    )
    assert "superseded_by:\n  - nav/architecture/0002-threads\n" in old
    assert "deprecated_at: 2026-03-02\n" in back
    assert 'deprecated_reason: "status of the imported record: deprecated"\n' in back


def test_a_rejected_record_comes_back_as_rejected_with_its_sections_once(tmp_path: Path, capsys: Capture) -> None:
    folder = memory(tmp_path)
    record = "# 1. Queue\n\nWe need one.\n\n## Status\n\nRejected, after a long talk\n\n## Decision\n\nA queue.\n"
    for name, text in {
        "docs/adr/0001-queue.md": record,
        "docs/adr/0002-log.md": "# 2. Log\n\n## Decision\n\nA log.",
    }.items():
        write(folder, name, text)
    commit_all(folder)
    run_here(capsys, "import", "--move", cwd=folder)
    log = folder / "memory/nav/architecture/0002-log.md"
    log.write_text(log.read_text().replace("title:", "reason: Files became slow.\ntitle:"))
    run_here(capsys, "export", "madr", "--out", "docs/out", cwd=folder)
    queue, other = (next((folder / "docs/out").glob(f"*-{one}.md")).read_text() for one in ("queue", "log"))
    assert "- Status: rejected\n" in queue
    assert "\n## Status\n\nRejected on " in queue
    assert "\n## Summary\n\nWe need one.\n" in queue
    assert "\n## Status in its own words\n\nRejected, after a long talk\n" in queue
    assert (queue.count("\n## Status\n"), queue.count("\n## Decision\n")) == (1, 1)
    assert "A log.\n\n## Reason\n\nFiles became slow.\n" in other
    again = memory(tmp_path / "again")
    write(again, "docs/adr/0001-queue.md", "".join(one for one in queue.splitlines(True) if "mdmem export" not in one))
    run_here(capsys, "import", cwd=again)
    back = (again / "memory/nav/architecture/0001-queue.md").read_text()
    assert "\nstatus: deprecated\n" in back
    assert '\ndeprecated_reason: "status of the imported record: rejected"\n' in back


def test_agents_read_what_binds_by_the_code_it_applies_to(tmp_path: Path, capsys: Capture) -> None:
    folder = decided(tmp_path)
    (folder / "AGENTS.md").write_bytes(b"# Ours\r\n")
    assert run_here(capsys, "export", "agents-md", cwd=folder).out == "wrote AGENTS.md\n"
    assert run_here(capsys, "export", "agents-md", "--check", cwd=folder).code == 0
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
    write_entry(folder / "memory", "nav/architecture/odd", applies_to=["'a<!-- mdmem export end -->'"])
    ended, way = "nav/architecture/ended", "nav/conventions/way"
    write_entry(folder / "memory", ended, status="deprecated", superseded_by=[way])
    write_entry(folder / "memory", way, type="pattern", supersedes=[ended])
    run_here(capsys, "export", form, cwd=folder)
    assert run_here(capsys, "export", form, "--check", cwd=folder).code == 0
    for path in (*folder.glob(".cursor/rules/*"), *folder.glob(".github/instructions/*")):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert run_here(capsys, "export", form, "--check", cwd=folder).code == 0
    (folder / "memory/nav/architecture/names.md").unlink()
    commit_all(folder, "names end")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts}
    behind = run_here(capsys, "export", form, "--check", cwd=folder)
    assert behind.code == 1
    # The lines of amended rules change, too.
    assert behind.out.count("\n") == (1 if form == "agents-md" else 2)
    assert {path: path.read_bytes() for path in before} == before
    run_here(capsys, "export", form, cwd=folder)
    assert run_here(capsys, "export", form, "--check", cwd=folder).code == 0
    assert not [*folder.glob(".cursor/rules/*nav*"), *folder.glob(".github/instructions/*nav*")]


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
    write(folder, "docs/adr/0099-old.md", b"# 99. Gr\xf6\xdfe\n")
    assert run_here(capsys, "export", "madr", "--out", "docs/adr", cwd=folder).code == 0
    refused = run_here(capsys, "export", "agents-md", "--out", "docs/adr/0099-old.md", cwd=folder)
    hint = "it is not in UTF-8; correct that, or give another place with --out"
    assert refused.err == f"mdmem: 0099-old.md cannot be updated: {hint}\n"
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
    assert "git's own folder" in run_here(capsys, "init", cwd=folder / ".git").err
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
    write(folder, "memory/nav/notes/bom.md", f"\ufeff{entry_text(type='note', title='With a mark')}")
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
    (folder / "out.d").mkdir()
    assert run_here(capsys, "export", "json", "--out", "out.d", cwd=folder).out == "wrote out.d/mdmem.json\n"
    write_entry(folder / "memory", "nav/architecture/marks", "None.", title="Marks", type="note")
    assert run_here(capsys, *export, "--check", cwd=folder).out == "memory.json is outdated\n"
    assert run_here(capsys, *export, cwd=folder).code == 0
    write(folder, "memory.json", (folder / "memory.json").read_text().replace("Name threads", "Name all"))
    assert "after its export" in run_here(capsys, *export, cwd=folder).err
