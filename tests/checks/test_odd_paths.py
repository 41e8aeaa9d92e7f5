"""Test what a golden case cannot contain: odd names and kinds of files, entries in no wing, and secrets."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest
from builders import commit_all, git, make_repository, make_root, open_root, write, write_entry
from golden import read_rows
from trees import ListedTree, case_of, found_in, tree_of

from mdmem.checks.engine import run_checks
from mdmem.checks.fixes import relative
from mdmem.checks.rules.content import find_secrets
from mdmem.checks.run import CheckRequest, check
from mdmem.model.finding import Finding
from mdmem.store.catalog.load import load
from mdmem.store.git.process import find_repository
from mdmem.store.tree import FileKind, GitTree, Tree, TreeFile, WorkingTree
from mdmem.store.workspace.location import Snapshot
from mdmem.write.fix import fix

NAMES, LINKED, UNREADABLE = "unportable-name", "symlink-or-submodule", "unreadable"
IN_CASE = "app/rules/use-utc.md: error `app/rules/use-utc.md` and `app/rules/Use-UTC.md` differ only in case"


@pytest.mark.parametrize(("paths", "found"), read_rows("checks/names.txt"))
def test_name_that_windows_refuses_or_that_folds_to_another_is_found_once(paths: str, found: str) -> None:
    assert (found_in(tree_of(*paths.split(", ")), NAMES) or ["none"]) == [found]


@pytest.mark.parametrize(
    ("tree", "tracked", "expected"),
    [
        (tree_of("app/rules/use-utc.md"), ["app/rules/Use-UTC.md"], []),
        (
            tree_of("app/rules/use-utc.md"),
            ["app/rules/Use-UTC.md", "app/rules/use-utc.md", "src/Main.c", "src/main.c"],
            [IN_CASE],
        ),
        (
            ListedTree((TreeFile("app/rules/use-utc.md", digest="0" * 40),)),
            ["app/rules/Use-UTC.md", "app/rules/use-utc.md"],
            [],
        ),
    ],
    ids=["renamed on disk", "the disk folds names", "git lists the tree"],
)
def test_index_is_compared_apart_from_the_disk(tree: Tree, tracked: list[str], expected: list[str]) -> None:
    assert found_in(tree, NAMES, tracked=tracked) == expected


def test_name_is_reported_by_one_check() -> None:
    assert found_in(tree_of("app/rules/when: now.md", "app/rules/caf\udce9.md"), "bad-name") == []
    assert found_in(tree_of("a/b/x\ty.md", "app/rules/c\u200bd.md", "app/rules/é 時.md"), NAMES) == []


def test_control_and_invisible_characters_in_names_have_a_check_of_their_own() -> None:
    tree = tree_of("a/b/x\ty.md", "a/\udcff\n/y.md", "app/rules/c\u200bd.md", "app/rules/é 時.md")
    spoilt = "the name `a/<U+DCFF><U+000A>/y.md` contains control character U+000A, so nothing reads it"
    assert found_in(tree, "invisible-characters") == [
        "a/b/x\\ty.md: error the name `a/b/x<U+0009>y.md` contains control character U+0009, so nothing reads it",
        rf"a/\udcff\n/y.md: error {spoilt}",
        "app/rules/c\\u200bd.md: error the name `app/rules/c<U+200B>d.md` contains zero width space U+200B",
    ]


def test_link_to_a_name_that_is_not_utf8_has_its_bytes_as_escapes() -> None:
    assert relative("app/rules/\udcfe b.md", "app/other/a.md", "use-utc.md#why") == "../rules/%FE%20b.md#why"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_root(make_repository(tmp_path / "p") / "memory")
    write_entry(root, "app/rules/use-utc")
    return root


def staged(folder: Path, under: str = "memory") -> GitTree:
    repository = find_repository(folder)
    assert repository is not None
    return GitTree(repository, under, None, "staged")


def test_repository_in_the_memory_is_found_on_disk_and_in_the_index(root: Path) -> None:
    inner = make_repository(root / "shared")
    write_entry(inner, "rules/a")
    commit = commit_all(inner)
    git(root.parent, "update-index", "--add", "--cacheinfo", f"160000,{commit},memory/shared")
    said = "error this is a repository of its own; nothing in it is read"
    for tree in (WorkingTree(root), staged(root)):
        assert found_in(tree, "submodule") == [f"shared: {said}"]
    # A worktree counts for its file `.git`.
    (root / "app/rules/.git").write_text("gitdir: ../elsewhere\n")
    assert found_in(WorkingTree(root), LINKED) == [f"app/rules: {said}", f"shared: {said}"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("use-utc.md", "a symbolic link to `use-utc.md`; links are not followed"),
        ("../../app/../app/rules/use-utc.md", "a symbolic link to `../../app/../app/rules/use-utc.md`; links are not"),
        ("..almost", "a symbolic link to `..almost`; links are not followed"),
        ("../../../secrets/key.md", "a symbolic link leaves the memory for `../../../secrets/key.md`"),
        ("/etc/passwd", "a symbolic link leaves the memory for `/etc/passwd`"),
        ("../../../memory-too/app/rules/a.md", "a symbolic link leaves the memory for `../../../memory-too/app"),
        ("../../..", "a symbolic link leaves the memory for `../../..`"),
    ],
)
def test_link_is_found_on_disk_and_in_the_index(root: Path, target: str, message: str) -> None:
    (root / "app/rules/key.md").symlink_to(target)
    commit_all(root.parent)
    for tree in (WorkingTree(root), staged(root)):
        (found,) = found_in(tree, "path-escapes-root")
        assert found.startswith(f"app/rules/key.md: error {message}")


def test_link_to_a_room_and_a_manifest_are_found_and_not_read(root: Path) -> None:
    write(root, "app/manifest.txt", "---\nkind: shared\n---\n")
    (root / "app/copy").symlink_to("rules", target_is_directory=True)
    (root / "app/README.md").symlink_to("manifest.txt")
    # A file that contains a path and a room called git are plain.
    write(root, "app/rules/utc.md", "use-utc.md")
    write_entry(root, "app/git/use-utc")
    assert found_in(WorkingTree(root), LINKED) == [
        "app/README.md: error a symbolic link to `manifest.txt`; links are not followed",
        "app/copy: error a symbolic link to `rules`; links are not followed",
    ]
    assert list(load(WorkingTree(root)).entries) == ["app/git/use-utc", "app/rules/use-utc"]
    assert not load(WorkingTree(root)).wings["app"].is_shared
    assert found_in(WorkingTree(root), "manifest-invalid") == []


def test_links_outside_the_wings_are_not_the_memorys_where_the_root_is_the_top(tmp_path: Path) -> None:
    top = make_root(make_repository(tmp_path))
    write(top, "app/README.md", "---\nkind: project\n---\n")
    write(top, "CHANGELOG.md", "# Changes\n")
    write(top, "src/main.c", "")
    (top / "docs").symlink_to("src", target_is_directory=True)
    commit_all(top)
    for tree in (WorkingTree(top, is_top=True), staged(top, "")):
        assert [file.path for file in tree.files()] == ["app/README.md", "mdmem.toml"]


def test_file_and_folder_that_refuse_are_unreadable() -> None:
    refused = {"kind": FileKind.UNREADABLE, "reason": "Permission denied"}
    tree = ListedTree((TreeFile("app/rules/a.md", **refused), TreeFile("app/time", **refused), TreeFile("app/b/c.md")))
    expected = [f"{path}: error cannot be read: permission denied" for path in ("app/rules/a.md", "app/time")]
    assert found_in(tree, UNREADABLE) == expected
    assert list(load(tree).broken) == ["app/rules/a.md"]


CODE = "wing-without-manifest"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Return a repository that is a memory, with a rule in a folder without a manifest, and one that git ignores."""
    top = make_root(make_repository(tmp_path / "p"), 'default_wing = "team"\n')
    write(top, "team/README.md", "---\nkind: project\nowners: [Ada]\n---\n")
    write_entry(top, "team/rules/a", title="A")
    write_entry(top, "ops/rules/no-root", title="No root")
    write_entry(top, "build/rules/copy", title="Copy")
    write(top, ".gitignore", "build/\n")
    return top


