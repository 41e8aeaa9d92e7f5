"""Return the content of an entry as text: the body, and the fields that are part of the content."""

from __future__ import annotations

from collections.abc import Sequence

from mdmem.model.entry import Entry, EntryType

BYTES_A_TOKEN = 4


def tokens_of(size: int) -> int:
    """Return an estimate of the number of tokens in `size` bytes of UTF-8."""
    return -(-size // BYTES_A_TOKEN)


def quoted(text: str) -> str:
    """Return a text as a Markdown quote, which marks the text as quoted material."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def content_of(entry: Entry, body: str) -> str:
    """Return an entry's body, followed by the fields that are part of its content (see `stated_fields`)."""
    return "\n\n".join(part for part in (body.strip(), *stated_fields(entry)) if part)


def is_title_alone(content: str) -> bool:
    """Return whether a content has nothing but headings and blank lines."""
    return all(line.startswith("#") for line in content.splitlines() if line.strip())


def stated_fields(entry: Entry) -> list[str]:
    """Return the texts of the fields that are part of an entry's content; a field without a value has an empty text.

    They are the fields of patterns (such as the steps), of session notes (such as the open items), and the relations.
    """
    if entry.type is EntryType.PATTERN:
        return [
            f"When: {entry.trigger}" if entry.trigger else "",
            "\n".join(f"{number}. {step}" for number, step in enumerate(entry.repeatable_steps, 1)),
            _bullets("Not when:", entry.exclusions),
        ]
    relations = tuple(f"{relation.type} {relation.to}" for relation in entry.relations)
    return [
        f"Objective: {entry.objective}" if entry.objective else "",
        _bullets("Done:", entry.actions_taken),
        _bullets("Decided:", entry.decisions_made),
        _bullets("Open:", entry.open_items),
        _bullets("Next:", entry.next_actions),
        _bullets("Relations:", relations),
    ]


def _bullets(head: str, items: Sequence[str]) -> str:
    return "\n".join([head, *(f"- {item}" for item in items)]) if items else ""
