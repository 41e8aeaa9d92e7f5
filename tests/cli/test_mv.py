"""Test `mdmem mv`: every link to a moved entry is updated, and nothing else changes."""

import json
import posixpath
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders import Run, commit_all, entry_text, git, make_root, snapshot, write, write_entry
from hypothesis import assume, given
from hypothesis import strategies as st
from trees import HeldTree, case_of

from mdmem.checks.case import Case
from mdmem.errors import LostRaceError
from mdmem.markdown.parse import image_links
from mdmem.store.catalog.addresses import full_address
from mdmem.store.tree import Tree, TreeView
from mdmem.write.move import plan_moves

OLD, NEW = "nav/rules/callbacks", "nav/habits/blocking"


def linked(folder: Path, settings: str = "") -> Path:
    """Return a root with two rules in `nav/rules`, and an entry with every kind of link to the first."""
    root = make_root(folder, settings)
    write(root, "nav/README.md", "---\nkind: project\nowners: [Ada]\n---\n\n[rule](rules/callbacks.md#why)\n")
    write_entry(root, OLD, "A callback must not block. Rationale: tried.\n", type="invariant", title="Callbacks")
    write_entry(root, "nav/rules/near", "See [[callbacks]] and [it](callbacks.md).\n", see="callbacks", type="note")
    body = (
        "[see: nav/rules/callbacks, rules/near]\n\n"
        "[the rule](../rules/callbacks.md#why) and [[nav/rules/callbacks|it]]\n"
        "\n```\n[see: nav/rules/callbacks]\n```\n\n"
        "Inline `[[nav/rules/callbacks]]` stays.\n\n[1]: ../rules/callbacks.md\n"
    )
    relations = [f"{{type: follows, to: {OLD}}}"]
    fields = {"type": "note", "label": "entity", "entity": "Robot", "relations": relations, "see": [OLD]}
    write_entry(root, "nav/entities/robot", body, **fields)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return linked(tmp_path)


def text(root: Path, address: str) -> str:
    return (root / f"{address}.md").read_bytes().decode()


def codes(run: Run, cwd: Path) -> Counter[str]:
    ran = run("check", "--format", "json", cwd=cwd)
    return Counter(one["code"] for one in ran.json["findings"])


def test_mv_moves_the_file_as_it_is_and_rewrites_links_of_every_kind_and_no_code(root: Path, run: Run) -> None:
    before = text(root, OLD)
    assert run("mv", OLD, NEW).code == 0
    assert (text(root, NEW), (root / f"{OLD}.md").exists()) == (before, False)
    moved = text(root, "nav/entities/robot")
    assert f"see: [{NEW}]" in moved
    assert f"relations: [{{type: follows, to: {NEW}}}]" in moved
    assert f"[see: {NEW}, rules/near]" in moved
    assert f"[the rule](../habits/blocking.md#why) and [[{NEW}|it]]" in moved
    assert f"```\n[see: {OLD}]\n```\n\nInline `[[{OLD}]]` stays." in moved
    assert "[1]: ../habits/blocking.md\n" in moved
    assert (root / "nav/README.md").read_text().endswith("[rule](habits/blocking.md#why)\n")
    # Short links are written in full.
    assert f"see: {NEW}\n" in text(root, "nav/rules/near")
    assert text(root, "nav/rules/near").endswith(f"See [[{NEW}]] and [it](../habits/blocking.md).\n")


@pytest.mark.parametrize(
    ("to", "place"),
    [
        ("nav/habits/blocking", "nav/habits/blocking"),
        ("habits/blocking", "nav/habits/blocking"),
        ("blocking", "nav/rules/blocking"),
        ("nav/habits/", "nav/habits/callbacks"),
        ("./nav/habits/blocking.md", "nav/habits/blocking"),
    ],
)
def test_mv_takes_a_new_address_in_full_and_short(to: str, place: str, root: Path, run: Run) -> None:
    ran = run("mv", "callbacks", to)
    assert (ran.code, (root / f"{place}.md").exists(), (root / f"{OLD}.md").exists()) == (0, True, False)


