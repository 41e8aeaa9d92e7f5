"""Test the pages: complete, the same in each build, no external request, no script from files, nothing hidden."""

import hashlib
import json
import re
import resource
import shutil
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path, PurePosixPath
from socket import create_connection
from urllib.parse import quote, unquote, urlsplit

import pytest
from builders import Run, commit_all, git, make_repository, memory, open_root, write, write_entry

from mdmem.errors import EnvironmentFaultError
from mdmem.site.build import SiteRequest, build, site_of
from mdmem.site.markup import render_markdown
from mdmem.site.serve import SiteServer
from mdmem.store.workspace.workspace import Workspace

EXAMPLES = Path(__file__).parents[1] / "example-wings"
OLD, NEW = "nav/architecture/one-thread", "nav/architecture/threads"


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def decided(folder: Path) -> Path:
    """Return a repository with a decision that was replaced, a draft, a rule for some code, and that code."""
    root = memory(folder) / "memory"
    ended = {"status": "deprecated", "deprecated_at": "2026-02-01", "reason": "It stalled."}
    write_entry(root, OLD, created_at="2025-01-05", title="Use one thread", superseded_by=[NEW], **ended)
    write_entry(
        root, NEW, created_at="2026-02-01", title="Use two threads", supersedes=[OLD], applies_to=["src/nav/**"]
    )
    write_entry(root, "nav/architecture/later", status="draft", title="Three threads", owner="navigation")
    write(folder, "src/nav/node.py")
    write(folder, "src/arm/grip.py")
    commit_all(folder, "decisions")
    return folder


def opened(folder: Path) -> Workspace:
    """Open the memory of a repository, or the folder as one."""
    return open_root(folder / "memory" if (folder / "memory").is_dir() else folder)


def built(folder: Path, out: Path, *wings: str, **options: str) -> dict[str, str]:
    build(opened(folder), SiteRequest(out=out, wings=wings, **options))
    return {path.relative_to(out).as_posix(): path.read_text() for path in sorted(out.rglob("*")) if path.is_file()}


def test_every_link_leads_to_a_page_and_nothing_is_loaded_from_outside(tmp_path: Path) -> None:
    site = built(EXAMPLES, tmp_path / "site", "myapp", "react")
    pages = [path for path in site if path.endswith(".html")]
    assert len(pages) > 30
    for page in pages:
        here = PurePosixPath(page).parent
        for tag, attributes in Tags(site[page]).found:
            assert tag not in ("iframe", "object", "embed", "style", "base")
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            target = urlsplit(attributes.get("href") or attributes.get("src") or "")
            if tag == "a" and target.scheme in ("http", "https", "mailto"):
                assert attributes["rel"] == "noreferrer"
            elif target.path:
                assert not target.scheme
                assert not target.netloc
                assert normpath(here / unquote(target.path)) in site, (page, target.path)
        assert "default-src 'none'" in site[page]
    assert len(site["assets/site.css"]) <= 14_000
    assert len(site["assets/site.js"]) <= 10_000


def test_the_same_files_give_the_same_bytes_and_one_edit_writes_what_it_changes(tmp_path: Path) -> None:
    folder, out = decided(tmp_path / "a"), tmp_path / "site"
    assert built(folder, out) == built(folder, tmp_path / "other")
    assert build(opened(folder), SiteRequest(out=out)).written == ()
    path = folder / f"memory/{NEW}.md"
    path.write_text(path.read_text() + "\nOne more word: zebra.\n")
    written = build(opened(folder), SiteRequest(out=out)).written
    assert set(written) == {f"entries/{NEW}.html", "assets/search.js"}
    assert (out / "index.html").stat().st_mode & 0o044
    (out / "index.html").write_text("torn")
    assert build(opened(folder), SiteRequest(out=out)).written == ("index.html",)
    path.unlink()
    commit_all(folder)
    assert f"entries/{NEW}.html" in build(opened(folder), SiteRequest(out=out)).removed


def test_what_ended_says_so_and_leads_on(tmp_path: Path) -> None:
    site = built(decided(tmp_path / "a"), tmp_path / "site", base="HEAD~1")
    old, new = site[f"entries/{OLD}.html"], site[f"entries/{NEW}.html"]
    assert "<strong>Superseded by</strong>" in old
    assert 'href="../../../entries/nav/architecture/threads.html"' in old
    assert 'class="lineage"' in new
    assert "1 tracked file" in new
    assert "decisions" in new[new.index("History") :]
    # There is one line for each event, also if its reason is in the deprecated entry.
    assert re.findall('class="what (.*?)"', site["timeline.html"])[-2:] == ["replaces", "new"]
    line = next(one for one in site["timeline.html"].split("<li>") if "It stalled." in one)
    assert re.search('Use two threads<.*>in place of <a class="name ended".*Use one thread<', line, re.DOTALL)
    assert "Three threads" in site["board.html"]
    assert "<code>mdmem approve</code> makes one active" in site["board.html"]
    assert "Use two threads" in site["diff.html"]
    assert "1 of 2 tracked files" in site["code.html"]
    assert json.loads(site["entries.json"])["entries"][0]["address"] == "nav/architecture/later"


