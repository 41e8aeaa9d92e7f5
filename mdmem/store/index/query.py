"""Turn a question into a Whoosh query: plain words, or the query language.

The query language has fields, AND, OR, NOT, ANDNOT, ANDMAYBE, REQUIRE, "phrases"~2, prefix*, w?ldcards, [a TO b], >=,
^boost and brackets. Words without an operator are joined by OR, as in plain questions. NOT before one of them excludes
it. Wildcards match stems, not whole words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from whoosh import query
from whoosh.qparser import QueryParser, plugins
from whoosh.qparser.common import QueryParserError
from whoosh.qparser.syntax import OrGroup

from mdmem.store.index import QuerySyntaxError
from mdmem.store.index.analysis import ask
from mdmem.store.index.schema import DATES, EXACT, FIELDS, SEARCHED, fold_values

# The largest nesting of brackets, since the parsers call themselves for each level.
_DEEPEST = 50
# The longest query. Whoosh's parser takes a time that grows with the square of the length, a minute for 100,000.
_MAX_LENGTH = 4000
# The errors that Whoosh raises for an invalid query; for example, `<2` raises an IndexError.
_PARSE_ERRORS = (
    *(QueryParserError, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, RuntimeError, TypeError, ValueError),
)
_QUOTED = re.compile(r'"[^"]*"')
_LAST = "\U0010ffff"


class ParsedQuestion(Struct, frozen=True):
    """A question as a Whoosh query.

    `words` maps each term of the question to the word that the user typed. `terms` maps a term of the index to the
    terms of the question that every document with it contains. `leaves` maps each term to its part of the query, if the
    question is in the query language. For plain words `leaves` is None, and a document with any of the `terms` matches.
    """

    query: Any
    words: Mapping[str, str]
    terms: Mapping[str, tuple[str, ...]] = {}
    leaves: Mapping[str, Any] | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether the question has no term, for example because it has only stop words."""
        return self.query is query.NullQuery


def plain(question: str) -> ParsedQuestion:
    """Return the query for a question in plain words, which matches documents with any of the words."""
    asked = ask(question)
    terms = {**{term: (term,) for term in asked.terms}, **asked.wholes}
    return ParsedQuestion(query.Every() if terms else query.NullQuery, asked.typed, terms)


def containing_query(texts: Iterable[str]) -> Any:
    """Return the query for documents that contain all words of at least one of the texts."""
    found = [[query.Term("text", term) for term in ask(text).terms] for text in texts]
    return _any_of([query.And(terms) for terms in found if terms])


# The parser has no schema, so that it returns words as typed. With a schema it would drop `C++` and unknown fields.
_PLUGINS = (
    *(plugins.WhitespacePlugin(), plugins.FieldsPlugin(remove_unknown=False), plugins.WildcardPlugin()),
    *(plugins.PhrasePlugin(), plugins.RangePlugin(), plugins.GtLtPlugin(), plugins.GroupPlugin()),
    *(plugins.OperatorsPlugin(), plugins.BoostPlugin(), plugins.EveryPlugin()),
)


def parse(question: str) -> ParsedQuestion:
    """Parse a question in the query language; raises QuerySyntaxError if it is invalid."""
    if len(question) > _MAX_LENGTH:
        raise QuerySyntaxError(f"the query has more than {_MAX_LENGTH} characters; shorten it")
    depth, is_balanced = 0, question.count('"') % 2 == 0
    for bracket in re.findall("[()]", _QUOTED.sub("", question)):
        depth += 1 if bracket == "(" else -1
        is_balanced = is_balanced and 0 <= depth <= _DEEPEST
    if depth or not is_balanced:
        raise QuerySyntaxError(
            f'each `"` and each bracket needs its partner, and brackets may be {_DEEPEST} levels deep'
        )
    try:
        tree = QueryParser("", None, plugins=_PLUGINS, group=OrGroup).parse(question, normalize=False)
    except _PARSE_ERRORS as error:
        raise QuerySyntaxError("the query is invalid; write words, `field:value`, AND, OR, NOT and brackets") from error
    analyser = _QueryAnalyser()
    found = analyser.analyse(tree)
    terms = {term: (term,) for term in analyser.words}
    return ParsedQuestion(query.NullQuery if found is None else found, analyser.words, terms, analyser.leaves)


