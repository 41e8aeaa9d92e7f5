"""The lines of lists as HTML, as the templates call for them: pages of a large memory hold thousands of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from markupsafe import Markup

_Row = Mapping[str, Any]


@lru_cache(maxsize=4096)
def prose(text: str) -> Markup:
    """Return a text in which what stands between backticks is code."""
    parts = escape(text).replace("``", "`").split("`")
    if len(parts) % 2 == 0:
        return Markup(escape(text))
    return Markup("".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts)))


def titled(row: _Row) -> Markup:
    """Return the title of what a line is about."""
    return prose(row["title"])


def mark(row: _Row) -> Markup:
    """Return how an entry stands, as a mark."""
    state = row["state"]
    return Markup(f'<span class="mark {state.replace(" ", "-")}">{state}</span>')


def rows(lines: Sequence[_Row], typed: bool = True) -> Markup:  # noqa: FBT001, FBT002  # as templates write it
    """Return a list of entries, each with its type unless all have the same."""
    shown = "".join(f"{_line(row, typed=typed)}\n" for row in lines)
    return Markup(f'<ul class="rows">{shown}</ul>')


def _line(row: _Row, *, typed: bool) -> str:
    state, kind = row["state"], row["type"]
    parts = [f'<li class="row {state.replace(" ", "-")}">', f'<span class="type {kind}">{kind}</span>' if typed else ""]
    parts.append(f'<div><a class="name" href="{escape(row["href"])}">{titled(row)}</a>')
    if state != "in force":
        parts.append(f" {mark(row)}")
    if said := row.get("said"):
        parts.append(f'<span class="said">{escape(said)}</span>')
    if globs := row.get("globs"):
        shown = "".join(f"<code>{escape(glob)}</code> " for glob in globs)
        parts.append(f'<span class="globs">{shown}</span>')
    return "".join([*parts, "</div></li>"])


def folded(label: str, lines: Sequence[_Row]) -> Markup:
    """Return a list that unfolds, nothing where it is empty."""
    if not lines:
        return Markup("")
    summary = f'{escape(label)} <span class="n">{len(lines)}</span>'
    return Markup(f"<details><summary>{summary}</summary>{rows(lines)}</details>")


def happened(events: Sequence[_Row]) -> Markup:
    """Return a list of what changed what binds."""
    return Markup(f'<ol class="events">{"".join(map(_event, events))}</ol>')


def _event(event: _Row) -> str:
    day, what = event["day"], event["what"]
    reason = f'<span class="said">{prose(event["reason"])}</span>' if event["reason"] else ""
    olds = ", ".join(
        f'<a class="name ended" href="{escape(one["href"])}">{titled(one)}</a>' for one in event["replaced"]
    )
    taken = f'<span class="said">for {olds}</span>' if olds else ""
    named = f'<div><a href="{escape(event["href"])}">{titled(event)}</a>{taken}{reason}</div>'
    return f'<li><time datetime="{day}">{day}</time><span class="what {what}">{what}</span>{named}</li>'


def told(fields: Sequence[tuple[str, Sequence[tuple[str, str | None]]]]) -> Markup:
    """Return the fields of an entry with their values, those that lead to entries as links."""

    def value(text: str, href: str | None) -> str:
        return escape(text) if href is None else f'<a href="{escape(href)}">{escape(text)}</a>'

    pairs = ((name, "<br>".join(value(*one) for one in values)) for name, values in fields)
    return Markup("".join(f"<dt>{name}</dt><dd>{shown}</dd>" for name, shown in pairs))


def why(chain: Sequence[_Row]) -> Markup:
    """Return how it came to an entry and what became of it, nothing where it stands alone."""
    if not chain:
        return Markup("")
    return Markup(f'<h2>Why</h2><ol class="commits">{"".join(map(_step, chain))}</ol>')


def _step(one: _Row) -> str:
    day = f'<time datetime="{one["day"]}">{one["day"]}</time> ' if one["day"] else ""
    named = (
        f"<strong>{titled(one)}</strong>" if one["is_here"] else f'<a href="{escape(one["href"])}">{titled(one)}</a>'
    )
    reason = f' <span class="said">{prose(one["reason"])}</span>' if one["reason"] else ""
    return f"<li>{day}{named}{reason}</li>"


def naming(others: Sequence[_Row]) -> Markup:
    """Return who names an entry, and in which field."""
    if not others:
        return Markup("")
    shown = "".join(
        f'<li><a href="{escape(one["href"])}">{titled(one)}</a> <span class="said">{one["how"]}</span></li>'
        for one in others
    )
    return Markup(f'<h2>Named by</h2><ul class="plain">{shown}</ul>')


def history(commits: Sequence[_Row], more: int) -> Markup:
    """Return the commits that touched an entry, and how many more did."""
    if not commits:
        return Markup("")
    rest = f'<p class="said">+{more} more</p>' if more else ""
    return Markup(f'<h2>History</h2><ol class="commits">{"".join(map(_commit, commits))}</ol>{rest}')


def _commit(one: _Row) -> str:
    who = f'<span class="said">{escape(one["author"])} · <code>{one["digest"]}</code></span>'
    return f'<li><time datetime="{one["day"]}">{one["day"]}</time> {escape(one["subject"])} {who}</li>'


def origin(file: _Row) -> Markup:
    """Return the path of a file, with the links to the host that shows it."""
    links = " · ".join(f'<a href="{escape(href)}" rel="noreferrer">{label}</a>' for label, href in file["links"])
    said = f'<p class="said">{links}</p>' if links else ""
    return Markup(f"<h2>File</h2><p><code>{escape(file['path'])}</code></p>{said}")


PIECES = {
    one.__name__: one for one in (prose, titled, mark, rows, folded, happened, told, naming, why, history, origin)
}
