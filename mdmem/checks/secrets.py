"""The patterns of keys, tokens and passwords: few, and each sure enough to block a commit.

In the manner of detect-secrets and gitleaks, with what they learned: a value counts only if it looks random, and never
if it says itself that it is an example.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct


class Secret(Struct, frozen=True):
    """What looks like a secret: its kind and where it stands; never its text, which would end up in a log."""

    kind: str
    offset: int
    width: int


_KINDS = {
    "aws": "an AWS access key",
    "google": "a Google key",
    "github": "a GitHub token",
    "npm": "an npm token",
    "stripe": "a Stripe key",
    "huggingface": "a Hugging Face token",
    "gitlab": "a GitLab token",
    "slack": "a Slack token",
    "hook": "a Slack webhook",
    "pypi": "a PyPI token",
    "anthropic": "an Anthropic key",
    "openai": "an OpenAI key",
    "age": "an age key",
    "jwt": "a JSON web token",
    "private": "a private key",
    "url": "a password in a URL",
}
_WORD = "[A-Za-z0-9]"
_CODE = "[A-Za-z0-9_-]"
# Each begins with one rare character and looks back from there: six times as fast as one alternation of all prefixes.
_CAPITAL = rf"A(?<!{_WORD}A)(?:(?P<aws>[KS]IA[0-9A-Z]{{16}})|(?P<google>Iza{_CODE}{{35}}))(?!{_WORD})"
_UNDERSCORE = (
    rf"_(?={_WORD}{{22}})(?:(?P<github>(?<=\bgh[opusr]_){_WORD}{{36,251}}|(?<=\bgithub_pat_){_WORD}{{22}}_{_WORD}{{59}})"
    rf"|(?P<npm>(?<=\bnpm_){_WORD}{{36}})|(?P<stripe>(?<=\b[sr]k_live_){_WORD}{{24,128}})"
    rf"|(?P<huggingface>(?<=\bhf_)[A-Za-z]{{34}}))(?!{_WORD})"
)
_HYPHEN = (
    # The letters before it end the prefixes below: a row of hyphens is none.
    rf"-(?<=[abeikoprstY]-)(?={_CODE}{{16}})(?:(?P<gitlab>(?:(?<=\bglpat-)|(?<=\bgl[rd]t-)|(?<=\bglptt-)){_CODE}{{20,64}})"
    rf"|(?P<slack>(?:(?<=\bxox[abeoprs]-)|(?<=\bxapp-))(?:[0-9A-Z]+-){{1,4}}{_WORD}{{16,128}})"
    rf"|(?P<pypi>(?<=\bpypi-)AgE{_CODE}{{50,256}})|(?P<anthropic>(?<=\bsk-)ant-[a-z0-9]+-{_CODE}{{32,128}})"
    rf"|(?P<openai>(?<=\bsk-){_CODE}{{16,100}}?T3BlbkFJ{_CODE}{{16,128}})"
    rf"|(?P<age>(?<=\bAGE-SECRET-KEY-)1[0-9A-Z]{{58}}))(?!{_WORD})"
)
_PREFIX = re.compile(r"[A-Za-z_-]*\Z")
_LONGEST_PREFIX = len("AGE-SECRET-KEY")
_TOKENS = (re.compile(_CAPITAL), re.compile(_UNDERSCORE), re.compile(_HYPHEN))
# Those without a rare first character are tried only where the text holds the hint.
_HINTED = tuple(
    (hint, re.compile(expression))
    for hint, expression in (
        (".eyJ", r"\b(?P<jwt>eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,})"),
        ("hooks.slack.com", r"hooks\.slack\.com/services/(?P<hook>T\w{8,16}/B\w{8,16}/\w{20,64})"),
        # The header alone is quoted in many a manual; only a key's own lines make it one.
        (
            "PRIVATE KEY",
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]{1,200}?(?P<private>[A-Za-z0-9+/]{40})",
        ),
    )
)
_URL = re.compile(r"://[^\s/:@\"'`<>]{1,80}:(?P<url>[^\s/:@\"'`<>]{6,128})@(?!localhost|127\.|[\w.-]*example)")
_LONGEST_URL = len("://:") + 80 + 128
_ASSIGNED = tuple(
    # What stands before it ends a name below: a row of such signs is none.
    re.compile(rf"{sign}(?<=[dDeEnNtTyY\"' \t:]{sign})[ \t]{{0,3}}(?:\"([^\"\s]{{8,128}})\"|'([^'\s]{{8,128}})'{bare})")
    for sign, bare in (("=", r"|([^\s\"'`]{8,128})"), (":", ""))
)
_NAME = re.compile(
    r"(?:password|passwd|passphrase|secret|token|api_?key|(?:access|secret|private|signing|encryption)_?key)"
    r"[\"']?[ \t]{0,3}:?\Z",
    re.IGNORECASE,
)
_NAME_WORDS = ("pass", "secret", "token", "key")
# Without quotes only an environment variable is sure to hold a value and not a name.
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
    """Yield what looks like a secret."""
    hinted = (expression for hint, expression in _HINTED if hint in text)
    for expression in (*_TOKENS, *hinted):
        for found in expression.finditer(text):
            kind = found.lastgroup or ""
            if _is_random(found[kind]) and not _EXAMPLE_TOKEN.search(found[kind]):
                start = found.start() - len(_begun(text, found.start()))
                yield Secret(_KINDS[kind], start, found.end() - start)
    yield from _in_urls(text)
    yield from _assigned(text)


def _in_urls(text: str) -> Iterator[Secret]:
    """Yield the passwords in URLs; looked for from what ends one, which is rarer than what begins one."""
    end = text.find("@")
    while end >= 0:
        # No slash stands in between.
        start = text.rfind("://", max(0, end - _LONGEST_URL), end)
        found = _URL.match(text, start) if start >= 0 else None
        if found is not None and found.end() == end + 1 and _is_password(found["url"]):
            yield Secret(_KINDS["url"], found.start("url"), len(found["url"]))
        end = text.find("@", end + 1)


def _begun(text: str, offset: int) -> str:
    """Return the letters of a token that stand before the character it was found by."""
    found = _PREFIX.search(text[max(0, offset - _LONGEST_PREFIX) : offset])
    return found.group() if found else ""


def _assigned(text: str) -> Iterator[Secret]:
    for expression in _ASSIGNED:
        for found in expression.finditer(text):
            name = text[max(0, found.start() - _LONGEST_NAME) : found.start()]
            group = found.lastindex or 0
            if not any(map(name.lower().__contains__, _NAME_WORDS)):
                continue
            if not _NAME.search(name) or (group == 3 and not _VARIABLE.search(name)):
                continue
            if _is_password(found[group]):
                yield Secret("a password or key", found.start(group), len(found[group]))


def _is_password(value: str) -> bool:
    if not any(character.isdigit() for character in value) or not _is_random(value):
        return False
    return not _EXAMPLE_PASSWORD.search(value) and not _NAMED_THING.fullmatch(value)


def _is_random(value: str) -> bool:
    """Say whether a text carries the bits a character of a random one (Shannon 1948)."""
    # A short random text hardly repeats a character, so it is measured against what its length allows.
    shares = (count / len(value) for count in Counter(value).values())
    return -sum(share * math.log2(share) for share in shares) >= min(3.0, 0.8 * math.log2(len(value)))