@pytest.mark.parametrize("snapshot", [Snapshot(), Snapshot(staged=True), Snapshot(revision="HEAD")])
@pytest.mark.parametrize("paths", [(), ("ops/rules/no-root.md",)])
def test_entry_without_a_wing_is_told_in_every_tree(top: Path, paths: tuple[str, ...], snapshot: Snapshot) -> None:
    commit_all(top)
    report = check(open_root(top).at(snapshot), CheckRequest(paths=paths))
    assert [(one.code, one.place.path) for one in report.findings] == [(CODE, "ops/rules/no-root.md")]


def test_manifest_that_is_taken_away_is_one_finding_and_no_deletion(top: Path) -> None:
    commit_all(top)
    git(top, "rm", "-q", "team/README.md")
    report = check(open_root(top).at(Snapshot(staged=True)), CheckRequest(base="HEAD"))
    new = [(one.code, one.place.path) for one in report.findings if one.new]
    assert new == [("unknown-wing", "mdmem.toml"), (CODE, "team/README.md")]


def test_link_to_a_file_that_git_mv_moved_is_mended_before_the_commit(root: Path) -> None:
    see = ["app/rules/use-utc"]
    write_entry(root, "app/rules/a", "We do.\n\nRationale: [this](use-utc.md).\n", title="A", see=see)
    commit_all(root.parent)
    git(root.parent, "mv", "memory/app/rules", "memory/app/times")
    write(root, "app/rules/b.md", (root / "app/times/a.md").read_bytes())
    request = CheckRequest(select=("dangling-link", "body-link-broken"))
    found = [one for one in check(open_root(root), request).findings if one.code == "dangling-link"]
    moved = "moved to `app/times/use-utc` in git's index"
    assert {one.message.partition(", which ")[2] for one in found} == {moved}
    assert "; `mdmem mv` moves an entry with its links" in found[0].help
    fix(open_root(root), request, with_unsafe=False, is_dry=False)
    assert check(open_root(root), request).findings == ()


