"""Test the parts of a bundle other than its items: states, doubts, failures, and the shape of the contract."""

from datetime import date
from pathlib import Path

import pytest
from builders import make_repository, open_root, write

from ask.builders import bundle, ids, item, make_wings, put
from mdmem.errors import GoneError
from mdmem.store.catalog.model import Catalog
from mdmem.store.state.local_records import record_hygiene


def test_an_item_has_the_shape_of_the_contract(root: Path) -> None:
    body = "Contents are hashed.\n\nRationale: it is fast.\n"
    put(root, "app/architecture/dedup", "Use SHA-256 for dedup", body, created_at="2026-04-08T10:00:00Z")
    assert item(bundle(root), "app/architecture/dedup") == {
        "id": "app/architecture/dedup",
        "label": "Decision",
        "title": "Use SHA-256 for dedup",
        "rationale": "it is fast.",
        "scope": "project",
        "created_at": "2026-04-08T10:00:00+00:00",
        "type": "decision",
        "status": "active",
        "reason": "in scope",
        "content": "Contents are hashed.",
    }


@pytest.mark.parametrize(
    ("body", "rationale", "content"),
    [
        ("We do it.\n", "We do it.", None),
        ("We do it.\n\n## Rationale\n\nWhy.\n\n## More\n\nRest.\n", "Why.", "We do it.\n\n## More\n\nRest."),
        ("Rationale: only this.\n", "only this.", None),
        ("We do it.\n\n```\nRationale: an example\n```\n", "We do it.\n\n```\nRationale: an example\n```", None),
        ("We do it.\n\nRationale: see\n\n```\ncode\n```\n", "see\n\n```\ncode\n```", "We do it."),
    ],
)
def test_rationale_and_content_are_all_an_entry_says(
    root: Path, body: str, rationale: str, content: str | None
) -> None:
    put(root, "app/r/one", "One", body)
    told = item(bundle(root), "app/r/one")
    assert (told["rationale"], told.get("content")) == (rationale, content)


def test_a_pattern_says_its_trigger_and_steps_as_content(root: Path) -> None:
    put(root, "app/r/p", "P", "", type="pattern", trigger="a long task", repeatable_steps=["start", "wait"])
    assert item(bundle(root), "app/r/p")["content"] == "When: a long task\n\n1. start\n2. wait"


@pytest.mark.parametrize(
    ("fields", "uncertainty"),
    [
        ({"status": "under_review"}, "under review: confirm before relying on it"),
        (
            {"status": "under_review", "x-review-reason": '"the feed\\n\\nchanged"'},
            "under review (the feed changed): confirm before relying on it",
        ),
        ({"expires_at": "2026-11-20"}, "expired on 2026-11-20: confirm before relying on it"),
        ({"expires_at": "2026-11-21"}, None),
    ],
)
def test_uncertainty_is_stated(root: Path, fields: dict[str, str], uncertainty: str | None) -> None:
    put(root, "app/r/one", "One", **fields)
    told = item(bundle(root), "app/r/one")
    assert (told["status"], told.get("uncertainty")) == ("under_review" if uncertainty else "active", uncertainty)


def test_an_item_names_claims_and_amendments_and_its_claimant_comes_first(root: Path) -> None:
    put(root, "app/r/a", "Queue", created_at="2026-05-01")
    put(root, "app/r/new", "Replaced", supersedes=["app/r/a"], created_at="2026-04-01")
    put(root, "app/r/part", "Exception", amends=["app/r/a"], created_at="2026-03-01")
    told = bundle(root)
    assert ids(told["items"]) == ["app/r/new", "app/r/a", "app/r/part"]
    assert (item(told, "app/r/a")["claimed_by"], item(told, "app/r/a")["amended_by"]) == (["app/r/new"], ["app/r/part"])
    assert (item(told, "app/r/new")["claims"], item(told, "app/r/part")["amends"]) == (["app/r/a"], ["app/r/a"])


def test_a_declared_contradiction_makes_a_bundle_conflicted_and_a_suspected_one_stands_apart(root: Path) -> None:
    put(root, "app/r/executor", "Use one executor")
    put(root, "lib/r/executor", "Executors for all")
    told = bundle(root)
    assert (told["retrieval_status"], told["conflicts_found"]) == ("succeeded", False)
    why = "one subject, and no `overrides`: both have the same entry-id"
    assert told["suspected"] == [{"a": "app/r/executor", "b": "lib/r/executor", "why": why}]
    put(root, "app/r/a", "A", conflicts_with="app/r/b")
    put(root, "app/r/b", "B")
    told = bundle(root)
    assert (told["retrieval_status"], told["conflicts_found"]) == ("conflicted", True)
    assert told["conflicts"] == [{"a": "app/r/a", "b": "app/r/b", "why": "declared in `conflicts_with`"}]


