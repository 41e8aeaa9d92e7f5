"""The notes above a text in an editor: put there and taken out, whatever the text is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mdmem.model.finding import Finding, Place
from mdmem.write.edit import notes_on, notes_on_refusal, with_notes, without_notes

TEXTS = st.sampled_from([b"", b"\xef\xbb\xbf"]).flatmap(
    lambda mark: st.lists(st.sampled_from([b"---", b"# mdmem: a", b"\r", b"\n", b"a", b"\xff"])).map(
        lambda parts: mark + b"".join(parts)
    )
)


@given(TEXTS, st.text(max_size=20))
def test_notes_go_again_and_the_text_stays(content: bytes, sentence: str) -> None:
    notes = notes_on_refusal(sentence, content)
    assert without_notes(with_notes(content, notes), notes) == content


@given(TEXTS)
def test_notes_go_again_where_an_editor_changed_their_line_ends(content: bytes) -> None:
    notes = notes_on_refusal("no", content)
    other = [note.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for note in notes]
    assert without_notes(with_notes(content, other), notes) == content


def test_note_whose_words_were_changed_goes_too() -> None:
    assert without_notes(b"# mdmem: what? hm\n---\na\n", notes_on_refusal("what", b"")) == b"---\na\n"


def test_no_more_lines_go_than_there_were_notes() -> None:
    mine = b"# mdmem: a heading of mine\n"
    notes = notes_on_refusal("no", b"")
    assert without_notes(b"".join(notes) + mine, notes) == mine


def test_notes_count_the_lines_below_them() -> None:
    findings = [Finding("a", "one", Place("w/r/e.md", 3), "do"), Finding("b", "two\nlines", Place("w/r/e.md", 1), "so")]
    assert b"".join(notes_on(findings, b"---\r\n")).decode() == (
        "# mdmem: 2 errors; fix them, or close the file without changes to cancel\r\n"
        "# mdmem: line 7: one; do\r\n# mdmem: line 5: two lines; so\r\n# mdmem: these lines are removed again\r\n"
    )
