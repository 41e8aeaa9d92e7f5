"""The strict YAML reader: every scalar is text, every key has its place, equal keys and aliases are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

# The pure-Python loader is seven times slower, yet reads the same where libyaml is missing.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

FRONT_MATTER_LIMIT = 16 * 1024
# libyaml's composer recurses in C; 16 KiB of brackets would overflow its stack.
_DEPTH_LIMIT = 20
_INDICATOR = re.compile(r"(?:^|[\s,\[{:])[&*!]", re.MULTILINE)
_NESTING_FIELDS = frozenset({"relations", "ignore"})


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault inside the front matter; line and column count from 1 within it."""

    code: str
    message: str
    help: str
    line: int
    column: int
    width: int = 0


class Fields(dict[str, Any]):
    """Keys to text, list of text, nested values, or None where a value is empty; knows the place of each."""

    def __init__(self) -> None:
        """Start without a key."""
        super().__init__()
        self._nodes: dict[str, tuple[yaml.Node, yaml.Node]] = {}

    def take(self, key: yaml.ScalarNode, value: yaml.Node) -> None:
        """Add one key with its value."""
        self[key.value] = _plain(value)
        self._nodes[key.value] = (key, value)

    def place(self, name: str, item: int | None = None, *, of_key: bool = False) -> tuple[int, int, int]:
        """Return line, column and width of a key, its value, or one item of its list; (1, 1, 0) for a key that is absent."""
        if name not in self._nodes:
            return (1, 1, 0)
        key, value = self._nodes[name]
        node = key if of_key or _is_empty(value) else value
        if item is not None and isinstance(node, yaml.SequenceNode) and item < len(node.value):
            node = node.value[item]
        return _span(node)


def read_fields(text: str) -> tuple[Fields | None, tuple[Trouble, ...]]:
    """Return the fields of a front matter and its faults; no fields where they cannot be told for certain."""
    if len(text.encode("utf-8")) > FRONT_MATTER_LIMIT:
        return None, (Trouble("front-matter-too-large", "the front matter is over 16 KiB", "move the text into the body", 1, 1),)
    refused = tuple(_refused(text)) if _INDICATOR.search(text) or _is_deep(text) else ()
    if refused:
        return None, refused
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        return None, (_syntax(text, error),)
    except yaml.YAMLError as error:
        message = str(error).splitlines()[0]
        return None, (Trouble("yaml-syntax", f"the YAML reader refuses it: {message}", "remove the character", 1, 1),)
    if root is None:
        return Fields(), ()
    if not isinstance(root, yaml.MappingNode):
        line, column, width = _span(root)
        help_ = "write one `key: value` a line"
        return None, (Trouble("not-a-mapping", "the front matter is not a mapping of keys", help_, line, column, width),)
    return _mapping(root, text)


def _mapping(root: yaml.MappingNode, text: str) -> tuple[Fields | None, tuple[Trouble, ...]]:
    fields, troubles = Fields(), []
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            troubles.append(_at(key, "non-text-key", "a key that is not plain text", "write the key as one word"))
        elif key.value in fields:
            first = fields.place(key.value, of_key=True)[0]
            message = f"`{key.value}` stands twice, first in line {first + 1}"
            troubles.append(_at(key, "duplicate-key", message, "keep one of the two"))
        else:
            fields.take(key, value)
            troubles += _value_troubles(key.value, value)
    if " #" in text:
        troubles += _truncated(text, root)
    # Which of two equal keys was meant cannot be told, so neither is read.
    doubtful = any(trouble.code in ("duplicate-key", "non-text-key") for trouble in troubles)
    return (None if doubtful else fields), tuple(troubles)


