"""The help of a dangling link: the addresses that may be meant, the likeliest first."""

from __future__ import annotations

import re

import pytest
from trees import HeldTree, case_of

from mdmem.checks.engine import run_checks

HEAD = b"---\ntype: note\nstatus: active\ncreated_at: 2026-03-05\n"
ADDRESSES = (
    "react/anti-patterns/index-as-key",
    "react/forms/uncontrolled-forms-by-default",
    "react/rules/a",
    "ros2/anti-patterns/index-as-key",
    "ros2/rules/adr-12",
    "shop/forms/checkout",
)


@pytest.mark.parametrize(
    ("source", "written", "meant"),
    [
        ("shop/forms/checkout", "react/anti-patterns/indx-as-key", ["react/anti-patterns/index-as-key"]),
        (
            "shop/forms/checkout",
            "ros2/conventions/index-as-key.md",
            ["ros2/anti-patterns/index-as-key", "react/anti-patterns/index-as-key"],
        ),
        ("react/rules/a", "uncontroled-forms-by-default", ["react/forms/uncontrolled-forms-by-default"]),
        ("ros2/rules/adr-12", "ros2/rules/adr-13", []),
        ("shop/forms/checkout", "shop/forms/checkot", []),
    ],
    ids=["a typo", "the entry-id elsewhere", "a short link of its wing", "another number", "the entry itself"],
)
def test_help_of_a_dangling_link_names_the_nearest_addresses(source: str, written: str, meant: list[str]) -> None:
    files = {f"{address}.md": HEAD + b"---\n\nText.\n" for address in ADDRESSES}
    files[f"{source}.md"] = HEAD + f"see: [{written}]\n---\n\nText.\n".encode()
    (found,) = run_checks(case_of(HeldTree(files)), ["dangling-link"])
    assert re.findall(r"`([^` ]+/[^` ]+)`", found.help) == meant
