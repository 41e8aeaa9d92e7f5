"""`mdmem show`: entries in full, by every name an address has."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import Run, commit_all, git, memory, write, write_entry

ADDRESS = "nav/architecture/threads"


def chained(folder: Path) -> Path:
    memory(folder)
    write_entry(folder / "memory", "nav/architecture/four", title="Use four threads", supersedes=ADDRESS)
    write_entry(
        folder / "memory", ADDRESS, title="Use two threads", status="deprecated", superseded_by="nav/architecture/four"
    )
    commit_all(folder)
    return folder


def test_address_that_moved_says_where_it_went(folder: Path, run: Run) -> None:
    for old, new in (("threads", "workers"), ("workers", "pool")):
        git(folder, "mv", f"memory/nav/architecture/{old}.md", f"memory/nav/architecture/{new}.md")
        git(folder, "commit", "-q", "-m", "rename")
    git(folder, "rm", "-q", "memory/nav/rules/callbacks.md")
    for name in (ADDRESS, "threads"):
        said = f"mdmem: there is no entry `{name}`; it moved to nav/architecture/pool\n"
        assert run("show", name).err == said
    assert "; it was deleted, and `mdmem log nav/rules/callbacks` tells when" in run("why", "nav/rules/callbacks").err


@pytest.mark.parametrize(
    "name",
    [
        ADDRESS,
        "architecture/threads",
        "threads",
        f"memory/{ADDRESS}.md",
        f"memory/{ADDRESS}",
        f"./memory/{ADDRESS}.md",
        f"{ADDRESS}.md",
    ],
)
def test_entry_is_found_by_name(name: str, folder: Path, run: Run) -> None:
    assert run("show", name, cwd=folder).out.startswith(f"[decision] {ADDRESS} ")


def test_entry_is_found_by_its_absolute_path_and_by_the_path_from_here(folder: Path, run: Run) -> None:
    room = folder / "memory/nav/architecture"
    assert run("show", str(room / "threads.md")).code == 0
    assert run("show", "threads.md", cwd=room).code == 0
    assert run("show", "../rules/callbacks.md", cwd=room).code == 0


def test_superseded_entry_says_what_replaced_it(tmp_path: Path, run: Run) -> None:
    ran = run("show", ADDRESS, cwd=chained(tmp_path))
    assert ran.out.startswith(f"[decision] {ADDRESS} (replaced by nav/architecture/four)\n")


def test_part_of_a_word_names_what_begins_so_and_a_file_leads_to_its_question(folder: Path, run: Run) -> None:
    for name in ("0007-cards-in-the-worker", "0009-workers-carry-cards"):
        write_entry(folder / "memory", f"nav/architecture/{name}")
    write(folder, "src/pay.py")
    for typed, said in (
        ("0007-card", "there is no entry `0007-card`; did you mean nav/architecture/0007-cards-in-the-worker?"),
        ("src/pay.py", "`src/pay.py` is not an entry; `mdmem retrieve --path src/pay.py` shows what applies to it"),
    ):
        assert run("show", typed).err == f"mdmem: {said}\n"


def test_wing_decides_what_a_short_address_means(folder: Path, run: Run) -> None:
    for wing in ("arm", "leg"):
        write_entry(folder / "memory", f"{wing}/rules/grip", title=f"The {wing} grips")
    assert run("show", "grip").code == 2
    for wing, about in (("arm", ()), ("leg", ("--about", "grips"))):
        assert f"The {wing} grips" in run("show", "--wing", wing, "grip", *about).out
    assert "there is no wing `hand`" in run("show", "--wing", "hand", "grip").err