def _plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        # A wiki link is a finding, but what it names is read all the same.
        return [_plain(_wiki_link(item) or item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {str(_plain(key)): _plain(value) for key, value in node.value}
    return None if _is_empty(node) else node.value


def _is_empty(node: yaml.Node) -> bool:
    return node.tag == "tag:yaml.org,2002:null" and isinstance(node, yaml.ScalarNode) and node.style is None


def _value_troubles(name: str, value: yaml.Node) -> Iterator[Trouble]:
    if name in _NESTING_FIELDS or name.startswith("x-") or not isinstance(value, yaml.SequenceNode):
        return
    for item in value.value:
        if link := _wiki_link(item):
            message = f"`[[{link.value}]]` is a list in a list, not a link"
            yield _at(item, "wiki-link-value", message, f'write "{link.value}"')


def _wiki_link(item: yaml.Node) -> yaml.ScalarNode | None:
    """Return the text of `[[x]]` inside a list: one flow list as an item, or two as an item of a block list."""
    for _ in range(2):
        if isinstance(item, yaml.SequenceNode) and item.flow_style and len(item.value) == 1:
            item = item.value[0]
            if isinstance(item, yaml.ScalarNode):
                return item
    return None


def _truncated(text: str, root: yaml.MappingNode) -> Iterator[Trouble]:
    """Find plain values cut at a `#` with no blank after it: `title: Update #2 done` means only `Update`."""
    lines = text.splitlines()
    for _, value in root.value:
        if not isinstance(value, yaml.ScalarNode) or value.style is not None or value.end_mark.line >= len(lines):
            continue
        rest = lines[value.end_mark.line][value.end_mark.column :]
        if re.match(r"\s+#[^\s#]", rest):
            message = f"the value ends at `{value.value}`: YAML reads the rest as a comment"
            yield _at(value, "comment-truncates-value", message, "put the whole value in quotes")


def _refused(text: str) -> Iterator[Trouble]:
    """Look for aliases, tags and depth event by event, so that nothing is expanded."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                depth += 1
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                depth -= 1
            if depth > _DEPTH_LIMIT:
                yield _at(event, "nested-value", f"values nest deeper than {_DEPTH_LIMIT} levels", "write plain values")
                return
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                yield _at(event, "anchor-or-alias", f"YAML anchor or alias `{event.anchor}`", "write the value out, or quote it")
            elif getattr(event, "tag", None):
                yield _at(event, "custom-tag", f"YAML tag `{event.tag}`", "remove the tag; every value is text")
    except yaml.MarkedYAMLError as error:
        yield _syntax(text, error)


def _is_deep(text: str) -> bool:
    return text.count("[") + text.count("{") > _DEPTH_LIMIT or "- " * _DEPTH_LIMIT in text or " " * _DEPTH_LIMIT in text


def _syntax(text: str, error: yaml.MarkedYAMLError) -> Trouble:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = error.problem or "it is no YAML"
    if "single document" in (error.context or "") or "single document" in problem:
        return Trouble("multiple-documents", "the front matter holds more than one YAML document", "keep one", line, column)
    lines = text.splitlines()
    at_fault = lines[line - 1] if 0 < line <= len(lines) else ""
    message, help_, where = _cause(at_fault, problem, error.context_mark and lines[error.context_mark.line : line])
    return Trouble("yaml-syntax", message, help_, line, where or column)


def _cause(line: str, problem: str, since: list[str] | None) -> tuple[str, str, int | None]:
    """Return message, help and column for the causes that people meet, else the reader's own words."""
    key, colon, value = line.partition(":")
    value = value.strip()
    if "\t" in line[: len(line) - len(line.lstrip())] or problem.endswith("that cannot start any token") and "\t" in line:
        return "a tab where YAML wants blanks", "indent with blanks", line.index("\t") + 1
    if colon and value[:1] in ("@", "`", "%"):
        return f"a plain value cannot start with `{value[0]}`", f"write {key.strip()}: '{value}'", line.index(value) + 1
    if colon and ": " in value and value[:1] not in ("'", '"', "[", "{"):
        return "colon and blank inside a plain value", f'put quotes round it: {key.strip()}: "{value}"', line.index(value) + 1
    opened = next((quoted for quoted in [line, *(since or [])] if _has_open_quote(quoted)), None)
    if opened is not None or "end of stream" in problem:
        return "a quote or bracket is not closed", "close it", None
    return f"the YAML reader says: {problem}", "put quotes round the value, or mend the indentation", None


def _has_open_quote(line: str) -> bool:
    return any(line.count(quote) % 2 == 1 and re.search(rf"[:\[,-]\s*{quote}", line) for quote in "\"'")


def _span(node: yaml.Node) -> tuple[int, int, int]:
    start, end = node.start_mark, node.end_mark
    width = end.column - start.column if end.line == start.line else 0
    return start.line + 1, start.column + 1, max(width, 0)


def _at(node: Any, code: str, message: str, help_: str) -> Trouble:
    line, column, width = _span(node)
    return Trouble(code, message, help_, line, column, width)
