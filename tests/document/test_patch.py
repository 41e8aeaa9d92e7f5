"""Patches of front matter: the bytes before and after, key by key and item by item."""

import pytest
import yaml

from mdmem.document import patch
from mdmem.document.parse import Document, parse_document
from mdmem.document.patch import UnpatchableError
from mdmem.finding import Edit

PATH = "w/r/e.md"


def entry(front: str, *, body: str = "\nBody.\n") -> Document:
    """Return the document of a front matter, its line breaks as they are."""
    line_break = "\r\n" if "\r\n" in front else "\n"
    return parse_document(PATH, f"---{line_break}{front}---{line_break}{body}".encode())


def front_after(document: Document, edits: tuple[Edit, ...]) -> str:
    """Return the front matter of the patched document."""
    text = patch.apply_edits(document.data, edits).decode()
    start = text.index("\n") + 1
    return text[start : text.rindex("---", 0, len(text) - len(document.body))]


SETS = {
    "plain": ("title: a\n", {"title": "b"}, "title: b\n"),
    "plain that needs quotes": ("title: a\n", {"title": "a: b"}, 'title: "a: b"\n'),
    "plain beside a comment": ("title: a # why\n", {"title": "b"}, "title: b # why\n"),
    "plain that holds a sharp": ("title: a\n", {"title": "Update #2"}, 'title: "Update #2"\n'),
    "plain with an apostrophe inside": ("title: a\n", {"title": "don't"}, "title: don't\n"),
    "plain that another reader would type": ("title: a\n", {"title": "no"}, 'title: "no"\n'),
    "plain that means nothing": ("owner: a\n", {"owner": "null"}, 'owner: "null"\n'),
    "aligned": ("type:    note\nstatus:  draft\n", {"status": "active"}, "type:    note\nstatus:  active\n"),
    "trailing blanks": ("title: a  \n", {"title": "b"}, "title: b  \n"),
    "single quotes": ("title: 'a'\n", {"title": "don't: b"}, "title: 'don''t: b'\n"),
    "single quotes that cannot hold it": ("title: 'a'\n", {"title": "a\nb"}, 'title: "a\\nb"\n'),
    "double quotes": ('title: "a" # why\n', {"title": 'say "b" \\'}, 'title: "say \\"b\\" \\\\" # why\n'),
    "non-ASCII before and in it": ("x-ü: 🙂\ntitle: ü\n", {"title": "é"}, "x-ü: 🙂\ntitle: é\n"),
    "quoted key": ('"title": a\n', {"title": "b"}, '"title": b\n'),
    "date": ("created_at: 2026-03-05\n", {"created_at": "2026-04-10"}, "created_at: 2026-04-10\n"),
    "moment": (
        "created_at: 2026-03-05\n",
        {"created_at": "2026-04-10T12:00:00+01:00"},
        "created_at: 2026-04-10T12:00:00+01:00\n",
    ),
    "date where text stood": ("title: a\n", {"title": "2026-04-10"}, 'title: "2026-04-10"\n'),
    "number": ("version: 1\n", {"version": "2"}, "version: 2\n"),
    "carriage returns": ("type: note\r\ntitle: a\r\n", {"title": "b"}, "type: note\r\ntitle: b\r\n"),
    "indented keys": ("  type: note\n  title: a\n", {"title": "b"}, "  type: note\n  title: b\n"),
    "no value": ("owner:\n", {"owner": "a"}, "owner: a\n"),
    "no value but blanks": ("owner:   \n", {"owner": "a"}, "owner:   a\n"),
    "no value but a comment": ("owner:   # who\n", {"owner": "a"}, "owner: a   # who\n"),
    "no value before a carriage return": ("owner: \r\n", {"owner": "a"}, "owner: a\r\n"),
    "word for nothing": ("owner: ~ # who\n", {"owner": "a"}, "owner: a # who\n"),
    "empty text": ("owner: a\n", {"owner": ""}, 'owner: ""\n'),
    "value on the next line": ("title:\n  a\ntype: note\n", {"title": "b"}, "title:\n  b\ntype: note\n"),
    "plain over lines": ("title: a\n  b # why\ntype: note\n", {"title": "c"}, "title: c # why\ntype: note\n"),
    "quoted over lines": ("title: 'a\n  b'\ntype: note\n", {"title": "c"}, "title: 'c'\ntype: note\n"),
    "literal": (
        "reason: | # why\n    a\n    b\n\n# c\ntype: note\n",
        {"reason": "x\n y\n"},
        "reason: | # why\n    x\n     y\n\n# c\ntype: note\n",
    ),
    "literal that ends without a break": ("reason: |\n  a\n", {"reason": "b"}, "reason: |-\n  b\n"),
    "literal that is stripped": ("reason: |-\n  a\ntype: note\n", {"reason": "b\n"}, "reason: |\n  b\ntype: note\n"),
    "literal that keeps": ("reason: |+\n  a\n\n# c\n", {"reason": "b"}, "reason: |-\n  b\n# c\n"),
    "literal with its indentation": ("reason: |2\n   a\n", {"reason": "b\n"}, "reason: |\n   b\n"),
    "literal with carriage returns": ("reason: |\r\n  a\r\n", {"reason": "b\nc\n"}, "reason: |\r\n  b\r\n  c\r\n"),
    "literal that cannot hold it": ("reason: | # why\n  a\n", {"reason": " b\n"}, 'reason: " b\\n" # why\n'),
    "folded": ("reason: >\n  a\n  b\n", {"reason": "c d\n"}, "reason: >\n  c d\n"),
    "folded that gets lines": ("reason: >-\n  a\n", {"reason": "b\nc"}, "reason: |-\n  b\n  c\n"),
    "list of one as text": ("tags: a\n", {"tags": ["b"]}, "tags: b\n"),
    "list of one becomes two": ("tags: 'a' # why\n", {"tags": ["a", "b"]}, "tags: ['a', 'b'] # why\n"),
    "list of one that a list cannot hold bare": ("tags: a, b\n", {"tags": ["a, b", "c"]}, 'tags: ["a, b", c]\n'),
    "text for a list field": ("tags: [a, b]\n", {"tags": "b"}, "tags: [b]\n"),
    "text where a list stood": ("title: [a]\nx-a: b\n", {"title": "c"}, "title: c\nx-a: b\n"),
    "text where a block list stood": ("title:\n- a\nx-a: b\n", {"title": "c"}, "title: c\nx-a: b\n"),
    "list where nothing stood": ("tags: # why\n", {"tags": ["a", "b"]}, "tags: [a, b] # why\n"),
    "list where nothing was named": ("tags: ~\n", {"tags": ["a"]}, "tags: [a]\n"),
    "flow list": ("tags: [a, 'b', c] # why\n", {"tags": ["b", "d"]}, "tags: ['b', d] # why\n"),
    "flow list in another order": ("tags: [a, 'b']\n", {"tags": ["b", "a"]}, "tags: ['b', a]\n"),
    "block list": (
        "tags:\n  - a # one\n  - 'b'\n",
        {"tags": ["x", "b", "c"]},
        "tags:\n  - x # one\n  - 'b'\n  - 'c'\n",
    ),
    "glob": ('applies_to: ["a/**"]\n', {"applies_to": ["a/**", "b"]}, 'applies_to: ["a/**", "b"]\n'),
    "removed": (
        "# a\ntype: note\n# b\ntitle: a # c\n# d\nx-a: b\n",
        {"title": None},
        "# a\ntype: note\n# b\n# d\nx-a: b\n",
    ),
    "block list removed": ("type: note\ntags:\n- a\n- b # c\n\nx-a: b\n", {"tags": None}, "type: note\n\nx-a: b\n"),
    "mapping removed": ("ignore:\n  a: b\n  c:\ntype: note\n", {"ignore": None}, "type: note\n"),
    "empty list removes": ("type: note\ntags: [a]\n", {"tags": []}, "type: note\n"),
    "last key removed": ("type: note\n", {"type": None}, ""),
    "first key": ("", {"type": "note"}, "type: note\n"),
    "first key under a comment": ("# a\n", {"type": "note"}, "# a\ntype: note\n"),
    "added in order": (
        "type: note\n# why\nstatus: draft\ntags: [a]\nx-a: b\n",
        {"see": ["r/a"], "title": "a", "x-b": "c", "version": "2"},
        "type: note\n# why\nstatus: draft\ntitle: a\nversion: 2\ntags: [a]\nsee: [r/a]\nx-a: b\nx-b: c\n",
    ),
    "added before the comment of its successor": (
        "# why\nstatus: draft\n",
        {"type": "note"},
        "type: note\n# why\nstatus: draft\n",
    ),
    "added behind its predecessor wherever that stands": (
        "tags: [a]\n\ntype: note # t\n# x\nx-a: b\n",
        {"status": "draft"},
        "tags: [a]\n\ntype: note # t\nstatus: draft\n# x\nx-a: b\n",
    ),
    "added behind a block list that grows": (
        "type: note\ntags:\n- a\n# end\n",
        {"see": ["w/r/a"], "tags": ["a", "b"]},
        "type: note\ntags:\n- a\n- b\nsee: [w/r/a]\n# end\n",
    ),
    "added where another is removed": (
        "type: note\ntitle: a\n",
        {"title": None, "owner": "b"},
        "type: note\nowner: b\n",
    ),
    "added with carriage returns": ("type: note\r\n", {"status": "draft"}, "type: note\r\nstatus: draft\r\n"),
    "added to indented keys": ("  type: note\n", {"status": "draft"}, "  type: note\n  status: draft\n"),
    "added behind a block scalar that keeps": ("title: |+\n  a\n\n", {"owner": "c"}, "title: |+\n  a\n\nowner: c\n"),
    "added behind a block scalar": ("title: |\n  a\n\nx-a: b\n", {"owner": "c"}, "title: |\n  a\nowner: c\n\nx-a: b\n"),
}


