"""Test `mdmem show` and the names of entries: a name means at most one entry, and records are found by number."""

from pathlib import Path

import pytest
from builders import (
    Run,
    commit_all,
    git,
    made_once,
    make_repository,
    make_root,
    open_root,
    snapshot,
    write,
    write_entry,
)
from msgspec.structs import replace

from mdmem.errors import NotFoundError
from mdmem.model.access import Access
from mdmem.store.workspace.addresses import resolve_name

CENTS, QUEUE = "shop/architecture/0004-store-money-as-cents", "shop/architecture/0012-carriers-behind-a-queue"
CACHE, ZONES = "shop/context/0012-what-we-cache", "shop/context/time-zones-of-shops"
OTHER, RFC = "till/architecture/0004-tills-print-receipts", "desk/architecture/rfc-17-receipts-on-paper"
BY_NAME = {
    "0004": CENTS,
    "4": CENTS,
    "ADR-4": CENTS,
    "ADR 4": CENTS,
    "adr-0004": CENTS,
    "architecture/12": QUEUE,
    "shop/context/ADR-12": CACHE,
    "till/4": OTHER,
    "RFC 17": RFC,
    "17": RFC,
    "0004-store-money": CENTS,
    "0004-store-money-": CENTS,
    "shop/architecture/0012-carriers": QUEUE,
    "memory/shop/context/time-zones.md": ZONES,
    "docs/adr/0004-money.md": CENTS,
    "./docs/adr/0012-c#-queue.md": QUEUE,
}


@made_once
def records(folder: Path) -> Path:
    """Return a repository with imported records in two rooms of a wing, the active one, and in another wing."""
    root = make_root(make_repository(folder) / "memory", 'default_wing = "shop"\n')
    origins = {CENTS: "docs/adr/0004-money.md", QUEUE: "docs/adr/0012-c%23-queue.md", OTHER: None, RFC: None}
    origins |= {CACHE: "AGENTS.md#cache", ZONES: "AGENTS.md#time"}
    for address, origin in origins.items():
        stated = {"x-imported-from": f"{origin}@0123456789ab"} if origin else {}
        write_entry(root, address, title=f"About {address.rpartition('/')[2]}", **stated)
    commit_all(folder)
    return folder


