"""A file whose front matter and heading stay as they were means what it meant, however that is found out."""

import itertools
from importlib import import_module
from pathlib import Path

import pytest
from builders import entry_text
from trees import HeldTree

from mdmem.catalog import ParsedFiles, interpret, load_cached
from mdmem.document.parse import parse_document

FRONTS = (
    "type: note\nstatus: active\ncreated_at: 2026-03-05",
    "type: note\nstatus: draft\ncreated_at: 2026-03-05\nsee: [b]",
    "type: note\nstatus: active\ncreated_at: 2026-03-05\ntitle: Stated",
    "type: note\nstatus: actve\ncreated_at: 2026-03-05",
    "type: note\nstatus: active",
    "type: [",
)
BODIES = (
    "Words.\n",
    "# One\n\nWords.\n",
    "---\ntype: note\nstatus: draft\n---\nSecond.\n",
    "a\n<<<<<<< x\nb\n=======\nc\n>>>>>>> y\n",
)
TEXTS = [f"---\n{front}\n---\n{body}".encode() for front in FRONTS for body in BODIES] + [b"", b"\xff", b"prose"]


def test_file_means_the_same_whatever_it_meant_before() -> None:
    parsed = [parse_document("app/rules/a.md", text) for text in TEXTS]
    meant = [interpret(document) for document in parsed]
    moved = [interpret(parse_document("app/rules/b.md", text)).at("app/rules/a.md") for text in TEXTS]
    for former, (document, alone) in itertools.product(moved, zip(parsed, meant, strict=True)):
        assert interpret(document, former) == alone


def test_front_matter_that_did_not_change_is_not_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest, parsed = {"app/README.md": b"---\nkind: project\n---\n"}, ParsedFiles()
    load_cached(HeldTree(manifest | {"app/rules/a.md": entry_text("One.").encode()}), tmp_path, parsed=parsed)
    monkeypatch.setattr(import_module("mdmem.catalog.interpret"), "_entry_reader", lambda: pytest.fail("it is"))
    changed = HeldTree(manifest | {"app/rules/a.md": entry_text("Two, and more.").encode()})
    assert load_cached(changed, tmp_path, parsed=parsed).sizes == {"app/rules/a": 14}
