"""What the settings say of a wing that lives in another repository, and the writing of its commit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.errors import SettingsError
from mdmem.settings import parse_settings
from mdmem.settings.pins import with_pin

OLD, NEW = "b" * 40, "a" * 40


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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('git = "ext::sh -c touch% x"', "`wings.ros2.git` must use one of `file`, `git`, `http`, `https`, `ssh`"),
        ('git = "ftp://git.example.org/x"', "must use one of"),
        ('git = "--upload-pack=touch x"', "must be the URL or the path of a repository"),
        ('git = "x\\ny"', "must be the URL or the path of a repository"),
        ('git = ""', "`wings.ros2.git` must be a text"),
        ('git = "https://ada:secret@git.example.org/x"', "holds a password; leave it to git's credential helper"),
        ('git = "../x"\nref = "--all"', "`wings.ros2.ref` must be the name of a branch or a tag"),
        ('git = "../x"\nref = "main:refs/heads/x"', "`wings.ros2.ref` must be the name of a branch or a tag"),
        ('git = "../x"\nref = "a..b"', "`wings.ros2.ref` must be the name of a branch or a tag"),
        ('git = "../x"\ncommit = "abc1234"', "`wings.ros2.commit` must be the whole name of a commit"),
        ('git = "../x"\npath = "../y"', "`wings.ros2.path` must be a path below the root"),
        ('ref = "main"', "`wings.ros2.ref` is about another repository; name it with `wings.ros2.git`"),
        ('gti = "../x"', "unknown key `wings.ros2.gti`; did you mean `wings.ros2.git`?"),
    ],
)
def test_what_git_could_take_for_something_else_is_refused(line: str, said: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_settings(f"[wings.ros2]\n{line}\n".encode())
    assert said in str(raised.value)
    assert "secret" not in str(raised.value)


def test_name_of_a_wing_from_elsewhere_is_one_of_a_wing() -> None:
    with pytest.raises(SettingsError, match=r"`wings\.Ros-2` must be the name of a wing"):
        parse_settings(b'[wings.Ros-2]\ngit = "../x"\n')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[wings.ros2]\ngit = "../x" # ours\n', f'[wings.ros2]\ngit = "../x" # ours\ncommit = "{NEW}"\n'),
        (
            f'[wings.ros2]\r\ngit = "../x"\r\ncommit = "{OLD}" # seen\r\n',
            f'[wings.ros2]\r\ngit = "../x"\r\ncommit = "{NEW}" # seen\r\n',
        ),
        (
            '[wings.ros2]\n  git = "../x"\n  ref = "v1"\n[check]\nfail_on = "error"\n',
            f'[wings.ros2]\n  git = "../x"\n  ref = "v1"\n  commit = "{NEW}"\n[check]\nfail_on = "error"\n',
        ),
        ('wings.ros2.git = "../x"', f'wings.ros2.git = "../x"\nwings.ros2.commit = "{NEW}"'),
        (
            '[wings]\nros2 = { git = "../x", ref = "v1" }\n',
            f'[wings]\nros2 = {{ git = "../x", commit = "{NEW}", ref = "v1" }}\n',
        ),
        (
            f'[wings.a]\ngit = "../a"\ncommit = "{OLD}"\n[wings.ros2]\ngit = "../x"\ncommit = "{OLD}"\n',
            f'[wings.a]\ngit = "../a"\ncommit = "{OLD}"\n[wings.ros2]\ngit = "../x"\ncommit = "{NEW}"\n',
        ),
        (f'\ufeff[wings.ros2]\ngit = "../x"\ncommit = "{NEW}"', f'\ufeff[wings.ros2]\ngit = "../x"\ncommit = "{NEW}"'),
    ],
)
def test_pin_changes_one_line(before: str, after: str) -> None:
    assert with_pin(before.encode(), "ros2", NEW) == after.encode()


def test_pin_that_cannot_be_written_for_certain_is_left_to_people() -> None:
    odd = f'[wings.ros2]\ngit = "../x"\ncommit = """{OLD}"""\n'
    with pytest.raises(
        SettingsError, match=r"mdmem\.toml:2: `wings\.ros2` cannot be pinned for certain; write `commit"
    ):
        with_pin(odd.encode(), "ros2", NEW)


TABLES = ("[check]", 'fail_on = "error"', "# commit = 1", "", '[wings.other]\ngit = "../o"', "[wings.ros2.check]")


@given(st.permutations(TABLES), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_pin_keeps_every_other_line(parts: list[str], newline: str, has_ref: bool) -> None:
    table = '[wings.ros2]\ngit = "../x"' + ('\nref = "main"' if has_ref else "")
    lines = [table, *(part for part in parts if "fail_on" not in part)]
    before = "\n".join(lines).replace("\n", newline).encode()
    after = with_pin(before, "ros2", NEW)
    pin = f'{newline}commit = "{NEW}"'.encode()
    assert after.replace(pin, b"", 1) == before
    assert with_pin(after, "ros2", NEW) == after
