"""Which wing is active, which shared ones it reads, and what a name that means nothing is answered with."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import git, make_repository, make_root, memory, run_here, write, write_entry

from mdmem.errors import RootNotFoundError
from mdmem.model.entry import Wing, WingKind
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


def test_active_wing_is_the_setting_where_there_are_several(tmp_path: Path) -> None:
    assert scope_of(wings(tmp_path, app="kind: project", web="kind: project"), default_wing="web").wing == "web"


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


def test_active_wing_is_a_shared_one_where_it_is_the_only_wing(tmp_path: Path) -> None:
    scope = scope_of(wings(tmp_path, lib="kind: shared"))
    assert (scope.wing, scope.wings, scope.shared_wings) == ("lib", ("lib",), ())


def test_active_wing_may_be_named_by_project_id_in_option_and_setting(tmp_path: Path) -> None:
    found = wings(tmp_path, app="project_id: Acme/App 2", web="kind: project")
    assert scope_of(found, wings=("Acme/App 2",)).wing == "app"
    assert scope_of(found, default_wing="Acme/App 2").wing == "app"


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


def test_shared_wings_are_all_where_the_manifest_names_none(tmp_path: Path) -> None:
    found = wings(tmp_path, app="kind: project", lib="kind: shared", base="kind: shared")
    scope = scope_of(found)
    assert (scope.wings, scope.shared_wings, scope.binding_wings) == (
        ("app", "base", "lib"),
        ("base", "lib"),
        ("app", "base", "lib"),
    )


def test_shared_wings_are_the_named_ones_in_their_order(tmp_path: Path) -> None:
    manifest = "shared_wings: [lib, base]"
    scope = scope_of(wings(tmp_path, app=manifest, base="kind: shared", lib="kind: shared", other="kind: shared"))
    assert (scope.wings, scope.shared_wings) == (("app", "lib", "base"), ("lib", "base"))
    assert scope.binding_wings == ("app", "lib", "base")


def test_other_projects_are_read_only_where_named(tmp_path: Path) -> None:
    found = wings(tmp_path, app="kind: project", lib="kind: shared", web="kind: project")
    assert scope_of(found, wings=("app",)).wings == ("app", "lib")
    assert scope_of(found, wings=("app", "web")).wings == ("app", "lib", "web")
    assert scope_of(found, wings=("app",), all_wings=True).wings == ("app", "lib", "web")


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


def test_wing_of_shared_kind_that_names_shared_wings_reads_them(tmp_path: Path) -> None:
    found = wings(tmp_path, lib="kind: shared\nshared_wings: [base]", base="kind: shared")
    assert found.wings["lib"].kind is WingKind.SHARED
    assert scope_of(found, wings=("lib",)).wings == ("lib", "base")


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
    assert why_not(make_repository(tmp_path)) == "`mdmem init` makes one, --root names one"
