"""Claims, amendments and ends in answers: what is shown, beside what, in which order, and in whose stead."""

import json
from pathlib import Path

import pytest
from builders import run_here, write

from mdmem.ask.answer import EndedMatch
from mdmem.render.answers import ended_text

from .builders import found, hits, names, only, put

Capture = pytest.CaptureFixture[str]
OLD, NEW = "app/a/old", "app/a/new"


def claimed(root: Path, **new: object) -> Path:
    """Write an entry in force, about queues, and one that alone says that it replaced it."""
    put(root, OLD, "Queue")
    put(root, NEW, "Replaced", supersedes=[OLD], **new)
    return root


# --- claims ---


def test_claimed_entry_and_its_claimant_are_shown_the_claimant_first(root: Path) -> None:
    answer = found(claimed(root), "queue")
    assert names(answer.items) == [NEW, OLD]
    old, new = only(answer, OLD), only(answer, NEW)
    assert (old.claimed_by, old.titles, old.current) == ((NEW,), {NEW: "Replaced"}, True)
    assert (new.claims, new.titles, new.reason, new.via) == ((OLD,), {OLD: "Queue"}, f"claims to replace {OLD}", ())


def test_search_names_the_claimant_of_a_hit(root: Path) -> None:
    root = claimed(root, tags=["queue"])
    found_hits = hits(root, "queue replaced").hits
    assert names(found_hits) == [NEW, OLD]
    assert (found_hits[1].claimed_by, found_hits[1].heads) == ((NEW,), (OLD,))


def test_claim_of_another_project_touches_nothing_here(root: Path) -> None:
    put(root, "lib/a/old", "Queue")
    put(root, "web/a/new", "Replaced", supersedes=["lib/a/old"])
    answer = found(root, "queue")
    assert [(item.entry.address, item.claimed_by) for item in answer.items] == [("lib/a/old", ())]


def test_house_that_records_one_end_has_facts(root: Path) -> None:
    root = claimed(root)
    write(root, "mdmem.toml", 'default_wing = "app"\n[lineage]\none_sided = "fact"\n')
    answer = found(root, "queue")
    assert [(item.entry.address, item.via) for item in answer.items] == [(NEW, (OLD,))]


def test_successor_that_the_old_entry_names_holds_and_the_claimant_contradicts_it(root: Path) -> None:
    root = claimed(root)
    put(root, OLD, "Queue", superseded_by=["app/a/named"])
    put(root, "app/a/named", "Moved on", supersedes=[OLD])
    answer = found(root, "queue")
    assert names(answer.items) == ["app/a/named"]
    (one,) = answer.basis.conflicts
    assert (one.a, one.b, one.why) == ("app/a/named", NEW, f"{NEW} has `supersedes: {OLD}`, which does not link back")


# --- amendments ---


def test_amended_entry_comes_with_what_amends_it(root: Path) -> None:
    put(root, OLD, "Queue")
    put(root, NEW, "Exception", amends=[OLD])
    answer = found(root, "queue")
    assert names(answer.items) == [OLD, NEW]
    old, new = only(answer, OLD), only(answer, NEW)
    assert (old.amended_by, old.titles) == ((NEW,), {NEW: "Exception"})
    assert (new.amends, new.titles, new.reason) == ((OLD,), {OLD: "Queue"}, f"amends {OLD}")


@pytest.mark.parametrize(
    ("address", "fields"),
    [
        (NEW, {"type": "note"}),
        (NEW, {"status": "draft"}),
        (NEW, {"status": "deprecated", "deprecated_reason": "gone"}),
        (NEW, {"applies_to": ["web/**"]}),
        ("web/a/new", {}),
    ],
)
def test_amendment_that_does_not_count_is_not_attached(root: Path, address: str, fields: dict[str, object]) -> None:
    put(root, OLD, "Queue")
    put(root, address, "Exception", amends=[OLD], **fields)
    assert names(found(root, "queue", ("app/x.py",)).items) == [OLD]


def test_project_amends_a_shared_entry_for_itself_alone(root: Path) -> None:
    put(root, "lib/a/rule", "Queue")
    for wing in ("app", "web"):
        put(root, f"{wing}/a/exception", "Exception", amends=["lib/a/rule"])
    assert only(found(root, "queue"), "lib/a/rule").amended_by == ("app/a/exception",)
    assert only(found(root, "queue", wings=("web",)), "lib/a/rule").amended_by == ("web/a/exception",)


