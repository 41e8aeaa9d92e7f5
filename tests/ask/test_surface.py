"""Test the quick search and the state of a scope."""

from pathlib import Path
from typing import Any

import pytest
from builders import open_root, write
from msgspec.structs import replace

from ask.builders import put
from mdmem.ask.bundle import get_scope_state, memory_surface
from mdmem.model.access import Access


def surface(root: Path, query: str, /, **asked: object) -> dict[str, Any]:
    return memory_surface(open_root(root), query=query, **asked)  # type: ignore[arg-type]


def found(root: Path, query: str, /, **asked: object) -> list[str]:
    return [match["id"] for match in surface(root, query, **asked)["matches"]]


def test_a_match_has_the_shape_of_the_contract(root: Path) -> None:
    put(root, "app/r/one", "Use tokens", "Tokens for everybody.\n", created_at="2026-11-01")
    told = surface(root, "tokens")
    match = told["matches"][0]
    assert match.pop("bm25_score") > 0
    assert match == {
        "id": "app/r/one",
        "label": "Decision",
        "name": "Use tokens",
        "content": "Tokens for everybody.",
        "scope": "project",
        "freshness": "current",
        "project_id": "app",
        "status": "active",
    }
    assert (told["query_used"], told["total_found"]) == ("tokens", 1)
    assert told["next_step"] == "call `retrieve_context` with the project for the rules, in the order of authority"


def test_without_a_project_every_wing_is_looked_through(root: Path) -> None:
    for wing in ("app", "lib", "web"):
        put(root, f"{wing}/r/one", "Tokens")
    assert sorted(found(root, "tokens")) == ["app/r/one", "lib/r/one", "web/r/one"]


@pytest.mark.parametrize(
    ("address", "fields", "scope", "project_id"),
    [
        ("lib/r/one", {}, "global", None),
        ("app/r/one", {"focus": "auth"}, "focus", "My App"),
        ("web/r/one", {}, "project", "web"),
    ],
)
def test_a_match_says_the_scope_and_project_it_was_written_for(
    root: Path, address: str, fields: dict[str, str], scope: str, project_id: str | None
) -> None:
    write(root, "app/README.md", "---\nkind: project\nproject_id: My App\n---\n")
    put(root, address, "Tokens", **fields)
    match = surface(root, "tokens")["matches"][0]
    assert (match["scope"], match["project_id"]) == (scope, project_id)


def test_freshness_tells_when_somebody_looked(root: Path) -> None:
    days: dict[str, dict[str, object]] = {
        "current": {"created_at": "2026-11-20"},
        "recent": {"created_at": "2026-07-01"},
        "stale": {"created_at": "2026-01-01"},
        "current-again": {"created_at": "2026-01-01", "verified_at": "2026-11-20"},
        "stale-without-day": {"created_at": None},
    }
    for name, fields in days.items():
        put(root, f"app/r/{name}", "Tokens", **fields)
    matches = {match["id"].rpartition("/")[2]: match["freshness"] for match in surface(root, "tokens")["matches"]}
    assert matches == {name: name.partition("-")[0] for name in days}


@pytest.mark.parametrize(("limit", "shown"), [(5, 5), (0, 1), (-3, 1), (1000, 7)])
def test_the_limit_is_at_least_one(root: Path, limit: int, shown: int) -> None:
    for number in range(7):
        put(root, f"app/r/e{number}", f"Tokens {number}")
    answer = surface(root, "tokens", limit=limit)
    assert (len(answer["matches"]), answer["total_found"]) == (shown, 7)
    assert answer["next_step"].endswith("; 2 more match, raise `limit` to see them") is (shown == 5)


def test_a_superseded_match_surfaces_what_replaced_it(root: Path) -> None:
    put(root, "app/r/old", "Tea", "Brew.\n", superseded_by="app/r/new", status="deprecated")
    put(root, "app/r/new", "Coffee", "Grind.\n", supersedes="app/r/old")
    match = surface(root, "tea")["matches"][0]
    assert (match["id"], match["via"]) == ("app/r/new", ["app/r/old"])


