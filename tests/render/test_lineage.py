"""Test the lineage as a picture and a flowchart: complete, legible, and without markup from entries."""

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from builders import Run, make_root, open_root, write_entry
from hypothesis import given
from hypothesis import strategies as st

from mdmem.render.lineage import LineageGraph, Relations, chart_text, layout, lineage_flowchart, lineage_svg

SVG = "{http://www.w3.org/2000/svg}"


def chained(root: Path, number: int, **fields: object) -> Path:
    """Write a chain of entries, each replacing the one before."""
    make_root(root)
    for at in range(number):
        links = {"supersedes": [f"nav/a/e{at - 1:03}"]} if at else {}
        ended = {"status": "deprecated", "superseded_by": [f"nav/a/e{at + 1:03}"]} if at + 1 < number else {}
        write_entry(root, f"nav/a/e{at:03}", title=f"Choice {at}", **{**fields, **links, **ended})
    return root


def graph_of(root: Path, address: str) -> LineageGraph:
    workspace = open_root(root)
    return Relations(workspace.catalog).graph((address,), today=workspace.today)


def drawn(root: Path, address: str) -> ElementTree.Element:
    return ElementTree.fromstring(lineage_svg(graph_of(root, address)))


def boxes(picture: ElementTree.Element) -> list[tuple[int, int, int, int]]:
    found = [one for one in picture.iter(f"{SVG}rect") if one.get("class") != "bar"]
    return [tuple(int(one.get(name, "")) for name in ("x", "y", "width", "height")) for one in found]  # type: ignore[misc]


def test_boxes_lie_apart_and_within_the_picture(tmp_path: Path) -> None:
    root = chained(tmp_path, 4)
    for name in ("one", "two"):
        write_entry(root, f"nav/a/{name}", status="draft", title=name, supersedes=["nav/a/e003"])
    write_entry(root, "nav/a/amending", amends=["nav/a/e003"], conflicts_with=["nav/a/e003"], expires_at="2026-03-06")
    picture = drawn(root, "nav/a/e003")
    width, height = int(picture.get("width", "")), int(picture.get("height", ""))
    found = boxes(picture)
    assert len(found) == 7
    assert all(x >= 0 and x + w <= width and y >= 0 and y + h <= height for x, y, w, h in found)
    assert not [1 for a, b in combinations(found, 2) if abs(a[0] - b[0]) < a[2] and abs(a[1] - b[1]) < a[3]]
    columns = [x for x, *_ in found[:4]]
    assert columns == sorted(set(columns))
    said = "".join(picture.find(f"{SVG}desc").itertext())  # type: ignore[union-attr]
    assert "Choice 2 is superseded by Choice 3." in said
    assert "one is draft, 2026-03-05." in said
    assert "Amending is under review, " in said


def test_a_box_says_type_and_days(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    ended = {"status": "deprecated", "deprecated_at": "2026-06-23", "superseded_by": ["nav/a/new"]}
    write_entry(root, "nav/a/old", title="Old", type="invariant", **ended)
    write_entry(root, "nav/a/new", title="New", supersedes=["nav/a/old"])
    old, new = drawn(root, "nav/a/new").findall(f"{SVG}g")
    assert (old.get("class"), new.get("class")) == ("ended invariant", "current decision asked")
    assert "invariant, superseded, 2026-03-05 – 2026-06-23" in "".join(old.itertext())


def test_no_text_of_an_entry_is_markup(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/a/b", title="</text><script>alert(1)</script>\u202e & more " + "x" * 10_000)
    picture = drawn(root, "nav/a/b")
    assert not [*picture.iter(f"{SVG}script")]
    assert "\u202e" not in "".join(picture.itertext())
    assert all(len(one.text or "") <= 36 for one in picture.iter(f"{SVG}text"))


def test_cycles_and_lone_nodes_have_places() -> None:
    places = layout(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")])
    assert sorted(place[0] for place in places.values()) == [0, 0, 1, 2]
    assert len(set(places.values())) == 4


def test_graph_and_why_draw(tmp_path: Path, run: Run) -> None:
    root = chained(tmp_path, 2)
    write_entry(root, "nav/a/alone", title="Alone")
    everything = run("why", "--format", "svg", cwd=root)
    assert everything.out == run("why", "--format", "svg", cwd=root).out
    assert "Choice 0" in everything.out
    assert "Alone" not in everything.out
    write_entry(root, "nav/a/more", title="More", amends=["nav/a/alone"])
    write_entry(root, "web/a/over", title="Over", amends=["nav/a/alone"])
    write_entry(root, "web/a/other", title="Other", amends=["web/a/over"])
    write_entry(root, "ui/a/one", title="Tint", see=[])
    write_entry(root, "ui/a/two", title="Shade", amends=["ui/a/one"])
    assert "Shade amends Tint." in run("why", "--format", "svg", cwd=root).out
    of_wing = run("why", "--wing", "nav", "--format", "svg", cwd=root).out
    assert ("More amends Alone." in of_wing, "Other" in of_wing, "Tint" in of_wing) == (True, True, False)
    assert "Choice 1" in run("why", "nav/a/e000", "--format", "svg", cwd=root).out
    assert run("why", "nav/a/alone", "--format", "mermaid", cwd=root).out.startswith("flowchart TD")


def chart(root: Path, address: str) -> list[str]:
    return [line.strip() for line in lineage_flowchart(graph_of(root, address)).splitlines()]


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


def test_of_a_long_chain_the_nearest_entries_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(tmp_path)
    for number in range(9):
        write_entry(root, f"nav/a/e{number}", supersedes=[f"nav/a/e{number - 1}"] if number else None)
    monkeypatch.setattr("mdmem.render.lineage.MAX_BOXES", 3)
    drawn = chart(root, "nav/a/e4")
    assert re.findall(r"nav/a/e\d", " ".join(drawn)) == ["nav/a/e3", "nav/a/e4", "nav/a/e5"]
    assert "%% 6 more entries are not drawn" in drawn
    assert "+6 more are not drawn" in lineage_svg(graph_of(root, "nav/a/e4"))


@given(st.text(max_size=40))
def test_label_holds_nothing_that_mermaid_reads(text: str) -> None:
    rest = re.sub(r"#\d+;", "", chart_text(text))
    assert re.search(r'["`#<>\[\]{}|;&\\\n]', rest) is None
