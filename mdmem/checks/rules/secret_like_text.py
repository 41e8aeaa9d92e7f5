"""The file holds what looks like a key, a token or a password.

Memory is replayed to models and pushed to every clone, so a secret in it is known to all of them, and git keeps it
after it was removed. Only what is almost surely real is named: the formats of well-known services, private keys,
passwords in URLs, and random values that are assigned to a name such as `password`. Placeholders (`<token>`,
`${TOKEN}`, `xxxx`, `example`) are fine. In a code fence it is a warning: what stands there mostly is a sample.

Fails:

    DATABASE_URL=postgres://orders:<a real password>@db.internal/orders

Fix: revoke it first, then write where it is kept instead of what it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from mdmem.checks.case import Case
from mdmem.checks.secrets import Secret, find_secrets
from mdmem.markdown.parse import Document, without_fenced
from mdmem.model.finding import Finding, Severity

CODE = "secret-like-text"
SEVERITY = Severity.ERROR


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding for each secret, in files that cannot be parsed too; it never repeats the secret."""
    for address, document in case.documents:
        for secret in find_secrets(document.text):
            place = document.text_place(secret.offset, secret.width)
            help_ = "revoke it, then write where it is kept instead"
            weight = Severity.WARNING if _is_fenced(document, secret) else None
            message = f"what looks like {secret.kind}"
            # One secret in the place of another is a new one; of a message that names it a log would tell.
            text = document.text[secret.offset :][: secret.width]
            unsaid = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            yield Finding(CODE, message, place, help_, address, severity=weight, quotable=False, unsaid=unsaid)


def _is_fenced(document: Document, secret: Secret) -> bool:
    """Say whether a secret stands in fenced code, which is blanked out of the prose."""
    start = len(document.text) - len(document.body)
    written = document.body[max(0, secret.offset - start) :][: secret.width]
    return secret.offset >= start and without_fenced(document.body)[secret.offset - start :][: len(written)] != written
