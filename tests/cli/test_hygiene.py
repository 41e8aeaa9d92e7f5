"""Test `mdmem hygiene`: the entries that need maintenance, and the day of the last run."""

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from builders import Run, commit_all, git, made_once, memory, merge_conflict, run_mdmem, snapshot, write, write_entry

from mdmem.store.state.local_records import PendingWrite, PendingWrites, Times, read_times

STILL_TRUE = (
    "type `mdmem verify ADDRESS` if it is still true, else `mdmem supersede ADDRESS --title TITLE --reason WHY`, or "
    "`mdmem deprecate ADDRESS --reason WHY`"
)
STATE = ".git/mdmem/state/memory"
LONG = "Each request carries a deadline, and whoever calls on passes the rest of it along to the next one.\n"


@made_once
def worn_out(folder: Path) -> Path:
    root = memory(folder) / "memory"
    write(root, "base/README.md", "---\nkind: shared\n---\n")
    write_entry(root, "base/rules/deadline", LONG, type="invariant", title="Deadlines")
    write_entry(root, "nav/rules/waiting", LONG, type="invariant", title="How we wait", verified_at="2026-11-01")
    write_entry(root, "nav/architecture/old", LONG, title="Use one thread", created_at="2025-11-21")
    write_entry(root, "nav/architecture/old-2", LONG, title="Use one thread", verified_at="2026-11-01")
    write_entry(root, "nav/how/release", "Tag it.\n", type="pattern", title="Release", created_at="2026-08-01")
    for name in ("queue", "queue-2"):
        entity = {"type": "note", "label": "entity", "entity": "Queue", "title": "Queue"}
        write_entry(root, f"nav/entities/{name}", f"{name}.\n", **entity)
    ended = {"status": "deprecated", "superseded_by": "nav/architecture/threads", "deprecated_at": "2026-06-01"}
    write_entry(root, "nav/architecture/first", "Once.\n", title="Use a pool", **ended)
    twice = "See [see: nav/architecture/first].\n\nAgain, see [see: nav/architecture/first].\n"
    write_entry(root, "nav/how/note", twice, type="note", title="A note")
    code = {"type": "invariant", "title": "Sockets close", "created_at": "2026-03-05", "applies_to": "src/**"}
    write_entry(root, "nav/rules/sockets", "A socket must be closed.\n", **code)
    write(folder, "src/net.py", "pass\n")
    commit_all(folder)
    return folder


@pytest.fixture
def worn(tmp_path: Path) -> Path:
    """Return a memory with one case of each kind."""
    return worn_out(tmp_path / "repository")


def keep_pending(folder: Path, **arguments: object) -> str:
    created = datetime(2026, 11, 20, tzinfo=UTC)
    failed = PendingWrite(verb="save_decision", arguments=arguments, created=created, attempts=3, error="disk\nfull")
    return PendingWrites(folder / STATE).add(failed)


def said(run: Run, *options: str, cwd: Path) -> dict[str, object]:
    ran = run("hygiene", "--format", "json", *options, cwd=cwd)
    assert (ran.code, ran.err) == (0, "")
    found: dict[str, object] = ran.json
    return found


def test_text_names_each_kind_with_what_to_type(worn: Path, run: Run) -> None:
    pending, changed = keep_pending(worn, decision={"title": "Use <TLS>"}), git(worn, "log", "-1", "--format=%cs")
    ran = run("hygiene", cwd=worn)
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == f"""\
writes that did not complete (1)
  {pending[:12]}  save_decision `Use <TLS>`, 3 attempts since 2026-11-20: disk<U+000A>full
  next: type `mdmem save --retry`

not verified since the code they apply to changed (1)
  nav/rules/sockets  `src/net.py` changed on {changed}, after it was written on 2026-03-05
  next: {STILL_TRUE}

near-duplicates (1)
  nav/architecture/old, nav/architecture/old-2  Use one thread
  next: type `mdmem supersede ADDRESS --by KEPT --reason WHY` for each but the one to keep

entities with one name (1)
  nav/entities/queue, nav/entities/queue-2  Queue
  next: type `mdmem supersede ADDRESS --by KEPT --reason WHY` for each but the one to keep

references to superseded entries (1)
  nav/how/note  `nav/architecture/first` is superseded by `nav/architecture/threads`
  next: type `mdmem check --select link-to-superseded --fix --unsafe-fixes` to link to the current entries

decisions not made or verified for 180 days (1)
  nav/architecture/old  Use one thread (365 days, stale)
  next: {STILL_TRUE}

patterns not validated for 90 days (1)
  nav/how/release  Release (112 days, recent)
  next: {STILL_TRUE}
"""
    )


