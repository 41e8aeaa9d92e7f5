"""A lineage as a tree: what stands above an entry, and what below."""

from editors import Hand
from lsprotocol import types
from memories import DRAFT, ONE, RULE, THREADS

from mdmem.lsp.hierarchy import prepare, subtypes, supertypes


def item(hand: Hand, path: str, marked: str) -> types.TypeHierarchyItem:
    params = types.TypeHierarchyPrepareParams(hand.document(path), hand.at(path, marked))
    found = prepare(*hand.page(path), params)
    assert found is not None
    return found[0]


def test_a_chain_is_walked_both_ways(reader: Hand) -> None:
    def above(one: types.TypeHierarchyItem) -> list[types.TypeHierarchyItem]:
        return supertypes(reader.roots, types.TypeHierarchySupertypesParams(one))

    oldest = item(reader, THREADS, "[nav/architecture/one-|thread]")
    assert (oldest.name, oldest.uri, oldest.tags) == ("Use one thread", reader.uri(ONE), [types.SymbolTag.Deprecated])
    middle = above(oldest)[0]
    assert (middle.name, middle.detail) == ("Use two threads", "replaced by, in force, nav/architecture/threads")
    assert [(one.name, one.detail) for one in above(middle)] == [
        ("Use three threads", "may be replaced by, draft, nav/architecture/three-threads")
    ]
    below = subtypes(reader.roots, types.TypeHierarchySubtypesParams(item(reader, DRAFT, "We deci|ded")))
    assert [(one.name, one.detail) for one in below] == [
        ("Use two threads", "may replace, in force, nav/architecture/threads")
    ]
    below = subtypes(reader.roots, types.TypeHierarchySubtypesParams(middle))
    assert [one.detail for one in below] == ["replaces, ended, nav/architecture/one-thread"]


def test_overrides_are_part_of_it(hand: Hand) -> None:
    threads = "memory/nav/architecture/threads.md"
    hand.open(threads)
    hand.type(threads, "title:", "overrides: nav/rules/callbacks\ntitle:")
    rule = item(hand, RULE, "A call|back must")
    above = supertypes(hand.roots, types.TypeHierarchySupertypesParams(rule))
    assert [one.detail for one in above] == ["overridden by, in force, nav/architecture/threads"]
    below = subtypes(hand.roots, types.TypeHierarchySubtypesParams(above[0]))
    assert [one.detail for one in below] == ["overrides, in force, nav/rules/callbacks"]


def test_what_is_no_entry_has_no_tree(reader: Hand) -> None:
    gone = types.TypeHierarchyItem("x", types.SymbolKind.Class, "file:///no/such.md", _NOWHERE, _NOWHERE)
    assert supertypes(reader.roots, types.TypeHierarchySupertypesParams(gone)) == []
    manifest = "memory/nav/README.md"
    params = types.TypeHierarchyPrepareParams(reader.document(manifest), types.Position(0, 0))
    assert prepare(*reader.page(manifest), params) is None


_NOWHERE = types.Range(types.Position(0, 0), types.Position(0, 0))
