"""The lineage as a flowchart: what is drawn, in one order, and no text of an entry is read as Mermaid's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import make_root, open_root, write_entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.render.lineage import LineageGraph, chart_text, lineage_flowchart, lineage_graph


def drawing(root: Path, address: str) -> LineageGraph:
    workspace = open_root(root)
    return lineage_graph(workspace.catalog, (address,), today=workspace.today)


def chart(root: Path, address: str) -> list[str]:
    return [line.strip() for line in lineage_flowchart(drawing(root, address)).splitlines()]


def test_chain_is_drawn_from_the_oldest_on_from_whichever_entry(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    ended = {"superseded_by": ["nav/a/a"], "deprecated_at": "2026-06-23"}
    write_entry(root, "nav/a/b", title="B", supersedes=["nav/a/c"], **ended)
    write_entry(root, "nav/a/a", title="A", supersedes=["nav/a/b"])
    write_entry(root, "nav/a/c", title="C")
    drawn = chart(root, "nav/a/b")
    assert [line for line in drawn if line.startswith("n")] == [
        'n0["C<br/>nav/a/c<br/>decision, active, 2026-03-05"]:::current',
        'n1["B<br/>nav/a/b<br/>decision, active, 2026-03-05 – 2026-06-23"]:::ended',
        'n2["A<br/>nav/a/a<br/>decision, active, 2026-03-05"]:::current',
        'n1 -->|"superseded by"| n2',
        'n0 -.->|"claimed by"| n1',
    ]
    assert "style n1 fill:#ffe9a8,color:#000" in drawn
    assert sorted(chart(root, "nav/a/a"))[1:5] == sorted(chart(root, "nav/a/c"))[1:5]


def test_drafts_overrides_and_contradictions_are_drawn(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/a/a", overrides="nav/a/b", reason="x")
    write_entry(root, "nav/a/b")
    write_entry(root, "nav/a/c", conflicts_with=["nav/a/a"])
    write_entry(root, "nav/a/d", status="draft", supersedes=["nav/a/a"])
    write_entry(root, "nav/a/e", see=["nav/a/a"])
    assert [line for line in chart(root, "nav/a/a") if re.match(r"n\d [-.]", line)] == [
        'n0 -->|"overrides"| n1',
        'n0 -.->|"may be superseded by"| n3',
        'n2 ---|"conflicts with"| n0',
    ]


def test_of_a_long_chain_the_nearest_are_drawn_and_the_others_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root(tmp_path)
    for number in range(9):
        write_entry(root, f"nav/a/e{number}", supersedes=[f"nav/a/e{number - 1}"] if number else None)
    monkeypatch.setattr("mdmem.render.lineage.MOST", 3)
    drawn = chart(root, "nav/a/e4")
    assert re.findall(r"nav/a/e\d", " ".join(drawn)) == ["nav/a/e3", "nav/a/e4", "nav/a/e5"]
    assert "%% 6 more entries are not drawn" in drawn


def test_flowchart_of_very_many_entries_has_a_limit(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    for number in range(120):
        before = [f"nav/a/{'x' * 60}{number - 1:03}"] if number else None
        write_entry(root, f"nav/a/{'x' * 60}{number:03}", title=f"'{'#' * 200}'", supersedes=before)
    text = lineage_flowchart(drawing(root, f"nav/a/{'x' * 60}060"))
    assert (len(text) <= 48_000, text.count(":::")) == (True, 60)


@given(st.text(max_size=40))
def test_label_holds_nothing_that_mermaid_reads(text: str) -> None:
    rest = re.sub(r"#\d+;", "", chart_text(text))
    assert re.search(r'["`#<>\[\]{}|;&\\\n]', rest) is None