def test_what_ended_without_a_known_successor_says_why_also_without_git(tmp_path: Path) -> None:
    ended = {"status": "deprecated", "deprecated_at": "2026-02-01", "reason": "It stalled."}
    write(tmp_path, "a/mdmem.toml")
    write_entry(tmp_path / "a", OLD, title="Use one thread", **ended)
    page = built(tmp_path / "a", tmp_path / "site")[f"entries/{OLD}.html"]
    assert re.search("<strong>Deprecated</strong>, no current entry replaces it: It stalled.</p>", page)


def test_the_start_lists_invariants_and_the_decisions_of_each_room(tmp_path: Path) -> None:
    folder = decided(tmp_path / "a")
    for number in range(9):
        write_entry(folder / "memory", f"nav/choices/c{number}", title=f"Choice {number}")
    start = built(folder, tmp_path / "site")["index.html"]
    assert "11 current entries in 1 wing" in " ".join(start.split())
    invariants, _, decisions = start.partition("<h3>Invariants</h3>")[2].partition("<h3>Decisions in")
    assert "Callbacks do not block" in invariants
    assert '<a href="wings/nav.html#architecture">architecture</a>' in decisions
    assert "Use two threads" in decisions
    assert "Use one thread" not in decisions.partition("Recent changes")[0]
    assert '<a href="wings/nav.html#choices">1 more</a>' in decisions


def test_the_code_page_shows_amendments_and_what_applies_everywhere(tmp_path: Path) -> None:
    folder = decided(tmp_path / "a")
    write_entry(folder / "memory", "nav/architecture/pool", title="A pool for both", amends=[NEW])
    site = built(folder, tmp_path / "site")
    named, _, everywhere = site["code.html"].partition('<h2 id="everywhere">')
    assert re.search("Use two threads</a>.*amended by .*A pool for both", named, re.DOTALL)
    assert "Callbacks do not block" in everywhere
    assert '"A pool for both"]' in site["assets/rules.js"], "the path box says so, too"


def test_pages_tell_why_where_from_and_what_is_left_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = decided(tmp_path / "a")
    settings = '[site]\nfiles_url = "https://host.example/o/r/{view}/main/"\n[check]\nreview_after_days = 3650\n'
    write(folder, "memory/mdmem.toml", settings)
    for name in ("one", "two", "three", "four", "five"):
        seen = {"created_at": "2001-02-03", "verified_at": "2001-02-04", "owner": "nav"}
        write_entry(folder / "memory", f"nav/rules/{name}", title=f"Rule {name}", **seen)
    write_entry(folder / "memory", "nav/rules/calls", title="Hurry", amends=["nav/architecture/calls"])
    write_entry(folder / "memory", "nav/architecture/calls", f"As [see: {OLD}] had it.", title="Calls")
    monkeypatch.setattr("mdmem.site.pages._MAX_LINES", 4)
    site = built(folder, tmp_path / "site", base="HEAD")
    old = site[f"entries/{OLD}.html"]
    assert '>Calls</a> <span class="detail">in its text</span>' in old[old.index("<h2>Linked from</h2>") :]
    why = old[old.index("<h2>Why</h2>") :]
    assert why.index("<strong>Use one thread</strong>") < why.index("It stalled.") < why.index("Use two threads")
    assert f'href="https://host.example/o/r/blame/main/memory/{OLD}.md" rel="noreferrer"' in old
    board = site["board.html"]
    waiting = board[board.index("<h2>Overdue") :].partition("</section>")[0]
    assert 'Overdue <span class="n">5</span>' in waiting
    assert ("2001-02-03, nav" in waiting, "+1 more" in waiting, "Use two threads" in waiting) == (True, True, False)
    assert 'placeholder="src/nav/node.py"' in site["code.html"]
    assert "Hurry" in site["lineage.html"]
    commit_all(folder)
    write_entry(folder / "memory", NEW, title="Use two threads", superseded_by=["nav/architecture/three"])
    write_entry(folder / "memory", "nav/architecture/three", title="Use three threads", supersedes=[NEW])
    pages = site_of(opened(folder), SiteRequest(out=folder, base="HEAD"))
    change = pages.files["diff.html"]()
    assert change.index("Rules before → after") < change.index("Use two threads") < change.index("Use three threads")


