"""Patterns for keys, tokens and passwords; they are few, and each is certain enough to block a commit.

They follow detect-secrets and gitleaks: a value counts only if it looks random and is not marked as an example.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct


class Secret(Struct, frozen=True):
    """A secret in a text: its kind, its offset and its width, but not its characters, so that no log has them."""

    kind: str
    offset: int
    width: int


# Each pattern begins with a literal, so that the search is fast. The group is the part that must look random.
_PATTERNS = {
    "an AWS access key": r"A[KS]IA([0-9A-Z]{16})",
    "a Google key": r"AIza([\w-]{35})",
    "a GitHub token": r"gh[opusr]_([A-Za-z0-9]{36,251})|github_pat_([A-Za-z0-9]{22}_[A-Za-z0-9]{59})",
    "an npm token": r"npm_([A-Za-z0-9]{36})",
    "a Stripe key": r"sk_live_([A-Za-z0-9]{24,128})",
    "a restricted Stripe key": r"rk_live_([A-Za-z0-9]{24,128})",
    "a Hugging Face token": r"hf_([A-Za-z]{34})",
    "a GitLab token": r"gl(?:pat|[rd]t|ptt)-([\w-]{20,64})",
    "a Slack token": r"x(?:ox[abeoprs]|app)-((?:[0-9A-Z]+-){1,4}[A-Za-z0-9]{16,128})",
    "a Slack webhook": r"hooks\.slack\.com/services/(T\w{8,16}/B\w{8,16}/\w{20,64})",
    "a PyPI token": r"pypi-(AgE[\w-]{50,256})",
    "an Anthropic key": r"sk-(ant-[a-z0-9]+-[\w-]{32,128})",
    "an OpenAI key": r"sk-(?!ant-)([\w-]{16,100}?T3BlbkFJ[\w-]{16,128})",
    "an age key": r"AGE-SECRET-KEY-(1[0-9A-Z]{58})",
    "a JSON web token": r"eyJ([\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,})",
    # Manuals often quote only the header, so a line of the key itself must follow.
    "a private key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]{1,200}?([A-Za-z0-9+/]{40})",
}
# A token must end after the pattern. A private key goes on, so only its beginning is matched.
_TOKENS = {
    kind: re.compile(rf"(?:{pattern}){'' if kind == 'a private key' else '(?![A-Za-z0-9])'}", re.ASCII)
    for kind, pattern in _PATTERNS.items()
}
_URL = re.compile(r"://[^\s/:@\"'`<>]{1,80}:(?P<value>[^\s/:@\"'`<>]{6,128})@(?!localhost|127\.|[\w.-]*example)")
# Beginning with `=` or `:` makes the search much faster than beginning with a name.
_ASSIGNED = re.compile(
    r"[=:](?:[ \t]{0,3}(?:\"([^\"\s]{8,128})\"|'([^'\s]{8,128})')|(?<==)[ \t]{0,3}([^\s\"'`]{8,128}))"
)
_NAME = re.compile(
    r"(?:password|passwd|passphrase|secret|token|api_?key|(?:access|secret|private|signing|encryption)_?key)"
    r"[\"']?[ \t]{0,3}:?\Z",
    re.IGNORECASE,
)
# A value without quotes counts only after an environment variable; elsewhere it may be the name of a variable.
_VARIABLE = re.compile(r"\b(?:[A-Z0-9_]+|aws_secret_access_key)[ \t]{0,3}\Z")
_LONGEST_NAME = 40

_EXAMPLE_TOKEN = re.compile(r"example|x{5}|\.{3}|123456789|0{8}|eyJzdWIiOiIxMjM0NTY3ODkwI", re.IGNORECASE)
_EXAMPLE_PASSWORD = re.compile(
    r"x{4}|\*{3}|\.{3}|…|[<>{}$%()\[\]]|12345|abcdef|qwerty|example|sample|dummy|fake|mock|test|foo|your|change"
    r"|placeholder|redacted|removed|replace|insert|secret|p[a@]ss|token|hunter|letmein|todo",
    re.IGNORECASE,
)
_NAMED_THING = re.compile(r"[A-Za-z]+(?:[-_./:][A-Za-z0-9]{1,3})?(?:[-_./:][A-Za-z]+)*[-_.]?v?\d{0,4}")


def find_secrets(text: str) -> Iterator[Secret]:
    """Yield the parts of a text that look like secrets."""
    for kind, pattern in _TOKENS.items():
        for found in pattern.finditer(text):
            value = found[found.lastindex or 0]
            is_whole = not text[found.start() - 1 : found.start()].isalnum() or not found.start()
            if is_whole and _is_random(value) and not _EXAMPLE_TOKEN.search(found[0]):
                yield Secret(kind, found.start(), found.end() - found.start())
    for found in _URL.finditer(text) if "://" in text else ():
        if _is_password(found["value"]):
            yield Secret("a password in a URL", found.start("value"), len(found["value"]))
    for found in _ASSIGNED.finditer(text):
        name, group = text[max(0, found.start() - _LONGEST_NAME) : found.start()], found.lastindex or 0
        # Test the value first, because few values look like passwords and testing the name is slower.
        if _is_password(found[group]) and _NAME.search(name) and (group < 3 or _VARIABLE.search(name)):
            yield Secret("a password or key", found.start(group), len(found[group]))


def _is_password(value: str) -> bool:
    if not any(character.isdigit() for character in value) or not _is_random(value):
        return False
    return not _EXAMPLE_PASSWORD.search(value) and not _NAMED_THING.fullmatch(value)


def _is_random(value: str) -> bool:
    """Return whether the entropy of a text per character is as high as that of a random text (Shannon 1948)."""
    # The length of a text limits its entropy, so the threshold is lower for a short text.
    shares = (count / len(value) for count in Counter(value).values())
    return -sum(share * math.log2(share) for share in shares) >= min(3.0, 0.8 * math.log2(len(value)))
