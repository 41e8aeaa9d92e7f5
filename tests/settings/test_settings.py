"""The settings: each key, each wrong value with a sentence that names it, and the nearest for a misspelt one."""

import pytest

from mdmem.errors import SettingsError
from mdmem.finding import Severity
from mdmem.settings import Approvals, Ended, Settings, WingSettings, parse_settings


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


def test_settings_read_what_governs_writes() -> None:
    content = b"""
default_shared_wing = "commons"
commit = true
[rooms]
session = "log"
[governance]
approvals = "refuse"
global_writes = false
token_seconds = 5
"""
    rooms = {"decision": "architecture", "pattern": "conventions", "context": "context"}
    assert parse_settings(content) == Settings(
        default_shared_wing="commons",
        commit=True,
        rooms={**rooms, "session": "log", "entity": "entities"},
        approvals=Approvals.REFUSE,
        global_writes=False,
        token_seconds=5,
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
        (b"commit = 1", "mdmem.toml: `commit` must be true or false, found 1"),
        (
            b"default_shared_wing = '../up'",
            "mdmem.toml: `default_shared_wing` must be the name of a wing, such as `shared`, found '../up'",
        ),
        (b"rooms = 'a'", "mdmem.toml: `rooms` must be a table, found 'a'"),
        (
            b"[rooms]\nsesion = 'log'",
            "mdmem.toml has an unknown key `rooms.sesion`; did you mean `rooms.session`?",
        ),
        (
            b"[rooms]\nzzz = 'log'",
            "mdmem.toml has an unknown key `rooms.zzz`; known kinds are decision, pattern, context, session, entity",
        ),
        (
            b"[rooms]\nsession = 'My_Log'",
            "mdmem.toml: `rooms.session` must be the name of a room, such as `anti-patterns`, found 'My_Log'",
        ),
        (
            b"[governance]\ntoken_seconds = 0",
            "mdmem.toml: `governance.token_seconds` must be a whole number of seconds from 1 to 86400, found 0",
        ),
        (
            b"[governance]\napprovals = 'no'",
            "mdmem.toml: `governance.approvals` must be one of `say`, `refuse`, found 'no'",
        ),
        (
            b"[governance]\nglobal_write = true",
            "mdmem.toml has an unknown key `governance.global_write`; did you mean `governance.global_writes`?",
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
        SettingsError,
        match=r"known keys are budget, check\.baseline, .*default_wing, .*, wings\.NAME\.check, wings\.NAME\.git$",
    ):
        parse_settings(b"zzz = 1")


def test_settings_read_the_tables_of_wings() -> None:
    content = b"""
[check]
ended = "same"
baseline = ".known.json"
[wings.app.check]
select = ["expired"]
ignore = ["self-link"]
severity = {expired = "info"}
[wings.shop]
"""
    assert parse_settings(content) == Settings(
        ended=Ended.SAME,
        baseline=".known.json",
        wings={
            "app": WingSettings(select=("expired",), ignore=("self-link",), severity={"expired": Severity.INFO}),
            "shop": WingSettings(),
        },
    )


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        (
            b"[check]\nselect = []\n[wings.app.check]\nselct = []",
            4,
            "mdmem.toml has an unknown key `wings.app.check.selct`; did you mean `wings.app.check.select`?",
        ),
        (
            b"[wings.app]\nchek = {}",
            2,
            "mdmem.toml has an unknown key `wings.app.chek`; did you mean `wings.app.check`?",
        ),
        (
            b"[wings.app]\nzz = 1",
            2,
            (
                "mdmem.toml has an unknown key `wings.app.zz`; known keys are wings.app.check.ignore, "
                "wings.app.check.select, wings.app.check.severity, wings.app.commit, wings.app.git, wings.app.path, "
                "wings.app.ref"
            ),
        ),
        (b"[wing.app.check]\nselect = []", 1, "mdmem.toml has an unknown key `wing`; did you mean `wings`?"),
        (b"budget = 1\nwings = 3", 2, "mdmem.toml: `wings` must be a table, found 3"),
        (b"[wings]\napp = 'x'", 2, "mdmem.toml: `wings.app` must be a table, found 'x'"),
        (
            b"[check]\nselect = []\n[wings.app.check]\nselect = 'expired'",
            4,
            "mdmem.toml: `wings.app.check.select` must be a list of texts, found 'expired'",
        ),
        (
            b"[wings.app.check.severity]\nexpired = 'bad'",
            1,
            "mdmem.toml: `wings.app.check.severity.expired` must be one of `error`, `warning`, `info`, found 'bad'",
        ),
        (
            b"[check]\n\nended = 'none'",
            3,
            "mdmem.toml: `check.ended` must be one of `lower`, `same`, found 'none'",
        ),
    ],
)
def test_settings_of_a_wing_are_refused_with_a_sentence_and_the_line(content: bytes, line: int, sentence: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(content)
    assert (str(caught.value), caught.value.line) == (sentence, line)


@pytest.mark.parametrize("path", ["/known.json", "../known.json", "a/../b", "./a", "a//b", "C:/a", r"a\b"])
def test_baseline_that_is_not_below_the_root_is_refused(path: str) -> None:
    with pytest.raises(SettingsError, match=r"^mdmem\.toml: `check\.baseline` must be a path below the root, such as"):
        parse_settings(f"[check]\nbaseline = '{path}'".encode())


def test_settings_with_a_fault_keep_what_can_be_read() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(b"budget = 7\n[wings.app.check]\nignore = ['expired']\nselct = []\n")
    assert caught.value.readable == Settings(budget=7, wings={"app": WingSettings(ignore=("expired",))})


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("check.ignore", "", 2),
        ("check.ignore", "b", 4),
        ("check.severity.c", "", 7),
        ("wings.app.check.ignore", "d", 9),
        ("wings.app", "", 8),
        ("wings.shop", "", 10),
        ("budget", "", 1),
        ("check.severity.d", "", 6),
        ("wings.app.check.select", "", 8),
    ],
)
def test_line_of_a_key_or_a_value_is_where_the_file_sets_it(key: str, value: str, line: int) -> None:
    content = b"""# ignore
check.ignore = [
  "a",
  'b', # "d"
]
[check.severity]
c = "info"
[wings.app.check]
ignore = ["d"]
[wings."shop"]
"""
    assert Settings(source=content).line_of(key, value) == line
