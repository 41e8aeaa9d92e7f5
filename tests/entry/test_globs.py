"""The globs of `applies_to`, compared with git, whose `:(glob)` rules are the definition."""

from pathlib import Path

import pytest
from builders import git, make_repository, write

from mdmem.entry.globs import any_match, matches

PATHS = [
    "README.md",
    "a",
    "ab",
    "a-b.py",
    "a.b",
    "Makefile",
    "[x]",
    "x",
    "^",
    "src/a.py",
    "src/b.pyi",
    "src/nav/a.py",
    "src/nav/deep/b.py",
    "src/nav/deep/er/c.py",
    "src2/a.py",
    "lib/src/a.py",
    "lib/nav/x.c",
    "docs/a b.md",
    "docs/größe.md",
    "docs/🙂.md",
    "docs/a*b",
    "docs/a?b",
    "docs/-",
    "docs/]",
    "docs/!a",
    "docs/a\\b",
    "docs/A.MD",
    "docs/5",
    "docs/&&",
    "docs/a\nb",
    "deep/a/b/c/d.py",
    "deep/a/d.py",
    "deep/d.py",
    "nav",
    "x.d/nav",
    "src.d/**",
]
PATTERNS = [
    "*", "**", "**/*", "*/*", "*/**", "**/", "src", "src/", "src/*", "src/**", "src/**/", "src/nav", "src/nav/",
    "src/*.py", "src/**/*.py", "**/*.py", "**/a.py", "**/nav", "**/nav/**", "**/src/**", "s*", "s*/a.py", "src*",
    "src*/**", "*.py", "*.md", "docs/*", "docs/?", "docs/??", "docs/*.md", "docs/*.MD", "docs/[a-c]*", "docs/[!a]*",
    "docs/[^a]*", "docs/[]]", "docs/[]-]", "docs/[!]]", "docs/[a", "docs/a\\*b", "docs/a\\?b", "docs/a*b", "docs/a?b",
    "docs/[*]", "docs/a[*]b", "docs/a[?]b", "docs/a[\\*]b", "docs/a\\\\b", "docs/a[\\\\]b", "docs/[-]", "docs/[a-]*", "docs/gr*e.md", "docs/gr?ße.md", "docs/gr??e.md", "docs/??.md",
    "docs/?.md", "docs/🙂.md", "docs/größe.md", "docs/[!-~]", "docs/[[:digit:]]", "docs/[[:alpha:]]*", "docs/[0-9]", "docs/[9-0]", "docs/[z-a]",
    "docs/[&&]*", "docs/[a&&b]*", "docs/a b.md", "docs/a\nb", "docs/a*", "docs/[a/b]*", "docs[/]a b.md", "docs?a b.md", "docs/[!]a",
    "deep/**/d.py", "deep/*/d.py", "deep/a/**", "deep/**/c/**", "deep/**/**/d.py", "deep/**d.py", "deep/a**/d.py",
    "**d.py", "**/**", "***", "deep/***/d.py", "**nav", "src/**nav", "src/nav**", "/src", "./src", "src/./a.py",
    "src//a.py", "../src", "a", "a*", "a.b", "a?b", "[x]", "\\[x\\]", "[[]x]", "[a-x]", "[^]", "^", "[]", "[!]", "[", "]", "x", "[x", "\\x", "x\\", "**/x", "/",
    "", ".", "*/", "*/a.py", "*/*/a.py", "?", "??", "src.d/**", "src.d/\\*\\*", "**/**/a.py", "src/**/**", "src/*/", "src/nav/*/", "{src,lib}/**", "src/{a,b}.py", "!src", "~", "src/nav/a.py/", "src/nav/a.py/*", "(src)", "a|b", "a+", "$", "src/a.py$",
]  # fmt: skip


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
