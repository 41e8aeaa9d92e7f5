"""Test `mdmem list` with filters, and `mdmem search` with lineage and in all formats."""

from pathlib import Path
from typing import Any

import pytest
from builders import Run, commit_all, make_root, memory, write, write_entry


def varied(folder: Path) -> Path:
    """Return a project wing with an entry of each status, a shared one, and another project."""
    root = memory(folder) / "memory"
    write_entry(root, "nav/notes/draft", type="note", status="draft", title="Draft", tags=["a", "b"])
    write_entry(root, "nav/notes/old", type="note", status="deprecated", title="Old", owner="ada", reason="It ended.")
    doubted = {"type": "note", "status": "under_review", "title": "Doubt", "focus": "docking", "owner": "ada"}
    write_entry(root, "nav/notes/doubt", **doubted)
    write_entry(root, "nav/notes/log", type="note", title="Log", label="session", tags=["b"])
    write_entry(root, "ros2/rules/qos", title="QoS")
    write(root, "ros2/README.md", "---\nkind: shared\n---\n")
    write_entry(root, "arm/rules/grip", title="Grip")
    write(root, "mdmem.toml", 'default_wing = "nav"\n')
    return folder


def listed(run: Run, *arguments: str, cwd: Path) -> list[str]:
    ran = run("list", *arguments, "--format", "json", cwd=cwd)
    return [entry["address"] for entry in ran.json["entries"]]


NEITHER = "neither a wing nor a room"
IN_FORCE = ["nav/architecture/threads", "nav/notes/doubt", "nav/notes/log", "nav/rules/callbacks"]


@pytest.mark.parametrize(
    ("arguments", "addresses"),
    [
        ([], [*IN_FORCE, "ros2/rules/qos"]),
        (["--all-wings"], ["arm/rules/grip", *IN_FORCE, "ros2/rules/qos"]),
        (["--wing", "arm"], ["arm/rules/grip"]),
        (["--wing", "arm,ros2"], ["arm/rules/grip", "ros2/rules/qos"]),
        (["-w", "arm", "-w", "ros2"], ["arm/rules/grip", "ros2/rules/qos"]),
        (["--room", "notes"], ["nav/notes/doubt", "nav/notes/log"]),
        (["arm"], ["arm/rules/grip"]),
        (["notes"], ["nav/notes/doubt", "nav/notes/log"]),
        (["memory/nav/notes/"], ["nav/notes/doubt", "nav/notes/log"]),
        (["nav/notes", "--label", "session"], ["nav/notes/log"]),
        (["--type", "invariant"], ["nav/rules/callbacks"]),
        (["--type", "invariant,note"], ["nav/notes/doubt", "nav/notes/log", "nav/rules/callbacks"]),
        (["--status", "under_review"], ["nav/notes/doubt"]),
        (["--status", "under-review"], ["nav/notes/doubt"]),
        (["--status", "draft"], ["nav/notes/draft"]),
        (["--status", "deprecated"], ["nav/notes/old"]),
        (["--label", "session"], ["nav/notes/log"]),
        (["--tag", "b", "--include-drafts"], ["nav/notes/draft", "nav/notes/log"]),
        (["--focus", "docking"], ["nav/notes/doubt"]),
        (["--owner", "ada", "--include-deprecated"], ["nav/notes/doubt", "nav/notes/old"]),
    ],
    ids=" ".join,
)
def test_list_narrows_by(arguments: list[str], addresses: list[str], tmp_path: Path, run: Run) -> None:
    assert listed(run, *arguments, cwd=varied(tmp_path)) == addresses


def test_titles_stand_under_a_heading_for_each_room(tmp_path: Path, run: Run) -> None:
    varied(tmp_path)
    write_entry(tmp_path / "memory", "nav/notes/no-doubts", title="The nav's log has no doubts", type="note")
    write_entry(tmp_path / "memory", "nav/notes/nav-log-has-doubts", title="The nav log has no doubts", type="note")
    write_entry(tmp_path / "memory", "nav/notes/tabs-over-spaces", title="Spaces over tabs", type="note")
    ran = run("list", "--titles", "--wing", "nav")
    rooms = [part.splitlines() for part in ran.out.split("\n\n")]
    assert [lines[0] for lines in rooms] == ["nav/architecture/", "nav/notes/", "nav/rules/"]
    # An entry-id with all words of the title in their order is enough.
    assert rooms[1][1:] == [
        *("doubt", "log", "nav-log-has-doubts  The nav log has no doubts", "no-doubts  The nav's log has no doubts"),
        "tabs-over-spaces  Spaces over tabs",
    ]
    refused = run("list", "--titles", "--format", "json")
    assert refused.code == 2
    assert "`--titles` prints text" in refused.err