@pytest.mark.parametrize(("old", "new"), [(OLD, NEW), ("nav/rules/", "nav/habits/"), ("nav/", "navigation/")])
def test_mv_makes_no_finding_and_back_gives_the_same_bytes(old: str, new: str, tmp_path: Path, run: Run) -> None:
    root = linked(tmp_path, settings='default_wing = "nav" # ours\n')
    write(root, "nav/rules/README.md", "Rules.\n\n[r](../entities/robot.md)\n")
    # A short link is written in full and stays so; inside a folder that moves whole it stays short.
    robot = text(root, "nav/entities/robot").replace(", rules/near", ", nav/rules/near")
    write(root, "nav/entities/robot.md", robot)
    if old == OLD:
        write_entry(root, "nav/rules/near", f"See [[{OLD}]].\r\n", see=OLD, type="note")
    before, found = snapshot(root), codes(run, root)
    assert run("mv", old, new, cwd=root).code == 0
    # A short link that would lead elsewhere is written in full, which ends a finding.
    left = codes(run, root)
    assert (left - found, (found - left).keys() - {"link-form"}) == (Counter(), set())
    assert snapshot(root) != before
    assert run("mv", new, old, cwd=root).code == 0
    assert snapshot(root) == before


def test_mv_of_a_room_takes_every_file_and_leaves_links_inside_it(root: Path, run: Run) -> None:
    write(root, "nav/rules/README.md", "[it](callbacks.md) [out](../entities/robot.md)\n")
    write(root, "nav/rules/plan.png", b"\x89PNG")
    ran = run("mv", "nav/rules/", "nav/habits/")
    assert ran.code == 0
    assert (root / "nav/habits/README.md").read_text() == "[it](callbacks.md) [out](../entities/robot.md)\n"
    assert (root / "nav/habits/plan.png").read_bytes() == b"\x89PNG"
    assert "[it](callbacks.md).\n" in text(root, "nav/habits/near")
    assert not (root / "nav/rules").exists()
    (root / "nav/habits/away").symlink_to(root.parent)
    ran = run("mv", "nav/habits/", "nav/rules/")
    assert (ran.code, "`nav/habits/away` is not a regular file" in ran.err) == (2, True)


def test_mv_of_a_wing_rewrites_settings_and_manifests(tmp_path: Path, run: Run) -> None:
    settings = (
        "# nav is ours\ndefault_wing = \"nav\"  # nav\ndefault_shared_wing = 'nav'\r\n"
        '[wings.nav.check]\nignore = ["expired"]\n[wings.nav_two.check]\nselect = []\n'
    )
    root = linked(tmp_path, settings)
    write_entry(root, "nav_two/rules/a", type="note")
    write(root, "arm/README.md", "---\nkind: project\nshared_wings:\n  - nav # first\n  - nav_two\n---\n")
    ran = run("mv", "nav/", "navigation/", cwd=root)
    assert ran.code == 0
    assert (root / "mdmem.toml").read_bytes().decode() == (
        "# nav is ours\ndefault_wing = \"navigation\"  # nav\ndefault_shared_wing = 'navigation'\r\n"
        '[wings.navigation.check]\nignore = ["expired"]\n[wings.nav_two.check]\nselect = []\n'
    )
    assert "  - navigation # first\n  - nav_two\n" in (root / "arm/README.md").read_text()
    assert "clients that know it as `nav` need `project_id: nav` in navigation/README.md\n" in ran.err


def test_mv_rewrites_the_known_findings(tmp_path: Path, run: Run) -> None:
    root = linked(tmp_path, '[check]\nbaseline = ".known.json"\n')
    records = [("expired", OLD), ("link-by-path", f"{OLD}-2"), ("stray-file", "nav/rules/plan.png")]
    lines = ",\n".join(json.dumps({"code": code, "address": place, "count": 1}) for code, place in records)
    write(root, ".known.json", f'{{"schema": 1, "findings": [\n{lines}\n]}}\n')
    before = (root / ".known.json").read_text()
    run("mv", OLD, NEW, cwd=root)
    assert (root / ".known.json").read_text() == before.replace(f'"{OLD}"', f'"{NEW}"')


