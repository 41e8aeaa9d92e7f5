"""The settings: each key, each wrong value with a sentence that names it, and the nearest for a misspelt one."""

import pytest

from mdmem.errors import SettingsError
from mdmem.finding import Severity
from mdmem.settings import Settings, parse_settings


@pytest.mark.parametrize("content", [b"", b"\n# nothing\n", b"\xef\xbb\xbf", b"[check]\n"])
def test_settings_are_the_defaults_when_nothing_is_set(content: bytes) -> None:
    assert parse_settings(content) == Settings()


def test_settings_read_every_key() -> None:
    content = b"""
default_wing = "navigation"
budget = 0
[check]
fail_on = "warning"
select = ["not-utf8"]
ignore = ["expired", "self-link"]
review_after_days = 90
severity = {expired = "error", not-iso = "info"}
[check.entry_tokens]
note = 800
"""
    assert parse_settings(content) == Settings(
        default_wing="navigation",
        budget=0,
        fail_on=Severity.WARNING,
        select=("not-utf8",),
        ignore=("expired", "self-link"),
        review_after_days=90,
        severity={"expired": Severity.ERROR, "not-iso": Severity.INFO},
        entry_tokens={"note": 800},
    )


def test_settings_are_read_with_crlf_and_a_byte_order_mark() -> None:
    assert parse_settings(b'\xef\xbb\xbfbudget = 7\r\ndefault_wing = "a"\r\n') == Settings(budget=7, default_wing="a")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"bugdet = 1", "mdmem.toml has an unknown key `bugdet`; did you mean `budget`?"),
        (
            b"[check]\nfail_one = 'error'",
            "mdmem.toml has an unknown key `check.fail_one`; did you mean `check.fail_on`?",
        ),
        (b"budget = '1'", "mdmem.toml: `budget` must be a whole number from 0, found '1'"),
        (b"budget = -1", "mdmem.toml: `budget` must be a whole number from 0, found -1"),
        (b"budget = true", "mdmem.toml: `budget` must be a whole number from 0, found True"),
        (b"budget = 1.5", "mdmem.toml: `budget` must be a whole number from 0, found 1.5"),
        (b"default_wing = ''", "mdmem.toml: `default_wing` must be a text, found ''"),
        (b"default_wing = ['a']", "mdmem.toml: `default_wing` must be a text, found ['a']"),
        (
            b"[check]\nfail_on = 'fatal'",
            "mdmem.toml: `check.fail_on` must be one of `error`, `warning`, `info`, found 'fatal'",
        ),
        (
            b"[check.severity]\nexpired = 1",
            "mdmem.toml: `check.severity.expired` must be one of `error`, `warning`, `info`, found 1",
        ),
        (b"[check]\nseverity = 'error'", "mdmem.toml: `check.severity` must be a table, found 'error'"),
        (b"[check]\nignore = 'expired'", "mdmem.toml: `check.ignore` must be a list of texts, found 'expired'"),
        (b"[check]\nselect = [1]", "mdmem.toml: `check.select` must be a list of texts, found [1]"),
        (
            b"[check.entry_tokens]\nnote = -1",
            "mdmem.toml: `check.entry_tokens.note` must be a whole number from 0, found -1",
        ),
        (b"budget = 1 # \xff", "mdmem.toml is not UTF-8 at byte 13; save it as UTF-8"),
        (b"budget = 1\nbudget = 2", "mdmem.toml cannot be read: Cannot overwrite a value (at end of document)"),
    ],
)
def test_settings_are_refused_with_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(content)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "content", [b"a = " + b"[" * 10_000, b"budget = " + b"9" * 10_000, b"budget", b"[check", b"\x00"]
)
def test_settings_that_are_no_toml_are_refused(content: bytes) -> None:
    with pytest.raises(SettingsError, match=r"^mdmem\.toml cannot be read: "):
        parse_settings(content)


def test_settings_with_an_unknown_key_and_none_near_list_the_known_ones() -> None:
    with pytest.raises(
        SettingsError, match=r"known keys are budget, check\.entry_tokens, check\.fail_on, .*default_wing"
    ):
        parse_settings(b"zzz = 1")
