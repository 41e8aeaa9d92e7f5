"""Values read without pydantic are those of the models, and what the models refuse is not read without them."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from mdmem.entry.front_matter import judge
from mdmem.entry.model import EntryType
from mdmem.entry.values import FIELDS_OF, sound_values

SCALARS = [
    "a",
    "a/b/c",
    "src/**",
    "2026-03-05",
    "2026-13-01",
    "2026-03-05T10:00:00Z",
    "0.5",
    "7",
    "1_0",
    "",
    " ",
    "-",
    "tbd",
]
TEXTS = st.sampled_from([*SCALARS, "draft", "active", "shared", "note", "decision", ":(glob)", "a\u200bb", "project"])
RELATION = st.fixed_dictionaries({"type": TEXTS, "to": TEXTS}, optional={"more": TEXTS})
NESTED = st.one_of(st.lists(TEXTS, max_size=2), st.dictionaries(TEXTS, st.none() | TEXTS, max_size=2), RELATION)
VALUES = st.one_of(TEXTS, st.lists(st.none() | TEXTS, max_size=3), st.lists(NESTED | TEXTS, max_size=2), NESTED)


@st.composite
def files(draw: st.DrawFn) -> tuple[EntryType | None, dict[str, Any]]:
    """Draw what some fields of a type of entry, or of a manifest, might state."""
    kind = draw(st.sampled_from([None, *EntryType]))
    stated = draw(st.dictionaries(st.sampled_from(sorted(FIELDS_OF[kind])), VALUES, max_size=3))
    return kind, stated if kind is None else {**stated, "type": kind.value, "status": "active"}


@given(files())
def test_what_is_read_without_the_models_is_what_they_read(file: tuple[EntryType | None, dict[str, Any]]) -> None:
    values, (details, judged) = sound_values(*file), judge(*file)
    event("sound" if values is not None else "faulty")
    assert (values is None) is bool(details)
    assert values is None or {name: repr(one) for name, one in values.items()} == {
        name: repr(one) for name, one in judged.items()
    }
