from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from mdmem.checks.facts import TrackedPaths
from mdmem.model.globs import matches

ROOT = frozenset({"app/rules/a.md", "app/README.md"})
PATHS = frozenset({"src/nav/node.py", "src/nav/deep/x.py", "src/a b.py", "README.md"})


@dataclass(frozen=True)
class Facts:
    under: str = "memory"
    tracked: frozenset[str] = ROOT
    tracked_in_repository: frozenset[str] = PATHS | {f"memory/{path}" for path in ROOT}
    ignored: frozenset[str] = frozenset()
    deleted: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    def committed(self, path: str) -> bytes | None:  # the port's name
        return None


@pytest.mark.parametrize("path", ["../src/nav/node.py", "../src/nav", "../src/nav/", "/README.md", "app/rules/a.md"])
def test_holds_what_is_tracked_from_the_root_or_the_top(path: str) -> None:
    assert TrackedPaths(Facts()).has(path)


@pytest.mark.parametrize("path", ["src/nav/node.py", "../src/na", "../../README.md", "/nav"])
def test_holds_nothing_else(path: str) -> None:
    assert not TrackedPaths(Facts()).has(path)


GLOBS = ["src/**", "src/nav/**", "src", "src/", "src/nav/", "./src/**", "**/x.py", "*.md", "src/*.py", "src/*/x.py"]
GLOBS += ["src/na", "nav/**", "src/n?v/node.py", "src/[m-n]av/**", "sr*", "**", "src/a b.py", "src/nav/node.py/**"]
GLOBS += ["src//nav/**", "src/./nav/node.py", "/src/**", "../src", "**/", "*/", "src/*/", ".", ""]


@pytest.mark.parametrize("glob", GLOBS)
def test_has_match_agrees_with_matching_every_path(glob: str) -> None:
    facts = Facts()
    assert TrackedPaths(facts).has_match(glob) == any(matches(glob, path) for path in facts.tracked_in_repository)
