"""From what clients send to arguments: forgiving about form, strict about names."""

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from mdmem.errors import UsageError
from mdmem.mcp.tools.tool import AsText, Choice, Listed, Objects, Record, Texts, tool

_Depth = Annotated[Literal["deep_search", "wake"], Choice]


def _probe(
    *,
    query: Annotated[str, Field(max_length=20, description="What is looked for. In plain words."), AsText],
    kind: Annotated[_Depth | None, Field(description="How deep to look.")] = None,
    limit: Annotated[int, Field(ge=1, le=50, description="Hits.")] = 10,
    deep: Annotated[bool, Field(description="Deep.")] = False,
    tags: Annotated[Texts | None, Field(description="Tags.")] = None,
    types: Annotated[
        tuple[Annotated[Literal["note", "decision"], Choice], ...] | None, Listed, Field(description="Types.")
    ] = None,
    record: Annotated[Record | None, Field(description="A record.")] = None,
    records: Annotated[list[Record] | None, Objects, Field(description="Records.")] = None,
) -> None: ...


_PROBE = tool("Probe")(_probe)


def read(**given: Any) -> dict[str, Any]:
    return _PROBE.parse({"query": "x", **given})


def refusal(**given: Any) -> str:
    with pytest.raises(UsageError) as refused:
        read(**given)
    return str(refused.value)


@pytest.mark.parametrize(
    "sent",
    [["a", "b"], '["a", "b"]', "a,b", " a , b ,", ["a", "b", "a", ""]],
    ids=["list", "json", "commas", "blanks", "twice"],
)
def test_a_list_is_read_when_it_comes_in_another_form(sent: object) -> None:
    assert read(tags=sent)["tags"] == ("a", "b")


@pytest.mark.parametrize(
    ("name", "sent", "meant"),
    [
        ("limit", "5", 5),
        ("limit", 5.0, 5),
        ("deep", "true", True),
        ("deep", 0, False),
        ("query", 42, "42"),
        ("query", ["a b"], "a b"),
        ("kind", "Deep-Search", "deep_search"),
        ("types", "Note", ("note",)),
        ("record", '{"title": "x"}', {"title": "x"}),
        ("records", {"title": "x"}, [{"title": "x"}]),
        ("records", '[{"title": "x"}]', [{"title": "x"}]),
    ],
)
def test_a_value_is_read_when_its_form_is_harmless(name: str, sent: object, meant: object) -> None:
    assert read(**{name: sent})[name] == meant


def test_null_is_what_is_left_out() -> None:
    assert read(limit=None, tags=None) == read()


def test_an_unknown_parameter_is_refused_with_those_that_there_are() -> None:
    assert refusal(task="x").startswith('there is no parameter "task"; it takes `query`, `kind`, `limit`')


def test_a_missing_parameter_is_named_with_its_description() -> None:
    with pytest.raises(UsageError, match=r"^`query` is missing \(what is looked for\)$"):
        _PROBE.parse({})


@pytest.mark.parametrize(
    ("name", "sent", "said"),
    [
        ("limit", 0, "`limit`: Input should be greater than or equal to 1, found 0"),
        (
            "limit",
            "many",
            '`limit`: Input should be a valid integer, unable to parse string as an integer, found "many"',
        ),
        ("deep", "perhaps", '`deep`: Input should be a valid boolean, unable to interpret input, found "perhaps"'),
        ("query", True, "`query`: Input should be a valid string, found true"),
        ("query", "x" * 21, f'`query`: String should have at most 20 characters, found "{"x" * 21}"'),
        ("query", 10**5000, "a number has too many digits"),
        ("tags", {"a": 1}, '`tags`: Input should be a valid tuple, found {"a": 1}'),
        ("types", ["notes"], "`types`: Input should be 'note' or 'decision', found \"notes\""),
        ("record", "words", '`record`: Input should be a valid dictionary, found "words"'),
    ],
    ids=str.split("bound integer boolean string length digits list choice object"),
)
def test_a_value_of_the_wrong_kind_is_refused_in_a_sentence(name: str, sent: object, said: str) -> None:
    assert refusal(**{name: sent}) == said


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(list(_PROBE.input_schema["properties"])) | st.text(max_size=8), _ANYTHING, max_size=5
    )
)
def test_no_arguments_raise_anything_but_a_sentence(sent: dict[str, Any]) -> None:
    said = ""
    try:
        _PROBE.parse(sent)
    except UsageError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 2_000
