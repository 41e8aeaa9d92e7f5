"""The two boxes of the pages, typed into: search from files, and what binds a path."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from builders import commit_all, make_repository, run_here, write, write_entry
from test_site import built, decided

from site_browser.conftest import Visit, Visiting

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of a memory with words of several scripts."""
    folder = decided(tmp_path_factory.mktemp("searched") / "a")
    for name, title in (
        ("umlaut", "Größe des Puffers"),
        ("unspaced", "日本語の規則"),
        ("code", "Keep `grip.py` small"),
    ):
        write_entry(folder / "memory", f"nav/words/{name}", "Holds MultiThreadedExecutor back.", title=title)
    built(folder, folder / "site")
    return folder / "site"


def ask(visit: Visit, words: str) -> list[str]:
    """Type words into the search and return what is told below it."""
    visit.page.fill("#q", "")
    visit.page.locator("#hits > *").first.wait_for(state="detached")
    visit.page.fill("#q", words)
    visit.page.locator("#hits > *").first.wait_for()
    return visit.page.locator("#hits > *").all_inner_texts()


FOUND = (
    ("callbacks", "Callbacks do not block"),
    ("callba", "Callbacks do not block"),
    ("größe", "Größe des Puffers"),
    ("GROSSE", "Größe des Puffers"),
    ("日本語", "日本語の規則"),
    ("grip.py", "Keep grip.py small"),
    ("multithreadedex", "Keep grip.py small"),
    ("threading", "Use two threads"),
    # A result has the text around the words.
    ("multithreaded", "Holds MultiThreadedExecutor back."),
    # What ended is found, and leads to what replaced it.
    ("one thread", "Use two threads"),
    ("one thread", "supersedes Use one thread"),
    ("zebra", "In no entry: zebra"),
)


def test_search_of_files_finds(searched: Path, visiting: Visiting) -> None:
    with visiting() as visit:
        visit.page.goto((searched / "wings/nav.html").as_uri())
        for words, told in FOUND:
            assert told in " ".join(ask(visit, words)).replace("\n", " "), words


def test_the_keyboard_alone_searches(searched: Path, visiting: Visiting) -> None:
    with visiting() as visit:
        page = visit.page
        page.goto((searched / "index.html").as_uri())
        page.keyboard.press("/")
        page.keyboard.type("thread")
        page.locator("#hits a").nth(1).wait_for()
        assert page.locator("#count").inner_text() == f"{page.locator('#hits a').count()} found"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        wanted = page.locator("#hits a").nth(1).get_attribute("href")
        assert page.evaluate("document.activeElement.getAttribute('href')") == wanted
        page.keyboard.press("Escape")
        assert not page.locator("#hits > *").count()
        page.keyboard.press("Backspace")
        page.locator("#hits a").first.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url("**/entries/**")


TIMED = """(word) => new Promise((done) => {
  const box = document.getElementById('q'), hits = document.getElementById('hits'), begun = performance.now();
  const seen = () => done([performance.now() - begun, hits.innerText]);
  new MutationObserver(seen).observe(hits, {childList: true});
  box.value = word; box.dispatchEvent(new Event('input'));
})"""


def test_ten_thousand_entries_are_searched_within_a_second(searched: Path, visiting: Visiting, tmp_path: Path) -> None:
    chosen = random.Random(5)
    words = [f"{chosen.choice('abcdefghijklmnop')}{chosen.randrange(40_000):x}term" for _ in range(20_000)]
    titles = [f"Choose the {' '.join(chosen.choices(words, k=6))} way" for _ in range(10_000)]
    (tmp_path / "site").mkdir()
    for path in ("index.html", "assets/site.css", "assets/site.js", "assets/icon.svg"):
        write(tmp_path / "site", path, (searched / path).read_bytes())
    rows = [
        [title, f"entries/nav/a/e{at}.html", "decision", "current", None, " ".join(chosen.choices(words, k=60)), ""]
        for at, title in enumerate(titles)
    ]
    write(tmp_path / "site", "assets/search.js", f"mdmemSearch({json.dumps(rows)});")
    taken = []
    with visiting() as visit:
        for word in words[:3]:
            # Each time as whoever comes first: nothing is loaded yet.
            visit.page.goto((tmp_path / "site/index.html").as_uri())
            milliseconds, told = visit.page.evaluate(TIMED, word)
            assert "Choose the" in told
            taken.append(milliseconds)
    assert min(taken) < 1000, taken


GLOBS = (
    "src/**", "src/nav/*.py", "**/*.md", "docs/größe.md", "src/[a-m]*/**", "lib", "*.py", "src/*/deep/**", "**/nav/**",
    "docs/[!a]*", "src/nav/?.py", "lib/**/x*", "src**", "docs/g*e.md", "src/nav/", "./lib/x", "a b/*.c",
    "**/*a*/*b*.py", "docs/[[:digit:]]*", r"docs/\[x\].md",
)  # fmt: skip
FOLDERS = ("", "src/", "src/nav/", "src/arm/deep/", "lib/x/", "docs/", "a b/", "nav/", "lib/nav/banana/")
NAMES = ("a.py", "größe.md", "x.c", "b.md", "1.md", "[x].md", "xb.py", "longer-name.py", "🙂.md")


def test_the_path_box_answers_like_retrieve(
    tmp_path: Path, visiting: Visiting, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_repository(tmp_path / "a")
    write(folder, "memory/mdmem.toml", 'default_wing = "nav"\n')
    write(folder, "memory/nav/README.md", "---\nkind: project\n---\n")
    for number, glob in enumerate(GLOBS):
        kind = ("invariant", "decision", "pattern", "note")[number % 4]
        write_entry(folder / "memory", f"nav/r/e{number}", title=f"Rule {number}", type=kind, applies_to=[f"'{glob}'"])
    write_entry(folder / "memory", "nav/r/everywhere", title="Everywhere")
    write_entry(folder / "memory", "nav/r/draft", title="Later", status="draft", applies_to=["src/**"])
    commit_all(folder, "rules")
    built(folder, tmp_path / "site")
    chosen = random.Random(50)
    paths = chosen.sample([f"{above}{name}" for above in FOLDERS for name in NAMES], k=50)
    paths += ["src//nav/a.py", "src/./nav/a.py", "src/../lib/x/a.py", r"src\nav\a.py", " src/nav/a.py", "../a.py"]
    differing, number = {}, 0
    with visiting() as visit:
        visit.page.goto((tmp_path / "site/code.html").as_uri())
        for path in paths:
            ran = run_here(capsys, "retrieve", "--path", path, "--budget", "200000", "--format", "json", cwd=folder)
            items = json.loads(ran.out)["items"]
            said = {item["address"] for item in items if "applies to " in item["reason"]}
            visit.page.fill("#path", path)
            hrefs = visit.page.locator("#matches a").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
            shown = {href.removeprefix("entries/").removesuffix(".html") for href in hrefs}
            number += len(shown)
            if shown != said:
                differing[path] = (shown, said)
    assert differing == {}
    assert number > 100
