"""How far an answer over all repositories reaches: what binds is never left out for what only matches better."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, make_repository, make_root, run_here, write_entry
from pushes import pushed


@pytest.fixture
def asked(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what asks a hub of a repository with an invariant that sixty decisions match better."""
    monkeypatch.setenv("MDMEM_HUB_DSN", dsn)
    root = make_root(make_repository(tmp_path / "shop") / "memory")
    for number in range(60):
        write_entry(root, f"app/choices/one{number}", "Orders, orders.\n", title=f"Orders {number}")
    write_entry(root, "app/rules/personal", f"{'Data stays here. ' * 40} So do orders.\n", type="invariant")
    ended = {"status": "deprecated", "deprecated_at": "2026-04-01", "superseded_by": "[app/chain/new]"}
    write_entry(root, "app/chain/old", "Parcels.\n", **ended)
    write_entry(root, "app/chain/new", "Ships.\n", supersedes="[app/chain/old]")
    commit_all(root)
    pushed(dsn, root)

    def ask(*words: str, form: str = "json") -> Any:
        ran = run_here(capsys, "hub", *words, "--format", form, cwd=tmp_path)
        assert ran.code == 0, ran.err
        return json.loads(ran.out) if form == "json" else ran

    return ask


def test_an_invariant_that_sixty_match_better_comes_first_and_the_rest_is_counted(asked: Any) -> None:
    found = asked("retrieve", "orders")
    assert found["items"][0]["address"] == "app/rules/personal"
    assert (found["matches"], found["weighed"], found["at_least"]) == (61, 41, False)
    said = asked("retrieve", "orders", form="text").err
    assert "61 match: the 41 that match best, invariants before others, were weighed; narrow it down" in said


def test_what_replaces_an_entry_is_found_however_many_are_listed(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mdmem.hub.union._MOST_FILES", 20)
    one, every = asked("list", "--repository", "shop"), asked("list", "-n", "80")
    assert [entry["address"] for entry in every["entries"]] == [entry["address"] for entry in one["entries"]]
    (hit,) = asked("search", "parcels", "-n", "80")["hits"]
    assert (hit["address"], hit["via"]) == ("app/chain/new", ["app/chain/old"])


def test_a_lineage_of_which_not_all_is_read_is_told(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "lineage_cut" not in asked("search", "ships")
    for most in ("_MOST_STEPS", "_MOST_FILES"):
        with monkeypatch.context() as cut:
            cut.setattr(f"mdmem.hub.union.{most}", {"_MOST_STEPS": 1, "_MOST_FILES": -1}[most])
            assert asked("search", "ships")["lineage_cut"] is True
            for question in (["search", "ships"], ["list", "--room", "chain"]):
                assert "more entries replace or amend these than were read" in asked(*question, form="text").err