def test_drafts_surface_apart(root: Path) -> None:
    put(root, "app/r/one", "Tokens", status="draft")
    answer = surface(root, "tokens")
    assert (answer["matches"], answer["total_found"]) == ([], 0)
    assert [match["id"] for match in answer["proposed"]] == ["app/r/one"]


def test_nothing_found_says_what_to_do_and_which_unreadable_file_may_hold_the_words(root: Path) -> None:
    put(root, "app/r/one", "Tokens")
    answer = surface(root, "zebra")
    assert answer["unmatched_terms"] == ["zebra"]
    rules = "call `retrieve_context` with the project for the rules, in the order of authority"
    assert answer["next_step"] == f"no current entry contains these words; {rules}"
    write(root, "app/r/broken.md", "---\ntype: [\n---\n")
    answer = surface(root, "zebra")
    assert next(iter(answer)) == "problems"
    assert [one["path"] for one in answer["problems"]] == ["app/r/broken.md"]
    assert "an unreadable file may contain them" in answer["next_step"]


@pytest.mark.parametrize("query", ["", "  ", "the", "???"])
def test_a_query_without_words_surfaces_nothing(root: Path, query: str) -> None:
    put(root, "app/r/one", "Tokens")
    assert surface(root, query)["matches"] == []


@pytest.mark.parametrize(
    ("project_id", "focus", "expected"),
    [
        ("app", None, {"scope_state": "resolved", "project_exists": True, "write_permitted": True, "wing": "app"}),
        (
            "app",
            "auth",
            {"scope_state": "resolved", "project_exists": True, "focus_exists": True, "write_permitted": True},
        ),
        (
            "app",
            "auht",
            {"scope_state": "uncertain", "project_exists": True, "focus_exists": False, "nearest": ["auth"]},
        ),
        (
            "ap",
            None,
            {"scope_state": "uncertain", "project_exists": False, "write_permitted": False, "nearest": ["app"]},
        ),
        (None, None, {"scope_state": "unresolved", "project_exists": False, "nearest": ["app", "web"]}),
        (" ", "auth", {"scope_state": "unresolved", "project_exists": False, "write_permitted": False}),
    ],
)
def test_the_state_of_a_scope_has_the_shape_of_the_contract(
    root: Path, project_id: str | None, focus: str | None, expected: dict[str, object]
) -> None:
    put(root, "app/r/one", "One", focus="auth")
    told = get_scope_state(open_root(root), project_id=project_id, focus=focus).as_json()
    assert {name: told[name] for name in expected} == expected
    assert ("focus_exists" in told) is (focus is not None and project_id == "app")


@pytest.mark.parametrize(
    ("access", "project", "is_permitted", "message"),
    [
        (Access.to_wings(["app"], may_write=False), "app", False, None),
        (Access.to_wings(["app"]), "app", True, None),
        (Access.to_wings(["app"]), "web", False, "Project access denied: web"),
        (Access.to_wings(["app"]), "nowhere", False, "Project access denied: nowhere"),
    ],
)
def test_write_is_permitted_where_it_would_pass(
    root: Path, access: Access, project: str, is_permitted: bool, message: str | None
) -> None:
    workspace = replace(open_root(root), access=access)
    told = get_scope_state(workspace, project_id=project).as_json()
    assert (told["write_permitted"], told["message"]) == (is_permitted, message)


@pytest.mark.parametrize("is_open", [True, False])
def test_write_to_a_shared_wing_is_permitted_where_there_are_tokens(root: Path, is_open: bool) -> None:
    write(root, "mdmem.toml", f"[governance]\nglobal_writes = {str(is_open).lower()}\n")
    write(root, "lib/README.md", "---\nkind: shared\n---\n")
    told = get_scope_state(open_root(root), project_id="lib").as_json()
    assert told["write_permitted"] is is_open
