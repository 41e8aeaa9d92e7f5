"""Load front matter as strict YAML whose scalars are all text, with errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from frontmatter.default_handlers import BaseHandler
from msgspec import Struct

from mdmem.markdown.fields import (
    FENCE_LINE,
    Fields,
    FrontMatterError,
    Trouble,
    has_front_matter,
    in_quotes,
    is_empty,
    refuse_bad_fences,
    span_of,
)

_KEY = re.compile(r"\s*(?:- +)?(?:[\w.-]+:[ \t]+|- +)\Z")
_NO_BLANK = re.compile(r"([\w-]+):(\S.*)")


class Cause(Struct, frozen=True):
    """What is wrong and what to write instead; line and column count from 1 within the front matter."""

    message: str
    help: str
    line: int
    column: int


class _Refusal(Struct, frozen=True):
    """What the reader said, and where: `since` is the start of what it was reading, `at` where it gave up."""

    text: str
    words: str
    since: Any
    at: Any

    def line(self, mark: Any) -> str:
        lines = self.text.split("\n")
        return lines[mark.line].rstrip("\r") if mark.line < len(lines) else ""

    def character(self, mark: Any) -> str:
        return self.line(mark)[mark.column : mark.column + 1]

    def cause(self, mark: Any, message: str, help_: str) -> Cause:
        return Cause(message, help_, mark.line + 1, mark.column + 1)


def cause_of(text: str, error: yaml.MarkedYAMLError) -> Cause:
    """Return the cause of a refusal; the reader's own words where it is none that people meet."""
    at = error.problem_mark or error.context_mark
    refusal = _Refusal(text, f"{error.context or ''}: {error.problem or 'it is no YAML'}", error.context_mark or at, at)
    if at is None:
        return Cause(f"the YAML reader says{refusal.words}", "put quotes round the value", 1, 1)
    for pattern, explain in _CAUSES:
        cause = explain(refusal) if pattern.search(refusal.words) else None
        if cause is not None:
            return cause
    help_ = "put quotes round the value, or mend the indentation"
    return refusal.cause(at, f"the YAML reader says: {error.problem}", help_)


def _tab(refusal: _Refusal) -> Cause | None:
    if refusal.character(refusal.at) != "\t":
        return None
    return refusal.cause(refusal.at, "a tab where YAML wants blanks", "indent with blanks")


def _first_character(refusal: _Refusal) -> Cause | None:
    scanned = refusal.words.startswith(("while scanning an a", "while scanning a block"))
    mark = refusal.since if scanned else refusal.at
    character = refusal.character(mark)
    if not character.strip():
        return None
    named = "a backtick" if character == "`" else f"`{character}`"
    before, value = refusal.line(mark)[: mark.column], refusal.line(mark)[mark.column :].rstrip()
    help_ = f"write {before.strip()} {in_quotes(value)}" if _KEY.match(before) else "put the value in quotes"
    return refusal.cause(mark, f"a plain value cannot start with {named}", help_)


def _open_quote(refusal: _Refusal) -> Cause:
    mark = refusal.since
    return refusal.cause(mark, f"the quote {refusal.character(mark)} is not closed", "close it, or remove it")


def _escape(refusal: _Refusal) -> Cause:
    # One loader stops at the backslash, the other behind it.
    column = refusal.line(refusal.at).rfind("\\", 0, refusal.at.column + 1)
    help_ = "use single quotes, or write two backslashes"
    return Cause("a backslash in double quotes starts an escape", help_, refusal.at.line + 1, column + 1)


def _open_bracket(refusal: _Refusal) -> Cause:
    if refusal.at.line == refusal.since.line:
        help_ = "add it, and put an item that holds a quote or a colon in quotes"
        return refusal.cause(refusal.at, "a comma or the closing bracket is missing", help_)
    return refusal.cause(refusal.since, f"the `{refusal.character(refusal.since)}` is not closed", "close it")


def _no_key(refusal: _Refusal) -> Cause:
    return _no_key_at(refusal, refusal.since)


def _no_key_at(refusal: _Refusal, mark: Any) -> Cause:
    joined = _NO_BLANK.match(refusal.line(mark)[mark.column :])
    if joined:
        return refusal.cause(mark, "no blank follows the colon", f"write {joined[1]}: {joined[2]}")
    help_ = "write `key: value`, or close the front matter above it with `---`"
    return refusal.cause(mark, "the line has no `key:`", help_)


def _second_colon(refusal: _Refusal) -> Cause:
    line = refusal.line(refusal.at)
    key, _, value = line.partition(":")
    if len(key) == refusal.at.column and not line.startswith(" "):
        # A key at the margin is refused only where the lines above it are one plain value: none of them has a key.
        return _no_key_at(refusal, _first_line(refusal.text))
    if len(key) == refusal.at.column:
        return refusal.cause(refusal.at, "an indented key under a plain value", "move the key to the margin")
    help_ = f"write {key.strip()}: {in_quotes(value.strip())}"
    return refusal.cause(refusal.at, "colon and blank inside a plain value", help_)


