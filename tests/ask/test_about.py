"""Test `show --about`: the passages of entries that are relevant to some words."""

import json
from pathlib import Path

import pytest
from builders import Run, memory, write_entry

LONG = "The belt is long and runs through the hall. " * 40
BODY = f"""\
## Decision

Orders are sent once.

## Limits

{LONG}

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


PROMOTED = "CI promotes each warning of the compiler to an error."
CONTEXT = f"## Context\n\n{PROMOTED} {'It was noisy. ' * 60}\n\n## Decision\n\nA warning is mended at once.\n"
OPTIONS = "## Alternatives\n\n### Turbines\n\nA turbine was quick.\n\n### Sails\n\nWind is free.\n"
LIMITS = f"## Decision\n\nWe buy belts.\n\n{OPTIONS}\n## Limits\n\n{LONG}\n\nNo turbine runs at night.\n"
ROW = "The one in the hall of the mill" * 7
FILLER = "The belt is dull and runs on through the hall.\n\n" * 40


@pytest.mark.parametrize(
    ("body", "about", "shown"),
    [
        # A passage of the context comes after the decision.
        (CONTEXT, "promotes compiler", [f"\n  A warning is mended at once.\n\n  … under “Context”: {PROMOTED}"]),
        (
            LIMITS,
            "turbine",
            ["… under “Alternatives / Turbines”: A turbine was quick.\n", "… under “Limits”: No turbine"],
        ),
        # The heading of an option comes with those that it is in.
        (
            LIMITS.replace("Turbines\n", "Turbines\n\n#### Cons\n"),
            "turbine quick",
            ["… under “Alternatives / Turbines / Cons”: A turbine was quick.\n"],
        ),
        # Options that the decision refers to count for the size.
        (
            "## Decision\n\n"
            + "".join(f"Take option {number}. " for number in range(1, 30))
            + "".join(f"\n\n### Option {number}: a belt of rubber, as wide as the hall" for number in range(1, 30)),
            "rubber",
            ["\n\n  Option 1: a belt of rubber"],
        ),
        (
            f"## Decision\n\nWe take option 2.\n\n## Option one: a mill\n\n## Option two: a hall\n\n{LONG}",
            "wet",
            ["two: a hall\n"],
        ),
        # Fields of the record are no text.
        (
            (
                "- Start date: now\n- Type: Process\n- Resolution: https://a.example\n- PR: [b#8](https://b.example)\n\n"
                f"Belts are black.\n\n{LONG}"
            ),
            "belts process",
            [": Belts\n  Belts are black.\n"],
        ),
        # A short line above a list is like a heading, but not for the list around it.
        (
            LIMITS.replace("A turbine was quick.", "1. Buy.\n\n   Cons:\n\n   - Turbines leak.\n\n2. Rent turbines."),
            "turbines leak rent",
            ["Turbines / Cons”: - Turbines leak.\n", "under “Alternatives / Turbines”: 2. Rent turbines.\n"],
        ),
        # A passage of another section than the decision is no part of the decision.
        (LIMITS.replace(OPTIONS, ""), "turbine", ["We buy belts.\n\n  … under “Limits”: No turbine runs at night.\n"]),
        # The headings count for the size.
        (
            "## Context\n\nA turbine was slow.\n\n"
            + "".join(f"## The hall {number} of the mill\n\nHere turbine {number} runs.\n\n" for number in range(50)),
            "slow turbine",
            ["… under “Context”: A turbine was slow.\n", "… under “The hall 9 of the mill”: Here turbine 9 runs.\n"],
        ),
        # What announces the next sentence brings it along.
        (
            f"Belts are black.\n\n{FILLER}The longest belt is calculated by:\n\nhall times two\n\n{FILLER}",
            "longest belt calculated",
            ["calculated by:\n\n  hall times two"],
        ),
        (
            f"Belts are black.\n\n{FILLER}The longest belts are:\n\n| Belt | M |\n|-|-|\n| {ROW} | 9 |\n\n{FILLER}",
            "longest belt",
            [f"are:\n  | Belt | M |\n  | {ROW} | 9 |"],
        ),
    ],
)
def test_passage_is_shown_with_its_headings(body: str, about: str, shown: list[str], folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/architecture/belts", body, title="Belts")
    out = run("show", "belts", "--about", about).out
    assert [one for one in shown if one not in out] == []
    assert sum(len(line.strip().encode()) + 1 for line in out.splitlines()) < 1500


def test_decision_comes_first_then_the_passages_and_a_rejected_option_is_marked(folder: Path, run: Run) -> None:
    out = run("show", "queue", "threads", "--about", "how many orders the queue holds").out
    queue, threads = out.split("\n\nnav/architecture/threads")
    assert queue.startswith("nav/architecture/queue: A queue\n  Orders are sent once.\n\n  … ")
    assert "The queue holds 40 orders.\n\n  … under “Rejected”: A queue of 400 orders was too slow to drain." in queue
    assert threads.startswith(": Use two threads\n  Navigation uses two threads.")


def test_entry_without_text_says_so(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/architecture/pages", "# Pages\n", title="Pages")
    out = run("show", "pages", "--about", "limit").out
    assert out.startswith("nav/architecture/pages: Pages\n  has no text beyond its title\n")
    found = run("retrieve", "pages").out
    assert "nav/architecture/pages: Pages (no text beyond its title" in found


def test_words_that_only_code_holds_are_found(folder: Path, run: Run) -> None:
    body = f"Run it.\n\n{LONG}\n\n```sh\ndrain --all\n\ncd\n```\n"
    write_entry(folder / "memory", "nav/architecture/code", body, title="X")
    out = run("show", "code", "--about", "drain", "--format", "json").out
    assert "… \n```\ndrain --all\ncd\n```" in json.loads(out)["entries"][0]["passages"]


def test_superseded_entry_and_draft_say_so(folder: Path, run: Run) -> None:
    root = folder / "memory"
    write_entry(root, "nav/architecture/plan", BODY, status="draft", title="A plan")
    out = run("show", "nav/architecture/plan", "--about", "limits").out
    assert out.startswith("nav/architecture/plan: A plan (draft, not binding)\n")
    write_entry(root, "nav/architecture/new", "No queue.\n", title="None", supersedes="nav/architecture/queue")
    fields = {"status": "deprecated", "superseded_by": "nav/architecture/new", "title": "A queue"}
    write_entry(root, "nav/architecture/queue", BODY, **fields)
    out = run("show", "nav/architecture/queue", "--about", "limits").out
    assert out.startswith("nav/architecture/queue: A queue (replaced by nav/architecture/new)\n")


def test_newer_entries_that_mention_it_are_below(folder: Path, run: Run) -> None:
    root = folder / "memory"
    write_entry(root, "nav/architecture/adr-0007", "Orders are sent once.\n", title="Send", created_at="2026-02-01")
    write_entry(
        root, "nav/architecture/later", "This extends ADR 7 to mails.\n", title="Mails", created_at="2026-04-01"
    )
    run("retrieve", "orders")
    out = run("show", "adr-0007", "--about", "orders").out
    line = "mentioned by nav/architecture/later: Mails (extends it; 2026-04-01): “This extends ADR 7 to mails.”"
    assert out.splitlines()[1:] == ["  Orders are sent once.", f"  {line}"]
    stated = run("show", "adr-0007", "--about", "orders", "--format", "json").out
    assert json.loads(stated)["entries"][0]["beneath"][0]["address"] == "nav/architecture/later"
    # With several entries, an entry that changes nothing is listed by its id only.
    write_entry(root, "nav/architecture/other", "We keep ADR 7 in mind.\n", title="Pagers", created_at="2026-04-02")
    run("retrieve", "orders")
    several = run("show", "adr-0007", "queue", "--about", "orders").out
    assert f"\n  {line}\n  mentioned later by other\n" in several


def test_long_entry_gives_at_most_a_kilobyte_and_a_half(folder: Path, run: Run) -> None:
    write_entry(folder / "memory", "nav/architecture/long", "The belt stops here. It runs on.\n\n" * 400, title="Long")
    assert len(run("show", "long", "--about", "belt").out) < 1500


def test_each_address_has_words_of_its_own(folder: Path, run: Run) -> None:
    words = ("--about", "orders the queue holds", "--about", "threads")
    assert "The queue holds 40 orders." in run("show", "queue", "threads", *words).out
    refused = run("show", "queue", *words)
    assert (refused.code, "`about` has 2 values, and `address` has 1;" in refused.err) == (2, True)
    refused = run("show", "queue", "--about", "")
    assert (refused.code, refused.err.partition(";")[0]) == (2, "mdmem: `about` is empty")


def test_session_sees_each_paragraph_once(folder: Path, run: Run) -> None:
    asked = ("show", "queue", "--session", "one", "--about", "orders the queue holds")
    first, then, fresh = (run(*asked, *more).out for more in ((), (), ("--fresh",)))
    assert "holds 40 orders." in first
    assert then == "nav/architecture/queue: A queue\n  already shown\n"
    assert fresh == first
    _, part = (run("show", "queue", "--session", "three", "--about", one).out for one in ("the hall", "drain"))
    assert part.startswith("nav/architecture/queue: A queue (shown before in part)\n  … under “Rejected”: A queue of")
    # What an answer showed counts as well.
    run("retrieve", "--session", "two", "which threads has navigation?")
    out = run("show", "threads", "--session", "two", "--about", "threads").out
    assert out == "nav/architecture/threads: Use two threads\n  already shown\n"
