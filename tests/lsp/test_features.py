"""Every row of the table answers, whatever text and place it is asked about."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from editors import Hand
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from mdmem.lsp.features import NAVIGATION

NEW, CODE = "memory/nav/rules/new-rule.md", "src/nav/other.py"
PIECES = (
    *("---", "\n", "\r\n", "\r", " ", "[", "]", '"', "'", "}", "#", "*", ":", "/", "`", "- ", "😀", "Ü"),
    *("\ufeff", "\u2028", "\x00", "see: ", "[see: ", "[[", "](../rules/callbacks.md)", "threads", "superseded_by"),
    *("nav/architecture/one-thread", "type: decision", "status: ", "applies_to:", "src/**", "ignore: {", "# One\n"),
    *("relations: [{type: x, to: ", "title: >-\n  a\n"),
)


def params(method: str, uri: str, at: types.Position) -> Any:
    """Return what a request about a place of a text is asked with."""
    kind: Any = types.METHOD_TO_TYPES[method][2]
    said: dict[str, Any] = {
        "text_document": types.TextDocumentIdentifier(uri),
        "position": at,
        "positions": [at, at],
        "range": types.Range(types.Position(0, 0), at),
    }
    if kind is types.ReferenceParams:
        said["context"] = types.ReferenceContext(include_declaration=True)
    return kind(**{one.name: said[one.name] for one in kind.__attrs_attrs__ if one.name in said})


def ranges(found: Any) -> Iterator[types.Range]:
    """Yield the ranges of an answer that are about the text itself."""
    if isinstance(found, types.Range):
        yield found
    elif isinstance(found, (list, tuple)):
        yield from (one for part in found for one in ranges(part))
    elif hasattr(found, "__attrs_attrs__") and not isinstance(found, (types.Location, types.TypeHierarchyItem)):
        yield from (one for name in found.__attrs_attrs__ for one in ranges(getattr(found, name.name)))


@given(st.lists(st.sampled_from(PIECES), max_size=25), st.integers(0, 12), st.integers(0, 60))
def test_every_feature_answers_within_any_text(reader: Hand, pieces: list[str], line: int, character: int) -> None:
    for path in (NEW, CODE):
        session, buffer = reader.open(path, "".join(pieces))
        for feature in NAVIGATION:
            if not feature.of_document:
                continue
            module, _, name = feature.answer.partition(":")
            asked = params(feature.method, buffer.uri, types.Position(line, character))
            for one in ranges(getattr(import_module(module), name)(session, buffer, asked)):
                assert feature.method != types.TEXT_DOCUMENT_COMPLETION or one.start.line == one.end.line
                assert one == buffer.range_of(buffer.offset_at(one.start), buffer.offset_at(one.end)), feature.method
        reader.roots.close(buffer.uri)