def test_a_full_disk_is_said_and_leaves_no_half_page(tmp_path: Path) -> None:
    folder, out = decided(tmp_path / "a"), tmp_path / "site"
    whole, workspace = built(folder, tmp_path / "other"), opened(folder)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_500, hard))
    try:
        with pytest.raises(EnvironmentFaultError, match="cannot be written: file too large"):
            build(workspace, SiteRequest(out=out))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    half = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*.html")}
    assert half.items() <= whole.items()
    assert built(folder, out) == whole


@pytest.mark.long
def test_long_chains_and_large_rooms_take_seconds_and_no_more_than_a_page_can_be(tmp_path: Path) -> None:
    root = tmp_path / "a"
    write(root, "mdmem.toml")
    for at in range(200):
        ended = {"superseded_by": [f"nav/a/e{at + 1}"], "status": "deprecated", "deprecated_at": "2026-01-01"}
        write_entry(root, f"nav/a/e{at}", title=f"Choice {at}", **(ended if at < 199 else {}))
    for at in range(5_000):
        write_entry(root, f"nav/many/n{at}", type="note", title=f"Note {at}")
    before = time.process_time()
    site = built(root, tmp_path / "site")
    assert time.process_time() - before < 60
    assert max(map(len, site.values())) < 3_000_000
    assert "Choice 199" in site["entries/nav/a/e0.html"]


def test_no_text_of_a_stranger_runs_or_loads(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "a")
    links = "[x](javascript:alert(1)) ![i](https://outside/x.png)"
    body = f"# <b>T</b>\n\n<script>alert(1)</script> {links} <img src=x onerror=y>\n"
    write(folder, "memory/mdmem.toml")
    title = "</title><script>alert(1)</script>" + "x" * 10_000
    write_entry(folder / "memory", "nav/a/b-100%-c#", body, title=title, owner="'\"><script>'", tags=["<i>"])
    write(folder, "memory/nav/a/torn.md", b"---\ntype: [\n---\n\xff")
    site = built(folder, tmp_path / "site")
    assert "&lt;script&gt;alert(1)" in site["entries/nav/a/b-100%-c#.html"]
    for page, text in site.items():
        if page.endswith((".html", ".svg", ".xml")):
            scripts = [attributes for tag, attributes in Tags(text).found if tag == "script"]
            assert all("src" in one for one in scripts), page
            assert "javascript:" not in "".join(a.get("href", "") for _, a in Tags(text).found)
            assert not [a for tag, a in Tags(text).found if tag == "img"]
    assert "Cannot be parsed" in site["wings/nav.html"]
    assert "<" not in site["assets/search.js"]


def test_any_name_of_an_entry_has_a_page(tmp_path: Path) -> None:
    folder = decided(tmp_path / "a")
    for name in ("x" * 252, "b~c", "a#b?c%d"):
        write_entry(folder / "memory", f"nav/a/{name}", title="Odd")
    write(folder, "src/a\nb\x1b[31m/f.py")
    commit_all(folder)
    site = built(folder, tmp_path / "site")
    pages = [path for path in site if path.startswith("entries/nav/a/")]
    assert len(pages) == 3
    assert all(f'href="{quote(path)}"' in site["all.html"] for path in pages)


def test_a_link_to_the_file_of_an_entry_leads_to_its_page_unless_the_caller_may_not_see_it(tmp_path: Path) -> None:
    folder = decided(tmp_path / "a")
    write_entry(folder / "memory", "nav/notes/50% more", type="note", title="More")
    write_entry(folder / "memory", "secret/plans/merger", title="The merger")
    body = (
        "[a](../architecture/threads.md#why) [b](50%25%20more.md) [c](../../secret/plans/merger.md) [d][]\n"
        "[e](https://x.org/../../../../architecture/threads.md)\n\n[d]: <./50% more.md>\n"
    )
    write_entry(folder / "memory", "nav/notes/hint", body, type="note", title="Hint")
    commit_all(folder)
    page = built(folder, tmp_path / "site", "nav")["entries/nav/notes/hint.html"]
    to = "../../../entries/nav"
    more = f'<a href="{to}/notes/50%25%20more.html">'
    shown = f'<a href="{to}/architecture/threads.html#why">a</a> {more}b</a> c {more}d</a>\n<a href="https://x.org/'
    assert shown in page
    assert "secret" not in page


