"""An answer page by page: nothing is lost, nothing is too large, and what binds comes first."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmem.errors import UsageError
from mdmem.mcp.answers import told
from mdmem.mcp.pages import VIEW, Page, page_of
from mdmem.mcp.tools.core import is_invariant

_ANSWER = {"query": "x", "hits": [{"address": f"nav/a/e{number}", "content": "word " * 60} for number in range(40)]}


def in_two_forms(facts: dict[str, Any]) -> Page:
    return Page(told(facts), facts)


def pages(answer: dict[str, Any], *, limit: int = 2_000, **options: Any) -> list[Page]:
    options = {"show": in_two_forms, **options}
    found = [page_of(answer, limit=limit, **options)]
    while "cursor" in found[-1].facts:
        found.append(page_of(answer, limit=limit, cursor=found[-1].facts["cursor"], **options))
    return found


def first(answer: dict[str, Any], *, limit: int = 2_000, **options: Any) -> Page:
    return page_of(answer, limit=limit, **{"show": in_two_forms, **options})


def test_a_short_answer_is_one_page_without_marks() -> None:
    page = first({"a": 1, "hits": ["x"]}, limit=2_000)
    assert page.facts == {"a": 1, "hits": ["x"]}


def test_a_long_answer_is_cut_and_goes_on_at_its_cursor() -> None:
    found = pages(_ANSWER)
    assert [hit for page in found for hit in page.facts["hits"]] == _ANSWER["hits"]
    assert found[0].facts["truncated"] is True
    assert "truncated" not in found[-1].facts


def test_every_page_keeps_to_the_limit_in_both_forms() -> None:
    assert [page for page in pages(_ANSWER) if page.size > 2_000] == []


def test_a_page_is_filled_and_no_member_is_split_that_fits_one() -> None:
    found = pages(_ANSWER)
    least = min(len(json.dumps(hit)) for hit in _ANSWER["hits"])
    assert [page for page in found[:-1] if page.size + 1.2 * least < 2_000] == []
    assert [hit for page in found for hit in page.facts["hits"] if "part" in hit] == []


def test_items_of_a_group_stand_below_its_head_on_each_page() -> None:
    items = [{"id": f"n{number}", "type": "note", "content": "x" * 500} for number in range(6)]
    found = pages({"sections": [{"facet": "gotchas", "items": items[:5]}, {"facet": "domain", "items": items[5:]}]})
    facets = [[section["facet"] for section in page.facts["sections"]] for page in found]
    assert (facets[0], facets[-1]) == (["gotchas"], ["gotchas", "domain"])
    assert [item for page in found for section in page.facts["sections"] for item in section["items"]] == items


def test_each_page_has_the_view_of_what_it_holds() -> None:
    def show(facts: dict[str, Any]) -> Page:
        view = " ".join(hit["address"] for hit in facts["hits"])
        return Page(view, {**facts, VIEW: view})

    found = pages(_ANSWER, show=show)
    assert " ".join(page.facts[VIEW] for page in found) == " ".join(hit["address"] for hit in _ANSWER["hits"])


def test_each_member_is_rendered_a_few_times_at_most() -> None:
    rendered = 0

    def show(facts: dict[str, Any]) -> Page:
        nonlocal rendered
        rendered += len(facts["hits"])
        return in_two_forms(facts)

    answer = {"hits": [{"address": f"e{number}", "content": "word " * 20} for number in range(4_000)]}
    assert first(answer, show=show).facts["truncated"] is True
    assert rendered < 4_000 + 20 * 20


def test_marks_stand_at_the_top_of_the_text() -> None:
    assert first(_ANSWER).text.startswith("truncated: true\ncursor: ")


def test_invariants_fill_the_first_pages_and_the_rest_of_them_is_counted() -> None:
    notes = [{"address": f"n{number}", "type": "note", "content": "x" * 300} for number in range(9)]
    rules = [{"address": f"r{number}", "type": "invariant", "content": "x" * 300} for number in range(9)]
    found = pages({"items": notes + rules}, binds=is_invariant)
    kinds = [item["type"] for page in found for item in page.facts["items"]]
    assert kinds == ["invariant"] * 9 + ["note"] * 9
    assert found[0].facts["invariants_remaining"] == 9 - len(found[0].facts["items"])
    assert list(found[0].facts)[:3] == ["truncated", "cursor", "invariants_remaining"]


def test_an_invariant_that_is_linked_left_out_or_proposed_is_not_one_that_remains() -> None:
    rule = {"type": "invariant", "content": "x" * 900}
    related = [{"type": "note", "content": "x" * 900, "related": [{"type": "invariant"}]}] * 3
    answer = {"items": [rule, *related], "proposed": [rule], "omitted": [{"id": "x", "type": "invariant"}]}
    assert first(answer, binds=is_invariant).facts["invariants_remaining"] == 0


def test_files_that_cannot_be_read_come_before_all_else() -> None:
    problems = [{"path": f"a/b/{number}.md", "message": "x" * 200} for number in range(3)]
    answer = {"items": [{"type": "invariant", "content": "x" * 900}] * 3, "problems": problems}
    found = pages(answer, binds=is_invariant)
    assert found[0].facts["problems"] == problems
    assert found[0].text.index("problems:") < found[0].text.index("invariant\n")


def test_contradictions_come_after_what_binds_and_before_the_rest() -> None:
    items = [{"type": kind, "content": "x" * 500} for kind in ("invariant", "note", "note", "note", "note")]
    found = pages({"items": items, "conflicts": [{"a": "n/a/x", "b": "n/a/y"}]}, limit=2_000, binds=is_invariant)
    assert found[0].facts["conflicts"] == [{"a": "n/a/x", "b": "n/a/y"}]
    assert [item["type"] for item in found[0].facts["items"]][:2] == ["invariant", "note"]


def test_problems_stand_first_in_the_text_of_a_short_answer() -> None:
    assert first({"query": "x", "problems": [{"path": "a"}]}, limit=2_000).text.startswith("problems:")


def test_what_is_on_other_pages_is_not_said_to_be_empty() -> None:
    page = first({**_ANSWER, "proposed": [{"address": "z"}]}, limit=2_000)
    assert page.facts["on_other_pages"] == ["proposed"]


def test_a_member_too_large_for_a_page_comes_in_parts() -> None:
    body = "".join(f"line {number}\n" for number in range(2_000))
    found = pages({"entries": [{"address": "nav/a/long", "body": body, "heads": ["nav/a/long"]}]})
    parts = [part for page in found for part in page.facts["entries"]]
    assert "".join(part["body"] for part in parts) == body
    assert {part["address"] for part in parts} == {"nav/a/long"}
    assert parts[0]["part"] == f"1 of {len(parts)}"


@pytest.mark.parametrize("cursor", ["", "1", "x-y", "1-0000000000", "-1-", "999999999999-1", "１-x"])
def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    with pytest.raises(UsageError, match="call again without it"):
        first(_ANSWER, limit=2_000, cursor=cursor)


def test_a_cursor_of_another_call_is_refused() -> None:
    cursor = first(_ANSWER, limit=2_000, asked="one").facts["cursor"]
    with pytest.raises(UsageError, match="of another call"):
        first(_ANSWER, limit=2_000, asked="two", cursor=cursor)


def test_a_cursor_is_refused_when_the_answer_changed() -> None:
    cursor = first(_ANSWER, limit=2_000).facts["cursor"]
    changed = {**_ANSWER, "hits": _ANSWER["hits"][1:]}
    with pytest.raises(UsageError, match="the memory changed"):
        first(changed, limit=2_000, cursor=cursor)


def test_a_cursor_holds_when_the_same_answer_comes_from_the_index_by_now() -> None:
    scanned = {**_ANSWER, "usage_hint": "Degraded: the index is being written.", "degraded": True, "source": "scan"}
    page = first(scanned, limit=2_000)
    rest = first({**_ANSWER, "usage_hint": "", "source": "index"}, limit=2_000, cursor=page.facts["cursor"])
    assert page.facts["hits"] + rest.facts["hits"] == _ANSWER["hits"][: len(page.facts["hits"] + rest.facts["hits"])]


def test_a_write_that_is_too_long_is_cut_without_a_cursor() -> None:
    page = first({"decisions": ["x" * 900] * 50}, limit=4_000, has_more=False)
    assert page.facts["truncated"] is True
    assert "cursor" not in page.facts


_MEMBERS = st.lists(
    st.text(max_size=3_000)
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["invariant", "note"]), "content": st.text("ab\n`", max_size=4_000)}
    )
    | st.dictionaries(st.text("abc", min_size=1, max_size=3), st.lists(st.text(max_size=200), max_size=20), max_size=5),
    max_size=12,
)


@given(_MEMBERS, _MEMBERS, st.integers(1_000, 9_000))
def test_no_page_is_too_large_and_no_member_is_lost(items: list[Any], proposed: list[Any], limit: int) -> None:
    answer = {"goal": "x" * limit, "deep": {"items": items}, "proposed": proposed}
    found = pages(answer, limit=limit, binds=is_invariant)
    assert max(page.size for page in found) <= limit
    whole = sum(len(text) for text in _texts([items, proposed]))
    assert sum(len(text) for page in found for text in _texts([page.facts["deep"], page.facts["proposed"]])) >= whole


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _texts(one)]
