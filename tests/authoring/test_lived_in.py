"""The verbs on front matter of every style people write: what is meant changes, and no other line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from builders import TODAY, entry_text, open_root
from document.test_patch_properties import ABOVE, COMMENTS, values
from hypothesis import assume, given
from hypothesis import strategies as st
from trees import ListedTree

from mdmem.markdown.parse import Document, parse_document
from mdmem.store.tree import TreeFile
from mdmem.store.workspace.workspace import Workspace
from mdmem.write.change_set import ChangeSet
from mdmem.write.lifecycle import plan_approvals, plan_deprecation, plan_review, plan_verification
from mdmem.write.supersede import plan_supersession

ONE, OTHER = "nav/rules/one", "nav/rules/other"
ADA = "Ada <ada@example.org>"
FREE = ("title", "owner", "tags", "x-a", "x-ü")

Verb = Callable[[Workspace], ChangeSet]
VERBS: dict[str, tuple[str, Verb, dict[str, object]]] = {
    "approve": (
        "draft",
        lambda workspace: plan_approvals(workspace, [ONE], by=ADA),
        {"status": "active", "approved_by": ADA},
    ),
    "deprecate": (
        "active",
        lambda workspace: plan_deprecation(workspace, ONE, reason="it: 'was' #1"),
        {"status": "deprecated", "deprecated_at": TODAY, "deprecated_reason": "it: 'was' #1"},
    ),
    "review": (
        "active",
        lambda workspace: plan_review(workspace, ONE, reason="why?"),
        {"status": "under_review", "x-review-reason": "why?"},
    ),
    "verify": (
        "under_review",
        lambda workspace: plan_verification(workspace, [ONE]),
        {"status": "active", "verified_at": TODAY},
    ),
    "give way": (
        "active",
        lambda workspace: plan_supersession(workspace, ONE, by=OTHER, reason="better"),
        {"status": "deprecated", "deprecated_at": TODAY, "superseded_by": [OTHER]},
    ),
    "take over": (
        "active",
        lambda workspace: plan_supersession(workspace, OTHER, by=ONE, reason="better"),
        {"supersedes": [OTHER], "reason": "better"},
    ),
}


@st.composite
def lived_in(draw: st.DrawFn, status: str) -> tuple[bytes, tuple[str, ...]]:
    """Draw the file of an entry, and the lines of it that no verb is about."""
    quote = st.sampled_from(["", "'", '"'])
    own: dict[str, list[str]] = {}
    for name, value in (("type", "decision"), ("status", status), ("created_at", "2026-03-05")):
        mark = draw(quote)
        own[name] = [f"{name}: {mark}{value}{mark}{draw(COMMENTS)}"]
    if draw(st.booleans()):
        own["verified_at"] = [f"verified_at:   2026-03-06{draw(COMMENTS)}"]
    for name in draw(st.lists(st.sampled_from(FREE), unique=True)):
        own[name] = list(draw(values(f"{name}:", "")))
    lines, kept = ["---"], ["---"]
    for name in draw(st.permutations(list(own))):
        above = [line for line in draw(ABOVE) if line]
        lines += [*above, *own[name]]
        kept += [*above, *(own[name] if name not in ("status", "verified_at") else [])]
    end = ["---", "", "It is so.  ", "", "Rationale: tried."]
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    text = draw(st.sampled_from(["", "\ufeff"])) + ending.join([*lines, *end]) + draw(st.sampled_from(["", ending]))
    return text.encode(), (*kept, *end)


def workspace_of(content: bytes) -> Workspace:
    files = {f"{ONE}.md": content, f"{OTHER}.md": entry_text(title="Other").encode()}
    return open_root(Path("/nowhere")).over(ListedTree(tuple(map(TreeFile, files)), files))


def fields_of(document: Document) -> dict[str, object]:
    return dict(document.fields or {})


def is_subsequence(lines: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in lines)


@pytest.mark.parametrize("name", VERBS)
def test_only_the_meant_lines_change(name: str) -> None:
    status, verb, meant = VERBS[name]

    @given(lived_in(status))
    def holds(drawn: tuple[bytes, tuple[str, ...]]) -> None:
        content, kept = drawn
        workspace = workspace_of(content)
        assume(ONE in workspace.catalog.entries)
        change = next(one for one in verb(workspace).changes if one.path == f"{ONE}.md")
        assert change.before == content
        before, after = (parse_document(change.path, one or b"") for one in (change.before, change.after))
        assert fields_of(after) == {**fields_of(before), **meant}
        assert after.body == before.body
        assert is_subsequence(kept, [line.removesuffix("\r") for line in after.text.split("\n")])
        assert ("\r\n" in after.text) == ("\r\n" in before.text)
        assert (change.after or b"").startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")
        added = after.text.count("\n") - before.text.count("\n")
        assert added == len(meant.keys() - fields_of(before).keys())

    holds()
