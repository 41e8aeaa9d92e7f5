"""Test the steps that an editor offers for entries, such as approving, and renames."""

import json

import pytest
from builders import commit_all, git, run_here, write, write_entry
from editors import Hand
from lsprotocol import types
from memories import RULE, THREADS
from pygls.exceptions import JsonRpcException

from mdmem.lsp.edit import prepare_rename, rename, will_rename
from mdmem.lsp.memory import Capabilities
from mdmem.lsp.server import Server

POOL = "memory/nav/architecture/pool.md"
DRAFT = "memory/nav/architecture/draft.md"
WHOLE = ["Verify: still true today", "Put under review", "Supersede with a new draft", "Deprecate"]


@pytest.fixture
def lived(hand: Hand) -> Hand:
    """An editor for a memory with a decision that links another, and a draft."""
    root = hand.folder / "memory"
    write_entry(root, "nav/architecture/pool", title="A pool", see=["nav/architecture/threads"], approved_by="Ada")
    drafted = {"supersedes": ["nav/architecture/pool"], "reason": "it is late"}
    write_entry(root, "nav/architecture/draft", title="No pool 😀", status="draft", **drafted)
    commit_all(hand.folder)
    return hand


def offered(hand: Hand, path: str, where: int | str = 0) -> dict[str, types.CodeAction]:
    return {one.title: one for one in hand.actions(path, where, only="refactor")}


def codes(capsys: pytest.CaptureFixture[str], hand: Hand) -> list[str]:
    """Return the codes of the errors that `mdmem check` finds in the saved files."""
    ran = run_here(capsys, "check", "--format", "json", cwd=hand.folder)
    return sorted({one["code"] for one in json.loads(ran.out)["findings"] if one["severity"] == "error"})


def test_steps_depend_on_the_state_of_the_entry(lived: Hand) -> None:
    for path in (POOL, DRAFT):
        lived.open(path)
    assert list(offered(lived, POOL)) == WHOLE
    assert list(offered(lived, DRAFT)) == ["Approve this draft", "Deprecate"]
    lived.type(POOL, "status: active", "status: deprecated\ndeprecated_at: 2026-03-06\ndeprecated_reason: r")
    assert not offered(lived, POOL)
    lived.type(POOL, "type: decision", "type: [")
    assert not offered(lived, POOL)
    assert not lived.actions(DRAFT, by_itself=True), "an editor that asks at each step is told fixes alone"
    lived.document(POOL)
    lived.open("memory/nav/README.md")
    assert not offered(lived, "memory/nav/README.md")


