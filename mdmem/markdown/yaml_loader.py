"""Load front matter as strict YAML. Every scalar is read as text, and errors are explained in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from frontmatter.default_handlers import BaseHandler
from msgspec import Struct

from mdmem.markdown.front_matter import (
    FENCE_LINE,
    Fields,
    FrontMatterError,
    Trouble,
    has_front_matter,
    is_empty,
    refuse_bad_fences,
    span_of,
)
from mdmem.markdown.scalars import in_quotes

_KEY = re.compile(r"\s*(?:- +)?(?:[\w.-]+:[ \t]+|- +)\Z")
_NO_BLANK = re.compile(r"([\w-]+):(\S.*)")


class _Refusal(Struct, frozen=True):
    """An error of the YAML parser.

    `words` is its message, `since` is the start of the construct, and `at` is the place of the error.
    """

    text: str
    words: str
    since: Any
    at: Any

    def line(self, mark: Any) -> str:
        """Return the line that contains a mark."""
        lines = self.text.split("\n")
        return lines[mark.line].rstrip("\r") if mark.line < len(lines) else ""

    def character(self, mark: Any) -> str:
        """Return the character at a mark."""
        return self.line(mark)[mark.column : mark.column + 1]

    def fault(self, mark: Any, message: str, help_: str, cause: str = "") -> Trouble:
        """Return a fault at a mark."""
        return Trouble("yaml-syntax", message, help_, mark.line + 1, mark.column + 1, cause=cause)


def _syntax_fault(text: str, error: yaml.MarkedYAMLError) -> Trouble:
    """Explain a YAML syntax error. For a rare cause, use the parser's own message."""
    at = error.problem_mark or error.context_mark
    words = f"{error.context or ''}: {error.problem or 'it is no YAML'}"
    if at is None:
        return Trouble("yaml-syntax", f"the YAML parser says{words}", "put quotes around the value", 1, 1)
    if "single document" in words:
        message = "the front matter has more than one YAML document"
        return Trouble("multiple-documents", message, "keep one", at.line + 1, at.column + 1)
    refusal = _Refusal(text, words, error.context_mark or at, at)
    for pattern, explain in _CAUSES:
        fault = explain(refusal) if pattern.search(words) else None
        if fault is not None:
            return fault
    help_ = "put quotes around the value, or fix the indentation"
    return refusal.fault(at, f"the YAML parser says: {error.problem}", help_)


def _tab(refusal: _Refusal) -> Trouble | None:
    is_tab = refusal.character(refusal.at) == "\t"
    return refusal.fault(refusal.at, "a tab where YAML needs spaces", "indent with spaces", "tab") if is_tab else None


def _first_character(refusal: _Refusal) -> Trouble | None:
    scanned = refusal.words.startswith(("while scanning an a", "while scanning a block"))
    mark = refusal.since if scanned else refusal.at
    character = refusal.character(mark)
    if not character.strip():
        return None
    name = "a backtick" if character == "`" else f"`{character}`"
    before, value = refusal.line(mark)[: mark.column], refusal.line(mark)[mark.column :].rstrip()
    help_ = f"write {before.strip()} {in_quotes(value)}" if _KEY.match(before) else "put the value in quotes"
    return refusal.fault(mark, f"a plain value cannot start with {name}", help_, "first character")


def _open_quote(refusal: _Refusal) -> Trouble:
    mark = refusal.since
    return refusal.fault(
        mark, f"the quote {refusal.character(mark)} is not closed", "close it, or remove it", "open quote"
    )


def _escape(refusal: _Refusal) -> Trouble:
    # The two YAML loaders report different columns: at the backslash, or just after it.
    column = refusal.line(refusal.at).rfind("\\", 0, refusal.at.column + 1)
    message, help_ = "a backslash in double quotes starts an escape", "use single quotes, or write two backslashes"
    return Trouble("yaml-syntax", message, help_, refusal.at.line + 1, column + 1)


def _open_bracket(refusal: _Refusal) -> Trouble:
    if refusal.at.line == refusal.since.line:
        help_ = "add it, and put an item with a quote or a colon in quotes"
        return refusal.fault(refusal.at, "a comma or the closing bracket is missing", help_)
    return refusal.fault(refusal.since, f"the `{refusal.character(refusal.since)}` is not closed", "close it")


def _no_key(refusal: _Refusal, mark: Any = None) -> Trouble:
    mark = mark or refusal.since
    joined = _NO_BLANK.match(refusal.line(mark)[mark.column :])
    if joined:
        return refusal.fault(mark, "no space follows the colon", f"write {joined[1]}: {joined[2]}")
    help_ = "write `key: value`, or close the front matter above it with `---`"
    return refusal.fault(mark, "the line has no `key:`", help_)


