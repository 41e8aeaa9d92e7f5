from __future__ import annotations

import pytest
from trees import Tracked

from mdmem.checks.facts import TrackedPaths
from mdmem.model.globs import matches

IN_ROOT = frozenset({"app/rules/a.md", "app/README.md"})
PATHS = frozenset({"src/nav/node.py", "src/nav/deep/x.py", "src/a b.py", "README.md"})
FACTS = Tracked(IN_ROOT, PATHS | {f"memory/{path}" for path in IN_ROOT}, under="memory")


@pytest.mark.parametrize("path", ["../src/nav/node.py", "../src/nav", "../src/nav/", "/README.md", "app/rules/a.md"])
def test_holds_what_is_tracked_from_the_root_or_the_top(path: str) -> None:
    assert TrackedPaths(FACTS).has(path)


@pytest.mark.parametrize("path", ["src/nav/node.py", "../src/na", "../../README.md", "/nav"])
def test_holds_nothing_else(path: str) -> None:
    assert not TrackedPaths(FACTS).has(path)


GLOBS = ["src/**", "src/nav/**", "src", "src/", "src/nav/", "./src/**", "**/x.py", "*.md", "src/*.py", "src/*/x.py"]
GLOBS += ["src/na", "nav/**", "src/n?v/node.py", "src/[m-n]av/**", "sr*", "**", "src/a b.py", "src/nav/node.py/**"]
GLOBS += ["src//nav/**", "src/./nav/node.py", "/src/**", "../src", "**/", "*/", "src/*/", ".", ""]


@pytest.mark.parametrize("glob", GLOBS)
def test_has_match_agrees_with_matching_every_path(glob: str) -> None:
    assert TrackedPaths(FACTS).has_match(glob) == any(matches(glob, path) for path in FACTS.tracked_in_repository)