def test_mv_names_what_cannot_be_read_and_moves_it(root: Path, run: Run) -> None:
    torn = f"---\ntype: [\n---\n[see: {OLD}]\n"
    write(root, "nav/rules/broken.md", torn)
    ran = run("mv", OLD, NEW)
    why = "`mdmem check nav/rules/broken.md` says why"
    said = f"nav/rules/broken.md cannot be read, and may have links to the old place; {why}\n"
    assert (ran.code, said in ran.err) == (0, True)
    ran = run("mv", "nav/rules/broken", "nav/rules/torn")
    assert (ran.code, "nav/rules/torn.md was moved but cannot be read: check the links in it\n" in ran.err) == (0, True)
    assert text(root, "nav/rules/torn") == torn


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        (OLD, "nav/rules/near", 4, "nav/rules/near exists already; "),
        (OLD, "nav/rules/NEAR", 2, "`NEAR` is not a valid name for an entry-id; "),
        ("nav/rules/", "nav/entities/", 4, "`nav/entities/` exists already; move its entries one by one"),
        ("nav/rules/", "nav/", 2, "`nav/` is not a place for a room; write WING/ROOM/"),
        ("nav/", "arm/rules/", 2, "`arm/rules/` is not a place for a wing; write WING/"),
        (OLD, "nav/", 2, "`nav/` is not a place for an entry; write WING/ROOM/ID"),
        ("nav/gone/", "nav/habits/", 1, "there is no wing or room `nav/gone/`; did you mean `nav/"),
        ("nav/rules/gone", "nav/rules/x", 1, "there is no entry `nav/rules/gone`"),
        (f"{OLD}/", "nav/habits/", 1, f"`{OLD}` is an entry; write it without the slash"),
        (OLD, "nav/rules/con", 2, "`con` is the name of a device"),
        (OLD, "nav/habits", 2, "`nav/habits` may be a room; write `nav/habits/` to move into it, or `nav/nav/habits`"),
        (OLD, "entities", 2, "`entities` may be a room; write `nav/entities/` to move into it, or `nav/rules/ent"),
    ],
)  # fmt: skip
def test_mv_refuses_in_one_sentence(old: str, new: str, code: int, said: str, root: Path, run: Run) -> None:
    ran = run("mv", old, new, unchanged=root)
    assert (ran.code, ran.out, ran.err.startswith(f"mdmem: {said}"), ran.err.count("\n")) == (code, "", True, 1)


def test_mv_changes_capital_letters_alone(tmp_path: Path, run: Run) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/Rules/Callbacks")
    write_entry(root, "nav/other/a", see=["nav/Rules/Callbacks"])
    assert run("mv", "nav/Rules/Callbacks", "nav/Rules/callbacks", cwd=root).code == 0
    assert run("mv", "nav/Rules/", "nav/rules/", cwd=root).code == 0
    assert "see: [nav/rules/callbacks]" in text(root, "nav/other/a")
    assert [path.name for path in (root / "nav").iterdir()].count("Rules") == 0


def test_mv_shows_what_changes_in_the_moved_file_itself(tmp_path: Path, run: Run) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/near")
    write_entry(root, OLD, see=["near"])
    ran = run("mv", OLD, NEW, "--dry-run", cwd=root)
    assert ran.out == (
        f"diff --git a/{OLD}.md b/{NEW}.md\nrename from {OLD}.md\nrename to {NEW}.md\n--- a/{OLD}.md\n+++ b/{NEW}.md\n"
        "@@ -2,7 +2,7 @@\n type: decision\n status: active\n created_at: 2026-03-05\n"
        "-see: [near]\n+see: [nav/rules/near]\n ---\n \n We decided.\n"
    )


def test_mv_rewrites_a_link_from_the_top_of_the_repository(folder: Path, run: Run) -> None:
    body = f"[a](/memory/{OLD}.md#why) [b](/src/main.py) [c](../../../src/main.py)\n"
    write_entry(folder / "memory", "nav/architecture/more", body, type="note")
    run("mv", "nav/", "navigation/")
    wanted = body.replace("/nav/", "/navigation/")
    assert text(folder / "memory", "navigation/architecture/more").endswith(f"\n\n{wanted}")


