"""What is asked of a synthesis plan, and which sections that gives."""

import pytest
from mdmem.ask.synthesis.outlines import headings_for
from mdmem.ask.synthesis.request import Depth, OutputType, SectionRequest, SynthesisRequest, read_request

from mdmem.errors import UsageError


def titles(**stated: object) -> list[str]:
    """Return the titles of the sections of a plan."""
    return [heading.title for heading in headings_for(read_request({"goal": "x", **stated}))[0]]


def test_only_the_goal_is_needed() -> None:
    assert read_request({"goal": "x", "audience": None}) == SynthesisRequest(goal="x")
    assert SynthesisRequest(goal="x").size == 6


def test_required_section_may_say_its_prompt() -> None:
    asked = read_request({"goal": "x", "required_sections": ["Costs::what it costs", "Law", "::only a prompt", " "]})
    assert asked.required_sections == (
        SectionRequest("Costs", "what it costs"),
        SectionRequest("Law"),
        SectionRequest("only a prompt"),
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "`goal` is missing; write a text"),
        ({"goal": "x", "output_type": "raport"}, "`output_type` has no value `raport`; did you mean `report`?"),
        ({"goal": "x", "depth": "standart"}, "`depth` has no value `standart`; did you mean `standard`?"),
        ({"goal": "x", "max_sections": "few"}, "`max_sections` must be a whole number"),
        ({"goal": "x", "entity_ids": 3}, "`entity_ids` must be a list of texts, found `3`"),
        ({"goal": "x", "decision_ids": [3]}, "`decision_ids[0]` must be a text, found `3`"),
        ({"goal": "x", "sections": 3}, "`synthesis_plan` has no argument `sections`"),
    ],
)
def test_value_that_does_not_fit_is_named(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_request(given)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("kind", list(OutputType))
def test_deeper_text_has_more_sections(kind: OutputType) -> None:
    brief, standard, deep = (titles(output_type=kind, depth=depth, max_sections=20) for depth in Depth)
    assert 0 < len(brief) < len(standard) <= len(deep)


def test_kinds_of_text_have_their_own_sections() -> None:
    assert len({tuple(titles(output_type=kind)) for kind in OutputType}) == len(OutputType)


def test_required_sections_outlive_the_limit() -> None:
    asked = read_request({"goal": "x", "depth": "deep", "max_sections": 3, "required_sections": ["Law", "pitfalls"]})
    taken, left = headings_for(asked)
    assert [heading.title for heading in taken] == ["Overview", "Pitfalls", "Law"]
    assert [heading.is_required for heading in taken] == [False, True, True]
    assert left == ("Rules", "Design", "How to", "Verification", "Open work", "History")


def test_required_section_of_the_outline_comes_at_any_depth() -> None:
    assert "History" in titles(depth="brief", required_sections=["History"])


@pytest.mark.parametrize(("most", "size"), [(-1, 1), (0, 1), (2, 2), (500, 3)])
def test_number_of_sections_is_clamped(most: int, size: int) -> None:
    assert len(titles(depth="brief", max_sections=most)) == size


def test_custom_text_has_the_sections_that_are_required_alone() -> None:
    assert titles(output_type="custom", required_sections=["Law", "Costs"]) == ["Law", "Costs"]
    assert titles(output_type="custom") == ["Summary", "What is known", "What is open"]