@pytest.mark.parametrize("case", SETS)
def test_set_fields_changes_these_bytes(loader: str, case: str) -> None:
    before, values, after = SETS[case]
    document = entry(before)
    assert document.fields is not None
    assert front_after(document, patch.set_fields(document, values)) == after
    assert patch.set_fields(entry(after), values) == ()


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="the loader in Python refuses a tab before a comment")
def test_set_fields_keeps_a_tab_behind_the_colon() -> None:
    document = entry("title:\ta\t# why\n")
    assert front_after(document, patch.set_fields(document, {"title": "b"})) == "title:\tb\t# why\n"


ADDS = {
    "flow": ("tags: [a, b]\n", "tags: [a, b, c]\n"),
    "flow without blanks": ("tags: [a,b]\n", "tags: [a,b,c]\n"),
    "flow with blanks inside": ("tags: [ a, b ] # why\n", "tags: [ a, b, c ] # why\n"),
    "flow of one": ('tags: ["a"]\n', 'tags: ["a", "c"]\n'),
    "flow with a last comma": ("tags: [a,]\n", "tags: [a, c,]\n"),
    "flow over lines": ("tags: [\n  a, # one\n  b # two\n]\n", "tags: [\n  a, # one\n  b, # two\n  c\n]\n"),
    "flow over lines with a last comma": ("tags: [\n  a,\n  # end\n]\n", "tags: [\n  a,\n  c,\n  # end\n]\n"),
    "flow that is wrapped": ("tags: [a,\n       b]\n", "tags: [a,\n       b, c]\n"),
    "flow whose bracket stands below": ("tags: [a, b\n  ]\n", "tags: [a, b, c\n  ]\n"),
    "flow with a comment behind the last": ("tags: [a, b # two\n  ]\n", "tags: [a, b, # two\n  c\n  ]\n"),
    "flow with carriage returns": ("tags: [\r\n  a\r\n]\r\n", "tags: [\r\n  a,\r\n  c\r\n]\r\n"),
    "flow with nothing": ("tags: []\n", "tags: [c]\n"),
    "flow with blanks only": ("tags: [ ]\n", "tags: [c]\n"),
    "flow with a comment only": ("tags: [ # none\n]\n", "tags: [ # none\n  c\n]\n"),
    "block": ("tags:\n  - a\n# end\n", "tags:\n  - a\n  - c\n# end\n"),
    "block at the margin": ("tags:\n- a # one\n\ntype: note\n", "tags:\n- a # one\n- c\n\ntype: note\n"),
    "block with wide dashes": ("tags:\n-   a\n", "tags:\n-   a\n-   c\n"),
    "block with carriage returns": ("tags:\r\n  - a\r\n", "tags:\r\n  - a\r\n  - c\r\n"),
    "block that ends with a literal": ("tags:\n- |\n  a\n\n", "tags:\n- |\n  a\n- c\n\n"),
    "text": ("tags: 'a'\n", "tags: ['a', 'c']\n"),
    "text on the next line": ("tags:\n  a\n", "tags:\n  [a, c]\n"),
    "no value": ("tags:\ntype: note\n", "tags: [c]\ntype: note\n"),
    "no key": ("type: note\n", "type: note\ntags: [c]\n"),
    "there already": ("tags: [c]\n", "tags: [c]\n"),
}


