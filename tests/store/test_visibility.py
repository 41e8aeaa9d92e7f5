"""Test the limits of access: a caller gets the same answers whether a hidden wing exists or not."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, make_root, open_root, write, write_entry
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from write.agents import Agent

from mdmem.ask.answer import Question
from mdmem.ask.context import ContextRequest, compile_context
from mdmem.ask.retrieve import retrieve
from mdmem.ask.search import in_full, list_entries, search, show, snippets
from mdmem.change.history import LogReport, log, why
from mdmem.change.hygiene import hygiene_fields, run
from mdmem.change.status import refresh_index, report_status
from mdmem.checks.run import CheckRequest, check
from mdmem.errors import MdmemError, NotFoundError, SettingsError
from mdmem.model.access import Access, AccessDeniedError
from mdmem.render import findings
from mdmem.render.answers import answer_json
from mdmem.render.entries import entries_json, search_json
from mdmem.render.history import why_json
from mdmem.render.text import Style, dump
from mdmem.render.upkeep import status_json
from mdmem.store.index.fulltext import FullTextIndex
from mdmem.store.workspace.scope import Filters
from mdmem.store.workspace.workspace import Workspace, is_hygiene_due
from mdmem.write import write as writing
from mdmem.write.create import plan_entry
from mdmem.write.lifecycle import plan_review
from mdmem.write.write import WriteOptions

EVERYTHING = Filters(include_deprecated=True, include_drafts=True, all_wings=True)


def seen_by(workspace: Workspace, access: Access) -> Workspace:
    """Return the workspace of a caller, with an index that is never written to disk."""
    return replace(workspace.reread(), access=access).with_index(FullTextIndex(None))


def everything_seen(workspace: Workspace, *words: str) -> str:
    """Return all that the verbs answer, errors for wrong names included; words are what is asked for."""
    return "\n".join(_answers(workspace, words))


def _answers(workspace: Workspace, words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        asked = (Question(words=word, filters=filters) for filters in (Filters(), EVERYTHING))
        for question in asked:
            yield _said(lambda question=question: _searched(workspace, question))
            yield _said(lambda question=question: _packed(workspace, question, budget=100))
            yield _said(lambda question=question: _packed(workspace, question))
        yield _said(lambda word=word: str(list_entries(workspace, Filters(wings=(word,)))))
        yield _said(lambda word=word: str(list_entries(workspace, Filters(rooms=(word,)))))
        yield _said(lambda word=word: str(show(workspace, [word])))
        yield _said(lambda word=word: str(check(workspace, CheckRequest(paths=(word,)))))
        yield _said(lambda word=word: dump(hygiene_fields(run(workspace, word))))
    yield str(list_entries(workspace, EVERYTHING))
    addresses = tuple(workspace.catalog.entries)
    yield dump(entries_json(in_full(workspace, list(workspace.catalog.entries.values()))))
    yield from (dump(why_json(why(workspace, address))) for address in addresses)
    yield _said(lambda: _checked(workspace))
    yield dump(hygiene_fields(run(workspace)))
    yield _said(lambda: dump(status_json(report_status(workspace))))


def _packed(workspace: Workspace, question: Question, *, budget: int | None = None) -> str:
    return dump(answer_json(retrieve(workspace, question, budget=budget).all[0]))


def _searched(workspace: Workspace, question: Question) -> str:
    result = search(workspace, question)
    return dump(search_json(result, snippets(workspace, result, 50)))


def _checked(workspace: Workspace) -> str:
    report = check(workspace, CheckRequest())
    checked = [findings.CheckedRoot(report, "", workspace.line_of, lambda path: path)]
    return findings.json(checked, Style()) + findings.text(checked, Style())


def _said(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except MdmemError as error:
        return f"{type(error).__name__}: {error}"


APP = Access.to_wings(["app"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root with the wings `app` and `vault`, each with one entry."""
    root = make_root(make_repository(tmp_path) / "memory")
    write(root, "app/README.md", "---\nkind: project\nowners: [Ada]\n---\n\n# app\n")
    write(root, "vault/README.md", "---\nkind: project\nowners: [Ada]\nproject_id: obsidian\n---\n\n# vault\n")
    write_entry(
        root, "app/rules/granite", "Granite holds.\n\nRationale: it was weighed.\n", type="invariant", title="Granite"
    )
    write_entry(root, "vault/rules/onyx", "Onyx holds, as granite does.\n\nRationale: it was weighed.\n", title="Onyx")
    return root


def test_nobody_sees_nothing_but_the_settings(root: Path) -> None:
    workspace = seen_by(open_root(root), Access.to_wings([]))
    assert [file.path for file in workspace.tree.files()] == ["mdmem.toml"]


