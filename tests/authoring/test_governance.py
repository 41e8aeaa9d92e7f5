"""Who may write what: agents' statuses, owners, and when a token is needed."""

from __future__ import annotations

import pytest

from mdmem.model.entry import Wing
from mdmem.store.settings import Approvals, Settings
from mdmem.write.governance import approval, owners_say

ADA = "Ada <ada@example.org>"
APP = Wing(name="app", owners=(ADA, "navigation-team"))
REFUSING = Settings(approvals=Approvals.REFUSE)


@pytest.mark.parametrize(
    ("person", "expected"),
    [
        (ADA, True),
        ("Ada Byron <ADA@example.org>", True),
        ("ada", True),
        ("ada@example.org", True),
        ("Navigation-Team", True),
        ("Ada <other@example.org>", False),
        ("", False),
    ],
)
def test_owners_say_by_name_or_email(person: str, *, expected: bool) -> None:
    assert owners_say(APP, person) is expected


def test_approval_where_nobody_owns_the_wing_is_said_or_refused() -> None:
    sentence = "the wing `web` names no owner; write `owners` into web/README.md"
    said, refused = (approval(settings, Wing(name="web"), ADA) for settings in (Settings(), REFUSING))
    assert (said.allowed, said.remark) == (True, sentence)
    assert (refused.allowed, refused.remark) == (False, sentence)