def _first_line(text: str) -> yaml.Mark:
    lines = enumerate(text.split("\n"))
    number = next((number for number, line in lines if line.strip() and not line.startswith("#")), 0)
    return yaml.Mark("", 0, number, 0, None, 0)


def _text_after(refusal: _Refusal) -> Cause | None:
    before = refusal.line(refusal.at)[: refusal.at.column].rstrip()
    if before.endswith(("'", '"')):
        help_ = "write the quote inside the value twice, or use the other kind of quotes"
        return refusal.cause(refusal.at, "text follows the closing quote", help_)
    if before.endswith(("]", "}")):
        return refusal.cause(refusal.at, "text follows the closing bracket", "write one list: [first, second]")
    if refusal.character(refusal.at) == "-":
        return refusal.cause(refusal.at, "a list item where a key belongs", "write the key of the list above it")
    return None


# What libyaml says, and what the loader in Python says where libyaml is missing.
_CAUSES: tuple[tuple[re.Pattern[str], Callable[[_Refusal], Cause | None]], ...] = (
    (re.compile("cannot start any token|a tab character"), _tab),
    (re.compile("cannot start any token|scanning an (?:alias|anchor)|scanning a block scalar"), _first_character),
    (re.compile("quoted.* unexpected (?:end of stream|document)"), _open_quote),
    (re.compile("quoted.*(?:escape|hex)"), _escape),
    (re.compile("parsing a flow"), _open_bracket),
    (re.compile("could not find expected ':'"), _no_key),
    (re.compile("mapping values are not allowed"), _second_colon),
    (re.compile("did not find expected key|expected <block end>"), _text_after),
    (re.compile("(?:sequence entries|mapping keys) are not allowed|node content"), _first_character),
)


class StrictHandler(BaseHandler):
    """python-frontmatter's handler, made strict: fences are exact, every scalar is text, equal keys are refused.

    `frontmatter.loads` itself strips texts and swallows errors, so `split` and `load` are called on the raw text.
    """

    FM_BOUNDARY = FENCE_LINE
    START_DELIMITER = END_DELIMITER = "---"

    def detect(self, text: str) -> bool:
        """Say whether the text begins with an exact fence."""
        return has_front_matter(text)

    def split(self, text: str) -> tuple[str, str]:
        """Return front matter and body, byte for byte; raises FenceError."""
        refuse_bad_fences(text)
        return super().split(text)

    def load(self, fm: str, **_: object) -> Fields:
        """Return the fields with their places and faults; raises FrontMatterError where they cannot be told."""
        fields, troubles = read_fields(fm)
        if fields is None:
            raise FrontMatterError(troubles)
        return fields


# The base loader resolves no types, which is a third of the time; libyaml's is seven times faster than the pure one.
_Base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _Loader(_Base):  # type: ignore[misc]  # PyYAML offers the C loader only where libyaml is there
    """Composes nodes without asking what type a plain value might be."""

    def resolve(self, kind: object, value: object, implicit: object) -> str:  # noqa: ARG002  # the reader calls it so
        """Return no tag: every scalar is text."""
        return ""


FRONT_MATTER_LIMIT = 16 * 1024
# libyaml's composer recurses in C; 16 KiB of brackets would overflow its stack.
_DEPTH_LIMIT = 20
# YAML refuses these or, at U+0085, U+2028, U+2029 and a lone CR, starts a line that no editor shows.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]|\r(?!\n)")
# No block nests deeper than twice the column it starts in, and only these stand before it on its line.
_DEEP_BLOCK = re.compile(rf"^[ \t?:-]{{{_DEPTH_LIMIT}}}", re.MULTILINE)
_INDICATOR = re.compile(r"(?:^|[\s,\[{:])[&*!]", re.MULTILINE)
_NESTING_FIELDS = frozenset({"relations", "ignore"})


def read_fields(text: str) -> tuple[Fields | None, tuple[Trouble, ...]]:
    """Return the fields of a front matter and its faults; no fields where they cannot be told for certain."""
    if len(text.encode("utf-8")) > FRONT_MATTER_LIMIT:
        return None, (
            Trouble("front-matter-too-large", "the front matter is over 16 KiB", "move the text into the body", 1, 1),
        )
    # The first question is four times faster than the search, and nearly always enough.
    control = None if text.replace("\n", "").isprintable() else _CONTROL.search(text)
    if control:
        return None, (_control(text, control),)
    is_deep = text.count("[") + text.count("{") > _DEPTH_LIMIT or _DEEP_BLOCK.search(text)
    refused = tuple(_refused(text)) if is_deep or _INDICATOR.search(text) else ()
    if refused:
        return None, refused
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        return None, (_syntax(text, error),)
    if root is None:
        return Fields({}, {}), ()
    if not isinstance(root, yaml.MappingNode):
        line, column, width = span_of(root)
        help_ = "write one `key: value` a line"
        return None, (
            Trouble("not-a-mapping", "the front matter is not a mapping of keys", help_, line, column, width),
        )
    return _mapping(root, text)


