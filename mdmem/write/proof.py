"""The proof of a round of fixes: which findings it would bring that nothing told of before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence

from msgspec.structs import replace

from mdmem.checks.engine import sameness
from mdmem.model.finding import Finding

_Key = Callable[[Finding], Hashable]
# Is told until the files are added to git, whatever they say.
_UNTIL_ADDED = "link-not-tracked"


def brought(
    before: Sequence[Finding],
    after: Sequence[Finding],
    *,
    ended: Collection[Finding],
    renames: Sequence[tuple[str, str]] = (),
) -> list[Finding]:
    """Return the findings after a round of fixes that were not there before; `renames` are paths from and to.

    One that says its fact in other words, or at another line of its file, is no new one, unless it was to be `ended`.
    """
    follow, mended = _following(renames), frozenset(ended)
    left, new = list(before), [one for one in after if one.code != _UNTIL_ADDED]
    # What is told of a folder is told at one of its files, which may be another once the folder has another name.
    for key in (sameness, _in_words, _in_place) if renames else (sameness, _in_place):
        left, new = _unmatched(left, new, key, follow)
        # What was to be ended and is found word for word was not ended; in other words it is another.
        left = [finding for finding in left if finding not in mended]
    return new


def unrevealed(findings: Iterable[Finding], revealed: Iterable[str]) -> list[Finding]:
    """Return the findings that are about none of some files that could not be read whole before.

    What those hold was true before, and nobody could tell.
    """
    names = frozenset(path.removesuffix(".md") for path in revealed)
    return [finding for finding in findings if not _is_about(finding, names)]


def _unmatched(
    before: Sequence[Finding], after: Sequence[Finding], key: _Key, follow: Callable[[Finding], Finding]
) -> tuple[list[Finding], list[Finding]]:
    """Return what is left on both sides when each finding has met one of the same key on the other side."""
    keys = [key(follow(finding)) for finding in before]
    had, has = Counter(keys), Counter(map(key, after))
    return _beyond(zip(before, keys, strict=True), has), _beyond(((one, key(one)) for one in after), had)


def _beyond(pairs: Iterable[tuple[Finding, Hashable]], others: Counter[Hashable]) -> list[Finding]:
    left, open_ = [], Counter(others)
    for finding, key in pairs:
        if open_[key] <= 0:
            left.append(finding)
        open_[key] -= 1
    return left


def _in_words(finding: Finding) -> Hashable:
    return finding.code, finding.message


def _in_place(finding: Finding) -> Hashable:
    return finding.code, finding.place.path


def _following(renames: Sequence[tuple[str, str]]) -> Callable[[Finding], Finding]:
    """Return what tells a finding as it reads after some files were renamed."""
    if not renames:
        return lambda finding: finding
    names: dict[str, str] = {}
    for old, new in ((old.removesuffix(".md"), new.removesuffix(".md")) for old, new in renames):
        names = {first: new if last == old else last for first, last in names.items()}
        names.setdefault(old, new)
    named = re.compile("|".join(rf"(?<![\w/-]){re.escape(old)}(?![\w/-])" for old in sorted(names, reverse=True)))

    def moved(text: str) -> str:
        return named.sub(lambda found: names[found.group()], text)

    def follow(finding: Finding) -> Finding:
        place, address = replace(finding.place, path=moved(finding.place.path)), finding.address
        return replace(finding, place=place, address=address and moved(address), message=moved(finding.message))

    return follow


def _is_about(finding: Finding, names: Collection[str]) -> bool:
    """Say whether a finding stands in one of some files, or names one as the other end of what it tells."""
    paths = {finding.place.path.removesuffix(".md"), finding.other.path.removesuffix(".md") if finding.other else ""}
    return not paths.isdisjoint(names) or any(f"`{name}`" in finding.message for name in names)