def _second_colon(refusal: _Refusal) -> Trouble:
    line = refusal.line(refusal.at)
    key, _, value = line.partition(":")
    if len(key) == refusal.at.column and not line.startswith(" "):
        # YAML refuses a key at the margin only if the lines above are one plain value without a key.
        lines = enumerate(refusal.text.split("\n"))
        number = next((at for at, one in lines if one.strip() and not one.startswith("#")), 0)
        return _no_key(refusal, yaml.Mark("", 0, number, 0, None, 0))
    if len(key) == refusal.at.column:
        return refusal.fault(refusal.at, "an indented key under a plain value", "move the key to the margin")
    help_ = f"write {key.strip()}: {in_quotes(value.strip())}"
    return refusal.fault(refusal.at, "a colon and a space inside a plain value", help_, "second colon")


def _text_after(refusal: _Refusal) -> Trouble | None:
    before = refusal.line(refusal.at)[: refusal.at.column].rstrip()
    if before.endswith(("'", '"')):
        help_ = "write the quote inside the value twice, or use the other kind of quotes"
        return refusal.fault(refusal.at, "text follows the closing quote", help_)
    if before.endswith(("]", "}")):
        return refusal.fault(refusal.at, "text follows the closing bracket", "write one list: [first, second]")
    if refusal.character(refusal.at) == "-":
        return refusal.fault(refusal.at, "a list item where a key belongs", "write the key of the list above it")
    return None


# The error messages of libyaml, and of PyYAML's own loader where libyaml is missing.
_CAUSES: tuple[tuple[re.Pattern[str], Callable[[_Refusal], Trouble | None]], ...] = (
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
    """A strict handler for python-frontmatter: fences are exact, every scalar is text, and duplicate keys are refused.

    `frontmatter.loads` strips texts and hides errors. Therefore `split` and `load` are called directly on the text.
    """

    FM_BOUNDARY = FENCE_LINE
    START_DELIMITER = END_DELIMITER = "---"

    def detect(self, text: str) -> bool:
        """Return whether the text begins with a line that is exactly `---`."""
        return has_front_matter(text)

    def split(self, text: str) -> tuple[str, str]:
        """Return the front matter and the body, byte for byte. Raises FenceError."""
        refuse_bad_fences(text)
        return super().split(text)

    def load(self, fm: str, **_: object) -> Fields:
        """Return the fields with their places and faults. Raises FrontMatterError if the values are uncertain."""
        _refuse_unsafe(fm)
        try:
            root = yaml.compose(fm, Loader=_Loader)
        except yaml.MarkedYAMLError as error:
            raise FrontMatterError((_syntax_fault(fm, error),)) from error
        if root is None:
            return Fields({}, {})
        if not isinstance(root, yaml.MappingNode):
            message = "the front matter is not a mapping of keys"
            raise FrontMatterError((_at(root, "not-a-mapping", message, "write one `key: value` a line"),))
        return _mapping(root, fm)


# The base loader reads every scalar as a string. The version with libyaml is seven times faster.
_Base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _Loader(_Base):  # type: ignore[misc]  # mypy does not know libyaml's
    """A loader that skips the search for the tag of each node, because it would always find the same tag."""

    def descend_resolver(self, *_: object) -> None:
        """Do nothing."""

    def ascend_resolver(self) -> None:
        """Do nothing."""

    def resolve(self, *_: object) -> str:
        """Return the tag of a text."""
        return "tag:yaml.org,2002:str"


FRONT_MATTER_LIMIT = 16 * 1024
# libyaml's composer is recursive, and 16 KiB of brackets would overflow the C stack.
_DEPTH_LIMIT = 20
# YAML refuses these control characters, or treats them as line breaks that editors do not show
# (U+0085, U+2028, U+2029 and a lone CR).
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff](?<!\r(?=\n))")
# A block at column n is at most 2n levels deep, and only these characters may be before it on the line.
_DEEP_BLOCK = re.compile(rf"^[ \t?:-]{{{_DEPTH_LIMIT}}}", re.MULTILINE)
# The pattern begins with the single character, because searching for one is fast.
_INDICATOR = re.compile(r"[&*!](?:(?<=[\s,\[{:].)|(?<=^.))", re.MULTILINE)
_NESTING_FIELDS = frozenset({"relations", "ignore"})


def _refuse_unsafe(text: str) -> None:
    """Raise FrontMatterError for text that is too large or too deep, or that YAML reads differently than a person."""
    if len(text.encode("utf-8")) > FRONT_MATTER_LIMIT:
        message, help_ = "the front matter is over 16 KiB", "move the text into the body"
        raise FrontMatterError((Trouble("front-matter-too-large", message, help_, 1, 1),))
    control = _CONTROL.search(text)
    if control:
        line, column = text.count("\n", 0, control.start()) + 1, control.start() - text.rfind("\n", 0, control.start())
        message = f"control character U+{ord(control[0]):04X} in the front matter"
        raise FrontMatterError((Trouble("control-characters", message, "remove the character", line, column, 1),))
    is_deep = text.count("[") + text.count("{") > _DEPTH_LIMIT or _DEEP_BLOCK.search(text)
    refused = tuple(_refused(text)) if is_deep or _INDICATOR.search(text) else ()
    if refused:
        raise FrontMatterError(refused)


