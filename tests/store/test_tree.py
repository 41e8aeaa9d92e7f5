"""Test the three trees: they have the same files for the same commit, and no existing file is missing."""

import os
from pathlib import Path

import pytest
from builders import commit_all, git, made_once, make_repository, make_root, refuse, repository_of, write, write_entry
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import meant

from mdmem.errors import GitError
from mdmem.store.catalog.load import EntryCache, load
from mdmem.store.git.process import find_repository, resolve
from mdmem.store.tree import FileKind, GitTree, Tree, TreeView, Unreadable, WorkingTree, read_one

ODD_NAMES = ["a b.md", "größe.md", "🙂.md", "a\nb.md", 'a"b.md', "a\\b.md", "a\tb.md", "a.b.md", "-x.md"]
ODD_NAMES += [":x.md", "*.md", "[a].md", os.fsdecode(b"caf\xe9.md"), "e\u0301.md"]


def git_tree(top: Path, under: str = "memory", revision: str | None = "HEAD") -> GitTree:
    """Return the tree of a commit, or of the git index."""
    repository = repository_of(top)
    return GitTree(repository, under, resolve(repository, revision) if revision else None, "a git tree")


def working_tree(top: Path, under: str = "memory") -> WorkingTree:
    """Return the tree of the files on disk."""
    return WorkingTree(top / under, is_top=not under)


def trees(top: Path, under: str = "memory") -> list[Tree]:
    """Return the three trees of a repository."""
    return [working_tree(top, under), git_tree(top, under, None), git_tree(top, under)]


def listed(tree: Tree) -> dict[str, FileKind]:
    """Return what a tree lists."""
    return {file.path: file.kind for file in tree.files()}


def content(tree: Tree) -> dict[str, bytes | Unreadable]:
    """Return what a tree reads of every file it lists."""
    return dict(tree.read([file.path for file in tree.files()]))