def test_shown_entry_has_no_link_to_an_unseen_wing_and_its_file_keeps_them(root: Path) -> None:
    body = (
        "Granite [see: vault/rules/onyx] and [see: app/rules/slate, vault/rules/onyx].\n"
        "[[vault/rules/onyx]] [[vault/rules/onyx|the rule]] [the file](../../vault/rules/onyx.md).\n"
        "![a picture](../../vault/rules/onyx.png) [docs](../../../docs/granite.md) `[[vault/rules/onyx]]`\n\n"
        "[one]: ../../vault/rules/onyx.md\n"
    )
    relations = "[{type: READS, to: vault/rules/onyx}, {type: READS, to: app/rules/slate}]"
    file = write_entry(
        root,
        "app/rules/marble",
        body,
        type="note",
        label="entity",
        see=["vault/rules/onyx", "app/rules/slate"],
        supersedes="vault/rules/onyx",
        relations=relations,
    )
    before = file.read_bytes()
    workspace = seen_by(open_root(root), APP)
    (shown,) = show(workspace, ["app/rules/marble"])
    assert shown.front_matter["see"] == ["app/rules/slate"]
    assert "supersedes" not in shown.front_matter
    assert shown.front_matter["relations"] == [{"type": "READS", "to": "app/rules/slate"}]
    assert shown.entry.see == ("app/rules/slate",)
    assert shown.entry.supersedes == ()
    assert [one.to for one in shown.entry.relations] == ["app/rules/slate"]
    assert shown.body.strip("\n") == (
        "Granite  and [see: app/rules/slate].\n the rule the file.\n"
        "a picture [docs](../../../docs/granite.md) `[[vault/rules/onyx]]`"
    )
    assert workspace.catalog.body("app/rules/marble") == shown.body
    assert file.read_bytes() == before


def test_relation_that_is_not_shown_survives_an_update_of_its_entity(root: Path) -> None:
    relations = "[{type: READS, to: vault/rules/onyx}]"
    file = write_entry(
        root, "app/entities/slate", "Slate.\n", type="note", label="entity", entity="Slate", relations=relations
    )
    saves = Agent(seen_by(open_root(root), APP))
    related = [{"entity_id": "app/rules/granite", "relationship_type": "WRITES", "properties": {}}]
    entity = {"entity_name": "Slate", "fact": "Slate splits.", "scope": "project"}
    assert saves.upsert_entity_with_deps(entity, related, "app").status == "saved"
    assert "vault/rules/onyx" in file.read_text()
    assert "app/rules/granite" in file.read_text()


@pytest.mark.parametrize("name", ["/etc/passwd", "../README.md", "a\0.md", "x" * 5000, "x" * 5000 + ".md"])
def test_name_of_a_file_elsewhere_does_not_tell_whether_it_is_there(root: Path, tmp_path: Path, name: str) -> None:
    write(tmp_path, "README.md")
    for workspace in (seen_by(open_root(root), APP), *([open_root(root)] if name != "../README.md" else [])):
        with pytest.raises(NotFoundError, match=r"^there is no entry "):
            show(workspace, [name])


def test_check_finds_nothing_wrong_with_links_into_unseen_wings(root: Path) -> None:
    body = "Gone.\n\nRationale: it is. [see: vault/rules/nothing] [x](../../vault/rules/nothing.md)\n"
    ended = {"status": "deprecated", "deprecated_at": "2026-06-01"}
    write_entry(
        root,
        "app/rules/gone",
        body,
        superseded_by=["vault/rules/nothing"],
        see=["vault/rules/onyx"],
        title="Gone",
        **ended,
    )
    everybody = {one.code for one in check(open_root(root), CheckRequest()).findings}
    assert {"dangling-link", "body-link-broken", "cross-wing-link-undeclared"} <= everybody
    assert [one.code for one in check(seen_by(open_root(root), APP), CheckRequest()).findings] == []


def test_check_still_finds_what_is_wrong_in_the_wing(root: Path) -> None:
    write_entry(root, "app/rules/gone", title="Gone", see=["app/rules/granit", "vault/rules/onyx"])
    (found,) = check(seen_by(open_root(root), APP), CheckRequest()).findings
    assert (found.code, found.help) == ("dangling-link", "write `app/rules/granite`, or remove the link")


