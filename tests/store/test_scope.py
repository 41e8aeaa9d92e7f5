"""Test the active wing, the shared wings that it reads, and permission to write for projects and focuses."""

import re
from pathlib import Path
from typing import Any

import pytest
from builders import Capture, make_root, run_here, write, write_entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.errors import UsageError
from mdmem.store.catalog.load import load
from mdmem.store.catalog.model import Catalog
from mdmem.store.settings import Settings
from mdmem.store.tree import FileKind, TreeFile, WorkingTree
from mdmem.store.workspace.scope import Filters, Scope, ScopeState, resolve_scope, scope_state, wing_name_for


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
        (THREE, {"all_wings": True}, "app lib web", "lib"),
        # Each with its own shared wings.
        (APART, {"wings": ("app", "web")}, "app lib base web", "app web lib base"),
        (APART, {"wings": ("web", "app")}, "web base lib app", "web app base lib"),
    ],
)
def test_scope_is_the_active_wing_with_its_shared_ones(
    manifests: dict[str, str], options: dict[str, Any], read: str, binding: str, tmp_path: Path
) -> None:
    scope = scope_of(wings(tmp_path, **manifests), **options)
    assert (" ".join(scope.wings), " ".join(scope.binding_wings)) == (read, binding)
    assert scope.wing == (read.split()[0] if "wings" in options or not options.get("all_wings") else None)
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


def test_wing_or_room_that_cannot_be_listed_is_there_where_named(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project")
    assert scope_of(refusing(tmp_path, "app/locked"), rooms=("locked",)).rooms == ("locked",)
    found = refusing(tmp_path, "locked")
    options: list[dict[str, Any]] = [{}, {"wings": ("locked",)}, {"default_wing": "locked"}]
    assert [scope_of(found, **one).wing for one in options] == ["app", "locked", "locked"]


RESOLVED, UNCERTAIN, UNRESOLVED = ScopeState
KINDS = ("session", "decision", "pattern", "context", "entity")


@pytest.mark.parametrize(
    # A manifest's id comes before a wing of that name.
    ("project_id", "wing"),
    [("Acme/App 2", "app"), ("app", "app"), ("My-Web", "my_web"), ("LIB", "lib"), ("one", "two")],
)
def test_scope_is_resolved_by_id_by_name_and_by_folded_name(tmp_path: Path, project_id: str, wing: str) -> None:
    ids = {"app": "project_id: Acme/App 2", "two": "project_id: one"}
    known = wings(tmp_path, **ids, my_web="kind: project", lib="kind: shared", one="kind: project")
    found = scope_state(known, project_id)
    assert (found.state, found.wing, found.message) == (RESOLVED, wing, None)
    assert [kind for kind in KINDS if found.may_write(kind)] == list(KINDS)


def test_scope_with_a_focus_is_resolved_when_an_entry_of_the_wing_has_it(tmp_path: Path) -> None:
    write_entry(tmp_path, "app/context/old", status="deprecated", deprecated_reason="over", focus="auth-refactor")
    write_entry(tmp_path, "web/context/other", focus="billing")
    known = wings(tmp_path, app="kind: project")
    found, missing = (scope_state(known, "app", focus) for focus in ("auth-refactor", "billing"))
    assert (found.state, found.wing, found.focus_exists, found.message) == (RESOLVED, "app", True, None)
    assert (missing.state, missing.wing, missing.focus_exists) == (UNCERTAIN, "app", False)
    assert missing.message == (
        "no entry of the wing `app` has the focus `billing` yet; a write with this focus creates it"
    )


def test_scope_with_a_focus_says_that_a_file_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path, "app/context/torn.md", "---\nfocus: auth\n")
    message = scope_state(wings(tmp_path, app="kind: project"), "app", "auth").message
    assert message is not None
    assert "though some of its files cannot be read" in message


def test_scope_of_a_wing_whose_folder_or_manifest_cannot_be_read_is_resolved(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project")
    for project_id in ("locked_one", "Locked-One"):
        found = scope_state(refusing(tmp_path, "locked_one"), project_id)
        assert (found.state, found.wing) == (RESOLVED, "locked_one")
    write(tmp_path, "web/README.md", "---\nkind: [\n---\n")
    known = load(WorkingTree(tmp_path))
    assert ("web" in known.wings, scope_state(known, "web").wing) == (False, "web")


def test_scope_names_what_cannot_be_read_and_may_be_the_project(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project", web="project-id: Acme")
    message = scope_state(refusing(tmp_path, "locked"), "Acme").message
    assert message == (
        "there is no wing for the project `Acme`, and `save_session` makes none:"
        " `locked` and `web/README.md` cannot be read, and may be the wing of `Acme`; make it readable first"
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


@pytest.mark.parametrize(
    ("wing", "manifest", "project_id", "said"),
    [
        ("my_app", "project_id: other", "My-App", "the wing `my_app` belongs to the project `other`; use another"),
        ("my_app", PROJECT, "My  App", "the wing `my_app` exists already; to use it, write `my_app` as `project_id`"),
        ("My_App", PROJECT, "my-app", "the wing `My_App` exists already; to use it, write `My_App` as `project_id`"),
        ("app", PROJECT, "notes", "`notes` exists already and is not a folder"),
        ("app", PROJECT, "linked", "`linked` exists already and is not a folder"),
    ],
)
def test_wing_name_that_is_taken_fails_by_name(
    tmp_path: Path, wing: str, manifest: str, project_id: str, said: str
) -> None:
    write(tmp_path, "notes", "a file")
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere")
    known = wings(tmp_path, **{wing: manifest})
    with pytest.raises(UsageError, match=f"^{said}"):
        wing_name_for(project_id, known)


@pytest.mark.parametrize("hidden", ["locked", "."])
def test_wing_name_is_refused_while_a_folder_may_be_the_project(tmp_path: Path, hidden: str) -> None:
    wings(tmp_path, app="kind: project")
    with pytest.raises(UsageError, match=rf"^`{re.escape(hidden)}` cannot be read, and may be the wing of `new`"):
        wing_name_for("new", refusing(tmp_path, hidden))


def test_wing_name_is_given_where_a_room_or_a_faulty_manifest_cannot_be_the_project(tmp_path: Path) -> None:
    wings(tmp_path, app="kind: project", web="project_id: other\nonwer: Ada", lib="kind: shared\nonwer: Ada")
    assert wing_name_for("new", refusing(tmp_path, "app/locked")) == "new"
