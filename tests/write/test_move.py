"""Moves of any entry, room or wing: every link still leads where it led, and nobody else's file is touched."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from builders import entry_text
from hypothesis import assume, given
from hypothesis import strategies as st
from trees import ListedTree

from mdmem.checks.case import Case
from mdmem.errors import LostRaceError
from mdmem.markdown.parse import image_links
from mdmem.store.catalog.addresses import full_address
from mdmem.store.catalog.load import load
from mdmem.store.settings import Settings
from mdmem.store.tree import Tree, TreeFile, TreeView
from mdmem.write.change_set import ChangeSet
from mdmem.write.move import plan_moves

WINGS, ROOMS, IDS = ("nav", "arm"), ("rules", "arch"), ("a", "b", "c")
ADDRESSES = [f"{wing}/{room}/{one}" for wing in WINGS for room in ROOMS for one in IDS]
GONE = "nav/rules/gone"
# What a link that leads elsewhere, or is written in another way than before, would give.
FORMS = ("see", "wiki", "named", "file", "anchor", "quoted", "image", "definition")


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
        forms = (f"[see: {short}]", f"[[{short}]]", f"[[{short}|it]]", f"[it]({path})", f"[it](./{path}#why)")
        forms += (f'[it](<{path}> "title")', f"![it]({path})", f"[1]: {path}")
        line = forms[draw(st.integers(0, len(FORMS) - 1))]
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
        return ListedTree(tuple(map(TreeFile, self.files)), self.files)

    def now(self, path: str) -> str:
        """Return where a path is after the move, of what is not there, too."""
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
    """Yield every link as where it is, its kind, and the address or path that it leads to."""
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


def case_of(tree: Tree) -> Case:
    return Case(load(tree), Settings(), date(2026, 11, 21))


def moved(memory: Memory) -> tuple[ChangeSet, Case, Case]:
    """Return the intent of a memory's move and what the checks see before and after; skip one that is refused."""
    before = case_of(memory.tree)
    try:
        intent = plan_moves(before, {memory.old: memory.new})
    except LostRaceError:
        assume(False)
    contents = {one.path: one.after for one in intent.changes if one.after is not None}
    renames = [(one.path, one.to) for one in intent.changes if one.path != one.to]
    return intent, before, case_of(TreeView(memory.tree, changed={}).with_changes(contents, renames))


@given(memories())
def test_every_link_leads_where_it_led(memory: Memory) -> None:
    _, before, after = moved(memory)
    wanted = Counter((memory.now(at), kind, memory.now(to)) for at, kind, to in edges(before))
    assert Counter(edges(after)) == wanted


@given(memories())
def test_only_files_that_named_it_are_touched(memory: Memory) -> None:
    intent, before, _ = moved(memory)
    named = {f"{at}.md" for at, _, to in edges(before) if memory.now(to) != to}
    touched = {one.path for one in intent.changes if one.before != one.after or one.path != one.to}
    assert {path for path in touched if memory.now(path) == path} <= named
    assert {path for path in memory.files if memory.now(path) != path} <= touched