def test_fix_is_offered_only_where_it_can_be_written(root: Path) -> None:
    write_entry(root, "app/rules/a", title="A", see=["use-utc"])
    commit_all(root.parent)
    request, workspace = CheckRequest(select=("short-address",)), open_root(root)
    fixes = [
        [one.fix is not None for one in check(workspace.at(snapshot), request).findings]
        for snapshot in (Snapshot(), Snapshot(staged=True), Snapshot(revision="HEAD"))
    ]
    assert fixes == [[True], [True], [False]]


def test_link_to_a_file_outside_the_memory_that_is_not_added_says_that_git_does_not_track_it(root: Path) -> None:
    write_entry(root, "app/rules/a", "We do.\n\nRationale: [this](../../../docs/plan.md).\n", title="A")
    commit_all(root.parent)
    for help_ in ("correct the path, or remove the link", "`git add` it, correct the path, or remove the link"):
        (found,) = check(open_root(root), CheckRequest(select=("body-link-broken",))).findings
        assert (found.message, found.help) == ("`../../../docs/plan.md` is not a file that git tracks", help_)
        write(root.parent, "docs/plan.md", "A plan.\n")
    commit_all(root.parent)
    assert check(open_root(root), CheckRequest(select=("body-link-broken",))).findings == ()


ALNUM = string.ascii_letters + string.digits


def noise(length: int, alphabet: str = ALNUM) -> str:
    return "".join(random.Random(length).choices(alphabet, k=length))


