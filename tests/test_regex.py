"""Patterns that are compiled when they are first needed."""

import re

import pytest

from mdmem.regex import regex


def test_postponed_pattern_finds_what_a_compiled_one_does_and_is_compiled_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []
    compiled = re.compile
    monkeypatch.setattr(re, "compile", lambda *stated: (made.append(stated), compiled(*stated))[1])
    found = regex(r"(?P<word>[a-z]+)!", re.IGNORECASE)
    assert (found.pattern, made) == (r"(?P<word>[a-z]+)!", [])
    assert [one["word"] for one in found.finditer("Ab! c!")] == ["Ab", "c"]
    assert (found.sub("", "a! b"), found.flags, found.groups) == (" b", compiled("", re.IGNORECASE).flags, 1)
    assert len(made) == 1
