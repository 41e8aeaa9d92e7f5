"""Go to the definition of a name, find its references, and list what a file and a memory hold."""

from collections.abc import Iterable

import pytest
from editors import Hand
from lsprotocol import types
from memories import CLOCKS, DRAFT, NODE, ONE, RULE, THREADS

from mdmem.lsp.show import definition, implementation, references

NEW = "memory/nav/rules/new-rule.md"


def uris(hand: Hand, found: Iterable[types.Location]) -> list[str]:
    return [one.uri.removeprefix(f"{hand.folder.as_uri()}/") for one in found]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("---\nsee: [nav/architecture/one-thr|ead]\n---\n", ONE),
        ("---\nsee: call|backs\n---\n", RULE),
        ("😀😀 [see: x/y/z, ros/rules/|clocks]", CLOCKS),
        ("[the clock](../../ros/rules/|clocks.md)", CLOCKS),
        *((text, "") for text in ("|", "[see: no/such/|entry]", "---\napplies_to: src/**|\n---\n")),
        ("`[see: ros/rules/|clocks]`", ""),
        ("# nav/architecture/thr|eads binds this: wörk 😀\n", THREADS),
        ("# memory/nav/rules/call|backs.md binds this\n", RULE),
    ],
)
def test_a_name_leads_to_its_file_and_other_words_nowhere(reader: Hand, text: str, path: str) -> None:
    found = reader.ask(definition, types.DefinitionParams, NODE if text.startswith("#") else NEW, text)
    assert uris(reader, [found] if found else []) == ([path] if path else [])


def test_the_implementation_is_the_head(reader: Hand) -> None:
    def heads(path: str, marked: str) -> list[str]:
        where = types.ImplementationParams(reader.named(path), reader.at(path, marked))
        return uris(reader, implementation(reader.document(path), where))

    assert heads(THREADS, "supersedes: [nav/architecture/|one-thread]") == [THREADS]
    assert heads(ONE, "We deci|ded") == [THREADS], "what the file itself was replaced by"
    assert heads(THREADS, "nav/rules/callb|acks") == [RULE]


def named(hand: Hand, path: str, marked: str, *, declared: bool = False) -> list[tuple[str, str]]:
    """Return the places that name what stands at a bar: the file, and what is written there."""
    document = hand.document(path)
    where = document.position_at(document.text.index(marked.replace("|", "")) + marked.index("|"))
    context = types.ReferenceContext(include_declaration=declared)
    found = references(document, types.ReferenceParams(context, hand.named(path), where))
    said = []
    for one, file in zip(found, uris(hand, found), strict=True):
        named_in = hand.document(file)
        start, end = named_in.offset_at(one.range.start), named_in.offset_at(one.range.end)
        said.append((file, named_in.text[start:end]))
    return said


def test_references_stand_in_fields_and_in_texts(reader: Hand) -> None:
    assert named(reader, ONE, "We deci|ded") == [
        (THREADS, "nav/architecture/one-thread"),
        (THREADS, "one-thread"),
        (DRAFT, "nav/architecture/one-thread"),
    ]
    assert named(reader, THREADS, "nav/rules/call|backs", declared=True) == [
        (RULE, ""),
        (THREADS, "nav/rules/callbacks"),
    ]
    assert named(reader, THREADS, "Navi|gation") == [
        (ONE, "nav/architecture/threads"),
        (DRAFT, "nav/architecture/threads"),
    ]


def test_references_follow_what_is_typed(hand: Hand) -> None:
    assert named(hand, RULE, "A call|back must") == []
    threads = "memory/nav/architecture/threads.md"
    hand.open(threads)
    hand.type(
        threads, "two threads.\n", "two threads. [[nav/rules/callbacks|so]] 😀 [see: callbacks, nav/rules/callbacks]\n"
    )
    assert named(hand, RULE, "A call|back must") == [(threads, "nav/rules/callbacks")] * 2, "`callbacks` lies elsewhere"
    hand.type(threads, "[[nav/rules/callbacks|so]]", "")
    assert len(named(hand, RULE, "A call|back must")) == 1
    hand.close(threads)
    assert named(hand, RULE, "A call|back must") == []