def test_mentioned_by_counts_links_by_path_and_short_references(tmp_path: Path) -> None:
    folder = decided(tmp_path / "a")
    for name, body in (("by-path", "[why](../architecture/threads.md)"), ("short", "See [see: architecture/threads].")):
        write_entry(folder / "memory", f"nav/notes/{name}", f"{body} Not `[see: architecture/later]`.\n", type="note")
    site = built(folder, tmp_path / "site")
    page = site[f"entries/{NEW}.html"].partition("Linked from")[2]
    assert [f"{name}.html" in page for name in ("notes/by-path", "notes/short")] == [True, True]
    assert "Linked from" not in site["entries/nav/architecture/later.html"]


def test_a_narrowed_view_names_no_entry_file_or_commit_of_other_wings(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "a")
    write(root, "mdmem.toml", 'default_wing = "nav"\n')
    write_entry(root, OLD, status="deprecated", superseded_by=["secret/plans/merger"])
    write_entry(root, NEW, title="Use two threads", applies_to=["'**'"])
    write_entry(root, "secret/plans/merger", title="The merger", supersedes=[OLD])
    write_entry(root, "nav/notes/hint", "As [see: secret/plans/merger] says.", type="note", title="Hint")
    for wing in ("nav", "secret"):
        write(root, f"{wing}/README.md", "---\nkind: project\n---\n")
    commit_all(root, "the merger is secret")
    site = built(root, tmp_path / "site", "nav")
    assert "nav/architecture/threads.md" in site["entries/nav/architecture/threads.html"]
    assert "nav/notes/hint" in site["entries.json"]
    assert not [path for path, text in site.items() if "secret" in text or "merger" in text or "secret" in path]


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, run: Run) -> None:
    folder = decided(tmp_path / "a")
    write(folder, "docs/theirs.txt", "x")
    for out, said in (
        ("docs", "contains files that mdmem did not write"),
        ("missing/../docs", "contains files that mdmem did not write"),
        ("memory", "is in the memory"),
        ("src/nav/node.py", "is not a folder"),
    ):
        refused = run("site", "build", "--out", out, cwd=folder)
        assert (refused.code, said in refused.err) == (2, True), refused.err
    assert [path.name for path in (folder / "docs").iterdir()] == ["theirs.txt"]
    write(folder, "out/.mdmem-site.json", '{"version": 1, "files": {"../src/nav/node.py": ["", ""], "gone": ["", ""]}}')
    assert run("site", "build", "--out", "out", cwd=folder).code == 0
    assert (folder / "src/nav/node.py").exists()
    write(folder, "docs/.mdmem-site.json", '{"version": 1, "files": {"theirs.txt": ["", ""]}}')
    commit_all(folder, "a list that a clone brings along")
    write(folder, "docs/index.html", "mine")
    refused = run("site", "build", "--out", "docs", cwd=folder)
    assert (refused.code, "docs/index.html may be your own file" in refused.err) == (2, True), refused.err
    assert (folder / "docs/index.html").read_text() == "mine"
    assert run("site", "build", cwd=folder).code == 0
    # A folder that the user named may be tracked; the default folder is ignored.
    assert (git(folder, "status", "--porcelain", "site"), (folder / "out/.gitignore").exists()) == ("", False)
    shutil.rmtree(folder / "site")
    (folder / "site").symlink_to(tmp_path / "elsewhere")
    refused = run("site", "build", cwd=folder)
    assert (refused.code, "leads out of the project" in refused.err) == (2, True), refused.err
    write(folder, "memory/mdmem.toml", "nonsense = 1\n")
    assert (run("site", "build", "--out", "new", cwd=folder).code, (folder / "new/index.html").exists()) == (2, False)


def test_links_within_the_folder_lead_no_page_elsewhere(tmp_path: Path) -> None:
    folder, out, theirs = decided(tmp_path / "a"), tmp_path / "site", tmp_path / "theirs"
    write(theirs, "x.html", "theirs")
    digest = hashlib.sha256(b"theirs").hexdigest()[:20]
    write(out, ".mdmem-site.json", json.dumps({"version": 1, "files": {"lnk/x.html": digest}}))
    (out / "lnk").symlink_to(theirs)
    built(folder, out)
    shutil.rmtree(out / "assets")
    (out / "assets").symlink_to(theirs)
    with pytest.raises(EnvironmentFaultError, match="symbolic link"):
        built(folder, out)
    assert [path.name for path in theirs.iterdir()] == ["x.html"]


