"""The patterns of keys, tokens and passwords: few, and each sure enough to block a commit.

In the manner of detect-secrets and gitleaks, with their lessons: a value counts only if it looks random, and never if
it calls itself an example.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct


class Secret(Struct, frozen=True):
    """A text that looks like a secret: its kind and place; its text itself would end up in a log."""

    kind: str
    offset: int
    width: int


# Each begins with a literal, which is found at the speed of memory. A group is the part that has to look random.
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
    # Many a manual quotes the header alone; only a key's own lines make it one.
    "a private key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]{1,200}?([A-Za-z0-9+/]{40})",
}
# After a private key more of it follows.
_TOKENS = {
    kind: re.compile(rf"(?:{pattern}){'' if kind == 'a private key' else '(?![A-Za-z0-9])'}", re.ASCII)
    for kind, pattern in _PATTERNS.items()
}
_URL = re.compile(r"://[^\s/:@\"'`<>]{1,80}:(?P<value>[^\s/:@\"'`<>]{6,128})@(?!localhost|127\.|[\w.-]*example)")
# A sign is found much faster than a name, if the pattern begins with it.
_ASSIGNED = re.compile(
    r"[=:](?:[ \t]{0,3}(?:\"([^\"\s]{8,128})\"|'([^'\s]{8,128})')|(?<==)[ \t]{0,3}([^\s\"'`]{8,128}))"
)
_NAME = re.compile(
    r"(?:password|passwd|passphrase|secret|token|api_?key|(?:access|secret|private|signing|encryption)_?key)"
    r"[\"']?[ \t]{0,3}:?\Z",
    re.IGNORECASE,
)
# Without quotes only an environment variable is sure to have a value and not a name.
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
    """Yield the texts that look like secrets."""
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
        # Few values look like a password, so the name in front is searched last.
        if _is_password(found[group]) and _NAME.search(name) and (group < 3 or _VARIABLE.search(name)):
            yield Secret("a password or key", found.start(group), len(found[group]))


def _is_password(value: str) -> bool:
    if not any(character.isdigit() for character in value) or not _is_random(value):
        return False
    return not _EXAMPLE_PASSWORD.search(value) and not _NAMED_THING.fullmatch(value)


def _is_random(value: str) -> bool:
    """Return whether a text has the bits a character of a random one (Shannon 1948)."""
    # A short random text hardly repeats a character, so its length limits the measure.
    shares = (count / len(value) for count in Counter(value).values())
    return -sum(share * math.log2(share) for share in shares) >= min(3.0, 0.8 * math.log2(len(value)))
