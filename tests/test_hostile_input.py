"""Test bodies, names and addresses that are made to cost time or memory, or to stop a command."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import (
    commit_all,
    entry,
    entry_text,
    environment,
    make_repository,
    make_root,
    run_here,
    run_mdmem,
    write,
    write_entry,
)
from hypothesis import given
from hypothesis import strategies as st
from processes import run_text

from mdmem.ask.excerpt import summary_of
from mdmem.checks.prose import gives_reason
from mdmem.checks.rules import front_matter, links
from mdmem.exchange import importer, sources
from mdmem.exchange.dialects import read_records
from mdmem.exchange.record import SourceFile
from mdmem.exchange.statements import read_status
from mdmem.markdown.body import sections_of
from mdmem.markdown.merge import has_hunks
from mdmem.markdown.parse import body_links, first_heading, parse_document, without_code
from mdmem.setup import records
from mdmem.setup.client_config import InsertError, read_object
from mdmem.store.catalog.addresses import load_entry
from mdmem.store.catalog.model import _PARTS as ADDRESS_PARTS
from mdmem.store.catalog.model import ADDRESS
from mdmem.store.settings import readable_settings


def _memory(folder: Path) -> Path:
    root = make_root(make_repository(folder / "top") / "memory", 'default_wing = "nav"\n')
    write(root, "nav/README.md", "---\nkind: project\nowners: [team]\n---\n")
    write_entry(root, "nav/a/one", title="One")
    return root


def test_name_that_is_no_utf8_does_not_stop_retrieve(tmp_path: Path) -> None:
    root = _memory(tmp_path)
    Path(os.fsdecode(os.fsencode(root / "nav/a") + b"/by\xffte.md")).write_text(entry_text(title="Two"))
    commit_all(root.parent)
    for form in ("text", "markdown", "json"):
        done = run_mdmem("retrieve", "--format", form, cwd=root)
        assert (done.returncode, "nav/a/one" in done.stdout) == (0, True), done.stderr


def test_comment_that_nothing_closes_reaches_to_the_end() -> None:
    # To look for an end from each of thousands that are open takes the square of them.
    assert summary_of(entry("a/b/c", title="T"), "Said.\n\n" + "<!-- " * 3) == "Said."
    assert summary_of(entry("a/b/c", title="T"), "<!-- one --> <!-- " * 3 + "not said") == ""


def _settings(text: str) -> object:
    return readable_settings(text.encode())


def _client(text: str) -> None:
    with pytest.raises(InsertError):
        read_object(text.encode())


def _instructions(text: str) -> object:
    return read_records(SourceFile("AGENTS.md", body=text, data=text.encode()), "instructions")


# Beginnings of the lines that mdmem writes into AGENTS.md, without their end.
_LINES = (
    "Before you change code, ask once what is binding, with all files",
    "Before you change code, ask once what applies to all files",
    "Before you change code or decide anything, call the tool ",
)
# Most of these once took seconds to hours.
SLOW: list[tuple[Callable[[str], object], str]] = [
    (_settings, " " * 100_000 + "\nno_such_key = 1\n"),
    (_settings, f'x = """\n{"[" * 100_000}\n"""\n'),
    (_settings, f'[wings.nav]\ngit = "https://{":" * 100_000}"\n'),
    (lambda text: has_hunks(text.encode()), "<<<<<<<\n" + "=======\n}/<<<<<<<\n" * 6_000),
    (lambda text: has_hunks(text.encode()), "<<<<<<<\n" + "|||||||\n" * 12_000),
    (lambda text: [one.is_aside for one in sections_of(text)], "\n" * 50_000 + "- " * 25_000),
    (lambda text: load_entry(parse_document("w/r/e.md", text.encode())), entry_text(see=f"[{'na,' * 4_000}]")),
    (without_code, "```a\n" * 20_000),
    (without_code, "`" * 2_000 + " a" * 50_000),
    (first_heading, "# a" + " " * 100_000 + "b\n"),
    (first_heading, "#" + " " * 100_000),
    *((lambda text: list(body_links(text)), (one * 100_000)[:100_000]) for one in ("[", "[see: a", "[[a", "[](")),
    *((gives_reason, one * (100_000 // len(one)) + "\n---\n") for one in ("why ", "faq ", "** faq ")),
    (lambda text: list(body_links(text)), "[see:" + " " * 100_000),
    (lambda text: list(body_links(text)), "[see: a" + " " * 100_000),
    *((pattern.findall, "a" * 16_000) for pattern in (ADDRESS, ADDRESS_PARTS)),
    (read_status, f"Accepted {'.' * 1_980}x"),
    (read_status, f"Accepted {'and ' * 480}x\n\n" * 3),
    *((read_status, text) for text in (f"x{'_' * 1_980}x\n\n" * 10, "or\n" * 15_000)),
    (records._ADR_FOLDER.findall, "\n" * 16_000),
    (front_matter._COMMENT.search, "\f\n" * 16_000),
    (importer._NUMBER.match, "adr" * 40 + "x"),
    (links._OUTSIDE.match, f"A{'1' * 16_000}x"),
    (front_matter._LINK.match, f"[[{' ' * 4_000}a,]]"),
    *((pattern.match, f"a: b{' ' * 16_000}c") for pattern in (front_matter._LINE, sources._PAIR)),
    (sources._ITEM.match, f"- b{' ' * 16_000}c"),
    *((_client, one * 50_000) for one in ('"\\', "/* ")),
    *((_instructions, f"{one}\n" * (300_000 // len(one))) for one in (*_LINES, f"{_LINES[1]} x\ny")),
]


@pytest.mark.parametrize("number", range(len(SLOW)))
def test_text_that_is_made_to_be_slow_is_read_in_time(number: int) -> None:
    read, text = SLOW[number]
    started = time.process_time()
    read(text)
    assert time.process_time() - started < 0.2


def test_record_of_many_sections_is_exported_in_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = _memory(tmp_path)
    write_entry(root, "nav/a/two", "# Status\n" * 40_000, title="Two")
    started = time.process_time()
    assert run_here(capsys, "export", "madr", "--out", "out", cwd=root.parent).code == 0
    assert time.process_time() - started < 2
    assert (root.parent / "out/0002-two.md").read_text().count("# Status in its own words\n") == 40_000


SPAN = re.compile(r"(`(?<!``)`*)(?!`)[^\n]*?(?<!`)\1(?!`)")


@given(st.text(alphabet="`a \n", max_size=60))
def test_code_spans_are_those_that_a_search_from_each_backtick_finds(body: str) -> None:
    assert without_code(f"x{body}") == SPAN.sub(lambda found: " " * len(found[0]), f"x{body}") or "```" in body


def test_http_address_that_is_no_name_is_a_usage_error(tmp_path: Path) -> None:
    done = run_mdmem("mcp", "--http", "a..b:80", cwd=_memory(tmp_path))
    assert (done.returncode, "a fault of mdmem itself" in done.stderr) == (2, False), done.stderr


def test_last_day_of_the_calendar_crashes_no_check(tmp_path: Path) -> None:
    root = _memory(tmp_path)
    commit_all(root.parent)
    done = run_mdmem("check", "--at", "9999-12-31", cwd=root)
    assert "crashed" not in done.stdout + done.stderr, done.stdout


def test_servers_collect_garbage() -> None:
    """A connection that showed no token leaves a cycle behind, as does a file that changed; else they stay for ever."""
    program = (
        "import gc, mdmem.mcp.http as h, mdmem.cli.programs, mdmem.site.serve as s\n"
        "h.serve_http = s.SiteServer.serve_forever = lambda *a, **k: print('gc', gc.isenabled())\n"
        "from mdmem.cli.main import run\ngc.disable()\nrun(['site', 'serve', '--port', '0'])\n"
        "from mdmem.__main__ import main\nmain()\n"
    )
    here = Path(__file__).parent.parent / "example-wings"
    done = run_text("-c", program, "mcp", "--http", "127.0.0.1:0", cwd=here, env=environment())
    assert done.stdout.count("gc True") == 2, done.stdout + done.stderr