class _QueryAnalyser:
    """Replaces the words in Whoosh's parsed query by terms, and collects `words` and `leaves` for `ParsedQuestion`."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self.leaves: dict[str, Any] = {}

    def analyse(self, tree: Any) -> Any:
        """Return the query for a part of the parsed query, or None if the part has only stop words."""
        match tree:
            case query.Or():
                wanted = [self.analyse(part) for part in tree.subqueries if not isinstance(part, query.Not)]
                found = [one for one in wanted if one is not None]
                refused = [self.analyse(part) for part in tree.subqueries if isinstance(part, query.Not)]
                return _all_of([_any_of(found) if found else None, *refused])
            case query.And():
                return _all_of([self.analyse(part) for part in tree.subqueries])
            case query.Not():
                # Use a new analyser, since excluded words must not be among the words that a document matches.
                excluded = _QueryAnalyser().analyse(tree.query)
                return None if excluded is None else query.Not(excluded)
            case query.AndNot():
                return _all_of([self.analyse(tree.a), self.analyse(query.Not(tree.b))])
            case query.Require() | query.AndMaybe():
                first, second = self.analyse(tree.a), self.analyse(tree.b)
                return type(tree)(first, second) if first is not None and second is not None else first
            case query.Every():
                return query.Every()
        leaf, boost = self._leaf(tree), getattr(tree, "boost", 1.0)
        if leaf is None or boost == 1.0:
            return leaf
        return leaf.accept(lambda one: one.with_boost(boost) if isinstance(one, query.Term) else one)

    def _leaf(self, tree: Any) -> Any:
        name = getattr(tree, "fieldname", "")
        if name and name not in FIELDS:
            known = ", ".join(FIELDS)
            raise QuerySyntaxError(f"`{name}` before `:` is not a field; the fields are {known}")
        fields = (name,) if name else SEARCHED
        has_words = name not in EXACT and name not in DATES
        match tree:
            case query.Phrase():
                together = self._term(name, fields, " ".join(tree.words))
                words = [word for chunk in tree.words for word in ask(chunk).terms]
                if not has_words or together is None or len(words) < 2:
                    return together
                # The words give the score, and the phrase only decides which documents match.
                return query.Require(together, _any_of([query.Phrase(one, words, tree.slop) for one in fields]))
            case query.Prefix():
                typed, parts = f"{tree.text}*", [query.Prefix(one, tree.text.casefold()) for one in fields]
                if has_words:
                    # Also search for the stem, since `navigation*` must match the term `navig`.
                    parts += [query.Term(one, stem) for one in fields for stem in ask(tree.text).terms]
            case query.Wildcard():
                typed, parts = tree.text, [query.Wildcard(one, tree.text.casefold()) for one in fields]
            case query.TermRange():
                typed = f"{tree.start or ''}..{tree.end or ''}"
                low, high = ((bound or "").casefold() for bound in (tree.start, tree.end))
                # A bound includes all values that start with it, so that `TO 2026-03` includes the whole of March.
                low += _LAST if tree.startexcl and low else ""
                high = high if tree.endexcl and high else high + _LAST
                parts = [query.TermRange(one, low, high, tree.startexcl, tree.endexcl) for one in fields]
            case query.Term():
                return self._term(name, fields, tree.text)
            case _:
                return None
        found = _any_of(parts)
        if has_words:
            self._note(typed, typed, found)
        return found

    def _term(self, name: str, fields: Sequence[str], text: str) -> Any:
        if name in DATES:
            return query.Prefix(name, text.casefold())
        if name in EXACT:
            return _all_of([query.Term(name, value) for value in fold_values([text])])
        leaves = []
        for term, typed in ask(text).typed.items():
            leaves.append(_any_of([query.Term(one, term) for one in fields]))
            self._note(term, typed, leaves[-1])
        return _all_of(leaves)

    def _note(self, term: str, typed: str, leaf: Any) -> None:
        self.words.setdefault(term, typed)
        self.leaves.setdefault(term, leaf)


def _any_of(parts: Sequence[Any]) -> Any:
    return query.Or(list(parts)) if parts else query.NullQuery


def _all_of(parts: Iterable[Any]) -> Any:
    found = [one for one in parts if one is not None]
    if len(found) < 2:
        return found[0] if found else None
    return query.And(found)
