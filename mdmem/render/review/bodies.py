"""The words of old and new rules in full, folded, beside links to their files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from urllib.parse import quote

from msgspec import Struct

from mdmem.change.review_model import RuleText, Wording
from mdmem.render.markdown import code, fenced, html_code
from mdmem.render.words import count

# A block of code does not wrap by itself.
_WIDTH = 100
# Lines of a text that are shown of a long one.
_MOST = 120


class FileLinks(Struct, frozen=True):
    """Where the files of the second side are to be read: the page of a host that ends in `/`, and the root's folder."""

    base: str = ""
    under: str = ""

    def of(self, path: str) -> str:
        """Return a file's path from the repository's top, as a link where there is a page."""
        whole = f"{self.under}/{path}" if self.under else path
        return f"[{code(whole)}]({self.base}{quote(whole)})" if self.base else code(whole)


def file_links(environment: Mapping[str, str], under: str) -> FileLinks:
    """Return the links of the CI job at hand, GitHub's or GitLab's; elsewhere plain paths."""
    repository, commit = environment.get("GITHUB_REPOSITORY"), environment.get("GITHUB_SHA")
    if repository and commit:
        return FileLinks(f"{environment.get('GITHUB_SERVER_URL', '')}/{repository}/blob/{commit}/", under)
    project, commit = environment.get("CI_PROJECT_URL"), environment.get("CI_COMMIT_SHA")
    return FileLinks(f"{project}/-/blob/{commit}/", under) if project and commit else FileLinks("", under)


def diff_page(url: str | None, environment: Mapping[str, str]) -> str | None:
    """Return where the page of the change at hand is; None where that is not said, or needs a job that is not at hand.

    `{change}` and `{run}` are filled in by the numbers of the CI job, GitHub's or GitLab's.
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


def folded(one: Wording, links: FileLinks) -> str:
    """Return one wording as a block that opens on a click; empty where no text is known."""
    texts = [*([one.before] if one.before is not None else []), *one.after]
    if not texts:
        return ""
    named = " → ".join(html_code(text.entry.address) for text in texts)
    files = " → ".join(links.of(text.path) for text in texts)
    words = fenced("\n".join(_compared(one)), "diff")
    return f"<details><summary>The words of {named}</summary>\n\n{files}\n\n{words}\n\n</details>"


def _compared(one: Wording) -> Iterator[str]:
    """Yield the lines of the old text marked `-`, those of the new ones `+`, and common ones by neither."""
    old = _lines(one.before) if one.before is not None else []
    for text in one.after or (None,):
        new = _lines(text) if text is not None else []
        yield from (f"+ {text.entry.address}",) if text is not None and len(one.after) > 1 else ()
        for _, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if old[first:last] == new[start:end]:
                yield from (f"  {line}" for line in new[start:end])
            else:
                yield from (f"- {line}" for line in old[first:last])
                yield from (f"+ {line}" for line in new[start:end])
        # Of several in its place, the first stands beside it.
        old = []


def _lines(text: RuleText) -> list[str]:
    lines = [wrapped for line in text.body.strip().split("\n") for wrapped in textwrap.wrap(line, _WIDTH) or [""]]
    more = len(lines) - _MOST
    return lines if more <= 0 else [*lines[:_MOST], f"… {count(more, 'more line')}"]
