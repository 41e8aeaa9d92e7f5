"""What the server handed over is counted on this machine, for whoever asks how often the memory is used."""

from __future__ import annotations

from pathlib import Path

from builders import make_repository, make_root, open_root, write, write_entry
from clients import call, server_over

from mdmem.store.workspace.remarks import tally_of


def test_entries_that_were_handed_over_are_counted_and_no_question_is_kept(tmp_path: Path) -> None:
    root = make_root(make_repository(tmp_path) / "memory")
    write_entry(root, "shop/rules/amounts", title="Amounts are integers", type="invariant")
    server = server_over(root)
    call(server, "retrieve", query="amounts and a secret question")
    assert tally_of(open_root(root)).times == {"shop/rules/amounts": 1}
    (log,) = (tmp_path / ".git/mdmem/state").rglob("consulted.jsonl")
    assert b"secret" not in log.read_bytes()
    write(root, "mdmem.toml", "consultations = false\n")
    call(server, "retrieve", query="amounts")
    assert len(log.read_bytes().splitlines()) == 1