@pytest.mark.parametrize("case", ADDS)
def test_add_items_changes_these_bytes(loader: str, case: str) -> None:
    before, after = ADDS[case]
    document = entry(before)
    assert front_after(document, patch.add_items(document, "tags", ["c", "c"])) == after
    assert patch.add_items(entry(after), "tags", ["c"]) == ()


REMOVES = {
    "first": ("tags: [a, b]\n", 0, "tags: [b]\n"),
    "middle": ("tags: [a, b, c]\n", 1, "tags: [a, c]\n"),
    "last": ("tags: [a, b]\n", 1, "tags: [a]\n"),
    "last with blanks inside": ("tags: [ a, b ]\n", 1, "tags: [ a ]\n"),
    "last with a last comma": ("tags: [a, b,]\n", 1, "tags: [a,]\n"),
    "its own line": ("tags: [\n  a, # one\n  # on b\n  b,\n]\n", 0, "tags: [\n  # on b\n  b,\n]\n"),
    "its own line at the end": ("tags: [\n  a, # one\n  b # two\n]\n", 1, "tags: [\n  a # one\n]\n"),
    "its own line under a comment": ("tags: [\n  a,\n  # on b\n  b\n]\n", 1, "tags: [\n  a\n  # on b\n]\n"),
    "wrapped last": ("tags: [a,\n       b]\n", 1, "tags: [a]\n"),
    "wrapped last under a comment": ("tags: [a, # one\n       b]\n", 1, "tags: [a # one\n]\n"),
    "end of a wrapped line": ("tags: [a, b, # two\n  c]\n", 1, "tags: [a, # two\n  c]\n"),
    "start of a wrapped line": ("tags: [a,\n  b, c]\n", 1, "tags: [a,\n  c]\n"),
    "start of a list that goes on below": ("tags: [a, # one\n  b]\n", 0, "tags: [ # one\n  b]\n"),
    "comma below": ("tags: [a # x, y\n  , b]\n", 1, "tags: [a # x, y\n  ]\n"),
    "nested": ("tags: [a, {b: c}, [d, e]]\n", 1, "tags: [a, [d, e]]\n"),
    "block": ("tags:\n  - a # one\n  # on b\n  - b\n", 0, "tags:\n  # on b\n  - b\n"),
    "block with a comment above": ("tags:\n  - a\n  # on b\n  - b\n# end\n", 1, "tags:\n  - a\n  # on b\n# end\n"),
    "block with an empty item": ("tags:\n-\n- b\n", 0, "tags:\n- b\n"),
    "block item under its dash": ("tags:\n-\n  a\n- b\n", 0, "tags:\n- b\n"),
    "block item with a literal": ("tags:\n- |\n  a\n  b\n- c\n", 0, "tags:\n- c\n"),
    "nested block item": ("tags:\n- - a\n  - b\n- c: d\n  e: f\n", 1, "tags:\n- - a\n  - b\n"),
    "only one": ("type: note\ntags: [a] # why\nx-a: b\n", 0, "type: note\nx-a: b\n"),
    "only one of a block": ("type: note\ntags: # why\n- a\nx-a: b\n", 0, "type: note\nx-a: b\n"),
    "only one as text": ("type: note\ntags: a\nx-a: b\n", 0, "type: note\nx-a: b\n"),
}