def _mapping(root: yaml.MappingNode, text: str) -> Fields:
    nodes: dict[str, tuple[yaml.ScalarNode, yaml.Node]] = {}
    troubles: list[Trouble] = []
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            troubles.append(_at(key, "non-text-key", "a key that is not plain text", "write the key as one word"))
        elif key.value in nodes:
            troubles.append(_repeated(key, span_of(nodes[key.value][0])[0]))
        else:
            nodes[key.value] = (key, value)
            if not isinstance(value, yaml.ScalarNode):
                troubles += (*_wiki_links(key.value, value), *_repeated_inside(value))
    troubles += _truncated(text, root)
    # If a key appears twice, it is not certain which value was meant, so neither value is used.
    if any(trouble.code in ("duplicate-key", "non-text-key") for trouble in troubles):
        raise FrontMatterError(tuple(troubles))
    return Fields({name: _plain(value) for name, (_, value) in nodes.items()}, nodes, troubles)


def _plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return None if is_empty(node) else node.value
    if isinstance(node, yaml.SequenceNode):
        # A wiki link is reported as a finding, and read as the address inside it.
        return [_plain(_wiki_link(item) or item) for item in node.value]
    return {str(_plain(key)): _plain(value) for key, value in node.value}


def _wiki_links(name: str, value: yaml.Node) -> Iterator[Trouble]:
    if name in _NESTING_FIELDS or name.startswith("x-") or not isinstance(value, yaml.SequenceNode):
        return
    for item in value.value:
        if link := _wiki_link(item):
            message = f"`[[{link.value}]]` is a list in a list, not a link"
            yield _at(item, "wiki-link-value", message, f'write "{link.value}"')


def _repeated_inside(node: yaml.Node) -> Iterator[Trouble]:
    """Report duplicate keys of a mapping inside a value."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            if not isinstance(item, yaml.ScalarNode):
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
    message = f"`{key.value}` appears twice, first in line {first + 1}"
    return _at(key, "duplicate-key", message, "keep one of the two")


def _wiki_link(item: yaml.Node) -> yaml.ScalarNode | None:
    """Return the text of a wiki link `[[x]]` inside a list. YAML reads it as one or two nested lists."""
    for _ in range(2):
        if isinstance(item, yaml.SequenceNode) and item.flow_style and len(item.value) == 1:
            item = item.value[0]
            if isinstance(item, yaml.ScalarNode):
                return item
    return None


def _truncated(text: str, root: yaml.MappingNode) -> Iterator[Trouble]:
    """Report plain values that YAML cuts at a `#`. For example, `title: Update #2 done` means only `Update`."""
    lines = text.splitlines() if " #" in text else []
    values = (one for _, value in root.value for one in (value.value if value.id == "sequence" else (value,)))
    for value in values if lines else ():
        end = value.end_mark
        is_plain = isinstance(value, yaml.ScalarNode) and not value.style and end.line < len(lines)
        cut = re.match(r"\s+(#[^\s#].*)", lines[end.line][end.column :]) if is_plain else None
        if cut:
            kept = f"ends at `{value.value}`" if value.value else "is empty"
            message = f"the value {kept}: YAML reads `{cut[1].rstrip()}` as a comment"
            yield _at(value, "comment-truncates-value", message, "put the whole value in quotes")


def _refused(text: str) -> Iterator[Trouble]:
    """Report aliases, tags and deep nesting. The YAML events are read one by one, so that no alias is expanded."""
    depth = 0
    try:
        events: Iterator[Any] = yaml.parse(text, Loader=_Loader)
        for event in events:
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEPTH_LIMIT:
                yield _at(event, "nested-value", f"values nest deeper than {_DEPTH_LIMIT} levels", "write plain values")
                return
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                message = f"YAML anchor or alias `{event.anchor}`"
                yield _at(event, "anchor-or-alias", message, "write the value out, or quote it")
            elif getattr(event, "tag", None):
                yield _at(event, "custom-tag", f"YAML tag `{event.tag}`", "remove the tag; every value is text")
    except yaml.MarkedYAMLError as error:
        yield _syntax_fault(text, error)


def _at(node: Any, code: str, message: str, help_: str) -> Trouble:
    line, column, width = span_of(node)
    return Trouble(code, message, help_, line, column, width)
