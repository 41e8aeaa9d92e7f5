"""What is asked of a synthesis plan, and which sections that gives."""

import pytest

from mdmem.ask.question import read_request
from mdmem.ask.synthesis import Depth, OutputType, SynthesisRequest, headings_for


def titles(**stated: object) -> list[str]:
    """Return the titles of the sections of a plan."""
    return [heading.title for heading in headings_for(read_request(SynthesisRequest, {"goal": "x", **stated}))[0]]


def test_required_section_may_say_its_prompt() -> None:
    required = ["Costs::what it costs", "Law", "::only a prompt", " "]
    asked = read_request(SynthesisRequest, {"goal": "x", "output_type": "custom", "required_sections": required})
    assert [(one.title, one.prompt) for one in headings_for(asked)[0]] == [
        ("Costs", "what it costs"),
        ("Law", "What the memory says about Law"),
        ("only a prompt", "What the memory says about only a prompt"),
    ]


@pytest.mark.parametrize("kind", list(OutputType))
def test_deeper_text_has_more_sections(kind: OutputType) -> None:
    brief, standard, deep = (titles(output_type=kind, depth=depth, max_sections=20) for depth in Depth)
    assert 0 < len(brief) < len(standard) <= len(deep)


def test_kinds_of_text_have_their_own_sections() -> None:
    assert len({tuple(titles(output_type=kind)) for kind in OutputType}) == len(OutputType)


def test_required_sections_outlive_the_limit() -> None:
    asked = read_request(
        SynthesisRequest, {"goal": "x", "depth": "deep", "max_sections": 3, "required_sections": ["Law", "pitfalls"]}
    )
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
