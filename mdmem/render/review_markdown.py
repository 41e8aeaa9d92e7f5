"""Render a review as Markdown, for a comment on a change or the summary of a CI job."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from urllib.parse import quote

from msgspec import Struct

from mdmem.change.review_model import ReviewReport, RuleText, Wording
from mdmem.render.review import Kind, Line, ReviewSection, clipped, headline, sections
from mdmem.render.text import code, count, fenced, fit_lines, html_code, prose

MARKER = "<!-- mdmem diff -->"
"""The first line of a comment, by which CI finds the comment to update it."""

# A comment on GitHub may have 65,536 characters.
LIMIT = 65_000
# Some readers show deeper lists as code.
_DEEPEST = 8
_CUT = "- {} more lines omitted; `mdmem diff` shows all."
# A block of code does not wrap by itself.
_WIDTH = 100
# Lines of a text that are shown of a long one.
_MOST_LINES = 120


class FileLinks(Struct, frozen=True):
    """The URL of the files of a commit, ending in `/`, and the folder of the memory; without a URL, plain paths."""

    base: str = ""
    under: str = ""

    def link(self, path: str) -> str:
        """Return a file's path from the top of the repository, as a link if there is a URL."""
        whole = f"{self.under}/{path}" if self.under else path
        return f"[{code(whole)}]({self.base}{quote(whole)})" if self.base else code(whole)


def file_links(environment: Mapping[str, str], under: str) -> FileLinks:
    """Return the links of the current CI job on GitHub or GitLab; elsewhere plain paths."""
    repository, commit = environment.get("GITHUB_REPOSITORY"), environment.get("GITHUB_SHA")
    if repository and commit:
        return FileLinks(f"{environment.get('GITHUB_SERVER_URL', '')}/{repository}/blob/{commit}/", under)
    project, commit = environment.get("CI_PROJECT_URL"), environment.get("CI_COMMIT_SHA")
    return FileLinks(f"{project}/-/blob/{commit}/", under) if project and commit else FileLinks("", under)


def diff_page(url: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the URL of the change's page, with the numbers of the CI job in place of `{change}` and `{run}`.

    None without a URL, or outside a job that has the number.
    """
    asked = re.fullmatch(r"refs/pull/(\d+)/.*", environment.get("GITHUB_REF", ""))
    numbers = {
        "{change}": asked[1] if asked else environment.get("CI_MERGE_REQUEST_IID", ""),
        "{run}": environment.get("GITHUB_RUN_ID") or environment.get("CI_JOB_ID", ""),
    }
    needed = [name for name in numbers if url is not None and name in url]
    if url is None or not all(re.fullmatch("[0-9]+", numbers[name]) for name in needed):
        return None
    return re.sub(r"\{\w+\}", lambda found: numbers[found[0]], url)


def review_markdown(
    review: ReviewReport,
    links: FileLinks = FileLinks(),  # noqa: B008  # frozen
    *,
    page: str | None = None,
) -> str:
    """Return the review in at most 65,000 characters; a section with omitted lines says so.

    No text from a file is interpreted as markup, a link, a mention or a reference.
    """
    head = [
        MARKER,
        f"## mdmem diff: {headline(review)}",
        f"{code(clipped(review.before))} → {code(clipped(review.after))}",
    ]
    head += [f"**{prose(clipped(remark))}**" for remark in review.remarks]
    head += [f"[The page of this change]({page})"] if page is not None else []
    found = sections(review, _mark)
    blocks = [[f"### {section.title}\n", *map(_line, section.lines)] for section in found]
    room = LIMIT - sum(len(one) + 2 for one in head)
    # If they do not all fit, each section has an equal share.
    share = LIMIT if sum(map(_size, blocks)) <= room else room // len(blocks)
    parts = [fit_lines(block, share - 2, _CUT) for block in blocks]
    left = room - sum(len(part) + 2 for part in parts)
    for number, section in enumerate(found):
        for fold in _folds(section, links):
            if len(fold) + 2 <= left:
                parts[number] += f"\n\n{fold}"
                left -= len(fold) + 2
    return "\n\n".join([*head, *(part for part in parts if part)])


def _mark(kind: Kind, text: str) -> str:
    if not text.strip():
        return text
    if kind == "code":
        return code(text)
    shown = prose(text)
    if kind == "added":
        return f"<ins>{shown}</ins>"
    if kind == "removed":
        return f"<del>{shown}</del>"
    # Stars next to a blank mark nothing.
    return shown.replace(shown.strip(), f"**{shown.strip()}**", 1) if kind == "strong" else shown


def _line(line: Line) -> str:
    level, text = line
    return f"{'  ' * min(level, _DEEPEST)}- {text}"


def _size(block: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in block) + 2


def _folds(section: ReviewSection, links: FileLinks) -> Iterator[str]:
    """Yield the blocks of a section that open on a click: whole texts."""
    for wording in section.wordings:
        texts = [*([wording.before] if wording.before is not None else []), *wording.after]
        if texts:
            summary = "The text of " + " → ".join(html_code(text.entry.address) for text in texts)
            files = " → ".join(links.link(f"{text.entry.address}.md") for text in texts)
            diff = fenced("\n".join(_diff_lines(wording)), "diff")
            # CI must not find the marker in a quoted text.
            fold = f"<details><summary>{summary}</summary>\n\n{files}\n\n{diff}\n\n</details>"
            yield fold.replace(MARKER, MARKER.replace("-->", "-- >"))


def _diff_lines(one: Wording) -> Iterator[str]:
    """Yield the lines of a diff from the old text to the first new one; other new texts are added as a whole."""
    old = _wrapped(one.before) if one.before is not None else []
    for text in one.after or (None,):
        new = _wrapped(text) if text is not None else []
        if text is not None and len(one.after) > 1:
            yield f"+ {text.entry.address}"
        for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == "equal":
                yield from (f"  {line}" for line in new[start:end])
            else:
                yield from (f"- {line}" for line in old[first:last])
                yield from (f"+ {line}" for line in new[start:end])
        old = []


def _wrapped(text: RuleText) -> list[str]:
    lines = [wrapped for line in text.body.strip().split("\n") for wrapped in textwrap.wrap(line, _WIDTH) or [""]]
    more = len(lines) - _MOST_LINES
    return lines if more <= 0 else [*lines[:_MOST_LINES], f"… {count(more, 'more line')}"]