def test_only_what_a_build_wrote_is_removed_and_a_list_that_is_none_counts_as_none(tmp_path: Path) -> None:
    folder, out = decided(tmp_path / "a"), tmp_path / "site"
    named = json.dumps({name: ["", ""] for name in ("theirs.txt", ".git/config", "entries", "x" * 300)})
    for files in (named, "[1]", '"x"', '{"a\\u0000b": ["", ""]}', '{"\\ud800": ["", ""]}', '{"": ["", ""]}'):
        write(out, "theirs.txt", "x")
        write(out, ".mdmem-site.json", f'{{"version": 1, "files": {files}}}')
        assert {"theirs.txt", "index.html"} <= built(folder, out).keys()
        shutil.rmtree(out)


def test_the_search_has_the_text_of_each_entry_and_leads_to_the_current_one(tmp_path: Path) -> None:
    folder = decided(tmp_path / "a")
    body = f"# Use one thread\n\nWe **decided** on [a link](x.md).\n\n{'word ' * 200}Zebras wait.\n"
    ended = {"status": "deprecated", "deprecated_at": "2026-02-01", "superseded_by": [NEW]}
    write_entry(folder / "memory", OLD, body, title="Use one thread", **ended)
    script = built(folder, tmp_path / "site")["assets/search.js"]
    entries = json.loads(re.sub(r"^mdmemSearch\((.*)\);\n$", r"\1", script))
    _, page, kind, state, head, text, words = next(one for one in entries if one[0] == "Use one thread")
    assert (page, kind, state) == (f"entries/{OLD}.html", "decision", "superseded")
    assert entries[head][0] == "Use two threads"
    assert text.startswith("We decided on a link . word")
    assert len(text) <= 600
    assert "zebras" in words.split()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`a/b/c` and a/b/c.", '<p><a href="to"><code>a/b/c</code></a> and <a href="to">a/b/c</a>.</p>\n'),
        ("[x](a/b/c.md)", '<p><a href="to">x</a></p>\n'),
        ("[x](//outside)", "<p>[x](//outside)</p>\n"),
        ("# T\n#### U", "<h2>T</h2>\n<h3>U</h3>\n"),
        ("```py\n<b>\n```", '<pre tabindex="0"><code>&lt;b&gt;\n</code></pre>\n'),
        pytest.param("[" * 350_000, f"<pre>{'[' * 350_000}</pre>", id="long"),
        pytest.param("![" * 5_001, f"<pre>{'![' * 5_001}</pre>", id="dear"),
        ("a\u202eb", "<p>a&lt;U+202E&gt;b</p>\n"),
        ("a&#x202e;b&nbsp;c", "<p>a&lt;U+202E&gt;b\u00a0c</p>\n"),
        ("![a&rlm;b](x)", '<p><img src="x" alt="a&lt;U+200F&gt;b" loading="lazy"></p>\n'),
    ],
)
def test_markdown_leads_to_entries(text: str, html: str) -> None:
    assert render_markdown(text, lambda address: "to" if address == "a/b/c" else None) == html


@contextmanager
def served(folder: Path) -> Iterator[SiteServer]:
    with SiteServer(opened(folder), SiteRequest(out=folder), 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield server
        server.shutdown()


def got(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_served_page_shows_the_files_as_they_are(tmp_path: Path) -> None:
    folder = decided(tmp_path / "a")
    with served(folder) as server:
        status, text = got(f"{server.address}entries/{NEW}.html")
        assert status == 200
        assert "connect-src 'self'" in text
        # An open page knows its state, and reloads when the state changes.
        assert f'data-state="{got(f"{server.address}state")[1]}"' in text
        path = folder / f"memory/{NEW}.md"
        path.write_text(path.read_text().replace("Use two threads", "Use ten threads"))
        assert "Use ten threads" in got(f"{server.address}entries/{NEW}.html")[1]
        assert got(server.address, Host="outside.example")[0] == 403
        elsewhere = {"Sec-Fetch-Site": "cross-site"}
        assert got(f"{server.address}assets/search.js", **elsewhere, **{"Sec-Fetch-Dest": "script"})[0] == 403
        assert (
            got(server.address, **elsewhere, **{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"})[0] == 200
        )
        with create_connection(("127.0.0.1", server.server_port)) as raw:
            raw.sendall(f"GET http://[x/ HTTP/1.0\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
            assert raw.recv(100).startswith(b"HTTP/1.1 400")
        assert got(f"{server.address}../../etc/passwd")[0] == 404
        assert got(f"{server.address}feed.xml")[0] == got(f"{server.address}assets/site.css")[0] == 200
