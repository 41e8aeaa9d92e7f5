"""Planning a text over a root: which wings are read, and how fresh their entries are."""

from __future__ import annotations

from mdmem.entry.model import Entry
from mdmem.errors import GoneError
from mdmem.retrieval.question import Question
from mdmem.retrieval.retrieve import TextQuery, forgiving_settings, text_query
from mdmem.synthesis.answer import SynthesisPlan
from mdmem.synthesis.plan import plan_synthesis as plan_text
from mdmem.synthesis.request import SynthesisRequest
from mdmem.workspace.freshness import Freshness, age_of, freshness_of
from mdmem.workspace.visibility import project_scope
from mdmem.workspace.workspace import Workspace


def plan_synthesis(workspace: Workspace, asked: SynthesisRequest) -> SynthesisPlan:
    """Return the plan from files that stood still; where one goes away meanwhile, everything is read again, once.

    Raises AccessDeniedError for a project that the caller may not read.
    """
    try:
        return _plan(workspace, asked)
    except GoneError:
        return _plan(workspace.reread(), asked)


def _plan(workspace: Workspace, asked: SynthesisRequest) -> SynthesisPlan:
    settings, faults = forgiving_settings(workspace)
    scope = project_scope(workspace, settings, asked.project)

    def ask(words: str) -> TextQuery:
        return text_query(workspace, Question(words=words))

    def freshness(entry: Entry) -> str:
        age = age_of(entry, workspace.today)
        return Freshness.STALE.value if age is None else freshness_of(age).value

    return plan_text(
        asked, workspace.catalog, scope, asker=ask, freshness=freshness, today=workspace.today, faults=faults
    )