UPPER = string.ascii_uppercase + string.digits
REAL = {
    "an AWS access key": "AK" + "IA" + noise(16, UPPER),
    "a Google key": "AI" + "za" + noise(35),
    "a GitHub token": "gh" + "p_" + noise(36),
    "an npm token": "np" + "m_" + noise(36),
    "a Stripe key": "sk" + "_live_" + noise(24),
    "a Hugging Face token": "h" + "f_" + noise(34, string.ascii_letters),
    "a GitLab token": "gl" + "pat-" + noise(20),
    "a Slack token": "xo" + "xb-" + noise(11, string.digits) + "-" + noise(24),
    "a Slack webhook": f"hooks.{'slack'}.com/services/T{noise(10)}/B{noise(10, UPPER)}/{noise(24)}",
    "a PyPI token": "py" + "pi-AgE" + noise(80),
    "an Anthropic key": "sk" + "-ant-" + "api03-" + noise(90),
    "an OpenAI key": "sk" + "-proj-" + noise(40) + "T3Blbk" + "FJ" + noise(40),
    "an age key": "AGE-SECRET" + "-KEY-1" + noise(58, UPPER),
    "a JSON web token": "ey" + "J" + noise(30) + ".ey" + "J" + noise(60) + "." + noise(43),
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + noise(64) + "\n" + noise(63) + "\n",
    "a password in a URL": "postgres://orders:" + "k7Rw" + "-q2Vz!m" + "@db.internal/orders",
    "a password or key": 'DB_PASSWORD = "' + "k7Rw" + "-q2Vz!m" + '"',
}
ASSIGNED = (
    'password: "{}"',
    "client_secret = '{}'",
    '"apiKey": "{}"',
    "SHOP_TOKEN={}",
    "export API_KEY={}",
    "access_key := '{}'",
)


@pytest.mark.parametrize("kind", REAL)
def test_secret_is_named_by_its_kind(kind: str) -> None:
    text = f"Deploy with\n{REAL[kind]}\nevery day."
    assert [found for found, _, _ in find_secrets(text)] == [kind]


@pytest.mark.parametrize("line", ASSIGNED)
def test_random_value_assigned_to_a_telling_name_is_a_secret(line: str) -> None:
    value = "k7Rw" + "q2VzmX9d"
    ((_, offset, width),) = find_secrets(line.format(value))
    assert line.format(value)[offset : offset + width] == value


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "x" * 36,
        "AKIAIOSFODNN7EXAMPLE",
        "mask-" + noise(40) + "T3BlbkFJ" + noise(40),
        "postgres://postgres:postgres@localhost/orders",
        "postgres://orders:" + "k7Rw" + "-q2Vz!m" + "@localhost/orders",
        "postgres://orders:${PASSWORD}@db.internal/orders",
        "https://host:8080/path/to@v2",
        'password = "<password>"',
        'token: "{{ secrets.DEPLOY_TOKEN_2 }}"',
        'secret: "db-credentials-v2"',
        "token = request.headers['X-Token-2']",
        "The token expired on 2026-01-05T10:30:00Z: renew it.",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        'hash = "' + noise(40, "0123456789abcdef") + '"',
    ],
)
def test_placeholder_is_no_secret(text: str) -> None:
    assert list(find_secrets(text)) == []


def secrets_in(root: Path, text: str) -> list[Finding]:
    write(root, "shop/rules/a.md", text)
    return run_checks(case_of(root), ["secret-like-text"])


def test_finding_stands_at_the_secret_and_does_not_repeat_it_and_in_a_code_fence_is_a_warning(tmp_path: Path) -> None:
    token = REAL["a GitHub token"]
    head = "---\ntype: note\nstatus: active\ncreated_at: 2026-01-05\n---\n\n"
    found = secrets_in(tmp_path, f"{head}```\nuse {token}\n```\n\nuse {token}\n")
    places = [(one.place.line, one.place.column, one.place.width, str(one.severity)) for one in found]
    assert places == [(8, 5, len(token), "warning"), (11, 5, len(token), "error")]
    assert not any(token in f"{one.message}{one.help}" for one in found)


def test_front_matter_and_unparsed_files_are_searched(tmp_path: Path) -> None:
    (finding,) = secrets_in(tmp_path, f"---\nx-token: {REAL['an npm token']}\nno closing fence\n")
    assert finding.message == "this looks like an npm token"
    assert finding.place.line == 2
