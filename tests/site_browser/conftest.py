"""Fixtures: Chromium and the sites to open; the tests are skipped without Chromium or the extra `browser`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_site import EXAMPLES, built, decided

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# The console also reports a violation, but its wording changes between versions.
_TELL = "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective))"


Visiting = Callable[..., AbstractContextManager["Page"]]


@pytest.fixture
def visiting(chromium: Browser) -> Visiting:
    """Return a function that opens a page with a width and a color scheme, and asserts at the end that it has no error.

    An error is a line of the console, an exception, a failed request, or a request to another place than `allowed`.
    """

    @contextmanager
    def visit(*, width: int = 1280, scheme: str = "light", allowed: str = "file://", **options: Any) -> Iterator[Page]:
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        page, complaints = context.new_page(), list[str]()
        page.add_init_script(_TELL)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        # When a page is left, the request for its icon is aborted.
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
