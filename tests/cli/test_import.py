"""Test `mdmem import` on the command line: moved files, messages, and each kind of bad record."""

import re
import subprocess
from pathlib import Path

import pytest
from builders import Run, commit_all, environment, git, memory, run_mdmem, snapshot, without_rights, write

from cli.test_init import PROGRAMS

# The memory of `builders.memory` has the wing `nav`.
PLACE = "memory/nav/architecture"
MOVED = "to nav/architecture"
NO_APPROVER = "no approver: `mdmem approve --active` adds you"
NONE_YET = "no approver: `--approved-by NAME` names one"


def record(number: int, title: str, status: str = "Accepted", *, date: str = "2024-02-13", text: str = "") -> str:
    decision = text or "We do, because it was tried."
    return f"# {number}. {title}\n\nDate: {date}\n\n## Status\n\n{status}\n\n## Decision\n\n{decision}\n"


LINKED = ("0005-out", record(5, "Out", text="We do, because of [this](../../../x.md)."))
GONE = ("0005-gone", record(5, "Gone", "Superseded by ADR-0099"))
UNCLEAR = ("0005-which", record(5, "Which", "Superseded by ADR-2"))
LOST = ("0005-lost", record(5, "Lost", "Proposed\n\nSupersedes [9. Gone](0009-gone.md)"))
DEEP, LONG = (f"---\nstatus: {'[' * depth}\n---\n# 5. Deep\n" for depth in (1000, 20000))
PLACES = "nav/architecture/0002-database or nav/architecture/0002-other"


def project(folder: Path, **records: str | bytes) -> Path:
    """Return a repository with a memory and some records, committed; a record's name has `_` for `-`."""
    memory(folder)
    for name, text in records.items():
        write(folder, f"docs/adr/{name.removeprefix('r').replace('_', '-')}.md", text)
    commit_all(folder)
    return folder


def said_of(out: str, path: str) -> list[str]:
    """Return the sentences below the line of a file."""
    _, _, rest = out.partition(f"{path} ")
    lines = rest.splitlines()[1:]
    return [line.strip() for line in lines[: next((n for n, one in enumerate(lines) if one[:2] != "  "), None)]]


def entry(folder: Path, name: str) -> str:
    return (folder / PLACE / f"{name}.md").read_text()


