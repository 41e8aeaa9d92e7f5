"""Load front matter as strict YAML. Every scalar is read as text, and errors are explained in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from frontmatter.default_handlers import BaseHandler

from mdmem.markdown.front_matter import (
    FENCE_LINE,
    Fields,
    FrontMatterError,
    in_quotes,
    is_empty,
    place_of,
    refuse_bad_fences,
)
from mdmem.model.finding import Finding, Place

_KEY = re.compile(r"\s*(?:- +)?(?:[\w.-]+:[ \t]+|- +)\Z")
_KEY_LINE = re.compile(r"[\w-]+:(?:\s|$)")
# Further syntax errors are only found after the first ones are corrected.
_MOST_FAULTS = 10
_UNKNOWN = "the YAML parser says"
_NO_BLANK = re.compile(r"([\w-]+):(\S.*)")
# Parts of the parser's messages about a value whose first character has a meaning in YAML.
_FIRST_CHARACTER = re.compile(
    "cannot start any token|scanning an (?:alias|anchor)|scanning a block scalar"
    "|(?:sequence entries|mapping keys) are not allowed|node content"
)


def _explained(lines: Sequence[str], words: str, since: Any, at: Any) -> Finding | None:
    """Return a syntax error as a finding in plain words, or None if there is no explanation for such an error.

    `words` is the parser's message, `since` the start of the construct, `at` the place of the error.
    """
    before, here = lines[at.line][: at.column].rstrip(), lines[at.line][at.column : at.column + 1]
    opening = lines[since.line][since.column : since.column + 1]
    if here == "\t" and re.search("cannot start any token|a tab character", words):
        return _fault(at, "a tab where YAML needs spaces", "indent with spaces", "tab")
    if re.search("quoted.* unexpected (?:end of stream|document)", words):
        return _fault(since, f"the quote {opening} is not closed", "close it, or remove it", "open quote")
    if re.search("quoted.*(?:escape|hex)", words):
        # The two YAML loaders report different columns: at the backslash, or just after it.
        column = lines[at.line].rfind("\\", 0, at.column + 1)
        help_ = "use single quotes, or write two backslashes"
        return _fault(at, "a backslash in double quotes starts an escape", help_, column=column)
    if "parsing a flow" in words and at.line == since.line:
        help_ = "add it, and put an item with a quote or a colon in quotes"
        return _fault(at, "a comma or the closing bracket is missing", help_)
    if "parsing a flow" in words:
        return _fault(since, f"the `{opening}` is not closed", "close it")
    if "could not find expected ':'" in words:
        return _no_key(lines, since)
    if "mapping values are not allowed" in words:
        key, _, value = lines[at.line].partition(":")
        if len(key) != at.column:
            help_ = f"write {key.strip()}: {in_quotes(value.strip())}"
            return _fault(at, "a colon and a space inside a plain value", help_, "second colon")
        if key.startswith(" "):
            return _fault(at, "an indented key under a plain value", "move the key to the margin")
        # YAML refuses a key at the margin only if the lines above are one plain value without a key.
        number = next((number for number, one in enumerate(lines) if one.strip() and not one.startswith("#")), 0)
        return _no_key(lines, yaml.Mark("", 0, number, 0, None, 0))
    if re.search("did not find expected key|expected <block end>", words):
        if before.endswith(("'", '"')):
            help_ = "write the quote inside the value twice, or use the other kind of quotes"
            return _fault(at, "text follows the closing quote", help_)
        if before.endswith(("]", "}")):
            return _fault(at, "text follows the closing bracket", "write one list: [first, second]")
        if here == "-":
            return _fault(at, "a list item where a key belongs", "write the key of the list above it")
    mark = since if words.startswith(("while scanning an a", "while scanning a block")) else at
    before, value = lines[mark.line][: mark.column], lines[mark.line][mark.column :].rstrip()
    if not value or value[0].isspace() or not _FIRST_CHARACTER.search(words):
        return None
    name = "a backtick" if value[0] == "`" else f"`{value[0]}`"
    help_ = f"write {before.strip()} {in_quotes(value)}" if _KEY.match(before) else "put the value in quotes"
    return _fault(mark, f"a plain value cannot start with {name}", help_, "first character")


def _no_key(lines: Sequence[str], mark: Any) -> Finding:
    joined = _NO_BLANK.match(lines[mark.line][mark.column :])
    if joined:
        return _fault(mark, "no space follows the colon", f"write {joined[1]}: {joined[2]}")
    help_ = "write `key: value`, or close the front matter above it with `---`"
    return _fault(mark, "the line has no `key:`", help_)


def _fault(mark: Any, message: str, help_: str, cause: str = "", *, column: int | None = None) -> Finding:
    # Line 1 of the file is the opening fence.
    place = Place("", mark.line + 2, (mark.column if column is None else column) + 1)
    return Finding("yaml-syntax", message, place, help_, cause=cause)


def _syntax_fault(text: str, error: yaml.MarkedYAMLError) -> Finding:
    """Explain a YAML syntax error. For a rare cause, use the parser's own message."""
    at = error.problem_mark or error.context_mark or yaml.Mark("", 0, 0, 0, None, 0)
    problem, place = error.problem or "it is no YAML", Place("", at.line + 2, at.column + 1)
    words = f"{error.context or ''}: {problem}"
    if "single document" in words:
        return Finding("multiple-documents", "the front matter has more than one YAML document", place, "keep one")
    if "nesting depth" in words:
        # Since version 0.2.6, libyaml has a limit of its own, and reads ahead up to it.
        return Finding("nested-value", _TOO_DEEP, place, "write plain values")
    # The parser may report the end of the text as a line of its own.
    lines = [line.rstrip("\r") for line in text.split("\n")] + [""]
    help_ = "put quotes around the value, or fix the indentation"
    explained = _explained(lines, words, error.context_mark or at, at)
    return explained or _fault(at, f"{_UNKNOWN}: {problem}", help_)


