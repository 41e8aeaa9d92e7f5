"""The settings that somebody is told who does not see every wing."""

import tomllib

from mdmem.hub.contents import narrow_settings
from mdmem.store.settings import parse_settings

SETTINGS = """
default_wing = "vault"
budget = 900
rooms = { decision = "ways" }
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


def test_a_text_is_written_as_it_was() -> None:
    held = {"a": ['q"uote', "back\\slash", "\x7f\x01\n", "ü \U0001f600"], "b": {"c d": 1.5, "e": True}}
    content = 'a = ["q\\"uote", "back\\\\slash", "\\u007f\\u0001\\n", "ü \U0001f600"]\nb = {"c d" = 1.5, e = true}\n'
    assert tomllib.loads(content) == tomllib.loads(narrow_settings(content.encode()).decode()) == held


def test_what_cannot_be_read_is_not_told() -> None:
    assert narrow_settings(b"[wings.vault") == narrow_settings(b"\xff") == b""
