"""Markdown to HTML, of texts that strangers wrote: no HTML of theirs, no link that runs, nothing from outside."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from mdmem.entry.model import visible

_ADDRESS = r"[a-z0-9][a-z0-9_-]*/[\w.-]+/[\w.-]*\w"
_NAMED = re.compile(rf"(?<![\w/.-])({_ADDRESS})(?![\w/-])")
# The page has a heading of the first level; those of the text begin below it.
_DEEPER = 1
# What may be wider than a phone scrolls by itself, and by the keyboard.
_WIDE = 'tabindex="0"'
# Beyond these a text is shown as it is: a bracket takes the reader 25 to 40 microseconds, and a bound on the size alone
# that holds its time keeps long records of people out, which have a thousand.
_LARGEST, _MOST_BRACKETS = 150_000, 5_000
Href = Callable[[str], str | None]


# ruff: noqa: ARG002  # the library hands each of its arguments to every method
class _Html(RendererHTML):
    """What of a rendered text leads elsewhere is marked, and what would load from elsewhere is a link."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[idx]
        source, said = str(token.attrs.get("src", "")), self.renderInlineAsText(token.children or [], options, env)
        if _is_safe(source) and not urlsplit(source).scheme:
            return f'<img src="{escape(source)}" alt="{escape(said)}" loading="lazy">'
        return f'<a href="{escape(source)}" rel="noreferrer">{escape(said or source)}</a>' if _is_safe(source) else said

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[idx]
        target = str(token.attrs.get("href", ""))
        found = env["href"](target.removesuffix(".md"))
        if found is not None:
            return f'<a href="{escape(found)}">'
        if not _is_safe(target):
            return "<a>"
        return f'<a href="{escape(target)}" rel="noreferrer">'

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        # Whoever listens goes from heading to heading: none is more than one level below the one before.
        env["level"] = min(6, int(tokens[idx].tag[1]) + _DEEPER, env["level"] + 1)
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
        return _with_links(escape(tokens[idx].content, quote=False), env["href"])

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        code = tokens[idx].content
        found = env["href"](code.removesuffix(".md")) if _NAMED.fullmatch(code) else None
        shown = f"<code>{escape(code, quote=False)}</code>"
        return f'<a href="{escape(found)}">{shown}</a>' if found is not None else shown


def html_of(text: str, href: Href) -> str:
    """Return Markdown as HTML; `href` gives the page of an address, None for what is none."""
    if len(text) > _LARGEST or text.count("[") > _MOST_BRACKETS:
        return f"<pre>{escape(visible(text))}</pre>"
    # `visible` keeps line ends and tabs; what turns the writing round or steers a terminal is shown as its number.
    shown = "\n".join(map(visible, text.replace("\r\n", "\n").expandtabs(4).split("\n")))
    rendered: str = _reader().render(shown, {"href": href, "level": _DEEPER})
    return rendered


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Html).enable(["table", "strikethrough"])
    reader.validateLink = _is_safe  # type: ignore[method-assign,assignment]
    return reader


def _is_safe(target: str) -> bool:
    """Say whether a link leads over the web, to a mailbox, or to what lies beside the page."""
    bare = re.sub(r"[\x00-\x20]", "", target)
    try:
        scheme = urlsplit(bare).scheme.casefold()
    except ValueError:
        return False
    return scheme in ("http", "https", "mailto", "") and not bare.startswith(("//", "\\"))


def _with_links(shown: str, href: Href) -> str:
    def linked(found: re.Match[str]) -> str:
        target = href(found[1])
        return found[0] if target is None else f'<a href="{escape(target)}">{found[1]}</a>'

    return _NAMED.sub(linked, shown)
