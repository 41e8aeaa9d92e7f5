"""What stands under an entry of a pack: what it replaced, what amends it, and who cites it with which words."""

from pathlib import Path

import pytest
from builders import make_root, open_root, run_here, write_entry

from mdmem.ask.mentions import Mentions
from mdmem.ask.pack import Mention
from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve
from mdmem.store.index.fulltext import FullTextIndex

from .builders import found, make_wings, put

RULE = "app/rules/adr-0007"


def beneath(root: Path, words: str) -> tuple[Mention, ...]:
    """Return what stands under the rule in the answer to some words."""
    workspace = open_root(root).with_index(FullTextIndex(root.parent / "index"))
    answer = retrieve(workspace, Question(words=words))
    return next(one.beneath for one in answer.items if one.item.entry.address == RULE)


def make_rule(folder: Path) -> Path:
    root = make_wings(folder)
    put(root, RULE, "Retry twice", "Orders are sent twice at most.\n", created_at="2026-02-01")
    return root


def test_what_it_replaced_stands_there_with_its_date_in_one_order_the_rest_counted(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    ended = {"status": "deprecated", "superseded_by": RULE, "deprecated_at": "2026-02-01"}
    # Of one day: by address, whatever order a set has in this process.
    olds = [f"app/rules/{name}" for name in "abcdefgh"]
    for old in olds:
        put(root, old, "Retry once", created_at="2026-01-02", **ended)
    *named, rest = beneath(root, "orders")
    assert named == [Mention("replaces", old, "Retry once", "2026-01-02") for old in olds[: len(named)]]
    assert len(named) > 1
    assert rest == Mention(f"replaces {len(olds) - len(named)} more", "")


def test_newer_entries_that_cite_it_stand_there_with_the_sentence_those_first_that_change_it(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(root, "app/rules/adr-0009", "Mails", "We keep ADR 7 in mind. More text.\n", created_at="2026-03-01")
    put(
        root,
        "app/rules/adr-0011",
        "Night",
        "This revises [ADR-0007](https://a.example/7) at night.\n",
        created_at="2026-04-01",
    )
    put(root, "app/rules/adr-0002", "Old", "ADR 7 will change this.\n", created_at="2026-01-01")
    put(root, "app/rules/adr-0012", "Idea", "ADR 7 is replaced.\n", created_at="2026-05-01", status="draft")
    assert [(one.how, one.title, one.said) for one in beneath(root, "orders")] == [
        ("cited by", "Night", "This revises ADR-0007 at night."),
        ("cited by", "Mails", "We keep ADR 7 in mind."),
    ]


def test_what_stands_under_an_entry_is_told_of_one_that_equals_it(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    ended = {"status": "deprecated", "superseded_by": RULE, "deprecated_at": "2026-02-01"}
    put(root, "app/rules/old", "Retry once", created_at="2026-01-02", **ended)
    workspace, entry = open_root(root), open_root(root).catalog.entries[RULE]
    assert [one.address for one in Mentions(workspace, None).of(entry, {}, is_asked=True)] == ["app/rules/old"]


def test_item_that_was_passed_keeps_its_turn_and_takes_it_from_later_ones(tmp_path: Path) -> None:
    root = make_wings(tmp_path)
    rules = [f"app/rules/adr-000{number}" for number in range(5)]
    for rule in rules:
        put(root, rule, "Retry", "Orders are sent.\n", created_at="2026-02-01")
    put(root, "app/rules/more", "More", "We keep ADR 3 and ADR 4.\n", created_at="2026-03-01")
    workspace = open_root(root).with_index(FullTextIndex(tmp_path / "index"))
    items = {one.entry.address: one for one in found(root, "orders").items}
    mentions = Mentions(workspace, workspace.catalog.entries.keys)
    for rule in rules:
        mentions.passed(items[rule])
    assert [[one.title for one in mentions.under(items[rule])] for rule in rules[3:]] == [["More"], []]


def test_link_in_a_body_cites(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(root, "app/rules/other", "Other", f"It follows [see: {RULE}] by day.\n", created_at="2026-03-01")
    assert [(one.how, one.title) for one in beneath(root, "orders")] == [("cited by", "Other")]


def test_amendment_stands_there_with_its_sentence(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(
        root, "app/rules/night", "Night", "At night ADR 7 holds for mails only.\n", amends=RULE, created_at="2026-03-01"
    )
    (mention,) = beneath(root, "orders")
    assert (mention.how, mention.said) == ("amended by", "At night ADR 7 holds for mails only.")


def test_bare_link_of_a_citing_entry_is_no_sentence(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(root, "app/rules/adr-0012", "Later", f"Look.\n\n[see: {RULE}]\n", created_at="2026-03-01")
    assert beneath(root, "orders") == ()


def test_long_best_match_says_that_no_newer_entry_changes_it(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(root, RULE, "Retry twice", "Orders are sent twice at most.\n\n" * 90, created_at="2026-02-01")
    assert beneath(root, "orders") == (Mention("named by no newer entry", ""),)
    put(root, "app/rules/adr-0009", "Mails", "We keep ADR 7 in mind.\n", created_at="2026-03-01")
    put(root, "app/rules/adr-0012", "Later", f"Look.\n\n[see: {RULE}]\n", created_at="2026-03-02")
    said = "named by newer adr-0009, adr-0012; none says that it changes this"
    assert beneath(root, "orders") == (Mention(said, ""),)
    for number in range(5):
        put(root, f"app/rules/law-{number}", f"Law {number}", "Orders cost nothing.\n", type="invariant")
    assert beneath(root, "orders sent twice at most") == (Mention(said, ""),)


def test_number_in_prose_cites_a_record_of_the_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/adr/0148-use-postgres", "Orders live in Postgres.\n", title="Use Postgres")
    write_entry(root, "nav/adr/0150-amounts", "This changes ADR-0148 for amounts.\n", title="Amounts")
    write_entry(root, "nav/adr/0152-pools", "Pools follow ADR 148 for now.\n", title="Pools")
    write_entry(root, "nav/adr/0153-tickets", "We closed #148 in the tracker.\n", title="Tickets")
    write_entry(root, "arm/adr/0009-grip", "The grip of ADR-0148 is another one.\n", title="Grip")
    shown = run_here(capsys, "retrieve", "--wing", "nav", "orders in postgres", cwd=root).out
    assert "0150-amounts: Amounts" in shown
    assert "0152-pools: Pools" in shown
    assert "0153-tickets" not in shown
    assert "0009-grip" not in shown
