"""Who names an entry, in which place."""

from editors import Hand
from lsprotocol import types
from memories import DRAFT, ONE, RULE, THREADS

from mdmem.lsp.references import highlights, references


def named(hand: Hand, path: str, marked: str, *, declared: bool = False) -> list[tuple[str, str]]:
    """Return the places that name what stands at a bar: the file, and what is written there."""
    session, buffer = hand.page(path)
    where = buffer.position_at(buffer.text.index(marked.replace("|", "")) + marked.index("|"))
    context = types.ReferenceContext(include_declaration=declared)
    found = references(session, buffer, types.ReferenceParams(context, hand.document(path), where))
    return [_said(hand, one) for one in found]


def _said(hand: Hand, found: types.Location) -> tuple[str, str]:
    path = found.uri.removeprefix(f"{hand.folder.as_uri()}/")
    _, buffer = hand.page(path)
    return path, buffer.text[buffer.offset_at(found.range.start) : buffer.offset_at(found.range.end)]


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
    hand.roots.close(hand.uri(threads))
    assert named(hand, RULE, "A call|back must") == []


def test_highlights_are_the_same_name_in_one_text(reader: Hand) -> None:
    def lit(marked: str) -> list[str]:
        session, buffer = reader.page(THREADS)
        params = types.DocumentHighlightParams(reader.document(THREADS), reader.at(THREADS, marked))
        ranges = [one.range for one in highlights(session, buffer, params)]
        return [buffer.text[buffer.offset_at(one.start) : buffer.offset_at(one.end)] for one in ranges]

    assert lit("[nav/architecture/one|-thread]") == ["nav/architecture/one-thread", "one-thread"]
    assert lit("Navi|gation uses") == []