@pytest.mark.parametrize("name", BY_NAME)
def test_record_is_found_by_number_beginning_of_its_id_or_origin(name: str, tmp_path: Path, run: Run) -> None:
    ran = run("show", name, cwd=records(tmp_path))
    assert (ran.code, ran.out.partition(" (")[0], ran.err) == (0, f"[decision] {BY_NAME[name]}", "")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("12", f"{QUEUE}, {CACHE}"), ("shop/0012", f"{QUEUE}, {CACHE}"), ("AGENTS.md", f"{CACHE}, {ZONES}")],
)
def test_number_or_path_of_several_records_is_refused(name: str, meant: str, tmp_path: Path, run: Run) -> None:
    ran = run("show", name, cwd=records(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"mdmem: `{name}` means 2 entries: {meant}; write one of them in full\n"


def test_number_in_a_name_is_no_number_of_a_record(tmp_path: Path, run: Run) -> None:
    folder = records(tmp_path)
    for name in ("python-4-only", "http-2-only"):
        write_entry(folder / "memory", f"shop/architecture/{name}", title=name)
    assert run("show", "4", cwd=folder).out.startswith(f"[decision] {CENTS} ")
    assert run("deprecate", "2", "-m", "gone", cwd=folder).code == 1
    write_entry(folder / "memory", "shop/architecture/citing", see="2")
    run("check", "--fix", cwd=folder)
    assert "\nsee: 2\n" in (folder / "memory/shop/architecture/citing.md").read_text()


def test_record_that_moved_is_found_by_its_old_number_and_says_where_it_went(tmp_path: Path, run: Run) -> None:
    folder = records(tmp_path)
    for new in ("shop/context/0004-store-money-as-cents", "shop/context/cents"):
        assert run("mv", "shop/4", new, "--commit", cwd=folder).code == 0
    for name in ("shop/4", "shop/ADR-4"):
        assert run("show", name, cwd=folder).out.startswith("[decision] shop/context/cents ")
    old = "0004-store-money-as-cents"
    assert run("show", old, cwd=folder).err == f"mdmem: there is no entry `{old}`; it moved to shop/context/cents\n"


def test_exact_id_wins_over_a_number_and_a_beginning(tmp_path: Path, run: Run) -> None:
    folder = records(tmp_path)
    # A number without a hyphen before it is the same number, so the record in the active wing wins.
    for address in ("shop/architecture/adr021-mail", "till/architecture/0021-one-drawer"):
        write_entry(folder / "memory", address)
    for name in ("adr021", "ADR-21", "21"):
        assert run("show", name, cwd=folder).out.startswith("[decision] shop/architecture/adr021-mail ")
    for exact in ("shop/notes/0004", "shop/notes/time-zones"):
        write_entry(folder / "memory", exact)
        name = exact.rpartition("/")[2]
        assert run("show", name, cwd=folder).out.startswith(f"[decision] {exact} ")


@pytest.mark.parametrize("how", [("git", "rm"), ("rm",), ("moved",)], ids=" ".join)
def test_name_of_a_gone_entry_means_no_other_that_begins_so(how: tuple[str, ...], tmp_path: Path, run: Run) -> None:
    folder = records(tmp_path)
    gone = folder / "memory/shop/context/time-zones.md"
    write_entry(folder / "memory", "shop/context/time-zones")
    commit_all(folder)
    if how == ("git", "rm"):
        git(folder, "rm", "-q", str(gone))
    elif how == ("moved",):
        gone.rename(gone.with_name("clocks.md"))
    else:
        gone.unlink()
    before = snapshot(folder)
    for name in ("time-zones", "shop/context/time-zones"):
        ran = run("deprecate", name, "-m", "gone", cwd=folder)
        assert (ran.code, ran.out, snapshot(folder)) == (1, "", before)
        assert ran.err.startswith(f"mdmem: there is no entry `{name}`")


def test_write_by_a_number_prints_the_address_in_full_and_no_link_is_a_number(tmp_path: Path, run: Run) -> None:
    folder = records(tmp_path)
    ran = run("deprecate", "ADR-4", "-m", "gone", cwd=folder)
    assert (ran.code, ran.out.splitlines()[0]) == (0, f"changed memory/{CENTS}.md")
    write_entry(folder / "memory", "shop/notes/citing", type="note", see=["4", "0004-store-money"])
    ran = run("check", "--select", "dangling-link", "--format", "json", cwd=folder)
    assert [one["code"] for one in ran.json["findings"]] == ["dangling-link"] * 2


ONE_ENTRY = {
    "deprecate": ["deprecate", "{}", "-m", "gone"],
    "review": ["doubt", "{}", "-m", "is it so?"],
    "review-done": ["doubt", "{}", "--done"],
    "supersede": ["supersede", "{}", "-m", "better", "--title", "New", "--body", "New.\n\nRationale: better."],
    "supersede-by": ["supersede", CENTS, "-m", "better", "--by", "{}"],
    "why": ["why", "{}"],
    "log": ["log", "{}"],
    "blame": ["log", "--fields", "{}"],
    "edit": ["edit", "{}"],
}


@pytest.mark.parametrize("command", ONE_ENTRY.values(), ids=ONE_ENTRY)
def test_command_for_one_entry_refuses_an_address_of_several(command: list[str], tmp_path: Path, run: Run) -> None:
    folder = records(tmp_path)
    more = [f"shop/notes/note-{number}" for number in "12"]
    for address in more:
        write_entry(folder / "memory", address)
    before = snapshot(folder)
    listed = ", ".join((CENTS, QUEUE, CACHE, ZONES, more[0]))
    for name, count, said in (("shop/", 6, f"{listed} and 1 more"), ("shop/context/", 2, f"{CACHE}, {ZONES}")):
        ran = run(*(word.format(name) for word in command), cwd=folder)
        assert (ran.code, ran.out, snapshot(folder)) == (2, "", before)
        assert ran.err == f"mdmem: `{name}` means {count} entries: {said}; write one of them in full\n"


LISTED = f"write one of its entries ({CACHE}, {ZONES})"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shop/context", f"`shop/context` is a room; {LISTED}, or `shop/context/` for all of them"),
        ("till", f"`till` is a wing; write one of its entries ({OTHER}), or `till/` for all of them"),
    ],
)
def test_folder_without_its_slash_says_that_it_is_one(name: str, said: str, tmp_path: Path, run: Run) -> None:
    ran = run("verify", name, cwd=records(tmp_path))
    assert (ran.code, ran.out, ran.err) == (1, "", f"mdmem: {said}\n")