@pytest.mark.parametrize("case", REMOVES)
def test_remove_item_changes_these_bytes(loader: str, case: str) -> None:
    before, item, after = REMOVES[case]
    document = entry(before)
    assert front_after(document, patch.remove_item(document, "tags", item)) == after


REPLACES = {
    "flow": ("see: [a, 'b'] # why\n", 1, "see: [a, 'c/d'] # why\n"),
    "flow over lines": ("see: [\n  a, # one\n  b,\n]\n", 0, "see: [\n  c/d, # one\n  b,\n]\n"),
    "block": ("see:\n  # on a\n  - a # one\n  - b\n", 0, "see:\n  # on a\n  - c/d # one\n  - b\n"),
    "block with an empty item": ("see:\n- # one\n- b\n", 0, "see:\n- c/d # one\n- b\n"),
    "text": ("see: 'a'\n", 0, "see: 'c/d'\n"),
    "wiki link": ("see: [[c/d]]\n", 0, "see: [c/d]\n"),
    "wiki link in a block": ("see:\n- [[c/d]] # one\n", 0, "see:\n- c/d # one\n"),
}


@pytest.mark.parametrize("case", REPLACES)
def test_replace_item_changes_these_bytes(loader: str, case: str) -> None:
    before, item, after = REPLACES[case]
    document = entry(before)
    assert front_after(document, patch.replace_item(document, "see", item, "c/d")) == after
    assert patch.replace_item(entry(after), "see", item, "c/d") == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("superseded-by: a # why\n", "superseded_by: a # why\n"),
        ('"superseded-by" :  a\n', '"superseded_by" :  a\n'),
        ("superseded-by:\n# x\ntype: note\n", "superseded_by:\n# x\ntype: note\n"),
        ("superseded-by: {a: b}\n", "superseded_by: {a: b}\n"),
        ("type: note\n", "type: note\n"),
    ],
)
def test_rename_key_changes_the_key_alone(loader: str, before: str, after: str) -> None:
    document = entry(before)
    assert front_after(document, patch.rename_key(document, "superseded-by", "superseded_by")) == after


