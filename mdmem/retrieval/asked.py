"""What the contract's retrieval is asked for, read from plain values."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mdmem.entry.labels import NodeLabel
from mdmem.entry.model import EntryType
from mdmem.errors import UsageError


class BundleScope(StrEnum):
    """What a bundle reads at least: shared wings, the project's wing too, or everything for one focus."""

    GLOBAL = "global"
    PROJECT = "project"
    FOCUS = "focus"


# What other tools and our own words call the contract's.
_SYNONYMS = {"entity": "entityfact", "rule": "invariant", "adr": "decision", "shared": "global", "wing": "project"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleAsked:
    """One call of `retrieve_context`; `labels` is empty where everything is let through."""

    project_id: str | None
    scope: BundleScope
    focus: str | None = None
    labels: frozenset[NodeLabel] = frozenset()
    topic: str = ""

    @property
    def types(self) -> tuple[EntryType, ...]:
        """Return the types of the labels, in the order of authority; none where everything is let through."""
        wanted = {label.type for label in self.labels}
        return tuple(kind for kind in EntryType if kind in wanted)


def read_asked(
    *,
    project_id: str | None,
    scope: str,
    focus: str | None = None,
    categories: Sequence[str] | None = None,
    topic: str | None = None,
) -> BundleAsked:
    """Return what is asked for; raises UsageError for a scope or category that is not known, naming the nearest."""
    return BundleAsked(
        project_id=plain(project_id),
        scope=BundleScope(_member("scope", scope, BundleScope)),
        focus=plain(focus),
        labels=frozenset(NodeLabel(_member("category", one, NodeLabel)) for one in _listed(categories)),
        topic=plain(topic) or "",
    )


def plain(text: str | None) -> str | None:
    """Return a text on one line without blank ends, as the writes keep it; None for none and for a blank one."""
    return " ".join(text.split()) or None if text is not None else None


def _listed(given: Sequence[str] | None) -> Sequence[str]:
    # A text is a sequence of its letters.
    return (given,) if isinstance(given, str) else given or ()


def _member(kind: str, given: str, known: type[StrEnum]) -> str:
    """Return the member that a word means, in capital letters or not and with any marks between its words."""
    spelt = {member.value.casefold(): member.value for member in known}
    word = "".join(letter for letter in str(given).casefold() if letter.isalnum())
    if word in spelt:
        return spelt[word]
    near = _SYNONYMS.get(word, word)
    close = difflib.get_close_matches(near, spelt, n=1, cutoff=0.5)
    hint = f"did you mean `{spelt[close[0]]}`?" if close else f"there is {', '.join(f'`{one}`' for one in known)}"
    raise UsageError(f"there is no {kind} `{str(given)[:40]}`; {hint}")
