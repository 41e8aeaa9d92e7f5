"""The guide: one Markdown page for each topic, which `mdmem guide` prints and git hosts show."""

from __future__ import annotations

import difflib
from pathlib import Path

from mdmem.errors import NotFoundError

_FOLDER = Path(__file__).parent


def topics() -> tuple[str, ...]:
    """Return the names of the pages, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.md")))


def page(topic: str) -> str:
    """Return the text of a page; raises NotFoundError with the most similar name."""
    if topic not in topics():
        plain = topic.casefold()
        close = [one for one in topics() if one.startswith(plain)] or difflib.get_close_matches(plain, topics(), n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"its pages are {', '.join(topics())}"
        raise NotFoundError(f"the guide has no page `{topic}`; {hint}")
    return (_FOLDER / f"{topic}.md").read_text(encoding="utf-8")


def summary(topic: str) -> str:
    """Return the sentence below the heading of a page."""
    return page(topic).splitlines()[2]
