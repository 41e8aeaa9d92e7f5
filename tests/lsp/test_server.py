"""The server as an editor meets it: a real process, driven by the protocol's own client."""

from editors import Editor

RULE = "memory/nav/rules/callbacks.md"


def test_findings_follow_what_is_typed(editor: Editor) -> None:
    editor.open(RULE)
    assert editor.wait(lambda: editor.codes(RULE) == [])
    text = (editor.folder / RULE).read_text(encoding="utf-8")
    editor.change(RULE, text.replace("status: active", "status: actve"))
    assert editor.wait(lambda: editor.codes(RULE)) == ["unknown-status"]
    told = editor.client.diagnostics[editor.uri(RULE)][0]
    assert (told.range.start.line, told.range.start.character, told.range.end.character) == (2, 8, 13)
    editor.change(RULE, text, 3)
    assert editor.wait(lambda: editor.codes(RULE) == [])
