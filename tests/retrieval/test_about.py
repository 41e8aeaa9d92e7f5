"""`show --about`: what given entries say about some words."""

import json
from pathlib import Path

import pytest
from builders import memory, run_here, write_entry

Capture = pytest.CaptureFixture[str]
BODY = """\
## Decision

Orders are sent once.

## Limits

The queue holds 40 orders.

## Rejected

A queue of 400 orders was too slow to drain.

```sh
drain --all
```
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = memory(tmp_path)
    write_entry(folder / "memory", "nav/architecture/queue", BODY, title="A queue")
    return folder


def test_best_window_stands_below_its_heading_before_what_was_rejected(folder: Path, capsys: Capture) -> None:
    said = run_here(capsys, "show", "queue", "threads", "--about", "how many orders the queue holds", cwd=folder).out
    assert said == (
        "nav/architecture/queue: A queue\n"
        "  Limits: The queue holds 40 orders.\n\n"
        "nav/architecture/threads: Use two threads\n  holds none of these words\n"
    )


def test_who_has_no_text_says_so_at_once(folder: Path, capsys: Capture) -> None:
    write_entry(folder / "memory", "nav/architecture/pages", "# Pages\n", title="Pages")
    told = run_here(capsys, "show", "pages", "--about", "limit", cwd=folder).out
    assert told == "nav/architecture/pages: Pages\n  has no text beyond its title\n"
    found = run_here(capsys, "retrieve", "pages", cwd=folder).out
    assert "nav/architecture/pages: Pages (no text beyond its title; " in found


def test_words_that_only_code_holds_are_found(folder: Path, capsys: Capture) -> None:
    said = run_here(capsys, "show", "queue", "--about", "drain sh", "--format", "json", cwd=folder).out
    assert "drain" in json.loads(said)["entries"][0]["passages"]


def test_what_ended_says_so(folder: Path, capsys: Capture) -> None:
    root = folder / "memory"
    write_entry(root, "nav/architecture/new", "No queue.\n", title="None", supersedes="nav/architecture/queue")
    fields = {"status": "deprecated", "superseded_by": "nav/architecture/new", "title": "A queue"}
    write_entry(root, "nav/architecture/queue", BODY, **fields)
    said = run_here(capsys, "show", "nav/architecture/queue", "--about", "limits", cwd=folder).out
    assert said.startswith("nav/architecture/queue: A queue (replaced by nav/architecture/new)\n")


def test_below_stands_what_newer_entries_say_that_they_change(folder: Path, capsys: Capture) -> None:
    root = folder / "memory"
    write_entry(root, "nav/architecture/adr-0007", "Orders are sent once.\n", title="Send", created_at="2026-02-01")
    write_entry(root, "nav/architecture/later", "ADR 7 omitted mails: both.\n", title="Mails", created_at="2026-03-01")
    write_entry(root, "nav/architecture/same", "We keep ADR 7 in mind.\n", title="Mind", created_at="2026-03-02")
    run_here(capsys, "retrieve", "orders", cwd=folder)
    said = run_here(capsys, "show", "adr-0007", "--about", "orders", cwd=folder).out
    assert said.splitlines()[1:] == [
        "  Orders are sent once.",
        "  cited by nav/architecture/later (2026-03-01): “ADR 7 omitted mails: both.”",
    ]
    told = run_here(capsys, "show", "adr-0007", "--about", "orders", "--format", "json", cwd=folder).out
    assert json.loads(told)["entries"][0]["beneath"][0]["address"] == "nav/architecture/later"


def test_a_long_entry_gives_no_more_than_a_kilobyte(folder: Path, capsys: Capture) -> None:
    write_entry(folder / "memory", "nav/architecture/long", "The belt stops here. It runs on.\n\n" * 400, title="Long")
    assert len(run_here(capsys, "show", "long", "--about", "belt", cwd=folder).out) < 1200


def test_each_address_has_words_of_its_own(folder: Path, capsys: Capture) -> None:
    words = ("--about", "orders the queue holds", "--about", "threads")
    said = run_here(capsys, "show", "queue", "threads", *words, cwd=folder).out
    assert "Limits: The queue holds 40 orders." in said
    assert "holds none of these words" not in said
    refused = run_here(capsys, "show", "queue", *words, cwd=folder)
    assert refused.code == 2
    assert "`about` came 2 times, the addresses are 1;" in refused.err


def test_session_is_told_each_passage_and_each_line_beneath_once(folder: Path, capsys: Capture) -> None:
    root = folder / "memory"
    limits = "The queue holds 40 orders.\n\nOf large orders the queue holds 4.\n\n" + "Mails are no orders. " * 30
    write_entry(root, "nav/architecture/adr-0007", f"# Limits\n\n{limits}\n", title="Queue", created_at="2026-02-01")
    write_entry(
        root, "nav/architecture/later", "This record extends ADR 7 to mails.\n", title="Mails", created_at="2026-03-01"
    )
    run_here(capsys, "retrieve", "orders", cwd=folder)
    asked = ("show", "adr-0007", "--session", "one", "--about", "orders the queue holds")
    first, then, fresh = (run_here(capsys, *asked, *more, cwd=folder).out for more in ((), (), ("--fresh",)))
    assert "holds 40 orders." in first
    assert "cited by nav/architecture/later (extends it; 2026-03-01): “This record extends ADR 7 to mails.”" in first
    assert "40 orders" not in then
    assert "extends" not in then
    assert fresh == first
    # What an answer gave counts as well, and the other way round.
    run_here(capsys, "retrieve", "--session", "two", "which threads has navigation?", cwd=folder)
    said = run_here(capsys, "show", "threads", "--session", "two", "--about", "threads", cwd=folder).out
    assert said == "nav/architecture/threads: Use two threads\n  given before\n"
    # What stands beneath an entry was not given where the entry was.
    run_here(capsys, "show", "adr-0007", "--session", "three", cwd=folder)
    told = [run_here(capsys, "retrieve", "--session", "three", "queue holds", cwd=folder).out for _ in range(2)]
    assert [("adr-0007 (given before" in one, "(extends it" in one) for one in told] == [(True, True), (True, False)]
    write_entry(root, "nav/architecture/newest", "This record amends ADR 7.\n", title="News", created_at="2026-04-01")
    said = run_here(capsys, "retrieve", "--session", "three", "queue holds", cwd=folder).out
    assert ("(extends it" in said, "(amends it" in said) == (False, True)


def test_nothing_more_is_said_where_the_rest_is_far_less_about_the_words(folder: Path, capsys: Capture) -> None:
    asked = ("show", "queue", "--session", "one", "--about", "how many orders the queue holds")
    said = [run_here(capsys, *asked, cwd=folder).out.splitlines()[1] for _ in range(3)]
    assert said[0] == "  Limits: The queue holds 40 orders."
    assert said[-1] == "  nothing more of it is about these words"


def test_entry_named_twice_says_nothing_twice_and_empty_words_are_refused(folder: Path, capsys: Capture) -> None:
    said = run_here(
        capsys, "show", "queue", "queue", "--about", "orders sent", "--about", "orders sent", cwd=folder
    ).out
    assert said.count("Orders are sent once.") == 1
    refused = run_here(capsys, "show", "queue", "--about", "", cwd=folder)
    assert (refused.code, refused.err.partition(";")[0]) == (2, "mdmem: `about` is empty")