def _control(text: str, found: re.Match[str]) -> Trouble:
    line, start = text.count("\n", 0, found.start()) + 1, text.rfind("\n", 0, found.start()) + 1
    message = f"control character U+{ord(found.group()):04X} in the front matter"
    return Trouble("control-characters", message, "remove the character", line, found.start() - start + 1, 1)


def _mapping(root: yaml.MappingNode, text: str) -> tuple[Fields | None, tuple[Trouble, ...]]:
    nodes: dict[str, tuple[yaml.ScalarNode, yaml.Node]] = {}
    troubles = []
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            troubles.append(_at(key, "non-text-key", "a key that is not plain text", "write the key as one word"))
        elif key.value in nodes:
            troubles.append(_repeated(key, span_of(nodes[key.value][0])[0]))
        else:
            nodes[key.value] = (key, value)
            if not isinstance(value, yaml.ScalarNode):
                troubles += _value_troubles(key.value, value)
                troubles += _repeated_inside(value)
    if " #" in text:
        troubles += _truncated(text, root)
    # Which of two equal keys was meant cannot be told, so neither is read.
    if any(trouble.code in ("duplicate-key", "non-text-key") for trouble in troubles):
        return None, tuple(troubles)
    return Fields({name: _plain(value) for name, (_, value) in nodes.items()}, nodes, troubles), tuple(troubles)


def _plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        # A wiki link is a finding, but what it names is read all the same.
        return [_plain(_wiki_link(item) or item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {str(_plain(key)): _plain(value) for key, value in node.value}
    return None if is_empty(node) else node.value


def _value_troubles(name: str, value: yaml.Node) -> Iterator[Trouble]:
    if name in _NESTING_FIELDS or name.startswith("x-") or not isinstance(value, yaml.SequenceNode):
        return
    for item in value.value:
        if link := _wiki_link(item):
            message = f"`[[{link.value}]]` is a list in a list, not a link"
            yield _at(item, "wiki-link-value", message, f'write "{link.value}"')


def _repeated_inside(node: yaml.Node) -> Iterator[Trouble]:
    """Find equal keys of a mapping inside a value."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated_inside(item)
    if not isinstance(node, yaml.MappingNode):
        return
    first: dict[str, int] = {}
    for key, value in node.value:
        if str(key.value) in first:
            yield _repeated(key, first[str(key.value)])
        first.setdefault(str(key.value), span_of(key)[0])
        yield from _repeated_inside(value)


def _repeated(key: yaml.Node, first: int) -> Trouble:
    message = f"`{key.value}` stands twice, first in line {first + 1}"
    return _at(key, "duplicate-key", message, "keep one of the two")


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
    for value in _plain_values(root):
        end = value.end_mark
        cut = re.match(r"\s+(#[^\s#].*)", lines[end.line][end.column :]) if end.line < len(lines) else None
        if cut:
            kept = f"ends at `{value.value}`" if value.value else "is empty"
            message = f"the value {kept}: YAML reads `{cut[1].rstrip()}` as a comment"
            yield _at(value, "comment-truncates-value", message, "put the whole value in quotes")


def _plain_values(root: yaml.MappingNode) -> Iterator[yaml.ScalarNode]:
    for _, value in root.value:
        for node in value.value if isinstance(value, yaml.SequenceNode) else (value,):
            if isinstance(node, yaml.ScalarNode) and not node.style:
                yield node


def _refused(text: str) -> Iterator[Trouble]:
    """Look for aliases, tags and depth event by event, so that nothing is expanded."""
    depth = 0
    try:
        events: Iterator[Any] = yaml.parse(text, Loader=_Loader)
        for event in events:
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                depth += 1
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                depth -= 1
            if depth > _DEPTH_LIMIT:
                yield _at(event, "nested-value", f"values nest deeper than {_DEPTH_LIMIT} levels", "write plain values")
                return
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                yield _at(
                    event,
                    "anchor-or-alias",
                    f"YAML anchor or alias `{event.anchor}`",
                    "write the value out, or quote it",
                )
            elif getattr(event, "tag", None):
                yield _at(event, "custom-tag", f"YAML tag `{event.tag}`", "remove the tag; every value is text")
    except yaml.MarkedYAMLError as error:
        yield _syntax(text, error)


def _syntax(text: str, error: yaml.MarkedYAMLError) -> Trouble:
    mark = error.problem_mark
    if mark and "single document" in f"{error.context} {error.problem}":
        message = "the front matter holds more than one YAML document"
        return Trouble("multiple-documents", message, "keep one", mark.line + 1, mark.column + 1)
    cause = cause_of(text, error)
    return Trouble("yaml-syntax", cause.message, cause.help, cause.line, cause.column)


def _at(node: Any, code: str, message: str, help_: str) -> Trouble:
    line, column, width = span_of(node)
    return Trouble(code, message, help_, line, column, width)
