"""Test the marks of entries in reading commands: proposed, merged, uncommitted, outdated."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders import Capture, commit_all, git, memory, open_root, run_here, snapshot, write, write_entry

from mdmem.ask.bundle import BundleRequest, retrieve_context

RULE, OLD, NEW = "nav/rules/callbacks", "nav/architecture/threads", "nav/architecture/four"


def on_branch(folder: Path) -> Path:
    """Return the first memory with a new branch `feature` checked out."""
    memory(folder)
    git(folder, "checkout", "-q", "-b", "feature")
    return folder


def supersede(folder: Path) -> None:
    """Write the supersession of one decision by another, at both ends."""
    ended = {"status": "deprecated", "superseded_by": NEW, "deprecated_at": "2026-06-01"}
    write_entry(folder / "memory", OLD, "Navigation uses two threads.\n", title="Use two threads", **ended)
    new = {"created_at": "2026-06-01", "supersedes": OLD, "reason": "Two were too few."}
    write_entry(folder / "memory", NEW, "Navigation uses four threads.\n", title="Use four threads", **new)


def superseding(folder: Path) -> Path:
    """Return a memory whose branch proposes, in a commit, to supersede a decision."""
    supersede(on_branch(folder))
    commit_all(folder, "four threads")
    return folder


def said(capsys: Capture, *arguments: str, cwd: Path) -> dict[str, Any]:
    """Return what a command prints as JSON."""
    ran = run_here(capsys, *arguments, "--format", "json", cwd=cwd)
    found: dict[str, Any] = json.loads(ran.out)
    return found


def standings(rows: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """Return address and standing of each row of an answer."""
    return [(row.get("address") or row["id"], row.get("standing")) for row in rows]


def test_everything_that_is_committed_on_the_default_branch_is_binding(folder: Path, capsys: Capture) -> None:
    items = said(capsys, "retrieve", cwd=folder)["items"]
    assert standings(items) == [(RULE, "binding"), (OLD, "binding")]
    assert "binding" not in run_here(capsys, "list", cwd=folder).out


@pytest.mark.parametrize("command", [["list"], ["search", "new"], ["show", "nav/rules/new"], ["retrieve", "new"]])
def test_new_entry_on_disk_is_uncommitted(command: list[str], folder: Path, capsys: Capture) -> None:
    write_entry(folder / "memory", "nav/rules/new", "Something new.\n")
    rows = next(value for name, value in said(capsys, *command, cwd=folder).items() if name in _ROWS)
    assert ("nav/rules/new", "uncommitted") in standings(rows)
    assert "uncommitted" in run_here(capsys, *command, cwd=folder).out
    git(folder, "add", "-A")
    assert "uncommitted" in run_here(capsys, *command, cwd=folder).out


_ROWS = ("entries", "hits", "items")


def test_proposal_names_its_author_and_commit(tmp_path: Path, capsys: Capture) -> None:
    folder = superseding(tmp_path)
    before = snapshot(folder)
    assert sorted(standings(said(capsys, "search", "threads", cwd=folder)["hits"])) == [
        (NEW, "proposed"),
        (OLD, "binding"),
    ]
    [entry] = said(capsys, "show", NEW, cwd=folder)["entries"]
    commit = git(folder, "rev-parse", "--short", "HEAD")
    assert (entry["standing"], entry["proposed_by"]) == ("proposed", {"author": "Ada", "commit": commit})
    assert f"(current, proposed by Ada in {commit}" in run_here(capsys, "show", NEW, cwd=folder).out
    assert snapshot(folder) == before


@pytest.mark.parametrize("is_committed", [True, False])
def test_supersession_leaves_the_old_entry_in_the_answer_until_it_is_merged(
    is_committed: bool, tmp_path: Path, capsys: Capture
) -> None:
    folder = superseding(tmp_path) if is_committed else on_branch(tmp_path)
    if not is_committed:
        supersede(folder)
    items = said(capsys, "retrieve", "threads", cwd=folder)["items"]
    kind = "proposed" if is_committed else "uncommitted"
    assert standings(items) == [(RULE, "binding"), (OLD, "binding"), (NEW, kind)]
    assert items[1]["status"] == "active"
    assert f"proposes to replace it by {NEW}" in items[1]["reason"]
    assert f"would supersede {OLD}" in items[2]["reason"]
    if is_committed:
        git(folder, "branch", "-f", "main")
        assert standings(said(capsys, "retrieve", "threads", cwd=folder)["items"]) == [
            (RULE, "binding"),
            (NEW, "binding"),
        ]


def test_changed_entry_answers_as_it_binds_and_its_other_version_is_proposed(tmp_path: Path, capsys: Capture) -> None:
    folder = on_branch(tmp_path)
    write_entry(folder / "memory", OLD, "Navigation uses eight threads.\n", title="Use eight threads")
    answer = said(capsys, "retrieve", "threads", cwd=folder)
    assert [(one["title"], one["standing"]) for one in answer["items"][1:]] == [("Use two threads", "binding")]
    assert [(one["title"], one["standing"]) for one in answer["proposed"]] == [("Use eight threads", "uncommitted")]
    assert "two threads" in answer["items"][1]["content"]
    assert "eight threads" in answer["proposed"][0]["content"]
    pack = said(capsys, "context", "threads", cwd=folder)
    items = [item["name"] for section in pack["sections"] for item in section["items"]]
    assert ("Use two threads" in items, "Use eight threads" in items) == (True, False)
    assert [(one["name"], one["standing"]) for one in pack["proposed"]] == [("Use eight threads", "uncommitted")]


def test_other_version_says_what_it_amends_and_claims_without_words_too(tmp_path: Path, capsys: Capture) -> None:
    folder = on_branch(tmp_path)
    for name in ("pool", "queue"):
        write_entry(folder / "memory", f"nav/architecture/{name}", f"There is a {name}.\n")
    commit_all(folder, "more")
    git(folder, "branch", "-f", "main")
    changed = {"amends": "nav/architecture/pool", "supersedes": "nav/architecture/queue"}
    write_entry(folder / "memory", OLD, "Navigation uses four threads.\n", title="Use four threads", **changed)
    commit_all(folder, "four threads")
    for words in ([], ["threads"]):
        [proposed] = said(capsys, "retrieve", *words, cwd=folder)["proposed"]
        relations = (proposed["address"], proposed.get("amends"), proposed.get("claims"))
        assert relations == (OLD, ["nav/architecture/pool"], ["nav/architecture/queue"]), words


def test_new_words_of_a_changed_entry_are_found(tmp_path: Path, capsys: Capture) -> None:
    folder = on_branch(tmp_path)
    write(folder, "memory/mdmem.toml", 'proposals = "show"\n')
    commit_all(folder)
    git(folder, "branch", "-f", "main")
    write_entry(folder / "memory", OLD, "Navigation uses a zebra.\n", title="Use a zebra")
    [hit] = said(capsys, "search", "zebra", cwd=folder)["hits"]
    assert (hit["address"], hit["standing"], hit["snippet"]) == (OLD, "uncommitted", "Navigation uses a zebra.")
    [hit] = said(capsys, "search", "threads", cwd=folder)["hits"]
    assert hit["snippet"] == "Navigation uses two threads. Rationale: it was measured."


def test_other_versions_stand_at_their_places_among_the_hits(tmp_path: Path, capsys: Capture) -> None:
    folder = on_branch(tmp_path)
    root = folder / "memory"
    for size in range(1, 5):
        write_entry(root, f"nav/a/e{size}", f"Lantern{' and other words here' * 4 * size}.\n", title=f"Of {size}")
    commit_all(folder, "lanterns")
    git(folder, "branch", "-f", "main", "HEAD")
    write_entry(root, "nav/a/e4", "Lantern.\n", title="Lantern of a zebra")
    write_entry(root, "nav/a/e1", f"Lantern{' and much more words here' * 30}.\n", title="Of 1")
    answer = said(capsys, "search", "lantern", "zebra", "unicorn", cwd=folder)
    assert [(hit["address"][-2:], hit["standing"]) for hit in answer["hits"]] == [
        ("e4", "uncommitted"),
        *((f"e{size}", "binding") for size in range(1, 5)),
        ("e1", "uncommitted"),
    ]
    assert answer["unmatched_terms"] == ["unicorn"]


@pytest.mark.parametrize("is_committed", [True, False])
def test_entry_that_a_branch_took_away_still_binds(is_committed: bool, tmp_path: Path, capsys: Capture) -> None:
    folder = on_branch(tmp_path)
    (folder / f"memory/{RULE}.md").unlink()
    if is_committed:
        commit_all(folder)
    [rule, _] = said(capsys, "retrieve", cwd=folder)["items"]
    assert (rule["address"], rule["standing"]) == (RULE, "binding")
    assert "not on the default branch" in rule["reason"]


def test_entry_that_cannot_be_parsed_on_disk_still_binds_and_is_a_problem(folder: Path, capsys: Capture) -> None:
    write(folder, f"memory/{RULE}.md", "no front matter\n")
    answer = said(capsys, "retrieve", cwd=folder)
    assert standings(answer["items"])[0] == (RULE, "binding")
    assert [one["path"] for one in answer["problems"]] == [f"{RULE}.md"]


@pytest.mark.parametrize("kind", ["proposed", "merged"])
def test_what_does_not_bind_yet_overrides_and_contradicts_nothing(kind: str, folder: Path, capsys: Capture) -> None:
    write(folder, "memory/shared/README.md", "---\nkind: shared\n---\n")
    write_entry(folder / "memory", "shared/rules/one", "One thread.\n", title="One thread")
    commit_all(folder)
    says = {"overrides": "shared/rules/one", "reason": "faster"}
    if kind == "proposed":
        git(folder, "checkout", "-q", "-b", "feature")
    else:
        says |= {**DRAFT, "conflicts_with": OLD, "amends": OLD}
    write_entry(folder / "memory", NEW, "Four.\n", **says)
    commit_all(folder)
    answer = said(capsys, "retrieve", cwd=folder)
    assert {("shared/rules/one", "binding"), (NEW, kind)} <= {*standings(answer["items"])}
    items = {item["address"]: item for item in answer["items"]}
    assert (items[NEW]["overrides"], answer["conflicts"], answer["omitted"]) == ([], [], [])
    assert "amended_by" not in items[OLD]


def test_proposed_amendment_stands_beside_what_it_would_amend(tmp_path: Path, capsys: Capture) -> None:
    folder = on_branch(tmp_path)
    write_entry(folder / "memory", OLD, "Two threads.\n", title="Use two threads", applies_to=["src/**"])
    commit_all(folder, "where it applies")
    git(folder, "branch", "-f", "main")
    text = f"Beside {OLD}, one for the map.\n"
    write_entry(folder / "memory", NEW, text, title="A third thread", amends=[OLD], created_at="2026-06-01")
    asked = ["retrieve", "--path", "src/nav.py"]
    said_of_it = f"  proposed amendment {NEW}: A third thread (2026-06-01): “{text.strip()}”\n"
    assert said_of_it in run_here(capsys, *asked, cwd=folder).out
    assert [one["address"] for one in said(capsys, *asked, cwd=folder)["items"]] == [RULE, OLD]
    write(folder, "memory/mdmem.toml", 'proposals = "hide"\n')
    commit_all(folder, "hide")
    git(folder, "branch", "-f", "main")
    write_entry(folder / "memory", NEW, text, title="A fourth thread", amends=[OLD], created_at="2026-06-01")
    assert "proposed amendment" not in run_here(capsys, *asked, cwd=folder).out


def test_manifest_that_a_branch_changed_takes_no_shared_rule_away(folder: Path, capsys: Capture) -> None:
    manifest = "---\nkind: project\nowners: [Ada]\nshared_wings: [{}]\n---\n"
    write(folder, "memory/nav/README.md", manifest.format("shared"))
    write(folder, "memory/shared/README.md", "---\nkind: shared\n---\n")
    write_entry(folder / "memory", "shared/rules/one", "One.\n", type="invariant")
    commit_all(folder)
    write(folder, "memory/nav/README.md", manifest.format(""))
    items = said(capsys, "retrieve", "nothing", cwd=folder)["items"]
    assert ("shared/rules/one", "binding") in standings(items)


def test_proposal_gives_way_to_what_binds_in_a_budget(folder: Path, capsys: Capture) -> None:
    write_entry(folder / "memory", "nav/rules/big", "A long rule. " * 200, type="invariant")
    answer = said(capsys, "retrieve", "--budget", "250", cwd=folder)
    forms = {item["address"]: item["form"] for item in answer["items"]}
    assert forms == {RULE: "full", "nav/rules/big": "summary", OLD: "full"}
    answer = said(capsys, "retrieve", "--budget", "50", cwd=folder)
    assert standings(answer["items"]) == [(RULE, "binding"), (OLD, "binding")]
    assert answer["omitted"] == [{"address": "nav/rules/big", "type": "invariant", "why": "proposed, over the budget"}]


def test_proposal_covers_nothing(folder: Path, capsys: Capture) -> None:
    write_entry(folder / "memory", NEW, "Zebras graze.\n")
    assert said(capsys, "retrieve", "zebras", cwd=folder)["covered"] is False
    told = "No binding rule is about this; one that is not approved (uncommitted) is."
    assert run_here(capsys, "retrieve", "zebras", cwd=folder).out.startswith(told)
    goal = run_here(capsys, "context", "zebras", cwd=folder).out
    assert "No binding rule is about this goal; one that is not approved (uncommitted) is." in goal
    commit_all(folder)
    assert said(capsys, "retrieve", "zebras", cwd=folder)["covered"] is True


def test_draft_on_the_default_branch_has_no_standing_and_covers_nothing(folder: Path, capsys: Capture) -> None:
    write_entry(folder / "memory", NEW, "Zebras graze.\n", status="draft")
    commit_all(folder)
    assert standings(said(capsys, "retrieve", cwd=folder)["proposed"]) == [(NEW, None)]
    told = "No binding rule is about this; one that is not approved (draft) is."
    assert run_here(capsys, "retrieve", "zebras", cwd=folder).out.startswith(told)
    # An uncommitted rule that covers less does not hide the draft.
    write_entry(folder / "memory", "nav/rules/cows", "Cows graze.\n")
    assert run_here(capsys, "retrieve", "zebras", "graze", cwd=folder).out.startswith(told)


def test_what_the_default_branch_changed_since_is_outdated_and_what_it_moved_is_not(
    tmp_path: Path, capsys: Capture
) -> None:
    folder = on_branch(tmp_path)
    git(folder, "checkout", "-q", "main")
    write_entry(folder / "memory", OLD, "Three.\n", title="Use three threads")
    write_entry(folder / "memory", "nav/rules/later", "Later.\n", type="invariant")
    commit_all(folder)
    git(folder, "checkout", "-q", "feature")
    items = said(capsys, "retrieve", cwd=folder)["items"]
    assert standings(items) == [(RULE, "binding"), (OLD, "outdated")]
    assert items[1]["standing_note"] == "`main` has changed it since"
    git(folder, "checkout", "-q", "-B", "main")
    git(folder, "mv", "memory/nav", "memory/course")
    commit_all(folder)
    git(folder, "checkout", "-q", "feature")
    assert standings(said(capsys, "retrieve", cwd=folder)["items"]) == [(RULE, "binding"), (OLD, "binding")]


def test_move_on_a_branch_is_marked_and_contradicts_nothing(folder: Path, capsys: Capture) -> None:
    supersede(folder)
    commit_all(folder)
    git(folder, "checkout", "-q", "-b", "feature")
    moved = NEW.replace("architecture", "motion")
    assert run_here(capsys, "mv", NEW, moved, "--commit", cwd=folder).code == 0
    answer = said(capsys, "retrieve", "four", cwd=folder)
    assert answer["conflicts"] == []
    assert standings(answer["items"])[1:] == [(NEW, "binding"), (moved, "proposed")]
    for command in (["retrieve", "four"], ["context", "four"], ["list"]):
        out = run_here(capsys, *command, cwd=folder).out
        assert "it is moved or deleted here, but not on the default branch" in out
        assert "Contradictions" not in out


@pytest.mark.parametrize(
    ("proposals", "shown"),
    [
        ("show", [(RULE, "binding"), (OLD, "binding"), (NEW, "proposed")]),
        ("hide", [(RULE, "binding"), (OLD, "binding")]),
        ("count", [(RULE, "binding"), (NEW, "proposed")]),
    ],
)
def test_setting_says_whether_proposals_count(
    proposals: str, shown: list[tuple[str, str]], tmp_path: Path, capsys: Capture
) -> None:
    memory(tmp_path)
    write(tmp_path, "memory/mdmem.toml", f'proposals = "{proposals}"\n')
    commit_all(tmp_path)
    git(tmp_path, "checkout", "-q", "-b", "feature")
    supersede(tmp_path)
    commit_all(tmp_path)
    for _ in ("as the default branch says", "though this branch says otherwise"):
        assert standings(said(capsys, "retrieve", cwd=tmp_path)["items"]) == shown
        assert sorted(standings(said(capsys, "list", cwd=tmp_path)["entries"])) == sorted(shown)
        write(tmp_path, "memory/mdmem.toml", 'proposals = "count"\n')


CLAIM = "nav/rules/claim"


@pytest.mark.parametrize(("agreed", "shown"), [("", [CLAIM, OLD]), ('[lineage]\none_sided = "fact"\n', [CLAIM])])
def test_branch_does_not_decide_that_a_claim_is_a_fact(
    agreed: str, shown: list[str], folder: Path, capsys: Capture
) -> None:
    write_entry(folder / "memory", CLAIM, "Navigation uses what it likes.\n", type="decision", supersedes=OLD)
    write(folder, "memory/mdmem.toml", agreed)
    commit_all(folder)
    git(folder, "checkout", "-q", "-b", "feature")
    write(folder, "memory/mdmem.toml", '[lineage]\none_sided = "fact"\n')
    for _ in ("on disk", "committed"):
        found = said(capsys, "retrieve", cwd=folder)["items"]
        assert [one["address"] for one in found if one["address"] in (OLD, CLAIM)] == shown
        commit_all(folder)


def test_bundle_and_context_pack_tell_the_standing(tmp_path: Path, capsys: Capture) -> None:
    folder = superseding(tmp_path)
    bundle = retrieve_context(open_root(folder / "memory"), BundleRequest(project_id="nav"))
    assert standings(bundle["items"]) == [(RULE, "binding"), (OLD, "binding"), (NEW, "proposed")]
    pack = said(capsys, "context", "threads", cwd=folder)
    items = [item for section in pack["sections"] for item in section["items"]]
    assert sorted(standings(items)) == [(NEW, "proposed"), (OLD, "binding"), (RULE, "binding")]
    assert "proposed by Ada in" in pack["markdown"]


def test_detached_head_worktree_and_shallow_clone_compare_with_the_default_branch(
    tmp_path: Path, capsys: Capture
) -> None:
    folder = superseding(tmp_path / "main")
    expected = [(RULE, "binding"), (OLD, "binding"), (NEW, "proposed")]
    git(folder, "worktree", "add", "-q", "--detach", str(tmp_path / "other"))
    assert standings(said(capsys, "retrieve", cwd=tmp_path / "other")["items"]) == expected
    git(folder, "checkout", "-q", "--detach")
    assert standings(said(capsys, "retrieve", cwd=folder)["items"]) == expected
    git(folder, "checkout", "-q", "main")
    cut = ("--depth", "1", "--no-single-branch", "-b", "feature")
    git(tmp_path, "clone", "-q", *cut, f"file://{folder}", str(tmp_path / "clone"))
    assert standings(said(capsys, "retrieve", cwd=tmp_path / "clone")["items"]) == expected


def test_without_a_known_default_branch_nothing_is_said(folder: Path, capsys: Capture) -> None:
    git(folder, "branch", "-q", "-m", "main", "develop")
    git(folder, "branch", "other")
    assert standings(said(capsys, "retrieve", cwd=folder)["items"]) == [(RULE, None), (OLD, None)]


def test_other_line_ends_on_disk_are_no_change(folder: Path, capsys: Capture) -> None:
    write(folder, ".gitattributes", "*.md text eol=crlf\n")
    commit_all(folder)
    for path in (folder / "memory").rglob("*.md"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    git(folder, "add", "--renormalize", ".")
    assert standings(said(capsys, "retrieve", cwd=folder)["items"]) == [(RULE, "binding"), (OLD, "binding")]


def test_files_beside_a_memory_at_the_top_are_no_entries(folder: Path, capsys: Capture) -> None:
    git(folder, "mv", "memory/nav", "memory/mdmem.toml", ".")
    write(folder, "docs/guide/intro.md", "Prose.\n")
    write(folder, "docs/README.md", "Prose.\n")
    commit_all(folder)
    git(folder, "checkout", "-q", "-b", "feature")
    supersede_at = {"status": "deprecated"}
    write_entry(folder, OLD, **supersede_at)
    answer = said(capsys, "retrieve", cwd=folder)
    assert (standings(answer["items"]), answer["problems"]) == ([(RULE, "binding"), (OLD, "binding")], [])


def test_revision_of_the_history_was_binding_and_one_of_a_branch_is_proposed(tmp_path: Path, capsys: Capture) -> None:
    folder = superseding(tmp_path)
    git(folder, "checkout", "-q", "main")
    write_entry(folder / "memory", RULE, "Changed.\n", type="invariant")
    commit_all(folder)
    at = said(capsys, "retrieve", "--at", "main~1", cwd=folder)["items"]
    assert standings(at) == [(RULE, "binding"), (OLD, "binding")]
    assert (NEW, "proposed") in standings(said(capsys, "retrieve", "--at", "feature", cwd=folder)["items"])


PATTERN = "nav/conventions/pins"
DRAFT = {"status": "draft", "agent": "robot", "title": "Use four threads", "created_at": "2026-06-01"}


def merged(folder: Path, **fields: object) -> Path:
    """Return a memory in whose default branch an agent's draft is to supersede a decision."""
    memory(folder)
    write_entry(folder / "memory", PATTERN, "Pin threads.\n", type="pattern", title="Pin threads")
    changes = {"supersedes": OLD, "reason": "Two were too few.", **fields}
    write_entry(folder / "memory", NEW, "Navigation uses four threads.\n", **DRAFT, **changes)
    commit_all(folder, "a draft")
    return folder