def test_json_has_the_keys_of_the_contract(worn: Path, run: Run) -> None:
    pending = keep_pending(worn)
    found = said(run, cwd=worn)
    findings = found.pop("findings")
    assert isinstance(findings, list)
    assert [(one["code"], one["address"], one["path"], one["line"]) for one in findings] == [
        ("link-to-superseded", "nav/how/note", "nav/how/note.md", 8),
        ("link-to-superseded", "nav/how/note", "nav/how/note.md", 10),
        ("unverified-since-change", "nav/rules/sockets", "nav/rules/sockets.md", 6),
    ]
    old, new = "nav/architecture/old", "nav/architecture/old-2"
    queues = ["nav/entities/queue", "nav/entities/queue-2"]
    assert found == {
        "schema": 1,
        "project_id": None,
        "scope": None,
        "duplicates_found": 1,
        "outdated_decisions": 1,
        "obsolete_patterns": 1,
        "entity_drift_count": 1,
        "unresolved_saves": 1,
        "stale_items": [
            {"id": old, "label": "Decision", "title": "Use one thread", "age_days": 365, "freshness": "stale"},
            {"id": "nav/how/release", "label": "Pattern", "title": "Release", "age_days": 112, "freshness": "recent"},
        ],
        "candidate_ids": {
            "duplicate_decisions": [old, new],
            "outdated_decisions": [old],
            "obsolete_patterns": ["nav/how/release"],
            "entity_drift": queues,
            "unresolved_saves": [pending],
        },
        "checked_at": "2026-11-21",
        "message": "nothing was merged or changed: a person decides",
        "next_step": "read the `candidate_id` of a blocked save, then save it again with `supersedes` or "
        "`distinct_from`; let a person keep one entry of a group: `mdmem supersede ADDRESS --by KEPT --reason WHY` for "
        "each of the others",
        "duplicate_groups": [[old, new]],
        "entity_groups": [queues],
        "pending_writes": [
            {
                "id": pending,
                "verb": "save_decision",
                "project_id": None,
                "created": "2026-11-20T00:00:00+00:00",
                "attempts": 3,
                "error": "disk\nfull",
            }
        ],
        "recorded": [],
        "commit": None,
        "remarks": [],
    }


def test_markdown_shows_nothing_as_markup(worn: Path, run: Run) -> None:
    write_entry(worn / "memory", "nav/how/odd", type="pattern", title="<b>@ada</b>", created_at="2026-01-01")
    lines = run("hygiene", "--format", "markdown", cwd=worn).out.splitlines()
    assert lines[:3] == ["## Hygiene on 2026-11-21", "", "### not verified since the code they apply to changed (1)"]
    (odd,) = [line for line in lines if "nav/how/odd" in line]
    assert odd.startswith(r"- `nav/how/odd`: \<b\>@&#8203;ada\</b\> (324 days, stale)")


