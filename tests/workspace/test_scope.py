"""Which wing is active, which shared ones it reads, and what a name that means nothing is answered with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import git, make_repository, make_root, memory, run_here, write, write_entry

from mdmem.errors import RootNotFoundError
from mdmem.model.entry import Wing
from mdmem.store.catalog.load import load
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind, TreeFile, WorkingTree
from mdmem.store.workspace.location import locate
from mdmem.store.workspace.scope import (
    AmbiguousWingError,
    Filters,
    Scope,
    find_wing,
    resolve_scope,
)

Capture = pytest.CaptureFixture[str]


def wings(root: Path, **manifests: str) -> Catalog:
    """Return the catalog of wings with one entry each, `architecture/rule`; the values are their front matter."""
    for name, manifest in manifests.items():
        write(root, f"{name}/README.md", f"---\n{manifest}\n---\n")
        write_entry(root, f"{name}/architecture/rule")
    return load(WorkingTree(root))


def scope_of(catalog: Catalog, *, default_wing: str | None = None, **filters: object) -> Scope:
    return resolve_scope(catalog, Settings(default_wing=default_wing), Filters(**filters))


PROJECT, SHARED = "kind: project", "kind: shared"
THREE = {"app": PROJECT, "lib": SHARED, "web": PROJECT}
APART = {"app": "shared_wings: [lib]", "base": SHARED, "lib": SHARED, "web": "shared_wings: [base]"}
NAMED = {"app": "shared_wings: [lib, base]", "base": SHARED, "lib": SHARED, "other": SHARED}


@pytest.mark.parametrize(
    ("manifests", "options", "read", "binding"),
    [
        ({"app": PROJECT, "web": PROJECT}, {"default_wing": "web"}, "web", "web"),
        ({"lib": SHARED}, {}, "lib", "lib"),
        # A project_id is a name, too.
        ({"app": "project_id: Acme/App 2", "web": PROJECT}, {"wings": ("Acme/App 2",)}, "app", "app"),
        ({"app": "project_id: Acme/App 2", "web": PROJECT}, {"default_wing": "Acme/App 2"}, "app", "app"),
        # Every shared wing, or those that the manifest names, in their order.
        ({"app": PROJECT, "lib": SHARED, "base": SHARED}, {}, "app base lib", "app base lib"),
        (NAMED, {}, "app lib base", "app lib base"),
        ({"lib": f"{SHARED}\nshared_wings: [base]", "base": SHARED}, {"wings": ("lib",)}, "lib base", "lib base"),
        # Other projects only where they are named.
        (THREE, {"wings": ("app",)}, "app lib", "app lib"),
        (THREE, {"wings": ("app", "web")}, "app lib web", "app web lib"),
        (THREE, {"wings": ("app",), "all_wings": True}, "app lib web", "app lib"),
        # Each with its own shared wings.
        (APART, {"wings": ("app", "web")}, "app lib base web", "app web lib base"),
        (APART, {"wings": ("web", "app")}, "web base lib app", "web app base lib"),
    ],
)
def test_scope_is_the_active_wing_with_its_shared_ones(
    manifests: dict[str, str], options: dict[str, Any], read: str, binding: str, tmp_path: Path
) -> None:
    scope = scope_of(wings(tmp_path, **manifests), **options)
    assert (scope.wing, " ".join(scope.wings), " ".join(scope.binding_wings)) == (read.split()[0], read, binding)
    shared = [name for name in scope.wings if SHARED in manifests[name] and name != scope.wing]
    assert list(scope.shared_wings) == shared


def test_active_wing_is_the_one_that_is_about_a_given_path(tmp_path: Path) -> None:
    about = {"app": 'applies_to: ["src/app/**", "src/shared/**"]', "web": 'applies_to: ["src/web/**", "src/shared/**"]'}
    found = wings(tmp_path, lib='kind: shared\napplies_to: ["**"]', other="kind: project", **about)
    chosen = {
        ("src/web/a.ts",): "web",
        ("src/web/a.ts", "src/app/b.ts", "src/app/c.ts"): "app",
        ("src/shared/x.ts",): "web",
        ("docs/x.md",): "other",
    }
    settings = {"src/shared/x.ts": "web", "docs/x.md": "other"}
    for paths, wing in chosen.items():
        scope = resolve_scope(found, Settings(default_wing=settings.get(paths[0])), Filters(), paths=paths)
        assert scope.wing == wing, paths
    named = resolve_scope(found, Settings(), Filters(wings=("app",)), paths=("src/web/a.ts",))
    assert named.wing == "app"


def test_active_wing_is_ambiguous_where_several_projects_and_none_named(tmp_path: Path) -> None:
    found = wings(tmp_path, app="kind: project", lib="kind: shared", web="kind: project")
    with pytest.raises(AmbiguousWingError) as raised:
        scope_of(found)
    assert str(raised.value).endswith("name one with --wing, or set `default_wing` in mdmem.toml: `app`, `web`")
    everything = scope_of(found, all_wings=True)
    assert (everything.wing, everything.wings, everything.binding_wings) == (None, ("app", "lib", "web"), ("lib",))


def test_commands_where_the_active_wing_is_ambiguous(tmp_path: Path, capsys: Capture) -> None:
    wings(make_root(tmp_path), app="kind: project", web="kind: project")
    refused = run_here(capsys, "retrieve", cwd=tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert "`app`, `web`" in refused.err
    for command in (["list"], ["search", "decided"]):
        ran = run_here(capsys, *command, cwd=tmp_path)
        assert ran.code == 0
        assert "app/architecture/rule" in ran.out
        assert "web/architecture/rule" in ran.out


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one", "two"),  # a manifest's project_id comes before a wing of that name
        ("app", "app"),
        ("My-App", "my_app"),
        ("ACME/web", None),  # its wing is claimed by another id
        ("nothing", None),
    ],
)
def test_find_wing_when_asked_for(name: str, expected: str | None) -> None:
    claimed = {"two": "one", "acme_web": "acme-web"}
    known = {
        wing: Wing(name=wing, project_id=claimed.get(wing)) for wing in ("acme_web", "app", "my_app", "one", "two")
    }
    assert find_wing(name, known) == expected


@pytest.mark.parametrize("command", ["retrieve", "list", "search rule"])
@pytest.mark.parametrize(("option", "nearest"), [("--wing=ap", "`app`"), ("--room=architectur", "`architecture`")])
def test_commands_where_a_name_means_nothing(
    command: str, option: str, nearest: str, tmp_path: Path, capsys: Capture
) -> None:
    wings(make_root(tmp_path), app="kind: project")
    ran = run_here(capsys, *command.split(), option, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert f"did you mean {nearest}?" in ran.err


class Listed(WorkingTree):
    """A working tree in which some folders cannot be listed."""

    refused: tuple[str, ...] = ()

    def files(self) -> tuple[TreeFile, ...]:
        refused = (TreeFile(path, FileKind.UNREADABLE, reason="Permission denied") for path in self.refused)
        return tuple(sorted([*super().files(), *refused], key=lambda file: file.path))


def refusing(root: Path, *folders: str) -> Catalog:
    tree = Listed(root)
    tree.refused = folders
    return load(tree)


def test_room_that_cannot_be_listed_is_there(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project")
    assert scope_of(refusing(tmp_path, "app/locked"), rooms=("locked",)).rooms == ("locked",)


def test_wing_that_cannot_be_listed_is_there_where_named(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project")
    found = refusing(tmp_path, "locked")
    assert scope_of(found).wing == "app"
    assert scope_of(found, wings=("locked",)).wing == "locked"
    assert scope_of(found, default_wing="locked").wing == "locked"


def why_not(folder: Path) -> str:
    with pytest.raises(RootNotFoundError) as caught:
        locate(None, {}, folder)
    return str(caught.value).partition("; ")[2]


def test_memory_that_git_ignores_is_named(tmp_path: Path) -> None:
    make_root(make_repository(tmp_path) / "docs/memory")
    write(tmp_path, ".gitignore", "memory/\n")
    assert (
        why_not(tmp_path) == "git ignores the one in docs/memory: take it out of .gitignore, or choose it with --root"
    )


def test_memory_of_a_submodule_is_named(tmp_path: Path) -> None:
    memory(tmp_path / "inner")
    host = make_repository(tmp_path / "host")
    git(host, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "inner"), "mem")
    assert why_not(host) == ("the repository within this one, in mem/memory has one: choose it with --root mem/memory")


def test_without_any_the_way_to_one_is_said(tmp_path: Path) -> None:
    assert why_not(make_repository(tmp_path)) == "`mdmem init` creates one, --root chooses one"