def test_merged_decision_comes_before_patterns_is_marked_everywhere_and_counted(
    tmp_path: Path, capsys: Capture
) -> None:
    folder = merged(tmp_path)
    answer = said(capsys, "retrieve", "threads", cwd=folder)
    after = [(RULE, "binding"), (OLD, "binding"), (NEW, "merged"), (PATTERN, "binding")]
    assert (standings(answer["items"]), answer["proposed"]) == (after, [])
    printed = run_here(capsys, "retrieve", "threads", cwd=folder).out
    assert f"{NEW}: Use four threads (a draft: merged, not approved; would supersede {OLD})\n" in printed
    pack = said(capsys, "context", "use threads", cwd=folder)
    decisions = next(one["items"] for one in pack["sections"] if one["facet"] == "decisions")
    assert (standings(decisions), pack["proposed"]) == ([(OLD, "binding"), (NEW, "merged")], [])
    assert (NEW, "merged") in standings(said(capsys, "list", cwd=folder)["entries"])
    assert "Use four threads (merged, not approved)\n" in run_here(capsys, "list", cwd=folder).out
    assert NEW not in run_here(capsys, "list", "--status", "active", cwd=folder).out
    assert f"{NEW} (draft, merged, not approved)\n" in run_here(capsys, "show", NEW, cwd=folder).out
    assert said(capsys, "status", cwd=folder)["merged"] == [NEW]
    line = "merged   1 decision of agents, not approved; `mdmem approve --merged --dry-run` shows"
    assert line in run_here(capsys, "status", cwd=folder).out


