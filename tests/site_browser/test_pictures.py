"""Test pictures of lineage: separate boxes inside the picture, texts for screen readers, and screenshots."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from builders import commit_all, run_here, write_entry
from test_site import built, decided

from site_browser.conftest import Visiting

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect

pytestmark = pytest.mark.long
CHAIN = 5


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of a chain with two drafts at its end."""
    folder = decided(tmp_path_factory.mktemp("chain") / "a")
    for at in range(CHAIN):
        links = {"supersedes": [f"nav/a/e{at - 1}"]} if at else {}
        ended = {"status": "deprecated", "superseded_by": [f"nav/a/e{at + 1}"]} if at + 1 < CHAIN else {}
        title = "A title that is much longer than any box of a lineage may be wide" if at == 2 else f"Choice {at}"
        write_entry(folder / "memory", f"nav/a/e{at}", title=title, **links, **ended)
    for name in ("one", "two"):
        write_entry(folder / "memory", f"nav/a/{name}", status="draft", title=name, supersedes=[f"nav/a/e{CHAIN - 1}"])
    built(folder, folder / "site")
    return folder / "site"


@pytest.mark.parametrize("width", [320, 1280])
def test_each_member_has_a_box_and_no_two_overlap(chain: Path, visiting: Visiting, width: int) -> None:
    with visiting(width=width) as visit:
        visit.goto((chain / f"entries/nav/a/e{CHAIN - 1}.html").as_uri())
        picture = visit.locator("svg.lineage")
        frame = picture.bounding_box()
        boxes = [one.bounding_box() for one in picture.locator("rect:not(.bar)").all()]
        texts = [one.bounding_box() for one in picture.locator("g text").all()]
        assert len(boxes) == CHAIN + 2
        assert all(within(one, frame) for one in (*boxes, *texts))
        for a, b in combinations(boxes, 2):
            assert a is not None
            assert b is not None
            assert abs(a["x"] - b["x"]) >= a["width"] or abs(a["y"] - b["y"]) >= a["height"]
        # No text leaves its box, with any font.
        assert all(any(within(text, box) for box in boxes) for text in texts)
        # The entry that was opened is in sight; the rest is to its left and right.
        asked = picture.locator(".asked rect:not(.bar)").bounding_box()
        assert asked is not None
        assert 0 <= asked["x"] <= asked["x"] + asked["width"] <= width


def within(one: FloatRect | None, other: FloatRect | None) -> bool:
    assert one is not None
    assert other is not None
    is_beside = other["x"] <= one["x"] and one["x"] + one["width"] <= other["x"] + other["width"]
    return is_beside and other["y"] <= one["y"] and one["y"] + one["height"] <= other["y"] + other["height"]


def test_pictures_are_told_in_words(chain: Path, visiting: Visiting) -> None:
    with visiting() as visit:
        visit.goto((chain / f"entries/nav/a/e{CHAIN - 1}.html").as_uri())
        picture = visit.get_by_role("group", name="Lineage of Choice 4")
        assert "Choice 3 is superseded by Choice 4." in (picture.locator("desc").text_content() or "")
        assert visit.get_by_role("link", name="Choice 3").count()


def test_the_page_of_a_change_names_what_the_command_names(
    tmp_path: Path, visiting: Visiting, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = decided(tmp_path / "a")
    for name in ("old", "gone", "frozen"):
        text = f"The {name} one is decided.\n\n{name} words.\n" * 9
        write_entry(folder / "memory", f"nav/b/{name}", text, title=f"The {name} one", owner="navigation")
    commit_all(folder, "before")
    ended = {"status": "deprecated", "deprecated_at": "2026-03-01", "superseded_by": ["nav/b/new"]}
    write_entry(folder / "memory", "nav/b/old", title="The old one", reason="It stalled.", **ended)
    write_entry(folder / "memory", "nav/b/new", title="The new one", owner="navigation", supersedes=["nav/b/old"])
    (folder / "memory/nav/b/gone.md").unlink()
    write_entry(folder / "memory", "nav/b/frozen", "We decided `otherwise`.\n", title="The frozen one")
    commit_all(folder, "after")
    built(folder, tmp_path / "site", base="HEAD~1")
    markdown = run_here(capsys, "diff", "--base", "HEAD~1", "--format", "markdown", cwd=folder).out
    told = re.sub(r"## mdmem diff: |<details>.*?</details>", "", markdown, flags=re.DOTALL)
    lines = [line for line in told.splitlines() if line.lstrip().startswith(("-", "#"))]
    assert len(lines) > 15
    with visiting() as visit:
        visit.goto((tmp_path / "site/diff.html").as_uri())
        shown = plain(visit.locator("main").inner_text())
        assert visit.locator("strong code", has_text="version").count()
    assert [line for line in lines if plain(line) not in shown] == []
    assert all(plain(f"nav/b/{name}") in shown for name in ("old", "gone", "frozen", "new"))


def plain(text: str) -> str:
    """Return a text without marks of Markdown and with single blanks."""
    bare = re.sub(r"<[^>]+>|[`*\\]|^\s*(?:[-#]+ )", "", text, flags=re.MULTILINE)
    return " ".join(bare.split()).casefold()