PAIR = {
    "r0001_files": record(1, "Files", "Superseded by [2. Database](0002-database.md)"),
    "r0002_database": record(2, "Database", "Accepted\n\nSupersedes [1. Files](0001-files.md)", date="2024-06-01"),
}


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Return `tmp_path` as a project with two records, of which the second superseded the first."""
    return project(tmp_path, **PAIR)


@pytest.mark.parametrize("pointer", [False, True])
def test_moved_records_keep_their_history(pointer: bool, pair: Path, run: Run) -> None:
    write(pair, "docs/adr/0002-database.md", PAIR["r0002_database"] + "\nMore.\n")
    commit_all(pair, "say more")
    options = ("--pointer",) if pointer else ()
    ran = run("import", "--move", *options, "--commit")
    said = f"imported 2 entries (1 deprecated decision, 1 decision) {MOVED}; 2 files moved\n"
    assert (ran.code, ran.out) == (0, said)
    assert ("files that mention the old places stay as they are; --pointer leaves a line" in ran.err) == (not pointer)
    assert git(pair, "status", "--porcelain") == ""
    old = pair / "docs/adr/0002-database.md"
    left = "Moved to [Database](<../../memory/nav/architecture/0002-database.md>).\n"
    assert (old.read_text() if pointer else old.exists()) == (left if pointer else False)
    told = run("log", "0002-database").out.splitlines()
    assert [line.split(": ")[-1] for line in told if line[0] != " "] == ["Import 2 entries", "say more", "change"]
    assert "    imported from docs/adr/0002-database.md" in told
    assert run("import", "docs").out.endswith("2 skipped\n") if pointer else True


def test_copied_records_are_staged_by_nobody_and_a_changed_source_is_said(pair: Path, run: Run) -> None:
    write(pair, "docs/adr/0006-c#-5%.md", record(6, "C#"))
    ran = run("import")
    assert ran.err.splitlines() == [
        f"2 active rules have {NO_APPROVER}",
        "the old files stay in docs/adr; `mdmem import --move` removes them",
        "next: git add memory && git commit",
    ]
    assert ran.out == f"imported 3 entries (2 decisions, 1 deprecated decision) {MOVED}\n"
    before = snapshot(pair / "memory")
    write(pair, "docs/adr/0001-files.md", PAIR["r0001_files"].replace("tried", "measured"))
    again = run("import")
    assert again.out == (
        "docs/adr/0001-files.md → nav/architecture/0001-files  changed since it was imported (adr-tools)\n\n"
        "imported 0 entries; 1 changed since it was imported; 2 imported before\n"
    )
    assert snapshot(pair / "memory") == before


def test_successor_that_comes_later_supersedes_what_was_imported_before(tmp_path: Path, run: Run) -> None:
    folder = project(tmp_path, r0001_files=PAIR["r0001_files"])
    run("import", cwd=folder)
    write(folder, "docs/adr/0002-database.md", record(2, "Database"))
    run("import", cwd=folder)
    text = (folder / "memory/nav/architecture/0002-database.md").read_text()
    assert "supersedes:\n  - nav/architecture/0001-files\n" in text


def test_import_with_the_name_of_who_stands_behind_it_passes_as_approved(pair: Path, run: Run) -> None:
    dry = run("import", "--dry-run", "--format", "json").json
    records = [(one["address"].rpartition("/")[2], one["status"]) for one in dry["records"]]
    assert records == [("0001-files", "deprecated"), ("0002-database", "active")]
    assert run("import", "--dry-run").err == f"1 active rule has {NONE_YET}\n"
    nobody = run("import", "--approved-by", "Ada")
    assert (nobody.code, "write --approved-by" in nobody.err) == (2, True)
    run("import", "--approved-by", "Ada <ada@example.org>")
    git(pair, "add", "-A")
    assert "approved_by: Ada <ada@example.org>" in entry(pair, "0002-database")
    assert run("check", "--staged", "--select", "approved-by-nobody").code == 0
    assert "approved-by-nobody" not in run("check", "--staged").out


BAD: dict[str, tuple[str, str | bytes, str]] = {
    "a date that is none": ("0005-date", record(5, "Date", date="2023-14-05"), "`2023-14-05` is not a date"),
    "five megabytes": ("0005-big", b"# 5. Big\n\n" + b"word " * 1_100_000, "has 5.2 MiB, over the limit of 1 MiB"),
    "no UTF-8": ("0005-old", record(5, "Gr\xf6\xdfe").encode("cp1252"), "is not UTF-8 at byte 7"),
    "nothing": ("0005-none", "\n", "is empty"),
    "a link out": (*LINKED, "`../../../x.md` leads out of the project, and is unchanged"),
    "an absent successor": (*GONE, "superseded by `ADR-0099`, which is not an imported record"),
    "an unclear successor": (*UNCLEAR, f"superseded by `ADR-2`, which may be {PLACES}"),
    "a deep front matter": ("0005-deep", DEEP, "has a front matter that cannot"),
    "a long front matter": ("0005-long", LONG, "has a front matter that cannot"),
    "a front matter": ("0005-front", "---\na b c\n---\n# 5. Front\n", "has a front matter that cannot be read: line 2"),
    "an absent predecessor": (*LOST, "supersedes `0009-gone.md`, which is not an imported record"),
    "a template": ("0005-self", record(5, "Self", "Superseded by ADR-0005"), "superseded by `ADR-0005`, which is the"),
}


@pytest.mark.parametrize("text", [record(5, "Odd", "Abgelehnt"), "# Odd\n\n* Status: Abgelehnt\n\nWe do.\n"])
def test_record_with_a_status_that_is_not_understood_is_a_draft(text: str, tmp_path: Path, run: Run) -> None:
    folder = project(tmp_path, r0005_odd=text)
    ran = run("import", cwd=folder)
    said = "the status `Abgelehnt` is unknown: the entry becomes a draft"
    assert said_of(ran.out, "docs/adr/0005-odd.md")[-1] == said
    assert "\nstatus: draft\n" in entry(folder, "0005-odd")
    assert "Abgelehnt" in entry(folder, "0005-odd").partition("---\n\n")[2]


FOLDER_STATES = {
    "retired": ("Accepted", "deprecated"),
    "Obsolete_Archive": ("In limbo", "deprecated"),
    "rejected": ("Proposed on 2024-05-06", "deprecated"),
    "superseded": ("Superseded by ADR-0002", "deprecated"),
    "proposed": ("", "draft"),
    "draft": ("Accepted", "active"),
    "rfc": ("", "active"),
    "review": ("", "active"),
}


@pytest.mark.parametrize("name", FOLDER_STATES)
def test_folder_with_the_name_of_a_status_states_it(name: str, tmp_path: Path, run: Run) -> None:
    folder = project(tmp_path, **PAIR)
    write(folder, f"docs/adr/{name}/0005-old.md", record(5, "Old", FOLDER_STATES[name][0]))
    ran = run("import", "--dry-run", "--format", "json", cwd=folder)
    (found,) = (one for one in ran.json["records"] if one["path"].endswith("0005-old.md"))
    assert (found["status"], found["said"]) == (FOLDER_STATES[name][1], [])
    (folder / "links").mkdir()
    (folder / "links/old").symlink_to(folder / "docs/adr" / name)
    run("import", "links/old", "--move", cwd=folder)
    text = next((folder / "memory/nav").glob("*/0005-old.md")).read_text()
    assert f"\nstatus: {FOLDER_STATES[name][1]}\n" in text
    reason = 'deprecated_reason: "status of the imported record: '
    assert (f'{reason}it is in the folder `{name}`"' in text) == (name in [*FOLDER_STATES][:3])
    # A status that the folder outweighs stays in the text.
    assert FOLDER_STATES[name][0] in text or name not in [*FOLDER_STATES][:3]


@pytest.mark.parametrize("is_in_yaml", [False, True])
def test_date_that_is_none_is_kept_and_said(is_in_yaml: bool, tmp_path: Path, run: Run) -> None:
    old = record(1, "Files", "Superseded by [2. Database](0002-database.md)", date="2024-2-30")
    old = f"---\ndate: 2024-2-30\n---\n{old.replace('Date: 2024-2-30', '')}" if is_in_yaml else old
    folder = project(tmp_path, r0001_files=old, r0002_database=PAIR["r0002_database"])
    said = said_of(run("import", cwd=folder).out, "docs/adr/0001-files.md")
    assert said[0] == "created_at: the date of its successor (guessed)"
    assert "`2024-2-30` is not a date" in said
    assert ('x-date: "2024-2-30"' if is_in_yaml else "Date: 2024-2-30") in entry(folder, "0001-files")
    assert "created_at: 2024-06-01\n" in entry(folder, "0001-files")


@pytest.mark.parametrize("kind", BAD)
def test_bad_record_is_said_and_the_rest_is_imported(kind: str, tmp_path: Path, run: Run) -> None:
    name, content, sentence = BAD[kind]
    folder = project(tmp_path, **PAIR, r0002_other=record(2, "Other"))
    path = f"docs/adr/{name}.md"
    write(folder, path, content)
    ran = run("import", cwd=folder, unchanged=folder / "docs")
    assert ran.code == 0
    assert any(one.startswith(sentence) for one in said_of(ran.out, path)), ran.out
    assert "superseded_by:\n  - nav/architecture/0002-database\n" in entry(folder, "0001-files")
    git(folder, "add", "-A")
    # Unknown parts stay in the text, and an imported entry causes no error.
    assert run("check", cwd=folder).code == 0
    if (folder / PLACE / f"{name}.md").exists() and "upersede" in sentence:
        _, _, kept = entry(folder, name).partition("## Status\n\n")
        assert "Supersede" in kept.partition("\n## ")[0], kept


def test_translations_beside_their_originals_are_left_out_and_said_once(tmp_path: Path, run: Run) -> None:
    folder = project(tmp_path, **PAIR, **{"r0001_files.fr": record(1, "Fichiers"), "r0003_node.js": record(3, "Node")})
    write(folder, "docs/adr/0002-database.pt-br.md", record(2, "Base"))
    ran = run("import", cwd=folder)
    names = sorted(path.stem for path in (folder / PLACE).glob("000*"))
    assert names == ["0001-files", "0002-database", "0003-node-js"]
    assert ran.err.splitlines()[0] == "2 translations left out, such as docs/adr/0001-files.fr.md next to its original"


FOLDERS = (
    *("adr", "docs/ADRs", "a/b/Architecture Decision Records", "packages/web/decisions", "doc/decisions", "docs/rfcs"),
    *("architecture-decision-record", "decision_logs", "Architectural Decision Records", "technical-decisions"),
    *("docs", "decide", "records", "my own choices", "old adrs"),
)


@pytest.mark.parametrize("place", FOLDERS)
def test_folder_of_decisions_is_found_by_its_name_or_named(place: str, tmp_path: Path, run: Run) -> None:
    memory(tmp_path)
    write(tmp_path, f"{place}/0007-cache.md", "# Cache\n\nWe cache, because reading is slow.\n")
    write(tmp_path, f"{place}/0000-template.md", "# NUMBER. TITLE\n\n## Status\n\nAccepted\n")
    write(tmp_path, f"{place}/README.md", "# The choices\n")
    named = (place,) if place in FOLDERS[-5:] else ()
    assert not named or "no records found" in run("import", "--dry-run").out
    ran = run("import", *named)
    assert ran.out == "imported 1 entry (1 decision) to nav/architecture\n"


SERIES = {
    "docs/eips": ("eip-{}", "---\nstatus: Withdrawn\n---\n# Gas\n", True),
    "text": ("{:04}-gas", "# Gas\n\n## Status\n\n**Accepted**\n", True),
    "guide": ("{:02}-gas", "# Gas\n\nStatus: Accepted\n", False),
    "posts": ("2024-05-{:02}-gas", "# Gas\n\nStatus: Accepted\n", False),
    "problems": ("{:04}-gas", "# Gas\n\nThe status accepted is a word.\n", False),
    "book": ("chapter-{}", "---\nstatus: final\n---\n# Gas\n", False),
}


@pytest.mark.parametrize("place", SERIES)
def test_folder_with_a_series_of_records_is_found_by_what_it_has(place: str, tmp_path: Path, run: Run) -> None:
    stem, text, is_found = SERIES[place]
    git(tmp_path, "init", "-q")
    for number in (7, 8, 11):
        write(tmp_path, f"{place}/{stem.format(number)}.md", text)
    write(tmp_path, "CLAUDE.md", "# Rules\n\n- Use tabs.\n" if is_found else "See AGENTS.md.\n")
    said = run("init", "--wing", "nav", cwd=tmp_path).out
    offered = f"there are decision records, 3 in {place}, and rules for agents in CLAUDE.md: `mdmem import --dry-run`"
    assert (offered in said, "\nthere are " in said) == (is_found, is_found)
    ran = run("import", "--dry-run", "--format", "json", cwd=tmp_path)
    rooms = [one["address"].split("/")[1] for one in ran.json["records"] if one["type"] == "decision"]
    assert rooms == ([place.removeprefix("docs/")] * 3 if is_found else [])
    (tmp_path / place / f"{stem.format(11)}.md").unlink()
    assert "decision records" not in run("init", cwd=tmp_path).out


def test_records_of_two_parts_of_a_project_may_have_one_name(pair: Path, run: Run) -> None:
    write(pair, "web/adr/0001-files.md", record(1, "Files of the web", "Superseded by ADR-2"))
    write(pair, "web/adr/0002-database.md", record(2, "Database of the web"))
    # A number alone means a record of the same folder, and one with a kind a record of that kind.
    write(pair, "docs/adr/0008-queue.md", record(8, "Queue", "Accepted\n\nSupersedes RFC-8"))
    write(pair, "docs/rfcs/0008-rows.md", record(8, "Rows", "Accepted\n\nSupersedes 2"))
    # It also means the record of a folder beside it with the same series of numbers, but 1 is in both of web/adr.
    write(pair, "docs/adr/cold/0005-store.md", record(5, "Store", "Superseded by 8"))
    write(pair, "web/adr/0003-more.md", record(3, "More", "Superseded by 9"))
    for name in ("0001-own", "0009-also"):
        write(pair, f"web/adr/part/{name}.md", record(9, "Also"))
    assert run("import").code == 0
    assert "superseded_by:\n  - nav/architecture/0008-queue\n" in (pair / "memory/nav/cold/0005-store.md").read_text()
    assert "\nsuperseded_by:" not in entry(pair, "0003-more")
    assert "supersedes:\n  - nav/architecture/0008-rows\n  - nav/cold/0005-store\n" in entry(pair, "0008-queue")
    assert "\nsupersedes:" not in entry(pair, "0008-rows")
    web = (pair / "memory/nav/web-adr/0001-files.md").read_text()
    assert "superseded_by:\n  - nav/web-adr/0002-database\n" in web
    assert "superseded_by:\n  - nav/architecture/0002-database\n" in entry(pair, "0001-files")


def test_names_that_differ_in_case_and_a_target_that_exists_are_said(tmp_path: Path, run: Run) -> None:
    folder = project(tmp_path, r0001_files=record(1, "Files"), r0001_Files=record(1, "Other"))
    write(folder, f"{PLACE}/0003-third.md", (folder / PLACE / "threads.md").read_bytes())
    write(folder, "docs/adr/0003-third.md", record(3, "Third"))
    long = f"{'b' * 90}/0004-{'日' * 75}"
    write(folder, f"docs/adr/{long}.md", record(4, "Long", date="May " * 1000))
    before = (folder / PLACE / "0003-third.md").read_bytes()
    ran = run("import", "--move", cwd=folder)
    said = ["has a name, or folders, of more than 200 bytes; rename it"]
    assert said_of(ran.out, f"docs/adr/{long}.md") == said
    (folder / f"docs/adr/{long}.md").rename(folder / "docs/adr/0004-long.md")
    assert max(map(len, run("import", "docs/adr/0004-long.md", "--move", cwd=folder).out.splitlines())) < 320
    assert said_of(ran.out, "docs/adr/0001-files.md") == [
        "would get the address `nav/architecture/0001-files`, and so would `docs/adr/0001-Files.md`; rename one of them"
    ]
    third = "nav/architecture/0003-third"
    assert said_of(ran.out, "docs/adr/0003-third.md") == [
        f"would get the address `{third}`, but {third}.md exists already and is not overwritten"
    ]
    assert (folder / PLACE / "0003-third.md").read_bytes() == before
    assert sorted(path.name for path in (folder / "docs/adr").glob("*.md")) == ["0001-files.md", "0003-third.md"]


def test_files_that_cannot_be_read_or_removed_stay(pair: Path, run: Run) -> None:
    write(pair, "docs/adr/0004-hidden.md", record(4, "Hidden")).chmod(0)
    (pair / "docs/adr").chmod(0o555)
    try:
        ran = run_mdmem("import", "--move", cwd=pair, first=without_rights())
    finally:
        (pair / "docs/adr").chmod(0o755)
    assert ran.returncode == 0
    assert said_of(ran.stdout, "docs/adr/0004-hidden.md") == ["cannot be read: permission denied"]
    assert "docs/adr/0001-files.md is not moved: permission denied; run the same command again to move it" in ran.stderr
    assert (pair / PLACE / "0001-files.md").exists()
    assert run("import", "--move").code == 0
    assert not (pair / "docs").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere",), "there is no `nowhere`"),
        (("--pointer",), "--pointer needs --move"),
        (("--to", "mars/rooms"), "there is no wing `mars`; `--new-wing` makes one"),
        (("memory",), "`memory` is a memory already"),
        (("..",), "is outside of"),
    ],
)
def test_wrong_argument_is_one_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path, run: Run) -> None:
    folder = project(tmp_path / "here", **PAIR)
    ran = run("import", *arguments, cwd=folder)
    assert (ran.code, sentence in ran.err) == (2, True), ran.err
    if "--new-wing" in sentence:
        for place, path in (("mars/rooms", "mars/rooms/0001-files"), ("venus", "venus/architecture/0002-database")):
            source = f"docs/adr/{path.rpartition('/')[2]}.md"
            git(folder, "config", "user.name", "Ada")
            git(folder, "config", "user.email", "ada@example.org")
            run("init", cwd=folder)
            approving = ("--approved-by", "Ada <ada@example.org>", source)
            made = run("import", "--to", place, "--new-wing", *approving, cwd=folder)
            assert (made.code, "has no owner" in made.err, "is not an owner" in made.err) == (0, False, False)
            assert (folder / f"memory/{path}.md").exists()
            assert (folder / f"memory/{path.partition('/')[0]}/README.md").exists()
            # The memory has several projects now, and AGENTS.md is for one.
            told = "several projects share this memory, and AGENTS.md does not say so"
            assert told in run("status", cwd=folder).out
            end = "AGENTS.md exists and stays as it is; add this to it:\nSeveral projects share this memory: "
            assert end in run("init", cwd=folder).out
        (folder / "AGENTS.md").write_text((folder / "AGENTS.md").read_text() + "Use `--wing NAME`.\n")
        assert "several projects" not in run("status", cwd=folder).out


def test_first_day_with_records_that_hold_errors(tmp_path: Path, run: Run) -> None:
    faulty = {
        "r0003_cloud": record(3, "Cloud", "Accepted\n\nSupersedes [2. Database](0002-database.md)"),
        "r0004_early": record(4, "Early", "Superseded by ADR-5"),
        "r0005_late": record(5, "Late", "Draft"),
    }
    folder = project(tmp_path, **PAIR, **faulty)
    assert run("init", "--wing", "nav", cwd=folder).code == 0
    assert re.search(r"\n\d errors? in the records; --format json shows them\n", run("import", "--dry-run").out)
    ran = run("import", cwd=folder)
    assert re.search(r"\n\d errors? in the records; `mdmem check` shows them\n", ran.out)
    assert ran.err.endswith("\nnext: git add memory AGENTS.md && mdmem check --update-baseline && git commit\n")
    git(folder, "add", "memory", "AGENTS.md")
    assert "both are staged" in run("check", "--update-baseline", cwd=folder).err

    def commit() -> subprocess.CompletedProcess[str]:
        options = {"cwd": folder, "env": environment(**PROGRAMS), "capture_output": True, "text": True}
        return subprocess.run(["git", "commit", "-q", "-m", "records"], check=False, **options)

    assert commit().returncode == 0
    # From then on a commit tells what it breaks, and nothing else.
    write(folder, f"{PLACE}/0001-files.md", entry(folder, "0001-files").replace("status: deprecated", "status: over"))
    git(folder, "add", "-A")
    ran = commit()
    assert (ran.returncode, "invalid-value" in ran.stderr, "0003-cloud" in ran.stderr) == (1, True, False)


def test_next_command_of_a_committed_import_has_the_root(tmp_path: Path, run: Run) -> None:
    cloud = record(3, "Cloud", "Accepted\n\nSupersedes [2. Database](0002-database.md)")
    folder = project(tmp_path, **PAIR, r0003_cloud=cloud)
    assert run("init", "--wing", "nav", "--no-hook", cwd=folder).code == 0
    ran = run("--root", "memory", "import", "--commit", cwd=folder)
    assert ran.err.endswith("\nnext: mdmem --root memory check --update-baseline\n")


def test_records_of_a_repository_within_this_one_are_not_its_own(pair: Path, run: Run) -> None:
    git(pair, "init", "-q", "vendor/tool")
    write(pair, "vendor/tool/docs/adr/0007-cache.md", record(7, "Cache"))
    assert run("import").out.startswith("imported 2 entries ")


def test_remarks_of_a_plain_import_name_commands_that_work(tmp_path: Path, run: Run) -> None:
    folder = project(tmp_path)
    write(folder, "notes/0007-cache.md", record(7, "Cache", "Accepted\n\nPartially supersedes ADR-0009"))
    write(folder, "notes/0009-disk.md", record(9, "Disk"))
    ran = run("import", "--from", "adr-tools", "notes", cwd=folder)
    assert "the old files stay in notes; `mdmem import --move --from adr-tools notes` removes them\n" in ran.err
    assert run("import", "--move", "--from", "adr-tools", "notes", cwd=folder).code == 0
    assert not (folder / "notes").exists()
    assert "amends:\n  - nav/architecture/0009-disk\n" in entry(folder, "0007-cache")
    assert "reason: Partially supersedes ADR-0009\n" in entry(folder, "0007-cache")
    commit_all(folder)
    approved = run("approve", "ADR-7", "ADR-9", cwd=folder)
    assert (approved.code, "approved_by: " in entry(folder, "0009-disk")) == (0, True)