def test_markdown_is_a_list(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/architecture/threads", title="'a | b'")
    commit_all(folder)
    ran = run("list", "--format", "markdown", "--type", "decision")
    assert ran.out == "- decision, active: `nav/architecture/threads`: a | b\n"


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_nothing_found_exits_1(form: str, tmp_path: Path, run: Run) -> None:
    ran = run("list", "--type", "pattern", "--format", form, cwd=memory(tmp_path))
    assert (ran.code, ran.err) == (1, "no entry passes these filters\n")
    empty = make_root(tmp_path / "empty")
    assert run("list", "--format", form, cwd=empty).err == "no entry is current\n"
    assert ran.out == ('{\n  "schema": 1,\n  "entries": []\n}\n' if form == "json" else "")
    write(empty, "mdmem.toml", 'default_wing = "app"\n')
    write(empty, "app/README.md", "---\n---\n")
    write_entry(empty, "mars/rules/a", title="Speed")
    instead = "`app` has no entry yet; `mars` has 1: ask with `--wing mars`"
    assert run("list", "--format", form, cwd=empty).err == f"{instead}\n"
    for command in (["retrieve", "--path", "src/a.py"], ["context", "speed"]):
        assert instead in run(*command, "--format", form, cwd=empty).out
    assert "mars/rules/a" in run("context", "speed", "--wing", "mars", cwd=empty).out
    # What cannot be read may be an entry.
    (empty / "app/rules").symlink_to("nowhere")
    assert run("list", "--format", form, cwd=empty).err.endswith("\nno entry is current\n")


def test_file_that_cannot_be_read_is_a_remark(folder: Path, run: Run) -> None:
    write(folder, "memory/nav/rules/bad.md", "no front matter\n")
    ran = run("list")
    assert (ran.code, len(ran.out.splitlines())) == (0, 2)
    head, line = ran.err.splitlines()
    assert head == "1 file of this scope cannot be read in full, and may apply:"
    assert line == "  nav/rules/bad.md:1: the file has no front matter (front-matter-fence)"
    for name in ("b", "c", "d", "e"):
        write(folder, f"memory/nav/rules/{name}.md", "no front matter\n")
    assert run("list").err.rstrip().endswith("nav/rules/d.md:1 and 1 more (`mdmem check`)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--wing", "nac"], "mdmem: there is no wing `nac`; did you mean `nav`?\n"),
        (["--wing", "zebra"], "mdmem: there is no wing `zebra`; choose from `arm`, `nav`, `ros2`\n"),
        (["--room", "rule"], "mdmem: there is no room `rule` in nav, ros2; did you mean `rules`?\n"),
        (["note"], "mdmem: there is no room `note` in nav, ros2; did you mean `notes`?\n"),
        (["nav/notes/log"], f"mdmem: `nav/notes/log` is {NEITHER}; `mdmem show nav/notes/log` shows an entry\n"),
        (["--type", "notes"], "mdmem list: there is no type `notes`; did you mean `note`?\n"),
        (["--status", "actve"], "mdmem list: there is no status `actve`; did you mean `active`?\n"),
    ],
)
def test_name_that_is_not_there_names_the_nearest(arguments: list[str], said: str, tmp_path: Path, run: Run) -> None:
    ran = run("list", *arguments, cwd=varied(tmp_path))
    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_several_projects_and_none_named_are_all_listed(tmp_path: Path, run: Run) -> None:
    folder = varied(tmp_path)
    rest = "and 1 draft, shown by --include-drafts; 1 entry that is not current, shown by --include-deprecated\n"
    assert run("list", cwd=folder).err == rest
    # A listed entry that becomes a draft is no longer listed.
    rule = folder / "memory/nav/rules/callbacks.md"
    commit_all(folder)
    rule.write_text(rule.read_text().replace("status: active", "status: draft"))
    assert run("list", cwd=folder).err == rest.replace("1 draft", "2 drafts")
    write(folder, "memory/mdmem.toml", "")
    assert listed(run, "--room", "rules", cwd=folder) == ["arm/rules/grip", "nav/rules/callbacks", "ros2/rules/qos"]


def searched(run: Run, *arguments: str, cwd: Path, code: int = 0) -> dict[str, Any]:
    ran = run("search", *arguments, "--format", "json", cwd=cwd)
    assert ran.code == code, ran.err
    said: dict[str, Any] = ran.json
    return said


def test_json_and_text_have_the_hits(folder: Path, run: Run) -> None:
    said = searched(run, "executor", cwd=folder)
    assert said["hits"][0].pop("score") > 0
    assert said == {
        "schema": 1,
        "query": "executor",
        "total": 1,
        "hits": [
            {
                "address": "nav/rules/callbacks",
                "type": "invariant",
                "status": "active",
                "title": "Callbacks do not block",
                "wing": "nav",
                "room": "rules",
                "snippet": "A callback must not block its executor. Rationale: the robot stops.",
                "heads": ["nav/rules/callbacks"],
                "via": [],
                "standing": "binding",
            }
        ],
        "unmatched_terms": [],
        "problems": [],
        "degraded": False,
        "source": "index",
    }
    snippet = said["hits"][0]["snippet"]
    ran = run("search", "executor")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"[invariant] nav/rules/callbacks\n  Callbacks do not block\n  {snippet}\n"


def test_words_of_exclusions_are_found(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/a/how", type="pattern", exclusions=["Never with Terraform"])
    assert "nav/a/how" in run("search", "terraform").out


def test_search_that_finds_only_an_entry_that_ended_says_so(tmp_path: Path, run: Run) -> None:
    write_entry(memory(tmp_path) / "memory", "nav/rules/graphql", "GraphQL.\n", status="deprecated", reason="It ended.")
    ran = run("search", "graphql", cwd=tmp_path)
    assert "nav/rules/graphql" in ran.out
    assert ran.err == "nothing current found; --include-deprecated shows entries that are not current\n"


def test_search_reads_the_wings_that_are_named_or_all_and_says_so_if_it_finds_nothing(folder: Path, run: Run) -> None:
    assert run("search", "日本語", cwd=folder).err == "nothing found: no entry has 日本語\n"
    write_entry(folder / "memory", "arm/rules/grip", "Use tongs on the executor.\n")
    totals = [searched(run, "executor", *wing, cwd=folder)["total"] for wing in ((), ("--wing", "arm"))]
    assert totals == [2, 1]
    wider = "; --all-wings searches every wing\n"
    assert run("search", "tongs", "--wing", "nav").err == f"nothing found: no entry of nav has tongs{wider}"
    write_entry(folder / "memory", "nav/rules/old-pliers-stay", "Text.\n", title="It stays")
    assert run("search", "Pliers", "-w", "nav").err.endswith(" has Pliers; did you mean nav/rules/old-pliers-stay?\n")
