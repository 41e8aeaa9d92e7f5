"""Test the lines below an entry: replaced, amending and mentioning entries; and claims and ends in answers."""

import json
from pathlib import Path

import pytest
from builders import Run, make_root, open_root, write
from msgspec.structs import asdict

from mdmem.ask.answer import EndedMatch, Mention, Question
from mdmem.ask.retrieve import retrieve
from mdmem.render.answers import ended_text
from mdmem.store.index.fulltext import FullTextIndex

from .builders import found, hits, make_wings, names, only, put

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
    # On the same day, sort by address, since the order of a set differs between processes.
    olds = [f"app/rules/{name}" for name in "abcdefgh"]
    for old in olds:
        put(root, old, "Retry once", created_at="2026-01-02", **ended)
    put(root, "app/rules/same-day", "Retry once", created_at="2026-02-01", **ended)
    same, *named, rest, none = mentions(root, "orders")
    assert same == Mention("replaces", "app/rules/same-day", "Retry once")
    assert named == [Mention("replaces", old, "Retry once", "2026-01-02") for old in olds[: len(named)]]
    assert len(named) > 1
    assert none == Mention("no newer entry cites its ID", "")
    assert rest == Mention(f"replaces {len(olds) - len(named)} more", "")


def test_newer_entries_that_mention_it_are_named_with_the_sentence_those_first_that_change_it(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(root, "app/rules/adr-0009", "Mails", "We keep ADR 7 in mind. More text.\n", created_at="2026-03-01")
    night = "This revises [ADR-0007](https://a.example/7) at night.\n"
    put(root, "app/rules/adr-0011", "Night", night, created_at="2026-04-01")
    text = "The printer of labels, which nobody stops, [tries again](adr-0007.md#text) at noon.\n"
    put(root, "app/rules/adr-0010", "Labels", text, created_at="2026-03-02")
    put(root, "app/rules/adr-0002", "Old", "ADR 7 will change this.\n", created_at="2026-01-01")
    put(root, "app/rules/adr-0012", "Idea", "ADR 7 is replaced.\n", created_at="2026-05-01", status="draft")
    assert [(one.how, one.title, one.sentence) for one in mentions(root, "orders")] == [
        ("mentioned by", "Night", "This revises ADR-0007 at night."),
        ("mentioned by", "Labels", "The printer of labels, which nobody stops, tries again at noon."),
        ("mentioned by", "Mails", "We keep ADR 7 in mind."),
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("Mails go out once. The rest of ADR 7 stays.", "Mails go out once. The rest of ADR 7 stays."),
        # A paragraph that only announces the next one says nothing alone.
        ("We decided:\n\n- Mails go once.\n- At night.\n\nSo.", "We decided: - Mails go once. - At night."),
        ("Chosen: once, because\n\n* it is enough", "Chosen: once, because * it is enough"),
        (
            "So that nobody waits at the gate, " * 6 + "we do:\n\n- Mails go out just once, at night.\n",
            "- Mails go out just once, at night.",
        ),
    ],
)
def test_amendment_is_named_with_its_sentence(body: str, said: str, tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    put(root, "app/rules/night", "Night", f"{body}\n", amends=RULE, created_at="2026-03-01")
    (mention,) = mentions(root, "orders")
    assert (mention.how, mention.sentence) == ("amended by", said)


def test_number_in_prose_mentions_a_record_of_the_room(tmp_path: Path, run: Run) -> None:
    root = make_root(tmp_path)
    for address, title, body in (
        ("nav/adr/0148-use-postgres", "Use Postgres", "Orders live in Postgres."),
        ("nav/adr/0150-amounts", "Amounts", "This changes ADR-0148 for amounts."),
        ("nav/adr/0152-pools", "Pools", "Orders in Postgres pools follow ADR 148."),
        ("nav/adr/0153-tickets", "Tickets", "We closed #148 in the tracker."),
        ("nav/adr/0154-rows", "Rows", "This amends ADR 148: orders in Postgres are long."),
        ("arm/adr/0009-grip", "Grip", "The grip of ADR-0148 is another one."),
    ):
        put(root, address, title, f"{body}\n")
    shown = run("retrieve", "--wing", "nav", "orders in postgres").out
    assert "\n  mentioned by nav/adr/0150-amounts" in shown
    # An entry that has a text in the answer, too.
    assert "\n  mentioned by nav/adr/0152-pools" in shown
    said = "“This amends ADR 148: orders in Postgres are long.”"
    assert f"\n  mentioned by nav/adr/0154-rows (amends it; 2026-03-05): {said}\n" in shown
    assert "mentioned by nav/adr/0153-tickets" not in shown
    assert "0009-grip" not in shown
    # Where two records have the number, it means neither for certain.
    put(root, "nav/adr/0148-queues", "Queues", "Queues are long.\n")
    put(root, "nav/adr/0160-sure", "Sure", "Orders in Postgres follow `0148-use-postgres`.\n")
    shown = run("retrieve", "--wing", "nav", "orders in postgres").out
    assert ("mentioned by nav/adr/0160-sure" in shown, "mentioned by nav/adr/0152-pools" in shown) == (True, False)


def test_that_none_mentions_it_is_said_only_where_it_is_true_of_the_whole_memory(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    assert [one.how for one in mentions(root, "orders")] == ["no newer entry cites its ID"]
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
    assert [one.how for one in mentions(root, "orders", "app/adr/0148-orders")] == ["no newer entry cites its ID"]
    put(root, "app/rules/amounts", "Amounts", "We keep 0009 in mind, and 0 errors.\n", created_at="2026-03-01")
    for old in ("app/adr/nep-0009", "app/rules/kep-0-start"):
        put(root, old, "Orders", "Orders are sent.\n", created_at="2026-02-01")
        assert [one.how for one in mentions(root, "orders", old)] == ["no newer entry cites its ID"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("The set is 0003, 0007, 0009.", ["no newer entry cites its ID"]),
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
        ("Jobs wait in a queue.", "no newer entry cites its ID"),
        ("Write to src/queue first.", "no newer entry cites its ID"),
        ("The entry `queue` is too narrow.", "mentioned by"),
        ("As app/rules/queue says.", "mentioned by"),
        ("As rules/queue says.", "mentioned by"),
        ("As [this](queue.md) says.", "mentioned by"),
    ],
)
def test_entry_id_of_one_word_is_mentioned_only_as_an_address_or_as_code(sentence: str, how: str, root: Path) -> None:
    put(root, "app/rules/queue", "Use one queue", "Orders go through it.\n", created_at="2026-01-01")
    put(root, "app/rules/jobs", "Jobs", f"{sentence}\n", created_at="2026-02-01")
    assert [one.how for one in mentions(root, "orders", "app/rules/queue")] == [how]


def test_more_than_four_mentions_are_counted(tmp_path: Path) -> None:
    root = make_rule(tmp_path)
    for number in range(12, 21):
        put(root, f"app/rules/adr-00{number}", f"Law {number}", "We keep ADR 7 in mind.\n", created_at="2026-03-01")
    *named, rest = mentions(root, "orders")
    assert len(named) == 4
    assert rest.how == "also mentioned by 5 more"


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        ("This record amends ADR-0148 for amounts.", "amends it"),
        ("We extend ADR 148.", "extends it"),
        ("ADR-0148 is superseded by this record.", "supersedes it"),
        ("This does not amend ADR-0148.", ""),
        ("That proposal would replace ADR-0148.", ""),
        ("ADR-0148 stays as it is.", ""),
        ("The rule is amended by ADR-0148.", ""),
    ],
)
def test_change_is_stated_only_by_a_verb_near_the_mention(sentence: str, change: str, root: Path) -> None:
    put(root, "app/adr/0148-use-postgres", "Use Postgres", "Orders live in Postgres.\n", created_at="2026-01-01")
    put(root, "app/adr/0150-amounts", "Amounts", f"{sentence}\n", created_at="2026-02-01")
    found = mentions(root, "use postgres", "app/adr/0148-use-postgres")
    assert [(one.address, one.does) for one in found] == [("app/adr/0150-amounts", change)]


