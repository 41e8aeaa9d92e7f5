"""The patterns of keys, tokens and passwords: few, and each sure enough to block a commit.

In the manner of detect-secrets and gitleaks, with what they learned: a value counts only if it looks random, and never if it
says itself that it is an example.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Secret:
    """What looks like a secret: its kind and where it stands; never its text, which would end up in a log."""

    kind: str
    offset: int
    width: int


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One kind of secret; a text that holds none of `hints` is not searched, group 1 is what must look random."""

    kind: str
    hints: tuple[str, ...]
    expression: re.Pattern[str]


def _token(kind: str, hints: tuple[str, ...], expression: str) -> _Pattern:
    return _Pattern(kind, hints, re.compile(rf"(?<![A-Za-z0-9])({expression})(?![A-Za-z0-9])"))


_TOKENS = (
    _token("an AWS access key", ("AKIA", "ASIA"), r"A[KS]IA[0-9A-Z]{16}"),
    _token("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[opusr]_[A-Za-z0-9]{36,251}"),
    _token("a GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _token("a GitLab token", ("glpat-", "glrt-", "gldt-", "glptt-"), r"gl(?:pat|rt|dt|ptt)-[A-Za-z0-9_-]{20,}"),
    _token("a Slack token", ("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-(?:[0-9A-Z]+-){1,4}[A-Za-z0-9]{16,}"),
    _token("a Slack webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/services/T\w{8,}/B\w{8,}/\w{20,}"),
    _token("a Stripe key", ("k_live_",), r"[sr]k_live_[A-Za-z0-9]{24,}"),
    _token("an npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    _token("a PyPI token", ("pypi-AgE",), r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _token("an Anthropic key", ("sk-ant-",), r"sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{32,}"),
    _token("an OpenAI key", ("T3BlbkFJ",), r"sk-[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,}"),
    _token("a Google key", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    _token("a Hugging Face token", ("hf_",), r"hf_[A-Za-z]{34}"),
    _token("a SendGrid key", ("SG.",), r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _token("an age key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _token("a JSON web token", ("eyJ",), r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
    # The header alone is quoted in many a manual; only a key's own lines make it one.
    _Pattern(
        "a private key",
        ("PRIVATE KEY",),
        re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[^-]{0,200}?([A-Za-z0-9+/]{40})"),
    ),
    _Pattern(
        "an AWS secret key",
        ("ecret",),
        re.compile(r"(?i:aws_?secret_?access_?key|secretaccesskey)[\"']?\s{0,3}[:=]\s{0,3}[\"']?([A-Za-z0-9/+]{40})\b"),
    ),
)
_PASSWORDS = (
    _Pattern(
        "a password in a URL",
        ("://",),
        re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'`<>]{1,80}:([^\s/:@\"'`<>]{6,128})@(?!localhost|127\.|[\w.-]*example)"),
    ),
    _Pattern(
        "a password",
        ("assw", "ASSW", "ecret", "ECRET", "oken", "OKEN", "pi_key", "pikey", "piKey", "API_KEY"),
        re.compile(
            r"(?i:password|passwd|passphrase|secret|token|api_?key|access_?key|secret_?key|private_?key)"
            r"[\"']?\s{0,3}(?:=>|:=|[:=])\s{0,3}(?:\"([^\"\s]{8,128})\"|'([^'\s]{8,128})')"
        ),
    ),
    _Pattern(
        "a password",
        ("PASSWORD=", "SECRET=", "TOKEN=", "_KEY="),
        re.compile(r"\b[A-Z0-9_]*(?:PASSWORD|SECRET|TOKEN|API_KEY|ACCESS_KEY|SECRET_KEY)=([^\s\"'`]{8,128})"),
    ),
)
_EXAMPLE = re.compile(
    r"x{4}|\*{3}|\.{3}|…|[<>{}$%()\[\]]|1234567|abcdef|qwerty|example|sample|dummy|fake|mock|test|foo|your|changeme|change-me"
    r"|placeholder|redacted|removed|replace|insert|secret|passw|p[a@]ss|token|hunter|letmein|todo|tr0ub",
    re.IGNORECASE,
)
# The token on the front page of jwt.io, known by its payload: {"sub":"1234567890".
_KNOWN_EXAMPLES = ("eyJzdWIiOiIxMjM0NTY3ODkwI",)
_WORDS = re.compile(r"[A-Za-z]+(?:[-_./:][A-Za-z]+)*[-_.]?v?\d{0,4}")


def find_secrets(text: str) -> Iterator[Secret]:
    """Yield what looks like a secret, by kind; a stretch of text is named once."""
    seen: set[int] = set()
    for pattern in (*_TOKENS, *_PASSWORDS):
        if not any(hint in text for hint in pattern.hints):
            continue
        for found in pattern.expression.finditer(text):
            group = found.lastindex or 0
            if found.start(group) not in seen and _is_real(found.group(group), is_password=pattern in _PASSWORDS):
                seen.add(found.start(group))
                yield Secret(pattern.kind, found.start(group), found.end(group) - found.start(group))


def _is_real(value: str, *, is_password: bool) -> bool:
    if any(known in value for known in _KNOWN_EXAMPLES) or _entropy(value) < _least_entropy(value):
        return False
    if not is_password:
        return not re.search(r"example|x{5}|\.{3}|1234567890|0{8}", value, re.IGNORECASE)
    return not _EXAMPLE.search(value) and not _WORDS.fullmatch(value) and any(character.isdigit() for character in value)


def _entropy(value: str) -> float:
    """Return the bits a character that the value's own letters carry (Shannon 1948)."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _least_entropy(value: str) -> float:
    # A short random text repeats nothing by chance, so it is measured against what its length allows.
    return min(3.0, 0.8 * math.log2(len(value)))
