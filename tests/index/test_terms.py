from mdmem.index.terms import lengths_of, passages_of, sequences_of, terms_of

from .builders import document


def test_terms_of_fills_each_field_when_document_has_all() -> None:
    (found,) = terms_of(
        document(
            "ros2/rooms/one",
            "# Use executors\n\nRuns `exec_main`.",
            title="Threads",
            label="Local Override",
            owner="Team  A",
            tags=("nav-stack",),
            created_at="2026-03-05",
        )
    )
    assert found["title"] == {"thread": 1}
    assert found["headings"] == {"use": 1, "executor": 1}
    assert found["body"] == {"use": 1, "executor": 1, "run": 1, "exec": 1, "main": 1}
    assert found["identifiers"] == {"exec_main": 1}
    assert found["tags"] == {"nav": 1, "stack": 1, "nav-stack": 1}
    assert found["label"] == {"local override": 1}
    assert found["owner"] == {"team a": 1}
    assert found["created"] == {"2026-03-05": 1}
    assert "focus" not in found


def test_lengths_of_counts_words_when_they_repeat() -> None:
    assert lengths_of(*terms_of(document("w/r/e", "lock lock queue", title="lock"))) == (1, 0, 0, 0, 3)


def test_terms_of_has_the_title_with_the_first_passage_when_there_are_several() -> None:
    first, second = terms_of(document("w/r/e", f"# One\n{'lock ' * 300}\n# Two\n{'queue ' * 300}", title="Title"))
    assert (first["title"], first["headings"], "queue" in first["body"]) == ({"titl": 1}, {"one": 1}, False)
    assert ("title" in second, second["headings"], second["body"]["queue"]) == (False, {"two": 1}, 300)


def test_passages_of_puts_short_sections_together_and_loses_nothing() -> None:
    body = f"# One\n\n## Two\n{'word ' * 300}\n## Three\n{'word ' * 300}\n## Four\nEnd.\n"
    found = passages_of(body)
    assert [headings for headings, _ in found] == [["One", "Two"], ["Three", "Four"]]
    assert "".join(text for _, text in found) == body


def test_sequences_of_keeps_the_order_when_stop_words_stand_between() -> None:
    made = document("w/r/e", "the lock of the queue", title="one")
    assert list(sequences_of(made, ("title", "body", "owner"))) == [["one"], ["lock", "queue"]]