def _syntax_faults(text: str, error: yaml.MarkedYAMLError) -> list[Finding]:
    """Return the first syntax error, and then those that are left without the keys that have an error."""
    whole, found = text.split("\n"), list[Finding]()
    lines = whole.copy()
    for _ in range(_MOST_FAULTS):
        fault = _syntax_fault("\n".join(lines), error)
        if found and _UNKNOWN in fault.message:
            break
        at = fault.place.line - 2
        # An open quote ends at a later quote, after which the parser found the errors before. Look for them again.
        found = [*(one for one in found if one.place.line < fault.place.line), fault]
        lines[at:] = whole[at:]
        starts = [number for number, line in enumerate(lines) if _KEY_LINE.match(line)]
        start = max((number for number in starts if number <= at), default=at)
        end = min((number for number in starts if number > start), default=len(lines))
        lines[start:end] = [""] * (end - start)
        try:
            yaml.compose("\n".join(lines), Loader=_Loader)
        except yaml.MarkedYAMLError as other:
            error = other
        else:
            break
    return found


class StrictHandler(BaseHandler):
    """A strict handler for python-frontmatter, used directly: `frontmatter.loads` strips texts and hides errors."""

    FM_BOUNDARY = FENCE_LINE
    START_DELIMITER = END_DELIMITER = "---"

    def split(self, text: str) -> tuple[str, str]:
        """Return the front matter without its fences, and the body; raises FrontMatterError if a fence is not exact."""
        refuse_bad_fences(text)
        return super().split(text)

    def load(self, fm: str, **_: object) -> Fields:
        """Return the fields with their places and with faults that did not prevent parsing; raises FrontMatterError."""
        if len(fm.encode("utf-8")) > FRONT_MATTER_LIMIT:
            message, help_ = "the front matter is over 16 KiB", "move the text into the body"
            raise FrontMatterError(Finding("front-matter-too-large", message, Place("", 2), help_))
        control = _CONTROL.search(fm)
        if control:
            start = control.start()
            place = Place("", fm.count("\n", 0, start) + 2, start - fm.rfind("\n", 0, start), 1)
            message = f"control character U+{ord(control[0]):04X} in the front matter"
            raise FrontMatterError(Finding("control-characters", message, place, "remove the character"))
        is_deep = fm.count("[") + fm.count("{") > _DEPTH_LIMIT or _DEEP_BLOCK.search(fm)
        refused = tuple(_refused(fm)) if is_deep or _INDICATOR.search(fm) else ()
        if refused:
            raise FrontMatterError(*refused)
        try:
            root = yaml.compose(fm, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            raise FrontMatterError(*_syntax_faults(fm, error)) from error
        if root is None:
            return Fields({}, {})
        if not isinstance(root, yaml.MappingNode):
            message, help_ = "the front matter is not a mapping of keys", "write one `key: value` a line"
            raise FrontMatterError(Finding("not-a-mapping", message, place_of(root), help_))
        return _mapping(root, fm)


# The base loader reads every scalar as a string. The version with libyaml is seven times faster.
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

FRONT_MATTER_LIMIT = 16 * 1024
# libyaml's composer is recursive, and 16 KiB of brackets would overflow the C stack.
_DEPTH_LIMIT = 20
_TOO_DEEP = f"values nest deeper than {_DEPTH_LIMIT} levels"
# YAML refuses these control characters, or treats them as line breaks that editors do not show
# (U+0085, U+2028, U+2029 and a lone CR).
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff](?<!\r(?=\n))")
# A block at column n is at most 2n levels deep, and only these characters may be before it on the line.
_DEEP_BLOCK = re.compile(rf"^[ \t?:-]{{{_DEPTH_LIMIT}}}", re.MULTILINE)
# The pattern begins with the single character, because searching for one is fast.
_INDICATOR = re.compile(r"[&*!](?:(?<=[\s,\[{:].)|(?<=^.))", re.MULTILINE)
_NESTING_FIELDS = frozenset({"relations", "ignore"})