@pytest.mark.parametrize(
    ("project_id", "state", "message"),
    [
        (None, "unresolved", "no `project_id` is given, so no scope is known"),
        ("  ", "unresolved", "no `project_id` is given, so no scope is known"),
        ("fresh", "uncertain", "there is no wing for the project `fresh` yet; `save_session` creates it"),
    ],
)
def test_without_a_wing_nothing_is_read_and_the_message_says_why(
    root: Path, project_id: str | None, state: str, message: str
) -> None:
    put(root, "lib/r/rule", "Rule", type="invariant")
    answer = bundle(root, project_id)
    assert (answer["retrieval_status"], answer["scope_state"], answer["items"]) == ("empty", state, [])
    assert answer["message"] == message


def test_a_focus_that_is_not_there_gives_the_project_with_the_rules_that_bind_it(root: Path) -> None:
    put(root, "app/r/own", "Own", focus="maps")
    put(root, "lib/r/common", "Common")
    put(root, "lib/r/rule", "Rule", type="invariant")
    answer = bundle(root, focus="auth")
    assert answer["scope_state"] == "uncertain"
    assert ids(answer["items"]) == ["lib/r/rule", "app/r/own"]
    assert [(one["id"], one["why"]) for one in answer["omitted"]] == [
        ("lib/r/common", "of a shared wing, while the focus is uncertain")
    ]
    assert answer["message"] == (
        "no entry of the wing `app` has the focus `auth` yet; a write with this focus creates it; "
        "until then only the project is read, with the invariants of its shared wings"
    )


def test_files_that_cannot_be_read_stand_before_the_items_and_an_empty_answer_says_that_they_may_bind(
    root: Path,
) -> None:
    put(root, "app/r/one", "One")
    write(root, "app/r/broken.md", "---\ntype: [\n---\n")
    told = bundle(root)
    assert [one["path"] for one in told["problems"]] == ["app/r/broken.md"]
    assert list(told).index("problems") < list(told).index("items")
    assert told["retrieval_status"] == "succeeded"
    empty = bundle(root, topic="authentication")
    said = "no readable entry matches, and the unreadable files may contain rules"
    assert (empty["retrieval_status"], empty["message"]) == ("empty", said)


def test_a_scope_of_which_nothing_can_be_read_has_failed_and_the_docs_answer(tmp_path: Path) -> None:
    root = make_wings(make_repository(tmp_path / "repo"))
    write(root, "app/r/broken.md", "---\ntype: [\n---\n")
    write(tmp_path / "repo", "docs/architecture.md", "# Architecture\n\nAuthentication uses tokens.\n")
    told = bundle(root, topic="authentication")
    assert told["retrieval_status"] == "failed"
    assert told["message"] == "no entry of this scope can be read; continue without memory"
    assert told["fallback"] == [{"path": "docs/architecture.md", "line": 3, "text": "Authentication uses tokens."}]
    assert (told["source"], told["degraded"]) == ("docs", True)


def test_a_file_that_goes_away_is_read_again_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "app/r/one", "One")
    gone = iter([True, False, True, True])
    read = Catalog.body

    def body(catalog: Catalog, address: str) -> str:
        if next(gone):
            raise GoneError(f"{address} was deleted")
        return read(catalog, address)

    monkeypatch.setattr(Catalog, "body", body)
    assert bundle(root)["retrieval_status"] == "succeeded"
    with pytest.raises(GoneError):
        bundle(root)


@pytest.mark.parametrize(("day", "due"), [("2026-11-01", False), ("2026-10-22", True)])
def test_hygiene_is_due_thirty_days_after_the_last(tmp_path: Path, day: str, due: bool) -> None:
    root = make_wings(make_repository(tmp_path / "repo"))
    put(root, "app/r/one", "One", created_at="2026-01-01")
    record_hygiene(open_root(root).state_folder, ["app"], date.fromisoformat(day))
    assert bundle(root)["hygiene_due"] is due
