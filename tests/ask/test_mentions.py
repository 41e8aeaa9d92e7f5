"""The lines under an entry: the entries that it replaced, that amend it, and newer ones that mention it."""

from pathlib import Path

import pytest
from builders import make_root, open_root, run_here, write_entry

from mdmem.ask.answer import Mention
from mdmem.ask.question import Question
from mdmem.ask.retrieve import retrieve
from mdmem.store.index.fulltext import FullTextIndex

from .builders import make_wings, put

RULE = "app/rules/adr-0007"


def mentions(root: Path, words: str, address: str = RULE) -> tuple[Mention, ...]:
    """Return the lines under an entry in the answer to some words."""
    workspace = open_root(root).with_index(FullTextIndex(root.parent / "index"))
    (answer,) = retrieve(workspace, Question(words=words)).all
    return next(one.mentions for one in answer.items if one.address == address)


def make_rule(folder: Path) -> Path:
    root = make_wings(folder)
    put(root, RULE, "Retry twice", "Orders are sent twice at most.\n", created_at="2026-02-01")
    return root


def test_replaced_entries_are_named_with_their_dates_and_the_rest_counted(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    ended = {"status": "deprecated", "superseded_by": RULE, "deprecated_at": "2026-02-01"}
    # Of one day: by address, whatever order a set has in this process.
    olds = [f"app/rules/{name}" for name in "abcdefgh"]
    for old in olds:
        put(root, old, "Retry once", created_at="2026-01-02", **ended)
    *named, rest, none = mentions(root, "orders")
    assert named == [Mention("replaces", old, "Retry once", "2026-01-02") for old in olds[: len(named)]]
    assert len(named) > 1
    assert none == Mention("no newer entry mentions this", "")
    assert rest == Mention(f"replaces {len(olds) - len(named)} more", "")


def test_newer_entries_that_mention_it_are_named_with_the_sentence_those_first_that_change_it(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(root, "app/rules/adr-0009", "Mails", "We keep ADR 7 in mind. More text.\n", created_at="2026-03-01")
    put(
        root,
        "app/rules/adr-0011",
        "Night",
        "This revises [ADR-0007](https://a.example/7) at night.\n",
        created_at="2026-04-01",
    )
    text = "The printer of labels, which nobody stops, [tries again](adr-0007.md#text) at noon.\n"
    put(root, "app/rules/adr-0010", "Labels", text, created_at="2026-03-02")
    put(root, "app/rules/adr-0002", "Old", "ADR 7 will change this.\n", created_at="2026-01-01")
    put(root, "app/rules/adr-0012", "Idea", "ADR 7 is replaced.\n", created_at="2026-05-01", status="draft")
    assert [(one.how, one.title, one.said) for one in mentions(root, "orders")] == [
        ("mentioned later by", "Night", "This revises ADR-0007 at night."),
        ("mentioned later by", "Labels", "The printer of labels, which nobody stops, tries again at noon."),
        ("mentioned later by", "Mails", "We keep ADR 7 in mind."),
    ]


def test_amendment_is_named_with_its_sentence(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(
        root,
        "app/rules/night",
        "Night",
        "Mails go out once. The rest of ADR 7 stays.\n",
        amends=RULE,
        created_at="2026-03-01",
    )
    (mention,) = mentions(root, "orders")
    assert (mention.how, mention.said) == ("amended by", "Mails go out once. The rest of ADR 7 stays.")


def test_number_in_prose_mentions_a_record_of_the_room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/adr/0148-use-postgres", "Orders live in Postgres.\n", title="Use Postgres")
    write_entry(root, "nav/adr/0150-amounts", "This changes ADR-0148 for amounts.\n", title="Amounts")
    write_entry(root, "nav/adr/0152-pools", "Pools follow ADR 148 for now.\n", title="Pools")
    write_entry(root, "nav/adr/0153-tickets", "We closed #148 in the tracker.\n", title="Tickets")
    write_entry(root, "arm/adr/0009-grip", "The grip of ADR-0148 is another one.\n", title="Grip")
    shown = run_here(capsys, "retrieve", "--wing", "nav", "orders in postgres", cwd=root).out
    assert "mentioned later by nav/adr/0150-amounts" in shown
    assert "mentioned later by nav/adr/0152-pools" in shown
    assert "mentioned later by nav/adr/0153-tickets" not in shown
    assert "0009-grip" not in shown


def test_mention_by_an_entry_with_a_text_in_the_answer_is_its_id(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_root(tmp_path)
    write_entry(root, "nav/adr/0148-use-postgres", "Orders live in Postgres.\n", title="Use Postgres")
    write_entry(root, "nav/adr/0152-pools", "Orders in Postgres pools follow ADR 148.\n", title="Pools")
    write_entry(root, "nav/adr/0153-rows", "This amends ADR 148: orders in Postgres are long.\n", title="Rows")
    out = run_here(capsys, "retrieve", "orders in postgres", cwd=root).out
    assert "\n  mentioned later by nav/adr/0152-pools" in out
    said = "“This amends ADR 148: orders in Postgres are long.”"
    assert f"\n  mentioned later by nav/adr/0153-rows (amends it; 2026-03-05): {said}\n" in out


def test_that_none_mentions_it_is_said_only_where_it_is_true_of_the_whole_memory(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    assert [one.how for one in mentions(root, "orders")] == ["no newer entry mentions this"]
    # In a wing that the question does not read, in a row of a table, and by a link alone.
    for address, text in (
        ("web/a/other", "See app/rules/adr-0007 for orders."),
        ("app/rules/table", "| rule | why |\n| - | - |\n| ADR-0007 | twice |"),
        ("app/rules/link", f"Look.\n\n[see: {RULE}]"),
        ("app/rules/file", "Look.\n\n- [twice](adr-0007.md)\n- [thrice](https://a.example)"),
    ):
        put(root, address, "Later", f"{text}\n", created_at="2026-03-01")
        assert [one.address for one in mentions(root, "orders")] == [address]
        (root / f"{address}.md").unlink()


def test_number_in_a_room_of_this_name_in_another_wing_is_another_record(root: Path) -> None:
    put(root, "app/adr/0148-orders", "Orders", "Orders are sent twice at most.\n", created_at="2026-02-01")
    put(root, "web/adr/0150-mails", "Mails", "We keep ADR 148 in mind.\n", created_at="2026-03-01")
    assert [one.how for one in mentions(root, "orders", "app/adr/0148-orders")] == ["no newer entry mentions this"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("The set is 0003, 0007, 0009.", ["no newer entry mentions this"]),
        # That no newer entry names it would be false.
        ("| before | now |\n| - | - |\n| ADR-0007 | [ADR-0009](0009-mails.md) |", []),
        ("**Status:** Accepted\n**Originally recorded elsewhere as ADR-0007.**", []),
    ],
)
def test_lists_of_numbers_renumberings_and_fields_mention_nothing(text: str, lines: list[str], tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(root, "app/rules/adr-0010", "Later", f"{text}\n", created_at="2026-03-01")
    assert [one.how for one in mentions(root, "orders")] == lines


@pytest.mark.parametrize(
    ("sentence", "how"),
    [
        ("Jobs wait in a queue.", "no newer entry mentions this"),
        ("Write to src/queue first.", "no newer entry mentions this"),
        ("The entry `queue` is too narrow.", "mentioned later by"),
        ("As app/rules/queue says.", "mentioned later by"),
        ("As rules/queue says.", "mentioned later by"),
        ("As [this](queue.md) says.", "mentioned later by"),
    ],
)
def test_entry_id_of_one_word_is_mentioned_only_as_an_address_or_as_code(sentence: str, how: str, root: Path) -> None:
    put(root, "app/rules/queue", "Use one queue", "Orders go through it.\n", created_at="2026-01-01")
    put(root, "app/rules/jobs", "Jobs", f"{sentence}\n", created_at="2026-02-01")
    assert [one.how for one in mentions(root, "orders", "app/rules/queue")] == [how]


def test_many_mentions_are_named_without_their_sentences(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    for number in range(12, 21):
        put(root, f"app/rules/adr-00{number}", f"Law {number}", "We keep ADR 7 in mind.\n", created_at="2026-03-01")
    *named, rest = mentions(root, "orders")
    assert len(named) == 4
    assert rest.how == "also mentioned later by adr-0016, adr-0017, adr-0018, adr-0019 and 1 more"


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        ("This record amends ADR-0148 for amounts.", "amends it"),
        ("We extend ADR 148.", "extends it"),
        ("ADR-0148 is superseded by this record.", "supersedes it"),
        ("This does not amend ADR-0148.", ""),
        ("ADR-0148 stays as it is.", ""),
        ("The rule is amended by ADR-0148.", ""),
    ],
)
def test_change_is_stated_only_by_a_verb_near_the_mention(sentence: str, change: str, root: Path) -> None:
    put(root, "app/adr/0148-use-postgres", "Use Postgres", "Orders live in Postgres.\n", created_at="2026-01-01")
    put(root, "app/adr/0150-amounts", "Amounts", f"{sentence}\n", created_at="2026-02-01")
    found = mentions(root, "use postgres", "app/adr/0148-use-postgres")
    assert [(one.address, one.does) for one in found] == [("app/adr/0150-amounts", change)]