@pytest.mark.parametrize(
    ("before", "item", "text", "after"),
    [
        ("title: Update #2 done\n", None, None, 'title: "Update #2 done"\n'),
        ("title: Update #2 done  \r\n", None, "Update #2 done", 'title: "Update #2 done"  \r\n'),
        ("title: Update # why\n", None, "Update", 'title: "Update" # why\n'),
        ("title:  #2 done\n", None, None, 'title:  "#2 done"\n'),
        ("title: a\n  b #2\n", None, None, 'title: "a b #2"\n'),
        ("title: 'a' #2\n", None, "b", "title: 'b' #2\n"),
        ("title: a\n", None, None, 'title: "a"\n'),
        ("title:\n", None, "a", 'title: "a"\n'),
        ("title:\n- a #2 b\n- c\n", 0, None, 'title:\n- "a #2 b"\n- c\n'),
        ("title: [\n  a #2\n  , b]\n", 0, "a #2", 'title: [\n  "a #2"\n  , b]\n'),
    ],
)
def test_quote_value_takes_what_was_cut(
    loader: str, before: str, item: int | None, text: str | None, after: str
) -> None:
    document = entry(before)
    assert front_after(document, patch.quote_value(document, "title", item, text=text)) == after


@pytest.mark.parametrize(
    ("front", "values"),
    [
        ("title: a\n", {"title": "a"}),
        ("title: 'a'\n", {"title": "a"}),
        ('title: "\\u00e9"\n', {"title": "é"}),
        ("title: |\n  a\n", {"title": "a"}),
        ("tags: a\n", {"tags": ["a"]}),
        ("tags: [a]\n", {"tags": "a"}),
        ("tags: [[a]]\n", {"tags": ["a"]}),
        ("tags: []\n", {"tags": []}),
        ("tags:\n", {"tags": []}),
        ("type: note\n", {"tags": [], "title": None}),
        ("version: 1\n", {}),
    ],
)
def test_no_edit_when_the_value_is_meant_already(loader: str, front: str, values: dict[str, patch.Value]) -> None:
    assert patch.set_fields(entry(front), values) == ()


