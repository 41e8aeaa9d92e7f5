"""Test every page in Chromium: no external request, no error, accessible, also on a phone; and both searches."""

import json
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from builders import commit_all, make_repository, run_here, write, write_entry
from test_site import NEW, OLD, built, decided, served

from site_browser.conftest import Visiting

pytestmark = pytest.mark.long
ENDED = "entries/ros2/communication/sensor-streams-best-effort.html"
# One of each kind, and of those that are long or of another kind in the small site.
KINDS = (
    "index.html", "lineage.html", "timeline.html", "board.html", "wings/mdmem.html",
    "wings/ros2.html", ENDED, "entries/mdmem/architecture/files-are-the-truth.html",
)  # fmt: skip
SMALL = ("diff.html", "all.html", "code.html", f"entries/{NEW}.html")
# Every rule but the experimental ones; the style sheet is not asked for again, which the policy forbids.
AXE = """async () => (await axe.run({preload: false})).violations.map((one) =>
  one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.html).join(' | '))"""


def axe_source() -> str:
    spec = find_spec("axe_playwright_python")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the extra `browser` is not installed: no axe-core")
    return (Path(spec.submodule_search_locations[0]) / "axe.min.js").read_text()


def test_no_page_asks_outside_complains_or_scrolls_sideways_on_a_phone(examples: Path, visiting: Visiting) -> None:
    pages = sorted(examples.rglob("*.html"))
    assert len(pages) > 50
    wide = []
    with visiting(width=320) as visit:
        for page in pages:
            visit.goto(page.as_uri())
            if visit.evaluate("document.documentElement.scrollWidth") > 320:
                wide.append(page.relative_to(examples).as_posix())
    assert wide == []


def test_a_served_page_keeps_to_its_server_and_follows_the_files(tmp_path: Path, visiting: Visiting) -> None:
    folder = decided(tmp_path / "a")
    with served(folder) as server, visiting(allowed=server.address) as visit:
        for page in ("", "code.html", "timeline.html", f"entries/{OLD}.html", f"entries/{NEW}.html"):
            # An open page waits for changes, so that it is never idle.
            visit.goto(f"{server.address}{page}")
            assert visit.locator("h1").inner_text()
        path = folder / f"memory/{NEW}.md"
        path.write_text(path.read_text().replace("Use two threads", "Use ten threads"))
        visit.get_by_role("heading", name="Use ten threads").wait_for(timeout=20_000)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_axe_finds_nothing(examples: Path, small: Path, visiting: Visiting, scheme: str, width: int) -> None:
    source, found = axe_source(), {}
    with visiting(width=width, scheme=scheme) as visit:
        for page in (*(examples / kind for kind in KINDS), *(small / kind for kind in SMALL)):
            visit.goto(page.as_uri())
            visit.locator("details").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")
            visit.evaluate(source)
            if violations := visit.evaluate(AXE):
                found[page.name] = violations
        # The same where somebody searches.
        visit.goto((small / "code.html").as_uri())
        visit.fill("#path", "src/nav/node.py")
        visit.fill("#q", "threads zzzz")
        visit.locator("#hits a").first.wait_for()
        visit.evaluate(source)
        assert (found, visit.evaluate(AXE)) == ({}, [])


def test_without_javascript_clicks_lead_to_the_successor(small: Path, visiting: Visiting) -> None:
    with visiting(java_script_enabled=False) as page:
        page.goto((small / "index.html").as_uri())
        page.get_by_role("heading").get_by_role("link", name="nav", exact=True).click()
        page.locator("summary", has_text="Superseded").click()
        page.get_by_role("link", name="Use one thread").click()
        page.locator(".banner").get_by_role("link", name="Use two threads").click()
        assert page.url == (small / f"entries/{NEW}.html").as_uri()
        # The lineage leads back, also without a script.
        page.locator("svg.lineage a").first.click()
        assert page.url == (small / f"entries/{OLD}.html").as_uri()
        for one in sorted(small.rglob("*.html")):
            page.goto(one.as_uri())
            assert len(page.locator("main").inner_text()) > 20, one
            assert not page.locator("form.search, form.pathbox").filter(visible=True).count()


def test_the_keyboard_alone_goes_to_the_page_and_through_it(small: Path, visiting: Visiting) -> None:
    with visiting() as page:
        page.goto((small / f"entries/{NEW}.html").as_uri())
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
        page.keyboard.press("Enter")
        reached = []
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.append(
                page.evaluate(
                    "document.activeElement.closest('svg.lineage') ? 'lineage' : document.activeElement.tagName"
                )
            )
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none" or reached[-1] == "BODY", reached
        assert {"A", "SUMMARY", "lineage"} <= {*reached}