def test_history_tells_nothing_of_what_a_commit_did_elsewhere(root: Path, tmp_path: Path) -> None:
    commit_all(tmp_path, "granite and onyx at once")
    write_entry(root, "app/rules/granite", "Granite holds.\n\nRationale: it was measured.\n", type="invariant")
    commit_all(tmp_path, "granite alone")
    (link,) = why(seen_by(open_root(root), APP), "app/rules/granite").chain
    assert [commit.subject for commit in link.commits] == ["", ""]
    (whole,) = why(open_root(root), "app/rules/granite").chain
    assert [commit.subject for commit in whole.commits] == ["granite alone", "granite and onyx at once"]


def test_entry_that_moved_out_of_sight_is_gone(root: Path, tmp_path: Path) -> None:
    write_entry(root, "app/rules/slate", see=["app/rules/granite"])
    commit_all(tmp_path, "one")
    git(tmp_path, "mv", "memory/app/rules/granite.md", "memory/vault/rules/granite.md")
    commit_all(tmp_path, "two")
    (found,) = check(seen_by(open_root(root), APP), CheckRequest(select=("dangling-link",))).findings
    assert "vault" not in f"{found.message} {found.help}"
    assert "was deleted in commit" in found.message


def test_index_of_everybody_answers_a_caller_and_is_not_narrowed_by_them(root: Path, tmp_path: Path) -> None:
    index = FullTextIndex(tmp_path / "index")
    whole = open_root(root).with_index(index)
    assert next(hit.entry.address for hit in search(whole, Question(words="granite")).hits) == "app/rules/granite"
    seen = seen_by(whole, APP)
    scanned = search(seen, Question(words="granite weighed"))
    seen = seen.with_index(index)
    asked = search(seen, Question(words="granite weighed"))
    ranked, expected = ([(hit.entry.address, hit.score) for hit in one.hits] for one in (asked, scanned))
    assert ranked == expected
    assert index.state(live=whole.catalog.digests).documents == 2
    said = status_json(report_status(seen))["index"]
    assert (said["documents"], said["stale"], said["gone"], said["bytes"]) == (1, 0, 0, 0)
    assert refresh_index(seen).total == 2


def test_caller_of_a_part_has_the_index_of_the_whole_built(root: Path, tmp_path: Path) -> None:
    index = FullTextIndex(tmp_path / "index")
    seen = seen_by(open_root(root), APP).with_index(index)
    assert [hit.entry.address for hit in search(seen, Question(words="granite")).hits] == ["app/rules/granite"]
    assert index.state(live=open_root(root).catalog.digests).documents == 2


def _decision(title: str, scope: str = "project") -> dict[str, object]:
    said = {"title": title, "rationale": "it was weighed", "owner": "Ada", "date": "2026-03-05"}
    return {**said, "scope": scope, "supersedes": None, "confidence": 0.9}


@pytest.mark.parametrize("project", ["vault", "obsidian", "VAULT", "nowhere", "a/b", "!"])
def test_saving_elsewhere_is_denied_whatever_is_there(root: Path, project: str) -> None:
    saves = Agent(seen_by(open_root(root), APP))
    denied = f"Project access denied: {project}"
    assert saves.save_decision(_decision("Use UTC"), project).message == denied
    session = {"objective": "o", "actions_taken": [], "decisions_made": [], "open_items": [], "next_actions": []}
    assert saves.save_session({**session, "save_scope": "project"}, project).message == denied


def test_saving_for_all_is_denied_to_who_may_not_write_the_shared_wing(root: Path) -> None:
    write(root, "shared/README.md", "---\nkind: shared\n---\n")
    saves = Agent(seen_by(open_root(root), APP))
    assert saves.save_decision(_decision("Use UTC", "global"), "app").message == "Project access denied: global"


def test_verb_that_would_write_an_unwritable_wing_is_denied(root: Path) -> None:
    workspace = seen_by(open_root(root), Access.to_wings(["app"], may_write=False))
    text = (root / "app/rules/granite.md").read_text()
    with pytest.raises(AccessDeniedError, match=r"^Project access denied: app$"):
        writing.write(workspace, lambda one: plan_entry(one, "app/rules/slate", text), WriteOptions())
    with pytest.raises(AccessDeniedError, match=r"^Project access denied: vault$"):
        writing.write(workspace, lambda one: plan_entry(one, "vault/rules/onyx", text), WriteOptions())
    with pytest.raises(AccessDeniedError):
        writing.write(
            workspace, lambda one: plan_review(one, "app/rules/granite", reason="it is doubted"), WriteOptions()
        )


