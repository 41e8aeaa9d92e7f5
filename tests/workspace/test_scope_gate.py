"""The gate of the writes: which project and focus are there, and what a new project's wing is called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import write, write_entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.errors import UsageError
from mdmem.store.catalog.load import load
from mdmem.store.tree import WorkingTree
from mdmem.store.workspace.scope import (
    ScopeAnswer,
    ScopeState,
    doubtful_wings,
    find_wing,
    scope_state,
    wing_name_for,
)
from workspace.test_scope import refusing, wings

RESOLVED, UNCERTAIN, UNRESOLVED = ScopeState
KINDS = ("session", "decision", "pattern", "context", "entity")


def passing(answer: ScopeAnswer) -> list[str]:
    return [kind for kind in KINDS if answer.may_write(kind)]


@pytest.mark.parametrize(
    ("project_id", "wing"), [("Acme/App 2", "app"), ("app", "app"), ("My-Web", "my_web"), ("LIB", "lib")]
)
def test_scope_is_resolved_by_id_by_name_and_by_folded_name(tmp_path: Path, project_id: str, wing: str) -> None:
    known = wings(tmp_path, app="project_id: Acme/App 2", my_web="kind: project", lib="kind: shared")
    found = scope_state(known, project_id)
    assert found == ScopeAnswer(state=RESOLVED, wing=wing)
    assert passing(found) == list(KINDS)


def test_scope_with_a_focus_is_resolved_when_an_entry_of_the_wing_has_it(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/context/old", status="deprecated", deprecated_reason="over", focus="auth-refactor")
    write_entry(tmp_path, "web/context/other", focus="billing")
    known = wings(tmp_path, app="kind: project")
    assert scope_state(known, "app", "auth-refactor") == ScopeAnswer(state=RESOLVED, wing="app", focus_exists=True)
    missing = scope_state(known, "app", "billing")
    assert (missing.state, missing.project_exists, missing.focus_exists) == (UNCERTAIN, True, False)
    assert missing.message == (
        "no entry of the wing `app` has the focus `billing` yet; a write with this focus creates it"
    )


def test_scope_with_a_focus_says_that_a_file_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path, "app/context/torn.md", "---\nfocus: auth\n")
    message = scope_state(wings(tmp_path, app="kind: project"), "app", "auth").message
    assert message is not None
    assert "though some of its files cannot be read" in message


def test_scope_of_a_wing_whose_folder_cannot_be_listed_is_resolved(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project")
    for project_id in ("locked_one", "Locked-One"):
        found = scope_state(refusing(tmp_path, "locked_one"), project_id)
        assert (found.state, found.wing, found.project_exists) == (RESOLVED, "locked_one", True)


def test_scope_of_a_wing_whose_manifest_cannot_be_read_and_holds_no_entry_is_resolved(tmp_path: Path) -> None:
    write(tmp_path, "web/README.md", "---\nkind: [\n---\n")
    known = load(WorkingTree(tmp_path))
    assert "web" not in known.wings
    assert scope_state(known, "web").wing == "web"


def test_scope_names_what_cannot_be_read_and_may_be_the_project(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project", web="project-id: Acme")
    message = scope_state(refusing(tmp_path, "locked"), "Acme").message
    assert message == (
        "there is no wing for the project `Acme`, and `save_session` makes none:"
        " `locked` and `web/README.md` cannot be read and may be the wing of `Acme`; fix that first"
    )


@pytest.mark.parametrize(
    ("project_id", "name"),
    [
        ("my-new-project", "my_new_project"),
        ("Acme/App  2", "acme_app_2"),
        ("__init__", "init"),
        ("../../etc", "etc"),
        ("Größe", "grösse"),
        ("cafe\u0301", "café"),
    ],
)
def test_wing_name_for_a_new_project(tmp_path: Path, project_id: str, name: str) -> None:
    assert wing_name_for(project_id, wings(tmp_path, app="kind: project")) == name


@given(project_id=st.text(max_size=40))
def test_wing_name_is_lower_case_words_or_refused_and_stays_when_taken_again(project_id: str) -> None:
    empty = load(WorkingTree(Path(__file__).parent / "no-such-folder"))
    try:
        name = wing_name_for(project_id, empty)
    except UsageError as error:
        assert "cannot be read" in str(error) or "no letter or digit" in str(error)  # noqa: PT017
        return
    assert re.fullmatch(r"[^\W_]+(_[^\W_]+)*", name)
    assert wing_name_for(name, empty) == name


def test_wing_name_that_another_id_claims_fails_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^the wing `my_app` belongs to the project `other`; `My-App` needs another"):
        wing_name_for("My-App", wings(tmp_path, my_app="project_id: other"))


@pytest.mark.parametrize(("wing", "project_id"), [("my_app", "My  App"), ("My_App", "my-app")])
def test_wing_name_of_a_wing_that_only_looks_otherwise_fails_by_name(
    tmp_path: Path, wing: str, project_id: str
) -> None:
    known = wings(tmp_path, **{wing: "kind: project"})
    assert find_wing(project_id, known.wings) is None
    with pytest.raises(UsageError, match=rf"^the wing `{wing}` exists already; use `{wing}` as the project's id$"):
        wing_name_for(project_id, known)


def test_wing_name_of_a_file_or_a_link_fails_by_name(tmp_path: Path) -> None:
    write(tmp_path, "notes", "a file")
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere")
    known = wings(tmp_path, app="kind: project")
    for name in ("notes", "linked"):
        with pytest.raises(UsageError, match=rf"^`{name}` exists already and is not a folder"):
            wing_name_for(name, known)


@pytest.mark.parametrize("hidden", ["locked", "."])
def test_wing_name_is_refused_while_a_folder_may_be_the_project(tmp_path: Path, hidden: str) -> None:
    wings(tmp_path, app="kind: project")
    with pytest.raises(UsageError, match=rf"^`{re.escape(hidden)}` cannot be read and may be the wing of `new`"):
        wing_name_for("new", refusing(tmp_path, hidden))


def test_wing_name_is_given_where_a_room_or_a_faulty_manifest_cannot_be_the_project(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project", web="project_id: other\nonwer: Ada", lib="kind: shared\nonwer: Ada")
    assert wing_name_for("new", refusing(tmp_path, "app/locked")) == "new"


def test_wing_is_doubtful_when_its_manifest_cannot_be_read(tmp_path: Path) -> None:
    known = wings(tmp_path, app="kind: project", torn="kind: [", odd="kind: shard", linked="kind: project")
    (tmp_path / "linked/README.md").unlink()
    (tmp_path / "linked/README.md").symlink_to(tmp_path / "app/README.md")
    known = refusing(tmp_path, "locked")
    found = {name: name in doubtful_wings(known) for name in ("app", "torn", "odd", "linked", "locked", "new")}
    assert found == {"app": False, "torn": True, "odd": True, "linked": True, "locked": True, "new": False}