ADDRESS = "nav/architecture/threads"


def test_address_that_moved_says_where_it_went(folder: Path, run: Run) -> None:
    for old, new in (("threads", "workers"), ("workers", "pool")):
        git(folder, "mv", f"memory/nav/architecture/{old}.md", f"memory/nav/architecture/{new}.md")
        git(folder, "commit", "-q", "-m", "rename")
    git(folder, "rm", "-q", "memory/nav/rules/callbacks.md")
    write(folder / "memory", "arm/README.md", "---\nkind: project\n---\n")
    write_entry(folder / "memory", "nav/rules/grip", "The claw grips gently.\n", title="Grip")
    commit_all(folder)
    (folder / "memory/arm/rules").mkdir()
    git(folder, "mv", "memory/nav/rules/grip.md", "memory/arm/rules/grip.md")
    git(folder, "commit", "-q", "-m", "rename")
    for name, new in (("nav/rules/grip", "arm/rules/grip"), (ADDRESS, "nav/architecture/pool"), ("threads", "")):
        said = f"mdmem: there is no entry `{name}`; it moved to {new or 'nav/architecture/pool'}\n"
        assert run("why", name).err == said
    gone = "{} tells more; `mdmem list` lists the current ones"
    narrow = replace(open_root(folder / "memory"), access=Access.to_wings(["nav"]))
    with pytest.raises(NotFoundError, match=gone.format("moved or deleted, .*")):
        resolve_name(narrow, "nav/rules/grip")
    said = gone.format("it was moved or deleted, and `mdmem log nav/rules/callbacks`")
    assert run("show", "nav/rules/callbacks").err == f"mdmem: there is no entry `nav/rules/callbacks`; {said}\n"
    said = "there is no wing or room `nav/archtecture/`; did you mean `nav/architecture/`?"
    assert run("show", "nav/archtecture/").err == f"mdmem: {said}\n"
    write(folder, "memory/nav/empty/bad.md", "no front matter\n")
    assert run("show", "nav/empty/").err == "mdmem: there is no readable entry in `nav/empty/`\n"
    said = "`mdmem retrieve --path src/pay.py` shows the rules for a file"
    assert run("show", "src/pay.py").err == f"mdmem: there is no entry `src/pay.py`; {said}\n"


@pytest.mark.parametrize(
    "name",
    [
        *(ADDRESS, "architecture/threads", "threads", f"{ADDRESS}.md"),
        *(f"memory/{ADDRESS}.md", f"memory/{ADDRESS}", f"./memory/{ADDRESS}.md", f"{{top}}/memory/{ADDRESS}.md"),
    ],
)
def test_entry_is_found_by_name_or_path(name: str, folder: Path, run: Run) -> None:
    room = folder / "memory/nav/rules"
    for typed, cwd in ((name.format(top=folder), folder), ("../architecture/threads.md", room)):
        assert run("show", typed, cwd=cwd).out.startswith(f"[decision] {ADDRESS} ")


def test_part_of_a_word_names_what_begins_so(folder: Path, run: Run) -> None:
    for name in ("0007-cards-in-the-worker", "0009-workers-carry-cards"):
        write_entry(folder / "memory", f"nav/architecture/{name}")
    said = "there is no entry `0007-card`; did you mean nav/architecture/0007-cards-in-the-worker?"
    assert run("show", "0007-card").err == f"mdmem: {said}\n"


def test_wing_decides_what_a_short_address_means(folder: Path, run: Run) -> None:
    for wing in ("arm", "leg"):
        write_entry(folder / "memory", f"{wing}/rules/grip", title=f"The {wing} grips")
    assert run("show", "grip").code == 2
    for wing, about in (("arm", ()), ("leg", ("--about", "grips"))):
        assert f"The {wing} grips" in run("show", "--wing", wing, "grip", *about).out
    assert "there is no wing `hand`" in run("show", "--wing", "hand", "grip").err