OLD, NEW = "app/a/old", "app/a/new"


def claimed(root: Path, **new: object) -> Path:
    """Write a current entry about queues, and a newer entry with a one-sided supersession of it."""
    put(root, OLD, "Queue")
    put(root, NEW, "Replaced", supersedes=[OLD], **new)
    return root


# --- claims ---


def test_claimed_entry_and_its_claimant_are_shown_the_claimant_first(root: Path) -> None:
    answer = found(claimed(root), "queue")
    assert names(answer.items) == [NEW, OLD]
    old, new = only(answer, OLD), only(answer, NEW)
    assert (old.relations, old.current) == ({"claimed_by": {NEW: "Replaced"}}, True)
    assert (new.relations, new.reason, new.via) == ({"claims": {OLD: "Queue"}}, f"claims to replace {OLD}", ())


def test_search_names_the_claimant_of_a_hit(root: Path) -> None:
    root = claimed(root, tags=["queue"])
    found_hits = hits(root, "queue replaced").hits
    assert names(found_hits) == [NEW, OLD]
    assert (list(found_hits[1].relations["claimed_by"]), found_hits[1].heads) == ([NEW], (OLD,))


def test_claim_of_another_project_touches_nothing_here(root: Path) -> None:
    put(root, "lib/a/old", "Queue")
    put(root, "web/a/new", "Replaced", supersedes=["lib/a/old"])
    answer = found(root, "queue")
    assert [(item.entry.address, item.relations) for item in answer.items] == [("lib/a/old", {})]


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
    assert old.relations == {"amended_by": {NEW: "Exception"}}
    assert (new.relations, new.reason) == ({"amends": {OLD: "Queue"}}, f"amends {OLD}")


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
    assert list(only(found(root, "queue"), "lib/a/rule").relations["amended_by"]) == ["app/a/exception"]
    assert list(only(found(root, "queue", wings=("web",)), "lib/a/rule").relations["amended_by"]) == ["web/a/exception"]


