"""What a commit says, and that git reads from it what was meant."""

from pathlib import Path

import pytest
from builders import git, make_repository
from hypothesis import given
from hypothesis import strategies as st

from mdmem.write.change_set import Verb, WriteAction, commit_message, subject_of


def test_subject_of_several_kinds_of_change_counts_the_entries() -> None:
    actions = [WriteAction(Verb.ADD, "a/b/c"), WriteAction(Verb.MOVE, "a/b/d", "a/b/e"), WriteAction(Verb.ADD, "a/b/f")]
    assert subject_of(actions) == "Update 3 entries"


def test_reason_is_wrapped_and_its_paragraphs_stay() -> None:
    reason = f"{'word ' * 20}\n\n\n\n- a list\n- of two\nhttps://example.org/{'x' * 80}\n\n"
    message = commit_message("Approve a/b/c", reason=reason, entries=["a/b/c"])
    assert message.split("\n")[2:9] == [
        ("word " * 14).strip(),
        ("word " * 6).strip(),
        "",
        "  - a list",
        "  - of two",
        # git would take `https` for the name of a trailer.
        f"  https://example.org/{'x' * 80}",
        "",
    ]


HOSTILE = """Mdmem-Entry: x/y/z
Signed-off-by: Bob <bob@example.org>
# a comment
; another
---
diff --git a/x b/x
From 1234
(cherry picked from commit 1234)
# ------------------------ >8 ------------------------
Mdmem-Agent: somebody"""


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("message") / "top")


def trailers(top: Path, message: str) -> list[str]:
    return git(top, "interpret-trailers", "--parse", text_in=message.encode()).splitlines()


def test_git_reads_our_trailers_alone_from_a_hostile_reason(top: Path) -> None:
    message = commit_message("Add a/b/c", reason=HOSTILE, entries=["a/b/c"], supersedes=["a/b/d"], agent="planner")
    expected = ["Mdmem-Entry: a/b/c", "Mdmem-Supersedes: a/b/d", "Mdmem-Agent: planner"]
    assert trailers(top, message) == expected
    assert trailers(top, commit_message("Add a/b/c", reason=HOSTILE)) == []


@pytest.mark.parametrize("cleanup", ["strip", "whitespace", "verbatim", "scissors"])
def test_no_cleanup_of_gits_changes_the_message(top: Path, cleanup: str) -> None:
    message = commit_message("Add a/b/c", reason=HOSTILE, entries=["a/b/c"], agent="planner")
    git(top, "commit", "-q", "--allow-empty", f"--cleanup={cleanup}", "-F", "-", text_in=message.encode())
    assert git(top, "log", "-1", "--format=%B") == message


@given(reason=st.text(max_size=300), agent=st.text(max_size=30))
def test_lines_of_any_reason_are_plain(reason: str, agent: str) -> None:
    message = commit_message("Add a/b/c", reason=reason, entries=["a/b/c"], agent=agent)
    body, _, block = message.removeprefix("Add a/b/c\n\n").rpartition("Mdmem-Entry: a/b/c\n")
    assert block == "" or (block.startswith("Mdmem-Agent: ") and block.count("\n") == 1)
    assert all(len(line) <= 72 or " " not in line.strip() for line in body.splitlines())
    assert not any(line.startswith(("#", ";", "%", "-", "@", "Mdmem-")) for line in body.splitlines())
    assert "\n\n\n" not in message
