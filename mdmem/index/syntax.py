"""Questions in Whoosh's query language, read by Whoosh's parser and answered as set operations on our own postings.

Fields, AND, OR, NOT, ANDNOT, ANDMAYBE, REQUIRE, "phrases"~2, prefix*, w?ldcards, [a TO b], >=, ^boost and brackets.
Words without an operator are joined by OR, as in plain questions; a NOT among them excludes.
Wildcards meet stems, not words.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from fnmatch import translate
from itertools import product

from whoosh import query as parsed
from whoosh.qparser import QueryParser, plugins
from whoosh.qparser.common import QueryParserError
from whoosh.qparser.syntax import OrGroup

from mdmem.index.analysis import ask
from mdmem.index.corpus import Corpus
from mdmem.index.fields import DATES, EXACT, FIELDS, SCORED
from mdmem.index.postings import Columns
from mdmem.index.protocol import IndexDocument, QuerySyntaxError, Read
from mdmem.index.scoring import Frequencies, Leaf, Query, term
from mdmem.index.terms import exact, sequences_of

_ANY = "text"
# Whoosh's parser and ours recurse for each bracket.
_DEEPEST = 50
# Whoosh has an error for what it cannot read and hardly uses it: `<2` is an IndexError.
_GIVEN_UP = (
    QueryParserError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
_QUOTED = re.compile(r'"[^"]*"')


class _Finder:
    """What a node needs to tell which documents it lets through."""

    def __init__(self, corpus: Corpus, read: Read) -> None:
        self.corpus = corpus
        self.read = read

    @property
    def everything(self) -> set[int]:
        return {first for first, key in zip(self.corpus.firsts, self.corpus.keys, strict=True) if key is not None}

    def holders(self, leaf: Leaf) -> set[int]:
        firsts = self.corpus.firsts
        columns = (columns for field in leaf.fields for columns in leaf.frequencies(self.corpus, field))
        return {firsts[number] for numbers, _ in columns for number in numbers}

    def documents(self, numbers: Set[int]) -> Iterator[tuple[int, IndexDocument]]:
        keys = {self.corpus.keys[number]: number for number in sorted(numbers)}
        for document in self.read([key for key in keys if key is not None]):
            if document.key in keys:
                yield keys[document.key], document


_Node = Callable[[_Finder], Set[int]]


def parse(question: str) -> Query:
    """Return what a question in query syntax looks for, or raise `QuerySyntaxError`."""
    _check(question)
    reading = _SyntaxReader()
    node = reading.node(_tree(question))
    if node is None:
        return Query((), {})
    return Query(tuple(reading.leaves), reading.typed, None, lambda corpus, read: node(_Finder(corpus, read)))


def _check(question: str) -> None:
    if question.count('"') % 2:
        raise QuerySyntaxError('a closing `"` was expected')
    depth = 0
    for bracket in re.findall("[()]", _QUOTED.sub("", question)):
        depth += 1 if bracket == "(" else -1
        if depth < 0:
            raise QuerySyntaxError("an opening `(` was expected before `)`")
        if depth > _DEEPEST:
            raise QuerySyntaxError(f"at most {_DEEPEST} nested brackets were expected")
    if depth:
        raise QuerySyntaxError("a closing `)` was expected")


def _tree(question: str) -> parsed.Query:
    try:
        return _parser().parse(question, normalize=False)
    except _GIVEN_UP as error:
        raise QuerySyntaxError("words, `field:value`, AND, OR, NOT or brackets were expected") from error


def _parser() -> QueryParser:
    known = [
        plugins.WhitespacePlugin(),
        plugins.FieldsPlugin(remove_unknown=False),
        plugins.WildcardPlugin(),
        plugins.PhrasePlugin(),
        plugins.RangePlugin(),
        plugins.GtLtPlugin(),
        plugins.GroupPlugin(),
        plugins.OperatorsPlugin(),
        plugins.BoostPlugin(),
        plugins.EveryPlugin(),
    ]
    # Without a schema Whoosh hands over words as typed; with one it would drop `C++`, and unknown fields in silence.
    return QueryParser(_ANY, None, plugins=known, group=OrGroup)


class _SyntaxReader:
    """Turns Whoosh's tree into a node, collecting what is scored on the way; a node of stop words alone is None."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.typed: dict[str, str] = {}
        self._negated = 0

    def node(self, tree: parsed.Query, boost: float = 1.0) -> _Node | None:
        boost *= getattr(tree, "boost", 1.0)
        for kind, make in self._KINDS.items():
            if isinstance(tree, kind):
                return make(self, tree, boost)
        return None

    def _all(self, tree: parsed.Query, boost: float) -> _Node | None:
        return _both([node for part in tree.subqueries if (node := self.node(part, boost))])

    def _any(self, tree: parsed.Query, boost: float) -> _Node | None:
        wanted = [part for part in tree.subqueries if not isinstance(part, parsed.Not)]
        unwanted = [part for part in tree.subqueries if isinstance(part, parsed.Not)]
        nodes = [node for part in wanted if (node := self.node(part, boost))]
        refused = [node for part in unwanted if (node := self.node(part, boost))]
        union: list[_Node] = [lambda finder: set().union(*(node(finder) for node in nodes))] if nodes else []
        return _both(union + refused)

    def _not(self, tree: parsed.Query, boost: float) -> _Node | None:
        self._negated += 1
        node = self.node(tree.query, boost)
        self._negated -= 1
        return node and (lambda finder: finder.everything - node(finder))

    def _and_not(self, tree: parsed.Query, boost: float) -> _Node | None:
        return _both([node for part in (tree.a, parsed.Not(tree.b)) if (node := self.node(part, boost))])

    def _require(self, tree: parsed.Query, boost: float) -> _Node | None:
        return _both([node for part in (tree.a, tree.b) if (node := self.node(part, boost))])

    def _maybe(self, tree: parsed.Query, boost: float) -> _Node | None:
        node = self.node(tree.a, boost)
        # Read for its leaves: what it holds counts for the score and lets nothing in or out.
        self.node(tree.b, boost)
        return node

    def _every(self, _tree: parsed.Query, _boost: float) -> _Node:
        return lambda finder: finder.everything

    def _term(self, tree: parsed.Query, boost: float) -> _Node | None:
        field = _field(tree.fieldname)
        if field in DATES:
            return self._prefix(tree, boost)
        if field in EXACT:
            return _both([self._leaf(term(value), value, field, boost) for value in exact([tree.text])])
        if field == "identifiers":
            return self._leaf(term(tree.text.casefold()), tree.text, field, boost)
        asked = ask(tree.text)
        return _both([self._leaf(term(text), text, field, boost, typed=asked.typed[text]) for text in asked.terms])

    def _prefix(self, tree: parsed.Query, boost: float) -> _Node:
        folded = tree.text.casefold()
        # The index has stems: `navigation*` must find `navig`, which does not start with it.
        stems = frozenset(ask(tree.text).terms)
        expanded = _expanded(folded[:1], lambda found: found.startswith(folded) or found in stems)
        return self._leaf(expanded, f"{tree.text}*", _field(tree.fieldname), boost)

    def _wildcard(self, tree: parsed.Query, boost: float) -> _Node:
        return self._pattern(_field(tree.fieldname), tree.text, boost)

    def _pattern(self, field: str, text: str, boost: float) -> _Node:
        pattern = text.casefold()
        start = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
        whole = re.compile(translate(pattern))
        return self._leaf(_expanded(start, lambda found: whole.match(found) is not None), text, field, boost)

    def _range(self, tree: parsed.Query, boost: float) -> _Node:
        low, high = ((bound or "").casefold() for bound in (tree.start, tree.end))

        def inside(text: str) -> bool:
            # A bound covers what starts with it, so that `TO 2026-03` takes in all of March.
            above = text[: len(low)] > low if tree.startexcl else text >= low
            below = text[: len(high)] < high if tree.endexcl else text[: len(high)] <= high
            return above and (below or not high)

        label = f"{tree.start or ''}..{tree.end or ''}"
        return self._leaf(_expanded("", inside), label, _field(tree.fieldname), boost)

    def _phrase(self, tree: parsed.Query, boost: float) -> _Node | None:
        field, text = _field(tree.fieldname), " ".join(tree.words)
        if field in EXACT or field in DATES or field == "identifiers":
            return self._term(parsed.Term(tree.fieldname, text), boost)
        together = self._term(parsed.Term(tree.fieldname, text), boost)
        words = [word for chunk in tree.words for word in ask(chunk).terms]
        return together and _in_order(together, field, words, tree.slop)

    def _leaf(self, frequencies: Frequencies, text: str, field: str, boost: float, *, typed: str = "") -> _Node:
        leaf = Leaf(frequencies, (text,) if field in (_ANY, *SCORED) else (), _searched(field), boost)
        if leaf.terms and not self._negated:
            self.leaves.append(leaf)
            self.typed.setdefault(text, typed or text)
        return lambda finder: finder.holders(leaf)

    _KINDS = {  # noqa: RUF012 - a table of methods, read only
        parsed.And: _all,
        parsed.Or: _any,
        parsed.Not: _not,
        parsed.AndNot: _and_not,
        parsed.Require: _require,
        parsed.AndMaybe: _maybe,
        parsed.Every: _every,
        parsed.Prefix: _prefix,
        parsed.Wildcard: _wildcard,
        parsed.Phrase: _phrase,
        parsed.TermRange: _range,
        parsed.Term: _term,
    }


