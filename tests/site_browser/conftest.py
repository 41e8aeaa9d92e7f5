"""Chromium, and the sites that it is shown; whoever lacks it or the extra `browser` is told so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_site import EXAMPLES, built, decided

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# A violation is said on the console too, but in words that change.
_TELL = "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective))"


Visiting = Callable[..., AbstractContextManager["Page"]]


@pytest.fixture
def visiting(chromium: Browser) -> Visiting:
    """Return what opens a page of a width and a scheme, and holds at its end that it complained of nothing.

    A complaint is a line of the console, a fault, or a request that left or failed.
    """

    @contextmanager
    def visit(*, width: int = 1280, scheme: str = "light", allowed: str = "file://", **options: Any) -> Iterator[Page]:
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        page, complaints = context.new_page(), list[str]()
        page.add_init_script(_TELL)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        # Whoever leaves a page no longer waits for its icon.
        aborted = "net::ERR_ABORTED"
        page.on("requestfailed", lambda one: one.failure == aborted or complaints.append(f"{one.failure}: {one.url}"))
        page.on("request", lambda one: one.url.startswith((allowed, "data:")) or complaints.append(f"asked: {one.url}"))
        yield page
        context.close()
        assert complaints == []

    return visit


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