def test_writes_that_wait_for_others_are_not_tried_nor_counted(root: Path) -> None:
    now = datetime(2026, 11, 21, tzinfo=UTC)
    whole = Agent(open_root(root), now=lambda: now, wait=0.0)
    from mdmem.store.state.files import write_lock

    with write_lock(open_root(root).state_folder / "saving"):
        assert whole.save_decision(_decision("Use onyx"), "vault").status == "pending_retry"
    seen = Agent(seen_by(open_root(root), APP), now=lambda: now)
    assert seen.save_decision(_decision("Use granite"), "app").status == "saved"
    for project in (None, "vault", "obsidian"):
        assert seen.get_save_status(project)["artifact_ids"] == []
    status = status_json(report_status(seen_by(open_root(root), APP)))
    assert not any("wait" in remark for remark in status["remarks"])
    assert len(whole.get_save_status(None)["artifact_ids"]) == 1


def test_settings_of_unseen_wings_are_no_matter_of_the_caller(root: Path) -> None:
    write(root, "mdmem.toml", 'default_wing = "obsidian"\nbudget = 77\n[wings.vault.check]\nselect = "no list"\n')
    workspace = seen_by(open_root(root), APP)
    assert (workspace.settings.default_wing, workspace.settings.budget) == (None, 77)
    with pytest.raises(SettingsError, match="vault"):
        _ = open_root(root).settings
    write(root, "mdmem.toml", 'default_wing = "app"\nbudgte = 77\n')
    with pytest.raises(SettingsError, match="budgte"):
        _ = seen_by(open_root(root), APP).settings


def test_repository_around_is_not_read_for_who_sees_a_part(root: Path, tmp_path: Path) -> None:
    write(tmp_path, "README.md", "The vault has onyx.\n")
    for path in root.glob("app/rules/*.md"):
        path.write_text("no front matter\n")
    (root / "vault/rules/onyx.md").write_text("no front matter\n")
    asked = Question(words="onyx")
    assert retrieve(seen_by(open_root(root), APP), asked).all[0].basis.fallback == ()
    assert compile_context(seen_by(open_root(root), APP), ContextRequest(goal="onyx"))["fallback"] == []


def test_baseline_of_unseen_wings_is_not_told(root: Path) -> None:
    write(root, "mdmem.toml", '[check]\nbaseline = ".known.json"\n')
    record = '{"code": "body-empty", "address": "vault/rules/gone", "count": 1}'
    write(root, ".known.json", f'{{"schema": 1, "findings": [\n{record}\n]}}\n')
    assert [one.code for one in check(open_root(root), CheckRequest()).findings] == ["unused-suppression"]
    assert check(seen_by(open_root(root), APP), CheckRequest()).findings == ()


def test_hygiene_of_a_part_is_not_recorded_for_the_whole(root: Path) -> None:
    run(seen_by(open_root(root), APP))
    whole: Workspace = open_root(root)
    assert (is_hygiene_due(whole, "app"), is_hygiene_due(whole, "vault")) == (False, True)


TEXT = "Onyx shines.\n\nRationale: it was weighed.\n"


def told(top: Path, address: str) -> LogReport:
    return log(replace(open_root(top / "memory"), access=Access.to_wings(["nav"])), address)


def test_history_of_an_entry_begins_where_it_came_from_a_hidden_wing(folder: Path) -> None:
    top, root = folder, folder / "memory"
    write_entry(root, "vault/rules/onyx", TEXT)
    commit_all(top, "begin")
    (root / "vault/rules/onyx.md").rename(root / "nav/rules/onyx.md")
    commit_all(top, "Move vault/rules/onyx to nav/rules/onyx")
    write_entry(root, "nav/rules/onyx", TEXT.replace("shines", "glows"))
    commit_all(top, "Polish it")
    found = told(top, "nav/rules/onyx")
    assert [step.change.subject for step in found.steps] == ["", ""]
    assert "vault" not in repr(found)


def test_entry_that_went_to_a_hidden_wing_is_deleted_in_its_history(folder: Path) -> None:
    top, root = folder, folder / "memory"
    write_entry(root, "nav/rules/granite", TEXT)
    commit_all(top, "begin")
    (root / "vault/rules").mkdir(parents=True)
    (root / "nav/rules/granite.md").rename(root / "vault/rules/granite.md")
    commit_all(top, "Move nav/rules/granite to vault/rules/granite")
    found = told(top, "nav/rules/granite")
    assert (found.steps[0].change.subject, tuple(found.steps[0].lines)) == ("", ("deleted",))
    assert "vault" not in repr(found)