def test_step_supersede_writes_both_ends(lived: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    lived.open(POOL)
    lived.open(THREADS)
    lived.type(THREADS, "measured", "measured 😀 twice")
    title = "Supersede nav/architecture/threads"
    assert title not in offered(lived, POOL, "title: A po|ol")
    lived.apply(offered(lived, POOL, "architecture/thr|eads")[title].edit)
    lived.save()
    older, newer = ((lived.folder / path).read_text(encoding="utf-8") for path in (THREADS, POOL))
    assert "supersedes: [nav/architecture/threads]\n" in newer
    assert 'reason: "<say why>"\n' in newer
    ended = ("status: deprecated\n", "superseded_by: [nav/architecture/pool]\n", "measured 😀 twice")
    assert all(one in older for one in ended)
    assert codes(capsys, lived) == ["template-leftover"], "a reason is still to be given"
    lived.type(POOL, '"<say why>"', "a pool is faster")
    lived.save()
    assert codes(capsys, lived) == []


def test_draft_is_approved_in_the_name_of_gits_user(lived: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    git(lived.folder, "config", "user.name", "Ada")
    git(lived.folder, "config", "user.email", "ada@example.org")
    lived.open(DRAFT)
    lived.apply(offered(lived, DRAFT)["Approve this draft"].edit)
    lived.save()
    assert "approved_by: Ada <ada@example.org>" in (lived.folder / DRAFT).read_text(encoding="utf-8")
    assert "superseded_by: [nav/architecture/draft]" in (lived.folder / POOL).read_text(encoding="utf-8")
    assert codes(capsys, lived) == []


def test_template_and_wing_of_other_owners_offer_no_approval(lived: Hand) -> None:
    lived.open(DRAFT)
    lived.type(DRAFT, "We decided.", "<State what was decided in one sentence.>")
    assert "Approve this draft" not in offered(lived, DRAFT)
    lived.type(DRAFT, "<State what was decided in one sentence.>", "We decided.")
    assert "Approve this draft" in offered(lived, DRAFT)
    write(lived.folder, "memory/mdmem.toml", '[governance]\napprovals = "owners"\n')
    lived.look()
    assert "Approve this draft" not in offered(lived, DRAFT)


def test_entry_is_doubted_verified_and_deprecated(lived: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    write(lived.folder, POOL, (lived.folder / POOL).read_bytes().replace(b"\n", b"\r\n"))
    lived.open(POOL)
    lived.apply(offered(lived, POOL)["Put under review"].edit)
    document = lived.document(POOL)
    assert "status: under_review\r\n" in document.text
    assert 'x-review-reason: "<say why>"\r\n' in document.text
    lived.save()
    assert codes(capsys, lived) == ["template-leftover"]
    lived.apply(offered(lived, POOL)["Verify: still true today"].edit)
    lived.save()
    text = (lived.folder / POOL).read_bytes().decode()
    assert "verified_at: 2026-11-21\r\n" in text
    assert "x-review-reason" not in text
    assert text.count("\r\n") == text.count("\n")
    assert codes(capsys, lived) == []
    lived.apply(offered(lived, POOL)["Deprecate"].edit)
    lived.save()
    assert 'deprecated_reason: "<say why>"' in (lived.folder / POOL).read_text(encoding="utf-8")
    assert "template-leftover" in [one.code for one in lived.document(POOL).memory.findings]


def test_new_draft_gets_a_free_address_next_to_the_old_entry(lived: Hand) -> None:
    lived.open(THREADS)
    write_entry(lived.folder / "memory", "nav/architecture/threads-2", title="Taken")
    lived.look()
    lived.apply(offered(lived, THREADS)["Supersede with a new draft"].edit)
    lived.save()
    new = (lived.folder / "memory/nav/architecture/threads-3.md").read_text(encoding="utf-8")
    assert "status: draft\n" in new
    assert 'supersedes: [nav/architecture/threads]\nreason: "<say why>"\n' in new
    assert "status: active" in lived.document(THREADS).text
    lived.document(THREADS).memory.capabilities = Capabilities(creates_files=False)
    assert "Supersede with a new draft" not in offered(lived, THREADS)


def test_step_that_breaks_the_memory_or_cannot_be_written_is_not_offered(
    lived: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived.open(THREADS)
    lived.type(THREADS, "type: decision", "type: decision\nsee: [nav/architecture/pool, nav/rules/callbacks]")
    assert "Supersede nav/architecture/pool" in offered(lived, THREADS, "architecture/po|ol")
    lost = offered(lived, THREADS, "rules/call|backs")
    assert "Supersede nav/rules/callbacks" not in lost, "an invariant would be lost"
    lived.open(POOL)
    lived.type(POOL, "see:", "supersedes:")
    assert "Supersede nav/architecture/pool" not in offered(lived, THREADS, "architecture/po|ol"), "not in a circle"
    assert offered(lived, THREADS)
    monkeypatch.setattr("os.access", lambda *_: False)
    assert not offered(lived, THREADS), "the file may not be written"


def test_refused_rename_is_an_error_response_and_no_bug(hand: Hand) -> None:
    hand.open(RULE)
    server = Server(hand.memories)
    params = types.RenameParams(hand.named(RULE), types.Position(0, 1), "architecture/threads")
    with pytest.raises(JsonRpcException, match="exists already"):
        server.protocol.fm.features[types.TEXT_DOCUMENT_RENAME](params)


NEAR = "memory/nav/rules/near.md"


@pytest.fixture
def linked(hand: Hand) -> Hand:
    """An editor for a memory with an entry that a field, a short link, a path and a baseline mention."""
    root = hand.folder / "memory"
    body = "Siehe 😀 [[callbacks]], [see: nav/rules/callbacks] and [it](../rules/callbacks.md#why).\n"
    write_entry(root, "nav/rules/near", body, title="Near", see=["nav/rules/callbacks"])
    write_entry(
        root,
        "nav/architecture/far",
        "A node must wait.\n\nRationale: it is late.\n",
        title="Far",
        type="invariant",
        amends=["nav/rules/callbacks"],
    )
    write(root, "mdmem.toml", '[check]\nbaseline = "known.json"\n\n[wings.nav.check]\nignore = []\n')
    known = '{"schema": 1, "findings": [\n{"code": "body-empty", "address": "nav/rules/callbacks", "count": 1}\n]}\n'
    write(root, "known.json", known)
    commit_all(hand.folder)
    return hand


def renamed(hand: Hand, path: str, marked: str, new: str) -> types.WorkspaceEdit | None:
    document = hand.document(path)
    return rename(document, types.RenameParams(hand.named(path), hand.at(path, marked), new))


def refused(hand: Hand, path: str, marked: str, new: str) -> str:
    with pytest.raises(JsonRpcException) as caught:
        renamed(hand, path, marked, new)
    assert caught.value.code == types.LSPErrorCodes.RequestFailed
    return caught.value.message


def test_rename_moves_the_file_and_updates_every_link(linked: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    linked.open(NEAR)
    linked.type(NEAR, "Near", "Nearer 😀")
    places = ("see: [nav/rules/|callbacks]", "[[call|backs]]", "rules/callbacks|.md#why")
    edit, *others = (renamed(linked, NEAR, marked, "architecture/no-blocking") for marked in places)
    assert others == [edit, edit]
    linked.apply(edit)
    linked.save()
    new = "nav/architecture/no-blocking"
    near = (linked.folder / NEAR).read_text(encoding="utf-8")
    links = (f"see: [{new}]", f"[see: {new}] and [it](../architecture/no-blocking.md#why)", "title: Nearer 😀")
    assert all(one in near for one in links)
    assert f"amends: [{new}]" in (linked.folder / "memory/nav/architecture/far.md").read_text(encoding="utf-8")
    assert f'"address": "{new}"' in (linked.folder / "memory/known.json").read_text(encoding="utf-8")
    assert run_here(capsys, "check", "--ignore", "unused-suppression", cwd=linked.folder).code == 0
    git(linked.folder, "add", "-A")
    told = git(linked.folder, "diff", "--cached", "--name-status", "-M100%")
    assert f"R100\tmemory/nav/rules/callbacks.md\tmemory/{new}.md" in told


def test_rename_shows_the_full_address(linked: Hand) -> None:
    linked.open(NEAR)

    def told(marked: str) -> str | None:
        document = linked.document(NEAR)
        found = prepare_rename(document, types.PrepareRenameParams(linked.named(NEAR), linked.at(NEAR, marked)))
        return found.placeholder if found is not None else None

    assert told("[[call|backs]]") == "nav/rules/callbacks"
    assert told("-|--\ntype") == "nav/rules/near", "the first line stands for the entry itself"
    assert told("title: Ne|ar") is told("Sie|he") is None
    assert renamed(linked, NEAR, "Sie|he", "x") is None


def test_invalid_new_name_is_refused_in_one_sentence(linked: Hand) -> None:
    linked.open(NEAR)
    at = "[[call|backs]]"
    for new, said in (
        ("architecture/threads", "nav/architecture/threads exists already;"),
        ("No Name", "`No Name` is not a valid name for an entry-id; write it like `no-name`"),
        ("wing/nav/rules/x", "`wing/nav/rules/x` is not a place for an entry"),
        ("shop/rules/x", "there is no wing `shop`"),
        ("", "`` is not a place for an entry"),
    ):
        assert refused(linked, NEAR, at, new).startswith(said)
    assert renamed(linked, NEAR, at, "callbacks") is None, "the same name changes nothing"
    linked.document(NEAR).memory.capabilities = Capabilities(renames_files=False)
    said = "this editor cannot move files; use `mdmem mv nav/rules/callbacks nav/rules/x`"
    assert refused(linked, NEAR, at, "x") == said


def test_code_has_no_action_and_renames_no_entry(linked: Hand) -> None:
    write(linked.folder, "src/a.py", "# nav/rules/callbacks\n")
    linked.open("src/a.py")
    assert linked.actions("src/a.py") == []
    assert renamed(linked, "src/a.py", "nav/ru|les", "rules/quick") is None


def moved(hand: Hand, **paths: str) -> types.WorkspaceEdit | None:
    files = [types.FileRename(hand.uri(old), hand.uri(new)) for old, new in paths.items()]
    return will_rename(hand.memories, types.RenameFilesParams(files))


def test_links_follow_files_that_the_editor_moves(linked: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    linked.open(RULE)
    new = {RULE: "memory/nav/architecture/calls.md", NEAR: "memory/nav/architecture/near.md"}
    edit = moved(linked, **new)
    assert edit is not None
    assert not any(isinstance(one, types.RenameFile) for one in edit.document_changes or ())
    linked.apply(edit)
    linked.save()
    for old, to in new.items():
        (linked.folder / old).rename(linked.folder / to)
    text = (linked.folder / new[NEAR]).read_text(encoding="utf-8")
    assert "see: [nav/architecture/calls]" in text
    assert "[it](calls.md#why)" in text
    linked.look()
    commit_all(linked.folder)
    assert run_here(capsys, "check", "--ignore", "unused-suppression", cwd=linked.folder).code == 0


def test_links_follow_a_room_that_the_editor_moves(linked: Hand) -> None:
    linked.open(NEAR)
    linked.apply(moved(linked, **{"memory/nav/rules": "memory/nav/laws"}))
    assert "see: [nav/laws/callbacks]" in linked.document(NEAR).text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (RULE, "callbacks.md"),
        ("memory/mdmem.toml", "memory/x.toml"),
        (RULE, "memory/nav/rules/callbacks.txt"),
        ("src", "lib"),
    ],
)
def test_move_of_another_file_needs_no_edit(linked: Hand, old: str, new: str) -> None:
    linked.open(RULE)
    assert moved(linked, **{old: new}) is None


LONG = f"memory/nav/rules/{'a' * 300}.md"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (LONG, NEAR, "name too long"),
        (RULE, LONG, "name too long"),
        ("memory/nav/rules", f"memory/nav/{'a' * 300}", "name too long"),
        (RULE, "memory/nav/rules/Call Backs.md", "is not a valid name for an entry-id"),
    ],
)
def test_move_with_an_impossible_name_is_refused(linked: Hand, old: str, new: str, said: str) -> None:
    linked.open(RULE)
    with pytest.raises(JsonRpcException, match=said):
        moved(linked, **{old: new})


def test_file_that_changed_on_disk_is_read_again(linked: Hand) -> None:
    linked.open(NEAR)
    assert linked.document(NEAR).memory.catalog.document("nav/architecture/far.md")
    write_entry(linked.folder / "memory", "nav/architecture/far", "It binds!\n", amends=["nav/rules/callbacks"])
    assert "changed meanwhile" in refused(linked, NEAR, "[[call|backs]]", "x")
    linked.apply(renamed(linked, NEAR, "[[call|backs]]", "x"))
