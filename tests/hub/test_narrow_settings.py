"""The settings that somebody is told who does not see every wing."""

from mdmem.hub.narrow_settings import narrow_settings
from mdmem.settings.parse import parse_settings

SETTINGS = """
default_wing = "vault"
budget = 900
rooms = { decision = "a \\"b\\" \\u007f\\\\" }
[check]
ignore = ["expired", "stale"]
severity.expired = "error"
[governance]
global_writes = false
[wings.vault]
git = "https://host/vault"
"""


def test_they_say_the_same_but_of_wings() -> None:
    narrow = narrow_settings(SETTINGS.encode())
    assert b"vault" not in narrow
    told = SETTINGS.replace('default_wing = "vault"', "").partition("[wings")[0]
    assert parse_settings(narrow) == parse_settings(told.encode())


def test_what_cannot_be_read_is_not_told() -> None:
    assert narrow_settings(b"[wings.vault") == narrow_settings(b"\xff") == b""