def test_what_replaced_an_amendment_amends_in_its_place(root: Path) -> None:
    put(root, OLD, "Queue")
    put(root, "app/a/first", "Exception", amends=[OLD], status="deprecated", superseded_by=[NEW])
    put(root, NEW, "Exception again", supersedes=["app/a/first"])
    assert list(only(found(root, "queue"), OLD).relations["amended_by"]) == [NEW]


# --- ends ---


def test_best_match_that_ended_is_named_with_its_reason(root: Path) -> None:
    put(root, OLD, "Queue of letters", status="deprecated", deprecated_reason="nobody writes")
    put(root, NEW, "Letters are sorted by hand and by colour")
    ended = (EndedMatch(OLD, "Queue of letters", "nobody writes", (), text="Text."),)
    assert found(root, "queue of letters").basis.ended == ended
    assert hits(root, "queue of letters").basis.ended == ended
    assert hits(root, "queue of letters", include_deprecated=True).basis.ended == ()
    assert found(root, "sorted colour").basis.ended == ()


def test_reasons_are_those_of_each_step_to_what_is_current(root: Path) -> None:
    # The reason of the first entry says why it replaced an older one.
    put(root, OLD, "Queue", status="deprecated", superseded_by=["app/a/mid"], reason="older still was worse")
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


@pytest.mark.parametrize(
    ("better", "body", "is_said"),
    [
        # The best match is quoted, since it may say why something is not done.
        (
            0,
            "## Context\n\nGraphQL is new.\n\n## Decision\n\nIt is slow.",
            ". It said: “It is slow. … under “Context”: GraphQL is new.”",
        ),
        (2, "GraphQL is slow.", ""),
        (3, "GraphQL is slow.", None),
        # A weak match.
        (2, "Padding. " * 50, None),
    ],
)
def test_rejected_record_among_the_first_three_matches_is_said(
    better: int, body: str, is_said: str | None, root: Path, run: Run
) -> None:
    put(root, "app/a/graphql", "GraphQL", status="deprecated", deprecated_reason="rejected", body=body)
    for number in range(better):
        put(root, f"app/a/{number}", "GraphQL at the gate", body="GraphQL GraphQL.")
    said = run("retrieve", "why not use GraphQL", cwd=root).out
    line = f"Not current, and no current entry replaces it: app/a/graphql (GraphQL). Reason: rejected{is_said}\n"
    assert (line in said, "Not current" in said) == (is_said is not None, is_said is not None)


def test_text_and_json_name_all_three(root: Path, run: Run) -> None:
    root = claimed(root)
    put(root, "app/a/exception", "Exception", amends=[OLD])
    put(root, "app/a/gone", "Queue queue", status="deprecated", deprecated_reason="nobody waits")
    said = run("search", "queue", cwd=root).out
    why = "Reason: nobody waits. It said: “Text.”\n"
    gone = f"Not current, and no current entry replaces it: app/a/gone (Queue queue). {why}"
    assert gone in said
    assert f"claimed by {NEW} (Replaced)" in said
    assert "amended by app/a/exception (Exception)" in said
    assert gone in run("retrieve", "queue", cwd=root).out
    told = json.loads(run("retrieve", "queue", "--format", "json", cwd=root).out)
    ended = EndedMatch("app/a/gone", "Queue queue", "nobody waits", (), text="Text.")
    assert told["ended"] == [{**asdict(ended), "heads": [], "unread": []}]
    items = {item["address"]: item for item in told["items"]}
    assert (items[OLD]["claimed_by"], items[OLD]["amended_by"]) == ([NEW], ["app/a/exception"])
    assert (items[NEW]["claims"], items["app/a/exception"]["amends"]) == ([OLD], [OLD])
    assert items.keys() == {OLD, NEW, "app/a/exception"}
    assert "claimed_by" not in items[NEW]
    shown = run("show", OLD, cwd=root).out
    assert f"(current; claimed by {NEW}; amended by app/a/exception)" in shown