def test_merged_decision_covers_nothing(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path, applies_to=["src/**"])
    answer = said(capsys, "retrieve", "four", "--path", "src/nav.py", cwd=folder)
    assert ((NEW, "merged") in standings(answer["items"]), answer["coverage"]) == (True, "none")
    printed = run_here(capsys, "retrieve", "--path", "src/nav.py", cwd=folder).out
    assert "one that is not approved (merged) is" in printed


def test_draft_on_a_branch_stays_a_proposal_until_it_is_merged(folder: Path, capsys: Capture) -> None:
    git(folder, "checkout", "-q", "-b", "feature")
    write_entry(folder / "memory", NEW, "Four.\n", **DRAFT)
    assert standings(said(capsys, "retrieve", cwd=folder)["proposed"]) == [(NEW, "uncommitted")]
    commit_all(folder)
    assert standings(said(capsys, "retrieve", cwd=folder)["proposed"]) == [(NEW, "proposed")]
    git(folder, "branch", "-f", "main")
    answer = said(capsys, "retrieve", cwd=folder)
    assert ((NEW, "merged") in standings(answer["items"]), answer["proposed"]) == (True, [])


@pytest.mark.parametrize("fields", [{"agent": None}, {"type": "invariant"}, {"superseded_by": OLD}])
def test_only_an_agents_decision_that_nothing_replaced_is_listed_so(
    fields: dict[str, str | None], folder: Path, capsys: Capture
) -> None:
    stated = {name: value for name, value in {**DRAFT, **fields}.items() if value is not None}
    write_entry(folder / "memory", NEW, "Four.\n", **stated)
    commit_all(folder)
    assert standings(said(capsys, "retrieve", cwd=folder)["items"]) == [(RULE, "binding"), (OLD, "binding")]