@pytest.mark.parametrize(
    "front",
    [
        "{title: a, type: note}\n",
        "{\n  title: a\n}\n",
        "{}\n",
        "? title\n: a\n",
        "type: note\n? title\n: a\n",
        "title: a\ntitle: b\n",
        "title: [a\n",
        "title: {a: b}\n",
        "title:\n  a: b\n",
    ],
)
def test_patch_is_refused_when_it_cannot_be_local(loader: str, front: str) -> None:
    with pytest.raises(UnpatchableError, match=PATH):
        patch.set_fields(entry(front), {"title": "b"})


@pytest.mark.parametrize(
    "front", ["title: |\n  a\ntype: note\n  # c\nx-a: b\n", "title: |+\n  a\ntype: note\n\nx-a: b\n"]
)
def test_patch_is_refused_when_a_neighbour_would_take_what_follows(front: str) -> None:
    with pytest.raises(UnpatchableError, match="by hand"):
        patch.set_fields(entry(front), {"type": None})


@pytest.mark.parametrize("data", [b"", b"# Only a heading\n", b"---\ntitle: a\n", b"---\ntitle: \xff\n---\n"])
def test_patch_is_refused_when_there_is_no_front_matter(data: bytes) -> None:
    with pytest.raises(UnpatchableError, match="mdmem check"):
        patch.set_fields(parse_document(PATH, data), {"title": "b"})


def test_patch_is_refused_when_the_front_matter_grows_too_large() -> None:
    with pytest.raises(UnpatchableError, match="by hand"):
        patch.set_fields(entry("type: note\n"), {"title": "a" * 20_000})


def test_patch_is_refused_when_the_text_is_half_a_character() -> None:
    with pytest.raises(UnpatchableError, match="half a character"):
        patch.set_fields(entry("type: note\n"), {"title": "\ud800"})


def test_list_is_refused_when_its_items_are_mappings() -> None:
    document = entry("relations: [{type: a, to: b}]\n")
    with pytest.raises(UnpatchableError, match="nested values"):
        patch.set_fields(document, {"relations": ["a"]})
    with pytest.raises(UnpatchableError, match="nested value as an item"):
        patch.replace_item(document, "relations", 0, "a")


def test_item_is_refused_when_it_is_a_list_or_the_value_a_mapping() -> None:
    with pytest.raises(UnpatchableError, match="nested value as an item"):
        patch.replace_item(entry("x-a: [[a, b]]\n"), "x-a", 0, "a")
    with pytest.raises(UnpatchableError, match="a mapping as its `x-a`"):
        patch.add_items(entry("x-a: {a: b}\n"), "x-a", ["a"])


def test_rename_is_refused_when_both_keys_are_there() -> None:
    with pytest.raises(UnpatchableError, match="has both `Status` and `status`"):
        patch.rename_key(entry("Status: a\nstatus: b\n"), "Status", "status")


def test_quoting_is_refused_when_the_value_is_a_list() -> None:
    with pytest.raises(UnpatchableError, match="by hand"):
        patch.quote_value(entry("title: [a]\n"), "title")


