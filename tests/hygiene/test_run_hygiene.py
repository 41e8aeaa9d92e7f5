"""Hygiene as clients of the contract ask for it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from builders import make_root, open_root, write, write_entry

from mdmem.change.hygiene import run_hygiene
from mdmem.errors import UsageError
from mdmem.store.state.local_records import Times, read_times, record_hygiene
from mdmem.store.state.pending_writes import PendingWrite, PendingWrites
from mdmem.store.workspace.remarks import is_hygiene_due
from mdmem.store.workspace.workspace import Workspace

TODAY = date(2026, 11, 21)
KINDS = ["duplicate_decisions", "outdated_decisions", "obsolete_patterns", "entity_drift", "unresolved_saves"]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Return a memory of a shared wing and two projects, each with an old decision, one of them with a focus."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root = make_root(tmp_path / "memory")
    write(root, "base/README.md", "---\nkind: shared\n---\n")
    write(root, "app/README.md", "---\nkind: project\nproject_id: The-App\n---\n")
    for wing in ("app", "base", "web"):
        write_entry(root, f"{wing}/rules/old", f"{wing}.\n", created_at="2020-01-01")
    write_entry(root, "app/rules/net", "Networks.\n", created_at="2020-01-01", focus="net")
    return open_root(root)


def keep(workspace: Workspace, project: str, content: dict[str, Any] | None = None, **more: str) -> str:
    arguments = {"decision": content or {}, "project_id": project, **more}
    created = datetime(2026, 11, 20, tzinfo=UTC)
    return PendingWrites(workspace.state_folder).keep(
        PendingWrite(verb="save_decision", arguments=arguments, created=created)
    )


@pytest.mark.parametrize(
    ("project", "scope", "outdated"),
    [
        (None, None, ["app/rules/net", "app/rules/old", "base/rules/old", "web/rules/old"]),
        ("", None, ["app/rules/net", "app/rules/old", "base/rules/old", "web/rules/old"]),
        (None, "project", ["app/rules/net", "app/rules/old", "web/rules/old"]),
        (None, "global", ["base/rules/old"]),
        ("The-App", None, ["app/rules/net", "app/rules/old"]),
        ("The-App", "project", ["app/rules/net", "app/rules/old"]),
        ("The-App", "global", ["base/rules/old"]),
        ("app", "focus", ["app/rules/net"]),
    ],
)
def test_project_and_scope_narrow(
    workspace: Workspace, project: str | None, scope: str | None, outdated: list[str]
) -> None:
    answer = run_hygiene(workspace, project, scope)
    assert answer["candidate_ids"]["outdated_decisions"] == outdated
    assert (answer["project_id"], answer["scope"]) == (project or None, scope)


def test_scope_that_is_none_is_refused(workspace: Workspace) -> None:
    for project in (None, "app", "new"):
        with pytest.raises(UsageError, match="there is no scope `team`; write one of global, project, focus"):
            run_hygiene(workspace, project, "team")


def test_manifest_and_state_decide_together(workspace: Workspace) -> None:
    record_hygiene(workspace.state_folder, None, date(2026, 10, 22))
    assert is_hygiene_due(open_root(workspace.location.root), "app")
    write(workspace.location.root, "app/README.md", "---\nkind: project\nlast_hygiene_at: 2026-10-23\n---\n")
    assert not is_hygiene_due(open_root(workspace.location.root), "app")


def test_project_without_a_wing_has_only_its_writes(workspace: Workspace) -> None:
    mine = keep(workspace, "new-project")
    keep(workspace, "web")
    answer = run_hygiene(workspace, "new-project")
    assert answer["candidate_ids"] == {kind: [] for kind in KINDS} | {"unresolved_saves": [mine]}
    assert answer["remarks"] == ["there is no wing for the project `new-project` yet"]
    assert not is_hygiene_due(workspace, "new-project")
    assert read_times(workspace.state_folder) == Times()


def test_writes_that_wait_are_those_of_project_and_scope(workspace: Workspace) -> None:
    plain = keep(workspace, "The-App", {"title": "a", "scope": "project"})
    wide = keep(workspace, "app", {"title": "b", "scope": "global"})
    focused = keep(workspace, "app", {"title": "c", "scope": "focus"}, focus="net")
    other = keep(workspace, "web", {"title": "d"})

    def waiting(project: str | None, scope: str | None) -> set[str]:
        answer = run_hygiene(workspace, project, scope, check_pending_only=True)
        return set(answer["candidate_ids"]["unresolved_saves"])

    assert waiting(None, None) == {plain, wide, focused, other}
    assert waiting("app", None) == {plain, wide, focused}
    assert waiting("app", "project") == {plain, focused}
    assert waiting("The-App", "global") == {wide}
    assert waiting(None, "focus") == {focused}
