"""What the settings say of a wing that lives in another repository, and the writing of its commit.

What is refused of one, so that git takes nothing for something else, is in tests/data/settings/refused.txt.
"""

from __future__ import annotations

import pytest
from golden import GoldenCase, bytes_of, each_case
from hypothesis import given
from hypothesis import strategies as st

from mdmem.errors import SettingsError
from mdmem.store.settings import parse_settings, with_key

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
    stated = parse_settings(f'[wings.ros2]\ngit = "{url}"\n'.encode()).remote_wings["ros2"]
    assert (stated.git, stated.ref, stated.commit) == (url, None, None)


@each_case("settings/pins.txt")
def test_pin_changes_one_line(case: GoldenCase) -> None:
    after = with_key(bytes_of(case.before), KEY, NEW)
    assert after == bytes_of(case.after)
    assert case.says == (() if case.before != case.after else ("no change",))


def test_pin_that_cannot_be_written_for_certain_is_left_to_people() -> None:
    odd = f'[wings.ros2]\ngit = "../x"\ncommit = """{OLD}"""\n'
    with pytest.raises(SettingsError, match=r"toml:1: the place for `wings\.ros2\.commit` is unclear; write `com"):
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
