from mdmem.index.terms import iter_headings, lengths_of, sequences_of, terms_of

from .builders import document


def test_terms_of_fills_each_field_when_document_has_all() -> None:
    found = terms_of(
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
    assert lengths_of(terms_of(document("w/r/e", "lock lock queue", title="lock"))) == (1, 0, 0, 0, 3)


def test_iter_headings_leaves_out_code_when_fences_hold_hashes() -> None:
    text = "# One #\n\n```sh\n# no heading\n```\n\nTwo\n===\n\n~~~~\n# no\n~~~\n# no\n~~~~\n### Three\n#no\n\n---\n"
    assert list(iter_headings(text)) == ["One", "Two", "Three"]


def test_sequences_of_keeps_the_order_when_stop_words_stand_between() -> None:
    made = document("w/r/e", "the lock of the queue", title="one")
    assert list(sequences_of(made, ("title", "body", "owner"))) == [["one"], ["lock", "queue"]]