def test_a_printed_entry_has_its_lineage_and_is_dark_on_light(small: Path, visiting: Visiting) -> None:
    with visiting(scheme="dark") as visit:
        visit.goto((small / f"entries/{NEW}.html").as_uri())
        assert visit.evaluate("getComputedStyle(document.body).color") == "rgb(228, 233, 238)"
        printed = visit.pdf(format="A4")
        assert printed.startswith(b"%PDF")
        visit.emulate_media(media="print", color_scheme="dark")
        assert visit.evaluate("getComputedStyle(document.body).color") == "rgb(27, 36, 48)"
        shown = visit.locator("svg.lineage").bounding_box()
        assert shown is not None
        assert shown["width"] > 200
        assert not visit.locator("nav, .search, footer").filter(visible=True).count()


@pytest.mark.parametrize("wanted", ["reduce", "no-preference"])
def test_nothing_moves_where_that_is_asked_for(small: Path, visiting: Visiting, wanted: str) -> None:
    with visiting(reduced_motion=wanted) as visit:
        visit.goto((small / "index.html").as_uri())
        moves = visit.locator("main a").first.evaluate("(a) => getComputedStyle(a).transitionDuration")
        assert (moves == "0s") == (wanted == "reduce")


HOSTILE = "</title><script>document.title = 'ran'</script>\u202e" + "x" * 10_000
BODY = f"""# <b>T</b>

<script>document.title = "ran"</script> <img src=x onerror="document.title='ran'"> <svg onload="document.title='ran'">
[x](javascript:document.title='ran') [y](data:text/html,<script>1</script>) ![i](https://outside.example/x.png)

| a | b |
|---|---|
| {"w" * 400} | c |

```
{"z" * 400}
```
"""


@pytest.mark.parametrize("width", [320, 1280])
def test_hostile_entries_run_nothing_and_the_page_holds(tmp_path: Path, visiting: Visiting, width: int) -> None:
    folder = decided(tmp_path / "a")
    address = "nav/architecture/b-100%-c#"
    write_entry(folder / "memory", address, BODY, title=HOSTILE, owner="'\"><script>1</script>'", supersedes=[NEW])
    write(folder, "memory/nav/architecture/torn.md", b"---\ntype: [\n---\n\xff")
    built(folder, tmp_path / "site")
    with visiting(width=width) as visit:
        for page in sorted((tmp_path / "site").rglob("*.html")):
            visit.goto(page.as_uri())
            assert "ran" not in visit.title().split()
            assert visit.evaluate("document.documentElement.scrollWidth") == width, page
        visit.goto((tmp_path / "site/index.html").as_uri())
        visit.fill("#q", "xxxxxxxx")
        visit.locator("#hits a").first.click()
        assert visit.locator(".address").inner_text() == address


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


def ask(visit: Any, words: str) -> list[str]:
    """Type words into the search, and return the texts of its matches."""
    visit.fill("#q", "")
    visit.locator("#hits > *").first.wait_for(state="detached")
    visit.fill("#q", words)
    visit.locator("#hits > *").first.wait_for()
    return visit.locator("#hits > *").all_inner_texts()


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
    # A deprecated entry is found, and links to its successor.
    ("one thread", "Use two threads"),
    ("one thread", "supersedes Use one thread"),
    ("zebra", "No entry contains zebra"),
)


def test_search_of_files_finds(searched: Path, visiting: Visiting) -> None:
    with visiting() as visit:
        visit.goto((searched / "wings/nav.html").as_uri())
        for words, told in FOUND:
            assert told in " ".join(ask(visit, words)).replace("\n", " "), words


def test_the_keyboard_alone_searches(searched: Path, visiting: Visiting) -> None:
    with visiting() as page:
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
            # Load the page again each time, so that nothing is cached.
            visit.goto((tmp_path / "site/index.html").as_uri())
            milliseconds, told = visit.evaluate(TIMED, word)
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
        visit.goto((tmp_path / "site/code.html").as_uri())
        for path in paths:
            ran = run_here(capsys, "retrieve", "--path", path, "--budget", "200000", "--format", "json", cwd=folder)
            items = json.loads(ran.out)["items"]
            said = {item["address"] for item in items if "applies to " in item["reason"]}
            visit.fill("#path", path)
            hrefs = visit.locator("#matches a").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
            shown = {href.removeprefix("entries/").removesuffix(".html") for href in hrefs}
            number += len(shown)
            if shown != said:
                differing[path] = (shown, said)
    assert differing == {}
    assert number > 100
