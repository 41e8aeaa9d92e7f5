"""The prompts as a real client gets them: the steps over the tools that are listed, with a person's texts as data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from clients import ERAS, refusal, server_over, with_client

from mdmem.mcp.tools import PROFILES, TOOLS
from mdmem.mcp.workspaces import Provider
from mdmem.store.settings import Profile


def got(server: Any, name: str, **arguments: str) -> str:
    """Return the message of a prompt."""
    (steps,) = with_client(server, lambda client: client.get_prompt(name, arguments)).messages
    assert steps.role == "user"
    found: str = steps.content.text
    return found


@pytest.mark.parametrize("mode", ERAS)
def test_prompts_are_listed_with_their_arguments(root: Path, mode: str) -> None:
    listed = with_client(server_over(root), lambda client: client.list_prompts(), mode=mode).prompts
    assert {one.name: [(each.name, each.required) for each in one.arguments] for one in listed} == {
        "record_decision": [("decision", True), ("wing", False), ("paths", False)],
        "review_diff": [("diff", False), ("paths", False), ("wing", False)],
    }
    assert all(one.title and one.description and each.description for one in listed for each in one.arguments)


def test_steps_call_the_tools_in_this_order(root: Path) -> None:
    steps = got(server_over(root, profile="core"), "record_decision", decision="use one thread")
    assert "decision:\n```\nuse one thread\n```\n" in steps
    assert re.findall(r"^\d\. Call `(\w+)`", steps, re.MULTILINE) == ["retrieve", "search", "propose", "check"]


def test_fence_holds_any_diff_and_a_long_one_is_cut(root: Path) -> None:
    diff = "+++ b/src/a.py\n@@ -1 +1 @@\n-``` {a}\n+```` b\n"
    assert f"diff:\n`````\n{diff}\n`````\n" in got(server_over(root), "review_diff", diff=diff)
    steps = got(server_over(root), "review_diff", diff="+++ b/src/a.py\n" + "+ x\n" * 20_000)
    assert "(cut at the most that a client accepts;" in steps
    assert len(steps) < 20_000


@pytest.mark.parametrize("profile", PROFILES)
def test_steps_name_no_tool_that_the_profile_does_not_list(root: Path, profile: str) -> None:
    server = server_over(root, profile=profile)
    for name, arguments in (("record_decision", {"decision": "x"}), ("review_diff", {})):
        steps = got(server, name, **arguments)
        assert set(re.findall(r"`(\w+)`", steps)) & set(TOOLS) <= set(PROFILES[Profile(profile)])
        assert "{" not in steps


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("onboard", {}, "Unknown prompt: onboard"),
        ("record_decision", {}, "Missing required arguments: {'decision'}"),
        ("review_diff", {"dif": "x"}, "Error rendering prompt review_diff"),
    ],
)
def test_a_call_that_does_not_fit_is_an_error_of_the_caller(
    name: str, arguments: dict[str, str], said: str, root: Path
) -> None:
    code, message = refusal(server_over(root), lambda client: client.get_prompt(name, arguments))
    assert (code, said in message) == (-32602, True)


def test_steps_need_no_memory(nowhere: Provider) -> None:
    assert got(server_over(nowhere), "review_diff").startswith("Review a change of code")
