"""Who may write what: agents' statuses, owners, and when a token is needed."""

from __future__ import annotations

import pytest

from mdmem.model.entry import EntryType, Status, Wing, WingKind
from mdmem.store.settings import Approvals, Settings, parse_settings
from mdmem.write.governance import approval, needs_token, owners_say, status_for_agent

ADA = "Ada <ada@example.org>"
APP = Wing(name="app", owners=(ADA, "navigation-team"))
REFUSING = Settings(approvals=Approvals.REFUSE)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (Settings(), ["draft", "draft", "active", "active"]),
        (parse_settings(b"[governance.agent_status]\ndecision = 'active'"), ["draft", "active", "active", "active"]),
    ],
)
def test_status_for_agent_is_the_settings(settings: Settings, expected: list[str]) -> None:
    assert [status_for_agent(settings, type_) for type_ in EntryType] == [Status(value) for value in expected]


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


def test_approval_by_an_owner_needs_no_remark() -> None:
    assert (approval(Settings(), APP, ADA).allowed, approval(Settings(), APP, ADA).remark) == (True, None)
    assert approval(REFUSING, APP, ADA).allowed


def test_approval_by_another_is_said_or_refused() -> None:
    sentence = (
        "`Bo <bo@example.org>` is no owner of the wing `app`; that is `Ada <ada@example.org>` or `navigation-team`"
    )
    said, refused = (approval(settings, APP, "Bo <bo@example.org>") for settings in (Settings(), REFUSING))
    assert (said.allowed, said.remark) == (True, sentence)
    assert (refused.allowed, refused.remark) == (False, sentence)


def test_approval_where_nobody_owns_the_wing_is_said_or_refused() -> None:
    sentence = "the wing `web` names no owner; write `owners` into web/README.md"
    said, refused = (approval(settings, Wing(name="web"), ADA) for settings in (Settings(), REFUSING))
    assert (said.allowed, said.remark) == (True, sentence)
    assert (refused.allowed, refused.remark) == (False, sentence)


@pytest.mark.parametrize(
    ("kind", "scope", "expected"),
    [
        (WingKind.PROJECT, "project", False),
        (WingKind.PROJECT, "focus", False),
        (WingKind.PROJECT, "global", True),
        (WingKind.SHARED, "project", True),
        (WingKind.SHARED, "focus", True),
        (WingKind.SHARED, "global", True),
    ],
)
def test_needs_token_for_shared_wings_and_global_scope(kind: WingKind, scope: str, *, expected: bool) -> None:
    assert needs_token(Wing(name="app", kind=kind), scope) is expected


def test_needs_token_where_the_wing_is_not_there_yet_or_may_be_shared() -> None:
    assert not needs_token(None, "project")
    assert needs_token(None, "global")
    assert needs_token(APP, "project", is_doubtful=True)
