"""Turn the Markdown of entries into HTML that is safe: no HTML of theirs, no script, nothing from other servers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from mdmem.model.text import visible, visible_text

_ADDRESS = re.compile(r"(?<![\w/.-])([a-z0-9][a-z0-9_-]*/[\w.-]+/[\w.-]*\w)(?![\w/-])")
# A wide block scrolls by itself, also by the keyboard.
_WIDE = 'tabindex="0"'
# The parser takes 25 to 40 microseconds a bracket: a larger text is shown as it is.
_LARGEST, _MOST_BRACKETS = 150_000, 5_000

# The link to the page of an address, None if there is no such entry.
Href = Callable[[str], str | None]


# ruff: noqa: ARG002  # the library passes each of its arguments to every method
class _Html(RendererHTML):
    """Renders addresses as links to their pages, and pictures of other servers as links."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[idx]
        source = str(token.attrs.get("src", ""))
        text = visible_text(self.renderInlineAsText(token.children or [], options, env))
        if not _is_safe(source):
            return escape(text)
        # A path from the top of a host is none of the site's files.
        if not urlsplit(source).scheme and not source.startswith("/"):
            return f'<img src="{escape(source)}" alt="{escape(text)}" loading="lazy">'
        return f'<a href="{escape(source)}" rel="noreferrer">{escape(text or source)}</a>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        # An address within a link must not become another link.
        env["is_link"] = True
        target = str(tokens[idx].attrs.get("href", ""))
        page = env["href"](target.removesuffix(".md"))
        if page is not None:
            return f'<a href="{escape(page)}">'
        return f'<a href="{escape(target)}" rel="noreferrer">' if _is_safe(target) else "<a>"

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        env["is_link"] = False
        return "</a>"

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        # The page has the heading of the first level; a screen reader expects no level to be skipped.
        env["level"] = min(6, int(tokens[idx].tag[1]) + 1, env["level"] + 1)
        return f"<h{env['level']}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"</h{env['level']}>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f"<pre {_WIDE}><code>{escape(tokens[idx].content, quote=False)}</code></pre>\n"

    code_block = fence

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return f'<div class="scroll" {_WIDE}><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return "</table></div>\n"

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        # Entities are resolved only now, so hidden characters are made visible here.
        shown = escape(visible_text(tokens[idx].content), quote=False)
        if env["is_link"] or "/" not in shown:
            return shown
        return _ADDRESS.sub(lambda found: _linked(found[1], found[1], env["href"]), shown)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        code = tokens[idx].content
        shown = f"<code>{escape(code, quote=False)}</code>"
        return shown if env["is_link"] else _linked(code.removesuffix(".md"), shown, env["href"])


def render_markdown(text: str, href: Href) -> Markup:
    """Return Markdown as HTML with a link on each address that `href` knows."""
    if len(text) > _LARGEST or text.count("[") > _MOST_BRACKETS:
        return Markup(f"<pre>{escape(visible(text))}</pre>")
    # `visible` shows characters that reverse the text or control a terminal by their number.
    shown = "\n".join(map(visible, text.replace("\r\n", "\n").expandtabs(4).split("\n")))
    return Markup(_parser().render(shown, {"is_link": False, "level": 1, "href": href}))


def addresses_in(text: str) -> Iterator[str]:
    """Yield the parts of a text that look like the address of an entry."""
    if "/" in text:
        yield from (found[1].removesuffix(".md") for found in _ADDRESS.finditer(text))


def _linked(address: str, shown: str, href: Href) -> str:
    page = href(address)
    return shown if page is None else f'<a href="{escape(page)}">{shown}</a>'


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Html).enable(["table", "strikethrough"])
    parser.validateLink = _is_safe  # type: ignore[method-assign,assignment]
    return parser


def _is_safe(target: str) -> bool:
    """Check whether a link leads to the web, to a mailbox, or to a file next to the page."""
    bare = re.sub(r"[\x00-\x20]", "", target)
    try:
        scheme = urlsplit(bare).scheme.casefold()
    except ValueError:
        return False
    return scheme in ("http", "https", "mailto", "") and not bare.startswith(("//", "\\"))
