"""How a question is put to a workspace: the index it asks, settings that are at fault, paths of code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mdmem.errors import SettingsError, UsageError
from mdmem.finding import Finding, Place
from mdmem.index.protocol import Answer, QuerySyntaxError
from mdmem.settings import Settings
from mdmem.tree import SETTINGS_NAME
from mdmem.workspace.opened import Opened

if TYPE_CHECKING:
    from mdmem.retrieval.fallback import Passage
    from mdmem.retrieval.model import Question, Retrieval
    from mdmem.retrieval.retrieve import Ask
    from mdmem.scope import Scope
    from mdmem.workspace.proposals import View


def asker(workspace: Opened, question: Question) -> Ask:
    """Return a function that asks the index a question about the entries at some addresses."""

    def ask(addresses: Iterable[str]) -> Answer:
        try:
            return workspace.find_text(question.words, tuple(addresses), syntax=question.syntax)
        except QuerySyntaxError as error:
            raise UsageError(str(error)) from error

    return ask


def retrieved(view: View[Opened], scope: Scope, question: Question) -> Retrieval:
    """Return what answers a question, with the versions of its entries that are only proposed."""
    from mdmem.retrieval.retrieve import retrieve, with_versions

    today = view.answers.today
    found = retrieve(view.answers.catalog, scope, question, ask=asker(view.answers, question), today=today)
    if not view.beside:
        return found
    other = retrieve(view.files.catalog, scope, question, ask=asker(view.files, question), today=today)
    return with_versions(found, other, view.beside)


def forgiving_settings(workspace: Opened) -> tuple[Settings, tuple[Finding, ...]]:
    """Return the settings as far as they can be read, and what is wrong with them."""
    try:
        return workspace.settings, ()
    except SettingsError as error:
        help_ = "mend it; the defaults hold until then"
        fault = Finding("settings-invalid", str(error), Place(SETTINGS_NAME, error.line), help_)
        return error.readable if isinstance(error.readable, Settings) else Settings(), (fault,)


def answer_elsewhere(workspace: Opened, words: str) -> tuple[str, tuple[Passage, ...]]:
    """Return what lies outside the memory and has something to say about words; who may not see all is told nothing.

    A search of the workspace finds the files of wings, too.
    """
    if workspace.access.is_narrow:
        return "workspace", ()
    from mdmem.workspace.fallback import answer_elsewhere as search_elsewhere

    return search_elsewhere(workspace.location.base, workspace.location.repository, words)


def with_code_paths(workspace: Opened, question: Question, paths: Sequence[str]) -> Question:
    """Return the question about code: each path, given from the working folder or the top, counted from the top."""
    return replace(question, paths=tuple(dict.fromkeys(_code_path(workspace, path) for path in paths)))


def _code_path(workspace: Opened, path: str) -> str:
    top = workspace.location.base.resolve()
    # As written: where a folder is a link, the globs of `applies_to` speak of the link.
    here = Path(os.path.normpath(workspace.cwd.resolve() / path))
    if here.is_relative_to(top) and (here.exists() or not (top / path).exists()):
        return here.relative_to(top).as_posix()
    return Path(path).as_posix().removeprefix("./").rstrip("/")
