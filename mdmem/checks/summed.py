"""Findings that are told as one for each wing: a thousand of a kind say no more than their number and the worst."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mdmem.checks.engine import get_check
from mdmem.finding import Finding

# So many of a kind in a wing are told one by one.
_FEW = 3
_Key = tuple[str, str, str]


def summed(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with those that nothing new tells of, and whose check has a sentence for many, told as one.

    The one stands where the worst stood, by its `measure`.
    """
    told, groups = list[Finding](), dict[_Key, list[Finding]]()
    for finding in findings:
        groups.setdefault(_key(finding), []).append(finding)
    for (_, wing, sentence), group in groups.items():
        told += [_sum(group, wing, sentence)] if sentence and len(group) > _FEW else group
    return sorted(told, key=lambda finding: finding.sort_key)


def _key(finding: Finding) -> _Key:
    sentence = "" if finding.new else getattr(get_check(finding.code), "SUMMED", "")
    return f"{finding.code} {finding.weight}", finding.place.path.split("/", 1)[0], sentence


def _sum(group: list[Finding], wing: str, sentence: str) -> Finding:
    worst = max(group, key=lambda finding: finding.measure)
    message = sentence.format(count=len(group), wing=wing, measure=worst.measure)
    help_ = f"{worst.help}; `mdmem check --select {worst.code}` lists them"
    return replace(worst, message=message, help=help_, fix=None)
