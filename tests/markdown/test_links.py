"""Cross-references in a body: the three forms, where they stand, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.markdown.parse import BodyLink, body_links, may_have_links, without_code


@pytest.mark.parametrize(
    ("prose", "links"),
    [
        ("[see: w/r/e]", [BodyLink("w/r/e", 6, 5, False)]),
        ("[See:w/r/e ]", [BodyLink("w/r/e", 5, 5, False)]),
        ("[see: w/r/a, w/r/b]", [BodyLink("w/r/a", 6, 5, False), BodyLink("w/r/b", 13, 5, False)]),
        ("[see:\n  w/r/e\n]", [BodyLink("w/r/e", 8, 5, False)]),
        ("[[w/r/e]]", [BodyLink("w/r/e", 2, 5, False)]),
        ("[[w/r/e|the rule]]", [BodyLink("w/r/e", 2, 5, False)]),
        ("[[w/r/e#part]]", [BodyLink("w/r/e", 2, 5, False)]),
        ("[the rule](../r/e.md)", [BodyLink("../r/e.md", 11, 9, True)]),
        ('[rule](e.md "its title")', [BodyLink("e.md", 7, 4, True)]),
        ("[rule](<e.md>)", [BodyLink("e.md", 8, 4, True)]),
        ("[rule](e.md#part)", [BodyLink("e.md", 7, 9, True)]),
        ("[rule](my%20rule.md)", [BodyLink("my rule.md", 7, 12, True)]),
        ("[rule](a&b.md)", [BodyLink("a&b.md", 7, 6, True)]),
        ("[rule](<my rule.md>)", [BodyLink("my rule.md", 8, 10, True)]),
        ("[rule](a\\(b.md)", [BodyLink("a(b.md", 7, 7, True)]),
        ("[rule](a(b).md 'its title')", [BodyLink("a(b).md", 7, 7, True)]),
        ("[rule]: e.md", [BodyLink("e.md", 8, 4, True)]),
        (
            "[a](b.md) [rule]\n\n[rule]: <e f.md> 'title'\n",
            [BodyLink("b.md", 4, 4, True), BodyLink("e f.md", 27, 6, True)],
        ),
        ("🙂 [[w/r/e]]", [BodyLink("w/r/e", 4, 5, False)]),
        ("[a] [[w/r/e]] [b](c.md)", [BodyLink("w/r/e", 6, 5, False), BodyLink("c.md", 18, 4, True)]),
    ],
)
def test_link_is_found_at_its_place(prose: str, links: list[BodyLink]) -> None:
    assert list(body_links(prose)) == links


@pytest.mark.parametrize(
    "prose",
    [
        "no bracket",
        "[a]",
        "[x] done",
        "[text](https://example.org/a.md)",
        "[text](mailto:a@example.org)",
        "[text](//example.org/a)",
        "[text](#part)",
        "![image](diagram.png)",
        "[see: ]",
        "[rule]: https://example.org/a.md",
        "[^1]: e.md",
        "[rule]: some prose about e.md",
        "a[0][1]",
        "[[]]",
        without_code("`[[w/r/e]]`"),
        without_code("```\n[see: w/r/e]\n```\n"),
    ],
)
def test_no_link_is_found_in_what_only_looks_like_one(prose: str) -> None:
    assert list(body_links(prose)) == []


SIGNS = [*"[]() \n`a<>|", "](", "[[", "]]", "]:", "[see:", "``", "```\n", "b.md", '"t"']


@given(st.lists(st.sampled_from(SIGNS), max_size=20).map("".join))
def test_body_that_can_hold_no_reference_holds_none(body: str) -> None:
    assert may_have_links(body) or not list(body_links(without_code(body)))