def _refused(text: str) -> Iterator[Finding]:
    """Report aliases, tags and deep nesting. The YAML events are read one by one, so that no alias is expanded."""
    depth = 0
    try:
        events: Iterator[Any] = yaml.parse(text, Loader=_Loader)
        for event in events:
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            place = place_of(event)
            if depth > _DEPTH_LIMIT:
                yield Finding("nested-value", _TOO_DEEP, place, "write plain values")
                return
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                message = f"YAML anchor or alias `{event.anchor}`"
                yield Finding("anchor-or-alias", message, place, "write the value out, or quote it")
            elif getattr(event, "tag", None):
                help_ = "remove the tag; every value is text"
                yield Finding("custom-tag", f"YAML tag `{event.tag}`", place, help_)
    except yaml.MarkedYAMLError as error:
        yield _syntax_fault(text, error)


def _mapping(root: yaml.MappingNode, text: str) -> Fields:
    nodes: dict[str, tuple[yaml.ScalarNode, yaml.Node]] = {}
    found: list[Finding] = []
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            message, help_ = "a key that is not plain text", "write the key as one word"
            found.append(Finding("non-text-key", message, place_of(key), help_))
        elif key.value in nodes:
            found.append(_repeated(key, nodes[key.value][0]))
        else:
            nodes[key.value] = (key, value)
            may_nest = key.value in _NESTING_FIELDS or key.value.startswith("x-")
            for item in value.value if not may_nest and isinstance(value, yaml.SequenceNode) else ():
                if link := _wiki_link(item):
                    message = f"`[[{link.value}]]` is a list in a list, not a link"
                    found.append(Finding("wiki-link-value", message, place_of(item), f'write "{link.value}"'))
            found += _repeated_inside(value)
    # YAML cuts a plain value at a `#`: `title: Update #2 done` means only `Update`.
    lines = text.splitlines() if " #" in text else []
    items = (one for _, value in root.value for one in (value.value if value.id == "sequence" else (value,)))
    for item in items:
        end = item.end_mark
        is_plain = isinstance(item, yaml.ScalarNode) and not item.style and end.line < len(lines)
        cut = re.match(r"\s+(#[^\s#].*)", lines[end.line][end.column :]) if is_plain else None
        if cut:
            kept = f"ends at `{item.value}`" if item.value else "is empty"
            message = f"the value {kept}: YAML reads `{cut[1].rstrip()}` as a comment"
            found.append(Finding("comment-truncates-value", message, place_of(item), "put the whole value in quotes"))
    # If a key appears twice, it is not certain which value was meant, so neither value is used.
    if any(one.code in ("duplicate-key", "non-text-key") for one in found):
        raise FrontMatterError(*found)
    return Fields({name: _plain(value) for name, (_, value) in nodes.items()}, nodes, found)


def _plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return None if is_empty(node) else node.value
    if isinstance(node, yaml.SequenceNode):
        # A wiki link is reported as a finding, and read as the address inside it.
        return [_plain(_wiki_link(item) or item) for item in node.value]
    return {str(_plain(key)): _plain(value) for key, value in node.value}


def _wiki_link(item: yaml.Node) -> yaml.ScalarNode | None:
    """Return the text of a wiki link `[[x]]` inside a list. YAML reads it as one or two nested lists."""
    for _ in range(2):
        if isinstance(item, yaml.SequenceNode) and item.flow_style and len(item.value) == 1:
            item = item.value[0]
            if isinstance(item, yaml.ScalarNode):
                return item
    return None


def _repeated_inside(node: yaml.Node) -> Iterator[Finding]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated_inside(item)
    if isinstance(node, yaml.MappingNode):
        first: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if str(key.value) in first:
                yield _repeated(key, first[str(key.value)])
            first.setdefault(str(key.value), key)
            yield from _repeated_inside(value)


def _repeated(key: yaml.Node, first: yaml.Node) -> Finding:
    message = f"`{key.value}` appears twice, first in line {place_of(first).line}"
    return Finding("duplicate-key", message, place_of(key), "keep one of the two")
