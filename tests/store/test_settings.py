"""Test the settings: each key, the message for each wrong value, and the keys of wings from elsewhere."""

import pytest
from golden import GoldenCase, bytes_of, each_case
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mdmem.errors import SettingsError
from mdmem.model.finding import Severity
from mdmem.store.settings import Settings, WingSettings, parse_settings, with_key


def stated(content: bytes) -> Settings:
    """Return the values of the settings, without the text."""
    return replace(parse_settings(content), source=b"")


@pytest.mark.parametrize("content", [b"", b"\n# nothing\n", b"\xef\xbb\xbf", b"[check]\n"])
def test_settings_are_the_defaults_when_nothing_is_set(content: bytes) -> None:
    assert stated(content) == Settings()


COMMON = {"decision": "architecture", "pattern": "conventions", "context": "context", "entity": "entities"}
SEVERITIES = {"expired": Severity.ERROR, "not-iso": Severity.INFO}
OWN = WingSettings(select=("expired",), ignore=("self-link",), severity={"expired": Severity.INFO})


@pytest.mark.parametrize(
    ("content", "name", "value"),
    [
        ("default_wing = 'navigation'", "default_wing", "navigation"),
        ("budget = 0", "budget", 0),
        ("[rooms]\nsession = 'log'", "rooms", {**COMMON, "session": "log"}),
        ("[check]\nfail_on = 'warning'", "fail_on", Severity.WARNING),
        ("check.ended = 'same'", "ended", "same"),
        ("[check]\nbaseline = '.known.json'", "baseline", ".known.json"),
        ("[check]\nignore = ['expired', 'self-link']", "ignore", ("expired", "self-link")),
        ("[check]\nseverity = {expired = 'error', not-iso = 'info'}", "severity", SEVERITIES),
        ("[check.entry_tokens]\nnote = 800", "entry_tokens", {"note": 800}),
        ("[governance]\napprovals = 'refuse'", "approvals", "refuse"),
        ("[governance]\nglobal_writes = false", "global_writes", False),
        ("[site]\ndiff_url = 'https://x.example/{change}'", "diff_url", "https://x.example/{change}"),
        (
            "[wings.app.check]\nselect = ['expired']\nignore = ['self-link']\nseverity.expired = 'info'\n[wings.shop]",
            "wings",
            {"app": OWN, "shop": WingSettings()},
        ),
    ],
)
def test_settings_read_each_key(content: str, name: str, value: object) -> None:
    assert getattr(parse_settings(content.encode()), name) == value


def test_settings_are_read_with_crlf_and_a_byte_order_mark() -> None:
    assert stated(b'\xef\xbb\xbfbudget = 7\r\ndefault_wing = "a"\r\n') == Settings(budget=7, default_wing="a")


@each_case("settings/refused.txt")
def test_settings_are_refused_with_a_sentence_and_the_line(case: GoldenCase) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(bytes_of(case.before))
    assert (f"{caught.value.line}: {caught.value}",) == case.says


NO_TOML = [b"a = " + b"[" * 10_000, b".".join([b"a"] * 3000) + b" = 1\n", b"a = [{b = 0x8000000000000000}]"]
NO_TOML += [b"budget = " + b"9" * 10_000, b"[check", b"\x00"]
# The first unknown key is named.
UNKNOWN = "[rooms]\n" + "".join(f"zz{letter} = 'a'\n" for letter in "qwertyuiopasdfghjklmnbvcxz")
NOT_BELOW = ["/known.json", "../known.json", "a/../b", "./a", "a//b", "C:/a", r"a\b"]
BASELINE = r": `check\.baseline` must be a path below the root, such as"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *((content, " cannot be read: ") for content in NO_TOML),
        *((f"[check]\nbaseline = '{path}'".encode(), BASELINE) for path in NOT_BELOW),
        (UNKNOWN.encode(), r" has an unknown key `rooms\.zzq`; `mdmem guide settings` lists"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(content: bytes, said: str) -> None:
    with pytest.raises(SettingsError, match=rf"^mdmem\.toml{said}"):
        parse_settings(content)


def test_settings_with_a_fault_keep_what_can_be_read() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(b"budget = 7\n[wings.app.check]\nignore = ['expired']\nselct = []\n")
    readable = caught.value.readable
    assert isinstance(readable, Settings)
    assert (readable.budget, readable.wings) == (7, {"app": WingSettings(ignore=("expired",))})


@pytest.mark.parametrize(
    ("key", "line"),
    [
        *(("check.ignore", 2), ("check.severity.c", 7), ("wings.app.check.ignore", 9), ("wings.app", 8)),
        *(("wings.shop", 10), ("budget", 1), ("check.severity.d", 6), ("wings.app.check.select", 8)),
    ],
)
def test_line_of_a_key_is_where_the_file_sets_it(key: str, line: int) -> None:
    content = b"""# ignore
check.ignore = [
  "a",
  'b',
]
[check.severity]
c = "info"
[wings.app.check]
ignore = ["d"]
[wings."shop"]
"""
    assert Settings(source=content).line_of(key) == line


KEY, OLD, NEW = "wings.ros2.commit", "b" * 40, "a" * 40


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.org/ros2.git",
        "ssh://git@git.example.org:22/ros2.git",
        "git@git.example.org:team/ros2.git",
        "file:///srv/ros2.git",
        "../../ros2-memory",
        "/srv/ros2.git",
    ],
)
def test_repository_is_a_url_or_a_path(url: str) -> None:
    wing = parse_settings(f'[wings.ros2]\ngit = "{url}"\n'.encode()).remote_wings["ros2"]
    assert (wing.git, wing.ref, wing.commit) == (url, None, None)


@each_case("settings/pins.txt")
def test_pin_changes_one_line(case: GoldenCase) -> None:
    after = with_key(bytes_of(case.before), KEY, NEW)
    assert after == bytes_of(case.after)
    assert case.says == (() if case.before != case.after else ("no change",))


def test_pin_that_cannot_be_written_for_certain_is_left_to_people() -> None:
    odd = f'[wings.ros2]\ngit = "../x"\ncommit = """{OLD}"""\n'
    said = r"toml:1: mdmem cannot set `wings\.ros2\.commit` without changing something else; set it to"
    with pytest.raises(SettingsError, match=said):
        with_key(odd.encode(), KEY, NEW)


TABLES = ("[check]", 'fail_on = "error"', "# commit = 1", "", '[wings.other]\ngit = "../o"', "[wings.ros2.check]")


@given(st.permutations(TABLES), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_pin_keeps_every_other_line(parts: list[str], newline: str, has_ref: bool) -> None:
    table = '[wings.ros2]\ngit = "../x"' + ('\nref = "main"' if has_ref else "")
    lines = [table, *(part for part in parts if "fail_on" not in part)]
    before = "\n".join(lines).replace("\n", newline).encode()
    after = with_key(before, KEY, NEW)
    pin = f'{newline}commit = "{NEW}"'.encode()
    assert after.replace(pin, b"", 1) == before
    assert with_key(after, KEY, NEW) == after
