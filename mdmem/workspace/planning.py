"""Planning a text over a root: which wings are read, and how fresh their entries are."""

from __future__ import annotations

from dataclasses import replace

from mdmem.entry.model import Entry
from mdmem.errors import GoneError
from mdmem.hygiene.freshness import Freshness, age_of, freshness_of
from mdmem.retrieval.model import Question
from mdmem.retrieval.retrieve import Ask
from mdmem.synthesis.asked import SynthesisAsked
from mdmem.synthesis.plan import SynthesisPlan
from mdmem.synthesis.planning import plan_synthesis as plan_text
from mdmem.workspace.asking import asker, forgiving_settings
from mdmem.workspace.opened import Opened
from mdmem.workspace.projects import project_scope


def plan_synthesis(workspace: Opened, asked: SynthesisAsked) -> SynthesisPlan:
    """Return the plan from files that stood still; where one goes away meanwhile, everything is read again, once.

    Raises AccessDeniedError for a project that the caller may not read.
    """
    try:
        return _plan(workspace, asked)
    except GoneError:
        return _plan(replace(workspace), asked)


def _plan(workspace: Opened, asked: SynthesisAsked) -> SynthesisPlan:
    settings, faults = forgiving_settings(workspace)
    scope = project_scope(workspace, settings, asked.project)

    def ask(words: str) -> Ask:
        return asker(workspace, Question(words=words))

    def freshness(entry: Entry) -> str:
        age = age_of(entry, workspace.today)
        return Freshness.STALE.value if age is None else freshness_of(age).value

    return plan_text(
        asked, workspace.catalog, scope, asker=ask, freshness=freshness, today=workspace.today, faults=faults
    )
