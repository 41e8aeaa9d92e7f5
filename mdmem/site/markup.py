"""Markdown to HTML, of texts that strangers wrote: no HTML of theirs, no link that runs, nothing from outside."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from mdmem.model.text import visible, visible_text
from mdmem.site.marks import around, instead

_ADDRESS = r"[a-z0-9][a-z0-9_-]*/[\w.-]+/[\w.-]*\w"
_NAMED = re.compile(rf"(?<![\w/.-])({_ADDRESS})(?![\w/-])")
# The page has a heading of the first level; those of the text begin below it.
_DEEPER = 1
_SIGN = re.compile(r"[*_\[\]<>&\\`|~!]")
# What may be wider than a phone scrolls by itself, and by the keyboard.
_WIDE = 'tabindex="0"'
# Beyond these a text is shown as it is: a bracket takes the reader 25 to 40 microseconds, and a bound on the size alone
# that holds its time keeps long records of people out, which have a thousand.
_LARGEST, _MOST_BRACKETS = 150_000, 5_000


# ruff: noqa: ARG002  # the library hands each of its arguments to every method
class _Html(RendererHTML):
    """What of a rendered text leads elsewhere is marked, and what would load from elsewhere is a link."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[idx]
        source = str(token.attrs.get("src", ""))
        said = visible_text(self.renderInlineAsText(token.children or [], options, env))
        if _is_safe(source) and not urlsplit(source).scheme:
            return f'<img src="{escape(source)}" alt="{escape(said)}" loading="lazy">'
        return f'<a href="{escape(source)}" rel="noreferrer">{escape(said or source)}</a>' if _is_safe(source) else said

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        target = str(tokens[idx].attrs.get("href", ""))
        # A link within a link is none.
        env["is_link"] = True
        shown = f'<a href="{escape(target)}" rel="noreferrer">' if _is_safe(target) else "<a>"
        return instead(target.removesuffix(".md"), shown) if target.count("/") == 2 else shown

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        env["is_link"] = False
        return "</a>"

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
        # What an entity stands for is known only now.
        shown = escape(visible_text(tokens[idx].content), quote=False)
        return shown if env["is_link"] else _named(shown)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:
        code = tokens[idx].content
        shown = f"<code>{escape(code, quote=False)}</code>"
        if env["is_link"] or not _NAMED.fullmatch(code):
            return shown
        return around(code.removesuffix(".md"), shown)


def marked(text: str) -> str:
    """Return Markdown as HTML in which what may be the address of an entry is marked, for `linked`."""
    if len(text) > _LARGEST or text.count("[") > _MOST_BRACKETS:
        return f"<pre>{escape(visible(text))}</pre>"
    # `visible` keeps line ends and tabs; what turns the writing round or steers a terminal is shown as its number.
    shown = "\n".join(map(visible, text.replace("\r\n", "\n").expandtabs(4).split("\n")))
    if (plain := _paragraphs(shown)) is not None:
        return plain
    rendered: str = _reader().render(shown, {"is_link": False, "level": _DEEPER})
    return rendered


def _paragraphs(text: str) -> str | None:
    """Return a text that has no sign of Markdown, as short ones have none: in a tenth of the time of the reader."""
    lines = text.split("\n")
    if _SIGN.search(text) or any(line and not (line[0].isalpha() and line[-1] != " ") for line in lines):
        return None
    blocks = ("\n".join(block) for is_text, block in groupby(lines, bool) if is_text)
    return "".join(f"<p>{_named(escape(block, quote=False))}</p>\n" for block in blocks)


def _named(shown: str) -> str:
    return _NAMED.sub(around(r"\1", r"\1"), shown) if "/" in shown else shown


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