def _both(nodes: Sequence[_Node]) -> _Node | None:
    if len(nodes) < 2:
        return nodes[0] if nodes else None
    return lambda finder: set.intersection(*(set(node(finder)) for node in nodes))


def _field(name: str) -> str:
    if name != _ANY and name not in FIELDS:
        raise QuerySyntaxError(f"a field was expected before `:`, not `{name}`; the fields are {', '.join(FIELDS)}")
    return name


def _searched(field: str) -> tuple[str, ...]:
    return SCORED if field == _ANY else (field,)


def _expanded(start: str, accept: Callable[[str], bool]) -> Frequencies:
    def frequencies(corpus: Corpus, field: str) -> list[Columns]:
        texts = {text for source in corpus.sources for text in source.lexicon(field, start) if accept(text)}
        counted: dict[int, float] = {}
        for text in sorted(texts):
            for numbers, frequencies in corpus.postings(field, text):
                for number, frequency in zip(numbers, frequencies, strict=True):
                    counted[number] = counted.get(number, 0.0) + frequency
        numbers = sorted(counted)
        return [(numbers, [counted[number] for number in numbers])] if numbers else []

    return frequencies


def _in_order(together: _Node, field: str, words: Sequence[str], slop: int) -> _Node:
    # The index keeps no positions, which would double it: the few documents that hold all words are read instead.
    def node(finder: _Finder) -> Set[int]:
        found = finder.documents(together(finder))
        return {
            number
            for number, document in found
            if any(_follows(sequence, words, slop) for sequence in sequences_of(document, _searched(field)))
        }

    return node


def _follows(sequence: Sequence[str], words: Sequence[str], slop: int) -> bool:
    ends = {at for at, word in enumerate(sequence) if word == words[0]}
    for word in words[1:]:
        ends = {
            end + gap for end, gap in product(ends, range(1, slop + 1)) if sequence[end + gap : end + gap + 1] == [word]
        }
    return bool(ends)