OWN = [f"app/{room}/{name}" for room in ("rules", "notes") for name in ("alpha", "beta", "gamma")]
COMMON = ["common/rules/alpha", "common/rules/delta"]
VAULT = ["vault/rules/alpha", "vault/rules/zanzibar", "vault/quagga/beta"]
GONE = ["vault/rules/nothing-there", "nowhere/rules/alpha", "app/rules/gone"]
FIELDS = ("supersedes", "superseded_by", "overrides", "conflicts_with", "see", "produced")
SETTINGS = (
    "",
    'default_wing = "vault"\n',
    'default_wing = "app"\n[wings.vault.check]\nignore = ["body-empty"]\n',
    'default_wing = "obsidian"\n[wings.vault.check]\nseverity = {body-empty = "no"}\n',
)
ONLY_VAULT = ("vault", "zanzibar", "quagga", "obsidian", "nothing-there", "nowhere")


def _written(address: str) -> list[str]:
    wing, room, name = address.split("/")
    short = [f"{room}/{name}", name] if wing in ("app", "common") else []
    return [address, address, f"{address}.md", f"../../{address}.md", *short]


_ADDRESSES = (*OWN, *COMMON, *VAULT, *VAULT, *GONE)
_LINKS = st.sampled_from([one for address in _ADDRESSES for one in _written(address)])
_FORMS = ("[see: {0}]", "[[{0}]]", "[[{0}|the other]]", "[the other](../../{0}.md)", "![one](../../{0}.md)")
_REFERENCES = st.builds(str.format, st.sampled_from(_FORMS), st.sampled_from(_ADDRESSES))


@st.composite
def _entries(draw: st.DrawFn, word: str) -> tuple[str, dict[str, object]]:
    fields: dict[str, object] = {
        "type": draw(st.sampled_from(["invariant", "decision", "pattern", "note"])),
        "status": draw(st.sampled_from(["active", "active", "draft", "under_review", "deprecated"])),
        "created_at": draw(st.sampled_from(["2026-03-05", "2025-01-02", "2026-11-01"])),
    }
    for name in draw(st.lists(st.sampled_from(FIELDS), max_size=3, unique=True)):
        fields[name] = draw(st.lists(_LINKS, min_size=1, max_size=3))
    if draw(st.booleans()):
        fields["deprecated_at"] = "2026-06-01"
    if draw(st.booleans()):
        fields["reason"] = "it was measured"
    said = draw(st.lists(st.one_of(_REFERENCES, st.sampled_from(["It holds.", "A queue.", word])), max_size=4))
    return "\n\n".join(said) + "\n", fields


@st.composite
def _roots(draw: st.DrawFn) -> dict[str, str | tuple[str, dict[str, object]]]:
    files: dict[str, str | tuple[str, dict[str, object]]] = {}
    for address in (*OWN, *COMMON, *VAULT):
        if draw(st.integers(0, 3)):
            files[address] = draw(_entries("obsidian" if address in VAULT else "granite"))
    if draw(st.booleans()):
        files["vault/rules/broken.md"] = "---\ntype: [\n---\n"
    shared = draw(st.sampled_from(["", "shared_wings: [vault]\n", "shared_wings: [common, vault]\n"]))
    files["app/README.md"] = f"---\nkind: project\n{shared}---\n\n# app\n"
    files["common/README.md"] = "---\nkind: shared\n---\n\n# common\n"
    kind = draw(st.sampled_from(["shared", "project"]))
    files["vault/README.md"] = f"---\nkind: {kind}\nproject_id: obsidian\n---\n\n# vault\n"
    files["mdmem.toml"] = draw(st.sampled_from(SETTINGS))
    return files


def _make(folder: Path, files: dict[str, str | tuple[str, dict[str, object]]]) -> Path:
    root = make_root(folder)
    for path, content in files.items():
        if isinstance(content, str):
            write(root, path, content)
        else:
            write_entry(root, path, content[0], **content[1])
    return root


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(_roots(), st.sampled_from([("app",), ("app", "common")]))
def test_answers_are_the_same_whether_a_wing_is_there_or_not(
    files: dict[str, str | tuple[str, dict[str, object]]], wings: tuple[str, ...]
) -> None:
    words = ("granite obsidian", "vault", "valut", "zanzibar", "rules", "app", "vault/rules/alpha", "vault/")
    access = Access.to_wings(wings)
    with tempfile.TemporaryDirectory() as folder:
        root = _make(Path(folder) / "memory", files)
        with_it = everything_seen(seen_by(open_root(root), access), *words)
        unasked = everything_seen(seen_by(open_root(root), access), "granite")
        shutil.rmtree(root / "vault")
        shutil.rmtree(root / "common") if "common" not in wings else None
        assert everything_seen(seen_by(open_root(root), access), *words) == with_it
    assert [word for word in ONLY_VAULT if word in unasked] == []
