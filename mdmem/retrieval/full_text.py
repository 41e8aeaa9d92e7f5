"""Asks the full text for a question; words that are no query are the user's mistake, whoever asks first."""

from __future__ import annotations

from collections.abc import Collection

from mdmem.errors import UsageError
from mdmem.index.protocol import QuerySyntaxError, TextAnswer
from mdmem.retrieval.question import Question
from mdmem.workspace.workspace import Workspace


def find_text(workspace: Workspace, question: Question, addresses: Collection[str]) -> TextAnswer:
    """Return what the full text, or the files where it is down, says of a question about the entries at some addresses.

    Raises UsageError for a query that cannot be read as one.
    """
    try:
        return workspace.find_text(question.words, addresses, syntax=question.syntax)
    except QuerySyntaxError as error:
        raise UsageError(str(error)) from error
