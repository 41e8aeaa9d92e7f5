"""What is exported comes back: the whole memory as it was, of decision records what these hold."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from builders import make_root, open_root, run_here, write, write_entry
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem.exchange.export import FORMS
from mdmem.exchange.importer import import_records
from mdmem.exchange.intake import ImportRequest
from mdmem.model.entry import Entry, EntryType, Status, day_of
from mdmem.model.fields import ORIGIN
from mdmem.setup.agents_file import COMMAND_LINES, WINGS_LINE, agents_lines
from mdmem.write.write import WriteOptions

EXAMPLES = Path(__file__).parents[2] / "example-wings"
DAY = date(2024, 1, 1)


def texts(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.glob("*/*/*.md")}


def imported(source: Path, into: Path, form: str) -> Path:
    """Return a new memory of what an export of another one gives."""
    opened = open_root(source)
    files, _ = FORMS[form].make(opened, tuple(opened.catalog.wings))
    for one in files:
        write(into, f"records/{one.path}", one.text)
    root = make_root(into / "memory", 'default_wing = "app"\n')
    write(root, "app/README.md", "---\nkind: project\n---\n\n# app\n")
    paths = tuple(str(into / "records" / one.path) for one in files)
    import_records(open_root(root), ImportRequest(paths=paths), WriteOptions())
    return root


def test_whole_memory_comes_back_byte_for_byte(tmp_path: Path) -> None:
    root = imported(EXAMPLES, tmp_path, "json")
    assert texts(root) == texts(EXAMPLES)
    for manifest in EXAMPLES.glob("*/README.md"):
        assert (root / manifest.relative_to(EXAMPLES)).read_bytes() == manifest.read_bytes()


def test_record_does_not_take_the_place_of_an_entry_of_a_whole_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = make_root(tmp_path / "source")
    write_entry(source, "app/architecture/0001-one", "Of the memory.\n")
    (document,), _ = FORMS["json"].make(open_root(source), ())
    write(tmp_path, "whole.json", document.text)
    write(tmp_path, "adr/0001-one.md", "# 1. One\n\n## Decision\n\nOf the record.\n")
    root = make_root(tmp_path / "memory", 'default_wing = "app"\n')
    write(root, "app/README.md", "---\nkind: project\n---\n\n# app\n")
    ran = run_here(capsys, "import", "whole.json", "adr", "--root", "memory", cwd=tmp_path)
    assert "but the entry `app/architecture/0001-one` exists already and is not overwritten" in ran.out
    assert "Of the memory." in (root / "app/architecture/0001-one.md").read_text()


def test_whole_memory_overwrites_nothing_and_leads_nowhere_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = imported(EXAMPLES, tmp_path, "json")
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
    assert "is JSON, but not from `mdmem export json`" in refused.out


def held(entries: dict[str, Entry]) -> dict[str, tuple[Any, ...]]:
    """Return what decision records hold, by title: an id may get a number, and nobody is doubted in MADR."""
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


WORDS = st.text("abcdefg äß#:-'\"", min_size=1, max_size=12).map(lambda text: f"Use {' '.join(text.split())} it")
DECISIONS = st.lists(
    st.tuples(WORDS, st.sampled_from(["active", "draft", "under_review"]), st.integers(0, 400), st.integers(0, 5)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=4)
@given(DECISIONS)
def test_generated_decisions_come_back_with_what_records_hold(drawn: list[tuple[str, str, int, int]]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        source = make_root(folder / "source/memory")
        write(source, "app/README.md", "---\nkind: project\n---\n\n# app\n")
        made: list[dict[str, Any]] = []
        for number, (title, status, days, link) in enumerate(drawn):
            fields: dict[str, Any] = {"title": f"'{title.replace(chr(39), '')} {number}'", "status": status}
            fields["created_at"] = (DAY + timedelta(days=days)).isoformat()
            fields["owner"] = "platform team" if days % 2 else None
            fields["tags"] = ["one", "two words"][: days % 3] or None
            old = made[link] if link < number else None
            if old is not None and old["status"] == "active" and status != "draft":
                fields["supersedes"] = [f"app/rules/d{link}"]
                # One end alone is a claim, and ends nothing.
                if days % 5:
                    old |= {"status": "deprecated", "superseded_by": [f"app/rules/d{number}"]}
                    old["deprecated_at"] = fields["created_at"]
            elif old is not None and status != "draft":
                fields["amends"] = [f"app/rules/d{link}"]
            made.append(fields)
        for number, fields in enumerate(made):
            write_entry(source, f"app/rules/d{number}", **fields)
        assert texts(imported(source, folder / "whole", "json")) == texts(source)
        root = imported(source, folder / "records", "madr")
        assert held(dict(open_root(root).catalog.entries)) == held(dict(open_root(source).catalog.entries))


def test_what_was_exported_of_this_memory_is_not_taken_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = make_root(tmp_path / "memory", 'default_wing = "app"\n')
    write(source, "app/README.md", "---\nkind: project\n---\n\n# app\n")
    write_entry(source, "app/rules/one", title="Use one")
    files, _ = FORMS["madr"].make(open_root(source), ())
    write(tmp_path, "docs/adr/0001-one.md", files[0].text)
    ran = run_here(capsys, "import", "--root", "memory", cwd=tmp_path)
    assert "  was exported by mdmem from app/rules/one, so it needs no import\n" in ran.out
    assert set(texts(source)) == {"app/rules/one.md"}


def test_renamed_source_is_said_and_not_imported_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_root(tmp_path / "memory", 'default_wing = "app"\n')
    write(root, "app/README.md", "---\nkind: project\n---\n\n# app\n")
    old = write(tmp_path, "docs/adr/0001-one.md", "# 1. One\n\n## Decision\n\nOf the record.\n")
    assert run_here(capsys, "import", "--root", "memory", cwd=tmp_path).out.startswith("imported 1 entry ")
    old.rename(old.with_name("0001-only-one.md"))
    ran = run_here(capsys, "import", "--root", "memory", cwd=tmp_path)
    said = "has the text of docs/adr/0001-one.md, from which app/architecture/0001-one was imported"
    assert (said in ran.out, "imported 0 entries; 1 skipped" in ran.out, len(texts(root))) == (True, True, 1)
    # An entry may state a source that no file system allows.
    write_entry(root, "app/notes/odd", **{ORIGIN: f"{'a' * 300}.md@{'0' * 12}"})
    assert run_here(capsys, "import", "--root", "memory", cwd=tmp_path).code == 0


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("with_server", [False, True])
def test_lines_for_agents_of_this_and_earlier_versions_are_not_imported(
    newline: str, with_server: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = agents_lines("core") if with_server else COMMAND_LINES + WINGS_LINE
    earlier = ours.replace("the answer has every rule for", "the answer has every rule that names")
    earlier = earlier.replace("The answer has every rule for", "The answer has every rule that names")
    earlier = earlier.replace("without a file, `retrieve` takes", "a `retrieve` that names no file takes")
    root = make_root(tmp_path / "memory", 'default_wing = "app"\n')
    write(root, "app/README.md", "---\nkind: project\n---\n\n# app\n")
    text = f"{ours}\n{earlier}\n# Rules\n\nUse tabs; people approve it.\n"
    (tmp_path / "AGENTS.md").write_bytes(text.replace("\n", newline).encode())
    ran = run_here(capsys, "import", "AGENTS.md", "--root", "memory", cwd=tmp_path)
    assert ran.out.startswith("imported 1 entry ")
    (entry,) = root.glob("app/context/*.md")
    assert entry.read_text().endswith("---\n\nUse tabs; people approve it.\n")