def test_item_that_is_not_there_is_an_error() -> None:
    with pytest.raises(IndexError, match="no item 1"):
        patch.remove_item(entry("tags: [a]\n"), "tags", 1)
    with pytest.raises(KeyError):
        patch.remove_item(entry("tags: [a]\n"), "see", 0)


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_mark_and_ending_of_the_file_stay(mark: str, ending: str) -> None:
    data = f"{mark}---\r\ntitle: ü # é\r\n---\r\n\r\nBödy{ending}".encode()
    edits = patch.set_fields(parse_document(PATH, data), {"title": "ñ", "tags": ["a"]})
    after = f"{mark}---\r\ntitle: ñ # é\r\ntags: [a]\r\n---\r\n\r\nBödy{ending}".encode()
    assert patch.apply_edits(data, edits) == after


def test_key_is_added_when_the_file_ends_with_the_fence() -> None:
    data = b"---\n---"
    assert patch.apply_edits(data, patch.set_fields(parse_document(PATH, data), {"type": "note"})) == (
        b"---\ntype: note\n---"
    )


def test_changed_fields_are_named_in_order() -> None:
    before, after = entry("type: note\ntitle: a\ntags: [a]\n"), entry("type: note\ntitle: b\nowner:\n")
    assert patch.changed_fields(before, after) == ("owner", "tags", "title")


@pytest.mark.parametrize(
    ("after", "is_proved"),
    [
        (entry("type: note\ntitle: b\n"), True),
        (entry("title: 'b'\ntype: note\n"), True),
        (entry("type: note\ntitle: c\n"), False),
        (entry("type: decision\ntitle: b\n"), False),
        (entry("type: note\ntitle: b\nx-a: b\n"), False),
        (entry("type: note\ntitle: b\n", body="\nOther.\n"), False),
        (entry("type: note\ntitle: b: c\n"), False),
    ],
)
def test_verify_proves_the_fields_named_and_nothing_else(after: Document, is_proved: bool) -> None:
    assert patch.verify(entry("type: note\ntitle: a\n"), after, {"title": "b"}) is is_proved


def test_body_is_replaced_with_its_own_line_breaks() -> None:
    data = "\ufeff---\r\ntype: note\r\n---\r\nsée [[a]]\r\n".encode()
    edits = patch.replace_in_body(parse_document(PATH, data), 4, 5, "w/r/é\nand")
    assert patch.apply_edits(data, edits) == "\ufeff---\r\ntype: note\r\n---\r\nsée w/r/é\r\nand\r\n".encode()


def test_span_is_replaced_as_it_is_given() -> None:
    data = b"---\r\ntype: note\r\n---\r\n"
    edits = patch.replace_span(parse_document(PATH, data), 3, 5, "\n")
    assert edits == (Edit(PATH, 3, 5, b"\n"),)
    assert patch.replace_span(parse_document(PATH, data), 0, 3, "---") == ()


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (2, 1), (0, 100)])
def test_span_outside_the_text_is_an_error(start: int, end: int) -> None:
    document = entry("type: note\n")
    with pytest.raises(ValueError, match="no characters"):
        patch.replace_span(document, start, end, "a")
    with pytest.raises(ValueError, match="no character"):
        patch.replace_in_body(document, start, end - start + (100 if start == 0 else 0), "a")


def test_edits_are_applied_in_their_order() -> None:
    edits = [Edit(PATH, 4, 6, b"-"), Edit(PATH, 2, 2, b"A"), Edit(PATH, 2, 2, b"B"), Edit(PATH, 6, 6, b"C")]
    assert patch.apply_edits(b"012345", [*edits, Edit(PATH, 2, 3, b"")]) == b"01AB3-C"


@pytest.mark.parametrize(
    "spans", [((0, 2), (1, 3)), ((0, 2), (1, 1)), ((0, 2), (0, 2)), ((2, 7),), ((2, 1),), ((-1, 1),)]
)
def test_edits_are_refused_when_they_overlap_or_leave_the_file(spans: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ValueError, match="overlaps another, or leaves the file"):
        patch.apply_edits(b"012345", [Edit(PATH, start, end, b"x") for start, end in spans])