def test_mv_across_wings_against_a_supersession_is_refused(tmp_path: Path, run: Run) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/rules/b", supersedes=["nav/rules/a"], reason="better")
    ended = {"status": "deprecated", "deprecated_at": "2026-04-01", "superseded_by": ["nav/rules/b"]}
    write_entry(root, "nav/rules/a", **ended)
    write_entry(root, "arm/rules/x")
    ran = run("mv", "nav/rules/b", "arm/rules/b", cwd=root, unchanged=root)
    assert (ran.code, ran.err.startswith("mdmem: nothing was written: ")) == (2, True)


def test_mv_says_what_to_commit_together(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/architecture/more", see=[OLD])
    commit_all(folder)
    together = "commit these files together, with `git add` first: `git commit -a` omits the new ones\n"
    ran = run("mv", OLD, NEW)
    changed = f"changed memory/nav/architecture/more.md\n  see: {OLD} → {NEW}\n"
    assert ran.out == f"{changed}moved memory/{OLD}.md → memory/{NEW}.md\n"
    assert ran.err == together
    assert run("mv", "nav/architecture/more", "nav/rules/more").err == together
    # With only the deletion in the index, as for `git commit -a`, the check says which file is missing.
    git(folder, "add", "-u")
    add = "help: if it moved, run `git add -- memory/nav/rules/more.md` at the repository's top; otherwise restore the"
    assert add in run("check", "--staged").out
    name = "0006-every-write-has-an-idempotency-key"
    write_entry(folder / "memory", f"nav/rules/{name}")
    commit_all(folder)
    run("mv", "6", "nav/contracts/", "--commit")
    assert git(folder, "log", "-1", "--format=%s") == f"Move {name} to nav/contracts/"


def test_mv_takes_no_number_of_a_record_for_an_entry_id(root: Path, run: Run) -> None:
    write_entry(root, "nav/rules/0008-outbox")
    ran = run("mv", OLD, "8", unchanged=root)
    hint = "to use it as an entry-id, write `nav/rules/8`"
    assert (ran.code, ran.err) == (2, f"mdmem: `8` is the number of nav/rules/0008-outbox; {hint}\n")
    assert run("mv", OLD, "nav/rules/8").code == 0


@pytest.mark.parametrize(
    "command",
    [("mv", OLD, "zoo/rules/x"), ("supersede", OLD, "-m", "new", "--title", "New", "--place", "zoo/rules", "-b", "x")],
)
def test_wing_that_is_not_there_is_made_only_where_it_is_meant(command: tuple[str, ...], root: Path, run: Run) -> None:
    ran = run(*command)
    assert (ran.code, ran.err) == (2, "mdmem: there is no wing `zoo`; `--new-wing` makes one\n")
    assert run(*command, "--new-wing", "--shared").code == 0
    assert (root / "zoo/README.md").read_text().startswith("---\nkind: shared\n")


WINGS, ROOMS, IDS = ("nav", "arm"), ("rules", "arch"), ("a", "b", "c")
ADDRESSES = [f"{wing}/{room}/{one}" for wing in WINGS for room in ROOMS for one in IDS]
GONE = "nav/rules/gone"


def as_written(draw: st.DrawFn, target: str, near: str) -> str:
    """Draw one of the ways in which an entry may name another: in full, or as short as its place allows."""
    depth = [len(target.split("/")), *(3 - n for n in (1, 2) if target.split("/")[:n] == near.split("/")[:n])]
    return "/".join(target.split("/")[-draw(st.sampled_from(depth)) :])


@st.composite
def bodies(draw: st.DrawFn, near: str, targets: list[str]) -> str:
    """Draw a text with links of every form, some of them in code."""
    lines = ["It holds."]
    for target in draw(st.lists(st.sampled_from(targets), max_size=4)):
        short = as_written(draw, target, near)
        path = posixpath.relpath(f"{target}.md", posixpath.dirname(near))
        forms = [f"[see: {short}]", f"[[{short}]]", f"[[{short}|it]]", f"[it]({path})", f"[it](./{path}#why)"]
        forms += [f'[it](<{path}> "title")', f"![it]({path})", f"[1]: {path}"]
        line = draw(st.sampled_from(forms))
        lines.append(draw(st.sampled_from([line, line, f"`{line}`", f"```\n{line}\n```"])))
    return draw(st.sampled_from(["\n\n", "\r\n\r\n"])).join(lines) + "\n"


@dataclass(frozen=True)
class Memory:
    """Files by path, and a move in them."""

    files: dict[str, bytes]
    old: str
    new: str

    @property
    def tree(self) -> Tree:
        return HeldTree(self.files)

    def now(self, path: str) -> str:
        """Return the path of a file or folder after the move, even if there is no such file."""
        is_moved = path.removesuffix(".md") == self.old or path.startswith(f"{self.old}/")
        return self.new + path.removeprefix(self.old) if is_moved else path


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Draw a memory with links of every style, and the move of an entry, a room or a wing in it."""
    addresses = draw(st.lists(st.sampled_from(ADDRESSES), min_size=2, max_size=5, unique=True))
    targets = [*addresses, GONE]
    files = {}
    for address in addresses:
        fields: dict[str, object] = {"type": "note", "title": "x"}
        for name in draw(st.lists(st.sampled_from(["see", "produced", "conflicts_with"]), max_size=2, unique=True)):
            linked = [as_written(draw, one, address) for one in draw(st.lists(st.sampled_from(targets), max_size=3))]
            fields[name] = draw(st.sampled_from([linked, linked[0]])) if len(linked) == 1 else linked
        if draw(st.booleans()):
            to = as_written(draw, draw(st.sampled_from(targets)), address)
            fields |= {"label": "entity", "entity": "E", "relations": [f"{{type: uses, to: {to}}}"]}
        mark, ending = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["\n", "\r\n"]))
        text = entry_text(draw(bodies(address, targets)), **fields).replace("\r\n", "\n")
        files[f"{address}.md"] = (mark + text.replace("\n", ending)).encode()
    depth = draw(st.integers(1, 3))
    old = "/".join(draw(st.sampled_from(addresses)).split("/")[:depth])
    kinds = ((*WINGS, "leg"), (*ROOMS, "habits"), (*IDS, "new"))
    names = [draw(st.sampled_from(kind)) for kind in kinds[:depth]]
    return Memory(files, old, "/".join(names))


def edges(case: Case) -> Iterator[tuple[str, str, str]]:
    """Yield every link with its place, its kind, and its target."""
    for link in case.links:
        yield link.entry.address, link.field, link.target or f"?{link.written}"
    for entry in case.catalog.entries.values():
        for relation in entry.relations:
            target = full_address(relation.to, entry.address, case.catalog.addresses)
            yield entry.address, "relation", target or f"?{relation.to}"
    for reference in case.references:
        yield reference.address, "body", reference.path or reference.target or f"?{reference.link.target}"
    for address, _ in case.documents:
        for other in image_links(case.prose_of(address)):
            yield address, "other", posixpath.normpath(posixpath.join(posixpath.dirname(address), other.target))


@given(memories())
def test_every_link_leads_where_it_led_and_only_files_that_named_it_are_touched(memory: Memory) -> None:
    before = case_of(memory.tree)
    try:
        intent = plan_moves(before, {memory.old: memory.new})
    except LostRaceError:
        assume(False)
    contents = {one.path: one.after for one in intent.changes if one.after is not None}
    renames = [(one.path, one.to) for one in intent.changes if one.path != one.to]
    after = case_of(TreeView(memory.tree, changed={}).with_changes(contents, renames))
    wanted = Counter((memory.now(at), kind, memory.now(to)) for at, kind, to in edges(before))
    assert Counter(edges(after)) == wanted
    named = {f"{at}.md" for at, _, to in edges(before) if memory.now(to) != to}
    touched = {one.path for one in intent.changes if one.before != one.after or one.path != one.to}
    assert {path for path in touched if memory.now(path) == path} <= named
    assert {path for path in memory.files if memory.now(path) != path} <= touched
