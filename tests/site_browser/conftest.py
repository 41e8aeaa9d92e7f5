"""Chromium, and the sites that it is shown; whoever lacks it or the extra `browser` is told so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_site import EXAMPLES, built, decided

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# A violation is said on the console too, but in words that change.
_TELL = "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective))"


@dataclass
class Visit:
    """A page of a browser, and what it complained of: lines of the console, faults, requests that left or failed."""

    page: Page
    allowed: tuple[str, ...]
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.add_init_script(_TELL)
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self._fail(request.url, request.failure))
        self.page.on("request", lambda request: self._check(request.url))

    def _check(self, url: str) -> None:
        if not url.startswith(self.allowed):
            self.complaints.append(f"asked: {url}")

    def _fail(self, url: str, why: str | None) -> None:
        # Whoever leaves a page no longer waits for its icon.
        if why != "net::ERR_ABORTED":
            self.complaints.append(f"{why}: {url}")


Visiting = Callable[..., AbstractContextManager[Visit]]


@pytest.fixture
def visiting(chromium: Browser) -> Visiting:
    """Return what opens a page of a width and a scheme, and holds at its end that it complained of nothing."""

    @contextmanager
    def visit(*, width: int = 1280, scheme: str = "light", allowed: str = "file://", **options: Any) -> Iterator[Visit]:
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        one = Visit(context.new_page(), (allowed, "data:"))
        one.listen()
        yield one
        context.close()
        assert one.complaints == []

    return visit


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of the example wings."""
    out = tmp_path_factory.mktemp("examples") / "site"
    built(EXAMPLES, out)
    return out


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of a small memory with a supersession, a draft and the page of a change."""
    folder = tmp_path_factory.mktemp("small")
    out = folder / "site"
    built(decided(folder / "a"), out, base="HEAD~1")
    return out
