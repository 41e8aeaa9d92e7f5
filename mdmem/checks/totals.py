"""Findings that are told as one for each wing: a thousand of a kind say no more than their number and the worst."""

from __future__ import annotations

from collections.abc import Iterable

from mdmem.checks.engine import get_check
from mdmem.checks.registry import CHANGE, CODES
from mdmem.dataclass import replace
from mdmem.finding import Finding

# So many of a kind in a wing are told one by one.
_FEW = 3
_Key = tuple[str, str, str]


def with_totals(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with those whose check has a sentence for many told as one, but for what became wrong now.

    What a check finds of a change itself is always new. The one stands where the worst stood, by its `measure`.
    """
    told, groups = list(findings), dict[_Key, list[Finding]]()
    for finding in told:
        groups.setdefault(_key(finding), []).append(finding)
    many = {key: group for key, group in groups.items() if key[2] and len(group) > _FEW}
    if not many:
        return told
    sums = [_sum(group, wing, sentence) for (_, wing, sentence), group in many.items()]
    rest = [finding for finding in told if _key(finding) not in many]
    return sorted([*rest, *sums], key=lambda finding: finding.sort_key)


def _key(finding: Finding) -> _Key:
    is_told = (finding.new and finding.code not in CHANGE) or finding.code not in CODES
    sentence = "" if is_told else getattr(get_check(finding.code), "SUMMED", "")
    return f"{finding.code} {finding.weight}", finding.place.path.split("/", 1)[0], sentence


def _sum(group: list[Finding], wing: str, sentence: str) -> Finding:
    worst = max(group, key=lambda finding: finding.measure)
    message = sentence.format(count=len(group), wing=wing, measure=worst.measure)
    # Without the base that a run was given there is no change to speak of.
    how = f"`--select {worst.code}`" if worst.code in CHANGE else f"`mdmem check --select {worst.code}`"
    help_ = f"{worst.help}; {how} lists them"
    return replace(worst, message=message, help=help_, count=len(group), fix=None)