@made_once
def of_two_wings(folder: Path) -> Path:
    root = make_root(make_repository(folder) / "memory")
    write(root, "w/README.md", "---\nkind: shared\n---\n")
    write_entry(root, "w/r/a")
    write_entry(root, "w/r/b", supersedes="a")
    write_entry(root, "v/r/a", type="invariant")
    write(folder, "src/a.py", "x")
    commit_all(folder)
    return folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository with a memory of two wings in `memory/`, committed."""
    return of_two_wings(tmp_path / "top")


NAMES = st.sampled_from(["a", "b.md", "README.md", "größe.md", ".hidden", "x.y.md", "e f.md", "mdmem.toml", "C.MD"])
CONTENTS = st.sampled_from(
    [
        b"",
        b"\xff",
        b"text",
        b"---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\n---\nx\n",
        b"---\nkind: shared\n---\n",
    ]
)


@settings(max_examples=15)
@given(st.dictionaries(st.lists(NAMES, min_size=1, max_size=4).map("/".join), CONTENTS, max_size=8), st.booleans())
def test_trees_give_the_same_catalog_for_any_files(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], at_top: bool
) -> None:
    folder = make_repository(tmp_path_factory.mktemp("any"))
    under = "" if at_top else "memory"
    make_root(folder / under)
    for path, data in files.items():
        # A name may already be a folder's, or a folder's a file's.
        if (
            not any((folder / under / parent).is_file() for parent in Path(path).parents)
            and not (folder / under / path).is_dir()
        ):
            write(folder / under, path, data)
    commit_all(folder)
    first, second, third = (meant(load(tree)) for tree in trees(folder, under))
    assert first == second == third


def test_trees_agree_on_names_that_git_quotes(top: Path) -> None:
    for name in ODD_NAMES:
        write(top, f"memory/w/r/{name}", os.fsencode(name))
    commit_all(top)
    for tree in trees(top):
        read = content(tree)
        assert {name: read[f"w/r/{name}"] for name in ODD_NAMES} == {name: os.fsencode(name) for name in ODD_NAMES}


def test_trees_skip_names_that_start_with_a_dot_and_no_others(top: Path) -> None:
    for path in (".obsidian/a.md", "w/.r/a.md", "w/r/.a.md", "w/r/x..md", "w/r.1/a.md"):
        write(top, f"memory/{path}", "x")
    commit_all(top)
    added = [sorted(listed(tree).keys() - {"v/r/a.md", "w/r/a.md", "w/r/b.md"}) for tree in trees(top)]
    assert added == [["mdmem.toml", "w/README.md", "w/r.1/a.md", "w/r/x..md"]] * 3


def test_symbolic_links_are_said_and_not_followed(top: Path, tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/secret.md", "secret").parent
    (top / "memory/w/r/link.md").symlink_to(outside / "secret.md")
    (top / "memory/w/folder").symlink_to("../v")
    (top / "memory/w/r/dangling.md").symlink_to("gone.md")
    commit_all(top)
    for tree in trees(top):
        links = {file.path: file.target for file in tree.files() if file.kind is FileKind.SYMLINK}
        assert links == {"w/r/link.md": f"{outside}/secret.md", "w/folder": "../v", "w/r/dangling.md": "gone.md"}
        assert "w/r/link" not in load(tree).entries


def test_working_tree_does_not_read_through_a_link_put_there_later(top: Path, tmp_path: Path) -> None:
    tree = working_tree(top)
    tree.files()
    (top / "memory/w/r/a.md").unlink()
    (top / "memory/w/r/a.md").symlink_to(write(tmp_path, "secret", "secret"))
    assert isinstance(read_one(tree, "w/r/a.md"), Unreadable)


def test_blob_that_is_missing_is_unreadable_and_asked_for_again(top: Path) -> None:
    tree, cache = git_tree(top), EntryCache()
    digest = next(file.digest for file in tree.files() if file.path == "w/r/a.md") or ""
    blob = top / ".git/objects" / digest[:2] / digest[2:]
    blob.rename(top / "kept")
    assert read_one(tree, "w/r/a.md") == Unreadable("the blob is missing from the repository")
    assert isinstance(read_one(tree, "v/r/a.md"), bytes)
    assert list(load(tree, cache).broken) == ["w/r/a.md"]
    (top / "kept").rename(blob)
    assert "w/r/a" in load(git_tree(top), cache).entries


@pytest.fixture
def at_top(tmp_path: Path) -> Path:
    """Return a repository whose own top is the root: one wing, and folders that are none."""
    folder = make_root(make_repository(tmp_path / "top"))
    write(folder, "wing/README.md", "---\nowners: [Ada]\nkind: project\n---\n")
    write_entry(folder, "wing/r/e")
    write(folder, "src/README.md", "# Sources\n\nkind: none\n")
    write_entry(folder, "src/r/e")
    write_entry(folder, "docs/r/e")
    write_entry(folder, "linked/r/e")
    (folder / "linked/README.md").symlink_to("../wing/README.md")
    os.mkfifo(folder / "docs/README.md")
    write(folder, "README.md", "# Project\n")
    write(folder, "setup.py", "x")
    commit_all(folder)
    return folder


def test_top_of_the_repository_takes_only_wings_with_a_kind_and_opens_no_pipe(at_top: Path) -> None:
    paths = ["mdmem.toml", "wing/README.md", "wing/r/e.md"]
    assert [list(listed(tree)) for tree in trees(at_top, "")] == [paths] * 3


@pytest.mark.parametrize(
    ("manifest", "is_one"),
    [
        (b"---\nkind: shared\n---\n", True),
        (b"\xef\xbb\xbf---\r\nowners: [a]\r\nkind: project\r\n---\r\n", True),
        (b"---\nkind: [broken\n---\n", True),
        (b"---\nkind: project\n", True),
        (b"---\nowners: [a]\n---\nkind: shared\n", False),
        (b"---\nx-kind: shared\n---\n", False),
        (b"---\nx-a:\n  kind: shared\n---\n", False),
        (b"kind: shared\n", False),
        (b"# Title\n\n---\nkind: shared\n---\n", False),
        (b"", False),
    ],
)
def test_manifest_of_a_wing_states_its_kind_in_front_matter(manifest: bytes, is_one: bool, tmp_path: Path) -> None:
    write(tmp_path, "wing/README.md", manifest)
    assert bool(WorkingTree(tmp_path, is_top=True).files()) is is_one


def test_top_of_the_repository_keeps_a_wing_whose_manifest_is_unreadable_on_disk_or_missing_from_the_repository(
    at_top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = git(at_top, "rev-parse", "HEAD:wing/README.md")
    (at_top / ".git/objects" / digest[:2] / digest[2:]).unlink()
    refuse(monkeypatch, "open", "/wing/README.md")
    for tree in (working_tree(at_top, ""), git_tree(at_top, "")):
        catalog = load(tree)
        assert list(catalog.entries) == ["wing/r/e"]
        assert [(one.code, one.place.path) for one in catalog.findings] == [("unreadable", "wing/README.md")]


def sparse_tree(top: Path) -> WorkingTree:
    """Return the tree of the files on disk, which knows its repository."""
    return WorkingTree(top / "memory", repository=find_repository(top))


SPARSE = [
    ("set", "--cone", "src"),
    ("set", "--cone", "memory/v"),
    ("set", "--no-cone", "/memory/*", "!/memory/w/r/a.md"),
    ("set", "--no-cone", "/src/"),
    ("set", "--cone", "--sparse-index", "memory/v"),
]


@pytest.mark.parametrize("chosen", SPARSE)
def test_sparse_checkout_that_leaves_out_files_is_refused_with_what_to_type(top: Path, chosen: tuple[str, ...]) -> None:
    git(top, "sparse-checkout", *chosen)
    assert not (top / "memory/w/r/a.md").exists()
    with pytest.raises(
        GitError, match=r"^a sparse checkout left out files of the memory; type `git sparse-checkout add"
    ):
        sparse_tree(top).files()
    git(top, "sparse-checkout", "set", "--cone", "memory")
    assert "w/r/a.md" in listed(sparse_tree(top))


def test_command_that_ends_a_sparse_checkout_can_be_typed_for_any_folder(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path) / "our memory")
    write_entry(root, "w/r/a")
    write(tmp_path, "src/main.c", "")
    commit_all(tmp_path)
    git(tmp_path, "sparse-checkout", "set", "--no-cone", "/src/")
    with pytest.raises(GitError, match=r"type `git sparse-checkout add 'our memory'` to get them$"):
        WorkingTree(root, repository=find_repository(tmp_path)).files()


def test_root_in_a_submodule_is_read_though_a_hook_of_the_outer_one_runs(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer = make_repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(top), "sub")
    for name, value in {"GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/index", "GIT_WORK_TREE": "."}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(outer)
    assert [len(tree.files()) for tree in trees(outer / "sub")] == [5, 5, 5]


def test_file_that_was_emptied_is_renamed_empty(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "a")
    tree = TreeView(WorkingTree(tmp_path), changed={}).with_changes({"a.md": b""}, [("a.md", "b.md")])
    assert content(tree) == {"b.md": b""}
