"""Sentences that say of their own entry that it amends another."""

import pytest

from mdmem.checks import amendment_sentences as module
from mdmem.markdown.parse import without_code


def test_line_is_blanked_out_once_however_many_verbs_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    blanked = list[str]()

    def blank(text: str) -> str:
        blanked.append(text)
        return without_code(text)

    monkeypatch.setattr(module, "without_code", blank)
    line = "`It` updates ADR 1; this updates ADR 2; we amend ADR 3. " * 20
    body = f"{line}\n\n`This updates ADR 4`\nThis\namends ADR 5"
    found = list(module.amendment_sentences(body, lambda: without_code(body), ()))
    assert [one.names[0].number for one in found] == [2, 3] * 20 + [5]
    assert len(blanked) == 2
