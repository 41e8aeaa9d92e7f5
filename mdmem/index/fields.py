"""Which fields the index has, and what each is for."""

from collections.abc import Mapping

from mdmem.entry.fields import Searched, searched_as

TITLES, TAGS = searched_as(Searched.TITLE), searched_as(Searched.TAG)
"""The fields that count as a title, and those that count as tags."""

SCORED = (*TITLES, "headings", "identifiers", *TAGS, "body")
"""The fields whose words count for the score, in the order in which they are summed."""

EXACT = ("wing", "room", *searched_as(Searched.WHOLE))
"""The fields that hold one value as it stands, but for case."""

DATES = {name.removesuffix("_at"): name for name in searched_as(Searched.DATE)}
"""The fields that hold a date, with the field of the front matter that they are taken from."""

FIELDS = (*SCORED, *EXACT, *DATES)

PASSAGE_FIELDS = frozenset({"headings", "identifiers", "body"})
"""The fields of which each passage of a document has its own; the others stand with the first."""

Terms = Mapping[str, Mapping[str, int]]
"""Field to term to how often the field holds it."""