def test_approve_merged_is_one_commit_that_passes_the_check(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path)
    write_entry(folder / "memory", "nav/rules/log", "Log.\n", **{**DRAFT, "title": "Log"})
    write_entry(folder / "memory", "nav/rules/mine", "Mine.\n", status="draft")
    commit_all(folder, "another")
    before = snapshot(folder)
    for names, is_all in ((["nav/rules/"], False), ([], True)):
        listed = run_here(capsys, "approve", "--merged", *names, "--dry-run", cwd=folder)
        assert (listed.code, "nav/rules/log.md" in listed.out, f"{NEW}.md" in listed.out) == (0, True, is_all)
    assert snapshot(folder) == before
    approved = run_here(capsys, "approve", "--merged", "--commit", "--format", "json", cwd=folder)
    changed = [one["address"] for one in json.loads(approved.out)["changed"]]
    assert sorted(changed) == [NEW, OLD, "nav/rules/log"]
    assert git(folder, "log", "--format=%s", "main~1..main").splitlines() == ["Approve 2 entries"]
    assert said(capsys, "status", cwd=folder)["merged"] == []
    assert run_here(capsys, "check", "--base", "main~1", cwd=folder).code == 0


def test_approve_merged_ends_a_draft_that_another_of_them_supersedes(tmp_path: Path, capsys: Capture) -> None:
    folder = merged(tmp_path)
    later = {**DRAFT, "title": "Use a pool", "supersedes": NEW, "reason": "Four were too many."}
    write_entry(folder / "memory", "nav/architecture/pool", "A pool.\n", **later)
    commit_all(folder, "a pool")
    assert run_here(capsys, "approve", "--merged", "--commit", cwd=folder).code == 0
    found = said(capsys, "show", NEW, "nav/architecture/pool", cwd=folder)["entries"]
    assert [one["front_matter"]["status"] for one in found] == ["deprecated", "active"]
    assert run_here(capsys, "check", cwd=folder).code == 0


def test_approve_merged_without_any_is_a_usage_error(folder: Path, capsys: Capture) -> None:
    ran = run_here(capsys, "approve", "--merged", cwd=folder)
    said_of_it = "mdmem: no merged decision of an agent lacks approval here\n"
    assert (ran.code, ran.err) == (2, said_of_it)
    assert run_here(capsys, "approve", cwd=folder).code == 2