def test_what_replaced_an_amendment_amends_in_its_place(root: Path) -> None:
    put(root, OLD, "Queue")
    put(root, "app/a/first", "Exception", amends=[OLD], status="deprecated", superseded_by=[NEW])
    put(root, NEW, "Exception again", supersedes=["app/a/first"])
    assert only(found(root, "queue"), OLD).amended_by == (NEW,)


# --- ends ---


def test_best_match_that_ended_is_named_with_its_reason(root: Path) -> None:
    put(root, OLD, "Queue of letters", status="deprecated", deprecated_reason="nobody writes")
    put(root, NEW, "Letters are sorted by hand and by colour")
    ended = (EndedMatch(OLD, "Queue of letters", "nobody writes", ()),)
    assert found(root, "queue of letters").basis.ended == ended
    assert hits(root, "queue of letters").basis.ended == ended
    assert hits(root, "queue of letters", include_deprecated=True).basis.ended == ()
    assert found(root, "sorted colour").basis.ended == ()


def test_best_match_that_was_replaced_is_named_with_its_head(root: Path) -> None:
    put(root, OLD, "Queue", status="deprecated", superseded_by=[NEW], reason="older still was worse")
    put(root, NEW, "Replaced", supersedes=[OLD], reason="it was slow")
    assert found(root, "queue").basis.ended == (EndedMatch(OLD, "Queue", "it was slow", (NEW,)),)


def test_reasons_are_those_of_each_step_to_what_is_current(root: Path) -> None:
    put(root, OLD, "Queue", status="deprecated", superseded_by=["app/a/mid"])
    put(root, "app/a/mid", "Table", status="deprecated", superseded_by=[NEW], supersedes=[OLD], reason="two phones")
    put(root, NEW, "Replaced", supersedes=["app/a/mid"], reason="the table was slow")
    assert found(root, "queue").basis.ended == (EndedMatch(OLD, "Queue", "two phones; the table was slow", (NEW,)),)


def test_successor_that_cannot_be_read_is_named(root: Path) -> None:
    put(root, OLD, "Queue", status="deprecated", superseded_by=[NEW])
    write(root, f"{NEW}.md", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    basis = found(root, "queue").basis
    assert basis.ended == (EndedMatch(OLD, "Queue", None, (), (NEW,)),)
    assert list(ended_text(basis)) == [
        f"The best match is not current: {OLD}, replaced by {NEW}, which cannot be read."
    ]


# --- on the command line ---


@pytest.mark.parametrize(("better", "is_said"), [(0, True), (2, True), (3, False)])
def test_rejected_record_among_the_first_three_matches_is_said(
    better: int, is_said: bool, root: Path, capsys: Capture
) -> None:
    put(root, "app/a/graphql", "GraphQL", status="deprecated", deprecated_reason="rejected", body="Padding. " * 50)
    for number in range(better):
        put(root, f"app/a/{number}", "GraphQL at the gate", body="GraphQL GraphQL.")
    said = run_here(capsys, "retrieve", "can we use GraphQL", cwd=root).out
    line = "Not current, and no current entry replaces it: app/a/graphql (GraphQL). Reason: rejected\n"
    assert (line in said) is is_said


def test_text_and_json_name_all_three(root: Path, capsys: Capture) -> None:
    root = claimed(root)
    put(root, "app/a/exception", "Exception", amends=[OLD])
    put(root, "app/a/gone", "Queue queue", status="deprecated", deprecated_reason="nobody waits")
    said = run_here(capsys, "search", "queue", cwd=root).out
    gone = "Not current, and no current entry replaces it: app/a/gone (Queue queue). Reason: nobody waits\n"
    assert gone in said
    assert f"claimed by {NEW} (Replaced)" in said
    assert "amended by app/a/exception (Exception)" in said
    assert gone in run_here(capsys, "retrieve", "queue", cwd=root).out
    told = json.loads(run_here(capsys, "retrieve", "queue", "--format", "json", cwd=root).out)
    assert told["ended"] == [
        {"address": "app/a/gone", "title": "Queue queue", "reason": "nobody waits", "heads": [], "unread": []},
    ]
    items = {item["address"]: item for item in told["items"]}
    assert (items[OLD]["claimed_by"], items[OLD]["amended_by"]) == ([NEW], ["app/a/exception"])
    assert (items[NEW]["claims"], items["app/a/exception"]["amends"]) == ([OLD], [OLD])
    assert items.keys() == {OLD, NEW, "app/a/exception"}
    assert "claimed_by" not in items[NEW]
    shown = run_here(capsys, "show", OLD, cwd=root).out
    assert f"(current; claimed by {NEW}; amended by app/a/exception)" in shown
