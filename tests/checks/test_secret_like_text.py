"""Secrets are put together here from halves, so that no scanner of this repository takes them for real."""

from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING

import pytest
from trees import case_of

from mdmem.checks.engine import run_checks
from mdmem.checks.rules.content import find_secrets

if TYPE_CHECKING:
    from pathlib import Path

    from mdmem.model.finding import Finding

ALNUM = string.ascii_letters + string.digits


def noise(length: int, alphabet: str = ALNUM) -> str:
    return "".join(random.Random(length).choices(alphabet, k=length))


UPPER = string.ascii_uppercase + string.digits
REAL = {
    "an AWS access key": "AK" + "IA" + noise(16, UPPER),
    "a Google key": "AI" + "za" + noise(35),
    "a GitHub token": "gh" + "p_" + noise(36),
    "an npm token": "np" + "m_" + noise(36),
    "a Stripe key": "sk" + "_live_" + noise(24),
    "a Hugging Face token": "h" + "f_" + noise(34, string.ascii_letters),
    "a GitLab token": "gl" + "pat-" + noise(20),
    "a Slack token": "xo" + "xb-" + noise(11, string.digits) + "-" + noise(24),
    "a Slack webhook": f"hooks.{'slack'}.com/services/T{noise(10)}/B{noise(10, UPPER)}/{noise(24)}",
    "a PyPI token": "py" + "pi-AgE" + noise(80),
    "an Anthropic key": "sk" + "-ant-" + "api03-" + noise(90),
    "an OpenAI key": "sk" + "-proj-" + noise(40) + "T3Blbk" + "FJ" + noise(40),
    "an age key": "AGE-SECRET" + "-KEY-1" + noise(58, UPPER),
    "a JSON web token": "ey" + "J" + noise(30) + ".ey" + "J" + noise(60) + "." + noise(43),
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + noise(64) + "\n" + noise(63) + "\n",
    "a password in a URL": "postgres://orders:" + "k7Rw" + "-q2Vz!m" + "@db.internal/orders",
    "a password or key": 'DB_PASSWORD = "' + "k7Rw" + "-q2Vz!m" + '"',
}
ASSIGNED = (
    'password: "{}"',
    "client_secret = '{}'",
    '"apiKey": "{}"',
    "SHOP_TOKEN={}",
    "export API_KEY={}",
    "access_key := '{}'",
)


@pytest.mark.parametrize("kind", REAL)
def test_secret_is_named_by_its_kind(kind: str) -> None:
    text = f"Deploy with\n{REAL[kind]}\nevery day."
    assert [found for found, _, _ in find_secrets(text)] == [kind]


@pytest.mark.parametrize("line", ASSIGNED)
def test_random_value_assigned_to_a_telling_name_is_a_secret(line: str) -> None:
    value = "k7Rw" + "q2VzmX9d"
    ((_, offset, width),) = find_secrets(line.format(value))
    assert line.format(value)[offset : offset + width] == value


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "x" * 36,
        "AKIAIOSFODNN7EXAMPLE",
        "mask-" + noise(40) + "T3BlbkFJ" + noise(40),
        "postgres://postgres:postgres@localhost/orders",
        "postgres://orders:" + "k7Rw" + "-q2Vz!m" + "@localhost/orders",
        "postgres://orders:${PASSWORD}@db.internal/orders",
        "https://host:8080/path/to@v2",
        'password = "<password>"',
        'token: "{{ secrets.DEPLOY_TOKEN_2 }}"',
        'secret: "db-credentials-v2"',
        "token = request.headers['X-Token-2']",
        "The token expired on 2026-01-05T10:30:00Z: renew it.",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        'hash = "' + noise(40, "0123456789abcdef") + '"',
    ],
)
def test_placeholder_is_no_secret(text: str) -> None:
    assert list(find_secrets(text)) == []


def found_in(root: Path, text: str) -> list[Finding]:
    (root / "shop" / "rules").mkdir(parents=True)
    (root / "shop" / "rules" / "a.md").write_text(text, encoding="utf-8")
    return run_checks(case_of(root), ["secret-like-text"])


def test_finding_stands_at_the_secret_and_does_not_repeat_it(tmp_path: Path) -> None:
    token = REAL["a GitHub token"]
    text = f"---\ntype: note\nstatus: active\ncreated_at: 2026-01-05\n---\n\nPush with {token}.\n"
    (finding,) = found_in(tmp_path, text)
    assert (finding.place.line, finding.place.column, finding.place.width) == (7, 11, len(token))
    assert token not in f"{finding.message}{finding.help}"


def test_secret_in_a_code_fence_is_a_warning_and_beside_it_an_error(tmp_path: Path) -> None:
    token = REAL["a GitHub token"]
    head = "---\ntype: note\nstatus: active\ncreated_at: 2026-01-05\n---\n\n"
    found = found_in(tmp_path, f"{head}```\nuse {token}\n```\n\nuse {token}\n")
    assert [(one.place.line, str(one.severity)) for one in found] == [(8, "warning"), (11, "error")]


def test_front_matter_and_unparsed_files_are_searched(tmp_path: Path) -> None:
    (finding,) = found_in(tmp_path, f"---\nx-token: {REAL['an npm token']}\nno closing fence\n")
    assert finding.message == "this looks like an npm token"
    assert finding.place.line == 2
