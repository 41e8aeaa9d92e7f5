"""Convert the Markdown of entries to safe HTML, without their own HTML or scripts, and without external images."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from mdmem.markdown.parse import path_of
from mdmem.model.text import visible, visible_text

_ADDRESS = re.compile(r"(?<![\w/.-])([a-z0-9][a-z0-9_-]*/[\w.-]+/[\w.-]*\w)(?![\w/-])")
# Makes a wide block focusable, so that it can be scrolled with the keyboard.
_WIDE = 'tabindex="0"'
# A text with more characters or brackets is shown as plain text, since the parser takes 25 to 40 µs for each bracket.
_MAX_SIZE, _MAX_BRACKETS = 150_000, 5_000

# A function that returns the link to the page of an address, or None if there is no such entry.
Href = Callable[[str], str | None]


# ruff: noqa: ARG002  # the library passes each of its arguments to every method
class _Html(RendererHTML):
    """Renders addresses as links to their pages, and images from other servers as links."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[idx]
        source = str(token.attrs.get("src", ""))
        text = visible_text(self.renderInlineAsText(token.children or [], options, env))
        # A path that starts with a slash cannot be a file of the site.
        if not urlsplit(source).scheme and not source.startswith("/"):
            return f'<img src="{escape(source)}" alt="{escape(text)}" loading="lazy">'
        return f'<a href="{escape(source)}" rel="noreferrer">{escape(text or source)}</a>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        # An address within a link must not become another link.
        env["is_link"] = True
        target = str(tokens[idx].attrs.get("href", ""))
        path, hash_sign, anchor = path_of(target), *target.partition("#")[1:]
        relative = posixpath.normpath(posixpath.join(posixpath.dirname(env["source"]), path))
        # A web address must not become the path of an entry by its `..`.
        for one in (relative, path) if path.endswith(".md") and not urlsplit(target).scheme else (path,):
            if (page := env["href"](one.removesuffix(".md"))) is not None:
                return f'<a href="{escape(page + hash_sign + anchor)}">'
        return f'<a href="{escape(target)}" rel="noreferrer">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        env["is_link"] = False
        return "</a>"

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        # The title of the page is the heading of level 1. Levels are not skipped, for screen readers.
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
        # The parser has just decoded entities, so invisible characters are made visible here.
        shown = escape(visible_text(tokens[idx].content), quote=False)
        if env["is_link"] or "/" not in shown:
            return shown
        return _ADDRESS.sub(lambda found: _linked(found[1], found[1], env["href"]), shown)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        code = tokens[idx].content
        shown = f"<code>{escape(code, quote=False)}</code>"
        return shown if env["is_link"] else _linked(code.removesuffix(".md"), shown, env["href"])


def render_markdown(text: str, href: Href, *, source: str = "") -> Markup:
    """Return Markdown as HTML. `href` gives the links to entries; links to files are relative to the entry `source`."""
    if len(text) > _MAX_SIZE or text.count("[") > _MAX_BRACKETS:
        return Markup(f"<pre>{escape(visible(text))}</pre>")
    # `visible` replaces control characters, such as those that reverse the text, by their numbers.
    shown = "\n".join(map(visible, text.replace("\r\n", "\n").expandtabs(4).split("\n")))
    return Markup(_PARSER.render(shown, {"is_link": False, "level": 1, "href": href, "source": source}))


def addresses_in(text: str) -> Iterator[str]:
    """Yield the parts of a text that look like addresses of entries, without `.md`."""
    return (found[1].removesuffix(".md") for found in _ADDRESS.finditer(text))


def _linked(address: str, shown: str, href: Href) -> str:
    page = href(address)
    return shown if page is None else f'<a href="{escape(page)}">{shown}</a>'


def _is_safe(target: str) -> bool:
    """Return whether the target of a link is a web or mail address, or a path without a host."""
    bare = re.sub(r"[\x00-\x20]", "", target)
    try:
        scheme = urlsplit(bare).scheme.casefold()
    except ValueError:
        return False
    return scheme in ("http", "https", "mailto", "") and not bare.startswith(("//", "\\"))


_PARSER = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Html).enable(["table", "strikethrough"])
_PARSER.validateLink = _is_safe  # type: ignore[method-assign,assignment]
