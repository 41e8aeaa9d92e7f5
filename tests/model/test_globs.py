"""The globs of `applies_to`, compared with git, whose `:(glob)` rules are the definition."""

import random
import re
from pathlib import Path

import pytest
from builders import git, make_repository, write

from mdmem.model.globs import any_match, fixed_part, matches, script_pattern

PATHS = r"""
    README.md a ab a-b.py a.b Makefile [x] x ^ src/a.py src/b.pyi src/nav/a.py src/nav/deep/b.py src/nav/deep/er/c.py
    src2/a.py lib/src/a.py lib/nav/x.c docs/größe.md docs/🙂.md docs/a*b docs/a?b docs/- docs/] docs/!a docs/a\b
    docs/A.MD docs/5 docs/&& deep/a/b/c/d.py deep/a/d.py deep/d.py nav x.d/nav src.d/**
""".split()  # noqa: SIM905  # a list has one path a line
PATHS += ["docs/a b.md", "docs/a\nb"]
PATTERNS = r"""
    * ** **/* */* */** **/ src src/ src/* src/** src/**/ src/nav src/nav/ src/*.py src/**/*.py **/*.py **/a.py
    **/nav **/nav/** **/src/** s* s*/a.py src* src*/** *.py *.md docs/* docs/? docs/?? docs/*.md docs/*.MD
    docs/[a-c]* docs/[!a]* docs/[^a]* docs/[]] docs/[]-] docs/[!]] docs/[a docs/a\*b docs/a\?b docs/a*b docs/a?b
    docs/[*] docs/a[*]b docs/a[?]b docs/a[\*]b docs/a\\b docs/a[\\]b docs/[-] docs/[a-]* docs/gr*e.md docs/gr?ße.md
    docs/gr??e.md docs/??.md docs/?.md docs/🙂.md docs/größe.md docs/[!-~] docs/[[:digit:]] docs/[[:alpha:]]*
    docs/[0-9] docs/[9-0] docs/[z-a] docs/[&&]* docs/[a&&b]* docs/a* docs/[a/b]* docs/[!]a deep/**/d.py deep/*/d.py
    deep/a/** deep/**/c/** deep/**/**/d.py deep/**d.py deep/a**/d.py **d.py **/** *** deep/***/d.py **nav src/**nav
    src/nav** ./src src/./a.py src//a.py src/.. src/../lib src/. src/nav/.. a a* a.b a?b [x] \[x\] [[]x] [a-x] [^] ^
    [] [!] [ ] x [x \x x\ **/x . [[:foo:]]* [[:upper:]]* [[:upper:][:digit:]-]* docs/[[:punct:]] docs/[[:]*
    docs/[[:]]* docs/[a-c-e]* docs/[--9] docs/[\]] docs/[\!-\-] *[a-z]/*[0-9]/*.py src**/a.py deep/**\/d.py
    **/*a*/**/*.py */ */a.py */*/a.py ? ?? src.d/** src.d/\*\* **/**/a.py src/**/** src/*/ src/nav/*/ {src,lib}/**
    src/{a,b}.py !src ~ src/nav/a.py/ src/nav/a.py/* (src) a|b a+ $ src/a.py$
""".split()  # noqa: SIM905  # a list has one pattern a line
# These hold a blank, or nothing.
PATTERNS += ["", "docs/a b.md", "docs/a\nb", "docs[/]a b.md", "docs?a b.md"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository that tracks the paths."""
    folder = make_repository(tmp_path_factory.mktemp("globs"))
    for path in PATHS:
        write(folder, path)
    git(folder, "add", "-A")
    return folder


def listed_by_git(repository: Path, pattern: str) -> list[str]:
    """Return what git lists for a glob."""
    return sorted(path for path in git(repository, "ls-files", "-z", "--", f":(glob){pattern}").split("\0") if path)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_glob_covers_what_git_lists(repository: Path, pattern: str) -> None:
    assert sorted(path for path in PATHS if matches(pattern, path)) == listed_by_git(repository, pattern)


@pytest.mark.parametrize("pattern", ["/", "/src", "../src", "src/../../src"])
def test_glob_covers_nothing_when_git_refuses_it(repository: Path, pattern: str) -> None:
    with pytest.raises(AssertionError, match="outside repository"):
        listed_by_git(repository, pattern)
    assert [path for path in PATHS if matches(pattern, path)] == []


ALPHABET = ["*", "**", "/", "?", "[", "]", "!", "-", "\\", "a", "b", ".py", "src", "nav", "deep", "d"]


def test_glob_covers_what_git_lists_for_many_patterns_at_random(repository: Path) -> None:
    chosen = random.Random(7)
    patterns = {"".join(chosen.choices(ALPHABET, k=chosen.randint(1, 7))) for _ in range(120)}
    accepted = [pattern for pattern in sorted(patterns) if not pattern.startswith("/")]
    differing = [
        pattern
        for pattern in accepted
        if sorted(path for path in PATHS if matches(pattern, path)) != listed_by_git(repository, pattern)
    ]
    assert differing == []


def test_glob_of_many_stars_ends() -> None:
    assert not matches("*a" * 40 + "b", "a" * 200)
    assert not matches("**/a*/" * 40 + "b", "a/" * 99 + "a")
    assert not covered_in_a_browser("*a" * 40 + "b", "a" * 200)
    assert not covered_in_a_browser("**/a*/" * 40 + "b", "a/" * 99 + "a")
    # From the hundredth on, Python reads the number of a group as a character.
    assert matches("*a" * 500, "ba" * 500)
    assert not matches("*a" * 500, "ba" * 499)


def covered_in_a_browser(glob: str, path: str) -> bool:
    """Return the answer of the site's script, by the same parts."""
    parts, read = script_pattern(glob), path.encode().decode("latin-1")
    if parts is None:
        return False
    plain, below, literal, source = parts
    assert plain is not None
    assert below is not None
    assert literal is not None
    if read == plain or read.startswith(below):
        return True
    rest = read.removeprefix(literal)
    return source is not None and read.startswith(literal) and re.fullmatch(source, rest, re.DOTALL) is not None


def test_glob_covers_in_a_browser_what_it_covers_here() -> None:
    chosen = random.Random(8)
    patterns = [*PATTERNS, *("".join(chosen.choices(ALPHABET, k=chosen.randint(1, 9))) for _ in range(120))]
    differing = [
        (pattern, path)
        for pattern in patterns
        for path in PATHS
        if matches(pattern, path) != covered_in_a_browser(pattern, path)
    ]
    assert differing == []


@pytest.mark.parametrize(
    ("glob", "folder", "is_met"),
    [
        ("src/web/**", "src/web/", True),
        ("src/web/**", "src/", True),
        ("src/web/views.py", "src/web/", True),
        ("src/web/*.py", "src/web/", True),
        ("src/*/models/**", "src/web/", True),
        ("**/*.py", "docs/", True),
        ("src/web/", "src/web/forms/", True),
        ("src/web", "./", True),
        ("src/web/**", "src/we/", False),
        ("src/*.py", "src/web/", False),
        ("../src", "src/", False),
    ],
)
def test_folder_meets_what_applies_below_it(glob: str, folder: str, is_met: bool) -> None:
    assert (matches(glob, folder), any_match([glob], [folder]) == folder) == (is_met, is_met)


def test_any_match_returns_the_first_path_that_a_glob_covers() -> None:
    assert any_match(["docs/**", "src/*.py"], ["README.md", "src/a.py", "docs/a.md"]) == "src/a.py"


@pytest.mark.parametrize(
    ("glob", "part"),
    [
        ("src/nav", "src/nav"),
        ("src/nav/", "src/nav"),
        ("src/nav/**", "src/nav"),
        ("src/na*.py", "src"),
        ("./src//a/../b?.py", "src"),
        ("*.py", ""),
        ("**/a.py", ""),
        (".", ""),
        ("../outside/**", None),
        ("/src", None),
    ],
)
def test_fixed_part_is_where_all_that_a_glob_covers_lies(glob: str, part: str | None) -> None:
    assert fixed_part(glob) == part
