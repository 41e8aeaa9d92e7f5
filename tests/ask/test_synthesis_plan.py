"""Test the synthesis plan: its sources, its gaps, and its state."""

from pathlib import Path
from typing import Any

import pytest
from builders import write
from hypothesis import given
from hypothesis import strategies as st

from ask.context_builders import again, make_memory, put, workspace
from mdmem.ask.answer import read_request
from mdmem.ask.synthesis import Depth, OutputType, Plan, SynthesisRequest, headings_for, plan_synthesis
from mdmem.model.access import Access, AccessDeniedError
from mdmem.render.context import plan_markdown
from mdmem.write.remember import remember


def plan(root: Path, goal: str, /, *, access: Access | None = None, **asked: object) -> Plan:
    return plan_synthesis(workspace(root, access=access), read_request(SynthesisRequest, {"goal": goal, **asked}))


def section(found: Plan, title: str) -> dict[str, Any]:
    return next(one for one in found["sections"] if one["title"] == title)


def sources(found: Plan) -> list[dict[str, Any]]:
    return [source for one in found["sections"] for source in one["sources"]]


def verdict(found: Plan) -> str:
    return str(found["verification"]["status"])


def ids(found: dict[str, Any]) -> list[str]:
    return [source["id"] for source in found["sources"]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_memory(tmp_path)


def test_plan_has_the_shape_of_the_contract(root: Path) -> None:
    found = plan(root, "the pool", depth="brief", audience="newcomers", constraints=["one page"])
    assert next(iter(found)) == "problems"
    assert (found["output_type"], found["audience"], found["depth"]) == ("documentation", "newcomers", "brief")
    assert found["constraints"] == ["one page"]
    design = found["sections"][2]
    assert (design["title"], design["prompt"], design["required"]) == (
        "Design",
        "Which decisions are current, and why",
        False,
    )
    (source,) = design["sources"]
    assert source.pop("score") > 0
    assert source == {
        "id": "app/architecture/pool-size",
        "type": "decision",
        "name": "The pool has eight threads",
        "preview": "Text.",
        "freshness": "stale",
        "status": "active",
        "scope": "project",
        "reason": "contains pool",
        "forced": False,
        "neighborhood": [],
    }
    assert found["verification"] == {
        "status": "pending",
        "sections": 3,
        "grounded_sections": 3,
        "gaps": 0,
        "sources": 5,
        "doubtful_sources": 5,
        "conflicts": 0,
        "problems": 0,
    }


def test_plan_whose_sources_are_fresh_passes(root: Path) -> None:
    for place in ("rules", "architecture", "context"):
        for number in range(2):
            kind = {"rules": "invariant", "architecture": "decision", "context": "note"}[place]
            put(root, f"app/{place}/zebra-{number}", f"Zebra {number}", type=kind, created_at="2026-11-20")
    wide = {"output_type": "custom", "required_sections": ["Zebra"]}
    assert verdict(plan(root, "zebra", **wide)) == "pass"


def test_section_without_sources_is_a_gap(root: Path) -> None:
    found = plan(root, "the pool", depth="brief", required_sections=["Elephants"])
    assert section(found, "Elephants")["gaps"] == ["no entry of the scope supports it", "no entry contains Elephants"]
    assert verdict(found) == "gaps"
    assert found["gaps"][0] == {"section": "Elephants", "reason": "no entry of the scope supports it"}


def test_deeper_text_needs_more_sources(root: Path) -> None:
    assert section(plan(root, "the pool", depth="brief"), "Design")["gaps"] == []
    assert section(plan(root, "the pool"), "Design")["gaps"] == ["only 1 source supports it, and 2 are needed"]


def test_required_section_draws_from_its_own_words(root: Path) -> None:
    put(root, "app/context/zebra", "Striped animals", type="note")
    found = plan(root, "the pool", depth="brief", required_sections=["Wildlife::striped animals"])
    assert ids(section(found, "Wildlife")) == ["app/context/zebra"]


def test_named_entries_are_sources_whatever_they_say(root: Path) -> None:
    put(root, "app/entities/broker", "Broker", type="note", label="entity", entity="Message Broker")
    put(root, "web/architecture/far", "Far away")
    found = plan(
        root,
        "the pool",
        depth="brief",
        entity_ids=["message broker"],
        decision_ids=["web/architecture/far", "pool-size"],
    )
    assert ids(section(found, "Overview"))[0:3] == [
        "web/architecture/far",
        "app/architecture/pool-size",
        "app/entities/broker",
    ]
    assert [source["forced"] for source in section(found, "Overview")["sources"]] == [True, True, True]


def test_named_entry_that_was_superseded_is_answered_for_by_its_head(root: Path) -> None:
    put(root, "app/architecture/new", "New zebra", supersedes=["app/architecture/old"])
    old = {"status": "deprecated", "deprecated_at": "2026-04-01", "superseded_by": ["app/architecture/new"]}
    put(root, "app/architecture/old", "Old zebra", **old)
    found = plan(root, "the pool", depth="brief", decision_ids=["app/architecture/old"])
    source = next(one for one in sources(found) if one["forced"])
    assert source["id"] == "app/architecture/new"
    assert source["reason"] == "named as a source; replaces app/architecture/old, which was requested"
    assert "app/architecture/old" not in [one["id"] for one in sources(found)]


def test_named_entry_that_is_not_there_is_a_gap(root: Path) -> None:
    put(root, "app/architecture/gone", "Gone", status="deprecated", deprecated_reason="it ended")
    found = plan(root, "the pool", decision_ids=["pool-sise", "gone"])
    near = ("app/architecture/pool-size", "app/validation/pool-test", "app/incident-log/pool-leak")
    assert [gap["reason"] for gap in found["gaps"] if gap["section"] is None] == [
        f"there is no entry `pool-sise`; did you mean {' or '.join(near)}?",
        "`app/architecture/gone` is no longer current, and nothing supersedes it",
    ]


def test_named_draft_is_no_ground(root: Path) -> None:
    put(root, "app/architecture/draft", "Drafted zebra", status="draft")
    wide = {"output_type": "custom", "depth": "brief", "required_sections": ["Quagga"]}
    found = plan(root, "quagga", decision_ids=["draft"], **wide)
    assert [(one["id"], one["status"]) for one in sources(found)] == [("app/architecture/draft", "draft")]
    assert found["sections"][0]["gaps"][0] == "no entry of the scope supports it"


def test_all_rules_stand_where_rules_are_asked_for(root: Path) -> None:
    for number in range(20):
        put(root, f"app/rules/rule-{number:02}", f"Rule {number}", type="invariant")
    found = plan(root, "the pool", depth="brief")
    assert len(section(found, "Rules")["sources"]) == 22
    assert set(found["binding"]) == set(ids(section(found, "Rules")))


def test_neighborhood_of_a_source_is_named(root: Path) -> None:
    put(root, "app/architecture/zebra", "Zebras are striped", see=["app/rules/pool"])
    found = plan(root, "zebras", depth="brief")
    (link,) = section(found, "Design")["sources"][0]["neighborhood"]
    assert (link["id"], link["relationship"], link["direction"]) == ("app/rules/pool", "see", "outgoing")
    alone = plan(root, "zebras", depth="brief", include_neighborhoods=False)
    assert section(alone, "Design")["sources"][0]["neighborhood"] == []


def test_release_notes_begin_with_the_newest(root: Path) -> None:
    put(root, "app/architecture/newer", "The pool, again", created_at="2026-08-01")
    found = plan(root, "the pool", output_type="release_notes")
    assert ids(section(found, "What changed")) == ["app/architecture/newer", "app/architecture/pool-size"]


def test_seed_query_takes_the_place_of_the_goal(root: Path) -> None:
    found = plan(root, "write it all up", seed_query="pool", domain="threads")
    assert found["query"] == "pool threads"
    assert ids(section(found, "Design")) == ["app/architecture/pool-size"]


def test_file_that_cannot_be_read_is_a_problem_and_a_gap(root: Path) -> None:
    write(root, "app/rules/broken.md", "---\ntype: [\n---\n")
    found = plan(root, "the pool", depth="brief")
    assert [one["path"] for one in found["problems"]] == ["app/rules/broken.md"]
    assert verdict(found) == "gaps"
    assert plan_markdown(found).index("app/rules/broken.md") < plan_markdown(found).index("## ")


def test_project_that_the_caller_may_not_read_is_refused(root: Path) -> None:
    access = Access.to_wings(["app"], name="ci")
    with pytest.raises(AccessDeniedError, match=r"^Project access denied: web$"):
        plan(root, "the pool", project="web", access=access)
    found = plan(root, "the pool", decision_ids=["web/rules/pool"], access=access)
    assert "there is no entry `web/rules/pool`" in found["gaps"][0]["reason"]
    assert "web/rules/pool" not in [source["id"] for source in sources(found)]


def test_own_memory_is_no_source(root: Path) -> None:
    assert remember(workspace(root), {"title": "A zebra", "content": "It is striped."}).success
    assert "zebra" not in str([source["id"] for source in sources(plan(root, "zebra"))])


@given(
    kind=st.sampled_from(list(OutputType)),
    depth=st.sampled_from(list(Depth)),
    most=st.integers(-1, 30),
    wanted=st.lists(st.sampled_from(["Pool::threads", "Rules", "Zebra"]), max_size=3),
)
def test_sections_and_bytes_hold(
    shared_root: Path, kind: OutputType, depth: Depth, most: int, wanted: list[str]
) -> None:
    asked = read_request(
        SynthesisRequest,
        {"goal": "the pool", "output_type": kind, "depth": depth, "max_sections": most, "required_sections": wanted},
    )
    found = workspace(shared_root)
    first = plan_synthesis(found, asked)
    assert 1 <= len(first["sections"]) <= min(max(most, 1), 20)
    assert set(first["binding"]) == {"app/rules/pool", "lib/rules/logs"}
    assert (verdict(first) == "gaps") is bool(first["gaps"])
    assert all(len(set(ids(one))) == len(one["sources"]) for one in first["sections"])
    assert plan_synthesis(again(found), asked) == first


@pytest.fixture(scope="module")
def shared_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_memory(tmp_path_factory.mktemp("synthesis"))


# --- requests ---


def titles(**stated: object) -> list[str]:
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
    assert left == ("Rules", "Design", "How to", "Verification")


def test_required_section_of_the_outline_comes_at_any_depth() -> None:
    assert "Verification" in titles(depth="brief", required_sections=["Verification"])


def test_custom_text_has_the_sections_that_are_required_alone() -> None:
    assert titles(output_type="custom", required_sections=["Law", "Costs"]) == ["Law", "Costs"]
    assert titles(output_type="custom") == ["Summary", "What is known", "What is open"]
