"""Characters that a format does not allow, written in a way that it does."""

from __future__ import annotations

import json
import re
from typing import Any

from mdmem.model.text import ACTING, needs_joiner, visible_text

# File names may hold bytes that are no UTF-8; Python carries each as half of a surrogate pair.
_SURROGATE = re.compile("[\ud800-\udfff]")
# What XML 1.0 leaves out of `Char` and a person still does not see written out.
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def json_text(content: Any, *, indent: int | None = 2) -> str:
    """Return JSON in valid UTF-8 in which what a terminal would obey stands as its escape: the data are the same."""
    return escaped(json.dumps(content, ensure_ascii=False, indent=indent))


def escaped(json_form: str) -> str:
    """Return JSON with the escape of whatever is no UTF-8 or acts on a terminal."""
    acting = ACTING.sub(lambda found: found[0] if needs_joiner(found) else _escape(found), json_form)
    return _SURROGATE.sub(_escape, acting)


def _escape(found: re.Match[str]) -> str:
    return re.sub("....", r"\\u\g<0>", found[0].encode("utf-16-be", "surrogatepass").hex())


def replace_surrogates(text: str) -> str:
    """Return a text that is valid UTF-8, for readers that refuse a lone surrogate even as an escape."""
    return _SURROGATE.sub("\ufffd", text)


def for_xml(text: str) -> str:
    """Return a text in which XML allows every character and none acts on a terminal."""
    return _NOT_XML.sub("\ufffd", visible_text(text))


def one_line(text: str) -> str:
    """Return a text from a file in one line, so that it cannot pass for a line of ours."""
    return text if text.isprintable() else " ".join(text.split())
