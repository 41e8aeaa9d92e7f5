"""Test full-text search with lineage: the matches, their order, and the entries that replace them."""

import json
from pathlib import Path

import pytest
from builders import Run, commit_all, git, memory, open_root, write_entry

from mdmem.ask.answer import Form, Question
from mdmem.ask.retrieve import retrieve
from mdmem.ask.search import search
from mdmem.model.entry import Status

from .builders import hits, names, put


def pair(root: Path, **new: object) -> None:
    """Write an old entry about queues and the one that replaced it."""
    put(root, "app/a/old", "Queue", status="deprecated", superseded_by=["app/a/new"])
    put(root, "app/a/new", "Replaced", **({"supersedes": ["app/a/old"]} | new))


def test_hits_are_ordered_by_score_across_types(root: Path) -> None:
    put(root, "app/a/rule", "A rule that names a queue among other things", type="invariant")
    put(root, "app/a/note", "Queue", type="note")
    assert names(hits(root, "queue").hits) == ["app/a/note", "app/a/rule"]


def test_entry_whose_title_is_the_question_comes_first(root: Path) -> None:
    put(root, "app/a/long", "Limits of queues by size", "A queue limit is a limit of a queue, for queue limits. " * 3)
    put(root, "app/a/short", "The limit of a queue", "Some other words that make this text a longer one. " * 9)
    assert names(hits(root, "queue limits").hits) == ["app/a/short", "app/a/long"]
    assert names(hits(root, "size of queue limits").hits) == ["app/a/long", "app/a/short"]


def test_proposed_version_whose_title_is_the_question_stands_beside_what_binds(tmp_path: Path) -> None:
    root, one = memory(tmp_path) / "memory", "nav/architecture/threads"
    git(tmp_path, "checkout", "-q", "-b", "feature")
    long = "Two threads: two threads are used, for two threads. " * 3
    write_entry(root, "nav/architecture/long", long, title="How two threads are used by others")
    commit_all(tmp_path, "more")
    git(tmp_path, "branch", "-f", "main")
    write_entry(root, one, "Other words that make this text a longer one. " * 9, title="Use two threads")
    found = search(open_root(root), Question(words="use two threads")).hits
    assert [(hit.entry.address, hit.is_proposal) for hit in found][:2] == [(one, False), (one, True)]


def test_notes_whose_title_is_the_question_leave_a_decision_its_room(root: Path) -> None:
    long = "On that day we spoke of many other things, of belts and lamps. " * 30
    put(root, "app/a/rule", "Queue limits of orders", "A queue limit is a limit of a queue, for queue limits. " * 3)
    for count in (1, 12):
        for number in range(count):
            put(root, f"app/log/n{number}", "Queue limits", long, type="note")
        given = retrieve(open_root(root), Question(words="queue limits"), budget=1500).all[0].items
        assert (given[0].address, given[0].form) == ("app/a/rule", Form.FULL)


def test_head_that_matches_too_stands_once_and_keeps_the_better_score(root: Path) -> None:
    pair(root)
    put(root, "app/a/new", "A much longer title that holds the queue too", supersedes=["app/a/old"])
    put(root, "app/a/other", "Queue and lock")
    answer = hits(root, "queue")
    assert names(answer.hits) == ["app/a/new", "app/a/other"]
    assert answer.hits[0].via == ("app/a/old",)


def test_ended_hit_is_shown_where_asked_for_and_behind_what_is_current(root: Path) -> None:
    pair(root)
    put(root, "app/a/ended", "Queue", status="deprecated")
    assert names(hits(root, "queue").hits) == ["app/a/new"]
    for asked in ({"include_deprecated": True}, {"statuses": (Status.DEPRECATED,)}):
        answer = hits(root, "queue", **asked)
        assert names(answer.hits) == ["app/a/new", "app/a/ended", "app/a/old"]
        assert [hit.heads for hit in answer.hits] == [("app/a/new",), (), ("app/a/new",)]


def test_draft_is_found_only_where_asked_for(root: Path) -> None:
    put(root, "app/a/idea", "Queue", status="draft")
    assert names(hits(root, "queue").hits) == []
    assert names(hits(root, "queue", include_drafts=True).hits) == ["app/a/idea"]
    assert names(hits(root, "queue", statuses=(Status.DRAFT,)).hits) == ["app/a/idea"]


def test_limit_cuts_the_hits_and_not_the_total(root: Path, run: Run) -> None:
    for number in range(12):
        put(root, f"app/a/e{number:02}", "Queue")

    def asked(*arguments: str) -> tuple[int, int]:
        ran = run("search", "queue", "--format", "json", *arguments, cwd=root)
        answer = json.loads(ran.out)
        return answer["total"], len(answer["hits"])

    assert asked() == (12, 10)
    assert asked("--limit", "3") == (12, 3)
    assert asked("-n", "99") == (12, 12)


@pytest.mark.parametrize(
    ("asked", "remark"),
    [
        ("timeout", "nothing found: no entry of app, lib has timeout; --all-wings searches every wing"),
        ("what should we", "nothing found: the question has no word to search for, only stop words or signs"),
        ("idea", "nothing else found: 1 draft matches, shown by --include-drafts"),
        ("queue --type=note", "nothing found: no entry that the filters admit matches"),
    ],
)
def test_nothing_found_says_why(asked: str, remark: str, root: Path, run: Run) -> None:
    put(root, "app/a/draft", "Idea", status="draft")
    put(root, "app/a/queue", "Queue")
    ran = run("search", *asked.split(), cwd=root)
    assert (ran.code, ran.out, ran.err) == (1, "", f"{remark}\n")


def test_relations_of_a_result_are_lists_of_addresses_in_json(root: Path, run: Run) -> None:
    put(root, "app/a/base", "Queue")
    put(root, "app/a/more", "Limits", amends=["app/a/base"])
    (hit,) = json.loads(run("search", "queue", "--format", "json", cwd=root).out)["hits"]
    assert hit["amended_by"] == ["app/a/more"]


@pytest.mark.parametrize("address", ["app/a/x", "web/a/x"])
@pytest.mark.parametrize("command", ["search", "retrieve"])
def test_query_syntax_that_is_none_is_one_sentence(command: str, address: str, root: Path, run: Run) -> None:
    put(root, address, "Queue")
    ran = run(command, "--query-syntax", 'queue AND "lock', cwd=root)
    assert (ran.code, ran.out, ran.err) == (
        2,
        "",
        'mdmem: each `"` and each bracket needs its partner, and brackets may be 50 levels deep\n',
    )


def test_query_syntax_is_read_only_where_asked_for(root: Path, run: Run) -> None:
    put(root, "app/a/x", "Queue")
    put(root, "app/a/y", "Lock", type="pattern")
    plain = run("search", "lock NOT queue", "--format", "json", cwd=root)
    read = run("search", "lock NOT queue", "--format", "json", "--query-syntax", cwd=root)
    addresses = [[hit["address"] for hit in json.loads(ran.out)["hits"]] for ran in (plain, read)]
    assert addresses == [["app/a/x", "app/a/y"], ["app/a/y"]]
