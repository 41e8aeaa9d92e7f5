"""Reviews of two trees in memory."""

from collections.abc import Mapping, Sequence
from datetime import date

from builders import entry_text
from trees import HeldTree

from mdmem.change.review_model import ReviewReport
from mdmem.change.review_parts import TreeSide, compare_trees
from mdmem.store.catalog.load import load
from mdmem.store.settings import Settings
from mdmem.store.tree import Unreadable

TODAY = date(2026, 11, 21)
ARTICLE = "Times are stored in UTC, to the second, and shown in the reader's zone.\n"


def side(name: str, texts: Mapping[str, str | None]) -> TreeSide:
    """Return one side; a name without a slash is in `app/rules`, and None is an unreadable file."""
    placed = {address if "/" in address else f"app/rules/{address}": text for address, text in texts.items()}
    unread = Unreadable("it refuses")
    contents = {f"{one}.md": unread if text is None else text.encode() for one, text in placed.items()}
    return TreeSide(name, load(HeldTree(contents, name)), Settings())


def reviewed(
    before: Mapping[str, str | None], after: Mapping[str, str | None], *, files: Sequence[str] = ()
) -> ReviewReport:
    return compare_trees(side("old", before), side("new", after), today=TODAY, files=lambda: files)


def superseded(by: str, **more: object) -> str:
    """Return the text of an entry that an entry of `app/rules` superseded."""
    ended = {"status": "deprecated", "deprecated_at": "2026-11-20", "superseded_by": [f"app/rules/{by}"]}
    return entry_text("The old words.\n", **(ended | more))


def successor(of: str, **more: object) -> str:
    """Return the text of an entry that supersedes an entry of `app/rules`."""
    return entry_text("The new words.\n", **({"supersedes": [f"app/rules/{of}"], "reason": "it was slow"} | more))
