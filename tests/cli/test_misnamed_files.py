"""Names of files that would begin a line, act on a terminal or turn text around: no entries, and one escaped line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import Run, commit_all, entry_text, memory, write

from mdmem.render.findings import FORMATS

ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ENDS = {
    "\n": "000A",
    "\r\n": "000D",
    "\u2028": "2028",
    "\u2029": "2029",
    "\x85": "0085",
    "\u202e": "202E",
    "\x1b[2J": "001B",
}
NAMES = [f"a{end}FORGED b" for end in ENDS]
QUESTIONS = (
    *(("retrieve", "caching"), ("retrieve", "--path", "src/a.py"), ("search", "caching"), ("list", "--all-wings")),
    *(("context", "caching"), ("brief", "src/a.py"), ("hygiene",), ("status",), ("check",), ("diff", "HEAD")),
)


def misnamed(folder: Path, *paths: str) -> Path:
    """Return the root of a memory with an invariant at some paths of it, and one that is named as it should be."""
    root = memory(folder) / "memory"
    rule = entry_text("Caching is off.\n\nRationale: it lied.\n", type="invariant", title="caching")
    for path in ("nav/rules/fine.md", *paths):
        write(root, path, rule)
    write(folder, "src/a.py", "x")
    commit_all(folder)
    return root


def assert_is_harmless(answer: str) -> None:
    assert ACTING.search(answer) is None
    assert [line for line in answer.splitlines() if line.startswith("FORGED")] == []


@pytest.mark.parametrize(("end", "number"), ENDS.items(), ids=ENDS.values())
def test_check_has_one_error_in_one_line(end: str, number: str, tmp_path: Path, run: Run) -> None:
    root = misnamed(tmp_path, f"nav/rules/a{end}FORGED b.md")
    ran = run("check", "--verbose", "--format", "concise", cwd=root)
    errors = [line for line in ran.out.splitlines() if "FORGED" in line]
    assert (ran.code, len(errors)) == (1, 1)
    assert f"<U+{number}>" in errors[0].partition(": error ")[0]
    assert f"U+{number}, so nothing reads it" in errors[0].partition(": error ")[2]
    for form in FORMATS:
        assert_is_harmless(run("check", "--format", form, cwd=root).out)


@pytest.mark.parametrize("place", ["nav/rules/{}.md", "nav/{}/a.md", "{}/rules/a.md"], ids=["entry", "room", "wing"])
def test_every_answer_shows_the_name_in_one_escaped_line(place: str, tmp_path: Path, run: Run) -> None:
    paths = [place.format(name) for name in NAMES]
    manifests = [f"{name}/README.md" for name in NAMES if place.startswith("{}")]
    root = misnamed(tmp_path, *paths)
    for path in manifests:
        write(root, path, "---\nkind: shared\n---\n")
    for question in QUESTIONS:
        ran = run(*question)
        assert_is_harmless(ran.out + ran.err)
        answer = run(*question, "--format", "json").out
        assert '"FORGED' not in answer
    problems = run("retrieve", "caching", "--format", "json").json["problems"]
    assert {one["path"].partition("FORGED")[0].rpartition("/")[2] for one in problems} >= {"a<U+000A>", "a<U+202E>"}
    assert "nav/rules/fine" in run("list", "--all-wings").out


def test_no_page_has_the_name_as_it_is(tmp_path: Path, run: Run) -> None:
    root = misnamed(tmp_path, *(f"nav/rules/{name}.md" for name in NAMES), *(f"nav/{name}/a.md" for name in NAMES))
    write(tmp_path, "src/b\u202egnp.py", "x")
    commit_all(tmp_path)
    assert run("site", "build", "--out", str(tmp_path / "pages"), cwd=root).code == 0
    pages = [path for path in (tmp_path / "pages").rglob("*") if path.suffix in (".html", ".json", ".xml", ".svg")]
    assert len(pages) > 5
    for page in pages:
        assert ACTING.search(page.read_text()) is None, page
        assert ACTING.search(page.name) is None
