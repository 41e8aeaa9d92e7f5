"""Characters that a format does not allow, written in a way that it does."""

from __future__ import annotations

import re

# File names may hold bytes that are no UTF-8; Python carries each as half of a surrogate pair.
_SURROGATE = re.compile("[\ud800-\udfff]")
# What XML 1.0 leaves out of `Char`, and the controls that it discourages.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def escape_surrogates(json_text: str) -> str:
    """Return JSON in which every lone surrogate stands as its escape, so that the text is valid UTF-8."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)


def replace_surrogates(text: str) -> str:
    """Return a text that is valid UTF-8, for readers that refuse a lone surrogate even as an escape."""
    return _SURROGATE.sub("\ufffd", text)


def for_xml(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return _NOT_XML.sub("\ufffd", text)
