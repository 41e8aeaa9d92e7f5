"""Questions as Whoosh's queries: plain words, filters, and the query language.

The language has fields, AND, OR, NOT, ANDNOT, ANDMAYBE, REQUIRE, "phrases"~2, prefix*, w?ldcards, [a TO b], >=, ^boost
and brackets. Words without an operator are joined by OR, as in plain questions; a NOT among them excludes.
Wildcards meet stems, not words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from whoosh import query
from whoosh.qparser import QueryParser, plugins
from whoosh.qparser.common import QueryParserError
from whoosh.qparser.syntax import OrGroup

from mdmem.store.index.analysis import ask
from mdmem.store.index.protocol import QuerySyntaxError
from mdmem.store.index.schema import DATES, EXACT, FIELDS, WORDS, fold_values

SCORED = ("title", "text")
"""The fields whose scores are summed; the second holds the whole entry."""

# Whoosh tells which terms a document holds only below 1,024 clauses, and each word is one in both fields.
_MOST_TERMS = 400
# Whoosh's parser and ours recurse for each bracket.
_DEEPEST = 50
# Whoosh has an error for what it cannot read and hardly uses it: `<2` is an IndexError.
_GIVEN_UP = (
    *(QueryParserError, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, RuntimeError, TypeError, ValueError),
)
_QUOTED = re.compile(r'"[^"]*"')
_ANY = "text"
_LAST = "\U0010ffff"


class Asked(Struct, frozen=True):
    """What is looked for: a query, and what it says of the terms that a user typed.

    `typed` maps each term of the question to its word. `held` maps a term of the index to those that its holders hold.
    `leaves` are the parts of a question in the query language, by the term that each stands for.
    """

    query: Any
    typed: Mapping[str, str]
    held: Mapping[str, tuple[str, ...]]
    leaves: Mapping[str, Any] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return self.query is query.NullQuery


def plain(question: str) -> Asked:
    """Return what a question in plain words looks for: any of its words."""
    asked = ask(question)
    held = {**{term: (term,) for term in asked.terms}, **asked.wholes}
    wanted = list(held)[:_MOST_TERMS]
    return Asked(any_of([query.Term(field, term) for term in wanted for field in SCORED]), asked.typed, held)


def holding(texts: Iterable[str]) -> Any:
    """Return the query for what holds all words of one of some texts."""
    found = [[query.Term("text", term) for term in ask(text).terms] for text in texts]
    return any_of([query.And(terms) for terms in found if terms])


def filtered(filters: Mapping[str, Collection[str]]) -> Any:
    """Return the query for documents that have one of the wanted values in each field."""
    return query.And([any_of([query.Term(name, one) for one in fold_values(of)]) for name, of in filters.items()])


def any_of(parts: Sequence[Any]) -> Any:
    """Return the query for any of some; nothing where there are none."""
    return query.Or(list(parts)) if parts else query.NullQuery


def parse(question: str) -> Asked:
    """Return what a question in the query language looks for, or raise `QuerySyntaxError`."""
    _check_brackets(question)
    try:
        tree = _parser().parse(question, normalize=False)
    except _GIVEN_UP as error:
        raise QuerySyntaxError("words, `field:value`, AND, OR, NOT or brackets were expected") from error
    reading = _Reading()
    found = reading.read(tree)
    held = {term: (term,) for term in reading.typed}
    return Asked(query.NullQuery if found is None else found, reading.typed, held, reading.leaves)


def _check_brackets(question: str) -> None:
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
    return QueryParser("", None, plugins=known, group=OrGroup)


class _Reading:
    """Turns the tree that Whoosh parsed into one whose words are analysed; a part of stop words alone is None."""

    def __init__(self) -> None:
        self.typed: dict[str, str] = {}
        self.leaves: dict[str, Any] = {}
        self._is_negated = False

    def read(self, tree: Any) -> Any:
        """Return the query of a part of the tree, None where it asks for nothing."""
        if isinstance(tree, query.Or):
            return self._any(tree)
        if isinstance(tree, query.And):
            return _all([self.read(part) for part in tree.subqueries])
        if isinstance(tree, query.Not):
            return self._not(tree.query)
        if isinstance(tree, query.AndNot):
            return _all([self.read(tree.a), self._not(tree.b)])
        if isinstance(tree, (query.Require, query.AndMaybe)):
            first, second = self.read(tree.a), self.read(tree.b)
            return type(tree)(first, second) if first is not None and second is not None else first
        if isinstance(tree, query.Every):
            return query.Every()
        found = self._leaf(tree, getattr(tree, "fieldname", ""))
        if found is not None and getattr(tree, "boost", 1.0) != 1.0:
            found = found.with_boost(tree.boost) if isinstance(found, query.Term) else _boosted(found, tree.boost)
        return found

    def _any(self, tree: Any) -> Any:
        wanted = [self.read(part) for part in tree.subqueries if not isinstance(part, query.Not)]
        refused = [self.read(part) for part in tree.subqueries if isinstance(part, query.Not)]
        found = [one for one in wanted if one is not None]
        return _all([any_of(found) if found else None, *refused])

    def _not(self, tree: Any) -> Any:
        before, self._is_negated = self._is_negated, True
        found = self.read(tree)
        self._is_negated = before
        return None if found is None else query.Not(found)

    def _leaf(self, tree: Any, name: str) -> Any:
        if name and name not in FIELDS:
            said = f"a field was expected before `:`, not `{name}`; the fields are {', '.join(FIELDS)}"
            raise QuerySyntaxError(said)
        if isinstance(tree, query.Phrase):
            return self._phrase(name, tree)
        if isinstance(tree, query.Prefix):
            return self._prefix(name, tree.text)
        if isinstance(tree, query.Wildcard):
            return self._pattern(name, tree.text, [query.Wildcard(one, tree.text.casefold()) for one in _of(name)])
        if isinstance(tree, query.TermRange):
            return self._range(name, tree)
        return self._term(name, tree.text) if isinstance(tree, query.Term) else None

    def _term(self, name: str, text: str) -> Any:
        if name in DATES:
            return query.Prefix(name, text.casefold())
        if name in EXACT:
            return _all([query.Term(name, value) for value in fold_values([text])])
        typed = ask(text).typed
        found = {term: any_of([query.Term(one, term) for one in _of(name)]) for term in typed}
        for term, leaf in found.items():
            self._note(term, typed[term], leaf)
        return _all(list(found.values()))

    def _phrase(self, name: str, tree: Any) -> Any:
        text = " ".join(tree.words)
        together = self._term(name, text)
        words = [word for chunk in tree.words for word in ask(chunk).terms]
        if name in EXACT or name in DATES or together is None or len(words) < 2:
            return together
        # The words count for the score, and the phrase decides what is let through.
        return query.Require(together, any_of([query.Phrase(one, words, tree.slop) for one in _of(name)]))

    def _prefix(self, name: str, text: str) -> Any:
        folded = text.casefold()
        found: list[Any] = [query.Prefix(one, folded) for one in _of(name)]
        if name not in EXACT and name not in DATES:
            # The index has stems: `navigation*` must find `navig`, which does not start with it.
            found += [query.Term(one, stem) for one in _of(name) for stem in ask(text).terms]
        return self._pattern(name, f"{text}*", found)

    def _range(self, name: str, tree: Any) -> Any:
        low, high = ((bound or "").casefold() for bound in (tree.start, tree.end))
        # A bound covers what starts with it, so that `TO 2026-03` takes in all of March.
        low += _LAST if tree.startexcl and low else ""
        high = high if tree.endexcl and high else high + _LAST
        bounds = [query.TermRange(one, low, high, tree.startexcl, tree.endexcl) for one in _of(name)]
        return self._pattern(name, f"{tree.start or ''}..{tree.end or ''}", bounds)

    def _pattern(self, name: str, typed: str, parts: Sequence[Any]) -> Any:
        found = any_of(parts)
        if not name or name in WORDS:
            self._note(typed, typed, found)
        return found

    def _note(self, term: str, typed: str, leaf: Any) -> None:
        if not self._is_negated:
            self.typed.setdefault(term, typed)
            self.leaves.setdefault(term, leaf)


def _of(name: str) -> Sequence[str]:
    return (name,) if name else SCORED


def _all(parts: Sequence[Any]) -> Any:
    found = [one for one in parts if one is not None]
    if len(found) < 2:
        return found[0] if found else None
    return query.And(found)


def _boosted(tree: Any, boost: float) -> Any:
    """Return a query whose terms all count so much more."""
    return tree.accept(lambda one: one.with_boost(boost) if isinstance(one, query.Term) else one)