def test_nothing_to_do_is_said(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/architecture/threads", title="Use two threads", verified_at="2026-11-01")
    assert run("hygiene").out == "nothing needs maintenance\n"
    assert "nothing needs maintenance" in run("hygiene", "--format", "markdown").out


def test_pending_only_looks_at_nothing_else(worn: Path, run: Run) -> None:
    pending = keep_pending(worn)
    found = said(run, "--pending-only", cwd=worn)
    assert (found["unresolved_saves"], found["outdated_decisions"], found["findings"]) == (1, 0, [])
    assert found["candidate_ids"]["unresolved_saves"] == [pending]  # type: ignore[index]
    assert read_times(worn / STATE) == Times()


def test_record_patches_the_manifests_and_names_wings_without(worn: Path, run: Run) -> None:
    manifest = write(worn, "memory/nav/README.md", b"---\r\nkind:  project # ours\r\nowners: [Ada]\r\n---\r\n# nav")
    write_entry(worn / "memory", "web/rules/clock")
    before = snapshot(worn)
    ran = run("hygiene", "--record", cwd=worn)
    assert ran.out.endswith("\n\nrecorded in base/README.md, nav/README.md\n")
    assert ran.err == "`web` has no manifest to record in; write `kind: project` in web/README.md\n"
    assert manifest.read_bytes() == (
        b"---\r\nkind:  project # ours\r\nowners: [Ada]\r\nlast_hygiene_at: 2026-11-21\r\n---\r\n# nav"
    )
    after = snapshot(worn)
    assert {path for path in after if before.get(path) != after[path]} == {
        "memory/base/README.md",
        "memory/nav/README.md",
    }
    again = run("hygiene", "--record", "--wing", "nav", cwd=worn)
    assert "recorded" not in again.out
    assert snapshot(worn) == after


def test_record_commits_the_manifests_alone_when_asked(worn: Path, run: Run) -> None:
    write(worn, "memory/nav/README.md", "---\nkind: project\n---\n")
    commit_all(worn)
    write(worn, "staged.txt", "staged\n")
    git(worn, "add", "staged.txt")
    ran = run("hygiene", "--record", "--commit", cwd=worn)
    commit = git(worn, "rev-parse", "HEAD")
    assert ran.out.endswith(f"\n\nrecorded in base/README.md, nav/README.md, committed as {commit[:10]}\n")
    assert git(worn, "log", "-1", "--format=%B", "--name-only").splitlines() == [
        *("Tend base, nav", "", "", "memory/base/README.md", "memory/nav/README.md")
    ]
    assert git(worn, "status", "--short") == "A  staged.txt"


def test_run_is_kept_although_its_manifests_cannot_be_written(worn: Path, run: Run) -> None:
    git(worn, "checkout", "-q", "-b", "topic")
    merge_conflict(worn, "memory/base/rules/deadline.md", "ours\n", "theirs\n")
    ran = run("hygiene", "--record", "--commit", cwd=worn, unchanged=worn)
    assert (ran.code, ran.out) == (2, "")
    assert "merge" in ran.err
    assert read_times(worn / STATE) == Times(date(2026, 11, 21))


@pytest.mark.parametrize(
    ("options", "wings"),
    [
        ([], None),
        (["--scope", "global"], ["base"]),
        (["--scope", "project"], ["nav"]),
        (["--scope", "focus"], []),
        (["--wing", "nav", "--scope", "global"], ["base"]),
    ],
)
def test_run_is_kept_for_the_wings_in_reach(worn: Path, run: Run, options: list[str], wings: list[str] | None) -> None:
    run("hygiene", *options, cwd=worn, unchanged=worn)
    today = date(2026, 11, 21)
    full = Times(today) if wings is None else Times(None, dict.fromkeys(wings, today))
    assert read_times(worn / STATE) == full


def test_state_that_cannot_be_written_is_a_remark(worn: Path, run: Run) -> None:
    (worn / ".git/mdmem").mkdir(exist_ok=True)
    write(worn, ".git/mdmem/state", "a file in the way\n")
    ran = run("hygiene", cwd=worn)
    assert ran.code == 0
    assert "entities with one name (1)" in ran.out
    assert re.search(r"^this run could not be recorded in .*/\.git/mdmem/state/memory: ", ran.err, re.MULTILINE)


def test_status_says_when_hygiene_ran(worn: Path, run: Run) -> None:
    never = "hygiene  never ran (due); `mdmem hygiene` shows what needs maintenance\n"
    assert never in run("status", cwd=worn).out
    run("hygiene", cwd=worn)
    assert "\nhygiene  last on 2026-11-21\n" in run("status", cwd=worn).out
    later = run_mdmem("status", cwd=worn, env={"MDMEM_TODAY": "2026-12-21"}).stdout
    assert "\nhygiene  last on 2026-11-21 (due); `mdmem hygiene` shows" in later


def test_root_outside_git_says_what_it_cannot_tell(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(tmp_path, "memory/mdmem.toml")
    write_entry(tmp_path / "memory", "nav/rules/sockets", applies_to="src/**", created_at="2026-11-01")
    write(tmp_path, "memory/nav/rules/bad.md", "no front matter\n")
    ran = run("hygiene", cwd=tmp_path / "memory")
    assert (ran.code, ran.out) == (0, "nothing needs maintenance\n")
    unknown = "it is unknown whether the code changed since an entry was verified"
    assert ran.err.splitlines() == [
        "1 unreadable file was left out; `mdmem check` shows it",
        f"{tmp_path / 'memory'} is in no git repository: {unknown}",
    ]


def test_similar_notes_are_listed_once(tmp_path: Path, run: Run) -> None:
    root = memory(tmp_path / "p") / "memory"
    for name in ("a", "b"):
        write_entry(root, f"nav/notes/{name}", f"Ports are open here: {name} one two.\n", title="Ports", type="note")
    ran = run("hygiene", cwd=root)
    assert "entries that may say the same, or contradict each other (1)\n  nav/notes/a  has " in ran.out
